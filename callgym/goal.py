"""What makes an episode right. Benchmarks differ in kind, so a goal is one of several shapes.

A goal says what is asked, never how it is paid: that is a reward's business.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from callgym.call import ToolCall
from callgym.noun import JsonObject, Noun

__all__ = [
    "AllGoal",
    "AnswerGoal",
    "CallsGoal",
    "DecisionGoal",
    "Goal",
    "GoldCall",
    "RankingGoal",
    "StateGoal",
    "TextGoal",
]


class GoldCall(Noun):
    """A call that is asked for, with every value that is accepted for each argument."""

    name: str = Field(min_length=1)
    """The tool."""
    arguments: dict[str, tuple[JsonValue, ...]] = {}
    """Argument name to its accepted values, the reference value first."""
    optional: tuple[str, ...] = ()
    """Arguments that may also be left out."""

    @model_validator(mode="after")
    def _values_and_names(self) -> GoldCall:
        for name, values in self.arguments.items():
            if not values:
                raise ValueError(f"argument {name!r} has no accepted value; give at least the reference")
        unknown = set(self.optional) - self.arguments.keys()
        if unknown:
            raise ValueError(f"optional names {sorted(unknown)} are not among the arguments")
        return self

    @classmethod
    def of(cls, call: ToolCall) -> GoldCall:
        """The gold call that accepts exactly ``call``."""
        return cls(name=call.name, arguments={name: (value,) for name, value in call.arguments.items()})

    def reference(self) -> ToolCall:
        """The call with the first accepted value of each argument."""
        return ToolCall(name=self.name, arguments={k: v[0] for k, v in self.arguments.items()})


class CallsGoal(Noun):
    """Certain calls are to be made, turn by turn."""

    kind: Literal["calls"] = "calls"
    turns: tuple[tuple[GoldCall, ...], ...] = Field(min_length=1)
    """The gold calls of each user turn; a later turn asks for none."""
    ordered: bool = False
    """Whether the calls of a turn must come in this order."""
    scope: Literal["turn", "episode"] = "turn"
    """Whether a call must be made in its turn, or only some time in the episode: a policy that knows
    enough may act before the recorded one did."""
    free: tuple[str, ...] = ()
    """Tools that may be called as often as it takes, neither asked for nor held against the policy: a
    tool search."""
    exemplary: bool = False
    """Whether the calls are one way of several: what is asked for is what they bring about (BFCL's multi-turn
    tasks), and a reward that compares calls is none of the benchmark's."""


class DecisionGoal(Noun):
    """A decision is to be made: call, ask back, decline, or answer directly."""

    kind: Literal["decision"] = "decision"
    decision: Literal["call", "ask", "decline", "answer"]
    reply: str = ""
    """A reference reply, for policies that imitate."""
    free: tuple[str, ...] = ()
    """Tools that may be called before declining: a tool search."""
    missing: tuple[str, ...] = ()
    """For ``ask``: the parameters without a value, one of which a question back must name."""
    worded: bool = False
    """Whether the reply's kind is read from its words. Where it is not, any reply without a call declines."""


class AnswerGoal(Noun):
    """The final answer is to be one of several texts or numbers."""

    kind: Literal["answer"] = "answer"
    accepted: tuple[str | int | float, ...] = Field(min_length=1)
    """Right answers, the reference first."""
    match: Literal["exact", "normalised", "numeric", "contains", "token_f1", "rouge_l"] = "normalised"
    """How an answer is compared; see ``callgym.rewards.answer``. ``token_f1`` and ``rouge_l`` are graded."""
    tolerance: float = Field(default=0.0, ge=0.0)
    """For ``numeric``: the largest relative error that still counts as right."""
    unit_optional: bool = False
    """For ``numeric``, where an accepted answer has a unit ("5 km"): whether the number alone is right too."""
    max_length: int | None = Field(default=None, ge=1)
    """Longest answer that can be right, in characters; for ``contains``, where a longer one lists everything."""
    others: tuple[str | int | float, ...] = ()
    """For ``contains``: values that a right answer has no need to state; one that states several of them lists
    candidates."""


class StateGoal(Noun):
    """The backend is to be left in a certain state."""

    kind: Literal["state"] = "state"
    state: JsonObject
    """The state after the gold calls."""


class RankingGoal(Noun):
    """Candidates are to be put in order."""

    kind: Literal["ranking"] = "ranking"
    relevance: dict[str, float]
    """Candidate id to graded relevance."""


class TextGoal(Noun):
    """The reply is to be close to a reference text."""

    kind: Literal["text"] = "text"
    reference: str


class AllGoal(Noun):
    """Several goals at once: calls and a final answer, say."""

    kind: Literal["all"] = "all"
    goals: tuple[CallsGoal | DecisionGoal | AnswerGoal | StateGoal | RankingGoal | TextGoal, ...] = Field(min_length=1)


Goal = Annotated[
    CallsGoal | DecisionGoal | AnswerGoal | StateGoal | RankingGoal | TextGoal | AllGoal,
    Field(discriminator="kind"),
]
