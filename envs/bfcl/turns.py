"""A multi-turn episode as it is played: the policy's world, and after each turn what the official check finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.bfcl.official.multi_turn import GoldTurn, compare_turn, gold_trace
from callgym.envs.bfcl.simulators.base import Tables
from callgym.envs.bfcl.simulators.session import World, result_of
from callgym.rewards.values import value_key
from callgym.task import Task

__all__ = ["TurnSession", "open_turns"]


def open_turns(task: Task, tables: Tables) -> TurnSession:
    """A session for a multi-turn task; the gold's calls are run once for many episodes."""
    meta: dict[str, Any] = task.meta
    entry = {
        "id": task.id,
        "involved_classes": meta["involved_classes"],
        "initial_config": task.initial_state,
        "long_context": bool(meta.get("long_context", False)),
    }
    gold = gold_trace(entry, meta["gold"], tables).turns
    # The gold's instances have a name of their own, too: see ``World.rewritten``.
    world = World(entry["involved_classes"], task.initial_state, tables, entry["long_context"], f"model_eval_{task.id}")
    return TurnSession(world, gold)


class TurnSession:
    """The tools of one episode, and the facts of its turns so far."""

    def __init__(self, world: World, gold: Sequence[GoldTurn]) -> None:
        self._world = world
        self._gold = gold
        self._results: dict[str, int] = {}
        self._turns: list[dict[str, Any]] = []
        self._tried = 0
        self._ran: list[ToolCall] = []

    def tried(self) -> None:
        """Note that a call was made, whether or not it comes to ``call``: one that is refused was one, too."""
        self._tried += 1

    def call(self, call: ToolCall) -> ToolResult:
        """Run a call; what it says is kept for the checks of this turn and of later ones."""
        outcome = self._world.run(call.name, call.arguments)
        self._results[outcome.text] = self._results.get(outcome.text, 0) + 1
        self._ran.append(call)
        return result_of(outcome)

    def end_turn(self) -> None:
        """Compare with the gold, and begin the next turn."""
        gold = self._gold[len(self._turns)]
        fault = compare_turn(gold, self._world, self._results, silent=not self._tried)
        self._turns.append(
            {
                "gold": len(gold.results),
                "made": self._tried,
                "copies": _copies(self._ran, len(gold.results)),
                "error": None if fault is None else fault.error_type,
                "message": "" if fault is None else fault.message[:500],
            }
        )
        self._tried = 0
        self._ran = []

    def state(self) -> dict[str, Any]:
        """``{"turns": [...]}``: for each turn that is over the number of gold calls, of calls made, of copies among
        them beyond what the gold has, the official error, if any, and what was wrong."""
        return {"turns": [dict(turn) for turn in self._turns]}

    def close(self) -> None:
        """Nothing to give back."""


def _copies(calls: Sequence[ToolCall], needed: int) -> int:
    """Calls that say what an earlier call of the turn said; none as long as there are no more calls than needed."""
    if len(calls) <= max(1, needed):
        return 0
    different = {(call.name, value_key(call.arguments)) for call in calls}
    return min(len(calls) - len(different), len(calls) - needed)
