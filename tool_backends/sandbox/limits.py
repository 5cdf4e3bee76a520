"""What a program may use, checked where it enters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from callgym.errors import ConfigurationError

__all__ = ["MIB", "Limits"]

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one session's programs."""

    timeout: float = 5.0
    """Seconds that one call may take by the clock."""
    memory: int = 256 * MIB
    """Bytes: of address space for the whole worker process (``process``), of the program's heap (``interpreter``)."""
    output: int = 16_384
    """Characters that are kept of what a program prints, and of its result as text."""
    disk: int = 16 * MIB
    """Bytes that a program's files may have, each and together (``process``; the interpreter has no files)."""
    open_files: int = 32
    """File descriptors of the worker process, the standard ones included (``process``)."""
    processor: int = 60
    """Seconds of processor time for all calls of a session together (``process``)."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), *_RANGES[field.name])


_RANGES: dict[str, tuple[str, float, float]] = {
    "timeout": ("seconds", 0.01, 3600),
    "memory": ("bytes", 64 * MIB, 64 * 1024 * MIB),
    "output": ("characters", 1, MIB),
    "disk": ("bytes", 4096, 1024 * MIB),
    "open_files": ("file descriptors", 8, 1024),
    "processor": ("seconds", 1, 86_400),
}


def _check(name: str, value: Any, unit: str, least: float, most: float) -> None:
    kinds = (int, float) if name == "timeout" else (int,)
    number = "a number" if name == "timeout" else "a whole number"
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:  # nor NaN
        raise ConfigurationError(f"{name} is {number} of {unit} from {least:,g} to {most:,g}, got {value!r}")
