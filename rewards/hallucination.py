"""Hallucination: how much of what was called exists? Tools by the answers they got, arguments by the schemas.

Both scores are 1 where nothing was made up. They judge what was called, not whether it was right, and do not
apply where there is nothing to judge: for calling nothing neither pays. alpha-UMi's own rate, over all samples
rather than over calls, is in ``callgym.rewards.alpha_umi``.
"""

from __future__ import annotations

from pydantic import JsonValue

from callgym.call import ToolCall, ToolResult
from callgym.episode import Episode, Score
from callgym.noun import JsonObject
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["hallucinated_argument", "hallucinated_tool"]

NOT_ASKED = Score(applies=False, explanation={"reason": "no call was made that can be judged"})
NO_ARGUMENTS = Score(applies=False, explanation={"reason": "no argument was given that can be judged"})
_SHOWN = 8


def hallucinated_tool(task: Task, episode: Episode) -> Score:
    """1 minus the share of calls that name a tool which did not exist when it was called.

    A call that cannot be read names no tool and does not count.
    """
    answered = _answered(episode)
    if not answered:
        return NOT_ASKED
    made_up: list[JsonValue] = [call.name[:200] for call, result in answered if result.error == "unknown_tool"]
    explanation: JsonObject = {"calls": len(answered), "unknown": len(made_up), "names": made_up[:_SHOWN]}
    return Score(value=1 - len(made_up) / len(answered), explanation=explanation)


def hallucinated_argument(task: Task, episode: Episode) -> Score:
    """1 minus the share of given arguments whose name the tool's schema does not have.

    A schema that lets other properties in has them all. A call of an unknown tool does not count. Where a
    tool was found on the way, so that the task does not hold its schema, one argument of a call whose
    arguments were refused counts as made up, and the others as known.
    """
    tools = {tool.name: tool for tool in task.tools}
    tools.update({tool.name: tool for turn in task.user_turns for tool in turn.add_tools})
    given, unknown = 0, 0
    names: list[JsonValue] = []
    for call, result in _answered(episode):
        if result.error == "unknown_tool" or not call.arguments:
            continue
        given += len(call.arguments)
        tool = tools.get(call.name)
        made_up = _unknown_arguments(call, tool) if tool is not None else _refused(result)
        unknown += len(made_up)
        names += [f"{call.name[:200]}: {name[:200]}" for name in made_up[: _SHOWN - len(names)]]
    if not given:
        return NO_ARGUMENTS
    explanation: JsonObject = {"arguments": given, "unknown": unknown, "names": names}
    return Score(value=1 - unknown / given, explanation=explanation)


def _answered(episode: Episode) -> list[tuple[ToolCall, ToolResult]]:
    """The calls that got a result, each with it."""
    return [pair for step in episode.steps for pair in zip(step.calls, step.results, strict=False)]


def _unknown_arguments(call: ToolCall, tool: Tool) -> list[str]:
    schema = tool.parameters
    if schema.get("additionalProperties", False) is not False or schema.get("patternProperties"):
        return []
    return [name for name in call.arguments if name not in tool.properties]


def _refused(result: ToolResult) -> list[str]:
    return ["(one of them, the tool says)"] if result.error == "invalid_arguments" else []
