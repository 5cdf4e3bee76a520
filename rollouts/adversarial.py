"""Policies that try to collect reward without doing the task: what they earn is what a reward is worth.

    callgym eval apibank/L1-v0 --policy gold_twice --data starter

Some know nothing of the gold, some know a part of it (through ``env.oracle_action()`` and the goal, as
the oracle does), and some know all of it and then spoil it. ``benchmarks/adversarial.py`` prints what
each earns, ``tests/test_adversarial.py`` says what it may earn at most.

Where an episode ends with its first action (``single``, ``step``) everything is in that action. In a
``dialogue`` a policy calls, hands over to the user with words, and calls again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from callgym.call import ToolCall
from callgym.envs.base import MAX_ACTION_LENGTH
from callgym.goal import AllGoal, CallsGoal, DecisionGoal
from callgym.random_values import NoValue, random_arguments
from callgym.rewards.values import same_value
from callgym.rollouts.policy import Policy, Situation
from callgym.rollouts.scripted import RandomCallPolicy

__all__ = ["ADVERSARIAL", "ADVERSARIES", "AdversarialPolicy", "Adversary", "Knows"]

Knows = Literal["nothing", "names", "text", "gold"]
"""What a policy knows of the gold: nothing; the names of the gold calls; a part of their text; all of it."""

_REFUSAL = "Sorry, none of the tools can do that."
_CLAIM = "Done. It has been set."
_DONE = "Done."
_AGAIN = "Once more, to be sure."
_FILLER = "As you surely know, there is a great deal that could be said of this. "
_COPIES = 8
_DRAWS = 32
_LONG = 12_000
_RANDOM = RandomCallPolicy()


@dataclass(frozen=True, slots=True)
class Adversary:
    """One way to try."""

    name: str
    """What ``get_policy`` takes."""
    knows: Knows
    """What it knows of the gold."""
    act: Callable[[Situation], str]
    """Its action; all randomness comes from the situation's seed."""
    about: str
    """What it does, in a line."""


class AdversarialPolicy:
    """Plays an Adversary."""

    def __init__(self, adversary: Adversary) -> None:
        self.adversary = adversary

    @property
    def name(self) -> str:
        """The adversary's name."""
        return self.adversary.name

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """One action each."""
        return [self.adversary.act(situation) for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""


# Those that know nothing of the gold.


def _silent(situation: Situation) -> str:
    return ""


def _blank(situation: Situation) -> str:
    return " \n\t  "


def _echo_prompt(situation: Situation) -> str:
    return situation.prompt[:MAX_ACTION_LENGTH]


def _echo_observation(situation: Situation) -> str:
    return str(situation.messages[-1]["content"])[:MAX_ACTION_LENGTH]


def _claim_success(situation: Situation) -> str:
    return _say(situation, _CLAIM)


def _call_every_tool(situation: Situation) -> str:
    if _has_called(situation):
        return _say(situation, _DONE)
    calls = [call for tool in situation.tools for call in _random_calls(situation, (tool,))]
    return situation.env.dialect.render_action(calls) if calls else _say(situation, _DONE)


def _repeat_call(situation: Situation) -> str:
    calls = [] if _has_called(situation) else _random_calls(situation, situation.tools)
    return situation.env.dialect.render_action(calls * _COPIES) if calls else _say(situation, _DONE)


def _call_then_abstain(situation: Situation) -> str:
    calls = [] if _has_called(situation) else _random_calls(situation, situation.tools)
    return situation.env.dialect.render_action(calls, _REFUSAL)


# Those that know a part of it.


def _gold_name_empty(situation: Situation) -> str:
    return _spoiled(situation, lambda call: ToolCall(name=call.name))


def _gold_name_wrong(situation: Situation) -> str:
    return _spoiled(situation, lambda call: _all_wrong(situation, call))


def _truncated_call(situation: Situation) -> str:
    action = situation.env.oracle_action()
    return action[: len(action) // 2]


# Those that know it, and spoil it.


def _gold_plus_extras(situation: Situation) -> str:
    return _with_more(situation, lambda gold: _useless_calls(situation, gold))


def _gold_twice(situation: Situation) -> str:
    return _with_more(situation, lambda gold: gold)


def _gold_then_abstain(situation: Situation) -> str:
    return situation.env.dialect.render_action(_gold_calls(situation), _REFUSAL)


def _gold_without_reply(situation: Situation) -> str:
    return situation.env.oracle_action() if _gold_calls(situation) else ""


def _list_all_answers(situation: Situation) -> str:
    if _calls_first(situation):
        return situation.env.oracle_action()
    heard = [str(message["content"] or "") for message in situation.messages if message["role"] in ("user", "tool")]
    return _say(situation, " ".join(dict.fromkeys(" ".join(heard).split()))[: MAX_ACTION_LENGTH // 2] or _DONE)


def _very_long_answer(situation: Situation) -> str:
    if _calls_first(situation):
        return situation.env.oracle_action()
    words = "" if _gold_calls(situation) else situation.env.oracle_action()
    filler = _FILLER * (_LONG // len(_FILLER))
    return _say(situation, f"{filler}\n{words}\n{filler}")


def _copy_tool_output(situation: Situation) -> str:
    if _calls_first(situation):
        return situation.env.oracle_action()
    results = [str(message["content"]) for message in situation.messages if message["role"] == "tool"]
    return _say(situation, results[-1] if results else _DONE)


ADVERSARIES: tuple[Adversary, ...] = (
    Adversary("silent", "nothing", _silent, "writes nothing"),
    Adversary("blank", "nothing", _blank, "writes white space"),
    Adversary("echo_prompt", "nothing", _echo_prompt, "writes the prompt again"),
    Adversary("echo_observation", "nothing", _echo_observation, "writes the last message again"),
    Adversary("claim_success", "nothing", _claim_success, "says that it is done, and calls nothing"),
    Adversary("call_every_tool", "nothing", _call_every_tool, "calls every tool it was shown, with valid arguments"),
    Adversary("repeat_call", "nothing", _repeat_call, "makes one random valid call eight times"),
    Adversary("call_then_abstain", "nothing", _call_then_abstain, "makes a random valid call beside a refusal"),
    Adversary("gold_name_empty", "names", _gold_name_empty, "calls the right tools without arguments"),
    Adversary("gold_name_wrong", "names", _gold_name_wrong, "calls the right tools, every argument wrong"),
    Adversary("truncated_call", "text", _truncated_call, "breaks off in the middle of the right text"),
    Adversary("gold_plus_extras", "gold", _gold_plus_extras, "makes the right calls, and a random valid one"),
    Adversary("gold_twice", "gold", _gold_twice, "makes the right calls twice"),
    Adversary("gold_then_abstain", "gold", _gold_then_abstain, "makes the right calls, and refuses in words"),
    Adversary("gold_without_reply", "gold", _gold_without_reply, "makes the right calls, then says nothing"),
    Adversary("list_all_answers", "gold", _list_all_answers, "makes the right calls, then says all it has heard"),
    Adversary("very_long_answer", "gold", _very_long_answer, "makes the right calls, drowns the right words"),
    Adversary("copy_tool_output", "gold", _copy_tool_output, "makes the right calls, answers with the last result"),
)
"""All of them. The last three call only where results come back, that is in a dialogue; else they answer only."""

ADVERSARIAL: dict[str, Callable[[], Policy]] = {
    adversary.name: partial(AdversarialPolicy, adversary) for adversary in ADVERSARIES
}
"""Name to policy; they take no options."""


# What they are made of.


def _say(situation: Situation, words: str) -> str:
    return situation.env.dialect.render_action((), words)


def _has_called(situation: Situation) -> bool:
    """Whether the last action made calls whose results have just come back."""
    return bool(situation.env.protocol == "dialogue" and situation.messages[-1]["role"] == "tool")


def _gold_calls(situation: Situation) -> list[ToolCall]:
    """The calls of the oracle's next action."""
    return list(situation.env.dialect.parse(situation.env.oracle_action()).calls)


def _calls_first(situation: Situation) -> bool:
    """Whether there are gold calls to make, and the episode goes on after them."""
    return situation.env.protocol == "dialogue" and bool(_gold_calls(situation))


def _free(situation: Situation) -> set[str]:
    """Tools that may be called as often as one likes."""
    goal = situation.env.task.goal
    parts = goal.goals if isinstance(goal, AllGoal) else (goal,)
    return {name for part in parts if isinstance(part, (CallsGoal, DecisionGoal)) for name in part.free}


def _random_calls(situation: Situation, tools: Sequence[dict[str, Any]], purpose: str = "") -> list[ToolCall]:
    """A valid call of a random one of ``tools``; none where none can be drawn."""
    names = "/".join(tool["function"]["name"] for tool in tools)
    seed = random.Random(f"{situation.seed}/{names}/{purpose}").getrandbits(62)
    text = _RANDOM.act([replace(situation, tools=tuple(tools), seed=seed)])[0]
    return list(situation.env.dialect.parse(text).calls)


def _useless_calls(situation: Situation, gold: Sequence[ToolCall]) -> list[ToolCall]:
    """A random valid call that is none of the gold ones, and not of a free tool."""
    tools = [tool for tool in situation.tools if tool["function"]["name"] not in _free(situation)]
    for draw in range(_DRAWS):
        calls = _random_calls(situation, tools, f"extra {draw}") if tools else []
        if calls and calls[0] not in gold:
            return calls
    return []


def _spoiled(situation: Situation, spoil: Callable[[ToolCall], ToolCall]) -> str:
    """The oracle's calls, spoiled, but for those of free tools; where it makes none, words of no use."""
    free = _free(situation)
    calls = [call if call.name in free else spoil(call) for call in _gold_calls(situation)]
    return situation.env.dialect.render_action(calls) if calls else _say(situation, _DONE)


def _with_more(situation: Situation, more: Callable[[list[ToolCall]], list[ToolCall]]) -> str:
    """The oracle's action and further calls; in a dialogue these are made when a turn's gold calls are done."""
    env = situation.env
    calls = _gold_calls(situation)
    if env.protocol != "dialogue":
        return env.dialect.render_action([*calls, *more(calls)]) if calls else env.oracle_action()
    said, made = _this_turn(situation)
    if calls or not made or any(_AGAIN in words for words in said):
        return env.oracle_action()
    further = more(made)
    return env.dialect.render_action(further, _AGAIN) if further else env.oracle_action()


def _this_turn(situation: Situation) -> tuple[list[str], list[ToolCall]]:
    """What the policy said and called since the user spoke last; calls of free tools left out."""
    said: list[str] = []
    made: list[ToolCall] = []
    free = _free(situation)
    for message in reversed(situation.messages):
        if message["role"] == "user":
            break
        if message["role"] == "assistant":
            said.append(message["content"] or "")
            functions = [call["function"] for call in message.get("tool_calls", ())]
            made[:0] = [ToolCall(**function) for function in functions if function["name"] not in free]
    return said, made


def _all_wrong(situation: Situation, call: ToolCall) -> ToolCall:
    """The call with every value replaced by another one that the tool's schema accepts."""
    parameters = _parameters(situation, call.name)
    properties = parameters.get("properties", {})
    rng = random.Random(f"{situation.seed}/wrong")
    arguments = {
        name: _other_value(
            {**parameters, "properties": {name: properties.get(name, {})}, "required": [name]}, right, rng
        )
        for name, right in _accepted(situation, call).items()
    }
    return ToolCall(name=call.name, arguments=arguments)


def _other_value(schema: dict[str, Any], right: Sequence[Any], rng: random.Random) -> Any:
    (name,) = schema["required"]
    for _ in range(_DRAWS):
        try:
            value = random_arguments(schema, rng)[name]
        except NoValue:
            break
        if not any(same_value(one, value) for one in right):
            return value
    return f"not {right[0]}"  # no other value is accepted


def _accepted(situation: Situation, call: ToolCall) -> dict[str, list[Any]]:
    """The values that any gold call of the same tool accepts for each argument of ``call``."""
    goal = situation.env.task.goal_of(CallsGoal)
    golds = [gold for turn in goal.turns for gold in turn if gold.name == call.name] if goal is not None else []
    return {
        name: [given, *(value for gold in golds for value in gold.arguments.get(name, ()))]
        for name, given in call.arguments.items()
    }


def _parameters(situation: Situation, name: str) -> dict[str, Any]:
    for tool in situation.tools:
        if tool["function"]["name"] == name:
            parameters: dict[str, Any] = tool["function"].get("parameters") or {}
            return parameters
    return {}
