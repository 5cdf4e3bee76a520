"""What a shell offers: by click's own door, and in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from callgym import ENVIRONMENTS
from callgym.cli import VERBS, main
from callgym.dialects import DIALECTS
from callgym.rewards import RUBRICS

ID = "apibank/L1-v0"


def offered(*words: str) -> list[str]:
    """What may stand in the place of the last word."""
    *before, incomplete = words
    complete = ShellComplete(main, {}, "callgym", "_CALLGYM_COMPLETE")
    return [item.value for item in complete.get_completions(before, incomplete)]


CASES: list[tuple[tuple[str, ...], list[str]]] = [
    (("",), [verb.name for verb in VERBS]),
    (("re",), ["report", "replay", "rescore", "records"]),
    (("eval", ""), [entry.id for entry in ENVIRONMENTS]),
    (("eval", "apibank/"), [entry.id for entry in ENVIRONMENTS if entry.family == "apibank"]),
    (("eval", ID, "--policy", "or"), ["oracle"]),
    (("eval", ID, "--policy", "gold_n"), ["gold_name_empty", "gold_name_wrong"]),
    (("eval", ID, "--policy", "choices"), ["choices:hf:", "choices:openai:"]),
    (("eval", ID, "--policy-in", ""), ["auto", "driver", "worker", "actor"]),
    (("eval", ID, "--dialect", ""), list(DIALECTS)),
    (("eval", ID, "--data", "st"), ["starter"]),
    (("eval", ID, "--set", "ru"), ["rubric="]),
    (("eval", ID, "--set", "rubric=to"), [f"rubric={name}" for name in RUBRICS if name.startswith("to")]),
    (("eval", ID, "--set", "perturb=re"), ["perturb=remove_tool", "perturb=rename"]),
    (("check", ID, "--split", ""), ["test", "train", "cv-train", "cv-test"]),
    (("check", "bfcl/multiple-v0", "--split", ""), ["test", "train"]),
    (("list", "--family", ""), ["apibank", "bfcl", "when2call"]),
    (("parse", "action.txt", "--dialect", "au"), ["auto"]),
    (("rescore", "file", "--rubric", "ex"), ["exact"]),
    (("perturb", "bfcl/multiple-v0", "re"), ["remove_tool", "rename"]),
    (("train", ID, "apibank/L3"), ["apibank/L3-v0"]),
    (("serve", "when2call/m"), ["when2call/mcq-v0"]),
    (("records", ""), ["export", "import", "list", "show"]),
    (("score", ""), ["apibank", "bfcl", "when2call"]),
    (("fetch", "b"), ["bfcl"]),
    (("completion", ""), ["bash", "fish", "zsh"]),
    (("export", "--kind", "p"), ["preference", "process"]),
]


@pytest.mark.parametrize(("words", "expected"), CASES, ids=lambda value: " ".join(value[:4])[:40])
def test_names_are_offered(words: tuple[str, ...], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_options_of_a_verb_are_offered() -> None:
    assert {"--policy", "--episodes", "--json", "--times", "--set"} <= set(offered("eval", "--"))
    assert offered("eval", "--pol") == ["--policy", "--policy-in"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("replay", "some"), "file"),
        (("view", "some"), "file"),
        (("eval", ID, "--data", "some"), "dir"),
        (("eval", ID, "--out", "some"), "file"),
    ],
)
def test_files_are_left_to_the_shell(words: tuple[str, ...], kind: str) -> None:
    (item,) = ShellComplete(main, {}, "callgym", "_CALLGYM_COMPLETE").get_completions(list(words[:-1]), words[-1])
    assert (item.type, item.value) == (kind, words[-1])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_says_where_it_is_kept(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell], prog_name="callgym")
    assert result.exit_code == 0
    first, second, *_ = result.stdout.splitlines()
    assert "To keep it: callgym completion " + shell in (second if shell == "zsh" else first)
    assert first.startswith("#compdef callgym") == (shell == "zsh")
    assert f"_CALLGYM_COMPLETE={shell}_complete" in result.stdout
    assert ("string split --max 1" in result.stdout) == (shell == "fish")


@pytest.fixture
def in_shell(tmp_path: Path) -> Callable[..., list[str]]:
    """Runs a shell, with callgym on its path, and gives the lines that it prints."""
    program = tmp_path / "callgym"
    program.write_text(
        f"#!{sys.executable}\nfrom callgym.cli import main\nmain(prog_name='callgym')\n", encoding="utf-8"
    )
    program.chmod(0o755)

    def run(*command: str) -> list[str]:
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HOME": str(tmp_path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout.splitlines()

    return run


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_a_real_bash_completes(in_shell: Callable[..., list[str]]) -> None:
    script = """
        eval "$(callgym completion bash)"
        complete -p callgym
        ask() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _callgym_completion callgym 2>/dev/null
            echo "${COMPREPLY[@]}"
        }
        ask callgym chec
        ask callgym eval apibank/L1
        ask callgym eval apibank/L1-v0 --policy abst
        ask callgym eval --tim
    """
    head, *answers = in_shell("bash", "--norc", "-c", script)
    assert "_callgym_completion" in head
    assert answers == ["check", "apibank/L1-v0", "abstain", "--times"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not here")
def test_a_real_fish_completes(in_shell: Callable[..., list[str]]) -> None:
    script = """
        callgym completion fish | source
        complete -C "callgym chec"
        complete -C "callgym eval apibank/L3"
        complete -C "callgym eval apibank/L1-v0 --policy abst"
    """
    check, level, policy = in_shell("fish", "--no-config", "-c", script)
    assert check.startswith("check\t")
    assert level == "apibank/L3-v0\tplan, retrieve and call: one requirement, several calls"
    assert policy == "abstain"
