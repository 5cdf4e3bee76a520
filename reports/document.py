"""A report as parts (headings, tables, pictures), which text, Markdown and HTML are written from alike."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell", "Document", "Fact", "Facts", "Heading", "Notes", "Paragraph", "Picture", "Range", "Table"]


@dataclass(frozen=True, slots=True)
class Range:
    """An interval and its mean, on a scale that all rows of a column share."""

    low: float
    """Lower end."""
    mean: float
    """The mean."""
    high: float
    """Upper end."""
    start: float
    """Where the scale begins."""
    end: float
    """Where it ends; greater than ``start``."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    """What it says."""
    kind: str = ""
    """``good``, ``bad``, ``dim``, ``strong``, or nothing."""
    range: Range | None = None
    """Drawn where pictures are."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section begins."""

    text: str
    """Its name."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    text: str
    """What they say."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences that stand out, one an entry."""

    texts: tuple[str, ...]
    """What they say."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers."""

    headers: tuple[str, ...]
    """A name a column."""
    rows: tuple[tuple[Cell, ...], ...]
    """Cells, as many a row as there are headers."""
    align: str
    """``l`` or ``r`` a column."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure to see first."""

    label: str
    """What it is."""
    value: str
    """The figure."""
    detail: str
    """What belongs to it."""
    change: str = ""
    """How it compares, if it does."""
    kind: str = ""
    """Of the change, as a cell's."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Figures side by side."""

    facts: tuple[Fact, ...]
    """The figures."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture."""

    name: str
    """Its file's name, without the ending."""
    caption: str
    """What it shows."""
    png: bytes
    """The picture itself."""


Block = Heading | Paragraph | Notes | Table | Facts | Picture


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    """Its name."""
    blocks: tuple[Block, ...]
    """Its parts, in order."""
