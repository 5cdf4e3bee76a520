"""Another order: of the tools, of the parameters in their documents, and of the values that may be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from callgym.envs.perturbations.documents import name_of
from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation
from callgym.envs.perturbations.task_parts import embeds_documents
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["Shuffle"]

_DRAWS = 8


@dataclass(frozen=True)
class Shuffle(Perturbation):
    """Puts tools, parameters and enumerated values in another order; the goal stays as it is."""

    name: ClassVar[str] = "shuffle"

    tools: bool = True
    """Whether tools change places."""
    parameters: bool = True
    """Whether parameters do, within each document."""
    values: bool = True
    """Whether enumerated values do."""

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        if embeds_documents(task):
            raise LeftAlone("the benchmark's own words hold the tools' documents")
        for _ in range(_DRAWS):
            tools = [self._tool(tool, rng) for tool in task.tools]
            if self.tools:
                tools = [tools[place] for place in rng.permutation(len(tools)).tolist()]
            turns = tuple(
                turn.model_copy(update={"add_tools": tuple(self._tool(tool, rng) for tool in turn.add_tools)})
                if turn.add_tools
                else turn
                for turn in task.user_turns
            )
            changed = task.model_copy(update={"tools": tuple(tools), "user_turns": turns})
            if changed.to_json() != task.to_json():
                return Changed(changed, {})
        raise LeftAlone("there is nothing to put in another order")

    def _tool(self, tool: Tool, rng: np.random.Generator) -> Tool:
        names = list(tool.properties)
        order = [names[place] for place in rng.permutation(len(names)).tolist()] if self.parameters else names
        seed = int(rng.integers(2**32))
        arranged = _Arranged(tuple(order), seed if self.values else None)
        own: dict[str, Any] = tool.meta
        meta = {key: arranged.document(value) if name_of(value) == tool.name else value for key, value in own.items()}
        return tool.model_copy(update={"parameters": arranged.schema(tool.parameters), "meta": meta})


@dataclass(frozen=True)
class _Arranged:
    """One order for a schema and for the benchmark's document of the same tool."""

    order: tuple[str, ...]
    seed: int | None
    """Of the order of values; None where they keep theirs."""

    def schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema of an object whose properties are the parameters."""
        changed = {key: self._values(value, "") if key == "properties" else value for key, value in schema.items()}
        if isinstance(changed.get("properties"), dict):
            changed["properties"] = self._ordered(changed["properties"])
        if isinstance(changed.get("required"), list):
            changed["required"] = sorted(changed["required"], key=self._place)
        return changed

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A benchmark's document."""
        changed = dict(document)
        for key in ("parameters", "input_parameters"):
            given = changed.get(key)
            if isinstance(given, dict):
                has_schema = isinstance(given.get("properties"), dict)
                changed[key] = self.schema(given) if has_schema else self._ordered(self._values(given, ""))
        return changed

    def _place(self, name: str) -> int:
        return self.order.index(name) if name in self.order else len(self.order)

    def _ordered(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        return {name: entries[name] for name in sorted(entries, key=self._place)}

    def _values(self, value: Any, path: str) -> Any:
        """A copy in which every ``enum`` has its order; lists of the same length at the same place have the same."""
        if self.seed is None:
            return value
        if isinstance(value, dict):
            return {
                key: self._permuted(item, f"{path}/{key}")
                if key == "enum" and isinstance(item, list)
                else self._values(item, f"{path}/{key}")
                for key, item in value.items()
            }
        return value

    def _permuted(self, values: list[Any], path: str) -> list[Any]:
        digits = list(f"{self.seed}{path}".encode())
        places = np.random.default_rng(digits).permutation(len(values)).tolist()
        return [values[place] for place in places]
