"""BFCL's answers as GoldCalls: which values each argument may have, and which arguments may be left out.

The official form lists the accepted values of each parameter; ``""`` among them means that it may be left out. An
accepted dict holds a list of accepted values for each key, ``""`` again for a key that may be left out; accepted
lists may hold such dicts. Here each is written out as the plain values it accepts, the reference first: the first
accepted value that is not ``""``, for dicts key by key.

Source of the rules: ``bfcl-eval`` 2026.3.23.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_text import code_texts
from callgym.goal import GoldCall

__all__ = ["MAX_VALUES", "Gold", "accepted_values", "read_gold"]

MAX_VALUES = 256
"""Most plain values that one accepted value is written out to, the first ones; in the official files it is 128."""


class Gold(NamedTuple):
    """An entry's answer."""

    calls: tuple[GoldCall, ...]
    faults: tuple[str, ...]
    """Where it holds arguments that no document has; for what does not fit a document see ``tools.fit_to``."""


def read_gold(
    answer: Sequence[Mapping[str, Any]], functions: Sequence[Mapping[str, Any]], language: Language = "python"
) -> Gold:
    """Read the official ``ground_truth`` of a single-turn entry.

    An argument that no document has is left out: no policy can know it, and the official checker refuses every call
    that gives it. One whose only accepted value is ``""`` is left out, too, unless it is required.

    Args:
        answer: ``[{name: {parameter: [accepted values]}}]``.
        functions: The documents of the entry's functions.
        language: For Java and JavaScript values are text in that language's notation, and where a programmer writes
            another text than the official converter reads, both are accepted.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: The answer is damaged; see ``files.naming``.
    """
    documents = {function["name"]: function["parameters"] for function in functions}
    faults: list[str] = []
    calls = tuple(_read_call(call, documents, language, faults) for call in answer)
    if not calls:
        raise ValueError("the answer has no call")
    return Gold(calls, tuple(faults))


def _read_call(
    call: Mapping[str, Any], documents: Mapping[str, Any], language: Language, faults: list[str]
) -> GoldCall:
    ((name, accepted_by_name),) = call.items()
    if name not in documents:
        raise ValueError(f"the answer calls {name!r}, which no document describes")
    properties, required = documents[name]["properties"], documents[name].get("required", ())
    arguments: dict[str, Any] = {}
    optional = []
    for parameter, accepted in accepted_by_name.items():
        if not isinstance(accepted, list):
            raise TypeError(f"the accepted values of {parameter!r} are no list")
        if parameter not in properties:
            faults.append(f"{name}: no document has the argument {parameter!r} that the answer holds")
            continue
        values = _distinct(accepted_values(accepted, properties[parameter], language))
        if not values and parameter in required and "" in accepted:
            values = ("",)
        if values:
            arguments[parameter] = values
            if "" in accepted and parameter not in required:
                optional.append(parameter)
    return GoldCall.trusted(name=str(name), arguments=arguments, optional=tuple(optional))


def accepted_values(accepted: Sequence[Any], documented: Mapping[str, Any], language: Language) -> Iterator[Any]:
    """The plain values that a list of official ones accepts, ``""`` passed over, the reference first.

    Args:
        accepted: The official list.
        documented: The parameter's document; only Java's and JavaScript's notation depends on it.
        language: The language of the entry.
    """
    for official in accepted:
        if official == "":
            continue
        for value in itertools.islice(_plain(official), MAX_VALUES):
            if language == "python":
                yield value
            else:
                yield from code_texts(value, documented, language)


def _plain(official: Any) -> Iterator[Any]:
    """The plain values that an accepted value stands for, the reference first."""
    if isinstance(official, dict):
        yield from _plain_dicts(official)
    elif isinstance(official, list) and any(isinstance(item, dict) for item in official):
        yield from map(list, itertools.product(*(tuple(itertools.islice(_plain(i), MAX_VALUES)) for i in official)))
    else:
        yield official


def _plain_dicts(official: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choices = []
    for key, accepted in official.items():
        # One official dict holds plain values where lists belong.
        listed = accepted if isinstance(accepted, list) else [accepted]
        given: list[dict[str, Any]] = [{key: value} for value in listed if value != ""]
        choices.append([*given, {}] if "" in listed else given)
    for chosen in itertools.product(*choices):
        yield {key: value for part in chosen for key, value in part.items()}


def _distinct(values: Iterator[Any]) -> tuple[Any, ...]:
    """The values without repetitions; 1, 1.0 and true are three values."""
    return tuple({repr(value): value for value in values}.values())
