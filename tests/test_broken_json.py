"""Where reading goes on behind JSON that cannot be read: never at a mark that stands in one of its strings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym.dialects.broken_json import BrokenJson, balanced_end

TOKENS, PLAIN = BrokenJson("<M>", tokens=True), BrokenJson("<M>", tokens=False)


@pytest.mark.parametrize(
    ("text", "token", "plain"),
    [
        ('{"a": oops}<M>', 11, 11),
        ('{"a": "<M>" oops}<M>', 17, 17),
        ('{"a": oops, "b": "<M>"}<M>', 23, 23),
        (r'{"a": "\x <M>"}<M>', 15, 15),
        (r'{"a": "say \"<M>\" oops}', 6, 24),
        ('{"a": "never closed}<M>', 6, 23),
        ('{"a": "forgotten}<M>{"b": 1}', 6, 28),
        ('{"a": "x" y"}<M>{"b": "z"}', 11, 26),
        ("{oops", 5, 5),
        ("", 0, 0),
    ],
)
def test_marks_count_outside_strings(text: str, token: int, plain: int) -> None:
    assert (TOKENS.leave(text, 0), PLAIN.leave(text, 0)) == (token, plain)


@given(
    st.lists(st.sampled_from(["<M>", '"', "\\", '\\"', "{", "}", ",", ":", " ", "x", "<"]), max_size=30).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_a_place_to_go_on_at_is_a_mark_a_quote_or_the_end(text: str) -> None:
    for broken in (TOKENS, PLAIN):
        at = broken.leave(text, 0)
        assert at == len(text) or text.startswith("<M>", at) or (broken is TOKENS and text[at] == '"')
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: "." * len(found[0]), text, flags=re.DOTALL)
    mark, quote = strings.find("<M>"), strings.find('"')
    found = mark if mark >= 0 and not 0 <= quote < mark else len(text)
    assert PLAIN.leave(text, 0) == found


def test_brackets_balance_outside_strings() -> None:
    assert balanced_end('{"a": "}"} x', 0, 12) == 10
    assert balanced_end('{"a": [}', 0, 8) == 0
    assert balanced_end('{"a": "}', 0, 8) == 0
