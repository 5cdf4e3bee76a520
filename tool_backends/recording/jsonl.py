"""A recording as lines of JSON, to be read, edited, put under version control, and brought back.

The first line names the format and what is redacted. Then come the tools' documents, the calls in the order in which
they were recorded, and the states.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from callgym.call import ToolResult
from callgym.errors import DataError
from callgym.noun import JsonObject
from callgym.tool import Tool
from callgym.tool_backends.recording.answers import Answers, RecordedCall, result_dict
from callgym.tool_backends.recording.keys import json_text
from callgym.tool_backends.recording.store import RecordingStore
from callgym.whole_file import whole_file

__all__ = ["ImportReport", "export_records", "import_records", "record_lines"]

FORMAT = 1


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Header(_Row):
    kind: Literal["recording"]
    format: int
    redact: tuple[str, ...]


class _Tool(_Row):
    kind: Literal["tool"]
    document: Tool


class _Call(_Row):
    kind: Literal["call"]
    tool: str = Field(min_length=1)
    arguments: JsonObject
    result: ToolResult
    scope: str
    sequence: int = Field(ge=0)
    normal: str
    source: str


class _State(_Row):
    kind: Literal["state"]
    moment: str
    state: JsonObject
    source: str


_AnyRow = Annotated[_Header | _Tool | _Call | _State, Field(discriminator="kind")]
_rows: TypeAdapter[_AnyRow] = TypeAdapter(_AnyRow)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found."""

    calls: int
    """Calls in the lines."""
    new: int
    """Those that the recording did not have."""
    states: int
    """States in the lines."""


def record_lines(records: Answers) -> Iterator[dict[str, Any]]:
    """The lines of a recording, as objects.

    Raises:
        DataError: The recording redacts with a function, which lines cannot carry.
    """
    if records.redaction.function is not None:
        raise DataError(f"{records.name} is redacted by {records.redaction.function}, which an export cannot carry")
    yield {"kind": "recording", "format": FORMAT, "redact": list(records.redaction.names)}
    for tool in records.tools:
        yield {"kind": "tool", "document": tool.to_dict()}
    for call in records.calls():
        yield call_object(call)
    if isinstance(records, RecordingStore):
        for moment, state, source in records.states():
            yield {"kind": "state", "moment": moment, "state": state, "source": source}


def call_object(call: RecordedCall) -> dict[str, Any]:
    """A row as an object."""
    return {
        "kind": "call",
        "tool": call.tool,
        "arguments": call.arguments,
        "result": result_dict(call.result),
        "scope": call.scope,
        "sequence": call.sequence,
        "normal": call.normal,
        "source": call.source,
    }


def export_records(records: Answers, out: str | os.PathLike[str]) -> int:
    """Write a recording as lines of JSON; the file appears when it is complete. Returns how many calls it has.

    Raises:
        DataError: The recording cannot be read, or lines cannot carry it.
    """
    calls = 0
    with whole_file(Path(out)) as file:
        for line in record_lines(records):
            calls += line["kind"] == "call"
            file.write(json_text(line) + "\n")
    return calls


def import_records(source: str | os.PathLike[str], store: str | os.PathLike[str]) -> ImportReport:
    """Bring the lines of an export into a recording, which is made where there is none; again, and nothing changes.

    Args:
        source: The lines.
        store: The path of the recording's file.

    Raises:
        ConfigurationError: The recording redacts other arguments than the one that was exported.
        DataError: A line is not what it should be; the message names it. What came before it may be there already.
    """
    source = Path(source)
    rows = _read_lines(source)
    first = next(rows, None)
    if not isinstance(first, _Header):
        raise DataError(f"{source}: the first line of an export is {{'kind': 'recording', ...}}; give such a file")
    if first.format != FORMAT:
        raise DataError(f"{source} has format {first.format}, and this CallGym reads {FORMAT}: export it anew")
    found = _Found()
    with RecordingStore(store, redact=first.redact) as target:
        new = target.add_rows(found.calls_in(rows, target))
        target.add_tools(found.tools)
    return ImportReport(found.calls, new, found.states)


class _Found:
    """Counts what comes by, and keeps what is no call."""

    def __init__(self) -> None:
        self.calls = 0
        self.states = 0
        self.tools: list[Tool] = []

    def calls_in(self, rows: Iterable[_Row], target: RecordingStore) -> Iterator[RecordedCall]:
        for row in rows:
            if isinstance(row, _Call):
                self.calls += 1
                yield RecordedCall(
                    tool=row.tool,
                    arguments=row.arguments,
                    result=row.result,
                    scope=row.scope,
                    sequence=row.sequence,
                    normal=row.normal,
                    source=row.source,
                )
            elif isinstance(row, _State):
                self.states += 1
                target.add_state(row.moment, row.state, row.source)
            elif isinstance(row, _Tool):
                self.tools.append(row.document)


def _read_lines(source: Path) -> Iterator[_Row]:
    with source.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield _rows.validate_python(json.loads(line.decode()))
            except ValidationError as error:
                fault = error.errors(include_url=False)[0]
                field = ".".join(str(part) for part in fault["loc"][:8])
                raise DataError(
                    f"{source}, line {number}, {field}: {fault['msg']}; mend the line or leave it out"
                ) from error
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"{source}, line {number}: it is not JSON ({error}); if the file was cut short, export it again"
                ) from error
