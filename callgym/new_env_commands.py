"""``callgym new-env``: a new family of environments, to be changed from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from callgym.command_line import HELP, explained, json_option, print_json
from callgym.terminal import harmless

__all__ = ["new_env"]


@click.command("new-env", context_settings=HELP)
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The new folder, ./NAME by default; with --in-tree, the checkout."
)
@click.option("--in-tree", is_flag=True, help="Write into a checkout of CallGym: envs/NAME and tests/test_NAME.py.")
@click.option(
    "--protocol",
    type=click.Choice(("single", "dialogue")),
    default="single",
    show_default=True,
    help="One action an episode, or a conversation.",
)
@json_option
@explained
def new_env(name: str, out: Path | None, in_tree: bool, protocol: Any, as_json: bool) -> None:
    """Make a new family of environments: loader, environment, starter tasks, data card, tests, all green.

    NAME is the first half of its ids, like my_bench. By default the family becomes a package of its own.
    """
    from callgym.new_env import Family, find_checkout, pyproject_lines, registry_lines, write_in_tree, write_package

    family = Family.of(name, protocol)
    if in_tree:
        folder = find_checkout(Path() if out is None else out)
        written = write_in_tree(family, folder)
    else:
        folder = Path(name) if out is None else out
        written = write_package(family, folder)
    lines = {"registry": registry_lines(family), "pyproject": pyproject_lines(family)} if in_tree else {}
    if as_json:
        found = {"id": family.id, "folder": str(folder), "files": [str(path) for path in written], **lines}
        print_json(found)
        return
    for path in written:
        click.echo(harmless(str(path)))
    click.echo("\n" + "\n".join(_in_tree_steps(name, lines) if in_tree else _package_steps(family.id, name, folder)))


def _package_steps(id: str, name: str, folder: Path) -> list[str]:
    place = harmless(str(folder))
    return [
        "Next:",
        f"  pip install --editable '{place}[dev]'",
        f"  cd {place} && pytest && ruff check && mypy",
        f"  callgym play {id} --import {name}",
        "Then put your own tools, rows and words in the place of the shop's, and fill in README.md, the data card.",
    ]


def _in_tree_steps(name: str, lines: dict[str, list[str]]) -> list[str]:
    return [
        "Add to ENVIRONMENTS in callgym/registry.py:",
        *(f"    {line}" for line in lines["registry"]),
        "and to the list of packages in pyproject.toml:",
        *(f"    {line}" for line in lines["pyproject"]),
        "Next:",
        f"  pytest tests/test_{name}.py tests/test_package.py && make lint",
        "Then put the benchmark's tools, rows and words in the place of the shop's; CONTRIBUTING.md says what else.",
    ]
