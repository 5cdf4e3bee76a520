"""A whole environment: a tool, tasks, a class, an id. ``python examples/custom_env.py`` checks it and plays it."""

import gymnasium as gym
from pydantic import JsonValue

from callgym import GoldCall, Message, Task, ToolCall, UserTurn
from callgym.checker import check_tool_env, play
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.goal import CallsGoal
from callgym.show import episode_as_text
from callgym.tool_backends import ToolFailure, World
from callgym.tool_backends.functions import FunctionBackend


def _take(world: World, item: str, amount: int = 1) -> int:
    """Take some food out; say what is left."""  # hints and docstring become the tool's documentation
    left = int(world.state[item]) - amount  # the state is the episode's own
    if left < 0:
        raise ToolFailure(f"There is not so much {item}.")  # the policy reads this
    world.state[item] = left
    return left


def _call(name: str, **arguments: JsonValue) -> tuple[GoldCall]:
    return (GoldCall.of(ToolCall(name=name, arguments=arguments)),)


BACKEND = FunctionBackend({"Take": _take})
PLUMS, LOAF = _call("Take", item="plums", amount=4), _call("Take", item="loaves", amount=1)
TASKS = {  # by name: what the user says turn by turn, and the calls that each turn asks for
    "take": {"I bake a cake: take 4 plums.": PLUMS},
    "both": {"Take 4 plums, please.": PLUMS, "And a loaf.": LOAF},
}


class PantryEnv(ToolEnv):
    """Take food out of a pantry; a user may go on after the first wish."""

    family, protocol = "pantry", "dialogue"

    def load_tasks(self, source: object, split: str) -> list[Task]:
        """All tasks; a benchmark would read its files in ``source.folder``."""
        return [
            Task(id=f"pantry/{name}", family="pantry", split="test", tools=BACKEND.tools,
                 messages=(Message(role="user", content=first),), user_turns=tuple(UserTurn(content=c) for c in later),
                 goal=CallsGoal(turns=tuple(turns.values())), initial_state={"plums": 12, "loaves": 2})
            for name, turns in TASKS.items() for first, *later in [list(turns)]
        ]  # fmt: skip

    def make_backend(self, source: object) -> FunctionBackend:
        """What runs the calls."""
        return BACKEND


gym.register("pantry/Small-v0", entry_point=f"{__name__}:PantryEnv", kwargs={"data": "starter"})  # no files to fetch
if __name__ == "__main__":
    env = make_tool_env("pantry/Small-v0")
    check_tool_env(env)  # deterministic, nothing leaks, the oracle earns 1, hostile actions raise nothing
    print(episode_as_text(play(env, lambda observation: env.oracle_action(), seed=0, task="pantry/both")))
