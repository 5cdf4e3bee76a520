"""The documentation site: ``python docs/site.py`` writes its sources to build/docs and builds build/site strictly.

Generated are the pages of environments, gallery and reference, and the tables in the pages that ask for them. That is
done here and not by plugins of mkdocs: the sources are plain files that a test compares byte for byte, the READMEs of
the repository's folders are pages without a copy of them, and nothing needs to be installed but mkdocs-material.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from environment_pages import FAMILIES, environment_pages, environment_table, page_of
from gallery import gallery_pages
from page import PageError, Pages
from reference import GROUPS, reference_index, reference_pages
from tables import dialect_examples, extras_table, rewards_table, rubrics_table, verdicts_table

from callgym.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[1]
_READMES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "tool_backends/README.md": "backends.md",
    "rollouts/README.md": "rollouts.md",
    "callgym/dialects/README.md": "dialects.md",
}
"""Files outside docs/ to the pages that hold them."""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="The site's folder.")
    parser.add_argument("--sources", type=Path, default=ROOT / "build" / "docs", help="The folder of its sources.")
    parser.add_argument("--only-sources", action="store_true", help="Write the sources and stop.")
    given = parser.parse_args()
    try:
        count = write_sources(given.sources)
    except PageError as error:
        print(f"docs: {error}", file=sys.stderr)
        return 1
    print(f"{count} pages in {given.sources}")
    return 0 if given.only_sources else build(given.sources, given.out)


def write_sources(folder: Path) -> int:
    """Write every page's Markdown and what the pages show, and say how many pages there are.

    Raises:
        PageError: A page cannot be made.
    """
    if folder.exists():
        shutil.rmtree(folder)
    pages = {place: text for made in (_written_pages(), _generated_pages()) for place, text in made.items()}
    for place, text in sorted(pages.items()):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("pictures", "assets"):
        shutil.copytree(ROOT / "docs" / name, folder / name)
    return len(pages)


def _generated_pages() -> dict[str, str]:
    return {**environment_pages(), **gallery_pages(dict(FAMILIES)), **reference_pages()}


def _written_pages() -> dict[str, str]:
    """Pages that stand in files: those of docs/, and the families' data cards."""
    places = {**_READMES, **{path.relative_to(ROOT).as_posix(): place for path, place in _in_docs().items()}}
    cards = {f"envs/{family}/README.md": f"environments/{family}/index.md" for family in _families()}
    pages = Pages(ROOT, {**places, **cards}, _tables())
    sources = {place: path.relative_to(ROOT).as_posix() for path, place in _in_docs().items() if path.suffix == ".md"}
    sources.update({place: source for source, place in cards.items()})
    return {place: pages.render(source, place) for place, source in sources.items()}


def _in_docs() -> dict[Path, str]:
    """Every page and picture of docs/ and its place on the site."""
    docs = ROOT / "docs"
    found = [path for kind in ("**/*.md", "pictures/*", "assets/*") for path in docs.glob(kind)]
    return {path: path.relative_to(docs).as_posix() for path in sorted(found)}


def _tables() -> Mapping[str, Callable[[], str]]:
    return {
        "environments": environment_table,
        "extras": lambda: extras_table(ROOT / "pyproject.toml"),
        "rewards": rewards_table,
        "rubrics": rubrics_table,
        "dialects": dialect_examples,
        "verdicts": lambda: verdicts_table(ROOT / "docs" / "figures" / "parity.json"),
        "reference": reference_index,
        "gallery": lambda: "\n".join(f"- [{_title(family)}]({family}.md)" for family in _families()),
    }


def _families() -> list[str]:
    return list(dict.fromkeys(entry.family for entry in ENVIRONMENTS))


def _title(family: str) -> str:
    return FAMILIES.get(family, family)


def build(sources: Path, out: Path) -> int:
    """Build the site strictly and say how many pages it has; 1 where mkdocs has a warning."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort, BuildError

    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # the theme's word on a release that is not out
    counted = _Counted()
    logging.getLogger("mkdocs").addHandler(counted)
    options: dict[str, Any] = {"docs_dir": str(sources), "site_dir": str(out), "strict": True}
    config = load_config(str(ROOT / "mkdocs.yml"), **options)
    config.nav = _nav(config.nav or [])
    try:
        build_site(config)
    except (Abort, BuildError) as error:
        print(f"docs: {error}", file=sys.stderr)
        return 1
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{pages} HTML pages in {out}, {counted.warnings} warnings")
    return 0


class _Counted(logging.Handler):
    """Shows and counts what mkdocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.warnings = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self.warnings += 1
        print(f"docs: {record.getMessage()}", file=sys.stderr)


def _nav(given: list[Any]) -> list[Any]:
    """The nav of mkdocs.yml with the pages that are made, each below the index of its part."""
    made: dict[str, list[Any]] = {
        "environments/index.md": [
            {_title(family): [f"environments/{family}/index.md", *_pages_of(family)]} for family in _families()
        ],
        "gallery/index.md": [{_title(family): f"gallery/{family}.md"} for family in _families()],
        "reference/index.md": [{title: f"reference/{page}.md"} for page, (title, _) in GROUPS.items()],
    }
    nav = []
    for part in given:
        ((title, entries),) = part.items()
        nav.append({title: [*entries, *(one for entry in entries for one in made.get(str(entry), []))]})
    return nav


def _pages_of(family: str) -> list[dict[str, str]]:
    return [{entry.id.partition("/")[2]: page_of(entry)} for entry in ENVIRONMENTS if entry.family == family]


if __name__ == "__main__":
    sys.exit(main())
