"""Drift: a tool's answers do not have the shape that its documentation promises, and keep it for the whole episode."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.errors import ConfigurationError
from callgym.json_value import copy_trusted
from callgym.tool_backends.faults.chance import Chance
from callgym.tool_backends.faults.fault import Fault, Injection, Layer, names

__all__ = ["Drift"]

_KINDS = ("renamed", "nested", "numbers")
_ENVELOPES = ("data", "result", "response", "payload")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")


@dataclass(frozen=True, kw_only=True)
class Drift(Fault):
    """Some tools answer with keys in another style, with everything one level down, or with numbers as text."""

    name: ClassVar[str] = "drift"
    number: ClassVar[str] = "rate"
    alters: ClassVar[bool] = True

    rate: float = 0.5
    """The share of the tools whose answers have another shape; drawn tool by tool."""
    kinds: tuple[str, ...] = _KINDS
    """What can happen to a tool's answers, one of these: ``"renamed"`` keys, ``"nested"``, ``"numbers"`` as text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share("rate")
        object.__setattr__(self, "kinds", names("kinds", self.kinds))
        unknown = [kind for kind in self.kinds if kind not in _KINDS]
        if unknown:
            raise ConfigurationError(f"fault 'drift' knows no kind {unknown[0]!r}; there are: {', '.join(_KINDS)}")

    def open(self, chance: Chance) -> Layer:
        """See ``Fault``."""
        return _DriftLayer(self, chance)


class _DriftLayer(Layer):
    def __init__(self, fault: Drift, chance: Chance) -> None:
        self._fault = fault
        self._chance = chance

    def after(self, call: ToolCall, number: int, result: ToolResult) -> Injection | None:
        chance, tool = self._chance, call.name
        if result.error is not None or chance.draw("rate", tool) >= self._fault.rate:
            return None
        kind = self._fault.kinds[chance.below(len(self._fault.kinds), "kind", tool)]
        choice = chance.draw("how", tool)
        content = _CHANGES[kind](result.content, choice)
        if content == result.content:
            return None
        return Injection(ToolResult.trusted(content=content, error=None, message=""), {"kind": kind})


def _nested(content: Any, choice: float) -> Any:
    return {_ENVELOPES[int(choice * len(_ENVELOPES))]: copy_trusted(content)}


def _renamed(content: Any, choice: float) -> Any:
    return _with_keys(content, _STYLES[int(choice * len(_STYLES))])


def _with_keys(value: Any, style: Callable[[list[str]], str]) -> Any:
    if isinstance(value, list):
        return [_with_keys(item, style) for item in value]
    if not isinstance(value, dict):
        return value
    new = {key: _restyled(key, style) for key in value}
    taken = Counter(new.values())
    taken.update(value.keys() & new.values())
    renamed = {}
    for key, item in value.items():
        alone = taken[new[key]] == 1  # two keys that would become one stay as they are
        renamed[new[key] if alone else key] = _with_keys(item, style)
    return renamed


def _restyled(key: str, style: Callable[[list[str]], str]) -> str:
    words = _WORD.findall(key)
    return style(words) if words else key


def _camel(words: list[str]) -> str:
    return words[0].lower() + "".join([word.capitalize() for word in words[1:]])


def _pascal(words: list[str]) -> str:
    return "".join([word.capitalize() for word in words])


def _upper(words: list[str]) -> str:
    return "_".join([word.upper() for word in words])


def _kebab(words: list[str]) -> str:
    return "-".join([word.lower() for word in words])


_STYLES = (_camel, _pascal, _upper, _kebab)


def _numbers(content: Any, choice: float) -> Any:
    if isinstance(content, dict):
        return {key: _numbers(item, choice) for key, item in content.items()}
    if isinstance(content, list):
        return [_numbers(item, choice) for item in content]
    return str(content) if isinstance(content, (int, float)) and not isinstance(content, bool) else content


_CHANGES: dict[str, Callable[[Any, float], Any]] = {"renamed": _renamed, "nested": _nested, "numbers": _numbers}
