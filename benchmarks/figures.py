"""The figures of the data cards: each subcommand plays, measures or compares, and writes one file of docs/figures.

    python benchmarks/figures.py parity --fixtures FOLDER
    python benchmarks/figures.py counts --official FOLDER
    python benchmarks/figures.py baselines --official FOLDER
    python benchmarks/figures.py adversaries
    python benchmarks/figures.py trained ID ... --minutes 4
    python benchmarks/figures.py speed
    python docs/cards.py                 # then the cards are filled from the files

A figure stands beside the command that made it. Files have sorted keys and rounded numbers, and name neither folders
nor machines, so that a second run changes only what has changed; times alone differ from run to run. FOLDER holds a
folder a benchmark (``api_bank`` or ``apibank``, ``bfcl``, ``when2call``), and for parity ``api_bank_parity`` and so on
beside them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from callgym.command_line import explained

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
"""Where the files are."""
DIGITS = 4
"""Decimals that are kept."""

_folder = click.Path(exists=True, file_okay=False, path_type=Path)
_official = click.option("--official", type=_folder, help="Folder with the folders of official files.")

_ids = click.option("--id", "ids", multiple=True, help="Only ids that begin so; the others' figures stay. Repeatable.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Make the figures that the data cards show."""


@main.command()
@click.option("--fixtures", type=_folder, required=True, help="Folder with api_bank_parity, bfcl_parity and so on.")
@explained
def parity(fixtures: Path) -> None:
    """Our verdicts against recorded official ones, all suites."""
    from figure_parity import FIXTURES, parity_of

    suites = {suite: parity_of(suite, fixtures / folder) for suite, folder in FIXTURES.items()}
    with_bm25 = parity_of("apibank", fixtures / FIXTURES["apibank"], ranker="bm25")
    write("parity", {"suites": suites, "apibank_with_bm25": with_bm25})


@main.command()
@_official
@_ids
@explained
def counts(official: Path | None, ids: tuple[str, ...]) -> None:
    """How many tasks and tools each id has; official ones only where their files are given."""
    from figure_counts import LICENCES, counts_of
    from figure_settings import folder_of, settings

    rows = {s.key: counts_of(s, folder_of(s.family, official)) for s in settings(ids)}
    command = "python benchmarks/figures.py counts --official FOLDER"
    write("counts", {"command": command, "licences": LICENCES, "settings": {**_settings("counts"), **rows}})


@main.command()
@_official
@_ids
@explained
def baselines(official: Path | None, ids: tuple[str, ...]) -> None:
    """What policies without a model earn, on starter data and on official files where they are given."""
    from figure_baselines import MOST, POLICIES, baselines_of, members_of, of_group
    from figure_settings import folder_of, settings

    found = _settings("baselines")
    head = {"command": "python benchmarks/figures.py baselines --official FOLDER", "most": MOST, "policies": POLICIES}
    for setting in settings(ids):
        if members_of(setting.id):
            continue
        folder = folder_of(setting.family, official)
        figures = {"official": None if folder is None else baselines_of(setting, folder)}
        found[setting.key] = {**figures, "starter": baselines_of(setting, "starter")}
        click.echo(f"{setting.key}: {found[setting.key]}")
        write("baselines", {**head, "settings": found})
    played = {key.partition(" ")[0]: figures for key, figures in found.items()}
    for setting in settings(ids):
        members = [played[member] for member in members_of(setting.id) if member in played]
        if members and len(members) == len(members_of(setting.id)):
            found[setting.key] = {
                data: of_group([member[data] for member in members])
                if all(member[data] for member in members)
                else None
                for data in ("official", "starter")
            }
    write("baselines", {**head, "settings": found})


@main.command()
@_official
@_ids
@explained
def adversaries(official: Path | None, ids: tuple[str, ...]) -> None:
    """What near-cheats earn, under the default rubrics and, on official files, under the official ones."""
    from figure_adversaries import POLICIES, adversaries_of
    from figure_settings import folder_of, settings

    found = _settings("adversaries")
    head = {"command": "python benchmarks/figures.py adversaries --official FOLDER", "policies": POLICIES}
    for setting in settings(ids):
        folder = folder_of(setting.family, official)
        ours = adversaries_of(setting)
        if ours is not None:
            found[setting.key] = {
                "official": None if folder is None else adversaries_of(setting, folder),
                "starter": ours,
            }
            click.echo(f"{setting.key}: {found[setting.key]}")
            write("adversaries", {**head, "settings": found})


@main.command()
@_ids
@explained
def speed(ids: tuple[str, ...]) -> None:
    """Steps per second of one process playing the oracle, by id, and times of the floor."""
    from figure_settings import settings
    from figure_speed import speed_of

    measured = {setting.key: speed_of(setting) for setting in settings(ids)}
    kept = {**_settings("speed"), **{key: figures for key, figures in measured.items() if figures is not None}}
    write("speed", {"command": "python benchmarks/figures.py speed", "settings": kept})


@main.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--minutes", type=click.FloatRange(min=0.1), default=4.0, show_default=True, help="Of one core, an id.")
@click.option("--steps", type=click.IntRange(min=1), help="Supervised steps, in place of --minutes.")
@click.option("--grpo-steps", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@explained
def trained(ids: tuple[str, ...], minutes: float, steps: int | None, grpo_steps: int, seed: int) -> None:
    """A small policy that imitates the oracle on starter tasks; each id is written as it is done."""
    import figure_trained

    recipe = figure_trained.Recipe(minutes, steps=steps, grpo_steps=grpo_steps, seed=seed)
    for id in ids:
        figures = figure_trained.trained(id, recipe)
        click.echo(f"{id}: {figures}")
        write("trained", {"ids": {**read("trained").get("ids", {}), id: figures}})


def _settings(name: str) -> dict[str, Any]:
    """The figures by setting that a file has already."""
    found: dict[str, Any] = read(name).get("settings", {})
    return found


def read(name: str) -> dict[str, Any]:
    """What a file of figures holds; nothing where it is not there yet."""
    path = FIGURES / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def write(name: str, figures: dict[str, Any]) -> None:
    """Write a file of figures: keys sorted, numbers rounded, a line feed at the end."""
    path = FIGURES / f"{name}.json"
    path.write_text(json.dumps(rounded(figures), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    click.echo(f"docs/figures/{path.name}")


def rounded(value: Any) -> Any:
    """The value with every number that is not whole rounded."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return round(value, DIGITS) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
