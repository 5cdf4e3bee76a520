"""Dialects: how a policy writes calls, and how it is shown the conversation."""

from __future__ import annotations

from callgym.dialects.apibank import ApiBankDialect, ApiBankShortDialect
from callgym.dialects.base import Dialect, ParsedAction
from callgym.dialects.hermes import HermesDialect
from callgym.dialects.openai import OpenAIDialect
from callgym.dialects.python_calls import PythonDialect
from callgym.errors import ConfigurationError

__all__ = ["DIALECTS", "Dialect", "ParsedAction", "get_dialect"]

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (ApiBankDialect(), ApiBankShortDialect(), HermesDialect(), OpenAIDialect(), PythonDialect())
}
"""Name to dialect; they hold no state."""


def get_dialect(dialect: str | Dialect) -> Dialect:
    """The dialect of that name; a Dialect is returned as it is.

    Raises:
        ConfigurationError: There is no dialect of that name.
    """
    if isinstance(dialect, Dialect):
        return dialect
    try:
        return DIALECTS[dialect]
    except (KeyError, TypeError):
        raise ConfigurationError(f"no dialect {dialect!r}; there are: {', '.join(DIALECTS)}") from None
