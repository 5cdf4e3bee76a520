"""A model behind an OpenAI-compatible server: OpenAI, vLLM, llama.cpp, Ollama and others::

    policy = get_policy("openai:qwen3@http://localhost:8000/v1", concurrency=16)

Messages and tools go out in the API's own shape, and the reply comes back as an action in the environment's
dialect. The key is read from ``CALLGYM_API_KEY``, else ``OPENAI_API_KEY``, and goes nowhere but into the
request's header.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import re
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from callgym.chat_server import completions_url, import_httpx, read_key
from callgym.errors import CallGymError, ConfigurationError
from callgym.rollouts.policy import Situation
from callgym.rollouts.unreadable import RawCall, render_raw_action

if TYPE_CHECKING:
    import httpx

__all__ = ["ServerError", "ServerPolicy", "server_messages"]

T = TypeVar("T")

_MAX_WAIT_S = 60.0
_MAX_SHOWN = 300


class ServerError(CallGymError):
    """A server gave no usable answer; the message names its URL, the last fault and the attempts."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """What an assistant said."""

    content: str
    calls: tuple[RawCall, ...]


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why an attempt failed."""

    what: str
    """For the error message: status and the server's words, or the failed connection."""
    passing: bool
    """Whether another attempt may go better."""
    wait_s: float | None = None
    """How long the server asks to wait, in seconds."""


class ServerPolicy:
    """Asks a server for every action, several at a time."""

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        mode: Literal["chat"] = "chat",
        max_tokens: int = 512,
        temperature: float = 0.0,
        top_p: float = 1.0,
        concurrency: int = 8,
        timeout_s: float = 120.0,
        attempts: int = 5,
        backoff_s: float = 0.5,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        """Set the policy up; nothing is sent yet.

        Args:
            model: The model's name on the server.
            base_url: Where the API is, such as ``http://localhost:8000/v1``.
            mode: ``"chat"``: messages and tools to ``/chat/completions``.
            max_tokens: Longest reply, in tokens.
            temperature: 0 for the likeliest reply.
            top_p: Share of the probability that is sampled from.
            concurrency: Most requests at the same time.
            timeout_s: Longest time for one request, in seconds.
            attempts: Most requests for one action: failed connections, timeouts, 429 and 5xx are tried again.
            backoff_s: First wait between attempts, in seconds; it doubles each time.
            extra_body: More fields of every request.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: httpx is not installed.
        """
        import_httpx()
        if mode != "chat":
            raise ConfigurationError(f"mode is 'chat', got {mode!r}")
        for name, value in (("concurrency", concurrency), ("attempts", attempts), ("max_tokens", max_tokens)):
            if not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")
        if not timeout_s > 0 or not backoff_s >= 0:
            raise ConfigurationError(f"timeout_s is above 0 and backoff_s not below, got {timeout_s} and {backoff_s}")
        self.url = completions_url(base_url, "the server's")
        self.name = f"openai:{model}@{base_url}"
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._backoff_s = backoff_s
        self._fixed = {
            "model": model, "max_tokens": max_tokens, "temperature": temperature, "top_p": top_p, **(extra_body or {})
        }  # fmt: skip
        self._connection: _Connection | None = None

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The server's replies as actions in each environment's dialect.

        Raises:
            ServerError: A request failed for good; the others are called off.
        """
        if self._connection is None:
            self._connection = _Connection(read_key())
        replies = self._connection.run(self._ask_all(self._connection, situations))
        return [
            render_raw_action(situation.env.dialect, reply.calls, reply.content)
            for situation, reply in zip(situations, replies, strict=True)
        ]

    def close(self) -> None:
        """Close the connections."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _ask_all(self, connection: _Connection, situations: Sequence[Situation]) -> list[_Reply]:
        free = asyncio.Semaphore(self._concurrency)

        async def ask(situation: Situation) -> _Reply:
            async with free:
                return await self._ask(connection, situation)

        tasks = [asyncio.create_task(ask(situation)) for situation in situations]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, connection: _Connection, situation: Situation) -> _Reply:
        body = self._body(situation)
        jitter = random.Random(situation.seed)
        attempt = 1
        while isinstance(outcome := await self._attempt(connection, body), _Fault):
            if not outcome.passing or attempt == self._attempts:
                times = "1 attempt" if attempt == 1 else f"{attempt} attempts"
                raise ServerError(connection.without_key(f"{self.url} gave no answer after {times}: {outcome.what}"))
            wait = self._backoff_s * 2 ** (attempt - 1) * jitter.uniform(0.75, 1.25)
            await asyncio.sleep(min(_MAX_WAIT_S, wait if outcome.wait_s is None else outcome.wait_s))
            attempt += 1
        return outcome

    async def _attempt(self, connection: _Connection, body: dict[str, Any]) -> _Reply | _Fault:
        httpx = import_httpx()
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await connection.client.post(self.url, json=body)
        except TimeoutError:
            return _Fault(f"no reply within {self._timeout_s:g} s", passing=True)
        except httpx.RequestError as error:
            return _Fault(f"{type(error).__name__}: {error}", passing=True)
        status = response.status_code
        if response.is_success:
            return _read_reply(response)
        words = " ".join(response.text.split())[:_MAX_SHOWN]
        return _Fault(f"status {status}: {words}", status == 429 or status >= 500, _retry_after(response))

    def _body(self, situation: Situation) -> dict[str, Any]:
        body = {"messages": server_messages(situation.messages), "seed": situation.seed % 2**31, **self._fixed}
        if situation.tools:
            body["tools"] = list(situation.tools)
        return body


class _Connection:
    """An HTTP client and the event loop it lives in, on a thread of its own: works inside notebooks too."""

    def __init__(self, key: str | None) -> None:
        self._key = key
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="callgym-server-policy", daemon=True)
        self._thread.start()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # The time limit is on the whole request, not on each of its phases.
        library = import_httpx()
        limits = library.Limits(max_connections=None)
        self.client: httpx.AsyncClient = library.AsyncClient(headers=headers, timeout=None, limits=limits)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for ``work``, and call it off where the wait is interrupted."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def without_key(self, text: str) -> str:
        """The text, should a server have quoted the key in it, without the key."""
        return text.replace(self._key, "***") if self._key else text

    def close(self) -> None:
        """Close the client, then the loop."""
        try:
            self.run(self.client.aclose())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def server_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Chat messages as servers want them: arguments as JSON text, and an id on every call and its result.

    Where ids are missing they are made up, the same every time: ``call_0``, ``call_1``, ...
    """
    written: list[dict[str, Any]] = []
    unanswered: list[str] = []
    count = 0
    for message in messages:
        copy = dict(message)
        if copy.get("tool_calls"):
            unanswered = []
            calls = []
            for call in copy["tool_calls"]:
                id = call.get("id") or f"call_{count}"
                count += 1
                unanswered.append(id)
                calls.append({"id": id, "type": "function", "function": _with_text_arguments(call["function"])})
            copy["tool_calls"] = calls
        elif copy.get("content") is None:
            copy["content"] = ""
        if copy["role"] == "tool":
            id = copy.get("tool_call_id") or (unanswered[0] if unanswered else f"call_{count}")
            if id in unanswered:
                unanswered.remove(id)
            copy["tool_call_id"] = id
        written.append(copy)
    return written


def _with_text_arguments(function: Mapping[str, Any]) -> dict[str, Any]:
    arguments = function.get("arguments", {})
    return {**function, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}


def _read_reply(response: httpx.Response) -> _Reply | _Fault:
    try:
        message = response.json()["choices"][0]["message"]
        calls = tuple(_read_call(item) for item in message.get("tool_calls") or ())
        content = message.get("content") or message.get("refusal") or ""
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        shown = " ".join(response.text.split())[:_MAX_SHOWN]
        return _Fault(f"a reply that is no chat completion ({type(error).__name__}): {shown}", passing=False)
    if isinstance(content, list):  # content in parts
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return _Reply(_characters(str(content)), calls)


def _read_call(item: Any) -> RawCall:
    function = item["function"]
    return RawCall(_characters(function.get("name")), _characters(function.get("arguments", {})), item.get("id"))


def _characters(value: Any) -> Any:
    """Text without half surrogates, which JSON can carry and UTF-8 cannot; anything else as it is."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks to wait: it says so in seconds or as a date."""
    given = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", given):
        return float(given)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
