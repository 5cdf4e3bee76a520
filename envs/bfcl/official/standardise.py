"""How the official checker makes two texts comparable.

    >>> standardise("April 1, 2024")
    'april12024'

Source: ``bfcl-eval`` 2026.3.23, its checker of syntax trees. The agentic checker has a rule of its own.
"""

from __future__ import annotations

__all__ = ["standardise"]

_TABLE = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def standardise(text: str) -> str:
    """The text without spaces and ``, . / - _ * ^``, in lower case, with double quotes for single ones.

    Nothing else changes: other white space, brackets, accents and typographic quotes stay.
    """
    return text.translate(_TABLE).lower()
