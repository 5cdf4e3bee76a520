"""The viewer's page, as data: nothing of the files is lost, nothing in them can harm, and the same files give the same
bytes. What a browser makes of it is in ``test_viewer_browser.py``."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from callgym.envs.base import make_tool_env
from callgym.errors import ConfigurationError, DataError
from callgym.json_value import nests_deeper
from callgym.rollouts.episodes import read_episodes
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.timings import times_path
from callgym.view_commands import view
from callgym.viewer.document import MARK, Document
from callgym.viewer.exact import exact, is_exact, json_bytes
from callgym.viewer.page import PageSummary, write_page
from callgym.viewer.server import PageServer
from callgym.viewer.shared_text import RepeatedPieces, SharedTexts, Text
from callgym.viewer.shortening import Shortening

Json = dict[str, Any]

IDS: tuple[tuple[str, Json], ...] = (
    ("apibank/L1-v0", {}),
    ("apibank/L1-v0", {"protocol": "dialogue", "observation": "delta"}),
    ("bfcl/parallel-v0", {"perturb": ["rename:0.5"]}),
    ("bfcl/multi_turn_base-v0", {}),
    ("when2call/open-v0", {}),
)


class Opened:
    """A page, read as the browser's script reads it."""

    def __init__(self, page: Path) -> None:
        self.html = page.read_text(encoding="utf-8")
        found = re.findall(r'<script type="text/plain" id="([a-z]+(?:-\d+)?)">([A-Za-z0-9+/=]*)</script>', self.html)
        self.data = {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in found}
        self.index: Json = self.data["index"]
        self.columns: Json = self.index["columns"]

    def __len__(self) -> int:
        return len(self.columns["run"])

    def text(self, text: Text) -> str:
        """A text with the pieces that are stored once in their places."""
        if isinstance(text, str):
            return text
        return "".join(self.data["shared"][part] if isinstance(part, int) else part for part in text)

    def episode(self, at: int) -> Json:
        """The entry of the row at that place in the list."""
        entry: Json = self.data[f"block-{self.columns['block'][at]}"][self.columns["offset"][at]]
        return entry

    def word(self, column: str, at: int) -> str:
        """What a column that holds places of a table says there."""
        tables = {"env": "envs", "task": "tasks", "dialect": "dialects", "policy": "policies"}
        word: str = self.index[tables[column]][self.columns[column][at]]
        return word

    def goal(self, at: int) -> Json | None:
        """The task of the row at that place; None where it is not there."""
        place = self.index["task_places"][self.columns["key"][at]]
        return None if place is None else self.data[f"tasks-{place[0]}"][place[1]]

    def record(self, at: int) -> Json:
        """What the page has of an episode's record, in the record's own shape."""
        entry = self.episode(at)
        steps = [
            {
                **{name: self.text(step.get(name, "")) for name in ("action", "content", "reasoning", "observation")},
                "turn": step["turn"],
                "calls": [{"id": None, **call} for call in step.get("calls", [])],
                "errors": step.get("errors", []),
                "results": [{"error": None, "message": "", **result} for result in step.get("results", [])],
                "reward": step["reward"],
            }
            for step in entry["steps"]
        ]
        return {
            "env_id": self.word("env", at),
            "task_id": self.word("task", at),
            "seed": int(self.columns["seed"][at]),
            "config": entry.get("config", {}),
            "prompt": self.text(entry["prompt"]),
            "steps": steps,
            "ended": ["running", "terminated", "truncated"][self.columns["ended"][at]],
            "state": entry.get("state"),
            "rewards": entry.get("rewards", {}),
            "episode_return": self.columns["return"][at],
        }


def play(path: Path, id: str, policy: str = "random", episodes: int = 3, **options: Any) -> Path:
    run_episodes(
        id,
        get_policy(policy),
        episodes=episodes,
        env_options={"data": "starter", **options},
        out=path,
        progress=False,
    )
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run of each of some environments."""
    folder = tmp_path_factory.mktemp("files")
    return [
        play(folder / f"{number}.jsonl", id, "oracle" if number % 2 else "random", 5, **options)
        for number, (id, options) in enumerate(IDS)
    ]


@pytest.fixture(scope="module")
def opened(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Opened:
    page = tmp_path_factory.mktemp("page") / "view.html"
    write_page(files, page)
    return Opened(page)


@pytest.fixture(scope="module")
def line(files: list[Path]) -> Json:
    """One line of an episode file."""
    read: Json = json.loads(files[0].read_bytes().splitlines()[0])
    return read


def written(folder: Path, *lines: Json | bytes, name: str = "episodes.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json_bytes(line) + b"\n" for line in lines))
    return path


def page_of(folder: Path, *lines: Json | bytes, **options: Any) -> Opened:
    write_page([written(folder, *lines)], folder / "page.html", **options)
    return Opened(folder / "page.html")


def altered(line: Json, **fields: Any) -> Json:
    return {**json.loads(json.dumps(line)), **fields}


def acted(line: Json, **fields: Any) -> Json:
    """The line with another first step."""
    changed = altered(line)
    changed["steps"][0] |= fields
    return changed


def called(line: Json, arguments: Json) -> Json:
    return acted(
        line,
        calls=[{"name": "Tool", "arguments": arguments, "id": None}],
        results=[{"content": arguments, "error": None, "message": ""}],
    )


# What the page holds.


def test_records_come_out_of_the_page_as_they_went_in(files: list[Path], opened: Opened) -> None:
    at = 0
    for run, path in enumerate(files):
        for row, (index, episode) in enumerate(read_episodes(path), 1):
            shown = opened.record(at)
            stored = episode.to_dict()
            assert shown == {name: stored[name] for name in shown}
            assert [opened.columns[name][at] for name in ("run", "row", "index")] == [run, row, index]
            at += 1
    assert at == len(opened) == 25


def test_every_column_has_a_value_for_every_episode(opened: Opened) -> None:
    columns = {**opened.columns, **opened.columns["scores"]}
    del columns["scores"]
    assert {name: len(values) for name, values in columns.items()} == dict.fromkeys(columns, 25)


def test_columns_count_what_happened(files: list[Path], opened: Opened) -> None:
    episodes = [episode for path in files for _, episode in read_episodes(path)]
    for at, episode in enumerate(episodes):
        assert opened.columns["steps"][at] == len(episode.steps)
        assert opened.columns["calls"][at] == len(episode.calls())
        assert opened.columns["turns"][at] == episode.steps[-1].turn + 1
        assert opened.columns["characters"][at] == sum(len(step.action) for step in episode.steps)
        assert opened.word("dialect", at) == episode.config["dialect"]
        flat = opened.columns["errors"][at]
        counted = {opened.index["errors"][kind]: count for kind, count in zip(flat[::2], flat[1::2], strict=True)}
        kinds: list[str] = [error.kind for step in episode.steps for error in step.errors]
        kinds += [str(result.error) for step in episode.steps for result in step.results if result.error]
        assert counted == {kind: kinds.count(kind) for kind in kinds}
        for name, column in opened.columns["scores"].items():
            score = episode.rewards.get(name)
            assert column[at] == ("n" if score is None or not score.applies else score.value)


def test_runs_say_who_played_and_what_was_paid(files: list[Path], opened: Opened) -> None:
    first = opened.index["runs"][0]
    assert first == {
        "name": "0",
        "path": str(files[0]),
        "policies": ["random"],
        "episodes": 5,
        "failed": 0,
        "rubrics": ["default"],
        "fault": None,
        "timed": False,
    }
    assert opened.index["title"] == "0, 1, 2, 3, 4"


def test_words_that_repeat_stand_once(tmp_path: Path) -> None:
    path = play(tmp_path / "a.jsonl", "bfcl/multi_turn_base-v0", "abstain", 20)
    write_page([path], tmp_path / "page.html", gold=False)
    opened = Opened(tmp_path / "page.html")
    inline = sum(len(json.dumps(opened.episode(at)["prompt"])) for at in range(20))
    assert inline < sum(len(episode.prompt) for _, episode in read_episodes(path)) / 5


def test_an_unknown_return_stays_unknown(tmp_path: Path, line: Json) -> None:
    unknown = altered(acted(line, reward=None), episode_return=None)
    unknown["rewards"]["argument_f1"] = {"value": None, "applies": True, "explanation": {}}
    opened = page_of(tmp_path, unknown)
    assert opened.columns["return"] == [None]
    assert opened.columns["scores"]["argument_f1"] == [None]
    assert opened.episode(0)["steps"][0]["reward"] is None


def test_failed_episodes_are_there_with_their_cause(tmp_path: Path, line: Json) -> None:
    failure = {"kind": "step_timeout", "message": "longer than 5 s", "trace": "", "attempts": 3}
    who = {"index": 7, "policy": "p", "env_id": "apibank/L1-v0", "task_id": "t", "seed": 2**60}
    path = written(tmp_path, line, {**who, "failure": failure})
    summary = write_page([path], tmp_path / "page.html")
    opened = Opened(tmp_path / "page.html")
    assert (summary.episodes, summary.failed, summary.gold) == (2, 1, 1)
    assert opened.columns["ended"] == [1, 3]
    assert opened.columns["seed"][1] == str(2**60)
    assert opened.episode(1)["failure"] == failure
    assert opened.columns["return"][1] is None
    assert opened.index["errors"][opened.columns["errors"][1][0]] == "failed: step_timeout"


def test_explanations_of_other_shapes_come_as_lines(opened: Opened) -> None:
    at = next(at for at in range(len(opened)) if opened.word("env", at).startswith("bfcl/multi_turn"))
    assert opened.episode(at)["lines"]["bfcl_turns"][0].startswith("bfcl_turns: ")


@pytest.mark.parametrize(
    "explanation",
    [
        {"turns": 7},
        {"turns": [1, "a"]},
        {"turns": [{"gold": 1, "made": [], "copies": "x", "error": 5}]},
        {"turns": [{"matched": 5, "missing": 1, "extra": None, "unreadable": {}}]},
        {"verdict": [[[]]]},
    ],
)
def test_explanations_of_any_shape_do_no_harm(tmp_path: Path, line: Json, explanation: Json) -> None:
    strange = altered(line, rewards={"mine": {"value": 0.5, "applies": True, "explanation": explanation}})
    assert page_of(tmp_path, strange).episode(0)["rewards"]["mine"]["explanation"] == explanation


# Times.


def test_times_of_the_file_beside_it_are_taken_in(tmp_path: Path, line: Json) -> None:
    path = written(tmp_path, altered(line, index=0), altered(line, index=1), altered(line, index=2))
    lines = [{"index": 0, "steps": [[1.5, 0.25]]}, {"index": 1, "steps": [[None, 0.25]]}, {"index": 2, "steps": []}]
    times_path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_page([path], tmp_path / "page.html")
    opened = Opened(tmp_path / "page.html")
    assert opened.columns["seconds"] == [1.75, None, None]  # a part that is unknown makes no sum
    assert [opened.episode(at)["steps"][0].get("times") for at in range(3)] == [[1.5, 0.25], [None, 0.25], None]
    assert opened.index["runs"][0]["timed"]


# What was asked for.


def test_gold_is_the_task_as_it_was_played(files: list[Path], opened: Opened) -> None:
    at = 0
    for path, (id, options) in zip(files, IDS, strict=True):
        env = make_tool_env(id, data="starter", **options)
        for _, episode in read_episodes(path):
            env.reset(seed=episode.seed, options={"task": episode.task_id})
            goal = opened.goal(at)
            assert goal is not None
            assert goal["goal"] == env.task.goal.to_dict()
            assert [tool["name"] for tool in goal["tools"]] == [tool.name for tool in env.task.tools]
            assert (goal["env"], goal["task"]) == (id, episode.task_id)
            at += 1
        env.close()
    assert opened.index["gold_missing"] == {}


def test_a_perturbed_task_is_found_by_its_seed(tmp_path: Path) -> None:
    path = play(tmp_path / "a.jsonl", "bfcl/multiple-v0", "oracle", 12, perturb=["remove_tool:0.5", "rename:0.5"])
    opened = Opened(write_page([path], tmp_path / "page.html").page)
    kinds = set()
    for at, (_, episode) in enumerate(read_episodes(path)):
        goal = opened.goal(at)
        assert goal is not None
        kinds.add(goal["goal"]["kind"])
        names = {gold["name"] for turn in goal["goal"].get("turns", ()) for gold in turn}
        assert names == {call.name for call in episode.calls()}
    assert kinds == {"calls", "decision"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"env_id": "nobody/knows-v0"}, "cannot be made again"),
        ({"env_id": "antigravity:nobody/knows-v0"}, "cannot be made again"),
        ({"task_id": "no such task"}, "has no task"),
        ({"data": "given"}, "--data"),
        ({"data": "folder"}, "--data"),
        ({"prompt": "another beginning"}, "begins otherwise"),
        ({"config": {"split": "test", "dialect": "nobody's"}}, "no dialect"),
        ({"config": {"split": "test", "perturb": {"a": 5}}}, "perturb"),
    ],
)
def test_where_a_task_is_not_found_the_page_says_why(tmp_path: Path, line: Json, fields: Json, reason: str) -> None:
    path = written(tmp_path, line, altered(line, index=1000, **fields), altered(line, index=1001, **fields))
    summary = write_page([path], tmp_path / "page.html")
    opened = Opened(summary.page)
    assert opened.goal(0) is not None
    assert opened.goal(1) is None
    assert summary.gold == 1
    [(said, count)] = summary.gold_missing.items()
    assert reason in said
    assert count == 2
    assert opened.index["gold_missing"] == {said: 2}
    assert opened.record(1)["steps"] == altered(line)["steps"]


def test_no_server_is_called_for_a_task(tmp_path: Path, line: Json) -> None:
    """The record names tools at an address; the task is found without them."""
    config = {**line["config"], "backend": "http://127.0.0.1:9/"}
    assert page_of(tmp_path, altered(line, config=config)).goal(0) is not None


def test_tasks_that_were_given_are_found_where_they_are_given_again(tmp_path: Path) -> None:
    tasks = list(make_tool_env("apibank/L1-v0", data="starter").tasks)[:4]
    path = play(tmp_path / "a.jsonl", "apibank/L1-v0", data=tasks)
    assert write_page([path], tmp_path / "page.html").gold == 0
    assert write_page([path], tmp_path / "page.html", data=tasks).gold == 3


def test_gold_can_be_left_out(tmp_path: Path, files: list[Path]) -> None:
    summary = write_page([files[0]], tmp_path / "page.html", gold=False)
    assert (summary.gold, summary.gold_missing) == (0, {})
    assert set(Opened(summary.page).index["task_places"]) == {None}


def test_tools_of_tasks_give_way_where_they_would_fill_the_page(tmp_path: Path) -> None:
    path = play(tmp_path / "a.jsonl", "bfcl/live_multiple-v0", "abstain", 10, perturb=["rename"])
    goal = Opened(write_page([path], tmp_path / "page.html", most_bytes=1000).page).goal(0)
    assert goal is not None
    assert "tools" not in goal
    assert goal["cut"] == ["the tools are left out, to save room; the prompt shows them"]


# The same files, the same page.


def test_the_same_files_give_the_same_bytes(tmp_path: Path, files: list[Path]) -> None:
    code = "import sys; from callgym.viewer.page import write_page; write_page(sys.argv[2:], sys.argv[1])"
    pages = []
    for seed in ("1", "2"):  # of Python's hashes
        page = tmp_path / f"{seed}.html"
        arguments = [sys.executable, "-c", code, str(page), *map(str, files[:3])]
        subprocess.run(arguments, check=True, env={"PYTHONHASHSEED": seed, "PATH": ""})
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


# Hostile files.


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "<!--DATA--> /*JS*/ /*CSS*/ <!--CSP--> <!--TITLE-->",
        "half of a pair: \ud800 and \udfff",
        "\x00\x07\x1b[31mred\x1b]0;title\x07\x7f\x9b",
        "\u202eright to left\u2066\u2069\u200f\ufeff\u2028\u2029",
        "\U000e0041\U0001f468\u200d\U0001f469",
        "'\"><img src=x onerror=alert(1)>",
        "{{7*7}} ${7*7} %s {0}",
    ],
)
def test_hostile_text_stands_in_the_page_as_it_is_and_as_data_alone(tmp_path: Path, line: Json, text: str) -> None:
    hostile = called(acted(line, action=text, content=text * 50, observation=text), {text: [text]})
    opened = page_of(tmp_path, altered(hostile, task_id=text, prompt=text, policy=text))
    shown = opened.record(0)
    assert shown["steps"][0]["action"] == shown["prompt"] == shown["task_id"] == text
    assert shown["steps"][0]["content"] == text * 50
    assert shown["steps"][0]["calls"][0]["arguments"] == {text: [text]}
    assert opened.word("policy", 0) == text
    outside = re.sub(r'<script type="text/plain" id="[-a-z0-9]+">[A-Za-z0-9+/=]*</script>', "", opened.html)
    assert text not in outside


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**53, {"$int": "9007199254740992"}),
        (-(2**63), {"$int": "-9223372036854775808"}),
        (10**400, {"$int": str(10**400)}),
        ([{"a": 10**17}], [{"a": {"$int": "1" + "0" * 17}}]),
        ({"$int": "7"}, '{"$int": "7"}'),
        ({"$int": 7, "b": 1}, {"$int": 7, "b": 1}),
        (0.30000000000000004, 0.30000000000000004),
        (1e300, 1e300),
        (True, True),
    ],
)
def test_numbers_that_a_browser_would_change_are_marked(tmp_path: Path, line: Json, value: Any, shown: Any) -> None:
    opened = page_of(tmp_path, called(line, {"x": value}))
    step = opened.episode(0)["steps"][0]
    assert step["calls"][0]["arguments"] == {"x": shown}
    assert step["results"][0]["content"] == {"x": shown}


def test_a_mark_written_with_escapes_is_no_mark(tmp_path: Path, line: Json) -> None:
    raw = json_bytes(called(line, {"x": {"$int": "7"}})).replace(b"$int", rb"\u0024\u0069\u006e\u0074")
    step = page_of(tmp_path, raw + b"\n").episode(0)["steps"][0]
    assert step["calls"][0]["arguments"] == {"x": '{"$int": "7"}'}


def test_deep_nesting_does_no_harm(tmp_path: Path, line: Json) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    opened = page_of(tmp_path, called(line, {"x": deep}), altered(called(line, {"x": [deep, 2**60]}), index=1000))
    first, second = (opened.episode(at)["steps"][0]["calls"][0]["arguments"] for at in range(2))
    assert first == {"x": deep}
    assert set(second) == {"(cut)"}  # with a number to be marked in it: as text


def test_long_texts_are_cut_with_a_note_of_where_they_stand(tmp_path: Path, line: Json) -> None:
    long = acted(called(line, {"a": "y" * 300_000}), action="x" * 1_000_000, content="")
    path = written(tmp_path, line, altered(long, index=1000))
    summary = write_page([path], tmp_path / "page.html")
    opened = Opened(summary.page)
    step = opened.record(1)["steps"][0]
    assert step["action"].startswith("x" * 100_000 + "\n[… 900,000 characters are left out here]")
    assert opened.columns["characters"][1] == 1_000_000
    assert summary.cut == 3
    notes = opened.episode(1)["cut"]
    assert notes[0] == f"action of step 1: 900,000 of 1,000,000 characters are left out; they stand in {path}, row 2"
    assert len(notes) == 3
    assert "cut" not in opened.episode(0)


def test_a_value_that_is_long_without_a_long_text_is_cut_too(tmp_path: Path, line: Json) -> None:
    opened = page_of(tmp_path, called(line, {"numbers": list(range(100_000))}))
    arguments = opened.episode(0)["steps"][0]["calls"][0]["arguments"]
    assert set(arguments) == {"(cut)"}
    assert len(arguments["(cut)"]) < 100_100


def test_a_page_that_would_be_too_large_has_shorter_texts(tmp_path: Path, line: Json) -> None:
    lines = [
        altered(acted(line, action=hashlib.shake_256(bytes([number])).hexdigest(40_000)), index=number)
        for number in range(30)
    ]
    path = written(tmp_path, *lines)
    frame = len(Document("").head) + len(Document("").tail)
    summary = write_page([path], tmp_path / "page.html", most_bytes=frame + 500_000)
    assert summary.bytes == (tmp_path / "page.html").stat().st_size <= frame + 500_000
    assert summary.most_characters == 10_000
    assert len(Opened(summary.page)) == 30
    least = write_page([path], tmp_path / "page.html", most_bytes=1)
    assert least.most_characters == 300
    assert least.bytes > 1  # and the caller is told


FOREIGN = [
    (b"", "is empty"),
    (b"\x00\x01\x02\xff" * 100, "no episode"),
    (b"\x89PNG\r\n\x1a\n", "no episode"),
    (b"id,return\n1,0.5\n", "no episode"),
    (b'{"prompt": "of another program", "completion": "x"}\n', "no episode"),
    (b"[1, 2, 3]\n", "no episode"),
    (gzip.compress(b"{}", mtime=0), "gzip"),
    (b'{"index":0,"state":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n", "recursion"),
    (b'{"index":0,"seed":NaN}\n', "NaN"),
    (b'{"index":0,"failure":{"kind":"exception","message":"m"},"seed":1e400}\n', "inf"),
]


@pytest.mark.parametrize(("content", "said"), FOREIGN)
def test_a_foreign_file_is_named_and_gives_no_page(tmp_path: Path, content: bytes, said: str) -> None:
    path = written(tmp_path, content)
    result = CliRunner().invoke(view, [str(path)])
    assert result.exit_code == 3
    assert said in result.stderr
    assert str(path) in result.stderr
    assert not path.with_suffix(".html").exists()


@pytest.mark.parametrize(("content", "said"), FOREIGN[1:])
def test_what_stands_before_a_fault_is_shown(tmp_path: Path, line: Json, content: bytes, said: str) -> None:
    path = written(tmp_path, line, content)
    result = CliRunner().invoke(view, [str(path), "--json"])
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["episodes"] == 1
    [fault] = report["faults"]
    assert "row 2" in fault
    opened = Opened(Path(report["page"]))
    assert opened.index["runs"][0]["fault"] == fault
    assert len(opened) == 1


def test_a_line_that_is_cut_off_is_a_fault(tmp_path: Path, line: Json) -> None:
    path = written(tmp_path, line, json_bytes(altered(line, index=1000))[:-100])
    summary = write_page([path], tmp_path / "page.html")
    assert summary.episodes == 1
    assert "row 2: the line is cut off" in summary.faults[0]


def test_an_index_that_stands_twice_is_a_fault(tmp_path: Path, line: Json) -> None:
    assert "stands in row 1 already" in write_page([written(tmp_path, line, line)], tmp_path / "page.html").faults[0]


def test_a_byte_order_mark_is_read_over(tmp_path: Path, line: Json) -> None:
    assert len(page_of(tmp_path, b"\xef\xbb\xbf" + json_bytes(line) + b"\n")) == 1


def test_a_file_with_a_fault_does_not_keep_others_from_the_page(tmp_path: Path, line: Json) -> None:
    good, bad = written(tmp_path, line), written(tmp_path, b"id,return\n", name="table.jsonl")
    summary = write_page([bad, good], tmp_path / "page.html")
    assert (summary.runs, summary.episodes, len(summary.faults)) == (2, 1, 1)
    assert Opened(summary.page).columns["run"] == [1]


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path, line: Json) -> None:
    path = written(tmp_path, line)
    page = tmp_path / "page.html"
    with pytest.raises(DataError, match="row 1: the file was changed meanwhile"):
        write_page([path], page, advance=lambda count: path.write_bytes(b'{"index":5}\n' * 9) and None)
    assert list(tmp_path.glob("page.html*")) == []


# The frame.


def test_the_policy_lets_nothing_run_but_the_pages_own_script(opened: Opened) -> None:
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', opened.html)
    rules = dict(rule.strip().split(" ", 1) for rule in html.unescape(policy).split(";"))
    assert rules["default-src"] == "'none'"
    [code] = re.findall(r"<script type=\"module\">(.*?)</script>", opened.html, re.DOTALL)
    [looks] = re.findall(r"<style>(.*?)</style>", opened.html, re.DOTALL)
    for rule, content in (("script-src", code), ("style-src", looks)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert len(re.findall(r"<script(?! type=\"text/plain\")", opened.html)) == 1


def test_the_page_names_no_address(opened: Opened) -> None:
    frame = re.sub(r"<script.*?</script>|<style>.*?</style>", "", opened.html, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href|action)\s*=\s*[\"']?(?!data:)\w", frame)


def test_a_title_is_text_and_never_markup(tmp_path: Path, files: list[Path]) -> None:
    title = "</title><script>x()</script>/*JS*/<!--DATA-->\u202e\x1b[0m"
    opened = Opened(write_page([files[0]], tmp_path / "page.html", title=title, gold=False).page)
    assert opened.index["title"] == title
    [shown] = re.findall(r"<title>(.*?)</title>", opened.html)
    assert shown == "&lt;/title&gt;&lt;script&gt;x()&lt;/script&gt;/*JS*/&lt;!--DATA--&gt;\\u202e\\x1b[0m"


@pytest.mark.parametrize("code", ["a = '</script>'", "a = '<!--'"])
def test_a_script_that_would_end_itself_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="end its own element"):
        Document("title", code=code)


# The command.


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(view, [str(argument) for argument in arguments])


def test_the_page_stands_beside_the_file(tmp_path: Path, line: Json) -> None:
    path = written(tmp_path, line)
    result = run(path)
    assert result.exit_code == 0, result.output
    page = tmp_path / "episodes.html"
    assert result.stdout.startswith(f"{page}: 1 episodes, ")
    assert MARK in page.read_text(encoding="utf-8")


def test_several_files_are_runs_of_one_page(tmp_path: Path, line: Json) -> None:
    paths = [written(tmp_path, line, name=name) for name in ("before.jsonl", "after.jsonl")]
    result = run(*paths, "--json")
    assert json.loads(result.stdout) == {
        "page": str(tmp_path / "view.html"),
        "bytes": (tmp_path / "view.html").stat().st_size,
        "runs": 2,
        "episodes": 2,
        "failed": 0,
        "faults": [],
        "gold": 2,
        "gold_missing": {},
        "cut": 0,
        "most_characters": 100_000,
        "address": None,
    }
    opened = Opened(tmp_path / "view.html")
    assert [run["name"] for run in opened.index["runs"]] == ["before", "after"]
    assert opened.columns["key"] == [0, 0]


def test_a_folder_gives_its_episode_files_what_was_before_first(tmp_path: Path, line: Json) -> None:
    for name in ("episodes_after.jsonl", "episodes_before.jsonl", "episodes_between.jsonl"):
        written(tmp_path, line, name=name)
    written(tmp_path, b'{"step":1,"loss":2.0}\n', name="training_log.jsonl")
    written(tmp_path, b'{"index":0,"steps":[[1,2]]}\n', name="episodes_after.times.jsonl")
    assert run(tmp_path).exit_code == 0
    names = [run["name"] for run in Opened(tmp_path / "view.html").index["runs"]]
    assert names == ["episodes_before", "episodes_between", "episodes_after"]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path, line: Json) -> None:
    paths = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paths.append(written(tmp_path / name, line))
    write_page([*paths, paths[0]], tmp_path / "page.html")
    names = [run["name"] for run in Opened(tmp_path / "page.html").index["runs"]]
    assert names == ["one/episodes", "two/episodes"]


def test_only_a_page_of_ours_is_written_over(tmp_path: Path, line: Json) -> None:
    path, page = written(tmp_path, line), tmp_path / "episodes.html"
    assert run(path).exit_code == 0
    assert run(path).exit_code == 0
    page.write_text("<p>my notes")
    result = run(path)
    assert result.exit_code == 3
    assert "--out" in result.stderr
    assert page.read_text() == "<p>my notes"
    assert run(path, "--out", page).exit_code == 0


def test_no_file_is_both_read_and_written(tmp_path: Path, line: Json) -> None:
    path = written(tmp_path, line)
    content = path.read_bytes()
    result = run(path, "--out", path)
    assert result.exit_code == 3
    assert "would be written over" in result.stderr
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "said"), [("missing.jsonl", "does not exist"), (".", "holds no episode file"), ("/dev/null", "regular")]
)
def test_what_is_no_file_of_episodes_is_refused(tmp_path: Path, name: str, said: str) -> None:
    result = run(tmp_path / name, "--out", tmp_path / "page.html")
    assert result.exit_code == 3
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_or_cut_is_said_on_standard_error(tmp_path: Path, line: Json) -> None:
    path = written(tmp_path, altered(acted(line, action="x" * 200_000), data="given\x1b[31m"))
    result = run(path, "--json")
    assert result.exit_code == 0
    assert "without what was asked for, 1 episodes" in result.stderr
    assert "1 texts of more than 100,000 characters are cut" in result.stderr
    assert "\x1b" not in result.stderr
    assert json.loads(result.stdout)["gold"] == 0


def test_options_reach_the_environment(tmp_path: Path) -> None:
    tasks = list(make_tool_env("apibank/L1-v0", data="starter").tasks)[:4]
    path = play(tmp_path / "a.jsonl", "apibank/L1-v0", data=tasks)
    given = tmp_path / "tasks.jsonl"
    given.write_text("".join(task.to_json() + "\n" for task in tasks), encoding="utf-8")
    assert json.loads(run(path, "--data", given, "--json").stdout)["gold"] == 3
    assert json.loads(run(path, "--no-gold", "--json").stdout)["gold_missing"] == {}
    assert run(path, "--import", "no_such_module").exit_code == 3
    assert run(path, "--set", "nonsense").exit_code == 2


# The server.


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(b"<p>the page") as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,))
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def ask(server: PageServer, method: str = "GET", path: str = "/", **headers: str) -> tuple[int, bytes, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{server.server_port}", **headers}.items():
        if value:
            connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body, response.headers


def test_the_page_is_served_to_this_machine(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    status, body, headers = ask(server)
    assert (status, body) == (200, b"<p>the page")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["Cache-Control"] == "no-store"
    assert ask(server, Host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "", "127.0.0.1.evil.example"])
def test_other_names_for_this_machine_get_nothing(server: PageServer, host: str) -> None:
    status, body, _ = ask(server, Host=host)
    assert status == 421
    assert b"page" not in body


@pytest.mark.parametrize("path", ["/etc/passwd", "/../../etc/passwd", "/index.html", "/%2e%2e/", "http://x/"])
def test_there_is_nothing_but_the_page(server: PageServer, path: str) -> None:
    assert ask(server, path=path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "NONSENSE"])
def test_only_get_is_answered(server: PageServer, method: str) -> None:
    assert ask(server, method)[0] == 501


def test_a_port_that_is_taken_is_said(server: PageServer) -> None:
    with pytest.raises(ConfigurationError, match="--port 0"):
        PageServer(b"", server.server_port)


def test_the_command_serves_until_it_is_broken_off(tmp_path: Path, line: Json) -> None:
    code = "from callgym.view_commands import view; view()"
    arguments = [sys.executable, "-c", code, str(written(tmp_path, line)), "--serve", "--no-gold"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            address = re.match(r"http://127\.0\.0\.1:(\d+)/ ", process.stderr.readline())
            assert address is not None
            connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=10)
            connection.request("GET", "/")
            assert connection.getresponse().read() == (tmp_path / "episodes.html").read_bytes()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0


# What holds for any input.

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20)
    | st.just("$int"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.just("$int"), inner, max_size=4)
    ),
    max_leaves=12,
)


def as_a_browser(value: Any) -> Any:
    """Numbers as doubles."""
    return json.loads(json_bytes(value), parse_int=lambda digits: int(float(digits)))


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$int"}:
            return int(value["$int"])
        return {name: unmarked(item) for name, item in value.items()}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def without_marks(value: Any) -> Any:
    """The value with its own objects that look like marks as text."""
    if isinstance(value, dict):
        if value.keys() == {"$int"}:
            return json.dumps(value, ensure_ascii=False)
        return {name: without_marks(item) for name, item in value.items()}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


@given(json_values)
def test_a_browser_reads_every_value_as_it_is(value: Any) -> None:
    assert unmarked(as_a_browser(exact(value))) == without_marks(value)


@given(json_values, st.integers(0, 2**63))
def test_what_is_passed_over_needs_no_marks(value: Any, seed: int) -> None:
    raw = json_bytes({"index": 0, "seed": seed, "value": value})
    if is_exact(raw, seed):
        assert exact(value) == value


@given(st.lists(st.text(st.sampled_from("ab \n\r\x0b\u2028{},é\ud800"), max_size=600), max_size=6))
def test_texts_are_put_together_as_they_were(texts: list[str]) -> None:
    repeated = RepeatedPieces()
    for text in texts + texts[:2]:
        repeated.count(text)
    shared = SharedTexts(repeated)
    for text in texts:
        encoded = shared.encode(text)
        parts = [encoded] if isinstance(encoded, str) else encoded
        assert "".join(shared.pieces[part] if isinstance(part, int) else part for part in parts) == text


@given(json_values, st.integers(1, 40))
def test_no_value_is_longer_than_what_is_allowed(value: Any, most: int) -> None:
    shortening = Shortening(most, "there")
    shorter = shortening.value(value, "it")
    assert shortening.notes or shorter == value
    assert not isinstance(shorter, (dict, list)) or not nests_deeper(shorter, 100)
    if isinstance(shorter, str):
        assert len(shorter) <= most + len("\n[… 1,000,000 characters are left out here]")


@given(st.binary(max_size=300))
def test_no_bytes_make_the_viewer_crash(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    try:
        summary: PageSummary | None = write_page([written(folder, content)], folder / "page.html")
    except DataError:
        summary = None
    assert summary is None or summary.episodes
