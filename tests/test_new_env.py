"""``callgym new-env``: what it writes is green at once, under any name; a bad name is refused with a reason."""

from __future__ import annotations

import ast
import contextlib
import json
import keyword
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from callgym.errors import ConfigurationError
from callgym.new_env import (
    LONGEST_NAME,
    Family,
    FamilyProtocol,
    find_checkout,
    pyproject_lines,
    registry_lines,
    write_in_tree,
    write_package,
)
from callgym.new_env_commands import new_env
from callgym.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[1]
PROTOCOLS: tuple[FamilyProtocol, ...] = ("single", "dialogue")
LONG = "w" * LONGEST_NAME
NAMES = ("q", "my_bench", "b2", "zz9_top", LONG)
ROOMS = ("callgym", "envs", "rewards", "tool_backends", "rollouts", "trainers", "viewer", "reports")
SECTIONS = (
    "What it is", "Citation", "Licence", "Counts and splits", "Protocols and arguments", "Data", "Starter tasks",
    "Rewards", "Official scores and parity", "Label faults", "Gameable scorers", "Baselines", "Speed",
    "Training data", "Limits",
)  # fmt: skip


def run(folder: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def called(*arguments: str) -> Result:
    return CliRunner().invoke(new_env, list(arguments))


def checkout_in(folder: Path) -> Path:
    """A copy of this repository's code, with the links between its rooms."""
    checkout = folder / "checkout"
    for room in ROOMS:
        shutil.copytree(ROOT / room, checkout / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    (checkout / "tests").mkdir()
    for name in ("pyproject.toml", "tests/conftest.py", "README.md"):
        shutil.copyfile(ROOT / name, checkout / name)
    return checkout


def add_lines(path: Path, before: str, lines: list[str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    added = "".join(f"    {line}\n" for line in lines)
    path.write_text(text.replace(before, added + before), encoding="utf-8")


# What is written.


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", NAMES)
def test_a_package_is_as_ruff_wants_it_whatever_its_name(name: str, protocol: FamilyProtocol, tmp_path: Path) -> None:
    folder = tmp_path / name
    written = write_package(Family.of(name, protocol), folder)
    assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
    run(folder, "ruff", "check", "--no-cache", ".")
    run(folder, "ruff", "format", "--no-cache", "--check", ".")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["name"] == name.replace("_", "-")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", NAMES)
def test_a_family_in_the_tree_is_as_ruff_wants_it(name: str, protocol: FamilyProtocol, tmp_path: Path) -> None:
    (tmp_path / "callgym").mkdir()
    for file in ("pyproject.toml", "callgym/registry.py"):
        shutil.copyfile(ROOT / file, tmp_path / file)
    family = Family.of(name, protocol)
    write_in_tree(family, tmp_path)
    add_lines(tmp_path / "callgym" / "registry.py", ')\n"""All ids that CallGym registers."""', registry_lines(family))
    run(tmp_path, "ruff", "check", "--no-cache", ".")
    run(tmp_path, "ruff", "format", "--no-cache", "--check", ".")


def test_the_tests_of_a_fresh_package_pass(tmp_path: Path) -> None:
    folder = tmp_path / "my_bench"
    assert called("my_bench", "--out", str(folder)).exit_code == 0
    assert "26 passed" in run(folder, "pytest", "-p", "no:cacheprovider")


@pytest.mark.slow
def test_the_tests_of_a_fresh_dialogue_pass(tmp_path: Path) -> None:
    folder = tmp_path / LONG
    assert called(LONG, "--out", str(folder), "--protocol", "dialogue").exit_code == 0
    assert "26 passed" in run(folder, "pytest", "-p", "no:cacheprovider")


@pytest.mark.slow
def test_a_fresh_package_is_strictly_typed(tmp_path: Path) -> None:
    for protocol in PROTOCOLS:
        folder = tmp_path / protocol
        write_package(Family.of("my_bench", protocol), folder)
        # As installed, callgym's own lines are none of the package's business.
        options = ("--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"))
        assert "no issues found in 6 source files" in run(folder, "mypy", *options, MYPYPATH=str(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_family_in_the_tree_is_green_with_the_lines_that_are_printed(protocol: str, tmp_path: Path) -> None:
    checkout = checkout_in(tmp_path)
    made = called("my_bench", "--in-tree", "--out", str(checkout), "--protocol", protocol, "--json")
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    add_lines(checkout / "callgym" / "registry.py", ')\n"""All ids that CallGym registers."""', found["registry"])
    add_lines(checkout / "pyproject.toml", '    "callgym.envs.when2call",\n', found["pyproject"])
    where = {"PYTHONPATH": str(checkout)}
    assert "26 passed" in run(checkout, "pytest", "-p", "no:cacheprovider", "tests/test_my_bench.py", **where)
    script = "import callgym, gymnasium; print(callgym.__file__, gymnasium.make('my_bench/base-v0', data='starter'))"
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(checkout))
    packages = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "packages"
    ]
    assert "callgym.envs.my_bench" in packages


def test_a_fresh_environment_is_registered_by_its_import_and_played(tmp_path: Path) -> None:
    write_package(Family.of("my_bench", "dialogue"), tmp_path / "my_bench")
    out = tmp_path / "human.jsonl"
    source = {"PYTHONPATH": str(tmp_path / "my_bench" / "src")}
    code = "import sys; from callgym.{0}_commands import {0}; {0}(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code.format("play"), "my_bench/base-v0", "--import", "my_bench", "--out", str(out)],
        env={**os.environ, **source},
        input='/call Count {"item": "hinges"}\n/say There you are.\n/quit\n',
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "in_stock" in done.stdout
    assert "fetch" not in done.stderr  # its own default is its starter tasks
    again = [sys.executable, "-c", code.format("replay"), str(out), "--import", "my_bench"]
    done = subprocess.run(again, env={**os.environ, **source}, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_data_card_has_the_sections_that_every_card_has(tmp_path: Path) -> None:
    write_package(Family.of("my_bench"), tmp_path / "my_bench")
    card = (tmp_path / "my_bench" / "README.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## ") for line in card.splitlines() if line.startswith("## ")] == list(SECTIONS)


def test_what_is_printed_says_what_comes_next(tmp_path: Path) -> None:
    package = called("my_bench", "--out", str(tmp_path / "my_bench"))
    assert "callgym play my_bench/base-v0 --import my_bench" in package.output
    checkout = tmp_path / "checkout"
    (checkout / "envs").mkdir(parents=True)
    (checkout / "envs" / "base.py").touch()
    (checkout / "pyproject.toml").write_text('[project]\nname = "callgym"\n', encoding="utf-8")
    inside = called("my_bench", "--in-tree", "--out", str(checkout))
    assert inside.exit_code == 0, inside.output
    for line in (*registry_lines(Family.of("my_bench")), *pyproject_lines(Family.of("my_bench"))):
        assert f"    {line}\n" in inside.output
    assert sorted(path.name for path in checkout.rglob("*") if path.is_file()) == [
        "README.md", "__init__.py", "base.py", "env.py", "pyproject.toml", "starter.py", "tasks.py", "test_my_bench.py",
        "tools.py",
    ]  # fmt: skip


# Names, and places that are taken.


@given(st.from_regex(r"[a-z][a-z0-9]*(_[a-z0-9]+){0,3}", fullmatch=True), st.sampled_from(PROTOCOLS))
def test_a_name_that_is_taken_gives_code(tmp_path_factory: pytest.TempPathFactory, name: str, protocol: Any) -> None:
    try:
        family = Family.of(name, protocol)
    except ConfigurationError:
        assert len(name) > LONGEST_NAME or keyword.iskeyword(name) or keyword.issoftkeyword(name) or name in (
            *sys.stdlib_module_names, "test", "tests", "src", "callgym", "base", "played", "perturbations",
            *(entry.family for entry in ENVIRONMENTS),
        )  # fmt: skip
        return
    assert family.class_name.isidentifier()
    folder = tmp_path_factory.mktemp("new") / "family"
    for path in write_in_tree(family, folder):
        text = path.read_text(encoding="utf-8")
        assert "@" not in text.replace("@pytest", "").replace("@cache", "").replace("@misc", "")
        if path.suffix == ".py":
            ast.parse(text)


@given(st.text(max_size=40))
def test_any_other_name_is_refused(name: str) -> None:
    with contextlib.suppress(ConfigurationError):
        family = Family.of(name)
        assert family.name.isidentifier()
        assert family.name.isascii()
        assert family.name == family.name.lower()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My", "lower-case"),
        ("my-bench", "lower-case"),
        ("my bench", "lower-case"),
        ("2fast", "begins with a letter"),
        ("_my", "begins with a letter"),
        ("my__bench", "single underscores"),
        ("my_", "single underscores"),
        ("", "lower-case"),
        ("é", "lower-case"),
        ("../escape", "lower-case"),
        ("a\n", "lower-case"),
        ("{{7*7}}", "lower-case"),
        ("class", "Python's own"),
        ("match", "Python's own"),
        ("json", "Python has a module"),
        ("tests", "Python has a module"),
        ("callgym", "taken"),
        ("apibank", "taken"),
        ("perturbations", "taken"),
        ("base", "taken"),
        ("x" * (LONGEST_NAME + 1), "at most"),
    ],
)
def test_a_bad_name_is_refused_with_a_reason(name: str, said: str, tmp_path: Path) -> None:
    result = called("--out", str(tmp_path / "new"), "--", name)
    assert result.exit_code == 3
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_can_be_imported_is_refused(tmp_path: Path) -> None:
    result = called("numpy", "--out", str(tmp_path / "new"))
    assert result.exit_code == 3
    assert "can be imported already" in result.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("taken", ["folder", "file", "dangling link"])
def test_nothing_that_exists_is_written_over(taken: str, tmp_path: Path) -> None:
    place = tmp_path / "my_bench"
    if taken == "folder":
        place.mkdir()
    elif taken == "file":
        place.write_text("mine", encoding="utf-8")
    else:
        place.symlink_to(tmp_path / "nowhere")
    result = called("my_bench", "--out", str(place))
    assert result.exit_code == 3
    assert "exists already" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my_bench"]


@pytest.mark.parametrize("taken", ["envs/my_bench/env.py", "tests/test_my_bench.py"])
def test_nothing_in_a_checkout_is_written_over(taken: str, tmp_path: Path) -> None:
    (tmp_path / taken).parent.mkdir(parents=True)
    (tmp_path / taken).touch()
    with pytest.raises(ConfigurationError, match="exists already"):
        write_in_tree(Family.of("my_bench"), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / taken]


def test_a_checkout_is_found_from_inside_it_and_nowhere_else(tmp_path: Path) -> None:
    assert find_checkout(ROOT / "rewards") == ROOT
    (tmp_path / "pyproject.toml").write_text("[broken", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="in no checkout"):
        find_checkout(tmp_path)
    assert called("my_bench", "--in-tree", "--out", str(tmp_path)).exit_code == 3
