"""Truncation: an answer is cut short, and says so or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.json_value import copy_trusted, write_json
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer

__all__ = ["Truncation"]


@dataclass(frozen=True, kw_only=True)
class Truncation(Fault):
    """Of some answers the longest text or list is cut at a place that is drawn.

    Something of it is always left. Numbers, and texts and lists of one element, cannot be cut.
    """

    name: ClassVar[str] = "truncation"
    number: ClassVar[str] = "rate"
    alters: ClassVar[bool] = True

    rate: float = 0.1
    """The share of the answers that are cut."""
    said: bool = False
    """Whether the answer says that something is missing."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share("rate")
        self._check_flag("said")

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _TruncationLayer(self, chance)


class _TruncationLayer(Layer):
    def __init__(self, fault: Truncation, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance

    def after(self, call: ToolCall, number: int, result: ToolResult) -> Injection | None:
        if result.error is not None or self._chance.draw("rate", number) >= self._fault.rate:
            return None
        holder: list[Any] = [copy_trusted(result.content)]
        place = _longest(holder)
        if place is None:
            return None
        inside, key = place
        whole = inside[key]
        kept = 1 + self._chance.below(len(whole) - 1, "kept", number)
        inside[key] = _cut(whole, kept) if self._fault.said else whole[:kept]
        answer = ToolResult.trusted(content=holder[0], error=None, message="")
        return Injection(answer, {"kept": kept, "of": len(whole), "said": self._fault.said})


def _longest(holder: list[Any]) -> tuple[Any, Any] | None:
    """Where the text or list stands that takes the most room: going in by the largest value until there is one."""
    inside: Any = holder
    key: Any = 0
    while True:
        value = inside[key]
        if isinstance(value, (str, list)) and len(value) > 1:
            return inside, key
        if not isinstance(value, (dict, list)) or not value:
            return None
        keys = list(value) if isinstance(value, dict) else [0]
        inside, key = value, max(keys, key=lambda name: _room(value[name]))


def _room(value: Any) -> int:
    """Characters that could be cut of a value: numbers have none."""
    if isinstance(value, str):
        return len(value)
    return len(write_json(value)) if isinstance(value, (dict, list)) else -1


def _cut(whole: Any, kept: int) -> Any:
    missing = len(whole) - kept
    if isinstance(whole, str):
        return f"{whole[:kept]}... [truncated, {missing} more characters]"
    return [*whole[:kept], f"[truncated, {missing} more]"]
