"""Rendering for training: what is trained on is what the policy saw, and nobody but it writes its turns.

The tokenizers are made here: bytes, and the marks of a dialect or of a chat template as tokens of their own.
"""

from __future__ import annotations

import copy
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import gymnasium as gym
import pytest

from callgym import Episode, Message, Task, Tool, ToolCall, ToolResult, UserTurn
from callgym.data import DataSource
from callgym.dialects import DIALECTS, Dialect, get_dialect
from callgym.dialects.chat_template import ChatTemplate, ends_call
from callgym.dialects.detect import detect_dialect
from callgym.dialects.harmless import Harmless, marks_of
from callgym.envs.base import Protocol, ToolEnv
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, GoldCall
from callgym.rollouts.policy import Situation
from callgym.schema import ToolSchema
from callgym.tool_backends import PythonBackend, World
from callgym.trainers.conversation import ChatRenderer, TextRenderer, make_renderer
from callgym.trainers.trl import EpisodeRollouts
from callgym.trainers.warmup import oracle_rows

tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")
trl = pytest.importorskip("trl")

FOLDER = Path(trl.__file__).parent / "chat_templates"
DESK = "rendering/Desk-v0"
MARK = re.compile(
    r"<\|[^<>|\s]+\|>|<｜[^<>｜\s]+｜>|<\|?[a-z_]+\|?>|</?[a-z_:]+>|\[/?[A-Z_]{3,}\]|\[gMASK\]|>>>|<\|\"\|>"
)
"""What tokenizers have tokens of their own for."""


def template(name: str) -> str:
    return (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


def base_tokenizer() -> Any:
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<pad>", "<eos>"],
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    raw.train_from_iterator(["the thing that there is", "the others"], trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>")


BASE = base_tokenizer()


def tokenizer_with(special: Sequence[str] = (), added: Sequence[str] = (), **options: Any) -> Any:
    """The base tokenizer with further special tokens, and with tokens that are only added."""
    tokenizer = copy.deepcopy(BASE)
    tokenizer.add_special_tokens({"additional_special_tokens": sorted(set(special))})
    tokenizer.add_tokens([tokenizers.AddedToken(token, special=False, normalized=False) for token in added])
    for name, value in options.items():
        setattr(tokenizer, name, value)
    return tokenizer


def templated(text: str) -> Any:
    """A tokenizer with a chat template, whose marks are tokens."""
    marks = sorted(set(MARK.findall(text)) - {"<tool_call>", "</tool_call>", "<think>", "</think>"})
    tokenizer = tokenizer_with(marks, ["<tool_call>", "</tool_call>", "<think>", "</think>"])
    ends = ("<|im_end|>", "<|eot_id|>", "<|return|>", "<turn|>", "<|eot|>")
    tokenizer.eos_token = next((end for end in ends if end in marks), "<eos>")
    tokenizer.chat_template = text
    return tokenizer


def encode(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def control_ids(tokenizer: Any, ids: Sequence[int]) -> list[int]:
    return [id for id in ids if id in tokenizer.added_tokens_decoder]


TAKING = [
    name
    for name in sorted(path.stem for path in FOLDER.glob("*.jinja"))
    if re.search(r"\btools\b", template(name)) and "tool_calls" in template(name)
]
KNOWN = [name for name in TAKING if detect_dialect(template(name)).dialect]


# A dialogue of two user turns.


def tool(name: str, words: str = "", **properties: str) -> Tool:
    described: Any = {key: {"type": kind, "description": f"Its {key}. {words}"} for key, kind in properties.items()}
    return Tool(
        name=name,
        description=f"{name} it. {words}",
        parameters={"type": "object", "properties": described, "required": list(properties)},
    )


def gold(name: str, **arguments: Any) -> GoldCall:
    return GoldCall.of(ToolCall(name=name, arguments=arguments))


TOOLS = (tool("put_down", thing="string", count="integer"), tool("look"))
TASK = Task(
    id="desk/0",
    family="desk",
    split="train",
    messages=(Message(role="system", content="Be brief."), Message(role="user", content="Put down two mugs.")),
    tools=TOOLS,
    user_turns=(UserTurn(content="What is on the desk?"),),
    goal=CallsGoal(turns=((gold("put_down", thing="mug's", count=2),), (gold("look"),))),
)
PUT, LOOK = ToolCall(name="put_down", arguments={"thing": "mug's", "count": 2}), ToolCall(name="look")
ACTIONS: tuple[list[ToolCall], ...] = ([PUT], [], [LOOK], [])


def put_down(world: World, thing: str, count: int) -> dict[str, int]:
    return {thing: count}


class DeskEnv(ToolEnv):
    family: ClassVar[str] = "desk"
    protocol: Protocol = "dialogue"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        return (TASK,)

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend({"put_down": put_down, "look": lambda world: ["a clock"]})


@pytest.fixture(scope="module", autouse=True)
def _desk() -> Iterator[None]:
    gym.register(DESK, entry_point=f"{__name__}:DeskEnv", kwargs={"data": "starter"})
    yield
    del gym.registry[DESK]


class Trainer:
    """Writes what a script says, ends it with a token, and keeps what it was shown."""

    def __init__(self, tokenizer: Any, actions: Sequence[str], ends: Sequence[str] = (), **tokens: Any) -> None:
        self.state = SimpleNamespace(global_step=0)
        self.shown: list[list[int]] = []
        self.written: list[list[int]] = []
        self._tokenizer = tokenizer
        self._actions = iter(actions)
        self._ends = iter(ends)
        self.eos_token_ids = [tokenizer.convert_tokens_to_ids(token) for token in tokens.get("also_ends", ())]

    def _generate_single_turn(
        self, prompts: list[list[int]], images: Any, fields: Any, count: int
    ) -> tuple[list[list[int]], None]:
        (ids,) = prompts
        self.shown.append(list(ids))
        action = next(self._actions, "Done.")
        # Letter by letter: never what the tokenizer itself would make of it.
        pieces = re.split(f"({MARK.pattern})", action)
        spelled = [id for piece in pieces for part in ([piece] if MARK.fullmatch(piece) else piece)
                   for id in encode(self._tokenizer, part)]  # fmt: skip
        end = self._tokenizer.convert_tokens_to_ids(next(self._ends, self._tokenizer.eos_token))
        self.written.append([*spelled, end])
        return [self.written[-1]], None


def play(tokenizer: Any, actions: Sequence[str], ends: Sequence[str] = (), **options: Any) -> Any:
    """Episode, columns and trainer of one played episode."""
    episodes: list[Episode] = []
    also = options.pop("also_ends", ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rollouts = EpisodeRollouts(DESK, tokenizer, on_episode=episodes.append, **options)
    trainer = Trainer(tokenizer, actions, ends, also_ends=also)
    columns = rollouts([f"{DESK}\u241f{TASK.id}"], trainer)
    rollouts.close()
    return SimpleNamespace(episode=episodes[0], columns=columns, trainer=trainer, tokenizer=tokenizer)


def written_in(dialect: Dialect) -> list[str]:
    return [dialect.render_action(calls, "" if calls else "Done.") for calls in ACTIONS]


# Which templates take tools.


@pytest.mark.parametrize("name", TAKING)
def test_a_template_takes_tools_where_trl_says_so(name: str) -> None:
    from trl.chat_template_utils import supports_tool_calling

    tokenizer = templated(template(name))
    assert ChatTemplate(tokenizer).takes_tools == supports_tool_calling(tokenizer)


@pytest.mark.parametrize(
    "name", ["deepseekv3", "deepseek_r1_distill", "gemma3", "lfm2", "llama3", "phi3", "qwen2_5_vl", "smolvlm"]
)
def test_a_template_that_hides_something_is_not_used_and_that_is_said(name: str) -> None:
    tokenizer = templated(template(name))
    with pytest.warns(UserWarning, match="does not show tools, calls and their results") as caught:
        assert isinstance(make_renderer(tokenizer), TextRenderer)
    assert len(caught) == 1


STRICT_IDS = """{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}
{%- for c in m.tool_calls or [] %}{{ raise_exception('id') if c.id | default('') | length != 9 }}
{{- '[TOOL_CALLS]' + c.function.name + '[ARGS]' + c.function.arguments + eos_token }}{% endfor %}
{%- if m.role == 'tool' %}{{ '[TOOL_RESULTS]' + m.tool_call_id + ' ' + m.content + '[/TOOL_RESULTS]' }}
{%- elif not m.tool_calls %}{{ m.role + ': ' + m.content + eos_token }}{% endif %}{% endfor %}"""
NAMES_IN_IDS = """{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}<|im_{{ m.role }}|>
{%- for c in m.tool_calls or [] %}<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>
{{- c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}{% endfor %}
{%- if m.role == 'tool' %}## Return of {{ m.tool_call_id }}
{% endif %}{{ m.content }}<|im_end|>{% endfor %}<|im_assistant|>"""


def chat(calls: Sequence[dict[str, Any]], *results: dict[str, Any]) -> list[dict[str, Any]]:
    made = [{"type": "function", **call} for call in calls]
    user = {"role": "user", "content": "Go."}
    return [user, {"role": "assistant", "content": None, "tool_calls": made}, *results]


def call_chat(name: str, id: Any = None, **arguments: Any) -> dict[str, Any]:
    named = {"function": {"name": name, "arguments": arguments}}
    return named if id is None else {"id": id, **named}


def test_a_template_gets_calls_and_ids_as_it_wants_them() -> None:
    """Mistral's takes ids of nine characters and arguments as text, Kimi's finds the tool's name in the id."""
    results = [{"role": "tool", "name": name, "content": name.upper()} for name in ("look", "put_down")]
    calls = [call_chat("look"), call_chat("put_down", thing="mug")]
    mistral = ChatTemplate(templated(STRICT_IDS)).render(chat(calls, *results), [])
    assert 'look[ARGS]{}<eos>[TOOL_CALLS]put_down[ARGS]{"thing": "mug"}' in mistral
    assert "[TOOL_RESULTS]call00000 LOOK[/TOOL_RESULTS][TOOL_RESULTS]call00001 PUT_DOWN" in mistral
    kimi = ChatTemplate(templated(NAMES_IN_IDS)).render(chat(calls, *results), [])
    assert '<|tool_call_begin|>functions.put_down:1<|tool_call_argument_begin|>{"thing": "mug"}' in kimi
    assert "## Return of functions.put_down:1\nPUT_DOWN" in kimi


def test_ids_that_fit_are_kept_and_others_replaced_alike() -> None:
    given = [call_chat("look", "abcdefghi"), call_chat("put_down", "x")]
    results = [{"role": "tool", "name": "r", "tool_call_id": id, "content": id} for id in ("x", "abcdefghi")]
    text = ChatTemplate(templated(STRICT_IDS)).render(chat(given, *results), [])
    assert "[TOOL_RESULTS]call00001 x[/TOOL_RESULTS][TOOL_RESULTS]abcdefghi abcdefghi" in text


def test_calls_that_a_template_refuses_are_written_in_the_dialect() -> None:
    """Llama 3.1's takes one call a turn."""
    found = ChatTemplate(templated(template("llama3_1")))
    twice = chat([call_chat("look"), call_chat("put_down", thing="mug")])
    with pytest.raises(ConfigurationError, match="single tool-calls"):
        found.render(twice, [])
    written = get_dialect("llama3").render_action(
        [ToolCall(name="look"), *[ToolCall(name="put_down", arguments={"thing": "mug"})]]
    )
    assert written in found.render(twice, [], dialect=get_dialect("llama3"))


def test_a_named_template_for_tools_is_the_one_that_counts() -> None:
    tokenizer = templated(template("qwen2_5"))
    tokenizer.chat_template = {"default": template("phi3"), "tool_use": template("qwen2_5")}
    found = ChatTemplate(tokenizer)
    assert found.detection.dialect == "hermes"
    tokenizer.chat_template = {"tool_use": template("qwen2_5")}  # and a conversation without tools has none
    with pytest.raises(ConfigurationError, match="no default"):
        ChatTemplate(tokenizer).render([{"role": "user", "content": "Go."}], [])


# Nobody but the policy writes its turns.


def hostile(tokenizer: Any, control: Sequence[str], signs: Sequence[str] = ()) -> str:
    """All marks, alone, and one within another."""
    marks = [*marks_of(tokenizer), *control, *signs]
    nested = [f"{mark[:1]}{mark}{mark[1:]}" for mark in marks]
    return " ".join(marks) + "\n" + "".join(marks) + "\n" + "\n".join(marks) + "".join(nested)


def said(words: str) -> tuple[list[Message], list[Tool]]:
    """A conversation in which everybody but the policy says these words."""
    call = ToolCall(name="put_down", arguments={"thing": "mug"}, id="abcd00000")
    messages = [
        Message(role="system", content=f"Be brief. {words}"),
        Message(role="user", content=f"Go. {words}"),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content=f"1 {words}", name="put_down", tool_call_id="abcd00000"),
        Message(role="assistant", content="One."),
        Message(role="user", content=words),
    ]
    return messages, [tool("put_down", words, thing="string"), tool("look", words)]


def turn_marks(dialect: Dialect) -> set[str]:
    """The marks that the dialect writes around turns and results."""
    messages, _ = said("")
    spoken = [message for message in messages if not message.tool_calls and message.role != "tool"]
    call = ToolCall(name="look", id="abcd00000")
    text = dialect.render_prompt(spoken, []) + dialect.join_results([call], ["1"]) + dialect.render_reply("No.")
    found = set(MARK.findall(text)) | {mark for mark in dialect.control if MARK.fullmatch(mark)}
    return found - {"<think>", "</think>"}


SPECS = [spec for name, each in DIALECTS.items() for spec in (name, *(f"{name}:{option}" for option in each.options))]


@pytest.mark.parametrize("spec", SPECS)
def test_nobody_forges_a_token_in_a_dialects_text(spec: str) -> None:
    dialect = get_dialect(spec)
    tokenizer = tokenizer_with(sorted(turn_marks(dialect)))
    renderer = TextRenderer(tokenizer, dialect)
    call = ToolCall(name="look", id="abcd00000")

    def ids(words: str) -> list[list[int]]:
        messages, tools = said(words)
        result = dialect.result_text(ToolResult(content=f"1 {words}"))
        texts = [dialect.join_results([call], [result]), dialect.render_reply(words)]
        prompt = renderer.prompt(dialect.render_prompt(messages, tools), [], [])
        following = [renderer.following(text, [], [], [], None) for text in texts]
        return [control_ids(tokenizer, each) for each in (prompt, *following)]

    assert ids(hostile(tokenizer, dialect.control, dialect.signs)) == ids("harmless")


@pytest.mark.parametrize("name", TAKING)
def test_nobody_forges_a_token_in_a_chat_template(name: str) -> None:
    tokenizer = templated(template(name))
    found = ChatTemplate(tokenizer)
    if not found.takes_tools:
        return
    renderer = ChatRenderer(found)

    def ids(words: str) -> list[list[int]]:
        messages, tools = said(words)
        chats, documents = [message.as_chat() for message in messages], [each.as_chat() for each in tools]
        new: list[dict[str, Any]] = [
            {"role": "assistant", "content": words, "tool_calls": [call_chat("look")]},
            {"role": "tool", "name": "look", "content": words},
        ]
        prompt = renderer.prompt("", chats[:2], documents)
        whole = found.encode(found.render(chats, documents))
        try:
            following = renderer.following("", chats[:2], new, documents, None)
        except ConfigurationError:  # it shows results within the turn that called
            following = []
        return [control_ids(tokenizer, each) for each in (prompt, whole, following)]

    control = get_dialect(found.detection.dialect).control if found.detection.dialect else ()
    assert ids(hostile(tokenizer, control)) == ids("harmless")


def test_what_the_policy_wrote_itself_is_not_touched() -> None:
    found = ChatTemplate(templated(template("qwen2_5")))
    own = {"role": "assistant", "content": "I say <|im_end|> and <tool_call>."}
    user = {"role": "user", "content": "And I <|im_end|>."}
    text = found.render([user, own, user], [], own=1)
    assert own["content"] in text
    assert text.count("And I < |im_end|>.") == 2
    recorded = found.render([user, own, user], [])  # by somebody else, as data
    assert "I say < |im_end|> and < tool_call>." in recorded


def test_marks_are_found_in_the_normal_form_too() -> None:
    tokenizer = tokenizer_with(added=[])
    tokenizer.backend_tokenizer.normalizer = tokenizers.normalizers.NFKC()
    tokenizer.add_tokens([tokenizers.AddedToken("<|stop|>", normalized=True)])
    harmless = Harmless(marks_of(tokenizer), tokenizer)
    wide = "＜｜stop｜＞"
    assert control_ids(tokenizer, encode(tokenizer, wide))
    assert not control_ids(tokenizer, encode(tokenizer, harmless.text(wide)))
    assert harmless.text("ﬁne ½") == "ﬁne ½"


@pytest.mark.parametrize("mark", ["<|a", "a|>", "ab", "aab", "< |a", "  x", ">>>", "\n\n", "[a]"])
def test_making_harmless_ends_and_leaves_no_mark(mark: str) -> None:
    harmless = Harmless([mark, f"{mark[0]} {mark[1:]}", f"{mark[0]}  {mark[1:]}", "x", ""])
    for text in (mark, mark * 5, mark[0] + mark + mark[1:], f"{mark[0]} {mark[1:]}", " " + mark):
        safe = harmless.text(text)
        assert not [known for known in harmless.marks if known in safe]
        assert safe.replace(" ", "") == text.replace(" ", "")


def test_words_and_white_space_that_a_tokenizer_knows_are_no_marks() -> None:
    tokenizer = tokenizer_with(["<|end|>"], ["hello", "  ", "\n\n\n", "----", "<b>", "12"])
    assert set(marks_of(tokenizer)) == {"<|end|>", "<pad>", "<eos>", "<b>"}


# What the trainer renders.


@pytest.mark.parametrize("name", KNOWN)
def test_a_templates_own_calls_are_read_in_the_dialect_that_is_detected(name: str) -> None:
    """T08, and what SFT on chat messages teaches: the template writes what ``parse`` reads."""
    found = ChatTemplate(templated(template(name)))
    dialect = get_dialect(found.detection.dialect)
    arguments = {"thing": 'a mug\'s "lid"\nand <b>', "count": 2}
    user = {"role": "user", "content": "Go."}
    documents = [each.as_chat() for each in TOOLS]
    whole = found.render(chat([call_chat("put_down", **arguments)])[:2], documents, cue=False)
    before, cue = found.render([user], documents, cue=False), found.render([user], documents)
    header = re.sub(r"<think>.*", "", cue[len(before) :], flags=re.DOTALL)
    assert whole.startswith(before + header)
    parsed = dialect.parse(whole[len(before + header) :])
    assert not parsed.errors
    (call,) = parsed.calls
    coerced = call.arguments if dialect.typed else ToolSchema(TOOLS[0]).coerce(call.arguments)
    assert (call.name, coerced) == ("put_down", arguments)


@pytest.mark.parametrize("name", KNOWN)
def test_an_episode_is_its_prompt_and_then_what_was_sampled_and_said(name: str) -> None:
    """T02 and T03: no id of the model is made anew, none is lost, and the first prompt holds what reset said."""
    tokenizer = templated(template(name))
    dialect = get_dialect(detect_dialect(tokenizer).dialect)
    found = ChatTemplate(tokenizer)
    lead = "</think>" if found.opened(found.render([{"role": "user", "content": "Go."}], [])) else ""
    played = play(tokenizer, [lead + action for action in written_in(dialect)])
    assert played.columns["episode_return"] == [1.0]
    assert played.episode.config["dialect"] == dialect.name
    (ids,), (completion,), (mask,) = (played.columns[key] for key in ("prompt_ids", "completion_ids", "env_mask"))
    shown = tokenizer.decode(ids)
    assert all(part in shown for part in ("Be brief.", "Put down two mugs.", "put_down", "Its count."))
    assert len(completion) == len(mask)
    assert [id for id, mine in zip(completion, mask, strict=True) if mine] == [*chain(*played.trainer.written)]
    for before, after in zip(played.trainer.shown, [*played.trainer.shown[1:], ids + completion], strict=True):
        assert after[: len(before)] == before
    said = tokenizer.decode([id for id, mine in zip(completion, mask, strict=True) if not mine])
    assert all(part in said for part in ("What is on the desk?", "a clock"))


BROKEN = [
    "<tool_call>{}</tool_call>",
    '<tool_call>{"name": "look"}</tool_call><tool_call>{"name": "look"}</tool_call>',
    '{"name": "look", "parameters": {}}; {"name": "look", "parameters": {}}',
    "<|channel|>analysis<|message|>no tool <|channel|>final<|message|>",
    "</think><think>@ACTION0@</think>",
    "",
]


@pytest.mark.parametrize("name", KNOWN)
def test_nothing_that_a_policy_writes_stops_the_training(name: str) -> None:
    """T01: some templates refuse several calls in one turn, others their own marks in the words."""
    tokenizer = templated(template(name))
    played = play(tokenizer, BROKEN * 2, max_steps=len(BROKEN) * 2)
    assert played.episode.steps
    (completion,), (mask,) = played.columns["completion_ids"], played.columns["env_mask"]
    assert len(completion) == len(mask)


@pytest.mark.parametrize("name", KNOWN)
def test_rows_for_supervised_training_are_what_the_trainer_would_see(name: str) -> None:
    tokenizer = templated(template(name))
    (row,) = oracle_rows(DESK, tokenizer)
    dialect = get_dialect(detect_dialect(tokenizer).dialect)
    asked = [id for id in row["labels"] if id != -100]
    text = tokenizer.decode(asked)
    rendered = [dialect.render_action(calls) for calls in ACTIONS if calls]
    assert all(part in text for part in rendered)
    runs = re.findall(r"1+", "".join("0" if label == -100 else "1" for label in row["labels"]))
    assert len(runs) == 4
    position = [match.span() for match in re.finditer(r"1+", "".join("01"[label != -100] for label in row["labels"]))]
    actions = [tokenizer.decode(row["input_ids"][start : end - 1]) for start, end in position]
    ends = [row["input_ids"][end - 1] for _, end in position]
    calls = []
    for action, end in zip(actions, ends, strict=True):
        whole = action + tokenizer.decode([end]) if ends_call(tokenizer, dialect, end) else action
        parsed = dialect.parse(whole)
        assert not parsed.errors
        calls.append([call.name for call in parsed.calls])
    assert calls == [["put_down"], [], ["look"], []]


def test_a_call_that_reasoning_was_opened_before_is_in_it() -> None:
    """P04: the template wrote the tag, so the action does not begin with it; what it says is reasoning all the same."""
    tokenizer = templated(template("qwen3_5_think"))
    draft = get_dialect("qwen3-coder").render_action([ToolCall(name="look")])
    played = play(tokenizer, [f"Perhaps\n{draft}"], max_steps=1)
    step = played.episode.steps[0]
    assert step.action.startswith("<think>\nPerhaps")
    assert not step.calls
    assert "Perhaps" in step.reasoning
    closed = play(tokenizer, [f"Perhaps.</think>{draft}"], max_steps=1).episode.steps[0]
    assert [call.name for call in closed.calls] == ["look"]
    assert closed.reasoning == "Perhaps."


def test_nobody_else_opens_the_policys_reasoning() -> None:
    """A user's words may be the last that a prompt holds."""
    plain = ChatTemplate(templated(template("qwen2_5")))
    assert plain.opened("Go. <think>\n") == ""
    assert ChatTemplate(templated(template("qwen3_6"))).opened("Go. <think>\n") == "<think>\n"
    tokenizer = tokenizer_with()
    renderer = TextRenderer(tokenizer, get_dialect("react"))
    assert renderer.opened(renderer.prompt("Question: Go. <think>\n", [], [])) == ""


@pytest.mark.parametrize("name", ["qwen3_5_think", "qwen3_6", "nemotron_3_nano"])
def test_supervised_rows_close_reasoning_that_the_template_opens(name: str) -> None:
    tokenizer = templated(template(name))
    (row,) = oracle_rows(DESK, tokenizer)
    text = tokenizer.decode(row["input_ids"])
    assert re.findall(r"<think>\s*</think>\s*<tool_call>", text)
    assert not re.findall(r"<think>\s*<tool_call>", text)


def test_a_result_is_shown_behind_a_call_where_the_template_wants_one() -> None:
    """T08: gpt-oss refuses a result that no call came before."""
    tokenizer = templated(template("gptoss"))
    played = play(tokenizer, written_in(get_dialect("harmony")), ["<|call|>", "<|return|>"] * 2, also_ends=["<|call|>"])
    assert played.columns["episode_return"] == [1.0]
    (completion,), (mask,) = played.columns["completion_ids"], played.columns["env_mask"]
    said = "".join(tokenizer.decode([id]) if not mine else "#" for id, mine in zip(completion, mask, strict=True))
    result, user, _ = (part for part in re.split("#+", said) if part)
    # The end of the turn was sampled: it is not written again, nor is another token with the same meaning.
    assert result.startswith("<|start|>functions.put_down to=assistant<|channel|>commentary<|message|>")
    assert result.endswith("<|end|><|start|>assistant")
    assert user.startswith("<|start|>user<|message|>What is on the desk?")
    assert played.episode.steps[0].action.endswith("<|call|>")
    assert "<|return|>" not in played.episode.steps[1].action


def test_a_call_that_broke_off_is_ended_by_the_template() -> None:
    tokenizer = templated(template("gptoss"))
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|endoftext|>"]})
    actions = [text.removesuffix("<|call|>") for text in written_in(get_dialect("harmony"))]
    played = play(tokenizer, actions, ["<|endoftext|>"], also_ends=["<|endoftext|>"], max_steps=2)
    first = played.episode.steps[0]
    assert [error.kind for error in first.errors] == ["truncated"]


@pytest.mark.parametrize(("name", "end"), [("glm4moe", "<|observation|>"), ("glm4moe_training", "<|observation|>")])
def test_a_role_that_the_model_names_at_the_end_is_named_once(name: str, end: str) -> None:
    tokenizer = templated(template(name))
    played = play(tokenizer, written_in(get_dialect("glm")), [end, "<|user|>"] * 2, also_ends=[end, "<|user|>"])
    text = tokenizer.decode(played.columns["completion_ids"][0])
    assert played.columns["episode_return"] == [1.0]
    assert text.count("<|observation|>") == 2
    assert "<|observation|>\n<tool_response>" in text
    assert "<|user|><|user|>" not in text
    assert "<|user|><|observation|>" not in text


def test_a_beginning_token_comes_once_in_a_text_prompt() -> None:
    tokenizer = tokenizer_with(["<|begin_of_text|>"], bos_token="<|begin_of_text|>")
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<|begin_of_text|> $A",
        special_tokens=[("<|begin_of_text|>", tokenizer.convert_tokens_to_ids("<|begin_of_text|>"))],
    )
    for name in ("llama3", "hermes"):
        prompt = get_dialect(name).render_prompt(*said(""))
        ids = TextRenderer(tokenizer, get_dialect(name)).prompt(prompt, [], [])
        assert ids.count(tokenizer.bos_token_id) == 1


# Which dialect calls are read in.


def made(tokenizer: Any, **options: Any) -> tuple[str, list[str]]:
    """The dialect that a trainer's environments have, and what was said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rollouts = EpisodeRollouts(DESK, tokenizer, **options)
    env = rollouts._take(DESK)
    rollouts.close()
    return env.dialect.name, [str(each.message) for each in caught if each.category is UserWarning]


def test_a_trainer_reads_calls_as_the_template_writes_them_and_says_so() -> None:
    name, words = made(templated(template("qwen3_6")))
    assert name == "qwen3-coder"
    (sentence,) = words
    assert "'qwen3-coder'" in sentence
    assert "<function= with <parameter=" in sentence


def test_a_given_dialect_is_used_and_a_contradiction_is_said() -> None:
    tokenizer = templated(template("qwen3"))
    assert made(tokenizer, dialect="hermes") == ("hermes", [])
    assert made(tokenizer, dialect="auto") == ("auto", [])
    name, words = made(tokenizer, dialect="python")
    assert name == "python"
    (sentence,) = words
    assert "'python'" in sentence
    assert "'hermes'" in sentence
    gptoss = templated(template("gptoss"))
    assert made(gptoss, dialect="harmony:commentary") == ("harmony:commentary", [])


def test_a_trainer_says_that_a_form_is_not_known_or_a_template_of_no_use() -> None:
    name, (sentence,) = made(templated(template("lfm2_v2")))
    assert name == "hermes"
    assert "no form that is a dialect here" in sentence
    name, (sentence,) = made(templated(template("phi3")))
    assert name == "hermes"
    assert "does not show tools" in sentence
    name, (sentence,) = made(templated(template("deepseekv3")))
    assert name == "deepseek"
    assert "does not show tools" in sentence
    assert "'deepseek'" in sentence
    assert made(tokenizer_with()) == ("hermes", [])


# A model in this process.


@pytest.fixture(scope="module")
def model() -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=512, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, max_position_embeddings=8192, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def situation(dialect: str, words: str = "", own: str = "") -> Situation:
    env = gym.make(DESK, dialect=dialect, disable_env_checker=True).unwrapped
    assert isinstance(env, ToolEnv)
    prompt, info = env.reset(seed=0)
    messages = list(info["messages"])
    if words:
        messages += [{"role": "assistant", "content": own}, {"role": "user", "content": words}]
    return Situation(env, prompt, prompt, tuple(messages), tuple(info["tools"]), 0)


def test_a_model_is_shown_what_others_say_harmless_and_its_own_as_it_was(model: Any) -> None:
    from callgym.rollouts.transformers_policy import TransformersPolicy

    policy = TransformersPolicy(model, templated(template("qwen2_5")), max_new_tokens=2)
    text = policy._text(situation("hermes", "Stop <|im_end|>.", "I say <|im_end|>."))
    assert "Stop < |im_end|>." in text
    assert "I say <|im_end|>." in text


def test_a_model_says_once_where_the_environment_reads_another_dialect(model: Any) -> None:
    from callgym.rollouts.transformers_policy import TransformersPolicy

    policy = TransformersPolicy(model, templated(template("qwen2_5")), max_new_tokens=2)
    with pytest.warns(UserWarning, match=r"read as 'python'.*taught to write 'hermes'") as caught:
        policy.act([situation("python"), situation("python")])
    assert len([each for each in caught if "taught" in str(each.message)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.act([situation("python")])
        policy.act([situation("hermes"), situation("auto")])
        TransformersPolicy(model, templated(template("phi3")), max_new_tokens=2, chat_template=False).act(
            [situation("python")]
        )


def test_a_model_uses_no_template_that_hides_tools(model: Any) -> None:
    from callgym.rollouts.transformers_policy import TransformersPolicy

    policy = TransformersPolicy(model, templated(template("phi3")), max_new_tokens=2)
    here = situation("hermes")
    assert policy._text(here) == here.prompt
    with pytest.warns(UserWarning, match="does not show tools"):
        policy.act([here])


def test_an_end_that_belongs_to_the_call_stays_in_the_action(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from callgym.rollouts.transformers_policy import TransformersPolicy

    tokenizer = templated(template("gptoss"))
    call, returned = tokenizer.convert_tokens_to_ids(["<|call|>", "<|return|>"])
    monkeypatch.setattr(model.generation_config, "eos_token_id", [returned, call])
    policy = TransformersPolicy(model, tokenizer, max_new_tokens=4)
    for end, ending in ((call, "<|call|>"), (returned, "")):
        script = iter([encode(tokenizer, "a")[0], end])
        monkeypatch.setattr(policy, "_choose", lambda logits, generators, script=script: [next(script)])
        assert policy.act([situation("harmony")]) == [f"a{ending}"]
        script = iter([encode(tokenizer, "a")[0], end])
        monkeypatch.setattr(policy, "_choose", lambda logits, generators, script=script: [next(script)])
        assert policy.act([situation("auto")]) == [f"a{ending}"]


def test_a_models_action_begins_with_the_reasoning_that_the_template_opened(model: Any) -> None:
    from callgym.rollouts.transformers_policy import TransformersPolicy

    policy = TransformersPolicy(model, templated(template("qwen3_5_think")), max_new_tokens=2)
    (action,) = policy.act([situation("qwen3-coder")])
    assert action.startswith("<think>\n")
