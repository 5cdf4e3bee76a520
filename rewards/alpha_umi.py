"""alpha-UMi's static evaluation of ToolBench steps: what a step's text says, and how it scores, to the last bit.

    >>> step = parse_step("I look it up. Next: caller.</s>caller: Action: Find\\nAction Input: {}", "multi_agent")
    >>> step.plan, step.action, step.arguments
    ('call', 'Find', '{}')

A sample is one step of a recorded history: the reference text, the predicted text, and the names of the
tools. ``score_step`` scores one, ``corpus_score`` many. The official script stops at some texts; here that
is data, never an exception: ``official_error`` holds what it dies of, and the numbers beside it read such a
text as what it was meant for and pay it nothing. (Not held: that the package ``rouge`` recurses too deeply at
a sentence of some thousand words; such an answer has its number here.)

Source: X-PLUG/Multi-LLM-Agent f9eeef7, GLPFT/inference_utils/toolbench/evaluate-multi_agent.py and
evaluate-backbone.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from callgym.rewards.rouge import rouge_l

__all__ = [
    "Bucket",
    "CorpusScore",
    "Plan",
    "StepFormat",
    "StepScore",
    "StepText",
    "corpus_score",
    "half_credit_f1",
    "parse_step",
    "score_step",
]

StepFormat = Literal["multi_agent", "backbone"]
"""``multi_agent``: a planner's text, then a caller's or a summariser's, parted by ``</s>``. ``backbone``: the
text of one model."""
Plan = Literal["call", "finish", "give up"]
Bucket = Literal["name_mismatch", "empty_ref_args", "with_args", "skipped"]
"""Why a reference call's arguments scored as they did: another tool was named, the reference has none, it
has some, or it cannot be read and the sample is left out."""

_NO_SEPARATOR = "IndexError: list index out of range"
_NO_SPACE = "ValueError: substring not found"
_EMPTY_ANSWER = "ValueError: Hypothesis is empty."
_EMPTY_REFERENCE = "ValueError: Reference is empty."
_EMPTY_BUCKET = "ZeroDivisionError: division by zero"
_TINY = 1e-30  # the official script adds it to each mean of argument F1


@dataclass(frozen=True, slots=True)
class StepText:
    """One step's text, read as the official script reads it."""

    plan: Plan
    """What the step does next."""
    action: str | None = None
    """For a call, the tool's name as written; ``none`` where no "Action:" stands."""
    arguments: str | None = None
    """For a call, the text of its arguments, JSON or not."""
    answer: str | None = None
    """For a finish, the final answer."""
    official_error: str | None = None
    """What the official parser dies of at this text, as ``Class: message``; None where it reads it."""


@dataclass(frozen=True, slots=True)
class StepScore:
    """One sample, scored."""

    reference: StepText
    prediction: StepText
    plan_match: bool
    """Both have the same plan."""
    hallucination: bool
    """The prediction names a tool that is not there."""
    action_match: bool | None
    """For a reference call: the same tool is named."""
    argument_f1: float | None
    """For a reference call, in [0, 1]; None also where the sample is left out."""
    bucket: Bucket | None
    """For a reference call: why ``argument_f1`` is what it is."""
    rouge_l: float | None
    """For a reference finish: ROUGE-L of the answer, in [0, 1]; None also where the reference is empty."""
    rouge_error: str | None = None
    """What the official script dies of when it compares the answers."""

    @property
    def parse_error(self) -> str | None:
        """What the official parser dies of, at the reference or else at the prediction."""
        return self.reference.official_error or self.prediction.official_error

    @property
    def official_error(self) -> str | None:
        """What the official script dies of at this sample; None where it scores it."""
        return self.parse_error or self.rouge_error


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """The published numbers of many samples, as shares in [0, 1]; None where there is nothing to average."""

    samples: int
    plan_accuracy: float | None
    """Plan ACC: share of samples with the right plan."""
    hallucination_rate: float | None
    """Share of *all* samples, not only of calls."""
    action_match: float
    """Act. EM, over reference calls; 0 without any."""
    argument_f1: float | None
    """Arg. F1, over reference calls that can be read."""
    easy_f1: float | None
    """Over reference calls without arguments, and those where another tool was named."""
    hard_f1: float | None
    """Over reference calls with arguments, and those where another tool was named."""
    rouge_l: float
    """Rouge-L, over reference finishes; 0 without any."""
    official_error: str | None
    """What the official script dies of before it has any number; None where it gives these very ones."""

    def official(self) -> dict[str, float | None] | None:
        """The official metrics file; None where the official script dies."""
        if self.official_error is not None:
            return None
        return {
            "rouge": self.rouge_l,
            "plan_em": self.plan_accuracy,
            "action_em": self.action_match,
            "easy_f1": self.easy_f1,
            "hard_f1": self.hard_f1,
            "f1": self.argument_f1,
            "hallu_rate": self.hallucination_rate,
        }


# Reading.


def parse_step(text: str, format: StepFormat) -> StepText:
    """Read a reference or a predicted step; any text is read as something."""
    return _parse_roles(text) if format == "multi_agent" else _parse_single(text)


def _parse_roles(text: str) -> StepText:
    """Planner's text, ``</s>``, then the caller's ("caller: Action: ...") or the summariser's ("conclusion: ...")."""
    if "Next: give up" in text:
        return StepText("give up")
    if "Next: conclusion" in text:
        return _parse_conclusion(text)
    parts = text.split("</s>", 2)
    if len(parts) == 1:
        return StepText("call", official_error=_NO_SEPARATOR)
    return _parse_call(parts[1])


def _parse_conclusion(text: str) -> StepText:
    _, marker, answer = text.rpartition("conclusion: ")
    error = None
    if not marker and "conclusion:" in text:  # the official script looks for the space it did not check for
        answer, error = text.rpartition("conclusion:")[2], _NO_SPACE
    return StepText("finish", answer=answer.replace("</s>", ""), official_error=error)


def _parse_single(text: str) -> StepText:
    if "conclusion: give up" in text:
        return StepText("give up")
    if "conclusion: " in text:
        return StepText("finish", answer=text.rpartition("conclusion: ")[2])
    return _parse_call(text)


def _parse_call(text: str) -> StepText:
    _, marker, arguments = text.rpartition("Action Input:")
    _, named, action = text.rpartition("Action:")
    return StepText(
        "call",
        action=action.partition("Action Input:")[0].strip() if named else "none",
        arguments=arguments.strip() if marker else "{}",
    )


# Scoring one sample.


def score_step(reference: str, prediction: str, tools: Collection[str], format: StepFormat) -> StepScore:
    """Score one predicted step.

    Args:
        reference: The recorded step's text.
        prediction: The policy's text; any text gets a score.
        tools: Names of the tools of this sample.
        format: How both texts are written.
    """
    wanted, said = parse_step(reference, format), parse_step(prediction, format)
    calls = wanted.plan == "call"
    f1, bucket = _score_arguments(wanted, said) if calls else (None, None)
    rouge, rouge_error = _score_answer(wanted.answer, said.answer) if wanted.plan == "finish" else (None, None)
    return StepScore(
        wanted,
        said,
        plan_match=wanted.plan == said.plan,
        hallucination=said.action not in (None, "none") and said.action not in tools,
        action_match=_action(wanted) == _action(said) if calls else None,
        argument_f1=f1,
        bucket=bucket,
        rouge_l=rouge,
        rouge_error=rouge_error,
    )


def _action(step: StepText) -> str:
    return "none" if step.action is None else step.action


def _score_arguments(wanted: StepText, said: StepText) -> tuple[float | None, Bucket]:
    if _action(wanted) != _action(said):
        return 0.0, "name_mismatch"
    reference, readable = _read_json(wanted.arguments)
    if not readable:
        return None, "skipped"
    bucket: Bucket = "empty_ref_args" if reference == {} else "with_args"
    given, readable = _read_json(said.arguments)
    return half_credit_f1(reference, given) if readable else 0.0, bucket


def _read_json(text: str | None) -> tuple[Any, bool]:
    """(The value, whether there is one); no text at all is an empty object."""
    try:
        return json.loads("{}" if text is None else text), True
    except (ValueError, RecursionError):
        return None, False


def half_credit_f1(reference: Any, given: Any) -> float:
    """alpha-UMi's F1 of one call's arguments: 1 for an equal value, 0.5 for a given name with another value.

    Values are compared as Python does ("1" is not 1, but true is 1). So all names with all values wrong
    earn 0.5. 1 where neither has any argument; 0 where one is not an object.
    """
    if not (isinstance(reference, dict) and isinstance(given, dict)):
        return 0.0
    try:
        credit = sum([1.0 if given[name] == value else 0.5 for name, value in reference.items() if name in given])
    except RecursionError:  # values nested too deeply to be compared, officially as well
        return 0.0
    if not credit:
        return float(not reference and not given)
    recall, precision = credit / len(reference), credit / len(given)
    return (2 * recall * precision) / (recall + precision)


def _score_answer(wanted: str | None, said: str | None) -> tuple[float | None, str | None]:
    """(ROUGE-L, what the official script dies of); a step that does not finish says "none"."""
    reference, reply = wanted or "", "none" if said is None else said
    if not reference.strip("."):
        return None, _EMPTY_REFERENCE if reply.strip(".") else _EMPTY_ANSWER
    return rouge_l(reference, reply), None if reply.strip(".") else _EMPTY_ANSWER


# Adding up.


def corpus_score(scores: Iterable[StepScore]) -> CorpusScore:
    """The published metrics of many samples."""
    rows = list(scores)
    actions = [row.action_match for row in rows if row.action_match is not None]
    answers = [row.rouge_l for row in rows if row.rouge_l is not None]
    easy, hard = _mean_f1(rows, "empty_ref_args"), _mean_f1(rows, "with_args")
    return CorpusScore(
        samples=len(rows),
        plan_accuracy=_mean([row.plan_match for row in rows]),
        hallucination_rate=_mean([row.hallucination for row in rows]),
        action_match=_mean(actions) or 0.0,
        argument_f1=_mean_f1(rows, "empty_ref_args", "with_args"),
        easy_f1=easy,
        hard_f1=hard,
        rouge_l=_mean(answers) or 0.0,
        official_error=_first_error(rows) or (_EMPTY_BUCKET if easy is None or hard is None else None),
    )


def _first_error(rows: list[StepScore]) -> str | None:
    """The official script reads all samples first, and compares the answers then."""
    errors = [row.parse_error for row in rows] + [row.rouge_error for row in rows]
    return next((error for error in errors if error is not None), None)


def _mean_f1(rows: list[StepScore], *buckets: Bucket) -> float | None:
    """Where another tool was named, the sample counts in every bucket."""
    kept = ("name_mismatch", *buckets)
    mean = _mean([row.argument_f1 for row in rows if row.bucket in kept and row.argument_f1 is not None])
    return None if mean is None else mean + _TINY


def _mean(values: Iterable[float]) -> float | None:
    """The mean, added up one by one: ``sum`` rounds otherwise from Python 3.12 on."""
    total, count = 0.0, 0
    for value in values:
        total += value
        count += 1
    return total / count if count else None
