"""JSON Schema, draft 2020-12, compiled; nothing is ever fetched for it."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

__all__ = ["compile_schema"]


def compile_schema(schema: Any) -> jsonschema_rs.Draft202012Validator:
    """The validator of a schema.

    A reference that leads out of it, to a file or an address, is refused: schemas come with tasks and from foreign
    servers, and to compile one must neither read files nor open connections.

    Raises:
        ValueError: It is no schema of this draft, or refers to something outside of it.
    """
    return jsonschema_rs.Draft202012Validator(schema, retriever=_refuse)


def _refuse(uri: str) -> Any:
    raise ValueError(f"the reference {uri[:200]!r} leads out of the schema, and nothing is fetched")
