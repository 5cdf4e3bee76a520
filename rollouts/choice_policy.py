"""Multiple choice by log-likelihood: a model is not asked what it would say, but how likely each offered reply is::

    policy = get_policy("choices:hf:/models/qwen")
    run_episodes("when2call/mcq-v0", policy)

Source of the rules: lm_eval 0.4.8 (``multiple_choice``, no delimiter). A reply's tokens are those of prompt and reply
that follow as many as the prompt alone has; white space at the prompt's end counts to the reply; a prompt that does
not fit loses its beginning. The prompt is the one of the open form: it does not list the replies.

The action is ``{"loglikelihoods": [...]}``, in nats, in the order of ``env.choices``. A model in float32 gives the
same numbers to 1e-4 whatever else is in the batch; one in half precision rounds as its batches are shaped, which
``batch_size=1`` avoids.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from callgym.chat_server import import_httpx, read_key
from callgym.errors import ConfigurationError
from callgym.rollouts.policy import Situation
from callgym.rollouts.server_policy import _MAX_SHOWN, ServerPolicy, _Connection, _Fault, _Reply, _retry_after
from callgym.rollouts.transformers_policy import TransformersPolicy, _context_length, _evaluating, _import_torch

if TYPE_CHECKING:
    import httpx

__all__ = ["ChoicePolicy", "ServerChoicePolicy"]

_LEAST = -1e30  # what an action says for minus infinity, which JSON cannot
_NEEDS = "log-likelihoods need a /completions endpoint that takes echo=true with logprobs, such as vLLM's"


class _Row(NamedTuple):
    """One prompt with one reply, as tokens."""

    ids: tuple[int, ...]
    start: int
    """Where the reply begins; at least 1."""


class ChoicePolicy:
    """Scores the offered replies with a causal language model, those of many situations at once."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        batch_size: int = 16,
        device: str = "auto",
        chat_template: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Use a model that is loaded already; it is not changed, and its training mode is put back.

        Args:
            model: A causal language model of transformers.
            tokenizer: Its tokenizer.
            batch_size: Most rows in one forward pass; a situation has a row for each reply.
            device: Where the model goes; ``"auto"``: it stays where it is.
            chat_template: Whether the question goes through the tokenizer's chat template, or the
                environment's text prompt is used; None: wherever there is a template.
            name: The policy's name; by default from the model's.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: torch is not installed.
        """
        self._writer = TransformersPolicy(
            model,
            tokenizer,
            max_new_tokens=1,
            batch_size=batch_size,
            device=device,
            chat_template=chat_template,
        )
        self.name = name or f"choices:{self._writer.name}"
        self.model = self._writer.model
        self.tokenizer = tokenizer
        self._batch_size = batch_size
        self._chat = bool(tokenizer.chat_template) if chat_template is None else chat_template
        self._most_tokens = _context_length(model, tokenizer)
        self._keeps_some = _keeps_some(model)
        self._warned = False

    @classmethod
    def from_pretrained(
        cls, path: str, *, batch_size: int = 16, device: str = "auto", chat_template: bool | None = None
    ) -> ChoicePolicy:
        """Load model and tokenizer from a folder or the hub.

        Args are those of the class, but for ``device="auto"``, which is the GPU where there is one.

        Raises:
            ConfigurationError: There is no model at ``path``, or an argument has a value it cannot have.
            MissingPackageError: transformers or torch is not installed.
        """
        loaded = TransformersPolicy.from_pretrained(
            path, max_new_tokens=1, batch_size=batch_size, device=device, chat_template=chat_template
        )
        return cls(
            loaded.model,
            loaded.tokenizer,
            batch_size=batch_size,
            chat_template=chat_template,
            name=f"choices:hf:{path}",
        )

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The log-likelihoods of each situation's replies, as JSON.

        Raises:
            ConfigurationError: An environment offers no replies, a reply is longer than what the model reads, or
                the model gives something that is no number.
        """
        asked: list[list[_Row]] = []
        for situation in situations:
            choices = _choices(situation)
            context = self._context(situation)
            asked.append([self._row(context, choice) for choice in choices])
        # Equal rows are scored once: they tie exactly, in whichever batches they would have been.
        scores = self._score({row for rows in asked for row in rows})
        return [_action([scores[row] for row in rows]) for rows in asked]

    def close(self) -> None:
        """Nothing to give back: the model is the caller's."""

    def _context(self, situation: Situation) -> str:
        if not self._chat:
            return _open_prompt(situation)
        meta: Mapping[str, Any] = situation.env.task.meta
        if "open_messages" not in meta:
            raise ConfigurationError(f"{_id(situation)} has no chat messages without replies; use chat_template=False")
        return self._writer._templated(replace(situation, messages=tuple(meta["open_messages"])))

    def _row(self, context: str, choice: str) -> _Row:
        whole = self._encode(context + choice)
        # Where prompt and reply merge into one token, that token is the reply's.
        start = min(len(self._encode(context.rstrip())), len(whole) - 1)
        if start < 1:
            tokenizer = self.tokenizer
            known = (token for token in (tokenizer.bos_token_id, tokenizer.eos_token_id) if token is not None)
            whole, start = [next(known, 0), *whole], 1
        # The last token is predicted, not read.
        cut = max(0, len(whole) - 1 - self._most_tokens)
        if cut >= start:
            raise ConfigurationError(f"a reply has {len(whole) - start} tokens; the model reads {self._most_tokens}")
        if cut and not self._warned:
            self._warned = True
            warnings.warn(
                f"a prompt with its reply has {len(whole)} tokens, of which the model reads {self._most_tokens}. "
                "Prompts are cut at their beginning; this is said once.",
                stacklevel=3,
            )
        return _Row(tuple(whole[cut:]), start - cut)

    def _encode(self, text: str) -> list[int]:
        begins = self.tokenizer.bos_token
        written_out = self._chat or bool(begins and text.startswith(begins))
        return list(self.tokenizer(text, add_special_tokens=not written_out)["input_ids"])

    def _score(self, rows: Iterable[_Row]) -> dict[_Row, float]:
        torch = _import_torch()
        # Rows of similar length share a batch, so that little of it is padding.
        order = sorted(rows, key=lambda row: (len(row.ids), row))
        scores: dict[_Row, float] = {}
        with _evaluating(self.model), torch.no_grad():
            for first in range(0, len(order), self._batch_size):
                batch = order[first : first + self._batch_size]
                scores.update(zip(batch, self._forward(batch), strict=True))
        return scores

    def _forward(self, rows: Sequence[_Row]) -> list[float]:
        """The log-likelihood of each row's reply, from one pass over rows that are padded on the right."""
        torch = _import_torch()
        device = next(self.model.parameters()).device
        longest = max(len(row.ids) for row in rows) - 1
        padding = [longest - len(row.ids) + 1 for row in rows]
        fill = self.tokenizer.pad_token_id or 0  # masked, and behind all that counts
        ids = torch.tensor([[*row.ids[:-1], *[fill] * pad] for row, pad in zip(rows, padding, strict=True)])
        mask = torch.tensor([[1] * (longest - pad) + [0] * pad for pad in padding])
        options: dict[str, Any] = {}
        kept: Sequence[int] = range(longest)
        if self._keeps_some:  # a prompt's logits would be most of the memory
            kept = sorted({place for row in rows for place in range(row.start - 1, len(row.ids) - 1)})
            options["logits_to_keep"] = torch.tensor(kept, device=device)
        out = self.model(input_ids=ids.to(device), attention_mask=mask.to(device), use_cache=False, **options)
        at = {place: index for index, place in enumerate(kept)}
        totals = []
        for logits, row in zip(out.logits, rows, strict=True):
            first = at[row.start - 1]
            last = at[len(row.ids) - 2]
            # A row's places are consecutive, so what was kept of them is too.
            each = logits[first : last + 1].float().log_softmax(dim=-1)
            reply = torch.tensor(row.ids[row.start :], device=each.device)
            totals.append(each.gather(1, reply.unsqueeze(1)).sum(dtype=torch.float64))
        scores: list[float] = torch.stack(totals).tolist()
        return scores


class ServerChoicePolicy(ServerPolicy):
    """Has a server score the offered replies: prompts go to ``/completions``, to be echoed with log-probabilities.

    One request a situation: the prompt alone, which tells how many tokens it has, and with each of the replies. The
    prompt is text in the environment's dialect; the server's chat template is not used.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        concurrency: int = 8,
        timeout_s: float = 120.0,
        attempts: int = 5,
        backoff_s: float = 0.5,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        """Set the policy up; nothing is sent yet.

        Args are those of ServerPolicy.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            MissingPackageError: httpx is not installed.
        """
        super().__init__(
            model, base_url, concurrency=concurrency, timeout_s=timeout_s, attempts=attempts, backoff_s=backoff_s
        )
        self.url = self.url.removesuffix("/chat/completions") + "/completions"
        self.name = f"choices:{self.name}"
        self._fixed = {
            "temperature": 0, **(extra_body or {}), "model": model, "max_tokens": 0, "echo": True, "logprobs": 1
        }  # fmt: skip

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """The log-likelihoods of each situation's replies, as JSON.

        Raises:
            ConfigurationError: An environment offers no replies.
            ServerError: A request failed for good, or the server does not echo; the others are called off.
        """
        if self._connection is None:
            self._connection = _Connection(read_key())
        replies = self._connection.run(self._ask_all(self._connection, situations))
        return [reply.content for reply in replies]

    def _body(self, situation: Situation) -> dict[str, Any]:
        choices = _choices(situation)
        context = _open_prompt(situation)
        whole = [context + choice for choice in choices]
        return {"prompt": [context.rstrip(), *whole], "seed": situation.seed % 2**31, **self._fixed}

    async def _attempt(self, connection: _Connection, body: dict[str, Any]) -> _Reply | _Fault:
        httpx = import_httpx()
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await connection.client.post(self.url, json=body)
        except TimeoutError:
            return _Fault(f"no reply within {self._timeout_s:g} s", passing=True)
        except httpx.RequestError as error:
            return _Fault(f"{type(error).__name__}: {error}", passing=True)
        if response.is_success:
            return _read_echo(response, body["prompt"])
        status = response.status_code
        words = " ".join(response.text.split())[:_MAX_SHOWN]
        what = f"status {status}: {words}"
        if "echo" in words.lower() or status in (404, 405, 501):
            return _Fault(f"{what} ({_NEEDS})", passing=False)
        return _Fault(what, status == 429 or status >= 500, _retry_after(response))


def _read_echo(response: httpx.Response, prompts: Sequence[str]) -> _Reply | _Fault:
    """The action that the echoes amount to. The first prompt is the others' beginning."""
    shown = " ".join(response.text.split())[:_MAX_SHOWN]
    try:
        choices = sorted(response.json()["choices"], key=lambda choice: choice["index"])
        texts = [choice["text"] for choice in choices]
        echoed = len(texts) == len(prompts) and all(map(_is_echo, texts, prompts))
        if not echoed or any(choice.get("logprobs") is None for choice in choices):
            return _Fault(f"no echo of the prompts with log-probabilities: {shown} ({_NEEDS})", passing=False)
        tokens = [choice["logprobs"]["token_logprobs"] for choice in choices]
        # As in ChoicePolicy: a token in which prompt and reply merge is the reply's.
        replies = [each[min(len(tokens[0]), len(each) - 1) :] for each in tokens[1:]]
        action = _action([math.fsum(_finite(number) for number in each) for each in replies])
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        return _Fault(f"a reply that is no completion ({type(error).__name__}): {shown}", passing=False)
    except ConfigurationError as error:
        return _Fault(f"{error}: {shown}", passing=False)
    return _Reply(action, ())


def _is_echo(text: str, prompt: str) -> bool:
    """Whether the text is the prompt, but for white space, which some tokenizers change."""
    return "".join(text.split()) == "".join(prompt.split())


def _choices(situation: Situation) -> tuple[str, ...]:
    """The replies that the environment offers now."""
    choices: tuple[str, ...] | None = getattr(situation.env, "choices", None)
    if choices is None:
        raise ConfigurationError(
            f"{_id(situation)} offers no replies to score; policies choices:... are for when2call/mcq-v0"
        )
    if not all(choices):
        raise ConfigurationError(f"{_id(situation)} offers an empty reply, which has no log-likelihood")
    return choices


def _open_prompt(situation: Situation) -> str:
    prompt: str = situation.env.open_prompt  # type: ignore[union-attr]  # who offers choices has it
    return prompt


def _id(situation: Situation) -> str:
    return str(getattr(situation.env, "env_id", type(situation.env).__name__))


def _action(scores: Sequence[float]) -> str:
    return json.dumps({"loglikelihoods": [max(_LEAST, _finite(score)) for score in scores]})


def _finite(number: float) -> float:
    """The number, minus infinity as the least that is written."""
    if math.isnan(number) or number == math.inf:
        raise ConfigurationError(f"a log-likelihood is {number}")
    return max(_LEAST, float(number))


def _keeps_some(model: Any) -> bool:
    """Whether the model can be told which positions' logits are wanted."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "logits_to_keep" in inspect.signature(base.forward).parameters
