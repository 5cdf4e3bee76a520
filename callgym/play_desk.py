"""The desk of a person who plays: what is typed goes in, lines to read come out::

    desk = Desk(Seat(env, 0, seed=7))
    for line in desk.opening():
        print(line.text)
    answer = desk.take(Entry("/call GetToday"))
    print(answer.move, [line.text for line in answer.lines])

Nothing here reads a keyboard or writes to a terminal, and nothing that is typed is ever evaluated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from callgym.call import ToolCall
from callgym.episode import Episode
from callgym.errors import ConfigurationError
from callgym.goal import AllGoal, CallsGoal, DecisionGoal
from callgym.play import Seat, Taken
from callgym.play_entry import BLOCK_CLOSE, BLOCK_OPEN, Entry
from callgym.rewards.explain import explanation_lines
from callgym.terminal import Kind

__all__ = ["COMMANDS", "Answer", "Desk", "Line", "Move", "ending_lines"]

Move = Literal["stay", "next", "quit"]
"""Whether the episode goes on, is left for the next one, or all is left."""

COMMANDS = {
    "/help": "this list",
    "/tools [NAME]": "the tools; with a name, its whole document",
    "/call NAME {json} ...": "make this call, or several, written in the environment's dialect",
    "/say WORDS": "say these words, written in the environment's dialect",
    "/prompt": "the whole conversation as the policy's text",
    "/messages": "the whole conversation as chat messages, a JSON object a line",
    "/hint": "what kind of goal the task has",
    "/gold": "what the oracle would do now",
    "/undo": "take the last action back: the episode is played again without it",
    "/next": "leave this episode, truncated, for the next one",
    "/quit": "leave this episode, truncated, and the game",
}
"""What can be typed instead of an action."""

_RESULT_WIDTH = 2000
_ABOUT_WIDTH = 110
_KINDS = {
    "calls": "certain calls are to be made",
    "decision": "a decision is to be made: to call, to ask back, to say that it cannot be done, or to answer",
    "answer": "a certain answer is to be given in the end",
    "state": "the tools are to be left in a certain state",
    "ranking": "candidates are to be put in order",
    "text": "the reply is to be close to a reference",
}


@dataclass(frozen=True, slots=True)
class Line:
    """Something to read; it may have several lines, and may hold anything that a file or a model wrote."""

    text: str
    """The words."""
    kind: Kind | None = None
    """How they look where there are colours."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes of an entry."""

    lines: tuple[Line, ...]
    """What is to be read."""
    move: Move = "stay"
    """How it goes on."""


class Desk:
    """One episode, played by typing."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.helped = False
        """Whether a hint, the gold or an action taken back has helped."""
        self._commands: dict[str, Callable[[str], Answer]] = {
            "/help": self._help,
            "/tools": self._tools,
            "/call": self._call,
            "/say": self._say,
            "/prompt": self._prompt,
            "/messages": self._messages,
            "/hint": self._hint,
            "/gold": self._gold,
            "/undo": self._undo,
            "/next": lambda _: Answer((), "next"),
            "/quit": lambda _: Answer((), "quit"),
        }

    def opening(self) -> Iterator[Line]:
        """The task as the policy knows it: tools and conversation, and nothing of the goal."""
        env = self.seat.env
        yield Line(
            f"task {env.task.id} of {env.env_id}   protocol {env.protocol}, dialect {env.dialect.name}", "strong"
        )
        yield Line("\nTOOLS", "strong")
        yield from self._tool_lines()
        yield Line("\nCONVERSATION", "strong")
        for message in self.seat.messages:
            yield from _message_lines(message)

    def take(self, entry: Entry) -> Answer:
        """An action or a command. Nothing that is typed raises."""
        if entry.literal or not entry.text.startswith("/"):
            return self._act(entry.text)
        if entry.text.startswith("//"):
            return self._act(entry.text[1:])
        name, *rest = entry.text.split(None, 1)
        command = self._commands.get(name)
        if command is None:
            return _trouble(f"no command {name[:40]}; /help lists them. An action that begins with / is typed with //")
        return command("".join(rest).strip())

    # What the commands do.

    def _act(self, action: str) -> Answer:
        taken = self.seat.act(action)
        return Answer(tuple(_taken_lines(taken)), "next" if self.seat.over else "stay")

    def _call(self, rest: str) -> Answer:
        try:
            calls = _read_calls(rest)
        except ConfigurationError as error:
            return _trouble(str(error))
        action = self.seat.env.dialect.render_action(calls)
        answer = self._act(action)
        return Answer((Line(action, "dim"), *answer.lines), answer.move)

    def _say(self, rest: str) -> Answer:
        return self._act(self.seat.env.dialect.render_action((), rest))

    def _help(self, rest: str) -> Answer:
        width = max(map(len, COMMANDS)) + 2
        lines = [Line(f"  {name:<{width}}{about}") for name, about in COMMANDS.items()]
        lines.append(Line("Anything else is an action: words, or calls in the environment's dialect."))
        lines.append(
            Line(f"A line that ends with \\ goes on in the next; {BLOCK_OPEN} and {BLOCK_CLOSE} enclose several lines.")
        )
        return Answer(tuple(lines))

    def _tools(self, rest: str) -> Answer:
        if not rest:
            return Answer(tuple(self._tool_lines()))
        for tool in self.seat.tools:
            if tool["function"]["name"] == rest:
                return Answer((Line(json.dumps(tool["function"], ensure_ascii=False, indent=2)),))
        return _trouble(f"there is no tool {rest[:80]!r}; /tools lists them")

    def _prompt(self, rest: str) -> Answer:
        return Answer((Line(self.seat.observation),))

    def _messages(self, rest: str) -> Answer:
        return Answer(tuple(Line(json.dumps(message, ensure_ascii=False)) for message in self.seat.messages))

    def _hint(self, rest: str) -> Answer:
        self.helped = True
        goal = self.seat.env.task.goal
        parts = goal.goals if isinstance(goal, AllGoal) else (goal,)
        return Answer(tuple(Line(f"  {line}") for part in parts for line in self._hints(part)))

    def _hints(self, goal: Any) -> Iterator[str]:
        yield _KINDS.get(goal.kind, goal.kind)
        if isinstance(goal, CallsGoal):
            turns = len(self.seat.env.task.user_turns) + 1
            counts = ", ".join(str(len(calls)) for calls in goal.turns)
            yield f"  how many, turn by turn: {counts}" + (f" (the user speaks {turns} times)" if turns > 1 else "")
        if isinstance(goal, DecisionGoal) and goal.missing:
            yield f"  values that were not given: {len(goal.missing)}"

    def _gold(self, rest: str) -> Answer:
        self.helped = True
        try:
            return Answer((Line(self.seat.env.oracle_action(), "good"),))
        except ConfigurationError as error:
            return _trouble(str(error))

    def _undo(self, rest: str) -> Answer:
        try:
            last = self.seat.undo()
        except ConfigurationError as error:
            return _trouble(str(error))
        self.helped = True
        return Answer((Line(f"taken back: {_short(last)}", "dim"), *_message_lines(self.seat.messages[-1])))

    def _tool_lines(self) -> Iterator[Line]:
        if not self.seat.tools:
            yield Line("  none")
        for tool in self.seat.tools:
            yield Line(f"  {_signature(tool['function'])}")


def ending_lines(episode: Episode) -> Iterator[Line]:
    """How an episode ended, and how its return came about, argument by argument."""
    value = episode.episode_return
    yield Line(f"\n{episode.ended}; return {_number(value)} (rubric {episode.rubric})", _worth(value))
    for name, score in episode.rewards.items():
        if not score.applies:
            continue
        first, *rest = explanation_lines(name, score)
        yield Line(f"  {first}", _worth(score.value))
        for line in rest:
            yield Line(f"  {line}", _verdict(line))


def _taken_lines(taken: Taken) -> Iterator[Line]:
    for call, result in zip(taken.calls, taken.results, strict=True):
        asked = f"  {call.name}({_arguments(call.arguments)}) -> "
        if result.ok:
            yield Line(asked + _short(json.dumps(result.content, ensure_ascii=False)))
        else:
            yield Line(f"{asked}[{result.error}] {_short(result.message)}", "bad")
    said = "\n".join(taken.replies)
    for error in taken.errors:
        if error.message not in said:
            yield Line(f"  {error.kind} at {error.position}: {_short(error.message)}", "bad")
    for reply in taken.replies:
        yield Line(f"  user: {reply}", "strong")
    if taken.new_tools:
        yield Line(f"  new tools: {', '.join(taken.new_tools)}")
    if taken.lost_tools:
        yield Line(f"  tools that are gone: {', '.join(taken.lost_tools)}")
    yield Line(f"  reward {_number(None if math.isnan(taken.reward) else taken.reward)}", "dim")


def _message_lines(message: dict[str, Any]) -> Iterator[Line]:
    role = message["role"]
    if message.get("content"):
        yield Line(f"  {role}: {message['content']}", "strong" if role == "user" else None)
    for call in message.get("tool_calls", ()):
        function = call["function"]
        yield Line(f"  {role}: {function['name']}({_arguments(function['arguments'])})")


def _signature(function: dict[str, Any]) -> str:
    parameters = function["parameters"]
    required = parameters.get("required", ())
    parts = [
        f"{name}{'' if name in required else '?'}: {_type(schema)}"
        for name, schema in parameters.get("properties", {}).items()
    ]
    about = " ".join(function["description"].split())
    about = about if len(about) <= _ABOUT_WIDTH else f"{about[:_ABOUT_WIDTH]}..."
    return f"{function['name']}({', '.join(parts)})  {about}"


def _type(schema: dict[str, Any]) -> str:
    if isinstance(schema.get("enum"), list):
        return _short("|".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"]))
    kind = schema.get("type", "any")
    return "|".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _read_calls(text: str) -> list[ToolCall]:
    """``NAME {json} NAME {json} ...``; arguments may be left out.

    Raises:
        ConfigurationError: It is not of that form.
    """
    calls: list[ToolCall] = []
    decoder = json.JSONDecoder()
    while text:
        name, *more = text.split(None, 1)
        text = "".join(more)
        arguments: Any = {}
        if text.startswith("{"):
            try:
                arguments, end = decoder.raw_decode(text)
            except (ValueError, RecursionError) as error:
                raise ConfigurationError(f"the arguments of {name[:80]} are not JSON: {error}") from None
            text = text[end:].lstrip()
        elif text:
            raise ConfigurationError(f"after {name[:80]} comes a JSON object of its arguments, here {text[:40]!r}")
        try:
            calls.append(ToolCall(name=name, arguments=arguments))
        except ValueError as error:
            fault = str(error).splitlines()
            raise ConfigurationError(f"the arguments of {name[:80]} cannot be: {' '.join(fault[1:3])}") from None
    if not calls:
        raise ConfigurationError('a call is typed as /call NAME {"argument": value}')
    return calls


def _trouble(message: str) -> Answer:
    return Answer((Line(f"  {message}", "bad"),))


def _arguments(arguments: dict[str, Any]) -> str:
    return _short(", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items()))


def _short(text: str) -> str:
    return text if len(text) <= _RESULT_WIDTH else f"{text[:_RESULT_WIDTH]}... ({len(text)} characters)"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _worth(value: float | None) -> Kind | None:
    if value is None:
        return "dim"
    return "good" if value == 1.0 else "bad" if value == 0.0 else None


def _verdict(line: str) -> Kind | None:
    """The look of a line of an explanation: what was deducted, what was right."""
    words = line.strip()
    if words.startswith(("missing:", "extra:", "unreadable attempts:")) or "   -" in words:
        return "bad"
    return "good" if line.startswith("    ") else None
