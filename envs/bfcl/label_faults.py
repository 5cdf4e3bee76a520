"""Official entries whose own answer fails the official checker, or can never pass it, found by asking it.

The answer is given as written: the first accepted value of each argument that is not ``""``, the argument left
out where there is none. In Java it is also given as a programmer writes it, for what passes there need not be Java.
Of the 2,501 entries with answers 21 fail so (``bfcl-eval`` 2026.3.23).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callgym.envs.bfcl.categories import CATEGORIES, Language
from callgym.envs.bfcl.code_text import code_texts
from callgym.envs.bfcl.golds import accepted_values
from callgym.envs.bfcl.official.checker import check
from callgym.envs.bfcl.official.value_rules import ArgumentRule

__all__ = ["label_fault", "withheld_fault"]

Answer = Sequence[Mapping[str, Mapping[str, Sequence[Any]]]]

_NOTHING_PASSES = "; no call can pass"
_EMPTY_MAP = "new HashMap<String, Object>()"


def label_fault(answer: Answer, functions: Sequence[Mapping[str, Any]], category: str) -> str | None:
    """A sentence on what is wrong with a single-turn entry's answer by the official rule; None where nothing is.

    Args:
        answer: The official ``ground_truth``.
        functions: The official documents of the entry's functions.
        category: Name of the entry's category.
    """
    language = CATEGORIES[category].language
    documents = {function["name"]: function["parameters"] for function in functions}
    decoded = [_as_written(call, documents, language) for call in answer]
    verdict = check(decoded, answer, functions, category, language=language)
    if not verdict.valid:
        passing = _what_passes(answer, documents, language)
        return f"its own answer, as written, fails the official checker ({verdict.error_type}){passing}"
    return _java_fault(answer, documents) if language == "java" else None


def withheld_fault(turns: Sequence[Sequence[str]], withheld: Mapping[str, int]) -> str | None:
    """A sentence where a multi-turn answer calls a function before the turn that brings it; else None.

    Args:
        turns: The names of the functions that each turn's answer calls.
        withheld: Function to the turn, from 0, that brings it.
    """
    for number, names in enumerate(turns):
        for name in names:
            if number < withheld.get(name, 0):
                return f"its answer calls {name} in turn {number + 1}, which turn {withheld[name] + 1} brings"
    return None


def _as_written(
    call: Mapping[str, Mapping[str, Sequence[Any]]], documents: Mapping[str, Any], language: Language
) -> dict[str, dict[str, Any]]:
    ((name, arguments),) = call.items()
    properties = documents[name]["properties"]
    written = {}
    for parameter, accepted in arguments.items():
        value = next(iter(accepted_values(accepted, properties.get(parameter, {}), language)), None)
        if value is not None or None in accepted:
            written[parameter] = value
    return {name: written}


def _what_passes(answer: Answer, documents: Mapping[str, Any], language: Language) -> str:
    """What is to be added of an answer that fails as written."""
    if _never_passes(answer, documents):
        return _NOTHING_PASSES
    for argument in _java_arguments(answer, documents) if language == "java" else ():
        if not any(map(argument.passes, accepted_values(argument.accepted, argument.documented, "java"))):
            return "; only an empty map passes" if argument.passes(_EMPTY_MAP) else _NOTHING_PASSES
    return ""


def _never_passes(answer: Answer, documents: Mapping[str, Any]) -> bool:
    """Whether an argument is demanded that cannot be given: it has no accepted value, or no document has it."""
    for call in answer:
        for name, arguments in call.items():
            demanded = (parameter for parameter, accepted in arguments.items() if "" not in accepted)
            if any(parameter not in documents[name]["properties"] for parameter in demanded):
                return True
            if any(not arguments.get(parameter) for parameter in documents[name].get("required", ())):
                return True
    return False


def _java_fault(answer: Answer, documents: Mapping[str, Any]) -> str | None:
    """What is wrong with an answer that passes, but not as Java source."""
    for argument in _java_arguments(answer, documents):
        reference = next((value for value in argument.accepted if value != ""), None)
        if isinstance(reference, dict) and reference:
            return "its own answer fails the official checker as text: a map arrives without its entries"
        if isinstance(reference, list) and argument.documented.get("type") == "Array":
            programmers = code_texts(reference, argument.documented, "java")[-1]
            if not argument.passes(programmers):
                return (
                    "its own answer passes the official checker only with an array's texts unquoted, which is no Java"
                )
    return None


class _JavaArgument(NamedTuple):
    """An argument of an answer."""

    documented: Mapping[str, Any]
    accepted: Sequence[Any]

    def passes(self, text: str) -> bool:
        """Whether the official checker takes the text for its value."""
        try:
            return ArgumentRule("", self.documented, self.accepted, "java").fault(text) is None
        except (LookupError, NotImplementedError, TypeError, ValueError):
            return False  # where the official code raises


def _java_arguments(answer: Answer, documents: Mapping[str, Any]) -> Iterator[_JavaArgument]:
    for call in answer:
        for name, arguments in call.items():
            for parameter, accepted in arguments.items():
                documented = documents[name]["properties"].get(parameter)
                if documented is not None:
                    yield _JavaArgument(documented, accepted)
