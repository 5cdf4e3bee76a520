"""Rewards: pure functions from a task and an episode to a score and its explanation."""

from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.answer import final_answer
from callgym.rewards.calls import argument_f1, call_exact_match
from callgym.rewards.format import format_validity
from callgym.rewards.presets import RUBRICS, get_rubric
from callgym.rewards.registry import (
    Reward,
    StepReward,
    get_reward,
    register_reward,
    register_step_reward,
    reward_names,
)
from callgym.rewards.rouge import reply_rouge, rouge_l
from callgym.rewards.rubric import Rubric
from callgym.rewards.state import state_reached

__all__ = [
    "RUBRICS",
    "Reward",
    "Rubric",
    "StepReward",
    "argument_f1",
    "call_exact_match",
    "final_answer",
    "format_validity",
    "get_reward",
    "get_rubric",
    "irrelevance_abstention",
    "register_reward",
    "register_step_reward",
    "reply_rouge",
    "reward_names",
    "rouge_l",
    "state_reached",
]
