"""What runs on GitHub and before a commit: the files can be read, name what exists, and may no more than they need."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

yaml: Any = pytest.importorskip("yaml")  # mkdocs brings it

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
ALL = [*GITHUB.rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]


def read(path: Path) -> Any:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    # To YAML 1.1 the key "on" is a truth value.
    return {"on" if key is True else key: value for key, value in found.items()}


def jobs(workflow: Path) -> Iterator[tuple[str, Any]]:
    for name, job in read(workflow)["jobs"].items():
        yield f"{workflow.name}: {name}", job


def steps(workflow: Path) -> Iterator[tuple[str, Any]]:
    for name, job in jobs(workflow):
        for step in job["steps"]:
            yield name, step


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, GITHUB / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_every_file_can_be_read(path: Path) -> None:
    assert isinstance(read(path), dict)


# Workflows.


def test_each_workflow_starts_when_it_should() -> None:
    starts = {path.name: read(path)["on"] for path in WORKFLOWS}
    assert set(starts) == {"tests.yml", "docs.yml", "release.yml"}
    assert starts["release.yml"] == {"push": {"tags": ["v*"]}}
    for name in ("tests.yml", "docs.yml"):
        assert set(starts[name]) == {"push", "pull_request", "workflow_dispatch"}
        assert starts[name]["push"] == {"branches": ["main"]}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_no_more_than_it_needs(workflow: Path) -> None:
    assert read(workflow)["permissions"] == {"contents": "read"}
    more = {name: job["permissions"] for name, job in jobs(workflow) if "permissions" in job}
    assert (
        more
        == {
            "tests.yml": {},
            "docs.yml": {"docs.yml: publish": {"pages": "write", "id-token": "write"}},
            "release.yml": {
                "release.yml: publish": {"id-token": "write"},
                "release.yml: announce": {"contents": "write"},
            },
        }[workflow.name]
    )
    text = workflow.read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "pull_request_target" not in text
    checkouts = [step for _, step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_no_text_of_others_becomes_a_command(workflow: Path) -> None:
    for name, step in steps(workflow):
        assert "${{" not in step.get("run", ""), f"{name}: give it through env"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_jobs_end(workflow: Path) -> None:
    for name, step in steps(workflow):
        if "uses" in step:
            action, _, version = step["uses"].partition("@")
            assert re.fullmatch(r"v\d+|release/v\d+|[0-9a-f]{40}", version), f"{name}: {action}@{version}"
    for name, job in jobs(workflow):
        assert 0 < job["timeout-minutes"] <= 180, name
        needed = job.get("needs", [])
        known = read(workflow)["jobs"]
        assert all(one in known for one in ([needed] if isinstance(needed, str) else needed)), name


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_runs_is_there(workflow: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name, step in steps(workflow):
        run = step.get("run", "")
        for target in re.findall(r"\bmake ([\w-]+)", run.partition("#")[0]):
            assert target in targets, f"{name}: make {target}"
        for path in re.findall(r"(?:^|\s)((?:\.github|\.ci|docs|benchmarks)/[\w./-]+)", run):
            assert (ROOT / path).is_file(), f"{name}: {path}"
            if path == run.strip():
                assert os.access(ROOT / path, os.X_OK)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_the_commands_of_a_workflow_exist(workflow: Path) -> None:
    from callgym.cli import main

    known = main.list_commands(None)  # type: ignore[arg-type]
    for name, step in steps(workflow):
        for verb in re.findall(r"bin/callgym ([\w-]+)", step.get("run", "")):
            assert verb in known, f"{name}: callgym {verb}"


def test_every_python_that_the_package_names_is_tested_and_no_other() -> None:
    named = {
        line.rpartition(" ")[2]
        for line in project()["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line) is not None
    }
    lowest = project()["requires-python"].removeprefix(">=")
    for workflow in WORKFLOWS:
        for name, job in jobs(workflow):
            matrix = job.get("strategy", {}).get("matrix", {}).get("python")
            assert matrix is None or set(matrix) == named, name
        for name, step in steps(workflow):
            version = step.get("with", {}).get("python-version", "${{")
            assert version.startswith("${{") or version in named, name
    assert lowest in named
    assert min(named, key=lambda version: int(version.partition(".")[2])) == lowest


def test_a_release_is_tried_before_it_is_published_and_published_before_it_is_announced() -> None:
    found = read(GITHUB / "workflows" / "release.yml")["jobs"]
    assert {name: job.get("needs") for name, job in found.items()} == {
        "build": None, "try": "build", "publish": "try", "announce": "publish",
    }  # fmt: skip


# Templates.


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_in_githubs_words(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    identifiers = [part["id"] for part in form["body"]]
    assert len(set(identifiers)) == len(identifiers)
    for part in form["body"]:
        assert part["type"] in ("textarea", "input", "dropdown", "checkboxes", "markdown")
        assert part["attributes"]["label"]
        assert part["type"] not in ("dropdown", "checkboxes") or part["attributes"]["options"]


def test_reports_of_faults_begin_with_the_doctor() -> None:
    for name in ("bug.yml", "wrong_verdict.yml"):
        required = [part["id"] for part in read(GITHUB / "ISSUE_TEMPLATE" / name)["body"] if "validations" in part]
        assert "doctor" in required


# Before a commit.


def test_the_hooks_name_programs_and_files_that_exist() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program, *arguments = hook["entry"].split()
        assert program.startswith(".venv/bin/")
        assert program.removeprefix(".venv/bin/") in ("python", "ruff", "mypy")
        assert all((ROOT / one).is_file() for one in arguments if one.endswith(".py"))
        assert re.compile(hook.get("files", ""))


@pytest.mark.parametrize(
    ("name", "size", "said"),
    [
        ("a.py", 10, None),
        ("a.py", 600_000, "600000 bytes"),
        ("rows.jsonl", 10, "not committed"),
        ("envs/x/test.PARQUET", 10, "not committed"),
        ("tests/conformance/hermes.jsonl", 10, None),
        ("other/tests/conformance/hermes.jsonl", 10, "not committed"),
        ("docs/pictures/a.png", 10, None),
    ],
)
def test_large_files_and_data_are_refused(
    name: str, size: int, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(b"x" * size)
    fault = script("unwanted_files").fault_of(Path(name))
    assert (fault is None) == (said is None)
    assert said is None or said in str(fault)


def test_nothing_unwanted_is_tracked() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in listed.stdout.split("\0") if name]
    if listed.returncode or not names:
        pytest.skip("this is no checkout")
    command = [sys.executable, str(GITHUB / "unwanted_files.py"), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# A release.


def release_in(
    folder: Path, changelog: str, version: str = "1.2.0", package: str = "1.2.0", cited: str = "1.2.0"
) -> Path:
    (folder / "callgym").mkdir()
    (folder / "pyproject.toml").write_text(f'[project]\nname = "callgym"\nversion = "{version}"\n', encoding="utf-8")
    (folder / "callgym" / "__init__.py").write_text(f'__version__ = "{package}"\n', encoding="utf-8")
    (folder / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {cited}\n", encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    return folder


def test_the_notes_of_a_release_are_its_section_of_the_changelog(tmp_path: Path) -> None:
    text = "# Changes\n\n## 1.3.0, not released yet\n\n- c\n\n## 1.2.0, 2027-01-02\n\n- a\n- b\n\n## 1.1.0\n\n- old\n"
    assert script("release_notes").release_notes("v1.2.0", release_in(tmp_path, text)) == "- a\n- b"


@pytest.mark.parametrize(
    ("tag", "changes", "said"),
    [
        ("v1.2.1", {}, "pyproject.toml has the version 1.2.0"),
        ("1.2.0", {}, "the tag is 1.2.0"),
        ("v1.2.0", {"package": "1.1.0"}, "callgym/__init__.py has the version 1.1.0"),
        ("v1.2.0", {"cited": "1.1.0"}, "CITATION.cff has the version 1.1.0"),
        ("v1.2.0", {"changelog": "## 1.1.0\n\n- a\n"}, "no section"),
        ("v1.2.0", {"changelog": "## 1.2.0\n\n## 1.1.0\n\n- a\n"}, "says nothing"),
        ("v1.2.0", {"changelog": "## 1.2.0, not released yet\n\n- a\n"}, "not released yet"),
    ],
)
def test_a_release_whose_parts_disagree_is_refused(
    tag: str, changes: dict[str, str], said: str, tmp_path: Path
) -> None:
    folder = release_in(tmp_path, **{"changelog": "## 1.2.0, 2027-01-02\n\n- a\n", **changes})
    with pytest.raises(ValueError, match=re.escape(said)):
        script("release_notes").release_notes(tag, folder)


def test_the_version_stands_in_every_place_that_a_release_looks_at() -> None:
    version = project()["version"]
    assert read(ROOT / "CITATION.cff")["version"] == version
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_citation_and_the_licence_say_the_same() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "title", "message", "authors", "license", "version", "type"} <= set(citation)
    assert citation["license"] == project()["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
