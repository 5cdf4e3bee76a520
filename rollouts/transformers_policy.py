"""A transformers model in this process, writing the actions of a whole batch at once::

    policy = TransformersPolicy.from_pretrained("/models/qwen", temperature=0.7)

Prompts are padded on the left, every row draws from a random generator of its own, and finished rows go
on as padding. So a row's text does not depend on its neighbours, but for one thing that no batch can
avoid: floating-point sums round differently in batches of different shape, which can decide between two
tokens that are equally likely to six digits. ``batch_size=1`` avoids that too.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from callgym.dialects import Dialect, get_dialect
from callgym.dialects.chat_template import (
    ChatTemplate,
    contradiction,
    encode_text,
    ends_call,
    no_tools,
)
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.policy import Situation

if TYPE_CHECKING:
    import torch

__all__ = ["TransformersPolicy"]


class TransformersPolicy:
    """Writes actions with a causal language model."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        max_new_tokens: int = 256,
        temperature: float = 0.0,
        top_p: float = 1.0,
        batch_size: int = 16,
        device: str = "auto",
        chat_template: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Use a model that is loaded already; it is not changed, and its training mode is put back.

        Args:
            model: A causal language model of transformers.
            tokenizer: Its tokenizer.
            max_new_tokens: Longest action, in tokens.
            temperature: 0 for the likeliest token each time.
            top_p: Share of the probability that is sampled from.
            batch_size: Most rows in one forward pass.
            device: Where the model goes; ``"auto"``: it stays where it is.
            chat_template: Whether messages go through the tokenizer's chat template, or the text prompt
                is used; None: wherever there is a template that takes tools, as in training. The model then
                writes as the template taught it, so the environment's ``dialect`` has to be that one.
            name: The policy's name; by default from the model's.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: torch is not installed.
        """
        _import_torch()
        _check_options(max_new_tokens, temperature, top_p, batch_size)
        if chat_template and not tokenizer.chat_template:
            raise ConfigurationError("chat_template=True, and the tokenizer has no chat template")
        self.name = name or f"hf:{getattr(model, 'name_or_path', '') or type(model).__name__}"
        self.model = model if device == "auto" else model.to(device)
        self.tokenizer = tokenizer
        self._template = ChatTemplate(tokenizer)
        self._chat = self._template.takes_tools if chat_template is None else chat_template
        self._speaks = chat_template is not False and self._template.exists
        self._max_new_tokens = max_new_tokens
        self._temperature = temperature
        self._top_p = top_p
        self._batch_size = batch_size
        self._ends = _end_tokens(model, tokenizer)
        self._most_prompt_tokens = _context_length(model, tokenizer) - max_new_tokens
        if self._most_prompt_tokens < 1:
            raise ConfigurationError(
                f"max_new_tokens={max_new_tokens} leaves no room for a prompt: the model reads "
                f"{self._most_prompt_tokens + max_new_tokens} tokens"
            )
        self._warned = False
        self._said: set[str] = set()
        self._kept: dict[Dialect, frozenset[int]] = {}

    @classmethod
    def from_pretrained(
        cls,
        path: str,
        *,
        max_new_tokens: int = 256,
        temperature: float = 0.0,
        top_p: float = 1.0,
        batch_size: int = 16,
        device: str = "auto",
        chat_template: bool | None = None,
    ) -> TransformersPolicy:
        """Load model and tokenizer from a folder or the hub.

        Args are those of the class, but for ``device="auto"``, which is the GPU where there is one.

        Raises:
            ConfigurationError: There is no model at ``path``, or an argument has a value it cannot have.
            MissingPackageError: transformers or torch is not installed.
        """
        torch = _import_torch()
        _check_options(max_new_tokens, temperature, top_p, batch_size)
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise MissingPackageError.for_extra("transformers", "train") from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(path)
            model = AutoModelForCausalLM.from_pretrained(path)
        except (OSError, ValueError) as error:
            first = str(error).strip().splitlines()[0]
            raise ConfigurationError(f"no model can be loaded from {path!r}: {first}") from error
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(
            model,
            tokenizer,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            top_p=top_p,
            batch_size=batch_size,
            device=device,
            chat_template=chat_template,
            name=f"hf:{path}",
        )

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """One action each, without the token that ends it."""
        for situation in situations if self._speaks else ():
            self._say_what_may_be_wrong(situation)
        texts = [self._text(situation) for situation in situations]
        prompts = [self._ids(text) for text in texts]
        # Rows of similar length share a batch, so that little of it is padding.
        order = sorted(range(len(prompts)), key=lambda row: len(prompts[row]))
        actions = [""] * len(prompts)
        with _evaluating(self.model):
            for start in range(0, len(order), self._batch_size):
                rows = order[start : start + self._batch_size]
                written = self._generate(
                    [prompts[row] for row in rows],
                    [situations[row].seed for row in rows],
                    [self._ends_calls(situations[row].env.dialect) for row in rows],
                )
                for row, ids in zip(rows, written, strict=True):
                    actions[row] = self.tokenizer.decode(
                        ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
                    )
        # Where the prompt opened the policy's reasoning, that is where its action begins.
        opened = [self._template.opened(text) if self._chat else "" for text in texts]
        return [tag + action for tag, action in zip(opened, actions, strict=True)]

    def close(self) -> None:
        """Nothing to give back: the model is the caller's."""

    def _encode(self, situation: Situation) -> list[int]:
        return self._ids(self._text(situation))

    def _ids(self, text: str) -> list[int]:
        """The prompt's token ids, the oldest cut away where there are too many."""
        ids = self._template.encode(text) if self._chat else encode_text(self.tokenizer, text)
        if len(ids) > self._most_prompt_tokens:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"a prompt of {len(ids)} tokens does not fit: the model reads {self._most_prompt_tokens} beside "
                    f"max_new_tokens={self._max_new_tokens}. Prompts are cut at their beginning; this is said once.",
                    stacklevel=3,
                )
            ids = ids[-self._most_prompt_tokens :]
        return list(ids) or [next(iter(self._ends), 0)]

    def _text(self, situation: Situation) -> str:
        if not self._chat:
            return situation.prompt
        return self._templated(situation, own=situation.given, dialect=situation.env.dialect)

    def _templated(self, situation: Situation, own: int | None = None, dialect: Dialect | None = None) -> str:
        """The prompt through the chat template; from message ``own`` on the assistant's turns are this policy's."""
        try:
            return self._template.render(situation.messages, situation.tools, own=own, dialect=dialect)
        except ConfigurationError as error:
            raise ConfigurationError(f"{error}; use chat_template=False") from error

    def _say_what_may_be_wrong(self, situation: Situation) -> None:
        words = contradiction(self._template, situation.env.dialect)
        if not self._chat:
            words = "; ".join(filter(None, (no_tools(self._template), words)))
        if words and words not in self._said:
            self._said.add(words)
            warnings.warn(f"{self.name}: {words}", stacklevel=3)

    def _ends_calls(self, dialect: Dialect) -> frozenset[int]:
        """The end tokens that are part of a call."""
        if dialect not in self._kept:
            found = self._template.detection.dialect
            writes = get_dialect(found) if found and dialect.name == "auto" else dialect
            kept = (token for token in self._ends if ends_call(self.tokenizer, writes, token))
            self._kept[dialect] = frozenset(kept)
        return self._kept[dialect]

    def _generate(
        self, prompts: list[list[int]], seeds: list[int], kept: Sequence[frozenset[int]] = ()
    ) -> list[list[int]]:
        """Up to ``max_new_tokens`` ids a prompt, the end token cut off.

        Args:
            prompts: The ids that each row begins with.
            seeds: The rows' seeds.
            kept: End tokens of each row that are not cut off.
        """
        torch = _import_torch()
        ids, mask = self._padded(prompts)
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        written: list[list[int]] = [[] for _ in prompts]
        running = [True] * len(prompts)
        forward = _Forward(self.model)
        with torch.no_grad():
            for _ in range(self._max_new_tokens):
                logits = forward(ids, mask, positions)
                chosen = self._choose(logits, generators)
                for row, token in enumerate(chosen):
                    if running[row] and token in self._ends:
                        running[row] = False
                        if kept and token in kept[row]:
                            written[row].append(token)
                    elif running[row]:
                        written[row].append(token)
                if not any(running):
                    break
                ids = torch.tensor(chosen, device=ids.device).unsqueeze(1)
                mask = torch.cat((mask, torch.ones_like(ids)), dim=1)
                positions = positions[:, -1:] + 1
        return written

    def _padded(self, prompts: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and attention mask, both of shape (rows, longest prompt), padded on the left."""
        torch = _import_torch()
        pad = self.tokenizer.pad_token_id
        fill = next(iter(self._ends), 0) if pad is None else pad
        longest = max(map(len, prompts))
        device = next(self.model.parameters()).device
        ids = torch.tensor([[fill] * (longest - len(p)) + p for p in prompts], device=device)
        mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts], device=device)
        return ids, mask

    def _choose(self, logits: torch.Tensor, generators: list[torch.Generator]) -> list[int]:
        """The next token of each row.

        Args:
            logits: Of shape (rows, vocabulary).
            generators: One a row; each gives one number a token, whatever the other rows do.
        """
        if self._temperature == 0:
            greedy: list[int] = logits.argmax(dim=-1).tolist()
            return greedy
        torch = _import_torch()
        probabilities = torch.softmax(logits.cpu().double() / self._temperature, dim=-1)
        tokens = None
        if self._top_p < 1:
            probabilities, tokens = probabilities.sort(dim=-1, descending=True, stable=True)
            before = probabilities.cumsum(dim=-1) - probabilities
            probabilities = probabilities.masked_fill(before >= self._top_p, 0.0)
        heights = probabilities.cumsum(dim=-1)
        drawn = torch.stack([torch.rand(1, generator=g, dtype=torch.float64) for g in generators])
        # `right` skips tokens of probability 0; the last height is the total, which no draw reaches.
        places = torch.searchsorted(heights, drawn * heights[:, -1:], right=True)
        places = places.clamp(max=heights.shape[-1] - 1)
        chosen: list[int] = (places if tokens is None else tokens.gather(1, places)).squeeze(1).tolist()
        return chosen


class _Forward:
    """Forward passes of one batch that remember the keys and values of what was read."""

    def __init__(self, model: Any) -> None:
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        known = inspect.signature(base.forward).parameters
        self._model = model
        # transformers 5 renamed `past_key_values` to `cache` along the way.
        self._memory_name = "cache" if "cache" in known else "past_key_values"
        self._takes_positions = "position_ids" in known
        self._keeps_last = "logits_to_keep" in known
        self._memory: Any = None

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Logits of each row's last position, of shape (rows, vocabulary)."""
        options: dict[str, Any] = {"use_cache": True}
        if self._takes_positions:
            options["position_ids"] = positions
        if self._keeps_last:
            options["logits_to_keep"] = 1
        if self._memory is not None:
            options[self._memory_name] = self._memory
        out = self._model(input_ids=ids, attention_mask=mask, **options)
        self._memory = getattr(out, self._memory_name, None)
        if self._memory is None:
            raise ConfigurationError(f"{type(self._model).__name__} keeps no cache of what it has read")
        last: torch.Tensor = out.logits[:, -1]
        return last


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode for a while; afterwards every module is in the mode it was in."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end an action: the tokenizer's, and those of the model's generation settings."""
    ends: set[int] = set()
    for given in (tokenizer.eos_token_id, getattr(getattr(model, "generation_config", None), "eos_token_id", None)):
        if isinstance(given, int):
            ends.add(given)
        elif given is not None:
            ends.update(given)
    return frozenset(ends)


def _context_length(model: Any, tokenizer: Any) -> int:
    config = model.config.get_text_config()
    known = (getattr(config, "max_position_embeddings", None), tokenizer.model_max_length)
    return min(int(length) for length in known if length)


def _check_options(max_new_tokens: Any, temperature: Any, top_p: Any, batch_size: Any) -> None:
    for name, value in (("max_new_tokens", max_new_tokens), ("batch_size", batch_size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")
    if not 0 <= temperature < float("inf"):
        raise ConfigurationError(f"temperature is a number of at least 0, got {temperature!r}")
    if not 0 < top_p <= 1:
        raise ConfigurationError(f"top_p lies above 0 and not above 1, got {top_p!r}")


def _import_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingPackageError.for_extra("torch", "train") from error
    return torch
