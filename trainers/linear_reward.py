"""A reward model of a few numbers: logistic regression on hand-made features, in numpy alone::

    model = LinearRewardModel.fit(near_misses("apibank/L1-v0", 4000, split="train"), get_dialect("apibank"))

The smallest trained baseline. It sees no gold call, only the prompt and the action: whether the action can be
read, whether its tools and arguments exist, and how much of what it says stands in the conversation.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from callgym.dialects import Dialect
from callgym.errors import ConfigurationError
from callgym.json_value import write_json
from callgym.schema import ToolSchema
from callgym.tool import Tool
from callgym.trainers.near_misses import NearMiss, Prompt

__all__ = ["FEATURES", "LinearRewardModel", "features"]

FEATURES = (
    "makes a call", "further calls", "repeated calls", "unreadable", "brackets left open", "words", "known tools",
    "fits the schema", "unknown arguments", "missing arguments", "values in the conversation",
    "values in the last message", "numbers in the last message", "n-grams of the values", "order of the values",
    "tool in the last message", "arguments",
)  # fmt: skip
"""What each of the numbers is."""

_NUMBER = re.compile(r"(?<!\d)0*(\d+)")
_STEPS, _RATE, _DECAY, _MOST = 2_000, 0.5, 1e-4, 30.0


def features(prompt: Prompt, action: str, dialect: Dialect) -> np.ndarray:
    """Numbers about an action at a prompt: an array of shape (17,), in the order of ``FEATURES``."""
    parsed = dialect.parse(action)
    tools = {tool["function"]["name"]: Tool(**tool["function"]) for tool in prompt.tools}
    said = [(message["role"], (message.get("content") or "").lower()) for message in prompt.messages]
    conversation = "\n".join(text for _, text in said)
    last = next((text for role, text in reversed(said) if role == "user"), "")
    fitting = unknown = missing = 0
    values: list[str] = []
    for call in parsed.calls:
        tool = tools.get(call.name)
        properties = list(tool.properties) if tool is not None else []
        if tool is not None:
            schema = ToolSchema(tool)
            fitting += schema.check(call.arguments if dialect.typed else schema.coerce(call.arguments)) is None
            missing += sum(name not in call.arguments for name in tool.required)
        unknown += sum(name not in properties for name in call.arguments)
        # In the tool's own order, so that the order in which they were written changes nothing.
        for name in sorted(call.arguments, key=lambda name: (*properties, name).index(name)):
            value = call.arguments[name]
            values.append((value if isinstance(value, str) else write_json(value)).lower())
    numbers = set(_NUMBER.findall(last))
    count = len(parsed.calls)
    names = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", call.name).lower() for call in parsed.calls]
    row = (
        count > 0, max(0, count - 1), count - len({write_json([call.name, call.arguments]) for call in parsed.calls}),
        len(parsed.errors), sum(action.count(c) for c in "[({") - sum(action.count(c) for c in "])}"),
        bool(parsed.content), _share([call.name in tools for call in parsed.calls]),
        fitting / max(1, count), unknown, missing,
        _share([value in conversation for value in values]), _share([value in last for value in values]),
        _share([number in numbers for number in _NUMBER.findall(" ".join(values))]),
        _overlap(" ".join(values), conversation),
        _share([a <= b for a, b in itertools.pairwise(conversation.rfind(value) for value in values)]),
        max([_overlap(name, last) for name in names], default=0.0), len(values) / 10,
    )  # fmt: skip
    return np.array(row, dtype=np.float64)


@dataclass(frozen=True)
class LinearRewardModel:
    """A weighted sum of features; a callable (prompt, action) -> score, as ``accuracy_by_kind`` takes it."""

    weights: np.ndarray
    """Shape (17,), one a feature."""
    dialect: Dialect
    """How actions are written."""

    @classmethod
    def fit(cls, pairs: Iterable[NearMiss], dialect: Dialect) -> LinearRewardModel:
        """Fit the differences of the pairs: the right action scores higher (Bradley and Terry's model).

        Raises:
            ConfigurationError: There is no pair in which one action is better.
        """
        told = [pair for pair in pairs if pair.expected == "chosen"]
        if not told:
            raise ConfigurationError("there is no pair to learn from: the right action is better in none")
        x = np.stack([features(p.prompt, p.chosen, dialect) - features(p.prompt, p.rejected, dialect) for p in told])
        scale = np.sqrt((x**2).mean(axis=0)) + 1e-9
        x /= scale
        weights = np.zeros(len(FEATURES))
        for _ in range(_STEPS):
            wrong = 1.0 / (1.0 + np.exp(np.clip(x @ weights, -_MOST, _MOST)))
            weights += _RATE * (x.T @ wrong / len(x) - _DECAY * weights)
        return cls(weights / scale, dialect)

    def __call__(self, prompt: Prompt, action: str) -> float:
        """The action's score."""
        return float(features(prompt, action, self.dialect) @ self.weights)


def _share(told: list[bool]) -> float:
    return sum(told) / len(told) if told else 1.0


def _overlap(text: str, other: str, length: int = 3) -> float:
    """Share of the text's character n-grams that the other has."""
    return _share([text[at : at + length] in other for at in range(len(text) - length + 1)])
