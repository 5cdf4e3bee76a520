"""An OpenAPI 3.0 or 3.1 document in, tools and their endpoints out::

    read = read_openapi("petstore.json", keys={"api_key": "PETSTORE_KEY"})
    backend = RestBackend(read.endpoints)
    read.skipped  # {"POST /pets/{id}/photo": "its body is multipart/form-data"}

A tool for each operation. Parameters are arguments, and so are the properties of a JSON body that is an object;
another body is the argument ``body``. What cannot be called this way is left out, and said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from callgym.errors import ConfigurationError, DataError
from callgym.schema import ToolSchema
from callgym.tool_backends.http.endpoint import Endpoint
from callgym.tool_backends.http.openapi_arguments import ArgumentList
from callgym.tool_backends.http.openapi_document import Document, Unusable
from callgym.tool_backends.http.openapi_schema import Overgrown, SchemaWriter

__all__ = ["OpenApi", "read_openapi"]

_METHODS = ("get", "post", "put", "patch", "delete")
_MAX_NAME = 64
_MAX_DESCRIPTION = 1024
_BEARERS = ("oauth2", "openIdConnect")


@dataclass(frozen=True, slots=True)
class OpenApi:
    """What could be made of a document."""

    endpoints: tuple[Endpoint, ...]
    """In the document's order, each with its tool."""
    skipped: Mapping[str, str]
    """``POST /path`` to the reason why there is no tool for it."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """One operation of the document."""

    path: str
    method: str
    raw: dict[str, Any]
    item: dict[str, Any]
    """What all operations of the path share."""
    name: str
    """The tool's."""

    @property
    def title(self) -> str:
        return f"{self.method.upper()} {self.path}"


def read_openapi(
    document: Mapping[str, Any] | str | os.PathLike[str],
    *,
    base_url: str | None = None,
    keys: Mapping[str, str] | None = None,
    operations: Collection[str] | None = None,
) -> OpenApi:
    """Read a document; nothing is fetched, neither the document nor what it refers to.

    Args:
        document: The document itself, its JSON or YAML text, or the path of a file. YAML needs PyYAML.
        base_url: Where the service is; by default the first of the document's servers.
        keys: Name of a security scheme to the environment variable with its key. Operations that need a scheme that is
            not named are left out.
        operations: Only these: tool names, operation ids or ``GET /path``; all by default.

    Raises:
        DataError: The document cannot be read, or no operation of it can be used.
        ConfigurationError: An option names what the document does not have, or no URL is known.
        MissingPackageError: The document is YAML, and PyYAML is not installed.
    """
    read = Document(document)
    keys = dict(keys or {})
    schemes = _mapping(_mapping(read.root.get("components")).get("securitySchemes"))
    if unknown := sorted(keys.keys() - schemes.keys()):
        raise ConfigurationError(f"keys names the schemes {unknown}, and {read.where} has {sorted(schemes)}")
    endpoints: list[Endpoint] = []
    skipped: dict[str, str] = {}
    for operation in _chosen(list(_operations(read)), operations):
        try:
            endpoints.append(_endpoint(read, operation, base_url, keys))
        except RecursionError:
            skipped[operation.title] = "its schemas nest too deep"
        except (Unusable, DataError) as error:
            skipped[operation.title] = str(error)
    if not endpoints:
        reasons = "; ".join(f"{title}: {reason}" for title, reason in list(skipped.items())[:3])
        raise DataError(f"{read.where} has no operation that can be a tool{': ' if reasons else ''}{reasons}")
    return OpenApi(tuple(endpoints), skipped)


def _operations(document: Document) -> Iterator[_Operation]:
    taken: set[str] = set()
    for path, item in _mapping(document.root.get("paths")).items():
        try:
            item = document.resolved(item)
        except Unusable:
            continue
        for method in _METHODS:
            raw = item.get(method) if isinstance(item, dict) else None
            if isinstance(raw, dict) and path.startswith("/"):
                yield _Operation(path, method, raw, item, _tool_name(raw, method, path, taken))


def _tool_name(raw: dict[str, Any], method: str, path: str, taken: set[str]) -> str:
    """A name that every dialect can write: letters, digits and underscores, up to 64, no digit first."""
    given = raw.get("operationId")
    stem = re.sub(r"\W+", "_", given if isinstance(given, str) else "", flags=re.ASCII).strip("_")
    stem = stem or re.sub(r"\W+", "_", f"{method}{path}", flags=re.ASCII).strip("_")
    stem = (f"op_{stem}" if stem[0].isdigit() else stem)[:_MAX_NAME]
    name, number = stem, 2
    while name in taken:
        name = f"{stem[: _MAX_NAME - len(str(number)) - 1]}_{number}"
        number += 1
    taken.add(name)
    return name


def _chosen(found: list[_Operation], wanted: Collection[str] | None) -> list[_Operation]:
    if wanted is None:
        return found
    if isinstance(wanted, str):
        raise ConfigurationError(f"operations is a list of names, got the text {wanted!r}")
    names = {
        id(operation): {operation.name, operation.title, str(operation.raw.get("operationId"))} for operation in found
    }
    unknown = sorted(set(wanted) - set().union(*names.values()))
    if unknown:
        known = ", ".join(operation.name for operation in found)
        raise ConfigurationError(f"the document has no operations {unknown}; it has: {known[:400]}")
    return [operation for operation in found if names[id(operation)] & set(wanted)]


def _endpoint(document: Document, operation: _Operation, base_url: str | None, keys: Mapping[str, str]) -> Endpoint:
    try:
        arguments = ArgumentList(document, SchemaWriter(document), operation.item, operation.raw)
    except Overgrown:
        arguments = ArgumentList(document, SchemaWriter(document, inline=False), operation.item, operation.raw)
    base = base_url if base_url is not None else _server(document, operation)
    tool = {
        "name": operation.name,
        "description": _description(operation.raw),
        "parameters": arguments.schema,
        "returns": _returns(document, operation),
        "meta": {"operation": operation.title},
    }
    endpoint = Endpoint.from_dict(
        {
            "tool": tool,
            "method": operation.method.upper(),
            "url": base.rstrip("/") + quote(operation.path, safe="/:@!$&'()*+,;=-._~%{}"),
            "arguments": {name: place.to_dict() for name, place in arguments.places.items()},
            "body": arguments.body,
            "keys": _keys(document, operation, keys),
        },
        where=operation.title,
    )
    ToolSchema(endpoint.tool)  # whether it can be checked at all
    return endpoint


def _description(raw: dict[str, Any]) -> str:
    texts = [text.strip() for key in ("summary", "description") if isinstance(text := raw.get(key), str)]
    return "\n".join(dict.fromkeys(filter(None, texts)))[:_MAX_DESCRIPTION]


def _server(document: Document, operation: _Operation) -> str:
    """The URL of the first server: the operation's, the path's or the document's."""
    for holder in (operation.raw, operation.item, document.root):
        servers = holder.get("servers")
        if isinstance(servers, list) and servers and isinstance(servers[0], dict):
            url = str(servers[0].get("url", ""))
            for name, variable in _mapping(servers[0].get("variables")).items():
                url = url.replace(f"{{{name}}}", str(_mapping(variable).get("default", "")))
            if urlsplit(url).scheme in ("http", "https"):
                return url
            break
    raise ConfigurationError(f"{document.where} does not say where its server is; give base_url='https://...'")


def _returns(document: Document, operation: _Operation) -> Any:
    """The schema of the answer, where there is one that can be written."""
    responses = _mapping(operation.raw.get("responses"))
    code = next((code for code in sorted(responses) if code.startswith("2")), None)
    try:
        content = _mapping(_mapping(document.resolved(responses.get(code))).get("content")) if code else {}
        schema = next((_mapping(media).get("schema") for kind, media in content.items() if "json" in kind), None)
        if not isinstance(schema, dict):
            return None
        writer = SchemaWriter(document, of_answers=True)
        written = writer.write(schema)
        writer.complete()
        if not isinstance(written, dict):
            return None
        return {**written, "$defs": writer.defs} if writer.defs else written
    except (Unusable, RecursionError):
        return None


def _keys(document: Document, operation: _Operation, keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """The keys of the first way of signing in for which all are given."""
    ways = operation.raw.get("security", document.root.get("security"))
    if not isinstance(ways, list) or not ways:
        return []
    ways = sorted(map(_mapping, ways), key=lambda way: not way)  # anonymously only if there is no key
    for way in ways:
        if all(name in keys for name in way):
            return [_key(document, name, keys[name]) for name in way]
    missing = ", ".join(f"{name!r}" for name in ways[0] if name not in keys)
    raise Unusable(f"it needs a key: name the environment variable of the scheme {missing} in keys")


def _key(document: Document, name: str, env: str) -> dict[str, Any]:
    schemes = _mapping(_mapping(document.root.get("components")).get("securitySchemes"))
    scheme = _mapping(document.resolved(schemes.get(name)))
    kind = scheme.get("type")
    if kind == "apiKey":
        return {"env": env, "name": str(scheme.get("name")), "place": scheme.get("in")}
    if kind in _BEARERS:
        return {"env": env, "name": "Authorization", "scheme": "bearer"}
    if kind == "http" and str(scheme.get("scheme")).lower() in ("bearer", "basic"):
        return {"env": env, "name": "Authorization", "scheme": str(scheme["scheme"]).lower()}
    raise Unusable(f"the security scheme {name!r} is of a kind that is not known here")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
