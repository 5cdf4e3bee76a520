"""What a class is made of, as far as its instances share it or show it."""

from __future__ import annotations

import copy
import inspect
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from callgym.errors import ConfigurationError

__all__ = ["HOOKS", "MARK", "changeable_attributes", "is_changeable", "is_hook", "own_bases", "public_attributes"]

HOOKS = ("state", "close")
"""Methods without arguments that speak for the session, and are no tools."""
MARK = "__callgym_tool__"
"""Where ``@tool`` leaves what it says."""


def is_hook(made: type, name: str) -> bool:
    """Whether a class's ``state`` or ``close`` speaks for the session and is no tool: it takes no arguments.

    Raises:
        ConfigurationError: It does, and is ``async``, which it cannot be.
    """
    found = inspect.getattr_static(made, name, None)
    if name not in HOOKS or not inspect.isfunction(found) or hasattr(found, MARK):
        return False
    if len(inspect.signature(found).parameters) != 1:
        return False
    if inspect.iscoroutinefunction(found):
        raise ConfigurationError(f"{made.__name__}.{name}() is called outside any event loop; make it no 'async def'")
    return True


def changeable_attributes(made: type) -> dict[str, Any]:
    """The attributes of a class that its instances would share and could change.

    Raises:
        ConfigurationError: There is one, and instances cannot have their own.
    """
    found = {name: value for name, value in _attributes(made) if is_changeable(value)}
    if found and not made.__dictoffset__:
        name = next(iter(found))
        raise ConfigurationError(
            f"all instances of {made.__name__} share {name}, and with __slots__ they cannot have their own; "
            "make it in __init__"
        )
    return found


def is_changeable(value: Any) -> bool:
    """Whether something holds what could be changed, and can be copied. What stands for itself is no such thing:
    ``object()`` is compared by being it, and locks and connections are shared."""
    if not (isinstance(value, (list, dict, set, bytearray, deque, tuple)) or getattr(value, "__dict__", None)):
        return False
    try:
        return copy.deepcopy(value) is not value
    except Exception:  # whatever a class says when it cannot be copied
        return False


def _attributes(made: type) -> Iterator[tuple[str, Any]]:
    """The attributes of a class that are values: no methods, no descriptors, no classes."""
    hidden = ("__", "_abc_", "model_") if issubclass(made, BaseModel) else ("__", "_abc_")
    for name in dict.fromkeys(name for base in own_bases(made) for name in vars(base)):
        value = inspect.getattr_static(made, name)
        if not (name.startswith(hidden) or callable(value) or hasattr(value, "__get__")):
            yield name, value


def own_bases(made: type) -> list[type]:
    """A class and those that it is derived from, the first ones first, without Python's and pydantic's."""
    foreign = {*sys.stdlib_module_names, "pydantic"}
    return [base for base in reversed(made.__mro__) if base.__module__.partition(".")[0] not in foreign]


def public_attributes(part: Any) -> Iterator[tuple[str, Any]]:
    """What an instance shows of itself: its attributes, and those of its class but for constants (in capitals)."""
    own = dict(getattr(part, "__dict__", {}))
    for name, value in _attributes(type(part)):
        if not name.startswith("_") and not name.isupper():
            yield name, own.get(name, value)
    constants = {name for name, _ in _attributes(type(part)) if name.isupper()}
    slots = (name for base in type(part).__mro__ for name in _slots(base) if hasattr(part, name))
    for name in dict.fromkeys((*own, *slots)):
        if not name.startswith("_") and name not in constants:
            yield name, own[name] if name in own else getattr(part, name)


def _slots(base: type) -> tuple[str, ...]:
    slots = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
