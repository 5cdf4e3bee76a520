"""The inside of a process that runs the tools of one session at a time; ``isolated_worker`` is its outside.

One line of JSON asks, one line answers: ``{"value": ...}``, or ``{"raised": "ValueError: ..."}``. So nothing has to be
pickled on the way back, whatever a tool raises or returns. What tools print goes nowhere.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import socket
from typing import Any, Protocol

from callgym.call import ToolCall
from callgym.errors import ConfigurationError
from callgym.task import Task
from callgym.tool_backends.base import Session, ToolBackend

__all__ = ["load_backend", "serve"]

_MARGIN = 5.0
"""Seconds after which a process ends itself that nobody ended at its limit: whoever started it is gone."""
_PATH = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"]+/)+[^\s'\"]*")
_MAX_SHOWN = 200


class _Answers(Protocol):
    def write(self, line: bytes, /) -> Any: ...

    def flush(self) -> Any: ...


def load_backend(path: str) -> ToolBackend:
    """The backend that ``"package.module:name"`` names: an object, or a function that makes one.

    Raises:
        ConfigurationError: There is none.
    """
    module, _, name = path.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"there is no backend {path!r}: {error}; give 'package.module:name'") from error
    made = found if hasattr(found, "open") and not isinstance(found, type) else found()
    if not hasattr(made, "open"):
        raise ConfigurationError(f"{path!r} is no backend: it has no open(task, seed)")
    backend: ToolBackend = made
    return backend


def serve(backend: ToolBackend | str, pipe: socket.socket, longest: int) -> None:
    """Answer until the other side goes away.

    Args:
        backend: What opens sessions, or where it is found.
        pipe: Where questions come from and answers go.
        longest: Longest answer, in bytes.
    """
    os.setsid()  # a group of its own: what tools start ends with it
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    with pipe, pipe.makefile("rb") as questions, pipe.makefile("wb") as answers:
        try:
            desk = _Desk(load_backend(backend) if isinstance(backend, str) else backend)
        except BaseException as error:
            _write(answers, {"raised": _described(error)}, longest)
            return
        _write(answers, {"value": None}, longest)
        for line in questions:
            question = json.loads(line)
            signal.setitimer(signal.ITIMER_REAL, question["seconds"] + _MARGIN)
            try:
                answer = {"value": desk.do(question)}
            except BaseException as error:  # SystemExit, too: a tool has no say in whether its process goes on
                answer = {"raised": _described(error)}
            _write(answers, answer, longest)
            signal.setitimer(signal.ITIMER_REAL, 0)


class _Desk:
    """The session that is open, if one is."""

    def __init__(self, backend: ToolBackend) -> None:
        self._backend = backend
        self._session: Session | None = None

    def do(self, question: dict[str, Any]) -> Any:
        """What is asked for."""
        what = question["do"]
        if what == "open":
            self._session = self._backend.open(Task.from_dict(question["task"]), question["seed"])
            return None
        session = self._session
        assert session is not None
        if what == "call":
            return session.call(ToolCall.from_dict(question["call"])).to_dict()
        if what == "state":
            return session.state()
        if what == "end_turn":
            return _end_turn(session, question["made"])
        self._session = None
        session.close()
        return None


def _end_turn(session: Any, tried: int) -> None:
    """Tell a session that looks at turns how many calls were tried in one, and that it is over."""
    if hasattr(session, "end_turn"):
        for _ in range(tried):
            session.tried()
        session.end_turn()


def _write(answers: _Answers, answer: dict[str, Any], longest: int) -> None:
    try:
        line = json.dumps(answer, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        line = json.dumps({"raised": _described(error)}).encode()
    if len(line) > longest:
        line = json.dumps({"too_long": len(line)}).encode()
    answers.write(line + b"\n")
    answers.flush()


def _described(error: BaseException) -> str:
    """Type and message: a sentence for a policy, without the paths of this machine."""
    try:
        text = str(error)
    except Exception:
        text = ""
    text = _PATH.sub("(a path)", " ".join(text[: 10 * _MAX_SHOWN].split()))[:_MAX_SHOWN]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
