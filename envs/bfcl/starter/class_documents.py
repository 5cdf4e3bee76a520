"""The starter set's tools of the executable classes: the official names and parameters in our own words.

A test holds names, order, types and defaults of the parameters against the simulators' signatures.
"""

from __future__ import annotations

from functools import cache

from callgym.envs.bfcl.starter.class_documents_desk import FILES, MATHS, MESSAGES, TICKETS
from callgym.envs.bfcl.starter.class_documents_form import Document
from callgym.envs.bfcl.starter.class_documents_world import POSTING, TRADING, TRAVEL, VEHICLE
from callgym.envs.bfcl.tools import make_tool
from callgym.errors import ConfigurationError
from callgym.tool import Tool

__all__ = ["CLASS_DOCUMENTS", "starter_class_tools"]

CLASS_DOCUMENTS: dict[str, tuple[Document, ...]] = {
    "GorillaFileSystem": FILES,
    "MathAPI": MATHS,
    "MessageAPI": MESSAGES,
    "TwitterAPI": POSTING,
    "TicketAPI": TICKETS,
    "TradingBot": TRADING,
    "TravelAPI": TRAVEL,
    "VehicleControlAPI": VEHICLE,
}
"""Executable class to the documents of its functions, in the order in which they are shown."""
_ABOUT = {
    "GorillaFileSystem": "Part of a small file system with folders and text files.",
    "MathAPI": "Part of a calculator.",
    "MessageAPI": "Part of a workspace's messages.",
    "TwitterAPI": "Part of an account for short public posts, called tweets.",
    "TicketAPI": "Part of a queue of support tickets.",
    "TradingBot": "Part of an account for trading stocks.",
    "TravelAPI": "Part of a booking service for flights.",
    "VehicleControlAPI": "Part of a car's controls.",
}


@cache
def starter_class_tools(class_name: str) -> tuple[Tool, ...]:
    """The tools of an executable class, in the documents' order.

    Raises:
        ConfigurationError: There is no such class.
    """
    if class_name not in CLASS_DOCUMENTS:
        known = ", ".join(CLASS_DOCUMENTS)
        raise ConfigurationError(f"there are no starter documents of class {class_name!r}; classes: {known}")
    about = _ABOUT[class_name]
    return tuple(make_tool({**d, "description": f"{about} {d['description']}"}) for d in CLASS_DOCUMENTS[class_name])
