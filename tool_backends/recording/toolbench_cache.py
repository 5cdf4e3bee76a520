"""ToolBench's cached responses (StableToolBench's ``tool_response_cache``), read as they are::

    backend = ReplayBackend("tool_response_cache")  # or ToolBenchCache(folder), with its reports
    import_toolbench_cache("tool_response_cache", RecordingStore("cache.sqlite"))

A file is ``<Category>/<tool>_for_<Category>/<api>.json`` and maps ``str(arguments)`` to ``{"error", "response"}``. A
tool is called as the models know it: ``{api}_for_{tool}``, its last 64 characters. The server (``server/main.py`` of
THUNLP-MT/StableToolBench) finds a response by ``str(arguments)`` to the letter, so that the order of keys matters to
it; here that spelling goes first, and any other of the same arguments after it.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgym.call import ToolResult
from callgym.dialects.literal import LiteralError, skip_space
from callgym.dialects.python_value import scan_value
from callgym.errors import DataError
from callgym.json_value import copy_json, write_json
from callgym.tool import Tool
from callgym.tool_backends.recording.answers import Answer, RecordedCall, ToolCount, Wanted
from callgym.tool_backends.recording.keys import ANYWHERE, NoKey, call_key
from callgym.tool_backends.recording.normalised import normal_key
from callgym.tool_backends.recording.redaction import Redaction
from callgym.tool_backends.recording.store import RecordingStore

__all__ = ["CacheReport", "ToolBenchCache", "Unread", "import_toolbench_cache"]

_MAX_NAME = 64
_FILES_KEPT = 512
_SHOWN = 200
_UNAVAILABLE = ("API not working error", "Unauthorized error", "Unsubscribed error", "Too many requests error",
                "Rate limit per minute error")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unread:
    """Something in the folder that could not be read."""

    file: str
    """The file, below the folder."""
    key: str
    """The key as it is written; empty where the whole file cannot be read."""
    reason: str
    """What is wrong with it."""


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What was read, and what was not."""

    files: int
    """Files."""
    responses: int
    """Responses that were read."""
    repeated: int
    """Those among them whose arguments another key of the same file has, too, in another spelling."""
    new: int
    """Responses that the store did not have; 0 where nothing was imported."""
    unread: tuple[Unread, ...]
    """Keys and files that could not be read."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file, read."""

    calls: tuple[tuple[str, RecordedCall], ...]
    """Its keys as they are written, with what they hold; the server's own spelling of equal arguments first."""
    by_text: dict[str, RecordedCall]
    by_key: dict[str, RecordedCall]
    """Exact and normal keys to the call that has them first."""
    unread: tuple[Unread, ...]


class ToolBenchCache:
    """The folder as a recording that is only read. Secrets in it are not hidden: nothing is written."""

    def __init__(self, folder: str | os.PathLike[str], *, category: str | None = None) -> None:
        """Look for the files; each is read when a call of its tool comes.

        Args:
            folder: ``tool_response_cache``.
            category: Only this one. Names are not unique across ToolBench: of several files with one name the first,
                by path, that has the call answers.

        Raises:
            DataError: There are no such files.
        """
        self.folder = Path(folder)
        self._files: dict[str, list[Path]] = {}
        for path in sorted(self.folder.glob(f"{'*' if category is None else category}/*/*.json")):
            self._files.setdefault(_tool_name(path), []).append(path)
        if not self._files:
            raise DataError(
                f"{self.folder} has no cached responses (<Category>/<tool>_for_<Category>/<api>.json) for "
                f"category={category!r}"
            )
        self._read: OrderedDict[Path, _File] = OrderedDict()
        self.redaction = Redaction(())

    def __reduce__(self) -> Any:
        return _reopened, (self.folder, self._files)

    @property
    def name(self) -> str:
        """The folder's path."""
        return str(self.folder)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """None: their documents lie elsewhere (``callgym.tool_backends.http.read_apis`` reads them)."""
        return ()

    def find(self, wanted: Wanted) -> Answer | None:
        """The answer to these arguments, in the server's spelling first."""
        for path in self._files.get(wanted.tool, ()):
            file = self._file(path)
            found = file.by_text.get(str(wanted.arguments)) if wanted.by == "exact" else None
            found = found or file.by_key.get(wanted.key)
            if found is not None:
                result = found.result
                exact = call_key(found.tool, found.arguments)
                content = copy_json(result.content)
                return Answer(
                    ToolResult.trusted(content=content, error=result.error, message=result.message),
                    exact,
                    found.normal,
                    ANYWHERE,
                )
        return None

    def state_at(self, moment: str) -> None:
        """Not known."""
        return None

    def calls(self, tool: str | None = None) -> Iterator[RecordedCall]:
        """The responses of one tool, or all, file by file: of equal arguments the one that the server would find."""
        names = sorted(self._files) if tool is None else [tool]
        for name in names:
            for path in self._files.get(name, ()):
                file = self._file(path)
                for _, call in file.calls:
                    if file.by_key[call_key(call.tool, call.arguments)] is call:
                        yield call

    def counts(self) -> list[ToolCount]:
        """The tools by name, with how many responses there are of each."""
        counted = []
        for name in sorted(self._files):
            calls = list(self.calls(name))
            failures = sum(not call.result.ok for call in calls)
            if calls:  # many files are {}
                counted.append(ToolCount(name, len(calls), len(calls), failures))
        return counted

    def report(self) -> CacheReport:
        """Read every file, and say what could not be read."""
        files = [self._file(path) for paths in self._files.values() for path in paths]
        responses = sum(len(file.calls) for file in files)
        different = sum(len({call_key(c.tool, c.arguments) for _, c in file.calls}) for file in files)
        unread = tuple(fault for file in files for fault in file.unread)
        return CacheReport(len(files), responses, responses - different, 0, unread)

    def _file(self, path: Path) -> _File:
        found = self._read.get(path)
        if found is None:
            found = self._read[path] = _read_file(path, path.relative_to(self.folder).as_posix())
            if len(self._read) > _FILES_KEPT:
                self._read.popitem(last=False)
        return found


def import_toolbench_cache(
    folder: str | os.PathLike[str], store: RecordingStore | str | os.PathLike[str], *, category: str | None = None
) -> CacheReport:
    """Copy ToolBench's cached responses into a recording; again, and nothing changes.

    Args:
        folder: ``tool_response_cache``.
        store: The recording, or the path of its file.
        category: Only this one.

    Raises:
        DataError: The folder has no such files, or the recording cannot be written.
    """
    cache = ToolBenchCache(folder, category=category)
    store = store if isinstance(store, RecordingStore) else RecordingStore(store)
    new = store.add_rows(cache.calls())
    report = cache.report()
    return CacheReport(report.files, report.responses, report.repeated, new, report.unread)


def _reopened(folder: Path, files: dict[str, list[Path]]) -> ToolBenchCache:
    cache = object.__new__(ToolBenchCache)
    vars(cache).update(folder=folder, _files=files, _read=OrderedDict(), redaction=Redaction(()))
    return cache


def _tool_name(path: Path) -> str:
    tool = path.parent.name.removesuffix(f"_for_{path.parent.parent.name}")
    return f"{path.stem}_for_{tool}"[-_MAX_NAME:]


def _read_file(path: Path, name: str) -> _File:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(rows, dict):
            raise ValueError("it is no JSON object")
    except (ValueError, RecursionError) as error:
        return _File((), {}, {}, (Unread(name, "", str(error)[:_SHOWN]),))
    tool = _tool_name(path)
    calls, unread = [], []
    for key, response in rows.items():
        try:
            calls.append((key, _call(tool, key, response, name)))
        except (LiteralError, NoKey, TypeError, ValueError, RecursionError) as error:
            unread.append(Unread(name, key, str(error)[:_SHOWN]))
    calls.sort(key=lambda pair: pair[0] != str(pair[1].arguments))  # stable: the server's spelling first
    by_key: dict[str, RecordedCall] = {}
    for _, call in calls:
        by_key.setdefault(call_key(call.tool, call.arguments), call)
    for _, call in calls:
        by_key.setdefault(call.normal, call)
    return _File(tuple(calls), dict(calls), by_key, tuple(unread))


def _call(tool: str, key: str, response: Any, name: str) -> RecordedCall:
    arguments, end = scan_value(key, skip_space(key, 0))
    if end != len(key):
        raise LiteralError(f"unexpected text after the value at character {end}", end)
    if not isinstance(arguments, dict):
        raise ValueError("the arguments are no dict")
    if not isinstance(response, dict) or not isinstance(response.get("error"), str) or "response" not in response:
        raise ValueError("the answer is no {'error', 'response'}")
    return RecordedCall(
        tool=tool,
        arguments=arguments,
        result=_result(response["error"], copy_json(response["response"])),
        scope=ANYWHERE,
        sequence=0,
        normal=normal_key(tool, arguments),
        source=name,
    )


def _result(error: str, response: Any) -> ToolResult:
    """ToolBench's answer as a result; see ``callgym.tool_backends.http.tool_server``, which reads the same."""
    if not error:
        return ToolResult.trusted(content=response, error=None, message="")
    said = (
        error
        if response in ("", None)
        else f"{error} {response if isinstance(response, str) else write_json(response)}"
    )
    said = " ".join(said.split())[:_SHOWN]
    if error.startswith("Timeout error"):
        return ToolResult(error="timeout", message=f"the API did not answer in time: {said}")
    if error.startswith(_UNAVAILABLE):
        return ToolResult(error="unavailable", message=f"the API is unavailable, do without it: {said}")
    return ToolResult(error="tool_error", message=f"the API refused the call: {said}")
