"""Stored lines: whatever has become of an episode file, its whole lines are read, and one clear line says the rest."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym.errors import DataError
from callgym.rollouts import stored_lines
from callgym.rollouts.episodes import read_episodes, read_rows
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.stored_lines import StoredLine, read_lines, read_up_to_fault

FAILED = b'{"index":9,"policy":"x","env_id":"e","task_id":"t","seed":1,"failure":{"kind":"exception","message":"m"}}\n'


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of three episodes and one that failed."""
    path = tmp_path_factory.mktemp("whole") / "episodes.jsonl"
    run_episodes(
        "apibank/L1-v0", get_policy("random"), episodes=3, env_options={"data": "starter"}, out=path, progress=False
    )
    return path.read_bytes() + FAILED


def parts(path: Path) -> tuple[list[StoredLine], str | None]:
    """The lines of a file, and its fault; no fault is followed by anything."""
    lines: list[StoredLine] = []
    fault = None
    for line in read_up_to_fault(path):
        assert fault is None
        if isinstance(line, str):
            fault = line
        else:
            lines.append(line)
    return lines, fault


def changed(content: bytes, **fields: Any) -> bytes:
    """The first line alone, with other values in it."""
    return (json.dumps({**json.loads(content.splitlines()[0]), **fields}) + "\n").encode()


def test_every_line_stands_as_it_is(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(whole)
    lines, fault = parts(path)
    assert fault is None
    assert b"".join(line.raw for line in lines) == whole
    assert [line.row for line in lines] == [1, 2, 3, 4]
    assert [json.loads(line.raw) for line in lines] == [line.fields for line in lines]
    assert lines[3].episode is None
    assert lines[3].fields["failure"]["kind"] == "exception"
    for line in lines[:3]:
        assert line.episode is not None
        assert {"index": line.index, "policy": line.policy, **line.episode.to_dict()} == line.fields
    assert [(row.row, row.episode) for row in read_rows(path)] == [(line.row, line.episode) for line in lines[:3]]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"  " + content.replace(b"}\n", b"} \t\n"),
        lambda content: FAILED * 3 + content,
        lambda content: content.replace(b'"random"', b'"' + b"x" * 3_000_000 + b'"'),
    ],
    ids=["byte order mark", "carriage returns", "spaces", "failed again and again", "long lines"],
)
def test_what_harms_nothing_is_read(tmp_path: Path, whole: bytes, change: Any) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(change(whole))
    lines, fault = parts(path)
    assert fault is None
    assert [line.episode for line in lines if line.episode] == [episode for _, episode in read_episodes(path)]
    assert sum(line.episode is not None for line in lines) == 3


DEEP = "[" * 50_000 + "]" * 50_000
FAULTS: dict[str, tuple[Any, int, str]] = {
    "empty": (lambda _: b"", 0, "is empty: there is no episode in it"),
    "cut off": (lambda c: c[: len(c) - len(FAILED) - 30], 2, "row 3: the line is cut off; resume the run"),
    "cut off in the first line": (lambda c: c[:500], 0, "row 1: the line is cut off"),
    "cut off in a failed line": (lambda c: c[:-1], 3, "row 4: the line is cut off"),
    "an empty line": (lambda c: c + b"\n" + c, 4, "row 5: the line is empty; delete it"),
    "zeros at the end": (lambda c: c + bytes(1000), 4, r"row 5: no episode, but b'\x00"),
    "an index twice": (lambda c: c + c.splitlines(True)[0], 4, "row 5: episode "),
    "gzip": (gzip.compress, 0, "row 1: the file is gzip; unpack it"),
    "zip": (lambda _: b"PK\x03\x04\n\n", 0, "the file is a zip archive; unpack it"),
    "Parquet": (lambda _: b"PAR1\x15\x04", 0, "the file is Parquet"),
    "UTF-16": (lambda c: c.decode().encode("utf-16"), 0, "row 1: the file is UTF-16; save it as UTF-8"),
    "UTF-16 the other way": (lambda c: b"\xfe\xff" + c.decode().encode("utf-16-be"), 0, "is UTF-16; save it as UTF-8"),
    "CSV": (lambda _: b"index,policy,return\n0,oracle,1.0\n", 0, "row 1: no episode, but b'index,policy,return"),
    "other JSONL": (lambda _: b'{"messages":[]}\n' * 3, 0, "row 1: no episode, which has an 'index'"),
    "other JSONL behind": (lambda c: c + b'{"messages":[]}\n', 4, "row 5: no episode, which has an 'index'"),
    "a JSON list": (lambda c: b"[" + c.splitlines()[0] + b"]", 0, "row 1: no episode, but b'[{"),
    "JSON over many lines": (lambda _: b'{\n  "index": 0\n}\n', 0, "row 1: not valid JSON"),
    "a terminal's codes": (lambda _: b"\x1b]0;owned\x07\x1b[2J\n", 0, r"row 1: no episode, but b'\x1b]0;owned"),
    "not UTF-8": (lambda c: c + b'{"index":0,"policy":"\xff"}\n', 4, "row 5: not valid JSON ('utf-8' codec"),
    "half a surrogate": (lambda _: b'{"index":0,"policy":"\xed\xa0\x80"}\n', 0, "row 1: not valid JSON"),
    "NaN": (lambda c: changed(c, episode_return=float("nan")), 0, "row 1: not valid JSON (NaN is no number)"),
    "infinity": (lambda c: changed(c, seed=float("inf")), 0, "not valid JSON (Infinity is no number)"),
    "a number too large": (
        lambda c: changed(c, config={"x": 5}).replace(b"5}", b"1e999}"),
        0,
        "finite number; found inf",
    ),
    "an integer too long": (lambda c: c + b'{"index":' + b"9" * 5000 + b"}\n", 4, "row 5: not valid JSON (Exceeds"),
    "an index too large": (lambda c: c + b'{"index":' + b"9" * 40 + b"}\n", 4, "row 5: no episode, which has an"),
    "an index below 0": (lambda _: b'{"index":-1}\n', 0, "row 1: no episode, which has an 'index' of 0 or more"),
    "an index that is true": (lambda _: b'{"index":true}\n', 0, "row 1: no episode, which has an 'index'"),
    "deep": (lambda c: c + f'{{"index":{DEEP}}}\n'.encode(), 4, "row 5: not valid JSON (maximum recursion"),
    "deep where it is read": (
        lambda c: changed(c, state=0).replace(b'"state": 0', f'"state": {{"x": {DEEP[:400]}{DEEP[-400:]}}}'.encode()),
        0,
        "row 1: Episode.state",
    ),
    "a policy that is none": (lambda c: changed(c, policy=["x" * 10_000]), 0, "row 1: 'policy' is a name, found ['xxx"),
    "a step that is none": (lambda c: changed(c, steps=[3]), 0, "row 1: Episode.steps.0: "),
    "a turn that no episode reaches": (
        lambda c: changed(c, steps=[{**json.loads(c.splitlines()[0])["steps"][0], "turn": 10**30}]),
        0,
        "row 1: a step of turn 100,000 or later",
    ),
    "a field too many": (lambda c: changed(c, **{"\x1b[2J\n\u202e" * 500: 1}), 0, r"row 1: Episode.\x1b[2J \u202e"),
    "a failure without words": (lambda _: b'{"index":1,"failure":{"kind":3}}\n', 0, "row 1: a 'failure' has a 'kind'"),
    "a deep failure": (
        lambda _: FAILED.replace(b'"seed":1', b'"seed":' + b"[" * 200 + b"]" * 200),
        0,
        "row 1: lists and objects stand in each other more than 100 deep",
    ),
    "a failure that is no number": (lambda _: FAILED.replace(b'"seed":1', b'"seed":1e999'), 0, "inf is not a JSON"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_what_is_before_it_is_read(tmp_path: Path, whole: bytes, name: str) -> None:
    change, read, words = FAULTS[name]
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(change(whole))
    lines, fault = parts(path)
    assert len(lines) == read
    assert fault is not None
    assert fault.startswith(str(path))
    assert words in fault
    assert len(fault) < len(str(path)) + 500
    assert fault.isprintable()
    with pytest.raises(DataError) as caught:
        list(read_episodes(path))
    assert str(caught.value) == fault


def test_a_line_without_end_is_not_read_whole(tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_lines, "_LONGEST_LINE", 1 << 20)
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(b'{"index":0,"policy":"' + b"x" * (3 << 20))
    assert parts(path) == ([], f"{path}, row 1: the line is longer than 1 MB; is it a file of episodes?")


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none.jsonl", "does not exist"), (tmp_path, "is a folder")):
        with pytest.raises(DataError, match=words):
            list(read_up_to_fault(path))
        with pytest.raises(DataError, match=words):
            list(read_lines(path))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch") / "episodes.jsonl"


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_file_gives_its_whole_lines(scratch: Path, whole: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(whole)))
    scratch.write_bytes(whole[:cut])
    lines, fault = parts(scratch)
    assert b"".join(line.raw for line in lines) == whole[: whole.rfind(b"\n", 0, cut) + 1]
    assert (fault is None) == (cut > 0 and whole[cut - 1 : cut] == b"\n")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_change_of_bytes_raises_anything(scratch: Path, whole: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.sampled_from([0, 1, 2, 100]))
    scratch.write_bytes(whole[:start] + data.draw(st.binary(max_size=8)) + whole[start + length :])
    lines, fault = parts(scratch)
    assert fault is not None or len(lines) >= 3
    assert fault is None or fault.isprintable()
