"""Which dialect it is: from a model's chat template, and from what a policy has written."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Message, Task, Tool, ToolCall, ToolResult
from callgym.data import DataSource
from callgym.dialects import DIALECTS, Dialect, ParsedAction, get_dialect
from callgym.dialects.detect import Detection, detect_dialect
from callgym.envs.base import ToolEnv
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, GoldCall
from callgym.schema import ToolSchema
from callgym.tool_backends import PythonBackend

AUTO = DIALECTS["auto"]
SPECS = [
    spec
    for name, each in DIALECTS.items()
    if name != "auto"
    for spec in (name, *(f"{name}:{option}" for option in each.options))
]

# Chat templates.

NOTHING = "its chat template knows no tools"
OTHERWISE = "its chat template knows tools, but writes calls in no form that is a dialect here"
HERMES = ("hermes", "<tool_call>")
XML = ("qwen3-coder", "<function= with <parameter=")
FENCE = ("deepseek", "<｜tool▁sep｜> with ```json")
TEMPLATES: dict[tuple[str, str], str] = {
    ("harmony", "<|channel|> with commentary with functions."): "gptoss gptoss_training",
    ("glm", "<arg_key> with <arg_value>"): "glm4moe glm4moe_training",
    ("llama3", 'ipython with "parameters": '): "llama3_1 llama3_2",
    FENCE: "deepseekv3 deepseekv3_training deepseek_r1_distill deepseek_r1_distill_training",
    HERMES: (
        "qwen2_5 qwen2_5_training qwen3 qwen3_training qwen3_instruct_2507 qwen3_instruct_2507_training qwen3_vl "
        "qwen3_vl_training"
    ),
    XML: (
        "qwen3_5_nothink qwen3_5_nothink_training qwen3_5_think qwen3_5_think_training qwen3_6 qwen3_6_training "
        "qwen3_8 qwen3_8_training nemotron_3_nano nemotron_3_nano_training nemotron_3_super "
        "nemotron_3_super_training nemotron_3_ultra nemotron_3_ultra_training nemotron_3_5_lightning "
        "nemotron_3_5_lightning_training"
    ),
    ("", OTHERWISE): (
        "diffusion_gemma diffusion_gemma_training gemma4 gemma4_v2 gemma4_v3 gemma4_v4 gemma4_v5 lfm2 lfm2_training "
        "lfm2_v2 lfm2_v2_training lfm2_2_5 lfm2_2_5_v2 lfm2_2_5_vl muse_glimmer muse_glimmer_training"
    ),
    ("", NOTHING): (
        "cohere cohere_training cohere2 cohere2_training gemma gemma_training gemma3 gemma3_training idefics3 "
        "idefics3_training llama3 llama3_training llava_next llava_next_training phi3 phi3_training phi3_5 "
        "phi3_5_training qwen2_5_vl qwen2_5_vl_training smolvlm smolvlm_training"
    ),
}
"""What is found, and why, to the templates that TRL ships."""
TABLE = {name: found for found, names in TEMPLATES.items() for name in names.split()}


def shipped() -> dict[str, str]:
    trl = pytest.importorskip("trl")
    folder = Path(trl.__file__).parent / "chat_templates"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jinja"))}


def test_every_template_of_trl_is_known_or_known_to_be_none() -> None:
    found = {name: detect_dialect(text) for name, text in shipped().items()}
    expected = {
        name: Detection(dialect, f"its chat template writes {reason}" if dialect else reason)
        for name, (dialect, reason) in TABLE.items()
    }
    assert {name: each for name, each in found.items() if name in TABLE} == expected
    for name in found.keys() - TABLE.keys():  # of another release of TRL
        assert found[name].reason
    assert all(get_dialect(dialect) for dialect, _ in TABLE.values() if dialect)


CALL_LOOP = "{% for m in messages %}{% for c in m.tool_calls or [] %}CALL{% endfor %}{{ m.content }}{% endfor %}"
OTHER_TEMPLATES = {
    "{{ '[TOOL_CALLS]' + c.function.name + '[ARGS]' + c.function.arguments }}": "mistral",
    "{{ '[TOOL_CALLS] [' + (c.function | tojson) + ']' }}": "mistral:json",
    "{{ '<|tool_call_begin|>' + c.id + '<|tool_call_argument_begin|>' + c.function.arguments }}": "kimi",
    "<|tool_calls_section_begin|>{{ c }}": "kimi",
    "{{ '<｜tool▁call▁begin｜>' + c.function.name + '<｜tool▁sep｜>' + c.function.arguments }}": "deepseek:v3.1",
    "{{ '>>>' + c.function.name + '\\n' + c.function.arguments }}": "functionary",
    '<minimax:tool_call><invoke name="{{ c.function.name }}"><parameter name="x">': "anthropic",
    "{% if m.role == 'ipython' %}{% endif %}[{'name': {{ c }}, {{ '\"arguments\": ' }}": "xlam",
    "Make calls in a single JSON array: {{ c.function.name }}, arguments": "xlam",
    "ipython {{ '\"arguments\": ' }} in the format [func_name1(params_name1=params_value1)]": "toolace",
    "<|python_tag|>{{ c.function.name }}.call(": "llama3",
    "{# <function= and <parameter= #}<tool_call>{{ c | tojson }}</tool_call>": "hermes",
    "Action: {{ c.function.name }}\nAction Input: {{ c.function.arguments }}": "react",
    "<|tool_call|>{{ c }}": "",
}


@pytest.mark.parametrize(("call", "dialect"), OTHER_TEMPLATES.items())
def test_templates_of_other_models_are_known_by_what_they_write(call: str, dialect: str) -> None:
    found = detect_dialect(CALL_LOOP.replace("CALL", call))
    assert found.dialect == dialect
    assert found.reason
    if dialect:
        assert get_dialect(dialect)


def test_a_template_is_taken_from_wherever_it_is() -> None:
    known, plain = CALL_LOOP.replace("CALL", "<tool_call>"), "{{ messages[0].content }}"
    source: Any
    for source in (
        known,
        SimpleNamespace(chat_template=known),
        SimpleNamespace(chat_template={"default": plain, "tool_use": known}),
        SimpleNamespace(chat_template=[{"name": "tool_use", "template": known}]),
        {"default": known},
    ):
        assert detect_dialect(source) == Detection("hermes", "its chat template writes <tool_call>")
    assert detect_dialect({"default": plain, "rag": known}) == Detection("", NOTHING)
    for source in (SimpleNamespace(chat_template=None), {}, []):
        assert detect_dialect(source) == Detection("", "there is no chat template")
    for wrong in (None, 7, object(), SimpleNamespace(chat_template=7)):
        with pytest.raises(ConfigurationError, match="a tokenizer, a chat template or an action's text"):
            detect_dialect(wrong)


def test_an_action_is_told_from_a_template() -> None:
    assert detect_dialect('[TOOL_CALLS]look[ARGS]{"at": 1}') == Detection("mistral", "it opens with '[TOOL_CALLS]'")
    assert detect_dialect("Good morning.").dialect == ""
    jinja = '<tool_call>{"name": "save", "arguments": {"text": "{% if x %}{{ x }}{% endif %}"}}</tool_call>'
    assert detect_dialect(jinja) == Detection("hermes", "it opens with '<tool_call>'")


# Actions.

CALLS = (
    ToolCall(name="get_news", arguments={"query": "tea & <b>", "count": 3, "deep": {"a": [1, None, "x"]}}),
    ToolCall(name="look"),
)
ALIKE = {
    "apibank": ("python",),
    "apibank-short": ("python",),
    "llama3": ("llama3", "openai"),
    "xlam": ("xlam", "openai"),
    "toolace": ("toolace", "python"),
}
"""Dialects whose calls may be read as another's, with the same calls in the end."""


def same(found: ParsedAction, own: ParsedAction) -> bool:
    """Whether two readings make the same calls of an action, and the same words and reasoning."""
    made = [[(call.name, json.dumps(call.arguments)) for call in parsed.calls] for parsed in (found, own)]
    return made[0] == made[1] and found._replace(calls=(), dialect="") == own._replace(calls=())


@pytest.mark.parametrize("words", ["", "Let me look."])
@pytest.mark.parametrize("calls", [CALLS[:1], CALLS[1:], CALLS], ids=["one", "empty", "two"])
@pytest.mark.parametrize("spec", SPECS)
def test_every_dialects_calls_are_read_as_that_dialect_reads_them(
    spec: str, calls: tuple[ToolCall, ...], words: str
) -> None:
    dialect = get_dialect(spec)
    action = dialect.render_action(calls, words)
    parsed = AUTO.parse(action)
    name = spec.partition(":")[0]
    assert parsed.dialect in ALIKE.get(name, (name,))
    assert same(parsed, dialect.parse(action))
    assert not parsed.errors


@pytest.mark.parametrize("spec", SPECS)
def test_a_thought_before_a_call_is_a_thought(spec: str) -> None:
    dialect = get_dialect(spec)
    action = dialect.render_action(CALLS[:1])
    for lead in ("<think>Hm.</think>\n", "Hm.</think>", "<think></think>"):
        parsed = AUTO.parse(lead + action)
        assert [call.name for call in parsed.calls] == ["get_news"]
        assert same(parsed, dialect.parse(lead + action))


MARKS = {
    "hermes": '<tool_call>{"name": "pay", "arguments": {}}</tool_call>',
    "mistral": '[TOOL_CALLS]pay[ARGS]{"amount": 1}',
    "qwen3-coder": "<tool_call>\n<function=pay>\n<parameter=amount>\n1\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>pay\n<arg_key>amount</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
    "kimi": "<|tool_call_begin|>functions.pay:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    "deepseek": "<｜tool▁call▁begin｜>pay<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    "python": "[pay(amount=1)]",
    "anthropic": '<invoke name="pay"><parameter name="amount">1</parameter></invoke>',
    "llama3": '<|python_tag|>{"name": "pay", "parameters": {}}',
}


@pytest.mark.parametrize("drafted", MARKS)
@pytest.mark.parametrize("made", MARKS)
def test_a_draft_in_reasoning_does_not_decide(made: str, drafted: str) -> None:
    """P04: the call that is made counts, and the one that is thought of does not."""
    for lead in ("<think>maybe {}</think>", "maybe {}</think>\n"):
        action = lead.format(MARKS[drafted]) + MARKS[made].replace("pay", "look")
        parsed = AUTO.parse(action)
        assert parsed.dialect == made
        assert [call.name for call in parsed.calls] == ["look"]
        assert "pay" in parsed.reasoning
        assert not parsed.errors


@pytest.mark.parametrize("drafted", MARKS)
def test_reasoning_that_does_not_end_makes_no_call(drafted: str) -> None:
    parsed = AUTO.parse(f"<think>maybe {MARKS[drafted]}")
    assert not parsed.calls
    assert not parsed.errors
    assert "pay" in parsed.reasoning
    words = AUTO.parse(f"<think>maybe {MARKS[drafted]}</think>No.")
    assert (words.calls, words.errors, words.content) == ((), (), "No.")


def test_reasoning_in_tags_of_one_dialect() -> None:
    thought = f"[THINK]maybe {MARKS['hermes']}[/THINK]"
    assert AUTO.parse(thought + MARKS["mistral"]).dialect == "mistral"
    assert AUTO.parse(thought + MARKS["mistral"]).reasoning == f"maybe {MARKS['hermes']}"
    assert not AUTO.parse(thought).calls
    parsed = AUTO.parse(f"<thinking>maybe {MARKS['mistral']}</thinking>{MARKS['anthropic']}")
    assert (parsed.dialect, len(parsed.calls)) == ("anthropic", 1)


@pytest.mark.parametrize("inner", MARKS)
@pytest.mark.parametrize("spec", SPECS)
def test_a_mark_in_an_argument_does_not_decide(spec: str, inner: str) -> None:
    dialect = get_dialect(spec)
    call = ToolCall(name="save", arguments={"text": f"see {MARKS[inner]} and </think>"})
    if not dialect.can_write(call):
        return
    action = dialect.render_action((call,))
    parsed = AUTO.parse(action)
    name = spec.partition(":")[0]
    assert parsed.dialect in ALIKE.get(name, (name,))
    assert same(parsed, dialect.parse(action))


WORDS = [
    "",
    "Good morning.",
    "It is 5 > 3, see [1] and (a).",
    '{"city": "Paris", "temperature": 21}',
    '{"name": "Alice", "age": 3}',
    "[1, 2, 3]",
    '[{"name": "Alice"}]',
    'Here it is:\n```json\n{"total": 5}\n```',
    "In Python, write >>> print(x).",
    "Action is needed.\nActions: none",
    "See [the docs](https://example.org) or f(x) = 2.",
    "<b>bold</b> and a < b",
    "The tag <think> is not closed here",
    'Sure\n{"total": 5}',
    "caller: me",
]


@pytest.mark.parametrize("text", WORDS)
def test_words_without_a_mark_are_words(text: str) -> None:
    parsed = AUTO.parse(text)
    assert (parsed.calls, parsed.errors, parsed.dialect) == ((), (), "")
    if "<think>" not in text:
        assert parsed.content == text


@pytest.mark.parametrize(
    ("text", "name", "content"),
    [
        ("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Hello.", "harmony", "Hello."),
        ("Thought: I know.\nFinal Answer: It rains.", "react", "It rains."),
        ("I know. Next: conclusion.</s>conclusion: It rains.</s>", "alpha-umi", "It rains."),
        ('{"role": "assistant", "content": "It rains."}', "openai", "It rains."),
        ("[]", "xlam", ""),
    ],
)  # fmt: skip
def test_words_in_a_dialects_own_form_are_read_in_it(text: str, name: str, content: str) -> None:
    parsed = AUTO.parse(text)
    assert (parsed.dialect, parsed.content, parsed.calls, parsed.errors) == (name, content, (), ())


BROKEN = [
    ('<tool_call>{"name": "look", "arguments": {"at": ', "hermes", "truncated"),
    ('{"name": "look", "arguments": {"at": ', "openai", "truncated"),
    ('{"name": "lo', "openai", "truncated"),
    ('[{"na', "openai", "truncated"),
    ('[TOOL_CALLS]look[ARGS]{"at": 1', "mistral", "truncated"),
    ("[look(at=", "python", "truncated"),
    ("<function=look><parameter=at>1", "qwen3-coder", "truncated"),
    ("<tool_call>look\n<arg_key>at</arg_key>", "glm", "truncated"),
    ("[look(1)]", "python", "arguments"),
    ('<|channel|>commentary to=functions.look<|message|>{"at": 1}', "harmony", "truncated"),
    ("Action: look\nAction Input: {'at': 1}", "react", "malformed"),
]


@pytest.mark.parametrize(("text", "name", "kind"), BROKEN)
def test_a_broken_call_is_an_error_and_no_words(text: str, name: str, kind: str) -> None:
    """C01: what was tried and cannot be read is no abstention."""
    parsed = AUTO.parse(text)
    assert (parsed.dialect, [error.kind for error in parsed.errors]) == (name, [kind])
    assert not parsed.calls


def test_a_good_call_survives_a_bad_neighbour() -> None:
    """P02, in forms that are read in more than one dialect."""
    good = '{"name": "look", "arguments": {}}'
    for text in (f'[{good}, {{"name": 5}}]', f'{good}; {{"name": "look", "arguments": [1]}}'):
        parsed = AUTO.parse(text)
        assert [call.name for call in parsed.calls] == ["look"]
        assert len(parsed.errors) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("look(at=1)", "python"),
        ("look(at=1)\nlook(at=2)", "python"),
        ("[Get Weather(city='Oslo')]", "toolace"),
        ("API-Request: [Look(at='Mia's list')]", "apibank"),
        ('{"name": "look", "parameters": {}}; {"name": "look", "parameters": {}}', "llama3"),
        ('I look.\n```json\n[{"name": "look", "arguments": {}}]\n```', "xlam"),
        ('[{"name": "look", "arguments": {}}]<|im_end|>', "xlam"),
        (">>>all\nI look.>>>look\n{}", "functionary"),
        ('look\n{"at": 1}', "functionary"),
        ('<function=look>{"at": 1}</function>', "functionary"),
        ('Thought: I look.\nAction: look\nAction Input: {"at": 1}', "react"),
        ('I plan. Next: caller.</s>caller: Action: look\nAction Input: {"at": 1}</s>', "alpha-umi"),
        ('<a:function_calls><a:invoke name="look"></a:invoke></a:function_calls>', "anthropic"),
    ],
)
def test_forms_without_a_sign_of_their_own(text: str, name: str) -> None:
    parsed = AUTO.parse(text)
    assert parsed.dialect == name
    assert parsed.calls
    assert not parsed.errors


def test_a_sign_in_words_does_not_hide_a_call_behind_them() -> None:
    for words in (">>> ", "see [this(one)] ", "Action: later.\n"):
        assert AUTO.parse(words + MARKS["hermes"]).dialect == "hermes"


def test_a_dialect_that_somebody_adds_is_known_by_its_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bang(type(DIALECTS["hermes"])):  # type: ignore[misc]
        name = "bang"
        signs = ("!!call ",)

        def read(self, text: str) -> ParsedAction:
            return ParsedAction(calls=(ToolCall(name=text.partition("!!call ")[2]),))

    monkeypatch.setitem(DIALECTS, "bang", Bang())
    assert AUTO.parse("I do: !!call look").dialect == "bang"


# Any text.

PIECES = st.sampled_from(
    [
        *(mark for each in DIALECTS.values() for mark in (*each.signs, *each.control)),
        *MARKS.values(), "<think>", "</think>", "[THINK]", "[/THINK]", "<thinking>", "</thinking>", '{"name": "f"',
        ', "arguments": {}}', "[f(", "a=1", ")]", ">>>", "f\n", "{", "}", "[", "]", '"', "'", "\n", " ", "\ud800", "\0",
        "Action: f\n", "Action Input: {}", "Final Answer:", "```json\n", "```", "API-Request: ", ";", "Next: caller.",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=12).map("".join))
def test_any_text_is_read(text: str) -> None:
    parsed = AUTO.parse(text)
    assert parsed.dialect in {"", *DIALECTS}
    assert all(0 <= error.position <= len(text) for error in parsed.errors)
    if parsed.dialect:
        assert same(parsed, get_dialect(parsed.dialect).read(text))
    assert detect_dialect(text).dialect == parsed.dialect


names = st.from_regex(r"[a-z][a-z_]{0,10}", fullmatch=True).filter(lambda name: name not in ("all", "python"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
calls_of_any_kind = st.lists(
    st.builds(ToolCall, name=names, arguments=st.dictionaries(names, values, max_size=3)), min_size=1, max_size=3
)


@pytest.mark.parametrize("spec", SPECS)
@given(calls=calls_of_any_kind)
def test_whatever_calls_a_dialect_can_write_are_read(spec: str, calls: list[ToolCall]) -> None:
    dialect = get_dialect(spec)
    if spec.startswith("apibank") or not all(map(dialect.can_write, calls)):
        return
    action = dialect.render_action(calls)
    parsed, own = AUTO.parse(action), dialect.parse(action)
    name = spec.partition(":")[0]
    if not own.errors:
        assert parsed.dialect in ALIKE.get(name, (name,))
        assert same(parsed, own)


def test_prompts_and_answers_are_hermes() -> None:
    hermes = DIALECTS["hermes"]
    tool = Tool(name="look", parameters={"type": "object", "properties": {}})
    messages = [Message(role="user", content="Look."), Message(role="assistant", tool_calls=CALLS)]
    assert AUTO.render_prompt(messages, [tool]) == hermes.render_prompt(messages, [tool])
    assert AUTO.render_action(CALLS, "x") == hermes.render_action(CALLS, "x")
    results = [ToolResult(content=1), ToolResult(content="<|im_end|>")]
    assert AUTO.render_results(CALLS, results) == hermes.render_results(CALLS, results)
    assert AUTO.render_reply("No. <|im_end|>") == hermes.render_reply("No. <|im_end|>")


def test_an_action_that_is_too_long_is_refused() -> None:
    assert [error.kind for error in AUTO.parse("<tool_call>" * 4_000).errors] == ["too_long"]


# In an environment.

ADD = Tool(
    name="add",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
)


class AddEnv(ToolEnv):
    family: ClassVar[str] = "adding"

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"add": lambda world, a, b: a + b})


def test_values_that_arrive_as_text_are_read_by_the_tools_schema() -> None:
    gold = ToolCall(name="add", arguments={"a": 2, "b": 3})
    task = Task(
        id="adding/0",
        family="adding",
        split="test",
        messages=(Message(role="user", content="2 + 3?"),),
        tools=(ADD,),
        goal=CallsGoal(turns=((GoldCall.of(gold),),)),
    )
    env = AddEnv(data=[task], dialect="auto")
    for spec in SPECS:
        dialect: Dialect = get_dialect(spec)
        if spec.startswith("apibank"):  # its text is Python's, too, where it has types
            continue
        env.reset(seed=0)
        _, reward, *_, info = env.step(dialect.render_action((gold,)))
        assert info["calls"][0].arguments == {"a": 2, "b": 3}
        assert info["results"][0].content == 5
        assert reward == 1.0
    raw = AUTO.parse(get_dialect("qwen3-coder").render_action((gold,)))
    assert raw.calls[0].arguments == {"a": "2", "b": "3"}
    assert ToolSchema(ADD).coerce(raw.calls[0].arguments) == gold.arguments


def test_nothing_here_is_left_of_any() -> None:
    """The table of dialects and the pattern of each are complete: a new dialect needs one of both."""
    for name, dialect in DIALECTS.items():
        if name != "auto":
            found: Any = AUTO.parse(dialect.render_action(CALLS[:1]))
            assert found.calls, name
