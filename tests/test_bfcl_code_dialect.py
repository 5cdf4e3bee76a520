"""The dialect python for tasks in Java and JavaScript: what is read, what is written, and that nothing trips it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import callgym.envs.bfcl.rewards  # noqa: F401  registers the readers of the two languages
from callgym.call import ToolCall
from callgym.checker import HOSTILE_ACTIONS
from callgym.dialects.base import MAX_LENGTH
from callgym.dialects.python_calls import PythonDialect
from callgym.envs.bfcl.code_call import write_call
from callgym.envs.bfcl.code_dialect import CodeDialect
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.official.checker import check, judge_text
from callgym.envs.bfcl.starter.single_turn import starter_single
from callgym.envs.bfcl.tasks import load_single
from callgym.episode import Episode, Step
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.message import Message
from callgym.rewards.call_match import call_match
from callgym.task import Task
from callgym.tool import Tool

needs_tree_sitter = pytest.mark.skipif(
    any(importlib.util.find_spec(f"tree_sitter{part}") is None for part in ("", "_java", "_javascript")),
    reason="tree-sitter and its two grammars are not installed",
)
DIALECTS = {"java": CodeDialect("java"), "javascript": CodeDialect("javascript")}
LANGUAGES = tuple(DIALECTS)


def calls_of(text: str, language: str = "java") -> list[tuple[str, dict[str, Any]]]:
    """Name and arguments of the calls in a text without faults."""
    parsed = DIALECTS[language].parse(text)
    assert parsed.errors == ()
    return [(call.name, call.arguments) for call in parsed.calls]


def faults_of(text: str, language: str = "java") -> tuple[list[str], list[tuple[str, int]]]:
    """The names of the calls that are made, and kind and position of each error."""
    parsed = DIALECTS[language].parse(text)
    return [call.name for call in parsed.calls], [(error.kind, error.position) for error in parsed.errors]


# Values

BOTH_VALUES = [
    ("42", "42"),
    (" -1.5e3 ", "-1.5e3"),
    ("true", "true"),
    ("shelf.top", "shelf.top"),
    ("a + b", "a + b"),
    ("a == b", "a == b"),
    ('""', ""),
    ('"Emma"', "Emma"),
    ("'Emma'", "Emma"),
    ('" a, b) "', " a, b) "),
    (r'"say \"so\""', 'say "so"'),
    (r"'it\'s'", "it's"),
    (r'"a\\b\n\u00e9\uD83D\uDE00"', "a\\b\né😀"),
    (r'"\d+\.csv"', r"\d+\.csv"),  # escapes that there are not stay
    ('"two\nlines"', "two\nlines"),
    ('"a" + "b"', '"a" + "b"'),
    ('f("a, b", (1))', 'f("a, b", (1))'),
    ("g[f(1, 2)]", "g[f(1, 2)]"),
    ("(a, b) -> a", "(a, b) -> a"),
]
VALUES = {
    "java": [
        *BOTH_VALUES,
        ("42L", "42L"),
        ("new int[]{1, 2}", "new int[]{1, 2}"),
        ("new HashMap<String, Object>()", "new HashMap<String, Object>()"),
        ("new HashMap<String, List<Map<A, B>>>() {{ put(1, 2); }}",) * 2,
        ("List.<Long, Long>of(1L)", "List.<Long, Long>of(1L)"),
        ('new String[]{"a, b", "}"}', 'new String[]{"a, b", "}"}'),
        ("new Path('/a, b')", "new Path('/a, b')"),
        ("'x'", "x"),
        ('"""one "two", three"""', 'one "two", three'),
        ('"""\n    one\n      two\n    """', "one\n  two\n"),
        ('""""a" b"""', '"a" b'),
        ("a < b", "a < b"),
        ("`", "`"),
    ],
    "javascript": [
        *BOTH_VALUES,
        ("5n", "5n"),
        ("[1, 'a, b', {c: [2]}]", "[1, 'a, b', {c: [2]}]"),
        ("(a, b) => a + b", "(a, b) => a + b"),
        ("function (a, b) { return ')'; }",) * 2,
        ("`plain, text`", "plain, text"),
        ("`a${b}, c`", "`a${b}, c`"),
        ("a < b", "a < b"),
        ("undefined", "undefined"),
    ],
}


@pytest.mark.parametrize(
    ("language", "code", "value"), [(language, *case) for language in LANGUAGES for case in VALUES[language]]
)
def test_values_are_read(language: str, code: str, value: str) -> None:
    assert calls_of(f"[f(a={code})]", language) == [("f", {"a": value})]
    assert calls_of(f"[ f( a = {code} , b=1,) , g(a={code}) ]", language) == [
        ("f", {"a": value, "b": "1"}),
        ("g", {"a": value}),
    ]
    assert calls_of(f"f(a={code})\ng(a={code});", language) == [("f", {"a": value}), ("g", {"a": value})]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[Shelf.put(a=1)]", [("Shelf.put", {"a": "1"})]),
        ("Shelf.put(a=1);", [("Shelf.put", {"a": "1"})]),
        ("f(a=1), g()", [("f", {"a": "1"}), ("g", {})]),
        ("f(a=1); g()", [("f", {"a": "1"}), ("g", {})]),
        ("f(a=1)\n\ng()", [("f", {"a": "1"}), ("g", {})]),
        ("[f(a=1); g();]", [("f", {"a": "1"}), ("g", {})]),
        ("[f()][g()]", [("f", {}), ("g", {})]),
        ("f(a=[g(b=1)])", [("f", {"a": "[g(b=1)]"})]),
        ("[$.get($url='a')]", [("$.get", {"$url": "a"})]),
        ("[my-tool(a=1)]", [("my-tool", {"a": "1"})]),
        ("['my tool'(a=1, **{'odd name': 'x'})]", [("my tool", {"a": "1", "odd name": "x"})]),
        ("```\n[f(a=1)]\n```", [("f", {"a": "1"})]),
        ("```java\n[f(a=1)]\n```", [("f", {"a": "1"})]),
        ("```javascript\nf(a=1);\n```", [("f", {"a": "1"})]),
        ("`f(a=1)`", [("f", {"a": "1"})]),
        ("Assistant: [f(a=1)]", [("f", {"a": "1"})]),
        ("<think>[f(a=1)]</think>[g()]", [("g", {})]),
        ("<think>perhaps [f(a=1</think>[g()]", [("g", {})]),
        ("[f(a='</think>')]", [("f", {"a": "</think>"})]),
        ("reasons</think>\ng()", [("g", {})]),
        ("<think>f(a=1)", []),
        ("[]", []),
        ("```\n[]\n```", []),
        ("", []),
    ],
)
def test_actions_are_read(language: str, text: str, calls: list[tuple[str, dict[str, str]]]) -> None:
    assert calls_of(text, language) == calls
    assert DIALECTS[language].parse(text).content == ""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "content", "count"),
    [
        ("I would call f(a=1)", "I would call f(a=1)", 0),
        ("f(a=1) should do", "f(a=1) should do", 0),
        ("(see [1]) it's fine", "(see [1]) it's fine", 0),
        ("Here it is:\n```java\n[f(a=1)]\n```\nDone.", "Here it is:\n\nDone.", 1),
        ("Assistant: well, [f(a=1)]", "well,", 1),
        ("f(a=1)\n[g(b=2)]", "f(a=1)", 1),
        ("<think>why</think> So: [g()]", "So:", 1),
    ],
)
def test_words_beside_calls_are_the_content(language: str, text: str, content: str, count: int) -> None:
    parsed = DIALECTS[language].parse(text)
    assert (parsed.content, len(parsed.calls), parsed.errors) == (content, count, ())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "made", "errors"),
    [
        ("[f(a=1, 5), g()]", ["g"], [("arguments", 8)]),
        ("[f(5), g()]", ["g"], [("arguments", 3)]),
        ("[f(a=), g()]", ["g"], [("arguments", 5)]),
        ("[f(a=1, a=2), g()]", ["g"], [("arguments", 8)]),
        ("[f(a=1, **{'a': '2'}), g()]", ["g"], [("arguments", 8)]),
        ("[f(**{'a': 2}), g()]", ["g"], [("arguments", 5)]),
        ("[f(**a), g()]", ["g"], [("arguments", 3)]),
        ('[f(a="\\ud800"), g()]', ["g"], [("arguments", 6)]),
        ("[f(a=1), five, g()]", ["f", "g"], [("malformed", 9)]),
        ("[f(a=[1}), g()]", [], [("malformed", 7)]),
        ("[f(a=1], g()]", [], [("malformed", 6)]),
        ("[f(a=1) g()]", [], [("malformed", 8)]),
        ("[f(a=1)} [g()]", ["g"], [("malformed", 7)]),
        ("[''(a=1), g()]", ["g"], [("arguments", 1)]),
        ("[f(a=1)", [], [("truncated", 7)]),
        ("[f(a=1), g(", ["f"], [("truncated", 11)]),
        ("[f(a=1), ", ["f"], [("truncated", 9)]),
        ("[f(a=1), g(b=(2", ["f"], [("truncated", 15)]),
        ("[f(a='1)]", [], [("truncated", 5)]),
        ("[f(a=it's), g()]", [], [("truncated", 7)]),
        ("f(a=1", [], [("truncated", 5)]),
        ("f(a", [], []),  # words
        ("f(x)", [], [("arguments", 2)]),
        ("```\nf(a=1, 2)\n```", [], [("arguments", 11)]),
    ],
)
def test_what_cannot_be_read_costs_one_call(
    language: str, text: str, made: list[str], errors: list[tuple[str, int]]
) -> None:
    assert faults_of(text, language) == (made, errors)


def test_faults_say_what_to_write() -> None:
    (error,) = DIALECTS["java"].parse("[f(a=new int[]{1, 2), g(b=1)]").errors
    assert error.message == "the call at character 1 cannot be read: '}' belongs where ')' stands"
    (error,) = DIALECTS["java"].parse("[f(3)]").errors
    assert "parameter=value" in error.message


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_prefix_of_an_action_is_truncated_and_makes_no_other_call(language: str) -> None:
    dialect = DIALECTS[language]
    calls = [
        ToolCall(name="Shelf.put", arguments={"a": "x, y", "b": 'new A("(")', "c": "-5", "odd name": "z"}),
        ToolCall(name="my tool", arguments={"d": 'say "it\'s"', "e": "new int[]{1, 2}", "f": '{"g": [1]}'}),
        ToolCall(name="Shelf.get", arguments={}),
    ]
    text = dialect.render_action(calls)
    assert list(dialect.parse(text).calls) == calls
    first, second = text.index(", 'my tool'") + 1, text.index(", Shelf.get") + 1
    for end in range(len(text)):
        parsed = dialect.parse(text[:end])
        assert list(parsed.calls) == calls[: (end >= first) + (end >= second)]
        assert [error.kind for error in parsed.errors] == ["truncated"] * (end > text.index("("))


def test_the_name_is_that_of_the_dialect_it_stands_in_for() -> None:
    for dialect in DIALECTS.values():
        assert isinstance(dialect, PythonDialect)
        assert dialect.name == "python"
    with pytest.raises(ConfigurationError, match="java or javascript"):
        CodeDialect("python")


def test_the_prompt_says_how_values_are_written() -> None:
    tool = Tool(name="Shelf.put", description="Puts.", parameters={"type": "object", "properties": {}})
    messages = [Message(role="system", content="Be brief."), Message(role="user", content="Put it there.")]
    for language, name in (("java", "Java"), ("javascript", "JavaScript")):
        prompt = DIALECTS[language].render_prompt(messages, [tool])
        assert f"as in a {name} program" in prompt
        assert "[name(parameter=value, otherParameter=value), otherName()]" in prompt
        assert '"Shelf.put"' in prompt
        assert prompt.endswith("System: Be brief.\nUser: Put it there.\nAssistant: ")
        given = DIALECTS[language].render_prompt(messages, [tool], instruction="As it is told.")
        assert given == PythonDialect().render_prompt(messages, [tool], instruction="As it is told.")
        assert DIALECTS[language].render_prompt(messages, []) == PythonDialect().render_prompt(messages, [])


# Writing

WRITTEN = [
    ("java", "Emma", '"Emma"'),
    ("java", "", '""'),
    ("java", "42L", "42L"),
    ("java", "-0.5f", "-0.5f"),
    ("java", "007", '"007"'),
    ("java", "null", "null"),
    ("java", "new int[]{1, -2}", "new int[]{1, -2}"),
    ("java", "new ArrayList<Long>(Arrays.asList(1L, 2L))", "new ArrayList<Long>(Arrays.asList(1L, 2L))"),
    ("java", "new HashMap<String, Object>()", "new HashMap<String, Object>()"),
    ("java", "new String[]{-v, x}", '"new String[]{-v, x}"'),
    ("java", 'new ArrayList<String>(Arrays.asList("a"))', 'new ArrayList<String>(Arrays.asList("a"))'),
    ("java", 'new A<B, C>("a")', 'new A<B, C>("a")'),
    ("java", 'new Map<A, B>() {{ put("a", 1); }}', '"""new Map<A, B>() {{ put("a", 1); }}"""'),
    ("java", 'new Map() {{ put("a\\"b", 1); }}', '"""new Map() {{ put("a\\\\"b", 1); }}"""'),
    ("java", 'new String[]{"a", "b"}', 'new String[]{"a", "b"}'),
    ("java", 'see{"a"}', "'see{\"a\"}'"),
    ("java", "new Path('/a')", "\"new Path('/a')\""),
    ("java", 'say "so"', "'say \"so\"'"),
    ("java", 'say "so" {{ twice }}', "'say \"so\" {{ twice }}'"),
    ("java", 'say "it\'s"', '"say \\"it\'s\\""'),
    ("java", r"\d+", r'"\d+"'),
    ("java", r"a\n", r'"a\\n"'),
    ("java", "a\nb", r'"a\nb"'),
    ("javascript", "Emma", '"Emma"'),
    ("javascript", "5n", "5n"),
    ("javascript", "2.0", "2.0"),
    ("javascript", "NaN", '"NaN"'),
    ("javascript", '{"a": [1, "it\'s"]}', '{"a": [1, "it\'s"]}'),
    ("javascript", '{a: "b"}', "'{a: \"b\"}'"),
    ("javascript", "find(\"a\", 'b')", "find(\"a\", 'b')"),
    ("javascript", '"a"', "'\"a\"'"),
    ("javascript", "(a) => a", '"(a) => a"'),
    ("javascript", " 5", '" 5"'),
]


@pytest.mark.parametrize(("language", "text", "written"), WRITTEN)
def test_texts_are_written(language: Any, text: str, written: str) -> None:
    call = ToolCall(name="f", arguments={"a": text})
    assert write_call(call, language) == f"f(a={written})"
    assert calls_of(f"[f(a={written})]", language) == [("f", {"a": text})]


def test_values_that_are_no_text_are_written_as_the_language_has_them() -> None:
    arguments: dict[str, Any] = {"a": 5, "b": [1, 2], "c": None, "d": True}
    assert write_call(ToolCall(name="f", arguments=arguments), "javascript") == "f(a=5, b=[1, 2], c=null, d=true)"
    written = write_call(ToolCall(name="f", arguments=arguments), "java")
    assert written == "f(a=5, b=new ArrayList<Object>(Arrays.asList(1, 2)), c=null, d=true)"


CODE = ["new ", "A", "<B, C>", "(", ")", "{{", "}}", "[", "]", '"', "'", "`", "${", ",", ", ", ";", "=", "=>", "a", "1",
        "2L", "\\", "\\u", "\n", " ", "é", "-", "/", '"""', "**", "</think>", "<think>", "<", ">", "null"]  # fmt: skip
texts = st.text() | st.lists(st.sampled_from(CODE), max_size=12).map("".join)
names = st.sampled_from(["Shelf.put", "put", "$", "my-tool", "a tool's"]) | st.text(min_size=1, max_size=8)
calls = st.builds(
    ToolCall,
    name=names,
    arguments=st.dictionaries(st.sampled_from(["a", "b2", "$c", "odd name"]) | st.text(max_size=5), texts, max_size=4),
)


@pytest.mark.parametrize("language", LANGUAGES)
@given(made=st.lists(calls, min_size=1, max_size=3))
def test_what_is_written_is_read_back(language: str, made: list[ToolCall]) -> None:
    dialect = DIALECTS[language]
    parsed = dialect.parse(dialect.render_action(made, "It goes there."))
    assert list(parsed.calls) == made
    assert (parsed.errors, parsed.content, parsed.reasoning) == ((), "It goes there.", "")


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=texts, more=texts)
def test_any_text_is_read(language: str, text: str, more: str) -> None:
    for action in (text, f"[f(a={text}, b={more})]", f"f(a={text});{more}", f"<think>{text}</think>[f({more})]"):
        parsed = DIALECTS[language].parse(action)
        for error in parsed.errors:
            assert 0 <= error.position <= len(action)
        for call in parsed.calls:
            assert all(isinstance(value, str) for value in call.arguments.values())


# Hostile text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "piece",
    ["(", "[", "{", '"', "'", "`", '"""', "\\", ",", ";", "<", "a<", "a<b,", "a <", "[f(", "[f(a=", "[f(a=1)",
     "[f(a=1),", "[f(a=1", "f(a=1)\n", "f(", "[f(a='", '[f(a="\\', "[f(a=</think>", "[f(a=1</think>[", "**{",
     "[f(**{'a':", "=", "a=", "[f(a=1, 2)", "f(1)\n", "f(a=1),", "```", "`a", " ", "\n", "é", "['a'(", "[f(a=1)}",
     '[f(a="</think>")]'],
)  # fmt: skip
def test_hostile_text_is_read_or_refused(language: str, piece: str) -> None:
    dialect = DIALECTS[language]
    for opening, length in (("", 2_000), ("[f(a=", 2_000), ("f(a=", 2_000), ("", MAX_LENGTH), ("[f(a=", MAX_LENGTH)):
        text = (opening + piece * length)[:length]
        for action in (text, f"{text[: MAX_LENGTH - 20]}</think>[f(a=1)]"):
            assert len(dialect.parse(action).errors) <= 51


@pytest.mark.parametrize("language", LANGUAGES)
def test_limits_are_told(language: str) -> None:
    dialect = DIALECTS[language]
    assert [error.kind for error in dialect.parse("[f(a=1)]" + " " * MAX_LENGTH).errors] == ["too_long"]
    assert faults_of("[" + "f()," * 1_500 + "]", language)[1] == [("too_long", 6_002)]
    assert len(dialect.parse("[" + "f()," * 1_500 + "]").calls) == 1_000
    deep = "(" * 64 + ")" * 64
    assert calls_of(f"[f(a={deep})]", language) == [("f", {"a": deep})]
    assert faults_of(f"[f(a=({deep})), g()]", language) == (["g"], [("arguments", 69)])
    for action in HOSTILE_ACTIONS:
        dialect.parse(action)


# The benchmark's own calls

OFFICIALLY_WRONG = {"simple_java_36", "simple_java_64", "simple_java_65"}
"""Answers that no text of them passes; see ``label_faults``."""


def played(task: Task, dialect: CodeDialect) -> tuple[str, Episode]:
    """The reference calls as an action, and the episode it makes."""
    assert isinstance(task.goal, CallsGoal)
    text = dialect.render_action([call.reference() for call in task.goal.turns[0]])
    parsed = dialect.parse(text)
    assert [call.arguments for call in parsed.calls] == [call.reference().arguments for call in task.goal.turns[0]]
    step = Step(action=text, calls=parsed.calls, errors=parsed.errors, content=parsed.content)
    return text, Episode(env_id="bfcl/test-v0", task_id=task.id, seed=0, steps=(step,), ended="terminated")


def assert_passes(task: Task, language: str) -> None:
    text, episode = played(task, DIALECTS[language])
    assert call_match(task, episode).value == 1.0
    functions: Any = [tool.meta["bfcl"] for tool in task.tools]
    gold: Any = task.meta["gold"]
    category = f"simple_{language}"
    verdict = judge_text(text, category, functions, gold, language=language)
    assert verdict.valid == (task.id not in OFFICIALLY_WRONG), (task.id, verdict.message)
    decoded = [{call.name: call.arguments} for call in episode.steps[0].calls]
    assert check(decoded, gold, functions, category, language=language).valid == verdict.valid


@needs_tree_sitter
@pytest.mark.parametrize("language", LANGUAGES)
def test_official_answers_pass_as_text(official_data: Path, language: str) -> None:
    folder = official_data / "bfcl"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    for task in load_single(BfclFiles(folder), f"simple_{language}"):
        assert_passes(task, language)


@needs_tree_sitter
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("split", ["train", "test"])
def test_starter_answers_pass_as_text(language: str, split: str) -> None:
    for task in starter_single(f"simple_{language}", split)[:100]:
        assert_passes(task, language)
