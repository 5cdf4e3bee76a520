"""A report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from callgym.reports.document import Block, Cell, Document, Facts, Heading, Notes, Paragraph, Picture, Table
from callgym.terminal import Cell as ShownCell
from callgym.terminal import Kind, one_line, styled, table

__all__ = ["as_text"]

_KINDS: dict[str, Kind] = {"good": "good", "bad": "bad", "dim": "dim", "strong": "strong"}


def as_text(document: Document) -> str:
    """The report as lines; its pictures are left out."""
    return "\n".join([styled(one_line(document.title), "strong"), *_lines(document.blocks)])


def _lines(blocks: tuple[Block, ...]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Heading(text):
                yield f"\n{styled(one_line(text), 'strong')}"
            case Paragraph(text):
                yield styled(one_line(text), "dim")
            case Notes(texts):
                yield from (f"  - {one_line(text)}" for text in texts)
            case Table(headers, rows, align):
                yield table(headers, [[_cell(cell) for cell in row] for row in rows], align=align)
            case Facts() | Picture():
                pass  # the tables say the same


def _cell(cell: Cell) -> str | ShownCell:
    kind = _KINDS.get(cell.kind)
    return cell.text if kind is None else ShownCell(cell.text, kind)
