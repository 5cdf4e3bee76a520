"""What replies that pretend to know are filled with."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from callgym.envs.bfcl.starter.single_calls import pick

__all__ = ["made_up"]

_MONTHS = ("January", "March", "May", "June", "August", "October", "November")


def made_up(rng: Random) -> Mapping[str, str]:
    """Figures out of the air.

    Returns:
        ``few`` (2 to 9), ``some`` (11 to 89), ``many`` (120 to 980), ``clock`` (a time) and ``day`` (a date).
    """
    return {
        "few": str(2 + int(rng.random() * 8)),
        "some": str(11 + int(rng.random() * 79)),
        "many": str(120 + 10 * int(rng.random() * 87)),
        "clock": f"{8 + int(rng.random() * 12):02}:{pick(rng, ('05', '20', '35', '50'))}",
        "day": f"{pick(rng, _MONTHS)} {1 + int(rng.random() * 28)}",
    }
