"""Arguments that are secrets, kept out of recordings.

The rule: the value of an argument whose name is among the redacted ones, at any depth, is stored as
``[redacted 3f2a]``. The four digits come of the value, so that a call with another key or token is another call; they
give away 16 bits of it at most. Where a tool's answer quotes such a text (of at least eight characters), the
same mark is stored, and in replay the caller's own value stands there again. None, true, false and the empty text are
no secrets.

Names are compared without regard to case, with ``-`` as ``_``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from callgym.errors import ConfigurationError, DataError
from callgym.tool_backends.recording.keys import NoKey, canonical, json_text

__all__ = ["REDACTED", "Redact", "Redaction", "agreed", "hide_quoted", "secrets_in", "show_quoted"]

REDACTED = (
    "access_token", "api_key", "apikey", "auth_token", "authorization", "client_secret", "password",
    "proxy_authorization", "refresh_token", "secret", "token", "toolbench_key", "x_api_key", "x_rapidapi_key",
)  # fmt: skip
"""The names that are redacted by default."""

Redact = Collection[str] | Callable[[str, dict[str, Any]], dict[str, Any]]
"""Names of arguments, or a function that takes a tool's name and arguments, and gives the arguments to be stored;
given what it gave, it gives the same again."""

_MARK = re.compile(r"\[redacted [0-9a-f]{4}\]")
_OPENING = "[redacted "
_SHORTEST_QUOTED = 8


class Redaction:
    """One rule, for a whole recording."""

    def __init__(self, redact: Redact = REDACTED) -> None:
        """Take the rule.

        Raises:
            ConfigurationError: It is neither names nor a function.
        """
        self._change = redact if callable(redact) else None
        self.names = () if callable(redact) else _names(redact)
        self._known = frozenset(self.names)

    @property
    def function(self) -> str | None:
        """What a function is called, ``module:name``; None for names."""
        change: Any = self._change
        if change is None:
            return None
        return f"{change.__module__}:{getattr(change, '__qualname__', type(change).__name__)}"

    @property
    def rule(self) -> str:
        """The rule as a recording keeps it, JSON."""
        function = self.function
        return json_text({"names": list(self.names)} if function is None else {"function": function})

    def stored(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they are stored: themselves where nothing is hidden.

        Raises:
            NoKey: They cannot be written as JSON.
        """
        if self._change is not None:
            return self._change(tool, arguments)
        try:
            return self._object(arguments) if self._known else arguments
        except RecursionError as error:
            raise NoKey(str(error)) from error

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] | None = None
        for name, item in value.items():
            if name.casefold().replace("-", "_") in self._known:
                made = _hidden(item)
            elif type(item) is dict or type(item) is list:
                made = self._inside(item)
            else:
                continue
            if made is not item:
                changed = dict(value) if changed is None else changed
                changed[name] = made
        return value if changed is None else changed

    def _inside(self, value: Any) -> Any:
        if type(value) is dict:
            return self._object(value)
        if type(value) is list:
            made = [self._inside(item) for item in value]
            return value if all(new is old for new, old in zip(made, value, strict=True)) else made
        return value


def agreed(given: Redaction | None, rule: str, file: str) -> Redaction:
    """The redaction of a file.

    Args:
        given: What the caller asks for; None for the file's own.
        rule: What the file says, ``Redaction.rule``.
        file: The file, for the message.

    Raises:
        ConfigurationError: The two differ, or the file's is a function that was not given.
        DataError: What the file says is no rule.
    """
    try:
        read = json.loads(rule)
        own = Redaction(read["names"]) if "names" in read else None
        said = read["names"] if own is not None else str(read["function"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        fault = f"setting redact: names or a function belong there, found {rule[:80]!r}"
        raise DataError(f"{file}, {fault}; restore the file, or record it anew") from error
    if given is None and own is not None:
        return own
    if given is None or given.rule != rule:
        raise ConfigurationError(f"{file} was made with redact={said!r}; give the same, or another file")
    return given


def secrets_in(arguments: Any, stored: Any) -> dict[str, str]:
    """Mark to the text that it stands for, of arguments and what is stored of them."""
    found: dict[str, str] = {}
    pending = [] if arguments is stored else [(arguments, stored)]
    while pending:
        own, kept = pending.pop()
        if own is kept:
            continue
        if isinstance(own, dict) and isinstance(kept, dict):
            pending.extend((item, kept[name]) for name, item in own.items() if name in kept)
        elif isinstance(own, list) and isinstance(kept, list):
            pending.extend(zip(own, kept, strict=False))
        elif isinstance(own, str) and isinstance(kept, str) and own != kept and _MARK.fullmatch(kept):
            found[kept] = own
    return found


def hide_quoted(value: Any, secrets: Mapping[str, str]) -> Any:
    """A JSON value in which no text quotes a secret.

    Raises:
        NoKey: It is nested too deeply to be searched.
    """
    try:
        for mark, secret in secrets.items():
            if len(secret) >= _SHORTEST_QUOTED:
                value = _replaced(value, secret, mark)
    except RecursionError as error:
        raise NoKey(str(error)) from error
    return value


def show_quoted(value: Any, secrets: Mapping[str, str]) -> Any:
    """The opposite of ``hide_quoted``."""
    for mark, secret in secrets.items():
        if len(secret) >= _SHORTEST_QUOTED:
            value = _replaced(value, mark, secret)
    return value


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_replaced(item, old, new) for item in value]
    if isinstance(value, dict):
        return {name.replace(old, new): _replaced(item, old, new) for name, item in value.items()}
    return value


def _hidden(value: Any) -> Any:
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, str) and value.startswith(_OPENING) and _MARK.fullmatch(value):
        return value  # it was hidden before
    text = canonical(value).encode("utf-8", "surrogatepass")
    return f"{_OPENING}{hashlib.blake2b(text, digest_size=2).hexdigest()}]"


def _names(redact: Any) -> tuple[str, ...]:
    listed = isinstance(redact, Collection) and not isinstance(redact, (str, bytes))
    if listed and all(isinstance(name, str) and name for name in redact):
        return tuple(sorted({name.casefold().replace("-", "_") for name in redact}))
    raise ConfigurationError(f"redact is a list of argument names, or a function, got {redact!r}")
