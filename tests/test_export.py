"""Reward-model data: what rows hold, what is left out and said, and what a step's label is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from callgym import Episode, Step, Task, Tool, ToolCall, UserTurn
from callgym.cli import main
from callgym.dialects import get_dialect
from callgym.envs.base import make_tool_env
from callgym.episode import ParseError
from callgym.errors import ConfigurationError, DataError, MissingPackageError
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, GoldCall, TextGoal
from callgym.message import Message
from callgym.rewards import call_exact_match
from callgym.rollouts.episodes import read_episodes
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.trainers.export import ExportSummary, completion_messages, export_episodes, step_labels

API_BANK = "apibank/L1-v0"
COUNT = 24


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same live tasks played by three policies."""
    folder = tmp_path_factory.mktemp("played")
    for name in ("oracle", "random", "abstain"):
        options = {"data": "starter", "protocol": "dialogue"}
        out = folder / f"{name}.jsonl"
        run_episodes(API_BANK, get_policy(name), episodes=COUNT, env_options=options, out=out, progress=False)
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def changed(source: Path, target: Path, change: Any) -> Path:
    """The episode file with each line's object changed."""
    lines = []
    for row in rows(source):
        change(row)
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    target.write_text("".join(lines), encoding="utf-8")
    return target


# Rows of returns.


def test_reward_rows_hold_the_conversation_and_what_was_paid(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "rewards.jsonl"
    summary = export_episodes([played / "random.jsonl"], kind="reward", out=out)
    assert summary == ExportSummary("reward", out, COUNT, COUNT, 0, 0)
    for (index, episode), row in zip(read_episodes(played / "random.jsonl"), rows(out), strict=True):
        assert list(row) == [
            "id", "env_id", "task_id", "prompt", "completion", "tools", "reward", "rewards", "rubric",
        ]  # fmt: skip
        assert (row["id"], row["env_id"], row["task_id"]) == (f"random/{index}", API_BANK, episode.task_id)
        assert row["reward"] == episode.episode_return
        assert row["rewards"] == {name: score.value for name, score in episode.rewards.items()}
        assert row["rubric"] == episode.rubric
        messages = [Message.from_dict(message) for message in row["prompt"] + row["completion"]]
        assert [m.role for m in messages[:2]] == ["system", "user"]
        assert messages[-1].role == "assistant"
        made = [call for m in messages[2:] for call in m.tool_calls if m.role == "assistant"]
        assert [call.to_dict() for call in made] == [call.to_dict() for call in episode.calls()]
        assert all(isinstance(message["content"], str) for message in row["prompt"] + row["completion"])


def test_an_unknown_return_is_left_out_and_never_zero(played: Path, tmp_path: Path) -> None:
    def forget(row: dict[str, Any]) -> None:
        if row["index"] % 3 == 0:
            row["episode_return"] = None

    source = changed(played / "oracle.jsonl", tmp_path / "part.jsonl", forget)
    for kind in ("reward", "preference"):
        out = tmp_path / f"{kind}.jsonl"
        summary = export_episodes([source, played / "abstain.jsonl"], kind=kind, out=out)
        assert summary.unknown == COUNT // 3
        assert f"{COUNT // 3} of unknown return left out" in str(summary)
        forgotten = {f"part/{row['index']}" for row in rows(source) if row["episode_return"] is None}
        assert not any(name in row["id"].split(">") for row in rows(out) for name in forgotten)
        assert rows(out)


def test_what_the_tools_answered_to_the_last_action_stays_out(played: Path) -> None:
    """It was not the policy's, and would tell whether the action was right."""
    for _, episode in read_episodes(played / "random.jsonl"):
        task = Task.from_dict({**TALK.to_dict(), "id": episode.task_id})
        assert completion_messages(task, episode, get_dialect("apibank"))[-1]["role"] == "assistant"


@pytest.mark.parametrize(
    "name", ["multi_turn_miss_func", "multi_turn_long_context", "memory_kv", "simple_java", "format_sensitivity"]
)
@pytest.mark.parametrize("policy", ["oracle", "call_then_abstain"])
def test_the_conversation_is_the_one_that_was_played(name: str, policy: str, tmp_path: Path) -> None:
    """Functions that come with a later turn are documented there, as they were to the policy."""
    id = f"bfcl/{name}-v0"
    source, out = tmp_path / "played.jsonl", tmp_path / "out.jsonl"
    options = {"data": "starter", "max_steps": 24}
    run_episodes(id, get_policy(policy), episodes=12, env_options=options, out=source, progress=False)
    export_episodes([source], kind="reward", out=out)
    env = make_tool_env(id, **options)
    revealed = 0
    for (_, record), row in zip(read_episodes(source), rows(out), strict=True):
        _, info = env.reset(seed=record.seed, options={"task": record.task_id})
        told = list(info["messages"])
        for step in record.steps[:-1]:
            told += env.step(step.action)[-1]["messages"]
        told += env.step(record.steps[-1].action)[-1]["messages"][:1]
        assert row["prompt"] + row["completion"] == [{**m, "content": m["content"] or ""} for m in told]
        added = [tool.name for turn in env.task.user_turns for tool in turn.add_tools]
        said = " ".join(message["content"] for message in row["completion"] if message["role"] == "user")
        assert record.ended == "truncated" or all(tool in said for tool in added)
        revealed += len(added)
    assert (revealed > 0) is (name == "multi_turn_miss_func")


# Pairs.


def test_pairs_are_of_one_task_and_differ_by_the_margin(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    for margin, most in ((0.1, 4), (0.5, 1), (1.0, 4)):
        export_episodes(files(played), kind="preference", out=out, margin=margin, pairs=most)
        found = rows(out)
        assert found
        returns = {
            f"{path.stem}/{index}": (episode.task_id, episode.episode_return)
            for path in files(played)
            for index, episode in read_episodes(path)
        }
        for row in found:
            (better_task, better), (worse_task, worse) = (returns[name] for name in row["id"].split(">"))
            assert better_task == worse_task == row["task_id"]
            assert (better, worse) == (row["chosen_return"], row["rejected_return"])
            assert row["margin"] == pytest.approx(row["chosen_return"] - row["rejected_return"])
            assert row["margin"] >= margin - 1e-9
            assert row["chosen"] != row["rejected"]
        assert max(Counter(row["task_id"] for row in found).values()) <= most


def test_a_difference_of_exactly_the_margin_counts(played: Path, tmp_path: Path) -> None:
    def pay(value: float) -> Any:
        return lambda row: row.update(episode_return=value)

    better = changed(played / "oracle.jsonl", tmp_path / "better.jsonl", pay(0.6))
    worse = changed(played / "abstain.jsonl", tmp_path / "worse.jsonl", pay(0.5))
    both = [better, worse]
    differing = sum(a["steps"] != b["steps"] for a, b in zip(rows(better), rows(worse), strict=True))
    assert export_episodes(both, kind="preference", out=tmp_path / "x", margin=0.1).rows == differing
    assert export_episodes(both, kind="preference", out=tmp_path / "x", margin=0.11).rows == 0


def test_everybody_is_in_one_pair_before_anybody_is_in_two(played: Path, tmp_path: Path) -> None:
    """Six answers to one task, of returns 0 to 1: the ends meet first."""
    (line, *_) = rows(played / "oracle.jsonl")
    lines = []
    for number in range(6):
        action = f"answer {number}"
        step = {**line["steps"][0], "action": action, "content": action, "calls": [], "results": []}
        lines.append({**line, "index": number, "steps": [step], "episode_return": number / 5})
    lines.append({**lines[0], "index": 6})  # the same actions again: no second answer
    source = tmp_path / "many.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def found(most: int) -> set[str]:
        export_episodes([source], kind="preference", out=tmp_path / "p.jsonl", pairs=most)
        return {row["id"].replace("many/", "") for row in rows(tmp_path / "p.jsonl")}

    assert found(3) == {"5>0", "4>1", "3>2"}
    assert len(found(4)) == 4
    assert len(found(99)) == 15


def test_episodes_of_other_rubrics_are_not_compared(played: Path, tmp_path: Path) -> None:
    other = changed(played / "abstain.jsonl", tmp_path / "other.jsonl", lambda row: row.update(rubric="exact"))
    summary = export_episodes([played / "oracle.jsonl", other], kind="preference", out=tmp_path / "p.jsonl")
    assert (summary.rows, summary.episodes) == (0, 2 * COUNT)


# Labels of steps.


def tool(name: str) -> Tool:
    return Tool(name=name, parameters={"type": "object", "properties": {}})


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def gold(name: str, **arguments: Any) -> GoldCall:
    return GoldCall.of(call(name, **arguments))


def step(*calls: ToolCall, turn: int = 0, content: str = "", broken: int = 0) -> Step:
    errors = [ParseError(kind="malformed", position=0, message="cannot be read")] * broken
    return Step(action="written", turn=turn, content=content, calls=calls, errors=tuple(errors))


def episode(*steps: Step) -> Episode:
    return Episode(env_id="x", task_id="talk", seed=0, steps=steps, ended="terminated")


def task_with(goal: Any, *words: str) -> Task:
    return Task(
        id="talk",
        family="talk",
        split="test",
        messages=(Message(role="user", content="Two things, please."),),
        user_turns=tuple(UserTurn(content=text) for text in words),
        goal=goal,
    )


ADD, DROP = gold("Add", x=1, y=2), gold("Drop", z=3)
ADDED, DROPPED, HALF = call("Add", x=1, y=2), call("Drop", z=3), call("Add", x=1, y=9)
SAID = step(content="Done.")
ONE = task_with(CallsGoal(turns=((ADD, DROP),)))
TALK = task_with(CallsGoal(turns=((ADD,), (DROP,))), "And now?", "And then?")
LOOSE = task_with(CallsGoal(turns=((), (ADD,), (DROP,)), scope="episode", free=("Find",)), "Well?", "Well?")
DECLINE = task_with(DecisionGoal(decision="decline", free=("Find",)))
ASKED = task_with(AllGoal(goals=(CallsGoal(turns=((ADD,),)), AnswerGoal(accepted=("three",)))))
FOUND = call("Find", words="add")

LABELS: list[tuple[str, Task, tuple[Step, ...], tuple[float, ...]]] = [
    ("all right", ONE, (step(ADDED, DROPPED), SAID), (1, 1)),
    ("one at a time", ONE, (step(ADDED), step(DROPPED), SAID), (1, 1, 1)),
    ("one argument of two is wrong", ONE, (step(HALF), step(DROPPED)), (0.5, 1)),
    ("right and extra", ONE, (step(ADDED, call("Nothing")),), (0.5,)),
    ("the better of two is the partner", ONE, (step(HALF), step(ADDED)), (0, 1)),
    ("made twice", ONE, (step(ADDED), step(ADDED)), (1, 0)),
    ("unreadable", ONE, (step(broken=1), step(ADDED, broken=1)), (0, 0.5)),
    ("words before the calls", ONE, (SAID, step(ADDED, DROPPED)), (0, 1)),
    ("words when half is made", ONE, (step(ADDED), SAID), (1, 0.5)),
    ("words after half a call", ONE, (step(HALF), step(DROPPED), SAID), (0.5, 1, 0.75)),
    ("turn by turn", TALK, (step(ADDED), SAID, step(DROPPED, turn=1), step(turn=1)), (1, 1, 1, 1)),
    ("in the wrong turn", TALK, (step(DROPPED), step(ADDED, turn=1)), (0, 0)),
    ("a turn that asks for nothing", TALK, (step(ADDED, turn=2), step(turn=2)), (0, 1)),
    ("early, where the scope allows it", LOOSE, (step(DROPPED), step(), step(ADDED, turn=1)), (1, 1, 1)),
    ("words while nothing is due", LOOSE, (step(content="Hello."), step(turn=1)), (1, 0)),
    ("at the last turn all is due", LOOSE, (step(ADDED, turn=2), step(turn=2)), (1, 0.5)),
    ("a free search", LOOSE, (step(FOUND), step(FOUND, ADDED), step(FOUND, HALF)), (1, 1, 0.5)),
    ("declined", DECLINE, (step(content="No tool does that."),), (1,)),
    ("declined after a search", DECLINE, (step(FOUND), step(content="No.")), (1, 1)),
    ("called instead", DECLINE, (step(ADDED), step(content="No."), step(), step(broken=1)), (0, 1, 0, 0)),
    ("the right answer", ASKED, (step(ADDED), step(content="Three!")), (1, 1)),
    ("the wrong answer", ASKED, (step(ADDED), step(content="Four.")), (1, 0)),
    ("no answer yet", ASKED, (step(HALF),), (0.5,)),
]


@pytest.mark.parametrize(("task", "steps", "labels"), [row[1:] for row in LABELS], ids=[row[0] for row in LABELS])
def test_the_label_of_a_step(task: Task, steps: tuple[Step, ...], labels: tuple[float, ...]) -> None:
    assert step_labels(task, episode(*steps)) == pytest.approx(labels)


def test_ordered_calls_need_their_order() -> None:
    task = task_with(CallsGoal(turns=((ADD, DROP),), ordered=True))
    assert step_labels(task, episode(step(ADDED), step(DROPPED))) == (1, 1)
    labels = step_labels(task, episode(step(DROPPED), step(ADDED)))
    assert labels is not None
    assert sorted(labels) == [0, 1]


def test_goals_that_say_nothing_of_steps_have_no_labels(played: Path, tmp_path: Path) -> None:
    """Nor do exemplary calls: another way to the same end would be labelled wrong."""
    exemplary = CallsGoal(turns=((ADD,),), exemplary=True)
    decided = (DecisionGoal(decision="ask"), DecisionGoal(decision="call"))
    for goal in (TextGoal(reference="words"), AnswerGoal(accepted=("three",)), *decided, exemplary):
        assert step_labels(task_with(goal), episode(SAID)) is None


def test_labels_agree_with_the_exact_match(played: Path, tmp_path: Path) -> None:
    """What is exactly right has no false label, and a finished episode without one is exactly right."""
    env = make_tool_env(API_BANK, data="starter", protocol="dialogue")
    outcomes: Counter[float | None] = Counter()
    for path in files(played):
        for _, record in read_episodes(path):
            env.reset(seed=record.seed, options={"task": record.task_id})
            exact, labels = call_exact_match(env.task, record), step_labels(env.task, record)
            assert labels is not None
            assert all(0.0 <= label <= 1.0 for label in labels)
            answered = record.rewards["final_answer"].value in (None, 1.0)
            if exact.applies and record.ended == "terminated" and answered:
                assert (min(labels) == 1.0) is (exact.value == 1.0)
                outcomes[exact.value] += 1
    assert min(outcomes[0.0], outcomes[1.0]) > 5


def test_process_rows_are_the_conversation_in_pieces(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "steps.jsonl"
    for graded, kind in ((False, bool), (True, float)):
        summary = export_episodes(files(played), kind="process", out=out, graded=graded)
        assert summary.rows == summary.episodes == 3 * COUNT
        records = [record for path in files(played) for _, record in read_episodes(path)]
        for record, row in zip(records, rows(out), strict=True):
            assert list(row) == ["id", "env_id", "task_id", "prompt", "completions", "labels"]
            assert {type(label) for label in row["labels"]} == {kind}
            assert len(row["labels"]) == len(row["completions"]) == len(record.steps)
            told = "".join(step.action + step.observation for step in record.steps)
            whole = record.prompt + told.removesuffix(record.steps[-1].observation)
            assert row["prompt"] + "".join(row["completions"]) == whole
            if row["id"].startswith("oracle"):
                assert all(row["labels"])


# Files.


def test_the_same_files_give_the_same_bytes_in_any_process(played: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from callgym.trainers.export import export_episodes as e; "
        "[e(sys.argv[2:], kind=k, out=f'{sys.argv[1]}/{k}') for k in ('reward', 'preference', 'process')]"
    )
    written = []
    for seed in ("0", "7"):
        out = tmp_path / seed
        command = [sys.executable, "-c", program, str(out), *map(str, files(played))]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}, timeout=120)
        written.append([(out / kind).read_bytes() for kind in ("reward", "preference", "process")])
    assert written[0] == written[1]


def test_datasets_hold_what_the_lines_hold(played: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for kind in ("reward", "preference", "process"):
        for graded in (False, True):
            lines, folder = tmp_path / f"{kind}.jsonl", tmp_path / kind
            options: dict[str, Any] = {"kind": kind, "graded": graded}
            assert export_episodes(files(played), out=lines, **options).rows
            export_episodes(files(played), out=folder, format="dataset", **options)
            stored = list(datasets.load_from_disk(str(folder)))
            assert len(stored) == len(rows(lines))
            for found, row in zip(stored, rows(lines), strict=True):
                # Each call keeps its own arguments: none has those of the others, empty.
                assert found | {"rewards": None} == row | {"rewards": None}
                assert found.get("rewards") == (pytest.approx(row["rewards"]) if "rewards" in row else None)


def test_pairs_train_a_reward_model(played: Path, tmp_path: Path) -> None:
    """TRL takes the dataset as it is: prompt, chosen and rejected as messages, tools and margin."""
    datasets, trl = pytest.importorskip("datasets"), pytest.importorskip("trl")
    transformers = pytest.importorskip("transformers")
    from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy

    export_episodes(files(played), kind="preference", out=tmp_path / "pairs", format="dataset")
    policy, tokenizer = build_tiny_policy(["words"], TinyPolicyConfig(vocabulary=300, hidden=16, layers=1))
    tokenizer.chat_template = (
        "{% for t in tools %}{{ t.function.name }} {% endfor %}{% for m in messages %}{{ m.role + m.content }}"
        "{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}"
    )
    policy.config.num_labels = 1
    settings = trl.RewardConfig(
        output_dir=str(tmp_path / "run"), max_steps=1, per_device_train_batch_size=2, max_length=4_096, use_cpu=True,
        bf16=False, activation_checkpointing=False, report_to="none", save_strategy="no", logging_steps=1,
    )  # fmt: skip
    trainer = trl.RewardTrainer(
        model=transformers.LlamaForSequenceClassification(policy.config),
        args=settings,
        processing_class=tokenizer,
        train_dataset=datasets.load_from_disk(str(tmp_path / "pairs")).select(range(4)),
    )
    trainer.train()
    assert "margin" in trainer.train_dataset.column_names


def test_without_datasets_the_package_is_named(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingPackageError, match=r"callgym\[train\]"):
        export_episodes(files(played), kind="reward", out=tmp_path / "x", format="dataset")
    assert not (tmp_path / "x").exists()


DAMAGE: list[tuple[str, Any, str]] = [
    ("the task is gone", {"task_id": "starter/L9"}, "no task 'starter/L9'"),
    ("no such id", {"env_id": "nowhere/L1-v0"}, "its environment cannot be made again"),
    ("data that nobody can find", {"data": "given"}, "the tasks came from data 'given'"),
    ("an option it does not take", {"config": {"colour": "red"}}, "takes no option"),
    ("another prompt", {"prompt": "Hello."}, "begins otherwise than the record"),
    ("no step", {"steps": []}, "the episode has no step"),
    ("a wrong field", {"ended": "never"}, "Episode.ended"),
]


@pytest.mark.parametrize(("fields", "fault"), [row[1:] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
@pytest.mark.parametrize("kind", ["reward", "preference", "process"])
def test_a_bad_row_is_named(played: Path, tmp_path: Path, kind: Any, fields: dict[str, Any], fault: str) -> None:
    third = rows(played / "oracle.jsonl")[2]["index"]
    source = changed(
        played / "oracle.jsonl", tmp_path / "bad.jsonl", lambda row: row["index"] == third and row.update(fields)
    )
    out = tmp_path / "out.jsonl"
    files = [played / "abstain.jsonl", source]
    if kind == "preference" and not {"steps", "ended"} & fields.keys():
        files = [source]  # a row is looked up where it is in a pair
        twin = {**rows(source)[2], "index": 999, "episode_return": 0.0}
        twin["steps"] = [{**twin["steps"][0], "action": "something else"}]
        source.write_text(source.read_text("utf-8") + json.dumps(twin) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"bad\.jsonl, row 3: .*{fault}"):
        export_episodes(files, kind=kind, out=out)
    assert list(tmp_path.iterdir()) == [source]


def test_a_file_that_is_cut_off_leaves_nothing_behind(played: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "cut.jsonl", tmp_path / "out.jsonl"
    source.write_bytes((played / "oracle.jsonl").read_bytes()[:-9])
    out.write_text("what stood there\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"cut\.jsonl, row {COUNT}: the line is cut off"):
        export_episodes([source], kind="reward", out=out)
    assert out.read_text(encoding="utf-8") == "what stood there\n"
    assert {path.name for path in tmp_path.iterdir()} == {"cut.jsonl", "out.jsonl"}


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"kind": "sft"}, "kind is one of 'reward', 'preference', 'process', got 'sft'"),
        ({"format": "csv"}, "format is one of 'jsonl', 'dataset', got 'csv'"),
        ({"margin": 0.0}, "margin lies above 0"),
        ({"margin": float("nan")}, "margin lies above 0"),
        ({"pairs": 0}, "pairs is a whole number of at least 1"),
        ({"paths": []}, "there is no episode file"),
    ],
)
def test_a_wrong_option_is_named(played: Path, tmp_path: Path, options: dict[str, Any], fault: str) -> None:
    arguments = {"paths": files(played), "kind": "preference", "out": tmp_path / "x", **options}
    with pytest.raises(ConfigurationError, match=fault):
        export_episodes(arguments.pop("paths"), **arguments)


def test_files_are_not_written_over_and_need_names_of_their_own(played: Path, tmp_path: Path) -> None:
    oracle = played / "oracle.jsonl"
    with pytest.raises(ConfigurationError, match="is one of the episode files"):
        export_episodes([oracle], kind="reward", out=oracle)
    twin = tmp_path / "oracle.jsonl"
    twin.write_bytes(oracle.read_bytes())
    with pytest.raises(ConfigurationError, match="need different names"):
        export_episodes([oracle, twin], kind="reward", out=tmp_path / "x")


def test_given_tasks_are_found_where_they_are_given(tmp_path: Path) -> None:
    tasks = make_tool_env(API_BANK, data="starter").tasks[:4]
    source, out = tmp_path / "given.jsonl", tmp_path / "out.jsonl"
    options = {"data": tasks}
    run_episodes(API_BANK, get_policy("oracle"), episodes=4, env_options=options, out=source, progress=False)
    assert export_episodes([source], kind="reward", out=out, data=tasks).rows == 4


# The command.


def test_the_command_exports(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    words = ["export", *map(str, files(played)), "--kind", "preference", "--margin", "0.3", "--pairs", "1"]
    result = CliRunner().invoke(main, [*words, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{len(rows(out))} preference rows in {out}, from {3 * COUNT} episodes\n"
    missing = CliRunner().invoke(main, ["export", "none.jsonl", "--kind", "reward", "--out", str(out)])
    assert missing.exit_code == 3
    assert missing.stderr.startswith("Error: none.jsonl does not exist")
