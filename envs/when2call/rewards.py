"""When2Call's rewards beside ``irrelevance_abstention``: the choice among offered replies, and the reply's kind."""

from __future__ import annotations

from typing import Any

from callgym.envs.when2call.judge import offline_judge
from callgym.envs.when2call.offer import read_choice
from callgym.envs.when2call.rows import Answer
from callgym.envs.when2call.tasks import DECISIONS
from callgym.episode import Episode, Score
from callgym.rewards import Rubric, register_reward
from callgym.rewards.explain import register_explanation
from callgym.rewards.presets import RUBRICS
from callgym.task import Task

__all__ = ["right_kind", "when2call_choice"]

_NOT_OFFERED = Score(applies=False, explanation={"reason": "the task offers no replies to choose from"})
_KINDS: dict[str, Answer] = {decision: kind for kind, decision in DECISIONS.items()}


def right_kind(task: Task) -> Answer:
    """The official name of the right kind of reply."""
    return _KINDS[str(task.meta["decision"])]


def when2call_choice(task: Task, episode: Episode) -> Score:
    """1 where the chosen reply is of the right kind; of log-likelihoods the greatest a character counts (``acc_norm``,
    the accuracy of the paper). An action that chooses none earns 0."""
    if "choices" not in task.meta or not episode.steps:
        return _NOT_OFFERED
    if episode.ended == "truncated":  # what was cut off may have been going on
        unsaid: dict[str, Any] = {"expected": right_kind(task), "chosen": None, "raw": None, "by": "truncated"}
        return Score(value=0.0, explanation=unsaid)
    step = episode.steps[0]
    _, _, spoken = step.action.rpartition("</think>")
    chosen = read_choice(task, spoken)
    if chosen.by == "nothing" and step.content:  # a dialect that wraps words, such as openai
        chosen = read_choice(task, step.content)
    expected = right_kind(task)
    explanation: dict[str, Any] = {
        "expected": expected,
        "chosen": chosen.normalised,
        "raw": chosen.raw,
        "by": chosen.by,
    }
    return Score(value=float(chosen.normalised == expected), explanation=explanation)


register_reward("when2call_choice", when2call_choice)
register_explanation("when2call_choice", lambda explanation: float(explanation["chosen"] == explanation["expected"]))
register_reward("when2call_kind", offline_judge)
register_explanation("when2call_kind", lambda explanation: float(explanation["label"] == explanation["expected"]))

RUBRICS.setdefault(
    "when2call",
    Rubric(
        name="when2call",
        source="When2Call's four decisions (NVIDIA/When2Call ecc8d42); a call also has to be right",
        weights={"irrelevance_abstention": 1.0, "when2call_choice": 1.0, "format_validity": 0.0},
    ),
)
RUBRICS.setdefault(
    "when2call_kind",
    Rubric(
        name="when2call_kind",
        source="When2Call, LLM-as-a-judge version: the kind of the reply alone; here told by rules",
        weights={"when2call_kind": 1.0, "irrelevance_abstention": 0.0},
    ),
)
