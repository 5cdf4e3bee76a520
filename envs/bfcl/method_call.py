"""Calling a method by name with a policy's arguments, refusing with the very text that Python would raise.

The official harness evaluates each call and shows ``str(error)`` of whatever it raises, so Python's own messages
are part of what a policy reads. Source: ``bfcl-eval`` 2026.3.23 on CPython 3.11.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal
from callgym.envs.bfcl.simulators.signature import Signature

__all__ = ["call_method"]

_RAISED = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, AssertionError)


def call_method(owner: str, name: str, method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """What a bound method returns.

    Args:
        owner: The official class, ``MemoryAPI_kv``.
        name: The official method.
        method: Ours, with the official parameter names and defaults.
        arguments: Any values by any names.

    Raises:
        Refusal: The arguments do not fit the parameters, or the method raises on their values.
    """
    fault = _signature(owner, name, getattr(method, "__func__", method)).fault((), arguments)
    if fault is not None:
        raise Refusal(fault)
    try:
        return method(**arguments)
    except _RAISED as error:
        raise Refusal(str(error)) from error


@lru_cache(maxsize=256)
def _signature(owner: str, name: str, function: Callable[..., Any]) -> Signature:
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    names = tuple(p.name for p in parameters)
    required = frozenset(p.name for p in parameters if p.default is p.empty)
    return Signature(owner, name, function, names, frozenset(names), required)
