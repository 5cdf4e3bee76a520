"""The equal task in GEM (gem-llm)."""

# mypy: disable-error-code="import-not-found,misc,unused-ignore"
# GEM is not installed where the types are checked, so its classes are Any.

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import gem
from equal_task import SCHEMA, Includes, Script, price, serve
from gem.core import Env
from gem.tools.base_tool import BaseTool
from gem.tools.tool_env_wrapper import ToolEnvWrapper
from gem.utils.constants import TERMINAL_STATE
from gem.wrappers.observation_wrapper import ObservationWrapper


class PriceTool(BaseTool):
    """A tool reads its own calls in GEM, as its Python and search tools do: a regular expression, then JSON."""

    tool_type = "price"
    name = "price"

    def instruction_string(self) -> str:
        """What the policy is told."""
        return f"Call the tool price as JSON in <tool_call></tool_call>. Its arguments: {json.dumps(SCHEMA)}"

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """(read, failed, observation, the action up to the end of the call)."""
        match = re.search(r"<tool_call>(.*?)</tool_call>", action, re.DOTALL)
        if match is None:
            return False, True, "", action
        try:
            result = json.dumps(price(**json.loads(match.group(1))["arguments"]))
        except (ValueError, KeyError, TypeError) as error:
            return True, True, f"<tool_response>{error}</tool_response>", action[: match.end()]
        return True, False, f"<tool_response>{result}</tool_response>", action[: match.end()]


class PriceEnv(Env):
    """What is left for the environment: the question, and the exact answer."""

    script: Script

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """The question."""
        super().reset(seed)
        return self.script.question, {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """The answer ends the episode."""
        return TERMINAL_STATE, float(action.strip() == self.script.gold), True, True, {}


def play(scripts: Sequence[Script]) -> Iterator[tuple[float | None, Any]]:
    """``gem.make``, its wrapper for tools, and its wrapper that shows the whole conversation."""
    inner = gem.make("prices:Price-v0")
    env = ObservationWrapper(ToolEnvWrapper(inner, tools=[PriceTool()]), include_chat_template=False)
    for number, script in enumerate(scripts):
        inner.script = script
        first, info = env.reset(seed=number)
        second, reward, _, _, later = env.step(script.call)
        last, final_reward, *_, end = env.step(script.answer)
        record = [(first, script.call, reward, info), (second, script.answer, final_reward, later), (last, end)]
        yield reward + final_reward, record


if __name__ == "__main__":
    gem.register("prices:Price-v0", PriceEnv)
    includes = Includes(
        name="gem-llm",
        version=version("gem-llm"),
        plays="gem.make, ToolEnvWrapper, ObservationWrapper; reset, step",
        call="text in Hermes' form, by our regular expression and json.loads in the tool; no schema",
        record="none by the framework; kept are the texts, rewards and infos that it returned",
        scoring="our own comparison; no explanation",
    )
    serve(includes, play)
