"""Trainers: the tokens that were sampled are the tokens that are trained on, and every reward arrives by name."""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import gymnasium as gym
import pytest

from callgym import Episode, Message, Score, Task, Tool, ToolCall, UserTurn
from callgym.data import DataSource
from callgym.envs.base import Protocol, ToolEnv
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal, GoldCall
from callgym.rewards import Rubric, register_reward
from callgym.rollouts.policy import Situation, get_policy
from callgym.tool_backends import PythonBackend, World
from callgym.trainers.conversation import ChatRenderer, Conversation, TextRenderer, make_renderer
from callgym.trainers.grpo import GrpoSettings, make_trainer, train_grpo
from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy, copy_rows
from callgym.trainers.trl import EpisodeRollouts
from callgym.trainers.warmup import oracle_rows, oracle_texts, train_on_rows

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

TALK = "talk/Shelf-v0"
PLAIN = "talk/NoTools-v0"
API_BANK = "apibank/L1-v0"
TINY = TinyPolicyConfig(vocabulary=420, hidden=32, layers=1, heads=2, context=4_096)
IGNORED = -100


# A dialogue of two user turns, with other tools from task to task.


def tool(name: str, **properties: str) -> Tool:
    return Tool(
        name=name,
        description=f"{name} something.",
        parameters={
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": list(properties),
        },
    )


PUT, COUNT, PAINT = tool("Put", thing="string"), tool("Count"), tool("Paint", colour="string", coats="integer")
THINGS = ("jar", "kettle", "lamp", "mug")


def gold(name: str, **arguments: Any) -> GoldCall:
    return GoldCall.of(ToolCall(name=name, arguments=arguments))


def talk_task(number: int) -> Task:
    tools: tuple[Tool, ...]
    if number % 2:
        tools, first, second = (
            (PAINT,),
            gold("Paint", colour="red", coats=number),
            gold("Paint", colour="grey", coats=9),
        )
        words = (f"Paint it red, {number} coats.", "Now grey, 9 coats.")
    else:
        tools, first, second = (PUT, COUNT), gold("Put", thing=THINGS[number]), gold("Count")
        words = (f"Put the {THINGS[number]} on the shelf.", "How many things stand there?")
    return Task(
        id=f"talk/{number}",
        family="talk",
        split="train",
        messages=(Message(role="system", content="Be brief."), Message(role="user", content=words[0])),
        tools=tools,
        user_turns=(UserTurn(content=words[1]),),
        goal=CallsGoal(turns=((first,), (second,))),
        initial_state={"shelf": ["clock"]},
    )


def put(world: World, thing: str) -> str:
    world.state["shelf"].append(thing)
    return f"The {thing} stands there."


class TalkEnv(ToolEnv):
    family: ClassVar[str] = "talk"
    protocol: Protocol = "dialogue"
    default_dialect: ClassVar[str] = "apibank-short"

    def load_tasks(self, source: DataSource, split: str) -> tuple[Task, ...]:
        return tuple(talk_task(number) for number in range(4))

    def make_backend(self, source: DataSource) -> PythonBackend:
        return PythonBackend(
            {
                "Put": put,
                "Count": lambda world: len(world.state["shelf"]),
                "Paint": lambda world, colour, coats: {"colour": colour, "coats": coats},
            }
        )


class PlainEnv(gym.Env[str, str]):
    """Takes any option and has no tools."""

    def __init__(self, **options: Any) -> None:
        self.options = options


@pytest.fixture(scope="module", autouse=True)
def _one_thread_and_the_talk_env() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    gym.register(TALK, entry_point=f"{__name__}:TalkEnv", kwargs={"data": "starter"})
    gym.register(PLAIN, entry_point=f"{__name__}:PlainEnv")
    yield
    del gym.registry[TALK], gym.registry[PLAIN]
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tiny(_one_thread_and_the_talk_env: None) -> tuple[Any, Any]:
    """A random model of 32 units and its tokenizer; tests that train take a copy."""
    texts = [*oracle_texts(TALK), *oracle_texts(API_BANK, limit=20, data="starter", split="test")]
    return build_tiny_policy(texts, TINY)


@pytest.fixture
def tokenizer(tiny: tuple[Any, Any]) -> Any:
    return copy.deepcopy(tiny[1])


@pytest.fixture
def model(tiny: tuple[Any, Any]) -> Any:
    return copy.deepcopy(tiny[0])


# A trainer whose model writes what a script says, and one that is TRL's.

Script = Callable[[str, int], str]
"""From the conversation so far and the row's number of this generation to the next action."""


class ScriptedTrainer:
    """Generates what the script says, as TRL's trainer would, and keeps what it was shown."""

    def __init__(self, tokenizer: Any, script: Script, *, spelled: bool = False, ends: bool = True) -> None:
        self.state = SimpleNamespace(global_step=0)
        self.shown: list[list[list[int]]] = []
        self._tokenizer = tokenizer
        self._script = script
        self._spelled = spelled
        self._ends = ends

    def _generate_single_turn(
        self, prompts: list[list[int]], images: Any, fields: Any, count: int
    ) -> tuple[list[list[int]], None]:
        self.shown.append([list(ids) for ids in prompts])
        return [self._write(ids, row) for row, ids in enumerate(prompts)], None

    def _write(self, ids: list[int], row: int) -> list[int]:
        action = self._script(self._tokenizer.decode(ids), row)
        pieces = list(action) if self._spelled else [action]
        written = [id for piece in pieces for id in encode(self._tokenizer, piece)]
        return [*written, self._tokenizer.eos_token_id] if self._ends else written


def encode(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def answer(conversation: str, row: int) -> str:
    """What the oracle would write in the talk environment, in brackets or in JSON."""
    turn = conversation[max(conversation.rfind("User:"), conversation.rfind("user\n")) :]
    if "->" in turn or "<tool_response>" in turn or "tool\n" in turn:
        return "Done."
    call = ToolCall(name="Count")
    for number in range(4):
        for gold_call, words in zip(calls_of(number), words_of(number), strict=True):
            if words in turn:
                call = gold_call
    if "<|im_start|>" in conversation:
        return f"<tool_call>\n{json.dumps({'name': call.name, 'arguments': call.arguments})}\n</tool_call>"
    return f"[{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments.items())})]"


def calls_of(number: int) -> list[ToolCall]:
    goal = talk_task(number).goal
    assert isinstance(goal, CallsGoal)
    return [turn[0].reference() for turn in goal.turns]


def words_of(number: int) -> list[str]:
    task = talk_task(number)
    return [str(task.messages[-1].content), *(turn.content for turn in task.user_turns)]


def play(rollouts: EpisodeRollouts, trainer: Any, prompts: Sequence[str] | None = None) -> dict[str, list[Any]]:
    rows = list(rollouts.dataset()["prompt"]) if prompts is None else list(prompts)
    return rollouts(rows, trainer)


def settings(tmp_path: Path, **changes: Any) -> GrpoSettings:
    given = {"ids": (TALK,), "model": "", "out": tmp_path, "steps": 1, "batch": 4, "group": 2, "max_new_tokens": 6}
    return GrpoSettings(**{**given, "data": "starter", "learning_rate": 1e-3, **changes})


class Watched:
    """A rollout function that keeps what it was given, what it gave, and what the model was shown and wrote.

    A random model hardly ever ends an action itself; its last token is replaced by one that does.
    """

    def __init__(self, rollouts: EpisodeRollouts, end: int) -> None:
        self.rollouts = rollouts
        self.end = end
        self.references: list[list[str]] = []
        self.columns: list[dict[str, list[Any]]] = []
        self.generations: list[list[tuple[list[int], list[int]]]] = []

    @property
    def reward_weights(self) -> list[float]:
        return self.rollouts.reward_weights

    @property
    def reward_funcs(self) -> list[Any]:
        return list(self.rollouts.reward_funcs)

    def dataset(self) -> Any:
        return self.rollouts.dataset()

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        generate, turns = trainer._generate_single_turn, []

        def watched(ids: list[list[int]], *rest: Any) -> Any:
            written, logprobs = generate(ids, *rest)
            written = [[*one[:-1], self.end] for one in written]
            turns.append(list(zip(ids, written, strict=True)))
            return written, logprobs

        trainer._generate_single_turn = watched
        try:
            columns = self.rollouts(prompts, trainer)
        finally:
            trainer._generate_single_turn = generate
        self.references.append(list(prompts))
        self.columns.append({name: copy.deepcopy(values) for name, values in columns.items()})
        self.generations += turns
        return columns


def segments(completion: list[int], mask: list[int]) -> list[tuple[int, list[int]]]:
    """(mask, ids) of each run of equal mask."""
    runs: list[tuple[int, list[int]]] = []
    for id, mine in zip(completion, mask, strict=True):
        if not runs or runs[-1][0] != mine:
            runs.append((mine, []))
        runs[-1][1].append(id)
    return runs


# TRL's trainer, two steps of it.


@pytest.fixture(scope="module")
def trained(tiny: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Watched, list[Episode], Any]:
    """The trainer, what its rollouts did, the episodes, and the tokenizer, after two steps of GRPO."""
    model, tokenizer = copy.deepcopy(tiny[0]), tiny[1]
    episodes: list[Episode] = []
    rollouts = Watched(EpisodeRollouts(TALK, tokenizer, seed=3, on_episode=episodes.append), tokenizer.eos_token_id)
    run = settings(tmp_path_factory.mktemp("grpo"), steps=2, batch=8, group=2)
    trainer = make_trainer(run, rollouts, model, tokenizer)
    trainer.train()
    rollouts.rollouts.close()
    return trainer, rollouts, episodes, tokenizer


def test_columns_have_the_keys_and_lengths_that_trl_asks_for(trained: tuple[Any, Watched, Any, Any]) -> None:
    _, rollouts, _, _ = trained
    assert len(rollouts.columns) == 2
    for columns in rollouts.columns:
        assert {"prompt_ids", "completion_ids", "logprobs", "env_mask", "episode_return"} <= columns.keys()
        assert columns["logprobs"] is None  # generate() gives none
        for prompt, completion, mask in zip(
            columns["prompt_ids"], columns["completion_ids"], columns["env_mask"], strict=True
        ):
            assert len(prompt) > 10
            assert len(completion) == len(mask)
            assert set(mask) == {0, 1}
            assert mask[0] == mask[-1] == 1


def test_the_environment_hears_exactly_the_sampled_tokens(
    trained: tuple[Any, Watched, list[Episode], Any],
) -> None:
    _, rollouts, episodes, tokenizer = trained
    heard = sorted((episode.task_id, *(step.action for step in episode.steps)) for episode in episodes)
    written = []
    for references, columns in zip(rollouts.references, rollouts.columns, strict=True):
        for reference, completion, mask in zip(references, columns["completion_ids"], columns["env_mask"], strict=True):
            actions = [ids for mine, ids in segments(completion, mask) if mine]
            ends = [ids[:-1] if ids[-1] == tokenizer.eos_token_id else ids for ids in actions]
            written.append((reference.partition("\u241f")[2], *(tokenizer.decode(ids) for ids in ends)))
    assert heard == sorted(written)
    assert all(len(episode.steps) >= 2 for episode in episodes)


def test_what_was_generated_is_kept_id_by_id_and_only_grows(trained: tuple[Any, Watched, Any, Any]) -> None:
    _, rollouts, _, _ = trained
    finished = [
        prompt + completion
        for columns in rollouts.columns
        for prompt, completion in zip(columns["prompt_ids"], columns["completion_ids"], strict=True)
    ]
    for turn in rollouts.generations:
        for shown, written in turn:
            assert any(ids[: len(shown) + len(written)] == shown + written for ids in finished)


def test_group_members_play_the_same_task_with_the_same_seed(
    trained: tuple[Any, Watched, list[Episode], Any],
) -> None:
    _, rollouts, episodes, _ = trained
    steps = (episodes[:8], episodes[8:])
    for references, played in zip(rollouts.references, steps, strict=True):
        assert len(references) == len(played) == 8
        assert references[::2] == references[1::2]
        seeds = {episode.task_id: episode.seed for episode in played}
        assert len(seeds) == 4
        assert all(seeds[episode.task_id] == episode.seed for episode in played)
    assert {episode.seed for episode in steps[0]}.isdisjoint(episode.seed for episode in steps[1])


def test_rewards_are_logged_by_name(trained: tuple[Any, Watched, list[Episode], Any]) -> None:
    trainer, rollouts, _, _ = trained
    logs = [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]
    assert len(logs) == 2
    names = ("episode_return", "call_exact_match", "argument_f1", "format_validity")
    for row, columns in zip(logs, rollouts.columns, strict=True):
        assert math.isfinite(row["grad_norm"])
        for name in names:
            values = [value for value in columns[name] if value is not None]
            assert row[f"rewards/{name}/mean"] == pytest.approx(sum(values) / len(values))
    assert rollouts.reward_weights == [1.0, *[0.0] * (len(rollouts.reward_funcs) - 1)]


# What rollouts do with a model that knows what to write.


def test_a_dialogue_is_played_to_its_end_with_the_tools_of_its_task(tokenizer: Any) -> None:
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(TALK, tokenizer, on_episode=episodes.append)
    trainer = ScriptedTrainer(tokenizer, answer)
    columns = play(rollouts, trainer)
    assert columns["episode_return"] == [1.0] * 4
    assert columns["call_exact_match"] == columns["argument_f1"] == [1.0] * 4
    assert columns["irrelevance_abstention"] == [None] * 4
    assert [len(shown) for shown in trainer.shown] == [4] * 4
    named = {episode.task_id: [call.name for call in episode.calls()] for episode in episodes}
    assert named["talk/0"] == ["Put", "Count"]
    assert named["talk/1"] == ["Paint", "Paint"]
    for ids in columns["prompt_ids"][1::2]:
        assert "Put(" not in tokenizer.decode(ids)


def test_tokens_of_the_environment_are_masked_and_are_its_observations(tokenizer: Any) -> None:
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(TALK, tokenizer, on_episode=episodes.append)
    prompts = list(rollouts.dataset()["prompt"])
    for prompt in prompts:
        columns = play(rollouts, ScriptedTrainer(tokenizer, answer), [prompt])
        (completion,), (mask,) = columns["completion_ids"], columns["env_mask"]
        runs = segments(completion, mask)
        steps = episodes[-1].steps
        assert [mine for mine, _ in runs] == [1, 0, 1, 0, 1, 0, 1]
        assert [ids for mine, ids in runs if mine] == [
            [*encode(tokenizer, step.action), tokenizer.eos_token_id] for step in steps
        ]
        assert [ids for mine, ids in runs if not mine] == [encode(tokenizer, step.observation) for step in steps[:-1]]
        assert steps[0].observation.startswith("->")


def test_an_action_keeps_its_ids_though_the_tokenizer_would_cut_it_otherwise(tokenizer: Any) -> None:
    rollouts = EpisodeRollouts(TALK, tokenizer)
    columns = play(rollouts, ScriptedTrainer(tokenizer, answer, spelled=True))
    assert columns["episode_return"] == [1.0] * 4
    for completion, mask in zip(columns["completion_ids"], columns["env_mask"], strict=True):
        first = segments(completion, mask)[0][1][:-1]
        text = tokenizer.decode(first)
        assert [tokenizer.decode([id]) for id in first] == list(text)
        assert first != encode(tokenizer, text)


def test_an_action_without_its_end_token_is_read_whole(tokenizer: Any) -> None:
    columns = play(EpisodeRollouts(TALK, tokenizer), ScriptedTrainer(tokenizer, answer, ends=False))
    assert columns["episode_return"] == [1.0] * 4


def test_the_prompt_is_what_reset_returned(tokenizer: Any) -> None:
    env = gym.make(TALK, split="train").unwrapped
    columns = play(EpisodeRollouts(TALK, tokenizer), ScriptedTrainer(tokenizer, answer))
    for index, ids in enumerate(columns["prompt_ids"]):
        observation, _ = env.reset(options={"task": index})
        assert tokenizer.decode(ids) == observation


def test_log_probabilities_are_0_where_the_environment_speaks(tokenizer: Any) -> None:
    class WithLogprobs(ScriptedTrainer):
        def _generate_single_turn(self, *given: Any) -> Any:
            written, _ = super()._generate_single_turn(*given)
            return written, [[-0.5] * len(ids) for ids in written]

    columns = play(EpisodeRollouts(TALK, tokenizer), WithLogprobs(tokenizer, answer))
    for logprobs, mask in zip(columns["logprobs"], columns["env_mask"], strict=True):
        assert logprobs == [-0.5 * mine for mine in mask]


def test_an_episode_over_its_token_budget_is_truncated_and_says_so(tokenizer: Any) -> None:
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(TALK, tokenizer, max_episode_tokens=60, on_episode=episodes.append)
    whole = play(EpisodeRollouts(TALK, tokenizer), ScriptedTrainer(tokenizer, answer))
    cut = play(rollouts, ScriptedTrainer(tokenizer, answer))
    assert min(map(len, whole["completion_ids"])) > 60
    assert [episode.ended for episode in episodes] == ["truncated"] * 4
    assert all(value < 1.0 for value in cut["episode_return"])
    for long, short, mask in zip(whole["completion_ids"], cut["completion_ids"], cut["env_mask"], strict=True):
        assert long[: len(short)] == short  # what was sampled stays; the observation that does not fit does not
        assert mask[-1] == 1
    roomy = play(EpisodeRollouts(TALK, tokenizer, max_episode_tokens=10_000), ScriptedTrainer(tokenizer, answer))
    assert roomy == whole


def test_long_prompts_are_left_out_of_the_dataset(tokenizer: Any) -> None:
    lengths = [
        len(ids) for ids in play(EpisodeRollouts(TALK, tokenizer), ScriptedTrainer(tokenizer, answer))["prompt_ids"]
    ]
    limit = sorted(lengths)[1]
    kept = EpisodeRollouts(TALK, tokenizer, max_prompt_tokens=limit).dataset()["prompt"]
    short = [number for number, length in enumerate(lengths) if length <= limit]
    assert 0 < len(short) < 4
    assert [reference.rpartition("/")[2] for reference in kept] == [str(number) for number in short]
    with pytest.raises(ConfigurationError, match="has a prompt of at most 3 tokens"):
        EpisodeRollouts(TALK, tokenizer, max_prompt_tokens=3).dataset()


def test_several_ids_are_mixed(tokenizer: Any) -> None:
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(
        (TALK, API_BANK), tokenizer, split="test", data="starter", dialect="apibank-short", on_episode=episodes.append
    )
    prompts = list(rollouts.dataset(limit=2)["prompt"])
    assert len(prompts) == len(set(prompts)) == 4
    columns = play(rollouts, ScriptedTrainer(tokenizer, answer), prompts)
    assert sorted(episode.env_id for episode in episodes) == [API_BANK] * 2 + [TALK] * 2
    assert columns["episode_return"][:2] == [1.0, 1.0]
    assert columns["episode_return"][2:] == [0.0, 0.0]
    rollouts.close()


def test_wrong_references_and_ids_are_refused(tokenizer: Any) -> None:
    with pytest.raises(ConfigurationError, match="unknown id"):
        play(EpisodeRollouts(TALK, tokenizer), ScriptedTrainer(tokenizer, answer), ["other\u241ftask"])
    with pytest.raises(ConfigurationError, match="no tool environment"):
        EpisodeRollouts(PLAIN, tokenizer)


# A reward that could not be computed.


def unknown_for_odd_tasks(task: Task, episode: Episode) -> Score:
    return Score(value=None) if int(task.id[-1]) % 2 else Score(value=1.0)


def unknown_rubric() -> Rubric:
    register_reward("unknown_for_odd_tasks", unknown_for_odd_tasks)
    return Rubric(name="unknown", weights={"call_exact_match": 1.0, "unknown_for_odd_tasks": 1.0})


@pytest.fixture(scope="module")
def unknown_run(tiny: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Watched]:
    """A step of GRPO in which half of the episodes have no known return."""
    model, tokenizer = copy.deepcopy(tiny[0]), tiny[1]
    rollouts = Watched(EpisodeRollouts(TALK, tokenizer, rubric=unknown_rubric()), tokenizer.eos_token_id)
    trainer = make_trainer(settings(tmp_path_factory.mktemp("unknown"), batch=8), rollouts, model, tokenizer)
    trainer.train()
    return trainer, rollouts


def test_an_unknown_return_reaches_trl_as_none_in_every_column(unknown_run: tuple[Any, Watched]) -> None:
    _, rollouts = unknown_run
    ((references,), (columns,)) = rollouts.references, rollouts.columns
    names = [function.__name__ for function in rollouts.reward_funcs]
    assert names == ["episode_return", "call_exact_match", "unknown_for_odd_tasks"]
    for function in rollouts.reward_funcs:
        values = function(prompts=references, **columns)
        assert [value is None for value in values] == [int(reference[-1]) % 2 == 1 for reference in references]


def test_trl_leaves_unknown_returns_out(unknown_run: tuple[Any, Watched]) -> None:
    trainer, rollouts = unknown_run
    (row,) = [row for row in trainer.state.log_history if "rewards/episode_return/mean" in row]
    known = [value for value in rollouts.columns[0]["episode_return"] if value is not None]
    assert 0 < len(known) < 8
    assert row["rewards/episode_return/mean"] == pytest.approx(sum(known) / len(known))
    assert row["reward"] == pytest.approx(sum(known) / len(known))
    assert math.isfinite(row["grad_norm"])


# Chat templates.

CHATML = (
    "{% if tools %}{{ '<|im_start|>system\\n' }}{% for tool in tools %}{{ tool.function.name + ' ' }}{% endfor %}"
    "{{ eos_token + '\\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
    "{% for call in m.tool_calls or [] %}{{ '<tool_call>' + call.function | tojson + '</tool_call>' }}{% endfor %}"
    "{{ eos_token + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
NUMBERED = CHATML.replace("'<|im_start|>' + m.role", "'<|im_start|>' + m.role + ' of ' ~ messages|length")
STRICT = CHATML.replace("(m.content or '')", "m.content")


@pytest.fixture
def chat(tokenizer: Any) -> Any:
    tokenizer.chat_template = CHATML
    return tokenizer


def test_the_renderer_follows_the_tokenizer(tokenizer: Any) -> None:
    assert isinstance(make_renderer(tokenizer), TextRenderer)
    tokenizer.chat_template = CHATML
    assert isinstance(make_renderer(tokenizer), ChatRenderer)


def test_with_a_chat_template_conversations_grow_as_the_template_writes_them(chat: Any) -> None:
    episodes: list[Episode] = []
    rollouts = EpisodeRollouts(TALK, chat, dialect="hermes", on_episode=episodes.append)
    trainer = ScriptedTrainer(chat, answer)
    columns = play(rollouts, trainer)
    assert columns["episode_return"] == [1.0] * 4
    for before, after in zip(trainer.shown, trainer.shown[1:], strict=False):
        assert all(long[: len(short)] == short for short, long in zip(before, after, strict=True))
    for prompt, completion, mask in zip(
        columns["prompt_ids"], columns["completion_ids"], columns["env_mask"], strict=True
    ):
        said = [chat.decode(ids) for mine, ids in segments(completion, mask) if not mine]
        # The end token is the model's: it was sampled, and is not written a second time.
        assert all(text.startswith("\n<|im_start|>") and text.endswith("<|im_start|>assistant\n") for text in said)
        assert "<|im_start|>tool\n" in said[0]
        assert "<|im_start|>user\n" in said[1]
        assert "<end><end>" not in chat.decode(prompt + completion)


def test_the_template_writes_the_end_token_where_the_model_did_not(chat: Any) -> None:
    rollouts = EpisodeRollouts(TALK, chat, dialect="hermes")
    columns = play(rollouts, ScriptedTrainer(chat, answer, ends=False))
    assert columns["episode_return"] == [1.0] * 4
    for completion, mask in zip(columns["completion_ids"], columns["env_mask"], strict=True):
        said = [ids for mine, ids in segments(completion, mask) if not mine]
        assert all(ids[0] == chat.eos_token_id for ids in said)


def test_a_templated_prompt_holds_messages_and_tools(chat: Any) -> None:
    columns = play(EpisodeRollouts(TALK, chat, dialect="hermes"), ScriptedTrainer(chat, answer))
    for number, ids in enumerate(columns["prompt_ids"]):
        text, task = chat.decode(ids), talk_task(number)
        assert all(str(message.content) in text for message in task.messages)
        assert all(tool.name in text for tool in task.tools)
        assert text.endswith("<|im_start|>assistant\n")


def test_a_template_that_rewrites_earlier_turns_is_refused(chat: Any) -> None:
    chat.chat_template = NUMBERED
    with pytest.raises(ConfigurationError, match="not prefix-preserving"):
        play(EpisodeRollouts(TALK, chat, dialect="hermes"), ScriptedTrainer(chat, answer))


def test_an_action_that_says_nothing_does_not_trip_a_template(chat: Any) -> None:
    def silent_at_first(conversation: str, row: int) -> str:
        return answer(conversation, row) if conversation.count("<|im_start|>assistant") > 1 else ""

    chat.chat_template = STRICT  # as Qwen's and many others: content is text, never None
    columns = play(EpisodeRollouts(TALK, chat, dialect="hermes"), ScriptedTrainer(chat, silent_at_first))
    assert columns["call_exact_match"] == [0.0] * 4
    assert all(0.0 < value < 1.0 for value in columns["episode_return"])


def test_a_second_end_token_of_the_model_ends_an_action_too(tokenizer: Any) -> None:
    """Instruction models have several, the tokenizer's and those of the generation settings; TRL stops at any."""
    episodes: list[Episode] = []
    other = tokenizer.pad_token_id
    trainer = ScriptedTrainer(tokenizer, answer, ends=False)
    trainer.eos_token_ids = [tokenizer.eos_token_id, other]  # type: ignore[attr-defined]
    write = trainer._write
    trainer._write = lambda ids, row: [*write(ids, row), other]  # type: ignore[method-assign]
    play(EpisodeRollouts(TALK, tokenizer, on_episode=episodes.append), trainer)
    assert not [step.action for episode in episodes for step in episode.steps if "<pad>" in step.action]


def test_a_conversation_counts_tokens_and_mask_together() -> None:
    conversation = Conversation([1, 2])
    conversation.add_action([3, 4], [-1.0, -2.0])
    conversation.add_observation([5])
    assert conversation.ids == [1, 2, 3, 4, 5]
    assert conversation.mask == [1, 1, 0]
    assert conversation.logprobs == [-1.0, -2.0, 0.0]
    silent = Conversation([1])
    silent.add_action([2], None)
    silent.add_observation([3])
    assert silent.logprobs == []


# Warm-up rows.


def oracle_actions(index: int) -> list[str]:
    env = gym.make(TALK, split="train").unwrapped
    assert isinstance(env, ToolEnv)
    env.reset(options={"task": index})
    actions, done = [], False
    while not done:
        actions.append(env.oracle_action())
        _, _, terminated, truncated, _ = env.step(actions[-1])
        done = terminated or truncated
    return actions


def test_labels_cover_exactly_what_the_oracle_writes(tokenizer: Any) -> None:
    rows = list(oracle_rows(TALK, tokenizer))
    assert len(rows) == 4
    for index, row in enumerate(rows):
        ids, labels = row["input_ids"], row["labels"]
        assert len(ids) == len(labels)
        expected = [id for text in oracle_actions(index) for id in [*encode(tokenizer, text), tokenizer.eos_token_id]]
        assert [label for label in labels if label != IGNORED] == expected
        assert all(label in (id, IGNORED) for id, label in zip(ids, labels, strict=True))


@pytest.mark.parametrize("template", [None, CHATML])
def test_warm_up_rows_are_what_grpo_would_see_of_the_oracle(tokenizer: Any, template: str | None) -> None:
    tokenizer.chat_template = template
    options: dict[str, Any] = {"dialect": "hermes"} if template else {}
    actions = {f"talk/{index}": oracle_actions(index) for index in range(4)}
    if template:
        env = gym.make(TALK, split="train", dialect="hermes").unwrapped
        assert isinstance(env, ToolEnv)
        actions = {
            f"talk/{n}": [text for call in calls_of(n) for text in (env.dialect.render_action([call]), "Done.")]
            for n in range(4)
        }
    rollouts = EpisodeRollouts(TALK, tokenizer, **options)
    taken = dict.fromkeys(range(4), 0)

    def oracle(conversation: str, row: int) -> str:
        taken[row] += 1
        return actions[f"talk/{row}"][taken[row] - 1]

    columns = play(rollouts, ScriptedTrainer(tokenizer, oracle))
    assert columns["episode_return"] == [1.0] * 4
    for row, prompt, completion, mask in zip(
        oracle_rows(TALK, tokenizer, **options),
        columns["prompt_ids"],
        columns["completion_ids"],
        columns["env_mask"],
        strict=True,
    ):
        assert row["input_ids"] == prompt + completion
        assert [label != IGNORED for label in row["labels"]] == [False] * len(prompt) + [bool(mine) for mine in mask]


def test_long_episodes_make_no_row(tokenizer: Any) -> None:
    lengths = [len(row["input_ids"]) for row in oracle_rows(TALK, tokenizer)]
    limit = sorted(lengths)[1]
    kept = [len(row["input_ids"]) for row in oracle_rows(TALK, tokenizer, max_tokens=limit)]
    assert kept == [length for length in lengths if length <= limit]


def test_rows_of_copies_end_with_what_they_began_with() -> None:
    rows = list(copy_rows(300, 50, seed=1))
    assert len(rows) == 50
    for row in rows:
        ids, labels = row["input_ids"], row["labels"]
        asked = sum(label != IGNORED for label in labels)
        assert len(ids) == len(labels)
        assert 7 <= asked <= 38
        assert labels == [IGNORED] * (len(ids) - asked) + ids[-asked:]
        assert ids[-asked - 1 :] == ids[: asked + 1]
        assert all(2 <= id < 300 for id in ids)  # neither padding nor end
    assert rows == list(copy_rows(300, 50, seed=1)) != list(copy_rows(300, 50, seed=2))


def test_training_on_rows_lowers_the_loss(
    model: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = list(oracle_rows(TALK, tokenizer))
    losses = train_on_rows(model, tokenizer, rows, steps=30, batch=4, learning_rate=1e-2, seed=0)
    assert len(losses) == 30
    assert losses[-1] < losses[0] - 1.0


@pytest.mark.parametrize("steps", [1, 20])  # 20: as many as the rate takes to rise in a long run
def test_training_on_rows_leaves_nothing_behind(
    model: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = list(oracle_rows(TALK, tokenizer))
    assert len(train_on_rows(model, tokenizer, rows, steps=steps, batch=4, learning_rate=1e-2, seed=0)) == steps
    assert list(tmp_path.iterdir()) == []


# The tiny policy.


def test_a_tiny_policy_follows_from_its_seed_alone(tiny: tuple[Any, Any]) -> None:
    texts = ["Put the jar on the shelf.", "[Put(thing='jar')]"]
    config = TinyPolicyConfig(vocabulary=300, hidden=32, layers=1, heads=2, context=128)
    torch.manual_seed(1)
    first, tokenizer = build_tiny_policy(texts, config)
    drawn = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(1))  # the caller's random numbers are left alone
    second, same = build_tiny_policy(texts, config)
    other, _ = build_tiny_policy(texts, TinyPolicyConfig(**{**_fields(config), "seed": 1}))
    weights = first.state_dict()
    assert all(torch.equal(value, second.state_dict()[name]) for name, value in weights.items())
    assert any(not torch.equal(value, other.state_dict()[name]) for name, value in weights.items())
    assert tokenizer.get_vocab() == same.get_vocab()


def _fields(config: TinyPolicyConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in TinyPolicyConfig.__dataclass_fields__}


@pytest.mark.parametrize(
    "text", ["On 2026-03-14 at 09:15.", "naïve café ☕ 東京", "  two  spaces\n\tand more ", "<end", ""]
)
def test_the_tiny_tokenizer_gives_every_text_back(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(encode(tokenizer, text)) == text


def test_digits_are_tokens_of_their_own(tokenizer: Any) -> None:
    assert [tokenizer.decode([id]) for id in encode(tokenizer, "20260314")] == list("20260314")


def test_one_head_begins_by_looking_one_token_back(tiny: tuple[Any, Any]) -> None:
    model = copy.deepcopy(tiny[0])
    model.set_attn_implementation("eager")
    model.eval()
    ids = torch.randint(2, model.config.vocab_size, (2, 60), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        attention = model(ids, output_attentions=True).attentions[0]
    back = attention[:, 0].diagonal(offset=-1, dim1=-2, dim2=-1)
    assert back.shape == (2, 59)
    assert back.min() > 0.6
    other = attention[:, 1].diagonal(offset=-1, dim1=-2, dim2=-1)
    assert other.mean() < 0.3


# The whole way, from settings to a saved model.


@pytest.fixture
def saved(model: Any, tokenizer: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_train_grpo_saves_a_model_that_a_policy_loads(saved: Path, tmp_path: Path) -> None:
    episodes: list[Episode] = []
    run = settings(tmp_path / "run", model=str(saved), steps=2)
    summary = train_grpo(run, on_episode=episodes.append)
    assert summary.startswith("trained 2 steps: return ")
    assert len(episodes) == 8
    log = [json.loads(line) for line in (tmp_path / "run/training_log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in log] == [1, 2]
    policy = get_policy(f"hf:{tmp_path / 'run/model'}", max_new_tokens=4)
    env = gym.make(TALK).unwrapped
    assert isinstance(env, ToolEnv)
    observation, info = env.reset(seed=0)
    situation = Situation(env, observation, observation, tuple(info["messages"]), tuple(info["tools"]), 0)
    (action,) = policy.act([situation])
    assert isinstance(action, str)


def test_train_grpo_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="batch=5 is no multiple of group=2"):
        train_grpo(settings(tmp_path, batch=5))
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        train_grpo(settings(tmp_path, model=str(tmp_path / "no model here")))


def test_weights_are_trained_in_full_precision(saved: Path, model: Any, tmp_path: Path) -> None:
    """A step of 1e-6 is lost on weights of 16 bits, in which most models are saved."""
    from transformers import AutoConfig

    model.to(torch.bfloat16).save_pretrained(saved)
    train_grpo(settings(tmp_path / "run", model=str(saved)))
    assert AutoConfig.from_pretrained(tmp_path / "run/model").dtype == torch.float32
