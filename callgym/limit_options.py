"""Options of commands that play: how long steps and episodes may take, how often a broken one begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["asked_limits", "limit_options"]

_OPTIONS = (
    click.option(
        "--step-seconds",
        type=click.FloatRange(min=0, min_open=True),
        help="Most of one step; a longer one is a failure.",
    ),
    click.option(
        "--episode-seconds", type=click.FloatRange(min=0, min_open=True), help="Most of an episode's steps together."
    ),
    click.option(
        "--attempts",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        help="How often a broken episode is begun.",
    ),
)


def limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--step-seconds``, ``--episode-seconds`` and ``--attempts``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked_limits(workers: int | None, step_seconds: float | None, episode_seconds: float | None, attempts: int) -> Any:
    """RolloutLimits where they are asked for, and always on workers; else None."""
    from callgym.rollouts.limits import RolloutLimits

    asked = workers is not None or step_seconds is not None or episode_seconds is not None
    return RolloutLimits(step_seconds, episode_seconds, attempts) if asked else None
