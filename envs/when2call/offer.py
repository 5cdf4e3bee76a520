"""When2Call's multiple choice: four replies to one question, of which one is of the right kind.

Source: ``NVIDIA/When2Call`` at ecc8d42, scored by lm_eval 0.4.8 (``multiple_choice``): the log-likelihood of each reply
after the open prompt, and that a character. A policy that writes may also name a reply by its letter or say it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from callgym.envs.when2call.choices import choices_of
from callgym.envs.when2call.metrics import choose
from callgym.envs.when2call.rows import ANSWERS, Answer
from callgym.envs.when2call.tasks import DECISIONS
from callgym.goal import AnswerGoal
from callgym.message import Message
from callgym.task import Task

__all__ = ["LETTERS", "Chosen", "offered_task", "read_choice"]

LETTERS = "ABCD"
_KINDS: dict[str, Answer] = {decision: kind for kind, decision in DECISIONS.items()}
_LETTER = re.compile(r"\W{0,3}(?:(?:answer|reply|choice|option)\W{1,3})?(?:is\W{1,3})?([A-D])\W{0,3}", re.IGNORECASE)
_LONGEST = 4_096


class Chosen(NamedTuple):
    """What an action chooses; None where it cannot be read."""

    raw: Answer | None
    """The kind of reply; of log-likelihoods the greatest."""
    normalised: Answer | None
    """Of log-likelihoods the greatest a character; else the same."""
    by: str
    """``letter``, ``text``, ``loglikelihoods`` or ``nothing``."""


def offered_task(task: Task, family: str = "default") -> Task:
    """The task of the open form with its four replies offered, in an order that its id decides.

    Raises:
        ConfigurationError: There is no such family.
        DataError: The call among the replies cannot be read.
    """
    answers: Any = task.meta["answers"]
    choices = choices_of(answers, family)
    order = sorted(range(4), key=lambda index: hashlib.blake2b(f"{task.id}/{index}".encode()).digest())
    lines = [f"{letter}. {choices[index]}" for letter, index in zip(LETTERS, order, strict=True)]
    *before, last = task.messages
    asked = "\n\n".join(
        [
            str(last.content),
            "Which reply is the best one here?",
            *lines,
            "Answer with its letter alone.",
        ]
    )
    right = _KINDS[str(task.meta["decision"])]
    letter = LETTERS[order.index(ANSWERS.index(right))]
    meta = {
        **task.meta,
        "choices": list(choices),
        "letters": {LETTERS[place]: ANSWERS[index] for place, index in enumerate(order)},
        "open_messages": [message.as_chat() for message in task.messages],
    }
    return task.model_copy(
        update={
            "messages": (*before, Message(role="user", content=asked)),
            "goal": AnswerGoal(accepted=(letter,), match="exact"),
            "meta": meta,
        }
    )


def read_choice(task: Task, action: str) -> Chosen:
    """Which reply an action chooses: a letter, a reply word for word, or ``{"loglikelihoods": [a, b, c, d]}`` in the
    official order."""
    meta: Any = task.meta
    text = action.strip()
    choices: Sequence[str] = meta["choices"]
    letter = _LETTER.fullmatch(text) if len(text) < 40 else None
    if letter is not None:
        kind: Answer = meta["letters"][letter[1].upper()]
        return Chosen(kind, kind, "letter")
    for kind, choice in zip(ANSWERS, choices, strict=True):
        if text == choice.strip():
            return Chosen(kind, kind, "text")
    numbers = _loglikelihoods(text)
    if numbers is None:
        return Chosen(None, None, "nothing")
    chosen = choose(numbers, choices)
    return Chosen(ANSWERS[chosen.raw], ANSWERS[chosen.normalised], "loglikelihoods")


def _loglikelihoods(text: str) -> list[float] | None:
    if not text.startswith("{") or len(text) > _LONGEST:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    numbers = value.get("loglikelihoods") if isinstance(value, dict) else None
    if not isinstance(numbers, list) or len(numbers) != len(LETTERS):
        return None
    if not all(type(number) in (int, float) and abs(number) < 1e300 for number in numbers):
        return None
    return [float(number) for number in numbers]
