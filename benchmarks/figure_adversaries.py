"""Figures of policies that try to collect reward without doing the task, under our rubrics and the official ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adversarial import decision_share
from figure_baselines import members_of
from figure_settings import Setting

from callgym.rollouts.adversarial import ADVERSARIES
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes

__all__ = ["EPISODES", "OFFICIAL_RUBRICS", "POLICIES", "adversaries_of"]

POLICIES = ("oracle", "abstain", *(adversary.name for adversary in ADVERSARIES))
"""The adversaries, and what they are held against."""
_OFFICIAL_OPTIONS: dict[str, dict[str, Any]] = {"apibank": {"ranker": "minilm"}}
"""Family to further arguments there: the official search model."""
EPISODES = {"apibank": 500, "bfcl": 60, "when2call": 400}
"""Family to the episodes of a policy, at most."""
OFFICIAL_RUBRICS = {"apibank": "apibank_official", "bfcl": "bfcl_official", "when2call": "default"}
"""Family to what official files are played under: the rubric of the benchmark's own verdicts, which in When2Call is the
default of ``when2call/judge-v0`` and ``mcq-v0``."""


def adversaries_of(setting: Setting, data: str | Path = "starter") -> dict[str, Any] | None:
    """Mean return of each policy: the default rubric on starter tasks, the official one on official files.

    Returns:
        ``episodes``, ``returns`` by policy, ``decline`` and ``any_call`` (the shares of tasks in which declining, or
        any call that fits, is right) and the rubric; None where there is nothing to play: groups, which are their
        categories again, and official rubrics in other protocols than the official one.
    """
    official = data != "starter"
    rubric = OFFICIAL_RUBRICS.get(setting.family) if official else "default"
    if members_of(setting.id) or rubric is None or (official and setting.options):
        return None
    more = _OFFICIAL_OPTIONS.get(setting.family, {}) if official else {}
    options = {**dict(setting.options), **more, "rubric": rubric, "data": str(data)}
    env = setting.env(data)
    tasks = env.tasks
    env.close()
    count = min(EPISODES[setting.family], len(tasks))
    returns = {}
    for name in POLICIES:
        result = run_episodes(
            setting.id, get_policy(name), episodes=count, batch_size=1, env_options=options, progress=False
        )
        returns[name] = result.summary.return_mean
    return {
        "any_call": decision_share(tasks, "call"),
        "decline": decision_share(tasks, "decline"),
        "episodes": count,
        "returns": returns,
        "rubric": rubric,
    }
