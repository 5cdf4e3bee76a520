"""Every exception that CallGym raises on purpose; anything else that escapes is a bug.

What a policy writes never raises: it becomes an observation and a reward. These are for people:
wrong data, wrong configuration, a missing package. Each message names the place and the mend.
"""

from __future__ import annotations

__all__ = ["CallGymError", "ConfigurationError", "DataError", "MissingPackageError", "in_one_line"]

_LONGEST = 500


class CallGymError(Exception):
    """Base of all errors that CallGym raises on purpose."""


class DataError(CallGymError, ValueError):
    """A file, a row or a value is not what it should be; the message names it and how to mend it."""


class ConfigurationError(CallGymError, ValueError):
    """An option of ``gym.make``, of a trainer or of the command line has a value it cannot have."""


class MissingPackageError(CallGymError, ImportError):
    """An optional package is needed and not installed; the message gives the pip command."""

    @classmethod
    def for_extra(cls, package: str, extra: str) -> MissingPackageError:
        """The error for ``package``, which the extra ``extra`` installs."""
        return cls(f"{package} is not installed; it comes with: pip install 'callgym[{extra}]'")


def in_one_line(error: BaseException) -> str:
    """The kind of an exception and its words, cut, for a record or a message."""
    try:
        words = " ".join(str(error).split())[:_LONGEST]
    except Exception:  # an exception of others whose own words fail
        words = "(it cannot say what it is)"
    return f"{type(error).__name__}: {words}"
