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
        Rubric(
            name="toolrl",
            source="Qian et al., ToolRL, arXiv 2504.13958, section 3.3; words are paid as in exact",
            weights={
                "toolrl_format": 1.0,
                "toolrl_correctness": 6.0,
                "irrelevance_abstention": 6.0,
                "final_answer": 6.0,
                "state_reached": 6.0,
            },
            low=-3.0,
            high=4.0,
        ),
        Rubric(
            name="toolrla",
            # The abstract says what is multiplied (tool selection and parameter accuracy, behind format validity);
            # how each factor is measured here is our choice. Compliance rules are a benchmark's own: add a factor.
            source="Liu, ToolRLA, arXiv 2603.01620: correctness as a product, behind a gate of format",
            factors=(
                "tool_name_precision",
                "tool_name_recall",
                "argument_accuracy",
                "irrelevance_abstention",
                "final_answer",
                "state_reached",
            ),
            gates={"format_validity": 1.0},
        ),
        Rubric(
            name="alpha_umi",
            source="Shen et al., Small LLMs Are Weak Tool Learners (X-PLUG/Multi-LLM-Agent f9eeef7): its step metrics",
            weights={
                "plan_accuracy": 1.0,
                "tool_name_f1": 1.0,
                "argument_f1_half_credit": 1.0,
                "hallucinated_tool": 1.0,
                "reply_rouge": 1.0,
                "final_answer": 1.0,
            },
        ),
        Rubric(
            name="bfcl_binary",
            source="Patil et al., Berkeley Function Calling Leaderboard: a call is right or wrong as a whole",
            weights={"call_exact_match": 1.0, "irrelevance_abstention": 1.0},
            factors=("final_answer", "state_reached"),
        ),
        Rubric(
            name="envtuning_progress",
            source="EnvTuning (AWorld-RL): mean over user turns of 1 where the turn passes; here by its calls",
            weights={"irrelevance_abstention": 1.0},
            steps={"turn_progress": 1.0},
            factors=("final_answer", "state_reached"),
        ),
        Rubric(
            name="turn_level",
            source="Zeng et al., arXiv 2505.11821: rewards for turns (0.2 for a tool that ran) beside the outcome's",
            weights={
                "call_exact_match": 1.0,
                "irrelevance_abstention": 1.0,
                "final_answer": 1.0,
                "state_reached": 1.0,
            },
            steps={"tool_execution": 0.2, "call_progress": 0.5},
        ),
    )
}
"""Rubrics by name: ``default`` pays calls half for exact match and half for argument F1, ``exact`` nothing but what
is wholly right; the others follow their sources, as far as a task has what they ask for."""


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
