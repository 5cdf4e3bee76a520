"""An endpoint: a tool, and the HTTP request that runs it::

    Endpoint(
        tool=Tool(name="weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}}),
        method="GET",
        url="https://api.example.com/v1/weather/{city}",
        keys=(Key(env="WEATHER_KEY", name="X-Api-Key"),),
    )

An argument goes where the URL has its name in braces; else into the query of a GET, HEAD, OPTIONS or DELETE and into
the body of anything else; ``arguments`` says otherwise. Endpoints are JSON in and out (``to_json``, ``from_json``), and
hold no key: only the name of the environment variable that does.
"""

from __future__ import annotations

import re
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import ConfigDict, model_validator

from callgym.errors import DataError
from callgym.noun import Noun
from callgym.tool import Tool
from callgym.tool_backends.http.keys import Key

__all__ = ["BODY_PLACES", "FRAMING_HEADERS", "IDEMPOTENT", "Argument", "Endpoint", "is_header_name", "is_header_value"]

Place = Literal["path", "query", "header", "cookie", "body", "whole_body"]
Style = Literal["repeat", "comma", "space", "pipe", "spread", "deep", "json"]
Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]

IDEMPOTENT = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "DELETE"))
"""Methods that may be tried again (RFC 9110, 9.2.2)."""
BODY_PLACES = ("body", "whole_body")
FRAMING_HEADERS = frozenset(
    ("connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade", "content-encoding", "accept-encoding")
)  # fmt: skip
"""Headers that say how a message is carried: never an endpoint's or a policy's business."""
_QUERY_METHODS = ("GET", "HEAD", "OPTIONS", "DELETE")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_COOKIE_NAME = _HEADER_NAME


class Argument(Noun):
    """Where one argument of a tool goes, and how it is written there."""

    place: Place
    """``body``: a field of the body; ``whole_body``: the body itself."""
    name: str = ""
    """Its name in the request, where that is another one."""
    style: Style = "repeat"
    """How lists and objects are written outside a JSON body. ``repeat``: ``a=1&a=2``; ``comma``, ``space``, ``pipe``:
    joined; ``deep``: ``a[key]=1``; ``spread``: ``key=1``; ``json``: JSON text. Objects are JSON text unless ``deep``,
    ``spread`` or ``comma`` (``key,1``)."""
    slash: bool = False
    """In a path: whether the value may hold a slash, which is sent as ``%2F``; many servers read that as a slash."""


class Endpoint(Noun):
    """One tool and its request."""

    model_config = ConfigDict(hide_input_in_errors=True)  # a URL may hold a password, against all advice

    tool: Tool
    """What the policy is told."""
    method: Method = "GET"
    """The HTTP method."""
    url: str
    """``https://host/path/{argument}?constant=query``. Host and scheme are fixed; a call cannot change them."""
    arguments: dict[str, Argument] = {}
    """Argument name to its place, where that is not the usual one."""
    body: Literal["json", "form"] = "json"
    """How a body is written."""
    headers: dict[str, str] = {}
    """Headers of every request; no keys, which are ``keys``."""
    keys: tuple[Key, ...] = ()
    """Keys that go along."""
    result_path: tuple[str | int, ...] | None = None
    """Keys and indices that lead to the answer in the response's JSON; None for all of it."""
    idempotent: bool | None = None
    """Whether a request may be made twice; None: as its method says."""

    @property
    def repeatable(self) -> bool:
        """Whether the request may be made again where it is not known what came of it."""
        return self.method in IDEMPOTENT if self.idempotent is None else self.idempotent

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in braces in the URL's path."""
        return tuple(_PLACEHOLDER.findall(self.url))

    @property
    def places(self) -> dict[str, Argument]:
        """Every argument of the tool with its place, in documented order."""
        return {name: self._place(name) for name in self.tool.properties}

    def _place(self, name: str) -> Argument:
        if name in self.arguments:
            given = self.arguments[name]
            return given if given.name else given.model_copy(update={"name": name})
        if name in self.placeholders:
            return Argument(place="path", name=name)
        return Argument(place="query" if self.method in _QUERY_METHODS else "body", name=name)

    @classmethod
    def from_dict(cls, data: Any, where: str | None = None) -> Self:
        """As for every noun; a URL that is wrong is not shown, for it may hold a password."""
        url = data.get("url") if isinstance(data, dict) else None
        if isinstance(url, str):
            try:
                _check_url(url)
            except ValueError as error:
                raise DataError(f"{where or 'Endpoint.url'}: {error}") from None
        return super().from_dict(data, where)

    @model_validator(mode="after")
    def _fits_together(self) -> Endpoint:
        _check_url(self.url)
        places = self.places
        unknown = sorted(self.arguments.keys() - places.keys())
        if unknown:
            raise ValueError(f"arguments {unknown} are none of the tool's; it has {sorted(places)}")
        in_path = [place.name for place in places.values() if place.place == "path"]
        if sorted(in_path) != sorted(self.placeholders):
            raise ValueError(
                f"the URL has the placeholders {sorted(self.placeholders)}, the arguments {sorted(in_path)}"
            )
        whole = [name for name, place in places.items() if place.place == "whole_body"]
        if len(whole) > 1 or (whole and any(place.place == "body" for place in places.values())):
            raise ValueError(f"the argument {whole[0]!r} is the whole body, so no other can be in it")
        if whole and self.body == "form":
            raise ValueError("a form has fields; an argument that is the whole body needs body='json'")
        _check_names(self, places)
        return self


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("a URL is like https://api.example.com/v1/cities/{city}")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError("a URL holds host, path and query; a key goes into keys")
    if "{" in parts.netloc + parts.query or "}" in parts.netloc + parts.query:
        raise ValueError("only the path of a URL has placeholders; arguments of the query need none")
    try:
        _ = parts.port, parts.hostname.encode("idna")
    except ValueError:
        raise ValueError("the URL's host or port cannot be read") from None
    path = _PLACEHOLDER.sub("x", parts.path)
    if "{" in path or "}" in path or {".", ".."} & set(path.split("/")):
        raise ValueError("the URL's path has braces that do not match, or the segments . or ..")
    if not (url.isascii() and url.isprintable()) or " " in url or "\\" in url:
        raise ValueError("a URL is written in ASCII, without spaces and backslashes; percent-encode the rest")


def _check_names(endpoint: Endpoint, places: dict[str, Argument]) -> None:
    """No two things of a request under one name, and no header that is not one."""
    taken: set[tuple[str, str]] = {("query", name) for name, _ in parse_qsl(urlsplit(endpoint.url).query, True)}
    headers = [("header", name.lower()) for name in endpoint.headers]
    keys = [(key.place, _folded(key.place, key.name)) for key in endpoint.keys]
    arguments = [(place.place, _folded(place.place, place.name)) for place in places.values()]
    for place, name in [*headers, *keys, *arguments]:
        if (place, name) in taken:
            raise ValueError(f"the {place} {name!r} is given twice")
        taken.add((place, name))
        if place == "header" and (not is_header_name(name) or name in FRAMING_HEADERS):
            raise ValueError(f"{name!r} cannot be the name of a header here")
        if place == "cookie" and not _COOKIE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a cookie")
    for place, name in arguments:
        if place == "header" and name in ("content-type", "cookie"):
            raise ValueError(f"an argument cannot be the header {name!r}")
    if ("header", "cookie") in taken and any(place == "cookie" for place, _ in taken):
        raise ValueError("cookies are given one by one, or as a header of every request, not both")
    for name, value in endpoint.headers.items():
        if not is_header_value(value):
            raise ValueError(f"the header {name!r} has a value that cannot be sent; it is one line of ASCII")


def _folded(place: str, name: str) -> str:
    return name.lower() if place == "header" else name


def is_header_name(name: str) -> bool:
    """Whether a header can have this name."""
    return _HEADER_NAME.fullmatch(name) is not None


def is_header_value(value: str) -> bool:
    """Whether a header can have this value: printable ASCII, no space around it."""
    return _HEADER_VALUE.fullmatch(value) is not None
