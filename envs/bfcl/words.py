"""Words of English that say little by themselves."""

from __future__ import annotations

import re

__all__ = ["STOP_WORDS", "WORD"]

WORD = re.compile(r"[^\W_]+")
"""A run of letters and digits."""

STOP_WORDS = frozenset(
    WORD.findall(
        "a about above after again against all also am an and any are as at be because been before being below "
        "between both but by can could did do does doing don down during each few for from further get gets got "
        "had has have having he her here hers herself him himself his how i if in into is it its itself just ll "
        "m me more most much my myself no nor not now of off on once only or other our ours ourselves out over "
        "own re really s same she should so some such t than that the their theirs them themselves then there "
        "these they this those through to too under until up upon ve very was we were what when where which "
        "while who whom why will with would you your yours yourself yourselves"
    )
)
"""Function words; the pieces of contractions among them."""
