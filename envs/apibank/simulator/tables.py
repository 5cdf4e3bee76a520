"""What the simulators run on: API-Bank's databases, the tables inside its tools, and their documentation.

    tables = load_tables(Path("folder with the official files"))
    tables.base["Account"]["..."]

Loaded once a folder and shared by all sessions, which never change it (``world``).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callgym.data import read_json_file, read_json_lines, verify
from callgym.envs.apibank.simulator.manager import TOOL_SETS
from callgym.envs.apibank.simulator.starter import documents as own_documents
from callgym.envs.apibank.simulator.starter import tables as own_tables
from callgym.envs.apibank.simulator.world import own_copy
from callgym.errors import DataError

__all__ = ["Tables", "find_table_file", "has_tables", "in_own_shape", "load_tables", "loaded_tables", "starter_tables"]

_DATABASES = (
    "Account", "Agenda", "Alarm", "Appointments", "Bank", "HealthData", "History", "Hotel", "ImageCaptioning",
    "Meeting", "QuestionAnswering", "Reminder", "Scenes", "SearchEngine", "SpeechRecognition", "Stock", "Symptom",
    "TimeSwitch", "Wiki",
)  # fmt: skip
_OPEN_BANK_ACCOUNT = "_level_1_2_OpenBankAccount"
_BUILTIN, _DOCUMENTS = "builtin_tables.json", "tool_docs.json"
_DERIVED = {"apis": "derived/apis_lv1_lv2.json", "lv3_apis": "derived/apis_lv3.json"}
_BESIDE = "api_bank_parity"
_FETCH = "fetch the data again: callgym fetch apibank"


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables and documentation, never changed once loaded."""

    base: Mapping[str, Any]
    """Table name to table: the databases, ``OpenBankAccount``, ``lv3/<Tool>``, ``Dictionary``,
    ``Translate`` and ``languages``."""
    documents: Mapping[str, Mapping[str, dict[str, Any]]]
    """Tool set to tool to its documentation."""
    search_texts: Mapping[str, Mapping[str, str]] = field(repr=False)
    """Tool set to tool to the text that the tool search compares with."""
    fingerprint: str = ""
    """SHA-256 of what was loaded: tells official tables from starter tables."""


_loaded: dict[str, Tables] = {}


def loaded_tables(fingerprint: str) -> Tables | None:
    """The tables of that fingerprint, if this process has loaded them."""
    return _loaded.get(fingerprint)


def has_tables(folder: Path) -> bool:
    """Whether a folder with API-Bank's files also holds what its tools run on."""
    return (folder / "init_database").is_dir() and find_table_file(folder, _BUILTIN) is not None


def find_table_file(folder: Path, name: str) -> Path | None:
    """``name`` in the folder of official files, or in the folder of tables beside it; None where it is in neither."""
    for place in (folder, folder.parent / _BESIDE):
        if (place / name).is_file():
            return place / name
    return None


@functools.lru_cache(maxsize=4)
def load_tables(folder: Path) -> Tables:
    """The official tables of a folder.

    Read are ``init_database/*.json``, ``builtin_tables.json`` (the tables inside the official tools) and
    ``tool_docs.json`` (or ``derived/apis_*.json``); answers of the two web services (Dictionary,
    Translate) come from ``recorded_external.json`` or, without it, from the recorded dialogues.

    Raises:
        DataError: A file is missing or damaged; the message names it and the mend.
    """
    verify(folder)
    base: dict[str, Any] = {}
    for name in _DATABASES:
        base[name] = _table(folder / f"init_database/{name}.json")
    base.update(_builtin_tables(folder))
    external = find_table_file(folder, "recorded_external.json")
    base.update(read_json_file(external) if external else _recorded_services(folder))
    languages = find_table_file(folder, "translate_languages.json")
    base["languages"] = read_json_file(languages) if languages else own_tables.languages()
    return _remember(base, _documents(folder))


@functools.cache
def starter_tables() -> Tables:
    """CallGym's own tables, in the official shapes."""
    base: dict[str, Any] = dict(own_tables.databases())
    base.update(_flattened(own_tables.builtin()))
    base.update(own_tables.external())
    base["languages"] = own_tables.languages()
    documents = {
        tool_set: {document["name"]: document for document in found}
        for tool_set, found in own_documents.DOCUMENTS.items()
    }
    return _remember(base, documents)


def _remember(base: dict[str, Any], documents: Mapping[str, Mapping[str, dict[str, Any]]]) -> Tables:
    digest = hashlib.sha256(json.dumps([base, documents], sort_keys=True).encode()).hexdigest()
    base = in_own_shape(base)
    texts = {
        tool_set: {name: own_documents.search_text(name, doc["description"]) for name, doc in found.items()}
        for tool_set, found in documents.items()
    }
    return _loaded.setdefault(digest, Tables(base, documents, texts, digest))


def in_own_shape(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Tables in the shape that the tools read: pictures by their address, where the official file has a list."""
    pictures = tables.get("ImageCaptioning")
    return {**tables, "ImageCaptioning": _by_url(pictures)} if isinstance(pictures, list) else dict(tables)


def _by_url(pictures: list[dict[str, str]]) -> dict[str, str]:
    captions: dict[str, str] = {}
    for picture in pictures:
        captions.setdefault(picture["url"], picture["caption"])
    return captions


def _table(path: Path) -> Any:
    table = read_json_file(path)
    if not isinstance(table, (dict, list)):
        raise DataError(f"{path}: a table was expected, found {type(table).__name__}; {_FETCH}")
    return table


def _builtin_tables(folder: Path) -> dict[str, Any]:
    path = find_table_file(folder, _BUILTIN)
    if path is None:
        raise DataError(f"{folder / _BUILTIN} does not exist: it holds the tables inside the official tools; {_FETCH}")
    return _flattened(_table(path))


def _flattened(builtin: Mapping[str, Any]) -> dict[str, Any]:
    """Each tool's one table under ``lv3/<Tool>``."""
    flat = {}
    for tool, tables in builtin.items():
        (table,) = tables.values()
        flat["OpenBankAccount" if tool == _OPEN_BANK_ACCOUNT else f"lv3/{tool}"] = own_copy(table)
    return flat


def _documents(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    path = find_table_file(folder, _DOCUMENTS)
    if path is not None:
        rows = {tool_set: found["descriptions"] for tool_set, found in _table(path).items()}
    else:
        rows = {tool_set: _table(folder / name) for tool_set, name in _DERIVED.items()}
    keys = ("name", "description", "input_parameters", "output_parameters")
    documents = {s: {row["name"]: {key: row[key] for key in keys} for row in found} for s, found in rows.items()}
    for tool_set, tools in TOOL_SETS.items():
        missing = tools.keys() - documents.get(tool_set, {}).keys()
        if missing:
            raise DataError(f"{path or folder / 'derived'}: no documentation of {sorted(missing)}; {_FETCH}")
    return documents


def _recorded_services(folder: Path) -> dict[str, Any]:
    """What Dictionary and Translate answered in the recorded dialogues."""
    meanings: dict[str, Any] = {}
    translations: dict[tuple[str, str], str] = {}
    for name, given, output in _recorded_answers(folder):
        if name == "Dictionary":
            meanings.setdefault(given["keyword"].replace("_", " ").strip().lower(), output)
        else:
            translations.setdefault((given["src"], given.get("tgt_lang", "en")), output)
    rows = [{"src": src, "dest": dest, "text": text} for (src, dest), text in translations.items()]
    return {"Dictionary": meanings, "Translate": rows}


def _recorded_answers(folder: Path) -> Iterator[tuple[str, dict[str, str], Any]]:
    for path in sorted(folder.glob("lv1-lv2-samples/*/*.jsonl")):
        for _, row in read_json_lines(path):
            name = row.get("api_name") if isinstance(row, dict) else None
            if name in ("Dictionary", "Translate") and row["result"]["output"] is not None:
                yield name, row["param_dict"], row["result"]["output"]
