"""Which tools there are in what a user gives: functions, classes with their public methods, methods one by one.

    @tool(name="AddAlarm")
    def add_alarm(time: str) -> str: ...

A function's name, hints and docstring are the tool's; the decorator says otherwise where need be.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar, overload

from callgym.errors import ConfigurationError, DataError
from callgym.schema import ToolSchema
from callgym.tool import Tool
from callgym.tool_backends.functions.classes import MARK, is_hook, own_bases
from callgym.tool_backends.functions.plan import FunctionPlan, documentation, returned

__all__ = ["Found", "FunctionTool", "ToolMark", "Tools", "find_tools", "tool"]

F = TypeVar("F", bound=Callable[..., Any])
Tools = Callable[..., Any] | Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]]
"""A function or class, several, or functions by the names that their tools have."""


@dataclass(frozen=True, slots=True)
class ToolMark:
    """What ``@tool`` says of a function."""

    name: str | None
    description: str | None


@overload
def tool(function: F) -> F: ...
@overload
def tool(*, name: str | None = None, description: str | None = None) -> Callable[[F], F]: ...
def tool(function: F | None = None, *, name: str | None = None, description: str | None = None) -> Any:
    """Mark a function or method as a tool; it stays the function that it is.

    Args:
        function: The function, where the decorator stands without arguments.
        name: The tool's name, where it is not the function's.
        description: What the policy reads, where it is not the docstring.
    """

    def mark(function: F) -> F:
        setattr(function, MARK, ToolMark(name, description))
        return function

    return mark if function is None else mark(function)


@dataclass(frozen=True, slots=True)
class Found:
    """A function that is to be a tool."""

    name: str
    function: Callable[..., Any]
    owner: type | None
    """The class whose instance it is called on; None for a plain function."""
    attribute: str = ""
    """What the class calls it."""
    where: str = ""
    """What messages call it."""
    description: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool, and how it is called."""

    name: str
    function: Callable[..., Any]
    owner: type | None
    attribute: str
    plan: FunctionPlan
    tool: Tool
    awaits: bool
    """Whether it is an ``async def``."""

    @classmethod
    def of(cls, found: Found, shared: Collection[type]) -> FunctionTool:
        """Read a function.

        Raises:
            ConfigurationError: Its signature cannot be a tool's.
        """
        plan = FunctionPlan.of(found.function, found.where, shared=shared, of_instance=found.owner is not None)
        description = documentation(found.function).description if found.description is None else found.description
        made = Tool(
            name=found.name,
            description=description,
            parameters=plan.schema(),
            returns=returned(found.function, found.where),
        )
        try:
            ToolSchema(made)
        except DataError as error:  # a schema that somebody's own type gives for itself
            raise ConfigurationError(f"{found.where} has no valid JSON Schema: {error}") from error
        awaits = inspect.iscoroutinefunction(_bare(found.function))
        return cls(found.name, found.function, found.owner, found.attribute, plan, made, awaits)


def find_tools(given: Tools) -> list[Found]:
    """All functions that are to be tools, in order.

    Raises:
        ConfigurationError: Something cannot be a tool, or two tools have one name.
    """
    if isinstance(given, Mapping):
        found = [_named(name, function) for name, function in given.items()]
    else:
        many = [given] if callable(given) else list(given)
        found = [one for item in many for one in _found(item)]
    if not found:
        raise ConfigurationError("there are no tools; give functions, or classes with public methods")
    seen: dict[str, Found] = {}
    for one in found:
        if one.name in seen:
            raise ConfigurationError(
                f"{seen[one.name].where} and {one.where} are both tools named {one.name!r}; rename one: "
                f"@tool(name=...) above it, or FunctionBackend({{name: function}})"
            )
        seen[one.name] = one
    return found


def _named(name: Any, function: Any) -> Found:
    """A function with the name that a mapping gives it."""
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"a tool's name is text, got {name!r}")
    if isinstance(function, type):
        raise ConfigurationError(
            f"{name!r} names the class {function.__name__}, whose methods are the tools; give the class in a list, or "
            f"single methods by name: {{{name!r}: {function.__name__}.method}}"
        )
    (one,) = _found(function, name)
    return one


def _found(given: Any, name: str | None = None) -> Iterator[Found]:
    if isinstance(given, type):
        methods = list(_public_methods(given))
        if not methods:
            raise ConfigurationError(
                f"{given.__name__} has no public methods; for an object that functions share there is "
                f"context={given.__name__}"
            )
        yield from methods
        return
    bare = _bare(given)
    _require_function(given, bare)
    owner = _owner(bare)
    if owner is not None and given is not bare:
        raise ConfigurationError(f"{bare.__qualname__} is a method; give the method itself, without functools.partial")
    yield _described(given, name, owner, bare.__name__)


def _described(given: Any, name: str | None, owner: type | None, attribute: str, of: type | None = None) -> Found:
    mark = getattr(_bare(given), MARK, None) or ToolMark(None, None)
    name = name or mark.name or attribute
    if name == "<lambda>":
        raise ConfigurationError("a lambda has no name; give it one: FunctionBackend({'name': lambda ...})")
    of = of or owner
    return Found(name, given, owner, attribute, f"{of.__name__}.{attribute}" if of else name, mark.description)


def _bare(given: Any) -> Any:
    """The function inside a ``functools.partial``."""
    return given.func if isinstance(given, functools.partial) else given


def _require_function(given: Any, bare: Any) -> None:
    itself = getattr(bare, "__self__", None)
    if callable(bare) and itself is not None and not isinstance(itself, (type, ModuleType)):
        kind = type(itself).__name__
        raise ConfigurationError(
            f"{bare.__qualname__} belongs to one {kind}, which all episodes would share; give the class {kind}: every "
            "episode makes its own"
        )
    if not callable(bare) or not hasattr(bare, "__name__"):
        raise ConfigurationError(
            f"a tool is a function or a class, got {type(given).__name__}; an object's methods are tools of its class"
        )


def _owner(function: Callable[..., Any]) -> type | None:
    """The class that a function, looked up on it, is a method of."""
    path = function.__qualname__.split(".")
    if len(path) == 1 or path[-2] == "<locals>" or inspect.ismethod(function) or not inspect.isfunction(function):
        return None
    owner: Any = sys.modules.get(function.__module__)
    for part in path[:-1]:
        owner = getattr(owner, part, None)
    first = next(iter(inspect.signature(function).parameters), "")
    if isinstance(owner, type):
        found = inspect.getattr_static(owner, path[-1], None)
        return None if isinstance(found, staticmethod) else owner
    if first == "self":
        raise ConfigurationError(
            f"{function.__qualname__} is a method of a class that cannot be found by its name; give the class itself"
        )
    return None


def _public_methods(made: type) -> Iterator[Found]:
    """A class's public methods, those of its bases first; class methods make instances, and are tools if marked."""
    for name in dict.fromkeys(name for base in own_bases(made) for name in vars(base)):
        static = inspect.getattr_static(made, name)
        is_bound = isinstance(static, (staticmethod, classmethod))
        inner = static.__func__ if is_bound else static
        if name.startswith("_") or not callable(inner) or isinstance(inner, type) or is_hook(made, name):
            continue
        if isinstance(static, classmethod) and not hasattr(inner, MARK):
            continue
        if is_bound:  # nothing of an instance is in it
            yield _described(getattr(made, name), None, None, name, made)
        else:
            yield _described(inner, None, made, name)
