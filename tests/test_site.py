"""The documentation site: its sources are the same at every making, hold every id, and build strictly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from callgym.dialects import DIALECTS
from callgym.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[1]
MACHINE = re.compile(r" at 0x[0-9a-f]{6,}|(?<![\w.])/(?:home|root|tmp|work)/")
"""What differs from machine to machine."""


def make(*words: str | Path, seed: str = "0", folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "docs" / "site.py"), *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "sources"
    done = make("--only-sources", "--sources", folder)
    assert done.returncode == 0, done.stderr
    return folder


def pages(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}


@pytest.mark.slow
def test_the_sources_are_the_same_at_every_making(sources: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert make("--only-sources", "--sources", again, seed="1", folder=tmp_path).returncode == 0
    first, second = pages(sources), pages(again)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert {name: found for name, text in first.items() if (found := MACHINE.findall(text))} == {}


def test_every_id_has_a_page_and_an_entry_in_the_gallery(sources: Path) -> None:
    found = pages(sources)
    for entry in ENVIRONMENTS:
        page = found[f"environments/{entry.id}.md"]
        assert page.startswith(f"# `{entry.id}`\n")
        assert "## Reward" in page
        assert "| `data` | `'auto'` |" in page
        gallery = found[f"gallery/{entry.family}.md"]
        (shown,) = re.findall(rf"^## `{entry.id}` .*?(?=^## |\Z)", gallery, re.DOTALL | re.MULTILINE)
        assert "task " in shown
        assert shown.count("??? example") == 2
        assert "return 1.000" in shown  # the oracle's
        assert f"[`{entry.id}`]({entry.id}.md)" in found["environments/index.md"]


def test_the_tables_name_everything_that_is_registered(sources: Path) -> None:
    found = pages(sources)
    rows = found["rewards.md"]
    # Asked of a new process: other tests register rewards of their own in this one.
    ask = (
        "import json; from callgym.rewards import RUBRICS, reward_names; print(json.dumps([*reward_names(), *RUBRICS]))"
    )
    names = json.loads(subprocess.check_output([sys.executable, "-c", ask]))
    assert len(names) > 20
    assert [name for name in names if f"| `{name}`" not in rows] == []
    assert [name for name in DIALECTS if f"### `{name}`" not in found["dialects.md"]] == []


def test_the_verdicts_are_those_of_the_figures(sources: Path) -> None:
    suites = json.loads((ROOT / "docs" / "figures" / "parity.json").read_text(encoding="utf-8"))["suites"]
    page = pages(sources)["verdicts.md"]
    assert suites
    for name, suite in suites.items():
        assert f"| `{name}` | {suite['total']:,} | {suite['agree']:,} | `{suite['command']}` |" in page
        part = page.partition(f"### `{name}`")[2]
        for file in suite["files"]:
            assert f"| {file['file']} | {file['cases']:,} | {file['agree']:,} |" in part
    typed = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    assert re.findall(r"\d{2,}", typed) == []


class _Loaded(HTMLParser):
    """What a page loads by itself: scripts, styles, pictures, frames."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video", "embed"):
            self.urls.append(given.get("src") or "")
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.urls.append(given.get("href") or "")


@pytest.mark.slow
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material")
    out, folder = tmp_path / "site", tmp_path / "sources"
    done = make("--sources", folder, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "0 warnings" in done.stdout
    built = {path.relative_to(out).with_suffix("").as_posix() for path in out.rglob("*.html")}
    assert built == {name.removesuffix(".md") for name in pages(folder)} | {"404"}
    home = (out / "index.html").read_text(encoding="utf-8")
    assert "search" in home
    for path in out.rglob("*.html"):
        reader = _Loaded()
        reader.feed(path.read_text(encoding="utf-8"))
        assert [url for url in reader.urls if re.match(r"(https?:)?//", url)] == [], path
    for path in out.rglob("*.css"):
        assert re.findall(r"url\([\"']?(?:https?:)?//[^)]*\)|@import", path.read_text(encoding="utf-8")) == [], path


def test_a_link_that_leads_nowhere_names_its_line(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        f"sys.path.insert(0, {str(ROOT / 'docs')!r})\n"
        "from page import PageError, Pages\n"
        "root = Path('.')\n"
        "(root / 'a.md').write_text('# A\\n\\nSee [b](b.md).\\n')\n"
        "try:\n"
        "    Pages(root, {}, {}).render('a.md', 'a.md')\n"
        "except PageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "a.md, line 3: b.md is not there\n", done.stderr
