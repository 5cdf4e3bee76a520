"""Figures of policies without a model: what the oracle earns, and what is earned by doing nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from figure_settings import Setting

from callgym.envs.bfcl.categories import GROUPS
from callgym.rollouts.policy import Policy, get_policy
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.scripted import SayPolicy

__all__ = ["MOST", "POLICIES", "baselines_of", "members_of", "of_group"]

POLICIES = ("oracle", "abstain", "ask", "answer", "random", "call_every_tool", "echo", "silent")
"""The ceiling and the floors."""
MOST = 500
"""Episodes of a policy at most: tasks beyond are not played."""
_LETTERS = "ABCD"
_OFFERS_LETTERS = "when2call/mcq-v0"


def baselines_of(setting: Setting, data: str | Path) -> dict[str, Any]:
    """Mean return of each policy, default rubric, every task of split ``test`` once (``MOST`` at most), seed 0.

    Args:
        setting: The id and protocol.
        data: ``starter``, or the folder of official files.

    Returns:
        ``episodes``, ``returns`` by policy (None where it is not known), and the command of one of them.
    """
    env = setting.env(data)
    count = min(MOST, len(env.tasks))
    env.close()
    returns = {name: _mean(setting, data, get_policy(name), count) for name in POLICIES}
    if setting.id == _OFFERS_LETTERS:
        letters = [_mean(setting, data, SayPolicy(f"letter_{letter}", letter), count) for letter in _LETTERS]
        returns["best_letter"] = max(value for value in letters if value is not None)
    where = "starter" if data == "starter" else "FOLDER"
    command = f"callgym eval {setting.id} --policy POLICY --data {where}{setting.words} --episodes {count} --json"
    return {"command": command, "episodes": count, "returns": returns}


def members_of(id: str) -> tuple[str, ...]:
    """The ids that a group is made of; none where it is no group."""
    family, _, name = id.removesuffix("-v0").partition("/")
    return tuple(f"{family}/{member}-v0" for member in GROUPS.get(name, ())) if family == "bfcl" else ()


def of_group(members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A group's figures: the mean over the episodes of its members, which were played one by one."""
    episodes = sum(member["episodes"] for member in members)
    returns = {
        name: sum(member["episodes"] * member["returns"][name] for member in members) / episodes for name in POLICIES
    }
    return {"command": None, "episodes": episodes, "returns": returns}


def _mean(setting: Setting, data: str | Path, policy: Policy, count: int) -> float | None:
    options = {"data": str(data), **dict(setting.options)}
    # One environment: official files are read again for every other one, and these policies gain nothing by batches.
    result = run_episodes(setting.id, policy, episodes=count, batch_size=1, env_options=options, progress=False)
    return result.summary.return_mean
