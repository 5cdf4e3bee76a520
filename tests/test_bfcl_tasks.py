"""BFCL's files as tasks: documents as schemas, answers as gold calls, faults found and named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.code_text import code_texts
from callgym.envs.bfcl.files import CLASS_FILES, BfclFiles
from callgym.envs.bfcl.golds import MAX_VALUES, read_gold
from callgym.envs.bfcl.label_faults import label_fault, withheld_fault
from callgym.envs.bfcl.multi_turn_tasks import REVEAL, called_name, load_multi_turn, parse_gold_call
from callgym.envs.bfcl.official.checker import check
from callgym.envs.bfcl.tasks import SINGLE_TURN_KINDS, load_format_sensitivity, load_single
from callgym.envs.bfcl.tools import fit_to, make_tool
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal
from callgym.schema import ToolSchema
from callgym.task import Task
from callgym.tool import Tool

SINGLE_TURN = [name for name, category in CATEGORIES.items() if category.kind in SINGLE_TURN_KINDS]
WITH_CALLS = [name for name, category in CATEGORIES.items() if category.kind == "calls"]
MULTI_TURN = [name for name, category in CATEGORIES.items() if category.kind == "multi_turn"]

LISTS_OF_ANY = {"simple_java_36", "simple_java_65"}
ONLY_AN_EMPTY_MAP = {"simple_java_64"}
QUOTED_ARRAYS_FAIL = {f"simple_java_{n}" for n in (35, 78, 83, 85, 86, 89, 90, 91)}
MAPS_ARE_LOST = {f"simple_java_{n}" for n in (1, 67, 68)}
CANNOT_PASS = {
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
    *LISTS_OF_ANY,
}
OWN_ANSWER_FAILS = {
    *ONLY_AN_EMPTY_MAP,
    *QUOTED_ARRAYS_FAIL,
    *MAPS_ARE_LOST,
    *CANNOT_PASS,
    "live_multiple_507-149-4",
    "parallel_multiple_12",
    "parallel_multiple_26",
}
"""Section 9 of the facts on BFCL, and simple_java_64, which fails as decoded values only."""


@pytest.fixture(scope="module")
def files(official_data: Path) -> BfclFiles:
    folder = official_data / "bfcl"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return BfclFiles(folder)


@pytest.fixture(scope="module")
def loaded(files: BfclFiles) -> dict[str, list[Task]]:
    return {name: load_single(files, name) for name in SINGLE_TURN}


@pytest.fixture(scope="module")
def dialogues(files: BfclFiles) -> dict[str, list[Task]]:
    return {name: load_multi_turn(files, name) for name in MULTI_TURN}


def calls_of(task: Task) -> CallsGoal:
    assert isinstance(task.goal, CallsGoal)
    return task.goal


# Documents.


def document(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    parameters = {"type": "dict", "properties": properties, "required": required or []}
    return {"name": "shop.find", "description": "Finds things.", "parameters": {**parameters, **more}}


def property_of(entry: Any) -> dict[str, Any]:
    return make_tool(document({"p": entry})).properties["p"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "float", "description": "d"}, {"type": "number", "description": "d"}),
        ({"type": "tuple", "items": {"type": "float"}}, {"type": "array", "items": {"type": "number"}}),
        ({"type": "any"}, {}),
        ({"type": ""}, {}),
        ({"type": None}, {}),
        ({"type": ["string"]}, {}),
        ({}, {}),
        ("epoch_millis", {}),
        (10.5, {}),
        ({"type": "array", "items": "no schema"}, {"type": "array"}),
        ({"type": "dict", "properties": {"a": 1, "b": {"type": "integer"}}, "required": ["b", "c"]},
         {"type": "object", "properties": {"a": {}, "b": {"type": "integer"}}, "required": ["b"]}),
        ({"type": "string", "format": "date", "maximum": 3}, {"type": "string", "format": "date"}),
        ({"type": "integer", "maximum": 3, "minItems": 1}, {"type": "integer", "maximum": 3}),
        # Listed values that fit, or can be read as what is declared.
        ({"type": "string", "enum": ["a", "b", "a"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"type": "integer", "enum": ["1", "2", "many"]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": "boolean", "enum": ["True", "False", "whatever"]}, {"type": "boolean", "enum": [True, False]}),
        ({"type": "integer", "enum": ["few", "many"]}, {"type": "integer"}),
        ({"type": "string", "enum": []}, {"type": "string"}),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]},
         {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        # A default is accepted, whatever else is said.
        ({"type": "integer", "default": 3}, {"type": "integer", "default": 3}),
        ({"type": "boolean", "default": "false"}, {"type": "boolean", "default": False}),
        ({"type": "float", "default": "0.5"}, {"type": "number", "default": 0.5}),
        ({"type": "integer", "default": None}, {"type": ["integer", "null"], "default": None}),
        ({"type": "string", "enum": ["a"], "default": "b"}, {"type": "string", "enum": ["a", "b"], "default": "b"}),
        ({"type": "string", "enum": ["a"], "default": None},
         {"type": ["string", "null"], "enum": ["a", None], "default": None}),
        ({"type": "integer", "enum": ["1"], "default": "many", "description": "d"},
         {"description": "d", "default": "many", "anyOf": [{"type": "integer", "enum": [1]}, {"const": "many"}]}),
        ({"type": "any", "default": None}, {"default": None}),
    ],
)  # fmt: skip
def test_a_documented_value_becomes_a_schema(entry: Any, expected: dict[str, Any]) -> None:
    assert property_of(entry) == expected


def test_a_document_becomes_a_tool_and_is_kept() -> None:
    function = document({"n": {"type": "integer"}}, required=["n", "gone", "n"], optional=["n"])
    tool = make_tool({**function, "response": {"type": "dict", "properties": {"ok": {"type": "boolean"}}}})
    assert (tool.name, tool.description, tool.required) == ("shop.find", "Finds things.", ("n",))
    assert tool.parameters["additionalProperties"] is False
    assert tool.returns == {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    assert tool.meta["bfcl"] == {**function, "response": {"type": "dict", "properties": {"ok": {"type": "boolean"}}}}


def test_equal_documents_share_one_tool() -> None:
    function = document({"n": {"type": "integer"}})
    assert make_tool(function) is make_tool(json.loads(json.dumps(function)))
    assert make_tool(function) is not make_tool(function, "java")


def test_arguments_of_java_and_javascript_are_text_and_their_type_is_told() -> None:
    entries = {"ids": {"type": "ArrayList", "items": {"type": "long"}, "description": "Which."}, "x": {"type": "any"}}
    schema = make_tool(document(entries), "java").properties
    assert schema["ids"] == {"type": "string", "description": "Which. (Java source text; type: ArrayList of long)"}
    assert schema["x"]["type"] == "string"
    fields = {"o": {"type": "dict", "properties": {"a": {"type": "String"}}, "default": {"a": "b"}}}
    told = make_tool(document(fields), "javascript").properties["o"]
    assert told["type"] == "string"
    assert "JavaScript" in told["description"]
    assert '{"a": {"type": "String"}}' in told["description"]
    assert told["default"] == '{"a": "b"}'


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.sampled_from(["true", "1", "0.5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "float", "boolean", "array", "tuple", "dict", "any", "", "Bigint"]) | JUNK
ENTRIES = st.recursive(
    JUNK,
    lambda inner: st.fixed_dictionaries(
        {"type": TYPES},
        optional={
            "enum": JUNK,
            "default": JUNK,
            "items": inner,
            "properties": st.dictionaries(st.text(max_size=3), inner, max_size=3),
            "required": st.lists(st.text(max_size=3), max_size=3),
            "description": JUNK,
            "format": JUNK,
            "minimum": JUNK,
            "maxItems": st.integers(0, 9) | JUNK,
        },
    ),
    max_leaves=8,
)


@given(ENTRIES)
def test_whatever_is_documented_the_schema_compiles_and_takes_the_default(entry: Any) -> None:
    tool = make_tool(document({"p": entry}))
    schema = ToolSchema(tool)
    if (
        isinstance(entry, dict)
        and "default" in tool.properties["p"]
        and "items" not in entry
        and "properties" not in entry
    ):
        assert schema.check({"p": tool.properties["p"]["default"]}) is None


def test_a_tool_lets_go_of_what_the_answer_violates_and_says_nothing_of_the_answer() -> None:
    entries = {
        "size": {"type": "string", "enum": ["s", "m"], "default": "s", "description": "Size."},
        "colour": {"type": "string"},
    }
    tool = make_tool(document(entries, required=["colour", "size"]))
    kept = fit_to(tool, ToolSchema(tool), [{"size": "m", "colour": "red"}])
    assert kept.tool is tool
    assert kept.faults == ()
    loose = fit_to(tool, ToolSchema(tool), [{"size": "xxl"}])
    assert loose.tool.properties["size"] == {"description": "Size.", "default": "s"}
    assert loose.tool.required == ("size",)
    assert ToolSchema(loose.tool).check({"size": "xxl"}) is None
    assert len(loose.faults) == 2
    assert "xxl" in loose.faults[0]
    assert "xxl" not in loose.tool.to_json()
    assert loose.tool.meta == tool.meta


# Answers.


def gold_of(accepted: Any, entry: dict[str, Any] | None = None, required: bool = False, **more: Any) -> Any:
    function = document({"p": entry or {"type": "any"}}, required=["p"] if required else [])
    return read_gold([{"shop.find": {"p": accepted}}], [function], **more).calls[0]


@pytest.mark.parametrize(
    ("accepted", "values", "optional"),
    [
        ([1, 2], (1, 2), False),
        (["", "a", "b"], ("a", "b"), True),
        (["a", ""], ("a",), True),
        (["", None], (None,), True),
        ([1.5, 1.5, ""], (1.5,), True),
        ([1, True, 1.0, 1], (1, True, 1.0), False),
        ([[1, 2], [2, 1]], ([1, 2], [2, 1]), False),
        ([{"a": [1, 2], "b": ["x", ""]}],
         ({"a": 1, "b": "x"}, {"a": 1}, {"a": 2, "b": "x"}, {"a": 2}), False),
        ([{"a": [""], "b": [1]}], ({"b": 1},), False),
        ([{}, ""], ({},), True),
        ([{"a": [{"raw": 1}], "b": [["raw"]]}], ({"a": {"raw": 1}, "b": ["raw"]},), False),
        ([[{"a": [1]}, {"a": [2, 3]}]], ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}]), False),
        ([{"a": "plain"}], ({"a": "plain"},), False),
    ],
)  # fmt: skip
def test_accepted_values_are_written_out(accepted: Any, values: tuple[Any, ...], optional: bool) -> None:
    call = gold_of(accepted)
    assert repr(call.arguments["p"]) == repr(values)  # 1 is not true, nor 1.0
    assert call.optional == (("p",) if optional else ())
    assert call.reference().arguments == {"p": values[0]}


def test_an_argument_that_may_only_be_left_out_is_left_out() -> None:
    assert gold_of([""]).arguments == {}
    assert gold_of([]).arguments == {}
    assert gold_of([""], required=True).arguments == {"p": ("",)}
    assert gold_of(["a", ""], required=True).optional == ()


def test_an_argument_without_a_document_is_a_fault_and_left_out() -> None:
    gold = read_gold([{"shop.find": {"p": [1], "q": [2]}}], [document({"p": {"type": "integer"}})])
    assert gold.calls[0].arguments == {"p": (1,)}
    assert gold.faults == ("shop.find: no document has the argument 'q' that the answer holds",)


def test_what_one_value_is_written_out_to_is_bounded() -> None:
    many = {str(key): list(range(10)) for key in range(12)}
    assert len(gold_of([many]).arguments["p"]) == MAX_VALUES
    assert len(gold_of([[many, many]]).arguments["p"]) == MAX_VALUES


@pytest.mark.parametrize(
    ("value", "declared", "language", "text"),
    [
        ("mapView", {"type": "any"}, "java", "mapView"),
        (3, {"type": "integer"}, "java", "3"),
        (3, {"type": "long"}, "java", "3L"),
        (0.5, {"type": "float"}, "java", "0.5f"),
        (0.5, {"type": "double"}, "java", "0.5"),
        (True, {"type": "boolean"}, "java", "true"),
        ([1, 2], {"type": "Array", "items": {"type": "integer"}}, "java", "new int[]{1, 2}"),
        ([1, 2], {"type": "ArrayList", "items": {"type": "long"}}, "java",
         "new ArrayList<Long>(Arrays.asList(1L, 2L))"),
        (["a"], {"type": "ArrayList", "items": {"type": "String"}}, "java",
         'new ArrayList<String>(Arrays.asList("a"))'),
        ([], {"type": "ArrayList", "items": {"type": "String"}}, "java", "new ArrayList<String>()"),
        ({"k": "v", "n": 1}, {"type": "HashMap"}, "java",
         'new HashMap<String, Object>() {{ put("k", "v"); put("n", 1); }}'),
        ({}, {"type": "HashMap"}, "java", "new HashMap<String, Object>()"),
        (True, {"type": "Boolean"}, "javascript", "true"),
        (2.0, {"type": "float"}, "javascript", "2.0"),
        (["a", "b"], {"type": "array", "items": {"type": "String"}}, "javascript", '["a", "b"]'),
        ({"k": "é"}, {"type": "dict"}, "javascript", '{"k": "é"}'),
    ],
)  # fmt: skip
def test_values_in_the_notation_of_the_language_pass_the_official_converters(
    value: Any, declared: dict[str, Any], language: Any, text: str
) -> None:
    assert code_texts(value, declared, language) == (text,)
    accepted = {key: [item] for key, item in value.items()} if isinstance(value, dict) else value
    function = document({"p": {"description": "", **declared}}, required=["p"])
    answer = [{"shop.find": {"p": [accepted]}}]
    category = f"simple_{language}"
    assert check([{"shop.find": {"p": text}}], answer, [function], category, language=language).valid
    assert label_fault(answer, [function], category) is None or isinstance(value, dict)


def test_an_array_of_texts_is_accepted_as_java_has_it_and_as_the_official_converter_does() -> None:
    declared = {"type": "Array", "items": {"type": "String"}}
    call = gold_of([["-v", "x"]], declared, language="java")
    assert call.arguments["p"] == ("new String[]{-v, x}", 'new String[]{"-v", "x"}')
    function = document({"p": declared})
    assert "unquoted" in str(label_fault([{"shop.find": {"p": [["-v", "x"]]}}], [function], "simple_java"))


@pytest.mark.parametrize(
    ("declared", "accepted", "words"),
    [
        ({"type": "ArrayList", "items": {"type": "any"}}, [["a", 1]], "no call can pass"),
        ({"type": "ArrayList", "items": {"type": "any"}}, [["a", 1], ["a"]], "as written, fails"),
        ({"type": "Set", "items": {"type": "integer"}}, [[1]], "no call can pass"),
        ({"type": "HashMap"}, [{"a": "plain"}], "only an empty map passes"),
        ({"type": "HashMap"}, [{"a": ["b"]}], "without its entries"),
        ({"type": "HashMap"}, [{}], None),
        ({"type": "Array", "items": {"type": "String"}}, [["a, b"]], "no call can pass"),
        ({"type": "Array", "items": {"type": "integer"}}, [[1, 2]], None),
        ({"type": "ArrayList", "items": {"type": "String"}}, [["a, b"]], None),
    ],
)
def test_what_cannot_be_said_in_java_is_a_label_fault(
    declared: dict[str, Any], accepted: list[Any], words: str | None
) -> None:
    function = document({"p": {"description": "", **declared}}, required=["p"])
    fault = label_fault([{"shop.find": {"p": accepted}}], [function], "simple_java")
    assert fault is None if words is None else words in str(fault)


@pytest.mark.parametrize(
    ("accepted", "required", "words"),
    [
        ([1], ["p"], None),
        ([""], ["p"], "as written, fails"),
        ([], ["p"], "no call can pass"),
        (["", {"a": [1]}], [], None),
    ],
)
def test_an_answer_that_fails_its_own_checker_is_a_label_fault(
    accepted: Any, required: list[str], words: str | None
) -> None:
    function = document({"p": {"type": "dict" if accepted == ["", {"a": [1]}] else "integer"}}, required=required)
    fault = label_fault([{"shop.find": {"p": accepted}}], [function], "simple_python")
    assert fault is None if words is None else words in str(fault)


# Calls of multi-turn answers.

COPY = make_tool(
    {
        "name": "copy",
        "description": "",
        "parameters": {
            "type": "dict",
            "properties": {"source": {"type": "string"}, "n": {"type": "any"}},
            "required": [],
        },
    }
)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("copy()", {}),
        (" copy(source='a') ", {"source": "a"}),
        ("copy('a', 2)", {"source": "a", "n": 2}),
        ("copy('a', n=-2.5)", {"source": "a", "n": -2.5}),
        ("copy(n=[1, ('x', None)], source='it\\'s')", {"n": [1, ["x", None]], "source": "it's"}),
        ("copy(n={'a': True})", {"n": {"a": True}}),
    ],
)
def test_a_call_of_an_answer_is_read(text: str, arguments: dict[str, Any]) -> None:
    call = parse_gold_call(text, COPY)
    assert call.name == called_name(text) == "copy"
    assert call.reference().arguments == arguments
    assert call.optional == ()


@pytest.mark.parametrize(
    "text",
    ["", "copy", "copy(", "move(source='a')", "os.copy('a')", "copy('a', 'b', 'c')", "copy('a', source='b')",
     "copy(**{'source': 'a'})", "copy(*['a'])", "copy(source=open('x'))", "copy(n=2**9)", "copy(n={1: 2})",
     "copy(n={1, 2})", "copy(n=b'x')", "copy(other=1)", "copy(n=1e999)", "(" * 20_000, "copy(n=" + "[" * 20_000],
)  # fmt: skip
def test_what_is_no_call_of_literals_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_gold_call(text, COPY)


def test_a_function_that_is_called_before_it_comes_is_a_label_fault() -> None:
    assert withheld_fault([["ls"], [], ["sort"]], {"sort": 2}) is None
    assert withheld_fault([["ls"], ["sort"], ["sort"]], {"sort": 2}) == (
        "its answer calls sort in turn 2, which turn 3 brings"
    )


# Files of our own, whole and damaged.

ENTRY: dict[str, Any] = {
    "id": "simple_python_0",
    "question": [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Find two red cups."}]],
    "function": [document({"n": {"type": "integer"}, "colour": {"type": "string"}}, required=["n"])],
}
ANSWER: dict[str, Any] = {"id": "simple_python_0", "ground_truth": [{"shop.find": {"n": [2], "colour": ["red", ""]}}]}
MT_ENTRY: dict[str, Any] = {
    "id": "multi_turn_miss_func_0",
    "question": [
        [{"role": "user", "content": "Add 2 and 3."}],
        [],
        [{"role": "user", "content": "Thanks. And 4 + 4?"}],
    ],
    "initial_config": {},
    "involved_classes": ["MathAPI"],
    "missed_function": {"1": ["add"]},
}
MT_ANSWER: dict[str, Any] = {"id": "multi_turn_miss_func_0", "ground_truth": [[], ["add(2, 3)"], ["add(a=4, b=4)"]]}
ADD = {
    "name": "add",
    "description": "Adds.",
    "parameters": {
        "type": "dict",
        "properties": {"a": {"type": "float"}, "b": {"type": "float"}},
        "required": ["a", "b"],
    },
}
NEG = {"name": "negate", "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}


def write(folder: Path, name: str, *rows: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def own_files(folder: Path, **changed: Any) -> BfclFiles:
    write(folder, "BFCL_v4_simple_python.json", {**ENTRY, **changed})
    write(folder, "possible_answer/BFCL_v4_simple_python.json", ANSWER)
    return BfclFiles(folder)


def own_dialogue(folder: Path, answer: dict[str, Any] = MT_ANSWER, **changed: Any) -> BfclFiles:
    write(folder, "BFCL_v4_multi_turn_miss_func.json", {**MT_ENTRY, **changed})
    write(folder, "possible_answer/BFCL_v4_multi_turn_miss_func.json", answer)
    write(folder, "multi_turn_func_doc/math_api.json", ADD, NEG)
    return BfclFiles(folder)


def test_a_single_turn_entry_becomes_a_task(tmp_path: Path) -> None:
    (task,) = load_single(own_files(tmp_path), "simple_python")
    assert (task.id, task.family, task.split) == ("simple_python_0", "bfcl", "test")
    assert [(message.role, message.content) for message in task.messages] == [
        ("system", "Be brief."),
        ("user", "Find two red cups."),
    ]
    assert [tool.name for tool in task.tools] == ["shop.find"]
    ((call,),) = calls_of(task).turns
    assert call.arguments == {"n": (2,), "colour": ("red",)}
    assert call.optional == ("colour",)
    assert task.meta == {
        "category": "simple_python",
        "source": "official",
        "gold": ANSWER["ground_truth"],
        "licence": "Apache-2.0",
    }
    assert Task.from_json(task.to_json()) == task


@pytest.mark.parametrize(
    "changed",
    [
        {"id": None},
        {"id": ""},
        {"id": "simple_python_7"},
        {"question": []},
        {"question": [[]]},
        {"question": [[{"role": "user"}]]},
        {"question": [[{"role": "judge", "content": "x"}]]},
        {"question": [[{"role": "user", "content": 3}]]},
        {"question": [[{"role": "user", "content": "x"}], [{"role": "user", "content": "y"}]]},
        {"function": "f"},
        {"function": [{"name": "shop.find"}]},
        {"function": [{**ENTRY["function"][0], "name": ""}]},
        {"function": [{**ENTRY["function"][0], "parameters": None}]},
        {"function": [ENTRY["function"][0], ENTRY["function"][0]]},
        {"function": [{**ENTRY["function"][0], "name": "other"}]},
        {"function": [{**ENTRY["function"][0], "parameters": {"properties": [], "required": []}}]},
    ],
)
def test_a_damaged_entry_is_named(tmp_path: Path, changed: dict[str, Any]) -> None:
    write(tmp_path, "BFCL_v4_simple_python.json", ENTRY, {**ENTRY, "id": "x", **changed})
    write(tmp_path, "possible_answer/BFCL_v4_simple_python.json", ANSWER, {**ANSWER, "id": "x"})
    with pytest.raises(DataError, match=r"BFCL_v4_simple_python\.json, row 2.*callgym fetch bfcl"):
        load_single(BfclFiles(tmp_path), "simple_python")


@pytest.mark.parametrize(
    "truth",
    [None, [], [{}], [{"shop.find": {"n": 2}}], [{"shop.find": None}], [{"a": {}, "b": {}}], [{"nobody": {"n": [2]}}],
     "shop.find", [{"shop.find": {"n": [float("nan")]}}]],
)  # fmt: skip
def test_a_damaged_answer_is_named(tmp_path: Path, truth: Any) -> None:
    write(tmp_path, "BFCL_v4_simple_python.json", ENTRY)
    write(tmp_path, "possible_answer/BFCL_v4_simple_python.json", {**ANSWER, "ground_truth": truth})
    with pytest.raises(DataError, match=r"BFCL_v4_simple_python\.json, row 1"):
        load_single(BfclFiles(tmp_path), "simple_python")


def test_an_id_that_appears_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "BFCL_v4_simple_python.json", ENTRY, ENTRY)
    write(tmp_path, "possible_answer/BFCL_v4_simple_python.json", ANSWER)
    with pytest.raises(DataError, match="an id appears twice"):
        load_single(BfclFiles(tmp_path), "simple_python")


def test_missing_files_and_wrong_categories_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"BFCL_v4_simple_python\.json does not exist"):
        load_single(BfclFiles(tmp_path), "simple_python")
    for name in ("multi_turn_base", "memory_kv", "nothing"):
        with pytest.raises(ConfigurationError, match="no single-turn category"):
            load_single(BfclFiles(tmp_path), name)
    for name in ("simple_python", "nothing"):
        with pytest.raises(ConfigurationError, match="no multi-turn category"):
            load_multi_turn(BfclFiles(tmp_path), name)


def test_functions_come_in_the_turn_without_words(tmp_path: Path) -> None:
    (task,) = load_multi_turn(own_dialogue(tmp_path), "multi_turn_miss_func")
    assert [tool.name for tool in task.tools] == ["negate"]
    reveal, thanks = task.user_turns
    assert (reveal.content, [tool.name for tool in reveal.add_tools]) == (REVEAL, ["add"])
    assert (thanks.content, thanks.add_tools) == ("Thanks. And 4 + 4?", ())
    goal = calls_of(task)
    assert [[call.reference().arguments for call in turn] for turn in goal.turns] == [
        [],
        [{"a": 2, "b": 3}],
        [{"a": 4, "b": 4}],
    ]
    assert goal.exemplary
    assert not goal.ordered
    assert task.meta == {
        "category": "multi_turn_miss_func",
        "source": "official",
        "involved_classes": ["MathAPI"],
        "gold": MT_ANSWER["ground_truth"],
        "long_context": False,
        "tables": f"official:{tmp_path}",
        "withheld": ["add"],
        "licence": "Apache-2.0",
    }
    (worded,) = load_multi_turn(own_dialogue(tmp_path), "multi_turn_miss_func", wording="Try these.")
    assert worded.user_turns[0].content == "Try these."


@pytest.mark.parametrize(
    "changed",
    [
        {"involved_classes": ["NoClass"]},
        {"involved_classes": []},
        {"initial_config": [1]},
        {"missed_function": {"7": ["add"]}},
        {"missed_function": {"0": ["add"]}},
        {"missed_function": {"1": ["nobody"]}},
        {"missed_function": {"2": ["add"]}},
        {"missed_function": {}},
        {"question": MT_ENTRY["question"][:2]},
        {"question": [[], *MT_ENTRY["question"][1:]]},
        {"question": [*MT_ENTRY["question"][:2], [{"role": "assistant", "content": "x"}]]},
    ],
)
def test_a_damaged_dialogue_is_named(tmp_path: Path, changed: dict[str, Any]) -> None:
    files = own_dialogue(tmp_path, **changed)
    with pytest.raises(DataError, match=r"multi_turn_miss_func\.json, row 1"):
        load_multi_turn(files, "multi_turn_miss_func")


@pytest.mark.parametrize("text", ["add(", "subtract(a=1)", "add(1, 2, 3)", "add(a=f())", 7])
def test_a_damaged_call_of_an_answer_is_named(tmp_path: Path, text: Any) -> None:
    files = own_dialogue(tmp_path, {**MT_ANSWER, "ground_truth": [[], [text], []]})
    with pytest.raises(DataError, match=r"multi_turn_miss_func\.json, row 1"):
        load_multi_turn(files, "multi_turn_miss_func")


def test_a_damaged_document_of_a_class_is_named(tmp_path: Path) -> None:
    files = own_dialogue(tmp_path)
    write(tmp_path, "multi_turn_func_doc/math_api.json", ADD, {"name": "negate"})
    with pytest.raises(DataError, match=r"math_api\.json, row 2"):
        load_multi_turn(files, "multi_turn_miss_func")


# The official files.


@pytest.mark.parametrize("name", SINGLE_TURN)
def test_all_single_turn_entries_load(loaded: dict[str, list[Task]], name: str) -> None:
    category, tasks = CATEGORIES[name], loaded[name]
    assert len(tasks) == category.count
    for task in tasks:
        assert task.meta["category"] == name
        assert task.meta.get("language", "python") == category.language
        if category.kind == "calls":
            assert calls_of(task).turns[0]
        else:
            assert task.goal == DecisionGoal(decision="call" if category.kind == "relevance" else "decline")
    for task in tasks[:: len(tasks) // 8 + 1]:
        assert Task.from_json(task.to_json()) == task


def test_system_messages_and_assistant_turns_are_kept(loaded: dict[str, list[Task]]) -> None:
    roles = [message.role for tasks in loaded.values() for task in tasks for message in task.messages]
    assert (roles.count("system"), roles.count("assistant")) == (92, 11)
    without = [task.id for task in loaded["live_irrelevance"] if not task.tools]
    assert without == [f"live_irrelevance_{120 + n}-9-{n}" for n in range(4)]


def test_every_document_compiles(files: BfclFiles, loaded: dict[str, list[Task]]) -> None:
    tools = {id(tool): tool for tasks in loaded.values() for task in tasks for tool in task.tools}
    assert len(tools) < 3400  # of 8,726
    for name in CLASS_FILES:
        for function in files.class_functions(name):
            tool = make_tool(function)
            tools[id(tool)] = tool
    for tool in tools.values():
        assert ToolSchema(tool).tool is tool


@pytest.mark.parametrize("name", WITH_CALLS)
def test_every_reference_fits_its_tool_and_passes_the_official_checker_unless_flagged(
    loaded: dict[str, list[Task]], name: str
) -> None:
    for task in loaded[name]:
        schemas = {tool.name: ToolSchema(tool) for tool in task.tools}
        calls = calls_of(task).turns[0]
        for call in calls:
            assert schemas[call.name].check(call.reference().arguments) is None, task.id
        reference, *others = _choices(task)
        failing = CANNOT_PASS | ONLY_AN_EMPTY_MAP
        assert _passes(task, reference) != (task.id in failing), task.id
        for chosen in others:
            assert _passes(task, chosen) or task.id in failing | QUOTED_ARRAYS_FAIL, (task.id, chosen)


def _choices(task: Task) -> Iterator[list[dict[str, Any]]]:
    """The reference calls, the ones without what may be left out, and each other accepted value in its place."""
    calls = calls_of(task).turns[0]
    yield [{call.name: call.reference().arguments} for call in calls]
    yield [{c.name: {k: v[0] for k, v in c.arguments.items() if k not in c.optional}} for c in calls]
    for place, call in enumerate(calls):
        for argument, values in call.arguments.items():
            for value in values[1:]:
                chosen = [{call.name: dict(call.reference().arguments)} for call in calls]
                chosen[place][call.name][argument] = value
                yield chosen


def _passes(task: Task, decoded: list[dict[str, Any]]) -> bool:
    functions: Any = [tool.meta["bfcl"] for tool in task.tools]
    gold: Any = task.meta["gold"]
    category = str(task.meta["category"])
    return check(decoded, gold, functions, category, language=CATEGORIES[category].language).valid


def test_the_entries_whose_own_answer_fails_are_found(loaded: dict[str, list[Task]]) -> None:
    faults = {t.id: str(t.meta["label_fault"]) for tasks in loaded.values() for t in tasks if "label_fault" in t.meta}
    assert set(faults) == OWN_ANSWER_FAILS
    assert {id for id, fault in faults.items() if "no call can pass" in fault} == CANNOT_PASS
    assert {id for id, fault in faults.items() if "without its entries" in fault} == MAPS_ARE_LOST
    assert {id for id, fault in faults.items() if "unquoted" in fault} == QUOTED_ARRAYS_FAIL
    assert {id for id, fault in faults.items() if "only an empty map" in fault} == ONLY_AN_EMPTY_MAP


def test_answers_that_contradict_their_documents_are_flagged_and_little_is_let_go(
    loaded: dict[str, list[Task]],
) -> None:
    flagged = [task for tasks in loaded.values() for task in tasks if "gold_fault" in task.meta]
    assert len(flagged) == 35
    freed = unrequired = 0
    for task in flagged:
        for tool in task.tools:
            documented = make_tool(tool.meta["bfcl"])  # type: ignore[arg-type]
            freed += sum(tool.properties[name] != entry for name, entry in documented.properties.items())
            unrequired += len(documented.required) - len(tool.required)
    assert (freed, unrequired) == (31, 8)
    for tasks in loaded.values():
        for task in tasks:
            if "gold_fault" not in task.meta:
                language = CATEGORIES[str(task.meta["category"])].language
                assert all(tool is make_tool(tool.meta["bfcl"], language) for tool in task.tools)  # type: ignore[arg-type]


def test_format_sensitivity_is_200_entries_in_26_formats(files: BfclFiles) -> None:
    from callgym.envs.bfcl.prompt_formats import FORMATS

    tasks = load_format_sensitivity(files)
    assert len(tasks) == CATEGORIES["format_sensitivity"].count == 5200
    assert len(FORMATS) == 26
    # Entries in the order of their files, which the list of ids does not follow; formats run fastest.
    assert tasks[0].meta["original"] == tasks[25].meta["original"] == "simple_python_19"
    assert tasks[26].meta["original"] != "simple_python_19"
    assert tasks[5199].id == f"format_sensitivity_5199:{tasks[25].meta['format']}:live_parallel_multiple_21-18-0"
    assert tasks[0].meta["original_category"] == "simple_python"
    assert tasks[7] is tasks[7]
    assert tasks[-1] is tasks[5199]
    assert [task.id for task in tasks[10:12]] == [tasks[10].id, tasks[11].id]
    with pytest.raises(IndexError):
        tasks[5200]
    originals = {str(task.meta["original"]) for task in tasks}
    assert len(originals) == 200
    assert len({task.id for task in tasks}) == 5200
    by_id = {task.id: task for task in load_single(files, "multiple")}
    variant = next(task for task in tasks if task.meta["original"] in by_id)
    original = by_id[str(variant.meta["original"])]
    assert (variant.goal, variant.tools, variant.messages) == (original.goal, original.tools, original.messages)


def test_format_sensitivity_names_an_entry_that_is_not_there(tmp_path: Path) -> None:
    own_files(tmp_path)
    (tmp_path / "BFCL_v4_format_sensitivity.json").write_text('{"simple_python": ["simple_python_0", "lost"]}')
    with pytest.raises(DataError, match="'lost' is not in"):
        load_format_sensitivity(BfclFiles(tmp_path))


@pytest.mark.parametrize("name", MULTI_TURN)
def test_all_multi_turn_entries_load(dialogues: dict[str, list[Task]], name: str) -> None:
    tasks = dialogues[name]
    assert len(tasks) == CATEGORIES[name].count
    turns = [len(calls_of(task).turns) for task in tasks]
    assert sum(turns) == (934 if "miss" in name else 734)
    for task, number in zip(tasks, turns, strict=True):
        assert len(task.user_turns) == number - 1
        assert task.meta["long_context"] == (name == "multi_turn_long_context")
        assert ("withheld" in task.meta) == (name == "multi_turn_miss_func")
    for task in tasks[::25]:
        assert Task.from_json(task.to_json()) == task


@pytest.mark.parametrize("name", MULTI_TURN)
def test_every_call_of_an_answer_fits_the_tools_of_its_turn(dialogues: dict[str, list[Task]], name: str) -> None:
    early = []
    for task in dialogues[name]:
        tools: dict[str, Tool] = {tool.name: tool for tool in task.tools}
        for turn, calls in zip([None, *task.user_turns], calls_of(task).turns, strict=True):
            tools |= {tool.name: tool for tool in (turn.add_tools if turn else ())}
            for call in calls:
                if call.name not in tools:
                    early.append((task.id, call.name))
                else:
                    assert ToolSchema(tools[call.name]).check(call.reference().arguments) is None, task.id
    assert early == ([("multi_turn_miss_func_49", "tail")] if name == "multi_turn_miss_func" else [])


def test_faults_of_multi_turn_answers_are_flagged(dialogues: dict[str, list[Task]]) -> None:
    tasks = [task for tasks in dialogues.values() for task in tasks]
    assert [task.id for task in tasks if "label_fault" in task.meta] == ["multi_turn_miss_func_49"]
    assert [task.id for task in tasks if "gold_fault" in task.meta] == [f"{name}_173" for name in MULTI_TURN]


def test_functions_that_were_held_back_come_once(dialogues: dict[str, list[Task]]) -> None:
    for task in dialogues["multi_turn_miss_func"]:
        withheld = task.meta["withheld"]
        assert isinstance(withheld, list)
        assert not {tool.name for tool in task.tools} & set(map(str, withheld))
        (reveal,) = (turn for turn in task.user_turns if turn.add_tools)
        assert [tool.name for tool in reveal.add_tools] == withheld
        assert reveal.content == REVEAL
        before = calls_of(task).turns[task.user_turns.index(reveal)]
        assert before == ()
