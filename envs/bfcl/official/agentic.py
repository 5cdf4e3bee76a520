"""Answers of the agentic categories: the official verdict; ``strict_answer`` is the one to train on.

Officially an accepted answer only has to occur somewhere in the last reply, so listing candidates passes. Source:
``bfcl-eval`` 2026.3.23 (``agentic_checker``, ``eval_runner``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from callgym.envs.bfcl.official.decode import DecodeFailure, execute_calls
from callgym.envs.bfcl.official.strict_answer import strict_answer

__all__ = ["Verdict", "answer_verdict", "result_verdict", "states_answer", "strict_answer"]


class Verdict(NamedTuple):
    """What the official evaluation says."""

    valid: bool
    error_type: str | None
    """The official name of the error; ``EXCEPTION:<name>`` where the official code raises."""


_NOT_FOUND = Verdict(False, "agentic:answer_not_found")
_NO_MESSAGE = Verdict(False, "agentic:no_last_message")
_WRONG_SHAPE = Verdict(False, "agentic:inference_error")

_DROPPED = ",./-_*^()"


def answer_verdict(steps: Sequence[Any], accepted: Sequence[Any]) -> Verdict:
    """The official verdict on the replies of an episode.

    Args:
        steps: The texts of the model, in order. The last one that does not decode to a call is read, wherever it
            stands.
        accepted: The accepted answers.
    """
    last = None
    for step in steps:
        if not _is_call(step):
            last = step
    if not last:
        return _NO_MESSAGE
    if not all(isinstance(answer, str) for answer in accepted):
        return Verdict(False, "EXCEPTION:TypeError")
    text = last[0] if type(last) is list else last
    return Verdict(True, None) if states_answer(str(text), accepted) else _NOT_FOUND


def result_verdict(result: Any, accepted: Sequence[Any]) -> Verdict:
    """The official verdict on a result as the official files hold it: a list of one turn, which is a list of texts."""
    if type(result) is not list or len(result) != 1:
        return _WRONG_SHAPE
    if not hasattr(result[0], "__iter__"):
        return Verdict(False, "EXCEPTION:TypeError")
    return answer_verdict(list(result[0]), accepted)


def _is_call(step: Any) -> bool:
    """Whether the official decoder reads at least one call."""
    if not isinstance(step, str):
        return False
    try:
        calls = execute_calls(step)
    except DecodeFailure:
        return False
    return bool(calls) and calls != [""]


def states_answer(text: str, accepted: Sequence[str]) -> bool:
    """Whether an accepted answer occurs in the text between word boundaries, by the official comparison: without
    ``, . / - _ * ^ ( )``, in lower case; spaces count."""
    standard = _standardise(text)
    return any(_between_boundaries(_standardise(answer)).search(standard) for answer in accepted)


def _standardise(text: str) -> str:
    for character in _DROPPED:  # many times as fast as one translation
        text = text.replace(character, "")
    return text.lower().replace("'", '"')


@lru_cache(maxsize=1024)
def _between_boundaries(answer: str) -> re.Pattern[str]:
    literal = re.escape(answer)
    # The first boundary is looked for last: with the literal in front, the search is ten times as fast.
    return re.compile(rf"{literal}(?<=\b{literal})\b")
