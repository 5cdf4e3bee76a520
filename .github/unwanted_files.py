"""Files that must not be committed: large ones, and data. ``python .github/unwanted_files.py FILE...`` names them.

Benchmark data belongs to its authors and is fetched, never committed; what a run writes is not committed either.
Exit status 1 where there are any.
"""

from __future__ import annotations

import sys
from pathlib import Path

LARGEST = 512 * 1024
"""Of any file, in bytes."""
DATA = {
    ".arrow", ".bin", ".csv", ".db", ".gz", ".jsonl", ".npy", ".npz", ".onnx", ".parquet", ".pickle", ".pkl", ".pt",
    ".safetensors", ".sqlite", ".tar", ".tsv", ".zip",
}  # fmt: skip
"""Endings of files that hold data."""
OUR_OWN = ("tests/conformance/",)
"""Folders whose data was written for this project."""


def fault_of(path: Path) -> str | None:
    """Why a file, named from the repository's root, must not be committed; None where it may."""
    if path.is_symlink() or not path.is_file():
        return None
    size = path.stat().st_size
    if size > LARGEST:
        return f"{path}: {size} bytes; at most {LARGEST} are committed"
    if path.suffix.lower() in DATA and not path.as_posix().startswith(OUR_OWN):
        return f"{path}: data is fetched or made, not committed"
    return None


def main() -> int:
    """The command."""
    faults = [fault for name in sys.argv[1:] if (fault := fault_of(Path(name))) is not None]
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
