"""What a shell offers for an argument that is half written: ids, policies, dialects, rubrics, splits, perturbations.

Nothing is made or read for it: an id is completed from the registry, and what else is named is looked up by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = [
    "Complete",
    "complete_data",
    "complete_dialects",
    "complete_families",
    "complete_ids",
    "complete_perturbations",
    "complete_policies",
    "complete_readers",
    "complete_rubrics",
    "complete_settings",
    "complete_splits",
]

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
"""What click asks for completions."""

_SPLITS = ("test", "train")
_MORE_SPLITS = {"apibank": ("cv-train", "cv-test")}
_SOURCES = ("auto", "official", "starter")
_MODELS = ("hf:", "openai:", "choices:hf:", "choices:openai:")
_SETTINGS = ("rubric=", "perturb=", "protocol=", "max_steps=", "backend=", "observation=", "coercion=", "faults=")


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Environment ids, each with what it is about."""
    from callgym.registry import ENVIRONMENTS

    return [CompletionItem(e.id, help=e.summary) for e in ENVIRONMENTS if e.id.startswith(incomplete)]


def complete_families(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Benchmarks."""
    from callgym.registry import ENVIRONMENTS

    return _beginning(dict.fromkeys(entry.family for entry in ENVIRONMENTS), incomplete)


def complete_policies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Policies: those with a name, and how models begin."""
    from callgym.rollouts.adversarial import ADVERSARIAL
    from callgym.rollouts.scripted import SCRIPTED

    return _beginning((*SCRIPTED, *ADVERSARIAL, *_MODELS), incomplete)


def complete_dialects(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Dialects that an environment can write."""
    from callgym.dialects import DIALECTS

    return _beginning(DIALECTS, incomplete)


def complete_readers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Dialects to read with: all, and ``auto``."""
    from callgym.dialects import DIALECTS

    return _beginning(dict.fromkeys(("auto", *DIALECTS)), incomplete)


def complete_rubrics(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rubrics."""
    from callgym.rewards import RUBRICS

    return _beginning(RUBRICS, incomplete)


def complete_perturbations(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Perturbations."""
    from callgym.envs.perturbations.specs import PERTURBATIONS

    return _beginning(PERTURBATIONS, incomplete)


def complete_splits(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The splits of the id that is named before, or those that every environment has."""
    # Before an option without its value click does not tell arguments from options.
    words = [str(context.params.get("id") or ""), *context.args]
    families = [word.partition("/")[0] for word in words]
    more = [split for family in families for split in _MORE_SPLITS.get(family, ())]
    return _beginning((*_SPLITS, *more), incomplete)


def complete_data(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Where data is: three names, or a folder."""
    named = _beginning(_SOURCES, incomplete)
    return named or [CompletionItem(incomplete, type="dir")]


def complete_settings(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """``NAME=VALUE`` of gym.make; values too where they are names."""
    name, equals, value = incomplete.partition("=")
    values: dict[str, Complete] = {"rubric": complete_rubrics, "perturb": complete_perturbations}
    if not equals or name not in values:
        return _beginning(_SETTINGS, incomplete)
    found: list[Any] = values[name](context, parameter, value)
    return [CompletionItem(f"{name}={item.value}") for item in found]
