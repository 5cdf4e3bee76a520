"""Java and JavaScript in BFCL: official decoding and conversion, and our own reading and writing of literals."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.envs.bfcl.code_text import code_texts, java_text, javascript_text, read_java, read_javascript
from callgym.envs.bfcl.official import syntax_tree
from callgym.envs.bfcl.official.code_values import convert_java, convert_javascript
from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.java import decode_java
from callgym.envs.bfcl.official.javascript import decode_javascript
from callgym.errors import MissingPackageError

needs_tree_sitter = pytest.mark.skipif(
    any(importlib.util.find_spec(f"tree_sitter{part}") is None for part in ("", "_java", "_javascript")),
    reason="tree-sitter and its two grammars are not installed",
)

DECODE = {"java": decode_java, "javascript": decode_javascript}
CONVERT = {"java": convert_java, "javascript": convert_javascript}
READ = {"java": read_java, "javascript": read_javascript}
WRITE = {"java": java_text, "javascript": javascript_text}


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or the name of what it raises."""
    try:
        return function(*arguments)
    except DecodeFailure as failure:
        return f"raises {failure.official}"
    except Exception as error:
        return f"raises {type(error).__name__}"


# Decoding

JAVA_CALLS: list[tuple[str, Any]] = [
    ('[Shelf.put(book="Emma", floor=2)]', [{"Shelf.put": {"book": "Emma", "floor": "2"}}]),
    ('Shelf.put(book="Emma")', [{"Shelf.put": {"book": "Emma"}}]),
    ('```\nShelf.put(book="Emma")\n```', [{"Shelf.put": {"book": "Emma"}}]),
    ('```java\n[Shelf.put(book="Emma")]\n```', "raises SyntaxError"),
    ("[Shelf.put(mark='x', next=Mark.NEXT)]", [{"Shelf.put": {"mark": "x", "next": "Mark.NEXT"}}]),
    ("[Shelf.put(sizes=new int[] { 1, 2 })]", [{"Shelf.put": {"sizes": "new int[]{1,2}"}}]),
    ('[Shelf.put(names=new String[]{"a b"})]', [{"Shelf.put": {"names": 'new String[]{"a b"}'}}]),
    (
        '[Shelf.put(all=new TreeMap<String, Long>() {{ put("a", 1L); }})]',
        [{"Shelf.put": {"all": "new TreeMap<String,Long>()"}}],
    ),
    ("[Shelf.put(box=new Box( 1 , 'c' ))]", [{"Shelf.put": {"box": "new Box(1, 'c')"}}]),
    ("[Shelf.put(sizes=new int[5])]", "raises AttributeError"),
    ("[Shelf.put(a=1, a=2)]", "raises Exception"),
    ("[Shelf.put(a, Book.class, 3)]", "raises Exception"),
    ("[Shelf.put(a, 3, b=1)]", [{"Shelf.put": {None: "a", "b": "1"}}]),
    ("[Shelf.put(a=1); Shelf.get(b=2)]", [{"Shelf.put": {"a": "1"}}]),
    ('[Shelf.put(a="ü", b=21)]', [{"Shelf.put": {"a": 'ü"', "=": "1)"}}]),
    ("nothing to do", "raises SyntaxError"),
    ("no call", {}),
    ("", {}),
    ("[", {}),
    ("]", {}),
    ("[Shelf.put(a=\ud800)]", "raises UnicodeEncodeError"),
]

JAVASCRIPT_CALLS: list[tuple[str, Any]] = [
    ("[shelf.put(book='Emma', floor=2)]", [{"shelf.put": {"book": "Emma", "floor": "2"}}]),
    ("put(book=`Emma`)", [{"put": {"book": "`Emma`"}}]),
    ("[put(a=[1, 'x'], b={c: 1})]", [{"put": {"a": "[1, 'x']", "b": "{c: 1}"}}]),
    ("[put(a='x' + \"y\")]", [{"put": {"a": "'x' + \"y\""}}]),
    ("[put(a='x' + 'y')]", [{"put": {"a": "x' + 'y"}}]),
    ("[put(a, true)]", "raises Exception"),
    ("[put(true, 3, false)]", [{"put": {None: "true"}}]),
    ("[put(a=1, a=2)]", "raises Exception"),
    ("[put(a='ü', b=2)]", [{"put": {"a": "ü", "b": "2"}}]),
    ("[shelf?.put(a=1)]", [{"shelf?.put": {"a": "1"}}]),
    ("[put?.(a=1)]", [{"put": {}}]),
    ("[put /* here */ (a=1)]", [{"put": {}}]),
    ("[const kept = put(a=1)]", None),
    ("[put(a=1), get(b=2)]", None),
    ("put(a=1); get(b=2)", [{"put": {"a": "1"}}]),
    ("[put(a: 1)]", "raises SyntaxError"),
    ("", None),
    ("[put(a='\ud800')]", "raises UnicodeEncodeError"),
]


@needs_tree_sitter
@pytest.mark.parametrize(("text", "expected"), JAVA_CALLS)
def test_java_text_is_decoded_as_officially(text: str, expected: Any) -> None:
    assert outcome(decode_java, text) == expected


@needs_tree_sitter
@pytest.mark.parametrize(("text", "expected"), JAVASCRIPT_CALLS)
def test_javascript_text_is_decoded_as_officially(text: str, expected: Any) -> None:
    assert outcome(decode_javascript, text) == expected


HOSTILE = ("(", "[", "{", "{{", '"', "'", "`${", '"""', "a<", "[a,", "a.", "1+", "-", "new A(", "/*", "\\", "\x00", "é")


@needs_tree_sitter
@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_fails(language: str, piece: str) -> None:
    for length in (syntax_tree.MOST_CHARACTERS, 20_000, 1_000_000):
        text = ("f(a=" + piece * length)[:length]
        found = outcome(DECODE[language], text)
        assert found in ({}, None) or isinstance(found, list) or found == "raises SyntaxError"
    # Nothing of it stays with the parser.
    assert DECODE[language]("[Shelf.put(b=1)]") == [{"Shelf.put": {"b": "1"}}]


@needs_tree_sitter
def test_deep_values_are_read_without_recursion() -> None:
    sum_of_many = "+".join("1" * 900)
    assert decode_java(f"[Shelf.put(b={sum_of_many})]") == [{"Shelf.put": {"b": sum_of_many}}]


@needs_tree_sitter
def test_threads_decode_side_by_side() -> None:
    found: dict[int, Any] = {}

    def decode(number: int) -> None:
        found[number] = [decode_java(f"[Shelf.put(b={number})]") for _ in range(50)]

    threads = [threading.Thread(target=decode, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [[{"Shelf.put": {"b": str(number)}}]] * 50 for number in range(4)}


def test_a_missing_package_is_named_with_its_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax_tree, "_parsers", threading.local())
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    for language in ("java", "javascript"):
        with pytest.raises(MissingPackageError, match=r"tree-sitter is not installed.*callgym\[code\]"):
            DECODE[language]("f()")


def test_releases_that_do_not_fit_together_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_language(*arguments: Any) -> None:
        raise TypeError("an integer is required")

    monkeypatch.setattr(syntax_tree, "_parsers", threading.local())
    monkeypatch.setitem(sys.modules, "tree_sitter", SimpleNamespace(Language=no_language, Parser=object))
    monkeypatch.setitem(sys.modules, "tree_sitter_java", SimpleNamespace(language=object))
    with pytest.raises(MissingPackageError, match=r"do not fit together.*callgym\[code\]"):
        decode_java("f()")


# Conversion

JAVA_VALUES: list[tuple[str, str, str | None, Any]] = [
    ("5", "integer", None, 5),
    ("5\n", "integer", None, 5),
    ("-5", "byte", None, -5),
    ("+5", "short", None, "+5"),
    ("5.0", "integer", None, "5.0"),
    ("9" * 5_000, "integer", None, "raises ValueError"),
    ("5L", "long", None, 5),
    ("5", "long", None, "5"),
    ("2.5f", "float", None, 2.5),
    ("2.5", "float", None, "2.5"),
    ("1e3", "double", None, 1000.0),
    ("1.", "double", None, "1."),
    ("true", "boolean", None, True),
    ("True", "boolean", None, "True"),
    ("'c'", "char", None, "'c'"),
    ('"text"', "String", None, '"text"'),
    ("7", "any", None, "7"),
    ("new int[] { 1, 2, }", "Array", "integer", [1, 2]),
    ("new int[]{}", "Array", "integer", []),
    ('new String[]{"a", b}', "Array", "String", ['"a"', "b"]),
    ('new Object[]{1, 2L, 2.5f, true, "a", x}', "Array", None, [1, 2, 2.5, True, "a", "x"]),
    ("{1, 2}", "Array", "integer", "{1, 2}"),
    ("new int[]{1,\n2}", "Array", "integer", "new int[]{1,\n2}"),
    ("new Set[]{a}", "Array", "Set", "raises NotImplementedError"),
    ("new ArrayList<>(Arrays.asList(1L, 2))", "ArrayList", "long", [1, "2"]),
    ('new ArrayList<String>(Arrays.asList("a", bcd))', "ArrayList", "String", ["a", "c"]),
    ('new ArrayList<String>(Arrays.asList("a, b"))', "ArrayList", "String", ["", ""]),
    ('new ArrayList<String>() {{ add("a, b"); add("c)"); }}', "ArrayList", "String", ["a, b", ""]),
    ("new ArrayList<String>() {{ }}", "ArrayList", "String", []),
    ("new ArrayList<String>()", "ArrayList", "String", []),
    ("new ArrayList<A, B>()", "ArrayList", "String", "new ArrayList<A, B>()"),
    ("Arrays.asList(1, 2)", "ArrayList", "integer", "Arrays.asList(1, 2)"),
    ("x = new ArrayList<>(Arrays.asList(1)) + y", "ArrayList", "integer", [1]),
    ('new HashMap<String, Object>() {{ put("a", 1); put("b", "c"); }}', "HashMap", None, {"a": 1, "b": "c"}),
    ('new HashMap<>() { put("a", f(1)); }', "HashMap", None, {"a": "f(1"}),
    ('new HashMap<>() {{ put("a", "}"); put("b", 2); }}', "HashMap", None, {}),
    ('new HashMap<>() {{ put("a", 1_000); put("b",\n nan); }}', "HashMap", None, {"a": 1000, "b": "NaN"}),
    ("new HashMap<String, List<X>>()", "HashMap", None, {}),
    ("new HashMap<\n>()", "HashMap", None, "new HashMap<\n>()"),
    ("new HashMap<>(other)", "HashMap", None, "new HashMap<>(other)"),
    ("x", "Set", None, "raises NotImplementedError"),
    ("x", "Hashtable", None, "raises NotImplementedError"),
    ("x", "Queue", None, "raises NotImplementedError"),
    ("x", "Stack", None, "raises NotImplementedError"),
    ("x", "text", None, "raises ValueError"),
]

JAVASCRIPT_VALUES: list[tuple[str, str, str | None, Any]] = [
    ("5", "integer", None, 5),
    ("5.5", "float", None, 5.5),
    ("1e3", "float", None, "1e3"),
    ("5n", "Bigint", None, 5),
    ("5", "Bigint", None, "5"),
    ("5n\n", "Bigint", None, "raises ValueError"),
    ("true", "Boolean", None, True),
    ("'a'", "String", None, "a"),
    ("'a\"", "String", None, "'a\""),
    ("'", "String", None, ""),
    ("'a'", "any", None, "'a'"),
    (" [1, 2.5] ", "array", "float", [1.0, 2.5]),
    ("['a', \"b\", c]", "array", "String", ["a", "b", "c"]),
    ("['a, b']", "array", "String", ["'a", "b'"]),
    ("[1, 'a', true]", "array", None, [1, "a", True]),
    ("['1', 2]", "array", "integer", ["'1'", 2]),
    ("[1], 2", "array", "integer", [1]),
    ("[]", "array", "integer", []),
    ("new Array(1, 2)", "array", "integer", [1, 2]),
    ("[[1, 2], ['a']]", "array", "array", [[1, 2], ["a"]]),
    ("new Array([1], [2])", "array", "array", [[1], [2]]),
    ("[ [1], [[2]]", "array", "array", [[1], ["[2"]]),
    ("[[1], x]", "array", "integer", ["[1"]),
    ("[1,\n2]", "array", "integer", "[1,\n2]"),
    (f"[{'9' * 5_000}]", "array", "integer", f"[{'9' * 5_000}]"),
    ("[1]", "array", "text", "[1]"),
    ("{}", "dict", None, {}),
    ("{a: 1, 'b': \"c\", d: [1, 'e'], f: true}", "dict", None, {"a": 1, "b": "c", "d": [1, "e"], "f": True}),
    ("{a: {b: 1}, c: 2}", "dict", None, {"a": "{b: 1"}),
    ("{a: x, y, b: '7'}", "dict", None, {"a": "x, y", "b": 7}),
    ("{a: 1, :2}", "dict", None, {"a": 1, "": 2}),
    ("{:a}", "dict", None, {}),
    ("{a: 1\n}", "dict", None, "{a: 1\n}"),
    ("a", "dict", None, "a"),
    ("x", "text", None, "raises ValueError"),
]


@pytest.mark.parametrize(("text", "declared", "inner", "expected"), JAVA_VALUES)
def test_java_values_convert_as_officially(text: str, declared: str, inner: str | None, expected: Any) -> None:
    found = outcome(convert_java, text, declared, inner)
    assert repr(found).replace("nan", "'NaN'") == repr(expected)


@pytest.mark.parametrize(("text", "declared", "inner", "expected"), JAVASCRIPT_VALUES)
def test_javascript_values_convert_as_officially(text: str, declared: str, inner: str | None, expected: Any) -> None:
    assert repr(outcome(convert_javascript, text, declared, inner)) == repr(expected)


# The official patterns whose time is not linear, beside what stands in for them.

put_texts = st.lists(st.sampled_from(('put("', '", ', '",\n', ")", "\n", '"', "a", "5", " ", "put(")), max_size=14)
member_texts = st.lists(st.sampled_from((",", ":", ", ", " ", "a", "b", "5", "'", ", :")), max_size=14)
row_texts = st.lists(st.sampled_from(("[", "]", ",", "],[", "] , [", "\n", " ", "1", "x")), max_size=14)


@given(put_texts)
def test_puts_are_those_of_the_official_pattern(pieces: list[str]) -> None:
    body = "".join(pieces)
    expected = {key: value.strip() for key, value in re.findall(r'put\("(.*?)",\s*(.*?)\)', body)}
    found = convert_java(f"new HashMap<>() {{{{ {body} }}}}", "HashMap")
    assert {key: str(value) for key, value in found.items()} == {
        key: value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else "" if value == '"' else value
        for key, value in expected.items()
    }


@given(member_texts)
def test_members_are_those_of_the_official_pattern(pieces: list[str]) -> None:
    content = "".join(pieces)
    pairs = re.findall(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)", content)
    found = convert_javascript(f"{{{content}}}", "dict")
    expected = {key.strip().strip("'"): value.strip().strip("'").strip() for key, value in pairs}
    assert {key: str(value) for key, value in found.items()} == expected


@given(row_texts)
def test_rows_end_where_the_official_pattern_ends(pieces: list[str]) -> None:
    text = ("[[" + "".join(pieces)).strip()
    match = re.match(r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]", text)
    rows = None if match is None else len(re.findall(r"\[(.*?)\]", match.group()))
    found = convert_javascript(text, "array", "String")
    assert (len(found) if isinstance(found, list) and all(isinstance(row, list) for row in found) else None) == rows


HOSTILE_JAVA = {
    "HashMap": ("new HashMap<", 'put("', 'put("a", ', 'put("a",\n', "> ()", "{ ", "}"),
    "ArrayList": ("new ArrayList<X>(Arrays.asList(", "new ArrayList<X>() {{ ", "add(", "))", "}}", ",", "\n"),
    "Array": ("new int[]{", "new a", "new ", ",", "\n}"),
    "double": ("1", "1e", "-"),
}
HOSTILE_JAVASCRIPT = {
    "array": ("[", "[[1],", "],[", "] ,\n[", "'", ",", "[a"),
    "dict": ("{", "a:", ",", ", :", ",a", " "),
    "float": ("1", "1.", "-"),
}


@pytest.mark.parametrize(
    ("language", "declared", "piece"),
    [
        (language, declared, piece)
        for language, table in (("java", HOSTILE_JAVA), ("javascript", HOSTILE_JAVASCRIPT))
        for declared, pieces in table.items()
        for piece in pieces
    ],
)
def test_hostile_values_are_read_and_fail_as_officially(language: str, declared: str, piece: str) -> None:
    openings = {"HashMap": "new HashMap<A>() {{", "ArrayList": "new ArrayList<A>() {{", "array": "[[", "dict": "{a:"}
    for length, ending in itertools.product((900, 100_000), ("", "}}", "]]")):
        text = openings.get(declared, "") + piece * (length // len(piece)) + ending
        READ[language](text, declared, "String")
        found = outcome(CONVERT[language], text, declared, "String")
        assert found == "raises ValueError" or not str(found).startswith("raises ")


# Reading

JAVA_LITERALS: list[tuple[str, str, str | None, Any]] = [
    ("5", "integer", None, 5),
    ("0x1F", "integer", None, 31),
    ("1_000L", "long", None, 1000),
    ("5", "double", None, 5.0),
    ("-2.5f", "float", None, -2.5),
    ("1e999", "double", None, "1e999"),
    ("true", "boolean", None, True),
    ("flag", "boolean", None, "flag"),
    ("null", "HashMap", None, None),
    ("null", "any", None, "null"),
    ("text", "String", None, "text"),
    (' "quoted" ', "String", None, "quoted"),
    (r'"a\"b\\c\u00e9\n"', "String", None, 'a"b\\cé\n'),
    (r'"\uD83D\uDE00 \uD83D"', "String", None, "😀 \\uD83D"),
    ('"a" + "b"', "String", None, '"a" + "b"'),
    ("'c'", "char", None, "c"),
    ('"""\n    a\n      b\n    """', "String", None, "a\n  b\n"),
    ("10", "any", None, "10"),
    ('new Path("a")', "any", None, 'new Path("a")'),
    ("new int[] {1, -2, /* three */ 3,}", "Array", "integer", [1, -2, 3]),
    ("{1, 2}", "Array", "integer", [1, 2]),
    ("{1, 2}", "HashMap", None, "{1, 2}"),
    ("new int[][]{{1}, {}}", "Array", "Array", [[1], []]),
    ("new int[0]", "Array", "integer", []),
    ("new int[3]", "Array", "integer", "new int[3]"),
    ('new String[]{"a, b", c d, -v, 2}', "Array", "String", ["a, b", "c d", "-v", "2"]),
    ('new Object[]{"a", 2, null, new B<C, D>(1, 2)}', "Array", "any", ["a", 2, None, "new B<C, D>(1, 2)"]),
    ("new java.util.ArrayList<Double>(List.of(1, 2.5))", "ArrayList", "double", [1.0, 2.5]),
    ('new ArrayList<String>() {{ add("a)"); add("b"); }}', "ArrayList", "String", ["a)", "b"]),
    ("new ArrayList<>(16)", "ArrayList", "integer", []),
    ("Arrays.asList(true, false)", "ArrayList", "boolean", [True, False]),
    ("other.asList(1)", "ArrayList", "integer", "other.asList(1)"),
    ("new Other(1)", "ArrayList", "integer", "new Other(1)"),
    ("new ArrayList<>() {{ clear(); }}", "ArrayList", "integer", "new ArrayList<>() {{ clear(); }}"),
    ('Map.of("a", 1, KEY, List.of(2))', "HashMap", None, {"a": 1, "KEY": [2]}),
    ('Map.of("a")', "HashMap", None, 'Map.of("a")'),
    ('Map.ofEntries(Map.entry("a", 1), entry("b", x))', "HashMap", None, {"a": 1, "b": "x"}),
    (
        'new HashMap<String, Map<String, Integer>>(Map.of("a", 1)) {{ put("b", 2); }}',
        "HashMap",
        None,
        {"a": 1, "b": 2},
    ),
    ('new HashMap<>() {{ put("a", "x}}, y)"); }}', "HashMap", None, {"a": "x}}, y)"}),
    ('new ArrayList<>(Arrays.asList("a)', "ArrayList", "String", 'new ArrayList<>(Arrays.asList("a)'),
    ("", "Array", None, ""),
    ("{" * 100 + "}" * 100, "Array", None, "{" * 100 + "}" * 100),
]

JAVASCRIPT_LITERALS: list[tuple[str, str, str | None, Any]] = [
    ("5", "integer", None, 5),
    ("5", "float", None, 5.0),
    (".5", "float", None, 0.5),
    ("-12n", "Bigint", None, -12),
    ("5L", "integer", None, "5L"),
    ("'it\\'s'", "String", None, "it's"),
    ("`plain`", "String", None, "plain"),
    ("`a${b}`", "String", None, "`a${b}`"),
    (r"'\x41\u{1F600}'", "String", None, "A😀"),
    ("undefined", "dict", None, None),
    ("undefined", "any", None, "undefined"),
    ("[1, 'a, b', [true], name, f(1, 2), 3n]", "array", None, [1, "a, b", [True], "name", "f(1, 2)", 3]),
    ("new Array('a', 'b')", "array", "String", ["a", "b"]),
    ("[1,,2]", "array", None, "[1,,2]"),
    (
        "{a: 1, 'b-c': {d: [1]}, e, 5: () => { return 1 },}",
        "dict",
        None,
        {
            "a": 1,
            "b-c": {"d": [1]},
            "e": "e",
            "5": "() => { return 1 }",
        },
    ),
    ("{...rest}", "dict", None, "{...rest}"),
    ("{get a() { return 1 }}", "dict", None, "{get a() { return 1 }}"),
    ("{a: 'x}, y: 2'}", "dict", None, {"a": "x}, y: 2"}),
    ("(a)", "array", None, "(a)"),
]


@pytest.mark.parametrize(("text", "declared", "inner", "expected"), JAVA_LITERALS)
def test_java_literals_are_read(text: str, declared: str, inner: str | None, expected: Any) -> None:
    assert repr(read_java(text, declared, inner)) == repr(expected)


@pytest.mark.parametrize(("text", "declared", "inner", "expected"), JAVASCRIPT_LITERALS)
def test_javascript_literals_are_read(text: str, declared: str, inner: str | None, expected: Any) -> None:
    assert repr(read_javascript(text, declared, inner)) == repr(expected)


CODE = [
    "new ",
    "ArrayList",
    "<>",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    '"a"',
    '"',
    "'",
    "`",
    "1",
    "2L",
    ",",
    ";",
    "put",
    "add",
]
MORE_CODE = [
    "List.of",
    "Map.ofEntries",
    "entry",
    "a",
    ".",
    "=",
    "/*",
    "//",
    "\n",
    " ",
    "\\",
    "0x",
    "...",
    "é",
    ":",
    "\\u",
]
programs = st.lists(st.sampled_from(CODE + MORE_CODE), max_size=16).map("".join)


@given(programs)
def test_any_text_is_read_and_converted(text: str) -> None:
    for declared, inner in (("Array", "String"), ("ArrayList", "integer"), ("HashMap", None), ("String", None)):
        read_java(text, declared, inner)
        convert_java(text, declared, inner)
    for declared, inner in (("array", "float"), ("dict", None), ("String", None)):
        read_javascript(text, declared, inner)
        convert_javascript(text, declared, inner)


# Writing

scalars = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4))
def test_what_is_written_is_read_back_or_passes_officially(value: Any) -> None:
    is_list = isinstance(value, list)
    for language, declared in (
        ("java", "ArrayList" if is_list else "HashMap"),
        ("javascript", "array" if is_list else "dict"),
    ):
        text = WRITE[language](value, declared, None)
        assert value in (READ[language](text, declared, None), outcome(CONVERT[language], text, declared, None))


tame = st.text(st.characters(categories=["Lu", "Ll", "Zs"], include_characters="-_ "), min_size=1).filter(
    lambda text: text == text.strip() and not text[0].isspace() and text not in ("true", "false", "null", "undefined")
)
TAME_VALUES = {
    "java": (
        ("integer", None, st.integers()),
        ("long", None, st.integers()),
        ("boolean", None, st.booleans()),
        ("float", None, st.floats(-1e9, 1e9)),
        ("double", None, st.floats(allow_nan=False, allow_infinity=False)),
        ("String", None, st.text()),
        ("ArrayList", "String", st.lists(tame)),
        ("ArrayList", "long", st.lists(st.integers())),
        ("Array", "integer", st.lists(st.integers())),
        ("Array", "boolean", st.lists(st.booleans())),
        ("HashMap", None, st.dictionaries(tame, st.booleans() | st.integers() | tame)),
    ),
    "javascript": (
        ("integer", None, st.integers()),
        ("Bigint", None, st.integers()),
        ("Boolean", None, st.booleans()),
        ("float", None, st.floats(-1e9, 1e9).map(lambda number: round(number, 3)).filter(lambda n: "e" not in repr(n))),
        ("array", "String", st.lists(tame)),
        ("array", "integer", st.lists(st.integers())),
        ("dict", None, st.dictionaries(tame, st.booleans() | st.integers() | tame)),
    ),
}


@pytest.mark.parametrize("language", ["java", "javascript"])
@given(data=st.data())
def test_plain_values_come_back_from_both_readers(language: str, data: st.DataObject) -> None:
    declared, inner, strategy = data.draw(st.sampled_from(TAME_VALUES[language]))
    value = data.draw(strategy)
    text = WRITE[language](value, declared, inner)
    assert CONVERT[language](text, declared, inner) == value
    if declared != "String":
        assert READ[language](text, declared, inner) == value


@given(st.lists(st.text()))
def test_correct_literals_of_texts_are_read(texts: list[str]) -> None:
    elements = ", ".join(json.dumps(text) for text in texts)
    assert read_java(f"new String[]{{{elements}}}", "Array", "String") == texts
    assert read_java(f"new ArrayList<String>(List.of({elements}))", "ArrayList", "String") == texts
    assert read_javascript(f"[{elements}]", "array", "String") == texts


WRITTEN: list[tuple[str, Any, str, str | None, str]] = [
    ("java", ["a", "b"], "Array", "String", "new String[]{a, b}"),
    ("java", ["a,b"], "Array", "String", 'new String[]{"a,b"}'),
    ("java", ["a", "b"], "ArrayList", "String", 'new ArrayList<String>(Arrays.asList("a", "b"))'),
    ("java", ["a,b"], "ArrayList", "String", 'new ArrayList<String>() {{ add("a,b"); }}'),
    ("java", ["x", "y"], "ArrayList", "char", "new ArrayList<Character>(Arrays.asList('x', 'y'))"),
    ("java", ["a", 1], "ArrayList", "any", 'new ArrayList<Object>(Arrays.asList("a", 1))'),
    ("java", [], "ArrayList", "integer", "new ArrayList<Integer>()"),
    ("java", {"a": 2**40}, "HashMap", None, 'new HashMap<String, Object>() {{ put("a", 1099511627776L); }}'),
    ("java", {}, "HashMap", None, "new HashMap<String, Object>()"),
    ("java", [1], "Set", "integer", "new HashSet<Integer>(Arrays.asList(1))"),
    ("java", 1.5, "float", None, "1.5f"),
    ("java", "Mode.FAST", "any", None, "Mode.FAST"),
    ("java", "retries", "integer", None, "retries"),
    ("java", None, "any", None, "null"),
    ("javascript", '"a"', "String", None, "'\"a\"'"),
    ("javascript", {"a": [1, "b"], "c": True}, "dict", None, '{"a": [1, "b"], "c": true}'),
    ("javascript", [5], "array", "Bigint", "[5n]"),
    ("javascript", [[1], ["a"]], "array", "array", '[[1], ["a"]]'),
]


@pytest.mark.parametrize(("language", "value", "declared", "inner", "expected"), WRITTEN)
def test_values_are_written(language: str, value: Any, declared: str, inner: str | None, expected: str) -> None:
    assert WRITE[language](value, declared, inner) == expected


@pytest.mark.parametrize(
    ("language", "value", "documented", "texts"),
    [
        (
            "java",
            ["a", "b"],
            {"type": "Array", "items": {"type": "String"}},
            ("new String[]{a, b}", 'new String[]{"a", "b"}'),
        ),
        ("java", ["a,b"], {"type": "Array", "items": {"type": "String"}}, ('new String[]{"a,b"}',)),
        (
            "java",
            ["a,b"],
            {"type": "ArrayList", "items": {"type": "String"}},
            ('new ArrayList<String>() {{ add("a,b"); }}', 'new ArrayList<String>(Arrays.asList("a,b"))'),
        ),
        ("java", [1], {"type": "Array", "items": {"type": "integer"}}, ("new int[]{1}",)),
        ("java", "a", {}, ("a",)),
        ("java", "a", {"type": None, "items": "no document"}, ("a",)),
        ("javascript", '"a"', {"type": "String"}, ("'\"a\"'",)),
        ("javascript", ['say "a"'], {"type": "array", "items": {"type": "String"}}, None),
    ],
)
def test_a_programmers_text_stands_beside_the_official_one(
    language: Any, value: Any, documented: dict[str, Any], texts: tuple[str, ...] | None
) -> None:
    if texts is None:
        official, programmers = code_texts(value, documented, language)
        assert READ[language](programmers, "array", "String") == value
        assert CONVERT[language](official, "array", "String") == value
    else:
        assert code_texts(value, documented, language) == texts


# The official answers


def entries(folder: Path, language: str) -> dict[str, tuple[list[Any], list[Any]]]:
    name = f"BFCL_v4_simple_{language}.json"
    questions = map(json.loads, (folder / "bfcl" / name).read_text().splitlines())
    answers = map(json.loads, (folder / "bfcl" / "possible_answer" / name).read_text().splitlines())
    return {q["id"]: (q["function"], a["ground_truth"]) for q, a in zip(questions, answers, strict=True)}


def plain_values(accepted: Any) -> Iterator[Any]:
    if not isinstance(accepted, dict):
        yield accepted
        return
    choices = [value if isinstance(value, list) else [value] for value in accepted.values()]
    for combination in itertools.product(*choices):
        yield {key: value for key, value in zip(accepted, combination, strict=True) if value != ""}


# Of a list of any type the official converter makes texts, and a number of any type is text to both readers.
UNREADABLE = {("simple_java_36", "parts"), ("simple_java_65", "params")}
TEXTS_OF_NUMBERS = {("simple_java_62", "from"), ("simple_java_62", "to")}


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_official_answers_come_back(official_data: Path, language: str) -> None:
    for id_, (functions, gold) in entries(official_data, language).items():
        documents = functions[0]["parameters"]["properties"]
        for name, accepted in next(iter(gold[0].values())).items():
            declared, inner = documents[name]["type"], documents[name].get("items", {}).get("type")
            for value in itertools.chain.from_iterable(map(plain_values, accepted)):
                text = WRITE[language](value, declared, inner)
                expected = str(value) if (id_, name) in TEXTS_OF_NUMBERS else value
                assert READ[language](text, declared, inner) == expected, (id_, name)
                if (id_, name) not in UNREADABLE:
                    assert CONVERT[language](text, declared, inner) == expected, (id_, name)
