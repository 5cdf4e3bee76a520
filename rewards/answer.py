"""Final answer: is what the policy says at the end one of the accepted answers?

Only the policy's own last words count: not its reasoning, not what a tool returned, and not an
answer beside a call. The whole answer is compared, never a substring: "100" does not hold "10", and
listing candidates earns nothing.
"""

from __future__ import annotations

import math
import re
import unicodedata

from callgym.episode import Episode, Score
from callgym.goal import AnswerGoal
from callgym.task import Task

__all__ = ["final_answer", "normalise_answer", "numbers_in"]

_NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w])")
_ARTICLES = frozenset(("a", "an", "the"))


def final_answer(task: Task, episode: Episode) -> Score:
    """1 where the final answer is accepted, else 0; by the goal's ``match``:

    - ``exact``: the same text, white space at both ends aside;
    - ``normalised``: the same after Unicode folding, lower-casing, and dropping punctuation and
      articles (the rule of SQuAD's evaluation script);
    - ``numeric``: exactly one number in the answer, within the goal's relative tolerance.
    """
    goal = task.goal_of(AnswerGoal)
    if goal is None:
        return Score(applies=False, explanation={"reason": "the task asks for no final answer"})
    answer = episode.final_answer
    right = next((accepted for accepted in goal.accepted if _agrees(goal, accepted, answer)), None)
    explanation = {"answer": answer[:500], "match": goal.match, "accepted": right is not None}
    return Score(value=float(right is not None), explanation=explanation)


def normalise_answer(text: str) -> str:
    """Lower-cased words without punctuation and articles, one space between."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(c if c.isalnum() or c.isspace() else " " for c in folded).split()
    return " ".join(word for word in words if word not in _ARTICLES)


def numbers_in(text: str) -> list[float]:
    """The finite numbers in a text, thousands separators read."""
    values = [float(match.group().replace(",", "")) for match in _NUMBER.finditer(text)]
    return [value for value in values if math.isfinite(value)]


def _agrees(goal: AnswerGoal, accepted: str | int | float, answer: str) -> bool:
    if goal.match == "numeric":
        gold = numbers_in(str(accepted))
        found = numbers_in(answer)
        return len(gold) == len(found) == 1 and math.isclose(gold[0], found[0], rel_tol=goal.tolerance)
    if goal.match == "exact":
        return answer.strip() == str(accepted).strip()
    wanted = normalise_answer(str(accepted))
    return bool(wanted) and normalise_answer(answer) == wanted
