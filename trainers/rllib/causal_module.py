"""A Hugging Face causal language model with a value head, as RLlib's RLModule::

    spec = RLModuleSpec(module_class=CausalLMModule, model_config={"model": "/models/qwen", "tokens": len(tokenizer)})

It reads the windows of a ``TokenEnv``. The distribution over the next token and the value both come from the state of
the last position. Padding is never seen, and padding tokens are never written.

What it costs: in sampling there is no cache of keys and values between steps, so that each token takes a forward pass
over its whole window, trimmed to the longest of the batch. In training, the windows of one episode are prefixes of one
another and come one after the other, so each episode is read once, whatever its number of tokens; not so where the
window has overflowed. Keep windows short, and prefer ``callgym.trainers.trl`` where a model is large.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

from callgym.errors import ConfigurationError, MissingPackageError

try:
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
except ImportError as error:
    raise MissingPackageError.for_extra("ray[rllib]", "ray") from error

__all__ = ["CausalLMModule", "aligned", "load_causal_model", "prefix_leaders"]

_NEVER = -1e9
"""The logit of a token that must not be written: finite, so that entropy and divergence stay finite; its probability is
exactly 0."""


class CausalLMModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Policy and value of one language model; see the module's docstring.

    ``model_config`` has:

    * ``model``: a folder or a name on the hub, a loaded model (copied), or a transformers config (fresh weights);
    * ``tokens``: size of the action space, ``len(tokenizer)``; the model's further rows are padding and left out;
    * ``never``: ids that are never written, such as the padding token; none by default;
    * ``keep_logits``: whether sampling keeps every step's logits, which PPO's KL term needs: 4 bytes a token of the
      vocabulary and step; False by default;
    * ``value_trains_model``: whether the value loss reaches the model, or its head only; False by default;
    * ``rows``: most windows in one forward pass without gradients; 256 by default.
    """

    def setup(self) -> None:
        """Load the model and put a value head of zeros on it."""
        config = self.model_config
        self.model = load_causal_model(config["model"])
        self._tokens: int = config["tokens"]
        self._keep_logits: bool = config.get("keep_logits", False)
        self._value_trains_model: bool = config.get("value_trains_model", False)
        self._rows: int = config.get("rows", 256)
        self.model.eval()
        self._head_is_plain = self._head_gives_logits()
        settings = self.model.config.get_text_config()
        if self._tokens > settings.vocab_size:
            raise ConfigurationError(
                f"the tokenizer has {self._tokens} tokens and the model only {settings.vocab_size}; "
                "they don't belong together"
            )
        window = self.observation_space["tokens"].shape[0]
        longest = getattr(settings, "max_position_embeddings", None)
        if longest is not None and window > longest:
            raise ConfigurationError(f"window={window} is more than the {longest} tokens that the model reads")
        never = torch.zeros(self._tokens, dtype=torch.bool)
        never[list(config.get("never", ()))] = True
        self.register_buffer("never", never, persistent=False)
        self.value_head = torch.nn.Linear(settings.hidden_size, 1)
        torch.nn.init.zeros_(self.value_head.weight)
        torch.nn.init.zeros_(self.value_head.bias)

    def train(self, mode: bool = True) -> CausalLMModule:
        """As usual, but for the model's dropout, which stays off: PPO compares probabilities of one model."""
        super().train(mode)
        self.model.eval()
        return self

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """The logits of the next token, of shape (rows, tokens)."""
        parts = [self._read(part)[0] for part in self._parts(batch[Columns.OBS])]
        return {Columns.ACTION_DIST_INPUTS: torch.cat(parts)}

    def _forward_exploration(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            logits = self._forward(batch)[Columns.ACTION_DIST_INPUTS]
            if self._keep_logits:
                return {Columns.ACTION_DIST_INPUTS: logits}
            # RLlib keeps what a module returns at every step, and a vocabulary of logits is much to keep. Not a number
            # stands in their place, so that whoever reads them all the same gets no wrong numbers.
            distribution = torch.distributions.Categorical(logits=logits, validate_args=False)
            actions = distribution.sample()
            return {
                Columns.ACTIONS: actions,
                Columns.ACTION_LOGP: distribution.log_prob(actions),
                Columns.ACTION_DIST_INPUTS: torch.full((len(actions), 1), torch.nan, device=logits.device),
            }

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        logits, state = self._read(batch[Columns.OBS])
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: state}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """The value of each window, of shape (rows,).

        Args:
            batch: The windows.
            embeddings: The states that ``forward_train`` gave for them; without them, no gradient is kept.
        """
        if embeddings is not None:
            state = embeddings if self._value_trains_model else embeddings.detach()
            return self.value_head(state).squeeze(-1)
        with torch.no_grad():
            parts = [self.value_head(self._read(part)[1]).squeeze(-1) for part in self._parts(batch[Columns.OBS])]
            return torch.cat(parts)

    def _parts(self, observations: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(observations["tokens"]), self._rows):
            yield {name: values[start : start + self._rows] for name, values in observations.items()}

    def _read(self, observations: dict[str, Any]) -> tuple[Any, Any]:
        """Logits of the next token, and the state they come from: (rows, tokens) and (rows, hidden)."""
        tokens, lengths = aligned(observations["tokens"].long(), observations["length"].long().reshape(-1))
        leaders = prefix_leaders(tokens, lengths)
        read, row = leaders.unique(return_inverse=True)
        longest = int(lengths.max())
        inside = torch.arange(longest, device=tokens.device) < lengths[read].unsqueeze(1)
        given = {"input_ids": tokens[read, :longest], "attention_mask": inside.long(), "use_cache": False}
        if self._head_is_plain:
            state = self.model.base_model(**given).last_hidden_state[row, lengths - 1]
            logits = self.model.get_output_embeddings()(state)
        else:
            states, all_logits = self._states_and_logits(given)
            state, logits = states[row, lengths - 1], all_logits[row, lengths - 1]
        return logits[:, : self._tokens].float().masked_fill(self.never, _NEVER), state.float()

    def _states_and_logits(self, given: dict[str, Any]) -> tuple[Any, Any]:
        """What the head is given, and what the model makes of it."""
        held: list[Any] = []
        hook = self.model.get_output_embeddings().register_forward_pre_hook(lambda _, inputs: held.append(inputs[0]))
        try:
            logits = self.model(**given).logits
        finally:
            hook.remove()
        return held[0], logits

    def _head_gives_logits(self) -> bool:
        """Whether logits are the head's output and no more, and need not be computed where no row ends; some models
        scale or bend them."""
        ids = torch.arange(4, device=next(self.model.parameters()).device)[None]
        with torch.no_grad():
            states, logits = self._states_and_logits({"input_ids": ids, "use_cache": False})
            own = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
            return bool(torch.equal(own, states) and torch.equal(self.model.get_output_embeddings()(states), logits))


def aligned(tokens: Any, lengths: Any) -> tuple[Any, Any]:
    """Windows padded on the left as windows padded on the right, which a causal model reads without more ado.

    Args:
        tokens: Shape (rows, window).
        lengths: Shape (rows,); a window without tokens counts as one of one.

    Returns:
        Tokens and lengths of the same shapes; what stands behind a row's tokens is padding and means nothing.
    """
    window = tokens.shape[1]
    lengths = lengths.clamp(min=1)
    places = torch.arange(window, device=tokens.device) + (window - lengths).unsqueeze(1)
    return tokens.gather(1, places.clamp(max=window - 1)), lengths


def prefix_leaders(tokens: Any, lengths: Any) -> Any:
    """For each row, the last of the rows after it, one by one, that go on where the one before ended.

    Args:
        tokens: Shape (rows, window), padded on the right.
        lengths: Shape (rows,).

    Returns:
        Row numbers of shape (rows,): a row is a prefix of its leader.
    """
    rows = torch.arange(len(tokens), device=tokens.device)
    outside = torch.arange(tokens.shape[1], device=tokens.device) >= lengths[:-1, None]
    goes_on = ((tokens[1:] == tokens[:-1]) | outside).all(dim=1) & (lengths[1:] >= lengths[:-1])
    ends = torch.cat((~goes_on, goes_on.new_ones(1)))
    # The next end at or after each row: ends, looked at from behind.
    return torch.where(ends, rows, len(tokens)).flip(0).cummin(0).values.flip(0)


def load_causal_model(source: Any) -> Any:
    """A causal language model of its own: from a folder or the hub, a copy of a loaded one, or a fresh one of a config.

    Raises:
        ConfigurationError: There is no model.
        MissingPackageError: transformers is not installed.
    """
    try:
        from transformers import AutoModelForCausalLM, PretrainedConfig
    except ImportError as error:
        raise MissingPackageError.for_extra("transformers", "train") from error
    if isinstance(source, PretrainedConfig):
        return AutoModelForCausalLM.from_config(source, dtype=torch.float32)
    if isinstance(source, torch.nn.Module):
        copied = copy.deepcopy(source)
        for part in copied.modules():
            # Trainers put a `forward` of their own on a model (accelerate does, for mixed precision). It is bound to
            # that very model, so that a copy would go on to compute with the weights of the original.
            vars(part).pop("forward", None)
        return copied
    if not isinstance(source, (str, os.PathLike)):
        raise ConfigurationError(f"a model is a folder, a loaded model or a config, got {type(source).__name__}")
    try:
        return AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise ConfigurationError(f"no model can be loaded from {str(source)!r}: {first}") from error
