"""ToolRL's reward: format plus graded correctness of calls.

Qian et al., ToolRL: Reward is All Tool Learning Needs, arXiv 2504.13958, section 3.3. With gold calls G and
made calls P:

- tool names: |N_G & N_P| / |N_G | N_P|, names as sets;
- for each gold call, paired with a made call of the same name: parameter names, the same ratio of their
  keys, and parameter content, the number of its parameters with the right value;
- the pairing that earns most; the score is on a scale from 0 to S_max = 1 + |G| + (parameters of G);
- R_correct = 6 * score / S_max - 3, from -3 to 3, and R = R_format + R_correct, from -3 to 4.

A score of ours lies in [0, 1], so ``toolrl_correctness`` is (R_correct + 3) / 6 and the rubric ``toolrl``
puts it back on the paper's scale. A policy that makes extra calls loses only where it names another tool:
that is the design.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from callgym.call import ToolCall
from callgym.episode import Episode, Score
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards.matching import assign
from callgym.rewards.turns import gold_calls, made_calls
from callgym.rewards.values import same_value
from callgym.task import Task

__all__ = ["NOT_ASKED", "toolrl_correctness", "toolrl_format"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no calls"})


def toolrl_format(task: Task, episode: Episode) -> Score:
    """1 where every action could be read and says something, else 0.

    The paper asks for its tags, in their order; here the dialect says what can be read.
    """
    unreadable = sum(len(step.errors) for step in episode.steps)
    silent = sum(not (step.calls or step.errors or step.content.strip()) for step in episode.steps)
    good = bool(episode.steps) and not unreadable and not silent
    return Score(
        value=float(good), explanation={"steps": len(episode.steps), "unreadable": unreadable, "silent": silent}
    )


def toolrl_correctness(task: Task, episode: Episode) -> Score:
    """(R_correct + 3) / 6 of the episode's calls against the gold calls; see the module's docstring."""
    goal = task.goal_of(CallsGoal)
    gold = [] if goal is None else gold_calls(goal)
    if goal is None or not gold:
        return NOT_ASKED
    made = made_calls(goal, episode.steps)
    names = _ratio({call.name for call in gold}, {call.name for call in made})
    pairs = _pairs(gold, made)
    most = 1 + len(gold) + sum(len(call.arguments) for call in gold)
    score = names + sum(keys + values for _, _, keys, values in pairs)
    explanation: dict[str, Any] = {
        "names": names,
        "pairs": [{"gold": g, "made": p, "keys": keys, "values": values} for g, p, keys, values in pairs],
        "score": score,
        "most": most,
        "r_correct": 6 * score / most - 3,
    }
    return Score(value=score / most, explanation=explanation)


def _pairs(gold: Sequence[GoldCall], made: Sequence[ToolCall]) -> list[tuple[int, int, float, int]]:
    """(gold, made, ratio of keys, right values) of the pairing that earns most."""
    earned = {(g, p): _earned(call, other) for g, call in enumerate(gold) for p, other in enumerate(made)}
    table = np.zeros((len(gold), len(made)))
    for (g, p), (keys, values) in earned.items():
        table[g, p] = keys + values
    return [(g, p, *earned[g, p]) for g, p in assign(table) if gold[g].name == made[p].name]


def _earned(gold: GoldCall, made: ToolCall) -> tuple[float, int]:
    if gold.name != made.name:
        return 0.0, 0
    right = sum(
        name in made.arguments and any(same_value(value, made.arguments[name]) for value in accepted)
        for name, accepted in gold.arguments.items()
    )
    return _ratio(set(gold.arguments), set(made.arguments)), right


def _ratio(one: set[str], other: set[str]) -> float:
    either = one | other
    return len(one & other) / len(either) if either else 1.0
