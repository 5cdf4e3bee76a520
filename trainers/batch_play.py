"""A batch of episodes, played to their ends: the model writes for those that wait for it, tools run for the others."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

from callgym.errors import ConfigurationError
from callgym.rollouts.play import PATIENCE_SECONDS, outcomes_for_batch
from callgym.rollouts.stage import Ended, Outcome, Stage, Start, Turn
from callgym.trainers.action_writer import ActionWriter
from callgym.trainers.conversation import Conversation
from callgym.trainers.training_row import Renderers, TrainingRow

__all__ = ["BatchPlay"]


class BatchPlay:
    """Plays the rows of one batch.

    Without ``generation_batch`` the model writes for all that are under way at once, in the batch's order: the same
    tokens are sampled whatever the tools' times. Where several processes write in lockstep each waits for its own
    tools before every round, and a round takes as long as that of the slowest.
    """

    def __init__(
        self,
        stage: Stage,
        writer: ActionWriter,
        renderers: Renderers,
        rows: Sequence[TrainingRow],
        *,
        generation_batch: int | None = None,
        max_episode_tokens: int | None = None,
    ) -> None:
        """Take what plays and what is to be played; rows' keys are their places.

        Args:
            stage: Where the episodes are played; nothing else is under way there.
            writer: What writes actions.
            renderers: How conversations are written.
            rows: The episodes.
            generation_batch: Most conversations that are written for at once.
            max_episode_tokens: An episode whose tokens after the prompt reach this many is truncated.
        """
        self._stage = stage
        self._writer = writer
        self._renderers = renderers
        self._rows = rows
        self._batch = generation_batch or max(1, len(rows))
        self._hurries = generation_batch is not None and not writer.in_lockstep
        self._most = max_episode_tokens
        self._starts: deque[Start] = deque()
        self._ready: dict[int, None] = {}  # in the order in which they became so
        self.waiting_seconds = 0.0
        """Spent waiting for environments while nothing was written."""

    def play(self, starts: Sequence[Start]) -> None:
        """Play every row to its end.

        Raises:
            ConfigurationError: A prompt is longer than the model can read.
        """
        self._starts.extend(starts)
        while True:
            self._collect()
            chosen = (list(self._ready) if self._hurries else sorted(self._ready))[: self._batch]
            agreed = self._writer.agree(len(chosen))
            if agreed:
                self._write([self._rows[key] for key in chosen], agreed)
            elif not self._starts and not self._stage.waiting:
                return

    def _write(self, rows: Sequence[TrainingRow], agreed: int) -> None:
        written = self._writer.write([row.conversation.ids for row in rows], agreed)
        for row in rows:
            del self._ready[row.key]
        self._stage.act([row.act(action, self._renderers) for row, action in zip(rows, written, strict=True)])

    def _collect(self) -> None:
        """Take what comes until a batch is full, or nothing more is to come, or it takes too long."""
        began = time.monotonic()
        patience = PATIENCE_SECONDS if self._hurries else None
        fresh = True
        while fresh:
            self._begin()
            for outcome in outcomes_for_batch(self._stage, self._ready, self._batch, patience, bool(self._starts)):
                self._take(outcome)
            fresh = bool(self._starts) and self._stage.free > 0
        self.waiting_seconds += time.monotonic() - began

    def _begin(self) -> None:
        while self._starts and self._stage.free > 0:
            self._stage.start([self._starts.popleft()])

    def _take(self, outcome: Outcome) -> None:
        row = self._rows[outcome.key]
        if isinstance(outcome, Turn):
            self._go_on(row, outcome)
            return
        self._ready.pop(outcome.key, None)  # it may have been lost while it waited for the model
        row.finish(outcome.episode if isinstance(outcome, Ended) else outcome.failure, min(self._writer.ends))

    def _go_on(self, row: TrainingRow, turn: Turn) -> None:
        if turn.step == 0:
            row.begin(turn, self._renderers)
            self._check_prompt(row)
        elif not row.go_on(turn, self._renderers, self._fits):
            self._stage.truncate([row.key])
            return
        self._ready[row.key] = None

    def _fits(self, conversation: Conversation, more: int) -> bool:
        context = self._writer.context
        if context is not None and len(conversation.ids) + more >= context:
            return False
        return self._most is None or len(conversation.completion_ids) + more < self._most

    def _check_prompt(self, row: TrainingRow) -> None:
        context, length = self._writer.context, len(row.conversation.prompt_ids)
        if context is not None and length >= context:
            raise ConfigurationError(
                f"the prompt of {row.id}, task {row.task_id!r}, has {length} tokens and the model reads {context}; "
                f"leave such tasks out with max_prompt_tokens={context // 2}, say"
            )
