"""Keys to services: named in an endpoint, read from the environment, shown nowhere::

    key = Key(env="WEATHER_KEY", name="X-Api-Key")  # the header X-Api-Key: value of $WEATHER_KEY
    key = Key(env="GITHUB_TOKEN", name="Authorization", scheme="bearer")

An endpoint, a task, a record and a message hold the variable's name at most. A server that quotes a key in its answer
is not repeated: the key is replaced by ``***``.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal
from urllib.parse import quote, quote_plus

from pydantic import Field

from callgym.errors import ConfigurationError
from callgym.noun import Noun

__all__ = ["Key", "KeyRing", "read_keys"]

_SHORTEST_HIDDEN = 4  # replacing anything shorter would garble answers and hide nothing
_HIDDEN = "***"


class Key(Noun):
    """Where a service wants its key, and which environment variable holds it."""

    env: str = Field(min_length=1)
    """Name of the environment variable."""
    name: str = Field(min_length=1)
    """Name of the header, the query parameter or the cookie."""
    place: Literal["header", "query", "cookie"] = "header"
    """Where the key goes."""
    scheme: Literal["plain", "bearer", "basic"] = "plain"
    """What is sent: the value itself, ``Bearer value``, or ``Basic`` and the value (``user:password``) encoded."""


class KeyRing:
    """The values of some keys, for one session. It shows none of them; pickled, it is their variables' names."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        forms = {form for value in values.values() for form in _forms(value)}
        self._hidden = sorted((form for form in forms if len(form) >= _SHORTEST_HIDDEN), key=len, reverse=True)

    def __repr__(self) -> str:
        return f"KeyRing({sorted(self._values)})"

    def __reduce__(self) -> Any:
        return read_keys, (tuple(self._values),)

    def read(self, env: str) -> str:
        """The value of a variable."""
        return self._values[env]

    def sent(self, key: Key) -> str:
        """What is sent for a key."""
        value = self._values[key.env]
        if key.scheme == "bearer":
            return f"Bearer {value}"
        return f"Basic {_basic(value)}" if key.scheme == "basic" else value

    def hide(self, text: str) -> str:
        """The text without keys."""
        for form in self._hidden:
            text = text.replace(form, _HIDDEN)
        return text

    def hide_in(self, value: Any) -> Any:
        """The JSON value without keys in its texts; itself where no keys were read."""
        return _mapped(value, self.hide) if self._hidden else value


def read_keys(variables: Iterable[str]) -> KeyRing:
    """Read keys from the environment.

    Raises:
        ConfigurationError: A variable is not set, or holds what an HTTP header cannot carry.
    """
    values = {}
    for name in variables:
        value = os.environ.get(name, "").strip()
        if not value:
            raise ConfigurationError(f"the environment variable {name} is not set; it holds the key of an HTTP tool")
        if not (value.isascii() and value.isprintable()):
            raise ConfigurationError(
                f"the environment variable {name} holds characters that an HTTP header cannot carry"
            )
        values[name] = value
    return KeyRing(values)


def _basic(value: str) -> str:
    return base64.b64encode(value.encode()).decode("ascii")


def _forms(value: str) -> Iterable[str]:
    """The ways in which a server may quote a key."""
    return value, quote(value, safe=""), quote_plus(value), _basic(value), json.dumps(value)[1:-1]


def _mapped(value: Any, hide: Any) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_mapped(item, hide) for item in value]
    if isinstance(value, dict):
        return {hide(name): _mapped(item, hide) for name, item in value.items()}
    return value
