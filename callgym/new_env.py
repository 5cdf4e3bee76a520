"""A new family of environments, from templates: small, whole and green, to be changed from there::

    written = write_package(Family.of("my_bench"), Path("my_bench"))

A template is text with ``@family@``, ``@Class@`` and the like in it; each is replaced by a name that was checked to be
a plain identifier, and by nothing else.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from callgym.errors import ConfigurationError
from callgym.registry import ENVIRONMENTS

__all__ = [
    "LONGEST_NAME",
    "Family",
    "find_checkout",
    "pyproject_lines",
    "registry_lines",
    "write_in_tree",
    "write_package",
]

LONGEST_NAME = 32
"""Of a family, in characters: the templates leave room for so many in a line."""
_ROOM = 120 - 4  # ruff's line, and the indent of an entry
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_PLACE = re.compile(r"@\w+@")
_IMPORT = re.compile(r"(?:from (?P<of>[\w.]+) import .+|import (?P<all>[\w.]+)(?: as \w+)?)")
_MODULES = ("tools", "tasks", "env")

FamilyProtocol = Literal["single", "dialogue"]


@dataclass(frozen=True, slots=True)
class Family:
    """What a new family is called."""

    name: str
    """The first half of its ids, and its package."""
    protocol: FamilyProtocol = "single"
    """How its episodes go."""

    @classmethod
    def of(cls, name: str, protocol: FamilyProtocol = "single") -> Family:
        """The family of that name.

        Raises:
            ConfigurationError: The name cannot be a family's; the message says why.
        """
        fault = _fault_of(name)
        if fault is not None:
            raise ConfigurationError(f"{name[:80]!r} cannot be the name of a family: {fault}")
        return cls(name, protocol)

    @property
    def class_name(self) -> str:
        """The environment's class."""
        return "".join(part.capitalize() for part in self.name.split("_")) + "Env"

    @property
    def id(self) -> str:
        """Its one id."""
        return f"{self.name}/base-v0"


def write_package(family: Family, folder: Path) -> list[Path]:
    """Write a family as a package of its own and give the files, in order.

    Raises:
        ConfigurationError: The folder exists, or a module of that name can be imported already.
    """
    if folder.exists() or folder.is_symlink():
        raise ConfigurationError(f"{folder} exists already; give another folder with --out, or delete it")
    if importlib.util.find_spec(family.name) is not None:
        raise ConfigurationError(f"a module {family.name!r} can be imported already; choose another name")
    name, package = family.name, f"src/{family.name}"
    texts = {
        "pyproject.toml": _rendered("package/pyproject.toml.txt", family, name),
        "README.md": _rendered("family/README.md.txt", family, name),
        ".gitignore": _rendered("package/gitignore.txt", family, name),
        f"{package}/__init__.py": _rendered("package/init.py.txt", family, name),
        f"{package}/py.typed": "",
        **_code(family, package, name),
    }
    return _write(folder, texts)


def write_in_tree(family: Family, checkout: Path) -> list[Path]:
    """Write a family into a checkout of CallGym and give the files; ``registry_lines`` then make its id known.

    Raises:
        ConfigurationError: The folder or the test file exists.
    """
    folder, module = f"envs/{family.name}", f"callgym.envs.{family.name}"
    for taken in (checkout / folder, checkout / "tests" / f"test_{family.name}.py"):
        if taken.exists() or taken.is_symlink():
            raise ConfigurationError(f"{taken} exists already; choose another name, or delete it")
    texts = {
        f"{folder}/README.md": _rendered("family/README.md.txt", family, module),
        f"{folder}/__init__.py": f'"""{family.name}: see its data card, README.md."""\n',
        **_code(family, folder, module),
    }
    return _write(checkout, texts)


def registry_lines(family: Family) -> list[str]:
    """What ``ENVIRONMENTS`` in ``callgym/registry.py`` needs."""
    entry = f"callgym.envs.{family.name}.env:{family.class_name}"
    given = [f'"{text}"' for text in (family.id, entry, family.protocol, "one line for callgym list")]
    line = f"EnvironmentEntry({', '.join(given)}),"
    if len(line) <= _ROOM:
        return [line]
    return ["EnvironmentEntry(", *(f"    {text}," for text in given), "),"]


def pyproject_lines(family: Family) -> list[str]:
    """What the list of packages in ``pyproject.toml`` needs."""
    return [f'"callgym.envs.{family.name}",']


def find_checkout(start: Path) -> Path:
    """The checkout of CallGym that a folder is in.

    Raises:
        ConfigurationError: It is in none.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        project = folder / "pyproject.toml"
        if project.is_file() and (folder / "envs" / "base.py").is_file() and _project_name(project) == "callgym":
            return folder
    raise ConfigurationError(f"{start} is in no checkout of CallGym; go to one, or name it with --out")


def _project_name(project: Path) -> str | None:
    try:
        name = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("name")
    except (OSError, ValueError, AttributeError):
        return None
    return name if isinstance(name, str) else None


def _fault_of(name: str) -> str | None:
    """What keeps a name from being a family's; None where nothing does."""
    if not _NAME.fullmatch(name) or not name.isascii():
        return "a name is lower-case letters, digits and single underscores, and begins with a letter, like my_bench"
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters; at most {LONGEST_NAME} are taken"
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        return "it is a word of Python's own"
    if name in sys.stdlib_module_names or name in ("test", "tests", "src"):
        return "Python has a module of that name"
    if name == "callgym" or name in _taken():
        return f"it is taken; families are: {', '.join(dict.fromkeys(entry.family for entry in ENVIRONMENTS))}"
    return None


def _taken() -> set[str]:
    """Families, and what else stands in the folder of families."""
    beside = {entry.name.removesuffix(".py") for entry in files("callgym.envs").iterdir()}
    return {entry.family for entry in ENVIRONMENTS} | beside


def _code(family: Family, folder: str, module: str) -> dict[str, str]:
    """The modules and the test that both shapes have."""
    made = {f"{folder}/{name}.py": _rendered(f"family/{name}.py.txt", family, module) for name in _MODULES}
    made[f"{folder}/starter.py"] = _rendered(f"family/starter.{family.protocol}.py.txt", family, module)
    made[f"tests/test_{family.name}.py"] = _rendered("family/test_family.py.txt", family, module)
    return made


def _rendered(template: str, family: Family, module: str) -> str:
    """A template with the family's names in it."""
    values = {
        "@family@": family.name,
        "@Class@": family.class_name,
        "@module@": module,
        "@protocol@": family.protocol,
        "@dist@": family.name.replace("_", "-"),
    }
    text = files("callgym").joinpath("templates", *template.split("/")).read_text(encoding="utf-8")
    for place, value in values.items():
        text = text.replace(place, value)
    assert not _PLACE.search(text)  # every place has a value above
    return _with_sorted_imports(text, module.partition(".")[0]) if template.endswith(".py.txt") else text


def _with_sorted_imports(text: str, own: str) -> str:
    """The imports at the top in the order that ruff wants: which are one's own depends on where the file stands."""
    lines = text.split("\n")
    found = [number for number, line in enumerate(lines) if _IMPORT.fullmatch(line)]
    if not found:
        return text
    sections: list[list[str]] = [[], [], [], []]
    for number in found:
        sections[_section(_module_of(lines[number]), own)].append(lines[number])
    ordered = "\n\n".join("\n".join(sorted(section, key=_import_key)) for section in sections if section)
    return "\n".join([*lines[: found[0]], ordered, *lines[found[-1] + 1 :]])


def _module_of(line: str) -> str:
    match = _IMPORT.fullmatch(line)
    assert match is not None
    return match["of"] or match["all"]


def _section(module: str, own: str) -> int:
    """``__future__``, Python's own, others', one's own."""
    top = module.partition(".")[0]
    if top == "__future__":
        return 0
    if top in sys.stdlib_module_names:
        return 1
    return 3 if top == own else 2


def _import_key(line: str) -> tuple[bool, str]:
    return line.startswith("from "), _module_of(line)


def _write(folder: Path, texts: dict[str, str]) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
