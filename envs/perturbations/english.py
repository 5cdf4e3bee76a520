"""English words by what they do in a sentence, as far as it takes to mend one in which a value is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from callgym.envs.perturbations.words import listed

__all__ = [
    "ADJUNCTS",
    "BARE",
    "DETERMINERS",
    "FUNCTION_WORDS",
    "IMPERATIVES",
    "LINKS",
    "NAMING",
    "PREPOSITIONS",
    "TIMES",
    "UNITS",
    "is_english",
    "is_plural",
    "noun_phrase",
]

PREPOSITIONS = listed(
    """
    about above after against around at before below between by during for from in inside into near of off on onto over
    since through till to toward towards under until via with within out
    """
)
ADJUNCTS = listed("after at before by during for from in on to until with within")
"""Prepositions that go with their value and leave a sentence behind; others are needed ("brought into Finland")."""
LINKS = listed("and or but then so if when while that which who whose because please than per plus minus too also like")
_VERBS = listed("is am are was were be been has have had do does did can could will would shall should")
DETERMINERS = listed("the a an my our your his her their its another")
FUNCTION_WORDS = frozenset([*PREPOSITIONS, *LINKS, *_VERBS])
NAMING = frozenset(listed("as called named titled entitled is am are was were every each next last first all whose"))
"""Words behind which "a certain ..." does not read."""
IMPERATIVES = frozenset(
    listed(
        """
        add answer apply arrange ask assign book borrow bring buy calculate call cancel change check close compare
        compute convert copy count create delete describe divide download edit exchange explain fetch fill find follow
        get give hear hire hold identify increase keep like list lock look make mark move multiply need open order pay
        pick plan play post provide publish put read recommend record reduce remove rename rent replace report request
        reserve return say schedule search see sell send set share ship show sing sort sow split start stop store
        subtract summarise summarize suggest take tell track translate turn unlock up update upload use view visit want
        write me us
        """
    )
)
UNITS = frozenset(
    listed(
        """
        au bar byte bytes c celsius cm euro euros f fahrenheit ft g gb grams hz inch inches k kb kg kilometers
        kilometres km kmh kpa kw kwh l lb lbs litres liters m mb meters metres mg miles minutes ml mm mol mph percent
        pounds seconds tb usd w
        """
    )
)
_NO_NOUNS = frozenset(
    listed(
        """
        after away before check due end every from given gross home in max maximum min minimum net new old on out start
        sub to until wanted
        """
    )
)
BARE = frozenset(
    listed(
        """
        code data id input item key keyword name number object option param query source subject target title type url
        value
        """
    )
)
"""Nouns that say too little for "a certain ..." to stand alone."""
_ENGLISH = frozenset(listed("the a an of for is what how my me i you your please and to this that it with from"))
_FOREIGN = frozenset(
    listed(
        """
        att che da de del den der des det di die du e een el en est et ett gli het il ist la las le les lo los o och os
        para per por pour um uma un una une van von für das und
        """
    )
)
TIMES = frozenset(listed("date day days due month nights start time until week weekday when year"))
"""What a hearer would fill in by himself where it is not said: today."""
_LETTERS = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """Whether a text has words of English, and no more that are of other languages."""
    words = [word.lower() for word in _LETTERS.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    return english > 0 and sum(word in _FOREIGN for word in words) <= english


def noun_phrase(label: Sequence[str], number: bool) -> str | None:
    """What a parameter is called in a sentence: ``("weight", "kg")`` is "weight", ``("seats",)`` "number of seats";
    None where its name is no noun.

    Args:
        label: The words of its name.
        number: Whether it is a number.
    """
    words = [word for word in label if not word.isdigit()]
    while len(words) > 1 and words[0] in FUNCTION_WORDS | _NO_NOUNS:
        words = words[1:]
    while len(words) > 1 and words[-1] in (*UNITS, "id", "name"):
        words = words[:-1]
    if (
        not words
        or len(words[-1]) < 3
        or not re.search("[aeiouy]", words[-1])
        or any(word in FUNCTION_WORDS for word in words)
        or words[-1] in _NO_NOUNS
    ):
        return None
    phrase = " ".join(words)
    return f"number of {phrase}" if number and is_plural(words[-1]) else phrase


def is_plural(word: str) -> bool:
    """Whether a noun looks like several: ``seats``, ``adult(s)``."""
    return word.endswith(("s", "(s)")) and not word.endswith(("ss", "us", "is"))
