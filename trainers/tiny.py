"""A small policy made on the spot: a tokenizer trained on an environment's own text, and a transformer.

For demos, tests and CI, where nothing can be downloaded and a training step must take a tenth of a second.
Filling in a call is mostly copying: names, dates and tokens from the conversation. A transformer learns to
copy only after a long plateau, so three measures (each was measured; without them the plateau outlasts the
demo) let it start beside it: the blocks begin as the identity (output projections are zero), one head of
the first layer begins by looking one token back, and the first rows to train on are copies of random tokens.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from callgym.errors import MissingPackageError

__all__ = ["TinyPolicyConfig", "build_tiny_policy", "copy_rows"]

_PAD, _END = "<pad>", "<end>"
_IGNORED = -100
_SPECIAL_TOKENS = 2
_LOOK_BACK_SHARPNESS = 60.0


@dataclass(frozen=True, slots=True)
class TinyPolicyConfig:
    """Size of the policy."""

    vocabulary: int = 1_000
    """Tokens of the byte-level BPE; digits are single tokens, so that dates can be copied in pieces."""
    hidden: int = 128
    """Width."""
    layers: int = 2
    """Depth."""
    heads: int = 2
    """Attention heads; wide heads learn to compare tokens sooner."""
    context: int = 2_048
    """Longest sequence, in tokens."""
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
                attention_bias=True,
                tie_word_embeddings=True,
                pad_token_id=tokenizer.pad_token_id,
                bos_token_id=None,
                eos_token_id=tokenizer.eos_token_id,
            )
        )
        _prepare_for_copying(model)
    return model, tokenizer


def copy_rows(vocabulary: int, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Rows of random tokens that come twice, the second time to be predicted: ``input_ids`` and ``labels``.

    Args:
        vocabulary: Number of tokens.
        count: Number of rows.
        seed: Seed of the rows.
    """
    rng = random.Random(f"copy-{seed}")
    for _ in range(count):
        segment = [rng.randrange(_SPECIAL_TOKENS, vocabulary) for _ in range(rng.randrange(8, 40))]
        between = [rng.randrange(_SPECIAL_TOKENS, vocabulary) for _ in range(rng.randrange(20))]
        known = segment + between + segment[:1]
        yield {"input_ids": known + segment[1:], "labels": [_IGNORED] * len(known) + segment[1:]}


def _prepare_for_copying(model: Any) -> None:
    import torch

    width = model.config.hidden_size
    with torch.no_grad():
        # Small beside what a block will write: at 0.05 and a width of 192 the plateau came back.
        model.model.embed_tokens.weight.normal_(0.0, 4.0 / width)
        for layer in model.model.layers:
            attention = layer.self_attn
            attention.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
            for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
                projection.weight.normal_(0.0, width**-0.5)
        _look_one_token_back(model.model.layers[0].self_attn, model.config)


def _look_one_token_back(attention: Any, config: Any) -> None:
    """Bias head 0 so that, under rotary positions, its score is greatest at the token before."""
    import torch

    size = config.hidden_size // config.num_attention_heads
    half = size // 2
    frequencies = config.rope_parameters["rope_theta"] ** (-torch.arange(0, size, 2).float() / size)
    strength = math.sqrt(_LOOK_BACK_SHARPNESS * math.sqrt(size) / half)
    with torch.no_grad():
        for projection in (attention.q_proj, attention.k_proj):
            projection.bias.zero_()
            projection.weight[:size] *= 0.1
        attention.q_proj.bias[:half] = strength
        attention.k_proj.bias[:half] = strength * torch.cos(frequencies)
        attention.k_proj.bias[half:size] = strength * torch.sin(frequencies)


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
