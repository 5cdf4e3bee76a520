"""A question back for parameters, in words and by their names."""

from __future__ import annotations

from collections.abc import Mapping

from callgym.envs.perturbations.english import noun_phrase
from callgym.envs.perturbations.words import spoken, words_in

__all__ = ["question"]


def question(missing: Mapping[str, str], number: bool = False) -> str:
    """``Could you please tell me the weight (arg_2)?``

    Args:
        missing: The parameters, each with the name that says what it is, which may be another where it was renamed.
        number: Whether numbers are asked for.
    """
    parts = []
    for name, telling in missing.items():
        label = spoken(telling).split()
        phrase = noun_phrase(label, number) or " ".join(label)
        parts.append(phrase if set(words_in(name)) <= set(phrase.split()) else f"{phrase} ({name})")
    return f"Could you please tell me the {' and the '.join(parts)}?"
