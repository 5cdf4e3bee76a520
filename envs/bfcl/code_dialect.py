"""The dialect ``python`` for tasks in Java and JavaScript: lists of calls whose values are code of the language.

    >>> CodeDialect("java").parse('[Shelf.put(book="Emma", sizes=new int[]{1, 2})]').calls[0].arguments
    {'book': 'Emma', 'sizes': 'new int[]{1, 2}'}

Lists, calls without brackets, fences, labels, reasoning and words beside calls are read as in ``PythonDialect``, and
so are faults: what cannot be read costs one call, and only where its end cannot be told what follows is lost, too.
Between calls a semicolon does what a comma does. Values are text, as tools of these categories declare them: what a
string literal holds, or the code as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from callgym.call import ToolCall
from callgym.dialects.base import ParsedAction
from callgym.dialects.call_scanner import read_calls
from callgym.dialects.python_calls import PythonDialect
from callgym.envs.bfcl.categories import Language
from callgym.envs.bfcl.code_call import CodeCallScanner, write_call
from callgym.errors import ConfigurationError
from callgym.tool import Tool

__all__ = ["CodeDialect", "code_dialect"]

_NAMES: dict[Language, str] = {"java": "Java", "javascript": "JavaScript"}
_INSTRUCTION = (
    "You are the assistant in the conversation below. These are functions of a {} program, which you may call, one "
    "JSON document a line:\n"
)
_FORM = (
    "To call functions, answer with a list of calls and nothing else, every argument by name:\n"
    "[name(parameter=value, otherParameter=value), otherName()]\n"
    "Values are written as in a {language} program: text stands in quotes, all else does not: {examples}.\n"
    "If no function does what is asked, or a value that a function requires was never given, call nothing and say in "
    "words what is missing.\n"
)
_EXAMPLES: dict[Language, str] = {
    "java": "42, 42L, 0.5, true, null, new int[]{1, 2}, names of variables and constants",
    "javascript": "42, 0.5, true, null, [1, 2], {key: 'value'}, names of variables and functions",
}


class CodeDialect(PythonDialect):
    """``PythonDialect`` with values as a program in another language has them; its name is the same."""

    def __init__(self, language: Language) -> None:
        """Read and write values in a language.

        Args:
            language: ``java`` or ``javascript``.

        Raises:
            ConfigurationError: It is neither.
        """
        if language not in _NAMES:
            raise ConfigurationError(f"calls are written in {' or '.join(_NAMES)}, not in {language!r}")
        self.language: Language = language

    def read(self, text: str) -> ParsedAction:
        """Read an action; see the module's docstring for what is understood."""
        return read_calls(text, self._scanner)

    def render_action(self, calls: Sequence[ToolCall], content: str = "") -> str:
        """``[f(a=1), g(b="x")]``, after the words if there are any."""
        if not calls:
            return content
        written = f"[{', '.join([write_call(call, self.language) for call in calls])}]"
        return f"{content}\n{written}" if content else written

    def opening(self, tools: Sequence[Tool], instruction: str | None) -> str:
        """The benchmark's words or our own, around the tools' documents."""
        if instruction is not None or not tools:
            return super().opening(tools, instruction)
        language = _NAMES[self.language]
        form = _FORM.format(language=language, examples=_EXAMPLES[self.language])
        return super().opening(tools, _INSTRUCTION.format(language)) + form

    def _scanner(self, text: str) -> CodeCallScanner:
        return CodeCallScanner(text, self.language)


@cache
def code_dialect(language: Language) -> CodeDialect:
    """The dialect of a language; one instance for all environments of the process."""
    return CodeDialect(language)
