"""Llama 3.1, 3.2 and 3.3: ``{"name": ..., "parameters": {...}}``, several joined by ``;``, in turns with headers.

The form is that of Meta's chat templates (``llama3_1.jinja`` and ``llama3_2.jinja`` in TRL) and prompt formats:

- A JSON object at the start of the action, behind reasoning, is a call if it holds ``parameters`` or ``arguments``,
  or says ``"type": "function"``. Any other JSON is words, ``{"name": "Alice"}`` too, and so is JSON that comes after
  words. JSON that cannot be read is an attempt if one of the keys ``name``, ``parameters``, ``arguments`` stands in
  it, or it breaks off where one of them may still come.
- Behind ``<|python_tag|>``, wherever it stands, whatever follows is an attempt; a call needs no arguments there.
- More calls follow behind a ``;``, or on a line of their own. ``;`` in a string is data: the end of a call is where
  its JSON ends, at any depth.
- Meta's form for its own tools, ``<|python_tag|>brave_search.call(query="...")``, is read too, at the start of an
  action without the tag, as decoders leave it out. Its values are texts as they stand, for nothing in them is
  escaped; one with a quote in it is an error. Code for the interpreter is one as well: nothing here would run it.

Understood beyond it: a JSON array of calls, a comma for the ``;``, and text beside calls, which is the content.
We write words before calls with the tag between them. A JSON object that is whole needs no end of the turn behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from callgym.call import ToolCall
from callgym.dialects.base import NextMark
from callgym.dialects.broken_json import BrokenJson
from callgym.dialects.json_block import read_call_object
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.dialects.llama_turns import END_OF_PLAIN, Found, LlamaTurnDialect
from callgym.dialects.plain_action import JSON_SPACE, NAME, PlainForm
from callgym.dialects.turns import Answer, write_body
from callgym.episode import ParseError, ParseErrorKind
from callgym.tool import Tool

__all__ = ["Llama3Dialect"]

_TAG = "<|python_tag|>"

_BUILTIN = re.compile(r"([^\W\d](?:[\w-]|\.(?!call\())*+)\.call\(\s*+")
_ARGUMENT = re.compile(r'([^\W\d]\w*+)\s*+=\s*+"([^"]*+)"\s*+(?:,\s*+|(?=\)))')
_BROKEN_ARGUMENT = re.compile(r'(?:[^\W\d]\w*+\s*+(?:=\s*+(?:"[^"]*+"?+\s*+)?+)?+)?+')
"""What an argument begins with, up to where the text may break off."""

_JOIN = re.compile(r"\s*+(;)[;\s]*+|\s*+(,)\s*+(?=[{\[])|(\s*+)(?=[{\[])")
_NEXT_LINE = r"""[^\S\n]*+\n\s*+\{\s*+["'](?:name|type)["']"""
_BROKEN = BrokenJson(rf"[\]}})](?:\s*+;|{_NEXT_LINE})|{re.escape(_TAG)}", tokens=False)
_KEY = re.compile(
    r"""[{,]\s*+(?:"(?:name|parameters|arguments)"|'(?:name|parameters|arguments)')\s*+:"""
    r"""|["']type["']\s*+:\s*+["']function|\{\s*+(?:name|parameters|arguments)\s*+:"""
)
_OPENINGS = tuple(
    f"{bracket}{key}" for bracket in ("{", "[{") for key in ('"name":', '"parameters":', '"arguments":', '"type":"func')
)
_LONGEST_OPENING = 64

_PLAIN = PlainForm(
    before=r"(?:(?P<words>[^<{\[(]*+)<\|python_tag\|>)?+\s*+",
    head=rf'\{{{JSON_SPACE}"name"{JSON_SPACE}:{JSON_SPACE}"{NAME}"{JSON_SPACE},{JSON_SPACE}'
    rf'"parameters"{JSON_SPACE}:{JSON_SPACE}',
    closing=rf"{JSON_SPACE}\}}",
    between=r"\s*+;[;\s]*+",
    end=END_OF_PLAIN,
    nested=True,
)

_INSTRUCTION = (
    "You may call these tools, one JSON document a line:\n{tools}\n"
    'To call one, answer with {{"name": "tool", "parameters": {{"parameter": "value"}}}} and nothing else; '
    "put a ; between calls if you make several. Values are literal: there are no variables.\n"
    "If no tool fits, answer in words."
)


class Llama3Dialect(LlamaTurnDialect):
    """JSON objects in place of words."""

    name = "llama3"
    plain = _PLAIN
    control = ("<|",)

    def found(self, text: str, start: int, offset: int) -> Iterator[Found]:
        """Calls and attempts; at ``start`` and behind each tag several may follow one another."""
        tags = NextMark(text, _TAG)
        at = start
        found = _read(text, at, skip_space(text, at), offset, sure=False)
        while True:
            while found is not None:
                yield found
                at = found.end
                found = _read_next(text, at, offset)
            tag = tags.at(at)
            if tag < 0:
                return
            found = _read(text, tag, skip_space(text, tag + len(_TAG)), offset, sure=True)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """The words, or the calls, or both with the tag between them."""
        written = "; ".join(map(_write_call, calls))
        return f"{content}\n{_TAG}{written}" if content and calls else content or written

    def results(self, answers: Sequence[Answer]) -> str:
        """A turn of the role ``ipython`` a result."""
        return "".join([f"{self.header('ipython')}{answer.text}{self.end}" for answer in answers])

    def preamble(self, tools: Sequence[Tool]) -> str:
        """The tools' documents and the form of a call."""
        return _INSTRUCTION.format(tools=self.documents(tools))


def _write_call(call: ToolCall) -> str:
    return write_body({"name": call.name, "parameters": call.arguments}, ("<|",))


def _read_next(text: str, start: int, offset: int) -> Found | None:
    """What follows behind a call, or None where words do."""
    join = _JOIN.match(text, start)
    if join is None:
        return None
    at = join.end()
    if join[3] is None:
        if text.startswith(("{", "["), at) or _BUILTIN.match(text, at):
            return _read(text, start, at, offset, sure=True)
        return Found(start, at, ())
    found = _read(text, start, at, offset, sure=False)
    if found is None or "\n" in join[3] or not found.whole:
        return found
    fault = _fault("malformed", offset + at, "calls are joined by ';', which is missing before this one")
    return found._replace(pieces=(fault,))


def _read(text: str, start: int, at: int, offset: int, *, sure: bool) -> Found | None:
    """Read what stands at ``at``, behind its mark at ``start``; None for words, which it cannot be if ``sure``."""
    if text.startswith(("{", "["), at):
        return _read_json(text, start, at, offset, sure)
    opening = _BUILTIN.match(text, at)
    if opening is not None:
        return _read_builtin(text, start, opening, offset, sure)
    if not sure:
        return None
    following = text.find(_TAG, at)
    end = following if following >= 0 else len(text)
    kind: ParseErrorKind = "truncated" if at == len(text) else "malformed"
    message = f'behind {_TAG} stands a call, {{"name": "tool", "parameters": {{}}}}, and nothing else'
    return Found(start, end, (_fault(kind, offset + at, message),), whole=False)


def _read_json(text: str, start: int, at: int, offset: int, sure: bool) -> Found | None:
    try:
        value, end = scan_json(text, at)
    except JsonTextError as error:
        if not sure and not _is_attempt(text, at):
            return None
        end = _BROKEN.leave(text, at)
        end += text[end : end + 1] in ("}", "]", ")")
        kind: ParseErrorKind = "truncated" if error.truncated and end == len(text) else "malformed"
        fault = _fault(kind, offset + error.position, f"the JSON of the call cannot be read: {error}")
        return Found(start, end, (fault,), whole=False)
    items = value if type(value) is list and value else [value]
    if not sure and not any(map(_is_call, items)):
        return None
    return Found(start, end, [_read_object(item, offset + at) for item in items])


def _is_call(value: Any) -> bool:
    """Whether JSON is a call, well made or not, where words may stand as well."""
    return type(value) is dict and ("parameters" in value or "arguments" in value or value.get("type") == "function")


def _is_attempt(text: str, at: int) -> bool:
    """Whether JSON that cannot be read was to be a call, where words may stand as well."""
    tag = text.find(_TAG, at)
    if _KEY.search(text, at, tag if tag >= 0 else len(text)):
        return True
    rest = "".join(text[at : at + _LONGEST_OPENING].split())
    return any(opening.startswith(rest) for opening in _OPENINGS)


def _read_object(value: Any, position: int) -> ToolCall | ParseError:
    if type(value) is dict and "parameters" in value and "arguments" in value:
        return _fault("malformed", position, "a call has 'parameters' or 'arguments', not both")
    return read_call_object(value, position)


def _read_builtin(text: str, start: int, opening: re.Match[str], offset: int, sure: bool) -> Found | None:
    name, at = opening[1], opening.end()
    arguments: dict[str, Any] = {}
    while not text.startswith(")", at):
        found = _ARGUMENT.match(text, at)
        if found is None or found[1] in arguments:
            broken = _BROKEN_ARGUMENT.fullmatch(text, at)
            if broken is None and not sure:
                return None
            end = _BROKEN.leave(text, at)
            end += text[end : end + 1] in ("}", "]", ")")
            if broken is not None:
                fault = _fault("truncated", len(text) + offset, f"the call of {name[:80]} breaks off")
            elif found is not None:
                fault = _fault("arguments", at + offset, f"argument {found[1][:80]!r} is given twice")
            else:
                message = f'each argument of {name[:80]}.call is written parameter="text", without quotes in the text'
                fault = _fault("arguments", at + offset, f"{message}; write any other as JSON")
            return Found(start, end, (fault,), whole=False)
        arguments[found[1]] = found[2]
        at = found.end()
    return Found(start, at + 1, (ToolCall.trusted(name=name, arguments=arguments, id=None),))


def _fault(kind: ParseErrorKind, position: int, message: str) -> ParseError:
    return ParseError(kind=kind, position=position, message=message)
