"""What API-Bank's tool classes say about themselves, read from their source text and never run.

A tool is a class in a file of its own: documentation in class attributes, a table of data, for some, in
``__init__``. Literals are read from the syntax tree; the file is neither imported nor evaluated::

    classes, notes = read_tool_classes(path.read_text(encoding="utf-8"), path.name)
"""

from __future__ import annotations

import ast
import datetime
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ToolClass", "documentation_with_signatures", "read_tool_classes", "tables_of", "tool_documentation"]

_DOCUMENTATION: Mapping[str, type] = {"description": str, "input_parameters": dict, "output_parameters": dict}
_DATES: Mapping[str, type[datetime.date]] = {
    "datetime.datetime": datetime.datetime,
    "datetime": datetime.datetime,
    "datetime.date": datetime.date,
    "date": datetime.date,
}
_SEARCH = "ToolSearcher"
_MAX_FORMAT = 100


@dataclass(frozen=True, slots=True)
class ToolClass:
    """One tool's class, as far as literals tell."""

    name: str
    """The tool's name."""
    file: str
    """The file it was read from."""
    documentation: dict[str, Any] | None
    """``name``, ``description``, ``input_parameters`` and ``output_parameters``; None where one cannot be read."""
    database_name: str | None
    """The file of ``init_database`` that its table starts from."""
    is_given_database: bool
    """Whether its table comes from outside; what ``__init__`` holds is then only a stand-in."""
    signature: dict[str, Any]
    """``args`` of ``call``, and the ``defaults`` among them as source text."""
    tables: dict[str, Any]
    """The tables that ``__init__`` makes, as JSON values by attribute."""


class _NotLiteralError(ValueError):
    """An expression is more than a literal."""


def read_tool_classes(source: str, file: str) -> tuple[list[ToolClass], list[str]]:
    """The tool classes of a file, and a note on everything that could not be read.

    Args:
        source: The file's text.
        file: Its name, for the classes and the notes.
    """
    notes: list[str] = []
    classes: list[ToolClass] = []
    try:
        nodes = _parse(source).body
        tools = (node for node in nodes if isinstance(node, ast.ClassDef) and _is_tool(node))
        classes.extend(_read_class(tool, file, notes) for tool in tools)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        notes.append(f"{file}: not read, for it cannot be parsed ({type(error).__name__}: {error})")
    return classes, notes


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        # Loose escapes in other people's regular expressions are not this user's business.
        warnings.simplefilter("ignore")
        return ast.parse(source)


def tables_of(levels_1_and_2: list[ToolClass], level_3: list[ToolClass]) -> dict[str, dict[str, Any]]:
    """All tables by tool and attribute; tools of levels 1 and 2 have a prefix, for some names exist twice."""
    tables = {tool.name: tool.tables for tool in level_3 if tool.tables}
    own = {tool.name: tool.tables for tool in levels_1_and_2 if tool.tables and not tool.is_given_database}
    return tables | {f"_level_1_2_{name}": table for name, table in own.items()}


def tool_documentation(classes: list[ToolClass]) -> dict[str, Any]:
    """The tools' documentation as the policy sees it, and each tool's text that the official search embeds."""
    documents = [tool.documentation for tool in sorted(classes, key=lambda tool: tool.name) if tool.documentation]
    return {
        "descriptions": documents,
        # The search does not find itself. Name and description touch: so they do in the official text.
        "search_text": {
            document["name"]: _split_capitals(document["name"]) + document["description"]
            for document in documents
            if document["name"] != _SEARCH
        },
    }


def documentation_with_signatures(classes: list[ToolClass]) -> list[dict[str, Any]]:
    """The tools' documentation by file, with what their code demands: its database and its parameters."""
    return [
        {
            "name": tool.name,
            "file": tool.file,
            **tool.documentation,
            **({} if tool.database_name is None else {"database_name": tool.database_name}),
            "call_signature": tool.signature,
        }
        for tool in sorted(classes, key=lambda tool: tool.file)
        if tool.documentation
    ]


def _split_capitals(name: str) -> str:
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


def _is_tool(definition: ast.ClassDef) -> bool:
    return any(_dotted(base).rpartition(".")[2] == "API" for base in definition.bases)


def _read_class(definition: ast.ClassDef, file: str, notes: list[str]) -> ToolClass:
    where = f"{file}: {definition.name}"
    attributes = dict(_class_attributes(definition))
    methods = {node.name: node for node in definition.body if isinstance(node, ast.FunctionDef)}
    init = methods.get("__init__")
    given = init is not None and "init_database" in _parameters(init)
    return ToolClass(
        name=definition.name,
        file=file,
        documentation=_read_documentation(definition.name, attributes, where, notes),
        database_name=_text_or_none(attributes.get("database_name")),
        is_given_database=given,
        signature=_signature(methods.get("call")),
        tables={} if init is None else _read_tables(init, where, [] if given else notes),
    )


def _read_documentation(
    name: str, attributes: Mapping[str, ast.expr], where: str, notes: list[str]
) -> dict[str, Any] | None:
    documentation: dict[str, Any] = {"name": name}
    for attribute, kind in _DOCUMENTATION.items():
        try:
            documentation[attribute] = _as_json(_read(attributes[attribute]))
        except (KeyError, _NotLiteralError) as error:
            why = "is not there" if isinstance(error, KeyError) else f"cannot be read: {error}"
            notes.append(f"{where} has no documentation, for its {attribute} {why}")
            return None
        if not isinstance(documentation[attribute], kind):
            notes.append(f"{where} has no documentation, for its {attribute} is no {kind.__name__}")
            return None
    return documentation


def _class_attributes(definition: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in definition.body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _text_or_none(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def _signature(call: ast.FunctionDef | None) -> dict[str, Any]:
    if call is None:
        return {"args": [], "defaults": {}}
    names = _parameters(call)
    # Defaults belong to the last parameters.
    optional = names[len(names) - len(call.args.defaults) :]
    defaults = {name: ast.unparse(node) for name, node in zip(optional, call.args.defaults, strict=True)}
    return {"args": names[1:], "defaults": defaults}


# Tables.


def _read_tables(init: ast.FunctionDef, where: str, notes: list[str]) -> dict[str, Any]:
    """The lists and dicts that ``__init__`` puts into attributes and leaves as they are."""
    own = next(iter(_parameters(init)), "")
    tables: dict[str, Any] = {}
    unreadable: dict[str, str] = {}
    for attribute, value in _attribute_assignments(init, own):
        try:
            table = _as_json(_read(value))
        except _NotLiteralError as error:
            # What comes from a parameter or a variable is no table of this class.
            if not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
                unreadable[attribute] = str(error)
            continue
        if isinstance(table, (list, dict)):
            tables[attribute] = table
    unreadable |= dict.fromkeys(tables.keys() & set(_changed(init, own)), "it is changed after it is made")
    notes += [f"{where}.{attribute} is left out, for {why}" for attribute, why in sorted(unreadable.items())]
    return {attribute: table for attribute, table in tables.items() if attribute not in unreadable}


def _attribute_assignments(init: ast.FunctionDef, own: str) -> Iterator[tuple[str, ast.expr]]:
    """(Attribute, value) in the order of the lines: where an ``if`` chooses, the last is the stand-alone one."""
    nodes = [node for node in ast.walk(init) if isinstance(node, (ast.Assign, ast.AnnAssign))]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            attribute = _own_attribute(target, own)
            if attribute and isinstance(target, ast.Attribute):
                yield attribute, node.value


def _changed(init: ast.FunctionDef, own: str) -> Iterator[str]:
    """Attributes that something is put into, or that a method is called on: their literal is not all of them."""
    for node in ast.walk(init):
        changed: ast.expr | None = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node
        elif isinstance(node, ast.AugAssign):
            changed = node.target
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.value
        attribute = _own_attribute(changed, own)
        if attribute:
            yield attribute


def _own_attribute(node: ast.expr | None, own: str) -> str:
    """``x`` of ``self.x``, ``self.x[...]``, ``self.x.y``; empty for anything else."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
            return node.attr
        node = node.value
    return ""


# Literals.


def _read(node: ast.expr) -> Any:
    """The value of a literal; tuples, dates made in place and ``float('inf')`` are literals here."""
    match node:
        case ast.Constant(value=value) if value is None or type(value) in (str, int, float, bool):
            return value
        case ast.Tuple(elts=items):
            return tuple(_read(item) for item in items)
        case ast.List(elts=items):
            return [_read(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return _read_dict(node, keys, values)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _read(operand)
            if type(number) in (int, float):
                return -number
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _read_call(node, function, arguments)
    raise _not_literal(node)


def _read_dict(node: ast.Dict, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
    table = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:  # {**other}
            raise _not_literal(node)
        try:
            table[_read(key)] = _read(value)
        except TypeError:  # a list as a key
            raise _not_literal(key) from None
    return table


def _read_call(node: ast.Call, function: ast.expr, arguments: list[ast.expr]) -> Any:
    """``float('inf')``, ``datetime.datetime(...)``, ``datetime.date(...)`` and ``.strftime(...)`` of these."""
    name = _dotted(function)
    values = [_read(argument) for argument in arguments]
    try:
        if name == "float" and values in (["inf"], ["-inf"]):
            return float(values[0])
        if name in _DATES and all(type(value) is int for value in values):
            return _DATES[name](*values)
        if isinstance(function, ast.Attribute) and function.attr == "strftime" and isinstance(function.value, ast.Call):
            day = _read(function.value)
            if isinstance(day, datetime.date) and len(values) == 1 and len(str(values[0])) <= _MAX_FORMAT:
                return day.strftime(values[0])
    except (ValueError, TypeError, OverflowError) as error:
        raise _NotLiteralError(f"line {node.lineno} holds no date ({error})") from None
    raise _not_literal(node)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _not_literal(node: ast.expr) -> _NotLiteralError:
    return _NotLiteralError(f"line {node.lineno} holds more than literals ({type(node).__name__})")


def _as_json(value: Any) -> Any:
    """A JSON value: tuples as lists, dates as text, and a dict with keys that are no text or number as pairs."""
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        if any(isinstance(key, (tuple, datetime.date)) for key in value):
            return [[_as_json(key), _as_json(item)] for key, item in value.items()]
        table = {str(key): _as_json(item) for key, item in value.items()}
        if len(table) < len(value):
            raise _NotLiteralError("two of its keys have the same text")
        return table
    # JSON has neither dates nor float('inf').
    if isinstance(value, datetime.date) or value in (float("inf"), float("-inf")):
        return str(value)
    return value
