"""How to add an environment: tools, tasks, a class, an id. ``python examples/custom_env.py`` plays it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from callgym import GoldCall, Message, Task, Tool, ToolCall, UserTurn, check_tool_env
from callgym.data import DataSource
from callgym.envs.base import ToolEnv
from callgym.goal import AllGoal, AnswerGoal, CallsGoal
from callgym.show import episode_as_text
from callgym.tool_backends import PythonBackend, ToolFailure, World


def count(world: World, item: str) -> int:
    """A tool is a function of the episode's own world and the call's arguments; it returns a JSON value."""
    return int(world.state["pantry"].get(item, 0))


def take(world: World, item: str, amount: int) -> dict[str, Any]:
    """What a tool cannot do, it says with a ToolFailure, which the policy reads."""
    left = count(world, item) - amount
    if left < 0:
        raise ToolFailure(f"There is not so much {item}.")
    world.state["pantry"][item] = left
    return {"left": left}


def _tool(name: str, description: str, **properties: dict[str, Any]) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name=name, description=description, parameters=schema)


def _call(name: str, **arguments: Any) -> tuple[GoldCall]:
    return (GoldCall.of(ToolCall(name=name, arguments=arguments)),)


def _task(name: str, goal: CallsGoal | AllGoal, *words: str) -> Task:
    return Task(
        id=f"pantry/{name}",
        family="pantry",
        split="test",
        messages=(Message(role="user", content=words[0]),),
        user_turns=tuple(UserTurn(content=text) for text in words[1:]),  # said when the policy makes no more calls
        tools=TOOLS,
        goal=goal,
        initial_state={"pantry": {"plums": 12, "rye bread": 2}},
    )


ITEM, AMOUNT = {"type": "string"}, {"type": "integer", "minimum": 1}
TOOLS = (_tool("Count", "Count a food.", item=ITEM), _tool("Take", "Take some food out.", item=ITEM, amount=AMOUNT))
FOUR_PLUMS, ONE_LOAF = _call("Take", item="plums", amount=4), _call("Take", item="rye bread", amount=1)
TWELVE = AllGoal(goals=(CallsGoal(turns=(_call("Count", item="plums"),)), AnswerGoal(accepted=(12,), match="numeric")))
TASKS = (
    _task("take", CallsGoal(turns=(FOUR_PLUMS,)), "I bake a cake: take 4 plums."),
    _task("count", TWELVE, "How many plums are left?"),
    _task("both", CallsGoal(turns=(FOUR_PLUMS, ONE_LOAF)), "Take 4 plums, please.", "And a loaf of rye bread."),
)


class PantryEnv(ToolEnv):
    """Take and count food; a user may go on after the first wish."""

    family = "pantry"
    protocol = "dialogue"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        """All tasks; a benchmark would read its files in ``source.folder``."""
        return TASKS

    def make_backend(self, source: DataSource) -> PythonBackend:
        """What runs the calls."""
        return PythonBackend({"Count": count, "Take": take})


# Now gym.make, run_episodes and EpisodeRollouts take the id. data="starter": there are no files to fetch.
gym.register("pantry/Small-v0", entry_point=f"{__name__}:PantryEnv", kwargs={"data": "starter"})


def main() -> None:
    """Check the contract, then print an episode of the oracle."""
    env: Any = gym.make("pantry/Small-v0", disable_env_checker=True)
    check_tool_env(env)
    env.reset(seed=0, options={"task": "pantry/both"})
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(env.unwrapped.oracle_action())
        done = terminated or truncated
    print(episode_as_text(info["episode"]))


if __name__ == "__main__":
    main()
