"""An OpenAPI document as plain JSON values, and what its references point to. Nothing is ever fetched.

A document is a dict, JSON or YAML text, or a file of either; YAML needs PyYAML.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from callgym.errors import DataError, MissingPackageError

__all__ = ["Document", "Unusable"]

_MAX_BYTES = 64 * 2**20
_MAX_VALUES = 2_000_000
_MAX_DEPTH = 200


class Unusable(ValueError):
    """A part of the document cannot be used; the text is the reason."""


class Document:
    """An OpenAPI document."""

    def __init__(self, source: Mapping[str, Any] | str | os.PathLike[str]) -> None:
        """Read it.

        Args:
            source: The document itself, its JSON or YAML text, or the path of a file.

        Raises:
            DataError: It cannot be read, or is no OpenAPI 3 document.
            MissingPackageError: It is YAML, and PyYAML is not installed.
        """
        value, self.where = _read(source)
        self.root: dict[str, Any] = _plain(value, [_MAX_VALUES], 0, self.where)
        version = str(self.root.get("openapi", "")) if isinstance(self.root, dict) else ""
        if not version.startswith("3."):
            found = f"openapi: {version}" if version else "no field openapi"
            raise DataError(f"{self.where} is no OpenAPI 3 document ({found}); convert a Swagger 2 document first")
        self.is_old = version.startswith("3.0")
        """Whether its schemas are OpenAPI 3.0's own and not JSON Schema."""
        self._parts: dict[str, frozenset[str]] = {}
        self._cyclic: dict[str, bool] = {}

    def resolved(self, value: Any) -> Any:
        """The value that a reference object leads to, over any number of steps; the value itself if it is none."""
        for _ in range(_MAX_DEPTH):
            if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
                return value
            value = self.target(value["$ref"])
        raise Unusable("its references go round in a circle")

    def target(self, reference: str) -> Any:
        """The value at ``#/...``."""
        if not reference.startswith("#"):
            raise Unusable(f"it refers to another document ({reference[:80]!r}), and none is fetched")
        at: Any = self.root
        for part in filter(None, reference[1:].split("/")):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            try:
                at = at[int(key)] if isinstance(at, list) else at[key]
            except (LookupError, TypeError, ValueError):
                raise Unusable(f"the reference {reference[:80]!r} leads nowhere") from None
        return at

    def is_cyclic(self, reference: str) -> bool:
        """Whether what is at a reference refers, over any number of steps, to itself."""
        known = self._cyclic.get(reference)
        if known is None:
            seen: set[str] = set()
            pending = list(self._references(reference))
            while pending and reference not in seen:
                step = pending.pop()
                if step not in seen:
                    seen.add(step)
                    pending.extend(self._references(step))
            known = self._cyclic[reference] = reference in seen
        return known

    def _references(self, reference: str) -> frozenset[str]:
        """The references within what is at a reference."""
        if reference not in self._parts:
            found: set[str] = set()
            pending = [self.target(reference)]
            while pending:
                value = pending.pop()
                if isinstance(value, dict):
                    if isinstance(value.get("$ref"), str):
                        found.add(value["$ref"])
                    pending.extend(value.values())
                elif isinstance(value, list):
                    pending.extend(value)
            self._parts[reference] = frozenset(found)
        return self._parts[reference]


def _read(source: Mapping[str, Any] | str | os.PathLike[str]) -> tuple[Any, str]:
    """The document's values, and what to call it in a message."""
    if isinstance(source, Mapping):
        return source, "the document"
    where, text = "the document", source
    if not isinstance(text, str) or ("\n" not in text and not text.lstrip().startswith("{")):
        path = Path(text)
        where = path.name
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise DataError(f"{where} is longer than {_MAX_BYTES} bytes")
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            reason = type(error).__name__ if isinstance(error, UnicodeError) else str(error)
            raise DataError(f"{path} cannot be read as an OpenAPI document: {reason}") from error
    try:
        return (json.loads(text) if text.lstrip().startswith("{") else _read_yaml(text)), where
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is neither JSON nor YAML: {str(error)[:200]}") from error


def _read_yaml(text: str) -> Any:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise MissingPackageError(
            "PyYAML is not installed; pip install PyYAML, or write the document as JSON"
        ) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _plain(value: Any, budget: list[int], depth: int, where: str) -> Any:
    """A copy of JSON values alone; YAML's dates become text, its numbers as keys too."""
    budget[0] -= 1
    if budget[0] < 0 or depth > _MAX_DEPTH:
        raise DataError(f"{where} is too large, or goes round in a circle")
    if isinstance(value, Mapping):
        return {str(key): _plain(item, budget, depth + 1, where) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, budget, depth + 1, where) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
