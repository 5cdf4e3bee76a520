"""Rows of the test files whose label can be seen to be wrong, or in doubt, without knowing what the words mean.

Of the judge file's 300 rows 9 are found: in 8 the value that a question should lack still stands in it, and in
one a tool is left that is documented as the one that was taken away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from callgym.envs.when2call.rows import LabelledRow

__all__ = ["label_fault", "stands_in"]

_WORD = re.compile(r"\w+")
_MIN_LENGTH = 3
"""Shorter values stand in many questions by chance."""


def label_fault(row: LabelledRow) -> str | None:
    """Sentences on what is wrong with a row's label; None where nothing is found."""
    faults = {"tool_call": _call_faults, "request_for_info": _ask_faults, "cannot_answer": _decline_faults}
    found = list(faults[row.correct](row)) if row.correct in faults else []
    return "; ".join(found) or None


def stands_in(value: Any, question: str) -> bool:
    """Whether a value's words stand in a question, one after the other, whatever their case and what is between.

    Lists and objects stand there when each of their values does. True, false and null are not looked for, nor
    what is shorter than three characters.
    """
    if isinstance(value, dict | list):
        inner = [item for item in _leaves(value) if item is not None and not isinstance(item, bool)]
        return bool(inner) and all(stands_in(item, question) for item in inner)
    if value is None or isinstance(value, bool):
        return False
    words = _words(value if isinstance(value, str) else json.dumps(value))
    return len(words) >= _MIN_LENGTH and f" {words} " in f" {_words(question)} "


def _leaves(value: Any) -> Iterator[Any]:
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _leaves(item)
        else:
            yield item


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _offered(row: LabelledRow) -> tuple[str, ...]:
    return tuple(tool["name"] for tool in row.tools)


def _call_faults(row: LabelledRow) -> Iterator[str]:
    if row.call.name not in _offered(row):
        yield f"the right call's tool {row.call.name} is not offered"
    if row.target is not None and row.target["name"] != row.call.name:
        yield f"the right tool is {row.target['name']}, the right call calls {row.call.name}"


def _ask_faults(row: LabelledRow) -> Iterator[str]:
    yield from _call_faults(row)
    name = row.held_out
    if name is None:
        yield "the row does not say which parameter's value was taken out"
        return
    if row.target is not None:
        parameters = row.target.get("parameters") or {}
        if name not in (parameters.get("properties") or {}):
            yield f"the right tool has no parameter {name!r}"
        elif name not in (parameters.get("required") or ()):
            yield f"{name!r}, whose value was taken out, is not required"
    if row.question == row.original_question:
        yield "the question was not rewritten"
    if name in row.call.arguments and stands_in(row.call.arguments[name], row.question):
        yield f"the value of {name!r} that was to be taken out still stands in the question"


def _decline_faults(row: LabelledRow) -> Iterator[str]:
    """The right tool is that of the call: these rows' ``target_tool`` is null."""
    if row.call.name in _offered(row):
        yield f"the tool that was to be taken away, {row.call.name}, is still offered"
    for removed in row.original_tools or ():
        if removed["name"] == row.call.name:
            for twin in filter(lambda tool: _alike(tool, removed), row.tools):
                yield f"{twin['name']} is still offered, which is named like {removed['name']} and takes the same"


def _alike(tool: Mapping[str, Any], removed: Mapping[str, Any]) -> bool:
    """Whether two tools share the last part of their names, and their parameters' documents."""
    one, other = tool["name"], removed["name"]
    named_alike = one != other and one.rpartition(".")[2] == other.rpartition(".")[2]
    return named_alike and tool.get("parameters") == removed.get("parameters")
