"""A dialogue in the making: what the user says, the calls that it takes, and the world that they run on.

Writers of requests get a ``Script``, look at its world, and make their calls on it; what a call answers is what the
next one, or a later turn, can be built on. ::

    def fill_tank(script: Script) -> Request:
        amount = script.amount(3, 12)
        script.do("fillFuelTank", fuelAmount=amount)
        return Request(script.say("put {amount} gallons into the tank", amount=amount))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple, TypeVar

from callgym.envs.bfcl.simulators.session import World
from callgym.envs.bfcl.starter.tables import starter_tables

__all__ = ["SPLITS", "Call", "Request", "Script", "Turn", "Unfit", "Writer", "own_items"]

T = TypeVar("T")
SPLITS = ("train", "test")
_EVERY = 4
"""One in so many names belongs to the test split."""
_REFUSALS = (
    "error", "authentication_status", "booking_status", "cancel_status", "follow_status", "insurance_status", "success",
    "unfollow_status",
)  # fmt: skip
"""Fields of an answer that are false, or are there at all, where a call did not do what it should."""
_FORMS = ("{}.", "{}.", "please {}.", "could you {}?", "can you {}?", "I need you to {}.", "I'd like you to {}.")
_MANY_PARTS = re.compile(r';|: [^"]')
"""What makes an order too long for a question."""
_GREETINGS = ("", "", "", "Hi! ", "Hello. ", "Good morning. ", "Good day. ")
_LINKS = ("", "", "", "Thanks. ", "Good. ", "Fine. ", "Great. ")
_RUNNING_ON = ("Next, ", "Now ", "One more thing: ", "And then ")
_RUNS_ON = 0.25
"""The share of orders that go on from the turn before in one breath."""


class Unfit(Exception):
    """A call is refused: what was drawn does not go together, and the dialogue is given up."""


class Call(NamedTuple):
    """A gold call."""

    name: str
    arguments: dict[str, Any]

    def text(self) -> str:
        """As the official files write it."""
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


class Request(NamedTuple):
    """What a user asks for in one turn; the calls are the script's."""

    words: str
    lacking: tuple[str, str] | None = None
    """The same without a value that nothing else tells and that the first call needs, and the words that bring it."""
    withheld: tuple[str, ...] = ()
    """Functions without which there is no way to begin; empty where others could do the same."""


class Turn(NamedTuple):
    """A request and its calls."""

    request: Request
    calls: tuple[Call, ...]


class Script:
    """Everything drawn for one dialogue, and the world as its calls leave it."""

    def __init__(
        self,
        rng: Random,
        split: str,
        classes: Sequence[str],
        long_context: bool,
        make_config: Callable[[Script, str], Mapping[str, Any] | None],
    ) -> None:
        """Draw a scenario and open its world.

        Args:
            rng: All that is random.
            split: ``train`` or ``test``; each has names and phrases of its own.
            classes: The classes that the dialogue is about.
            long_context: Whether answers are padded.
            make_config: Draws a class's part of the scenario; None for a class without state.
        """
        self.rng = rng
        self.split = split
        self.classes = tuple(classes)
        self.long = long_context
        self.facts: dict[str, Any] = {}
        """What is true of the world and not in the scenario's own form; the user knows it."""
        self.told: dict[str, Any] = {}
        """What earlier turns told: the number of an order that was placed, a token that was said."""
        configs = ((name, make_config(self, name)) for name in self.classes)
        self.config = {name: config for name, config in configs if config is not None}
        self.world = World(self.classes, self.config, starter_tables(), long_context)
        self.turns: list[Turn] = []
        self.searched = False
        """Whether a turn needs something that stands in the padding."""
        self._calls: list[Call] = []

    # The world.

    def do(self, name: str, /, **arguments: Any) -> Any:
        """Make a gold call; returns its answer.

        Raises:
            Unfit: It is refused.
        """
        outcome = self.world.run(name, arguments)
        first = outcome.value[0] if isinstance(outcome.value, list) and outcome.value else outcome.value
        if outcome.failed or (isinstance(first, dict) and any(first.get(key, True) is not True for key in _REFUSALS)):
            raise Unfit(f"{name}: {outcome.text[:200]}")
        self._calls.append(Call(name, arguments))
        return outcome.value

    def state(self, class_name: str) -> Any:
        """The instance of a class, to be looked at only."""
        return self.world.instance(class_name)

    def has(self, *classes: str) -> bool:
        """Whether the dialogue is about all of these."""
        return all(name in self.classes for name in classes)

    def play(self, write: Writer) -> bool:
        """Write a turn; false, and no turn, where what is to be written does not go with the world as it is.

        Raises:
            Unfit: A call is refused, or was made for nothing.
        """
        request = write(self)
        if request is None:
            if self._calls:
                raise Unfit(f"{self._calls[-1].name} was called for nothing")
            return False
        turn = Turn(request, tuple(self._calls))
        self._calls = []
        self.turns.append(turn)
        return True

    # Drawing.

    def chance(self, share: float) -> bool:
        """True in a share of all cases."""
        return self.rng.random() < share

    def pick(self, items: Sequence[T]) -> T:
        """One of some items."""
        return items[int(self.rng.random() * len(items))]

    def own(self, items: tuple[str, ...]) -> str:
        """One of those names that belong to this split."""
        return self.pick(own_items(items, self.split))

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """So many different items."""
        return self.rng.sample(items, count)

    def some_own(self, items: tuple[str, ...], count: int) -> list[str]:
        """So many different names of those that belong to this split."""
        return self.rng.sample(own_items(items, self.split), count)

    def amount(self, low: int, high: int, step: float = 0.5) -> float:
        """A number from ``low`` to ``high`` in steps, short when written."""
        return round(low + step * self.rng.randrange(int((high - low) / step) + 1), 2)

    def whole(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``."""
        return self.rng.randrange(low, high + 1)

    # Words.

    def say(self, *templates: str, **values: Any) -> str:
        """One of the ways to say something.

        A template in lower case is an order and gets a frame ("could you ...?"); others are whole sentences. The
        last of three or more is heard in the test split only.
        """
        return self._framed(self._filled(templates, values))

    def tell(self, *templates: str, **values: Any) -> str:
        """As ``say``, without a frame: what supplies a value."""
        return _capital(self._filled(templates, values))

    def _filled(self, templates: Sequence[str], values: Mapping[str, Any]) -> str:
        known = templates[:-1] if self.split == "train" and len(templates) > 2 else templates
        return self.pick(known).format_map({name: _spoken(value) for name, value in values.items()})

    def _framed(self, text: str) -> str:
        is_order = text[0].islower()
        forms = _FORMS[:3] if _MANY_PARTS.search(text) else _FORMS
        sentence = self.pick(forms).format(text) if is_order else text
        if is_order and self.turns and self.chance(_RUNS_ON):
            return self.pick(_RUNNING_ON) + sentence
        return self.pick(_LINKS if self.turns else _GREETINGS) + _capital(sentence)


Writer = Callable[[Script], Request | None]
"""Makes a turn's calls and returns its request; None, and no call, where it does not go with the world as it is."""


@cache
def own_items(items: tuple[str, ...], split: str) -> tuple[str, ...]:
    """Those of some names that belong to a split: every fourth is the test's."""
    if split == "train":
        return tuple(item for place, item in enumerate(items) if place % _EVERY)
    return items[::_EVERY]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _spoken(value: Any) -> Any:
    """Numbers as one writes them by hand: no ``.0``."""
    return int(value) if isinstance(value, float) and value == int(value) else value
