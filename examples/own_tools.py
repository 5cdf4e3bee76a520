"""Typed Python becomes an environment: functions and a class, two tasks. ``python examples/own_tools.py`` plays it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import gymnasium as gym
from pydantic import Field

from callgym import GoldCall, Message, Task, ToolCall, check_tool_env
from callgym.goal import AllGoal, CallsGoal, StateGoal
from callgym.show import episode_as_text
from callgym.tool_backends import ToolFailure
from callgym.tool_backends.functions import FunctionBackend


class Pantry:
    """Every episode has its own: ``Pantry(**task.initial_state)``. Its public methods are tools."""

    def __init__(self, foods: dict[str, int]) -> None:
        self.foods = foods

    def take(self, food: str, amount: Annotated[int, Field(ge=1)] = 1) -> int:
        """Take some food out; say what is left.

        :param amount: How many pieces of it.
        """
        if self.foods.get(food, 0) < amount:
            raise ToolFailure(f"There is not so much {food}.")
        self.foods[food] -= amount
        return self.foods[food]


async def convert(amount: float, unit: Literal["cup", "spoon"]) -> dict[str, float]:
    """Turn a measure into grams of flour."""  # it could await a service here: episodes wait side by side
    return {"grams": amount * {"cup": 120, "spoon": 8}[unit]}


BACKEND = FunctionBackend([Pantry, convert])


def _task(name: str, words: str, left: dict[str, Any], **calls: dict[str, Any]) -> Task:
    gold = tuple(GoldCall.of(ToolCall(name=tool, arguments=arguments)) for tool, arguments in calls.items())
    return Task(
        id=name, family="pantry", split="test", messages=(Message(role="user", content=words),), tools=BACKEND.tools,
        goal=AllGoal(goals=(CallsGoal(turns=(gold,)), StateGoal(state={"foods": left}))),
        initial_state={"foods": {"plums": 12, "flour": 1}},
    )  # fmt: skip


TASKS = (
    _task("plums", "Take 4 plums.", {"plums": 8, "flour": 1}, take={"food": "plums", "amount": 4}),
    _task("flour", "Take a flour out. How much is a cup?", {"plums": 12, "flour": 0},
          take={"food": "flour", "amount": 1}, convert={"amount": 1, "unit": "cup"}),
)  # fmt: skip
gym.register("pantry/Own-v0", entry_point="callgym.envs.base:ToolEnv", kwargs={"data": TASKS, "backend": BACKEND})


def main() -> None:
    """Check the contract, then print an episode of the oracle."""
    env: Any = gym.make("pantry/Own-v0", disable_env_checker=True)
    check_tool_env(env)
    env.reset(seed=0, options={"task": "flour"})
    *_, info = env.step(env.unwrapped.oracle_action())
    print(episode_as_text(info["episode"]))


if __name__ == "__main__":
    main()
