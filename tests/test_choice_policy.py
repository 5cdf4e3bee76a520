"""Policies that score offered replies: against one token at a time, and against a stub server."""

from __future__ import annotations

import json
import math
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from callgym.envs.base import make_tool_env
from callgym.errors import ConfigurationError
from callgym.rollouts import choice_policy
from callgym.rollouts.choice_policy import ChoicePolicy, ServerChoicePolicy
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.runner import run_episodes
from callgym.rollouts.server_policy import ServerError

QUESTION = "<|im_start|>user\nWhat is 7 plus 3?<|im_end|>\n<|im_start|>assistant\n"
REPLIES = ("It is 10.", '{"name": "Add", "arguments": {"x": 7, "y": 3}}', "Which numbers do you mean?", "I cannot.")


def offer(prompt: str = QUESTION, choices: tuple[str, ...] = REPLIES, messages: Any = None) -> Situation:
    meta = {} if messages is None else {"open_messages": messages}
    env: Any = SimpleNamespace(
        env_id="stub/mcq-v0", open_prompt=prompt, choices=choices, task=SimpleNamespace(meta=meta)
    )
    return Situation(env, "", f"{prompt}\nA. B. C. D.", ({"role": "user", "content": "A. B. C. D."},), (), 0)


def offers_of_many_lengths() -> list[Situation]:
    return [
        offer(QUESTION[: 3 + 9 * index] + "é" * (index % 3), tuple(reply * (1 + index % 3) for reply in REPLIES))
        for index in range(8)
    ]


def env_of(situation: Situation) -> Any:
    return situation.env


def read(action: str) -> list[float]:
    value = json.loads(action)
    assert list(value) == ["loglikelihoods"]
    return list(value["loglikelihoods"])


# transformers.


@pytest.fixture(scope="module")
def tiny() -> Iterator[tuple[Any, Any]]:
    """A random Llama that reads 256 tokens, and a tokenizer of bytes and a few words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "<end>", "<begin>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator([QUESTION, *REPLIES, "understand understanding"] * 4, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<end>")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more only wait for each other on a model of this size
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=256, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
    )  # fmt: skip
    yield transformers.LlamaForCausalLM(config).float(), tokenizer
    torch.set_num_threads(threads)


def one_at_a_time(model: Any, tokenizer: Any, context: str, choice: str, most: int = 256) -> float:
    """The plain rule: each token of the reply, given all before it."""
    import torch

    known = len(tokenizer(context.rstrip())["input_ids"])
    ids = tokenizer(context + choice)["input_ids"]
    total = 0.0
    window = ids[-(most + 1) :]
    start = known - (len(ids) - len(window))
    model.eval()
    with torch.no_grad():
        for place in range(start, len(window)):
            logits = model(torch.tensor([window[:place]])).logits[0, -1].double()
            total += float(torch.log_softmax(logits, dim=-1)[window[place]])
    return total


@pytest.mark.parametrize("batch_size", [1, 3, 16, 100])
def test_the_numbers_are_those_of_one_token_at_a_time(tiny: tuple[Any, Any], batch_size: int) -> None:
    situations = offers_of_many_lengths()
    policy = ChoicePolicy(*tiny, batch_size=batch_size)
    for situation, action in zip(situations, policy.act(situations), strict=True):
        expected = [one_at_a_time(*tiny, env_of(situation).open_prompt, choice) for choice in env_of(situation).choices]
        assert read(action) == pytest.approx(expected, abs=1e-4)


def test_neighbours_change_nothing(tiny: tuple[Any, Any]) -> None:
    situations = offers_of_many_lengths()
    together = [read(action) for action in ChoicePolicy(*tiny, batch_size=7).act(situations)]
    alone = [read(ChoicePolicy(*tiny).act([situation])[0]) for situation in situations]
    backwards = [read(action) for action in ChoicePolicy(*tiny, batch_size=5).act(situations[::-1])][::-1]
    for row, numbers in enumerate(together):
        assert numbers == pytest.approx(alone[row], abs=1e-4)
        assert numbers == pytest.approx(backwards[row], abs=1e-4)


def test_a_model_that_gives_all_logits_gives_the_same_numbers(
    tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    situations = offers_of_many_lengths()
    some = ChoicePolicy(*tiny).act(situations)
    monkeypatch.setattr(choice_policy, "_keeps_some", lambda model: False)
    every = ChoicePolicy(*tiny).act(situations)
    for a, b in zip(some, every, strict=True):
        assert read(a) == pytest.approx(read(b), abs=1e-4)


@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_equal_replies_tie_exactly(tiny: tuple[Any, Any], batch_size: int) -> None:
    situations = [offer(choices=("Yes.", "No.", "Yes.", "No.")), *offers_of_many_lengths(), offer(choices=("No.",) * 4)]
    numbers = [read(action) for action in ChoicePolicy(*tiny, batch_size=batch_size).act(situations)]
    assert numbers[0][0] == numbers[0][2] != numbers[0][1] == numbers[0][3]
    assert set(numbers[-1]) == {numbers[0][1]}


def test_the_dialects_prompt_without_replies_is_read(tiny: tuple[Any, Any]) -> None:
    seen: list[str] = []
    policy = ChoicePolicy(tiny[0], Spy(tiny[1], seen))
    policy.act([offer()])
    assert set(seen) == {QUESTION.rstrip(), *(QUESTION + reply for reply in REPLIES)}


class Spy:
    """A tokenizer that remembers what it was given."""

    def __init__(self, tokenizer: Any, seen: list[str]) -> None:
        self._tokenizer = tokenizer
        self._seen = seen

    def __call__(self, text: str, **options: Any) -> Any:
        self._seen.append(text)
        return self._tokenizer(text, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)


def test_spaces_at_the_prompts_end_count_to_the_reply(tiny: tuple[Any, Any]) -> None:
    policy = ChoicePolicy(*tiny)
    at_prompt, at_reply = policy.act([offer("Hello? ", ("Yes.",) * 4), offer("Hello?", (" Yes.",) * 4)])
    assert at_prompt == at_reply


def test_a_token_that_prompt_and_reply_share_is_the_replys(tiny: tuple[Any, Any]) -> None:
    import torch

    model, tokenizer = tiny
    known, whole = (tokenizer(text)["input_ids"] for text in ("I do understan", "I do understand"))
    assert len(known) >= len(whole)  # by the count of tokens nothing would be left of the reply
    number = read(ChoicePolicy(model, tokenizer).act([offer("I do understan", ("d",) * 4)])[0])[0]
    with torch.no_grad():
        logits = model(torch.tensor([whole[:-1]])).logits[0, -1]
    assert number == pytest.approx(float(logits.log_softmax(dim=-1)[whole[-1]]), abs=1e-4)


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_an_empty_prompt_begins_with_the_end_token(tiny: tuple[Any, Any], prompt: str) -> None:
    numbers = read(ChoicePolicy(*tiny).act([offer(prompt)])[0])
    expected = [one_at_a_time(*tiny, "<end>", prompt + reply) for reply in REPLIES]
    assert numbers == pytest.approx(expected, abs=1e-4)


def test_a_long_prompt_loses_its_beginning(tiny: tuple[Any, Any]) -> None:
    long = "Once upon a time. " * 60 + QUESTION
    policy = ChoicePolicy(*tiny)
    with pytest.warns(UserWarning, match="of which the model reads 256"):
        action = policy.act([offer(long)])[0]
    assert read(action) == pytest.approx([one_at_a_time(*tiny, long, reply) for reply in REPLIES], abs=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert policy.act([offer("x" + long)])[0] == action


def test_the_longest_reply_that_fits(tiny: tuple[Any, Any]) -> None:
    def reply(tokens: int) -> str:
        return "!" * tokens  # a token each

    assert len(tiny[1](reply(200))["input_ids"]) == 200
    with pytest.warns(UserWarning, match="reads 256"):
        numbers = read(ChoicePolicy(*tiny).act([offer("Hello?", (reply(256), "a", "b", "c"))])[0])
    assert numbers[0] == pytest.approx(one_at_a_time(*tiny, "Hello?", reply(256)), abs=1e-3)
    with pytest.raises(ConfigurationError, match="a reply has 257 tokens; the model reads 256"):
        ChoicePolicy(*tiny).act([offer("Hello?", (reply(257), "a", "b", "c"))])


TEMPLATE = (
    "<begin>{% if tools %}<tools>{{ tools | length }}</tools>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture
def template(tiny: tuple[Any, Any]) -> Iterator[None]:
    tiny[1].chat_template = TEMPLATE
    yield
    tiny[1].chat_template = None


@pytest.mark.usefixtures("template")
def test_a_chat_template_is_given_the_question_without_replies(tiny: tuple[Any, Any]) -> None:
    seen: list[str] = []
    situation = offer(messages=[{"role": "user", "content": "What is 7 plus 3?"}])
    action = ChoicePolicy(tiny[0], Spy(tiny[1], seen)).act([situation])[0]
    prompt = "<begin><user>What is 7 plus 3?<end><assistant>"
    assert set(seen) == {prompt, *(prompt + reply for reply in REPLIES)}
    assert read(action) == pytest.approx([one_at_a_time(*tiny, prompt, reply) for reply in REPLIES], abs=1e-4)
    assert ChoicePolicy(*tiny, chat_template=False).act([situation]) != [action]
    with pytest.raises(ConfigurationError, match=r"stub/mcq-v0 has no chat messages.*chat_template=False"):
        ChoicePolicy(*tiny).act([offer()])


def test_a_template_that_is_not_there_is_said(tiny: tuple[Any, Any]) -> None:
    with pytest.raises(ConfigurationError, match="no chat template"):
        ChoicePolicy(*tiny, chat_template=True)
    with pytest.raises(ConfigurationError, match="batch_size"):
        ChoicePolicy(*tiny, batch_size=0)


def test_a_begin_token_comes_once(tiny: tuple[Any, Any]) -> None:
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    raw = type(tiny[1]._tokenizer).from_str(tiny[1]._tokenizer.to_str())
    begin = raw.token_to_id("<begin>")
    raw.post_processor = TemplateProcessing(single="<begin> $A", special_tokens=[("<begin>", begin)])
    begins = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<begin>", pad_token="<pad>", eos_token="<end>")
    added, written = ChoicePolicy(tiny[0], begins).act([offer("Hello?"), offer("<begin>Hello?")])
    assert added == written
    expected = [one_at_a_time(*tiny, "<begin>Hello?", reply) for reply in REPLIES]
    assert read(added) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("maker", ["local", "server"])
def test_environments_without_replies_are_named(tiny: tuple[Any, Any], maker: str) -> None:
    policy: Any = ChoicePolicy(*tiny) if maker == "local" else ServerChoicePolicy("m", "http://127.0.0.1:9/v1")
    env = make_tool_env("apibank/L1-v0")
    observation, info = env.reset(seed=0)
    bare: Any = env.unwrapped
    situation = Situation(bare, observation, observation, tuple(info["messages"]), tuple(info["tools"]), 0)
    with pytest.raises(ConfigurationError, match=r"apibank/L1-v0 offers no replies to score.*when2call/mcq-v0"):
        policy.act([situation])
    with pytest.raises(ConfigurationError, match="empty reply"):
        policy.act([offer(choices=("a", "", "c", "d"))])
    policy.close()


def test_impossible_numbers_are_told_or_written(tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    policy = ChoicePolicy(*tiny)
    with monkeypatch.context() as patch:
        patch.setattr(policy, "_forward", lambda rows: [-math.inf] * len(rows))
        assert read(policy.act([offer()])[0]) == [-1e30] * 4
        patch.setattr(policy, "_forward", lambda rows: [math.nan] * len(rows))
        with pytest.raises(ConfigurationError, match="a log-likelihood is nan"):
            policy.act([offer()])


def test_the_models_mode_is_put_back(tiny: tuple[Any, Any]) -> None:
    model = tiny[0].train()
    ChoicePolicy(*tiny).act([offer()])
    assert model.training
    assert model.model.layers[0].training
    model.eval()


def test_no_situations_no_actions(tiny: tuple[Any, Any]) -> None:
    assert ChoicePolicy(*tiny).act([]) == []


def test_it_plays_when2call_from_a_folder(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    tiny[0].save_pretrained(tmp_path)
    tiny[1].save_pretrained(tmp_path)
    policy = get_policy(f"choices:hf:{tmp_path}", device="cpu")
    assert policy.name == f"choices:hf:{tmp_path}"
    with pytest.warns(UserWarning, match="cut at their beginning"):
        result = run_episodes("when2call/mcq-v0", policy, episodes=6, progress=False)
    for episode in result.episodes:
        numbers = read(episode.steps[0].action)
        assert len(numbers) == 4
        assert max(numbers) < 0
    assert result.summary.errors == {}
    with pytest.raises(ConfigurationError, match="when2call/open-v0 offers no replies"):
        run_episodes("when2call/open-v0", policy, episodes=1, progress=False)


def test_names_and_options() -> None:
    with pytest.raises(ConfigurationError, match="no model can be loaded"):
        get_policy("choices:hf:/no/such/folder")
    for name in ("choices:", "choices:hf:", "choices:oracle", "choices:openai:m", "choices:choices:hf:x"):
        with pytest.raises(ConfigurationError, match=r"there are: oracle, .*choices:hf:PATH"):
            get_policy(name)
    with pytest.raises(ConfigurationError, match=r"temperature.*its options are: batch_size, device, chat_template"):
        get_policy("choices:hf:x", temperature=1)
    with pytest.raises(ConfigurationError, match=r"max_tokens.*its options are: concurrency"):
        get_policy("choices:openai:m@http://x/v1", max_tokens=1)


# A server.


def number_of(text: str, token: int) -> float:
    """The stub's log-probability of a token, which is a character: from all up to it."""
    return -float(sum(map(ord, text[: token + 1])) % 97 + 1) / 8


def echo(body: dict[str, Any]) -> tuple[int, Any]:
    """What vLLM answers, in an order of its own."""
    assert body["echo"] is True
    assert (body["max_tokens"], body["logprobs"], body["temperature"]) == (0, 1, 0)
    choices = [
        {
            "index": index,
            "text": text,
            "logprobs": {
                "tokens": list(text),
                "token_logprobs": [None, *(number_of(text, token) for token in range(1, len(text)))],
                "top_logprobs": None,
                "text_offset": list(range(len(text))),
            },
        }
        for index, text in enumerate(body["prompt"])
    ]
    return 200, {"choices": choices[::-1]}


Answer = Callable[[dict[str, Any]], tuple[int, Any]]


class Stub:
    """Answers with what ``script`` says, else as ``always``."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.script: list[Answer] = []
        self.always: Answer = echo
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                stub.bodies.append(body)
                stub.paths.append(self.path)
                stub.keys.append(self.headers["authorization"])
                status, answer = (stub.script.pop(0) if stub.script else stub.always)(body)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "CALLGYM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    stub = Stub()
    yield stub
    stub.close()


@pytest.fixture
def asking(stub: Stub) -> Iterator[ServerChoicePolicy]:
    policy = ServerChoicePolicy("m", stub.url, attempts=3, backoff_s=0.01, timeout_s=5)
    yield policy
    policy.close()


def test_a_server_scores_the_replies(stub: Stub, asking: ServerChoicePolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGYM_API_KEY", "sk-secret")
    situations = offers_of_many_lengths()
    for situation, action in zip(situations, asking.act(situations), strict=True):
        start = len(env_of(situation).open_prompt.rstrip())
        texts = [env_of(situation).open_prompt + choice for choice in env_of(situation).choices]
        expected = [sum(number_of(text, token) for token in range(start, len(text))) for text in texts]
        assert read(action) == pytest.approx(expected, abs=1e-9)
    assert set(stub.paths) == {"/v1/completions"}
    assert set(stub.keys) == {"Bearer sk-secret"}
    assert len(stub.bodies) == len(situations)
    sent = {tuple(body["prompt"]) for body in stub.bodies}
    prompts = (env_of(s).open_prompt for s in situations)
    assert sent == {(p.rstrip(), *(p + c for c in env_of(s).choices)) for p, s in zip(prompts, situations, strict=True)}
    assert asking.name == f"choices:openai:m@{stub.url}"


def test_a_failing_server_is_asked_again(stub: Stub, asking: ServerChoicePolicy) -> None:
    stub.script = [lambda body: (503, {"error": "busy"}), lambda body: (429, {})]
    assert len(read(asking.act([offer()])[0])) == 4
    assert len(stub.bodies) == 3
    stub.script = [lambda body: (500, {"error": "down"})] * 3
    with pytest.raises(ServerError, match=r"/v1/completions gave no answer after 3 attempts: status 500.*down"):
        asking.act([offer()])
    stub.script = [lambda body: (400, {"error": "the prompt is too long"})]
    with pytest.raises(ServerError, match=r"after 1 attempt: status 400: .*too long[^(]*$"):
        asking.act([offer()])


def without_echo(body: dict[str, Any]) -> tuple[int, Any]:
    logprobs = {"token_logprobs": [-1.0], "tokens": ["x"]}
    return 200, {"choices": [{"index": i, "text": "x", "logprobs": logprobs} for i in range(len(body["prompt"]))]}


def without_logprobs(body: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"choices": [{"index": i, "text": text} for i, text in enumerate(body["prompt"])]}


def one_choice(body: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"choices": echo(body)[1]["choices"][:1]}


@pytest.mark.parametrize(
    "answer",
    [
        without_echo,
        without_logprobs,
        one_choice,
        lambda body: (500, {"error": {"message": "Only no echo is supported"}}),
        lambda body: (400, {"error": {"message": "Setting 'echo' and 'logprobs' at the same time is not supported"}}),
        lambda body: (404, {"detail": "Not Found"}),
    ],
)
def test_a_server_without_echo_is_told(stub: Stub, asking: ServerChoicePolicy, answer: Answer) -> None:
    stub.always = answer
    with pytest.raises(ServerError, match=r"after 1 attempt: .*log-likelihoods need a /completions endpoint.*echo"):
        asking.act([offer()])


def with_numbers(number: Any) -> Answer:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        status, reply = echo(body)
        for choice in reply["choices"]:
            choice["logprobs"]["token_logprobs"][-1] = number
        return status, reply

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        lambda body: (200, b"<html>"),
        lambda body: (200, b"[" * 100_000),
        lambda body: (200, []),
        lambda body: (200, {"choices": None}),
        lambda body: (
            200,
            {"choices": [{"index": i, "text": t, "logprobs": []} for i, t in enumerate(body["prompt"])]},
        ),
        with_numbers(None),
        with_numbers("-1"),
        with_numbers(math.nan),
        with_numbers(10**400),
    ],
)
def test_replies_that_are_none_are_told(stub: Stub, asking: ServerChoicePolicy, answer: Answer) -> None:
    stub.always = answer
    with pytest.raises(ServerError, match=r"no completion|a log-likelihood is nan"):
        asking.act([offer()])


def test_minus_infinity_is_written(stub: Stub, asking: ServerChoicePolicy) -> None:
    stub.always = with_numbers(-math.inf)
    assert read(asking.act([offer()])[0]) == [-1e30] * 4


def test_what_scoring_needs_cannot_be_changed(stub: Stub) -> None:
    policy = ServerChoicePolicy("m", stub.url, extra_body={"max_tokens": 5, "echo": False, "add_special_tokens": False})
    policy.act([offer()])
    policy.close()
    assert stub.bodies[0]["add_special_tokens"] is False


def test_a_server_plays_when2call(stub: Stub) -> None:
    policy = get_policy(f"choices:openai:m@{stub.url}", concurrency=2)
    result = run_episodes("when2call/mcq-v0", policy, episodes=6, progress=False)
    policy.close()
    assert all(len(read(episode.steps[0].action)) == 4 for episode in result.episodes)
    assert not any("Which reply is the best" in text for body in stub.bodies for text in body["prompt"])
