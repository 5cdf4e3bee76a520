"""A report as Markdown with GitHub's tables. Whatever a name holds, it is text: nothing in it is markup or a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from callgym.reports.document import Block, Cell, Document, Facts, Heading, Notes, Paragraph, Picture, Table
from callgym.terminal import one_line

__all__ = ["as_markdown", "escaped"]

_MARKUP = re.compile(r"[\\`*{}\[\]#|~$@]")
_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LINK = re.compile(r"(?i)(https?|ftp|mailto|xmpp)(:)|(www)(\.)")
_OPENING = re.compile(r"^(\s*)([-+](?=\s|$)|[-=](?=[-=\s]*$)|\d+(?=[.)](?:\s|$)))")


def as_markdown(document: Document, picture_path: Callable[[Picture], str] | None = None) -> str:
    """The report as Markdown.

    Args:
        document: The report.
        picture_path: Where a picture's file is, as the report's links have it; without it, pictures are left out.
    """
    parts = [f"# {escaped(document.title)}", *_parts(document.blocks, picture_path)]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Text as Markdown that shows this very text, on one line."""
    line = one_line(text)
    line = _MARKUP.sub(lambda found: "\\" + found[0], line)
    line = _UNDERSCORE.sub(r"\\_", line)
    line = _LINK.sub(lambda found: f"{found[1] or found[3]}\\{found[2] or found[4]}", line)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    opening = _OPENING.match(line)
    if opening is None:
        return line
    at = opening.end(2) if opening[2][0].isdigit() else opening.start(2)
    return f"{line[:at]}\\{line[at:]}"


def _parts(blocks: Sequence[Block], picture_path: Callable[[Picture], str] | None) -> Iterator[str]:
    for block in blocks:
        match block:
            case Heading(text):
                yield f"## {escaped(text)}"
            case Paragraph(text):
                yield escaped(text)
            case Notes(texts):
                yield "\n".join(f"- {escaped(text)}" for text in texts)
            case Table():
                yield _table(block)
            case Picture():
                if picture_path is not None:
                    yield f"![{escaped(block.caption)}](<{_target(picture_path(block))}>)"
            case Facts():
                pass  # the tables say the same


def _table(table: Table) -> str:
    rules = ["---:" if side == "r" else "---" for side in table.align]
    lines = [_row(table.headers), _row(rules, plain=True)]
    lines += [_row([_text(cell) for cell in row], plain=True) for row in table.rows]
    return "\n".join(lines)


def _text(cell: Cell) -> str:
    text = escaped(cell.text)
    return f"**{text}**" if cell.kind in ("good", "bad") and text.strip() else text


def _row(cells: Sequence[str], *, plain: bool = False) -> str:
    return "| " + " | ".join(cells if plain else [escaped(cell) for cell in cells]) + " |"


def _target(path: str) -> str:
    """A path within ``<...>``, where only these characters mean anything."""
    return re.sub(r"[\\<>&]", lambda found: f"%{ord(found[0]):02X}", one_line(path))
