"""Where an OpenAI-compatible server is, and the key to it: for policies and judges alike."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from callgym.errors import ConfigurationError, MissingPackageError

__all__ = ["KEYS", "completions_url", "import_httpx", "read_key"]

KEYS = ("CALLGYM_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the key, the first that is set wins."""


def completions_url(url: str, whose: str) -> str:
    """The address of chat completions under a server's base URL.

    Args:
        url: The base URL, ``http://localhost:8000/v1``.
        whose: Whose server it is, for the message: "the server's", "the judge's".

    Raises:
        ConfigurationError: The URL cannot be one, or holds what must not be written into records.
        MissingPackageError: httpx is not installed.
    """
    httpx = import_httpx()
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{whose} URL is like http://localhost:8000/v1, got {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{whose} URL holds more than host and path ({parts.scheme}://{parts.hostname}...); it is written "
            f"into records, so a key goes into the environment variable {KEYS[0]}"
        )
    try:
        _ = parts.port, httpx.URL(url)
    except (ValueError, httpx.InvalidURL) as error:
        raise ConfigurationError(f"{whose} URL {url!r} cannot be read: {error}") from None
    return url.rstrip("/") + "/chat/completions"


def read_key() -> str | None:
    """The key, or None where no variable of ``KEYS`` is set.

    Raises:
        ConfigurationError: It holds what an HTTP header cannot carry.
    """
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if key:
            if not (key.isascii() and key.isprintable()):
                raise ConfigurationError(f"{name} holds characters that an HTTP header cannot carry")
            return key
    return None


def import_httpx() -> Any:
    """The library, imported where it is needed. Raises MissingPackageError where it is not installed."""
    try:
        import httpx
    except ImportError as error:
        raise MissingPackageError.for_extra("httpx", "http") from error
    return httpx
