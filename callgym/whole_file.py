"""A file that is there once it is whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

__all__ = ["whole_file", "whole_path"]


@contextlib.contextmanager
def whole_path(target: Path) -> Iterator[Path]:
    """Where to write a file that then takes the place of ``target``; nothing is left of one that fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")  # two processes may write the same one
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[TextIO]:
    """The same, opened for text."""
    with whole_path(target) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        yield file
