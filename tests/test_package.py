"""The package: what is shipped, what importing it costs, and what must never stand in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("envs", "rewards", "tool_backends", "rollouts", "trainers", "viewer", "reports")
HEAVY = ("torch", "ray", "transformers", "trl", "matplotlib", "httpx", "datasets", "accelerate", "scipy", "pandas",
         "mcp", "mcp_types", "starlette", "uvicorn", "pydantic_monty")  # fmt: skip


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def folders_with_code() -> dict[str, Path]:
    """Package name to folder, for every folder with Python files; links are the other rooms seen again."""
    found = {}
    for top in ("callgym", *ROOMS):
        name = top if top == "callgym" else f"callgym.{top}"
        for path in [ROOT / top, *sorted((ROOT / top).rglob("*"))]:
            relative = path.relative_to(ROOT / top)
            steps = [
                ROOT / top,
                *(ROOT / top / part for part in [*reversed(relative.parents), relative] if part != Path()),
            ]
            if not path.is_dir() or any(step.is_symlink() for step in steps) or "__pycache__" in path.parts:
                continue
            if any(path.glob("*.py")):
                found[".".join([name, *relative.parts])] = path
    return found


def shipped_files() -> list[Path]:
    return sorted(file for folder in folders_with_code().values() for file in folder.glob("*.py"))


def test_the_list_of_packages_is_the_folders_on_disk(project: dict[str, Any]) -> None:
    packages = project["tool"]["setuptools"]["packages"]
    found = folders_with_code()
    assert sorted(packages) == sorted(found)
    assert len(packages) == len(set(packages))
    assert all((folder / "__init__.py").is_file() for folder in found.values())


def test_every_room_is_mapped_and_linked(project: dict[str, Any]) -> None:
    mapped = project["tool"]["setuptools"]["package-dir"]
    assert mapped == {"callgym": "callgym", **{f"callgym.{room}": room for room in ROOMS}}
    for room in ROOMS:
        link = ROOT / "callgym" / room
        assert link.is_symlink()
        assert str(link.readlink()) == f"../{room}"


def test_the_package_says_that_it_is_typed(project: dict[str, Any]) -> None:
    assert (ROOT / "callgym" / "py.typed").is_file()
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["*"]


def test_the_core_needs_little(project: dict[str, Any]) -> None:
    needed = {re.split(r"[<>=!~\[ ;]", line)[0] for line in project["project"]["dependencies"]}
    assert {"gymnasium", "numpy", "pydantic"} <= needed
    assert len(needed) <= 6
    assert needed.isdisjoint(HEAVY)


def run_python(code: str) -> str:
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_importing_callgym_imports_nothing_heavy() -> None:
    loaded = run_python("import sys, callgym; print(*sorted(sys.modules))").split()
    assert "callgym" in loaded
    assert [name for name in HEAVY if name in loaded] == []
    assert not any(name.startswith("callgym.envs.") for name in loaded)


def test_playing_an_episode_imports_nothing_heavy_either() -> None:
    code = (
        "import sys, gymnasium, callgym\n"
        "env = gymnasium.make('apibank/L1-v0', data='starter')\n"
        "env.reset(seed=0); env.step(env.unwrapped.oracle_action())\n"
        "print(*sorted(sys.modules))"
    )
    loaded = run_python(code).split()
    assert [name for name in HEAVY if name in loaded] == []


def test_everything_in_all_exists() -> None:
    import importlib

    import callgym

    for name in ("callgym", "callgym.rewards", "callgym.dialects", "callgym.tool_backends", "callgym.data"):
        module = importlib.import_module(name)
        assert [entry for entry in module.__all__ if not hasattr(module, entry)] == []
    assert callgym.__version__


def test_the_versions_agree(project: dict[str, Any]) -> None:
    import callgym

    assert project["project"]["version"] == callgym.__version__


# What must never stand in shipped code.

BARRED_CALLS = {
    "eval", "exec", "compile", "__import__", "pickle.loads", "pickle.load", "cloudpickle.loads", "cloudpickle.load",
    "dill.loads", "yaml.load", "os.system", "os.popen", "ast.literal_eval",
}  # fmt: skip
BARRED_NAMES = {"utils", "helpers", "common", "misc"}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def barred(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            if name in BARRED_CALLS:
                yield node.lineno, name
            for keyword in node.keywords:
                is_false = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg == "shell" and not is_false:
                    yield node.lineno, "shell="
                if keyword.arg == "trust_remote_code" and not is_false:
                    yield node.lineno, "trust_remote_code="
        if isinstance(node, ast.ImportFrom) and node.module in ("pickle", "cloudpickle", "dill"):
            yield node.lineno, f"from {node.module}"


# A worker of the code sandbox runs a policy's programs, in a process that has shut itself in before; nobody imports it.
RUNS_PROGRAMS = ROOT / "tool_backends" / "sandbox" / "child.py"
RAY = ROOT / "rollouts" / "ray"  # a driver and its workers pickle for each other, as Ray itself does; texts are values


def test_nobody_imports_the_program_of_a_sandbox_worker() -> None:
    assert [path for path in shipped_files() if "sandbox.child" in path.read_text(encoding="utf-8")] == []


def test_text_never_becomes_code() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in shipped_files()
        for line, what in barred(ast.parse(path.read_text(encoding="utf-8")))
        if not (path == RUNS_PROGRAMS and what in {"compile", "exec", "eval"})
        and not (path.parent == RAY and what == "pickle.loads")
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    ["eval('1')", "exec(x)", "pickle.loads(x)", "subprocess.run(x, shell=True)", "run(x, shell=flag)", "os.system(x)",
     "from pickle import loads"],
)  # fmt: skip
def test_the_search_for_barred_calls_finds_them(code: str) -> None:
    assert list(barred(ast.parse(code)))


def test_no_module_is_called_by_what_it_is_not() -> None:
    assert [path for path in shipped_files() if path.stem in BARRED_NAMES] == []


def test_user_errors_are_not_assertions() -> None:
    """``assert`` states what the code around it guarantees; wrong input raises an error of its own."""
    for path in shipped_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert):
                assert node.msg is None, f"{path.relative_to(ROOT)}:{node.lineno}"


def layers() -> dict[str, set[str]]:
    """Room to the rooms it may import, from the architecture."""
    return {
        "dialects": set(),
        "rewards": set(),
        "tool_backends": set(),
        "envs": {"rewards", "tool_backends"},
        "rollouts": {"envs", "rewards", "tool_backends"},
    }


@pytest.mark.parametrize("room", layers())
def test_rooms_import_only_what_they_may(room: str) -> None:
    folder = ROOT / "callgym" / room if room == "dialects" else ROOT / room
    known = {*ROOMS}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                parts = module.split(".")
                if parts[0] == "callgym" and len(parts) > 1 and parts[1] in known - {room}:
                    assert parts[1] in layers()[room], f"{path.relative_to(ROOT)} imports {module}"
