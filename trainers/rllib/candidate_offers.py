"""What is offered to a policy that chooses: the oracle's action among look-alikes.

The right action is *always* on offer, so what is learned is to rank and not to write. An offer is made so that the
right one cannot be told without reading the conversation:

- Beside the right call stand other calls (another tool of the task, another task's call), and small mistakes
  (``callgym.trainers.mutations``) are made in any of them, in mistakes as well: what most others resemble is not
  right more often than it must be.
- Where a call is due, as many candidates are words (a refusal, "Done.", a question, an answer, another task's reply)
  as where words are due, and the oracle's stock phrases are on offer everywhere.
- The order is random.

A look-alike is not judged: it is never the right action over again, but it may be right in another way, or partly
right, and is paid whatever the environment pays.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from callgym.call import ToolCall
from callgym.goal import AnswerGoal, DecisionGoal, TextGoal
from callgym.task import Task
from callgym.trainers.mutations import KINDS, TIE_KINDS, Decision, Die, ValuePool

__all__ = ["Offer", "ReplyPool", "make_offer", "pools_of"]

_STOCK = ("None of the tools can do that.", "Done.")
"""What the oracle says where a task gives no words of its own; in every offer, or its presence would give it away."""
_WORDS = (
    "Could you tell me more about what you need?",
    "Which one do you mean?",
    "I need some details first: for what day is it?",
    "Sorry, I cannot help with this.",
    "That is not something my tools can do.",
    "Here you are, that is all I found.",
    "The answer is yes.",
    "It was 42 the last time I looked.",
    "Thank you, I will see to it later.",
    "What you ask for has been done already.",
)
_OTHERWISE = frozenset(("refusal_instead", "call_instead", "call_plus_refusal"))  # words are offered anyhow
_MISTAKES = tuple(kind for name, kind in KINDS.items() if name not in _OTHERWISE | TIE_KINDS)
_WORDS_OF_EIGHT = 3  # candidates of eight that are words
_DRAWS = 6  # tries for each candidate; few tasks leave room for every mistake
_POOLS = 8


class ReplyPool:
    """Words that the tasks of a split want to hear."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.replies = tuple(dict.fromkeys(reply for task in tasks if (reply := _reply(task))))
        """Reference replies, each once, in the order of the tasks."""


def _reply(task: Task) -> str:
    decision, text, answer = task.goal_of(DecisionGoal), task.goal_of(TextGoal), task.goal_of(AnswerGoal)
    if text is not None:
        return text.reference
    if answer is not None:
        return str(answer.accepted[0])
    return decision.reply if decision is not None else ""


# A memo of a pure function of the tasks: the environments of a process share them, and an entry keeps its tasks, so
# that their id stays their own.
_pools: OrderedDict[int, tuple[Sequence[Task], ValuePool, ReplyPool]] = OrderedDict()


def pools_of(tasks: Sequence[Task]) -> tuple[ValuePool, ReplyPool]:
    """Values, calls and replies of all these tasks."""
    found = _pools.get(id(tasks))
    if found is None:
        found = _pools[id(tasks)] = (tasks, ValuePool(tasks), ReplyPool(tasks))
        if len(_pools) > _POOLS:
            _pools.popitem(last=False)
    return found[1], found[2]


@dataclass(frozen=True, slots=True)
class Offer:
    """The candidates at one decision."""

    texts: tuple[str, ...]
    """Different actions in the environment's dialect, in random order; fewer than were asked for where no more could
    be made."""
    gold: int
    """Which one is the oracle's."""


def make_offer(decision: Decision, replies: ReplyPool, count: int, die: Die) -> Offer:
    """Up to ``count`` candidates, the right action among them.

    Args:
        decision: Where the episode stands, and the right action there.
        replies: Words of the other tasks.
        count: Most candidates, at least 2.
        die: Every choice is made by it.
    """
    offer = _Growing(decision, die)
    words = max(1, count * _WORDS_OF_EIGHT // 8)
    if decision.calls:
        offer.add_words(replies, words)
        offer.add_calls(count)
    else:
        offer.add_words(replies, words - 1)
        offer.add_calls(count)
    offer.add_words(replies, count - len(offer.texts))
    order = die.order(len(offer.texts))
    return Offer(tuple(offer.texts[place] for place in order), order.index(0))


@dataclass
class _Growing:
    """An offer under way; the right action comes first."""

    decision: Decision
    die: Die
    texts: list[str] = field(init=False)
    calling: list[Decision] = field(init=False)
    """The candidates that call, each as the decision it would be right for."""

    def __post_init__(self) -> None:
        self.texts = [self.decision.action]
        self.calling = [self.decision] if self.decision.calls else []

    def add_words(self, replies: ReplyPool, count: int) -> None:
        """Up to ``count`` replies without a call: the stock ones, then others."""
        goal = len(self.texts) + count
        for text in _STOCK:
            if len(self.texts) < goal:
                self._add(self.decision.write((), text))
        for _ in range(_DRAWS * count):
            if len(self.texts) >= goal:
                return
            pool = replies.replies if replies.replies and self.die.below(2) else _WORDS
            self._add(self.decision.write((), self.die.pick(pool)))

    def add_calls(self, count: int) -> None:
        """Calls until there are ``count`` candidates: one beside the right one at least, then mistakes in any."""
        rivals = 1 if self.decision.calls else 2
        for _ in range(_DRAWS * count):
            if len(self.texts) >= count:
                return
            if rivals > 0 or not self.calling or self.die.below(4) == 0:
                rivals -= self._add_rival()
            else:
                text = self.die.pick(_MISTAKES)(self.die.pick(self.calling), self.die)
                if text is not None:
                    self._add(text)

    def _add_rival(self) -> bool:
        """A call of its own kind: of another tool, or as another task makes it."""
        if self.decision.calls and self.die.below(2):
            text = KINDS["wrong_tool"](self.decision, self.die)
            return text is not None and self._add(text)
        pool = self.decision.pool
        here = [name for name in self.decision.tools if pool.calls(name)]
        names = here if here and self.die.below(4) else pool.tools
        calls = pool.calls(self.die.pick(names)) if names else []
        return bool(calls) and self._add(self.decision.write((self.die.pick(calls),)))

    def _add(self, text: str) -> bool:
        """Take a candidate, unless it is there already or does what the right action does."""
        if text in self.texts:
            return False
        parsed = self.decision.dialect.parse(text)
        if self.decision.calls and not parsed.errors and _signature(parsed.calls) == _signature(self.decision.calls):
            return False
        self.texts.append(text)
        if parsed.calls and not parsed.errors:
            gold = (None,) * len(parsed.calls)
            self.calling.append(dataclasses.replace(self.decision, action=text, calls=parsed.calls, gold=gold))
        return True


def _signature(calls: Sequence[ToolCall]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Calls without their order, and values as text, since some dialects have no other."""
    return sorted((call.name, sorted((name, str(v)) for name, v in call.arguments.items())) for call in calls)
