"""A scenario's values and the tables', as a simulator takes them: copied, and with official texts where a key lacks."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from callgym.envs.bfcl.simulators.base import Refusal, Tables
from callgym.json_value import copy_trusted

__all__ = ["DAY", "TIME", "Scenario", "derived", "entry", "read_time"]

DAY = "%Y-%m-%d"
TIME = "%Y-%m-%d %H:%M:%S"
_IN_FULL: dict[str, Callable[[str], Any]] = {
    DAY: re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch,
    TIME: re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}").fullmatch,
}

T = TypeVar("T")
_MAX_DERIVED = 64
_derived: OrderedDict[tuple[int, Callable[[Any], Any]], tuple[Any, Any]] = OrderedDict()


class Scenario:
    """One class's part of ``initial_config``, with the class's default state behind it."""

    def __init__(self, owner: str, config: Mapping[str, Any], tables: Tables) -> None:
        self.defaults: Mapping[str, Any] = tables.constants["default_state"][owner]
        self.values: Mapping[str, Any] = {**self.defaults, **config}
        """The scenario's own objects, the defaults' where it has none: for what the class only reads."""

    def take(self, key: str) -> Any:
        """A copy of a value."""
        return copy_trusted(self.values[key])

    @property
    def seed(self) -> Any:
        """What the instance's random numbers start from. None, which would be the clock, is the default seed."""
        seed = self.values["random_seed"]
        return self.defaults["random_seed"] if seed is None else seed


def entry(record: Any, key: Any) -> Any:
    """``record[key]``; a dict that lacks the key refuses with what the official code shows of its KeyError."""
    try:
        return record[key]
    except KeyError:
        raise Refusal(repr(key)) from None


def read_time(text: str, form: str) -> datetime:
    """A date or time in ``DAY`` or ``TIME``, as ``strptime`` reads it.

    Raises:
        ValueError: The text is none, with strptime's words.
    """
    # Five times as fast for what is written in full; whatever else strptime takes or says, it takes and says.
    if type(text) is str and _IN_FULL[form](text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    return datetime.strptime(text, form)


def derived(source: Any, make: Callable[[Any], T]) -> T:
    """``make(source)``, made once for an object that does not change: a table in the shape its user wants."""
    key = (id(source), make)
    found = _derived.get(key)
    if found is None:
        # The source is kept with what was made of it: while it is, no other object has its id.
        found = _derived[key] = (source, make(source))
        while len(_derived) > _MAX_DERIVED:
            _derived.popitem(last=False)
    value: T = found[1]
    return value
