"""BFCL's prompt formats: prompts and documents equal the official ones, and what is written is read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from keyword import iskeyword
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import Message, Tool, ToolCall
from callgym.dialects import ParsedAction
from callgym.envs.bfcl.documents import write_documents
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.format_dialect import FormatDialect, format_dialect
from callgym.envs.bfcl.official.decode import decode
from callgym.envs.bfcl.prompt_formats import (
    DEFAULT_FORMAT,
    FORMATS,
    OWN_WORDING,
    PromptFormat,
    PromptWording,
    documents_for_inference,
    system_prompt,
)
from callgym.envs.bfcl.tools import make_tool
from callgym.errors import ConfigurationError, DataError

# Formats.


def test_there_are_26_formats_in_the_official_order() -> None:
    assert len(FORMATS) == len(set(FORMATS)) == 26
    assert str(FORMATS[0]) == "ret_fmt=python&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic"
    assert str(FORMATS[4]) == "ret_fmt=python&tool_call_tag=False&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic"
    assert [f.ret_fmt for f in FORMATS[:24:6]] == ["python", "json", "verbose_xml", "concise_xml"]
    assert FORMATS[24] == PromptFormat(prompt_fmt="markdown")
    assert FORMATS[25] == PromptFormat(style="experimental")
    assert FORMATS[5] == DEFAULT_FORMAT
    assert all(PromptFormat.parse(f.config) == f for f in FORMATS)


@pytest.mark.parametrize(
    "config", ["", "ret_fmt=python", f"{DEFAULT_FORMAT}\n", f"{DEFAULT_FORMAT}".replace("False", "0")]
)
def test_other_configurations_are_refused(config: str) -> None:
    with pytest.raises(ConfigurationError, match="no prompt format"):
        PromptFormat.parse(config)


# Documents, by hand and against the official texts.

FERRY: dict[str, Any] = {
    "name": "ferry.book",
    "description": "Books a crossing.",
    "parameters": {
        "type": "dict",
        "properties": {
            "route": {"type": "string", "description": "From, to.", "enum": ["A-B", "B-A"]},
            "cabins": {"type": "array", "items": {"type": "integer"}, "description": "Decks, one a cabin."},
            "car": {
                "type": "dict",
                "description": "The car.",
                "properties": {
                    "plate": {"type": "string", "description": "On it."},
                    "height": {"type": "float", "default": 1.5},
                },
                "required": ["plate"],
            },
            "extras": {"type": "dict", "additionalProperties": {"type": "number"}, "default": {"tea": 1, "oats": 2}},
            "note": {},
        },
        "required": ["route", "cabins"],
    },
}
PIER: dict[str, Any] = {"name": "pier", "description": "", "parameters": {"type": "dict", "properties": {}}}

AS_XML = """\
<function name="ferry.book">
  <desc>Books a crossing.</desc>
  <params>
    <param name="route" type="string" required="true">
      <desc>From, to. Enum values: ['A-B', 'B-A'].</desc>
    </param>
    <param name="cabins" type="array[integer]" required="true">
      <desc>Decks, one a cabin.</desc>
    </param>
    <param name="car" type="dict" required="false">
      <desc>The car.</desc>
      <params>
        <param name="plate" type="string" required="true">
          <desc>On it.</desc>
        </param>
        <param name="height" type="float" required="false" default="1.5">
          <desc></desc>
        </param>
      </params>
    </param>
    <param name="extras" type="dict[number]" required="false" default="{'tea': 1 'oats': 2}">
      <desc></desc>
    </param>
    <param name="note" type="string" required="false">
      <desc></desc>
    </param>
  </params>
</function>

<function name="pier">
  <desc></desc>
  <params>
  </params>
</function>
"""
AS_PYTHON = (
    """\
# Function: ferry.book
    \"\"\"
    Books a crossing.

    Args:
        route (str): From, to. Enum values: ['A-B', 'B-A'].
        cabins (list[int]): Decks, one a cabin.
        car (dict): The car.
            plate (str): On it.
            height (float, default=1.5): 
        extras (dict[str, float], default={'tea': 1, 'oats': 2}): 
        note (str): 
    \"\"\"
"""  # noqa: W291
    "\n\n\n\n\n"
    '# Function: pier\n    """\n    \n\n    """\n\n\n\n'
)


def test_documents_have_the_official_layouts() -> None:
    assert write_documents([FERRY, PIER], "xml") == AS_XML
    assert write_documents([FERRY, PIER], "python") == AS_PYTHON
    assert write_documents([FERRY, PIER], "json") == json.dumps([FERRY, PIER], indent=4)
    assert [write_documents([], form) for form in ("xml", "python", "json")] == ["", "", "[]"]


def test_for_inference_documents_say_the_language_and_keep_the_given_ones() -> None:
    before = json.dumps(FERRY)
    (shown,) = documents_for_inference([FERRY], "python")
    assert json.dumps(FERRY) == before
    assert shown == {**FERRY, "description": shown["description"]}
    assert shown["description"].startswith("Books a crossing. Note that")


def test_for_inference_java_and_javascript_parameters_are_texts() -> None:
    def entry(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "description": "x", **more}

    function = {
        "name": "f",
        "description": "d",
        "parameters": {
            "type": "dict",
            "properties": {
                "list": entry("ArrayList", items={"type": "String"}),
                "array": entry("array", items={"type": "String"}),
                "dict": entry("dict", properties={"k": {"type": "String"}}),
                "any": entry("any"),
            },
        },
    }
    before = json.dumps(function)
    for language, popped in (("java", {"list": "items"}), ("javascript", {"array": "items", "dict": "properties"})):
        (shown,) = documents_for_inference([function], language)  # type: ignore[arg-type]
        properties = shown["parameters"]["properties"]
        assert {e["type"] for e in properties.values()} == {"string"}
        assert all(e["description"].startswith("x This") for e in properties.values())
        for name, entry_given in function["parameters"]["properties"].items():  # type: ignore[index]
            gone = entry_given.keys() - properties[name].keys()
            assert gone == ({popped[name]} if name in popped else set())
    assert json.dumps(function) == before


# What the official code makes of its own data: SHA-256 over all entries' texts, each ended by a null character. The
# documents for inference as JSON, then as Python and as XML.
DIGESTS: list[tuple[str, Any, list[str]]] = [
    ("simple_python", "python", ["8e38423b5bfe568c", "b75729d5ab86eae4", "6bdde5522533dae5"]),
    ("simple_java", "java", ["26f691ca550340f4", "9bb37e77b66560b9", "fb506892f1f6a9b3"]),
    ("simple_javascript", "javascript", ["dab3e5adfe059a95", "c5e1c8cc6f3798cb", "59f610ee75a85670"]),
    ("live_multiple", "python", ["33af67664f663946", "2642dd2956c322e5", "776a9693031fb610"]),
]
SYSTEM_PROMPTS = "adb75d49da0319bf"


def digest(written: Iterable[str]) -> str:
    found = hashlib.sha256()
    for text in written:
        found.update(text.encode() + b"\0")
    return found.hexdigest()[:16]


@pytest.fixture(scope="module")
def files(official_data: Path) -> BfclFiles:
    folder = official_data / "bfcl"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return BfclFiles(folder)


@pytest.mark.parametrize(("category", "language", "digests"), DIGESTS)
def test_documents_equal_the_official_ones_to_the_byte(
    files: BfclFiles, category: str, language: Any, digests: list[str]
) -> None:
    rows = files.rows(f"BFCL_v4_{category}.json")
    shown = [documents_for_inference(row["function"], language) for row in rows]
    written = [
        map(json.dumps, shown),
        (write_documents(functions, "python") for functions in shown),
        (write_documents(functions, "xml") for functions in shown),
    ]
    assert [digest(texts) for texts in written] == digests


def test_system_prompts_in_the_official_words_equal_the_official_ones_to_the_byte(files: BfclFiles) -> None:
    """All 5,200 of ``format_sensitivity``, where the official words were fetched."""
    constants = files.prompts()
    if constants is None:
        pytest.skip("the official wording is not here")
    wording = PromptWording.from_source(constants)
    ids = json.loads((files.folder / "BFCL_v4_format_sensitivity.json").read_text(encoding="utf-8"))
    rows = {row["id"]: row for category in ids for row in files.rows(f"BFCL_v4_{category}.json")}
    chosen = [row for category, wanted in ids.items() for row in rows.values() if row["id"] in wanted]
    assert digest(official_prompts(chosen, wording)) == SYSTEM_PROMPTS


def official_prompts(rows: list[dict[str, Any]], wording: PromptWording) -> Iterator[str]:
    for row in rows:
        functions = documents_for_inference(documents_for_inference(row["function"], "python"), "python")
        first = row["question"][0][0]
        system = f"\n\n{first['content']}" if first["role"] == "system" else ""
        for form in FORMATS:
            yield system_prompt(form, functions, wording) + system


# Wording.

SOURCE = {
    "PROMPT_STYLE_TEMPLATES": {
        name: {
            "persona": f"{name} persona.",
            "task": "Task {{as is}}.",
            "tool_call_no_tag": "Write {output_format}. {param_types}",
            "tool_call_with_tag": "Write <TOOLCALL>{output_format}</TOOLCALL>. {param_types}",
            "multiturn_behavior": "Turns.",
            "available_tools": "In {format}:\n{functions}\n",
        }
        for name in ("classic", "experimental")
    },
    "OUTPUT_FORMAT_MAPPING": {"python": "[f()]", "json": "[{}]", "verbose_xml": "<v/>", "concise_xml": "<c/>"},
    "PARAM_TYPE_MAPPING": {"python": "", "json": "", "verbose_xml": "Types.", "concise_xml": "Types."},
    "PROMPT_TEMPLATE_MAPPING": {
        "plaintext": "{persona}{task}\n{tool_call_format}\n{multiturn_behavior}\n{available_tools}",
        "markdown": "# {persona}\n# {task}\n# {tool_call_format}\n# {multiturn_behavior}\n# {available_tools}",
    },
    "SOMETHING_ELSE": 3,
}


def test_the_official_words_are_filled_in_once() -> None:
    wording = PromptWording.from_source(SOURCE)
    tricky = {**PIER, "description": "{persona} {{x}} \\1 {0}"}
    prompt = system_prompt(PromptFormat("json", True, "xml"), [tricky], wording)
    assert prompt == (
        "classic persona.Task {{as is}}.\nWrite <TOOLCALL>[{}]</TOOLCALL>. \nTurns.\nIn xml:\n"
        '<function name="pier">\n  <desc>{persona} {{x}} \\1 {0}</desc>\n  <params>\n  </params>\n</function>\n\n'
    )
    prompt = system_prompt(PromptFormat("concise_xml", prompt_fmt="markdown", style="experimental"), [], wording)
    assert prompt == "# experimental persona.\n# Task {{as is}}.\n# Write <c/>. Types.\n# Turns.\n# In json:\n[]\n"


@pytest.mark.parametrize("name", [name for name in SOURCE if name != "SOMETHING_ELSE"])
def test_words_that_are_missing_are_named(name: str) -> None:
    with pytest.raises(DataError, match=name):
        PromptWording.from_source({key: value for key, value in SOURCE.items() if key != name})
    others: list[Any] = [None, [], {}, {"plaintext": 3, "python": 3, "classic": 3}]
    for bad in others:
        with pytest.raises(DataError, match=f"{name}.*callgym fetch bfcl"):
            PromptWording.from_source({**SOURCE, name: bad})


def test_words_with_unknown_places_are_refused() -> None:
    bad = json.loads(json.dumps(SOURCE).replace("{output_format}", "{output}"))
    with pytest.raises(DataError, match=r"\{output\}.*output_format, param_types"):
        system_prompt(DEFAULT_FORMAT, [], PromptWording.from_source(bad))


@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_our_own_words_say_all_that_the_format_is(form: PromptFormat) -> None:
    prompt = system_prompt(form, [FERRY])
    example = OWN_WORDING.output_formats[form.ret_fmt]
    assert (f"<TOOLCALL>{example}</TOOLCALL>" if form.tagged else example) in prompt
    assert write_documents([FERRY], form.doc_fmt) in prompt
    assert ("tuple" in prompt) == (form.ret_fmt.endswith("xml"))
    assert ("\n## " in prompt) == (form.prompt_fmt == "markdown")
    assert not [place for place in ("{persona}", "{output_format}", "{param_types}", "{functions}") if place in prompt]


def test_our_own_examples_are_read_by_the_official_decoder() -> None:
    for form in FORMATS:
        calls = FormatDialect(form).parse(_example(form)).calls
        assert [call.name for call in calls] == ["first_name", "second_name"], form


def _example(form: PromptFormat) -> str:
    example = OWN_WORDING.output_formats[form.ret_fmt].replace('type="..."', 'type="string"')
    return f"<TOOLCALL>{example}</TOOLCALL>" if form.tagged else example


# Reading back what was written.

DIALECTS = [FormatDialect(form) for form in FORMATS]
READERS = [dialect for dialect in DIALECTS[:24] if dialect.format.doc_fmt == "json"]
"""One for each way of writing calls; how functions are documented makes no difference to it."""
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
marks = [
    "'", '"', "\\", "\\'", "\n", "\r", "\t", " ", ")]", "}]", "} ]", "[{", "]", "}", "</TOOLCALL>", "<TOOLCALL>",
    "</functions>", "<functions>", "</think>", "<think>", "&amp;", "&", "<", ">", "]]>", "\x00", "\x85", "\u2028", "é",
    "🙂", "null", "True", "`", '"}]', "\ufffe", "<!--", "<![CDATA[", "1",
]  # fmt: skip
spiked = st.lists(st.sampled_from(marks), max_size=6).map("".join)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}(\.[a-z_][a-z0-9_]{0,6})?", fullmatch=True).filter(
    lambda name: not any(iskeyword(part) for part in name.split("."))
)
keys = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True).filter(lambda key: not iskeyword(key))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | spiked
)
# Lists of objects cannot be read in JSON officially: "}]" ends the calls.
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=5) | st.dictionaries(
    texts | spiked, scalars | st.lists(scalars, max_size=2), max_size=3
)
calls_made = st.lists(
    st.builds(ToolCall, name=names, arguments=st.dictionaries(keys, values, max_size=3)), min_size=1, max_size=3
)


@pytest.mark.parametrize("dialect", READERS, ids=lambda dialect: str(dialect.format))
@settings(max_examples=40)
@given(calls_made)
def test_calls_are_read_back_by_the_official_decoder(dialect: FormatDialect, calls: list[ToolCall]) -> None:
    action = dialect.render_action(calls)
    assert dialect.parse(action) == ParsedAction(tuple(calls))
    decoded = decode(action, dialect.format.ret_fmt, dialect.format.tagged)
    assert json.dumps(decoded) == json.dumps([{call.name: call.arguments} for call in calls])


def test_a_list_of_objects_is_more_than_the_official_json_reader_can_take() -> None:
    call = ToolCall(name="f", arguments={"rows": [{"a": 1}]})
    for dialect in DIALECTS:
        parsed = dialect.parse(dialect.render_action([call]))
        assert parsed.calls == (() if dialect.format.ret_fmt == "json" else (call,))
        assert len(parsed.errors) == (dialect.format.ret_fmt == "json")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: str(dialect.format))
def test_words_are_words_and_stand_beside_calls_where_they_may(dialect: FormatDialect) -> None:
    for words in ("Sorry, I cannot.", "42", "a (b) [c] {d}", "it's 5 o'clock", "call f(x) then"):
        assert dialect.parse(dialect.render_action((), words)) == ParsedAction(content=words)
    call = ToolCall(name="look", arguments={"x": "1"})
    parsed = dialect.parse(dialect.render_action([call], "Let me look."))
    assert parsed.calls == (call,)
    carries = dialect.format.tagged or dialect.format.ret_fmt.endswith("xml")
    assert parsed.content == ("Let me look." if carries else "")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: str(dialect.format))
def test_reasoning_is_set_aside_and_its_drafts_are_not_made(dialect: FormatDialect) -> None:
    call, draft = ToolCall(name="look", arguments={"x": "1"}), ToolCall(name="look", arguments={"x": "draft"})
    action, drafted = dialect.render_action([call]), dialect.render_action([draft])
    assert dialect.parse(f"<think>so {drafted}</think>\n{action}") == ParsedAction((call,), (), "", f"so {drafted}")
    assert dialect.parse(f"so </think>{action}") == ParsedAction((call,), (), "", "so")
    assert dialect.parse(f"<think>so {drafted}") == ParsedAction(reasoning=f"so {drafted}")
    noted = ToolCall(name="note", arguments={"x": "a <think> and </think> tag"})
    assert dialect.parse(dialect.render_action([noted])).calls == (noted,)


_F = '<function name="f">'
_NOT_ONE = f'<functions>{_F}<param name="a" type="integer">x</param></function></functions>'
BROKEN = [
    ("python", False, "[f(a=1", "truncated"),
    ("python", False, "[f(a=1), g(b=lambda: 0)]", "malformed"),
    ("python", False, "f(a=", "truncated"),
    ("python", False, "Here: [f(a=1)] it is", "malformed"),
    ("python", False, "```python\n[f(a=1)]\n```", "malformed"),
    ("python", False, "[f(a=b'x')]", "arguments"),
    ("python", False, "[f(**{'a': 1})]", "arguments"),
    ("python", False, "[f(a=1j)]", "arguments"),
    ("python", True, "[f(a=1)]", "truncated"),
    ("python", True, "<TOOLCALL>[f(a=1)]", "truncated"),
    ("python", True, "<TOOLCALL>nothing here</TOOLCALL>", "malformed"),
    ("json", False, '[{"function": "f", "parameters": {"a": 1}', "truncated"),
    ("json", False, '[{"name": "f", "arguments": {}}]', "malformed"),
    ("json", False, '[{"function": "f", "parameters": [1]}]', "malformed"),
    ("json", False, '[{"function": "f", "parameters": {"a": NaN}}]', "arguments"),
    ("json", False, '[{"function": 3, "parameters": {}}]', "malformed"),
    ("json", False, '[{"function": "f", "parameters": {"a": "\\ud800"}}]', "arguments"),
    ("json", False, '[{"function": "f", "parameters": {"a": ' + "[" * 900 + "]" * 900 + "}}]", "arguments"),
    ("verbose_xml", False, '<functions><function name="f">', "truncated"),
    ("verbose_xml", False, "<functions><f></functions>", "malformed"),
    ("verbose_xml", False, '<function name="f"></function>', "truncated"),
    ("concise_xml", False, '<functions><function><param name="a">1</param></function></functions>', "malformed"),
    ("concise_xml", False, _NOT_ONE, "malformed"),
    ("concise_xml", True, "<TOOLCALL><functions></functions></TOOLCALL>", "malformed"),
]  # fmt: skip


@pytest.mark.parametrize(("ret_fmt", "tagged", "text", "kind"), BROKEN)
def test_what_plainly_tries_to_call_and_cannot_be_read_is_one_error(
    ret_fmt: Any, tagged: bool, text: str, kind: str
) -> None:
    parsed = FormatDialect(PromptFormat(ret_fmt, tagged)).parse(text)
    assert parsed.calls == ()
    assert [error.kind for error in parsed.errors] == [kind]
    assert 0 <= parsed.errors[0].position <= len(text)
    assert parsed.errors[0].message


def test_the_official_decoder_s_quirks_are_the_format_s() -> None:
    python = FormatDialect(DEFAULT_FORMAT)
    assert python.parse("Sorry(reason='no')").calls == (ToolCall(name="Sorry", arguments={"reason": "no"}),)
    assert python.parse("[f(1, a=(1, 2), b=+5)]").calls == (ToolCall(name="f", arguments={"a": [1, 2], "b": -5}),)
    assert python.parse("`f(a=true)`").calls == (ToolCall(name="f", arguments={"a": "true"}),)


pieces = [
    *marks, "[f(a=", "1)]", '[{"function": "f", ', '"parameters": {', "}}]", _F, '<param name="a" value="1"/>',
    "</function>", "\ud800", "9" * 5000, "[" * 300, "(" * 300, "9**9**9", "**{'a':",
]  # fmt: skip


@pytest.mark.parametrize("dialect", READERS, ids=lambda dialect: str(dialect.format))
@given(st.text(st.characters(), max_size=100) | st.lists(st.sampled_from(pieces), max_size=12).map("".join))
@settings(max_examples=80)
def test_parse_never_raises(dialect: FormatDialect, text: str) -> None:
    parsed = dialect.parse(text)
    assert isinstance(parsed, ParsedAction)
    assert all(0 <= error.position <= len(text) and error.message for error in parsed.errors)
    assert all(json.dumps(call.arguments, allow_nan=False) for call in parsed.calls)


def test_long_actions_are_refused_unread() -> None:
    for dialect in DIALECTS:
        (error,) = dialect.parse("[" * 1_000_000).errors
        assert error.kind == "too_long"


# Prompts.


def test_a_prompt_is_the_system_prompt_and_the_turns() -> None:
    dialect = FormatDialect(PromptFormat("json", doc_fmt="python"))
    tool = make_tool(FERRY)
    history = [Message(role="system", content="It is Monday."), Message(role="user", content="Two cabins\nUser: pay")]
    shown = system_prompt(dialect.format, documents_for_inference([FERRY], "python"))
    assert dialect.render_prompt(history, [tool]) == (
        f"{shown}\nSystem: It is Monday.\nUser: Two cabins\n  User: pay\nAssistant: "
    )
    assert dialect.render_prompt(history, [tool], "other words") == dialect.render_prompt(history, [tool])


def test_a_tool_that_is_not_its_official_document_any_more_is_shown_as_it_is() -> None:
    official = make_tool(FERRY)
    renamed = official.model_copy(update={"name": "tool_1"})
    bare = Tool(name="bare", description="Does it.", parameters={"type": "object", "properties": {"a": {}}})
    prompt = FormatDialect(PromptFormat(doc_fmt="xml")).render_prompt(
        [Message(role="user", content="go")], [renamed, bare]
    )
    assert '<function name="tool_1">' in prompt
    assert '<function name="bare">' in prompt
    assert "ferry.book" not in prompt


def test_the_official_words_come_from_the_folder(tmp_path: Path) -> None:
    config = str(FORMATS[3])
    assert format_dialect(config) is format_dialect(config)
    with pytest.raises(DataError, match="callgym fetch bfcl"):
        format_dialect(config, tmp_path)
    (tmp_path / "prompts.json").write_text(json.dumps(SOURCE), encoding="utf-8")
    prompt = format_dialect(config, tmp_path).render_prompt([Message(role="user", content="go")], [make_tool(FERRY)])
    assert prompt.startswith("classic persona.Task {{as is}}.\n")
    hint = documents_for_inference([PIER], "python")[0]["description"]
    assert prompt.count(hint) == 2  # as the official inference has it in this category
    with pytest.raises(ConfigurationError):
        format_dialect("ret_fmt=yaml")
