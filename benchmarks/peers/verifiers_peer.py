"""The equal task in verifiers: ``ToolEnv.generate`` against a client that answers at once."""

# mypy: disable-error-code="import-not-found,misc,unused-ignore"
# verifiers is not installed where the types are checked, so its classes are Any.

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import verifiers as vf
from datasets import Dataset
from equal_task import PRICES, Includes, Script, price, serve
from openai.types.chat import ChatCompletion

CHUNK = 500
"""Episodes of one ``generate``: it starts a task for each at once."""


class ScriptedClient:
    """Gives replies that were made beforehand, so the model costs nothing, not even the making of its response."""

    base_url = ""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._replies = {script.question: (_called(script), _said(script)) for script in scripts}
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    async def _create(self, *, messages: list[dict[str, Any]], **_: Any) -> ChatCompletion:
        called, said = self._replies[messages[0]["content"]]
        return said if messages[-1]["role"] == "tool" else called


def exact(completion: list[dict[str, Any]], answer: str, **_: Any) -> float:
    """Whether the last words are the answer."""
    return float(completion[-1]["content"].strip() == answer)


def play(env: Any, loop: asyncio.AbstractEventLoop, scripts: Sequence[Script]) -> Iterator[tuple[float | None, Any]]:
    """A group of one for each episode."""
    client = ScriptedClient(scripts[: len(PRICES)])
    for start in range(0, len(scripts), CHUNK):
        inputs = [
            {
                "prompt": [{"role": "user", "content": script.question}],
                "answer": script.gold,
                "task": "prices",
                "example_id": number,
            }
            for number, script in enumerate(scripts[start : start + CHUNK], start)
        ]
        outputs = loop.run_until_complete(env.generate(inputs, client=client, model="script", use_tqdm=False))
        yield from zip(outputs["reward"], outputs["state"], strict=True)


def _called(script: Script) -> ChatCompletion:
    function = {"name": "price", "arguments": json.dumps(script.arguments)}
    return _completion({"content": None, "tool_calls": [{"id": "call_0", "type": "function", "function": function}]})


def _said(script: Script) -> ChatCompletion:
    return _completion({"content": script.answer})


def _completion(message: dict[str, Any]) -> ChatCompletion:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return ChatCompletion.model_validate(
        {"id": "0", "created": 0, "model": "script", "object": "chat.completion", "choices": [choice]}
    )


def main() -> None:
    """Answer the benchmark's commands."""
    logging.disable(logging.ERROR)
    rows = [{"question": f"What does {item} cost?", "answer": str(cost)} for item, cost in PRICES.items()]
    rubric = vf.Rubric(funcs=[exact])
    env = vf.ToolEnv(tools=[price], max_turns=4, dataset=Dataset.from_list(rows), rubric=rubric)
    loop = asyncio.new_event_loop()
    includes = Includes(
        name="verifiers",
        version=version("verifiers"),
        plays=f"ToolEnv.generate, {CHUNK} episodes at once; a client whose replies were made beforehand",
        call="OpenAI's tool_calls as objects: the text was read by the server; json.loads; no schema",
        record="State: messages, every step with its whole prompt and response, timing, metrics",
        scoring="Rubric, our function; the group's advantage; no explanation",
    )
    serve(includes, lambda scripts: play(env, loop, scripts))


if __name__ == "__main__":
    main()
