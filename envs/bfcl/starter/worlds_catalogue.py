"""All starter worlds: which classes go together, and what can be asked for in a dialogue about some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from callgym.envs.bfcl.starter import (
    worlds_files,
    worlds_links,
    worlds_maths,
    worlds_messages,
    worlds_posting,
    worlds_tickets,
    worlds_trading,
    worlds_travel,
    worlds_vehicle,
)
from callgym.envs.bfcl.starter.worlds_script import Script, Writer

__all__ = ["MIXES", "Repertoire", "make_config", "repertoire_of"]

_FILES, _MATHS, _MESSAGES, _POSTING = "GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI"
_TICKETS, _TRADING, _TRAVEL, _VEHICLE = "TicketAPI", "TradingBot", "TravelAPI", "VehicleControlAPI"
MIXES: Mapping[tuple[str, ...], int] = {
    (_FILES,): 6,
    (_VEHICLE,): 7,
    (_TRADING,): 7,
    (_TRAVEL,): 7,
    (_FILES, _MESSAGES): 6,
    (_FILES, _POSTING): 6,
    (_FILES, _TICKETS): 4,
    (_FILES, _MATHS): 6,
    (_VEHICLE, _MESSAGES): 5,
    (_VEHICLE, _POSTING): 5,
    (_VEHICLE, _TICKETS): 4,
    (_VEHICLE, _MATHS): 4,
    (_TRADING, _MESSAGES): 5,
    (_TRADING, _TICKETS): 5,
    (_TRADING, _POSTING): 3,
    (_TRADING, _MATHS): 4,
    (_TRAVEL, _MESSAGES): 5,
    (_TRAVEL, _TICKETS): 5,
    (_TRAVEL, _POSTING): 4,
    (_TRAVEL, _MATHS): 3,
}
"""The classes of a dialogue, and how often they are drawn. One of each has answers that can be padded."""
_WORLDS: Mapping[str, ModuleType] = {
    _FILES: worlds_files,
    _MATHS: worlds_maths,
    _MESSAGES: worlds_messages,
    _POSTING: worlds_posting,
    _TICKETS: worlds_tickets,
    _TRADING: worlds_trading,
    _TRAVEL: worlds_travel,
    _VEHICLE: worlds_vehicle,
}
"""Each has some of: ``make_config``, ``REQUESTS``, ``FOLLOW_UPS``, ``SEARCHES``."""

Weighted = tuple[tuple[int, Writer], ...]


class Repertoire(NamedTuple):
    """What can be asked for in a dialogue about some classes, and how often it is."""

    requests: Weighted
    follow_ups: Weighted
    """What goes on from an earlier turn."""
    searches: Weighted
    """What is to be found in the padding."""


def make_config(script: Script, class_name: str) -> Mapping[str, Any] | None:
    """A class's part of a scenario; None for a class without state."""
    make: Callable[[Script], Mapping[str, Any]] | None = getattr(_WORLDS[class_name], "make_config", None)
    return None if make is None else make(script)


@cache
def repertoire_of(classes: tuple[str, ...]) -> Repertoire:
    """What can be asked for in a dialogue about some classes."""
    return Repertoire(*(_of(classes, kind) for kind in ("REQUESTS", "FOLLOW_UPS", "SEARCHES")))


def _of(classes: tuple[str, ...], kind: str) -> Weighted:
    own = [request for name in classes for request in getattr(_WORLDS[name], kind, ())]
    links: Sequence[tuple[int, tuple[str, ...], Writer]] = {
        "REQUESTS": worlds_links.LINKS,
        "FOLLOW_UPS": worlds_links.FOLLOW_UPS,
        "SEARCHES": worlds_links.SEARCHES,
    }[kind]
    return (*own, *((weight, write) for weight, needed, write in links if set(needed) <= set(classes)))
