"""What a terminal shows, and what a pipe gets instead: tables, colours, bars.

Where standard output is no terminal, a table is plain text and nothing in it is cut; where standard error is none,
there is no bar. ``NO_COLOR`` and ``TERM=dumb`` take colours away, ``FORCE_COLOR`` sends them into a pipe too::

    click.echo(table(("id", "return"), [("apibank/L1-v0", "0.412")], align="lr"))
    with progress("play", 1000) as advance:
        advance()
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal, TypeVar

__all__ = [
    "Bar",
    "Cell",
    "Kind",
    "colours",
    "columns",
    "counted",
    "harmless",
    "one_line",
    "progress",
    "stderr_is_terminal",
    "styled",
    "table",
    "terminal_columns",
]

Kind = Literal["good", "bad", "dim", "strong"]
"""What a piece of text is, and so how it looks."""

_CODES: dict[Kind, str] = {"good": "32", "bad": "31", "dim": "2", "strong": "1"}
_GAP = "  "
_LEAST = 4
"""No column is cut below so many places."""
_SECONDS_BETWEEN = 0.1
_BAR = 24
_USUAL_WIDTH = 80
_MEBIBYTE = 1 << 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """A table's cell that stands out."""

    text: str
    """What it says."""
    kind: Kind
    """How it looks where there are colours."""


def harmless(text: str) -> str:
    """Text that a model or a file wrote, for a terminal: what is not printed there is written as an escape.

    Line breaks and tabs stay. Control characters could move the cursor or retitle the window, marks of writing
    direction could show other text than there is.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text])


def one_line(text: str) -> str:
    r"""The same on one line: breaks and tabs as ``\n`` and ``\t``."""
    return harmless(text).replace("\n", "\\n").replace("\t", "\\t")


def columns(text: str) -> int:
    """How wide a terminal shows a line: East Asian characters take two columns, combining marks none."""
    if text.isascii():
        return len(text)
    wide = sum([unicodedata.east_asian_width(c) in "WF" for c in text])
    return len(text) + wide - sum([unicodedata.combining(c) != 0 for c in text])


def colours(stream: IO[str] | None = None) -> bool:
    """Whether text to ``stream``, standard output by default, is coloured."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return _is_terminal(sys.stdout if stream is None else stream) and os.environ.get("TERM") != "dumb"


def styled(text: str, kind: Kind | None, *, stream: IO[str] | None = None) -> str:
    """The text in the look of its kind; as it is where ``stream`` takes no colours, or ``kind`` is None."""
    return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if kind is not None and text and colours(stream) else text


def table(headers: Sequence[str], rows: Sequence[Sequence[str | Cell]], *, align: str = "") -> str:
    """Aligned columns under their headers.

    Args:
        headers: A name a column; all empty for no line of headers.
        rows: Cells, as many a row as there are headers. Control characters are shown as escapes.
        align: ``l`` or ``r`` a column; what is not given is ``l``.

    On a terminal, the widest columns are cut, with ``…``, until a row fits its width; in a pipe all is there.
    """
    aligned = align.ljust(len(headers), "l")
    lines = [[_shown(cell) for cell in row] for row in rows]
    if any(headers):
        lines.insert(0, [Cell(one_line(header), "strong") for header in headers])
    widths = [max((columns(_text(line[place])) for line in lines), default=0) for place in range(len(headers))]
    if _is_terminal(sys.stdout):
        widths = _narrowed(widths, terminal_columns(sys.stdout) or _USUAL_WIDTH)
    return "\n".join(_row(line, widths, aligned) for line in lines)


@contextlib.contextmanager
def progress(
    label: str, total: int | None, unit: str = "episodes", *, done: int = 0
) -> Generator[Callable[[int], object]]:
    """A bar on standard error with rate and remaining time, where that is a terminal; else nothing.

    Args:
        label: What is done.
        total: How many there are; None where nobody knows.
        unit: What is counted; ``bytes`` are shown in MiB.
        done: How many are done already, and do not count for the rate.

    Yields:
        ``advance(n)``: so many more are done; 1 by default.
    """
    if not stderr_is_terminal():
        yield _ignored
        return
    bar = Bar(label, total, unit, done, time.monotonic())
    try:
        bar.draw(time.monotonic())
        yield bar.advance
    finally:
        bar.close(time.monotonic())


def stderr_is_terminal() -> bool:
    """Whether ``progress`` shows a bar."""
    return _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"


def terminal_columns(stream: IO[str]) -> int | None:
    """How wide the terminal behind a stream is; None where there is none, or it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError, AttributeError):
        return None


def counted(items: Iterable[T], advance: Callable[[int], object]) -> Iterator[T]:
    """The items as they are; each is told to ``advance`` once it is done with."""
    for item in items:
        yield item
        advance(1)


def _ignored(count: int = 1) -> None:
    """Nothing to show it on."""


class Bar:
    """How far something is, drawn on standard error again and again; use it through ``progress``."""

    def __init__(self, label: str, total: int | None, unit: str, done: int, begun: float) -> None:
        """Begin at ``done``, at the time ``begun`` in seconds of a clock that never goes back."""
        self._label = one_line(label)
        self._total = total
        self._unit = unit
        self._first = done
        self._done = done
        self._begun = begun
        self._drawn = begun

    def advance(self, count: int = 1) -> None:
        """So many more are done."""
        self._done += count
        now = time.monotonic()
        if now - self._drawn >= _SECONDS_BETWEEN:
            self.draw(now)

    def draw(self, now: float) -> None:
        """Write the line over the one that is there."""
        self._drawn = now
        # Cut below the width: a line that wraps could not be written over.
        width = (terminal_columns(sys.stderr) or _USUAL_WIDTH) - 1
        sys.stderr.write(f"\r\x1b[K{_cut(self.line(now, width), width)}")
        sys.stderr.flush()

    def close(self, now: float) -> None:
        """Leave the last state on a line of its own."""
        self.draw(now)
        sys.stderr.write("\n")
        sys.stderr.flush()

    def line(self, now: float, width: int = _USUAL_WIDTH) -> str:
        """The line at a time: label, bar, count, rate, and what is left or, at the end, was needed.

        Where it is wider than ``width`` columns, it goes without the bar.
        """
        seconds = now - self._begun
        rate = (self._done - self._first) / seconds if seconds > 0 else 0.0
        parts = [self._label, self._count()]
        if self._done > self._first and rate:
            parts.append(self._per_second(rate))
            over = self._total is None or self._done >= self._total
            parts.append(_clock(seconds) if over else f"{_clock((_known(self._total) - self._done) / rate)} left")
        with_bar = _GAP.join([self._label, *self._part_done(), *parts[1:]])
        return with_bar if columns(with_bar) <= width else _GAP.join(parts)

    def _part_done(self) -> list[str]:
        if not self._total:
            return []
        filled = min(_BAR, self._done * _BAR // self._total)
        return [f"[{'#' * filled}{'-' * (_BAR - filled)}]"]

    def _count(self) -> str:
        if self._unit == "bytes":
            whole = "" if self._total is None else f"/{self._total / _MEBIBYTE:.1f}"
            return f"{self._done / _MEBIBYTE:.1f}{whole} MiB"
        return f"{self._done}{'' if self._total is None else f'/{self._total}'} {self._unit}"

    def _per_second(self, rate: float) -> str:
        if self._unit == "bytes":
            return f"{rate / _MEBIBYTE:.1f} MiB/s"
        return f"{rate:.0f} {self._unit}/s" if rate >= 10 else f"{rate:.2g} {self._unit}/s"


def _known(total: int | None) -> int:
    assert total is not None
    return total


def _clock(seconds: float) -> str:
    """``0:07``, ``12:30``, ``3:05:00``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # no stream at all, or one that is closed
        return False


def _shown(cell: str | Cell) -> str | Cell:
    return Cell(one_line(cell.text), cell.kind) if isinstance(cell, Cell) else one_line(cell)


def _text(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def _narrowed(widths: list[int], room: int) -> list[int]:
    """The widths, the widest taken back until they fit, or all are as narrow as may be; the first, a name, at last."""
    narrowed = [min(width, room) for width in widths]
    excess = sum(narrowed) + len(_GAP) * (len(widths) - 1) - room
    for places in (range(1, len(widths)), range(min(1, len(widths)))):
        while excess > 0 and max((narrowed[place] for place in places), default=0) > _LEAST:
            narrowed[max(places, key=narrowed.__getitem__)] -= 1
            excess -= 1
    return narrowed


def _row(cells: Sequence[str | Cell], widths: Sequence[int], align: str) -> str:
    parts = []
    for cell, width, side in zip(cells, widths, align, strict=True):
        text = _cut(_text(cell), width)
        space = " " * (width - columns(text))
        shown = styled(text, cell.kind) if isinstance(cell, Cell) else text
        parts.append(space + shown if side == "r" else shown + space)
    return _GAP.join(parts).rstrip(" ")


def _cut(text: str, width: int) -> str:
    """The text in at most so many columns."""
    if columns(text) <= width:
        return text
    taken, room = [], width - 1
    for character in text:
        room -= columns(character)
        if room < 0:
            break
        taken.append(character)
    return "".join(taken) + "…"
