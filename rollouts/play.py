"""Playing: a policy on a stage. While the policy writes for some episodes, the tools of others run."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence, Sized
from dataclasses import replace

from callgym.errors import ConfigurationError
from callgym.rollouts.policy import Policy, Transcript
from callgym.rollouts.stage import Act, Ended, Failed, Stage, Start, StepTimes, Turn

__all__ = ["PATIENCE_SECONDS", "outcomes_for_batch", "play"]

PATIENCE_SECONDS = 0.2
"""How long the first batch, where it is not full, waits for episodes whose tools run."""


def play(
    stage: Stage, policy: Policy, starts: Iterator[Start | None], batch_size: int, patience: float | None = None
) -> Iterator[Ended | Failed]:
    """Each episode's end, as it comes, with the times of its steps.

    The policy gets as many situations as ``batch_size`` at once, and fewer only where no more are to come or they take
    longer than ``patience``. With more seats than that, generation and tools overlap. Which situations share a batch
    depends on the clock where tools wait; no action depends on its neighbours, so no episode does.

    Args:
        stage: Where the episodes are played.
        policy: What acts.
        starts: The episodes, drawn one by one as seats become free. None says that there is none for now; where
            nothing is under way, the iterator waits for the next instead.
        batch_size: Most situations in one ``policy.act``.
        patience: Most seconds that the policy waits for a full batch; by default as long as it took to write the last
            one: whatever comes then, that is never more than twice the least.

    Raises:
        ConfigurationError: The policy gave no action for each situation, or the stage was closed meanwhile.
    """
    seeds: dict[int, int] = {}
    transcripts: dict[int, Transcript] = {}
    written: dict[int, tuple[str, float]] = {}
    times: dict[int, list[StepTimes]] = {}
    ready: dict[int, None] = {}  # in the order in which they became so
    more = True
    took = PATIENCE_SECONDS
    while True:
        fresh = True
        while more and fresh and stage.free > 0:
            try:
                following = next(starts)
            except StopIteration:
                more = False
                break
            if following is None:
                fresh = False
                break
            seeds[following.key] = following.seed
            stage.start([following])
        wait = took if patience is None else patience
        for outcome in outcomes_for_batch(stage, ready, batch_size, wait, more):
            key = outcome.key
            if isinstance(outcome, Turn):
                if outcome.step == 0:
                    transcripts[key] = Transcript(outcome, seeds[key])
                    times[key] = []
                else:
                    action, seconds = written.pop(key)
                    transcripts[key].add(action, outcome)
                    times[key].append((seconds, outcome.seconds))
                ready[key] = None
                continue
            ready.pop(key, None)  # it may have been lost while it waited for the policy
            transcripts.pop(key, None)
            del seeds[key]
            yield _timed(outcome, times.pop(key, None), written.pop(key, None))
        if more and fresh and stage.free > 0:
            continue
        if not ready:
            if stage.waiting or (more and stage.free > 0):
                continue
            if more:
                raise ConfigurationError("no more episodes can be played here: the stage was closed")
            return
        batch = list(itertools.islice(ready, batch_size))
        for key in batch:
            del ready[key]
        began = time.perf_counter()
        actions = policy.act([transcripts[key].situation() for key in batch])
        took = time.perf_counter() - began
        if len(actions) != len(batch):
            raise ConfigurationError(
                f"policy {policy.name!r} gave {len(actions)} actions for {len(batch)} situations; act() "
                "returns one for each, in order"
            )
        written.update((key, (action, took)) for key, action in zip(batch, actions, strict=True))
        stage.act([Act(key, action) for key, action in zip(batch, actions, strict=True)])


def _timed(
    outcome: Ended | Failed, times: Sequence[StepTimes] | None, last: tuple[str, float] | None
) -> Ended | Failed:
    """An episode's end with the times of its steps; as it is where it was played elsewhere, by another ``play``."""
    if isinstance(outcome, Failed) or times is None or last is None:
        return outcome
    return replace(outcome, times=(*times, (last[1], outcome.seconds)))


def outcomes_for_batch(
    stage: Stage, ready: Sized, batch_size: int, patience: float | None, more: bool
) -> Iterator[Turn | Ended | Failed]:
    """What comes of a stage until a batch is full, or nothing more is to come, or it takes too long.

    Args:
        stage: Where the episodes are played.
        ready: Episodes that wait for an action; who takes the outcomes adds to it.
        batch_size: How many fill a batch.
        patience: Most seconds to wait for more once there is one; no limit where None.
        more: Whether other episodes wait for a seat: then what ends an episode ends this, too, so that they begin.
    """
    until = None
    while len(ready) < batch_size and stage.waiting:
        if until is None and patience is not None and ready:
            until = time.monotonic() + patience
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            return
        ended = False
        for outcome in stage.outcomes(left):
            ended = ended or not isinstance(outcome, Turn)
            yield outcome
        if ended and more:
            return
