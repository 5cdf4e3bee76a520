"""Docstrings in Google's, NumPy's and reST's form, and in none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym.tool_backends.functions import read_docstring

GOOGLE = """Book a room.

    It must be free.

    Args:
        room (str): The room's
            name.
        people (dict[str, int], optional): Who comes: a count each.
        *rest: More.
        ``day``: When.
    Returns:
        bool: Whether it worked.

    Raises:
        KeyError: There is no room.
    """
NUMPY = """Book a room.

    Parameters
    ----------
    room : str
        The room's
        name.
    x, y : array of int, optional
        Where.
    bare
        No type.

    Returns
    -------
    done : bool
        Whether it worked.

    See Also
    --------
    other : Nothing.
    """
REST = """Book a room.

    :param room: The room's
        name.
    :param int x: Where.
    :type x: int
    :key y: Where, too.
    :raises KeyError: There is no room.
    :returns: Whether it worked.
    :rtype: bool
    """
DOCSTRINGS: dict[str, tuple[str | None, str, dict[str, str], str]] = {
    "none": (None, "", {}, ""),
    "empty": ("", "", {}, ""),
    "one line": ("Add.", "Add.", {}, ""),
    "google": (
        GOOGLE,
        "Book a room.\n\nIt must be free.",
        {"room": "The room's name.", "people": "Who comes: a count each.", "rest": "More.", "day": "When."},
        "Whether it worked.",
    ),
    "numpy": (
        NUMPY,
        "Book a room.",
        {"room": "The room's name.", "x": "Where.", "y": "Where.", "bare": "No type."},
        "Whether it worked.",
    ),
    "rest": (
        REST,
        "Book a room.",
        {"room": "The room's name.", "x": "Where.", "y": "Where, too."},
        "Whether it worked.",
    ),
    "epydoc": ("Add.\n\n@param a: One.\n@return: The sum.", "Add.", {"a": "One."}, "The sum."),
    "several names": ("Add.\n\nArgs:\n    a, b: Numbers.", "Add.", {"a": "Numbers.", "b": "Numbers."}, ""),
    "bullets": ("Add.\n\nArguments:\n    - a: One.\n    - b - Two.", "Add.", {"a": "One.", "b": "Two."}, ""),
    "dashes": ("Add.\n\nParams:\n  a -- One.\n  b – Two.", "Add.", {"a": "One.", "b": "Two."}, ""),
    "paragraphs": ("Add.\n\nArgs:\n  a: One.\n\n    More.\n\n  b: Two.", "Add.", {"a": "One. More.", "b": "Two."}, ""),
    "no indent": ("Add.\n\nArgs:\na: One.", "Add.\n\nArgs:\na: One.", {}, ""),
    "a sentence": ("Args: are numbers.\n\nNote: it is slow.", "Args: are numbers.\n\nNote: it is slow.", {}, ""),
    "returns at once": ("Add.\n\nReturns: the sum\n    of both.", "Add.", {}, "the sum of both."),
    "returns without type": ("Add.\n\nReturns:\n    The sum: both are added.", "Add.", {}, "The sum: both are added."),
    "returns a type": ("Add.\n\nReturns:\n    dict[str, list[int]] | None: The sum.", "Add.", {}, "The sum."),
    "numpy returns a type": ("Add.\n\nReturns\n-------\nint\n", "Add.", {}, "int"),
    "text behind": ("Add.\n\nArgs:\n    a: One.\n\nThat is all.", "Add.\n\nThat is all.", {"a": "One."}, ""),
    "examples": ("Add.\n\nExamples:\n    >>> add(1)\n\nArgs:\n    a: One.", "Add.", {"a": "One."}, ""),
    "a role": ("Add :class:`Money` up.\n:param a: One.", "Add :class:`Money` up.", {"a": "One."}, ""),
    "a list": ("Add.\n\n- one\n  - two\n", "Add.\n\n- one\n  - two", {}, ""),
    "first section": ("\n    Args:\n        a: One.\n    ", "", {"a": "One."}, ""),
    "tabs": ("Add.\n\nArgs:\n\ta: One.\n\t\tMore.", "Add.", {"a": "One. More."}, ""),
    "both styles": ("Add.\n\nArgs:\n    a: One.\n\n:param b: Two.", "Add.", {"a": "One.", "b": "Two."}, ""),
    "keyword args": ("Add.\n\nKeyword Args:\n    a: One.", "Add.", {"a": "One."}, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", DOCSTRINGS)
def test_docstrings(case: str) -> None:
    text, description, arguments, returns = DOCSTRINGS[case]
    found = read_docstring(text)
    assert (found.description, found.arguments, found.returns) == (description, arguments, returns)


@given(st.lists(st.sampled_from([*GOOGLE.splitlines(), *NUMPY.splitlines(), *REST.splitlines(), "", "  ", "::"])))
@settings(max_examples=80)
def test_no_docstring_raises(lines: list[str]) -> None:
    read_docstring("\n".join(lines))


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    read_docstring(text)
