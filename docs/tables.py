"""Tables that are made: rewards, rubrics, dialects, official verdicts, extras. No figure in them is typed."""

from __future__ import annotations

import importlib
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docstring_text import cell, first_sentence
from page import PageError, fenced

from callgym import ToolCall
from callgym.dialects import DIALECTS
from callgym.registry import ENVIRONMENTS
from callgym.rewards.presets import RUBRICS
from callgym.rewards.registry import BUILT_IN, find_reward, find_step_reward, reward_names

__all__ = ["dialect_examples", "extras_table", "rewards_table", "rubrics_table", "verdicts_table"]

_EXAMPLE = (ToolCall(name="find_flights", arguments={"to": "Rome", "adults": 2, "direct": True}),)


def rewards_table() -> str:
    """Every registered reward, those that environments bring included."""
    _load_environments()
    rows = ["| reward | asks for | what it measures |", "|---|---|---|"]
    names = sorted(reward_names(), key=lambda name: (name not in BUILT_IN, name))
    rows += [_reward_row(name, find_reward(name)) for name in names]
    steps = sorted({name for rubric in RUBRICS.values() for name in rubric.steps})
    rows += [_reward_row(name, find_step_reward(name), " (step by step)") for name in steps]
    return "\n".join(rows)


def _reward_row(name: str, entry: Any, how: str = "") -> str:
    goal = f"`{entry.goal.__name__}`" if entry.goal is not None else ""
    return f"| `{name}`{how} | {goal} | {cell(first_sentence(entry.reward.__doc__ or ''))} |"


def rubrics_table() -> str:
    """Every registered rubric as it is written, and where it is from."""
    _load_environments()
    rows = ["| rubric | what it pays | from |", "|---|---|---|"]
    for rubric in RUBRICS.values():
        lines = [line.strip() for line in list(rubric.lines())[1:]]
        rows.append(f"| `{rubric.name}` | {cell('; '.join(lines))} | {cell(rubric.source)} |")
    return "\n".join(rows)


def dialect_examples() -> str:
    """One and the same call in every dialect."""
    return "\n\n".join(part for name in DIALECTS for part in (f"### `{name}`", _example(name)))


def _example(name: str) -> str:
    dialect = DIALECTS[name]
    text = dialect.render_action(_EXAMPLE)
    parsed = dialect.parse(text)
    if [(call.name, dict(call.arguments)) for call in parsed.calls] != [(c.name, dict(c.arguments)) for c in _EXAMPLE]:
        return fenced(text) + "\n\nIts values are text; the tool's schema says what they are."
    return fenced(text)


def verdicts_table(figures: Path) -> str:
    """How many of the official verdicts ours agree with, read from what ``benchmarks/figures.py`` wrote.

    Raises:
        PageError: The file is not there or of another shape.
    """
    try:
        read = json.loads(figures.read_text(encoding="utf-8"))
        return "\n".join(_verdict_lines(read["suites"], read["apibank_with_bm25"]))
    except FileNotFoundError:
        raise PageError(f"{figures.name} is not there; python benchmarks/figures.py writes it") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PageError(
            f"{figures.name} has another shape ({error!r}); python benchmarks/figures.py writes it"
        ) from error


def _verdict_lines(suites: dict[str, Any], bm25: dict[str, Any]) -> Iterator[str]:
    yield from ("| suite | cases | agree | command |", "|---|---:|---:|---|")
    for name, suite in suites.items():
        yield f"| `{name}` | {suite['total']:,} | {suite['agree']:,} | `{suite['command']}` |"
    yield from (
        "",
        "The official tool search of API-Bank ranks with a sentence encoder, MiniLM. With the ranker of the core",
    )
    yield f"install, BM25, some searches find another tool: {bm25['agree']:,} of {bm25['total']:,} agree"
    yield f"(`{bm25['command']}`)."
    for name, suite in suites.items():
        yield from ("", f"### `{name}`", "", "| file | cases | agree | |", "|---|---:|---:|---|")
        yield from map(_file_row, suite["files"])


def _file_row(file: dict[str, Any]) -> str:
    counted = "" if file.get("counted", True) else "seen from another side, not counted again"
    return f"| {cell(file['file'])} | {file['cases']:,} | {file['agree']:,} | {counted} |"


def extras_table(pyproject: Path) -> str:
    """The extras of the package and what each installs."""
    extras = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    rows = ["| extra | installs |", "|---|---|"]
    rows += [f"| `{name}` | {', '.join(f'`{cell(part)}`' for part in parts)} |" for name, parts in extras.items()]
    return "\n".join(rows)


def _load_environments() -> None:
    """Environments register rewards and rubrics of their own when they are imported."""
    for entry in ENVIRONMENTS:
        importlib.import_module(entry.entry_point.partition(":")[0])
