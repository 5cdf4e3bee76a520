"""The words in a name: ``stock_code``, ``checkIn`` and ``mail.send_message`` read as people say them."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_made_up", "listed", "names_in", "spoken", "stem", "words_in"]

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_IDENTIFIER = re.compile(r"[^\W\d][\w.]*\w|[^\W\d]")
_MADE_UP = re.compile(r"[\w]*[._\d][\w.]*|\w+[A-Z]\w*")


def listed(text: str) -> list[str]:
    """The words of a text, for lists of words in code."""
    return text.split()


_SHORT_FORMS = dict(
    pair.split("=")
    for pair in listed(
        """
        addr=address amt=amount curr=currency desc=description dest=destination dst=destination freq=frequency
        lang=language lat=latitude lng=longitude loc=location lon=longitude msg=message num=number pwd=password
        qty=quantity src=source temp=temperature tgt=target txt=text usr=user
        """
    )
)


@lru_cache(maxsize=8192)
def words_in(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: ``("stock", "code")``."""
    return tuple([word.lower() for word in _WORD.findall(name)])


def spoken(name: str) -> str:
    """The name as people say it, usual short forms written out: ``tgt_lang`` is "target language"."""
    return " ".join([_SHORT_FORMS.get(word, word) for word in words_in(name)])


def stem(word: str) -> str:
    """A word without a usual ending; crude, and the same for most of its forms."""
    for ending in ("ies", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def is_made_up(name: str) -> bool:
    """Whether a name is no plain word, so that a text in which it stands speaks of this very name: ``get_user``,
    ``ToolSearcher``, but neither ``find`` nor ``Wiki``."""
    return _MADE_UP.fullmatch(name) is not None


def names_in(text: str) -> set[str]:
    """Everything in a text that could be a name in a program."""
    return set(_IDENTIFIER.findall(text))
