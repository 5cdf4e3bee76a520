"""API-Bank's official verdicts, case by case: a model's text against a recorded call or reply.

Source: AlibabaResearch/DAMO-ConvAI, api-bank at 483554e: ``evaluator.py`` and ``evaluator_by_json.py``
(levels 1 and 2), ``lv3_evaluator.py`` (level 3). The text is read by the official patterns, the call
runs on databases in their first state, and its result is compared by the recorded tool's own rule.
Where an official script would stop with an error, the verdict is "wrong" and its status ``crash``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from callgym.envs.apibank.call_text import extract_call, parse_call
from callgym.envs.apibank.simulator.checks import CheckFault, same_result
from callgym.envs.apibank.simulator.manager import CallFault, call_tool
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tool_search import split_capitals
from callgym.envs.apibank.simulator.world import World

__all__ = ["Status", "Verdict", "judge_call", "judge_made_call"]

Status = Literal[
    "correct",
    "incorrect",
    "no_api_call",
    "name_mismatch",
    "invalid_tool",
    "call_error",
    "key_error",
    "assert_error",
    "crash",
]
_SEARCH = "ToolSearcher"
_SWALLOWED_AT_LEVEL_3 = ("TypeError", "AssertionError")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the official evaluation says of one text."""

    correct: bool
    status: Status
    """How it came about; ``incorrect``: the call ran and its result is another."""
    category: str | None = None
    """The error class that evaluator_by_json books (levels 1 and 2); None for a right call."""
    extracted: str | None = None
    """The call text that was found."""
    parsed: tuple[str, dict[str, str]] | None = None
    """Its name and parameters."""
    result: dict[str, Any] | None = None
    """What the call gave, ``{"api_name", "input", "output", "exception"}``."""
    message: str = ""
    """Why it could not be run or compared."""

    @property
    def reason(self) -> str:
        """Why the call is wrong, in a few words; the empty string for a right one."""
        if self.correct:
            return ""
        if self.result is not None and self.result["exception"]:
            return f"the tool complains: {self.result['exception']}"
        if self.status == "no_api_call":
            return "no call in brackets was found"
        return self.message or {"OUTPUT_MISMATCH": "another output", "INPUT_MISMATCH": "another input"}.get(
            self.category or "", "another result"
        )


def judge_call(
    text: str, gold: Mapping[str, Any], backend: SimulatorBackend, history: Sequence[dict[str, Any]] = ()
) -> Verdict:
    """The official verdict on a text.

    Args:
        text: What the model wrote.
        gold: The recorded row: ``api_name`` and ``result``.
        backend: Opens a fresh world in the official manner; its tool set says which level's rules hold.
        history: Calls that are made first, ``{"name", "arguments"}``. Officially none: every sample
            starts from the databases' first state.
    """
    extracted = extract_call(text)
    parsed = None if extracted is None else parse_call(extracted)
    if extracted is None or parsed is None:
        return Verdict(False, "no_api_call", "NO_API_CALL")
    judge = _judge_level_3 if backend.tool_set == "lv3_apis" else _judge_levels_1_and_2
    return judge(extracted, parsed, gold, backend.open_world(history=history))


def _judge_levels_1_and_2(
    extracted: str, parsed: tuple[str, dict[str, str]], gold: Mapping[str, Any], world: World
) -> Verdict:
    name, arguments = parsed
    if name != gold["api_name"]:
        message = f"API Name Mismatch: {name} vs {gold['api_name']}"
        return Verdict(False, "name_mismatch", "API_NAME_MISMATCH", extracted, parsed, message=message)
    try:
        made = call_tool(world, "apis", name, arguments)
    except CallFault as fault:
        category = _category_of(fault)
        return Verdict(False, "call_error", category, extracted, parsed, message=str(fault))
    return _compare("apis", name, extracted, parsed, made, gold["result"])


def _judge_level_3(
    extracted: str, parsed: tuple[str, dict[str, str]], gold: Mapping[str, Any], world: World
) -> Verdict:
    name, arguments = parsed
    if name == _SEARCH:
        if "keywords" not in arguments:
            return Verdict(False, "crash", None, extracted, parsed, message="KeyError: 'keywords'")
        arguments = {**arguments, "keywords": split_capitals(arguments["keywords"])}
    try:
        made = call_tool(world, "lv3_apis", name, arguments)
    except CallFault as fault:
        if fault.message == "invalid tool name.":
            return Verdict(False, "invalid_tool", None, extracted, parsed, message=fault.message)
        status: Status = "call_error" if fault.kind in _SWALLOWED_AT_LEVEL_3 else "crash"
        return Verdict(False, status, None, extracted, parsed, message=str(fault))
    return _compare("lv3_apis", gold["api_name"], extracted, parsed, made, gold["result"])


def _compare(
    tool_set: str,
    tool: str,
    extracted: str,
    parsed: tuple[str, dict[str, str]],
    made: dict[str, Any],
    recorded: Mapping[str, Any],
) -> Verdict:
    status, message = judge_made_call(tool_set, tool, made, recorded)
    category = None if tool_set == "lv3_apis" else _category_of_result(status, message, made, recorded)
    return Verdict(status == "correct", status, category, extracted, parsed, made, message)


def judge_made_call(
    tool_set: str, tool: str, made: Mapping[str, Any], recorded: Mapping[str, Any]
) -> tuple[Status, str]:
    """The official comparison of a result with the recorded one: its status, and the error's text if any."""
    try:
        return ("correct" if same_result(tool_set, tool, made, recorded) else "incorrect"), ""
    except KeyError as error:
        return "key_error", f"KeyError: {error}"
    except CheckFault as fault:
        return "crash", str(fault)


def _category_of(fault: CallFault) -> str:
    if "invalid parameter name" in fault.message:
        return "INVALID_INPUT_PARAMETER"
    if "required positional argument" in fault.message:
        return "MISS_INPUT_ARGUMENT"
    return f"CRASH {fault}"


def _category_of_result(
    status: Status, message: str, made: Mapping[str, Any], recorded: Mapping[str, Any]
) -> str | None:
    if status == "correct":
        return None
    if status == "key_error":
        return "KEY_ERROR"
    if status == "crash":
        return f"CRASH {message}"
    if made["exception"]:
        return "HAS_EXCEPTION"
    return "OUTPUT_MISMATCH" if made["output"] != recorded["output"] else "INPUT_MISMATCH"
