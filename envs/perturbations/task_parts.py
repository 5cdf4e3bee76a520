"""What perturbations ask of a task, whatever its benchmark: which tools its goal needs, what was called before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from callgym.envs.perturbations.searched_tools import apibank_tool
from callgym.goal import AnswerGoal, CallsGoal, GoldCall
from callgym.task import Task
from callgym.tool import Tool

__all__ = [
    "SEARCHES",
    "answer_is_shown",
    "called_before",
    "embeds_documents",
    "every_tool",
    "first_asked_turn",
    "has_several_parts",
    "right_names",
    "right_tools",
]

SEARCHES = ("ToolSearcher", "ToolSearch")
"""Tools that find other tools: API-Bank's, and the one of its starter tasks."""
_LEVEL_3 = re.compile(r"(?:^|/)L3/(?!live/)")


def every_tool(task: Task) -> dict[str, Tool]:
    """The tools by name, those included that come with a later turn."""
    tools = {tool.name: tool for tool in task.tools}
    for turn in task.user_turns:
        tools.update({tool.name: tool for tool in turn.add_tools})
    return tools


def right_names(task: Task) -> tuple[str, ...]:
    """Names of the tools that do what is asked; empty where it is not known which do.

    From the goal's calls, from what an earlier perturbation kept (``meta["right_tools"]``), or from what the
    benchmark says: a reference call, the calls that find an answer, When2Call's target.
    """
    goal = task.goal_of(CallsGoal)
    if goal is not None:
        return tuple(dict.fromkeys(call.name for turn in goal.turns for call in turn if call.name not in goal.free))
    meta: dict[str, Any] = task.meta
    if "right_tools" in meta:
        return tuple(tool["name"] for tool in meta["right_tools"])
    if meta.get("decision") == "ask":
        return _asked_about(task)
    listed = meta.get("reference") or meta.get("gold_calls") or []
    return tuple(dict.fromkeys(str(call["name"]) for call in listed))


def _asked_about(task: Task) -> tuple[str, ...]:
    """The tool that a value is missing for, in When2Call: its target, or the one that is called among the replies."""
    meta: dict[str, Any] = task.meta
    target = meta.get("target_tool")
    if not isinstance(target, dict):
        try:
            target = json.loads(meta["answers"]["tool_call"])
        except (KeyError, TypeError, ValueError):
            return ()
    name = target.get("name") if isinstance(target, dict) else None
    return (name,) if name in every_tool(task) else ()


def right_tools(task: Task) -> tuple[Tool, ...]:
    """The tools that do what is asked. One that is not among the task's, for a search is to find it, is known by its
    benchmark's document, or else by its name and by the arguments of its calls."""
    kept: Any = task.meta.get("right_tools")
    if kept is not None:
        return tuple(Tool.from_dict(tool) for tool in kept)
    tools = every_tool(task)
    goal = task.goal_of(CallsGoal)
    calls = [call for turn in goal.turns for call in turn] if goal is not None else []
    return tuple(tools.get(name) or apibank_tool(task, name) or _from_calls(name, calls) for name in right_names(task))


def _from_calls(name: str, calls: list[GoldCall]) -> Tool:
    arguments = dict.fromkeys(argument for call in calls if call.name == name for argument in call.arguments)
    properties: Any = {name: {} for name in arguments}
    parameters: Any = {"type": "object", "properties": properties, "required": list(arguments)}
    return Tool(name=name, parameters=parameters)


def first_asked_turn(goal: CallsGoal) -> int:
    """The first turn whose gold makes a call; 0 where none does."""
    return next((number for number, turn in enumerate(goal.turns) if turn), 0)


def called_before(task: Task) -> Iterator[str]:
    """Names of the tools that the conversation so far called."""
    for message in task.messages:
        for call in message.tool_calls:
            yield call.name


def has_several_parts(task: Task) -> bool:
    """Whether the one call that is asked for serves a part of the request only, others being left: level 3 of
    API-Bank, step by step."""
    return task.family == "apibank" and _LEVEL_3.search(task.id) is not None


def embeds_documents(task: Task) -> bool:
    """Whether the benchmark's own opening words hold the tools' documents, so that other tools would not be shown."""
    instruction = task.meta.get("instruction")
    return isinstance(instruction, str) and any(f'"{tool.name}"' in instruction for tool in task.tools)


def answer_is_shown(task: Task) -> bool:
    """Whether an accepted answer stands in the conversation already."""
    goal = task.goal_of(AnswerGoal)
    said = " ".join(message.content or "" for message in task.messages).lower()
    return goal is not None and any(
        re.search(rf"(?<!\w){re.escape(str(answer).lower())}(?!\w)", said) for answer in goal.accepted
    )
