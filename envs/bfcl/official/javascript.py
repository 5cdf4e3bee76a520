"""What BFCL's official decoder makes of JavaScript text: the call it starts with, all its values as text.

    >>> decode_javascript("[shelf.put(book='Emma', places=[1, 2])]")
    [{'shelf.put': {'book': 'Emma', 'places': '[1, 2]'}}]

Source: the default prompting decoder of ``bfcl-eval`` 2026.3.23 for JavaScript.
"""

from __future__ import annotations

from typing import Any

from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.envs.bfcl.official.syntax_tree import code_of, parse_code

__all__ = ["decode_javascript"]


def decode_javascript(text: str) -> Any:
    """The official decoding: a list of the one call ``{name: {parameter: text}}``, or None where there is none.

    Only a call that is a statement by itself counts. Bare identifiers and ``true`` among the arguments stand
    under the key None; other arguments without a name are lost.

    Raises:
        DecodeFailure: The text is not JavaScript, or gives a name twice.
        MissingPackageError: tree-sitter is not installed.
    """
    call = _first_call(parse_code("javascript", code_of(text)))
    if call is None:
        return None
    parts = call.children
    return [{_text(parts[0]): _arguments(parts[1])}]


def _first_call(root: Any) -> Any:
    for statement in root.children:
        if statement.type == "expression_statement":
            for part in statement.children:
                if part.type == "call_expression":
                    return part
    return None


def _text(node: Any) -> str:
    text: str = node.text.decode()
    return text


def _arguments(node: Any) -> dict[str | None, str]:
    arguments: dict[str | None, str] = {}
    twice = False
    for child in node.named_children:
        kind = child.type
        name: str | None = None
        if kind == "assignment_expression":
            parts = child.children
            name, value = _text(parts[0]), _unquoted(_text(parts[2]))
        elif kind in ("identifier", "true"):
            value = _text(child)
        else:
            continue
        twice = twice or name in arguments
        arguments[name] = value
    if twice:
        raise DecodeFailure("Exception", "a name is given twice")
    return arguments


def _unquoted(text: str) -> str:
    # By its ends alone: of "a" + "b" the outer quotes go.
    return text[1:-1] if text[:1] in ("'", '"') and text[:1] == text[-1:] else text
