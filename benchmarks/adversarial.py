"""What near-cheats earn: ``python benchmarks/adversarial.py [--ids bfcl/] [--data FOLDER] [--episodes N] [--json]``.

Mean default return over the test split of every policy of ``callgym.rollouts.adversarial`` on every
registered id but BFCL's groups, which are unions of the others, API-Bank in both protocols; beside them the
oracle, the floors, and the shares of tasks that are to be declined, which is what words alone may earn, and in
which any call that fits is right. With ``--json`` the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from callgym.envs.base import make_tool_env
from callgym.envs.bfcl.categories import GROUPS
from callgym.goal import CallsGoal, DecisionGoal
from callgym.registry import ENVIRONMENTS
from callgym.rollouts.adversarial import ADVERSARIES
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.task import Task

PROTOCOLS: dict[str, tuple[str, ...]] = {"apibank": ("step", "dialogue")}
"""The protocols of families that have several."""

Setting = tuple[str, dict[str, Any]]
"""A registered id, and arguments of ``gym.make``."""


def settings(prefixes: Sequence[str] = ("",)) -> list[Setting]:
    """Every registered id that begins with one of the prefixes, in every protocol that it has; no groups."""
    groups = {f"bfcl/{name}-v0" for name in GROUPS}
    found: list[Setting] = []
    for entry in ENVIRONMENTS:
        if entry.id in groups or not entry.id.startswith(tuple(prefixes)):
            continue
        protocols = PROTOCOLS.get(entry.family)
        found += [(entry.id, {"protocol": protocol}) for protocol in protocols] if protocols else [(entry.id, {})]
    return found


def decision_share(tasks: Sequence[Task], decision: str) -> float:
    """The share of tasks in which this is the right decision, and no certain calls are asked for."""
    goals = [task.goal_of(DecisionGoal) for task in tasks if task.goal_of(CallsGoal) is None]
    return sum(goal is not None and goal.decision == decision for goal in goals) / len(tasks)


def returns(setting: Setting, data: str, episodes: int | None, policies: Sequence[str]) -> dict[str, float | None]:
    """Mean return of each policy; None where no return is known."""
    id, options = setting
    options = {**options, "data": data}
    env = make_tool_env(id, **options)
    count = min(episodes or len(env.tasks), len(env.tasks))
    row: dict[str, float | None] = {
        "episodes": count,
        "to decline": decision_share(env.tasks, "decline"),
        "any call": decision_share(env.tasks, "call"),
    }
    env.close()
    for name in policies:
        result = run_episodes(id, get_policy(name), episodes=count, env_options=options, progress=False)
        row[name] = result.summary.return_mean
    return row


def main() -> None:
    """Play, and print a row a policy and a column an id."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ids", nargs="+", default=[""], help="what the ids begin with; all by default")
    parser.add_argument("--data", default="starter", help="starter, official, or a folder of official files")
    parser.add_argument("--episodes", type=int, default=None, help="at most so many; every task once by default")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    policies = ["oracle", "abstain", "random", *(adversary.name for adversary in ADVERSARIES)]
    table = {}
    for id, more in settings(options.ids):
        column = " ".join((id.removesuffix("-v0"), *more.values()))
        table[column] = returns((id, more), options.data, options.episodes, policies)
    widths = [max(8, len(column)) for column in table]
    print("  ".join([f"{'':<20}", *(f"{column:>{width}}" for column, width in zip(table, widths, strict=True))]))
    for name in ("episodes", "to decline", "any call", *policies):
        values = [row[name] for row in table.values()]
        shown = [
            "unknown" if value is None else f"{value:.0f}" if name == "episodes" else f"{value:.3f}" for value in values
        ]
        print("  ".join([f"{name:<20}", *(f"{text:>{width}}" for text, width in zip(shown, widths, strict=True))]))
    if options.json:
        print(json.dumps(table))


if __name__ == "__main__":
    main()
