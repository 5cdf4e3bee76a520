"""A text space for prompts and tool calls: any Unicode, checked in constant time.

``gymnasium.spaces.Text`` scans every character, refuses spaces and JSON by default, and comes back
as zeros from ``AsyncVectorEnv`` with shared memory. ``TextSpace`` does none of that::

    space = TextSpace(max_length=32_768)
    '{"name": "add"}' in space      # True
    "x" * 40_000 in space           # False: longer than max_length

A member is a ``str`` of ``min_length`` to ``max_length`` characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.sharedctypes import SynchronizedArray
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector.utils import (
    create_empty_array,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

__all__ = ["TextSpace"]

# What `sample` builds texts from: words, punctuation of calls, and characters beyond ASCII, so that
# a random agent and `check_env` exercise what a policy may write.
_PIECES = (
    "yes", "no", "I cannot do that.", "Which date?", "[Search(query='tea')]", "[Add(a='1', b='2')]",
    '{"name": "search", "arguments": {"query": "tea"}}', "<tool_call>", "</tool_call>", "42", "-3.5",
    "naïve café", "東京", "🙂", "\n", "'", '"', "[", "]", "{", "}", "(", ")",
)  # fmt: skip

_HEADER_BYTES = 8
_MAX_BYTES_PER_CHARACTER = 4


class TextSpace(Space[str]):
    """All strings of ``min_length`` to ``max_length`` characters."""

    def __init__(
        self,
        max_length: int = 32_768,
        *,
        min_length: int = 0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Create the space.

        Args:
            max_length: Longest member, in characters.
            min_length: Shortest member, in characters.
            seed: Seed of ``sample``.

        Raises:
            ValueError: The lengths are negative or the wrong way round.
        """
        if not 0 <= min_length <= max_length:
            raise ValueError(
                f"TextSpace needs 0 <= min_length <= max_length, got min_length={min_length} "
                f"and max_length={max_length}"
            )
        self.max_length = int(max_length)
        self.min_length = int(min_length)
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Always False: text has no fixed-size numeric form."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string of allowed length; constant time in its length."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A short random text of words, calls, brackets and non-ASCII characters.

        Args:
            mask: Not supported; the argument exists for Gymnasium's interface.
            probability: Not supported either.

        Raises:
            ValueError: A mask or a probability was given.
        """
        if mask is not None or probability is not None:
            raise ValueError("TextSpace.sample takes neither a mask nor a probability")
        count = int(self.np_random.integers(1, 9))
        text = " ".join(_PIECES[i] for i in self.np_random.integers(len(_PIECES), size=count))
        while len(text) < self.min_length:
            text += " " + _PIECES[int(self.np_random.integers(len(_PIECES)))]
        return text[: self.max_length]

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Members are JSON already."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """Members are JSON already."""
        return [str(sample) for sample in sample_n]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TextSpace) and self.min_length == other.min_length and self.max_length == other.max_length
        )

    def __hash__(self) -> int:
        return hash((TextSpace, self.min_length, self.max_length))

    def __repr__(self) -> str:
        lower = f", min_length={self.min_length}" if self.min_length else ""
        return f"TextSpace({self.max_length}{lower})"


class _SharedTexts(Sequence[str]):
    """The texts in a shared-memory block, read when looked at.

    ``AsyncVectorEnv`` reads the block once, when it is created, and afterwards only deep-copies
    what it got: so this is a view, and its deep copy is a tuple of the texts of that moment.
    """

    def __init__(self, space: TextSpace, memory: SynchronizedArray[Any], n: int) -> None:
        self._slot = _slot_bytes(space)
        self._memory = memory
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._n)))
        if not -self._n <= index < self._n:
            raise IndexError(f"text {index} of {self._n}")
        view = memoryview(self._memory.get_obj()).cast("B")
        start = (index % self._n) * self._slot
        length = int.from_bytes(view[start : start + _HEADER_BYTES], "little")
        begin = start + _HEADER_BYTES
        return str(view[begin : begin + length], "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self._n))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))


def _slot_bytes(space: TextSpace) -> int:
    return _HEADER_BYTES + _MAX_BYTES_PER_CHARACTER * space.max_length


@create_shared_memory.register(TextSpace)
def _create_shared_text(space: TextSpace, n: int = 1, ctx: Any = None) -> SynchronizedArray[Any]:
    if ctx is None:
        import multiprocessing as ctx
    memory: SynchronizedArray[Any] = ctx.Array("B", n * _slot_bytes(space))
    return memory


@read_from_shared_memory.register(TextSpace)
def _read_shared_text(space: TextSpace, shared_memory: SynchronizedArray[Any], n: int = 1) -> Sequence[str]:
    return _SharedTexts(space, shared_memory, n)


@write_to_shared_memory.register(TextSpace)
def _write_shared_text(space: TextSpace, index: int, value: str, shared_memory: SynchronizedArray[Any]) -> None:
    data = value.encode("utf-8", "surrogatepass")
    slot = _slot_bytes(space)
    if len(data) > slot - _HEADER_BYTES:
        raise ValueError(
            f"a text of {len(value)} characters does not fit into {space!r}; "
            "the environment returned an observation outside its observation space"
        )
    view = memoryview(shared_memory.get_obj()).cast("B")
    start = index * slot
    view[start : start + _HEADER_BYTES] = len(data).to_bytes(_HEADER_BYTES, "little")
    view[start + _HEADER_BYTES : start + _HEADER_BYTES + len(data)] = data


@create_empty_array.register(TextSpace)
def _create_empty_text(space: TextSpace, n: int = 1, fn: Any = np.zeros) -> tuple[str, ...]:
    return ("",) * n
