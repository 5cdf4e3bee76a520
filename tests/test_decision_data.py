"""Decision data: the shapes of rows, what they are paid, how wrong replies are drawn, files, and TRL's trainers."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, get_args

import pytest

from callgym.call import ToolCall
from callgym.dialects import get_dialect
from callgym.envs.base import make_tool_env
from callgym.envs.when2call.rows import FILES
from callgym.envs.when2call.starter import generate, starter_tasks
from callgym.envs.when2call.tasks import DECISIONS, load_open
from callgym.episode import Episode, Step
from callgym.errors import ConfigurationError, DataError, MissingPackageError
from callgym.goal import AnswerGoal, DecisionGoal
from callgym.message import Message
from callgym.rewards.abstention import irrelevance_abstention
from callgym.task import Task
from callgym.tool import Tool
from callgym.trainers.decision_data import (
    DecisionForm,
    DecisionKind,
    DecisionSummary,
    decision_rows,
    export_decisions,
    published_rows,
    write_decision_data,
)

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "train_decisions.py"
KINDS, FORMS = get_args(DecisionKind), get_args(DecisionForm)


def tasks(count: int = 120) -> tuple[Task, ...]:
    return starter_tasks("test")[:count]


def made(kind: Any, form: Any = "chat", count: int = 120, **options: Any) -> list[dict[str, Any]]:
    return list(decision_rows(tasks(count), kind, form=form, **options))


def paid(task: Task, said: list[dict[str, Any]]) -> float | None:
    """What the reward says of a row's completion, read as anybody would read the message."""
    (message,) = [Message.from_dict(part) for part in said]
    assert message.role == "assistant"
    step = Step(action="", content=message.content or "", calls=message.tool_calls)
    return irrelevance_abstention(task, Episode(env_id="x", task_id=task.id, seed=0, steps=(step,))).value


def ticket_task(**changes: Any) -> Task:
    """A task of one's own in which a date is missing."""
    tool = Tool(
        name="book_visit",
        description="Book a visit.",
        parameters={
            "type": "object",
            "properties": {"visit_date": {"type": "string"}, "place": {"type": "string"}},
            "required": ["visit_date", "place"],
        },
    )
    answers = {
        "direct": "The museum is booked for you.",
        "tool_call": json.dumps({"name": "book_visit", "arguments": {"visit_date": "1 May", "place": "museum"}}),
        "request_for_info": "For which date is the visit?",
        "cannot_answer": "I can't book visits.",
    }
    fields: dict[str, Any] = {
        "id": "own/1",
        "family": "when2call",
        "split": "train",
        "messages": (Message(role="user", content="Book a visit to the museum."),),
        "tools": (tool,),
        "goal": DecisionGoal(decision="ask", missing=("visit_date",), worded=True, reply=answers["request_for_info"]),
        "meta": {"decision": "ask", "answers": answers},
    }
    return Task(**(fields | changes))


# Shapes.


COLUMNS = {
    ("sft", "chat"): "id decision messages tools",
    ("sft", "text"): "id decision prompt completion",
    ("preference", "chat"): "id decision prompt chosen rejected tools reason",
    ("preference", "text"): "id decision prompt chosen rejected reason",
    ("reward", "chat"): "id decision prompt completion tools score label reason",
    ("reward", "text"): "id decision prompt completion score label reason",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_numbers_of_rows(kind: str, form: str) -> None:
    rows = made(kind, form)
    assert len(rows) == (480 if kind == "reward" else 120)
    columns = COLUMNS[kind, "text" if form == "text" else "chat"].split()
    assert all(list(row) == columns for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)
    types = {name: {type(row[name]) for row in rows} for name in columns}
    for name in {"prompt", "completion", "chosen", "rejected"} & set(columns):
        assert types[name] == {str if form == "text" else list}
    assert types.get("score", {float}) == {float}
    assert types.get("label", {bool}) == {bool}


def test_sft_rows_are_conversations_that_end_with_the_right_reply() -> None:
    seen = Counter[str]()
    for task, row in zip(tasks(), made("sft"), strict=True):
        *before, reply = row["messages"]
        assert [Message.from_dict(message) for message in before] == list(task.messages)
        assert row["tools"] == [tool.as_chat() for tool in task.tools]
        assert row["decision"] == task.meta["decision"]
        assert isinstance(reply["content"], str)
        seen[row["decision"]] += 1
        if row["decision"] == "call":
            ((call),) = reply["tool_calls"]
            answers: Any = task.meta["answers"]
            assert call == {"type": "function", "function": json.loads(answers["tool_call"])}
            assert reply["content"] == ""
        else:
            assert list(reply) == ["role", "content"]
    assert set(seen.values()) == {30}


@pytest.mark.parametrize("dialect", ["hermes", "openai", "apibank"])
def test_written_and_text_have_calls_in_the_dialect(dialect: str) -> None:
    by_form = {form: made("sft", form, dialect=dialect) for form in FORMS}
    reader = get_dialect(dialect)
    for chat, written, text in zip(by_form["chat"], by_form["written"], by_form["text"], strict=True):
        message = Message.from_dict(chat["messages"][-1])
        assert written["messages"][:-1] == chat["messages"][:-1]
        assert list(written["messages"][-1]) == ["role", "content"]
        assert written["messages"][-1]["content"] == text["completion"]
        read = reader.parse(text["completion"])
        assert not read.errors
        assert [call.name for call in read.calls] == [call.name for call in message.tool_calls]
        assert read.content == message.content


@pytest.mark.parametrize("dialect", ["hermes", "openai"])
def test_text_is_what_the_environment_shows_and_pays(dialect: str) -> None:
    env = make_tool_env("when2call/open-v0", data="starter", split="test", dialect=dialect)
    for row in made("preference", "text", 60, dialect=dialect):
        for action, best in ((row["chosen"], True), (row["rejected"], False)):
            prompt, _ = env.reset(seed=0, options={"task": row["id"]})
            assert prompt == row["prompt"]
            _, reward, terminated, _, _ = env.step(action)
            assert terminated
            assert (reward == 1.0) is best
    for row in made("reward", "text", 40, dialect=dialect):
        env.reset(seed=0, options={"task": row["id"].rpartition("/")[0]})
        _, _, _, _, info = env.step(row["completion"])
        assert info["episode"].rewards["irrelevance_abstention"].value == row["score"]


# What is paid.


def test_the_chosen_reply_is_paid_and_the_rejected_is_not() -> None:
    for task, row in zip(tasks(400), made("preference", count=400), strict=True):
        assert paid(task, row["chosen"]) == 1.0
        value = paid(task, row["rejected"])
        assert value is not None
        assert value < 1.0


def test_reward_rows_have_what_the_reward_pays() -> None:
    rows = made("reward")
    for number, row in enumerate(rows):
        task = tasks()[number // 4]
        assert row["id"] == f"{task.id}/{tuple(DECISIONS.values())[number % 4]}"
        assert row["score"] == paid(task, row["completion"])
        assert row["label"] == (row["score"] == 1.0)
    assert Counter((row["decision"], row["label"]) for row in rows) == {
        (decision, label): 30 if label else 90 for decision in DECISIONS.values() for label in (True, False)
    }


def test_reasons_name_what_is_due() -> None:
    (pair,) = decision_rows([ticket_task()], "preference")
    assert pair["chosen"] == [{"role": "assistant", "content": "For which date is the visit?"}]
    assert re.fullmatch("should ask for visit_date, not (call|decline|answer)", pair["reason"])
    rows = list(decision_rows([ticket_task()], "reward"))
    assert [row["reason"] for row in rows] == [
        "should ask for visit_date, not answer",
        "should ask for visit_date, not call",
        "right to ask for visit_date",
        "should ask for visit_date, not decline",
    ]


def test_a_task_whose_right_reply_is_not_paid_is_left_out() -> None:
    answers: Any = ticket_task().meta["answers"]
    vague = ticket_task(meta={"answers": {**answers, "request_for_info": "Could you tell me more?"}})
    flagged = ticket_task(meta={"answers": answers, "label_fault": "The date is there."})
    for kind in KINDS:
        assert not list(decision_rows([vague, flagged], kind))


def test_a_wrong_reply_that_is_paid_is_never_rejected() -> None:
    answers: Any = ticket_task().meta["answers"]
    task = ticket_task(meta={"answers": {**answers, "cannot_answer": "What date should it be?"}})
    rows = [next(decision_rows([task], "preference", seed=seed)) for seed in range(20)]
    assert {row["reason"].rpartition(" ")[2] for row in rows} == {"call", "answer"}


# Draws.


def wrong(row: dict[str, Any]) -> str:
    return str(row["reason"].rpartition(", not ")[2])


def test_rejected_replies_are_balanced() -> None:
    rows = made("preference", count=400)
    counts = Counter((row["decision"], wrong(row)) for row in rows)
    assert len(counts) == 12
    assert set(counts.values()) <= {33, 34}
    for decision in DECISIONS.values():
        drawn = [wrong(row) for row in rows if row["decision"] == decision]
        rounds = [tuple(drawn[at : at + 3]) for at in range(0, 99, 3)]
        assert all(len(set(round_)) == 3 for round_ in rounds)
        assert len(set(rounds)) > 3  # in no fixed order


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_arguments_give_the_same_rows(kind: Any) -> None:
    assert made(kind, seed=3) == made(kind, seed=3)
    # What comes first does not depend on what comes later.
    first = islice(decision_rows(generate("test"), kind, seed=3), 40)
    assert all(row == other for row, other in zip_longest(first, made(kind, seed=3)[:40]))


def test_another_seed_rejects_other_replies() -> None:
    same = [wrong(a) == wrong(b) for a, b in zip(made("preference"), made("preference", seed=1), strict=True)]
    assert 10 < sum(same) < 90


def test_rows_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    code = (
        "import hashlib, json; from callgym.trainers.decision_data import *;"
        "from callgym.envs.when2call.starter import starter_tasks;"
        "rows = list(decision_rows(starter_tasks('test')[:40], 'preference'));"
        "print(hashlib.sha256(json.dumps(rows).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


# Bad input.


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"kind": "dpo"}, "kind is one of 'sft', 'preference', 'reward', got 'dpo'"),
        ({"kind": "sft", "form": "html"}, "form is one of"),
        ({"kind": "sft", "dialect": "cobol"}, "cobol"),
    ],
)
def test_wrong_options_are_named_at_once(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        decision_rows((), **options)


@pytest.mark.parametrize(
    "changes",
    [{"meta": {}}, {"meta": {"answers": {"direct": "Yes."}}}, {"goal": AnswerGoal(accepted=("5",))}],
    ids=["no replies", "one reply", "no decision"],
)
def test_a_task_without_four_replies_is_named(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="'own/1' has no four replies"):
        list(decision_rows([ticket_task(**changes)], "sft"))


def test_nothing_is_written_where_there_is_no_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row"):
        write_decision_data(tmp_path / "x.jsonl", ())
    with pytest.raises(ConfigurationError, match="format is one of"):
        write_decision_data(tmp_path / "x.jsonl", made("sft"), "csv")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# Files.


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_both_formats_give_the_rows_back(kind: str, form: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = made(kind, form, 24)
    assert write_decision_data(tmp_path / "rows.jsonl", rows) == len(rows)
    assert [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()] == rows
    assert write_decision_data(tmp_path / "rows", rows, "dataset") == len(rows)
    assert list(datasets.load_from_disk(str(tmp_path / "rows"))) == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows", "rows.jsonl"]


def test_without_datasets_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingPackageError, match=r"callgym\[train\]"):
        write_decision_data(tmp_path / "x", made("sft"), "dataset")
    assert not (tmp_path / "x").exists()


def test_export_of_starter_tasks(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    summary = export_decisions(kind="preference", out=out, count=41, split="test")
    assert summary == DecisionSummary("preference", out, 41, 41)
    assert str(summary) == f"41 preference rows in {out}, from 41 tasks"
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert lines == made("preference", count=41)
    assert export_decisions(kind="reward", out=out, split="test").rows == 1_600
    assert export_decisions(kind="sft", out=out, split="test", count=420, form="text").rows == 420
    assert export_decisions(kind="sft", out=out, split="test", count=4, seed=5).rows == 4
    assert "seed5" in out.read_text(encoding="utf-8")
    for fault, options in {"count": {"count": 0}, "seed": {"seed": -1}, "'dev'": {"split": "dev"}}.items():
        with pytest.raises(ConfigurationError, match=fault):
            export_decisions(kind="sft", out=out, **options)  # type: ignore[arg-type]


def test_official_tasks(official_data: Path, tmp_path: Path) -> None:
    folder = official_data / "when2call"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    by_id = {task.id: task for task in load_open(folder)}
    rows = list(decision_rows(by_id.values(), "preference"))
    assert len(rows) > 280
    for row in rows:
        assert paid(by_id[row["id"]], row["chosen"]) == 1.0
        assert paid(by_id[row["id"]], row["rejected"]) != 1.0
    out = tmp_path / "rows.jsonl"
    summary = export_decisions(kind="reward", data=str(folder), split="test", out=out)
    assert (summary.tasks, summary.rows) == (300, 4 * len(rows))


# Published files.


def tool_document() -> dict[str, Any]:
    parameters = {"type": "dict", "properties": {"city": {"type": "string", "description": "City."}}}
    return {"name": "weather", "description": "Weather now.", "parameters": {**parameters, "required": ["city"]}}


CALL = '<TOOLCALL>[{"name": "weather", "arguments": {"city": "Bern"}}]</TOOLCALL>'
QUESTION = {"role": "user", "content": "What is it like in Bern?"}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with training files in the published formats."""

    def said(text: str) -> dict[str, str]:
        return {"role": "assistant", "content": text}

    sft = [CALL, "For which city?", "I have no tool for that, sorry.", CALL.replace("weather", "unknown")]
    pairs = [
        (CALL, "For which city?"),
        ("For which city?", CALL),
        ("I have no tool for that, sorry.", "It is sunny."),
        ("I have no tool for that, sorry.", "<TOOLCALL>[{"),
        (CALL, CALL.replace("Bern", "Berne")),
    ]
    tools = [tool_document()]
    files: dict[str, list[dict[str, Any]]] = {
        "sft": [{"tools": tools, "messages": [QUESTION, said(text)]} for text in sft],
        "preference": [
            {"tools": tools, "messages": [QUESTION], "chosen_response": said(good), "rejected_response": said(bad)}
            for good, bad in pairs
        ],
    }
    for name, rows in files.items():
        path = tmp_path / "official" / FILES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path / "official"


def test_published_sft_rows(published: Path) -> None:
    rows = list(published_rows(published, "sft"))
    assert [row["decision"] for row in rows] == ["call", "ask", "decline"]  # the fourth calls an unknown tool
    assert all(list(row) == list(made("sft", count=1)[0]) for row in rows)
    assert rows[0]["messages"][0] == QUESTION
    call = ToolCall(name="weather", arguments={"city": "Bern"})
    assert Message.from_dict(rows[0]["messages"][1]) == Message(role="assistant", content="", tool_calls=(call,))
    assert rows[1]["messages"][1] == {"role": "assistant", "content": "For which city?"}
    assert rows[0]["tools"][0]["function"]["name"] == "weather"
    (text, *_) = published_rows(published, "sft", "hermes", "text")
    assert get_dialect("hermes").parse(text["completion"]).calls == (call,)


def test_published_pairs(published: Path) -> None:
    rows = list(published_rows(published, "preference"))
    assert all(list(row) == list(made("preference", count=1)[0]) for row in rows)
    assert [row["reason"] for row in rows] == [
        "should call, not ask",
        "should ask for what is missing, not call",
        "should decline, not answer",
        "should call, but not so",
    ]
    assert rows[1]["rejected"][0]["tool_calls"][0]["function"]["arguments"] == {"city": "Bern"}


def test_export_of_published_files(published: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    assert export_decisions(kind="sft", data=str(published), out=out).rows == 3
    assert export_decisions(kind="preference", data=str(published), count=2, out=out).rows == 2
    with pytest.raises(ConfigurationError, match="published files of 'sft' and 'preference', got 'reward'"):
        export_decisions(kind="reward", data=str(published), out=out)
    (published / FILES["sft"]).unlink()
    with pytest.raises(DataError, match="when2call_train_sft"):
        export_decisions(kind="sft", data=str(published), out=out)


# TRL.


@pytest.mark.slow
def test_trl_takes_a_step_with_each_trainer(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--out", str(tmp_path), "--rows", "16"],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    losses = {name: float(loss) for name, loss in re.findall(r"(\w+Trainer): loss (\S+)", done.stdout)}
    assert set(losses) == {"SFTTrainer", "DPOTrainer", "RewardTrainer"}
    assert all(math.isfinite(loss) and loss > 0 for loss in losses.values())
    assert losses["DPOTrainer"] == pytest.approx(math.log(2), abs=1e-3)  # the policy is its own reference
