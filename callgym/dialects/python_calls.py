"""Python's notation: an action is a list of calls, ``[ns.find(a=1, b='x'), other()]``.

What is read:

- Lists of calls anywhere in the text; only ``[`` with a name and ``(`` right behind it opens one, so that
  ``(note) [1]`` is words. Fences around a list are dropped, other text is the content.
- Calls without brackets, ``find(a=1)``, where the whole text is nothing but calls, one a line or with commas
  between them. Fences and the label ``Assistant:`` may stand around them; ``I would call find(x)`` is words.
- Values as in ``python_value``: literals of Python or JSON, nothing that would have to be evaluated.

Names in a list may hold hyphens, ``[my-tool(a=1)]``. A name of any other kind is quoted, ``['my tool'(a=1)]``, and
arguments whose names are no identifiers stand in a dict, ``f(a=1, **{'odd name': 2})``, which is the only use of
``**``. (Keywords of Python are names like any other.)

What cannot be read costs one call: an argument without a name, one that is no literal or is given twice is an error
of kind ``arguments``, other breaches are ``malformed``, and its neighbours in the list are made. A text that breaks
off is ``truncated``. A call in a list is made only where a comma or the closing bracket follows it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction
from callgym.dialects.call_scanner import read_calls
from callgym.dialects.plain_calls import read_plain_calls
from callgym.dialects.python_call import PythonCallScanner, write_call
from callgym.dialects.transcript import TranscriptDialect, write_document
from callgym.tool import Tool

__all__ = ["PythonDialect"]

_INSTRUCTION = (
    "You are the assistant in the conversation below, and these are the tools you may call, one JSON document a line:\n"
)
_FORM = (
    "To call tools, answer with a list of calls and nothing else, every argument by name:\n"
    "[tool_name(parameter=value, other_parameter=value), other_tool()]\n"
    "Text stands in quotes; numbers, True, False, None, lists and dicts are written as in Python.\n"
    "If no tool does what is asked, or a value that a tool requires was never given, call nothing and say in words "
    "what is missing.\n"
)


class PythonDialect(TranscriptDialect):
    """Calls as Python writes them, conversations as lines of text."""

    name = "python"
    instructed_by: ClassVar[tuple[str, ...]] = ("bfcl",)

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        calls = read_plain_calls(text)
        return read_calls(text, PythonCallScanner) if calls is None else ParsedAction(calls)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """``[f(a=1), g(b='x')]``, after the words if there are any."""
        if not calls:
            return content
        written = f"[{', '.join([write_call(call) for call in calls])}]"
        return f"{content}\n{written}" if content else written

    def opening(self, tools: Sequence[Tool], instruction: str | None) -> str:
        """Words around the tools' documents: our own, or the benchmark's with the documents it does not hold itself."""
        if instruction is None:
            lines = [f"{write_document(tool.as_chat()['function'])}\n" for tool in tools]
            return "".join([_INSTRUCTION, *lines, _FORM]) if lines else ""
        # Tools whose names stand in it in quotes are documented there.
        missing = [tool for tool in tools if json.dumps(tool.name, ensure_ascii=False) not in instruction]
        lines = [f"{write_document(tool.as_chat()['function'])}\n" for tool in missing]
        return "".join([instruction if instruction.endswith("\n") else f"{instruction}\n", *lines])
