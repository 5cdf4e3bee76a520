"""What the system message of a memory or a web task says: who the assistant is, what memory it has, how to answer.

The words are ours. The official ones can be given as ``wording``, the constants of the official package by name::

    {"MEMORY_AGENT_SETTINGS": {"student": "..."}, "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL": "...{memory_content}",
     "MEMORY_BACKEND_INSTRUCTION_UNIFIED": "...", "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT": "..."}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callgym.envs.bfcl.memory.store import StoreName
from callgym.errors import DataError

__all__ = ["ANSWER_FORM", "answer_form", "memory_message"]

ANSWER_FORM = (
    "When you have the answer, reply with nothing but {'answer': ..., 'context': ...}: under 'answer' the answer in as "
    "few words as it takes, under 'context' one or two sentences on where it comes from. If you could not find it, put "
    "'I do not know' under both. If the question has no answer, put 'I cannot answer this question' under 'answer' and "
    "the reason under 'context'."
)

_ROLES = {
    "student": "You help a university student with their studies and with what is around them.",
    "customer": "You answer the customers of an online shop.",
    "finance": "You assist a senior manager in finance, at work and beyond it.",
    "healthcare": "You accompany a patient from one medical appointment to the next.",
    "notetaker": "You keep somebody's notes, tasks and dates.",
    "beekeeper": "You help a beekeeper run a small apiary.",
    "boatyard": "You assist the owner of a boatyard with orders, people and repairs.",
    "choir": "You organise an amateur choir together with its conductor.",
    "expedition": "You support the leader of a scientific expedition.",
}
_ROLE = "You assist one person over many conversations."

_CORE_AND_ARCHIVAL = (
    "{scenario_setting}\n\n"
    "You remember things from one conversation to the next in two memories, which you keep yourself with your tools. "
    "The core memory is small and is shown to you below. The archival memory is large; what is in it you only see when "
    "you look it up. Note what may be needed later so that it can be found again, and correct what is no longer true."
    "\n\nYour core memory:\n{memory_content}\n"
)
_UNIFIED = (
    "{scenario_setting}\n\n"
    "You remember things from one conversation to the next in one text, which you keep yourself with your tools and "
    "which is shown to you below. Note what may be needed later, and correct what is no longer true."
    "\n\nYour memory:\n{memory_content}\n"
)
_PLACE = re.compile(r"\{(scenario_setting|memory_content)\}")

Wording = Mapping[str, Any]
"""Official constants by name."""


def memory_message(store: StoreName, scenario: str, content: str, wording: Wording | None = None) -> str:
    """The part of the system message that says who the assistant is and what is in its memory.

    Args:
        store: The kind of memory.
        scenario: An official scenario, or one of the starter set's, perhaps numbered (``choir_2``).
        content: The memory as the store shows it.
        wording: Official texts in place of ours, as far as they are in it.

    Raises:
        DataError: A text in ``wording`` is none, or it has no role for the scenario.
    """
    name = "MEMORY_BACKEND_INSTRUCTION_UNIFIED" if store == "rec_sum" else "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL"
    template = _worded(wording, name, _UNIFIED if store == "rec_sum" else _CORE_AND_ARCHIVAL)
    values = {"scenario_setting": _role(scenario, wording), "memory_content": content}
    # In one pass: what a policy has stored may itself hold a placeholder.
    return _PLACE.sub(lambda match: values[match[1]], template)


def answer_form(wording: Wording | None = None) -> str:
    """How the final answer is to be given; raises DataError as ``memory_message`` does."""
    return _worded(wording, "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT", ANSWER_FORM)


def _role(scenario: str, wording: Wording | None) -> str:
    roles = (wording or {}).get("MEMORY_AGENT_SETTINGS")
    if roles is None:
        return _ROLES.get(scenario.rstrip("0123456789").rstrip("_"), _ROLE)
    if not isinstance(roles, Mapping) or not isinstance(roles.get(scenario), str):
        raise DataError(f"the wording's MEMORY_AGENT_SETTINGS has no text for the scenario {scenario!r}")
    return str(roles[scenario])


def _worded(wording: Wording | None, name: str, ours: str) -> str:
    text = (wording or {}).get(name, ours)
    if not isinstance(text, str):
        raise DataError(f"the wording's {name} must be a text, found {type(text).__name__}")
    return text
