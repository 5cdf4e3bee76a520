"""BFCL's single-turn rules: decoding, formats, the checker's quirks, and hostile text."""

from __future__ import annotations

import contextlib
import json
import operator
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callgym.envs.bfcl.official.checker import PreparedGold, check, judge_decoded, judge_text, language_of, prepare
from callgym.envs.bfcl.official.decode import (
    DecodeFailure,
    counts_as_empty,
    decode,
    execute_calls,
    execute_pairs,
    format_ok,
)
from callgym.envs.bfcl.official.plain_calls import read_plain_calls
from callgym.envs.bfcl.official.python_text import _parse, _Reader
from callgym.envs.bfcl.official.standardise import standardise

FORMATS = ("python", "json", "verbose_xml", "concise_xml")


def call(**arguments: Any) -> list[dict[str, dict[str, Any]]]:
    return [{"f": arguments}]


# Text to what it is decoded to in Python's notation.
DECODED = [
    ("[f(a=1, b='x')]", call(a=1, b="x")),
    ("f(a=1)", call(a=1)),
    ("f(a=1), g()", [{"f": {"a": 1}}, {"g": {}}]),
    ("```\n[f(a=1)]\n```", call(a=1)),
    ("[f(a=1),]", call(a=1)),
    ("[]", []),
    ("[ \n]", []),
    ("", []),
    ("`` ``", []),
    ("[pkg.mod.f(a=1)]", [{"pkg.mod.f": {"a": 1}}]),
    ("[f (a = 1)]", call(a=1)),
    ("[x[0].f(a=1)]", call(a=1)),
    ("[f()(a=1)]", [{"": {"a": 1}}]),
    ("[f(a=1)] # and a note]", call(a=1)),
    # Positional arguments and splats
    ("[f(1, 'x', a=2)]", call(a=2)),
    ("[f(*[1], a=2)]", call(a=2)),
    ("[f(**{'a': 1})]", [{"f": {None: {"a": 1}}}]),
    ("[f(a=1, a=2)]", call(a=2)),
    # Values
    ("[f(a=True, b=None, c=true)]", call(a=True, b=None, c="true")),
    ("[f(a=-5, b=+5, c=~3, d=not True)]", call(a=-5, b=-5, c=-3, d=-1)),
    ("[f(a=..., b=b'x', c=1j)]", call(a="...", b=b"x", c=1j)),
    ("[f(a=(1, 2), b=(1,), c=(1), d=())]", call(a=(1, 2), b=(1,), c=1, d=())),
    ("[f(a={'k': [1, {'l': \"v\"}], 2: x})]", call(a={"k": [1, {"l": "v"}], 2: "x"})),
    ("[f(a={'k': 1, 'k': 2})]", call(a={"k": 2})),
    ("[f(a=[[1, 2.5], []], b=[ ], c={ })]", call(a=[[1, 2.5], []], b=[], c={})),
    ("[f(a='it\\'s', b='\\d', c='x' \"y\")]", call(a="it's", b="\\d", c="xy")),
    ("[f(a='''x''', b='ñ')]", call(a="x", b="ñ")),
    ("[f(a=1_000, b=0x10, c=1e3, d=.5, e=00, f=01.5)]", call(a=1000, b=16, c=1000.0, d=0.5, e=0, f=1.5)),
    ("[f(a=x[0], b=g( 1 )[ 'k' ])]", call(a="x[0]", b="g(1)['k']")),
    ("[f(a=g( 1 ), b=g(), c=g(d = 1, e=2))]", call(a="g(1)", b="g()", c={"g": {"d": 1, "e": 2}})),
    # Arithmetic, in which operators mean what they mean
    ("[f(a='x' + 'y', b=2 ** 10, c=7 // 2, d=1 / 4, e=10 % 4)]", call(a="xy", b=1024, c=3, d=0.25, e=2)),
    ("[f(a=+5 + 1, b=~3 + 0, c=-2 ** 2 + 0)]", call(a=6, b=-4, c=-4)),
    (
        "[f(a='ab' * 2, b=[1] * 3, c='%s-%d' % ('x', 3), d=(1, 2) + (3,))]",
        call(a="abab", b=[1] * 3, c="x-3", d=(1, 2, 3)),
    ),
    ("[f(a=(1 < 2 < 3) + 0, b=(1 if 0 else 2) + 0, c=(0 or 3) * 1)]", call(a=1, b=2, c=3)),
    ("[f(a=[1, 2, 3][1:] + [], b='abc'[-1] + '', c={'k': 1}['k'] + 1)]", call(a=[2, 3], b="c", c=2)),
    ("[f(a={'k': 1} | {'l': 2}, b=6 & 3, c=1 << 3, d=f'{1}' + 'x')]", call(a={"k": 1, "l": 2}, b=2, c=8, d="1x")),
]


@pytest.mark.parametrize(("text", "decoded"), DECODED)
def test_decodes_as_the_official_decoder(text: str, decoded: Any) -> None:
    found = decode(text)
    assert found == decoded
    assert repr(found) == repr(decoded)


# Text to the exception that the official decoder raises.
UNDECODED = [
    ("I cannot do that.", "SyntaxError"),
    ("Sorry, no function fits", "SyntaxError"),
    ("Sorry, no", "AssertionError"),
    ("I'm sorry", "SyntaxError"),
    ("```python\n[f(a=1)]\n```", "SyntaxError"),
    ("Here: [f(a=1)]", "SyntaxError"),
    ("[f(a=1)] Done", "SyntaxError"),
    ("[f(a=1)\ng(b=2)]", "SyntaxError"),
    ("[f(a=1); g()]", "SyntaxError"),
    ("[f(class='x')]", "SyntaxError"),
    ("[f(a=1, 2)]", "SyntaxError"),
    ("[f(a=01)]", "SyntaxError"),
    ("[,]", "SyntaxError"),
    ("[f(a=1", "SyntaxError"),
    ("[f(a='x]", "SyntaxError"),
    ("[[f(a=1)]]", "AssertionError"),
    ("f", "AssertionError"),
    ("'[f(a=1)]'", "AssertionError"),
    ("[await f(a=1)]", "AssertionError"),
    ("[f(a=1), x]", "AssertionError"),
    ("[f(a=1)][0]", "AttributeError"),
    ("[f(a=Color.RED)]", "Exception"),
    ("[f(a=f'{x}')]", "Exception"),
    ("[f(a={1, 2})]", "Exception"),
    ("[f(a=1 < 2)]", "Exception"),
    ("[f(a=x or y)]", "Exception"),
    ("[f(a=1 if x else 2)]", "Exception"),
    ("[f(a=[i for i in x])]", "Exception"),
    ("[f(a=[*x])]", "Exception"),
    ("[f(a={**x})]", "Exception"),
    ("[f(a=lambda: 1)]", "TypeError"),
    ("[f(a=-x)]", "AttributeError"),
    ("[f(a=-x.y)]", "TypeError"),
    ("[f(a=-'x')]", "TypeError"),
    ("[f(a={[1]: 2})]", "TypeError"),
    ("[f(a='x' + y)]", "NameError"),
    ("[f(a=1 + 'x')]", "TypeError"),
    ("[f(a=1 / 0)]", "ZeroDivisionError"),
    ("[f(a=[1][5] + 1)]", "IndexError"),
    ("[f(a='\ud800')]", "UnicodeEncodeError"),
]


@pytest.mark.parametrize(("text", "official"), UNDECODED)
def test_fails_as_the_official_decoder(text: str, official: str) -> None:
    with pytest.raises(DecodeFailure) as caught:
        decode(text)
    assert caught.value.official == official
    assert str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[f(a=len('abc') + 1)]", "[f(a=__import__('os').getcwd() + '')]", "[f(a=(z := 1) + 1)]", "[f(a=eval('1') + 1)]"],
)
def test_nothing_is_evaluated(text: str) -> None:
    with pytest.raises(DecodeFailure):
        decode(text)


TAGGED = [
    ("python", "So: <TOOLCALL>[f(a=1)]</TOOLCALL> and <TOOLCALL>[g()]</TOOLCALL>", call(a=1)),
    ("python", "<TOOLCALL>\n f(a=1) \n</TOOLCALL>", call(a=1)),
    ("python", "<TOOLCALL>'f(a=1)'</TOOLCALL>", call(a=1)),
    ("python", "<TOOLCALL>{f(a=1)}</TOOLCALL>", call(a=1)),
    ("python", "<TOOLCALL>f(a=1), g()</TOOLCALL>", [{"f": {"a": 1}}, {"g": {}}]),
    ("json", '<TOOLCALL>[{"function": "f", "parameters": {"a": 1}}]</TOOLCALL>', call(a=1)),
    ("json", "<TOOLCALL>none</TOOLCALL>", []),
    ("concise_xml", "<TOOLCALL><functions></functions></TOOLCALL>", []),
]


@pytest.mark.parametrize(("ret_fmt", "text", "decoded"), TAGGED)
def test_reads_what_is_tagged(ret_fmt: str, text: str, decoded: Any) -> None:
    assert decode(text, ret_fmt, tagged=True) == decoded


@pytest.mark.parametrize(
    "text", ["[f(a=1)]", "<TOOLCALL>[f(a=1)]", "</TOOLCALL>f()<TOOLCALL>", "<TOOLCALL>`f()`</TOOLCALL>"]
)
def test_a_tag_that_is_missing_or_fenced_fails(text: str) -> None:
    with pytest.raises(DecodeFailure):
        decode(text, tagged=True)


JSON = [
    ('[{"function": "f", "parameters": {"a": [1, null]}}]', call(a=[1, None])),
    ('```json\n[{"function": "f", "parameters": {"a": 1}}]\n```', call(a=1)),
    ('{"function": "f", "parameters": {"a": 1}}', call(a=1)),
    ('Look: [ {"function": "f", "parameters": {"a": 1}} ] ok', call(a=1)),
    ('[{"function": "f", "parameters": {"a": NaN}}, 5]', None),
    ("no json", []),
    ("[]", []),
    ('[1, "x"]', []),
    ("[{'function': 'f', 'parameters': {}}]", []),
    # A list of objects inside the arguments ends the match.
    ('[{"function": "f", "parameters": {"a": [{"b": 1}]}}]', []),
    ('[{"function": "f", "parameters": {"a": "}]"}}]', []),
    ('[{"function": "f", "parameters": {"a": [{"b": 1}], "c": 1}}]', []),
]


@pytest.mark.parametrize(("text", "decoded"), JSON)
def test_decodes_json(text: str, decoded: Any) -> None:
    found = decode(text, "json")
    assert len(found) == 1 if decoded is None else found == decoded


@pytest.mark.parametrize(
    ("text", "official"),
    [
        ('[{"function": "f"}]', "KeyError"),
        ('[{"name": "f", "arguments": {}}]', "KeyError"),
        ('[{"function": ["f"], "parameters": {}}]', "TypeError"),
        ('[{"function": "f", "parameters": {"a": ' + "1" * 5000 + "}}]", "ValueError"),
        ("[" * 3000 + "]" * 3000, "RecursionError"),
    ],
)
def test_json_that_is_no_call_fails(text: str, official: str) -> None:
    with pytest.raises(DecodeFailure) as caught:
        decode(text, "json")
    assert caught.value.official == official


def verbose(value: str, kind: str) -> str:
    parameter = f'<param name="a" value="{value}" type="{kind}"/>'
    return f'<functions><function name="f"><params>{parameter}</params></function></functions>'


def concise(value: str, kind: str) -> str:
    return f'<functions><function name="f"><param name="a" type="{kind}">{value}</param></function></functions>'


XML_VALUES = [
    ("5", "integer", 5),
    ("2.5", "float", 2.5),
    ("TRUE", "boolean", True),
    ("yes", "boolean", False),
    ("x", "null", None),
    ("[1, 'b', {'k': (2,)}]", "array", [1, "b", {"k": (2,)}]),
    ("(1, -2)", "tuple", (1, -2)),
    ("{1}", "dict", {1}),
    ("set()", "object", set()),
    ("+1", "object", 1),
    ("1+2j", "object", 1 + 2j),
    ("a &amp; b", "string", "a & b"),
    ("5", "number", "5"),
]


@pytest.mark.parametrize(("value", "kind", "decoded"), XML_VALUES)
def test_decodes_xml_values(value: str, kind: str, decoded: Any) -> None:
    assert decode(f"Sure. {verbose(value, kind)} There.", "verbose_xml") == call(a=decoded)
    assert decode(concise(f" {value}\n", kind), "concise_xml") == call(a=decoded)


def test_decodes_xml_without_types_and_containers() -> None:
    text = "<functions><function name='f'><param name='a' value='1'/></function><function name='g'/></functions>"
    assert decode(text, "verbose_xml") == [{"f": {"a": "1"}}, {"g": {}}]
    assert decode(text, "concise_xml") == [{"f": {"a": ""}}, {"g": {}}]
    nameless = "<functions><function name='f'><param value='1'/></function></functions>"
    assert decode(nameless, "verbose_xml") == [{"f": {None: "1"}}]


@pytest.mark.parametrize(
    ("ret_fmt", "text", "official"),
    [
        ("verbose_xml", "<function name='f'/>", "ValueError"),
        ("verbose_xml", "<functions><function/></functions>", "KeyError"),
        ("verbose_xml", "<functions><function name='f'></functions>", "ParseError"),
        ("verbose_xml", "<functions>&evil;</functions>", "ParseError"),
        ("verbose_xml", verbose("x", "integer"), "ValueError"),
        ("verbose_xml", verbose("1 + 1", "object"), "ValueError"),
        ("verbose_xml", verbose("[x]", "array"), "ValueError"),
        ("verbose_xml", verbose("{[1]: 2}", "dict"), "TypeError"),
        ("verbose_xml", verbose("[1", "array"), "SyntaxError"),
        ("concise_xml", "<functions><function name='f'><param>1</param></function></functions>", "KeyError"),
        ("concise_xml", "<functions>\ud800</functions>", "UnicodeEncodeError"),
    ],
)
def test_xml_that_is_no_call_fails(ret_fmt: str, text: str, official: str) -> None:
    with pytest.raises(DecodeFailure) as caught:
        decode(text, ret_fmt)
    assert caught.value.official == official


def test_an_unknown_format_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="yaml"):
        decode("f()", "yaml")


@pytest.mark.parametrize(
    ("decoded", "ok", "empty"),
    [
        ([{"f": {}}], True, False),
        ([], True, True),
        ([{}], False, True),
        ([{"f": {}, "g": {}}], False, True),
        ([{"f": 1}], False, True),
        (["f"], False, True),
        ({}, False, True),
        (None, False, True),
        (({"f": {}},), False, True),
    ],
)
def test_format(decoded: Any, ok: bool, empty: bool) -> None:
    assert format_ok(decoded) is ok
    assert counts_as_empty(decoded) is empty


EXECUTED = [
    ("[f(a=1, b='x'), g()]", ["f(a=1, b='x')", "g()"]),
    ("[f('x', a=1)]", ["f(a=1)"]),
    ("[f(a=g(b=1))]", ["f(a=g(b=1))"]),
    ("[f(a={'k': 1, 'l': 'v'})]", ["f(a={'k': 1, 'l': 'v'})"]),
    ("[f(a={'k': {'l': 1}})]", ["f(a=k(l=1))"]),
    ("[f(a={'k': {'l': 1}, 'm': {'n': 2}})]", ["f(a=k(l=1))"]),
    ("[f(a={1: 2})]", ["f(a={'1': 2})"]),
    ("[f(a=[g(b=1)])]", ["f(a=[{'g': {'b': 1}}])"]),
    ("[]", []),
]


@pytest.mark.parametrize(("text", "calls"), EXECUTED)
def test_renders_calls_for_execution(text: str, calls: list[str]) -> None:
    assert execute_calls(text) == calls
    assert [name for name, _ in execute_pairs(text)] == [c.partition("(")[0] for c in calls]


@pytest.mark.parametrize("text", ["[f(a={})]", "[f(a=1, b={'k': {'l': {}}})]", "no call"])
def test_what_cannot_be_rendered_fails(text: str) -> None:
    with pytest.raises(DecodeFailure):
        execute_calls(text)
    with pytest.raises(DecodeFailure):
        execute_pairs(text)


def test_pairs_keep_nested_calls_as_dictionaries() -> None:
    assert execute_pairs("[f(a=g(b=1))]") == [("f", {"a": {"g": {"b": 1}}})]


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ("A, b.C/d-e_f*g^h", "abcdefgh"),
        ("It's 5", 'it"s5'),
        ("(a) [b]! \t", "(a)[b]!\t"),
        ("ÀÉ ’", "àé’"),
        ("", ""),
    ],
)
def test_standardises(text: str, standard: str) -> None:
    assert standardise(text) == standard


# Declared type, accepted values, the model's value, the error type.
VALUES: list[tuple[dict[str, Any], list[Any], Any, str | None]] = [
    ({"type": "integer"}, [1], 1, None),
    ({"type": "integer"}, [1], True, "type_error:simple"),
    ({"type": "integer"}, [1], 1.0, "type_error:simple"),
    ({"type": "integer"}, [1], 2, "value_error:others"),
    ({"type": "integer"}, ["x"], "x", None),
    ({"type": "integer"}, ["x"], "X", "value_error:others"),
    ({"type": "integer"}, ["x"], 1, "value_error:others"),
    ({"type": "float"}, [1.0], 1, None),
    ({"type": "float"}, [1.0], True, "type_error:simple"),
    ({"type": "float"}, [1.0], 10**400, "EXCEPTION:OverflowError"),
    ({"type": "float"}, [1], 1, None),
    ({"type": "boolean"}, [True], True, None),
    ({"type": "boolean"}, [True], 1, "type_error:simple"),
    ({"type": "boolean"}, [True], "true", "type_error:simple"),
    ({"type": "string"}, ["New York"], "new-york", None),
    ({"type": "string"}, ["New York"], "New York!", "value_error:string"),
    ({"type": "string"}, ["a", ""], "", None),
    ({"type": "string"}, ["a", ""], " - ", None),
    ({"type": "string"}, [5, "a"], "a", None),
    ({"type": "string"}, [5], "5", "value_error:others"),
    ({"type": "string"}, ["a", 5], 5, "type_error:simple"),
    ({"type": "any"}, [1], 1, None),
    ({"type": "any"}, [1], "1", "value_error:others"),
    ({"type": "array", "items": {"type": "string"}}, [["a b", "c"]], ["A-B", "c."], None),
    ({"type": "array", "items": {"type": "string"}}, [["a", "c"]], ["c", "a"], "value_error:list/tuple"),
    ({"type": "array", "items": {"type": "string"}}, [["a"]], ("a",), "type_error:simple"),
    ({"type": "array", "items": {"type": "string"}}, [["a"]], [1], "type_error:nested"),
    ({"type": "array", "items": {"type": "string"}}, [["a"], ""], [1], "value_error:list/tuple"),
    ({"type": "array", "items": {"type": "string"}}, ["", ["a"]], [], None),
    ({"type": "array", "items": {"type": "string"}}, [""], [], None),
    ({"type": "array", "items": {"type": "string"}}, [], [], "type_error:simple"),
    ({"type": "array", "items": {"type": "string"}}, [["a"], "bc"], ["b", "c"], None),
    ({"type": "array", "items": {"type": "string"}}, [["a"], 5], ["b"], "EXCEPTION:TypeError"),
    ({"type": "array", "items": {"type": "string"}}, ["x"], "x", None),
    ({"type": "array", "items": {"type": "integer"}}, [[1, 2]], [1, 2.0], "type_error:nested"),
    ({"type": "array", "items": {"type": "integer"}}, [[1.0, 2]], [1.0, 2.0], None),
    ({"type": "array", "items": {"type": "float"}}, [[1.0]], [1], "type_error:nested"),
    ({"type": "array", "items": {"type": "float"}}, [[1]], [1], None),
    ({"type": "array", "items": {"type": "array"}}, [[["A"]]], [["a"]], "value_error:list/tuple"),
    ({"type": "tuple", "items": {"type": "integer"}}, [[1, 2]], (1, 2), None),
    ({"type": "tuple", "items": {"type": "integer"}}, [[1, 2]], [1, 2], None),
    ({"type": "dict"}, [{"k": ["v"], "l": [1, ""]}], {"k": "V."}, None),
    ({"type": "dict"}, [{"k": ["v"]}], {"k": "w"}, "value_error:dict_value"),
    ({"type": "dict"}, [{"k": ["v"]}], {"m": "v"}, "value_error:dict_key"),
    ({"type": "dict"}, [{"k": ["v"], "l": [1]}], {"k": "w"}, "value_error:dict_key"),
    ({"type": "dict"}, [{"k": ["v"]}, {"k": ["w"]}], {"k": "w"}, None),
    ({"type": "dict"}, [{"k": ["v"]}, {"m": ["w"]}], {"k": "x"}, "value_error:dict_key"),
    ({"type": "dict"}, [{"k": [["A"]]}], {"k": ["a"]}, "value_error:dict_value"),
    ({"type": "dict"}, [{"k": "xyz"}], {"k": "y"}, None),
    ({"type": "dict"}, [{"k": "xyz"}], {}, None),
    ({"type": "dict"}, [""], {"k": 1}, "dict_checker:unclear"),
    ({"type": "dict"}, [{"k": [1]}], [1], "type_error:simple"),
    ({"type": "array", "items": {"type": "dict"}}, [[{"k": [1]}]], [{"k": 1}], None),
    ({"type": "array", "items": {"type": "dict"}}, [[{"k": [1]}]], [{"k": 1}, {}], "value_error:list_dict_count"),
    ({"type": "array", "items": {"type": "dict"}}, [[{"k": [1]}]], [{"k": 2}], "value_error:dict_value"),
    ({"type": "array", "items": {"type": "dict"}}, [[{"k": [1]}], ""], [5], "EXCEPTION:AttributeError"),
    ({"type": "array", "items": {"type": "dict"}}, [[{"k": [1]}], ""], [], None),
    ({"type": "number"}, [1], 1, "EXCEPTION:KeyError"),
    ({"type": "array"}, [[1]], [1], "EXCEPTION:KeyError"),
]


def document(name: str = "f", required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": list(required)}}


@pytest.mark.parametrize(("declared", "allowed", "value", "error"), VALUES)
def test_values(declared: dict[str, Any], allowed: list[Any], value: Any, error: str | None) -> None:
    verdict = check(call(p=value), [{"f": {"p": allowed}}], [document(p=declared)], "simple_python")
    assert (verdict.valid, verdict.error_type) == (error is None, error)
    assert bool(verdict.message) is (error is not None)


INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
FUNCTIONS = [document("a.f", ("p",), p=INTEGER, q=TEXT), document("g", (), p=INTEGER)]

CALLS: list[tuple[str, Any, Any, str | None]] = [
    ("simple_python", [{"a.f": {"p": 1}}], [{"a.f": {"p": [1], "q": ["x", ""]}}], None),
    ("simple_python", [{"a_f": {"p": 1}}], [{"a.f": {"p": [1]}}], "simple_function_checker:wrong_func_name"),
    ("simple_python", [{"A.f": {"p": 1}}], [{"a.f": {"p": [1]}}], "simple_function_checker:wrong_func_name"),
    ("simple_python", [{"a.f": {}}], [{"a.f": {"p": [1, ""]}}], "simple_function_checker:missing_required"),
    (
        "simple_python",
        [{"a.f": {"p": 1}}],
        [{"a.f": {"p": [1], "q": ["x"]}}],
        "simple_function_checker:missing_optional",
    ),
    ("simple_python", [{"a.f": {"p": 1, "r": 1}}], [{"a.f": {"p": [1]}}], "simple_function_checker:unexpected_param"),
    ("simple_python", [{"a.f": {"p": 1, "q": "x"}}], [{"a.f": {"p": [1]}}], "simple_function_checker:unexpected_param"),
    ("simple_python", [{"a.f": {"p": 1, None: {}}}], [{"a.f": {"p": [1]}}], "simple_function_checker:unexpected_param"),
    ("simple_python", [{"a.f": {"p": 2, "r": 1}}], [{"a.f": {"p": [1]}}], "value_error:others"),
    ("simple_python", [], [{"a.f": {"p": [1]}}], "simple_function_checker:wrong_count"),
    ("simple_python", [{"g": {}}] * 2, [{"a.f": {"p": [1]}}], "simple_function_checker:wrong_count"),
    # The first document counts, whatever the gold names.
    ("simple_python", [{"g": {"p": 1}}], [{"g": {"p": [1]}}], "simple_function_checker:wrong_func_name"),
    ("live_multiple", [{"g": {"p": 1}}], [{"g": {"p": [1]}}], None),
    ("live_multiple", [{"g": {"p": 1}}] * 2, [{"g": {"p": [1]}}], "multiple_function_checker:wrong_count"),
    ("live_multiple", [{"h": {}}], [{"h": {}}], "EXCEPTION:TypeError"),
    ("parallel", [{"g": {"p": 2}}, {"a.f": {"p": 1}}], [{"a.f": {"p": [1]}}, {"g": {"p": [2]}}], None),
    ("parallel", [{"g": {"p": 2}}], [{"g": {"p": [2]}}] * 2, "parallel_function_checker_no_order:wrong_count"),
    (
        "parallel",
        [{"g": {"p": 2}}] * 2,
        [{"g": {"p": [2]}}, {"g": {"p": [3]}}],
        "parallel_function_checker_no_order:cannot_find_match",
    ),
    # Greedy: the first gold takes the call that the second one needs.
    (
        "parallel_multiple",
        [{"g": {"p": 1}}, {"g": {"p": 2}}],
        [{"g": {"p": [1, 2]}}, {"g": {"p": [1]}}],
        "parallel_function_checker_no_order:cannot_find_match",
    ),
    ("parallel", [], [], None),
    ("irrelevance", [], None, None),
    ("live_irrelevance", [{"g": {}}], None, "irrelevance_error:decoder_success"),
    ("live_relevance", [{"nonsense": {}}], None, None),
    ("live_relevance", [], None, "relevance_error:decoder_failed"),
]


@pytest.mark.parametrize(("category", "decoded", "gold", "error"), CALLS)
def test_calls(category: str, decoded: Any, gold: Any, error: str | None) -> None:
    verdict = check(decoded, gold, FUNCTIONS, category)
    assert (verdict.valid, verdict.error_type) == (error is None, error)


def test_dots_become_underscores_for_function_calling_models() -> None:
    gold = [{"a.f": {"p": [1]}}]
    assert check([{"a_f": {"p": 1}}], gold, FUNCTIONS, "simple_python", underscore_to_dot=True).valid
    dotted = check([{"a.f": {"p": 1}}], gold, FUNCTIONS, "simple_python", underscore_to_dot=True)
    assert dotted.error_type == "simple_function_checker:wrong_func_name"


JUDGED = [
    ("simple_python", "a.f(p=1)", None),
    ("simple_python", "Call a.f(p=1)", "ast_decoder:decoder_failed"),
    ("simple_python", "[]", "simple_function_checker:wrong_count"),
    ("irrelevance", "There is no function for this.", None),
    ("irrelevance", "```python\n[a.f(p=1)]\n```", None),
    ("irrelevance", "I would call a.f(p=1)", None),
    ("irrelevance", '[{"name": "a.f"}]', None),
    ("irrelevance", "[a]", None),
    ("irrelevance", "a.f(p=1)", "irrelevance_error:decoder_success"),
    ("irrelevance", "Sorry(reason='none')", "irrelevance_error:decoder_success"),
    ("live_relevance", "whatever()", None),
    ("live_relevance", "I would call a.f(p=1)", "relevance_error:decoder_failed"),
]


@pytest.mark.parametrize(("category", "text", "error"), JUDGED)
def test_texts(category: str, text: str, error: str | None) -> None:
    verdict = judge_text(text, category, FUNCTIONS, [{"a.f": {"p": [1]}}])
    assert (verdict.valid, verdict.error_type) == (error is None, error)


def test_json_whose_arguments_are_no_object_is_of_the_wrong_form() -> None:
    text = '[{"function": "a.f", "parameters": [1]}]'
    verdict = judge_text(text, "simple_python_0", FUNCTIONS, [{"a.f": {"p": [1]}}], ret_fmt="json")
    assert verdict.error_type == "ast_decoder:decoder_wrong_output_format"
    assert judge_decoded(None, None, FUNCTIONS, "irrelevance").valid


def test_the_category_tells_the_language() -> None:
    assert [language_of(c) for c in ("simple_java", "simple_javascript", "parallel")] == [
        "java",
        "javascript",
        "python",
    ]


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_values_of_other_languages_are_texts(language: str) -> None:
    pytest.importorskip("callgym.envs.bfcl.official.code_values")
    declared, short = ({"type": "integer"}, "java" if language == "java" else "js")
    functions, gold = [document(p=declared)], [{"f": {"p": [5]}}]
    assert check(call(p="5"), gold, functions, "simple", language=language).valid
    assert check(call(p=5), gold, functions, "simple", language=language).error_type == f"type_error:{short}"
    assert check(call(p="x"), gold, functions, "simple", language=language).error_type == "type_error:simple"


def test_golds_are_prepared_once_and_by_identity() -> None:
    gold = [{"a.f": {"p": [1]}}]
    assert prepare(gold, FUNCTIONS) is prepare(gold, list(FUNCTIONS))
    assert prepare(gold, FUNCTIONS) is not prepare([{"a.f": {"p": [1]}}], FUNCTIONS)
    assert PreparedGold(gold, FUNCTIONS).check([{"a.f": {"p": 1}}], "simple").valid


def test_checking_changes_nothing() -> None:
    decoded = [{"a.f": {"p": 1, "q": "X"}}, {"g": {}}]
    gold: list[dict[str, Any]] = [{"g": {"p": [1, ""]}}, {"a.f": {"p": [1], "q": ["x"]}}]
    before = json.dumps([decoded, gold, FUNCTIONS])
    assert check(decoded, gold, FUNCTIONS, "parallel").valid
    assert json.dumps([decoded, gold, FUNCTIONS]) == before


# What a policy may write to keep the decoder busy, or to break it.
HOSTILE = {
    "power": "[f(a=9**9**9)]",
    "power of power": "[f(a=9**4000*9**4000*9**4000)]",
    "repeated text": "[f(a='a'*10**9)]",
    "repeated list": "[f(a=[0]*10**9)]",
    "shared lists": "[f(a=[[[['a']*300]*300]*300]*300)]",
    "shift": "[f(a=1<<10**10)]",
    "format width": "[f(a='%999999999d'%5)]",
    "format star": "[f(a='%*d'%(10**9, 5))]",
    "format many": "[f(a='%(k)s'*900%{'k':'x'*9000})]",
    "colliding keys": "[f(a={" + ",".join(f"{i * (2**61 - 1)}:1" for i in range(3000)) + "})]",
    "hexadecimal": "[f(a=0x" + "f" * 90_000 + ")]",
    "digits": "[f(a=" + "1" * 90_000 + ")]",
    "sums": "[f(a=" + "1+" * 40_000 + "1)]",
    "signs": "[f(a=" + "-" * 90_000 + "1)]",
    "attributes": "[f(a=a" + ".b" * 40_000 + ")]",
    "elements": "[f(a=[" + "1," * 45_000 + "])]",
    "brackets": "[" * 20_000,
    "braces": "[f(a=" + "{1:" * 20_000,
    "balanced": "[" * 150 + "]" * 150,
    "calls": "f(a=" * 20_000,
    "megabyte of prose": "I cannot say. " * 75_000,
    "megabyte of call": "[f(a='" + "x" * 1_000_000 + "')]",
    "megabyte of brackets": "[{" * 500_000,
    "json brackets": "[ " * 49_000,
    "json closings": "}" + " ]" * 49_000 + "[{",
    "json deep": '[{"function": "f", "parameters": {"a": ' + "[" * 900 + "]" * 900 + "}}]",
    "xml openings": "<functions>" * 9_000,
    "xml deep": "<functions>" + "<a>" * 14_000 + "</a>" * 14_000 + "</functions>",
    "tags": "<TOOLCALL>" * 9_000,
    "null character": "[f(a='\x00')]",
    "surrogate": "[f(a='\ud800')]",
    "surrogate word": "\ud800" * 50_000,
    "control characters": "\x1b[31m\x07\x08[f(a=1)]\x7f",
    "byte order mark": "\ufeff[f(a=1)]",
    "right to left": "[f(a='\u202e')]",
    "comment": "[f(a=1) #" + "]" * 50_000,
    "backslashes": "[f(a='" + "\\" * 80_000 + "')]",
    "warnings": "[f(a='" + "\\d" * 40_000 + "')]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_gets_a_verdict(name: str) -> None:
    text = HOSTILE[name]
    functions = [document(a=TEXT)]
    gold = [{"f": {"a": ["x", ""]}}]
    for ret_fmt in FORMATS:
        for tagged in (False, True):
            written = f"<TOOLCALL>{text}</TOOLCALL>" if tagged else text
            verdict = judge_text(written, "simple_python", functions, gold, ret_fmt=ret_fmt, tagged=tagged)
            assert verdict.valid or verdict.message


@pytest.mark.parametrize(
    ("text", "value"),
    [("[f(a='\\d')]", "\\d"), ("[f(a=b'\\u')]", b"\\u"), ("[f(a=~True + 1)]", -1), ("[f(a='1if')]", "1if")],
)
def test_warnings_neither_come_out_nor_matter(text: str, value: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode(text) == call(a=value)
        with pytest.raises(DecodeFailure, match="IfExp"):
            decode("[f(a=1if 1else 2)]")


PIECE_TEXTS = """[ ] ( ) { } , = : f a a= f( f(a=1) g.h(b='x') ' " 1 - + * ** / % 2.5 True None true lambda: 'x' 'y' \\
    \\n é # ` <TOOLCALL> </TOOLCALL> <functions> </functions> ... x [{ }] "function" [0] {'k':1} [1,2] (1,2)
    g(c=3) 9**9 'a'*9 .b class {"function":"f","parameters":{"a":1}}"""
PIECES = st.sampled_from(
    [
        *PIECE_TEXTS.split(),
        " ",
        "\n",
        "not ",
        "if ",
        "else ",
        "for ",
        "in ",
        "\x00",
        "\ud800",
        "<function name='f'>",
        "<param name='a'>",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


@settings(max_examples=250)
@given(TEXTS, st.sampled_from(FORMATS), st.booleans())
@example("[f(a=f(a=1)[0]=1)]", "python", False)
def test_decoding_any_text_raises_nothing_but_decode_failure(text: str, ret_fmt: str, tagged: bool) -> None:
    with contextlib.suppress(DecodeFailure):
        format_ok(decode(text, ret_fmt, tagged))


@settings(max_examples=120)
@given(TEXTS, st.sampled_from(["simple_python", "multiple", "parallel", "irrelevance", "live_relevance"]))
def test_judging_any_text_gives_a_verdict(text: str, category: str) -> None:
    verdict = judge_text(text, category, FUNCTIONS, [{"a.f": {"p": [1], "q": ["x", ""]}}])
    assert verdict.valid is (verdict.error_type is None)
    assert verdict == judge_text(text, category, FUNCTIONS, [{"a.f": {"p": [1], "q": ["x", ""]}}])


VALUE_TEXTS = st.recursive(
    st.sampled_from(["1", "-2", "0", "2.5", "-0.5", "'x'", '"it\'s"', "'ü'", "True", "None", "true", "word", "''"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.lists(inner, max_size=3).map(lambda items: "(" + ",".join(items) + ")"),
        st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"'k{i}' : {v}" for i, v in enumerate(items)) + "}"
        ),
        st.lists(inner, max_size=3).map(
            lambda items: "g.h(" + ", ".join(f"b{i}={v}" for i, v in enumerate(items)) + ")"
        ),
    ),
    max_leaves=6,
)
ARGUMENTS = st.lists(st.one_of(VALUE_TEXTS, VALUE_TEXTS.map("a={}".format), VALUE_TEXTS.map("c={}".format)), max_size=4)


@settings(max_examples=150)
@given(
    st.lists(ARGUMENTS.map(lambda items: "f(" + " ,\n".join(items) + ")"), max_size=3),
    st.sampled_from([",", ", ", ",\n", " "]),
)
def test_the_short_way_reads_what_the_syntax_tree_says(calls: list[str], separator: str) -> None:
    text = "[" + separator.join(calls) + "]"
    try:
        short = read_plain_calls(text)
    except DecodeFailure:
        with pytest.raises(DecodeFailure):
            _Reader().calls(_parse(text))
    else:
        assert short is None or repr(short) == repr(_Reader().calls(_parse(text)))


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "@": operator.matmul,
}
OPERANDS = st.one_of(
    st.integers(-40, 40),
    st.floats(-9, 9).map(lambda number: round(number, 2)),
    st.sampled_from(["x", "%s", b"y", True, None, [1], (2,), {"k": 1}, [], 3j]),
)


@settings(max_examples=300)
@given(OPERANDS, st.sampled_from(sorted(OPERATORS)), OPERANDS)
def test_arithmetic_is_pythons(left: Any, sign: str, right: Any) -> None:
    text = f"[f(a=({left!r}) {sign} ({right!r}))]"
    try:
        expected = OPERATORS[sign](left, right)
    except Exception as error:
        raised = type(error).__name__
    else:
        assert repr(decode(text)[0]["f"]["a"]) == repr(expected)
        return
    with pytest.raises(DecodeFailure) as caught:
        decode(text)
    assert caught.value.official == raised


def test_texts_are_standardised_as_officially(official_data: Path) -> None:
    path = official_data / "bfcl_parity" / "standardize_string.json"  # no JSON Lines: the parity suite leaves it out
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert rows
    for row in rows:
        assert standardise(row["text"]) == row["standardized"], row["case"]
