"""Rewards: pure functions from a task and an episode to a score and its explanation."""

from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.answer import final_answer
from callgym.rewards.calls import argument_f1, call_exact_match
from callgym.rewards.format import format_validity
from callgym.rewards.rouge import reply_rouge, rouge_l
from callgym.rewards.rubric import RUBRICS, Reward, Rubric, get_reward, get_rubric, register_reward
from callgym.rewards.state import state_reached

__all__ = [
    "RUBRICS",
    "Reward",
    "Rubric",
    "argument_f1",
    "call_exact_match",
    "final_answer",
    "format_validity",
    "get_reward",
    "get_rubric",
    "irrelevance_abstention",
    "register_reward",
    "reply_rouge",
    "rouge_l",
    "state_reached",
]
