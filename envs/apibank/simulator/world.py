"""The tables that the tools of one episode work on: shared until they are written to.

A tool reads with ``world.read(name)`` and must not change what it gets; before it changes a table it
takes ``world.write(name)``, which is the session's own copy from then on. Opening a session therefore
costs nothing that grows with the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from random import Random
from typing import Any

from callgym.tool_backends.python import ToolFailure

__all__ = ["ReturnedError", "ToolCrash", "World", "moment", "normal_date", "normal_time", "own_copy"]

_KEYED_BY_TOOLS = frozenset(("Agenda", "Alarm", "Appointments", "Hotel", "Meeting", "OpenBankAccount", "Reminder"))
TIME = "%Y-%m-%d %H:%M:%S"
DATE = "%Y-%m-%d"


class ToolCrash(Exception):
    """Official behaviour only: the tool lets a Python error out; the text is ``Type: message``."""


class ReturnedError(str):
    """Official behaviour only: an exception object given as output. It equals nothing but itself."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


class World:
    """The state of one session.

    ``official`` says whether the tools keep the official implementation's faults (a search that breaks
    when repeated, keys that overwrite others, a document reader that never answers) or do what their
    documentation says. ``search`` answers the tool search.
    """

    __slots__ = ("_base", "_generated", "_own", "_pinned", "_rng", "_seed", "memory", "official", "search")

    def __init__(
        self,
        base: Mapping[str, Any],
        seed: int,
        *,
        official: bool,
        search: Callable[[str], Any],
        pinned: tuple[str, ...] = (),
    ) -> None:
        self._base = base
        self._own: dict[str, Any] = {}
        self._seed = seed
        self._rng: Random | None = None
        self._generated: list[str] = []
        self._pinned = pinned
        self.memory: dict[str, Any] = {}
        self.official = official
        self.search = search

    def read(self, name: str) -> Any:
        """A table, not to be changed; an empty one where there is none of that name."""
        own = self._own.get(name)
        return own if own is not None else self._base.get(name, {})

    def write(self, name: str) -> Any:
        """The session's own copy of a table."""
        own = self._own.get(name)
        if own is None:
            own = self._own[name] = own_copy(self._base.get(name, {}))
        return own

    def draw(self, letters: str, length: int) -> str:
        """A random id or token: the same for the same seed, or one that the task pins."""
        if len(self._generated) < len(self._pinned):
            text = self._pinned[len(self._generated)]
        else:
            self._rng = self._rng or Random(self._seed)
            text = "".join(self._rng.choice(letters) for _ in range(length))
        self._generated.append(text)
        return text

    def state(self) -> dict[str, Any]:
        """What differs from the tables the session began with, whatever the order in which it came about.

        As ``changes``, but rows under keys that the tools chose themselves (the next number, a random id) are
        a sorted list, ``added``, and every random id and token is ``<generated>``.
        """
        generated = dict.fromkeys(self._generated, "<generated>")
        found: dict[str, Any] = {}
        for name, change in self.changes(generated).items():
            if name in _KEYED_BY_TOOLS:
                known = {_key(key) for key in self._base.get(name, {})}
                added = [row for key, row in change["set"].items() if key not in known]
                kept = {key: row for key, row in change["set"].items() if key in known}
                found[name] = {"set": kept, "added": sorted(added, key=_as_text), "removed": change["removed"]}
            else:
                found[name] = _without_empty_lists(change, self._base.get(name, {}))
        return {name: change for name, change in found.items() if any(change.values())}

    def changes(self, generated: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What differs from the tables the session began with: ``{table: {"set": ..., "removed": ...}}``.

        Keys that are integers are written ``int:KEY``. Random ids and tokens are written
        ``<generated:N>``, so that equal behaviour under different seeds gives equal changes.

        Args:
            generated: What random ids and tokens are written as, instead; keys of tables stay as they are.
        """
        found = {}
        for name, own in sorted(self._own.items()):
            change = _difference(self._base.get(name, {}), own)
            if change is not None:
                found[name] = change
        if generated is not None:
            return {name: _with_values_replaced(change, generated) for name, change in found.items()}
        names = {text: f"<generated:{n}>" for n, text in enumerate(self._generated)}
        replaced: dict[str, Any] = _with_placeholders(found, names)
        return replaced


def _difference(base: Any, own: Any) -> dict[str, Any] | None:
    if base == own:
        return None
    if not (isinstance(base, dict) and isinstance(own, dict)):
        return {"set": own_copy(own), "removed": []}
    changed = {_key(key): own_copy(value) for key, value in own.items() if key not in base or base[key] != value}
    return {"set": changed, "removed": [_key(key) for key in base if key not in own]}


def _key(key: Any) -> str:
    return f"int:{key}" if isinstance(key, int) else str(key)


def _without_empty_lists(change: dict[str, Any], base: Any) -> dict[str, Any]:
    """A list that a tool began and emptied again is as good as none."""
    if not isinstance(change["set"], dict):
        return change
    kept = {key: row for key, row in change["set"].items() if row != [] or key in base}
    return {**change, "set": kept}


def _as_text(row: Any) -> str:
    return json.dumps(row, sort_keys=True)


def _with_values_replaced(change: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(change["set"], dict):
        return _with_placeholders(change, names)  # type: ignore[no-any-return]
    rows = {key: _with_placeholders(row, names) for key, row in change["set"].items()}
    return {"set": rows, "removed": change["removed"]}


def _with_placeholders(value: Any, names: Mapping[str, str]) -> Any:
    if not names:
        return value
    if isinstance(value, dict):
        return {names.get(key, key): _with_placeholders(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_placeholders(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def own_copy(value: Any) -> Any:
    """A deep copy of a table; unlike JSON, its keys may be integers."""
    if isinstance(value, dict):
        return {key: own_copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [own_copy(item) for item in value]
    return value


def moment(text: Any, layout: str = TIME) -> datetime:
    """A time as the official tools read it (``strptime``); its complaint is the tool's failure."""
    try:
        return datetime.strptime(text, layout)
    except (TypeError, ValueError) as error:
        raise ToolFailure(str(error)) from None


def normal_date(text: str) -> str:
    """A date in its normal form, ``YYYY-MM-DD``: stripped, a short year padded."""
    return moment(_padded_year(text), DATE).date().isoformat()


def normal_time(text: str) -> str:
    """A time in its normal form, ``YYYY-MM-DD HH:MM:SS``: stripped, a short year padded."""
    return moment(_padded_year(text), TIME).isoformat(sep=" ")


def _padded_year(text: str) -> str:
    stripped = text.strip()
    if stripped.count("-") != 2:
        return stripped
    year, rest = stripped.split("-", 1)
    return f"{year.zfill(4)}-{rest}"
