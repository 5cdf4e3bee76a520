"""Faults by name: what ``gym.make(..., faults=...)`` takes and an episode's config records::

"latency"                                            # with its defaults
"errors:0.1"                                         # its number: here the share of the calls that fail
{"name": "errors", "rate": 0.1, "after": True}       # with options
{"name": "outage", "tools": ["Search"], "share": 0.5}  # of one tool, in half of the episodes

Every fault takes ``tools`` and ``share``; the class of each documents its other options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from callgym.errors import ConfigurationError
from callgym.tool_backends.faults.drift import Drift
from callgym.tool_backends.faults.errors import Errors
from callgym.tool_backends.faults.fault import Fault, Spec
from callgym.tool_backends.faults.latency import Latency
from callgym.tool_backends.faults.outage import Outage
from callgym.tool_backends.faults.rate_limit import RateLimit
from callgym.tool_backends.faults.stale import Stale
from callgym.tool_backends.faults.truncation import Truncation

__all__ = ["FAULTS", "get_fault", "get_faults", "spec_of"]

FAULTS: dict[str, type[Fault]] = {
    kind.name: kind for kind in (Latency, Errors, RateLimit, Truncation, Stale, Drift, Outage)
}
"""Name to class; its fields are the options."""


def get_fault(spec: Spec | Fault) -> Fault:
    """The fault of a spec; a Fault is returned as it is.

    Args:
        spec: A name, ``"name:number"``, or an object with ``name`` and options.

    Raises:
        ConfigurationError: There is no such fault or option; the message lists those there are.
    """
    if isinstance(spec, Fault):
        return spec
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, Mapping):
        return _with_options(spec)
    raise ConfigurationError(
        f"a fault is a name, 'name:number', or an object with 'name' and options, got {spec!r}; "
        f"there are: {', '.join(FAULTS)}"
    )


def get_faults(specs: Spec | Fault | Sequence[Spec | Fault]) -> tuple[Fault, ...]:
    """The faults of one spec, or of a list of them, in order.

    Raises:
        ConfigurationError: As ``get_fault``; or it is no list.
    """
    if isinstance(specs, (str, Mapping, Fault)):
        return (get_fault(specs),)
    if isinstance(specs, bytes) or not isinstance(specs, Sequence):
        raise ConfigurationError(f"faults is a fault or a list of them, got {specs!r}; there are: {', '.join(FAULTS)}")
    return tuple(get_fault(spec) for spec in specs)


def spec_of(fault: Fault) -> Any:
    """What an episode's config records: the spec that makes the fault again."""
    return fault.spec


def _named(spec: str) -> Fault:
    name, colon, number = spec.partition(":")
    kind = FAULTS.get(name)
    if kind is None or not colon:
        return _with_options({"name": spec})
    try:
        value: float = int(number) if number.strip().isdecimal() else float(number)
    except ValueError:
        raise ConfigurationError(f"{spec!r}: behind the colon stands a number, the fault's {kind.number!r}") from None
    return _with_options({"name": name, kind.number: value})


def _with_options(spec: Mapping[str, Any]) -> Fault:
    options = dict(spec)
    name = options.pop("name", None)
    kind = FAULTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ConfigurationError(f"no fault {name!r}; there are: {', '.join(FAULTS)}")
    known = [field.name for field in fields(kind)]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise ConfigurationError(f"fault {name!r} has no option {unknown[0]!r}; its options are: {', '.join(known)}")
    return kind(**options)
