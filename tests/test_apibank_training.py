"""API-Bank's training files and its replies: rows as tasks, rows verbatim, official prompts, named damage."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from callgym import DataError, Task
from callgym.dialects import DIALECTS
from callgym.envs.apibank.env import ApiBankEnv
from callgym.envs.apibank.tasks import Samples, load_official
from callgym.envs.apibank.training import sft_rows, training_tasks
from callgym.goal import CallsGoal, TextGoal
from callgym.schema import ToolSchema

FILES = {"calls": "api", "replies": "response"}
REPLIES = {1: 375, 2: 103, 3: 50}
REPLY_FILES = {1: "level-1-response.json", 2: "level-2-response.json", 3: "level-3-batch-inf-response.json"}


def rows_of(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def gold_of(task: Task) -> tuple[str, dict[str, Any]]:
    goal = task.goal
    assert isinstance(goal, CallsGoal)
    ((gold,),) = goal.turns
    call = gold.reference()
    return call.name, call.arguments


# Level 3, the files that are here.


@pytest.fixture(scope="module")
def level_3(apibank_data: Path) -> Path:
    if not (apibank_data / "training-data").is_dir():
        pytest.skip("API-Bank's training files are not here")
    return apibank_data


@pytest.mark.parametrize(
    ("samples", "tasks", "rows"), [("calls", 858, 907), ("replies", 338, 338), ("all", 1_196, 1_245)]
)
def test_rows_of_level_3_are_tasks(level_3: Path, samples: str, tasks: int, rows: int) -> None:
    found = training_tasks(level_3, 3, samples)
    assert (len(found), sum(1 for _ in sft_rows(level_3, 3, samples))) == (tasks, rows)
    assert len({task.id for task in found}) == tasks
    assert {(task.family, task.split) for task in found} == {("apibank", "train")}
    assert all(task.meta["level"] == 3 and task.meta["licence"] == "Apache-2.0" for task in found)
    kinds = {"calls": {CallsGoal}, "replies": {TextGoal}, "all": {CallsGoal, TextGoal}}[samples]
    assert {type(task.goal) for task in found} == kinds


@pytest.mark.parametrize("samples", FILES)
def test_sft_rows_are_the_file_s_to_the_byte(level_3: Path, samples: str) -> None:
    rows = rows_of(level_3 / f"training-data/lv3-{FILES[samples]}-train.json")
    expected = [{"prompt": row["instruction"] + row["input"], "completion": row["output"]} for row in rows]
    assert list(sft_rows(level_3, 3, samples)) == expected


def test_all_rows_are_calls_first_then_replies(level_3: Path) -> None:
    assert list(sft_rows(level_3, 3)) == [*sft_rows(level_3, 3, "calls"), *sft_rows(level_3, 3, "replies")]
    assert training_tasks(level_3, 3, "all") == (
        *training_tasks(level_3, 3, "calls"),
        *training_tasks(level_3, 3, "replies"),
    )
    assert load_official(level_3, 3, "train", "replies") == training_tasks(level_3, 3, "replies")


def test_gold_calls_fit_the_documentation_that_was_shown_or_found(level_3: Path) -> None:
    for task in training_tasks(level_3, 3):
        name, arguments = gold_of(task)
        (tool,) = (tool for tool in task.tools if tool.name == name)
        assert ToolSchema(tool).check(arguments) is None
        assert task.documented == ("ToolSearcher",)
    assert {gold_of(task)[0] == "ToolSearcher" for task in training_tasks(level_3, 3)} == {True, False}


def lines_without_requests(text: str) -> list[str]:
    """The lines, of a request only its result: how values are quoted differs from row to row."""
    lines = [line.rstrip() for line in text.rstrip().split("\n")]
    return [line.partition("->")[2] if line.startswith("API-Request: [") else line for line in lines]


WRITTEN_OTHERWISE = {"calls": {517, 518}, "replies": {197, 280}}
"""Rows in which an earlier request is written without its brackets, ``API-Request: PharmacyLocator(...)->...``, or
holds two calls, which are a line each in our prompt."""


@pytest.mark.parametrize(("samples", "identical"), [("calls", 773), ("replies", 197)])
def test_training_prompts_are_the_file_s_but_for_quotes_in_earlier_requests(
    level_3: Path, samples: Samples, identical: int
) -> None:
    env = ApiBankEnv(level=3, data=level_3, split="train", samples=samples)
    prompts = [row["prompt"] for row in sft_rows(level_3, 3, samples)]
    same, others = 0, set()
    for index, task in enumerate(env.tasks):
        observation, _ = env.reset(options={"task": index})
        row: Any = task.meta["row"]
        if lines_without_requests(observation) != lines_without_requests(prompts[row - 1]):
            others.add(row)
        same += observation.rstrip() == prompts[row - 1].rstrip()
    assert others <= WRITTEN_OTHERWISE[samples]
    assert same == identical


def test_a_request_without_brackets_is_not_the_user_s(tmp_path: Path) -> None:
    talk = "User: Wake me at six.\nAPI-Request: GetUserToken(username=Mia)->{'token': 'a1'}\n"
    write(tmp_path, 1, "api", [triple(talk, CALL, [ALARM, TOKEN])])
    (task,) = training_tasks(tmp_path, 1)
    assert [message.role for message in task.messages].count("user") == 1


def test_of_several_calls_in_one_earlier_request_all_are_kept(tmp_path: Path) -> None:
    talk = "User: Wake us.\nAPI-Request: [GetUserToken(username='Mia'), GetUserToken(username='Ben')]->['a1', 'b2']\n"
    write(tmp_path, 1, "api", [triple(talk, CALL, [ALARM, TOKEN])])
    (task,) = training_tasks(tmp_path, 1)
    assert sum(len(message.tool_calls) for message in task.messages) == 2


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_recorded_reply_earns_1_in_every_dialect(level_3: Path, dialect: str) -> None:
    env = ApiBankEnv(
        level=3, data=level_3, split="train", samples="replies", dialect=dialect, rubric="apibank_official"
    )
    rows = rows_of(level_3 / "training-data/lv3-response-train.json")
    for index in range(0, len(env.tasks), 9):
        env.reset(seed=0, options={"task": index})
        _, reward, terminated, _, info = env.step(env.oracle_action())
        assert terminated
        assert reward == pytest.approx(1.0, abs=1e-6), info["task_id"]
        goal = env.task.goal
        assert isinstance(goal, TextGoal)
        assert rows[index]["output"].strip().removeprefix("AI:").strip() == goal.reference


# The replies that are scored officially.


@pytest.mark.parametrize("level", REPLIES)
def test_every_reply_that_is_scored_officially_is_a_task(apibank_data: Path, level: int) -> None:
    rows = rows_of(apibank_data / "test-data" / REPLY_FILES[level])
    tasks = load_official(apibank_data, level, "test", "replies")
    assert len(tasks) == len(rows) == REPLIES[level] == len({task.id for task in tasks})
    for task, row in zip(tasks, rows, strict=True):
        assert isinstance(task.goal, TextGoal)
        assert task.goal.reference == row["expected_output" if level < 3 else "output"]
        assert "official_gold" not in task.meta
    calls = load_official(apibank_data, level, "test")
    assert load_official(apibank_data, level, "test", "all") == (*calls, *tasks)
    assert {task.id for task in calls}.isdisjoint(task.id for task in tasks)


@pytest.mark.parametrize("level", REPLIES)
def test_prompts_of_replies_are_the_official_ones_to_the_byte(apibank_data: Path, level: int) -> None:
    env = ApiBankEnv(level=level, data=apibank_data, samples="replies")
    for index, row in enumerate(rows_of(apibank_data / "test-data" / REPLY_FILES[level])):
        prompt, info = env.reset(options={"task": index})
        expected = row["instruction"] + ("\n" if level < 3 else "") + row["input"]
        if level == 3:  # its files have a space after the cue, which is left out
            assert expected.endswith("Generate AI Response: \n")
            expected = expected.removesuffix(" \n") + "\n"
        assert prompt.encode() == expected.encode(), info["task_id"]
        assert env.task.meta["official_prompt_sha256"] == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize("level", REPLIES)
def test_the_recorded_reply_is_as_good_as_can_be(apibank_data: Path, level: int) -> None:
    env = ApiBankEnv(level=level, data=apibank_data, samples="replies", rubric="apibank_official")
    for index in range(len(env.tasks)):
        env.reset(seed=0, options={"task": index})
        _, reward, terminated, _, info = env.step(env.oracle_action())
        assert terminated
        assert reward == pytest.approx(1.0, abs=1e-4), info["task_id"]


@pytest.mark.parametrize("level", REPLIES)
def test_cross_validation_keeps_calls_and_replies_of_a_dialogue_together(apibank_data: Path, level: int) -> None:
    train, test = (load_official(apibank_data, level, split, "all") for split in ("cv-train", "cv-test"))
    sides = [{task.meta["dialogue"] for task in side} for side in (train, test)]
    assert sides[0].isdisjoint(sides[1])
    assert len(train) + len(test) == len(load_official(apibank_data, level, "test", "all"))
    assert {type(task.goal) for task in test} == {CallsGoal, TextGoal}


# Levels 1 and 2, files of our own in both layouts.

ASK = "Write the request that comes next, [Name(key='value')].\nAPI descriptions:\n"
TELL = "Generate a response as an AI assistant.\nAPI descriptions:\n"
ALARM: dict[str, Any] = {
    "name": "AddAlarm",
    "description": "Sets an alarm.",
    "input_parameters": {
        "token": {"type": "str", "description": "The token."},
        "hour": {"type": "int", "description": "The hour."},
    },
    "output_parameters": {"status": {"type": "str", "description": "done or not"}},
}
TOKEN: dict[str, Any] = {
    "apiCode": "GetUserToken",
    "description": "Gives the token.",
    "parameters": {"username": {"type": "str", "description": "The name."}},
    "response": {"token": {"type": "str", "description": "The token."}},
}
SEARCHER: dict[str, Any] = {
    "name": "ToolSearcher",
    "description": "Searches.",
    "input_parameters": {"keywords": {"type": "str", "description": "The keywords."}},
    "output_parameters": {},
}
TALK = (
    "User: Wake me at six, I am Mia.\nAI: One moment.\nAPI-Request: [GetUserToken(username='Mia')]->{'token': 'a1'}\n"
)
SEARCH_TALK = (
    f"User: Wake me at six.\nAPI-Request: [ToolSearcher(keywords='alarm')]->{ALARM!r}\nAI: Who are you?\nUser: a1\n"
)
SEARCH_BOTH = (
    f"User: Wake me.\nAPI-Request: [ToolSearcher(keywords='alarm')]->{[TOKEN | {'name': 'GetUserToken'}, ALARM]!r}\n"
)
CALL = "API-Request: [AddAlarm(token='a1', hour='6')]"


def triple(
    talk: str, output: str, documents: Sequence[dict[str, Any]], *, reply: bool = False, at_the_head: bool = False
) -> dict[str, str]:
    """A row, its documents at the end of the instruction or at the head of the input."""
    listed = "".join(json.dumps(document) + "\n" for document in documents)
    instruction, cue = (TELL, "Generate AI Response: \n") if reply else (ASK, "Generate API Request: \n")
    if at_the_head:
        return {"instruction": instruction, "input": listed + talk + cue, "output": output}
    return {"instruction": instruction + listed, "input": talk + cue, "output": output}


def write(folder: Path, level: int, kind: str, rows: Sequence[Any]) -> Path:
    path = folder / f"training-data/lv{level}-{kind}-train.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return path


LAYOUTS = pytest.mark.parametrize("at_the_head", [False, True], ids=["in the instruction", "in the input"])


@LAYOUTS
def test_a_call_of_level_1(tmp_path: Path, at_the_head: bool) -> None:
    row = triple(TALK, CALL, [ALARM, TOKEN], at_the_head=at_the_head)
    write(tmp_path, 1, "api", [row])
    (task,) = training_tasks(tmp_path, 1)
    assert gold_of(task) == ("AddAlarm", {"token": "a1", "hour": 6})
    assert task.documented == ("AddAlarm", "GetUserToken")
    assert [tool.name for tool in task.tools] == ["AddAlarm", "GetUserToken"]
    assert [message.role for message in task.messages] == ["user", "assistant", "assistant", "tool"]
    assert [message.content for message in task.messages] == [
        "Wake me at six, I am Mia.", "One moment.", None, "{'token': 'a1'}"
    ]  # fmt: skip
    (call,) = task.messages[2].tool_calls
    assert (call.name, call.arguments) == ("GetUserToken", {"username": "Mia"})
    assert (task.meta["row"], task.meta["source"]) == (1, "training-data/lv1-api-train.json")
    env = ApiBankEnv(level=1, data=tmp_path, split="train")
    observation, _ = env.reset()
    assert observation.split() == (row["instruction"] + row["input"]).split()
    _, reward, *_ = env.step(CALL)
    assert reward == 1.0


@LAYOUTS
@pytest.mark.parametrize("talk", [SEARCH_TALK, SEARCH_BOTH], ids=["one found", "two found"])
def test_a_call_of_level_2_may_use_what_a_search_found(tmp_path: Path, talk: str, at_the_head: bool) -> None:
    write(tmp_path, 2, "api", [triple(talk, CALL, [SEARCHER], at_the_head=at_the_head)])
    (task,) = training_tasks(tmp_path, 2)
    assert gold_of(task) == ("AddAlarm", {"token": "a1", "hour": 6})
    assert task.documented == ("ToolSearcher",)
    assert {tool.name for tool in task.tools} >= {"ToolSearcher", "AddAlarm"}


@LAYOUTS
def test_a_reply(tmp_path: Path, at_the_head: bool) -> None:
    row = triple(TALK, "AI: Your alarm is set.\n", [ALARM, TOKEN], reply=True, at_the_head=at_the_head)
    write(tmp_path, 2, "response", [row])
    (task,) = training_tasks(tmp_path, 2, "replies")
    assert isinstance(task.goal, TextGoal)
    assert task.goal.reference == "Your alarm is set."
    env = ApiBankEnv(level=2, data=tmp_path, split="train", samples="replies")
    observation, _ = env.reset()
    assert observation.endswith("Generate AI Response:\n")
    assert observation.split() == (row["instruction"] + row["input"]).split()


def test_calls_that_fit_nothing_are_left_out_of_tasks_and_kept_for_sft(tmp_path: Path) -> None:
    outputs = [
        "API-Request: [Unheard(x='1')]", "API-Request: [AddAlarm(token='a1')]",
        "API-Request: [AddAlarm(token='a1', hour='six')]", "API-Request: [AddAlarm(token='a1', hour='6', x='1')]",
        f"{CALL} [GetUserToken(username='Mia')]", "AI: Done.", "", "API-Request: [AddAlarm(token='a1", CALL,
    ]  # fmt: skip
    rows = [triple(TALK, output, [ALARM, TOKEN]) for output in outputs]
    write(tmp_path, 1, "api", rows)
    assert [task.meta["row"] for task in training_tasks(tmp_path, 1)] == [len(outputs)]
    assert [row["completion"] for row in sft_rows(tmp_path, 1, "calls")] == outputs


def test_replies_without_words_are_left_out_of_tasks_and_kept_for_sft(tmp_path: Path) -> None:
    rows = [triple(TALK, output, [ALARM], reply=True) for output in ("AI: ", "", " \n", "AI: Yes.", "Yes.")]
    write(tmp_path, 1, "response", [*rows, triple("", "AI: Hello.", [ALARM], reply=True)])
    tasks = training_tasks(tmp_path, 1, "replies")
    assert [task.meta["row"] for task in tasks] == [4, 5]
    assert {task.goal.reference for task in tasks if isinstance(task.goal, TextGoal)} == {"Yes."}
    assert len(list(sft_rows(tmp_path, 1, "replies"))) == 6


def test_a_reply_of_full_stops_alone_has_a_task_only_if_it_can_be_scored(tmp_path: Path) -> None:
    write(tmp_path, 1, "response", [triple(TALK, "AI: ...", [ALARM], reply=True)])
    for index in range(len(training_tasks(tmp_path, 1, "replies"))):
        env = ApiBankEnv(level=1, data=tmp_path, split="train", samples="replies", rubric="apibank_official")
        env.reset(options={"task": index})
        _, reward, *_ = env.step("Hello.")
        assert reward == 0.0


def test_a_prompt_without_its_cue_loses_nothing(tmp_path: Path) -> None:
    row = triple(TALK, CALL, [ALARM, TOKEN])
    row["input"] = TALK
    write(tmp_path, 1, "api", [row])
    (task,) = training_tasks(tmp_path, 1)
    assert len(task.messages) == 4


def test_a_user_may_write_a_bracket_or_a_brace(tmp_path: Path) -> None:
    talk = "User: {\"a\": 1}\nUser: {broken\nUser: API-Request: [x]\nUser: [AddAlarm(hour='1')]->ok\n"
    write(tmp_path, 1, "api", [triple(talk, CALL, [ALARM])])
    (task,) = training_tasks(tmp_path, 1)
    assert [message.role for message in task.messages] == ["user"] * 4


def test_a_search_result_that_is_cut_short_names_no_tool(tmp_path: Path) -> None:
    talk = SEARCH_TALK.replace("'output_parameters'", "'outp\n")
    write(tmp_path, 2, "api", [triple(talk, CALL, [SEARCHER]), triple(talk, CALL, [SEARCHER, ALARM])])
    assert [task.meta["row"] for task in training_tasks(tmp_path, 2)] == [2]


def test_files_of_training_rows_go_through_the_environment(tmp_path: Path) -> None:
    write(tmp_path, 1, "api", [triple(TALK, CALL, [ALARM, TOKEN])] * 2)
    write(tmp_path, 1, "response", [triple(TALK, "AI: Set.", [ALARM], reply=True)])
    tasks = training_tasks(tmp_path, 1, "all")
    assert [task.id for task in tasks] == ["L1-train/1", "L1-train/2", "L1-train/1/reply"]
    assert load_official(tmp_path, 1, "train", "all") == tasks
    assert len(list(sft_rows(tmp_path, 1))) == 3


# Damage.


def put(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda row: {**row, key: value}


def without(key: str) -> Callable[[dict[str, Any]], Any]:
    return lambda row: {name: value for name, value in row.items() if name != key}


def cut_document(row: dict[str, Any]) -> Any:
    return {**row, "instruction": row["instruction"][: -len(json.dumps(TOKEN)) // 2]}


DAMAGE: list[tuple[str, Callable[[dict[str, Any]], Any], list[str]]] = [
    ("no object", lambda row: "text", ["row 2"]),
    ("null", lambda row: None, ["row 2"]),
    ("no instruction", without("instruction"), ["row 2", "['instruction']"]),
    ("no output", without("output"), ["row 2", "['output']"]),
    ("input is null", put("input", None), ["row 2", "['input']"]),
    ("output is a number", put("output", 1), ["row 2", "['output']"]),
    ("instruction is a list", put("instruction", ["x"]), ["row 2", "['instruction']"]),
    ("a document breaks off", cut_document, ["row 2"]),
    ("parameters that are none", put("input", '{"name": "A", "input_parameters": 5}\nUser: x'), ["row 2"]),
    ("a parameter that is none", put("input", '{"name": "A", "input_parameters": {"x": 5}}\nUser: x'), ["row 2"]),
    ("a name that is none", put("input", '{"name": 5, "input_parameters": {}}\nUser: x'), ["row 2"]),
]  # fmt: skip


@pytest.mark.parametrize(("case", "damage", "words"), DAMAGE, ids=[row[0] for row in DAMAGE])
@pytest.mark.parametrize("samples", FILES)
def test_a_damaged_row_is_named_with_file_and_mend(
    tmp_path: Path, samples: str, case: str, damage: Callable[[dict[str, Any]], Any], words: list[str]
) -> None:
    good = triple(TALK, CALL, [ALARM, TOKEN], reply=samples == "replies")
    path = write(tmp_path, 1, FILES[samples], [good, damage(good)])
    with pytest.raises(DataError) as caught:
        training_tasks(tmp_path, 1, samples)
    message = str(caught.value)
    assert [word for word in [str(path), "etch", *words] if word not in message] == []
    assert len(message) < 1_000


def test_sft_rows_name_a_damaged_row_too(tmp_path: Path) -> None:
    write(tmp_path, 2, "api", [triple(TALK, CALL, [ALARM]), {"instruction": "x", "input": "y", "output": 1}])
    with pytest.raises(DataError, match=r"lv2-api-train\.json, row 2: .*'output'"):
        list(sft_rows(tmp_path, 2, "calls"))


@pytest.mark.parametrize("text", ["", "[", '{"a": 1}', "5", '[{"instruction": "x"}'])
def test_a_file_that_is_no_list_of_rows_is_named(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, 1, "api", [])
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"lv1-api-train\.json: .*etch"):
        training_tasks(tmp_path, 1)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("samples", ["calls", "replies", "all"])
def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path, level: int, samples: str) -> None:
    kind = FILES.get(samples, "api")
    message = rf"level {level} has no training file.*lv{level}-{kind}-train\.json.*callgym fetch apibank"
    with pytest.raises(DataError, match=message):
        training_tasks(tmp_path, level, samples)
    with pytest.raises(DataError, match=message):
        list(sft_rows(tmp_path, level, samples))


@pytest.mark.parametrize("level", REPLIES)
def test_a_missing_or_damaged_file_of_replies_is_named(apibank_data: Path, tmp_path: Path, level: int) -> None:
    folder = tmp_path / "files"
    for part in ("test-data", "lv1-lv2-samples", "derived"):
        (folder / part).mkdir(parents=True)
    (folder / "lv1-lv2-samples").rmdir()
    (folder / "lv1-lv2-samples").symlink_to(apibank_data / "lv1-lv2-samples")
    for path in (apibank_data / "test-data").iterdir():
        shutil.copyfile(path, folder / "test-data" / path.name)
    path = folder / "test-data" / REPLY_FILES[level]
    key = "id" if level < 3 else "sample_id"
    for value, words in ((None, "row 3"), (9_999, "9999"), (-1, "-1"), ("0", "row 3")):
        rows = rows_of(path)
        before = rows[2][key]
        rows[2][key] = value
        path.write_text(json.dumps(rows), encoding="utf-8")
        load_official.cache_clear()
        with pytest.raises(DataError) as caught:
            load_official(folder, level, "test", "replies")
        assert str(path) in str(caught.value)
        assert words in str(caught.value)
        assert "etch" in str(caught.value)
        rows[2][key] = before
        path.write_text(json.dumps(rows), encoding="utf-8")
    path.unlink()
    load_official.cache_clear()
    with pytest.raises(DataError, match=rf"{path.name} does not exist"):
        load_official(folder, level, "test", "replies")
    assert load_official(folder, level, "test")  # calls do not need it
