"""The base of CallGym's nouns: frozen pydantic models that go to JSON and back without loss."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, ValidationError

from callgym.errors import DataError
from callgym.json_value import MAX_INTEGER_BITS

__all__ = ["JsonObject", "JsonScalar", "Noun", "require_finite"]

JsonScalar = str | int | float | bool | None
_Record = TypeVar("_Record", bound="Noun")

_new = object.__new__
# The slots of a pydantic model; writing them goes past the model's own refusal to be changed.
_set_values = BaseModel.__dict__["__dict__"].__set__
_set_names = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__
_MAX_PATH = 12  # parts of a field's name that an error message shows


def require_finite(value: Any) -> Any:
    """Return ``value`` unless a number in it is NaN, infinite or an integer too long to be written.

    Raises:
        ValueError: Such a number was found at any depth.
    """
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is float:
            if not math.isfinite(item):
                raise ValueError(f"{item} is not a JSON number; use null or a finite number")
        elif type(item) is int:
            if item.bit_length() > MAX_INTEGER_BITS:
                raise ValueError("an integer of more than 4,200 digits cannot be written as JSON")
        elif type(item) is dict:
            pending.extend(item.values())
        elif type(item) is list:
            pending.extend(item)
    return value


JsonObject = Annotated[dict[str, JsonValue], AfterValidator(require_finite)]
"""A JSON object: string keys, JSON values, finite numbers."""


class Noun(BaseModel):
    """A frozen record. ``to_json`` and ``from_json`` are inverses; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls.trusted = staticmethod(_trusted(cls))  # type: ignore[method-assign]

    @classmethod
    def trusted(cls, **values: Any) -> Self:
        """A record of values that are known to be right, at a tenth of the cost of validating them.

        For the code that runs on every step; data from outside goes through ``from_dict``.

        Args:
            values: A value for every field, defaults included.
        """
        return _trusted(cls)(**values)  # every class below has its own

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """The record as one line of JSON; key order is the order of the fields, always the same."""
        data = self.to_dict()
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            text.encode()
        except UnicodeEncodeError:  # half a surrogate pair, which can only be written as an escape
            return json.dumps(data, allow_nan=False, separators=(",", ":"))
        return text

    @classmethod
    def from_dict(cls, data: Any, where: str | None = None) -> Self:
        """Validate plain JSON values.

        Args:
            data: What ``json.loads`` gives for one record.
            where: File and row the record came from; it opens the error message.

        Raises:
            DataError: Naming the first wrong field, the value found there and what was expected.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise DataError(_describe(cls.__name__, error, where)) from error

    @classmethod
    def from_json(cls, text: str, where: str | None = None) -> Self:
        """Read one record from JSON text.

        Raises:
            DataError: The text is not JSON, or a field is wrong; the message names the place.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError: also an integer of too many digits
            place = f"{where}: " if where else ""
            raise DataError(
                f"{place}not valid JSON for a {cls.__name__} ({error}); the text begins {text[:60]!r}. "
                "If the file was cut short, fetch or write it again."
            ) from error
        return cls.from_dict(data, where)


def _trusted(cls: type[_Record]) -> Callable[..., _Record]:
    """A class's ``trusted``, at three quarters of the cost of one that is told its class anew."""
    # What pydantic is told was set: records are frozen, so one set serves a class.
    names = set(cls.model_fields)

    def trusted(**values: Any) -> _Record:
        record = _new(cls)
        _set_values(record, values)
        _set_names(record, names)
        _set_extra(record, None)
        _set_private(record, None)
        return record

    return trusted


def _describe(noun: str, error: ValidationError, where: str | None) -> str:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"][:_MAX_PATH]) or "(the record itself)"
    found = repr(first.get("input"))
    if len(found) > 120:
        found = found[:117] + "..."
    more = f" ({error.error_count() - 1} more errors)" if error.error_count() > 1 else ""
    return f"{where + ': ' if where else ''}{noun}.{field}: {first['msg']}; found {found}{more}"
