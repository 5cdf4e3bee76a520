"""API-Bank's call text: the official patterns' answers, in linear time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callgym.envs.apibank.call_text import extract_call, parse_call

# The rule as it is defined: plain patterns, which take quadratic time on hostile text.
CALL = re.compile(r"\[(\w+)\((.*)\)\]")
PARAMETER = re.compile(r"""(\w+)\s*=\s*['"](.+?)['"]|(\w+)\s*=\s*(\[.*\])|(\w+)\s*=\s*(\w+)""")


def plainly_extracted(text: str) -> str | None:
    found = CALL.search(text)
    return found.group() if found else None


def plainly_parsed(text: str) -> tuple[str, dict[str, str]] | None:
    found = CALL.search(text)
    if found is None:
        return None
    parameters = {}
    for groups in PARAMETER.findall(found[2]):
        parameters[groups[0] or groups[2] or groups[4]] = groups[1] or groups[3] or groups[5]
    return found[1], parameters


def in_order(parsed: Any) -> Any:
    """The name and the parameters as a list, since the order in which they are checked counts."""
    return None if parsed is None else (parsed[0], list(parsed[1].items()))


def rows_of(official_data: Path, name: str) -> list[dict[str, Any]]:
    path = official_data / "api_bank_parity" / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[A()]", ("A", {})),
        ("say [A(x='1')](note)] more", ("A", {"x": "1"})),
        ("[A(x='1', y=\"2\")]", ("A", {"x": "1", "y": "2"})),
        ("[A(x = '1'y= 2)]", ("A", {"x": "1", "y": "2"})),
        ("[A(x=1.5, y=2023-03-18, z=a@b)]", ("A", {"x": "1", "y": "2023", "z": "a"})),
        ("[A(x=-1, y=(1+2), z={}, w: '1', '1')]", ("A", {})),
        ("[A(x='O'Brien', y=\"say 'hi'\")]", ("A", {"x": "O", "y": "say "})),
        ("[A(x=\"Don't: y='1'\")]", ("A", {"x": "Don", "y": "1"})),
        ("[A(x='')]", ("A", {})),
        ("[A(x='', y='2')]", ("A", {"x": "', y="})),
        ("[A(x=['a'], y=['b'])]", ("A", {"x": "['a'], y=['b']"})),
        ("[A(x='['a', 'b']')]", ("A", {"x": "["})),
        ("[A(x='a)]', y=1)]", ("A", {"x": "a)]", "y": "1"})),
        ("[A(x='1')] [B(y='2', x='3')]", ("A", {"x": "3", "y": "2"})),
        ("[A(\nx='1')] [B(y='2')]", ("B", {"y": "2"})),
        ("[A(x='1')\n[B(y='2')]\n[C()]", ("B", {"y": "2"})),
        ("[A(x='1\u2028 2', y=é)]", ("A", {"x": "1\u2028 2", "y": "é"})),
        ("[A (x='1')]", None),
        ("[ A(x='1')]", None),
        ("[A(x='1') ]", None),
        ("[a-b(x='1')]", None),
        ("A(x='1')]", None),
        ("", None),
    ],
)
def test_a_call_is_read_as_officially(text: str, expected: tuple[str, dict[str, str]] | None) -> None:
    assert parse_call(text) == expected == plainly_parsed(text)
    assert extract_call(text) == plainly_extracted(text)


@given(st.text(alphabet="[]()a=' \n", max_size=24))
@example("[a(a=[)]")
@example("[a(a=['a)]")
@example("[[a(a=''a=')]")
@settings(max_examples=3000)
def test_extraction_and_parsing_of_any_text_are_the_plain_patterns(text: str) -> None:
    assert extract_call(text) == plainly_extracted(text)
    assert in_order(parse_call(text)) == in_order(plainly_parsed(text))


@given(st.text(alphabet="ab_1='\"[], \t().\u2028\x1cé\u00b2\u0301", max_size=30))
@settings(max_examples=3000)
def test_arguments_of_any_text_are_the_plain_patterns(arguments: str) -> None:
    text = f"[Name({arguments})]"
    assert extract_call(text) == plainly_extracted(text)
    assert in_order(parse_call(text)) == in_order(plainly_parsed(text))


@given(
    st.lists(
        st.sampled_from(
            ["x", "yy", "=", " = ", "'", '"', "''", "[", "]", ")]", "[B(", ", ", "x='", "y=[", "z=1", "\n", "-", " "]
        ),
        max_size=20,
    )
)
@settings(max_examples=3000)
def test_texts_of_telling_pieces_are_the_plain_patterns(pieces: list[str]) -> None:
    text = f"[A({''.join(pieces)})]"
    assert extract_call(text) == plainly_extracted(text)
    assert in_order(parse_call(text)) == in_order(plainly_parsed(text))


@pytest.mark.parametrize(
    "piece", ["[a(", "[a(\n", "[a(x=", "x='", "x=[", "x=''", "x", "x ", " ", "=", "x= ", "[", ")]", "x=']", "[x"]
)
def test_hostile_texts_of_full_length_are_read(piece: str) -> None:
    """Quadratic reading would take minutes a text here."""
    body = (piece * 200_000)[:200_000]
    for text in (body, f"[A({body}", f"[A({body})]", f"{body})]"):
        extract_call(text)
        parse_call(text)


def test_parser_fixtures_agree(official_data: Path) -> None:
    for row in rows_of(official_data, "parser.jsonl"):
        expected = row["official_parsed"]
        assert extract_call(row["text"]) == row["official_extracted"], row["case"]
        assert in_order(parse_call(row["text"])) == in_order(expected), row["case"]
        assert in_order(parse_call(row["text"])) == in_order(row.get("official_parse_of_full_text")), row["case"]


def test_recorded_calls_and_their_mutations_agree(official_data: Path) -> None:
    for row in rows_of(official_data, "calls.jsonl"):
        assert extract_call(row["output"]) == row["extracted"], row["case"]
        assert in_order(parse_call(row["output"])) == in_order(row.get("parsed")), row["case"]
