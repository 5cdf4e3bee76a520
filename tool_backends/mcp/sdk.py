"""The official SDK, named ``mcp`` like the room that wraps it: imported by its absolute name, when it is needed."""

from __future__ import annotations

import importlib

from callgym.errors import ConfigurationError, MissingPackageError

__all__ = ["require_sdk"]


def require_sdk() -> None:
    """See that the SDK is there.

    Raises:
        MissingPackageError: It is not installed.
        ConfigurationError: It is of another generation: 1.x names and shapes differ throughout.
    """
    try:
        importlib.import_module("mcp")
    except ModuleNotFoundError as error:
        raise MissingPackageError.for_extra("mcp", "mcp") from error
    try:
        importlib.import_module("mcp_types")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "the package mcp that is installed is older than 2.0; give: pip install 'callgym[mcp]'"
        ) from error
