"""Efficiency: were the right calls made without detours, and without many words?

Both are paid only where every call is right, and apply only where calls are asked for: doing nothing, or the
wrong thing, is quick and earns nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from callgym.dialects import get_dialect
from callgym.episode import Episode, Score, Step
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.rewards.calls import call_exact_match
from callgym.task import Task

__all__ = ["length_efficiency", "make_length_efficiency", "step_efficiency"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})
_SHOWN = 500


def step_efficiency(task: Task, episode: Episode) -> Score:
    """Gold steps over steps taken, at most 1; 0 unless ``call_exact_match`` is 1.

    Gold steps are the gold calls, one a step, and in a dialogue one reply a user turn. Steps that call
    nothing but free tools are not counted. A policy that makes several calls in one step is no slower
    than the gold, and earns 1.
    """
    goal = task.goal_of(CallsGoal)
    if goal is None or not any(goal.turns):
        return NOT_ASKED
    # An episode of one action was no dialogue, or was cut off; either way the ratio is at its cap.
    replies = 1 + len(task.user_turns) if task.user_turns or len(episode.steps) > 1 else 0
    gold = sum(len(turn) for turn in goal.turns) + replies
    taken = sum(not _is_free(step, goal) for step in episode.steps)
    right = call_exact_match(task, episode).value == 1.0
    explanation: dict[str, JsonValue] = {"calls_right": right, "gold_steps": gold, "steps": taken}
    return Score(value=min(1.0, gold / taken) if right and taken else float(right), explanation=explanation)


def make_length_efficiency(count: Callable[[str], int] = len) -> Callable[[Task, Episode], Score]:
    """A reward like ``length_efficiency`` that counts in another unit::

        register_reward("token_efficiency", make_length_efficiency(lambda text: len(tokenizer.encode(text))))

    Args:
        count: The length of a text.
    """

    def measure(task: Task, episode: Episode) -> Score:
        return _measure(task, episode, count)

    return measure


def length_efficiency(task: Task, episode: Episode) -> Score:
    """Characters of the gold calls over characters written, at most 1; 0 unless ``call_exact_match`` is 1.

    The gold calls are written in the episode's dialect, the calls of a turn in one action. Of actions with
    calls or attempts all of ``step.action`` counts. Of a reply, and of an action that calls nothing but free
    tools, only the reasoning counts: how long a reply should be no goal says. None where the
    record's dialect is not known.
    """
    return _measure(task, episode, len)


def _measure(task: Task, episode: Episode, count: Callable[[str], int]) -> Score:
    goal = task.goal_of(CallsGoal)
    if goal is None or not any(goal.turns):
        return NOT_ASKED
    try:
        dialect = get_dialect(str(episode.config.get("dialect")))
    except ConfigurationError as error:
        return Score(value=None, explanation={"reason": str(error)[:_SHOWN]})
    actions = [dialect.render_action([call.reference() for call in turn]) for turn in goal.turns if turn]
    reference = sum(count(action) for action in actions)
    written = sum(count(_counted_text(step, goal)) for step in episode.steps)
    right = call_exact_match(task, episode).value == 1.0
    explanation: dict[str, JsonValue] = {
        "calls_right": right,
        "reference": "\n".join(actions)[:_SHOWN],
        "reference_length": reference,
        "length": written,
    }
    return Score(
        value=min(1.0, reference / written) if right and written > 0 else float(right), explanation=explanation
    )


def _counted_text(step: Step, goal: CallsGoal) -> str:
    is_reply = not step.calls and not step.errors
    return step.reasoning if is_reply or _is_free(step, goal) else step.action


def _is_free(step: Step, goal: CallsGoal) -> bool:
    """Whether a step calls free tools and nothing else."""
    return bool(step.calls) and not step.errors and all(call.name in goal.free for call in step.calls)
