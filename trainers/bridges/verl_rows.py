"""Rows for verl's RL datasets, and the reward function that plays an answer in the environment it came from::

    write_verl_rows(verl_rows("bfcl/multiple-v0", split="train"), Path("train.parquet"))

    # verl's configuration
    data.train_files=train.parquet
    reward.custom_reward_function.path=pkg://callgym.trainers.bridges.verl_rows
    reward.custom_reward_function.name=compute_score

The format is that of verl 0.9.1 (``RLHFDataset``, ``NaiveRewardManager``). A row's ground truth is no answer but where
the task is: id, arguments of ``gym.make``, task and seed, as JSON. ``compute_score`` makes that environment, once for
each configuration, and steps the answer, so that verl trains on the very return that every other runner sees.

verl takes its tools from one configuration for all rows, so a prompt holds its tools' documents, in the words of the
environment's dialect. It decodes answers without special tokens: choose a dialect whose marks are text (``hermes``,
``python``, ``apibank``, ``react`` and so on). verl 0.9.1 gives a reward function the whole conversation as one text; to
have a dialogue scored turn by turn, an agent loop of one's own puts the policy's texts, in order, under ``actions`` in
``extra_info`` (``AgentLoopOutput.extra_fields``). Without them the text is the first action, and an episode that would
go on is truncated there.
"""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym

from callgym.dialects import Dialect
from callgym.dialects.turns import Answer, TurnDialect
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import CallGymError, ConfigurationError, DataError, MissingPackageError
from callgym.message import Message
from callgym.rollouts.plan import derive_seed
from callgym.trainers.export import write_lines
from callgym.whole_file import whole_path

__all__ = ["UnknownReturnError", "close_environments", "compute_score", "verl_rows", "write_verl_rows"]

_SOURCE = "callgym/"
_MARK = "@WORDS@"
_MAX_IDLE = 8


class UnknownReturnError(CallGymError, RuntimeError):
    """An episode's return could not be computed, and verl has no place for an unknown one."""


class _Reference(NamedTuple):
    """Where a row's task is."""

    id: str
    """The registered id."""
    options: dict[str, Any]
    """Arguments of ``gym.make``."""
    task: str
    """The task's id."""
    seed: int
    """The episode's seed."""

    def text(self) -> str:
        return json.dumps(self._asdict(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def verl_rows(
    id: str,
    *,
    seed: int = 0,
    limit: int | None = None,
    **env_options: Any,
) -> Iterator[dict[str, Any]]:
    """A row a task, in the environment's order.

    Columns: ``data_source`` (``callgym/ID``), ``agent_name`` (``single_turn_agent``, or ``tool_agent`` for dialogues),
    ``prompt`` (messages of ``role`` and ``content``), ``ability`` (``tool_use``), ``reward_model`` (``style``,
    ``ground_truth``), and ``extra_info``: ``split``, ``index``, ``env_id``, ``task_id``, ``seed``, ``tool_selection``
    (names), and for dialogues ``need_tools_kwargs``, ``tools_kwargs`` (name to ``create_kwargs``, whose
    ``reference`` is the ground truth) and ``interaction_kwargs``.

    Args:
        id: A registered id.
        seed: What the episodes' seeds follow from, with the task.
        limit: At most so many rows.
        env_options: Arguments of ``gym.make`` that JSON can hold; ``split`` is ``"train"`` unless given.

    Raises:
        ConfigurationError: An option could not be found again by another process, or a prompt cannot be written as
            messages; the message names it.
    """
    options = {"split": "train", **env_options}
    options.pop("observation", None)  # the reward function asks for none
    env = make_tool_env(id, **options)
    if options.get("data", "auto") == "auto" and env.source.kind in ("starter", "official"):
        options["data"] = env.source.kind  # what "auto" finds differs from machine to machine
    options = _as_json(options)
    for index in range(len(env.tasks) if limit is None else min(limit, len(env.tasks))):
        task_id = env.tasks[index].id
        reference = _Reference(id, options, task_id, derive_seed("verl", seed, id, task_id))
        observation, info = env.reset(seed=reference.seed, options={"task": index})
        names = [document["function"]["name"] for document in info["tools"]]
        yield _row(env, reference, index, observation, names)
    env.close()


def write_verl_rows(rows: Iterable[dict[str, Any]], out: str | Path) -> int:
    """Write rows to a ``.jsonl`` or ``.parquet`` file, and give their number; the file is there once it is whole.

    Raises:
        ConfigurationError: The file's name ends otherwise, which verl would not read.
        MissingPackageError: Parquet without ``pyarrow``.
    """
    path = Path(out)
    writers: dict[str, Callable[[Iterable[dict[str, Any]], Path], int]] = {
        ".jsonl": write_lines,
        ".json": write_lines,
        ".parquet": _write_parquet,
    }
    if path.suffix not in writers:
        raise ConfigurationError(f"verl reads files that end in .parquet, .jsonl or .json, got {path.name!r}")
    return writers[path.suffix](rows, path)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    unknown: float | None = None,
    **others: Any,
) -> dict[str, Any]:
    """verl's custom reward function: what the row's environment pays for an answer.

    It may be called from several threads at once.

    Args:
        data_source: The row's; begins with ``callgym/``.
        solution_str: What the policy wrote.
        ground_truth: The row's reference.
        extra_info: The row's; ``actions``, a list of texts in order, are played in place of ``solution_str``.
        unknown: Stands for a return that could not be computed (``custom_reward_function.reward_kwargs.unknown``).
        others: What verl passes beside it; not used.

    Returns:
        ``score``, the return; ``truncated``, 1.0 or 0.0; and each of the rubric's rewards by name, None where it does
        not apply or is not known.

    Raises:
        DataError: The row was not made by ``verl_rows``, or its task is gone.
        UnknownReturnError: The return is unknown, and ``unknown`` was not given: 0 would be a lie, and NaN would reach
            the weights.
    """
    reference = _read_reference(data_source, ground_truth)
    actions = _actions(solution_str, extra_info)
    env = _pool.take(reference)
    try:
        episode = _played(env, reference, actions)
        names = env.rubric.reward_names
    finally:
        _pool.give_back(reference, env)
    score = episode.episode_return if episode.episode_return is not None else unknown
    if score is None:
        raise UnknownReturnError(
            f"the return of task {reference.task!r} of {reference.id} could not be computed; mend the reward that says "
            "None, or set custom_reward_function.reward_kwargs.unknown to the number that stands for it"
        )
    parts = {name: found.value if (found := episode.rewards.get(name)) is not None else None for name in names}
    return {"score": score, "truncated": float(episode.ended == "truncated"), **parts}


def close_environments() -> None:
    """Close the environments that ``compute_score`` keeps for the next answers of this process."""
    _pool.close()


# Rows.


def _row(env: ToolEnv, reference: _Reference, index: int, observation: str, names: Sequence[str]) -> dict[str, Any]:
    extra: dict[str, Any] = {
        "split": env.split,
        "index": index,
        "env_id": reference.id,
        "task_id": reference.task,
        "seed": reference.seed,
        "tool_selection": list(names),
    }
    text = reference.text()
    dialogue = env.protocol == "dialogue"
    if dialogue:
        kwargs = {name: {"create_kwargs": {"reference": text}} for name in names}
        extra |= {"need_tools_kwargs": bool(names), "interaction_kwargs": {"name": "callgym", "reference": text}}
        # Parquet cannot hold an object without fields.
        extra |= {"tools_kwargs": kwargs} if kwargs else {}
    return {
        "data_source": f"{_SOURCE}{reference.id}",
        "agent_name": "tool_agent" if dialogue else "single_turn_agent",
        "prompt": _messages(env, observation),
        "ability": "tool_use",
        "reward_model": {"style": "rule", "ground_truth": text},
        "extra_info": extra,
    }


def _messages(env: ToolEnv, observation: str) -> list[dict[str, str]]:
    """The first observation as messages, for the chat template that verl puts around them."""
    if not isinstance(env.dialect, TurnDialect):
        return [{"role": "user", "content": observation}]  # plain lines: the template's turn holds them all
    dialect, task = env.dialect, env.task
    told = [dialect.defused(message.content or "") for message in task.messages if message.role == "system"]
    tools = [dialect.preamble(task.prompt_tools)] if task.prompt_tools else []
    opening = "\n\n".join(filter(None, [*told, *tools]))
    messages = [{"role": "system", "content": opening}] if opening else []
    messages += [_message(message, dialect) for message in task.messages if message.role != "system"]
    return [{"role": message["role"], "content": _only_characters(message["content"])} for message in messages]


def _message(message: Message, dialect: TurnDialect) -> dict[str, str]:
    words = dialect.defused(message.content or "")
    if message.role == "tool":
        answer = Answer(dialect.defused(message.name or ""), dialect.defused(message.tool_call_id or ""), words)
        return {"role": "user", "content": _inside_user_turn(dialect, dialect.results([answer]))}
    return {"role": message.role, "content": dialect.render_action(message.tool_calls, words)}


def _inside_user_turn(dialect: TurnDialect, turn: str) -> str:
    before, _, after = dialect.turn("user", _MARK).partition(_MARK)
    if not (turn.startswith(before) and turn.endswith(after)):
        raise ConfigurationError(
            f"the dialect {dialect.name!r} shows results in turns of another kind than the user's, which a prompt for "
            "verl cannot hold; choose hermes, or a dialect of plain lines such as python"
        )
    return turn[len(before) : len(turn) - len(after)]


def _as_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as another process can read them."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        plain = value.name if isinstance(value, Dialect) else os.fspath(value) if isinstance(value, Path) else value
        try:
            found[name] = json.loads(json.dumps(plain, allow_nan=False))
        except (TypeError, ValueError):
            raise ConfigurationError(
                f"the option {name}={repr(value)[:80]} is no JSON, so the reward function could not make the same "
                "environment; give names, or a folder for data="
            ) from None
    return found


def _write_parquet(rows: Iterable[dict[str, Any]], path: Path) -> int:
    try:
        import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingPackageError.for_extra("pyarrow", "train") from error
    listed = list(rows)
    with whole_path(path) as part:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(listed), part)
    return len(listed)


def _only_characters(text: str) -> str:
    """Half surrogates, which no file can hold, as U+FFFD: as the environment itself shows them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# The score.


class _Pool:
    """Environments by configuration: each answer has one to itself, and leaves it for the next."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[ToolEnv]] = defaultdict(list)

    def take(self, reference: _Reference) -> ToolEnv:
        with self._lock:
            idle = self._idle[_configuration(reference)]
            if idle:
                return idle.pop()
        try:
            return make_tool_env(reference.id, **{**reference.options, "observation": "delta"})
        except (TypeError, gym.error.Error) as error:
            raise DataError(f"the row's environment {reference.id!r} cannot be made: {error}") from error

    def give_back(self, reference: _Reference, env: ToolEnv) -> None:
        with self._lock:
            idle = self._idle[_configuration(reference)]
            if len(idle) < _MAX_IDLE:
                idle.append(env)
                return
        env.close()

    def close(self) -> None:
        with self._lock:
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()


_pool = _Pool()


def _configuration(reference: _Reference) -> str:
    return json.dumps([reference.id, reference.options], sort_keys=True)


def _played(env: ToolEnv, reference: _Reference, actions: Sequence[str]) -> Episode:
    """The record of an episode of these actions; truncated where it would go on."""
    try:
        env.reset(seed=reference.seed, options={"task": reference.task})
    except ConfigurationError as error:
        raise DataError(f"the row's task is not where it was: {error}") from error
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            episode: Episode = info["episode"]
            return episode
    return env.truncate()


def _actions(solution: Any, extra_info: Mapping[str, Any] | None) -> list[str]:
    given = (extra_info or {}).get("actions")
    actions = [solution] if given is None else list(given)
    if not actions or not all(isinstance(action, str) for action in actions):
        raise DataError(
            f"an answer is text, and 'actions' is a list of at least one; got {repr(given or solution)[:80]}"
        )
    return actions


def _read_reference(data_source: Any, text: Any) -> _Reference:
    try:
        found = json.loads(text)
        reference = _Reference(**found)
    except (TypeError, ValueError, RecursionError):
        raise DataError(
            f"the ground truth {repr(text)[:80]} of data source {repr(data_source)[:80]} is no reference to a task; "
            "rows are made by callgym.trainers.bridges.verl_rows.verl_rows, other sources need their own function"
        ) from None
    kinds = {"id": str, "options": dict, "task": str, "seed": int}
    wrong = [name for name, kind in kinds.items() if type(getattr(reference, name)) is not kind]
    if wrong or data_source != f"{_SOURCE}{reference.id}":
        raise DataError(
            f"the ground truth of data source {repr(data_source)[:80]} names {repr(reference.id)[:80]}"
            + (f", and its {wrong[0]!r} is no {kinds[wrong[0]].__name__}" if wrong else "")
            + "; a row's columns belong together, write the file again"
        )
    return reference
