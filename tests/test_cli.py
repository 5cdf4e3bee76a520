"""The command line: what a person and a script read from it, and that mistakes get one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from callgym import ENVIRONMENTS, __version__, data
from callgym.cli import VERBS, Verb, main
from callgym.envs.apibank.tasks import load_official

ID = "apibank/L1-v0"
STARTER = ("--data", "starter")
SUMMARY_KEYS = [
    "id", "policy", "episodes", "seed", "data", "return_mean", "return_stderr", "rewards", "errors",
]  # fmt: skip

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as a new process would: nothing read before, and warnings put back afterwards."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def invoke(*arguments: str | Path) -> Result:
        load_official.cache_clear()
        data._announced.clear()
        with warnings.catch_warnings():
            return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="callgym")

    return invoke


def ok(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def last_json(result: Result) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(ok(result).splitlines()[-1])
    return value


def one_line_error(result: Result) -> str:
    assert result.exit_code == 3
    assert isinstance(result.exception, SystemExit)  # no bug's exception on its way to a traceback
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


# Looking around.


def test_list_as_json_names_every_environment(run: Run) -> None:
    rows = json.loads(ok(run("list", "--json", *STARTER)))
    assert [row["id"] for row in rows] == [entry.id for entry in ENVIRONMENTS]
    for row, entry in zip(rows, ENVIRONMENTS, strict=True):
        assert {"id", "family", "protocol", "tasks", "data"} <= row.keys()
        assert (row["family"], row["protocol"], row["data"]) == (entry.family, entry.protocol, "starter")
        assert row["tasks"] >= 60
    assert {row["tasks"] for row in rows if row["family"] == "apibank"} == {500}


def test_list_for_people_has_a_line_an_environment(run: Run) -> None:
    head, *lines = ok(run("list", *STARTER)).splitlines()
    assert head.split() == ["id", "protocol", "tasks", "data", "about"]
    words = [line.split()[:4] for line in lines]
    assert [(id, protocol, data) for id, protocol, _, data in words] == [
        (entry.id, entry.protocol, "starter") for entry in ENVIRONMENTS
    ]
    assert len({line.index("starter") for line in lines}) == 1  # a column


def test_list_shows_one_family(run: Run) -> None:
    _, *lines = ok(run("list", "--family", "bfcl", *STARTER)).splitlines()
    assert len(lines) == sum(entry.family == "bfcl" for entry in ENVIRONMENTS)
    assert all(line.startswith("bfcl/") for line in lines)
    result = run("list", "--family", "nothing", *STARTER)
    assert result.exit_code == 3
    assert "apibank, bfcl" in result.stderr


def test_the_data_that_auto_takes_is_said_on_stderr_once(run: Run) -> None:
    result = run("list", "--json")
    assert {row["data"] for row in json.loads(ok(result))} == {"starter"}
    lines = result.stderr.splitlines()
    assert len(lines) == len({entry.family for entry in ENVIRONMENTS})
    for line, family in zip(lines, dict.fromkeys(entry.family for entry in ENVIRONMENTS), strict=True):
        assert "uses its own starter tasks" in line
        assert f"callgym fetch {family} --from FOLDER" in line


def test_version_and_help(run: Run) -> None:
    assert __version__ in ok(run("--version"))
    text = ok(run("--help"))
    heads = [line.strip(":") for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert heads == ["Options", *dict.fromkeys(verb.section for verb in VERBS)]
    assert all(f"\n  {verb.name} " in text for verb in VERBS)
    assert "\n  130  broken off\n" in text
    assert ok(run("-h")) == text


def test_show_reads_like_a_page(run: Run) -> None:
    text = ok(run("show", ID, *STARTER, "--task", "2"))
    heads = ["task starter/L1/test/000002", "TOOLS", "CONVERSATION", "GOAL", "ORACLE"]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    assert ok(run("show", ID, *STARTER, "--task", "starter/L1/test/000002")) == text
    assert ok(run("show", ID, *STARTER)) == ok(run("show", ID, *STARTER, "--task", "0")) != text


def test_show_prints_the_prompt_as_the_policy_gets_it(run: Run) -> None:
    import gymnasium as gym

    env = gym.make(ID, data="starter", dialect="hermes")
    observation, _ = env.reset(options={"task": 3})
    assert ok(run("show", ID, *STARTER, "--task", "3", "--prompt", "--dialect", "hermes")) == observation + "\n"


def test_check_says_ok(run: Run) -> None:
    assert ok(run("check", ID, *STARTER, "--split", "train", "--dialect", "openai")) == f"{ID}: ok\n"


# Playing.


@pytest.mark.parametrize(("policy", "expected"), [("oracle", 1.0), ("echo", 0.0)])
def test_eval_prints_one_json_object_with_the_documented_keys(run: Run, policy: str, expected: float) -> None:
    result = run("eval", ID, "--policy", policy, "--episodes", "7", "--seed", "5", "--json", *STARTER)
    summary = last_json(result)
    assert list(summary) == SUMMARY_KEYS
    assert (summary["id"], summary["policy"], summary["data"]) == (ID, policy, "starter")
    assert (summary["episodes"], summary["seed"]) == (7, 5)
    assert summary["return_mean"] == expected
    assert {"call_exact_match", "argument_f1", "irrelevance_abstention"} <= summary["rewards"].keys()
    assert result.stderr == ""


def test_eval_plays_every_task_once_by_default(run: Run) -> None:
    assert last_json(run("eval", ID, "--policy", "abstain", "--json", *STARTER))["episodes"] == 500


def test_eval_for_people_is_a_table(run: Run) -> None:
    text = ok(run("eval", ID, "--policy", "oracle", "--episodes", "4", *STARTER))
    assert "return" in text
    assert "1.000" in text


def test_eval_resumes_its_file(run: Run, tmp_path: Path) -> None:
    command = ("eval", ID, "--policy", "random", "--seed", "2", "--json", *STARTER)
    whole = last_json(run(*command, "--episodes", "9"))
    out = tmp_path / "episodes" / "random.jsonl"
    ok(run(*command, "--episodes", "4", "--out", out))
    begun = out.read_text(encoding="utf-8")
    assert len(begun.splitlines()) == 4
    out.write_text(begun + begun[:40], encoding="utf-8")  # as a run leaves it that was killed while writing
    assert last_json(run(*command, "--episodes", "9", "--out", out)) == whole
    grown = out.read_text(encoding="utf-8")
    assert grown.startswith(begun)
    assert sorted(json.loads(line)["index"] for line in grown.splitlines()) == list(range(9))
    assert "another run" in one_line_error(run(*command, "--episodes", "9", "--out", out, "--seed", "3"))


def test_show_prints_a_recorded_episode(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    ok(run("eval", ID, "--policy", "oracle", "--episodes", "3", "--out", out, *STARTER))
    rows = {row["index"]: row for row in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    text = ok(run("show", ID, "--episodes", out, "--task", "1"))
    assert text.startswith(f"episode of {ID}, task {rows[1]['task_id']}")
    assert "terminated; return 1.000 (rubric default)" in text
    assert ok(run("show", ID, "--episodes", out, "--task", rows[1]["task_id"])) == text
    assert "has no episode of task '77'" in one_line_error(run("show", ID, "--episodes", out, "--task", "77"))


# Fetching. The files here are invented; they have the official layout.

LAMP = {
    "name": "SetLamp",
    "description": "Sets a lamp.",
    "input_parameters": {
        "room": {"type": "str", "description": "Where the lamp is."},
        "percent": {"type": "int", "description": "How bright."},
    },
    "output_parameters": {"state": {"type": "str", "description": "What came of it."}},
}
SEARCH = {
    "name": "ToolSearcher",
    "description": "Finds a tool.",
    "input_parameters": {"keywords": {"type": "str", "description": "What for."}},
    "output_parameters": {"best": {"type": "dict", "description": "The tool."}},
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one sample a level."""
    folder = tmp_path / "apibank-files"
    asked = {"room": "hall", "percent": "40"}
    call = {
        "role": "API",
        "api_name": "SetLamp",
        "param_dict": asked,
        "result": {"api_name": "SetLamp", "input": asked, "output": "success", "exception": None},
    }
    found = {"keywords": "lamp"}
    search = {
        "role": "API",
        "api_name": "ToolSearcher",
        "param_dict": found,
        "result": {"api_name": "ToolSearcher", "input": found, "output": LAMP, "exception": None},
    }
    user = {"role": "User", "text": "Dim the hall to 40."}

    def write(name: str, value: Any) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = value if name.endswith(".jsonl") else [value]
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")

    write("lv1-lv2-samples/level-1-given-desc/lamp.jsonl", [user, call])
    write("lv1-lv2-samples/level-2-toolsearcher/lamp.jsonl", [user, search, call])
    for level, document in ((1, LAMP), (2, SEARCH)):
        sample = {
            "file": "lamp.jsonl",
            "id": 0,
            "instruction": "Write a request.\nAPI descriptions:\n" + json.dumps(document),
            "input": "User: Dim the hall to 40.\nGenerate API Request:\n",
            "expected_output": "API-Request: [SetLamp(room='hall', percent='40')]",
        }
        write(f"test-data/level-{level}-api.json", [sample])
    steps = [
        {"api_name": row["api_name"], "input": row["param_dict"], "output": row["result"]} for row in (search, call)
    ]
    write("test-data/level-3.json", [{"requirement": user["text"], "response": "Done.", "apis": steps}])
    inference = {"instruction": "Plan.\n", "input": json.dumps(SEARCH) + "\nUser: ...", "output": ""}
    write("test-data/level-3-batch-inf.json", [{**inference, "sample_id": 0, "api_id": 1}])
    write("training-data/lv3-api-train.json", [])
    write("derived/apis_lv3.json", [])
    return folder


def test_fetched_files_are_played_from_then_on(run: Run, files: Path) -> None:
    assert "apibank: " in ok(run("fetch", "apibank", "--from", files))
    for choice in ("official", "auto"):
        rows = json.loads(ok(run("list", "--json", "--family", "apibank", "--data", choice)))
        assert {(row["tasks"], row["data"]) for row in rows} == {(1, "official")}
        for entry in (entry for entry in ENVIRONMENTS if entry.family == "apibank"):
            summary = last_json(run("eval", entry.id, "--policy", "oracle", "--json", "--data", choice))
            assert (summary["episodes"], summary["data"], summary["return_mean"]) == (1, "official", 1.0)
    assert "official data in" in run("list").stderr
    assert "Dim the hall to 40." in ok(run("show", ID))
    ok(run("fetch", "apibank", "--from", files))  # again, over what is there


def test_files_that_the_benchmark_lacks_are_not_asked_for(run: Run, files: Path) -> None:
    shutil.rmtree(files / "derived")
    ok(run("fetch", "apibank", "--from", files))


def test_a_folder_needs_no_fetch(run: Run, files: Path) -> None:
    summary = last_json(run("eval", ID, "--policy", "oracle", "--json", "--data", files))
    assert (summary["data"], summary["return_mean"]) == ("folder", 1.0)


@pytest.mark.parametrize("harm", ["altered", "missing"])
def test_damage_to_fetched_files_is_noticed(run: Run, files: Path, tmp_path: Path, harm: str) -> None:
    ok(run("fetch", "apibank", "--from", files))
    path = tmp_path / "callgym-cache/apibank/test-data/level-1-api.json"
    if harm == "altered":
        path.write_text(path.read_text(encoding="utf-8").replace("hall", "cellar"), encoding="utf-8")
    else:
        path.unlink()
    error = one_line_error(run("eval", ID, "--policy", "oracle", "--data", "official"))
    assert str(path) in error
    assert harm in error
    assert "callgym fetch apibank --from FOLDER" in error


def test_what_was_fetched_is_said_as_json(run: Run, files: Path) -> None:
    said = last_json(run("fetch", "apibank", "--from", files, "--json"))
    assert list(said) == ["name", "files", "folder", "notes"]
    assert said["files"] == sum(path.is_file() for path in Path(said["folder"]).rglob("*")) - 1  # the manifest


def test_official_scores_are_tables_and_json(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    ok(run("eval", "when2call/mcq-v0", "--policy", "oracle", "--episodes", "4", "--out", out, *STARTER))
    rows = json.loads(ok(run("score", "when2call", out, "--json", *STARTER)))
    text = ok(run("score", "when2call", out, *STARTER))
    plain = [name for name in rows[0] if "confusion" not in name]
    assert [line.split()[0] for line in text.split("\n\n")[0].splitlines()] == plain
    confusion = next(part for part in text.split("\n\n") if part.startswith("mcq: confusion "))
    assert confusion.splitlines()[0].split()[2:] == list(rows[0]["confusion"])


def test_official_files_are_fetched_whole(run: Run, apibank_data: Path) -> None:
    ok(run("fetch", "apibank", "--from", apibank_data))
    rows = json.loads(ok(run("list", "--json", "--family", "apibank", "--data", "official")))
    assert [row["tasks"] for row in rows] == [399, 135, 245]
    # Another benchmark's are not there for that.
    assert "callgym fetch bfcl" in one_line_error(run("list", "--family", "bfcl", "--data", "official"))


# Mistakes.

MISTAKES: list[tuple[tuple[str, ...], str]] = [
    (("show", "apibank/L9-v0"), "no environment 'apibank/L9-v0'; there are: apibank/L1-v0"),
    (("check", "apibank"), "no environment 'apibank'"),
    (("eval", "nothing", "--policy", "oracle"), "no environment 'nothing'"),
    (("train", "nothing", "--model", "m", "--out", "o"), "no environment 'nothing'"),
    (("list", "--data", "/no/such/folder"), "'/no/such/folder' is not a folder"),
    (("list", "--data", "official"), "callgym fetch apibank --from FOLDER"),
    (("eval", ID, "--policy", "oracle", "--data", "/no/such/folder"), "is not a folder"),
    (("check", ID, "--data", "/no/such/folder"), "is not a folder"),
    (("fetch", "apibank", "--from", "/no/such/folder"), "/no/such/folder is not a folder"),
    (("fetch", "bfcl", "--from", "/no/such/folder"), "/no/such/folder is not a folder"),
    (("eval", "bfcl/format_sensitivity-v0", "--policy", "oracle", "--dialect", "hermes", *STARTER), "takes no dialect"),
    (("near-misses", "bfcl/agentic-v0", "--out", "o", *STARTER), "bfcl/agentic-v0 has no task"),
    (("eval", ID, "--policy", "oracle", "--split", "dev", *STARTER), "its splits are: train, test"),
    (("show", ID, "--split", "cv-test", *STARTER), "its splits are: train, test"),
    (("show", ID, "--dialect", "klingon", *STARTER), "klingon"),
    (("show", ID, "--task", "no-such-task", *STARTER), "has no task 'no-such-task'"),
    (("show", ID, "--task", "500", *STARTER), "an index below 500"),
    (("eval", ID, "--policy", "genius", *STARTER), "no policy 'genius'; there are: oracle"),
    (("eval", ID, "--policy", "hf:/no/such/model", *STARTER), "/no/such/model"),
    (("eval", ID, "--policy", "oracle", "--temperature", "1", *STARTER), "temperature"),
    (("train", ID, "--model", "/no/such/model", "--out", "o", *STARTER), "/no/such/model"),
    (("train", ID, "--model", "m", "--out", "o", "--batch", "10", *STARTER), "batch=10 is no multiple of group=8"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES, ids=lambda value: "-".join(value[:4])[:60])
def test_a_mistake_gets_one_line_that_names_it(run: Run, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in one_line_error(run(*arguments))


def test_a_wrong_folder_to_fetch_from_is_named(run: Run, tmp_path: Path) -> None:
    assert "is it the right folder?" in one_line_error(run("fetch", "apibank", "--from", tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", ID, "--policy", "oracle", "--episodes", "0"),
        ("eval", ID, "--policy", "oracle", "--seed", "-1"),
        ("eval", ID),
        ("fetch", "other", "--from", "."),
        ("eval", ID, "--policy", "oracle", "--times"),
        ("perturb", "bfcl/multiple-v0", "{not json"),
        ("dance",),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_wrong_command_gets_click_s_usage(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == click.UsageError.exit_code
    assert "Usage: callgym" in result.stderr
    assert "Traceback" not in result.output


def test_a_bug_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any, **options: Any) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("callgym.rollouts.runner.run_episodes", broken)
    result = run("eval", ID, "--policy", "oracle", *STARTER)
    assert isinstance(result.exception, KeyError)


def test_a_typing_error_is_told_what_is_near(run: Run) -> None:
    assert "Did you mean eval?" in run("evl").stderr
    assert "Did you mean" not in run("dance").stderr


def test_times_are_written_beside_the_episodes(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    ok(run("eval", ID, "--policy", "oracle", "--episodes", "3", "--out", out, "--times", *STARTER))
    assert len(out.with_name("episodes.times.jsonl").read_text(encoding="utf-8").splitlines()) == 3


# What scripts go by.


def test_an_interrupt_ends_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("callgym.rollouts.runner.run_episodes", interrupted)
    result = run("eval", ID, "--policy", "oracle", *STARTER)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "callgym: broken off\n")


def test_episodes_that_could_not_be_played_are_a_no(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any, **options: Any) -> None:
        raise RuntimeError("the tool has\x1b[2J fallen over")

    monkeypatch.setattr("callgym.envs.apibank.env.ApiBankEnv.step", broken)
    command = ("eval", ID, "--policy", "oracle", "--episodes", "2", "--attempts", "1", "--step-seconds", "60", *STARTER)
    result = run(*command, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["errors"]["failed_exception"] == 2
    assert result.stderr.startswith("Error: 2 of 2 episodes could not be played; episode 0: RuntimeError: the tool has")
    assert "\x1b" not in result.stderr


def test_an_environment_that_breaks_the_contract_is_a_no(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgym.envs.apibank.env.ApiBankEnv.oracle_action", lambda env: "I do not know.")
    result = run("check", ID, *STARTER)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{ID}: ")
    assert result.stdout != f"{ID}: ok\n"
    said = json.loads(run("check", ID, "--json", *STARTER).stdout)
    assert (said["id"], said["ok"], bool(said["fault"])) == (ID, False, True)


def test_an_interrupt_while_a_verb_is_imported_ends_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(verb: Verb) -> click.Command:
        raise KeyboardInterrupt

    monkeypatch.setattr(Verb, "command", interrupted)
    monkeypatch.setattr(main, "commands", type(main.commands)())  # that has imported none
    result = run("doctor")
    assert (result.exit_code, result.stderr) == (130, "callgym: broken off\n")


PROGRAM = [sys.executable, "-c", "from callgym.cli import main; main(prog_name='callgym')"]


def test_an_old_locale_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "action.txt").write_text("Gr\u00fc\u00dfe, \u65e5", encoding="utf-8")
    done = subprocess.run(
        [*PROGRAM, "parse", str(tmp_path / "action.txt")],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"words: Gr\xfc\xdfe, \\u65e5\n", b"")


@pytest.mark.parametrize("words", [("show", ID, *STARTER), ("--help",), ("eval", "-h")])
def test_a_reader_that_leaves_is_no_error(words: tuple[str, ...]) -> None:
    command = [*PROGRAM, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before anything is written
        said = process.stderr.read()
    assert said == b""
    assert process.returncode == (130 if words[0] == "show" else 1)  # help is click's own
