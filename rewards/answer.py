"""Final answer: is what the policy says at the end one of the accepted answers?

Only the policy's own last words count: not its reasoning, not what a tool returned, and not an
answer beside a call. Unless the goal says ``contains`` the whole answer is compared: "100" does not
hold "10", and listing candidates earns nothing.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter

from pydantic import JsonValue

from callgym.episode import Episode, Score
from callgym.goal import AnswerGoal
from callgym.rewards.quantity import quantities_in, read_quantity, same_quantity
from callgym.rewards.rouge import rouge_l
from callgym.task import Task

__all__ = ["final_answer", "normalise_answer", "numbers_in", "without_data"]

# Nothing that could be a part of it stands before or after a number: "1.5kg" holds neither 1 nor 5.
_NUMBER = re.compile(r"(?<![\w.])(?<!\d,)[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|[.,]\d)")
_MAX_EXACT_DIGITS = 300
_ARTICLES = frozenset(("a", "an", "the"))
_BRACKET = re.compile(r"[\[\]{}]")
_MOST_OTHERS = 2
_GRADED = ("token_f1", "rouge_l")


NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no final answer"})


def final_answer(task: Task, episode: Episode) -> Score:
    """1 where the final answer is accepted, else 0; by the goal's ``match``:

    - ``exact``: the same text, white space at both ends aside;
    - ``normalised``: the same after Unicode folding, lower-casing, and dropping punctuation and
      articles (the rule of SQuAD's evaluation script, but a number keeps its sign and decimal point);
    - ``numeric``: exactly one number in the answer, within the goal's relative tolerance. Where the accepted
      answer is a number with a unit ("5 km"; see ``callgym.rewards.quantity``), the answer has that unit too, or
      one that is worked out from it ("5,000 m"). Without a unit it is right only if the goal says
      ``unit_optional``. A unit that is not in the table is compared as if it was not there;
    - ``contains``: it stands somewhere in the answer: a text as words of its own after the folding of
      ``normalised``, a number as a number (1754.0 is also 1754 and 1,754). Lists and objects in the answer,
      which are copied data and not words, are passed over; an answer that states more than two of the goal's
      ``others`` lists candidates and is wrong.

    Two kinds are graded, and give the best value over the accepted answers:

    - ``token_f1``: F1 over the words that ``normalised`` compares, as often as each occurs (SQuAD's F1);
    - ``rouge_l``: ``callgym.rewards.rouge.rouge_l``.

    Words in an episode that was truncated are no final answer: it was not over yet.
    An answer longer than ``max_length`` earns 0 whatever the kind. A graded score is None where no accepted
    answer has a word.
    """
    goal = task.goal_of(AnswerGoal)
    if goal is None:
        return NOT_ASKED
    answer = episode.final_answer
    too_long = goal.max_length is not None and len(answer) > goal.max_length
    if goal.match in _GRADED:
        return _grade(goal, answer, too_long)
    agrees = _contains(goal, answer) if goal.match == "contains" else None
    if agrees is None:
        agrees = any(_agrees(goal, accepted, answer) for accepted in goal.accepted)
    right = not too_long and agrees
    explanation: dict[str, JsonValue] = {"answer": answer[:500], "match": goal.match, "accepted": right}
    return Score.trusted(value=float(right), applies=True, explanation=explanation)  # half surrogates included


def normalise_answer(text: str) -> str:
    """Lower-cased words without punctuation and articles, one space between."""
    folded = _with_ascii_minus(unicodedata.normalize("NFKC", text).casefold())
    folded = _MARK.sub(_keep_in_numbers, folded)
    # Letters, digits and the marks on them stay. A text has few different characters, however long it is.
    dropped = {ord(c): " " for c in set(folded) if unicodedata.category(c)[0] not in "LNM" and c not in "-."}
    return " ".join([word for word in folded.translate(dropped).split() if word not in _ARTICLES])


_MARK = re.compile(r"[-.]")


def _keep_in_numbers(match: re.Match[str]) -> str:
    """A hyphen or full stop where it is a number's sign or decimal point, else a space."""
    text, index, character = match.string, match.start(), match.group()
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    kept = after.isdigit() and (before.isdigit() if character == "." else not before.isalnum())
    return character if kept else " "


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
        return _is_number(goal, accepted, answer)
    if goal.match == "exact":
        return answer.strip() == str(accepted).strip()
    wanted = normalise_answer(str(accepted))
    return bool(wanted) and normalise_answer(answer) == wanted


def _contains(goal: AnswerGoal, answer: str) -> bool:
    words = without_data(answer)
    numbers = set(numbers_in(words))
    given = f" {normalise_answer(words)} "

    def states(value: str | int | float) -> bool:
        if not isinstance(value, str):
            return value in numbers
        wanted = normalise_answer(value)
        return bool(wanted) and f" {wanted} " in given

    return any(map(states, goal.accepted)) and sum(map(states, goal.others)) <= _MOST_OTHERS


def without_data(text: str) -> str:
    """The text without its lists and objects, brackets within brackets included; one that is never closed stays."""
    if "[" not in text and "{" not in text:
        return text
    kept: list[str] = []
    depth = start = opened = 0
    for match in _BRACKET.finditer(text):
        if match.group() in "[{":
            if depth == 0:
                kept.append(text[start : match.start()])
                opened = start
            depth += 1
        elif depth:
            depth -= 1
            start = match.end()
    return " ".join([*kept, text[start:]]) if depth == 0 else " ".join([*kept[:-1], text[opened:]])


def _is_number(goal: AnswerGoal, accepted: str | int | float, answer: str) -> bool:
    asked = read_quantity(accepted) if isinstance(accepted, str) else None
    if asked is not None and asked.units:
        quantities = quantities_in(answer)
        return len(quantities) == 1 and same_quantity(asked, quantities[0], goal.tolerance, goal.unit_optional)
    gold = numbers_in(str(accepted))
    found = numbers_in(answer)
    if not len(gold) == len(found) == 1:
        return False
    # Compared exactly first: as floats, whole numbers beyond 2**53 would be the same as their neighbours.
    return gold[0] == found[0] or bool(goal.tolerance and math.isclose(*gold, *found, rel_tol=goal.tolerance))


def _grade(goal: AnswerGoal, answer: str, too_long: bool) -> Score:
    """The best grade over the accepted answers, and which of them it is for."""
    best: dict[str, JsonValue] | None = None
    value = 0.0
    said = Counter(normalise_answer(answer).split()) if goal.match == "token_f1" else Counter()
    for number, accepted in enumerate(map(str, goal.accepted)):
        if goal.match == "token_f1":
            wanted = Counter(normalise_answer(accepted).split())
            if not wanted:
                continue
            both, total = (wanted & said).total(), wanted.total() + said.total()
            grade = 2 * both / total
            shown: dict[str, JsonValue] = {"nearest": number, "both": both, "words": total}
        elif not accepted.strip("."):
            continue
        else:
            # An equal text has 0.999999995; see reply_rouge.
            grade = round(rouge_l(accepted, answer), 6)
            shown = {"nearest": number, "rouge_l": grade}
        if best is None or grade > value:
            best, value = shown, grade
    if best is None:
        return Score(value=None, explanation={"reason": "no accepted answer has a word", "match": goal.match})
    explanation: dict[str, JsonValue] = {"answer": answer[:500], "match": goal.match, **best, "too_long": too_long}
    return Score.trusted(value=0.0 if too_long else value, applies=True, explanation=explanation)
