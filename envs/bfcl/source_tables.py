"""What only the source of ``bfcl-eval`` holds: the tables of its executable classes, its padding and its prompts.

The source is parsed and its literals are read; nothing of it is imported or run. What cannot be read is left out,
and a note says so. The places are those of ``bfcl-eval`` 2026.3.23.
"""

from __future__ import annotations

import ast
import datetime
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from callgym.envs.bfcl.files import CLASS_FILES

__all__ = ["ELLIPSIS", "SOURCES", "Tables", "read_constants", "read_long_context", "read_prompts"]

ELLIPSIS = "@@ELLIPSIS@@"
"""Stands for Python's Ellipsis, which ends one of the lists."""
_CLASSES = "eval_checker/multi_turn_eval/func_source_code"
_PROMPTS = "constants/default_prompts.py"
_LONG_CONTEXT = f"{_CLASSES}/long_context.py"
_WITH_STATE = ("MessageAPI", "TwitterAPI", "TicketAPI", "TradingBot", "TravelAPI", "VehicleControlAPI")
_CLASS_SOURCES = {name: CLASS_FILES[name] for name in ("MathAPI", *_WITH_STATE)}
SOURCES = (*(f"{_CLASSES}/{stem}.py" for stem in _CLASS_SOURCES.values()), _LONG_CONTEXT, _PROMPTS)
"""The files that are read, below the package's folder."""


class Tables(NamedTuple):
    """What was read."""

    values: dict[str, Any]
    """Name to JSON value."""
    notes: tuple[str, ...]
    """A sentence on everything that could not be read."""


class _UnreadError(Exception):
    """Something is not where it was, or is more than a literal."""


def read_constants(sources: Mapping[str, str]) -> Tables:
    """The classes' tables, as ``env_constants.json`` holds them.

    Args:
        sources: The text of each of ``SOURCES`` by name.
    """
    modules = {name: _parse(sources, f"{_CLASSES}/{stem}.py") for name, stem in _CLASS_SOURCES.items()}
    notes: list[str] = []
    states = {
        name: _noted(notes, f"{name}.DEFAULT_STATE", _module_value, modules[name], "DEFAULT_STATE")
        for name in _WITH_STATE
    }
    values: dict[str, Any] = {"default_state": {name: state for name, state in states.items() if state is not None}}
    for table, (class_name, read, *where) in _PLACES.items():
        value = _noted(notes, table, read, modules[class_name], *where)
        if value is not None:
            values[table] = value
    return Tables(values, tuple(notes))


def read_long_context(sources: Mapping[str, str]) -> Tables:
    """The padding by name, as ``env_long_context.json.gz`` holds it."""
    return _read_module(sources, _LONG_CONTEXT)


def read_prompts(sources: Mapping[str, str]) -> Tables:
    """The official wording by the names of its constants; what is put together from other names is put together."""
    return _read_module(sources, _PROMPTS)


def _read_module(sources: Mapping[str, str], file: str) -> Tables:
    values: dict[str, Any] = {}
    notes: list[str] = []
    module = _parse(sources, file)
    if isinstance(module, _UnreadError):
        return Tables(values, (f"{file}: {module}",))
    for name, node in _assignments(module.body):
        try:
            values[name] = _as_json(_read(node, values))
        except _UnreadError as error:
            notes.append(f"{file}: {name} is left out, for {error}")
    return Tables(values, tuple(notes))


def _parse(sources: Mapping[str, str], file: str) -> ast.Module | _UnreadError:
    if file not in sources:
        return _UnreadError(f"{file} is not there")
    try:
        with warnings.catch_warnings():
            # Loose escapes in other people's texts are not this user's business.
            warnings.simplefilter("ignore")
            return ast.parse(sources[file])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _UnreadError(f"{file} cannot be parsed ({type(error).__name__}: {error})")


def _noted(
    notes: list[str], what: str, read: Callable[..., Any], module: ast.Module | _UnreadError, *where: str
) -> Any:
    """What ``read`` finds, or None and a note."""
    try:
        if isinstance(module, _UnreadError):
            raise module
        return _as_json(read(module, *where))
    except _UnreadError as error:
        notes.append(f"{what} is left out, for {error}")
        return None


# Where things are. Each reader takes the module and the names that lead to the place.


def _module_value(module: ast.Module, name: str) -> Any:
    return _read(_assigned(module.body, name))


def _limits(module: ast.Module) -> dict[str, Any]:
    names = {"max_fuel": "MAX_FUEL_LEVEL", "min_fuel": "MIN_FUEL_LEVEL", "mile_per_gallon": "MILE_PER_GALLON"}
    return {name: _module_value(module, constant) for name, constant in names.items()}


def _local_value(module: ast.Module, class_name: str, method: str, name: str) -> Any:
    return _read(_assigned(_nodes(_method(module, class_name, method)), name))


def _returned(module: ast.Module, class_name: str, method: str) -> Any:
    for node in _nodes(_method(module, class_name, method)):
        if isinstance(node, ast.Return) and node.value is not None:
            return _read(node.value)
    raise _UnreadError(f"{method} returns nothing")


def _default_of_get(module: ast.Module, class_name: str, method: str, key: str) -> Any:
    """The second argument of ``something.get(key, default)``."""
    for node in _nodes(_method(module, class_name, method)):
        match node:
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=found), default]) if found == key:
                return _read(default)
    raise _UnreadError(f"{method} asks for no {key!r}")


def _cases(module: ast.Module, class_name: str, method: str, key: str) -> dict[str, Any]:
    """A table written as ``if x == "a": return {key: value}`` and so on; ``x`` and ``y`` in either order are one."""
    table: dict[str, Any] = {}
    for node in _nodes(_method(module, class_name, method)):
        if not isinstance(node, ast.If):
            continue
        names = sorted(dict.fromkeys(_compared_texts(node.test)))
        value = _entry_of(node.body, key)
        if names and value is not None:
            table["|".join(names)] = value
    if not table:
        raise _UnreadError(f"{method} holds no cases")
    return table


def _compared_texts(test: ast.expr) -> Iterator[str]:
    for node in ast.walk(test):
        match node:
            case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=str(text))]):
                yield text


def _entry_of(body: list[ast.stmt], key: str) -> Any:
    """``value`` where all that happens is returning or assigning ``{key: value}``; else None."""
    match body:
        case [ast.Return(value=ast.Dict() as node)] | [ast.Assign(value=ast.Dict() as node)]:
            entries = _read(node)
            return entries.get(key)
    return None


_PLACES: dict[str, tuple[Any, ...]] = {
    "message_default_seed": ("MessageAPI", _default_of_get, "MessageAPI", "_load_scenario", "random_seed"),
    "trading_current_time": ("TradingBot", _module_value, "CURRENT_TIME"),
    "trading_symbol_by_name": ("TradingBot", _local_value, "TradingBot", "get_symbol_by_name", "symbol_map"),
    "trading_sectors": ("TradingBot", _local_value, "TradingBot", "get_available_stocks", "sector_map"),
    "travel_base_costs": ("TravelAPI", _local_value, "TravelAPI", "get_flight_cost", "base_costs"),
    "travel_exchange_rates": ("TravelAPI", _local_value, "TravelAPI", "compute_exchange_rate", "exchange_rates"),
    "travel_airport_by_city": ("TravelAPI", _local_value, "TravelAPI", "get_nearest_airport_by_city", "airport_map"),
    "math_imperial_factors": ("MathAPI", _local_value, "MathAPI", "imperial_si_conversion", "conversion"),
    "math_si_to_meters": ("MathAPI", _local_value, "MathAPI", "si_unit_conversion", "to_meters"),
    "vehicle_limits": ("VehicleControlAPI", _limits),
    "travel_airports": ("TravelAPI", _returned, "TravelAPI", "list_all_airports"),
    "vehicle_zipcodes": ("VehicleControlAPI", _cases, "VehicleControlAPI", "get_zipcode_based_on_city", "zipcode"),
    "vehicle_distances_symmetric": ("VehicleControlAPI", _cases, "VehicleControlAPI", "estimate_distance", "distance"),
}
"""Table to the class whose file holds it, how it is read, and where it is."""


def _method(module: ast.Module, class_name: str, name: str) -> ast.FunctionDef:
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == name:
                    return member
    raise _UnreadError(f"there is no {class_name}.{name}")


def _nodes(function: ast.FunctionDef) -> list[Any]:
    """All nodes of a function in the order of their lines."""
    nodes = [node for node in ast.walk(function) if isinstance(node, (ast.stmt, ast.expr))]
    return sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def _assigned(nodes: list[Any], name: str) -> ast.expr:
    for found, node in _assignments(nodes):
        if found == name:
            return node
    raise _UnreadError(f"there is no {name}")


def _assignments(nodes: list[Any]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


# Literals.


def _read(node: ast.expr, names: Mapping[str, Any] | None = None) -> Any:
    """The value of a literal; ``set()``, ``datetime(...)``, sums of texts and quotients of numbers are literals here.

    Args:
        node: The expression.
        names: Values of names that may stand in it.
    """
    match node:
        case ast.Constant(value=value) if value is None or value is ... or type(value) in (str, int, float, bool):
            return value
        case ast.Name(id=name) if names is not None and name in names:
            return names[name]
        case ast.List(elts=items):
            return [_read(item, names) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_read(item, names) for item in items)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {_key(key, names): _read(value, names) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _read(operand, names)
            if type(number) in (int, float):
                return -number
        case ast.BinOp(left=left, op=ast.Add() | ast.Div() as operator, right=right):
            return _combined(node, operator, _read(left, names), _read(right, names))
        case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
            return []
        case ast.Call(func=ast.Name(id="datetime"), args=parts, keywords=[]):
            return _moment(node, [_read(part, names) for part in parts])
    raise _no_literal(node)


def _key(node: ast.expr | None, names: Mapping[str, Any] | None) -> Any:
    key = None if node is None else _read(node, names)
    if isinstance(key, tuple) and all(type(part) is str for part in key):
        return "|".join(key)
    if type(key) not in (str, int):
        raise _UnreadError("a key is neither a text nor a number")
    return key


def _combined(node: ast.expr, operator: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(operator, ast.Add) and type(left) is str and type(right) is str:
        return left + right
    if isinstance(operator, ast.Div) and {type(left), type(right)} <= {int, float} and right:
        return left / right
    raise _no_literal(node)


def _moment(node: ast.expr, parts: list[Any]) -> str:
    try:
        return str(datetime.datetime(*parts))
    except (TypeError, ValueError, OverflowError) as error:
        raise _UnreadError(f"line {node.lineno} holds no date ({error})") from None


def _no_literal(node: ast.expr) -> _UnreadError:
    return _UnreadError(f"line {node.lineno} holds more than literals ({type(node).__name__})")


def _as_json(value: Any) -> Any:
    """The value as JSON: tuples as lists, keys as texts, Ellipsis as ``ELLIPSIS``."""
    if value is ...:
        return ELLIPSIS
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    return value
