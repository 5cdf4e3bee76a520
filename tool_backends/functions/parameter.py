"""One parameter of a function: what a call may give for it, and what the function gets.

Pydantic reads the hint. What it would hand on as it is (text, numbers, plain lists and objects) never goes through
it at a call: ``convert`` is None for a ``str``, and pydantic's validator for a dataclass.
"""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Optional, Union, get_args, get_origin

import annotated_types
from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from callgym.errors import ConfigurationError
from callgym.tool_backends.functions.classes import is_changeable
from callgym.tool_backends.functions.result import NotJson, to_json
from callgym.tool_backends.functions.schema import MAX_DEFAULT, answer_schema

__all__ = ["Convert", "Parameter", "adapter_of", "read_parameter"]

Convert = Callable[[Any], Any]
UNFIT = (PydanticUserError, NameError, TypeError, ValueError)
"""What pydantic raises for a hint that it cannot read."""
_MISSING = inspect.Parameter.empty
_PASSIVE = (
    str, annotated_types.Ge, annotated_types.Gt, annotated_types.Le, annotated_types.Lt, annotated_types.MultipleOf,
    annotated_types.MinLen, annotated_types.MaxLen, annotated_types.Len, annotated_types.Interval,
)  # fmt: skip
_PLAIN = (str, bool, NoneType, None, float, dict, list, Any, object)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    """What the function calls it."""
    key: str
    """What a call calls it: the name, or the alias that a ``Field`` gives it."""
    adapter: TypeAdapter[Any]
    """Pydantic's reading of the hint."""
    convert: Convert | None
    """What turns the JSON value into the function's; None where it stays as it is."""
    required: bool
    """Whether a call must give it."""
    spare: Callable[[], Any] | None
    """Makes the value where a call gives none and the function's own default would not do: one that calls would
    share, or one that only pydantic knows."""
    shown: dict[str, Any]
    """``description`` and ``default`` for the schema, where there are any."""


def read_parameter(given: inspect.Parameter, hint: Any, documented: str, where: str) -> Parameter:
    """Read one parameter.

    Args:
        given: As ``inspect.signature`` has it.
        hint: Its hint, resolved; Any where there is none.
        documented: What the docstring says of it.
        where: What the function is called in messages.

    Raises:
        ConfigurationError: The hint has no JSON Schema.
    """
    label = f"parameter {given.name!r} of {where}"
    own = given.default
    field = own if isinstance(own, FieldInfo) else None
    if field is not None:
        hint = Annotated[hint, field]
    adapter = adapter_of(hint, label)
    if own is None and not _accepts_none(adapter):  # ``unit: str = None``, as it is often written
        hint = Optional[hint]  # noqa: UP045  a hint that is only known here
        adapter = adapter_of(hint, label)
    info = FieldInfo.from_annotation(hint)
    default = info.default if own is _MISSING or field is not None else own
    factory = info.default_factory if default is PydanticUndefined else None
    required = default is PydanticUndefined and factory is None
    taken_by_itself = own is default and given.kind is not given.POSITIONAL_ONLY
    return Parameter(
        name=given.name,
        key=info.alias or given.name,
        adapter=adapter,
        convert=conversion(hint, adapter),
        required=required,
        spare=None if required else factory or _spare(default, taken_by_itself),  # type: ignore[arg-type]
        shown=_shown(info.description or _words(hint) or documented, default),
    )


def adapter_of(hint: Any, label: str) -> TypeAdapter[Any]:
    """Pydantic's reading of a hint.

    Raises:
        ConfigurationError: Pydantic cannot read it, or it has no JSON Schema.
    """
    if get_origin(hint) in (collections.abc.Iterable, collections.abc.Collection):
        hint = list[get_args(hint)[0]]  # type: ignore[misc]  # pydantic's are lazy, and what is wrong is found too late
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an alias means nothing here: it does, in read_parameter
            adapter = TypeAdapter(hint)
            answer_schema(adapter, "validation")
    except UNFIT as error:
        raise ConfigurationError(
            f"{label} has the hint {_shown_hint(hint)}, which has no JSON Schema ({_first_line(error)}). Give it a "
            "type that JSON has, a dataclass or a pydantic model; or bind it: functools.partial(function, name=value)"
        ) from error
    return adapter


def conversion(hint: Any, adapter: TypeAdapter[Any]) -> Convert | None:
    """What turns a JSON value that the hint's schema accepts into the function's value; None where nothing need."""
    if not _is_plain(hint):
        return adapter.validate_python
    return _whole if _wants_whole(hint) else None


def _whole(value: Any) -> Any:
    """JSON makes no difference between 3 and 3.0, ``range`` does."""
    return int(value) if type(value) is float and value.is_integer() else value


def _is_plain(hint: Any, *, inside: bool = False) -> bool:
    """Whether every value that the hint's schema accepts is what the function wants, but for whole numbers."""
    if any(hint is plain for plain in _PLAIN) or (hint is int and not inside):
        return True
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_plain(parts[0], inside=inside) and all(map(_is_passive, parts[1:]))
    if origin is Literal:
        return all(type(value) in (str, bool, int, NoneType) for value in parts)
    if origin in (Union, UnionType):
        return all(_is_plain(part, inside=inside) for part in parts)
    if origin is list:
        return _is_plain(parts[0], inside=True)
    return origin is dict and parts[0] in (str, Any) and _is_plain(parts[1], inside=True)


def _wants_whole(hint: Any) -> bool:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _wants_whole(parts[0])
    if origin is Literal:
        return any(type(value) is int for value in parts)
    if origin in (Union, UnionType):
        return any(map(_wants_whole, parts)) and not any(
            part is loose for part in parts for loose in (float, Any, object)
        )
    return hint is int


def _is_passive(note: Any) -> bool:
    """Whether a note of ``Annotated`` leaves the value as it is; its bounds are in the schema."""
    if isinstance(note, FieldInfo):
        return all(isinstance(part, _PASSIVE) for part in note.metadata)
    return isinstance(note, _PASSIVE)


def _accepts_none(adapter: TypeAdapter[Any]) -> bool:
    try:
        adapter.validate_python(None)
    except ValidationError:
        return False
    return True


def _spare(default: Any, taken_by_itself: bool) -> Callable[[], Any] | None:
    """A copy of a default that a call could change, for every call anew."""
    if is_changeable(default):
        return functools.partial(copy.deepcopy, default)
    return None if taken_by_itself else lambda: default


def _shown(description: str, default: Any) -> dict[str, Any]:
    shown = {"description": description} if description else {}
    if default is not PydanticUndefined:
        with contextlib.suppress(NotJson):  # a call can leave it out all the same
            shown["default"] = to_json(default, MAX_DEFAULT)
    return shown


def _words(hint: Any) -> str:
    """The description in ``Annotated[int, "How many."]`` or ``Annotated[int, Doc("How many.")]``."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    texts = (note if isinstance(note, str) else getattr(note, "documentation", None) for note in notes)
    return next((text for text in texts if isinstance(text, str)), "")


def _shown_hint(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)[:100]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
