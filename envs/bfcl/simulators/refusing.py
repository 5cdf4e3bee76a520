"""Tools that answer or refuse, whatever they are given and whatever state they find."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from callgym.envs.bfcl.simulators.base import Refusal, Simulator

__all__ = ["refusing"]

_S = TypeVar("_S", bound=Simulator)
_P = ParamSpec("_P")
_NATURAL = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_OUT_OF_RANGE = "(34, 'Numerical result out of range')"


def refusing(simulator: type[_S]) -> type[_S]:
    """Make a class's tools refuse where Python itself complains, with Python's words.

    Official tools look nothing over: a ticket without an id in the scenario, a message whose text is a list, and
    they raise what Python raises, which the official harness shows. So do these, as a ``Refusal``.
    """
    for name, member in list(vars(simulator).items()):
        if callable(member) and not name.startswith("_") and name != "public_state":
            setattr(simulator, name, _refusing(member))
    return simulator


def _refusing(tool: Callable[Concatenate[_S, _P], Any]) -> Callable[Concatenate[_S, _P], Any]:
    @wraps(tool)
    def refusing_tool(self: _S, /, *arguments: _P.args, **named: _P.kwargs) -> Any:
        try:
            return tool(self, *arguments, **named)
        except _NATURAL as error:
            raise Refusal(_words(error)) from error

    return refusing_tool


def _words(error: Exception) -> str:
    if isinstance(error, OverflowError) and len(error.args) > 1:
        return _OUT_OF_RANGE  # the C library's words and number differ between systems; these are Linux's
    return str(error)
