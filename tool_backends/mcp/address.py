"""Where a server is: a program to start, or a URL; with ``{task}`` and ``{seed}`` in it, one for each episode::

    StdioAddress("callgym", ("mcp", "apibank/L1-v0", "--task={task}", "--seed={seed}"))

The words are put in as they are, as part of an argument or, percent-encoded, of a URL; nothing passes through a shell.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from callgym.errors import ConfigurationError
from callgym.tool_backends.http.keys import KeyRing, read_keys

__all__ = ["Address", "HttpAddress", "StdioAddress"]

_INHERITED = ("PATH", "HOME")
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_PLACES = ("{task}", "{seed}")


@dataclass(frozen=True, slots=True)
class StdioAddress:
    """A program that speaks over its standard input and output."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """What the program's environment holds beside PATH and HOME."""
    cwd: str | None = None

    def __post_init__(self) -> None:
        words = (self.command, *self.args)
        if not self.command or any(not isinstance(word, str) or "\0" in word for word in words):
            raise ConfigurationError(f"command and args are texts, the command not empty, got {words!r:.200}")
        for name, value in self.env:
            if not (isinstance(name, str) and isinstance(value, str)) or "=" in name or "\0" in name + value:
                raise ConfigurationError(f"env maps names to texts, got an entry {name!r:.80}")
        if self.cwd is not None and not os.path.isdir(self.cwd):
            raise ConfigurationError(f"cwd is a folder, got {self.cwd!r}")

    @property
    def name(self) -> str:
        """What to call it in an error for people."""
        return f"MCP server {os.path.basename(self.command)!r}"

    @property
    def depends(self) -> bool:
        """Whether it differs from episode to episode."""
        return any(place in word for word in self.args for place in _PLACES)

    def of(self, task: str, seed: int) -> StdioAddress:
        """The address for one episode."""
        words = (word.replace("{seed}", str(seed)).replace("{task}", task) for word in self.args)
        return replace(self, args=tuple(words)) if self.depends else self

    def environment(self) -> dict[str, str]:
        """All that the program is told of ours: keys that we hold are none of its business."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        return {**inherited, **dict(self.env)}

    def keys(self) -> KeyRing:
        """What must not stand in a message or an answer."""
        return KeyRing({name: value for name, value in self.env if value and _SECRET.search(name)})


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """A server that speaks streamable HTTP."""

    url: str
    token_env: str | None = None
    """The environment variable with the bearer token."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url) if isinstance(self.url, str) else urlsplit("")
        try:
            right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            right = False
        if not right:
            raise ConfigurationError(f"url is like http://127.0.0.1:8000/mcp, got {self.url!r:.200}")
        if parts.username or parts.password:
            raise ConfigurationError("url holds a name or a password; a token goes into a variable, named in token_env")
        if self.token_env is not None and not (isinstance(self.token_env, str) and self.token_env):
            raise ConfigurationError(f"token_env is the name of an environment variable, got {self.token_env!r}")

    @property
    def name(self) -> str:
        """What to call it in an error for people."""
        return f"MCP server {self.url.partition('?')[0]}"

    @property
    def depends(self) -> bool:
        """Whether it differs from episode to episode."""
        return any(place in self.url for place in _PLACES)

    def of(self, task: str, seed: int) -> HttpAddress:
        """The address for one episode."""
        if not self.depends:
            return self
        return replace(self, url=self.url.replace("{seed}", str(seed)).replace("{task}", quote(task, safe="")))

    def keys(self) -> KeyRing:
        """The token, read now. Raises ConfigurationError where it is not set."""
        return read_keys(() if self.token_env is None else (self.token_env,))


Address: TypeAlias = StdioAddress | HttpAddress
