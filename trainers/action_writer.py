"""A TRL trainer's model as what writes actions: tokens in, tokens out, one call of the generator for a whole batch.

Where several processes train together the generator may gather inside: from weights that are spread over them (FSDP,
ZeRO-3), for a vLLM server that all share, or in a vLLM that several hold together. So it has to be called equally often
by each, and by the latter two with equally many prompts. ``in_lockstep`` is True then; before each ``write`` all
processes ``agree``, and one that has nothing more to write gets a prompt made up for it, whose answer is thrown away.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callgym.errors import ConfigurationError

__all__ = ["ActionWriter", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """An action as the model wrote it."""

    ids: list[int]
    """The tokens that were sampled."""
    logprobs: list[float | None] | None
    """As long as ``ids``; None where the generator gives none."""
    ended: int | None
    """The token that ended it, which is the last of ``ids``; None where there is none."""
    cut: bool
    """Whether a limit of tokens stopped it: the one for an action, or the model's context."""


class ActionWriter:
    """Writes with a trainer's model, by the trainer's own generation settings."""

    def __init__(self, trainer: Any, tokenizer: Any) -> None:
        self._trainer = trainer
        self._tokenizer = tokenizer
        accelerator = getattr(trainer, "accelerator", None)
        self.in_lockstep = accelerator is not None and accelerator.num_processes > 1
        """Whether other processes write at the same time."""
        self.ends = {tokenizer.eos_token_id, *getattr(trainer, "eos_token_ids", ())}
        """Tokens that end an action."""
        self.context = _context_of(trainer)
        """Most tokens of a conversation, as far as it is known."""
        self.seconds = 0.0
        """Spent in generation so far."""
        self._most = getattr(trainer, "max_completion_length", None)
        self._equal_sizes = self.in_lockstep and _slices_by_size(trainer)

    def agree(self, wanted: int) -> int:
        """The most prompts that any process has to write for; 0 where all are done."""
        if not self.in_lockstep:
            return wanted
        import torch

        accelerator = self._trainer.accelerator
        here = torch.tensor([wanted], device=accelerator.device)
        return int(accelerator.gather(here).max())

    def write(self, conversations: Sequence[list[int]], agreed: int) -> list[Written]:
        """The next action of each conversation.

        Args:
            conversations: The tokens of each so far.
            agreed: What ``agree`` gave.

        Raises:
            ConfigurationError: The generator gave more or fewer actions than were asked for.
        """
        prompts = list(conversations)
        missing = agreed - len(prompts) if self._equal_sizes else int(self.in_lockstep and not prompts)
        prompts += [[self._tokenizer.eos_token_id]] * missing
        began = time.monotonic()
        # One generation of each prompt: a vLLM server that is told of several keeps one prompt of so many.
        ids, logprobs = self._trainer._generate_single_turn(prompts, None, {}, 1)
        self.seconds += time.monotonic() - began
        if len(ids) != len(prompts):
            raise ConfigurationError(f"the generator gave {len(ids)} completions for {len(prompts)} prompts")
        return [
            self._read(conversations[row], list(ids[row]), None if logprobs is None else list(logprobs[row]))
            for row in range(len(conversations))
        ]

    def _read(self, conversation: list[int], ids: list[int], logprobs: list[float | None] | None) -> Written:
        ended = ids[-1] if ids and ids[-1] in self.ends else None
        full = self._most is not None and len(ids) >= self._most
        full = full or (self.context is not None and len(conversation) + len(ids) >= self.context)
        return Written(ids, logprobs, ended, cut=ended is None and full)


def _slices_by_size(trainer: Any) -> bool:
    """Whether each process finds its answers among those of all by how many prompts it had itself."""
    vllm = getattr(trainer, "vllm_generation", None)
    return vllm is not None and (vllm.mode == "server" or vllm.tensor_parallel_size > 1)


def _context_of(trainer: Any) -> int | None:
    """The longest conversation that the model, or the vLLM that stands in for it, can read."""
    vllm = getattr(trainer, "vllm_generation", None)
    given = getattr(vllm, "max_model_length", None)
    config = getattr(getattr(trainer, "model", None), "config", None)
    if config is not None and hasattr(config, "get_text_config"):
        config = config.get_text_config()
    known = [given, getattr(config, "max_position_embeddings", None)]
    return min((limit for limit in known if isinstance(limit, int) and limit > 0), default=None)
