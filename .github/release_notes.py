"""What CHANGELOG.md says of a release, on standard output: ``python .github/release_notes.py v0.1.0``.

Exit status 1 where tag, package, citation and changelog do not name the same version, or there is nothing to say.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PLACES = {
    "callgym/__init__.py": r'^__version__ = "(?P<version>[^"]+)"$',
    "CITATION.cff": r"^version: (?P<version>\S+)$",
}


def release_notes(tag: str, root: Path = ROOT) -> str:
    """The section of the changelog.

    Raises:
        ValueError: Something names another version, or the changelog has no such section; the message says which.
    """
    version = tag.removeprefix("v")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    found = {"pyproject.toml": project, **{name: _version_in(root / name, line) for name, line in _PLACES.items()}}
    for name, there in found.items():
        if f"v{there}" != tag:
            raise ValueError(f"the tag is {tag}, and {name} has the version {there}")
    sections = re.split(r"^## ", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for section in sections:
        title, _, text = section.partition("\n")
        if title.split(",")[0].strip() == version:
            if "not released" in title:
                raise ValueError(
                    f"CHANGELOG.md says of {version} that it is {title.partition(',')[2].strip()}: date it"
                )
            if not text.strip():
                raise ValueError(f"CHANGELOG.md says nothing of {version}")
            return text.strip()
    raise ValueError(f"CHANGELOG.md has no section ## {version}")


def _version_in(path: Path, line: str) -> str | None:
    match = re.search(line, path.read_text(encoding="utf-8"), re.MULTILINE)
    return match["version"] if match else None


def main() -> int:
    """The command."""
    if len(sys.argv) != 2:
        print("usage: release_notes.py TAG", file=sys.stderr)
        return 2
    try:
        print(release_notes(sys.argv[1]))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
