"""What BFCL's parity suite compares with, beside the fixture rows themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from callgym.envs.bfcl.files import BfclFiles

__all__ = ["Context"]


@dataclass(frozen=True, slots=True)
class Context:
    """The official files and the fixtures."""

    files: BfclFiles
    fixtures: Path
