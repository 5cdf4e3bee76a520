"""The server's log says where a tool broke, and nothing of what a policy wrote: no path, no body, no message.

What an exception says may quote a call's arguments; it is logged at level DEBUG only.
"""

from __future__ import annotations

import logging
import secrets
import traceback

__all__ = ["log_bug", "logger"]

logger = logging.getLogger("callgym.server")
_FRAMES = 8  # those nearest to the fault; before them come the web framework's


def log_bug(error: BaseException, what: str) -> str:
    """Log an exception; the id under which it is found in the log."""
    key = secrets.token_hex(6)
    frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)[-_FRAMES:])).rstrip()
    logger.error("%s: %s in %s\n%s", key, type(error).__name__, what, frames)
    logger.debug("%s", key, exc_info=error)
    return key
