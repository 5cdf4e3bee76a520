"""Short ways give what the full readers give, wherever they answer; and they answer for the calls that most are."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ToolCall, get_dialect
from callgym.dialects import DIALECTS, ParsedAction
from callgym.dialects.apibank import ApiBankDialect
from callgym.dialects.apibank_call import read_plain_bracket
from callgym.dialects.auto import AutoDialect, read_at_once
from callgym.dialects.call_scanner import read_calls
from callgym.dialects.plain_calls import read_plain_calls
from callgym.dialects.python_call import PythonCallScanner
from callgym.dialects.tagged_call import TaggedDialect
from callgym.dialects.toolace import ToolAceDialect

TAGGED = ["qwen3-coder", "anthropic", "glm"]
FOLDER = Path(__file__).parent / "conformance"

names = st.from_regex(r"[A-Za-z_][\w.-]{0,6}", fullmatch=True) | st.sampled_from(
    ["f", "é", "1a", "a b", " a", "_", "-"]
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "a, b=c",
        "it's",
        'say "hi"',
        "\n",
        "two\nlines",
        "\n\nend\n",
        "back\\slash",
        "1",
        "None",
        ")]",
        "",
        " ",
        "\x7f",
        "a=1",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
calls = st.lists(
    st.builds(ToolCall, name=names, arguments=st.dictionaries(names, values, max_size=4)), min_size=1, max_size=3
)
words = st.sampled_from(["", "", "Let me look.", " \n", "[1]", "<", "<think>so</think>", "a</think>", "\n\nHuman:"])


@lru_cache(maxsize=1)
def all_tables() -> tuple[str, ...]:
    """The actions of every dialect's conformance table."""
    found: list[str] = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            text = json.loads(line)["text"]
            if not isinstance(text, str):
                prefix, unit, count, suffix = text["repeat"]
                text = prefix + unit * count + suffix
            found.append(text)
    return tuple(found)


@st.composite
def altered(draw: st.DrawFn, whole: st.SearchStrategy[str], pieces: list[str]) -> str:
    """A text, cut, doubled and with pieces put in at some places."""
    text = draw(whole)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 1, 2, 12])))
        piece = draw(st.sampled_from(pieces) | st.just(text[start : start + 9]))
        text = text[:start] + piece + text[end:]
    return text


def same(found: ParsedAction, expected: ParsedAction) -> bool:
    """Whether two readings are one, types of numbers and order of keys included."""
    written = [[(call.to_json()) for call in parsed.calls] for parsed in (found, expected)]
    return found == expected and written[0] == written[1]


# A tag a value.

TAGS = [
    "<tool_call>", "</tool_call>", "<function=f>", "</function>", "<parameter=a>", "</parameter>", "<function_calls>",
    "</function_calls>", '<invoke name="f">', "</invoke>", '<parameter name="a">', "<arg_key>", "</arg_key>",
    "<arg_value>", "</arg_value>", "<arg_key>a</arg_key>", "<|im_end|>", "<|user|>", "\n\nHuman:", "<think>",
    "</think>", "<thinking>", "\n", " ", "\t", "<", ">", "x", "\x1c", "\u2028", '"', "{", "/", "=",
]  # fmt: skip


def tagged(name: str) -> TaggedDialect:
    dialect = get_dialect(name)
    assert isinstance(dialect, TaggedDialect)
    return dialect


def agrees(dialect: TaggedDialect, text: str) -> bool:
    found = dialect.plain.read(text)
    return found is None or same(found, dialect.read_any(text))


@pytest.mark.parametrize("name", TAGGED)
@given(st.data())
@settings(max_examples=200)
def test_plain_tags_are_read_as_any_are(name: str, data: st.DataObject) -> None:
    dialect = tagged(name)
    written = st.builds(dialect.render_action, calls, words)
    assert agrees(dialect, data.draw(altered(written, TAGS)))


@pytest.mark.parametrize("name", TAGGED)
def test_plain_tags_of_all_tables_are_read_as_any_are(name: str) -> None:
    assert all(agrees(tagged(name), text) for text in all_tables())


PLAIN = (
    ToolCall(name="BookRoom", arguments={"title": 'plans, and "tea"\n\n(it\'s late)', "seats": 12, "with": ["A", {}]}),
    ToolCall(name="ns.get-news"),
)


@pytest.mark.parametrize("name", TAGGED)
def test_usual_calls_in_tags_take_the_short_way(name: str) -> None:
    dialect = tagged(name)
    for made in (PLAIN[:1], PLAIN[1:], PLAIN):
        for said in ("", "Let me look."):
            text = dialect.render_action(made, said)
            assert dialect.plain.read(text) == dialect.read_any(text)


# Lists in brackets.

IN_LISTS = [
    "[", "]", "(", ")", "{", "}", ",", ", ", "=", ":", "'", '"', " ", "\n", "\\", "a=1", ", b=2", "f(", "f()", "1", "x",
    "True", "None", "'a'", '"b": 2', "[1, c=3]", "{'k': 1}", "<|eot_id|>", "<think>", "</think>", "```", "Assistant: ",
    "$a=1", "a.b=1", "*", "**{'a': 1}", "\x7f", "é=1", "9" * 400, "-", ".5", "(DPO)", "a b", "/",
]  # fmt: skip
LISTS = [get_dialect("python"), get_dialect("toolace")]
TOOLACE = get_dialect("toolace")
assert isinstance(TOOLACE, ToolAceDialect)


def agree_on_lists(text: str) -> bool:
    plain = read_plain_calls(text)
    assert isinstance(TOOLACE, ToolAceDialect)
    return plain is None or (
        same(ParsedAction(plain), read_calls(text, PythonCallScanner))
        and (same(ParsedAction(plain), TOOLACE.read_any(text)))
    )


@given(altered(st.sampled_from(LISTS).flatmap(lambda each: st.builds(each.render_action, calls, words)), IN_LISTS))
@settings(max_examples=300)
def test_plain_lists_are_read_as_any_are(text: str) -> None:
    assert agree_on_lists(text)


def test_plain_lists_of_all_tables_are_read_as_any_are() -> None:
    assert all(map(agree_on_lists, all_tables()))


def test_a_plain_list_of_many_calls_is_read_by_toolace_as_any_is() -> None:
    assert isinstance(TOOLACE, ToolAceDialect)
    text = f"[{', '.join(['f(a=1)'] * 600)}]"
    assert read_plain_calls(text)
    assert TOOLACE.parse(text) == TOOLACE.read_any(text)
    assert len(TOOLACE.parse(text).calls) == 500


BRACKETS = get_dialect("apibank")
assert isinstance(BRACKETS, ApiBankDialect)
IN_BRACKETS = [
    *IN_LISTS, "API-Request: ", "AI: ", "', b='", "'a', 'b'", "Mia's", "** {", "\\'", "\\u00e9", "\\ud83d", "<",
]  # fmt: skip


def agrees_on_brackets(text: str) -> bool:
    assert isinstance(BRACKETS, ApiBankDialect)
    plain = read_plain_bracket(text)
    return plain is None or same(ParsedAction(plain), BRACKETS.read_any(text))


@given(altered(st.builds(BRACKETS.render_action, calls, words), IN_BRACKETS))
@settings(max_examples=200)
def test_plain_brackets_are_read_as_any_are(text: str) -> None:
    assert agrees_on_brackets(text)


def test_plain_brackets_of_all_tables_are_read_as_any_are() -> None:
    assert all(map(agrees_on_brackets, all_tables()))


@pytest.mark.parametrize("name", ["python", "toolace"])
def test_usual_lists_take_the_short_way(name: str) -> None:
    book = ToolCall(
        name="BookRoom", arguments={"a": "it's, so", "b": [1, "x"], "c": None, "d": {"k": True}, "e": "a=b"}
    )
    for made in ((book,), (book, ToolCall(name="ns.g"))):
        assert read_plain_calls(get_dialect(name).render_action(made)) == made


# Any dialect.

AUTO = get_dialect("auto")
assert isinstance(AUTO, AutoDialect)
SPECS = [spec for name, each in DIALECTS.items() for spec in (name, *(f"{name}:{option}" for option in each.options))]
ANY_MARKS = [
    *dict.fromkeys(mark for each in DIALECTS.values() for mark in (*each.signs, *each.control)),
    *TAGS, *IN_LISTS, '{"name": "f", "arguments": {}}', "[THINK]", "[/THINK]", "<thinking>", "</thinking>", ">>>f\n",
    "Action: f\n", "Action Input: {}", "Final Answer:", "```json\n", "API-Request: ", ";", "Next: conclusion.", "[]",
    '"arguments"', '"parameters"', '"role": "assistant"', '"content": "x", ', "<|python_tag|>", "f.call()", "f\n{",
]  # fmt: skip


def as_slowly(text: str) -> bool:
    assert isinstance(AUTO, AutoDialect)
    found, expected = AUTO.read(text), AUTO.read_any(text)
    return found.dialect == expected.dialect and same(found, expected)


@given(altered(st.sampled_from(SPECS).flatmap(lambda spec: written_in(spec)), ANY_MARKS))
@settings(max_examples=500)
def test_a_dialect_told_at_once_is_the_one_that_is_told_slowly(text: str) -> None:
    assert as_slowly(text)


@pytest.mark.parametrize("spec", SPECS)
def test_usual_calls_of_any_dialect_are_told_at_once(spec: str) -> None:
    text = get_dialect(spec).render_action((ToolCall(name="look", arguments={"at": "the tea", "seats": 12}),))
    assert as_slowly(text)
    assert read_at_once(text) is not None


def written_in(spec: str) -> st.SearchStrategy[str]:
    return st.builds(get_dialect(spec).render_action, calls, words)


def test_the_dialects_of_all_tables_are_told_at_once_as_slowly() -> None:
    for text in all_tables():
        assert as_slowly(text), text[:200]
