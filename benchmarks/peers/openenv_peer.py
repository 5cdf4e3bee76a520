"""The equal task in OpenEnv: typed actions in this process, tools over MCP in this process, and its server."""

# mypy: disable-error-code="import-not-found,misc,unused-ignore"
# OpenEnv is not installed where the types are checked, so its classes are Any.

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from equal_task import SCHEMA, Includes, Script, price, serve
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from openenv.core.rubrics import Rubric
from pydantic import BaseModel, ValidationError

CHUNK = 500
"""Episodes of one entry into the event loop."""


class PriceArguments(BaseModel):
    """What the tool is called with."""

    item: str


class PriceAction(Action):
    """A call or an answer."""

    arguments: PriceArguments | None = None
    answer: str | None = None


class PriceObservation(Observation):
    """What comes back."""

    text: str = ""


class ExactAnswer(Rubric):
    """Whether the answer is the right one."""

    def __init__(self) -> None:
        super().__init__()
        self.gold = ""

    def forward(self, action: Any, observation: Any) -> float:
        """1 or 0."""
        return float(action.answer is not None and action.answer.strip() == self.gold)


class PriceEnvironment(Environment):
    """OpenEnv's own form: typed actions and observations, a rubric."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__(rubric=ExactAnswer())
        self._state = State(episode_id="", step_count=0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> PriceObservation:
        """The question."""
        self._reset_rubric()
        self.rubric.gold = options["gold"]
        self._state = State(episode_id=episode_id or "", step_count=0)
        return PriceObservation(text=f"{options['question']}\n{json.dumps(SCHEMA)}")

    def step(self, action: PriceAction, timeout_s: float | None = None, **_: Any) -> PriceObservation:
        """A call is run; an answer ends the episode."""
        self._state.step_count += 1
        if action.arguments is not None:
            observation = PriceObservation(text=json.dumps(price(action.arguments.item)))
        else:
            observation = PriceObservation(done=True)
        observation.reward = self._apply_rubric(action, observation)
        return observation

    @property
    def state(self) -> State:
        """Where the episode stands."""
        return self._state


def play_typed(env: PriceEnvironment, scripts: Sequence[Script]) -> Iterator[tuple[float | None, Any]]:
    """The environment in this process; actions arrive as JSON values and are validated, as on the wire."""
    for number, script in enumerate(scripts):
        observations: list[Any] = [env.reset(seed=number, question=script.question, gold=script.gold)]
        for action in ({"arguments": script.arguments}, {"answer": script.answer}):
            try:
                observations.append(env.step(PriceAction.model_validate(action)))
            except ValidationError as error:
                observations.append(PriceObservation(text=str(error), reward=0.0))
        yield sum(observation.reward or 0.0 for observation in observations), (script, observations)


def play_tools(env: Any, loop: asyncio.AbstractEventLoop, scripts: Sequence[Script]) -> Iterator[tuple[float, Any]]:
    """Tools over MCP, in one session held open, as OpenEnv's server holds it."""
    from openenv.core.env_server.mcp_types import CallToolAction

    async def episodes(chunk: Sequence[Script]) -> list[tuple[float, Any]]:
        played = []
        async with env.mcp_session():
            for number, script in enumerate(chunk):
                observations = [await env.reset_async(seed=number, question=script.question, gold=script.gold)]
                call = CallToolAction(tool_name="price", arguments=script.arguments)
                observations.append(await env.step_async(call))
                observations.append(await env.step_async(PriceAction(answer=script.answer)))
                played.append((sum(o.reward or 0.0 for o in observations), (script, observations)))
        return played

    for start in range(0, len(scripts), CHUNK):
        yield from loop.run_until_complete(episodes(scripts[start : start + CHUNK]))


def play_served(client: Any, loop: asyncio.AbstractEventLoop, scripts: Sequence[Script]) -> Iterator[tuple[float, Any]]:
    """OpenEnv's client, against its server on this machine."""

    async def episodes(chunk: Sequence[Script]) -> list[tuple[float, Any]]:
        played = []
        for number, script in enumerate(chunk):
            results = [await client.reset(seed=number, question=script.question, gold=script.gold)]
            for action in ({"arguments": script.arguments}, {"answer": script.answer}):
                try:
                    results.append(await client.step(action))
                except RuntimeError as error:  # what the server refuses
                    logging.info("%s", error)
            played.append((sum(result.reward or 0.0 for result in results), (script, results)))
        return played

    for start in range(0, len(scripts), CHUNK):
        yield from loop.run_until_complete(episodes(scripts[start : start + CHUNK]))


def make_tools_environment() -> Any:
    """An environment whose tool is on a FastMCP server."""
    from fastmcp import FastMCP
    from openenv.core.env_server.mcp_environment import MCPEnvironment

    class PriceTools(MCPEnvironment):
        """The same task; the rubric is asked at the answer."""

        def __init__(self) -> None:
            server = FastMCP("prices")
            server.tool(price)
            super().__init__(server)
            self.rubric = ExactAnswer()
            self._state = State(episode_id="", step_count=0)

        def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Observation:
            self._reset_rubric()
            self.rubric.gold = options["gold"]
            self._state = State(episode_id=episode_id or "", step_count=0)
            return PriceObservation(text=options["question"])

        def _step_impl(self, action: Any, timeout_s: float | None = None, **_: Any) -> Observation:
            observation = PriceObservation(done=True)
            observation.reward = self._apply_rubric(action, observation)
            return observation

        @property
        def state(self) -> State:
            return self._state

    return PriceTools()


def run_server(port: int) -> None:
    """OpenEnv's server for the typed environment."""
    import uvicorn
    from openenv.core.env_server.http_server import create_fastapi_app

    app = create_fastapi_app(PriceEnvironment, PriceAction, PriceObservation, max_concurrent_envs=4)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", ws_ping_interval=None)


def serve_served(includes: Includes) -> None:
    """Start the server, play against it, stop it."""
    from openenv.core import GenericEnvClient

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, __file__, "server", str(port)], stdout=subprocess.DEVNULL)
    loop = asyncio.new_event_loop()
    try:
        _await_server(server, port)
        # Between rounds nobody answers pings: the loop stands still.
        client = GenericEnvClient(base_url=f"http://127.0.0.1:{port}", websocket_ping_interval_s=None)
        loop.run_until_complete(_in_loop(client.connect))
        serve(includes, lambda scripts: play_served(client, loop, scripts), [server.pid])
        loop.run_until_complete(_in_loop(client.close))
    finally:
        server.terminate()
        server.wait(timeout=20)


async def _in_loop(method: Any) -> Any:
    return await method()  # the client looks for the running loop when it is called


def _await_server(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError(f"OpenEnv's server ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("OpenEnv's server did not listen within 30 s")


def main(variant: str) -> None:
    """Answer the benchmark's commands."""
    plays = {
        "typed": ("Environment.reset, step in this process", "JSON values, by a pydantic model of the action"),
        "tools": ("MCPEnvironment.step_async in one MCP session, in this process", "JSON values, by FastMCP"),
        "served": ("EnvClient over a WebSocket, its server on this machine", "JSON values, by a pydantic model"),
    }
    includes = Includes(
        name="openenv",
        version=version("openenv"),
        plays=plays[variant][0],
        call=f"{plays[variant][1]}: the text was read by the client",
        record="none by the framework; kept are the observations that it returned",
        scoring="Rubric, our comparison; no explanation",
    )
    if variant == "served":
        serve_served(includes)
    elif variant == "tools":
        env, loop = make_tools_environment(), asyncio.new_event_loop()
        serve(includes, lambda scripts: play_tools(env, loop, scripts))
    else:
        typed = PriceEnvironment()
        serve(includes, lambda scripts: play_typed(typed, scripts))


if __name__ == "__main__":
    if sys.argv[1] == "server":
        run_server(int(sys.argv[2]))
    else:
        main(sys.argv[1])
