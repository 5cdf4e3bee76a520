"""Official entries whose own answer fails the official checker, or can never pass it, found by asking it.

The answer is given as written: the first accepted value of each argument that is not ``""``, the argument left
out where there is none. Of the 2,501 entries with answers 21 fail so (``bfcl-eval`` 2026.3.23).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgym.envs.bfcl.categories import CATEGORIES, Language
from callgym.envs.bfcl.golds import accepted_values
from callgym.envs.bfcl.official.checker import check

__all__ = ["label_fault", "withheld_fault"]

Answer = Sequence[Mapping[str, Mapping[str, Sequence[Any]]]]


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
        never = "; no call can pass" if _never_passes(answer, documents) else ""
        return f"its own answer, as written, fails the official checker ({verdict.error_type}){never}"
    if language == "java" and _holds_map(answer):
        return "its own answer fails the official checker as text: a map arrives without its entries"
    return None


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


def _holds_map(answer: Answer) -> bool:
    """Whether the reference of some argument is a map with entries."""
    for call in answer:
        for arguments in call.values():
            for accepted in arguments.values():
                reference = next((value for value in accepted if value != ""), None)
                if isinstance(reference, dict) and reference:
                    return True
    return False
