"""The executable classes of one episode, and the calls that are made on them.

A ``World`` holds one fresh instance of each class; nothing of it outlives it. Calls are parsed and dispatched,
never evaluated. Rules and texts follow ``bfcl-eval`` 2026.3.23 (``multi_turn_utils``). ::

    world = World(["GorillaFileSystem"], {"GorillaFileSystem": {"root": {...}}}, tables)
    world.run("cd", {"folder": "docs"}).text           # '{"current_working_directory": "docs"}'
    world.run_call_text("cd(folder='docs')").text
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast

from callgym.call import ToolResult
from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.python_text import read_literal
from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.call_expression import CallExpression, Container, Fault, read_call_text
from callgym.envs.bfcl.simulators.result_writer import PaddedWriter, write_result
from callgym.envs.bfcl.simulators.scenario import derived
from callgym.envs.bfcl.simulators.signature import Signature, signatures_of
from callgym.errors import ConfigurationError
from callgym.json_value import copy_json, copy_trusted

__all__ = [
    "CLASSES",
    "ERROR_PREFIX",
    "REFUSED",
    "Outcome",
    "World",
    "class_of",
    "result_of",
]

_HERE = "callgym.envs.bfcl.simulators"
CLASSES: dict[str, str] = {
    "GorillaFileSystem": f"{_HERE}.file_system:GorillaFileSystem",
    "MathAPI": f"{_HERE}.math_api:MathAPI",
    "MessageAPI": f"{_HERE}.message_api:MessageAPI",
    "TwitterAPI": f"{_HERE}.twitter_api:TwitterAPI",
    "TicketAPI": f"{_HERE}.ticket_api:TicketAPI",
    "TradingBot": f"{_HERE}.trading_bot:TradingBot",
    "TravelAPI": f"{_HERE}.travel_api:TravelAPI",
    "VehicleControlAPI": f"{_HERE}.vehicle_control_api:VehicleControlAPI",
}
"""Official class name to ``module:class`` of our simulator, imported when it is first asked for."""

ERROR_PREFIX = "Error during execution: "
"""What the text of a call that failed begins with."""
REFUSED = frozenset(("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"))
"""Function names that the official harness refuses, whatever the classes offer."""

_MAX_DEPTH = 100
_TOO_DEEP = "the arguments are nested too deeply"
_MOST_REWRITING = 20_000
_EACH_REWRITING = 10
_MAX_PASSED_ON = 200_000
_ATOMS = frozenset((str, int, float, bool, type(None)))
_AS_THEY_ARE = frozenset((bool, type(None)))
_NAME_BEFORE_BRACKET = re.compile(r"\b([A-Za-z_]\w*)\s*(?=\()")
_NOT_IN_NAMES = re.compile(r"[-./:]")


@cache
def class_of(name: str) -> type[Simulator]:
    """The simulator of an official class.

    Raises:
        ConfigurationError: There is none of that name.
    """
    if name not in CLASSES:
        raise ConfigurationError(f"BFCL has no executable class {name!r}; there are: {', '.join(CLASSES)}")
    module, _, attribute = CLASSES[name].partition(":")
    return cast("type[Simulator]", getattr(importlib.import_module(module), attribute))


class Outcome(NamedTuple):
    """What one call gave."""

    text: str
    """The result as the official harness writes it; ``Error during execution: ...`` where the call failed."""
    value: Any
    """The result where it is plain JSON (a copy), else the text."""
    failed: bool
    """Whether the official code raises; an answer ``{"error": ...}`` is no failure."""


class _Failed(Exception):
    """A call raised officially; the text is the exception's."""


@lru_cache(maxsize=256)
def _tools_of(classes: tuple[str, ...], source: Callable[[str], type[Simulator]]) -> dict[str, Signature]:
    """Tool name to signature; of classes that share a name the last has it."""
    tools: dict[str, Signature] = {}
    for name in classes:
        tools |= signatures_of(name, source(name))
    return tools


class World:
    """One instance of each class that an entry involves, made when it is first needed."""

    __slots__ = (
        "_budget",
        "_class_of",
        "_config",
        "_instances",
        "_long_context",
        "_name",
        "_tables",
        "_tools",
        "_write",
        "classes",
        "touched",
    )

    def __init__(
        self,
        involved_classes: Sequence[str],
        initial_config: Mapping[str, Any],
        tables: Tables,
        long_context: bool = False,
        name: str = "model",
    ) -> None:
        """Open a world.

        Args:
            involved_classes: Official class names; their order decides which class has a name that several use.
            initial_config: Class name to its scenario; it must not change while the world is in use, and the
                world does not change it. Other classes in it are ignored.
            tables: What the classes know.
            long_context: Whether answers are padded.
            name: What the world's instances are called in texts that the official rewriting hits; see
                ``rewritten``.

        Raises:
            ConfigurationError: There is no such class.
        """
        self.classes = tuple(involved_classes)
        self._class_of = tables.class_of or class_of
        self._tools = _tools_of(self.classes, self._class_of)
        self._config = initial_config
        self._tables = tables
        self._long_context = long_context
        self._name = name
        self._budget = 0  # for rewriting a call's texts
        padding = tables.long_context if long_context else None
        self._write = derived(padding, PaddedWriter).write if padding else write_result
        self._instances: dict[str, Simulator] = {}
        self.touched: set[str] = set()
        """The classes that calls were made on; the others are as the scenario left them."""

    # Calls.

    def run(self, name: str, arguments: Mapping[str, Any], positional: Sequence[Any] = ()) -> Outcome:
        """Run a call that is given as values, as the official harness does after writing it as text.

        Args:
            name: The function.
            arguments: Argument name to JSON value; nothing of it is kept or changed.
            positional: Arguments without names.

        Raises:
            Exception: A fault of the simulator on arguments of the documented types, and only that.
        """
        try:
            path = tuple(name.split("."))
            if path[:2][-1] in REFUSED:
                raise _Failed(f"Function call {path[:2][-1]} is not allowed.")
            tool = self._tool(path)
            self._budget = _MOST_REWRITING
            values = [self._own(value) for value in positional]
            keywords = {key: self._own(value) for key, value in arguments.items()}
            return self._outcome(self._call(tool, values, keywords))
        except _Failed as failure:
            return _failure(failure)
        except RecursionError:
            return _failure(_Failed(_TOO_DEEP))

    def run_call_text(self, text: str) -> Outcome:
        """Run a call that is given as text, ``cd(folder='x')``; calls among the arguments are run first.

        Raises:
            Exception: As for ``run``.
        """
        try:
            return self._outcome(self._value_of_text(text))
        except _Failed as failure:
            return _failure(failure)
        except RecursionError:
            return _failure(_Failed(_TOO_DEEP))

    def result_text(self, text: str) -> str:
        """The official result string of a call text: ``run_call_text`` for those who need nothing else."""
        try:
            return self._text(self._value_of_text(text))
        except _Failed as failure:
            return f"{ERROR_PREFIX}{failure}"
        except RecursionError:
            return f"{ERROR_PREFIX}{_TOO_DEEP}"

    def _value_of_text(self, text: str) -> Any:
        read = read_call_text(text)
        if read.head in REFUSED:
            raise _Failed(f"Function call {read.head} is not allowed.")
        if not read.is_plain:
            read = read_call_text(self.rewritten(text))
        return self._value(read.node)

    def _value(self, node: Any) -> Any:
        kind = type(node)
        if kind is CallExpression:
            tool = self._tool(node.path)
            if node.is_flat:
                return self._call(tool, node.positional, node.keywords)
            positional = [value if type(value) in _ATOMS else self._argument(value) for value in node.positional]
            keywords = {
                key: value if type(value) in _ATOMS else self._argument(value) for key, value in node.keywords.items()
            }
            return self._call(tool, positional, keywords)
        if kind is Container:
            try:
                return node.make([self._argument(item) for item in node.items])
            except TypeError as error:  # a list in a set, or as a key
                raise _Failed(str(error)) from None
        if kind is Fault:
            raise _Failed(node.text)
        return node

    def _argument(self, node: Any) -> Any:
        """A value for a tool to take. What another tool answered is copied, where the official code passes its
        own objects on: an instance could come to contain itself, or to grow twofold with each call."""
        value = self._value(node)
        if type(node) is not CallExpression or type(value) not in (dict, list):
            return value
        if len(self._text(value)) > _MAX_PASSED_ON:
            raise _Failed("the result is too long to be passed on")
        return copy_trusted(value)

    def _call(self, tool: Signature, positional: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
        if positional or not tool.required <= arguments.keys() <= tool.known:
            fault = tool.fault(positional, arguments)
            if fault is not None:
                raise _Failed(fault)
        self.touched.add(tool.owner)
        try:
            return tool.function(self.instance(tool.owner), *positional, **arguments)
        except (Refusal, ArithmeticError) as error:  # ArithmeticError: numbers that are too large for a float
            raise _Failed(str(error)) from None
        except Exception as error:
            if tool.is_typed(positional, arguments):
                raise
            raise _Failed(str(error)) from None

    def _tool(self, path: tuple[str, ...]) -> Signature:
        name = path[-1] if path else ""
        if len(path) == 1 and name in self._tools:
            return self._tools[name]
        if len(path) == 2 and name in self._tools and path[0] == self._instance_name(self._tools[name].owner):
            return self._tools[name]
        raise _Failed(f"name '{path[0]}' is not defined" if path else "only functions can be called by name")

    def instance(self, owner: str) -> Simulator:
        """The one instance of a class."""
        instance = self._instances.get(owner)
        if instance is None:
            config = self._config.get(owner, {})
            instance = self._instances[owner] = self._class_of(owner)(config, self._tables, self._long_context)
        return instance

    # Results.

    def _outcome(self, value: Any) -> Outcome:
        text = self._text(value)
        if type(value) is str or type(value) in _AS_THEY_ARE:
            return Outcome(text, value, False)
        try:
            return Outcome(text, copy_json(value), False)
        except (TypeError, ValueError, RecursionError):
            return Outcome(text, text, False)

    def _text(self, value: Any) -> str:
        try:
            return self._write(value)
        except (ValueError, RecursionError) as error:  # a number of too many digits
            raise _Failed(str(error)) from None

    # The official rewriting.

    def rewritten(self, text: str) -> str:
        """The call text as the official harness evaluates it: every known function name before a bracket gets its
        instance's name, inside texts, too, and white space between a name and a bracket is lost.

        The official name of an instance is that of the model, ``_ground_truth`` for the gold's, ``_eval`` in
        scoring, the entry's id and the class; ours puts ``name`` in front, so that such texts differ between
        worlds of different names as they do between the official ones.
        """
        return _NAME_BEFORE_BRACKET.sub(self._replacement, text)

    def _replacement(self, found: re.Match[str]) -> str:
        name = found[1]
        tool = self._tools.get(name)
        return name if tool is None else f"{self._instance_name(tool.owner)}.{name}"

    def _instance_name(self, owner: str) -> str:
        return _NOT_IN_NAMES.sub("_", f"{self._name}_{owner}_instance")

    def _own(self, value: Any, depth: int = 0) -> Any:
        """A copy of an argument as it is after the official rewriting of the call's text."""
        kind = type(value)
        if kind is str:
            return self._rewritten_value(value) if "(" in value else value
        if depth > _MAX_DEPTH:
            raise _Failed(_TOO_DEEP)
        if kind is dict:
            return {self._own(key): self._own(item, depth + 1) for key, item in value.items()}
        if kind is list or kind is tuple:
            return kind([self._own(item, depth + 1) for item in value])
        return value

    def _rewritten_value(self, value: str) -> str:
        source = repr(value)
        rewritten = self.rewritten(source)
        if rewritten == source:
            return value
        try:
            return cast("str", read_literal(rewritten))
        except DecodeFailure:  # too long to be read again
            return value

    # State.

    def public_state(self, classes: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Class to attribute to value, of all that the official state check compares; see
        ``Simulator.public_state``: the values may be the instances' own.

        Args:
            classes: Names of the involved classes that are asked for; all by default.
        """
        return {name: self.instance(name).public_state() for name in (self.classes if classes is None else classes)}


def _failure(failure: _Failed) -> Outcome:
    text = f"{ERROR_PREFIX}{failure}"
    return Outcome(text, text, True)


def result_of(outcome: Outcome) -> ToolResult:
    """An outcome as a tool's result."""
    if outcome.failed:
        return ToolResult.trusted(content=None, error="tool_error", message=outcome.text[len(ERROR_PREFIX) :])
    return ToolResult.trusted(content=outcome.value, error=None, message="")
