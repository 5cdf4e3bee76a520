"""Parity of BFCL's single-turn rules: decoding and checking, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.official.checker import Verdict, judge_decoded, judge_text
from callgym.envs.bfcl.official.decode import DecodeFailure, counts_as_empty, decode, execute_calls, format_ok
from callgym.envs.bfcl.official.python_text import read_literal
from callgym.envs.bfcl.parity_context import Context
from callgym.parity import Case

__all__ = ["CASES"]

_NOT_DECODED = "not decoded"


def _single_turn(row: dict[str, Any], context: Context) -> Iterator[Case]:
    functions, gold = _entry(context, row["category"], row["id"])
    verdict = judge_text(
        row["output"],
        row["category"],
        functions,
        gold,
        underscore_to_dot=bool(row.get("underscore_to_dot")),
    )
    yield Case("single_turn", row["case"], _official(row), _ours(verdict))
    kind = CATEGORIES[row["category"]].kind
    language = CATEGORIES[row["category"]].language if kind == "calls" else "python"
    yield _decoded_case("single_turn (decoded)", row, row["output"], language, False)


def _format_sensitivity(row: dict[str, Any], context: Context) -> Iterator[Case]:
    category = row["id"].rpartition("_")[0]
    functions, gold = _entry(context, category, row["id"])
    verdict = judge_text(row["output"], row["id"], functions, gold, ret_fmt=row["ret_fmt"], tagged=row["tool_call_tag"])
    yield Case("format_sensitivity", row["case"], _official(row), _ours(verdict))
    yield _decoded_case("format_sensitivity (decoded)", row, row["output"], row["ret_fmt"], row["tool_call_tag"])


def _fc_decoded(row: dict[str, Any], context: Context) -> Iterator[Case]:
    functions, gold = _entry(context, row["category"], row["id"])
    verdict = judge_decoded(row["decoded"], gold, functions, row["category"])
    yield Case("fc_decoded", row["case"], _official(row), _ours(verdict))


def _checker_probes(row: dict[str, Any], context: Context) -> Iterator[Case]:
    parameters = {"type": "dict", "properties": {"p": row["schema"]}, "required": ["p"]}
    functions = [{"name": "f", "parameters": parameters}]
    decoded = [{"f": {"p": read_literal(row["value"])}}]
    verdict = judge_decoded(decoded, [{"f": {"p": row["allowed"]}}], functions, "simple", language=row["language"])
    yield Case("checker_probes", row["case"], _official(row), _ours(verdict))


def _decode_probes(row: dict[str, Any], context: Context) -> Iterator[Case]:
    expected = {name: row.get(name) for name in ("decoded", "exception", "format_ok", "counts_as_empty", "execute")}
    found: dict[str, Any] = dict.fromkeys(expected)
    try:
        decoded = decode(row["text"], row["ret_fmt"])
    except DecodeFailure as failure:
        found["exception"] = failure.official
    else:
        found.update(decoded=repr(decoded), format_ok=format_ok(decoded), counts_as_empty=counts_as_empty(decoded))
        if row["ret_fmt"] == "python":
            found["execute"] = _executed(row["text"])
    yield Case("decode_probes", row["case"], expected, found)


def _executed(text: str) -> list[str] | None:
    try:
        return execute_calls(text)
    except DecodeFailure:
        return None


CASES: dict[str, Callable[[dict[str, Any], Context], Iterator[Case]]] = {
    "single_turn": _single_turn,
    "decode_probes": _decode_probes,
    "checker_probes": _checker_probes,
    "fc_decoded": _fc_decoded,
    "format_sensitivity": _format_sensitivity,
}
"""Fixture file to the function that compares one of its rows."""


def _entry(
    context: Context, category: str, name: str
) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]] | None]:
    """The functions and the gold of an entry; no gold where the question is whether there is a call."""
    functions, golds = _entries(context.files, category)
    return functions[name], golds.get(name)


@lru_cache(maxsize=len(CATEGORIES))
def _entries(files: BfclFiles, category: str) -> tuple[dict[str, Any], dict[str, Any]]:
    file = CATEGORIES[category].file
    golds = files.golds(file) if CATEGORIES[category].kind == "calls" else {}
    return {row["id"]: row["function"] for row in files.rows(file)}, golds


def _official(row: Mapping[str, Any]) -> tuple[bool, str | None]:
    return row["official_valid"], row["official_error_type"]


def _ours(verdict: Verdict) -> tuple[bool, str | None]:
    return verdict.valid, verdict.error_type


def _decoded_case(file: str, row: Mapping[str, Any], text: str, ret_fmt: str, tagged: bool) -> Case:
    expected = row["decoded"] if row["decoded_ok"] else _NOT_DECODED
    try:
        found = repr(decode(text, ret_fmt, tagged))
    except DecodeFailure:
        found = _NOT_DECODED
    return Case(file, row["case"], str(expected), found)
