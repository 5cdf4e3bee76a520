"""Java's and JavaScript's literals as plain values: what a programmer of the language sees in them.

    >>> read_java('new ArrayList<>(List.of("a, b", "c"))', "ArrayList", "String")
    ['a, b', 'c']
    >>> read_javascript("{unit: 'km', from: -5, via: [start, 2n]}", "dict")
    {'unit': 'km', 'from': -5, 'via': ['start', 2]}

A rule of ours, where the official converters split at commas and stop at the first parenthesis. Text that is no
literal, such as a variable's name or an expression, stays text, alone and as an element.
"""

from __future__ import annotations

from typing import Any, Final

from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_tokens import Tokens, number_of, scan_code, string_of

__all__ = ["read_java", "read_javascript"]

_TEXTS = frozenset(("String", "char", "any"))
"""Types whose value is the text itself; quotes around all of it are a literal's."""
_FLOATS = frozenset(("float", "double"))

_LISTS = frozenset(
    (
        "ArrayList",
        "LinkedList",
        "Vector",
        "Stack",
        "ArrayDeque",
        "PriorityQueue",
        "HashSet",
        "LinkedHashSet",
        "TreeSet",
    )
)
_MAPS = frozenset(("HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "ConcurrentHashMap"))
_LIST_MAKERS = frozenset(
    ("Arrays.asList", "List.of", "Set.of", "Collections.singletonList", "Collections.emptyList", "Collections.emptySet")
)
_MAP_MAKERS = frozenset(("Map.of", "Collections.singletonMap", "Collections.emptyMap"))
_ENTRY = "Map.entry"
_ADDERS = frozenset(("add", "push", "offer", "addLast"))
_GENERIC = frozenset(("word", ".", ",", "?", "&", "<", ">", "[", "]"))

_NO_LITERAL: Final = object()
"""Apart from every value, null included."""


def read_java(text: str, declared: str, inner: str | None = None) -> Any:
    """The value of a text in Java's notation.

    Arrays, ``Arrays.asList``, ``List.of``, ``Map.of``, the classes of collections with arguments or double braces,
    numbers with suffixes, strings, booleans and null are read; anything else is the text itself.

    Args:
        text: The text.
        declared: The parameter's official type. ``String``, ``char`` and ``any`` are text, whatever it looks
            like; only the quotes of a literal go.
        inner: The type of a collection's elements.
    """
    return _read(text, declared, inner, _JavaReader)


def read_javascript(text: str, declared: str, inner: str | None = None) -> Any:
    """The value of a text in JavaScript's notation.

    Arrays, objects, ``new Array(...)``, numbers, BigInts, strings, templates without parts to fill in, booleans,
    null and undefined are read; anything else is the text itself. The arguments are those of ``read_java``.
    """
    return _read(text, declared, inner, _JavaScriptReader)


def _read(text: str, declared: str, inner: str | None, reader: type[_Reader]) -> Any:
    tokens = scan_code(text)
    if tokens is None or not tokens.kinds:
        return text
    value = reader(tokens).read(0, len(tokens.kinds), declared, inner)
    return text if value is _NO_LITERAL else value


class _Reader:
    """Reads stretches of tokens; a stretch is given by its first token and the one behind its last."""

    language: Language

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds

    def read(self, begin: int, end: int, declared: str | None, inner: str | None) -> Any:
        if declared in _TEXTS:
            return self.string(begin, end)
        value = self.scalar(begin, end)
        if value is _NO_LITERAL:
            value = self.collection(begin, end, declared, inner)
        return float(value) if declared in _FLOATS and type(value) is int else value

    def element(self, begin: int, end: int, declared: str | None) -> Any:
        """An element of a collection, as text where it is no literal. Of any type: as what it looks like."""
        value = self.read(begin, end, None if declared == "any" else declared, None)
        return self.tokens.raw(begin, end) if value is _NO_LITERAL else value

    def elements(self, begin: int, end: int, declared: str | None = None) -> Any:
        parts = self.split(begin, end, ",")
        return _NO_LITERAL if parts is None else [self.element(*part, declared) for part in parts]

    def collection(self, begin: int, end: int, declared: str | None, inner: str | None) -> Any:
        raise NotImplementedError

    def scalar(self, begin: int, end: int) -> Any:
        sign = self.kinds[begin]
        if end - begin == 2 and sign in ("-", "+") and self.kinds[begin + 1] == "number":
            value = self.number(begin + 1)
            return -value if sign == "-" and value is not _NO_LITERAL else value
        if end - begin != 1:
            return _NO_LITERAL
        match sign:
            case "number":
                return self.number(begin)
            case "word":
                return self.words.get(self.tokens.raw(begin, end), _NO_LITERAL)
            case _:
                return self.string(begin, end)

    words: dict[str, Any] = {"true": True, "false": False, "null": None}

    def number(self, index: int) -> Any:
        value = number_of(self.tokens.raw(index, index + 1), self.language)
        return _NO_LITERAL if value is None else value

    def string(self, begin: int, end: int) -> Any:
        if end - begin != 1 or self.kinds[begin] != "string":
            return _NO_LITERAL
        value = string_of(self.tokens.raw(begin, end), self.language)
        return _NO_LITERAL if value is None else value

    def split(self, begin: int, end: int, separator: str) -> list[tuple[int, int]] | None:
        """The stretches between separators outside of brackets; None where one that is not the last is empty."""
        parts = []
        start = position = begin
        while position < end:
            if self.kinds[position] == separator:
                parts.append((start, position))
                start = position = position + 1
            else:
                position = self.behind(position)
        if start < end:
            parts.append((start, end))
        return parts if all(first < last for first, last in parts) else None

    def behind(self, position: int) -> int:
        """The token behind the one at ``position``, or behind the brackets that open there."""
        return self.tokens.partners.get(position, position) + 1

    def word(self, position: int) -> str | None:
        return self.tokens.raw(position, position + 1) if self.kinds[position] == "word" else None

    def encloses(self, opening: int, end: int, sign: str) -> bool:
        """Whether brackets of that sort open there and close right before ``end``."""
        return opening < end and self.kinds[opening] == sign and self.tokens.partners[opening] == end - 1


class _JavaReader(_Reader):
    language = "java"

    def collection(self, begin: int, end: int, declared: str | None, inner: str | None) -> Any:
        if self.encloses(begin, end, "{"):
            # An initialiser without `new` makes an array only.
            return self.elements(begin + 1, end - 1, inner) if declared in ("Array", None) else _NO_LITERAL
        if self.word(begin) == "new":
            return self.creation(begin + 1, end, inner)
        name, opening = self.name(begin, end)
        if not self.encloses(opening, end, "("):
            return _NO_LITERAL
        if name in _LIST_MAKERS:
            return self.elements(opening + 1, end - 1, inner)
        if name in _MAP_MAKERS:
            return self.pairs(self.split(opening + 1, end - 1, ","))
        return self.entries(opening + 1, end - 1) if name == "Map.ofEntries" else _NO_LITERAL

    def name(self, begin: int, end: int) -> tuple[str, int]:
        """The last two parts of a dotted name, and where it ends."""
        words: list[str] = []
        while begin < end and (word := self.word(begin)) is not None and word != "new":
            words.append(word)
            begin += 1
            if begin >= end or self.kinds[begin] != ".":
                break
            begin += 1
        return ".".join(words[-2:]), begin

    def behind(self, position: int) -> int:
        if self.word(position) != "new":
            return super().behind(position)
        # The commas of its type arguments part nothing.
        end = len(self.kinds)
        return max(self.generics(self.name(position + 1, end)[1], end), position + 1)

    def generics(self, begin: int, end: int) -> int:
        """Where the type arguments that open at ``begin`` end; ``begin`` where none do."""
        depth = 0
        for position in range(begin, end):
            kind = self.kinds[position]
            depth += (kind == "<") - (kind == ">")
            if kind not in _GENERIC or self.word(position) == "new" or depth == 0:
                return position + 1 if kind == ">" and depth == 0 else begin
        return begin

    def creation(self, begin: int, end: int, inner: str | None) -> Any:
        """What ``new`` makes; ``begin`` is the token behind it."""
        name, position = self.name(begin, end)
        name = name.rpartition(".")[2]
        if position < end and self.kinds[position] == "[":
            return self.array(position, end, inner)
        position = self.generics(position, end)
        if position >= end or self.kinds[position] != "(" or name not in _LISTS | _MAPS:
            return _NO_LITERAL
        closing = self.tokens.partners[position]
        value = self.copied(position + 1, closing, name, inner)
        if closing + 1 == end or value is _NO_LITERAL:
            return value
        if not self.encloses(closing + 1, end, "{"):
            return _NO_LITERAL
        return self.filled(value, closing + 2, end - 1, inner)

    def array(self, position: int, end: int, inner: str | None) -> Any:
        if end - position == 3 and self.tokens.raw(position, end).replace(" ", "") == "[0]":
            return []
        while position < end and self.kinds[position] == "[" and self.tokens.partners[position] == position + 1:
            position += 2
        return self.elements(position + 1, end - 1, inner) if self.encloses(position, end, "{") else _NO_LITERAL

    def copied(self, begin: int, end: int, name: str, inner: str | None) -> Any:
        """What a new collection starts with: nothing, or what the one argument holds that is no capacity."""
        empty: list[Any] | dict[str, Any] = {} if name in _MAPS else []
        if begin == end:
            return empty
        value = self.read(begin, end, None, inner)
        return empty if type(value) is int else value if type(value) is type(empty) else _NO_LITERAL

    def filled(self, value: Any, begin: int, end: int, inner: str | None) -> Any:
        """A collection with what the block of an anonymous class puts in."""
        if begin == end:
            return value
        statements = self.split(begin + 1, end - 1, ";") if self.encloses(begin, end, "{") else None
        if statements is None:
            return _NO_LITERAL
        for first, last in statements:
            arguments = self.split(first + 2, last - 1, ",") if self.encloses(first + 1, last, "(") else None
            method = self.word(first)
            if arguments is None:
                return _NO_LITERAL
            if isinstance(value, dict) and method == "put" and len(arguments) == 2:
                value.update(self.pairs(arguments))
            elif isinstance(value, list) and method in _ADDERS and len(arguments) == 1:
                value.append(self.element(*arguments[0], inner))
            else:
                return _NO_LITERAL
        return value

    def pairs(self, parts: list[tuple[int, int]] | None) -> Any:
        if parts is None or len(parts) % 2:
            return _NO_LITERAL
        keys, values = parts[::2], parts[1::2]
        return {self.key(*key): self.element(*value, None) for key, value in zip(keys, values, strict=True)}

    def key(self, begin: int, end: int) -> str:
        value = self.string(begin, end)
        return self.tokens.raw(begin, end) if value is _NO_LITERAL else str(value)

    def entries(self, begin: int, end: int) -> Any:
        entries: dict[str, Any] = {}
        for first, last in self.split(begin, end, ",") or ():
            name, opening = self.name(first, last)
            parts = self.split(opening + 1, last - 1, ",") if self.encloses(opening, last, "(") else None
            if name not in (_ENTRY, "entry") or parts is None or len(parts) != 2:
                return _NO_LITERAL
            entries.update(self.pairs(parts))
        return entries


class _JavaScriptReader(_Reader):
    language = "javascript"
    words = {**_Reader.words, "undefined": None}

    def collection(self, begin: int, end: int, declared: str | None, inner: str | None) -> Any:
        if self.encloses(begin, end, "["):
            return self.elements(begin + 1, end - 1, inner)
        if self.encloses(begin, end, "{"):
            return self.members(begin + 1, end - 1)
        if end - begin > 3 and self.tokens.raw(begin, begin + 1) == "new" and self.word(begin + 1) == "Array":
            return self.elements(begin + 3, end - 1, inner) if self.encloses(begin + 2, end, "(") else _NO_LITERAL
        return _NO_LITERAL

    def members(self, begin: int, end: int) -> Any:
        parts = self.split(begin, end, ",")
        if parts is None:
            return _NO_LITERAL
        members: dict[str, Any] = {}
        for first, last in parts:
            key = self.key(first)
            if key is None:
                return _NO_LITERAL
            if last - first == 1 and self.kinds[first] == "word":
                members[key] = key  # a variable under its own name
            elif last - first > 2 and self.kinds[first + 1] == ":":
                members[key] = self.element(first + 2, last, None)
            else:
                return _NO_LITERAL
        return members

    def key(self, position: int) -> str | None:
        if self.kinds[position] in ("word", "number"):
            return self.tokens.raw(position, position + 1)
        value = self.string(position, position + 1)
        return None if value is _NO_LITERAL else str(value)
