"""API-Bank parity: our verdicts are the official ones on every fixture row, and a report that adds up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callgym import ConfigurationError, DataError, Task
from callgym.envs.apibank.official import Verdict, judge_call
from callgym.envs.apibank.parity import cases
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import load_tables
from callgym.envs.apibank.tasks import load_official
from callgym.errors import MissingPackageError
from callgym.parity import SUITES, Case, FileReport, ParityReport, run_suite
from callgym.tool_backends.ranking import LexicalRanker, MiniLmRanker

FILES = ("calls", "rules", "sequences", "parser", "rouge", "toolsearch")
RIGHT = {1: (347, 399), 2: (94, 135), 3: (230, 245)}
"""Level to the recorded calls that the official evaluation calls right, and all that it scores."""
CEILING = {1: 347, 2: 95, 3: 235}
"""Level to what any text at all could reach."""
RIGHT_SAMPLES = 40


@pytest.fixture(scope="module")
def fixtures(official_data: Path, apibank_data: Path) -> Path:
    folder = official_data / "api_bank_parity"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


@pytest.fixture(scope="module")
def best_ranker() -> str:
    """The official model where it is installed."""
    try:
        return MiniLmRanker().name
    except MissingPackageError:
        return LexicalRanker().name


@pytest.fixture(scope="module")
def report(fixtures: Path, best_ranker: str) -> ParityReport:
    return run_suite("apibank", fixtures, ranker=best_ranker)


def file_of(report: ParityReport, name: str) -> FileReport:
    return next(file for file in report.files if file.file == name)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def is_search(case: Case) -> bool:
    """Whether the case hangs on which tool a search finds."""
    return "ToolSearcher" in json.dumps([case.expected, case.found], default=str)


# The suite over the shared fixtures.


def test_every_row_is_a_case(report: ParityReport, fixtures: Path) -> None:
    rows = {f"{name}.jsonl": len(lines_of(fixtures / f"{name}.jsonl")) for name in FILES}
    assert {file.file: file.cases for file in report.counted} == rows
    assert report.summary()["cases"] == sum(rows.values())
    calls = lines_of(fixtures / "calls.jsonl")
    assert file_of(report, "calls.jsonl (status)").cases == len(calls)
    assert file_of(report, "calls.jsonl (error class)").cases == sum(row["level"] < 3 for row in calls)
    assert file_of(report, "calls.jsonl (typed_fresh)").cases == sum("typed_fresh" in row for row in calls)
    assert file_of(report, "calls.jsonl (typed_replay)").cases == sum("typed_replay" in row for row in calls)
    assert file_of(report, "calls.jsonl (result)").cases > len(calls) / 2
    sequences = lines_of(fixtures / "sequences.jsonl")
    assert file_of(report, "sequences.jsonl (calls)").cases == sum(len(row["calls"]) for row in sequences)


def test_with_the_official_model_every_verdict_is_the_official_one(report: ParityReport, best_ranker: str) -> None:
    if best_ranker != "minilm":
        pytest.skip("the official model is not installed")
    assert [case for file in report.files for case in file.disagreements] == []
    assert report.summary()["rate"] == 1.0


def test_with_words_alone_only_tool_searches_differ(fixtures: Path) -> None:
    report = run_suite("apibank", fixtures, ranker="bm25")
    searches = {row["case"] for row in lines_of(fixtures / "calls.jsonl") if row["gold_api"] == "ToolSearcher"}
    for file in report.files:
        if file.file == "toolsearch.jsonl":
            continue
        others = [case for case in file.disagreements if case.case not in searches and not is_search(case)]
        assert others == [], file.file
        if not file.file.startswith("calls"):
            assert file.disagreements == []
    rate = report.summary()["rate"]
    assert rate is not None
    assert 0.98 < rate < 1.0


# What the official evaluation says of the recorded calls themselves.


def unflagged(tasks: tuple[Task, ...]) -> list[Task]:
    return [task for task in tasks if "official_gold" not in task.meta]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_recorded_calls_are_flagged_exactly_where_they_fail_officially(
    fixtures: Path, apibank_data: Path, best_ranker: str, level: int
) -> None:
    if best_ranker != "minilm":
        pytest.skip("the official model is not installed")
    tasks = load_official(apibank_data, level, "test", ranker="minilm")
    summary = json.loads((fixtures / "gold_summary.json").read_text(encoding="utf-8"))[f"level_{level}"]
    right, scored = RIGHT[level]
    assert (len(unflagged(tasks)), len(tasks)) == (right, scored)
    places = {(task.meta["dialogue"], task.meta["turn"]): task.meta.get("official_gold") for task in tasks}
    failing = {place for place, flag in places.items() if flag is not None}
    assert failing == {(row["dialogue"], row["turn"]) for row in summary["failing"]}
    assert len(places) - len(failing) == summary["correct"]
    statuses = {(row["dialogue"], row["turn"]): row["status"] for row in summary["failing"]}
    for place in failing:
        flag: Any = places[place]
        assert flag["status"] == statuses[place], place
        assert flag["reason"], place


def test_samples_of_level_3_that_are_right_as_a_whole(apibank_data: Path, best_ranker: str) -> None:
    tasks = load_official(apibank_data, 3, "test", ranker=best_ranker)
    wrong = {task.meta["dialogue"] for task in tasks if "official_gold" in task.meta}
    samples = {task.meta["dialogue"] for task in tasks}
    assert len(samples) == 50
    assert len(samples - wrong) <= RIGHT_SAMPLES
    if best_ranker == "minilm":
        assert len(samples - wrong) == RIGHT_SAMPLES


@pytest.mark.parametrize("level", [1, 2, 3])
def test_with_words_alone_no_more_is_right_than_can_be(apibank_data: Path, level: int) -> None:
    tasks = load_official(apibank_data, level, "test", ranker="bm25")
    right = unflagged(tasks)
    assert len(right) <= CEILING[level]
    # All that differs from the official model's verdicts are tool searches.
    gold: list[Any] = [task.meta["gold"] for task in right]
    others = sum(call["api_name"] != "ToolSearcher" for call in gold)
    assert others == {1: 347, 2: 80, 3: 121}[level]


def test_flags_do_not_depend_on_what_was_judged_before(apibank_data: Path) -> None:
    """Every call is judged on databases in their first state, whatever ran before it."""
    backend = SimulatorBackend(load_tables(apibank_data), "apis", LexicalRanker(), official=True)
    tasks = load_official(apibank_data, 1, "test")
    golds: list[Any] = [task.meta["gold"] for task in tasks]
    backwards = [judge_call(gold["text"], gold, backend).correct for gold in reversed(golds)]
    assert backwards[::-1] == ["official_gold" not in task.meta for task in tasks]


# Verdicts, case by case.

ALARM: dict[str, Any] = {"api_name": "AddAlarm", "result": {
    "api_name": "AddAlarm", "input": {"token": "z9x8c7v6b5n4m3q2w1", "time": "2023-03-18 06:00:00"},
    "output": "success", "exception": None}}  # fmt: skip
GOOD = "[AddAlarm(token='z9x8c7v6b5n4m3q2w1', time='2023-03-18 06:00:00')]"
VERDICTS: list[tuple[str, str, str | None]] = [
    (GOOD, "correct", None),
    (f"Sure! API-Request: {GOOD} there you are", "correct", None),
    ("", "no_api_call", "NO_API_CALL"),
    ("AddAlarm(token='z9x8c7v6b5n4m3q2w1')", "no_api_call", "NO_API_CALL"),
    ("[QueryAlarm(token='z9x8c7v6b5n4m3q2w1')]", "name_mismatch", "API_NAME_MISMATCH"),
    ("[Nothing()]", "name_mismatch", "API_NAME_MISMATCH"),
    ("[AddAlarm(token='z9x8c7v6b5n4m3q2w1')]", "call_error", "MISS_INPUT_ARGUMENT"),
    ("[AddAlarm(token='z9x8c7v6b5n4m3q2w1', when='6')]", "call_error", "INVALID_INPUT_PARAMETER"),
    ("[AddAlarm(token='z9x8c7v6b5n4m3q2w1', time='6')]", "incorrect", "HAS_EXCEPTION"),
    ("[AddAlarm(token='z9x8c7v6b5n4m3q2w1', time='2023-03-18 6:00:00')]", "incorrect", "INPUT_MISMATCH"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "status", "category"), VERDICTS)
def test_verdicts_by_hand(apibank_data: Path, text: str, status: str, category: str | None) -> None:
    backend = SimulatorBackend(load_tables(apibank_data), "apis", LexicalRanker(), official=True)
    verdict = judge_call(text, ALARM, backend)
    assert (verdict.status, verdict.category, verdict.correct) == (status, category, status == "correct")
    assert bool(verdict.reason) is not verdict.correct


def test_why_a_call_is_wrong_is_said_in_a_few_words() -> None:
    rows: list[tuple[Verdict, str]] = [
        (Verdict(True, "correct"), ""),
        (Verdict(False, "incorrect", "OUTPUT_MISMATCH", result={"exception": None}), "another output"),
        (Verdict(False, "incorrect", "INPUT_MISMATCH", result={"exception": None}), "another input"),
        (Verdict(False, "incorrect", result={"exception": None}), "another result"),
        (Verdict(False, "incorrect", result={"exception": "No."}), "the tool complains: No."),
        (Verdict(False, "call_error", "CRASH", message="TypeError: x"), "TypeError: x"),
    ]
    for verdict, reason in rows:
        assert verdict.reason == reason


def test_a_text_without_a_call_is_not_said_to_have_another_result() -> None:
    assert "call" in Verdict(False, "no_api_call", "NO_API_CALL").reason


# The report, on a small folder of our own.

CALLS = {
    "case": "C/1", "level": 1, "dialogue": "AddAlarm-level-1-1.jsonl", "turn": 1, "gold_api": "AddAlarm",
    "history_calls": [], "mutation": "none", "output": "I will.", "extracted": None, "official_correct": False,
    "official_status": "no_api_call", "official_result": None, "by_json_category": "NO_API_CALL",
}  # fmt: skip
TODAY = {"api_name": "GetToday", "input": None, "output": "2023-03-31", "exception": None}
RULE = {
    "case": "R/1", "tools": "apis", "api_name": "GetToday", "groundtruth_args": {}, "args": {}, "result": TODAY,
    "official_correct": True,
}  # fmt: skip
PARSER = {
    "case": "P/1", "text": "[A(x='1')]", "official_extracted": "[A(x='1')]", "official_parsed": ["A", {"x": "1"}],
    "official_parse_of_full_text": ["A", {"x": "1"}],
}  # fmt: skip
NO_CALL = {"case": "P/2", "text": "none", "official_extracted": None}
WRONG = {**PARSER, "case": "P/3", "official_parsed": ["A", {"x": "2"}]}
ROUGE = {"case": "O/1", "level": 1, "reference": "one two.", "output": "one two.", "official_rouge_l": 1.0}
SEQUENCE = {
    "case": "S/1", "tools": "apis",
    "calls": [{"api_name": "GetToday", "args": {}}, {"api_name": "GetToday", "args": {"x": 1}}],
    "official_outputs": [{"status": "ok", "result": TODAY},
                         {"status": "raised", "error": "AssertionError: invalid parameter name. parameter: x"}],
    "state_changes": {},
}  # fmt: skip
CHANGED: dict[str, Any] = {**SEQUENCE, "case": "S/2", "state_changes": {"Alarm": {"set": {}, "removed": ["1"]}}}
SEARCH = {"case": "T/1", "tools": "lv3_apis", "keywords": "Geocoding", "official_names": "Geocoding"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "fixtures"
    folder.mkdir()
    return folder


def write(folder: Path, **files: list[Any]) -> None:
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_the_report_adds_up(folder: Path, apibank_data: Path, tmp_path: Path) -> None:
    write(folder, parser=[PARSER, NO_CALL, WRONG], rules=[RULE], rouge=[ROUGE], sequences=[SEQUENCE, CHANGED],
          toolsearch=[SEARCH])  # fmt: skip
    report = run_suite("apibank", folder, data=str(apibank_data), ranker="bm25")
    assert {file.file: (file.agree, file.cases) for file in report.files} == {
        "rules.jsonl": (1, 1),
        "rules.jsonl (result)": (1, 1),
        "sequences.jsonl (calls)": (4, 4),
        "sequences.jsonl (state)": (1, 2),
        "sequences.jsonl": (1, 2),
        "parser.jsonl": (2, 3),
        "rouge.jsonl": (1, 1),
        "toolsearch.jsonl": (1, 1),
    }
    assert [file.file for file in report.counted] == [
        "rules.jsonl", "sequences.jsonl", "parser.jsonl", "rouge.jsonl", "toolsearch.jsonl"
    ]  # fmt: skip
    summary = report.summary()
    assert summary == {"suite": "apibank", "cases": 8, "agree": 6, "rate": 0.75}
    assert json.loads(json.dumps(summary)) == summary
    lines = list(report.lines())
    assert len(lines) == len(report.files)
    assert "parser.jsonl             2/3" in lines
    assert report.write_disagreements(tmp_path / "out.jsonl") == 3
    rows = lines_of(tmp_path / "out.jsonl")
    assert [row["case"] for row in rows] == ["S/2", "S/2", "P/3"]
    assert rows[2] == {
        "file": "parser.jsonl",
        "case": "P/3",
        "official": ["[A(x='1')]", ["A", {"x": "2"}], ["A", {"x": "1"}]],
        "callgym": ["[A(x='1')]", ["A", {"x": "1"}], ["A", {"x": "1"}]],
    }


def test_a_call_is_compared_in_all_its_parts(folder: Path, apibank_data: Path) -> None:
    dialogue = "lv1-lv2-samples/level-1-given-desc/AddAlarm-level-1-1.jsonl"
    turn = next(n for n, row in enumerate(lines_of(apibank_data / dialogue)) if row["role"] == "API")
    write(folder, calls=[{**CALLS, "turn": turn}, {**CALLS, "turn": turn, "case": "C/2", "official_status": "crash"}])
    report = run_suite("apibank", folder, data=str(apibank_data))
    assert {file.file: (file.agree, file.cases) for file in report.files} == {
        "calls.jsonl": (2, 2),
        "calls.jsonl (status)": (1, 2),
        "calls.jsonl (error class)": (2, 2),
    }
    assert report.summary()["rate"] == 1.0


def test_random_parts_are_not_compared(folder: Path, apibank_data: Path) -> None:
    given = {"username": "brand_new", "password": "p", "email": "e"}
    token = "<random:token>"
    calls = [
        {"api_name": "RegisterUser", "args": given},
        {"api_name": "CheckToken", "args": {"token": {"$ref": [0, "output", "token"]}}},
    ]
    outputs = [
        {"status": "ok", "result": {"input": given, "output": {"token": token}, "exception": None}},
        {"status": "ok", "result": {"input": {"token": token}, "output": {"username": "brand_new"}, "exception": None}},
    ]
    account = {"password": "p", "token": token, "email": "e"}
    row: dict[str, Any] = {
        "case": "S/3", "tools": "apis", "calls": calls, "official_outputs": outputs,
        "state_changes": {"Account": {"set": {"brand_new": account}, "removed": []}},
    }  # fmt: skip
    write(folder, sequences=[row])
    report = run_suite("apibank", folder, data=str(apibank_data))
    assert report.summary() == {"suite": "apibank", "cases": 1, "agree": 1, "rate": 1.0}
    row["state_changes"]["Account"]["set"]["brand_new"] = {**account, "email": "f"}
    write(folder, sequences=[row])
    assert run_suite("apibank", folder, data=str(apibank_data)).summary()["agree"] == 0


def test_a_report_without_cases_has_no_rate() -> None:
    assert ParityReport("s", []).summary() == {"suite": "s", "cases": 0, "agree": 0, "rate": None}
    assert list(ParityReport("s", []).lines()) == []
    detail = ParityReport("s", [FileReport("calls.jsonl (status)", 3)])
    assert detail.counted == []
    assert detail.summary()["rate"] is None


def without(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


DAMAGE = [
    pytest.param("parser", "text", id="no object"),
    pytest.param("parser", None, id="null"),
    pytest.param("parser", 5, id="a number"),
    pytest.param("parser", [], id="a list"),
    pytest.param("parser", without(PARSER, "text"), id="a field is missing"),
    pytest.param("parser", {**PARSER, "text": 5}, id="a text is none"),
    pytest.param("parser", without(PARSER, "case"), id="no name"),
    pytest.param("rules", {**RULE, "tools": "lv4_apis"}, id="no such tools"),
    pytest.param("rules", {**RULE, "args": "x"}, id="arguments that are none"),
    pytest.param("rules", without(RULE, "official_correct"), id="no verdict"),
    pytest.param("rouge", {**ROUGE, "reference": 5}, id="a reference that is no text"),
    pytest.param("toolsearch", {**SEARCH, "keywords": 5}, id="keywords that are no text"),
    pytest.param("toolsearch", {**SEARCH, "official_names": []}, id="nothing found"),
    pytest.param("sequences", {**SEQUENCE, "official_outputs": []}, id="too few outputs"),
    pytest.param(
        "sequences",
        {**SEQUENCE, "calls": [{"api_name": "GetToday", "args": {"x": {"$ref": [9]}}}]},
        id="refers to nothing",
    ),
    pytest.param("calls", {**CALLS, "level": 4}, id="no such level"),
    pytest.param("calls", {**CALLS, "turn": 99}, id="no such turn"),
    pytest.param("calls", {**CALLS, "level": 3, "dialogue": "level-3.json[x]"}, id="no such sample"),
    pytest.param("calls", {**CALLS, "output": None}, id="no output"),
]


@pytest.mark.parametrize(("name", "row"), DAMAGE)
def test_a_damaged_row_is_named(folder: Path, apibank_data: Path, name: str, row: Any) -> None:
    good = {"parser": PARSER, "rules": RULE, "rouge": ROUGE, "toolsearch": SEARCH, "sequences": SEQUENCE}
    write(folder, **{name: [*([good[name]] if name in good else []), row]})
    with pytest.raises(DataError, match=rf"{name}\.jsonl, row {2 if name in good else 1}: "):
        run_suite("apibank", folder, data=str(apibank_data), ranker="bm25")


BROKEN: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("cut short", lambda content: content[:-20], r"parser\.jsonl, row 2: not valid JSON"),
    ("no text", lambda content: b"\xff" + content, r"parser\.jsonl: not UTF-8"),
]


@pytest.mark.parametrize(("case", "damage", "message"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_damaged_file_is_named(
    folder: Path, apibank_data: Path, case: str, damage: Callable[[bytes], bytes], message: str
) -> None:
    write(folder, parser=[PARSER, NO_CALL])
    path = folder / "parser.jsonl"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=message):
        run_suite("apibank", folder, data=str(apibank_data))


def test_what_is_missing_is_named(folder: Path, apibank_data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds none of calls\.jsonl, rules\.jsonl, .*toolsearch\.jsonl"):
        run_suite("apibank", folder, data=str(apibank_data))
    with pytest.raises(DataError, match="holds none of"):
        run_suite("apibank", tmp_path / "nowhere")
    write(folder, parser=[PARSER])
    with pytest.raises(DataError, match=r"nothing.*(does not exist|missing)"):
        run_suite("apibank", folder, data=str(tmp_path / "nothing"))
    with pytest.raises(DataError, match=r"Fetch|fetch"):
        run_suite("apibank", folder)  # neither files beside the fixtures nor fetched ones
    with pytest.raises(ConfigurationError, match=r"no parity suite 'nope'; there are: .*apibank"):
        run_suite("nope", folder)
    with pytest.raises(ConfigurationError, match=r"'nope'.*bm25, minilm, auto"):
        run_suite("apibank", folder, data=str(apibank_data), ranker="nope")
    assert "apibank" in SUITES


def test_files_beside_the_fixtures_are_found_and_cases_come_one_by_one(
    folder: Path, apibank_data: Path, tmp_path: Path
) -> None:
    for name in ("api_bank", "api_bank_parity"):
        (tmp_path / name).symlink_to(apibank_data.parent / name)
    write(folder, parser=[PARSER, "damaged"])
    found = cases(folder)
    assert next(found).agree
    with pytest.raises(DataError, match="row 2"):
        next(found)
