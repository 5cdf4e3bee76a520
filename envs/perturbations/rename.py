"""Function masking (Lin et al., Hammer, 2024): tools and parameters under other names, so that only documents tell.

Documents, gold calls, the conversation's calls and the documents in a search's answers are rewritten by their
structure, never by replacing text. A name keeps standing where words speak of it that are not rewritten: made-up
names (``get_user``) in what anybody says or in a description, never plain words (``find``). Searches for tools keep
their names, too. The backend is called by the old names; see ``renaming`` and ``disguise``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from callgym.envs.perturbations.documents import read_written
from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation
from callgym.envs.perturbations.question import question
from callgym.envs.perturbations.renaming import Renaming, Style, is_simple
from callgym.envs.perturbations.task_parts import SEARCHES, embeds_documents, every_tool, right_names, right_tools
from callgym.envs.perturbations.words import is_made_up, names_in
from callgym.errors import ConfigurationError
from callgym.goal import AllGoal, CallsGoal, DecisionGoal, Goal
from callgym.message import Message
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["Rename"]

_PARTS = {"all": ("tools", "parameters"), "tools": ("tools",), "parameters": ("parameters",)}
_STYLES = ("neutral", "synonyms")


@dataclass(frozen=True)
class Rename(Perturbation):
    """Gives tools and parameters other names; see the module."""

    name: ClassVar[str] = "rename"

    what: str = "all"
    """``"tools"``, ``"parameters"`` or ``"all"``."""
    style: Style = "neutral"
    """``"neutral"`` (``tool_7f3``, ``arg_2``) or ``"synonyms"``, where names without a known synonym stay."""

    def __post_init__(self) -> None:
        if self.what not in tuple(_PARTS):
            raise ConfigurationError(f"rename: what is one of {', '.join(map(repr, _PARTS))}, got {self.what!r}")
        if self.style not in _STYLES:
            raise ConfigurationError(f"rename: style is one of {', '.join(map(repr, _STYLES))}, got {self.style!r}")

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        salt = int(rng.integers(2**32)).to_bytes(4, "big").hex()
        if "renamed" in task.meta:
            raise LeftAlone("the tools have other names already")
        if embeds_documents(task):
            raise LeftAlone("the benchmark's own words hold the tools' documents")
        if set(right_names(task)) & set(SEARCHES):
            raise LeftAlone("the search that is asked for goes by a tool's own name")
        renaming = _named(task, Renaming({}, {}, self.style, salt, _PARTS[self.what]))
        if all(old == new for old, new in _pairs(renaming)):
            raise LeftAlone("no name can be another")
        renamed = {old: new for old, new in renaming.tools.items() if old != new}
        return Changed(_rewritten(task, renaming), {"tools": renamed})


def _pairs(renaming: Renaming) -> Iterator[tuple[str, str]]:
    yield from renaming.tools.items()
    for names in renaming.parameters.values():
        yield from names.items()


def _named(task: Task, renaming: Renaming) -> Renaming:
    """The renaming with names for everything that the task has or asks for."""
    tools = every_tool(task)
    spoken = _made_up_in(_words(task))
    described = {name: _made_up_in(_descriptions(tool)) for name, tool in tools.items()}
    kept = spoken.union(SEARCHES, *described.values())
    for name, tool in tools.items():
        fixed = tool.properties if name in SEARCHES or not is_simple(tool) else spoken | described[name]
        own = {name for name in fixed if name in tool.properties} | ({name} & kept)
        renaming = renaming.extended(name, tuple(tool.properties), own, tools)
    for tool in right_tools(task):
        if tool.name not in tools:  # a search will find it, or it was taken away
            renaming = renaming.extended(tool.name, tuple(tool.properties), SEARCHES, tools)
    return renaming


def _made_up_in(texts: Iterator[str]) -> set[str]:
    return {name for text in texts for name in names_in(text) if is_made_up(name)}


def _words(task: Task) -> Iterator[str]:
    """What is said and not rewritten."""
    for key in ("instruction", "cue"):
        given = task.meta.get(key)
        if isinstance(given, str):
            yield given
    for message in task.messages:
        if message.content and not (message.role == "tool" and read_written(message.content)):
            yield message.content
    for turn in task.user_turns:
        yield turn.content


def _descriptions(tool: Tool) -> Iterator[str]:
    yield tool.description
    for schema in tool.properties.values():
        described = schema.get("description")
        if isinstance(described, str):
            yield described


# The task under new names.


def _rewritten(task: Task, renaming: Renaming) -> Task:
    documented = None if task.documented is None else tuple(map(renaming.tool_name, task.documented))
    goal = _goal(task, renaming)
    return task.model_copy(
        update={
            "messages": tuple(_message(message, renaming) for message in task.messages),
            "tools": tuple(map(renaming.tool, task.tools)),
            "documented": documented,
            "user_turns": tuple(
                turn.model_copy(
                    update={
                        "add_tools": tuple(map(renaming.tool, turn.add_tools)),
                        "remove_tools": tuple(map(renaming.tool_name, turn.remove_tools)),
                    }
                )
                for turn in task.user_turns
            ),
            "goal": goal,
            "meta": {**_meta(task, goal, renaming), "renamed": renaming.as_meta()},
        }
    )


def _message(message: Message, renaming: Renaming) -> Message:
    update: dict[str, Any] = {}
    if message.tool_calls:
        update["tool_calls"] = tuple(map(renaming.call, message.tool_calls))
    if message.name is not None:
        update["name"] = renaming.tool_name(message.name)
    if message.role == "tool" and (written := read_written(message.content)) is not None:
        update["content"] = written.write(renaming.value(written.value))
    return message.model_copy(update=update) if update else message


def _goal(task: Task, renaming: Renaming) -> Goal:
    goal = task.goal
    if isinstance(goal, AllGoal):
        parts: Any = tuple(_part(part, task, renaming) for part in goal.goals)
        return goal.model_copy(update={"goals": parts})
    part: Goal = _part(goal, task, renaming)
    return part


def _part(goal: Any, task: Task, renaming: Renaming) -> Any:
    if isinstance(goal, CallsGoal):
        turns = tuple(tuple(map(renaming.gold_call, turn)) for turn in goal.turns)
        return goal.model_copy(update={"turns": turns, "free": tuple(map(renaming.tool_name, goal.free))})
    if isinstance(goal, DecisionGoal):
        missing = {_parameter(name, task, renaming): name for name in goal.missing}
        update: dict[str, Any] = {"missing": tuple(missing), "free": tuple(map(renaming.tool_name, goal.free))}
        if any(new != old for new, old in missing.items()):
            update["reply"] = question(missing)
        return goal.model_copy(update=update)
    return goal


def _parameter(name: str, task: Task, renaming: Renaming) -> str:
    """The new name of a parameter of the tool that is wanted, or else of the first tool that has it."""
    for tool in (*right_names(task), *every_tool(task)):
        if name in renaming.parameters.get(tool, {}):
            return renaming.parameter_name(tool, name)
    return name


def _meta(task: Task, goal: Goal, renaming: Renaming) -> dict[str, Any]:
    """What policies are paid and led by, under the new names; what backends read stays as it is."""
    meta: dict[str, Any] = dict(task.meta)
    for key in ("gold_calls", "reference"):
        if key in meta:
            meta[key] = [_plain_call(call, renaming) for call in meta[key]]
    if "hidden_tools" in meta:
        meta["hidden_tools"] = [renaming.tool_name(name) for name in meta["hidden_tools"]]
    if "right_tools" in meta:
        meta["right_tools"] = [renaming.tool(tool).to_dict() for tool in right_tools(task)]
    for key in ("target_tool", "orig_tools"):
        if key in meta:
            meta[key] = renaming.value(meta[key])
    if _is_bfcl_gold(meta.get("gold")):
        meta["gold"] = [
            {
                renaming.tool_name(tool): {
                    renaming.parameter_name(tool, name): values for name, values in given.items()
                }
                for tool, given in call.items()
            }
            for call in meta["gold"]
        ]
    if isinstance(meta.get("held_out_param"), str):
        meta["held_out_param"] = _parameter(meta["held_out_param"], task, renaming)
    if isinstance(meta.get("answers"), dict):
        meta["answers"] = _answers(meta["answers"], goal, renaming)
    if isinstance(goal, DecisionGoal) and "replies" in meta:
        meta["replies"] = [*meta["replies"][:-1], goal.reply]
    return meta


def _answers(answers: dict[str, Any], goal: Goal, renaming: Renaming) -> dict[str, Any]:
    """When2Call's replies of each kind."""
    changed = dict(answers)
    if "tool_call" in answers:
        changed["tool_call"] = _call_text(answers["tool_call"], renaming)
    if isinstance(goal, DecisionGoal) and goal.decision == "ask" and "request_for_info" in answers:
        changed["request_for_info"] = goal.reply
    return changed


def _is_bfcl_gold(gold: Any) -> bool:
    """Whether it is the official form of calls: ``[{tool: {parameter: [accepted values]}}]``."""
    return isinstance(gold, list) and all(
        isinstance(call, dict) and all(isinstance(given, dict) for given in call.values()) for call in gold
    )


def _plain_call(call: Any, renaming: Renaming) -> Any:
    arguments = {renaming.parameter_name(call["name"], name): value for name, value in call["arguments"].items()}
    return {**call, "name": renaming.tool_name(call["name"]), "arguments": arguments}


def _call_text(text: Any, renaming: Renaming) -> Any:
    """A call that is kept as JSON text; anything else as it is."""
    try:
        call = json.loads(text)
        return json.dumps(_plain_call(call, renaming))
    except (AttributeError, KeyError, TypeError, ValueError):
        return text
