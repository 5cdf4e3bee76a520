"""The equal task in SkyRL-Gym (skyrl-gym)."""

# mypy: disable-error-code="import-not-found,misc,unused-ignore,untyped-decorator"
# SkyRL-Gym is not installed where the types are checked, so its classes are Any.

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import skyrl_gym
from equal_task import SCHEMA, Includes, Script, price, serve
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
from skyrl_gym.tools.core import ToolGroup, tool

SYSTEM = f"Call the tool price as JSON in <tool_call></tool_call>. Its arguments: {json.dumps(SCHEMA)}"


class PriceTools(ToolGroup):
    """One tool."""

    def __init__(self) -> None:
        super().__init__(name="PriceTools")

    @tool
    def price(self, item: str) -> str:
        """The price of an item."""
        return json.dumps(price(item))


class PriceEnv(BaseTextEnv):
    """In the shape of the package's own search environment: it reads the action and calls its tool group."""

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.gold = (extras or {})["reward_spec"]["ground_truth"]
        self.init_tool_groups([PriceTools()])
        self.chat_history: list[dict[str, str]] = []

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """A call is run; words are the answer."""
        self.turns += 1
        self.chat_history.append({"role": "assistant", "content": action})
        match = re.search(r"<tool_call>(.*?)</tool_call>", action, re.DOTALL)
        if match is None:
            reward = float(action.strip() == self.gold)
            return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})
        try:
            call = json.loads(match.group(1))
            result = self._execute_tool("PriceTools", call["name"], list(call["arguments"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            result = str(error)
        message = {"role": "user", "content": f"<tool_response>{result}</tool_response>"}
        self.chat_history.append(message)
        return BaseTextEnvStepOutput(observations=[message], reward=0.0, done=False, metadata={"tool_name": "price"})


def play(scripts: Sequence[Script]) -> Iterator[tuple[float | None, Any]]:
    """An environment is made for each episode, as the package's trainer does."""
    for script in scripts:
        extras = {"reward_spec": {"ground_truth": script.gold}}
        env = skyrl_gym.make("prices", env_config=None, extras=extras)
        prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": script.question}]
        conversation, _ = env.init(prompt)
        reward = 0.0
        for action in (script.call, script.answer):
            output = env.step(action)
            conversation = [*conversation, {"role": "assistant", "content": action}, *output["observations"]]
            reward += output["reward"]
        env.close()
        yield reward, (conversation, reward, output)


if __name__ == "__main__":
    skyrl_gym.register(id="prices", entry_point=PriceEnv)
    includes = Includes(
        name="skyrl-gym",
        version=version("skyrl-gym"),
        plays="skyrl_gym.make, init, step, close, once an episode",
        call="text in Hermes' form, by our regular expression and json.loads in the environment; no schema",
        record="none by the framework; kept are the conversation, the reward and the last output",
        scoring="our own comparison; no explanation",
    )
    serve(includes, play)
