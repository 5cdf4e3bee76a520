"""Other names for tools and parameters, kept in ``meta["renamed"]`` so that a backend can be called by the old ones::

    {"tools": {"tool_7f3": "AddAlarm"}, "parameters": {"tool_7f3": {"arg_1": "token", "arg_2": "time"}},
     "style": "neutral", "salt": "5be2a0c1", "parts": ["tools", "parameters"]}

What a policy sees and what it is paid by has the new names; what a backend reads (recordings, recorded histories,
the calls of BFCL's dialogues as text, API-Bank's recorded gold) keeps the old ones. A tool that a search finds later
gets the name that the goal has for it, or one from the same salt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from callgym.call import ToolCall
from callgym.envs.perturbations.documents import documents_in, name_of, rewrite, schema_names
from callgym.envs.perturbations.new_names import parameter_names, tool_name
from callgym.goal import AllGoal, CallsGoal, GoldCall
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["Renaming", "Style", "is_simple"]

Style = Literal["neutral", "synonyms"]
_SIMPLE = frozenset(("type", "properties", "required", "additionalProperties", "description", "title", "$schema"))
"""Keywords of a schema beside which a property may have another name."""


@dataclass(frozen=True)
class Renaming:
    """Old names to new ones."""

    tools: Mapping[str, str]
    """Tool to its new name; one that is not here keeps its own."""
    parameters: Mapping[str, Mapping[str, str]]
    """Tool (old name) to parameter to its new name."""
    style: Style = "neutral"
    salt: str = ""
    parts: tuple[str, ...] = ()
    """What is renamed: ``tools``, ``parameters``."""

    @classmethod
    def of(cls, task: Task) -> Renaming:
        """The renaming that a task was given; one that renames nothing where it was given none."""
        kept: Any = task.meta.get("renamed")
        if kept is None:
            return _NONE
        tools = {old: new for new, old in kept["tools"].items()}
        old_of: dict[str, str] = kept["tools"]
        parameters = {
            old_of.get(new, new): {old: given for given, old in names.items()}
            for new, names in kept["parameters"].items()
        }
        return cls(tools, parameters, kept["style"], kept["salt"], tuple(kept["parts"]))

    def as_meta(self) -> dict[str, Any]:
        """As ``meta["renamed"]`` has it, new names to old ones."""
        return {
            "tools": {new: old for old, new in self.tools.items()},
            "parameters": {
                self.tool_name(tool): {new: old for old, new in names.items()}
                for tool, names in self.parameters.items()
            },
            "style": self.style,
            "salt": self.salt,
            "parts": list(self.parts),
        }

    def extended(
        self, name: str, parameters: Sequence[str], kept: Collection[str] = (), beside: Collection[str] = ()
    ) -> Renaming:
        """With names for one more tool; what has a name already keeps it.

        Args:
            name: The tool.
            parameters: Its parameters.
            kept: Names, of the tool or of parameters, that stay as they are.
            beside: Names of tools that the new one must differ from.
        """
        tools = dict(self.tools)
        if "tools" in self.parts and name not in tools and name not in kept:
            tools[name] = tool_name(name, self.style, self.salt, {*tools.values(), *tools, *beside})
        known = dict(self.parameters.get(name, {}))
        if "parameters" in self.parts:
            new = [parameter for parameter in parameters if parameter not in known and parameter not in kept]
            known = parameter_names(new, self.style, self.salt, known, {*parameters, *self._numbered(name)})
        return replace(self, tools=tools, parameters={**self.parameters, **({name: known} if known else {})})

    def _numbered(self, but: str) -> set[str]:
        """The neutral names of other tools' parameters: a number means one thing in a task, so that a question back
        that names it asks for that thing."""
        if self.style != "neutral":
            return set()
        return {new for tool, names in self.parameters.items() if tool != but for new in names.values()}

    def extended_by(self, value: Any) -> Renaming:
        """With names for the tools whose documents are in a JSON value."""
        renaming = self
        for document in documents_in(value):
            renaming = renaming.extended(str(name_of(document)), schema_names(document))
        return renaming

    # From old names to new ones.

    def tool_name(self, name: str) -> str:
        """A tool's new name."""
        return self.tools.get(name, name)

    def parameter_name(self, tool: str, parameter: str) -> str:
        """A parameter's new name; ``tool`` by its old one."""
        return self.parameters.get(tool, {}).get(parameter, parameter)

    def tool(self, tool: Tool) -> Tool:
        """The tool under its new names, its benchmark's document with it."""
        new = self.tool_name(tool.name)
        parameters = tool.parameters
        if self.parameters.get(tool.name):
            # A document and a schema have one shape.
            parameters = self.value({"name": tool.name, "parameters": parameters})["parameters"]
        return tool.model_copy(update={"name": new, "parameters": parameters, "meta": self.value(tool.meta)})

    def call(self, call: ToolCall) -> ToolCall:
        """The call under the new names."""
        arguments = {self.parameter_name(call.name, name): value for name, value in call.arguments.items()}
        return ToolCall.trusted(name=self.tool_name(call.name), arguments=arguments, id=call.id)

    def gold_call(self, gold: GoldCall) -> GoldCall:
        """The gold call under the new names."""
        return GoldCall.trusted(
            name=self.tool_name(gold.name),
            arguments={self.parameter_name(gold.name, name): values for name, values in gold.arguments.items()},
            optional=tuple(self.parameter_name(gold.name, name) for name in gold.optional),
        )

    def value(self, value: Any) -> Any:
        """A copy of a JSON value in which documents and recorded calls have the new names."""
        return rewrite(value, self.tool_name, self.parameter_name)

    # And back.

    def original_name(self, name: str) -> str:
        """A tool's old name."""
        return self._old_tools.get(name, name)

    def original_parameter(self, tool: str, parameter: str) -> str:
        """A parameter's old name; ``tool`` by its new one."""
        return self._old_parameters.get(self.original_name(tool), {}).get(parameter, parameter)

    def original_call(self, call: ToolCall) -> ToolCall:
        """The call under the old names; an unknown name stays as it is."""
        arguments = {self.original_parameter(call.name, name): value for name, value in call.arguments.items()}
        return ToolCall.trusted(name=self.original_name(call.name), arguments=arguments, id=call.id)

    def original_tool(self, tool: Tool) -> Tool:
        """The tool under its old names, for what is known by name and parameters alone."""
        names = {self.original_parameter(tool.name, name): schema for name, schema in tool.properties.items()}
        parameters: Any = {"type": "object", "properties": names}
        return Tool(name=self.original_name(tool.name), description=tool.description, parameters=parameters)

    def original_tool_of(self, tool: Tool) -> Tool:
        """The tool with its old name, all else as it is."""
        return tool.model_copy(update={"name": self.original_name(tool.name)})

    def undone(self, task: Task) -> Task:
        """The task with the old names in its goal's calls."""
        goal = task.goal
        if isinstance(goal, AllGoal):
            parts: Any = tuple(self._undone(part) for part in goal.goals)
            return task.model_copy(update={"goal": goal.model_copy(update={"goals": parts})})
        return task.model_copy(update={"goal": self._undone(goal)})

    def _undone(self, goal: Any) -> Any:
        if not isinstance(goal, CallsGoal):
            return goal
        return goal.model_copy(update={"turns": tuple(tuple(map(self._original_gold, turn)) for turn in goal.turns)})

    def _original_gold(self, gold: GoldCall) -> GoldCall:
        return GoldCall.trusted(
            name=self.original_name(gold.name),
            arguments={self.original_parameter(gold.name, name): values for name, values in gold.arguments.items()},
            optional=tuple(self.original_parameter(gold.name, name) for name in gold.optional),
        )

    @cached_property
    def _old_tools(self) -> dict[str, str]:
        return {new: old for old, new in self.tools.items()}

    @cached_property
    def _old_parameters(self) -> dict[str, dict[str, str]]:
        return {tool: {new: old for old, new in names.items()} for tool, names in self.parameters.items()}


def is_simple(tool: Tool) -> bool:
    """Whether nothing in a tool's schema but the usual places names its parameters."""
    return tool.parameters.keys() <= _SIMPLE


_NONE = Renaming({}, {})
