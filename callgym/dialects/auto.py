"""Any dialect, told by the first opening of a call.

    [TOOL_CALLS]look[ARGS]{"at": 1}                  is read as Mistral's
    <tool_call>{"name": "look", "arguments": {}}     as Hermes'
    {"name": "look", "arguments": {}}                as OpenAI's

An opening in reasoning decides nothing, nor does one in a call's argument: the first that is neither does, and the
whole action is read in its dialect. Forms that look alike, JSON at the start or calls in square brackets, are read in
each dialect that has them, and the one counts in which most calls can be read. Text without an opening is words.

``ParsedAction.dialect`` names the choice, which environments need for values that arrive as text. There is no form to
ask for, so prompts, answers and our own actions are written as Hermes writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple

from callgym.dialects.base import Dialect, ParsedAction
from callgym.dialects.detect import Detection
from callgym.dialects.hermes import HermesDialect
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.toolace_call import NAME, NAMED, QUOTED

__all__ = ["AutoDialect", "detect_in_action"]

_MOST_TRIES = 4
"""So many openings that turn out to be words are looked behind."""

_NUMBER = r"(?: ?\d{1,3})?+:"
_ACTION_LINE = rf" ?(?:Action{_NUMBER}(?=[^\n]*+\n\s*+Action Input|[^\S\n]*+[\w./-]++\s*+\Z)|Final Answer{_NUMBER})"
_OPENINGS: dict[str, str] = {
    "anthropic": r"<(?:[a-z]{1,20}:)?(?:function_calls>|invoke\b)",
    "qwen3-coder": (
        r"<tool_call>(?=\s*+<function=)|<function=(?=[^<>\n{]++>\s*+(?:<parameter=|</function>))|<parameter="
    ),
    # A name, and then a key or nothing; what else stands behind the tag is Hermes'.
    "glm": r"<tool_call>(?=\s*+[^\s<>{\[\"'][^<>\n]*+\s*+(?:<arg_key>|</tool_call>|\Z))|<arg_key>",
    "functionary": r">>>[^\s>]++[^\S\n]*+(?:\n|\Z)|<function=(?=[^<>\n]++>\s*+\{)",
    "llama3": r"<\|python_tag\|>",
    "react": rf"(?<=\n)(?:{_ACTION_LINE})",
    "alpha-umi": r"Next: (?:caller|conclusion)\.|caller:(?=\s*+Action:)",
    "apibank": r"API-Request:(?=\s*+\[)",
}
"""What opens a call, for dialects whose ``signs`` do not say it all; at one place the first counts."""

_AT_START: dict[str, re.Pattern[str]] = {
    # Without its mark, which the prompt writes, a name alone on the first line.
    "functionary": re.compile(r"\s*+[a-z_][\w.-]*+[^\S\n]*+\n\s*+(?=\{)"),
    "react": re.compile(rf"\s*+(?:{_ACTION_LINE})"),
    "xlam": re.compile(r"\s*+\[\s*+\]\s*+\Z"),
}
"""The same, right behind the reasoning."""

_ALIKE: dict[str, tuple[str, ...]] = {"openai": ("openai", "llama3", "xlam"), "python": ("python", "toolace")}
"""Dialects whose calls may open alike."""

_LISTS = re.compile(rf"\[\s*+(?=(?:{QUOTED}|{NAME})\(\s*+(?:\)|\*\*|{NAMED}))", re.DOTALL)
_UNSURE_LISTS = re.compile(r"\[\s*+(?=[^\W\d][\w.-]*+\()")
_JSON = re.compile(r'(?:\[\s*+)?+\{\s*+(?:\}|"[a-z_]*+(?:"|\Z)|\Z)|\[\s*+\Z')
_FENCED_JSON = re.compile(r"```(?:json|JSON)?+\s*+(?=[\[{])")
_CALLS_IN_JSON = re.compile(r'"(?:arguments|parameters|function|tool_calls)"')
_WORDS_IN_JSON = re.compile(r'\{\s*+"role"\s*+:\s*+"assistant"')
_NAME_FIRST = re.compile(r'[\[{\s]*+"?(?:\Z|n(?:a(?:me?)?)?(?:"|\Z))')

_CLOSE = "</think>"
_OWN_REASONING: Mapping[str, tuple[str, str]] = {
    "mistral": ("[THINK]", "[/THINK]"),
    "anthropic": ("<thinking>", "</thinking>"),
}
"""Tags around reasoning that only one dialect knows, at the start of an action."""


class _Choice(NamedTuple):
    """The dialect that an action is written in."""

    name: str
    """Empty for words."""
    mark: str
    """What told it."""
    parsed: ParsedAction


class _Opening(NamedTuple):
    position: int
    name: str
    mark: str


class AutoDialect(HermesDialect):
    """Reads every dialect, writes Hermes'."""

    name = "auto"
    signs = ()  # type: ignore[assignment]  # any dialect's

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for how its dialect is told."""
        choice = _choose(text)
        return choice.parsed._replace(dialect=choice.name)


def detect_in_action(text: str) -> Detection:
    """The dialect of something that a policy wrote."""
    choice = _choose(text)
    if not choice.name:
        return Detection("", "no call opens in it in any dialect")
    return Detection(choice.name, f"it opens with {choice.mark.strip()!r}")


def _choose(text: str) -> _Choice:
    readings = _Readings(text)
    start = _behind_own_reasoning(text)
    first = next(_openings(text, start), None)
    close = text.find(_CLOSE, start)
    if first is not None and close > first.position:
        parsed = readings.of(first.name)[1]
        start = max(start, _behind_reasoning(text, parsed.reasoning))
    elif close >= 0:
        start = close + len(_CLOSE)
    fallback: _Choice | None = None
    for opening in islice(_openings(text, start), _MOST_TRIES):
        name, parsed = readings.of(opening.name)
        if parsed.calls or parsed.errors:
            return _Choice(name, opening.mark, parsed)
        if fallback is None and parsed.content != text.strip():
            fallback = _Choice(name, opening.mark, parsed)
    return _without_mark(readings, start) or fallback or _Choice("", "", _words(readings))


def _without_mark(readings: _Readings, start: int) -> _Choice | None:
    """Calls that stand alone without brackets, and brackets that hold no call but an attempt at one."""
    text = readings.text
    name, parsed = readings.of("python")
    unsure = _UNSURE_LISTS.search(text, start)
    if (parsed.calls and not parsed.errors) or (parsed.errors and unsure is not None):
        return _Choice(name, text[start:].lstrip()[:20] if unsure is None else unsure[0], parsed)
    return None


def _words(readings: _Readings) -> ParsedAction:
    parsed = readings.of("hermes")[1]
    return ParsedAction(content=parsed.content, reasoning=parsed.reasoning)


def _dialects() -> dict[str, Dialect]:
    from callgym.dialects import DIALECTS

    return DIALECTS


class _Readings:
    """An action as the dialects read it, each once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[str, tuple[str, ParsedAction]] = {}

    def of(self, name: str) -> tuple[str, ParsedAction]:
        """The action in that dialect, or in the one like it in which most can be read; and that one's name."""
        if name not in self._found:
            known = _dialects()
            readings = [(each, known[each].read(self.text)) for each in _ALIKE.get(name, (name,)) if each in known]
            self._found[name] = max(readings, key=lambda reading: _how_much(reading[1]))
        return self._found[name]


def _how_much(parsed: ParsedAction) -> tuple[int, int, int]:
    """How much of an action is read as calls, to be compared: more calls, then fewer words beside them."""
    return len(parsed.calls), -len(parsed.content), -len(parsed.errors)


# Where calls open.


def _openings(text: str, start: int) -> Iterator[_Opening]:
    """The first opening in each dialect from ``start`` on, from left to right."""
    found: list[_Opening] = []
    json_start = _json_opening(text, start)
    if json_start is not None:
        found.append(json_start)
    at_start = ((name, pattern.match(text, start)) for name, pattern in _AT_START.items())
    anywhere = ((name, pattern.search(text, start)) for name, pattern in _patterns().items())
    for name, match in chain(at_start, anywhere):
        if match is not None and name in _dialects():
            found.append(_Opening(match.start(), name, match[0]))
    yield from sorted(found, key=lambda opening: opening.position)  # stable: the order of the patterns decides


_compiled: dict[str, re.Pattern[str]] = {}


def _patterns() -> dict[str, re.Pattern[str]]:
    """Pattern of an opening by dialect, the more particular ones first; signs of dialects made elsewhere, too."""
    if not _compiled.keys() >= {name for name, dialect in _dialects().items() if dialect.signs}:
        known = _dialects()
        _compiled.clear()
        for name, pattern in _OPENINGS.items():
            if name in known:
                _compiled[name] = re.compile(pattern)
        for name, dialect in known.items():
            if name not in _compiled and dialect.signs:
                _compiled[name] = re.compile("|".join(map(re.escape, dialect.signs)))
        _compiled["python"] = _LISTS
    return _compiled


def _json_opening(text: str, start: int) -> _Opening | None:
    """JSON that makes calls, at the start of the action or in a fence; other JSON is words."""
    at = skip_space(text, start)
    if _JSON.match(text, at):
        if _CALLS_IN_JSON.search(text, at) or _WORDS_IN_JSON.match(text, at) or _may_go_on(text, at):
            return _Opening(at, "openai", text[at : at + 10])
        return None
    fence = _FENCED_JSON.search(text, start)
    if fence is not None and _JSON.match(text, fence.end()) and _CALLS_IN_JSON.search(text, fence.end()):
        return _Opening(fence.start(), "openai", fence[0])
    return None


def _may_go_on(text: str, at: int) -> bool:
    """Whether the JSON breaks off where it could still have become a call."""
    if not _NAME_FIRST.match(text, at):
        return False
    try:
        scan_json(text, at)
    except JsonTextError as error:
        return error.truncated
    return False


# Where reasoning ends.


def _behind_own_reasoning(text: str) -> int:
    """The position behind reasoning in tags that only one dialect knows; 0 where there is none."""
    at = skip_space(text, 0)
    for opening, closing in _OWN_REASONING.values():
        if text.startswith(opening, at):
            end = text.find(closing, at)
            return len(text) if end < 0 else end + len(closing)
    return 0


def _behind_reasoning(text: str, reasoning: str) -> int:
    """The position behind a closing tag that has exactly this reasoning before it; 0 where none has.

    A tag that a dialect took for data, in a call's argument, is none.
    """
    close = text.find(_CLOSE, max(text.find(reasoning), 0) + len(reasoning))
    before = text[: max(close, 0)].strip().removeprefix("<think>").strip()
    return close + len(_CLOSE) if close >= 0 and before == reasoning else 0
