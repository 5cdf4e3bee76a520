"""Room for what an episode adds to an instance: more than any task needs, and less than would hurt."""

from __future__ import annotations

from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal

__all__ = ["Storage"]

_MOST_ENTRIES = 10_000
_MOST_CHARACTERS = 1_000_000
_LONGEST_TEXT = 100_000


class Storage:
    """Counts what is added to one instance. What the scenario holds does not count, and nothing is given back.

    Official classes take anything. A policy could fill the memory of the machine that trains it, so here the
    10,001st entry is refused, and so are the text of more than 100,000 characters and the 1,000,001st character.
    """

    __slots__ = ("_characters", "_entries")

    def __init__(self) -> None:
        self._entries = 0
        self._characters = 0

    def take(self, *values: Any, entries: int = 1, times: int = 1) -> None:
        """Count entries and the texts in them.

        Args:
            values: What is added.
            entries: How many entries that makes.
            times: In how many places the values will be seen.

        Raises:
            Refusal: There is no room left; nothing is counted then.
        """
        characters = self._characters + times * sum(map(_characters, values))
        if self._entries + entries > _MOST_ENTRIES or characters > _MOST_CHARACTERS:
            raise Refusal("No space left: this instance holds as much as it can.")
        self._entries += entries
        self._characters = characters


def _characters(value: Any) -> int:
    """The characters in a value, and one more for each text, number or the like.

    Raises:
        Refusal: A text in it is too long.
    """
    total = 0
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if len(item) > _LONGEST_TEXT:
                raise Refusal(f"The text is too long: {len(item)} characters, of which {_LONGEST_TEXT} can be kept.")
            total += 1 + len(item)
        elif isinstance(item, dict):
            pending += item
            pending += item.values()
        elif isinstance(item, list | tuple | set | frozenset):
            pending += item
        else:
            total += 1
    return total
