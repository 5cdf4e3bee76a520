"""The recorded call most like one that was not recorded.

Likeness is F1 over arguments: how many the two calls share, name and normal value alike, out of how many they have.
Of equally like ones the one that shares more words of its values (F1 again), then the one recorded first. Answers that
hold at this place of the episode go before all others.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgym.call import ToolResult
from callgym.json_value import copy_trusted
from callgym.tool_backends.recording.answers import RecordedCall
from callgym.tool_backends.recording.fallbacks import Miss, no_answer, said
from callgym.tool_backends.recording.keys import ANYWHERE, NoKey, canonical, json_text
from callgym.tool_backends.recording.normalised import normal_arguments

__all__ = ["Nearest"]

_MOST_TOOLS = 64
_MOST_ROWS = 200_000
_MOST_WORDS = 256
_WORD = re.compile(r"\w+")
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: RecordedCall
    pairs: frozenset[str]
    words: frozenset[str]


class Nearest:
    """Answers with what was recorded of the most similar call of the same tool; see the module.

    A tool's rows are read when the first of its calls is missed, the first 200,000 of them, and kept.
    """

    def __init__(self, *, say_so: bool = False) -> None:
        """Choose whether the answer tells of which call it is: ``{"result": ..., "note": ...}``."""
        self.say_so = say_so
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], list[_Candidate]] = OrderedDict()

    def __reduce__(self) -> Any:
        return _nearest, (self.say_so,)

    def __call__(self, miss: Miss) -> ToolResult:
        """The answer to the call that is most like the one that was missed; ``unavailable`` where there is none."""
        candidates = self._candidates(miss)
        if not candidates:
            return no_answer(miss)
        schema = None if miss.tool is None else miss.tool.parameters
        pairs, words = _features(miss.call.arguments, schema)
        here = (miss.scope, ANYWHERE)

        def likeness(candidate: _Candidate) -> tuple[bool, float, float]:
            return candidate.row.scope in here, _f1(candidate.pairs, pairs), _f1(candidate.words, words)

        row = max(candidates, key=likeness).row  # of equal ones the first
        found = row.result
        result = ToolResult.trusted(content=copy_trusted(found.content), error=found.error, message=found.message)
        if not self.say_so:
            return result
        shown = json_text(row.arguments)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        return said(result, f"no answer to these arguments is on record; this is the answer to {shown}")

    def _candidates(self, miss: Miss) -> list[_Candidate]:
        if self._process != os.getpid():
            self._forget()
        key = miss.records.name, miss.call.name
        with self._lock:
            if key not in self._known:
                schema = None if miss.tool is None else miss.tool.parameters
                found = []
                for row in itertools.islice(miss.records.calls(miss.call.name), _MOST_ROWS):
                    with contextlib.suppress(NoKey):
                        found.append(_Candidate(row, *_features(row.arguments, schema)))
                self._known[key] = found
                if len(self._known) > _MOST_TOOLS:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]


def _nearest(say_so: bool) -> Nearest:
    return Nearest(say_so=say_so)


def _features(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> tuple[frozenset[str], frozenset[str]]:
    """The arguments as texts, and the words of their values."""
    normal = normal_arguments(arguments, schema)
    texts = {name: canonical(value) for name, value in normal.items()}
    pairs = frozenset(f"{name}\0{text}" for name, text in texts.items())
    words = frozenset(f"{name}\0{word}" for name, text in texts.items() for word in _WORD.findall(text)[:_MOST_WORDS])
    return pairs, words


def _f1(one: frozenset[str], other: frozenset[str]) -> float:
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0
