"""BFCL's rewards: the official verdicts, and what is paid to learn from.

Official (rubric ``bfcl_official``): ``bfcl_ast``, ``bfcl_multi_turn``, ``bfcl_agentic``. To train on (rubric
``bfcl``, the default): ``call_match`` and ``irrelevance_abstention`` as everywhere, ``relevant_call``,
``bfcl_turns`` (credit turn by turn) and ``bfcl_answer`` (an answer, not a list of candidates).
"""

from __future__ import annotations

from typing import Any

from callgym.envs.bfcl.categories import CATEGORIES, Category
from callgym.envs.bfcl.official.agentic import answer_verdict, strict_answer
from callgym.envs.bfcl.official.checker import Verdict, check, judge_text
from callgym.envs.bfcl.official.multi_turn import FORCED
from callgym.envs.bfcl.prompt_formats import PromptFormat
from callgym.episode import Episode, Score, Step
from callgym.goal import AnswerGoal
from callgym.rewards import Rubric, register_reward
from callgym.rewards.call_match import register_reader
from callgym.rewards.explain import register_explanation
from callgym.rewards.presets import RUBRICS
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["bfcl_agentic", "bfcl_answer", "bfcl_ast", "bfcl_multi_turn", "bfcl_turns"]

_NOT_ASKED = Score(applies=False, explanation={"reason": "the task is none of this kind of BFCL's"})
_REPAIRED = Score(
    value=0.0,
    explanation={"valid": False, "error": "repaired", "message": "a call could be read only after a repair"},
)
_LONGEST_ANSWER = 4_000
"""Characters; an answer in a longer reply was put there among everything else."""
_TEXT_DIALECTS = ("python",)
"""Dialects whose text the official decoder reads; in others calls arrive decoded, as from a function-calling API."""


def _category(task: Task) -> Category | None:
    return CATEGORIES.get(str(task.meta.get("category"))) if task.family == "bfcl" else None


def bfcl_ast(task: Task, episode: Episode) -> Score:
    """The official verdict on a single-turn task: 1 valid, 0 not.

    In the dialect ``python`` and in the formats of ``format_sensitivity`` the action's text goes through the
    official decoder; in other dialects its calls are checked as those of function-calling models are.
    """
    category = _category(task)
    if category is None or category.protocol != "single" or not episode.steps:
        return _NOT_ASKED
    if _was_repaired(episode):
        return _REPAIRED
    verdict = _single_verdict(task, episode, category)
    return _as_score(verdict.valid, verdict.error_type, verdict.message)


def _single_verdict(task: Task, episode: Episode, category: Category) -> Verdict:
    step = episode.steps[0]
    functions: list[Any] = [tool.meta["bfcl"] for tool in task.tools]
    original: Any = task.meta.get("original_category", category.name)
    gold: Any = task.meta.get("gold")
    if gold and len(gold) == 1:
        # The official check of a single call looks at the first document; a perturbation may have added others.
        functions.sort(key=lambda function: function["name"] not in gold[0])
    if category.kind == "format_sensitivity":
        form = PromptFormat.parse(str(task.meta["format"]))
        return judge_text(
            _spoken(step), original, functions, gold, ret_fmt=form.ret_fmt, tagged=form.tagged, language="python"
        )
    if _is_text(episode):
        return judge_text(
            _spoken(step), original, functions, gold, ret_fmt=category.language, language=category.language
        )
    decoded = [{call.name: call.arguments} for call in step.calls]
    return check(decoded, gold, functions, original, language=category.language)


def _is_text(episode: Episode) -> bool:
    return str(episode.config.get("dialect")).partition(":")[0] in _TEXT_DIALECTS


def _was_repaired(episode: Episode) -> bool:
    """Whether a call could be read only after a repair, which no official evaluation makes."""
    return any(error.kind == "repaired" for step in episode.steps for error in step.errors)


def _spoken(step: Step) -> str:
    """The action without its reasoning, which official handlers of reasoning models set aside, too."""
    if not step.reasoning:
        return step.action
    _, closed, rest = step.action.partition("</think>")
    return rest if closed else ""


def bfcl_multi_turn(task: Task, episode: Episode) -> Score:
    """The official verdict on a multi-turn task, from the comparison after each turn: 1 if all turns pass.

    A turn without gold calls passes whatever was called in it; an episode that broke off before its last turn
    fails.
    """
    turns = _turns(task, episode)
    if turns is None:
        return _NOT_ASKED
    if _was_repaired(episode):
        return _REPAIRED
    for number, turn in enumerate(turns, 1):
        if turn["error"] is not None:
            return _as_score(False, turn["error"], f"turn {number}: {turn['message']}")
    gold: Any = task.meta["gold"]
    if len(turns) < len(gold):
        return _as_score(False, FORCED, f"{len(turns)} of {len(gold)} turns were played")
    return _as_score(True, None, "")


def _turns(task: Task, episode: Episode) -> list[dict[str, Any]] | None:
    """The facts of each turn, of a multi-turn task; None for others."""
    category = _category(task)
    if category is None or category.kind != "multi_turn" or episode.state is None:
        return None
    turns: Any = episode.state["turns"]
    return list(turns)


def bfcl_turns(task: Task, episode: Episode) -> Score:
    """Credit turn by turn: the share of the turns with gold calls that pass the official checks.

    Beyond the official rule: a turn in which copies of a call were made, or calls that had to be repaired, earns
    ``gold / (gold + copies)``, and each turn that asks for no call (a function or a value is missing) and in which one
    was made counts as a failed turn. Doing nothing there earns nothing by itself. A turn in which the episode was
    truncated was not over, and has failed.
    """
    turns = _turns(task, episode)
    if turns is None:
        return _NOT_ASKED
    gold: Any = task.meta["gold"]
    turns = [{**turn, "copies": turn["copies"] + _repairs(episode, number)} for number, turn in enumerate(turns)]
    cut = episode.steps[-1].turn if episode.ended == "truncated" and episode.steps else len(turns)
    turns = [{**turn, "error": turn["error"] or "truncated"} if n == cut else turn for n, turn in enumerate(turns)]
    explanation: dict[str, Any] = {"asked": sum(map(bool, gold)), "turns": turns}
    return Score(value=_turn_credit(explanation), explanation=explanation)


def _repairs(episode: Episode, turn: int) -> int:
    steps = [step for step in episode.steps if step.turn == turn]
    return sum(error.kind == "repaired" for step in steps for error in step.errors)


def _turn_credit(explanation: dict[str, Any]) -> float:
    earned, wrongly = 0.0, 0
    for turn in explanation["turns"]:
        if turn["gold"]:
            earned += 0.0 if turn["error"] else turn["gold"] / (turn["gold"] + turn["copies"])
        else:
            wrongly += bool(turn["made"])
    return float(earned / (explanation["asked"] + wrongly)) if explanation["asked"] else float(not wrongly)


def bfcl_agentic(task: Task, episode: Episode) -> Score:
    """The official verdict on an answer: 1 where an accepted one occurs in the last reply as words of its own."""
    if not _asks_answer(task):
        return _NOT_ASKED
    if _was_repaired(episode):
        return _REPAIRED
    accepted: Any = task.meta["gold"]
    if _is_text(episode):
        steps = [_spoken(step) for step in episode.steps]
    else:
        steps = [step.content for step in episode.steps if not step.calls]
    verdict = answer_verdict(steps, accepted)
    return _as_score(verdict.valid, verdict.error_type, "")


def bfcl_answer(task: Task, episode: Episode) -> Score:
    """1 where the final answer is an accepted one; listing candidates is not paid. See ``strict_answer``."""
    if not _asks_answer(task):
        return _NOT_ASKED
    accepted: Any = task.meta["gold"]
    answer = episode.final_answer
    if len(answer) > _LONGEST_ANSWER:
        return Score(value=0.0, explanation={"why": f"over {_LONGEST_ANSWER} characters", "value": 0.0})
    value, explanation = strict_answer(answer, accepted)
    return Score(value=value, explanation={**explanation, "value": value})


def _asks_answer(task: Task) -> bool:
    category = _category(task)
    return category is not None and category.kind in ("memory", "web_search") and "gold" in task.meta


def _as_score(valid: bool, error: str | None, message: str) -> Score:
    return Score(value=float(valid), explanation={"valid": valid, "error": error, "message": message[:500]})


# Java and JavaScript: values are texts in the language's notation.


def _read_code(task: Task, tool_name: str, argument: str, value: Any) -> Any:
    """The value that a text in the task's language stands for."""
    from callgym.envs.bfcl.code_text import read_java, read_javascript

    if not isinstance(value, str):
        return value
    declared, inner = _declared(task.tools, tool_name, argument)
    read = read_java if task.meta["language"] == "java" else read_javascript
    return read(value, declared, inner)


def _declared(tools: tuple[Tool, ...], tool_name: str, argument: str) -> tuple[str, str | None]:
    for tool in tools:
        if tool.name == tool_name:
            document: Any = tool.meta["bfcl"]
            parameter = document["parameters"]["properties"].get(argument, {})
            return str(parameter.get("type", "any")), (parameter.get("items") or {}).get("type")
    return "any", None


for _name, _reward in (
    ("bfcl_ast", bfcl_ast),
    ("bfcl_multi_turn", bfcl_multi_turn),
    ("bfcl_turns", bfcl_turns),
    ("bfcl_agentic", bfcl_agentic),
):
    register_reward(_name, _reward)
register_reward("bfcl_answer", bfcl_answer, AnswerGoal, _NOT_ASKED)
for _name in ("bfcl_ast", "bfcl_multi_turn", "bfcl_agentic"):
    register_explanation(_name, lambda explanation: float(explanation["valid"]))
register_explanation("bfcl_turns", _turn_credit)
register_explanation("bfcl_answer", lambda explanation: float(explanation["value"]))
for _language in ("java", "javascript"):
    register_reader(_language, _read_code)

_SOURCE = "Patil et al., Berkeley Function Calling Leaderboard v4 (bfcl-eval 2026.3.23)"
RUBRICS.setdefault(
    "bfcl",
    Rubric(
        name="bfcl",
        source="BFCL v4's tasks; calls by call_match, turns by the official checks, answers strictly",
        weights={
            "call_match": 1.0,
            "irrelevance_abstention": 1.0,
            "relevant_call": 1.0,
            "bfcl_turns": 1.0,
            "bfcl_answer": 1.0,
            "format_validity": 0.0,
        },
    ),
)
RUBRICS.setdefault(
    "bfcl_official",
    Rubric(
        name="bfcl_official",
        source=_SOURCE,
        weights={"bfcl_ast": 1.0, "bfcl_multi_turn": 1.0, "bfcl_agentic": 1.0},
    ),
)
