"""The messages of one text in harmony, from left to right: which are words, which reasoning, which calls.

A message is a header, ``<|message|>``, a body, and an end mark: ``<|end|>``, ``<|call|>`` or ``<|return|>``. The
header names a channel and perhaps a recipient. The end of a call's body is where its JSON ends; a fault in one costs
that message, and reading goes on at the first header behind its end mark, which stands in none of its strings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from callgym.dialects.base import Piece, call_or_error
from callgym.dialects.broken_json import BrokenJson
from callgym.dialects.json_text import JsonTextError, scan_json
from callgym.dialects.literal import skip_space
from callgym.episode import ParseError

__all__ = ["HarmonyMessage", "HarmonyMessages", "find_messages"]

_Fault = Literal["truncated", "malformed"]

_MARK = re.compile(r"<\|(start|channel|message|constrain|end|call|return|endoftext)\|>")
_BROKEN = BrokenJson(r"<\|(?:end|call|return|endoftext)\|>", tokens=True)
_STOPS = ("end", "call", "return", "endoftext")
_LAST = ("return", "endoftext")
_HEADS = ("channel", "constrain")
_CHANNEL, _CONSTRAIN, _TO, _FUNCTIONS = "<|channel|>", "<|constrain|>", "to=", "functions."
_PEOPLE = ("all", "user", "assistant")  # recipients of plain words
_MOST_FAULTS = 100  # of one text; what is behind them is not read
_FORM = "a call is to=functions.NAME <|constrain|>json<|message|>{...}<|call|>"


class HarmonyMessage(NamedTuple):
    """One message, or the words between two."""

    start: int
    end: int
    """From its first mark up to where the text is surely this message's, so that a tag in it is data."""
    pieces: Sequence[Piece]
    """What it says and calls."""
    thought: str = ""
    """What it thinks."""


class _Mark(NamedTuple):
    kind: str
    start: int
    end: int


class _Header(NamedTuple):
    start: int
    """Where its first mark stands."""
    channel: str
    recipients: frozenset[str]
    """Whom it names; one where it is right, none for words."""
    recipient: str
    """Who is called; empty where the message is words."""
    function: str
    """The function's name; empty where the recipient is none."""
    others: Sequence[str]
    """The content type, ``json`` or ``<|constrain|>json``; more than one word where the header is none."""


class HarmonyMessages:
    """The messages of one text; iterate once."""

    def __init__(self, text: str, offset: int = 0, *, only_commentary: bool = False) -> None:
        """Prepare to read ``text``.

        Args:
            text: What the policy wrote, behind ``<|start|>assistant``.
            offset: What to add to positions in this text.
            only_commentary: Refuse calls on other channels.
        """
        self._text = text
        self._offset = offset
        self._only_commentary = only_commentary
        self._marks = [_Mark(found[1], found.start(), found.end()) for found in _MARK.finditer(text)]
        self._starts = [mark.start for mark in self._marks]
        self._faults = 0
        self._at: int | None = 0  # where the next message begins; None behind the last

    def __iter__(self) -> Iterator[HarmonyMessage]:
        while self._at is not None and self._faults < _MOST_FAULTS:
            mark = self._next(self._at)
            if mark is None or mark.kind in _STOPS:
                yield self._between(self._at, mark)
            elif mark.kind == "start":
                yield _words(self._text[self._at : mark.start])
                self._at = self._role_end(mark.end)
            else:
                yield self._message(self._at, mark)

    def _next(self, position: int, kinds: Collection[str] = ()) -> _Mark | None:
        """The first mark at or behind a position, or the first of these kinds."""
        for index in range(bisect_left(self._starts, position), len(self._marks)):
            if not kinds or self._marks[index].kind in kinds:
                return self._marks[index]
        return None

    def _kind_at(self, position: int) -> str:
        """The kind of the mark that stands there, or the empty text."""
        mark = self._next(position)
        return mark.kind if mark and mark.start == position else ""

    def _role_end(self, position: int) -> int | None:
        """Where the role ``assistant`` ends; None where another speaks, which ends the policy's turn."""
        word = skip_space(self._text, position)
        return word + len("assistant") if self._text.startswith("assistant", word) else None

    def _between(self, start: int, stop: _Mark | None) -> HarmonyMessage:
        """Text without a header, up to a mark that ends no message or to the end of the text."""
        end = stop.start if stop else len(self._text)
        self._at = None if stop is None or stop.kind in _LAST else stop.end
        words, role = _split_role(self._text[start:end])
        if role and not words:
            kind: _Fault = "malformed" if stop else "truncated"
            return HarmonyMessage(start, start, [self._error(kind, end, f"a call breaks off in its header; {_FORM}")])
        if words and self._calls(stop):
            return HarmonyMessage(start, start, [self._nameless(end)])
        return _words(words)

    def _message(self, at: int, first: _Mark) -> HarmonyMessage:
        """The message whose header's first mark is ``first``; before it may stand a recipient, or words."""
        mark: _Mark | None = first
        while mark is not None and mark.kind in _HEADS:
            mark = self._next(mark.end)
        words, role = _split_role(self._text[at : first.start])
        end = mark.start if mark else len(self._text)
        header = _read_header(f"{role} {self._text[first.start : end]}", first.start)
        if mark is not None and mark.kind == "message":
            message = self._call(header, at, mark.end) if header.recipient else self._speech(header, mark.end)
        else:
            message = self._bodiless(header, mark)
        return message._replace(pieces=[*_words(words).pieces, *message.pieces]) if words else message

    def _speech(self, header: _Header, body: int) -> HarmonyMessage:
        """A message to nobody: reasoning on the channel ``analysis``, else words."""
        stop = self._next(body, _STOPS)
        end = stop.start if stop else len(self._text)
        self._at = stop.end if stop and stop.kind not in _LAST else None
        said = _say(header, self._text[body:end], end)
        # Words that end as a call does were meant as one: not shown to the user.
        return said._replace(pieces=[self._nameless(end)]) if self._calls(stop) else said

    def _bodiless(self, header: _Header, mark: _Mark | None) -> HarmonyMessage:
        """A header that runs into the end of its message, into the next, or into the end of the text."""
        if mark is None:
            self._at = None
            fault = self._error("truncated", len(self._text), "a message breaks off in its header")
            return HarmonyMessage(header.start, header.start, [fault])
        self._at = mark.start if mark.kind == "start" else None if mark.kind in _LAST else mark.end
        if header.recipient or self._calls(mark):
            fault = self._error("malformed", mark.start, f"a call's header has no body; {_FORM}")
            return HarmonyMessage(header.start, header.start, [fault])
        return _say(header, " ".join(header.others), mark.start)

    def _call(self, header: _Header, at: int, body: int) -> HarmonyMessage:
        """A message to somebody: a call, or what is wrong with it."""
        refusal = self._refusal(header)
        refused = self._error("malformed", self._text.find(_TO, at), refusal) if refusal else None
        start = skip_space(self._text, body)
        try:
            value, end = ({}, start) if self._kind_at(start) in _STOPS else scan_json(self._text, start)
        except JsonTextError as error:
            ended = self._resume(_BROKEN.leave(self._text, start))
            kind: _Fault = "truncated" if error.truncated and not ended else "malformed"
            fault = self._error(kind, error.position, f"the JSON of {header.recipient[:80]} cannot be read: {error}")
            return HarmonyMessage(header.start, body, [refused or fault])
        after = skip_space(self._text, end)
        behind = self._kind_at(after)
        if behind == "call":
            self._at = after + len("<|call|>")
            read = call_or_error(header.function, value, self._offset + start, trusted=True)
            self._faults += type(read) is ParseError
            return HarmonyMessage(header.start, self._at, [refused or read])
        fault = self._unended(after, behind)
        if behind == "start":
            self._at = after
        else:
            self._resume(after)
        return HarmonyMessage(header.start, end, [refused or fault])

    def _unended(self, after: int, behind: str) -> ParseError:
        """What stands behind a call's JSON and is not its end mark."""
        if after >= len(self._text):
            return self._error("truncated", after, "a call ends with <|call|>; the text breaks off before it")
        if behind:
            return self._error("malformed", after, f"a call ends with <|call|>; <|{behind}|> stands in its place")
        return self._error("malformed", after, "there is text between a call's JSON and <|call|>")

    def _resume(self, position: int) -> bool:
        """Go on at the first header behind the end mark that follows; whether one does."""
        stop = self._next(position, _STOPS)
        following = self._next(stop.end, ("start", "channel")) if stop and stop.kind not in _LAST else None
        self._at = following.start if following else None
        return stop is not None

    def _refusal(self, header: _Header) -> str:
        """Why a message to somebody is no call, whatever its body; the empty text where it may be one."""
        if len(header.recipients) > 1:
            return f"a call has one recipient, not {len(header.recipients)}; {_FORM}"
        if not header.function:
            return f"{header.recipient[:80]!r} is no function; {_FORM}"
        if len(header.others) > 1:
            return f"there are words in a call's header that do not belong there; {_FORM}"
        if self._only_commentary and header.channel != "commentary":
            return f"functions are called on the commentary channel, not on {header.channel[:80]!r}"
        return ""

    @staticmethod
    def _calls(stop: _Mark | None) -> bool:
        return stop is not None and stop.kind == "call"

    def _nameless(self, position: int) -> ParseError:
        return self._error("malformed", position, f"<|call|> ends a message that goes to no function; {_FORM}")

    def _error(self, kind: _Fault, position: int, message: str) -> ParseError:
        self._faults += 1
        return ParseError.trusted(kind=kind, position=self._offset + position, message=message)


def find_messages(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each message as far as it can be read, for ``CallSpans``."""
    for message in HarmonyMessages(text):
        if message.end > message.start:
            yield message.start, message.end


def _words(text: str) -> HarmonyMessage:
    """Words that stand outside messages, as a paragraph."""
    text = text.strip()
    return HarmonyMessage(0, 0, [f"{text}\n\n"] if text else [])


def _say(header: _Header, body: str, end: int) -> HarmonyMessage:
    if header.channel == "analysis":
        return HarmonyMessage(header.start, end, [], body.strip())
    return HarmonyMessage(header.start, end, _words(body).pieces)


def _split_role(text: str) -> tuple[str, str]:
    """What stands before a header's first mark: words, and what belongs to the header."""
    words = text.strip()
    if words.startswith(_TO):
        return "", words
    last = words.split()[-1] if words else ""
    return (words[: -len(last)].rstrip(), last) if last.startswith(_TO) else (words, "")


def _read_header(text: str, start: int) -> _Header:
    """Read a header without its role; ``start`` is where its first mark stands."""
    channel, awaited = "", False
    recipients: list[str] = []
    others: list[str] = []
    for word in text.replace(_CHANNEL, f" {_CHANNEL}").replace(_CONSTRAIN, f" {_CONSTRAIN}").split():
        if word.startswith(_CHANNEL):
            channel = word[len(_CHANNEL) :]
            awaited = not channel
        elif word.startswith(_TO):
            recipients.append(word[len(_TO) :])
        elif awaited:
            channel, awaited = word, False
        elif word != _CONSTRAIN:
            others.append(word)
    called = next((name for name in recipients if name not in _PEOPLE), "")
    function = called[len(_FUNCTIONS) :] if called.startswith(_FUNCTIONS) else ""
    return _Header(start, channel, frozenset(recipients), called, function, others)
