"""Backends by name, for ``gym.make(id, backend="...")`` and the command line.

- ``"http://host:port"``, ``"https://..."``: a tool server, ``callgym serve``;
- ``"recorded:PATH"``: answers from a recording.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from callgym.errors import ConfigurationError
from callgym.tool_backends.base import ToolBackend

__all__ = ["get_backend"]


def get_backend(spec: Any) -> ToolBackend:
    """The backend that a text names; a backend is itself.

    There is one backend for a server in a process, so that environments side by side share its connections.

    Raises:
        ConfigurationError: There is no such backend.
        DataError: A recording is missing or damaged.
        MissingPackageError: What it needs is not installed.
    """
    if not isinstance(spec, str):
        if callable(getattr(spec, "open", None)):
            backend: ToolBackend = spec
            return backend
        raise ConfigurationError(f"backend is a ToolBackend or the name of one, got {type(spec).__name__}")
    kind = spec.partition(":")[0]
    if kind not in _MAKERS:
        raise ConfigurationError(
            f"no backend {spec!r}; there are: http://HOST:PORT or https://HOST (a tool server) and recorded:PATH"
        )
    return _MAKERS[kind](spec)


@functools.cache
def _remote(spec: str) -> ToolBackend:
    from callgym.tool_backends.remote import RemoteBackend

    return RemoteBackend(spec)


def _recorded(spec: str) -> ToolBackend:
    from callgym.tool_backends.recording import ReplayBackend

    path = spec.partition(":")[2]
    if not path:
        raise ConfigurationError("recorded: names no file; give the path of a recording, recorded:PATH")
    backend: ToolBackend = ReplayBackend(path)
    return backend


_MAKERS: dict[str, Callable[[str], ToolBackend]] = {"http": _remote, "https": _remote, "recorded": _recorded}
