"""When2Call's files, row by row: what is missing or damaged gets an error that names the file and the row.

Source: ``NVIDIA/When2Call`` at ecc8d42 (Apache-2.0), folder ``data``. The two test files have one format, in which
fields are left out that a row has no use for; the training files have two others. A clone without Git LFS has
pointers in place of all but the judge's file: where the multiple-choice file is not there, the judge's 300 rows,
a part of it, stand in.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast, overload

from callgym.call import ToolCall
from callgym.data import read_json_lines
from callgym.envs.when2call.documents import bfcl_form, read_document, read_documents
from callgym.errors import DataError
from callgym.message import Message
from callgym.noun import require_finite

__all__ = [
    "ANSWERS",
    "FILES",
    "Answer",
    "LabelledRow",
    "Rows",
    "TrainRow",
    "calls_in",
    "file_of",
    "is_pointer",
    "load_rows",
    "naming",
]

Answer = Literal["direct", "tool_call", "request_for_info", "cannot_answer"]
"""The kinds of reply, by their official names."""
ANSWERS: tuple[Answer, ...] = ("direct", "tool_call", "request_for_info", "cannot_answer")
"""The kinds in the official order, which is that of the four choices."""
FILES = {
    "judge": "test/when2call_test_llm_judge.jsonl",
    "mcq": "test/when2call_test_mcq.jsonl",
    "sft": "train/when2call_train_sft.jsonl",
    "preference": "train/when2call_train_pref.jsonl",
}
"""What a file is for, and its name below the data folder."""

_MEND = "fetch it again: callgym fetch when2call"
_POINTER = b"version https://git-lfs.github.com/spec/"
_OPEN, _CLOSE = "<TOOLCALL>", "</TOOLCALL>"
_ROLES = ("system", "user", "assistant")

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A row of a test file."""

    number: int
    """Its line in the file, from 1."""
    uuid: str
    question: str
    """What the policy is asked."""
    correct: Answer
    """The right kind of reply."""
    answers: Mapping[Answer, str]
    """A reply of each kind, in the official order; ``tool_call`` is JSON text."""
    call: ToolCall
    """The ``tool_call`` reply, read."""
    tools: tuple[dict[str, Any], ...]
    """The documents that are offered."""
    target: dict[str, Any] | None = None
    """The document of the right tool; None where it was taken away."""
    original_tools: tuple[dict[str, Any], ...] | None = None
    """For ``cannot_answer``: the documents before the right one was taken away."""
    held_out: str | None = None
    """For ``request_for_info``: the parameter whose value was taken out of the question."""
    original_question: str | None = None
    """For ``request_for_info``: the question with the value."""
    source: str = ""
    """The part of BFCL that the row was made from."""
    source_id: str = ""
    """The BFCL entry that the row was made from."""


@dataclass(frozen=True, slots=True)
class TrainRow:
    """A row of a training file. No row says of which kind its replies are."""

    number: int
    """Its line in the file, from 1."""
    messages: tuple[Message, ...]
    """What is said before the reply."""
    reply: str
    """The right reply; calls stand in ``<TOOLCALL>[...]</TOOLCALL>``, which ``calls_in`` reads."""
    rejected: str | None
    """A wrong one of another kind; None in the SFT file."""
    tools: tuple[dict[str, Any], ...]
    """The documents that are offered, in BFCL's form."""


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """The rows of a file."""

    rows: tuple[R, ...]
    path: Path
    """The file they are from."""
    notes: tuple[str, ...] = ()
    """What the user should know: that another file stands in."""


@overload
def load_rows(folder: Path, which: Literal["judge", "mcq"]) -> Rows[LabelledRow]: ...
@overload
def load_rows(folder: Path, which: Literal["sft", "preference"]) -> Rows[TrainRow]: ...
def load_rows(folder: Path, which: Literal["judge", "mcq", "sft", "preference"]) -> Rows[Any]:
    """Read a file of the official folder.

    Args:
        folder: The official ``data`` folder, or a clone of the repository.
        which: A key of ``FILES``.

    Raises:
        DataError: The file is missing, a Git LFS pointer (but see above for ``"mcq"``), or has a damaged row; the
            message names the file, the row and the mend.
    """
    path, notes = file_of(folder, which), []
    if which == "mcq" and (not path.is_file() or is_pointer(path)):
        what = "a Git LFS pointer" if path.is_file() else "not there"
        path = file_of(folder, "judge")
        notes.append(
            f"{FILES['mcq']} is {what}: the 300 rows of {FILES['judge']}, a part of it, stand in; "
            "for all 3,652: callgym fetch when2call"
        )
    if path.is_file() and is_pointer(path):
        raise DataError(f"{path} is a Git LFS pointer, not the file itself; {_MEND}, or in the clone: git lfs pull")
    read: Callable[[int, Mapping[str, Any]], Any] = {"sft": _read_sft, "preference": _read_preference}.get(
        which, _read_test
    )
    return Rows(tuple(_read_all(path, read)), path, tuple(notes))


def file_of(folder: Path, which: str) -> Path:
    """Where a file is, or should be: below the folder, or below its folder ``data`` as in the repository."""
    places = (folder / FILES[which], folder / "data" / FILES[which])
    return next((path for path in places if path.is_file()), places[0])


def is_pointer(path: Path) -> bool:
    """Whether a file is what Git LFS leaves in place of a file that was not fetched."""
    with path.open("rb") as file:
        return file.read(len(_POINTER)) == _POINTER


@contextlib.contextmanager
def naming(path: Path, number: int) -> Iterator[None]:
    """Turn what a damaged row provokes into an error that names file and row."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        fault = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise DataError(f"{path}, row {number}: cannot be read ({fault}); {_MEND}") from error


def _read_all(path: Path, read: Callable[[int, Mapping[str, Any]], R]) -> Iterator[R]:
    count = 0
    for number, value in read_json_lines(path):
        with naming(path, number):
            if not isinstance(value, dict):
                raise TypeError(f"an object was expected, found {type(value).__name__}")
            row = read(number, require_finite(value))
        yield row
        count += 1
    if not count:
        raise DataError(f"{path} has no row; {_MEND}")


# Test files.


def _read_test(number: int, row: Mapping[str, Any]) -> LabelledRow:
    answers = _read_answers(row["answers"])
    correct = row["correct_answer"]
    if correct not in ANSWERS:
        raise ValueError(f"correct_answer is {correct!r}, not one of {', '.join(ANSWERS)}")
    target, original_tools = row.get("target_tool"), row.get("orig_tools")
    return LabelledRow(
        number=number,
        uuid=_text(row, "uuid"),
        question=_text(row, "question"),
        correct=correct,
        answers=answers,
        call=_read_call(answers["tool_call"]),
        tools=read_documents(row.get("tools")),
        target=None if target in (None, "null") else read_document(target),
        original_tools=None if original_tools is None else read_documents(original_tools),
        held_out=_optional_text(row, "held_out_param"),
        original_question=_optional_text(row, "orig_question"),
        source=_optional_text(row, "source") or "",
        source_id=_optional_text(row, "source_id") or "",
    )


def _read_answers(value: Any) -> dict[Answer, str]:
    if not isinstance(value, dict):
        raise TypeError(f"answers are an object, found {type(value).__name__}")
    call = value.get("tool_call")
    written = json.dumps(call) if isinstance(call, dict) else call
    return {kind: _text({**value, "tool_call": written}, kind) for kind in ANSWERS}


def _read_call(value: Any) -> ToolCall:
    """A call from an object ``{"name", "arguments"}`` or its JSON text; some writers say ``parameters``."""
    call = json.loads(value) if isinstance(value, str) else value
    if not isinstance(call, dict):
        raise TypeError(f"a call is an object, found {type(call).__name__}")
    arguments = call["arguments"] if "arguments" in call else call["parameters"]
    return ToolCall(name=call["name"], arguments=require_finite(arguments))


def _text(row: Mapping[str, Any], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{field!r} is a text, found {_short(value)}")
    return value


def _optional_text(row: Mapping[str, Any], field: str) -> str | None:
    return None if row.get(field) in (None, "") else _text(row, field)


def _short(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, str) else type(value).__name__


# Training files.


def _read_sft(number: int, row: Mapping[str, Any]) -> TrainRow:
    *before, reply = row["messages"]
    return _train_row(number, row, before, reply, None)


def _read_preference(number: int, row: Mapping[str, Any]) -> TrainRow:
    return _train_row(number, row, row["messages"], row["chosen_response"], row["rejected_response"])


def _train_row(number: int, row: Mapping[str, Any], before: Any, reply: Any, rejected: Any) -> TrainRow:
    messages = tuple(_message(message) for message in before)
    if not messages or messages[-1].role != "user":
        raise ValueError("the message before the reply is not the user's")
    return TrainRow(
        number=number,
        messages=messages,
        reply=_reply(reply),
        rejected=None if rejected is None else _reply(rejected),
        tools=tuple(bfcl_form(document) for document in read_documents(row.get("tools"))),
    )


def _message(value: Any) -> Message:
    if value["role"] not in _ROLES:
        raise ValueError(f"a message of role {value['role']!r}")
    if not isinstance(value["content"], str):
        raise ValueError(f"a message whose text is {_short(value['content'])}")
    return Message(role=value["role"], content=value["content"])


def _reply(value: Any) -> str:
    message = _message(value)
    if message.role != "assistant":
        raise ValueError(f"the reply is of role {message.role!r}, not the assistant's")
    return cast(str, message.content)


def calls_in(reply: str) -> tuple[ToolCall, ...]:
    """The calls of a training file's reply; none where it has no ``<TOOLCALL>``.

    The published converter dumps what it finds, so that a call may also stand there as a quoted text.

    Raises:
        ValueError, TypeError, KeyError: What stands between the tags is no list of calls.
    """
    _, opening, rest = reply.partition(_OPEN)
    if not opening:
        return ()
    calls = json.loads(rest.partition(_CLOSE)[0])
    return tuple(_read_call(call) for call in (calls if isinstance(calls, list) else [calls]))
