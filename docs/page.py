"""A page of the site from a Markdown file of the repository: files are included, tables made, links led to the site.

A line that is only a link titled "include" stands for the file: ``[label](../rollouts/README.md "include")``. Markdown
goes in as it is, other files as code. A line ``<!-- generate: rewards -->`` stands for a table that is made.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PageError", "Pages", "fenced"]

_INCLUDE = re.compile(r'\[[^\]]*\]\((\S+) "include"\)')
_GENERATE = re.compile(r"<!-- generate: ([a-z_ ]+) -->")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|`[^`]*`)*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(`+)(?:.+?)\1")
_LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", ".yml": "yaml"}


class PageError(Exception):
    """A page cannot be made; the message names file and line."""


def fenced(text: str, language: str = "text") -> str:
    """The text as a block of code, whatever it holds: the fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


@dataclass(frozen=True, slots=True)
class Pages:
    """How files of the repository become pages."""

    root: Path
    """The repository."""
    places: Mapping[str, str]
    """File of the repository to its page, both relative and with slashes: ``rollouts/README.md`` to ``rollouts.md``."""
    tables: Mapping[str, Callable[[], str]]
    """What ``generate`` lines stand for, as Markdown."""

    def render(self, source: str, page: str) -> str:
        """The Markdown of ``page`` from the file ``source``.

        Raises:
            PageError: A file or table is not there, or a link leads nowhere.
        """
        lines = list(self._lines(source, page))
        return "\n".join(lines).rstrip() + "\n"

    def _lines(self, source: str, page: str) -> Iterator[str]:
        fence = ""
        for number, line in enumerate(self._read(source).splitlines(), 1):
            mark = _FENCE.match(line)
            if mark is not None and not fence:
                fence = mark[1]
            elif fence:
                fence = "" if line.strip() == fence else fence
            elif (made := self._special(line, source, page, number)) is not None:
                yield made
                continue
            else:
                yield self._with_links(line, source, page, number)
                continue
            yield line

    def _special(self, line: str, source: str, page: str, number: int) -> str | None:
        """What a line stands for that includes or generates; None for any other line."""
        if (include := _INCLUDE.fullmatch(line)) is not None:
            return self._included(_below(source, include[1]), page)
        if (generate := _GENERATE.fullmatch(line)) is not None:
            if generate[1] not in self.tables:
                raise PageError(f"{source}, line {number}: nothing makes {generate[1]!r}")
            return self.tables[generate[1]]()
        return None

    def _included(self, source: str, page: str) -> str:
        if source.endswith(".md"):
            return self.render(source, page).rstrip()
        return fenced(self._read(source), _LANGUAGES.get(Path(source).suffix, "text"))

    def _with_links(self, line: str, source: str, page: str, number: int) -> str:
        if line.startswith("|") and "\\|" in line:
            # GitHub wants bars escaped in code in a table, the site's Markdown shows the backslash.
            line = _CODE.sub(lambda match: match[0].replace("\\|", "|"), line)
        if line.startswith("    ") or "](" not in line:  # the first is code, or part of a list that has no links yet
            return line
        spans = [match.span() for match in _CODE.finditer(line)]

        def lead(match: re.Match[str]) -> str:
            if any(start < match.start() < end for start, end in spans):
                return match[0]
            return self._link(match, source, page, number)

        return _LINK.sub(lead, line)

    def _link(self, match: re.Match[str], source: str, page: str, number: int) -> str:
        picture, label, target = match.groups()
        path, hash, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match[0]
        file = _below(source, path)
        if not (self.root / file).exists():
            raise PageError(f"{source}, line {number}: {target} is not there")
        if file in self.places:
            to = posixpath.relpath(self.places[file], posixpath.dirname(page) or ".")
            return f"{picture}[{label}]({to}{hash}{anchor})"
        # No page holds it: a reader of the site finds it in the repository.
        return label if file in label else f"{label} (`{file}`)"

    def _read(self, source: str) -> str:
        path = self.root / source
        if not path.is_file():
            raise PageError(f"{source} is not there, and a page needs it")
        return path.read_text(encoding="utf-8")


def _below(source: str, path: str) -> str:
    """A link's path from the repository's root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
