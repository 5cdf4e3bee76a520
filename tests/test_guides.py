"""The snippets of the guides run, each as a program of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from callgym.dialects import DIALECTS

ROOT = Path(__file__).resolve().parents[1]
GUIDES = (ROOT / "tool_backends" / "README.md", ROOT / "rollouts" / "README.md")
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def snippets(path: Path) -> list[str]:
    return _BLOCK.findall(path.read_text(encoding="utf-8"))


ALL = [pytest.param(code, id=f"{path.parent.name}-{n}") for path in GUIDES for n, code in enumerate(snippets(path))]


@pytest.mark.parametrize("code", ALL)
def test_a_snippet_runs(code: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for line in re.findall(r"print\(.*\)  # (\S+)$", code, re.MULTILINE):  # what one of them says it prints
        assert line.rstrip(":;,") in done.stdout


def test_the_guide_of_the_dialects_names_each() -> None:
    guide = (ROOT / "callgym" / "dialects" / "README.md").read_text(encoding="utf-8")
    assert [name for name in DIALECTS if f"`{name}`" not in guide and f'"{name}"' not in guide] == []
