"""Step metrics: the official numbers on every fixture, worked out by hand, and nothing a policy writes raises."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from callgym import DataError, Episode, GoldCall, Message, ParseError, Step, Task, Tool, ToolCall, ToolResult, UserTurn
from callgym.cli import main
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, StateGoal, TextGoal
from callgym.parity import run_suite, suite_options
from callgym.rewards import alpha_umi, argument_f1, half_credit, hallucination, nested, plan, seal_tools
from callgym.rewards.alpha_umi import CorpusScore, StepFormat, half_credit_f1, parse_step, score_step
from callgym.rewards.half_credit import argument_f1_half_credit
from callgym.rewards.hallucination import hallucinated_argument, hallucinated_tool
from callgym.rewards.nested import match_references, nested_calls, number_outputs
from callgym.rewards.plan import plan_accuracy
from callgym.rewards.seal_tools import Counts, capped_counts, nested_counts, official_counts, parse_calls

FAULT = ParseError(kind="malformed", position=0, message="cannot be read")
REWARDS = (argument_f1_half_credit, plan_accuracy, hallucinated_tool, hallucinated_argument, nested_calls)
FILES = ("alpha_umi_pairs", "alpha_umi_aggregates", "rouge_l_pairs", "seal_tools_pairs", "seal_tools_aggregates")


def task_of(goal: Any, *tools: Tool, user_turns: tuple[UserTurn, ...] = ()) -> Task:
    return Task(
        id="t",
        family="f",
        split="test",
        messages=(Message(role="user", content="x"),),
        goal=goal,
        tools=tools,
        user_turns=user_turns,
    )


def episode_of(*steps: Step) -> Episode:
    return Episode(env_id="e", task_id="t", seed=0, steps=steps, ended="terminated")


def calling(*calls: ToolCall, errors: int = 0, turn: int = 0, content: str = "") -> Step:
    return Step(action="...", turn=turn, calls=calls, errors=(FAULT,) * errors, content=content)


def saying(content: str, turn: int = 0) -> Step:
    return Step(action=content, content=content, turn=turn)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def gold(name: str, optional: tuple[str, ...] = (), **arguments: Any) -> GoldCall:
    """A gold call; a tuple lists several accepted values."""
    accepted = {key: value if isinstance(value, tuple) else (value,) for key, value in arguments.items()}
    return GoldCall(name=name, arguments=accepted, optional=optional)


# Parity.


@pytest.fixture(scope="module")
def fixtures(official_data: Path) -> Path:
    folder = official_data / "step_metrics_parity"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


def test_every_fixture_row_is_scored_as_officially(fixtures: Path) -> None:
    report = run_suite("step-metrics", fixtures)
    assert [file.file for file in report.files] == [f"{name}.jsonl" for name in FILES]
    assert [case for file in report.files for case in file.disagreements] == []
    assert report.summary()["cases"] == sum(
        len((gzip.open if path.suffix == ".gz" else open)(path, "rb").read().splitlines())
        for path in fixtures.glob("*.jsonl*")
    )


PAIR: dict[str, Any] = {
    "case": "P/1", "format": "backbone", "source_index": [0, 1], "mutation": "none", "tools": ["Find"],
    "reference": "Action: Find\nAction Input: {\"x\": 1}", "prediction": "Action: Find\nAction Input: {\"x\": 2}",
    "parsed_ref": ["call", "Find", '{"x": 1}', None], "parsed_pred": ["call", "Find", '{"x": 2}', None],
    "plan_match": 1, "hallucination": 0, "action_em": 1, "arg_f1": 0.5, "arg_bucket": "with_args", "rouge_l": None,
}  # fmt: skip
DEAD = {
    "case": "P/2", "format": "multi_agent", "source_index": [0, 1], "mutation": "none", "tools": ["Find"],
    "reference": "Next: caller.</s>caller: Action: Find\nAction Input: {}</s>", "prediction": "none",
    "parsed_ref": ["call", "Find", "{}", None], "exception_pred": "IndexError",
}  # fmt: skip
CORPUS = {
    "case": "C/1",
    "format": "multi_agent",
    "pairs": [DEAD],
    "official": {"exception": "IndexError: list index out of range"},
}
ROUGE = {"case": "O/1", "hypothesis": "one two", "reference": "one two", "rouge_l_f": 0.999999995}
SILENT = {"case": "O/2", "hypothesis": "..", "reference": "one two", "rouge_l_f": "EXCEPTION:ValueError"}
LIST = [{"api": "add", "parameters": {"a": 1}, "responses": ["API_call_0"]}]
SEAL: dict[str, Any] = {
    "case": "S/1", "id": "i", "mutation": "none", "gold": LIST, "output": json.dumps(LIST), "parsed": LIST,
    "official": dict.fromkeys(("AMOUNT", "P_api", "R_api", "F1_api", "P_param", "R_param", "F1_param"), 1.0),
}  # fmt: skip
NOTHING: dict[str, Any] = {"case": "A/1", "items": [{"gold": LIST, "output": "no"}], "official": {}}


def write(folder: Path, name: str, rows: list[Any], zipped: bool = False) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = folder / f"{name}.jsonl{'.gz' if zipped else ''}"
    path.write_bytes(gzip.compress(content) if zipped else content)


def test_the_suite_reads_plain_and_zipped_files_and_takes_no_options(tmp_path: Path) -> None:
    write(tmp_path, "alpha_umi_pairs", [PAIR, DEAD, {**PAIR, "arg_f1": 1}], zipped=True)
    write(tmp_path, "alpha_umi_aggregates", [CORPUS])
    write(tmp_path, "rouge_l_pairs", [ROUGE, SILENT])
    write(tmp_path, "seal_tools_pairs", [SEAL, {**SEAL, "parsed": -1}])
    write(tmp_path, "seal_tools_aggregates", [NOTHING], zipped=True)
    report = run_suite("step-metrics", tmp_path, data="nowhere", ranker="none of them")
    assert {file.file: (file.agree, file.cases) for file in report.files} == {
        "alpha_umi_pairs.jsonl": (2, 3),
        "alpha_umi_aggregates.jsonl": (1, 1),
        "rouge_l_pairs.jsonl": (2, 2),
        "seal_tools_pairs.jsonl": (1, 2),
        "seal_tools_aggregates.jsonl": (1, 1),
    }
    assert suite_options("step-metrics") == frozenset()
    assert suite_options("apibank") == {"data", "ranker"}


def test_the_command_compares_and_does_not_speak_of_a_ranker(tmp_path: Path) -> None:
    write(tmp_path, "rouge_l_pairs", [ROUGE])
    result = CliRunner().invoke(main, ["parity", "step-metrics", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "ranks" not in result.output
    assert json.loads(result.output.splitlines()[-1]) == {"suite": "step-metrics", "cases": 1, "agree": 1, "rate": 1.0}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("alpha_umi_pairs", {key: value for key, value in PAIR.items() if key != "tools"}),
        ("alpha_umi_pairs", None),
        ("alpha_umi_aggregates", {**CORPUS, "pairs": 3}),
        ("rouge_l_pairs", {**ROUGE, "reference": 3}),
        ("seal_tools_pairs", {**SEAL, "gold": [{}]}),
        ("seal_tools_aggregates", []),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, name: str, row: Any) -> None:
    write(tmp_path, name, [row])
    with pytest.raises(DataError, match=rf"{name}\.jsonl, row 1: not a fixture"):
        run_suite("step-metrics", tmp_path)


def test_missing_and_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds none of alpha_umi_pairs\.jsonl, "):
        run_suite("step-metrics", tmp_path)
    (tmp_path / "rouge_l_pairs.jsonl.gz").write_bytes(gzip.compress(b"{}")[:-4])
    with pytest.raises(DataError, match=r"rouge_l_pairs\.jsonl\.gz cannot be read"):
        run_suite("step-metrics", tmp_path)
    (tmp_path / "rouge_l_pairs.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"rouge_l_pairs\.jsonl, row 1: not a fixture"):
        run_suite("step-metrics", tmp_path)


# alpha-UMi: reading.

CALLER = "Next: caller.</s>caller: "
ROLES: StepFormat = "multi_agent"
SINGLE: StepFormat = "backbone"
PARSED: list[tuple[str, StepFormat, str, tuple[Any, ...]]] = [
    ("call", ROLES, CALLER + 'Action: A\nAction Input: {"x": 1}</s>', ("call", "A", '{"x": 1}', None)),
    ("only the second segment", ROLES, CALLER + "Action: A</s>Action: B", ("call", "A", "{}", None)),
    ("nothing is cut behind", ROLES, CALLER + "Action: A\nAction Input: {} ok", ("call", "A", "{} ok", None)),
    ("last action", ROLES, CALLER + "Action: A\nAction Input: {}\nAction: B", ("call", "B", "{}\nAction: B", None)),
    ("input before the action", ROLES, CALLER + "Action Input: {}\nAction: A", ("call", "A", "{}\nAction: A", None)),
    ("no action", ROLES, CALLER + "I call it.", ("call", "none", "{}", None)),
    ("empty action", ROLES, CALLER + "Action: Action Input: ", ("call", "", "", None)),
    ("give up", ROLES, "Next: conclusion. Next: give up.", ("give up", None, None, None)),
    ("finish", ROLES, "Next: conclusion.</s>conclusion: Done</s>", ("finish", None, None, "Done")),
    ("after the last marker", ROLES, "Next: conclusion.</s>conclusion: The conclusion: x", ("finish", None, None, "x")),
    ("no second marker", ROLES, "a</s> Next: conclusion.", ("finish", None, None, "a Next: conclusion.")),
    ("a thought may speak", ROLES, "The conclusion: soon. " + CALLER + "Action: A", ("call", "A", "{}", None)),
    ("call", SINGLE, "t\nAction: A\nAction Input: {}", ("call", "A", "{}", None)),
    ("give up", SINGLE, "t\nconclusion: give up.", ("give up", None, None, None)),
    ("finish", SINGLE, "t\nconclusion: x</s>", ("finish", None, None, "x</s>")),
    ("a thought must not", SINGLE, "conclusion: soon\nAction: A", ("finish", None, None, "soon\nAction: A")),
    ("without the space it is none", SINGLE, "conclusion:x\nAction: A", ("call", "A", "{}", None)),
    ("the whole text", SINGLE, "a</s>Action: A", ("call", "A", "{}", None)),
]  # fmt: skip


@pytest.mark.parametrize(("case", "format", "text", "parsed"), PARSED)
def test_a_step_is_read_as_officially(case: str, format: StepFormat, text: str, parsed: tuple[Any, ...]) -> None:
    step = parse_step(text, format)
    assert (step.plan, step.action, step.arguments, step.answer) == parsed
    assert step.official_error is None


@pytest.mark.parametrize(
    ("text", "plan", "answer", "error"),
    [
        ("", "call", None, "IndexError: list index out of range"),
        ("Next: caller. Action: A", "call", None, "IndexError: list index out of range"),
        ("Next: conclusion.</s>conclusion:", "finish", "", "ValueError: substring not found"),
        ("Next: conclusion:x</s>", "finish", "x", "ValueError: substring not found"),
    ],
)
def test_where_the_official_parser_dies_is_data(text: str, plan: str, answer: str | None, error: str) -> None:
    step = parse_step(text, "multi_agent")
    assert (step.plan, step.action, step.answer, step.official_error) == (plan, None, answer, error)


# alpha-UMi: scoring.

F1: list[tuple[str, str, str, float | None, str]] = [
    ("equal", '{"x": 1, "y": "a"}', '{"y": "a", "x": 1}', 1, "with_args"),
    ("one value wrong: m = 1.5 of 2 and 2", '{"x": 1, "y": 2}', '{"x": 1, "y": 3}', 0.75, "with_args"),
    ("all values wrong", '{"x": 1, "y": 2}', '{"x": 8, "y": 9}', 0.5, "with_args"),
    ("text is no number", '{"x": 1}', '{"x": "1"}', 0.5, "with_args"),
    ("but true is", '{"x": 1}', '{"x": true}', 1, "with_args"),
    ("1.0 is 1", '{"x": 1}', '{"x": 1.0}', 1, "with_args"),
    ("missing: P 1, R 1/2", '{"x": 1, "y": 2}', '{"x": 1}', 2 / 3, "with_args"),
    ("extra: P 1/2, R 1", '{"x": 1}', '{"x": 1, "z": 0}', 2 / 3, "with_args"),
    ("other names", '{"x": 1}', '{"z": 1}', 0, "with_args"),
    ("none given", '{"x": 1}', "{}", 0, "with_args"),
    ("no JSON", '{"x": 1}', "{'x': 1}", 0, "with_args"),
    ("empty", '{"x": 1}', "", 0, "with_args"),
    ("a list", '{"x": 1}', '["x"]', 0, "with_args"),
    ("a number", '{"x": 1}', "3", 0, "with_args"),
    ("no arguments", "{}", "{ }", 1, "empty_ref_args"),
    ("no arguments, one given", "{}", '{"x": 1}', 0, "empty_ref_args"),
    ("no arguments, a list", "{}", "[]", 0, "empty_ref_args"),
    ("no arguments, no JSON", "{}", "none", 0, "empty_ref_args"),
    ("a reference that is no object", "[1]", "[1]", 0, "with_args"),
    ("a reference that is no JSON", "{'x': 1}", "{}", None, "skipped"),
]


def backbone_call(name: str, arguments: str) -> str:
    return f"I think.\nAction: {name}\nAction Input: {arguments}"


@pytest.mark.parametrize(("case", "reference", "given", "f1", "bucket"), F1, ids=[row[0] for row in F1])
def test_argument_f1_by_hand(case: str, reference: str, given: str, f1: float | None, bucket: str) -> None:
    score = score_step(backbone_call("A", reference), backbone_call("A", given), ["A"], "backbone")
    assert score.argument_f1 == (None if f1 is None else pytest.approx(f1))
    assert (score.bucket, score.action_match, score.plan_match, score.rouge_l) == (bucket, True, True, None)


def test_a_step_that_does_something_else_has_no_tool() -> None:
    reference = backbone_call("A", "{}")
    for prediction in ("conclusion: give up.", "conclusion: done", "no action"):
        score = score_step(reference, prediction, ["A"], "backbone")
        assert (score.argument_f1, score.bucket, score.action_match) == (0.0, "name_mismatch", False)
        assert not score.hallucination
    assert score_step("conclusion: give up.", reference, ["A"], "backbone").argument_f1 is None


@pytest.mark.parametrize(
    ("action", "hallucinated"), [("A", False), ("a", True), ("A()", True), ("", True), ("none", False), ("B", True)]
)
def test_a_tool_is_made_up_where_no_tool_has_the_very_name(action: str, hallucinated: bool) -> None:
    score = score_step("conclusion: x", backbone_call(action, "{}"), ["A"], "backbone")
    assert score.hallucination is hallucinated
    assert score.rouge_l == 0.0  # "none" against "x"


def test_answers_are_compared_by_rouge_l() -> None:
    def rouge(reference: str, reply: str) -> tuple[float | None, str | None]:
        score = score_step(f"conclusion: {reference}", f"conclusion: {reply}", [], "backbone")
        return score.rouge_l, score.official_error

    assert rouge("one two", "one two") == (0.999999995, None)
    assert rouge("one two", "...") == (0.0, "ValueError: Hypothesis is empty.")
    assert rouge("one two", "") == (0.0, "ValueError: Hypothesis is empty.")
    assert rouge("", "one") == (None, "ValueError: Reference is empty.")
    assert rouge("", "") == (None, "ValueError: Hypothesis is empty.")


def corpus(*pairs: tuple[str, str], format: StepFormat = "backbone") -> CorpusScore:
    return alpha_umi.corpus_score(
        score_step(reference, prediction, ["A", "B"], format) for reference, prediction in pairs
    )


def test_a_corpus_by_hand() -> None:
    easy, hard = backbone_call("A", "{}"), backbone_call("A", '{"x": 1}')
    found = corpus(
        (easy, easy),  # 1
        (hard, backbone_call("A", '{"x": 2}')),  # 1/2
        (hard, backbone_call("C", '{"x": 1}')),  # made up: 0 in both buckets
        ("conclusion: give up.", "conclusion: one"),
        ("conclusion: one", "conclusion: one"),
    )
    assert found.official() == {
        "rouge": 0.999999995,
        "plan_em": 4 / 5,
        "action_em": 2 / 3,
        "easy_f1": 1 / 2,
        "hard_f1": 1 / 4,
        "f1": 1.5 / 3,
        "hallu_rate": 1 / 5,
    }
    assert found.official_error is None


def test_1e_30_is_added_to_each_mean() -> None:
    reference = backbone_call("A", "{}")
    found = corpus((reference, "nothing")).official()
    assert found == {
        "rouge": 0, "plan_em": 1, "action_em": 0, "easy_f1": 1e-30, "hard_f1": 1e-30, "f1": 1e-30, "hallu_rate": 0,
    }  # fmt: skip


def test_what_the_official_script_dies_of_first() -> None:
    right = backbone_call("A", "{}")
    died = corpus((right, right))
    assert died.official_error == "ZeroDivisionError: division by zero"
    assert (died.official(), died.easy_f1, died.hard_f1, died.argument_f1) == (None, 1.0, None, 1.0)
    empty_answer = ("conclusion: x", "conclusion: .")
    assert corpus(empty_answer, (right, right)).official_error == "ValueError: Hypothesis is empty."
    ended = "Next: conclusion.</s>conclusion: "
    parsed_first = corpus((ended + "x", ended + "."), (CALLER + right, "cut"), format="multi_agent")
    assert parsed_first.official_error == "IndexError: list index out of range"
    assert parsed_first.plan_accuracy == 1.0
    nothing = corpus()
    assert (nothing.plan_accuracy, nothing.rouge_l, nothing.official()) == (None, 0.0, None)


# Text that policies write.

PIECES = [
    "Next: give up", "Next: conclusion", "Next: caller.", "</s>", "conclusion:", " ", "Action:", "Action Input:", "A",
    "{}", '{"x": 1}', '{"x":', "[" * 3000, "NaN", "9" * 5000, ".", "\n", "'", "\ud800",
    '[{"api":', '"A"', ', "parameters":', ', "responses":', '["API_call_0"]', "[", "]", "{", "}", ", ", "3",
]  # fmt: skip
texts = st.text(max_size=30) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(texts, texts, st.sampled_from(["multi_agent", "backbone"]))
def test_no_text_raises_and_scores_are_shares(reference: str, prediction: str, format: StepFormat) -> None:
    scores = [
        score_step(one, other, ["A"], format) for one, other in ((reference, prediction), (prediction, "Action: A"))
    ]
    for score in scores:
        assert score.argument_f1 is None or 0.0 <= score.argument_f1 <= 1.0
        assert score.rouge_l is None or 0.0 <= score.rouge_l <= 1.0
        assert (score.bucket is None) == (score.reference.plan != "call")
    found = alpha_umi.corpus_score(scores)
    numbers = (found.plan_accuracy, found.hallucination_rate, found.action_match, found.argument_f1, found.rouge_l)
    assert all(value is None or 0.0 <= value <= 1.0 for value in numbers)
    assert (found.official() is None) == (found.official_error is not None)


values = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["1", "t", 1.0, [1]])
arguments = st.dictionaries(st.sampled_from("xyz"), values, max_size=3)


@given(arguments, arguments)
def test_half_credit_is_a_share_and_symmetric(one: dict[str, Any], other: dict[str, Any]) -> None:
    f1 = half_credit_f1(one, other)
    assert 0.0 <= f1 <= 1.0
    assert f1 == pytest.approx(half_credit_f1(other, one))
    assert half_credit_f1(one, one) == 1.0


# Seal-Tools.


def seal(name: str, *responses: str, **parameters: Any) -> dict[str, Any]:
    return {"api": name, "parameters": parameters, "responses": list(responses)}


ADD = seal("add", a=1)
READ: list[tuple[str, str, list[Any] | None]] = [
    ("JSON", json.dumps([ADD]), [ADD]),
    ("Python", repr([ADD]), [ADD]),
    ("words around it", f"I call [this]:\n{json.dumps([ADD], indent=1)}\nDone [now].", [ADD]),
    ("spaces", '[ {  "api": "add", "parameters": {"a": 1}, "responses": []}]', [ADD]),
    ("a later list is ignored", f"{[ADD]} or {[ADD, ADD]}", [ADD]),
    ("later elements may be anything", json.dumps([ADD, 3, "x"]), [ADD, 3, "x"]),
    ("api is not the first key", '[{"parameters": {}, "api": "add", "responses": []}]', None),
    ("an apostrophe", json.dumps([seal("add", a="it's")]), None),
    ("a bracket in a text", json.dumps([seal("add", a="]")]), None),
    ("a line end goes", '[{"api": "add", "parameters": {"a": "x\ny"}, "responses": []}]', [seal("add", a="xy")]),
    ("no responses", '[{"api": "add", "parameters": {}}]', None),
    ("the words may stand anywhere", '[{"api": "parameters responses"}]', [{"api": "parameters responses"}]),
    ("one object", json.dumps(ADD), None),
    ("an empty list", "[]", None),
    ("cut short", json.dumps([ADD])[:-1], None),
    ("nested too deeply", '[{"api": "parameters responses", "x": ' + "[" * 10**5 + "]" * 10**5 + "}]", None),
    ("nothing", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("case", "text", "calls"), READ, ids=[row[0] for row in READ])
def test_calls_are_read_as_officially(case: str, text: str, calls: list[Any] | None) -> None:
    assert parse_calls(text) == calls


G1, G2 = seal("add", a=1, b="t"), seal("add", a=2)
SUB = seal("sub", x=5)
COUNTED: list[tuple[str, list[Any], list[Any] | None, tuple[int, int, int], tuple[int, int, int], int, int]] = [
    # gold, predicted, official tools and parameters; correct ones where each gold call is matched once
    ("right", [G1], [G1], (1, 1, 1), (2, 2, 2), 1, 2),
    ("unparsable counts as gold", [G1, SUB], None, (0, 0, 2), (0, 0, 3), 0, 0),
    ("text of a number", [SUB], [seal("sub", x="5")], (1, 1, 1), (1, 1, 1), 1, 1),
    ("True is the text True", [seal("sub", x=True)], [seal("sub", x="True")], (1, 1, 1), (1, 1, 1), 1, 1),
    ("1.0 is not 1", [G1], [seal("add", a=1.0, b="t")], (1, 1, 1), (1, 2, 2), 1, 1),
    ("other case", [G1], [seal("Add", a=1)], (0, 1, 1), (0, 1, 2), 0, 0),
    ("repeated", [G1, SUB], [G1, G1, SUB], (3, 3, 2), (5, 5, 3), 2, 3),
    ("the second of a name is never compared", [G1, G2], [G1, G2], (2, 2, 2), (2, 3, 3), 2, 3),
    ("its value is", [G1, G2], [G2, G2], (2, 2, 2), (0, 2, 3), 1, 1),
    ("parameters that are no object", [G1], [{"api": "add", "parameters": [1]}], (1, 1, 1), (0, 0, 2), 1, 0),
    ("a call without a name", [G1], [G1, {"parameters": {"a": 1}}], (1, 1, 1), (2, 2, 2), 1, 2),
    ("a name that is no text", [G1], [{"api": [3], "parameters": {"a": 1}}], (0, 1, 1), (0, 1, 2), 0, 0),
]


@pytest.mark.parametrize(("case", "asked", "made", "tools", "parameters", "calls", "values"), COUNTED)
def test_counts_by_hand(
    case: str,
    asked: list[Any],
    made: list[Any] | None,
    tools: tuple[int, int, int],
    parameters: tuple[int, int, int],
    calls: int,
    values: int,
) -> None:
    official, capped = official_counts(asked, made), capped_counts(asked, made)
    assert (official.tools, official.parameters) == (Counts(*tools), Counts(*parameters))
    assert (capped.tools, capped.parameters) == (Counts(calls, *tools[1:]), Counts(values, *parameters[1:]))
    assert official.parsed is capped.parsed is (made is not None)


def test_a_repeated_call_pays_officially_and_not_here() -> None:
    asked = [seal(name, x=1) for name in "ABCD"]
    repeated = [*asked, asked[0]]
    official = seal_tools.corpus_score([official_counts(asked, repeated)])
    assert official.tools.recall == 1.25
    assert official.tools.f1 == pytest.approx(1.11, abs=0.005)
    capped = seal_tools.corpus_score([capped_counts(asked, repeated)])
    assert (capped.tools.precision, capped.tools.recall) == (0.8, 1.0)


def test_a_corpus_leaves_out_what_it_cannot_divide() -> None:
    nothing = seal_tools.corpus_score([official_counts([ADD], None)])
    assert (nothing.official(), nothing.format_accuracy, nothing.tools.f1) == ({}, 0.0, 0.0)
    wrong = seal_tools.corpus_score([official_counts([ADD], None), official_counts([ADD], [SUB])])
    assert wrong.official() == {"AMOUNT": 0.5}
    assert seal_tools.corpus_score([]).official() == {}


@pytest.mark.parametrize("element", [3, None, True, "the api", ["api"], ["api", "parameters"]])
def test_an_element_that_is_no_call_ends_the_official_script(element: Any) -> None:
    row = official_counts([ADD], [ADD, element])
    assert row.official_error is not None
    assert row.official_error.startswith("TypeError")
    assert seal_tools.corpus_score([row]).official() is None
    assert capped_counts([ADD], [ADD, element]).official_error is None


@pytest.mark.parametrize("element", ["text", [], [3]])
def test_an_element_without_api_does_not(element: Any) -> None:
    assert official_counts([ADD], [ADD, element]) == official_counts([ADD], [ADD])


seal_calls = st.lists(
    st.builds(lambda name, parameters: seal(name, **parameters), st.sampled_from("AB"), arguments), max_size=4
)


@given(seal_calls, seal_calls, st.data())
def test_capped_scores_are_shares_that_no_repetition_raises(asked: list[Any], made: list[Any], data: Any) -> None:
    row = capped_counts(asked, made)
    for counts in (row.tools, row.parameters):
        assert counts.correct <= min(counts.predicted, counts.gold)
        assert counts.f1 <= 1.0
    official = official_counts(asked, made)
    assert (row.tools.predicted, row.tools.gold) == (official.tools.predicted, official.tools.gold)
    again = data.draw(st.sampled_from(made)) if made else None
    if again is not None and asked.count(again) <= made.count(again):
        repeated = capped_counts(asked, [*made, again])
        assert repeated.tools.f1 <= row.tools.f1
        assert repeated.parameters.f1 <= row.parameters.f1
    if asked:
        assert seal_tools.corpus_score([capped_counts(asked, asked)]).tools.f1 == 1.0


@given(st.lists(arguments, min_size=1, max_size=4), st.integers(0, 3))
def test_the_official_scores_are_those_of_the_capped_where_no_name_repeats(
    rows: list[dict[str, Any]], cut: int
) -> None:
    asked = [seal(f"tool{number}", **row) for number, row in enumerate(rows)]
    made = [seal(f"tool{number}", **row) for number, row in enumerate(rows[cut:])]
    official = official_counts(asked, made)
    assert capped_counts(asked, made) == official


@given(texts)
def test_no_text_is_read_with_an_error(text: str) -> None:
    calls = parse_calls(text)
    official_counts([ADD, G1], calls)
    capped_counts([ADD, G1], calls)
    found = nested_counts([seal("A", "API_call_0"), seal("B", x="API_call_0")], calls)
    assert found.correct <= min(found.predicted, found.gold)


# Nested calls.

WEATHER, MAIL = seal("weather", "API_call_0", "API_call_1", city="x"), seal("mail", "API_call_2", text="API_call_1")
NESTED: list[tuple[str, list[Any] | None, tuple[int, int, int]]] = [
    ("the same", [WEATHER, MAIL], (1, 1, 1)),
    ("renumbered", [seal("mail", "API_call_0", text="API_call_2"),
                    seal("weather", "API_call_1", "API_call_2", city="x")], (1, 1, 1)),
    ("another name altogether", [seal("weather", "w", "v", city="x"), seal("mail", text="v")], (1, 1, 1)),
    ("another output", [WEATHER, seal("mail", text="API_call_0")], (0, 1, 1)),
    ("its own output", [WEATHER, seal("mail", "API_call_1", text="API_call_1")], (1, 1, 1)),
    ("a value", [WEATHER, seal("mail", text="sunny")], (0, 0, 1)),
    ("an output of no call", [WEATHER, seal("mail", text="API_call_9")], (0, 0, 1)),
    ("missing", [WEATHER, seal("mail")], (0, 0, 1)),
    ("the call is missing", [WEATHER], (0, 0, 1)),
    ("a reference too many", [seal("weather", "a", "b", city="c"), seal("mail", "c", text="b")], (1, 2, 1)),
    ("another parameter", [WEATHER, seal("mail", to="API_call_1")], (0, 1, 1)),
    ("from a call that was not asked for", [WEATHER, seal("news", "n"), seal("mail", text="n")], (0, 1, 1)),
    ("no list", None, (0, 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("case", "made", "counts"), NESTED, ids=[row[0] for row in NESTED])
def test_references_by_hand(case: str, made: list[Any] | None, counts: tuple[int, int, int]) -> None:
    assert nested_counts([WEATHER, MAIL], made) == Counts(*counts)


def test_calls_of_one_tool_are_told_apart_by_where_their_references_lead() -> None:
    asked = [seal("A", "p", x=1), seal("A", "q", x=2), seal("B", v="p", w=1), seal("B", v="q", w=1)]
    made = [seal("A", "p", x=2), seal("A", "q", x=1), seal("B", v="p", w=1), seal("B", v="q", w=1)]
    assert nested_counts(asked, made) == Counts(2, 2, 2)
    assert nested_counts(asked, [*made[:2], made[2], made[2]]) == Counts(1, 2, 2)


def tool_of(name: str, *names: str, outputs: int | None = None, **more: Any) -> Tool:
    parameters: Any = {"type": "object", "properties": {name: {} for name in names}, **more}
    returns: Any = None if outputs is None else {"type": "object", "properties": {f"o{i}": {} for i in range(outputs)}}
    return Tool(name=name, parameters=parameters, returns=returns)


PLAN_TRIP = CallsGoal(turns=((gold("weather", city="x"), gold("mail", text="API_call_1")),))
TOOLS = (tool_of("weather", "city", outputs=2), tool_of("mail", "text"))


def test_outputs_are_numbered_call_after_call() -> None:
    tools = {tool.name: tool for tool in TOOLS}
    assert number_outputs(["mail", "weather", "unknown"], tools) == {
        "API_call_0": (0, 0), "API_call_1": (1, 0), "API_call_2": (1, 1), "API_call_3": (2, 0),
    }  # fmt: skip


NESTED_EPISODES: list[tuple[str, list[ToolCall], float]] = [
    ("as asked", [call("weather", city="x"), call("mail", text="API_call_1")], 1),
    ("other order", [call("mail", text="API_call_2"), call("weather", city="x")], 1),
    ("other order, old number", [call("mail", text="API_call_1"), call("weather", city="x")], 0),
    ("the call it leads to has a wrong argument", [call("weather", city="y"), call("mail", text="API_call_1")], 1),
    ("another output", [call("weather", city="x"), call("mail", text="API_call_0")], 0),
    ("repeated: 2*1/(1+2)", [call("weather", city="x"), *[call("mail", text="API_call_1")] * 2], 2 / 3),
    ("a value", [call("weather", city="x"), call("mail", text="sun")], 0),
    ("nothing", [], 0),
]


@pytest.mark.parametrize(("case", "made", "value"), NESTED_EPISODES, ids=[row[0] for row in NESTED_EPISODES])
def test_nested_calls_by_hand(case: str, made: list[ToolCall], value: float) -> None:
    score = nested_calls(task_of(PLAN_TRIP, *TOOLS), episode_of(calling(*made)))
    assert score.value == pytest.approx(value)
    counts: Any = score.explanation
    assert 2 * counts["right"] / (counts["gold"] + counts["predicted"]) == pytest.approx(value)
    assert counts["not_right"] == ([] if counts["right"] else ["mail: text"])


def test_nested_calls_are_not_asked_of_other_goals() -> None:
    episode = episode_of(calling(call("mail", text="API_call_0")))
    for goal in (CallsGoal(turns=((gold("mail", text="hello"),),)), AnswerGoal(accepted=("x",))):
        assert nested_calls(task_of(goal, *TOOLS), episode) == nested.NOT_ASKED
    free = CallsGoal(turns=PLAN_TRIP.turns, free=("search",))
    made = calling(call("search"), call("weather", city="x"), call("mail", text="API_call_1"))
    assert nested_calls(task_of(free, *TOOLS), episode_of(made)).value == 1.0


def test_a_circle_of_references_is_followed_once() -> None:
    asked = [gold("A", x="API_call_1"), gold("B", x="API_call_0")]
    outputs = number_outputs("AB", {})
    match = match_references(asked, outputs, [call("B", x="API_call_1"), call("A", x="API_call_0")], outputs)
    assert (match.right, match.gold, match.predicted, match.f1) == (2, 2, 2, 1.0)
    assert match_references([], {}, [], {}).f1 == 0.0


# Half credit.

A = gold("A", x=1, y=2)
HALF: list[tuple[str, list[GoldCall], list[ToolCall], int, float]] = [
    ("right", [A], [call("A", x=1, y=2)], 0, 1),
    ("one wrong", [A], [call("A", x=1, y=3)], 0, 0.75),
    ("all wrong", [A], [call("A", x=0, y=0)], 0, 0.5),
    ("other tool", [A], [call("B", x=1, y=2)], 0, 0),
    ("a variant", [gold("A", x=(1, 7))], [call("A", x=7)], 0, 1),
    ("optional left out", [gold("A", ("y",), x=1, y=2)], [call("A", x=1)], 0, 1),
    ("optional wrong", [gold("A", ("y",), x=1, y=2)], [call("A", x=1, y=0)], 0, 0.75),
    ("no arguments", [gold("A")], [call("A")], 0, 1),
    ("no arguments, one given", [gold("A")], [call("A", q=1)], 0, 0),
    ("repeated: 2*1/(1+2)", [A], [call("A", x=1, y=2)] * 2, 0, 2 / 3),
    ("unreadable: 2*1/(1+2)", [A], [call("A", x=1, y=2)], 1, 2 / 3),
    ("paired for the best", [gold("A", x=1), gold("A", x=2)], [call("A", x=2), call("A", x=1)], 0, 1),
    ("half beside a hit: 2*1.5/4", [gold("A", x=1), gold("A", x=2)], [call("A", x=2), call("A", x=3)], 0, 0.75),
    ("none asked, none made", [], [], 0, 1),
    ("none asked, one made", [], [call("A")], 0, 0),
]


@pytest.mark.parametrize(("case", "asked", "made", "unreadable", "value"), HALF, ids=[row[0] for row in HALF])
def test_half_credit_by_hand(
    case: str, asked: list[GoldCall], made: list[ToolCall], unreadable: int, value: float
) -> None:
    task, episode = task_of(CallsGoal(turns=(tuple(asked),))), episode_of(calling(*made, errors=unreadable))
    score = argument_f1_half_credit(task, episode)
    assert score.value == pytest.approx(value)
    explanation: Any = score.explanation
    (turn,) = explanation["turns"]
    total = turn["gold"] + turn["predicted"] + turn["unreadable"]
    paid = 2 * sum(pair["f1"] for pair in turn["matched"])
    assert (paid / total if total else 1) == pytest.approx(value)


def test_half_credit_names_every_argument() -> None:
    task = task_of(CallsGoal(turns=((gold("A", ("o",), a=1, b=1, c=1, o=1),),)))
    score = argument_f1_half_credit(task, episode_of(calling(call("A", a=1, b=2, e=0))))
    assert score.explanation["turns"] == [
        {
            "matched": [
                {
                    "gold": 0,
                    "predicted": 0,
                    "name": "A",
                    "arguments": {"a": "equal", "b": "half", "c": "missing", "e": "extra"},
                    "f1": 0.5,
                }
            ],
            "gold": 1,
            "predicted": 1,
            "unreadable": 0,
            "f1": 0.5,
        }
    ]


def test_half_credit_by_turns_order_and_scope() -> None:
    right, b = call("A", x=1, y=2), gold("B")
    two = CallsGoal(turns=((A,), (b,)))
    assert argument_f1_half_credit(task_of(two), episode_of(calling(right))).value == 0.5
    assert argument_f1_half_credit(task_of(two), episode_of(calling(right), calling(call("B"), turn=1))).value == 1.0
    beyond = [calling(right), calling(call("B"), turn=1), calling(right, turn=2)]
    assert argument_f1_half_credit(task_of(two), episode_of(*beyond)).value == pytest.approx(2 / 3)
    anywhere = CallsGoal(turns=((A,), (b,)), scope="episode", free=("search",))
    made = calling(call("search"), call("B"), right)
    assert argument_f1_half_credit(task_of(anywhere), episode_of(made)).value == 1.0
    ordered = CallsGoal(turns=((A, b),), ordered=True)
    assert argument_f1_half_credit(task_of(ordered), episode_of(calling(call("B"), right))).value == 0.5
    assert argument_f1_half_credit(task_of(ordered), episode_of(calling(right, call("B")))).value == 1.0
    quiet = CallsGoal(turns=((A,), ()))
    assert argument_f1_half_credit(task_of(quiet), episode_of(calling(right))).value == 0.5  # never reached
    assert argument_f1_half_credit(task_of(AnswerGoal(accepted=("x",))), episode_of()) == half_credit.NOT_ASKED


@given(st.sampled_from("AB"), arguments, st.sampled_from("AB"), arguments)
def test_for_one_call_half_credit_is_the_official_number(
    name: str, asked: dict[str, Any], other: str, made: dict[str, Any]
) -> None:
    official = score_step(
        backbone_call(name, json.dumps(asked)), backbone_call(other, json.dumps(made)), [], "backbone"
    )
    task = task_of(CallsGoal(turns=((GoldCall.of(ToolCall(name=name, arguments=asked)),),)))
    episode = episode_of(calling(ToolCall(name=other, arguments=made)))
    assert argument_f1_half_credit(task, episode).value == official.argument_f1


made_calls = st.lists(st.builds(ToolCall, name=st.sampled_from("ABC"), arguments=arguments), max_size=4)
gold_calls = st.lists(
    st.builds(GoldCall.of, st.builds(ToolCall, name=st.sampled_from("AB"), arguments=arguments)), max_size=3
)


@given(gold_calls, made_calls, st.integers(0, 2), st.booleans())
def test_half_credit_is_a_share_no_stricter_than_argument_f1(
    asked: list[GoldCall], made: list[ToolCall], unreadable: int, ordered: bool
) -> None:
    task = task_of(CallsGoal(turns=(tuple(asked),), ordered=ordered))
    score = argument_f1_half_credit(task, episode_of(calling(*made, errors=unreadable)))
    strict = argument_f1(task, episode_of(calling(*made, errors=unreadable)))
    assert score.value is not None
    assert strict.value is not None
    assert strict.value - 1e-9 <= score.value <= 1.0
    if made and len({call.name for call in asked}) == len(asked):
        repeated = argument_f1_half_credit(task, episode_of(calling(*made, made[0], errors=unreadable)))
        assert repeated.value is not None
        assert repeated.value <= score.value + 1e-12


# Plans.

CALLS, QUIET = CallsGoal(turns=((A,),), free=("search",)), CallsGoal(turns=((),))
ANSWER, TEXT = AnswerGoal(accepted=("4",)), TextGoal(reference="hello")
DECLINE = DecisionGoal(decision="decline", free=("search",))
MADE, SEARCHED = calling(call("A")), calling(call("search"))
PLANS: list[tuple[str, Any, list[Step], float]] = [
    ("calls: called", CALLS, [MADE], 1),
    ("calls: another tool is a call too", CALLS, [calling(call("B"))], 1),
    ("calls: an unreadable call is a plan to call", CALLS, [calling(errors=1)], 1),
    ("calls: a free one is none", CALLS, [SEARCHED], 0),
    ("calls: words", CALLS, [saying("no")], 0),
    ("calls: silence", CALLS, [saying(" ")], 0),
    ("calls: nothing", CALLS, [], 0),
    ("no calls: words", QUIET, [saying("hello")], 1),
    ("no calls: called", QUIET, [MADE], 0),
    ("no calls: silence", QUIET, [saying("")], 0),
    ("turn by turn", CallsGoal(turns=((A,), (A,))), [MADE, saying("no", turn=1)], 0.5),
    ("some time", CallsGoal(turns=((), (A,)), scope="episode"), [MADE], 1),
    ("none at any time", CallsGoal(turns=((), ()), scope="episode"), [saying("x")], 1),
    ("answer: said", ANSWER, [saying("5")], 1),
    ("answer: called and then said", ANSWER, [MADE, saying("5")], 1),
    ("answer: called", ANSWER, [MADE], 0),
    ("answer: said beside a call", ANSWER, [calling(call("A"), content="4")], 0),
    ("text: said", TEXT, [saying("anything")], 1),
    ("text: unreadable", TEXT, [calling(errors=1, content="x")], 0),
    ("decline: words", DECLINE, [saying("I cannot.")], 1),
    ("decline: after a search", DECLINE, [SEARCHED, saying("I cannot.")], 1),
    ("decline: called, then words", DECLINE, [MADE, saying("I cannot.")], 0),
    ("decline: silence", DECLINE, [saying("")], 0),
    ("decision to call", DecisionGoal(decision="call"), [MADE], 1),
    ("decision to ask", DecisionGoal(decision="ask"), [saying("Which one?")], 1),
    ("decision to answer, called first", DecisionGoal(decision="answer"), [MADE, saying("4")], 0),
    ("both: called and said", AllGoal(goals=(CALLS, ANSWER)), [MADE, saying("5")], 1),
    ("both: only said", AllGoal(goals=(CALLS, ANSWER)), [saying("4")], 0.5),
    ("both: only called", AllGoal(goals=(CALLS, ANSWER, StateGoal(state={}))), [MADE], 0.5),
]


@pytest.mark.parametrize(("case", "goal", "steps", "value"), PLANS, ids=[row[0] for row in PLANS])
def test_plans_by_hand(case: str, goal: Any, steps: list[Step], value: float) -> None:
    score = plan_accuracy(task_of(goal), episode_of(*steps))
    assert score.value == value
    assert score.applies
    explanation: Any = score.explanation
    assert explanation["right"] == value * explanation["of"]


def test_a_plan_is_not_asked_by_a_state() -> None:
    assert plan_accuracy(task_of(StateGoal(state={})), episode_of(MADE)) == plan.NOT_ASKED
    score = plan_accuracy(task_of(DECLINE), episode_of(MADE))
    assert score.explanation == {"right": 0, "of": 1, "plans": [{"asked": "give up", "made": "call"}]}


# Hallucination.

OK, UNKNOWN = ToolResult(content=1), ToolResult(error="unknown_tool", message="no such tool")
INVALID = ToolResult(error="invalid_arguments", message="no such argument")


def answered(*pairs: tuple[ToolCall, ToolResult], errors: int = 0) -> Step:
    calls, results = zip(*pairs, strict=True) if pairs else ((), ())
    return Step(action="...", calls=calls, results=results, errors=(FAULT,) * errors)


def test_hallucinated_tools_by_hand() -> None:
    task = task_of(CALLS)
    one = episode_of(answered((call("A"), OK), (call("B"), UNKNOWN)), answered((call("A"), INVALID), (call("A"), OK)))
    score = hallucinated_tool(task, one)
    assert score.value == 0.75
    assert score.explanation == {"calls": 4, "unknown": 1, "names": ["B"]}
    # What cannot be read names no tool, and so cannot dilute the share.
    diluted = episode_of(answered((call("B"), UNKNOWN), errors=9))
    assert hallucinated_tool(task, diluted).value == 0.0
    for silent in (episode_of(), episode_of(saying("x")), episode_of(calling(errors=1))):
        assert hallucinated_tool(task, silent) == hallucination.NOT_ASKED
    many = episode_of(answered(*[(call("B" * 999), UNKNOWN)] * 50))
    assert len(json.dumps(hallucinated_tool(task, many).explanation)) < 2000


def test_hallucinated_arguments_by_hand() -> None:
    closed, opened = tool_of("A", "x", "y"), tool_of("O", "x", additionalProperties=True)
    later = tool_of("L", "z", additionalProperties=False)
    task = task_of(CALLS, closed, opened, user_turns=(UserTurn(content="more", add_tools=(later,)),))

    def judge(*pairs: tuple[ToolCall, ToolResult]) -> tuple[float | None, Any]:
        score = hallucinated_argument(task, episode_of(answered(*pairs)))
        return score.value, score.explanation.get("names")

    assert judge((call("A", x=1, y=2), OK)) == (1.0, [])
    assert judge((call("A", x=1, q=2), INVALID)) == (0.5, ["A: q"])
    assert judge((call("A", x="wrong"), INVALID)) == (1.0, [])  # a wrong value is not a made-up name
    assert judge((call("O", q=1), OK)) == (1.0, [])
    assert judge((call("L", z=1, x=1), INVALID)) == (0.5, ["L: x"])
    assert judge((call("found", a=1, b=2), OK)) == (1.0, [])
    assert judge((call("found", a=1, b=2), INVALID)) == (0.5, ["found: (one of them, the tool says)"])
    assert judge((call("A", x=1), OK), (call("made up", q=1), UNKNOWN)) == (1.0, [])
    for nothing in ((call("A"), OK), (call("made up", q=1), UNKNOWN), (call("found"), INVALID)):
        assert hallucinated_argument(task, episode_of(answered(nothing))) == hallucination.NO_ARGUMENTS


# All of them.

results = st.sampled_from([OK, UNKNOWN, INVALID])
names = st.sampled_from(["A", "B", "mail", "weather", "search", "\ud800"])
written = st.dictionaries(
    st.sampled_from(["x", "text", "city", "\ud800"]), values | st.sampled_from(["API_call_0", "API_call_1"]), max_size=3
)
steps = st.builds(
    lambda pairs, errors, content, turn: Step(
        action="...",
        turn=turn,
        content=content,
        calls=tuple(pair[0] for pair in pairs),
        results=tuple(pair[1] for pair in pairs),
        errors=(FAULT,) * errors,
    ),
    st.lists(st.tuples(st.builds(ToolCall.trusted, name=names, arguments=written, id=st.none()), results), max_size=4),
    st.integers(0, 1),
    st.sampled_from(["", "words"]),
    st.integers(0, 2),
)


@given(
    st.sampled_from([CALLS, QUIET, ANSWER, TEXT, DECLINE, PLAN_TRIP, AllGoal(goals=(PLAN_TRIP, ANSWER))]),
    st.lists(steps, max_size=3),
)
def test_no_episode_raises_and_explanations_are_json(goal: Any, made: list[Step]) -> None:
    task, episode = task_of(goal, *TOOLS), episode_of()
    episode = episode.model_copy(update={"steps": tuple(made)})
    for reward in REWARDS:
        score = reward(task, episode)
        assert score == reward(task, episode)
        assert (score.value is not None) is score.applies
        assert score.value is None or 0.0 <= score.value <= 1.0
        assert json.loads(json.dumps(score.explanation)) == score.explanation
