"""Policies without a model: the ceiling (oracle) and the floors (abstain, echo, random valid calls).

A benchmark on which a floor scores high measures something else than tool use.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import lru_cache

from callgym.call import ToolCall
from callgym.dialects import Dialect
from callgym.random_values import NoValue, random_arguments
from callgym.rollouts.policy import Policy, Situation
from callgym.schema import ToolSchema
from callgym.tool import Tool

__all__ = ["SCRIPTED", "EchoPolicy", "OraclePolicy", "RandomCallPolicy", "SayPolicy"]

_REFUSAL = "Sorry, none of the tools can do that."
_DRAWS = 32


class OraclePolicy:
    """Does what the goal asks for: the most that a policy can earn."""

    name = "oracle"

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The environment's own oracle action."""
        return [situation.env.oracle_action() for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""


class SayPolicy:
    """Says the same words whatever is asked, and calls nothing."""

    def __init__(self, name: str, words: str) -> None:
        self.name = name
        self._words = words

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The words in the environment's dialect."""
        return [situation.env.dialect.render_action((), self._words) for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""


class EchoPolicy:
    """Says what it was shown: nothing may be earned by copying."""

    name = "echo"

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The last observation, as it is."""
        return [situation.observation for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""


class RandomCallPolicy:
    """Calls a random tool with random arguments that its schema accepts."""

    name = "random"

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """One valid call each; a refusal where there is no tool, or no tool that a call can be drawn for."""
        return [_random_action(situation) for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""


SCRIPTED: dict[str, Callable[[], Policy]] = {
    "oracle": OraclePolicy,
    "abstain": lambda: SayPolicy("abstain", _REFUSAL),
    "ask": lambda: SayPolicy("ask", "Could you tell me more about what you need?"),
    "answer": lambda: SayPolicy("answer", "Sure, it is done: everything is as you wished."),
    "random": RandomCallPolicy,
    "echo": EchoPolicy,
}
"""Name to policy; they take no options."""


def _random_action(situation: Situation) -> str:
    rng = random.Random(situation.seed)
    dialect = situation.env.dialect
    tools = list(situation.tools)
    while tools:
        tool = tools.pop(rng.randrange(len(tools)))
        action = _random_call(_schema(json.dumps(tool["function"])), dialect, rng)
        if action is not None:
            return action
    return dialect.render_action((), _REFUSAL)


def _random_call(schema: ToolSchema, dialect: Dialect, rng: random.Random) -> str | None:
    """A valid call as text; None where none was found."""
    for _ in range(_DRAWS):
        try:
            arguments = random_arguments(schema.tool.parameters, rng)
        except NoValue:
            continue
        if schema.check(arguments) is None:
            action = dialect.render_action((ToolCall(name=schema.tool.name, arguments=arguments),))
            if _is_valid(action, schema, dialect):
                return action
    return None


def _is_valid(action: str, schema: ToolSchema, dialect: Dialect) -> bool:
    """Whether the environment will read a valid call: a dialect without types can lose some values."""
    parsed = dialect.parse(action)
    if parsed.errors or [call.name for call in parsed.calls] != [schema.tool.name]:
        return False
    arguments = parsed.calls[0].arguments
    return schema.check(arguments if dialect.typed else schema.coerce(arguments)) is None


@lru_cache(maxsize=1024)
def _schema(function: str) -> ToolSchema:
    return ToolSchema(Tool.from_dict(json.loads(function)))
