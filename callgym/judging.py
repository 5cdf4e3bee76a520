"""What judges by a model share: asking a server again and again, a file of what it said, and showing it data.

A judge is a ``ModelJudge`` with a ``ReplyCache``: it has a key for all that its word depends on, and
``_find_or_ask`` finds that word in the file or asks for it. What the word is, and what it earns, is the judge's.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from callgym.chat_server import completions_url, import_httpx, read_key
from callgym.errors import ConfigurationError, DataError
from callgym.task import Task

if TYPE_CHECKING:
    import httpx

__all__ = ["ModelJudge", "ReplyCache", "characters", "check_whole", "key_of", "quoted", "user_texts"]

Word = TypeVar("Word", bound=str)
"""What a judge says: one of a few words."""

_MAX_REPLY_BYTES = 1 << 20
_MAX_WAIT_S = 30.0
_OPENING = b'{"key": "'
# A chat template knows its control words by these characters: <|im_end|>, [INST], {{ }}.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>[]{}|\u2028\u2029\uff5c"}


class ReplyCache(Generic[Word]):
    """A judge's words by key, as JSON Lines. Lines are only ever added; of two for one key the first counts."""

    def __init__(self, path: Path, field: str, read: Callable[[Any], Word | None], owner: str) -> None:
        """Read the lines that there are; the file and its folder are made with the first line.

        Args:
            path: The file.
            field: The field of a line that holds the word, and what messages call it: "verdict".
            read: The word in that field's value, None where it is none.
            owner: Whose file it is, for messages: "a judge".

        Raises:
            ConfigurationError: The path is a folder.
            DataError: A line holds no word.
        """
        self._path = path
        self._field = field
        self._as_word = read
        self._owner = owner
        self._lock = threading.Lock()
        self._words: dict[str, Word] = {}
        self._torn = False
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        except IsADirectoryError:
            raise ConfigurationError(f"{path} is a folder; the cache of {field}s is a file") from None
        self._torn = bool(lines[-1])  # a writer was stopped in the middle of a line
        for number, line in enumerate(lines, 1):
            self._read(line, f"{path}, row {number}")

    def find(self, key: str) -> Word | None:
        """The word under a key, None where nobody asked yet."""
        return self._words.get(key)

    def add(self, key: str, model: str, prompt: int, word: Word) -> Word:
        """Keep a word, unless another thread was quicker; the one that counts."""
        line = json.dumps({"key": key, "model": model, "prompt": prompt, self._field: word}) + "\n"
        with self._lock:
            if key not in self._words:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab") as file:  # one write a line: several processes may share the file
                    file.write((("\n" if self._torn else "") + line).encode())
                self._torn = False
                self._words[key] = word
            return self._words[key]

    def _read(self, line: bytes, where: str) -> None:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            if line.startswith(_OPENING) or _OPENING.startswith(line):
                return  # empty, or a line that was cut off: its word is asked for again
            entry = None
        key, value = (entry.get("key"), entry.get(self._field)) if isinstance(entry, dict) else (None, None)
        word = self._as_word(value)
        if not isinstance(key, str) or word is None:
            field = self._field
            raise DataError(f"{where}: no {field}, which has 'key' and '{field}'; is it the file of {self._owner}?")
        self._words.setdefault(key, word)


class ModelJudge(Generic[Word]):
    """A judge by any OpenAI-compatible server. May be called by several threads; a judge sets ``_cache``."""

    _cache: ReplyCache[Word]

    def __init__(
        self,
        url: str,
        model: str,
        *,
        max_tokens: int,
        timeout_s: float,
        attempts: int,
        backoff_s: float,
        extra_body: Mapping[str, Any] | None,
    ) -> None:
        """Check the options, which are those of the judges, and read the key; nothing is sent yet.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: httpx is not installed.
        """
        check_whole(max_tokens=max_tokens, attempts=attempts)
        if not timeout_s > 0 or not backoff_s >= 0:
            raise ConfigurationError(f"timeout_s is above 0 and backoff_s not below, got {timeout_s} and {backoff_s}")
        self.url = completions_url(url, "the judge's")
        self.model = model
        self.counts: Counter[str] = Counter()
        """How often a word was ``cached``, ``asked`` for and given, or ``failed`` (no reply) or ``unreadable``."""
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._backoff_s = backoff_s
        self._fixed = {**(extra_body or {}), "model": model, "temperature": 0.0, "max_tokens": max_tokens}
        key = read_key()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the connections; the next request opens them again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _find_or_ask(
        self, key: str, version: int, ask: Callable[[], tuple[str, Word | None, str]]
    ) -> tuple[Word | None, str]:
        """The word under a key, which is asked for where the cache has none; None and why where there is none."""
        word = self._cache.find(key)
        if word is not None:
            self._count("cached")
            return word, ""
        outcome, word, fault = ask()
        self._count(outcome)
        return (None, fault) if word is None else (self._cache.add(key, self.model, version, word), "")

    def _ask(
        self, prompts: Sequence[str], data: str, read: Callable[[str], Word | None], noun: str
    ) -> tuple[str, Word | None, str]:
        """What came of asking (``asked``, ``failed``, ``unreadable``), the word, and why there is none.

        Each prompt is a try: the next is for a reply in which ``read`` finds no word.
        """
        for prompt in prompts:
            messages = [{"role": "system", "content": prompt}, {"role": "user", "content": data}]
            text, fault = self._reply({**self._fixed, "messages": messages})
            if text is None:
                return "failed", None, f"the judge gave no reply: {fault}"
            word = read(text)
            if word is not None:
                return "asked", word, ""
        return "unreadable", None, f"the judge's reply is no {noun}"

    def _reply(self, body: dict[str, Any]) -> tuple[str | None, str]:
        """The text of a response, or None and what failed."""
        fault = ""
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(min(_MAX_WAIT_S, self._backoff_s * 2 ** (attempt - 1)))
            status, text = self._post(body)
            if status is not None and 200 <= status < 300:
                return text, ""
            # Neither the server's words nor the URL: records must not hold what they may quote.
            fault = f"status {status}" if status is not None else text
            if status is not None and status != 429 and status < 500:
                break
        return None, fault

    def _post(self, body: dict[str, Any]) -> tuple[int | None, str]:
        """Status and text of one response; None and what failed where there was none in time."""
        library = import_httpx()
        deadline = time.monotonic() + self._timeout_s
        try:
            with self._connected().stream("POST", self.url, json=body) as response:
                parts: list[bytes] = []
                size = 0
                for part in response.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > _MAX_REPLY_BYTES:
                        return None, "a reply that is too long"
                    if time.monotonic() > deadline:
                        return None, "no reply in time"
                return response.status_code, b"".join(parts).decode("utf-8", "replace")
        except (library.HTTPError, library.StreamError) as error:
            return None, type(error).__name__

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = import_httpx().Client(headers=self._headers, timeout=self._timeout_s)
            return self._client

    def _count(self, outcome: str) -> None:
        with self._lock:
            self.counts[outcome] += 1


def check_whole(**options: int) -> None:
    """Raise ConfigurationError for the first option that is no whole number of at least 1."""
    for name, value in options.items():
        if not isinstance(value, int) or value < 1:
            raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")


def key_of(*parts: Any) -> str:
    """SHA-256, in hexadecimal, of the parts as JSON."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def user_texts(task: Task) -> list[str]:
    """Everything the user says, in order."""
    said = [message.content or "" for message in task.messages if message.role == "user"]
    return [characters(text) for text in (*said, *(turn.content for turn in task.user_turns))]


def quoted(value: Any) -> str:
    """A value as JSON in which nothing can end a field or a turn: within texts brackets are escaped."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(str(name))}: {quoted(item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(quoted, value)) + "]"
    text = json.dumps(characters(value) if isinstance(value, str) else value, ensure_ascii=False)
    return text.translate(_ESCAPED)


def characters(text: str) -> str:
    """The text without half surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
