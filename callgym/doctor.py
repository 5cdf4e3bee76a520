"""What is installed, what is missing, and what data is there: what a report of a fault should begin with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from callgym.data import cache_folder
from callgym.registry import ENVIRONMENTS

__all__ = ["Package", "Report", "examine"]

_REQUIREMENT = re.compile(
    r'(?P<name>[\w.-]+)(?:\[[^\]]*\])?\s*(?P<wanted>[^;]*?)\s*(?:;.*extra == ["\'](?P<extra>\w+).*)?'
)
_CORE = "core"


@dataclass(frozen=True, slots=True)
class Package:
    """A package that CallGym can use."""

    extra: str
    """The extra that installs it; ``core`` where CallGym always does."""
    name: str
    """Its name on PyPI."""
    wanted: str
    """The releases that CallGym asks for."""
    found: str | None
    """The installed release; None where there is none."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    versions: dict[str, str]
    """Of CallGym, Python, and the system."""
    cpus: int
    """Cores that this process may use."""
    gpu: str
    """What torch says of a GPU."""
    packages: tuple[Package, ...]
    """All packages, by extra."""
    data: dict[str, str | None]
    """Benchmark to the folder of its official data; None where it was not fetched."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The report for people."""
        rows = [*self.versions.items(), ("cores", str(self.cpus)), ("GPU", self.gpu)]
        lines = [f"{name:<12}{value}" for name, value in rows]
        for extra in dict.fromkeys(package.extra for package in self.packages):
            mine = [package for package in self.packages if package.extra == extra]
            missing = any(package.found is None for package in mine)
            lines += ["", f"{extra}" + (f": pip install 'callgym[{extra}]' for what is missing" if missing else "")]
            lines += [f"  {p.name:<38}{p.found or 'missing':<14}{p.wanted}" for p in mine]
        lines += ["", "official data"]
        for family, folder in self.data.items():
            lines.append(f"  {family:<12}{folder or f'not fetched; callgym fetch {family}. Starter tasks are there'}")
        return lines


def examine() -> Report:
    """Look at this installation. Nothing is imported but torch, where it is installed, to ask for a GPU."""
    return Report(
        versions={
            "callgym": importlib.metadata.version("callgym"),
            "python": platform.python_version(),
            "system": platform.platform(),
        },
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        gpu=_gpu(),
        packages=tuple(_packages(importlib.metadata.requires("callgym") or ())),
        data={family: _folder(family) for family in dict.fromkeys(entry.family for entry in ENVIRONMENTS)},
    )


def _packages(requirements: Sequence[str]) -> list[Package]:
    found = []
    for requirement in requirements:
        parts = _REQUIREMENT.fullmatch(requirement)
        if parts is not None and parts["name"] != "callgym":  # an extra that is made of others
            found.append(Package(parts["extra"] or _CORE, parts["name"], parts["wanted"], _version(parts["name"])))
    return found


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _folder(family: str) -> str | None:
    folder = cache_folder() / family
    return str(folder) if folder.is_dir() else None


def _gpu() -> str:
    try:
        import torch
    except ImportError:
        return "unknown: torch is not installed"
    if not torch.cuda.is_available():
        return "none that torch can use"
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return ", ".join(names)
