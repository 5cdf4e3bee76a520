"""What BFCL's official decoder makes of Java text: the first call in it, all its values as text.

    >>> decode_java('[Shelf.put(book="Emma", places=new int[]{1, 2})]')
    [{'Shelf.put': {'book': 'Emma', 'places': 'new int[]{1,2}'}}]

Source: the default prompting decoder of ``bfcl-eval`` 2026.3.23 for Java.
"""

from __future__ import annotations

from typing import Any

from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.syntax_tree import code_of, parse_code

__all__ = ["decode_java"]

_QUOTED = frozenset(("string_literal", "character_literal"))
_WHOLE = _QUOTED | {"identifier", "class_literal", "type_identifier", "method_invocation"}
"""What keeps its text, white space included; of anything else only the tokens are kept."""
_BETWEEN_ARGUMENTS = frozenset((",", "(", ")"))


def decode_java(text: str) -> Any:
    """The official decoding: a list of the one call ``{name: {parameter: text}}``, or ``{}`` where there is none.

    Bare identifiers among the arguments stand under the key None; other arguments without a name are lost.

    Raises:
        DecodeFailure: The text is not Java, gives a name twice, or makes an array without its elements.
        MissingPackageError: tree-sitter is not installed.
    """
    code = code_of(text)
    call = _first_call(parse_code("java", code))
    if call is None:
        return {}
    holder = call.child_by_field_name("object")
    name = _cut(call.child_by_field_name("name"), code)
    if holder is not None:
        name = f"{_cut(holder, code)}.{name}"
    return [{name: _arguments(call.child_by_field_name("arguments"), code)}]


def _first_call(root: Any) -> Any:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "method_invocation":
            return node
        waiting.extend(reversed(node.children))
    return None


def _cut(node: Any, code: str) -> str:
    # Offsets count bytes, and the official decoder cuts characters with them: behind text outside ASCII it
    # cuts too far to the right.
    return code[node.start_byte : node.end_byte]


def _arguments(node: Any, code: str) -> dict[str | None, str]:
    arguments: dict[str | None, str] = {}
    twice = False
    for child in node.named_children:
        kind = child.type
        name: str | None = None
        if kind == "assignment_expression":
            parts = child.children
            name, value = _cut(parts[0], code), _value(parts[2], code)
        elif kind in ("identifier", "class_literal"):
            value = _cut(child, code)
        else:
            continue
        twice = twice or name in arguments
        arguments[name] = value
    if twice:
        raise DecodeFailure("Exception", "a name is given twice")
    return arguments


def _value(node: Any, code: str) -> str:
    if node.type in _QUOTED:
        return _cut(node, code)[1:-1]
    return _tokens(node, code) if node.child_count else _cut(node, code)


def _tokens(node: Any, code: str) -> str:
    """The text of a node, put together from its parts."""
    pieces: list[str] = []
    waiting: list[Any] = [node]  # nodes and texts, the next one last
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif item is None:
            raise DecodeFailure("AttributeError", "an array is made without its elements")
        elif item.type in _WHOLE:
            pieces.append(_cut(item, code))
        elif item.type == "array_creation_expression":
            waiting += [item.child_by_field_name("value"), "[]", item.child_by_field_name("type"), "new "]
        elif item.type == "object_creation_expression":
            waiting += reversed(_creation(item))
        elif item.child_count:
            waiting.extend(reversed(item.children))
        else:
            pieces.append(_cut(item, code))
    return "".join(pieces)


def _creation(node: Any) -> list[Any]:
    """The parts of ``new Name(...)`` in order; the body of an anonymous class is none of them."""
    arguments = node.child_by_field_name("arguments")
    parts: list[Any] = []
    for child in arguments.children if arguments is not None else ():
        if child.type not in _BETWEEN_ARGUMENTS:
            parts += [", ", child] if parts else [child]
    return ["new ", node.child_by_field_name("type"), "(", *parts, ")"]
