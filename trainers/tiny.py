"""A small policy made on the spot: a tokenizer trained on an environment's own text, and a transformer.

For demos, tests and CI, where nothing can be downloaded and a step must take milliseconds. The recipe was
measured: weights start wide (0.08; at the usual 0.02 a model this small does not learn to copy arguments
within minutes), digits are single tokens so that dates and tokens can be copied in pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callgym.errors import MissingPackageError

__all__ = ["TinyPolicyConfig", "build_tiny_policy"]

_PAD, _END = "<pad>", "<end>"


@dataclass(frozen=True, slots=True)
class TinyPolicyConfig:
    """Size of the policy."""

    vocabulary: int = 2_000
    """Tokens of the byte-level BPE."""
    hidden: int = 192
    """Width."""
    layers: int = 4
    """Depth."""
    heads: int = 6
    """Attention heads."""
    context: int = 2_048
    """Longest sequence, in tokens."""
    initializer_range: float = 0.08
    """Standard deviation of the first weights."""
    seed: int = 0
    """Seed of the first weights."""


def build_tiny_policy(texts: Iterable[str], config: TinyPolicyConfig) -> tuple[Any, Any]:
    """Train a tokenizer on ``texts`` and make a Llama model with fresh weights.

    Args:
        texts: Prompts and actions as the policy will see them.
        config: The sizes.

    Returns:
        The transformers model and tokenizer.

    Raises:
        MissingPackageError: transformers is not installed.
    """
    try:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError as error:
        raise MissingPackageError.for_extra("transformers", "train") from error
    tokenizer = _train_tokenizer(texts, config.vocabulary)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=config.hidden,
                intermediate_size=config.hidden * 3,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.heads,
                max_position_embeddings=config.context,
                initializer_range=config.initializer_range,
                tie_word_embeddings=True,
                pad_token_id=tokenizer.pad_token_id,
                bos_token_id=None,
                eos_token_id=tokenizer.eos_token_id,
            )
        )
    return model, tokenizer


def _train_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[_PAD, _END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=_PAD,
        eos_token=_END,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
