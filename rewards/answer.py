"""Final answer: is what the policy says at the end one of the accepted answers?

Only the policy's own last words count: not its reasoning, not what a tool returned, and not an
answer beside a call. Unless the goal says ``contains`` the whole answer is compared: "100" does not
hold "10", and listing candidates earns nothing.
"""

from __future__ import annotations

import math
import re
import unicodedata

from callgym.episode import Episode, Score
from callgym.goal import AnswerGoal
from callgym.task import Task

__all__ = ["final_answer", "normalise_answer", "numbers_in"]

# Nothing that could be a part of it stands before or after a number: "1.5kg" holds neither 1 nor 5.
_NUMBER = re.compile(r"(?<![\w.])(?<!\d,)[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|[.,]\d)")
_MAX_EXACT_DIGITS = 300
_ARTICLES = frozenset(("a", "an", "the"))


NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no final answer"})


def final_answer(task: Task, episode: Episode) -> Score:
    """1 where the final answer is accepted, else 0; by the goal's ``match``:

    - ``exact``: the same text, white space at both ends aside;
    - ``normalised``: the same after Unicode folding, lower-casing, and dropping punctuation and
      articles (the rule of SQuAD's evaluation script, but a number keeps its sign and decimal point);
    - ``numeric``: exactly one number in the answer, within the goal's relative tolerance;
    - ``contains``: it stands somewhere in the answer: a text as words of its own after the folding of
      ``normalised``, a number as a number (1754.0 is also 1754 and 1,754). Only where the answer is no
      longer than the goal's ``max_length``.
    """
    goal = task.goal_of(AnswerGoal)
    if goal is None:
        return NOT_ASKED
    answer = episode.final_answer
    right = next((accepted for accepted in goal.accepted if _agrees(goal, accepted, answer)), None)
    return Score(
        value=float(right is not None),
        explanation={"answer": answer[:500], "match": goal.match, "accepted": right is not None},
    )


def normalise_answer(text: str) -> str:
    """Lower-cased words without punctuation and articles, one space between."""
    folded = _with_ascii_minus(unicodedata.normalize("NFKC", text).casefold())
    words = "".join(c if _is_kept(folded, i) else " " for i, c in enumerate(folded)).split()
    return " ".join(word for word in words if word not in _ARTICLES)


def _is_kept(text: str, index: int) -> bool:
    """Whether a character is a letter or digit, a mark on one, or a number's sign or decimal point."""
    character = text[index]
    if character in "-.":
        before, after = text[index - 1 : index], text[index + 1 : index + 2]
        return after.isdigit() and (before.isdigit() if character == "." else not before.isalnum())
    return unicodedata.category(character)[0] in "LNM"


def _with_ascii_minus(text: str) -> str:
    return text.replace("\u2212", "-")


def numbers_in(text: str) -> list[int | float]:
    """The finite numbers in a text, thousands separators read; whole numbers exactly."""
    values = [_number(match.group().replace(",", "")) for match in _NUMBER.finditer(_with_ascii_minus(text))]
    return [value for value in values if math.isfinite(value)]


def _number(digits: str) -> int | float:
    whole = len(digits) <= _MAX_EXACT_DIGITS and digits.lstrip("+-").isdecimal()
    return int(digits) if whole else float(digits)


def _agrees(goal: AnswerGoal, accepted: str | int | float, answer: str) -> bool:
    if goal.match == "numeric":
        gold = numbers_in(str(accepted))
        found = numbers_in(answer)
        if not len(gold) == len(found) == 1:
            return False
        # Compared exactly first: as floats, whole numbers beyond 2**53 would be the same as their neighbours.
        return gold[0] == found[0] or bool(goal.tolerance and math.isclose(*gold, *found, rel_tol=goal.tolerance))
    if goal.match == "exact":
        return answer.strip() == str(accepted).strip()
    if goal.max_length is not None and len(answer) > goal.max_length:
        return False
    if goal.match == "contains" and not isinstance(accepted, str):
        return accepted in numbers_in(answer)
    wanted = normalise_answer(str(accepted))
    if not wanted:
        return False
    given = normalise_answer(answer)
    return f" {wanted} " in f" {given} " if goal.match == "contains" else given == wanted
