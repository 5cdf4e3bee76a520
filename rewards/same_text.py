"""When two texts say the same, more loosely than to the letter: spaces, case and marks do not matter, numbers do.

BFCL's official checker drops spaces and ``, . / - _ * ^`` wherever they stand, and lower-cases. So "New York, NY"
is "new york ny", which is wanted, but "1.5" is "15", "-5" is "5" and "2024-11-2" is "2024-1-12", which is not.
``text_key`` drops the same marks except where they belong to a number, and writes dates and thousands one way.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["text_key", "written_alike"]

_MARKS = " ,./-_*^"
_DROPPED = str.maketrans({**dict.fromkeys(_MARKS), "'": '"'})
_QUOTES = str.maketrans({"'": '"'})
_DATE = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_RUN = re.compile(r"[ ,./\-_*^]+")


def text_key(text: str) -> str:
    """What two texts share where they say the same.

    Without a digit, the official rule. With digits: marks between two digits stay ("1.5", "10-12"), and so do a
    sign or a point right before a number ("-5", ".5"); dates of the form year, month, day have one form;
    "1,000" is "1000".
    """
    lowered = text.lower()
    if not any(map(str.isdigit, lowered)):
        return lowered.translate(_DROPPED)
    lowered = lowered.translate(_QUOTES)
    lowered = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), lowered)
    lowered = _DATE.sub(_date, lowered)
    return _RUN.sub(_kept, lowered)


def _date(match: re.Match[str]) -> str:
    year, _, month, day = match.groups()
    return f"{year}-{int(month):02}-{int(day):02}"


def _kept(match: re.Match[str]) -> str:
    """What stays of a run of marks, by what stands on both sides."""
    text, marks = match.string, match.group()
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    if not after.isdigit():
        return ""
    if before.isdigit():
        return marks.strip() or " "
    # A sign or a point that touches the number, unless it ties it to a word: "covid-19", "v.2".
    touching = marks[-1]
    free = not before or len(marks) > 1 or not before.isalnum()
    return touching if touching in "-." and free else ""


def written_alike(value: Any) -> Any:
    """A JSON value with every text in it replaced by its ``text_key``; an object's keys stay as they are."""
    kind = type(value)
    if kind is str:
        return text_key(value)
    if kind is list or kind is tuple:
        return [written_alike(item) for item in value]
    if kind is dict:
        return {key: written_alike(item) for key, item in value.items()}
    return value
