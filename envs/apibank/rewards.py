"""API-Bank's official scores as rewards: ``apibank_exec`` (calls) and ``apibank_rouge`` (replies).

Both are measured exactly as the official scripts do, quirks and faults of the data included, and are meant
for reports. For training the default rubric is the better choice; the data card says why.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from callgym.call import ToolCall, ToolResult
from callgym.envs.apibank.live import SEARCH
from callgym.envs.apibank.official import judge_call, judge_made_call
from callgym.envs.apibank.simulator.manager import TOOL_SETS
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import loaded_tables
from callgym.envs.perturbations.disguise import undisguised
from callgym.episode import Episode, Score
from callgym.goal import CallsGoal, TextGoal
from callgym.rewards import RUBRICS, Rubric, register_reward
from callgym.rewards.matching import assign
from callgym.rewards.rouge import official_rouge_l
from callgym.task import Task
from callgym.tool_backends.ranking import get_ranker

__all__ = ["apibank_exec", "apibank_rouge"]

_NO_CALL = Score(applies=False, explanation={"reason": "the task has no recorded call"})
_NO_REPLY = Score(applies=False, explanation={"reason": "the task has no recorded reply"})
_NO_TABLES = Score(value=None, explanation={"reason": "the databases that the calls run on are not loaded"})
_WITHOUT_INPUT = ("GetToday",)


def apibank_exec(task: Task, episode: Episode) -> Score:
    """The official verdict on the call: parsed by the official patterns, run, its result compared.

    ``step``: 1 where the official evaluation calls the action right, else 0; the mean over a level is its
    accuracy. In an environment with ``state="replayed"`` the recorded earlier calls are executed first,
    which the official evaluation leaves out.

    ``dialogue``, for which there is no official score: each recorded call is paired with a call the policy
    made whose result the official comparison takes for it; the score is the share of pairs among recorded
    or made calls, whichever are more. Tool searches are not counted there.

    None where the tables are not loaded in this process.
    """
    task, episode = undisguised(task, episode)
    meta: dict[str, Any] = task.meta
    if "gold" in meta:
        return _judge_step(meta, episode)
    if "gold_results" in meta:
        return _judge_dialogue(task, episode)
    return _NO_CALL


def _judge_step(meta: dict[str, Any], episode: Episode) -> Score:
    tables = loaded_tables(str(meta.get("tables")))
    if tables is None:
        return _NO_TABLES
    tool_set = "lv3_apis" if meta["level"] == 3 else "apis"
    ranker = get_ranker(str(episode.config.get("ranker", "bm25")))
    backend = SimulatorBackend(tables, tool_set, ranker, official=True)
    history = meta.get("history", ()) if episode.config.get("state") == "replayed" else ()
    verdict = judge_call(_official_text(episode), meta["gold"], backend, history)
    explanation: dict[str, Any] = {"status": verdict.status, "reason": verdict.reason, "call": verdict.extracted}
    if verdict.category is not None:
        explanation["error_class"] = verdict.category
    return Score(value=float(verdict.correct), explanation=explanation)


def _official_text(episode: Episode) -> str:
    """The action; from a dialect other than the official one, its calls as the official one writes them."""
    if not episode.steps:
        return ""
    step = episode.steps[0]
    if _in_official_dialect(episode) or not step.calls:
        return step.action
    return "\n".join(_in_brackets(call) for call in step.calls)


def _in_brackets(call: ToolCall) -> str:
    arguments = ", ".join(f"{key}='{value}'" for key, value in call.arguments.items())
    return f"[{call.name}({arguments})]"


def _judge_dialogue(task: Task, episode: Episode) -> Score:
    tool_set = "lv3_apis" if task.meta["level"] == 3 else "apis"
    recorded = _recorded(task)
    made = [
        (call, _as_official(tool_set, call, result))
        for step in episode.steps
        for call, result in zip(step.calls, step.results, strict=True)
        if call.name != SEARCH
    ]
    credit = np.zeros((len(recorded), len(made)))
    for row, (name, gold) in enumerate(recorded):
        for column, (call, result) in enumerate(made):
            right = call.name == name and judge_made_call(tool_set, name, result, gold)[0] == "correct"
            credit[row, column] = float(right)
    pairs = [(g, p) for g, p in assign(credit) if credit[g, p]]
    explanation: dict[str, Any] = {
        "recorded": len(recorded),
        "made": len(made),
        "right": [list(pair) for pair in pairs],
    }
    return Score(value=len(pairs) / max(len(recorded), len(made)), explanation=explanation)


def _recorded(task: Task) -> list[tuple[str, dict[str, Any]]]:
    """Tool and recorded result of each gold call; in a task of our own, what the gold call gave."""
    goal = task.goal_of(CallsGoal)
    calls = [call.reference() for turn in goal.turns for call in turn] if goal is not None else []
    tool_set = "lv3_apis" if task.meta["level"] == 3 else "apis"
    results: Any = task.meta.get("recorded_results")
    if results is None:
        given: Any = task.meta["gold_results"]
        results = [
            _as_official(tool_set, call, ToolResult(content=content))
            for call, content in zip(calls, given, strict=True)
        ]
    return [(call.name, result) for call, result in zip(calls, results, strict=True)]


def _as_official(tool_set: str, call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """A call that ran, in the shape of an official result."""
    tool = TOOL_SETS[tool_set].get(call.name)
    shown: dict[str, Any] | None = {**dict.fromkeys(tool.shown if tool else ()), **call.arguments}
    return {
        "api_name": call.name,
        "input": None if call.name in _WITHOUT_INPUT else shown,
        "output": result.content,
        "exception": result.message if result.error else None,
    }


def apibank_rouge(task: Task, episode: Episode) -> Score:
    """ROUGE-L of the last reply against the recorded one, as the official scripts compute it.

    Levels 1 and 2 are rounded to four places. None where the recorded reply cannot be scored.
    """
    goal = task.goal_of(TextGoal)
    replies: Any = task.meta.get("replies")
    reference = goal.reference if goal is not None else replies[-1] if replies else None
    if reference is None:
        return _NO_REPLY
    level, reply = int(str(task.meta.get("level", 1))), _reply(episode)
    value = official_rouge_l(reference, reply, level)
    return Score(value=value, explanation={"reference": reference[:500], "level": level})


def _reply(episode: Episode) -> str:
    """What the policy wrote last. Officially the whole text counts; in a live episode, and in another
    dialect, it is the words."""
    steps = episode.steps
    if len(steps) == 1 and _in_official_dialect(episode):
        return steps[0].action
    return steps[-1].content if steps and not steps[-1].calls else ""


def _in_official_dialect(episode: Episode) -> bool:
    return str(episode.config.get("dialect", "")).startswith("apibank")


register_reward("apibank_exec", apibank_exec)
register_reward("apibank_rouge", apibank_rouge)
RUBRICS.setdefault(
    "apibank_official", Rubric(name="apibank_official", weights={"apibank_exec": 1.0, "apibank_rouge": 1.0})
)
