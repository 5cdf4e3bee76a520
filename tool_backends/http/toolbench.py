"""ToolBench's tool documents as tools, under the names that its models were trained on::

    apis = read_apis("toolenv/tools/Weather/open_weather.json")
    apis[0].tool.name  # "current_weather_for_open_weather"

Names and descriptions are those of ``api_json_to_openai_json`` (OpenBMB/ToolBench d56fdd8, rapidapi.py), with two
differences: a NUMBER is a number (there, an integer, though arguments were never checked), and optional parameters are
documented whether or not there are required ones.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgym.errors import DataError
from callgym.json_value import copy_json
from callgym.tool import Tool

__all__ = ["ToolBenchApi", "read_apis", "standard_name", "tool_of_query"]

_NOT_IN_NAMES = re.compile("[^\u4e00-\u9fa5^a-zA-Z0-9_]")
_KEYWORDS = frozenset(("from", "class", "return", "false", "true", "id", "and"))
_MAX_NAME = 64
_MAX_DESCRIPTION = 256
_TYPES = {"NUMBER": "number", "STRING": "string", "BOOLEAN": "boolean"}


@dataclass(frozen=True, slots=True)
class ToolBenchApi:
    """One API: the tool that a policy is told of, and where the server has it."""

    tool: Tool
    """``name``: ``{api}_for_{tool}``, its last 64 characters."""
    category: str
    """The folder: ``Health_and_Fitness``."""
    tool_name: str
    """Standardised, as the file is called."""
    api_name: str
    """Standardised, as the server's function is called."""


def standard_name(text: str) -> str:
    """A name as ToolBench writes it in code: ``standardize`` of its ``toolbench/utils.py``.

    Letters, digits, Chinese characters, ``_`` and ``^`` stay; anything else becomes ``_``; no two ``_`` in a row and
    none at the ends; lower case; ``get_`` before a digit.
    """
    text = re.sub("_+", "_", _NOT_IN_NAMES.sub("_", text)).lower().strip("_")
    return f"get_{text}" if text[:1].isdigit() else text


def _function_name(text: str) -> str:
    """``change_name(standardize(text))``: no word that Python keeps for itself."""
    name = standard_name(text)
    return f"is_{name}" if name in _KEYWORDS else name


def read_apis(path: str | os.PathLike[str], *, category: str | None = None) -> tuple[ToolBenchApi, ...]:
    """The APIs of a tool document, or of all documents below a folder, in the order of their paths.

    Names are not unique across ToolBench: choose the APIs of a query before making a backend of them.

    Args:
        path: ``<Category>/<tool>.json``, a category's folder or the folder of all categories.
        category: Only this one; for a single document: the category it belongs to, by default its folder's name.

    Raises:
        DataError: A document is missing or is not what it should be.
    """
    path = Path(path)
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if path.is_dir() and category is not None:
        files = [file for file in files if file.parent.name == category]
    if not files:
        raise DataError(f"{path}: there are no tool documents (<Category>/<tool>.json) for category={category!r}")
    return tuple(api for file in files for api in _of_file(file, category or file.absolute().parent.name))


def tool_of_query(row: Mapping[str, Any]) -> ToolBenchApi:
    """The API of an entry of a query's ``api_list``, which documents it without the tool's file.

    Raises:
        DataError: A field is missing or is not what it should be.
    """
    names = [row.get(key) for key in ("category_name", "tool_name", "api_name")]
    if not all(isinstance(name, str) and name for name in names):
        raise DataError(f"an entry of api_list has category_name, tool_name and api_name, got {names}")
    category, tool_name, api_name = map(str, names)
    return _api(row, api_name, row.get("api_description"), category, standard_name(tool_name), str(tool_name))


def _of_file(file: Path, category: str) -> Iterator[ToolBenchApi]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file}: cannot be read as a tool document ({error})") from error
    rows = document.get("api_list") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and row.get("name") for row in rows):
        raise DataError(f"{file}: a tool document has an api_list of objects with names")
    seen: set[str] = set()
    for row in rows:
        name = _function_name(str(row["name"]))
        if name in seen:  # ToolBench takes the first of a name, too
            continue
        seen.add(name)
        yield _api(row, str(row["name"]), row.get("description"), category, file.stem, str(document.get("tool_name")))


def _api(
    row: Mapping[str, Any], title: str, description: Any, category: str, tool_name: str, tool_title: str
) -> ToolBenchApi:
    api_name = _function_name(title)
    name = f"{api_name}_for_{tool_name}"[-_MAX_NAME:]
    text = f'This is the subfunction for tool "{tool_name}", you can use this tool.'
    described = str(description or "").strip()
    if described:
        described = described.replace(title, name)[:_MAX_DESCRIPTION]
        text += f'The description of this function is: "{described}"'
    required = _parameters(row, "required_parameters", title)
    optional = _parameters(row, "optional_parameters", title)
    parameters: dict[str, Any] = {"type": "object", "properties": {**required, **optional}, "required": list(required)}
    meta = {"category": category, "tool": tool_title, "api": title}
    if isinstance(row.get("method"), str):
        meta["method"] = row["method"]
    tool = Tool.from_dict(
        {"name": name, "description": text, "parameters": parameters, "meta": meta}, where=f"{category}/{tool_name}"
    )
    return ToolBenchApi(tool, category, tool_name, api_name)


def _parameters(row: Mapping[str, Any], key: str, title: str) -> dict[str, Any]:
    found = row.get(key) or []
    if not isinstance(found, Iterable) or not all(isinstance(entry, dict) and entry.get("name") for entry in found):
        raise DataError(f"the API {title!r}: {key} is a list of objects with names")
    return {_function_name(str(entry["name"])): _schema(entry) for entry in found}


def _schema(entry: Mapping[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": _TYPES.get(str(entry.get("type")), "string"),
        "description": str(entry.get("description") or "")[:_MAX_DESCRIPTION],
    }
    example = entry.get("default")
    if example is not None and str(example):
        schema["example_value"] = copy_json(example)
    return schema
