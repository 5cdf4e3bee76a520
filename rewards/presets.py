"""Rubrics by name: our own, and designs from papers."""

from __future__ import annotations

from callgym.errors import ConfigurationError
from callgym.rewards.rubric import Rubric

__all__ = ["RUBRICS", "get_rubric"]

RUBRICS: dict[str, Rubric] = {
    rubric.name: rubric
    for rubric in (
        Rubric(
            name="default",
            weights={
                "call_exact_match": 0.5,
                "argument_f1": 0.5,
                "irrelevance_abstention": 1.0,
                "final_answer": 1.0,
                "state_reached": 1.0,
                "reply_rouge": 1.0,
                "format_validity": 0.0,
            },
        ),
        Rubric(
            name="exact",
            weights={
                "call_exact_match": 1.0,
                "irrelevance_abstention": 1.0,
                "final_answer": 1.0,
                "state_reached": 1.0,
            },
        ),
    )
}
"""Rubrics by name. ``default``: calls are paid half for exact match and half for argument F1."""


def get_rubric(rubric: str | Rubric) -> Rubric:
    """The rubric of that name; a Rubric is returned as it is.

    Raises:
        ConfigurationError: There is no rubric of that name.
    """
    if isinstance(rubric, Rubric):
        return rubric
    try:
        return RUBRICS[rubric]
    except (KeyError, TypeError):
        raise ConfigurationError(f"no rubric {rubric!r}; there are: {', '.join(RUBRICS)}") from None
