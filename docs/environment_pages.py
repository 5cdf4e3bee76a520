"""One page an id: what it asks, its arguments, its rubric, and a task; from the registry and the class's docstring."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
from docstring_text import as_markdown, cell
from gallery import gallery_link
from page import fenced

from callgym.envs.base import ToolEnv, make_tool_env
from callgym.registry import ENVIRONMENTS, EnvironmentEntry
from callgym.show import rubric_as_text
from callgym.tool_backends.functions import read_docstring

__all__ = ["FAMILIES", "environment_pages", "environment_table", "page_of"]

FAMILIES: Mapping[str, str] = {"apibank": "API-Bank", "bfcl": "BFCL v4", "when2call": "When2Call"}
"""The families that have a title of their own; any other's is its name."""


def page_of(entry: EnvironmentEntry) -> str:
    """The page's place on the site."""
    return f"environments/{entry.id}.md"


def environment_pages() -> dict[str, str]:
    """Place to Markdown, for every registered id."""
    return {page_of(entry): "\n".join(_page(entry)) + "\n" for entry in ENVIRONMENTS}


def environment_table() -> str:
    """All ids with links to their pages."""
    rows = ["| id | protocol | about |", "|---|---|---|"]
    rows += [
        f"| [`{entry.id}`]({entry.id}.md) | `{entry.protocol}` | {cell(entry.summary)} |" for entry in ENVIRONMENTS
    ]
    return "\n".join(rows)


def _page(entry: EnvironmentEntry) -> Iterator[str]:
    env = make_tool_env(entry.id, data="starter")
    env.reset(seed=0)
    made = type(env)
    yield from (f"# `{entry.id}`", "", f"{entry.summary[0].upper()}{entry.summary[1:]}.", "")
    snippet = f'import callgym\nimport gymnasium as gym\n\nenv = gym.make("{entry.id}", data="starter")'
    yield fenced(f"{snippet}\nobservation, info = env.reset(seed=0)", "python")
    yield from ("", *_facts(entry, env), "", as_markdown(inspect.getdoc(made) or ""), "")
    yield from ("## Reward", "", "What the default rubric pays:", "", fenced(rubric_as_text(env.rubric)), "")
    yield from (*_arguments(entry, made), "")
    yield from ("## On the command line", "", fenced(_commands(entry.id), "sh"))
    env.close()


def _facts(entry: EnvironmentEntry, env: ToolEnv) -> Iterator[str]:
    family = FAMILIES.get(entry.family, entry.family)
    tools = sorted({len(task.tools) for task in env.tasks})
    facts = {
        "Family": f"[{family}: the data card](index.md)",
        "Protocol": f"[`{entry.protocol}`](../../concepts.md#protocol)",
        "Default dialect": f"[`{env.default_dialect}`](../../dialects.md)",
        "Default rubric": f"[`{env.rubric.name}`](../../rewards.md)",
        "Starter tasks, split `test`": f"{len(env.tasks):,}",
        "Tools of a task": f"{tools[0]}" if len(tools) == 1 else f"{tools[0]} to {tools[-1]}",
        "Class": f"`{entry.entry_point.replace(':', '.')}`",
        "A task": f"[in the gallery]({gallery_link(entry, '../..')})",
    }
    yield from ("| | |", "|---|---|")
    yield from (f"| {name} | {value} |" for name, value in facts.items())


def _arguments(entry: EnvironmentEntry, made: type[ToolEnv]) -> Iterator[str]:
    fixed = dict(entry.options)
    yield from ("## Arguments", "", f"Of `gym.make({entry.id!r}, ...)`:".replace("'", '"'), "")
    yield from ("| argument | by default | |", "|---|---|---|")
    given = gym.spec(entry.id).kwargs
    for name, default, text in _parameters(made):
        if name not in fixed:
            yield f"| `{name}` | `{given.get(name, default)!r}` | {cell(text)} |"
    said = ", ".join(f"`{name}={value!r}`" for name, value in fixed.items())
    yield from ("", f"The id fixes {said}.")


def _parameters(made: type[ToolEnv]) -> Iterator[tuple[str, Any, str]]:
    """Name, default, description: the class's own first, then those it hands on to its bases."""
    seen: set[str] = set()
    for base in made.__mro__:
        if not (issubclass(base, ToolEnv) and "__init__" in vars(base)):
            continue
        texts = read_docstring(inspect.getdoc(base.__init__) or "").arguments
        for parameter in inspect.signature(base).parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in seen:
                seen.add(parameter.name)
                yield parameter.name, parameter.default, texts.get(parameter.name, "")


def _commands(id: str) -> str:
    verbs = ("show", "check", "eval")
    lines = {"eval": f"callgym eval {id} --policy oracle --episodes 20 --data starter"}
    return "\n".join(lines.get(verb, f"callgym {verb} {id} --data starter") for verb in verbs)
