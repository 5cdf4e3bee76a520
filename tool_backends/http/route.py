"""From a call to its request: every argument percent-encoded in its place, so that none can leave it.

What a policy writes becomes part of one path segment, one value of the query, one header, one cookie or the body.
Host, scheme, method and the names of things come from the endpoint alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from callgym.call import ToolResult
from callgym.json_value import write_json
from callgym.tool_backends.http.body import ACCEPTED_ENCODINGS
from callgym.tool_backends.http.endpoint import BODY_PLACES, Argument, Endpoint, is_header_value
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.http.message import Origin, Request

__all__ = ["MAX_TARGET", "Route", "json_body", "read_url", "standing_headers"]

MAX_TARGET = 16_384
"""Longest path and query together, and longest header, in bytes."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PIECES = re.compile(r"\{([^{}]*)\}")
_JOINTS = {"comma": ",", "space": " ", "pipe": "|"}
_IN_PATH = "/:@!$&'()*+,;=-._~%"
_IN_QUERY = "/:@!$&'()*+,;=-._~%?"

Pairs = Iterator[tuple[str, str]]


class Refused(ValueError):
    """An argument cannot be sent; the text is for the policy."""


class Route:
    """An endpoint, made ready to turn calls into requests."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.origin, host = read_url(endpoint.url)
        parts = urlsplit(endpoint.url)
        # Every second piece is the name of a placeholder.
        pieces = _PIECES.split(parts.path or "/")
        self._path = [piece if index % 2 else quote(piece, safe=_IN_PATH) for index, piece in enumerate(pieces)]
        self._query = quote(parts.query, safe=_IN_QUERY)
        self._places = endpoint.places
        self._in_path = {place.name: name for name, place in self._places.items() if place.place == "path"}
        self._taken = _taken_names(endpoint)
        self._headers = standing_headers(host, endpoint.headers)
        self._has_body = any(place.place in BODY_PLACES for place in self._places.values())
        kind = b"application/json" if endpoint.body == "json" else b"application/x-www-form-urlencoded"
        typed = any(name.lower() == "content-type" for name in endpoint.headers)
        self._type = () if typed else ((b"Content-Type", kind),)

    def request(self, arguments: Mapping[str, Any], keys: KeyRing, max_body: int) -> Request | ToolResult:
        """The request of a call, or what is wrong with its arguments.

        Args:
            arguments: Valid against the tool's schema.
            keys: The values of the endpoint's keys.
            max_body: Longest body, in bytes.
        """
        try:
            return self._request(arguments, keys, max_body)
        except Refused as refused:
            message = f"arguments of {self.endpoint.tool.name} cannot be sent: {refused}"
        except UnicodeEncodeError:
            message = f"arguments of {self.endpoint.tool.name} cannot be sent: a text holds half a character"
        return ToolResult(error="invalid_arguments", message=message)

    def _request(self, arguments: Mapping[str, Any], keys: KeyRing, max_body: int) -> Request:
        unknown = [name for name in arguments if name not in self._places]
        if unknown:
            raise Refused(f"there is no argument {unknown[0][:80]!r}; they are: {', '.join(self._places)[:200]}")
        target = self._target(arguments, keys)
        headers = [*self._headers, *self._own_headers(arguments, keys)]
        body = b""
        if self._has_body:
            body = self._body(arguments)
            headers += [*self._type, (b"Content-Length", b"%d" % len(body))]
        elif self.endpoint.method in ("POST", "PUT", "PATCH"):
            headers.append((b"Content-Length", b"0"))
        if len(target) > MAX_TARGET or len(body) > max_body:
            raise Refused("they are too long")
        return Request(self.endpoint.method, self.origin, target, tuple(headers), body, self.endpoint.repeatable)

    def _target(self, arguments: Mapping[str, Any], keys: KeyRing) -> bytes:
        pieces = list(self._path)
        for index in range(1, len(pieces), 2):
            name = self._in_path[pieces[index]]
            pieces[index] = _segment(name, arguments.get(name), self._places[name])
        query = [f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in self._pairs(arguments, "query")]
        query += [f"{quote(key.name, safe='')}={quote(keys.sent(key), safe='')}"
                  for key in self.endpoint.keys if key.place == "query"]  # fmt: skip
        if self._query:
            query.insert(0, self._query)
        return ("".join(pieces) + ("?" if query else "") + "&".join(query)).encode("ascii")

    def _own_headers(self, arguments: Mapping[str, Any], keys: KeyRing) -> Iterator[tuple[bytes, bytes]]:
        for name, value in self._pairs(arguments, "header"):
            if not is_header_value(value) or len(value) > MAX_TARGET:
                raise Refused(f"{name}, which goes into a header, is one line of ASCII without spaces around it")
            yield name.encode("ascii"), value.encode("ascii")
        cookies = [f"{name}={quote(value, safe='')}" for name, value in self._pairs(arguments, "cookie")]
        for key in self.endpoint.keys:
            if key.place == "header":
                yield key.name.encode("ascii"), keys.sent(key).encode("ascii")
            elif key.place == "cookie":
                cookies.append(f"{key.name}={quote(keys.sent(key), safe='')}")
        if cookies:
            header = "; ".join(cookies)
            if len(header) > MAX_TARGET:
                raise Refused("what goes into cookies is too long")
            yield b"Cookie", header.encode("ascii")

    def _pairs(self, arguments: Mapping[str, Any], wanted: str) -> Pairs:
        """Names and texts of the arguments that go to one place."""
        for name, place in self._places.items():
            value = arguments.get(name)
            if place.place == wanted and value is not None:
                yield from self._written(place, value)

    def _written(self, place: Argument, value: Any) -> Pairs:
        has_names = place.place in ("query", "body")
        if has_names and isinstance(value, dict) and place.style in ("spread", "deep"):
            for key, item in value.items():
                name = f"{place.name}[{key}]" if place.style == "deep" else key
                if name in self._taken:  # a constant, a key, or an argument of its own
                    raise Refused(f"{place.name} has no field {key[:80]!r}")
                yield name, _text(item)
        elif has_names and isinstance(value, list) and place.style in ("repeat", "spread"):
            for item in value:
                yield place.name, _text(item)
        elif isinstance(value, (list, dict)) and place.style != "json":
            yield place.name, _joined(value, place)
        else:
            yield place.name, _text(value)

    def _body(self, arguments: Mapping[str, Any]) -> bytes:
        if self.endpoint.body == "form":
            pairs = self._pairs(arguments, "body")
            return "&".join([f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs]).encode("ascii")
        fields = {}
        for name, place in self._places.items():
            if place.place == "whole_body":
                return json_body(arguments[name]) if name in arguments else b""
            if place.place == "body" and name in arguments:
                fields[place.name] = arguments[name]
        return json_body(fields)


def read_url(url: str) -> tuple[Origin, bytes]:
    """Where a URL leads, and what the header ``Host`` says. Its path and query are not looked at."""
    parts = urlsplit(url)
    name = str(parts.hostname).encode("ascii")
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    host = b"[" + name + b"]" if b":" in name else name
    if port != _DEFAULT_PORTS[parts.scheme]:
        host += b":%d" % port
    return Origin(parts.scheme.encode("ascii"), name, port), host


def standing_headers(host: bytes, given: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers of every request to one place: the usual ones, and those that are given."""
    headers = {
        b"accept": (b"Accept", b"application/json, text/*;q=0.9, */*;q=0.5"),
        b"user-agent": (b"User-Agent", b"callgym"),
        **{name.lower().encode(): (name.encode(), value.encode()) for name, value in given.items()},
    }
    return [(b"Host", host), (b"Accept-Encoding", ACCEPTED_ENCODINGS), *headers.values()]


def json_body(value: Any) -> bytes:
    """A JSON value as it is sent."""
    return write_json(value).encode("utf-8")


def _segment(name: str, value: Any, place: Argument) -> str:
    """A value as a part of one path segment."""
    if value is None or (isinstance(value, (list, dict)) and not value):
        raise Refused(f"{name} is part of the address and cannot be left empty")
    text = _joined(value, place) if isinstance(value, (list, dict)) and place.style != "json" else _text(value)
    # Encoded once or twice, with or without a parameter behind it: some servers take these for steps in the path.
    steps = re.split(r"[/\\]", unquote(text))
    if len(steps) > 1 and not place.slash:
        raise Refused(f"{name} is part of the address and cannot hold a slash or a backslash")
    if any(not step.partition(";")[0].strip(". \t") for step in (text, *steps)):
        raise Refused(f"{name} is part of the address and cannot be empty or made of dots")
    return quote(text, safe="")


def _joined(value: Any, place: Argument) -> str:
    """A list or an object on one line: ``a,b`` or ``key,value,key,value``."""
    joint = _JOINTS.get(place.style, ",")
    if isinstance(value, dict):
        if place.style in ("repeat", "json") and place.place in ("query", "body"):
            return write_json(value)
        value = [part for pair in value.items() for part in pair]
    return joint.join(map(_text, value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else write_json(value)


def _taken_names(endpoint: Endpoint) -> frozenset[str]:
    """Names in the query, or in a form, that an object's fields cannot have."""
    constant = [name for name, _ in parse_qsl(urlsplit(endpoint.url).query, keep_blank_values=True)]
    keys = [key.name for key in endpoint.keys if key.place == "query"]
    arguments = [place.name for place in endpoint.places.values() if place.place in ("query", "body")]
    return frozenset((*constant, *keys, *arguments))
