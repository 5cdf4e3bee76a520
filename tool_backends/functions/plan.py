"""How a function is called with a tool's arguments: compiled once a function::

    plan = FunctionPlan.of(book, "book", shared=())
    plan.schema()                                   # JSON Schema of the arguments, draft 2020-12
    plan.bind({"when": "2024-01-31"}, {})           # ((), {"when": date(2024, 1, 31)})

Most tools take text and numbers: their arguments are copied and passed, and nothing else is done at a call.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from callgym.errors import ConfigurationError
from callgym.json_value import copy_trusted
from callgym.tool_backends.functions.docstring import Docstring, read_docstring
from callgym.tool_backends.functions.parameter import UNFIT, Convert, Parameter, adapter_of, conversion, read_parameter
from callgym.tool_backends.functions.schema import answer_schema, arguments_schema

__all__ = ["FunctionPlan", "RefusedArguments"]

_MAX_FAULTS = 3


class RefusedArguments(Exception):
    """Arguments that pass the schema, and not the hints: a date that is none. The text says what is wrong."""


class FunctionPlan:
    """What is known of a function before it is called."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        rest: TypeAdapter[Any] | None,
        convert_rest: Convert | None,
        shared: Mapping[str, type],
        by_place: Sequence[str],
    ) -> None:
        self._parameters = tuple(parameters)
        self._rest, self._convert_rest = rest, convert_rest
        self.shared = dict(shared)
        """Parameters that are no arguments of the tool, and the type of what the session gives for them."""
        self._conversions = tuple((p.key, p.convert) for p in parameters if p.convert)
        renamed = [p.name for p in parameters if p.name != p.key]
        self._barred = tuple(sorted({*shared, *renamed})) if rest is not None else ()
        self._by_place = tuple(by_place)
        self._is_simple = not (shared or renamed or by_place or convert_rest or any(p.spare for p in parameters))

    @classmethod
    def of(
        cls, function: Callable[..., Any], where: str, *, shared: Collection[type], of_instance: bool = False
    ) -> FunctionPlan:
        """Read a function's signature.

        Args:
            function: A function, or a class for the signature of its constructor.
            where: What the function is called in messages.
            shared: Types whose parameters get what the session has of that type, and are no arguments.
            of_instance: Whether the first parameter is the instance.

        Raises:
            ConfigurationError: The signature cannot be a tool's; the message names the parameter and the mend.
        """
        found = _parameters(function, where)[1 if of_instance else 0 :]
        hints = _hints(function, where)
        documented = documentation(function).arguments
        parameters: list[Parameter] = []
        taken: dict[str, type] = {}
        rest, convert_rest = None, None
        for one in found:
            hint = hints.get(one.name, Any if one.annotation is one.empty else one.annotation)
            if one.kind is one.VAR_POSITIONAL:
                raise ConfigurationError(
                    f"{where} takes *{one.name}, but calls give their arguments by name; make it one parameter, "
                    f"{one.name}: list[...]"
                )
            if isinstance(hint, type) and hint in shared:
                taken[one.name] = hint
            elif one.kind is one.VAR_KEYWORD:
                rest = adapter_of(hint, f"**{one.name} of {where}")
                convert_rest = conversion(hint, rest)
            else:
                parameters.append(read_parameter(one, hint, documented.get(one.name, ""), where))
        by_place = [one.name for one in found if one.kind is one.POSITIONAL_ONLY]
        return cls(parameters, rest, convert_rest, taken, by_place)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        adapters = {one.key: one.adapter for one in self._parameters}
        required = [one.key for one in self._parameters if one.required]
        schema = arguments_schema(adapters, required, self._rest, self._barred)
        for one in self._parameters:
            schema["properties"][one.key].update(one.shown)
        return schema

    def bind(self, given: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What to call the function with. Nothing of it is ``given`` itself: functions may keep and change it.

        Args:
            given: Arguments that the schema accepts.
            shared: What the session gives, by parameter.

        Raises:
            RefusedArguments: A hint refuses an argument.
        """
        ready: dict[str, Any] = copy_trusted(given)
        if self._conversions:
            ready = self._converted(ready)
        if self._is_simple:
            return (), ready
        values: dict[str, Any] = {}
        for one in self._parameters:
            if one.key in ready:
                values[one.name] = ready.pop(one.key)
            elif one.spare is not None:
                values[one.name] = one.spare()
            elif one.required:
                raise _refused([f"{one.key!r} is a required argument"])
        if ready:
            values.update(self._others(ready))
        values.update(shared)
        return tuple([values.pop(name) for name in self._by_place]), values

    def _converted(self, ready: dict[str, Any]) -> dict[str, Any]:
        faults: list[str] = []
        for key, convert in self._conversions:
            if key in ready:
                try:
                    ready[key] = convert(ready[key])
                except ValidationError as error:
                    faults.extend(_faults(key, error))
        if faults:
            raise _refused(faults)
        return ready

    def _others(self, ready: dict[str, Any]) -> dict[str, Any]:
        """The arguments that are no parameters, as ``**kwargs`` takes them."""
        unknown = sorted(ready if self._rest is None else ready.keys() & set(self._barred))
        if unknown:
            raise _refused([f"there is no argument {name[:80]!r}" for name in unknown])
        if self._convert_rest is None:
            return ready
        faults: list[str] = []
        for key, value in ready.items():
            try:
                ready[key] = self._convert_rest(value)
            except ValidationError as error:
                faults.extend(_faults(key, error))
        if faults:
            raise _refused(faults)
        return ready


def documentation(function: Callable[..., Any]) -> Docstring:
    """What a function's docstring says."""
    bare = function.func if isinstance(function, functools.partial) else function
    return read_docstring(inspect.getdoc(bare))


def returned(function: Callable[..., Any], where: str) -> dict[str, Any] | None:
    """The JSON Schema of a function's answer; None where neither hint nor docstring says anything of it.

    A hint without a JSON Schema says nothing: what is returned is looked at when it comes.
    """
    hint = _hints(function, where).get("return", Any)
    words = documentation(function).returns
    schema: dict[str, Any] = {}
    if hint is not Any:
        try:
            schema = answer_schema(TypeAdapter(hint))
        except UNFIT:
            schema = {}
    if words:
        schema.setdefault("description", words)
    return schema or None


def _parameters(function: Callable[..., Any], where: str) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(
            f"{where} has no signature that Python can read; write a function around it that has one"
        ) from error
    bound = function.keywords if isinstance(function, functools.partial) else {}
    return [one for one in signature.parameters.values() if one.name not in bound]


def _hints(function: Callable[..., Any], where: str) -> dict[str, Any]:
    """The hints, with those that are text looked up."""
    bare = function.func if isinstance(function, functools.partial) else function
    if isinstance(bare, type):
        own = bare.__init__ is not object.__init__  # type: ignore[misc]
        bare = bare.__init__ if own else bare.__new__  # type: ignore[misc]
    try:
        return typing.get_type_hints(bare, include_extras=True)
    except NameError as error:
        raise ConfigurationError(
            f"a hint of {where} names {error.name!r}, which is not there at the top level of its module; import or "
            "define it there, outside 'if TYPE_CHECKING'"
        ) from error
    except SyntaxError as error:
        raise ConfigurationError(f"a hint of {where} is text that is no type: {error.text}") from error
    except TypeError:  # something callable that has no hints
        return {}


def _refused(faults: list[str]) -> RefusedArguments:
    more = ["and more"] if len(faults) > _MAX_FAULTS else []
    return RefusedArguments("; ".join([*faults[:_MAX_FAULTS], *more]))


def _faults(key: str, error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join([key, *map(str, fault["loc"][:8])])
        yield f"{place}: {fault['msg'].splitlines()[0]}"
