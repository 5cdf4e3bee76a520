"""Pages of the documentation site: what a line of one becomes, which files are pages, and what stops a build."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callgym.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def load(name: str) -> ModuleType:
    """A program of docs/: they find one another by their folder, and Python has a `site` of its own."""
    if name != "site" and name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if name != "site":
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    yield load("site")
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def sources(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "old.md").write_text("of an earlier making", encoding="utf-8")
    site.write_sources(folder)
    return folder


def texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}


def in_nav(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
        return
    for entry in nav.values() if isinstance(nav, dict) else nav:
        yield from in_nav(entry)


def test_the_nav_has_every_page_once(site: ModuleType, sources: Path) -> None:
    config = pytest.importorskip("mkdocs.config").load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(sources))
    assert sorted(in_nav(site._nav(config.nav))) == sorted(texts(sources))


FAMILIES = dict.fromkeys(entry.family for entry in ENVIRONMENTS)


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("CONTRIBUTING.md", "contributing.md"),
        ("CHANGELOG.md", "changelog.md"),
        ("rollouts/README.md", "rollouts.md"),
        ("tool_backends/README.md", "backends.md"),
        ("callgym/dialects/README.md", "dialects.md"),
        *((f"envs/{family}/README.md", f"environments/{family}/index.md") for family in FAMILIES),
    ],
)
def test_a_file_of_the_repository_is_a_page(source: str, page: str, sources: Path) -> None:
    heads = re.findall(r"^## .+$", (ROOT / source).read_text(encoding="utf-8"), re.MULTILINE)
    assert heads
    assert [head for head in heads if head not in texts(sources)[page]] == []


def test_nothing_is_left_to_include_or_generate(sources: Path) -> None:
    left = re.compile(r"^<!-- generate:|^\[.*\"include\"\)$", re.MULTILINE)
    assert [place for place, text in texts(sources).items() if left.search(text)] == []


def test_a_ranker_that_disagrees_is_on_the_page_of_verdicts(sources: Path) -> None:
    assert re.search(r"BM25, some searches find another tool: [\d,]+ of [\d,]+ agree", texts(sources)["verdicts.md"])


def rendered(folder: Path, text: str) -> str:
    for name, content in {"a.md": text, "b.md": "# B", "c.py": "x = '```'"}.items():
        (folder / name).write_text(content, encoding="utf-8")
    pages = load("page").Pages(folder, {"a.md": "sub/a.md", "b.md": "b.md"}, {"table": lambda: "| x |"})
    made: str = pages.render("a.md", "sub/a.md")
    return made


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('[b](b.md "include")', "# B"),
        ('[c](c.py "include")', "````python\nx = '```'\n````"),
        ("<!-- generate: table -->", "| x |"),
        ("see [b](b.md#head)", "see [b](../b.md#head)"),
        ("see [c](c.py)", "see c (`c.py`)"),
        ("see [`c.py`](c.py)", "see `c.py`"),
        ("see `[b](b.md)`", "see `[b](b.md)`"),
        ("```text\n[b](b.md)\n```", "```text\n[b](b.md)\n```"),
        ("[x](https://example.org) [y](#here)", "[x](https://example.org) [y](#here)"),
    ],
)
def test_what_a_line_becomes(text: str, shown: str, tmp_path: Path) -> None:
    assert rendered(tmp_path, text) == f"{shown}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n[b](gone.md)", "a.md, line 2: gone.md is not there"),
        ("<!-- generate: gone -->", "a.md, line 1: nothing makes 'gone'"),
        ('[b](gone.md "include")', "gone.md is not there"),
    ],
)
def test_a_page_that_cannot_be_made_says_where(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(load("page").PageError, match=re.escape(said)):
        rendered(tmp_path, text)


@pytest.mark.parametrize("content", ["[1]", '{"suites": [1], "apibank_with_bm25": {}}', "{", '{"suites": {"a": {}}}'])
def test_figures_of_another_shape_are_named(content: str, site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(content, encoding="utf-8")
    with pytest.raises(load("page").PageError, match=r"odd\.json has another shape .*figures\.py writes it"):
        load("tables").verdicts_table(tmp_path / "odd.json")


def test_figures_that_are_not_there_are_named(site: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(load("page").PageError, match=r"gone\.json is not there"):
        load("tables").verdicts_table(tmp_path / "gone.json")


def test_a_warning_fails_the_build(
    site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("material")
    monkeypatch.setattr(site, "_nav", lambda nav: ["index.md"])
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[x](gone.md)\n", encoding="utf-8")
    assert site.build(tmp_path / "docs", tmp_path / "site") == 1
    assert "gone.md" in capsys.readouterr().err
