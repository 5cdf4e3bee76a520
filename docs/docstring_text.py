"""A docstring as Markdown: sections become lists, ``::`` opens code, double backticks single ones."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence

__all__ = ["as_markdown", "cell", "first_sentence"]

_SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|Note|Example):")
_NAMED = re.compile(r"([*\w.]+(?: \([^)]*\))?): (.*)")


def as_markdown(text: str) -> str:
    """The docstring's text; what is in no known form stays as it is written."""
    return "\n".join(_lines(inspect.cleandoc(text).splitlines())).strip()


def first_sentence(text: str) -> str:
    """The first paragraph in one line, with single backticks."""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split()).replace("``", "`").removesuffix("::")


def cell(text: str) -> str:
    """The text as a cell of a table."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("``", "`"))
    return "".join(part if part.startswith("`") else part.replace("|", "\\|") for part in parts)


def _lines(lines: Sequence[str]) -> Iterator[str]:
    rest = list(lines)
    while rest:
        line = rest.pop(0)
        if (section := _SECTION.fullmatch(line)) is not None:
            block = []
            while rest and (not rest[0] or rest[0].startswith(" ")):
                block.append(rest.pop(0))
            yield from _section(section[1], block)
        elif line.endswith("::"):
            yield _words(line[:-1])
            yield ""
            while rest and (not rest[0] or rest[0].startswith(" ")):
                yield rest.pop(0)
            yield ""
        elif line.startswith((">>> ", "... ")):
            yield f"    {line}"
        else:
            yield _words(line)


def _section(title: str, block: Sequence[str]) -> Iterator[str]:
    yield f"**{title}**"
    yield ""
    for item in _items(block):
        named = _NAMED.fullmatch(item)
        yield f"- `{named[1]}`: {_words(named[2])}" if named is not None else f"- {_words(item)}"
    yield ""


def _items(block: Sequence[str]) -> list[str]:
    """The entries of a section: a deeper line goes on with the one before it."""
    items: list[str] = []
    plain = bool(block) and not any(_NAMED.fullmatch(line.strip()) for line in block)
    for line in (line for line in block if line.strip()):
        if items and (plain or line.startswith("     ")):
            items[-1] = f"{items[-1]} {line.strip()}"
        else:
            items.append(line.strip())
    return items


def _words(line: str) -> str:
    """Names with stars and underscores are no emphasis, tags no HTML."""
    return re.sub(r"<(?=[A-Za-z/!])", "&lt;", line.replace("``", "`")) if "`" not in line else line.replace("``", "`")
