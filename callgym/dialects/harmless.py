"""What others say, made unable to become a control token.

A tokenizer makes a control token of its text wherever that stands, so that the words of a user, a tool or a document
could end their turn and open another. ``Harmless`` breaks up every such mark with a space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from callgym.dialects.base import defuse

__all__ = ["Harmless", "marks_of"]


class Harmless:
    """Breaks up marks in what others say."""

    def __init__(self, marks: Iterable[str], tokenizer: Any = None) -> None:
        """Prepare for these marks.

        Args:
            marks: What no text may hold; single characters and outer blanks of a mark are left out.
            tokenizer: Where it brings texts into a normal form first, marks are looked for in that, too.
        """
        known = (mark.strip(" ") for mark in marks)
        self.marks = tuple(dict.fromkeys(mark for mark in known if len(mark) > 1))
        self._any = re.compile("|".join(map(re.escape, self.marks))) if self.marks else None
        normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
        self._normalized: Callable[[str], str] | None = getattr(normalizer, "normalize_str", None)

    def text(self, text: str) -> str:
        """``text`` with a space behind the first character of every mark, so that none is left."""
        text = self._without_marks(text)
        if self._normalized is None or self._any is None:
            return text
        # Some tokenizers look for their tokens in the normal form, where other letters may become a mark's.
        normal = self._normalized(text)
        return self._without_marks(normal) if self._any.search(normal) else text

    def _without_marks(self, text: str) -> str:
        while self._any is not None and self._any.search(text):  # a space may complete a mark that holds one
            text = defuse(text, self.marks)
        return text

    def value(self, value: Any) -> Any:
        """A copy of a JSON value with every text in it, keys too, made harmless."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value


def marks_of(tokenizer: Any) -> tuple[str, ...]:
    """The tokens that stand for more than their letters, longest first: they must not come of what others say.

    These are the special tokens, and added ones such as ``<tool_call>``, with a letter and a sign in them. White space,
    rules of dashes and plain words are added to some tokenizers, too, and are left alone.
    """
    special = {str(token).strip() for token in getattr(tokenizer, "all_special_tokens", ())}
    known = getattr(tokenizer, "added_tokens_decoder", {})
    special.update(str(token.content).strip() for token in known.values() if token.special)
    added = {str(token).strip() for token in tokenizer.get_added_vocab()} if known or special else set()
    signs = {token for token in added if not token.isalnum() and any(map(str.isalnum, token))}
    found = [token for token in special | signs if len(token) > 1]
    return tuple(sorted(found, key=lambda token: (-len(token), token)))
