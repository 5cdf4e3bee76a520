"""The record of an episode: enough to read it, to score it again, and to re-run it exactly.

A record holds no wall-clock times: the same id, seed, task and actions give the same bytes on any
machine. Runners report times in their summary.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from callgym.call import ToolCall, ToolResult
from callgym.noun import JsonObject, Noun

__all__ = ["Ending", "Episode", "ParseError", "ParseErrorKind", "Score", "Step"]

ParseErrorKind = Literal["malformed", "truncated", "arguments", "too_long", "repaired"]
Ending = Literal["running", "terminated", "truncated"]


class ParseError(Noun):
    """A call that the policy tried to write and that cannot be read, or only after a repair."""

    kind: ParseErrorKind
    """``malformed`` text, a call that breaks off (``truncated``), ``arguments`` that are not a JSON
    object, or an action over the length limit (``too_long``). ``repaired``: only where a dialect was asked
    to repair; the call was read after small edits, which the message names, and made. It stands among the
    step's calls, too, and counts as a fault of format."""
    position: int = Field(ge=0)
    """Where, in characters from the start of the action."""
    message: str
    """A sentence the policy can act on."""


class Score(Noun):
    """What one reward says of an episode."""

    value: float | None = Field(default=None, ge=0.0, le=1.0)
    """In [0, 1]; None where it does not apply or could not be computed. None is never 0."""
    applies: bool = True
    """False where the task does not ask for what this reward measures."""
    explanation: JsonObject = {}
    """Why: for calls, which gold call was matched and each argument's verdict."""


class Step(Noun):
    """One action and what came of it."""

    action: str
    """The text the policy wrote."""
    turn: int = Field(default=0, ge=0)
    """The user turn that the action belongs to."""
    content: str = ""
    """The action's words beside its calls and reasoning: what the user would read."""
    reasoning: str = ""
    """What was set aside as reasoning; never executed, never scored."""
    calls: tuple[ToolCall, ...] = ()
    """The calls read from the action, arguments typed by their schemas."""
    errors: tuple[ParseError, ...] = ()
    """Attempted calls that could not be read, or only after a repair."""
    results: tuple[ToolResult, ...] = ()
    """One result a call, in order."""
    observation: str = ""
    """The text that came back, without what was shown before."""
    reward: float | None = 0.0
    """This step's share of the return; None where the return could not be computed."""

    @model_validator(mode="after")
    def _one_result_a_call(self) -> Step:
        if self.results and len(self.results) != len(self.calls):
            raise ValueError(
                f"a step has one result a call, in order; here are {len(self.calls)} calls and "
                f"{len(self.results)} results"
            )
        return self


class Episode(Noun):
    """One episode from reset to end."""

    env_id: str
    """The registered id it was played in."""
    task_id: str
    """The task that was played."""
    seed: int
    """``reset(seed=seed, options={"task": task_id})`` starts this very episode again."""
    config: JsonObject = {}
    """The other arguments of ``gym.make`` that shape the episode."""
    data: str = ""
    """Where the task came from: ``starter``, ``official``, ``folder`` or ``given``."""
    prompt: str = ""
    """The first observation."""
    steps: tuple[Step, ...] = ()
    """What happened."""
    ended: Ending = "running"
    """How it ended."""
    state: JsonObject | None = None
    """The backend's state at the end, where the task's goal asks for one."""
    faults: JsonObject | None = None
    """What was injected under ``faults=``: ``counts`` by the fault's name, and the ``log`` of
    ``FaultySession.faults``. None, and left out of the JSON, without that option."""
    rewards: dict[str, Score] = {}
    """Reward name to score, with its explanation."""
    rubric: str = ""
    """Name of the rubric that weighed them."""
    episode_return: float | None = None
    """Sum of the step rewards; None where it could not be computed."""

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        values = super().to_dict()
        if values["faults"] is None:
            del values["faults"]
        return values

    def calls(self, turn: int | None = None) -> list[ToolCall]:
        """All calls of the episode, or those of one user turn."""
        return [call for step in self.steps if turn in (None, step.turn) for call in step.calls]

    @property
    def final_answer(self) -> str:
        """The words of the last action, if it made no call and the episode was not truncated; else the empty string."""
        if self.ended == "truncated" or not self.steps or self.steps[-1].calls or self.steps[-1].errors:
            return ""
        return self.steps[-1].content
