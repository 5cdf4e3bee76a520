"""How robust is a policy? The same tasks and seeds with tools that work, and with faults: two policies side by side.

    python examples/fault_injection.py --episodes 100 --faults errors:0.3 latency

Both know the right calls. One gives a call up when it fails, the other makes it again, up to two times. Paid are
outcomes: the state reached, and the facts of the last answer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from callgym.goal import CallsGoal
from callgym.rewards import Rubric
from callgym.rollouts.policy import Situation
from callgym.rollouts.runner import run_episodes

OUTCOME = Rubric(name="outcome", weights={"state_reached": 1.0, "final_answer": 1.0})


class Caller:
    """Makes the calls of each user turn one by one, each at most ``tries`` times, and tells what came of them."""

    def __init__(self, name: str, tries: int) -> None:
        self.name = name
        self._tries = tries

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """One action each, from the conversation so far."""
        return [self._action(situation) for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""

    def _action(self, situation: Situation) -> str:
        env, task = situation.env, situation.env.task
        turn, answered, failed = 0, 0, 0
        for message in situation.messages[len(task.messages) :]:
            if message["role"] == "user":
                turn, answered, failed = turn + 1, 0, 0
            elif message["role"] == "tool":
                failed = failed + 1 if message["content"].startswith('{"error"') else 0
                answered += not failed
        goal, meta = task.goal_of(CallsGoal), dict[str, Any](task.meta)
        gold = goal.turns[turn] if goal is not None and turn < len(goal.turns) else ()
        if answered < len(gold) and failed < self._tries:
            return env.dialect.render_action([gold[answered].reference()])
        words = meta["replies"][turn] if answered == len(gold) else "Sorry, that did not work."
        return env.dialect.render_action((), words)


def rows(episodes: int, seed: int, faults: Sequence[str], **options: Any) -> list[tuple[str, str, float, int, int]]:
    """Policy, tools, mean return, calls, and calls that failed."""
    found = []
    for policy in (Caller("gives up", 1), Caller("tries again", 3)):
        for tools, given in (("clean", []), ("faulty", list(faults))):
            made = {"rubric": OUTCOME, "protocol": "dialogue", "dialect": "hermes", "faults": given, **options}
            result = run_episodes("apibank/L1-v0", policy, episodes=episodes, seed=seed, env_options=made)
            summary, calls = result.summary, sum(len(episode.calls()) for episode in result.episodes)
            found.append((policy.name, tools, summary.return_mean or 0.0, calls, sum(summary.errors.values())))
    return found


def main() -> None:
    """Play, and print the table."""
    parser = argparse.ArgumentParser(description="Two policies, with faults and without.")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", nargs="+", default=["errors:0.2", "latency", "outage:0.1"])
    given = parser.parse_args()
    print("policy       tools   return  calls failed")
    for policy, tools, mean, calls, failed in rows(given.episodes, given.seed, given.faults, data="starter"):
        print(f"{policy:12} {tools:7} {mean:6.3f} {calls:6} {failed:6}")


if __name__ == "__main__":
    main()
