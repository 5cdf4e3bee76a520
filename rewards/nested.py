"""Nested calls: an argument that is another call's result must be the right call's, whatever its number.

Seal-Tools (fairyshine/Seal-Tools ce753ec) writes such an argument ``API_call_k``, the k-th output of the row's
calls; its official metric compares the text, so that the same plan in another order loses these arguments. Here
an output is known by the call that gives it: gold and predicted calls are paired first, and a reference is right
where it leads to the partner of the call that the gold one leads to, and to the same output of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from callgym.call import ToolCall
from callgym.episode import Episode, Score
from callgym.goal import CallsGoal, GoldCall
from callgym.noun import JsonObject
from callgym.rewards.matching import match_calls
from callgym.rewards.turns import gold_calls, made_calls
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["NestedMatch", "Output", "match_references", "nested_calls", "number_outputs"]

NOT_ASKED = Score(applies=False, explanation={"reason": "no argument of a gold call is another call's result"})
_ROUNDS = 4
_SHOWN = 8

Output = tuple[int, int]
"""(Index of the call that gives it, which of its outputs it is)."""


@dataclass(frozen=True, slots=True)
class NestedMatch:
    """The references of predicted calls held against those of gold calls."""

    right: int
    """References that lead to the right call's output."""
    gold: int
    """References in gold calls."""
    predicted: int
    """References in predicted calls."""
    faults: tuple[tuple[str, str], ...]
    """(Gold call's name, argument) of each gold reference that has no right counterpart."""

    @property
    def f1(self) -> float:
        """2 * right / (gold + predicted); 0 where there are none."""
        total = self.gold + self.predicted
        return 2 * self.right / total if total else 0.0


def nested_calls(task: Task, episode: Episode) -> Score:
    """F1 over the arguments that are another call's result, up to a renumbering of the calls.

    Outputs are numbered as in Seal-Tools: ``API_call_0`` is the first output of the first call, and each call
    has as many as its tool's ``returns`` has properties, one where it says nothing of them. Calls of free tools
    have no number. Predicted references that are not asked for lower the score, repeated ones too.
    """
    goal = task.goal_of(CallsGoal)
    gold = gold_calls(goal) if goal is not None else []
    tools = {tool.name: tool for tool in task.tools}
    outputs = number_outputs([call.name for call in gold], tools)
    if goal is None or not any(_is_reference(v[0], outputs) for call in gold for v in call.arguments.values()):
        return NOT_ASKED
    calls = made_calls(goal, episode.steps)
    match = match_references(gold, outputs, calls, number_outputs([call.name for call in calls], tools))
    faults: list[JsonValue] = [f"{name}: {argument}" for name, argument in match.faults[:_SHOWN]]
    counts: JsonObject = {"right": match.right, "gold": match.gold, "predicted": match.predicted}
    return Score(value=match.f1, explanation={**counts, "not_right": faults})


def number_outputs(calls: Iterable[str], tools: Mapping[str, Tool]) -> dict[str, Output]:
    """``API_call_k`` to the output it names, for calls of these tools in this order."""
    outputs: dict[str, Output] = {}
    for index, name in enumerate(calls):
        for number in range(_output_count(tools.get(name))):
            outputs[f"API_call_{len(outputs)}"] = (index, number)
    return outputs


def _output_count(tool: Tool | None) -> int:
    properties = None if tool is None or tool.returns is None else tool.returns.get("properties")
    return len(properties) if isinstance(properties, dict) else 1


def match_references(
    gold: Sequence[GoldCall],
    gold_outputs: Mapping[str, Output],
    predicted: Sequence[ToolCall],
    outputs: Mapping[str, Output],
) -> NestedMatch:
    """Pair the calls, then follow each reference.

    At first any reference counts as equal to any other of the same output. Once calls have partners it is known
    where references lead, and the calls are paired again by that, until nothing changes or four times.

    Args:
        gold: The calls asked for.
        gold_outputs: Names of the outputs of gold calls.
        predicted: The calls made.
        outputs: Names of the outputs of predicted calls.
    """
    everywhere = dict.fromkeys(range(max(len(gold), len(predicted))), 0)
    partners = _partners(gold, gold_outputs, everywhere, predicted, outputs, everywhere)
    itself = {index: index for index in range(len(gold))}
    for _ in range(_ROUNDS):
        again = _partners(gold, gold_outputs, itself, predicted, outputs, partners)
        if again == partners:
            break
        partners = again
    answer_to = {g: p for p, g in partners.items()}
    right = 0
    faults: list[tuple[str, str]] = []
    for index, call in enumerate(gold):
        made = predicted[answer_to[index]].arguments if index in answer_to else {}
        for name, values in call.arguments.items():
            if _is_reference(values[0], gold_outputs):
                led = _place(made.get(name), outputs, partners)
                hit = led is not None and led == _place(values[0], gold_outputs, itself)
                right += hit
                faults += [] if hit else [(call.name, name)]
    asked = right + len(faults)
    made_references = sum(_is_reference(value, outputs) for call in predicted for value in call.arguments.values())
    return NestedMatch(right, asked, made_references, tuple(faults))


def _is_reference(value: Any, outputs: Mapping[str, Output]) -> bool:
    return isinstance(value, str) and value in outputs


def _place(value: Any, outputs: Mapping[str, Output], known_as: Mapping[int, int]) -> tuple[int, int] | None:
    """Where a reference leads, by what its call is known as; None for another value, or a call without partner."""
    if not _is_reference(value, outputs):
        return None
    call, number = outputs[value]
    return (known_as[call], number) if call in known_as else None


def _partners(
    gold: Sequence[GoldCall],
    gold_outputs: Mapping[str, Output],
    gold_known_as: Mapping[int, int],
    predicted: Sequence[ToolCall],
    outputs: Mapping[str, Output],
    known_as: Mapping[int, int],
) -> dict[int, int]:
    """Predicted call to the gold call it answers, with references compared by where they lead."""
    asked = [
        GoldCall.trusted(
            name=call.name,
            arguments={
                name: (_led(values[0], gold_outputs, gold_known_as), *values[1:])
                for name, values in call.arguments.items()
            },
            optional=call.optional,
        )
        for call in gold
    ]
    made = [
        ToolCall.trusted(
            name=call.name,
            arguments={name: _led(value, outputs, known_as) for name, value in call.arguments.items()},
            id=None,
        )
        for call in predicted
    ]
    return {p: g for g, p, _ in match_calls(asked, made).pairs}


def _led(value: Any, outputs: Mapping[str, Output], known_as: Mapping[int, int]) -> Any:
    """The value, or for a reference a value that is the same where it leads to the same place."""
    if not _is_reference(value, outputs):
        return value
    place = _place(value, outputs, known_as)
    return {"output": None if place is None else list(place)}
