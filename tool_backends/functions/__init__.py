"""Plain Python as tools: typed functions and classes, with state of each episode's own, blocking or awaited."""

from callgym.tool_backends.functions.backend import FunctionBackend
from callgym.tool_backends.functions.docstring import Docstring, read_docstring
from callgym.tool_backends.functions.session import FunctionSession
from callgym.tool_backends.functions.tools import tool

__all__ = ["Docstring", "FunctionBackend", "FunctionSession", "read_docstring", "tool"]
