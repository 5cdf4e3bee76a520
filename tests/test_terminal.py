"""What a terminal is shown, and a pipe is not: colours, cut cells, bars."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.terminal import Bar, Cell, columns, counted, harmless, one_line, progress, styled, table

_CODES = re.compile(r"\x1b\[[0-9;]*m")
Tty = Callable[[int], io.TextIOWrapper]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def tty() -> Iterator[Tty]:
    """Makes a terminal of so many columns to write to."""
    open_ends: list[Any] = []

    def make(width: int) -> io.TextIOWrapper:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        stream = os.fdopen(slave, "w", encoding="utf-8")
        open_ends.extend([stream, os.fdopen(master, "rb", buffering=0)])
        return stream

    yield make
    for end in open_ends:
        end.close()


# Colours.


@pytest.mark.parametrize(
    ("on_terminal", "settings", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),  # empty is as if it were not set
        (True, {"TERM": "dumb"}, False),
        (True, {"FORCE_COLOR": "0"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, {"FORCE_COLOR": ""}, False),
    ],
)
def test_text_is_coloured_only_where_that_is_wanted(
    on_terminal: bool, settings: dict[str, str], coloured: bool, tty: Tty, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    stream = tty(80) if on_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    for text in (styled("yes", "good"), styled("yes", "good", stream=stream)):
        assert text == ("\x1b[32myes\x1b[0m" if coloured else "yes")


def test_no_text_and_no_kind_have_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert (styled("", "bad"), styled("as it is", None)) == ("", "as it is")


def test_a_stream_that_is_closed_or_none_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    assert styled("x", "good", stream=closed) == "x"
    monkeypatch.setattr(sys, "stderr", None)
    with progress("play", 3) as advance:
        advance(1)


# Tables.

ROWS = [("apibank/L1-v0", "500"), ("x", "7")]


def test_columns_are_aligned_and_nothing_is_cut_in_a_pipe() -> None:
    assert (
        table(("id", "tasks"), ROWS, align="lr") == "id             tasks\napibank/L1-v0    500\nx                  7"
    )
    long = "y" * 5000
    assert table(("id", "about"), [("a", long)]).endswith(long)
    assert table(("", ""), ROWS) == "apibank/L1-v0  500\nx              7"  # no line of empty headers
    assert table(("id",), []) == "id"
    assert table(("", ""), []) == ""


def test_wide_characters_and_marks_are_counted_as_a_terminal_shows_them() -> None:
    lines = table(("a", "b"), [("日本", "1"), ("e\u0301te\u0301", "2"), ("plain", "3")]).splitlines()
    assert {columns(line) for line in lines[1:]} == {columns("plain  3")}


def test_a_terminal_gets_cells_cut_until_a_row_fits(tty: Tty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", tty(40))
    heads = ("id", "tasks", "about")
    rows = [("apibank/L1-v0", "500", "call: the tools are documented at some length"), ("x", "1", "wide " * 100_000)]
    text = _CODES.sub("", table(heads, rows, align="lrl"))
    assert {columns(line) for line in text.splitlines()[1:]} == {40}
    assert text.splitlines()[1] == "apibank/L1-v0    500  call: the tools a…"  # the name is whole
    text = _CODES.sub("", table(heads, [("日" * 40, "1", "wide")], align="lrl"))
    assert max(map(columns, text.splitlines())) <= 40
    assert "…" in text
    monkeypatch.setattr(sys, "stdout", tty(10))  # too narrow for anything: still a table
    assert len(table(heads, rows).splitlines()) == 3


def test_cells_stand_out_without_moving_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a", Cell("0.5", "good")), ("b", Cell("10.5", "bad"))]
    plain = table(("run", "return"), rows, align="lr")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = table(("run", "return"), rows, align="lr")
    assert coloured != plain
    assert _CODES.sub("", coloured) == plain


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=6), st.sampled_from(["", "l", "rr"]))
def test_any_text_makes_a_table_of_one_harmless_line_a_row(rows: list[tuple[str, str]], align: str) -> None:
    text = table(("a", "b"), rows, align=align)
    lines = text.split("\n")
    assert len(lines) == 1 + len(rows)
    assert all(line.isprintable() for line in lines)


@given(st.text())
def test_what_is_shown_is_harmless_and_nothing_is_lost(text: str) -> None:
    shown = harmless(text)
    assert all(character.isprintable() or character in "\n\t" for character in shown)
    assert one_line(text).isprintable()
    if all(character.isprintable() for character in text):
        assert shown == text


def test_a_megabyte_is_harmless_in_no_time() -> None:
    assert len(one_line("\x1b" * 1_000_000)) == 4_000_000


# Bars.


def test_a_pipe_and_a_dumb_terminal_get_no_bar(tty: Tty, monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, term in ((io.StringIO(), "xterm"), (tty(80), "dumb")):
        monkeypatch.setenv("TERM", term)
        monkeypatch.setattr(sys, "stderr", stream)
        written: list[str] = []
        monkeypatch.setattr(stream, "write", written.append, raising=False)
        with progress("play", 3) as advance:
            for _ in range(3):
                advance(1)
        assert written == []


class Screen(io.StringIO):
    """A terminal without a device behind it."""

    def isatty(self) -> bool:
        return True


def test_a_bar_moves_and_stays_with_its_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress("play", 1000, done=200) as advance:
        for _ in range(80):
            now[0] += 0.05
            advance(5)
    states = screen.getvalue().split("\r\x1b[K")
    assert states[1] == "play  [####--------------------]  200/1000 episodes"
    assert states[2].startswith("play  [#####-------------------]  210/1000 episodes  100 episodes/s")
    assert len(states) < 80  # not drawn at every episode
    assert states[-1].endswith("600/1000 episodes  100 episodes/s  0:04 left\n")
    assert all(len(state) < 80 for state in states)


def test_a_bar_is_closed_by_what_breaks_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)

    def broken() -> None:
        with progress("play", 5) as advance:
            advance(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert screen.getvalue().endswith("\n")


@pytest.mark.parametrize(
    ("total", "unit", "done", "seconds", "shown"),
    [
        (1000, "episodes", 412, 1.0, "[#########---------------]  412/1000 episodes  412 episodes/s  0:01 left"),
        (1000, "episodes", 1000, 2.0, "[########################]  1000/1000 episodes  500 episodes/s  0:02"),
        (10, "episodes", 1, 60.0, "[##----------------------]  1/10 episodes  0.017 episodes/s  9:00 left"),
        (100, "rows", 1, 3600.0, "[------------------------]  1/100 rows  0.00028 rows/s  99:00:00 left"),
        (None, "episodes", 30, 10.0, "30 episodes  3 episodes/s  0:10"),
        (None, "pages", 0, 1.0, "0 pages"),
        (0, "episodes", 0, 1.0, "0/0 episodes"),
        (3, "episodes", 5, 1.0, "[########################]  5/3 episodes  5 episodes/s  0:01"),
        (5 << 20, "bytes", 1 << 20, 0.5, "[####--------------------]  1.0/5.0 MiB  2.0 MiB/s  0:02 left"),
        (None, "bytes", 3 << 19, 1.0, "1.5 MiB  1.5 MiB/s  0:01"),
    ],
)
def test_a_bar_says_rate_and_remaining_time(
    total: int | None, unit: str, done: int, seconds: float, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    bar = Bar("x", total, unit, 0, 0.0)
    bar.advance(done)
    assert bar.line(seconds, 100) == f"x  {shown}"
    assert bar.line(seconds, 30) == f"x  {shown.partition(']  ')[2] or shown}"  # no room for the bar


def test_a_bar_s_label_is_harmless() -> None:
    assert Bar("\x1b[2J\n", None, "episodes", 0, 0.0).line(0.0).startswith("\\x1b[2J\\n")


def test_a_bar_fits_a_narrow_terminal(tty: Tty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", tty(30))
    written: list[str] = []
    monkeypatch.setattr(sys.stderr, "write", written.append)
    with progress("a label of some length", 10) as advance:
        advance(10)
    assert all(columns(text.removeprefix("\r\x1b[K").strip("\n")) <= 29 for text in written)


def test_counted_items_are_told_of_once_each() -> None:
    told: list[int] = []
    assert list(counted("abc", told.append)) == ["a", "b", "c"]
    assert told == [1, 1, 1]
