"""Takes a required value out of the user's words: asking back for it is right.

Done where the value stands once in the user's last message, verbatim, and nowhere else: neither elsewhere in the
conversation, nor in its parameter's document, nor in another argument, nor (in BFCL's dialogues) in a state that
the tools could look up; where the parameter has no default; and where every call that is asked for needs it. The
sentence is mended by ``phrase.without_value``; where that does not read well the task is left alone. Only English
sentences are touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from callgym.envs.perturbations.decision import decided
from callgym.envs.perturbations.english import is_english, noun_phrase
from callgym.envs.perturbations.perturbation import Changed, LeftAlone, Perturbation
from callgym.envs.perturbations.phrase import Span, occurrences, without_value
from callgym.envs.perturbations.question import question
from callgym.envs.perturbations.renaming import Renaming
from callgym.envs.perturbations.task_parts import SEARCHES, every_tool, first_asked_turn, has_several_parts, right_tools
from callgym.envs.perturbations.words import spoken
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.message import Message
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["HideParameter"]

_FILLED = " Where a tool requires something that the user has not said, give an empty text or an empty list."
"""What API-Bank's live starter tasks tell a policy, and what must go: here it is to ask."""


class _Hidden(NamedTuple):
    """A value that can be taken out."""

    value: str
    parameters: tuple[str, ...]
    """The parameters that have it, one of each call."""
    number: bool
    text: str
    """The user's words without it."""


@dataclass(frozen=True)
class HideParameter(Perturbation):
    """Takes the value of a required parameter out of the user's words; see the module."""

    name: ClassVar[str] = "hide_parameter"
    keeps_replies: ClassVar[bool] = False

    def change(self, task: Task, rng: np.random.Generator) -> Changed:
        """See ``Perturbation``."""
        goal = task.goal_of(CallsGoal)
        if goal is None:
            raise LeftAlone("no calls are asked for")
        if has_several_parts(task):
            raise LeftAlone("the call serves a part of the request; other parts could still be done")
        if first_asked_turn(goal) > 0:
            raise LeftAlone("the first turn asks for no call")
        asked = goal.turns[0]
        if not asked or {call.name for call in asked} & set(SEARCHES):
            raise LeftAlone("what is asked for is a search for a tool" if asked else "no calls are asked for")
        place = _last_user_message(task)
        found = list(_candidates(task, asked, place))
        if not found:
            raise LeftAlone(
                "no required value stands once, verbatim, and nowhere else, in words that can do without it"
            )
        hidden = found[int(rng.integers(len(found)))]
        messages = list(task.messages)
        messages[place] = messages[place].model_copy(update={"content": hidden.text})
        changed = task.model_copy(update={"messages": tuple(map(_asking, messages))})
        names = tuple(dict.fromkeys(hidden.parameters))
        telling = {name: _telling(task, call.name, name) for call, name in zip(asked, hidden.parameters, strict=True)}
        reply = question(telling, hidden.number)
        decision = DecisionGoal(
            decision="ask",
            reply=reply,
            free=goal.free,
            missing=names,
            worded=True,
        )
        return Changed(decided(changed, decision, task.tools), {"missing": list(names), "hidden": hidden.value})


def _last_user_message(task: Task) -> int:
    places = [number for number, message in enumerate(task.messages) if message.role == "user" and message.content]
    if not places:
        raise LeftAlone("the user says nothing")
    return places[-1]


def _asking(message: Message) -> Message:
    """The message without the advice to leave empty what the user has not said."""
    if message.role == "system" and message.content and message.content.endswith(_FILLED):
        return message.model_copy(update={"content": message.content[: -len(_FILLED)]})
    return message


# Which values.


def _candidates(task: Task, asked: Sequence[GoldCall], place: int) -> Iterator[_Hidden]:
    said = task.messages[place].content or ""
    others = " \n ".join(text for number, text in enumerate(_texts(task)) if number != place)
    if not is_english(f"{said} {others}"):
        return
    tools = {tool.name: tool for tool in right_tools(task)} | every_tool(task)
    if any(value[0] in ("", []) for call in asked for value in call.arguments.values()):
        return  # something else was not said either
    first, *rest = asked
    for parameter in first.arguments:
        if not _is_required(first, parameter, tools[first.name]):
            continue
        value = _as_text(first.arguments[parameter][0])
        parameters = [parameter, *(_with_value(call, value, tools[call.name]) for call in rest)]
        written = {_as_text(accepted) for accepted in first.arguments[parameter]} - {None}
        if value is None or None in parameters or _is_another(asked, value):
            continue
        if any(_is_said(task, str(text), others) for text in written):
            continue
        if any(_tells(tools[call.name], str(name), value) for call, name in zip(asked, parameters, strict=True)):
            continue
        spans = _spans(first.arguments[parameter], said)
        if len(spans) != 1 or _inside_another(asked, parameters, said, spans[0]):
            continue
        label = spoken(_telling(task, first.name, parameter)).split()
        number = value.replace(".", "", 1).isdigit()
        text = None if noun_phrase(label, number) is None else without_value(said, spans[0], label, number)
        if text is not None:
            yield _Hidden(said[slice(*spans[0])], tuple(map(str, parameters)), number, text)


def _texts(task: Task) -> list[str]:
    """What is said, message by message, calls included."""
    return [
        " ".join(
            [message.content or "", *(json.dumps(call.arguments, ensure_ascii=False) for call in message.tool_calls)]
        )
        for message in task.messages
    ]


def _is_required(call: GoldCall, parameter: str, tool: Tool) -> bool:
    schema = tool.properties.get(parameter, {})
    return (
        parameter in tool.required
        and parameter not in call.optional
        and "default" not in schema
        and len(schema.get("enum", "ab")) > 1
    )


def _as_text(value: Any) -> str | None:
    """A value as it may stand in a sentence; None for what is never said verbatim."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text if text.strip() == text and text else None


def _with_value(call: GoldCall, value: str | None, tool: Tool) -> str | None:
    """The parameter of another call that has the value, too."""
    for parameter, accepted in call.arguments.items():
        if _as_text(accepted[0]) == value and _is_required(call, parameter, tool):
            return parameter
    return None


def _is_said(task: Task, text: str, others: str) -> bool:
    """Whether it stands elsewhere in the conversation, or in a state that the tools could look up."""
    if occurrences(text, others):
        return True
    state = json.dumps(task.initial_state, ensure_ascii=False) if "involved_classes" in task.meta else ""
    return text.lower() in state.lower()


def _is_another(asked: Sequence[GoldCall], value: str) -> bool:
    """Whether another argument has the value, too, or holds it."""
    values = [_as_text(accepted[0]) for call in asked for accepted in call.arguments.values()]
    holding = [other for other in values if other is not None and other != value and occurrences(value, other)]
    return bool(holding) or values.count(value) != len(asked)


def _tells(tool: Tool, parameter: str, value: str) -> bool:
    """Whether the parameter's own document gives the value away, beside a list of those that may be chosen."""
    schema = {key: item for key, item in tool.properties.get(parameter, {}).items() if key != "enum"}
    return bool(occurrences(value, json.dumps(schema, ensure_ascii=False)))


def _spans(accepted: Sequence[Any], said: str) -> list[Span]:
    """Where the value stands, in any of the ways it may be written; the longest of those at one place."""
    spans: list[Span] = []
    for text in sorted({text for value in accepted if (text := _as_text(value))}, key=lambda text: (-len(text), text)):
        spans += [
            span
            for span in occurrences(text, said)
            if not any(span.start < other.end and other.start < span.end for other in spans)
        ]
    return spans


def _inside_another(asked: Sequence[GoldCall], parameters: Sequence[Any], said: str, span: Span) -> bool:
    """Whether the place belongs to the value of another argument."""
    for call, hidden in zip(asked, parameters, strict=True):
        for name, accepted in call.arguments.items():
            for value in accepted if name != hidden else ():
                text = _as_text(value)
                for other in occurrences(text, said) if text else ():
                    if other.start < span.end and span.start < other.end:
                        return True
    return False


def _telling(task: Task, tool: str, parameter: str) -> str:
    """The parameter's own name, where it was renamed, too."""
    return Renaming.of(task).original_parameter(tool, parameter)
