"""What is installed, what is missing, and what data is there: what a report of a fault should begin with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from callgym.data import cache_folder, recorded_sha256, verify
from callgym.errors import CallGymError
from callgym.registry import ENVIRONMENTS
from callgym.terminal import Cell, colours, styled, table, terminal_columns

__all__ = ["Compute", "Dataset", "Gpu", "Package", "Report", "examine"]

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
class Gpu:
    """A GPU that torch can use."""

    name: str
    """What it is."""
    memory_bytes: int
    """Its whole memory."""
    bfloat16: bool
    """Whether it computes in bfloat16, as ``callgym train`` does where it can."""


@dataclass(frozen=True, slots=True)
class Compute:
    """What torch says of this machine."""

    gpus: tuple[Gpu, ...]
    """In torch's order."""
    cuda: str | None
    """The release of CUDA that torch was built for; None where it was built for none, or is not there."""
    note: str | None
    """Why there is no GPU."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A benchmark's official data."""

    folder: str
    """Where it is."""
    files: int
    """How many files."""
    size: int
    """Their bytes together."""
    whole: bool | None
    """Whether each is as it was fetched, at the pinned revision; None where nothing was written down of that."""
    fault: str | None
    """What is wrong, and the mend."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    versions: dict[str, str]
    """Of CallGym, Python, and the system."""
    cpus: int
    """Cores that this process may use."""
    compute: Compute
    """GPUs."""
    ray: str | None
    """Ray's release; None where it is not installed."""
    cache: str
    """The folder that fetched data lives in."""
    free_bytes: int | None
    """Room on its disk; None where nobody knows."""
    output: dict[str, Any]
    """Of standard output: ``terminal``, ``columns`` (None for a pipe), ``colours``."""
    packages: tuple[Package, ...]
    """All packages, by extra."""
    data: dict[str, Dataset | None]
    """Benchmark to its official data; None where it was not fetched."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return asdict(self)

    def as_text(self) -> str:
        """The report for people."""
        parts = [table(("", ""), self._machine())]
        for extra in dict.fromkeys(package.extra for package in self.packages):
            mine = [package for package in self.packages if package.extra == extra]
            missing = any(package.found is None for package in mine)
            head = f"{extra}: pip install 'callgym[{extra}]' for what is missing" if missing else extra
            rows: list[tuple[str | Cell, ...]] = [
                (f"  {p.name}", p.found or Cell("missing", "dim"), Cell(p.wanted, "dim")) for p in mine
            ]
            parts.append(f"{styled(head, 'strong')}\n{table(('', '', ''), rows)}")
        rows = [(f"  {family}", *_data_cells(family, found)) for family, found in self.data.items()]
        parts.append(f"{styled('official data', 'strong')}\n{table(('', '', '', ''), rows, align='lrrl')}")
        return "\n\n".join(parts)

    def _machine(self) -> list[tuple[str, str]]:
        rows = [*self.versions.items(), ("cores", str(self.cpus))]
        rows += [("GPU", _gpu_line(gpu, self.compute.cuda)) for gpu in self.compute.gpus]
        rows += [("GPU", self.compute.note)] if self.compute.note else []
        rows.append(("Ray", self.ray or "missing; pip install 'callgym[ray]' for eval --workers"))
        free = "" if self.free_bytes is None else f", {_size(self.free_bytes)} free"
        rows.append(("data", f"{self.cache}{free}"))
        rows.append(("output", _output_line(self.output)))
        return rows


def examine() -> Report:
    """Look at this installation. Nothing is imported but torch, where it is installed, to ask for a GPU."""
    return Report(
        versions={
            "callgym": importlib.metadata.version("callgym"),
            "python": platform.python_version(),
            "system": platform.platform(),
        },
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        compute=_compute(),
        ray=_version("ray"),
        cache=str(cache_folder()),
        free_bytes=_free(cache_folder()),
        output=_output(),
        packages=tuple(_packages(importlib.metadata.requires("callgym") or ())),
        data={family: _dataset(family) for family in dict.fromkeys(entry.family for entry in ENVIRONMENTS)},
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


def _dataset(family: str) -> Dataset | None:
    folder = cache_folder() / family
    if not folder.is_dir():
        return None
    whole, fault = None, None
    paths: Iterable[Path] = folder.rglob("*")
    try:
        recorded = recorded_sha256(family)
        if recorded:
            paths = [folder / name for name in recorded]
            verify(folder)
            whole = True
    except (CallGymError, OSError) as error:
        whole, fault = False, str(error)
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return Dataset(str(folder), len(sizes), sum(sizes), whole, fault)


def _data_cells(family: str, found: Dataset | None) -> tuple[str | Cell, ...]:
    if found is None:
        return "", "", f"not fetched; callgym fetch {family}. Starter tasks are there"
    said: str | Cell = f"nothing says whether it is whole; callgym fetch {family}"
    if found.whole is not None:
        said = Cell("as fetched, at the pinned revision", "good") if found.whole else Cell(found.fault or "", "bad")
    return f"{found.files} files", _size(found.size), said


def _free(folder: Path) -> int | None:
    """Room where the folder is, or will be."""
    there = next((path for path in (folder, *folder.absolute().parents) if path.is_dir()), None)
    try:
        return None if there is None else shutil.disk_usage(there).free
    except OSError:
        return None


def _output() -> dict[str, Any]:
    return {"terminal": sys.stdout.isatty(), "columns": terminal_columns(sys.stdout), "colours": colours()}


def _output_line(output: dict[str, Any]) -> str:
    kind = f"a terminal of {output['columns']} columns" if output["terminal"] else "a pipe or a file"
    return f"{kind}, {'colours' if output['colours'] else 'no colours'}"


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _gpu_line(gpu: Gpu, cuda: str | None) -> str:
    half = "bfloat16" if gpu.bfloat16 else "no bfloat16"
    return f"{gpu.name}, {_size(gpu.memory_bytes)}, CUDA {cuda or 'unknown'}, {half}"


def _compute() -> Compute:
    try:
        import torch
    except ImportError:
        return Compute((), None, "unknown: torch is not installed; pip install 'callgym[train]'")
    cuda = torch.version.cuda
    if not torch.cuda.is_available():
        return Compute((), cuda, "none that torch can use")
    gpus = []
    for number in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(number)
        with torch.cuda.device(number):
            gpus.append(Gpu(found.name, found.total_memory, torch.cuda.is_bf16_supported()))
    return Compute(tuple(gpus), cuda, None)
