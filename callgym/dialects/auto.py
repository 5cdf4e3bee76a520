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
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from callgym.dialects.base import Dialect, ParsedAction
from callgym.dialects.detect import Detection
from callgym.dialects.hermes import HermesDialect
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.plain_calls import read_plain_calls
from callgym.dialects.toolace_call import NAME, NAMED, QUOTED

__all__ = ["AutoDialect", "detect_in_action", "read_at_once"]

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
_PARTS: dict[str, tuple[str, ...]] = {
    "anthropic": ("function_calls>", "invoke"),
    "qwen3-coder": ("<tool_call>", "<function=", "<parameter="),
    "glm": ("<tool_call>", "<arg_key>"),
    "functionary": (">>>", "<function="),
    "llama3": ("<|python_tag|>",),
    "react": ("Action", "Final Answer"),
    "alpha-umi": ("Next: c", "caller:"),
    "apibank": ("API-Request:",),
    "python": ("(",),
}
"""Of these one at least stands in every opening: a text with none is not searched for it."""

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


# What is told by an action's first characters: nothing opens before them, and none of ``_AT_START`` in their place.
_FIRST = re.compile(
    r'(?P<openai>(?:\[\s*+)?+\{\s*+"[a-z_]*+")'
    r"|(?P<mistral>\[TOOL_CALLS\])|(?P<hermes><tool_call>\s*+\{)|(?P<harmony><\|channel\|>)"
    r"|(?P<llama3><\|python_tag\|>)|(?P<deepseek><｜tool▁calls?▁begin｜>)"
    r"|(?P<kimi><\|tool_calls_section_begin\|>|<\|tool_call_begin\|>)|(?P<qwen3_coder><tool_call>\s*+<function=)"
    rf"|(?P<glm>{_OPENINGS['glm']})|(?P<anthropic>{_OPENINGS['anthropic']})|(?P<react>{_ACTION_LINE})"
    rf"|(?P<functionary>>>>[^\s>]++[^\S\n]*+\n|<function=[^<>\n]++>\s*+\{{|{_AT_START['functionary'].pattern})"
    r"|(?P<alpha_umi>Next: (?:caller|conclusion)\.)"
).match
_NOTHING = ParsedAction()
_HERMES = ("<tool_call>\n{", "<tool_call>{")
"""The same for what we write ourselves, and for most that others do."""


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
        return read_at_once(text) or self.read_any(text)

    def read_any(self, text: str) -> ParsedAction:
        """As ``read``, for any action."""
        choice = _choose(text)
        return _read_in(choice.name, choice.parsed)


def detect_in_action(text: str) -> Detection:
    """The dialect of something that a policy wrote."""
    choice = _choose(text)
    if not choice.name:
        return Detection("", "no call opens in it in any dialect")
    return Detection(choice.name, f"it opens with {choice.mark.strip()!r}")


def read_at_once(text: str) -> ParsedAction | None:
    """The action where its first characters tell the dialect, and calls or faults are read in it; None for any other.

    Of lists in brackets that is so where nothing is unusual in them, of JSON where the first of the dialects that have
    it reads a call for each there is, and no words: none of the others could read more.
    """
    if _CLOSE in text:
        return None
    if text[:1] == "[" and (calls := read_plain_calls(text)) is not None:
        return ParsedAction(calls, (), "", "", "python")
    if text.startswith(_HERMES):
        name = "hermes"
    elif (opening := _FIRST(text)) is not None:
        name = (opening.lastgroup or "").replace("_", "-")
    else:
        return None
    if name == "openai":
        return _read_json(text)
    dialect = _dialects().get(name)
    parsed = _NOTHING if dialect is None else dialect.read(text)
    return ParsedAction(*parsed[:4], name) if parsed.calls or parsed.errors else None


def _read_json(text: str) -> ParsedAction | None:
    """JSON of calls alone, in which no other dialect could find one's end, or more calls; None for any other."""
    if "<|" in text or "think>" in text or ('"arguments"' not in text and '"parameters"' not in text):
        return None
    dialect = _dialects().get("openai")
    parsed = _NOTHING if dialect is None else dialect.read(text)
    return ParsedAction(parsed.calls, dialect="openai") if parsed.calls and not any(parsed[1:4]) else None


def _read_in(dialect: str, parsed: ParsedAction) -> ParsedAction:
    return ParsedAction(*parsed[:4], dialect)


def _choose(text: str) -> _Choice:
    readings = _Readings(text)
    start = before = _behind_own_reasoning(text)
    openings = _openings(text, start)
    close = text.find(_CLOSE, start)
    if openings and close > openings[0].position:
        parsed = readings.of(openings[0].name)[1]
        start = max(start, _behind_reasoning(text, parsed.reasoning))
    elif close >= 0:
        start = close + len(_CLOSE)
    if start > before:
        openings = _openings(text, start)
    fallback: _Choice | None = None
    for opening in openings[:_MOST_TRIES]:
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


@cache
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


def _openings(text: str, start: int) -> list[_Opening]:
    """The first opening in each dialect from ``start`` on, from left to right."""
    found: list[_Opening] = []
    json_start = _json_opening(text, start)
    if json_start is not None:
        found.append(json_start)
    known = _dialects()
    for name, pattern in _AT_START.items():
        if name in known and (match := pattern.match(text, start)) is not None:
            found.append(_Opening(match.start(), name, match[0]))
    patterns = _patterns(tuple(known), tuple([dialect.signs for dialect in known.values()]))
    for name, (parts, pattern) in patterns.items():
        if any(part in text for part in parts) and (match := pattern.search(text, start)) is not None:
            found.append(_Opening(match.start(), name, match[0]))
    return sorted(found, key=lambda opening: opening.position)  # stable: the order of the patterns decides


_Pattern = tuple[tuple[str, ...], re.Pattern[str]]


@lru_cache(maxsize=8)
def _patterns(names: tuple[str, ...], signs: tuple[tuple[str, ...], ...]) -> dict[str, _Pattern]:
    """Parts and pattern of an opening by dialect, the more particular ones first; signs of others' dialects, too."""
    found = {name: (_PARTS[name], re.compile(pattern)) for name, pattern in _OPENINGS.items() if name in names}
    for name, own in zip(names, signs, strict=True):
        if name not in found and own:
            found[name] = own, re.compile("|".join(map(re.escape, own)))
    if "python" in names:
        found["python"] = _PARTS["python"], _LISTS
    return found


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
