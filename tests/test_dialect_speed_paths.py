"""Plain actions: what a form reads by itself, at half the cost, is what its dialect reads otherwise, word for word."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import ToolCall, get_dialect
from callgym.dialects import ParsedAction
from callgym.dialects.plain_action import PlainDialect, PlainForm

TABLES = Path(__file__).parent / "conformance"
NAMES = (
    "mistral",
    "mistral:json",
    "kimi",
    "deepseek",
    "deepseek:v3.1",
    "functionary",
    "functionary:v3.1",
    "llama3",
    "react",
    "alpha-umi",
    "harmony",
    "harmony:commentary",
    "xlam",
)
EVERY = pytest.mark.parametrize("name", NAMES)
CALL = ToolCall(name="look", arguments={"at": 'it\'s </s> <think> a {["x"]}', "n": [1, {"é": None}], "none": {}})
OTHER = ToolCall(name="ns.find-2", arguments={"say": "\\ \n </think> 🙂"})
# What stands in any of the forms, or nearly does.
PIECES = (
    " ", "  ", "\n", "\n  ", "\n\n", "\t", "\r", "\u2028", "\x00", "\x1c", "{", "}", "[", "]", '"', "\\", ",", ":",
    ";", ">", "<", "`", "(", ")", "words", "N", "Next: ", "é", "\ud800", "\\ud83d", "\\ud83d\\ude00", "{}",
    '{"a": 1}', '{"a": 1, "a": 2}', "NaN", "1e999", "null", "<think>", "</think>", "<think></think>", "[THINK]",
    "[/THINK]", "```", "```json\n", "</s>", "<|eot_id|>", "<|im_end|>", "<|eom_id|>", "<|end_of_text|>",
    "<|endoftext|>", "<｜end▁of▁sentence｜>", "all\n", ">>>", ">>>all\n", ">>>f\n", "f\n", "<function=", "<function=f>",
    "</function>", "<|python_tag|>", "f.call(", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[CALL_ID]x1",
    "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>",
    "<|tool_call_argument_begin|>", "functions.", "functions.f:0", ":1", "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>", "function",
    "function<｜tool▁sep｜>", "Thought:", "Thought: x\n",
    "Action: f\n", "Action:", " Action: f", "Action Input:", "Action Input: {}", "\nObservation:",
    "Observation: x\n", "Question:", "Final Answer:", "Next: caller.", "Next: conclusion.", "caller:", "caller: ",
    "conclusion:", "conclusion: x", "assistant:", "planner: ", "<|start|>", "assistant", "<|start|>assistant",
    "<|channel|>", "commentary", "analysis", "<|channel|>analysis<|message|>", "<|channel|>commentary<|message|>",
    "<|message|>", "<|end|>", "<|call|>", "<|return|>", " to=functions.f", " to=user", "to=", "json", "<|constrain|>",
    '"name": "f", ', '"arguments": {}', '"parameters": {}', '"id": "x"', '{"name": "f", "arguments": {}}',
    '{"name": "f", "parameters": {}}', ', {"name": "f", "arguments": {}}', "; ",
)  # fmt: skip


def dialect_of(name: str) -> PlainDialect:
    dialect = get_dialect(name)
    assert isinstance(dialect, PlainDialect)
    return dialect


def form_of(name: str) -> PlainForm:
    form = dialect_of(name).plain
    assert form is not None
    return form


def exactly(parsed: ParsedAction) -> str:
    """Everything that it says; as JSON, for 1, 1.0 and true are equal."""
    calls = [(call.name, call.arguments, call.id) for call in parsed.calls]
    return json.dumps([calls, [error.to_dict() for error in parsed.errors], parsed.content, parsed.reasoning])


SEEDS: dict[str, list[str]] = {}


def is_read_alike(name: str, text: str) -> bool:
    """Whether the plain form has read it; it must then read what the dialect's own reader does."""
    plain = form_of(name).read(text)
    if plain is None:
        return False
    assert exactly(plain) == exactly(dialect_of(name).read_any(text)), (name, text)
    return True


def seeds(name: str) -> list[str]:
    """Actions as the dialect writes them, and its conformance table; all of them but the huge ones."""
    dialect = dialect_of(name)
    calls = (CALL, OTHER, CALL)
    written = [dialect.render_action(calls[:count], said) for count in (1, 2, 3) for said in ("", "Let me look.")]
    reasoned = [f"{opening}I need it.</think>{text}" for text in written for opening in ("<think>", "")]
    spoken = [
        'Thought: Why: this\nand that\nAction: look\nAction Input: {"at": 1}',
        "I'd need it. Now.\nNext: caller.</s>caller: Action: look\nAction Input: {}</s>",
        "<|channel|>analysis<|message|>I need it.<|end|><|start|>assistant<|channel|>commentary to=functions.look "
        '<|constrain|>json<|message|>{"at": 1}<|call|>',
        '[THINK]I need it[/THINK]Now[TOOL_CALLS]look[CALL_ID]x-1[ARGS]{"at": 1}',
    ]
    ended = [text + dialect.end for text in written]
    table = TABLES / f"{name.partition(':')[0]}.jsonl"
    cases = [json.loads(line)["text"] for line in table.read_text(encoding="utf-8").split("\n") if line]
    short = [text for text in cases if isinstance(text, str) and len(text) < 5000]
    return [*written, *reasoned, *spoken, *ended, *short]


def mutated(rng: random.Random, text: str, others: list[str]) -> str:
    """The text with up to three pieces put in, cut out, said twice or taken from another text."""
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.randrange(12))
        match rng.randrange(6):
            case 0 | 1:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 2:
                text = text[:at] + text[end:]
            case 3:
                text = text[:at] + rng.choice(PIECES) + text[end:]
            case 4:
                text = text[:end] + text[at:]
            case 5:
                other = rng.choice(others)
                text = text[:at] + other[rng.randrange(len(other) + 1) :]
    return text


def filled(rng: random.Random, name: str) -> str:
    """Calls as the dialect writes them, with pieces as they come in place of a name, a text, words and spaces."""
    call = ToolCall(name="NAME", arguments={"a": "TEXT", "b": ["TEXT"]})
    text = dialect_of(name).render_action((call,) * rng.randrange(1, 4), rng.choice(("", "WORDS")))
    text = rng.choice(("", "", "<think>WORDS</think>", "WORDS</think>", "Thought: WORDS\n", " ")) + text
    for hole in ("NAME", "TEXT", "TEXT", "WORDS", "WORDS", " ", "\n"):
        if hole in text and rng.random() < 0.4:
            text = text.replace(hole, "".join(rng.choices(PIECES, k=rng.randrange(3))), rng.randrange(1, 3))
    return text + rng.choice(("", "", dialect_of(name).end, " \n", "\n\n"))


@EVERY
def test_tables_and_written_actions_are_read_alike(name: str) -> None:
    alike = [is_read_alike(name, text) for text in seeds(name)]
    assert sum(alike) >= 8


USUAL = {
    "mistral": '[TOOL_CALLS]f[ARGS]{"a": "</s>"}[TOOL_CALLS]g[CALL_ID]x-1[ARGS]{}</s>',
    "kimi": "<think>x</think>Well.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
    "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|><|im_end|>",
    "deepseek": "x</think>Well.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n"
    "```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "functionary": 'all\nWell.\n>>>f\n{"a": ">>>g"}\n>>>g\n{}<|eot_id|>',
    "functionary:v3.1": "Well.<function=f>{}</function><function=g>{}</function><|eom_id|>",
    "llama3": 'Well.<|python_tag|>{"name": "f", "parameters": {"a": ";"}}; {"name": "g", "parameters": {}}<|eom_id|>',
    "react": "Well.\nThought: why\nand how: so\nAction: f\nAction Input: {}\n\nAction: g\nAction Input: {}\n",
    "alpha-umi": "I'd look. Next: caller.</s>caller: Action: f\nAction Input: {}</s>"
    "caller: Action: g\nAction Input: {}</s>",
    "harmony": "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>commentary<|message|>Well.<|end|>"
    "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>",
    "xlam": '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"a": "]"}}]<|im_end|>',
}
"""Actions that the forms must read by themselves, or they would be of no use."""


@pytest.mark.parametrize("name", USUAL)
def test_usual_actions_are_plain(name: str) -> None:
    assert is_read_alike(name, USUAL[name])


@EVERY
@pytest.mark.parametrize("depth", [1, 62, 63, 64, 65, 66, 5000])
def test_nesting_is_bounded_alike(name: str, depth: int) -> None:
    written = dialect_of(name).render_action((ToolCall(name="f", arguments={"a": "DEEP"}),))
    assert is_read_alike(name, written.replace('"DEEP"', "[" * depth + "]" * depth)) <= (depth < 65)


@EVERY
@pytest.mark.parametrize("count", [99, 100, 101, 499, 501])
def test_many_calls_are_read_alike(name: str, count: int) -> None:
    call = ToolCall(name="f", arguments={})
    is_read_alike(name, dialect_of(name).render_action((call,) * count))


NEARLY = (
    ("functionary", 'all\n{"a": 1}'),
    ("functionary", 'f\n{"a": 1} {"b": 2}'),
    ("functionary", "f{}"),
    ("llama3", '{"name": "f", "parameters": {}} {"name": "g", "parameters": {}}'),
    ("llama3", '{"name": "f", "parameters": {}, "parameters": {}}'),
    ("llama3", '{"name": "f", "parameters": {}, "arguments": {}}'),
    ("llama3", '{"name": "", "parameters": {}}'),
    ("react", "Action: f\nAction Input: {}\n  Action: g\nAction Input: {}"),
    ("react", "Action: f\nAction Input: {} and more"),
    ("react", "Action: f\nAction Input: {}\nObservation: x\nAction: g\nAction Input: {}"),
    ("react", "Final Answer: x\nAction: f\nAction Input: {}"),
    ("alpha-umi", "Next: conclusion.</s>caller: Action: f\nAction Input: {}</s>"),
    ("alpha-umi", "Next: caller.</s>caller: Action: f\nAction Input: {}</s>user: x"),
    ("harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}"),
    ("harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|end|>"),
    ("harmony", "<|channel|>analysis to=functions.f <|constrain|>json<|message|>{}<|call|>"),
    ("kimi", "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{} x<|tool_call_end|>"),
    ("deepseek", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>"),
    ("mistral", "[TOOL_CALLS]f[ARGS]{}}"),
    ("mistral", "[TOOL_CALLS]f[ARGS]{}, {}"),
    ("mistral", '[TOOL_CALLS]f[ARGS]{"a": 1, "a": 2}'),
    ("xlam", '[{"name": "f", "arguments": {}}, ]'),
    ("xlam", '[{"name": "f", "arguments": {}} {"name": "g", "arguments": {}}]'),
    ("xlam", '[{"name": "f", "arguments": {}}] [{"name": "g", "arguments": {}}]'),
    ("xlam", '[{"name": "f", "arguments": {}, "id": 7}]'),
)


@pytest.mark.parametrize(("name", "text"), NEARLY)
def test_what_is_nearly_plain_is_left_to_the_reader(name: str, text: str) -> None:
    assert not is_read_alike(name, text)


@EVERY
@given(st.integers(0, 2**64))
@settings(max_examples=60, deadline=None)
def test_mutated_actions_are_read_alike(name: str, seed: int) -> None:
    rng = random.Random(seed)
    texts = SEEDS.setdefault(name, seeds(name))
    for _ in range(20):
        is_read_alike(name, mutated(rng, rng.choice(texts), texts))
        is_read_alike(name, filled(rng, name))
