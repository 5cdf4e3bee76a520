"""Every verb, by a walk over all of them: help in the group and alone, --json, exit status, and hostile text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from callgym.call import ToolResult
from callgym.cli import VERBS, Verb, main
from callgym.rollouts.episodes import read_rows, write_episode
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.tool_backends.recording import RecordingStore

ID = "apibank/L1-v0"
DATA = ("--data", "starter")
SERVERS = ("serve", "serve-env", "mcp")
EVIL = "\x1b]0;owned\x07\x7f\x1b[2J\u202e\u2066\x9b31m\r\ud800"
"""Retitles the window, clears it, turns the writing direction, colours, goes back, and is no character."""


def run(*arguments: Any, **more: Any) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="callgym", **more)


def names(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


def leaves(command: click.Command) -> list[click.Command]:
    """The command, or those of its group."""
    return list(command.commands.values()) if isinstance(command, click.Group) else [command]


EVERY = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)


@EVERY
def test_its_help_is_the_same_in_the_group_and_alone(verb: Verb) -> None:
    command = verb.command()
    assert command.name == verb.name
    for flag in ("-h", "--help"):
        inside = run(verb.name, flag)
        alone = CliRunner().invoke(command, [flag], prog_name=f"callgym {verb.name}")
        assert (inside.exit_code, alone.exit_code) == (0, 0)
        assert inside.stdout == alone.stdout
    assert inside.stdout.startswith(f"Usage: callgym {verb.name} ")


@EVERY
def test_the_list_of_verbs_says_what_its_docstring_says(verb: Verb) -> None:
    sentence = verb.command().get_short_help_str(200).removesuffix(".")
    assert verb.help in (sentence, sentence.partition(":")[0])
    assert len(verb.help) <= 60  # so that a line of 80 columns holds it


@EVERY
def test_it_takes_json(verb: Verb) -> None:
    for command in leaves(verb.command()):
        assert "--json" in names(command), command.name


def test_the_help_does_not_import_the_verbs() -> None:
    code = (
        "import sys\nfrom callgym.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('callgym.') and '_commands' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_status_is_written_down() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "command_line.md").read_text(encoding="utf-8")
    for text in (run("--help").stdout, page):
        assert all(f"{status}" in text for status in (0, 1, 2, 3, 130))
    assert [verb.name for verb in VERBS if f"`{verb.name}`" not in page] == []
    for verb in VERBS:  # those whose answer may be no say so themselves
        for command in leaves(verb.command()):
            no = "say_no" in _source(command) or "proven" in _source(command)
            assert not no or "xit status" in (command.help or ""), command.name


def _source(command: click.Command) -> str:
    code = getattr(getattr(command.callback, "__wrapped__", command.callback), "__code__", None)
    return " ".join(code.co_names) if code is not None else ""


# JSON, once from each.


@dataclass(frozen=True)
class Files:
    """What the commands read."""

    folder: Path
    episodes: Path
    recording: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("verbs")
    episodes = folder / "episodes.jsonl"
    run_episodes(ID, get_policy("oracle"), episodes=3, env_options={"data": "starter"}, out=episodes, progress=False)
    recording = folder / "calls.sqlite"
    with RecordingStore(recording) as store:
        store.add("Look", {"at": "x"}, ToolResult(content="a cat"), source="t")
    (folder / "pages.jsonl").write_text('{"url": "http://a/", "title": "A", "text": "about a"}\n', encoding="utf-8")
    (folder / "fixtures").mkdir()
    row = {"case": "O/1", "hypothesis": "one two", "reference": "one two", "rouge_l_f": 0.999999995}
    (folder / "fixtures" / "rouge_l_pairs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (folder / "action.txt").write_text('<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>', encoding="utf-8")
    (folder / "actions.jsonl").write_text('"words"\n"more words"\n', encoding="utf-8")
    (folder / "when2call.jsonl").touch()
    mcq = folder / "mcq.jsonl"
    run_episodes(
        "when2call/mcq-v0", get_policy("oracle"), episodes=2, env_options={"data": "starter"}, out=mcq, progress=False
    )
    return Files(folder, episodes, recording)


Words = Callable[[Files, Path], list[Any]]
SUMMARY = ["id", "policy", "episodes", "seed", "data", "return_mean", "return_stderr", "rewards", "errors"]
EPISODE = ["env_id", "task_id", "seed"]
CASES: dict[str, tuple[Words, list[str]]] = {
    "list": (lambda f, out: ["list", *DATA], ["id", "family", "protocol", "tasks", "data", "summary"]),
    "show": (lambda f, out: ["show", ID, *DATA], ["task", "rubric", "oracle"]),
    "show prompt": (lambda f, out: ["show", ID, "--prompt", *DATA], ["task_id", "prompt"]),
    "show played": (lambda f, out: ["show", ID, "--play", "oracle", *DATA], EPISODE),
    "show recorded": (lambda f, out: ["show", ID, "--episodes", f.episodes], EPISODE),
    "check": (lambda f, out: ["check", ID, *DATA], ["id", "ok", "fault"]),
    "flagged": (lambda f, out: ["flagged", ID, *DATA], ["id", "tasks", "flagged"]),
    "perturb": (lambda f, out: ["perturb", "bfcl/multiple-v0", "remove_tool", *DATA], ["before", "after", "notes"]),
    "new-env": (lambda f, out: ["new-env", "my_bench", "--out", out / "new"], ["id", "folder", "files"]),
    "eval": (lambda f, out: ["eval", ID, "--policy", "echo", "--episodes", 2, *DATA], SUMMARY),
    "play": (lambda f, out: ["play", ID, *DATA], ["env_id", "policy", "episodes"]),
    "fill-memory": (
        lambda f, out: ["fill-memory", "kv", "--policy", "abstain", "--out", out / "memory", *DATA],
        ["store", "policy", "snapshots", "out"],
    ),
    "parse": (
        lambda f, out: ["parse", f.folder / "action.txt"],
        ["dialect", "reasoning", "content", "calls", "errors"],
    ),
    "parse lines": (
        lambda f, out: ["parse", f.folder / "actions.jsonl", "--lines"],
        ["dialect", "reasoning", "content", "calls", "errors"],
    ),
    "view": (lambda f, out: ["view", f.episodes, "--out", out / "page.html"], ["page", "bytes", "runs", "episodes"]),
    "report": (lambda f, out: ["report", f.episodes, "--resamples", 10], []),
    "replay": (lambda f, out: ["replay", f.episodes], ["path", "equal", "different"]),
    "rescore": (lambda f, out: ["rescore", f.episodes, "--rubric", "exact"], ["path", "old_rubrics", "episodes"]),
    "records list": (lambda f, out: ["records", "list", f.recording], ["tool", "answers", "calls", "failures"]),
    "records show": (lambda f, out: ["records", "show", f.recording, "Look"], []),
    "records export": (
        lambda f, out: ["records", "export", f.recording, "--out", out / "calls.jsonl"],
        ["answers", "out"],
    ),
    "records import": (
        lambda f, out: ["records", "import", out / "new.sqlite", _exported(f)],
        ["answers", "states", "new"],
    ),
    "train": (
        lambda f, out: ["train", ID, "--model", "none", "--out", out / "run", *DATA],
        ["ids", "algorithm", "model", "log", "report"],
    ),
    "export": (
        lambda f, out: ["export", f.episodes, "--kind", "reward", "--out", out / "rows.jsonl"],
        ["kind", "out", "episodes", "rows", "unknown", "unlabelled"],
    ),
    "export-verl": (
        lambda f, out: ["export-verl", ID, "--count", 2, "--out", out / "rows.jsonl", *DATA],
        ["id", "rows", "out"],
    ),
    "decisions": (
        lambda f, out: ["decisions", "--kind", "sft", "--count", 2, "--out", out / "rows.jsonl"],
        ["kind", "out", "tasks", "rows"],
    ),
    "near-misses": (
        lambda f, out: ["near-misses", ID, "--count", 4, "--score", "rules", "--out", out / "pairs.jsonl", *DATA],
        ["id", "pairs", "out", "accuracy"],
    ),
    "web-index": (
        lambda f, out: ["web-index", f.folder / "pages.jsonl", "--out", out / "index.sqlite"],
        ["pages", "out"],
    ),
    "score": (lambda f, out: ["score", "when2call", f.folder / "mcq.jsonl", *DATA], ["form", "episodes"]),
    "pass-k": (lambda f, out: ["pass-k", f.episodes], ["threshold", "tasks", "episodes", "unknown", "rows"]),
    "parity": (
        lambda f, out: ["parity", "step-metrics", f.folder / "fixtures"],
        ["suite", "cases", "agree", "rate", "files"],
    ),
    "doctor": (lambda f, out: ["doctor"], ["versions", "cpus", "compute"]),
    "completion": (lambda f, out: ["completion", "fish"], ["shell", "install", "script"]),
}
"""Command to its words, and the first keys of its object, or of its list's first one."""


def _exported(files: Files) -> Path:
    lines = files.folder / "calls.jsonl"
    run("records", "export", files.recording, "--out", lines)
    return lines


@pytest.mark.parametrize("case", CASES)
def test_json_is_one_line_with_the_same_keys_always(
    case: str, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if case == "train":
        monkeypatch.setattr("callgym.trainers.grpo.train_grpo", lambda *_, **__: print("a log of TRL's") or "trained")
    words, keys = CASES[case]
    typed = "/quit\n" if case == "play" else None
    result = run(*words(files, tmp_path), "--json", input=typed)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("\n")
    assert result.stdout.count("\n") == 1
    assert result.stdout.isascii() or case in ("report",)
    value = json.loads(result.stdout)
    found = value[0] if isinstance(value, list) else value
    assert list(found)[: len(keys)] == keys


def test_no_verb_is_left_out() -> None:
    done = {name.partition(" ")[0] for name in CASES} | {*SERVERS, "fetch"}  # fetch: tests/test_cli.py
    assert done == {verb.name for verb in VERBS}


@pytest.mark.parametrize(
    ("words", "keys", "stream"),
    [
        (["serve", ID, "--port", "0"], ["url", "id", "docs"], "stdout"),
        (["serve-env", ID, "--port", "0"], ["url", "id"], "stdout"),
        (["mcp", ID, "--http", "--port", "0"], ["url", "id", "transport"], "stdout"),
        (["mcp", ID], ["url", "id", "transport"], "stderr"),
    ],
    ids=["serve", "serve-env", "mcp http", "mcp"],
)
def test_servers_say_in_json_where_they_are(words: list[str], keys: list[str], stream: str) -> None:
    program = [sys.executable, "-c", "from callgym.cli import main; main()", *words, *DATA, "--json"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(program, text=True, **pipes) as process:
        said = json.loads(getattr(process, stream).readline())
        assert list(said) == keys
        assert (said["url"] is None) == (stream == "stderr")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
        assert out == ""


def test_verdicts_that_disagree_are_a_no(files: Files, tmp_path: Path) -> None:
    row = {"case": "O/1", "hypothesis": "one two", "reference": "one two", "rouge_l_f": 0.5}
    (tmp_path / "rouge_l_pairs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    told = run("parity", "step-metrics", tmp_path, "--out", tmp_path / "out.jsonl")
    assert told.exit_code == 1
    assert json.loads(told.stdout.splitlines()[-1])["agree"] == 0
    assert told.stderr == "Error: 1 of 1 cases disagree\n"
    as_json = run("parity", "step-metrics", tmp_path, "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["files"] == [{"file": "rouge_l_pairs.jsonl", "cases": 1, "agree": 0}]


# Hostile text, from models and files.


@pytest.fixture(scope="module")
def evil(files: Files) -> Path:
    """Episodes whose policy and tools wrote what would harm a terminal, and a line of a megabyte."""
    path = files.folder / "evil.jsonl"
    rows = list(read_rows(files.episodes))
    evil = EVIL[:-1]  # no UTF-8 file holds that
    with path.open("w", encoding="utf-8") as file:
        for row, text in zip(rows, (evil, evil + "x" * 1_000_000, evil), strict=True):
            fields = json.loads(row.episode.to_json())
            fields["steps"][0] |= {"action": text, "content": text, "observation": text}
            fields["task_id"] = row.episode.task_id if row.index else text
            write_episode(file, row.index, row.policy + evil, type(row.episode).from_dict(fields))
    return path


def evil_recording(folder: Path) -> Path:
    path = folder / "evil.sqlite"
    with RecordingStore(path) as store:
        store.add(EVIL[:-1], {"a": "\u202e\x9b"}, ToolResult(content="\x1b]0;\x07"), source="\x1b[31m")
    return path


def harmless_output(result: Result) -> None:
    assert not isinstance(result.exception, UnicodeError), result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit)
    for text in (result.stdout, result.stderr):
        assert all(character.isprintable() or character in "\n\t" for character in text)
        text.encode("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ("show", ID, "--episodes", "EVIL"),
        ("show", ID, "--episodes", "EVIL", "--task", "1"),
        ("show", ID, "--episodes", "EVIL", "--task", "1", "--json"),
        ("show", ID, "--episodes", "EVIL", "--task", EVIL + "?"),
        ("replay", "EVIL", "--all"),
        ("replay", "EVIL", "--json"),
        ("rescore", "EVIL", "--rubric", "exact"),
        ("rescore", "EVIL", "--rubric", EVIL),
        ("pass-k", "EVIL"),
        ("score", "apibank", "EVIL", *DATA),
        ("export", "EVIL", "--kind", "reward", "--out", "OUT"),
        ("report", "EVIL", "--resamples", "10"),
        ("view", "EVIL", "--out", "OUT"),
        ("parse", "TEXT"),
        ("parse", "TEXT", "--json"),
        ("parse", "ACTION"),
        ("parse", "ACTION", "--lines"),
        ("records", "list", "RECORDING"),
        ("records", "show", "RECORDING", EVIL[:-1]),
        ("records", "list", "ACTION"),
        ("show", EVIL),
        ("eval", ID, "--policy", EVIL, *DATA),
        ("list", "--family", EVIL, *DATA),
        ("perturb", ID, EVIL, *DATA),
        ("perturb", ID, "{" + EVIL, *DATA),
        ("check", ID, "--set", f"rubric={EVIL}", *DATA),
        ("web-index", "ACTION", "--out", "OUT"),
        ("completion", EVIL),
        (EVIL,),
    ],
    ids=lambda words: ascii("-".join(words))[:40],
)
def test_what_others_wrote_does_nothing(
    words: tuple[str, ...], evil: Path, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "0")
    (tmp_path / "text.txt").write_text(EVIL[:-1] + "<tool_call>{" + "x" * 1_000_000, encoding="utf-8")
    action = json.dumps({"action": '<tool_call>{"name": "' + EVIL})
    (tmp_path / "action.jsonl").write_text(f"{action}\n{EVIL[:-1]}\n", encoding="utf-8")
    places = {
        "EVIL": evil,
        "OUT": tmp_path / "out",
        "TEXT": tmp_path / "text.txt",
        "ACTION": tmp_path / "action.jsonl",
        "RECORDING": evil_recording(tmp_path),
    }
    result = run(*(places.get(word, word) for word in words))
    harmless_output(result)


def test_the_shell_s_own_environment_changes_nothing_in_a_pipe(files: Files) -> None:
    """What a pipe gets has no codes, whatever the terminal is."""
    command = [sys.executable, "-c", "from callgym.cli import main; main()", "replay", str(files.episodes)]
    for settings in ({"TERM": "xterm-256color"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        done = subprocess.run(command, env={**kept, **settings}, capture_output=True, text=True, timeout=60, check=True)
        assert "\x1b" not in done.stdout + done.stderr
        assert done.stderr == ""
    forced = subprocess.run(
        command, env={**os.environ, "FORCE_COLOR": "1"}, capture_output=True, text=True, timeout=60, check=True
    )
    assert "\x1b[32m3\x1b[0m" in forced.stdout
