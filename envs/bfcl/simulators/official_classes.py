"""The executable classes of the installed ``bfcl-eval`` package behind the simulators' interface.

The package's own code answers; parsing, dispatch and the texts of results are those of ``session``, so nothing is
evaluated. Officially what modules hold is shared by all instances of a process: lists that are default arguments,
padding that becomes part of a state. Here each instance has a class of its own, whose functions have their own
copies of all that, and leaves the process's decimal and mpmath precision as they were. ::

    world = World(["TwitterAPI"], task.initial_state, official_tables())

As in the package, ages depend on today's date and times of transactions on the local time zone. Unlike there, what
would take Python long is refused: powers and precisions of very many digits, trees of very many files.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from decimal import DefaultContext, localcontext
from functools import cache, wraps
from types import FunctionType
from typing import Any, ClassVar

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.logarithm import PrintedNumber
from callgym.errors import ConfigurationError, MissingPackageError

__all__ = ["MODULES", "OfficialClass", "official_class", "official_tables"]

_HERE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
MODULES: dict[str, str] = {
    "GorillaFileSystem": f"{_HERE}.gorilla_file_system",
    "MathAPI": f"{_HERE}.math_api",
    "MessageAPI": f"{_HERE}.message_api",
    "TwitterAPI": f"{_HERE}.posting_api",
    "TicketAPI": f"{_HERE}.ticket_api",
    "TradingBot": f"{_HERE}.trading_bot",
    "TravelAPI": f"{_HERE}.travel_booking",
    "VehicleControlAPI": f"{_HERE}.vehicle_control",
}
"""Official class name to the module that has it; importing one brings in nothing else of the package."""

_MISSING = (
    "backend='official' runs the classes of the bfcl-eval package, and {} is not installed; they come with: "
    "pip install --no-deps bfcl-eval mpmath"
)
_ATOMS = frozenset((str, int, float, bool, type(None), type(...)))
_CHANGING = (dict, list, set)

_MOST_BITS = 1_000_000
_MOST_DIGITS = 100_000
_MOST_PRECISION = 2_000
_MOST_ROOT_PRECISION = 8_000
_LONGEST_NUMBER = 1_000
_LARGE_EXPONENT = re.compile(r"e[+-]?\d{5}", re.IGNORECASE)
_NUMBER_TOO_LARGE = "The number has too many digits."

_MOST_LEVELS = 100
_MOST_ITEMS = 15_000
_MOST_CHARACTERS = 20_000_000
_TREE_TOO_LARGE = "The directory holds too much, or goes too deep, to be walked through."


@cache
def official_tables() -> Tables:
    """Tables with which a world runs the official classes: these bring what they know along.

    Raises:
        MissingPackageError: ``bfcl-eval``, or what its classes need, is not installed.
    """
    for name in MODULES:
        official_class(name)
    return Tables(constants={}, class_of=official_class)


@cache
def official_class(name: str) -> type[OfficialClass]:
    """The official class of that name as a simulator.

    Raises:
        ConfigurationError: There is none of that name.
        MissingPackageError: As for ``official_tables``.
    """
    if name not in MODULES:
        raise ConfigurationError(f"BFCL has no executable class {name!r}; there are: {', '.join(MODULES)}")
    try:
        official = getattr(importlib.import_module(MODULES[name]), name)
    except ImportError as error:
        package = (error.name or "bfcl_eval").partition(".")[0]
        raise MissingPackageError(_MISSING.format(package.replace("_", "-"))) from error
    tools = {
        tool: _tool(method)
        for tool, method in inspect.getmembers(official, inspect.isfunction)
        if not tool.startswith("_")
    }
    return type(name, (_KINDS.get(name, OfficialClass),), {"official": official, **tools})


def _tool(method: Callable[..., Any]) -> Callable[..., Any]:
    name = method.__name__

    @wraps(method)
    def tool(self: OfficialClass, /, *arguments: Any, **named: Any) -> Any:
        try:
            return self._run(name, arguments, named)
        except Refusal:
            raise
        except Exception as error:
            raise Refusal(str(error)) from error

    return tool


class OfficialClass(Simulator):
    """One instance of one official class; whatever it raises is a ``Refusal``."""

    official: ClassVar[type]

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        self._instance = _own_class(type(self).official)()
        if hasattr(self._instance, "_load_scenario"):
            self._instance._load_scenario(deepcopy(dict(config)), long_context=long_context)

    def public_state(self) -> dict[str, Any]:
        """Attribute to value, of those without a leading underscore; sets as lists in order, as ours have them."""
        return {
            name: sorted(value) if type(value) is set else value
            for name, value in vars(self._instance).items()
            if not name.startswith("_")
        }

    def _run(self, tool: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return getattr(self._instance, tool)(*arguments, **named)


# Own copies of what modules share.


def _own_class(official: type) -> Any:
    """A class like the official one, of which no other instance sees anything."""
    module = vars(sys.modules[official.__module__])
    names = {
        name: _own_value(value) if type(value) in _CHANGING and not name.startswith("__") else value
        for name, value in module.items()
    }
    members = {
        name: _own_function(value, names) if inspect.isfunction(value) else _own_value(value)
        for name, value in vars(official).items()
        if inspect.isfunction(value) or type(value) in _CHANGING
    }
    # A subclass, so that what asks for instances of the official class is content.
    return type(official.__name__, (official,), members)


def _own_function(function: FunctionType, names: dict[str, Any]) -> FunctionType:
    own = FunctionType(
        function.__code__, names, function.__name__, _own_value(function.__defaults__), function.__closure__
    )
    own.__kwdefaults__ = _own_value(function.__kwdefaults__)
    return own


def _own_value(value: Any) -> Any:
    if type(value) is list and _ATOMS.issuperset(map(type, value)):
        return value.copy()  # padding: a hundred times as fast
    return deepcopy(value)


# What some classes need beside.


class _FileSystem(OfficialClass):
    """The official tree, which may come to contain itself, as far as it can be walked through."""

    def public_state(self) -> dict[str, Any]:
        """``root`` as nested ``{"type", "name", "contents" or "content"}``; equal where the official trees are."""
        root = self._instance.root
        try:
            _check_tree(root)
        except Refusal:
            # No task's own tree gets here, so whatever this one is compared with, it is another.
            tree = {"type": "directory", "name": root.name, "contents": "too much, or too deep"}
        else:
            tree = _as_values(root)
        return {**super().public_state(), "root": tree}

    def _run(self, tool: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if tool in ("find", "du"):
            # From wherever that is, and it may have been removed from the tree.
            _check_tree(self._instance._current_dir)
            _check_tree(self._instance.root)
        return super()._run(tool, arguments, named)


def _check_tree(root: Any) -> None:
    """Refuse a directory of which a walk would not end, or take long.

    Raises:
        Refusal: There is too much in it.
    """
    pending = [(root, 0, 0)]
    items = characters = 0
    while pending:
        directory, level, path = pending.pop()
        for name, item in directory.contents.items():
            items += 1
            characters += path + len(name)
            if hasattr(item, "contents"):
                pending.append((item, level + 1, path + len(name)))
            else:
                characters += len(item.content) if isinstance(item.content, str) else 0
            if items > _MOST_ITEMS or level > _MOST_LEVELS or characters > _MOST_CHARACTERS:
                raise Refusal(_TREE_TOO_LARGE)


def _as_values(item: Any) -> dict[str, Any]:
    if not hasattr(item, "contents"):
        return {"type": "file", "name": item.name, "content": item.content}
    contents = {name: _as_values(inner) for name, inner in item.contents.items()}
    return {"type": "directory", "name": item.name, "contents": contents}


class _Maths(OfficialClass):
    """Official arithmetic, in which the process's precision is set and left so."""

    # mpmath's precision is one for all threads.
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def _run(self, tool: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        bound = inspect.signature(getattr(self._instance, tool)).bind(*arguments, **named).arguments
        _check_numbers(tool, bound)
        mpmath = importlib.import_module("mpmath")
        with self._lock, localcontext(DefaultContext), mpmath.workprec(mpmath.mp.prec):
            answer = super()._run(tool, arguments, named)
            if tool == "logarithm" and isinstance(answer.get("result"), mpmath.mpf | mpmath.mpc):
                # How it prints depends on the precision, too.
                answer["result"] = PrintedNumber(repr(answer["result"]))
            return answer


def _check_numbers(tool: str, arguments: Mapping[str, Any]) -> None:
    """Refuse what takes long.

    Raises:
        Refusal: There are too many digits.
    """
    match tool, arguments:
        case "power", {"base": int(base), "exponent": int(exponent)}:
            too_large = base.bit_length() * exponent > _MOST_BITS
        case "round_number", {"number": int(), "decimal_places": int(places)}:
            too_large = places < -_MOST_DIGITS
        case "square_root", {"number": int(number) | float(number), "precision": int(precision)}:
            too_large = precision > _MOST_ROOT_PRECISION and number > 0
        case "logarithm", {"value": value, "base": base, "precision": precision}:
            too_large = _digits(precision) > _MOST_PRECISION or _is_long_text(value) or _is_long_text(base)
        case _:
            too_large = False
    if too_large:
        raise Refusal(_NUMBER_TOO_LARGE)


def _digits(precision: Any) -> int:
    """The digits that mpmath takes from a precision, which may be a text; what is none is left for it to refuse."""
    try:
        return int(precision)
    except (ArithmeticError, TypeError, ValueError):
        return 0


def _is_long_text(number: Any) -> bool:
    if not isinstance(number, str):
        return False
    return len(number) > _LONGEST_NUMBER or _LARGE_EXPONENT.search(number.replace("_", "")) is not None


_KINDS: dict[str, type[OfficialClass]] = {"GorillaFileSystem": _FileSystem, "MathAPI": _Maths}
