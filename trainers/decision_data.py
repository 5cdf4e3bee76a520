"""Rows that teach when to call: imitation, preferences and scored replies, made of tasks with four candidate replies::

    rows = decision_rows(starter_tasks("train"), "preference")
    write_decision_data("pairs", rows, "dataset")                # TRL's DPOTrainer and RewardTrainer take the folder

What When2Call publishes as training files, from the tasks of its open form (``callgym.envs.when2call``): in each,
one of call, ask, decline and answer is right, and a reply of each kind stands in ``meta["answers"]``. Kinds of row:

- ``sft``: the conversation with the right reply (SFTTrainer);
- ``preference``: the right reply and one of the other three (DPOTrainer, RewardTrainer);
- ``reward``: each of the four replies with what ``irrelevance_abstention`` pays for it (TRL's unpaired preferences).

What is taught is what is paid: a task is left out whose right reply is not paid 1, or whose label is known to be
faulty, and no reply is rejected that is paid 1.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from callgym.call import ToolCall
from callgym.data import find_source
from callgym.dialects import Dialect, get_dialect
from callgym.envs.base import FLAGS
from callgym.envs.when2call.rows import calls_in
from callgym.envs.when2call.starter import generate, starter_tasks
from callgym.envs.when2call.tasks import DECISIONS, Decision, load_open, load_train
from callgym.episode import Episode, Step
from callgym.errors import ConfigurationError, DataError
from callgym.goal import DecisionGoal
from callgym.message import assistant_chat
from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.reply_kind import reply_kind
from callgym.task import Task
from callgym.trainers.export import ExportFormat, dataset_writer, filled, write_lines
from callgym.trainers.mutations import Die

__all__ = [
    "DecisionForm",
    "DecisionKind",
    "DecisionSummary",
    "decision_rows",
    "export_decisions",
    "published_rows",
    "write_decision_data",
]

DecisionKind = Literal["sft", "preference", "reward"]
DecisionForm = Literal["chat", "written", "text"]
"""How a row says it: ``chat``, messages with ``tool_calls``; ``written``, messages with calls as the dialect's text;
``text``, no messages, but the environment's first observation and the action."""

_CALL_TAG = "<TOOLCALL>"


@dataclass(frozen=True, slots=True)
class DecisionSummary:
    """What ``export_decisions`` wrote."""

    kind: DecisionKind
    out: Path
    """Where the rows are."""
    tasks: int
    """Tasks that were read for them."""
    rows: int

    def __str__(self) -> str:
        return f"{self.rows} {self.kind} rows in {self.out}, from {self.tasks} tasks"


def decision_rows(
    tasks: Iterable[Task],
    kind: DecisionKind,
    dialect: str | Dialect = "hermes",
    seed: int = 0,
    form: DecisionForm = "chat",
) -> Iterator[dict[str, Any]]:
    """Rows of one kind, in the order of the tasks; the same arguments give the same rows on every machine.

    All have ``id`` and ``decision`` (the right one). Beside them, with ``prompt`` and replies as lists of messages,
    or with ``form="text"`` as texts and without ``tools``:

    * ``sft``: ``messages``, ``tools``; as text ``prompt`` and ``completion``;
    * ``preference``: ``prompt``, ``chosen``, ``rejected``, ``tools``, ``reason``. Of three tasks in a row with the
      same decision, each rejects another of the three other replies;
    * ``reward``: ``prompt``, ``completion``, ``tools``, ``score`` in [0, 1], ``label`` (whether it is 1), ``reason``:
      four rows a task, in the official order of the replies.

    Args:
        tasks: Tasks of the open form; an endless iterator gives endless rows.
        kind: ``"sft"``, ``"preference"`` or ``"reward"``.
        dialect: How calls are written where they are text.
        seed: Of what is rejected.
        form: ``"chat"``; ``"written"`` for chat templates that know no ``tool_calls``; ``"text"`` for tokenizers
            without a template.

    Raises:
        ConfigurationError: There is no such kind, form or dialect; or, while reading, a task has no four replies.
    """
    _check_choice("kind", kind, DecisionKind)
    shape = _Shape(_check_choice("form", form, DecisionForm), get_dialect(dialect))
    judged = filter(None, map(_judge, tasks))
    if kind == "sft":
        return (shape.sft(found.task, found.decision, found.replies[found.decision]) for found in judged)
    if kind == "preference":
        return _preferences(judged, shape, seed)
    return (row for found in judged for row in _rewards(found, shape))


def published_rows(
    folder: str | Path,
    which: Literal["sft", "preference"],
    dialect: str | Dialect = "hermes",
    form: DecisionForm = "chat",
) -> Iterator[dict[str, Any]]:
    """The rows of a published training file, in the shapes of ``decision_rows``.

    The files do not say of which kind a reply is: ``decision`` and ``reason`` are read from the replies. Rows whose
    calls cannot be read, or in which the right one calls a tool that is not offered, are left out.

    Args:
        folder: The official files.
        which: ``"sft"`` or ``"preference"``.
        dialect: As in ``decision_rows``.
        form: As in ``decision_rows``.

    Raises:
        ConfigurationError: There is no such file, form or dialect.
        DataError: The file is missing or damaged; the message names file, row and mend.
    """
    if which not in ("sft", "preference"):
        raise ConfigurationError(
            f"there are published files of 'sft' and 'preference', got {which!r}; rows of other kinds are made from "
            "tasks with four replies: the starter's, or the official split 'test'"
        )
    shape = _Shape(_check_choice("form", form, DecisionForm), get_dialect(dialect))
    tasks = load_train(Path(folder), which, _decide)
    return filter(None, (_published(task, shape) for task in tasks))


def write_decision_data(out: str | Path, rows: Iterable[dict[str, Any]], format: ExportFormat = "jsonl") -> int:
    """Write rows of one kind and form, and return their number; ``out`` is there once it is whole.

    Args:
        out: The file, or for ``format="dataset"`` the folder, that is written.
        rows: What ``decision_rows`` or ``published_rows`` gave.
        format: ``"jsonl"``, or ``"dataset"`` for ``datasets.load_from_disk``.

    Raises:
        ConfigurationError: There is no such format.
        DataError: There is no row.
        MissingPackageError: ``format="dataset"`` without the ``datasets`` package.
    """
    _check_choice("format", format, ExportFormat)
    write = write_lines if format == "jsonl" else dataset_writer(_columns)
    return write(_at_least_one(rows), Path(out))


def export_decisions(
    *,
    kind: DecisionKind,
    out: str | Path,
    data: str = "starter",
    split: str = "train",
    count: int | None = None,
    format: ExportFormat = "jsonl",
    form: DecisionForm = "chat",
    dialect: str | Dialect = "hermes",
    seed: int = 0,
    advance: Callable[[int], object] = lambda tasks: None,
) -> DecisionSummary:
    """Make rows and write them: what the command ``callgym decisions`` does.

    Args:
        kind: As in ``decision_rows``.
        out: As in ``write_decision_data``.
        data: ``"starter"``, or official data as in ``gym.make``: of these, ``train`` are the published training
            files, ``test`` are the judge's tasks, to measure on.
        split: ``"train"`` or ``"test"``.
        count: Most rows. Starter tasks are made for as many; by default the starter set's are taken, and all
            official ones.
        format: As in ``write_decision_data``.
        form: As in ``decision_rows``.
        dialect: As in ``decision_rows``.
        seed: Of the starter tasks, and of what is rejected.
        advance: Is told of each task when it was read.

    Raises:
        ConfigurationError: An option has a value it cannot have.
        DataError: Data is missing or damaged, or gives no row.
        MissingPackageError: ``format="dataset"`` without the ``datasets`` package.
    """
    if (count is not None and count < 1) or seed < 0:
        raise ConfigurationError(f"count is at least 1 and seed at least 0, got {count!r} and {seed!r}")
    folder = find_source("when2call", data).folder
    counter = _Counter(advance)
    if folder is not None and split == "train":
        rows: Iterable[dict[str, Any]] = counter.counted(published_rows(folder, kind, dialect, form))  # type: ignore[arg-type]
    else:
        tasks = _starter(split, count, seed) if folder is None else load_open(folder, split)
        rows = decision_rows(counter.counted(tasks), kind, dialect, seed, form)
    written = write_decision_data(out, islice(rows, count), format)
    return DecisionSummary(kind, Path(out), counter.count, written)


def _starter(split: str, count: int | None, seed: int) -> Iterable[Task]:
    if count is None and seed == 0:
        return starter_tasks(split)
    return generate(split, seed) if count is not None else islice(generate(split, seed), len(starter_tasks(split)))


@dataclass
class _Counter:
    advance: Callable[[int], object]
    count: int = 0

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.count += 1
            self.advance(1)
            yield item


# The replies of a task, and what is paid for them.


class _Reply(NamedTuple):
    calls: tuple[ToolCall, ...]
    words: str


class _Judged(NamedTuple):
    """A task with the replies that are to be taught from it."""

    task: Task
    decision: Decision
    """The right one."""
    replies: Mapping[Decision, _Reply]
    scores: Mapping[Decision, float]


def _judge(task: Task) -> _Judged | None:
    """None where the right reply is not one to be taught."""
    goal, answers = task.goal_of(DecisionGoal), task.meta.get("answers")
    if goal is None or not goal.worded or not isinstance(answers, dict) or not answers.keys() >= DECISIONS.keys():
        raise ConfigurationError(
            f"task {task.id!r} has no four replies to make rows of; rows are made of When2Call's tasks of the open "
            "form: starter_tasks(split), load_open(folder)"
        )
    if task.meta.keys() & set(FLAGS):
        return None
    replies = {decision: _read(decision, str(answers[kind])) for kind, decision in DECISIONS.items()}
    scores = {decision: _score(task, reply) for decision, reply in replies.items()}
    if scores[goal.decision] != 1.0:
        return None
    return _Judged(task, goal.decision, replies, scores)


def _read(decision: Decision, text: str) -> _Reply:
    return _Reply(calls_in(_CALL_TAG + text), "") if decision == "call" else _Reply((), text)


def _score(task: Task, reply: _Reply) -> float:
    step = Step(action=reply.words, content=reply.words, calls=reply.calls)
    value = irrelevance_abstention(task, Episode(env_id="", task_id=task.id, seed=0, steps=(step,))).value
    return 0.0 if value is None else value


# The rows.


@dataclass(frozen=True, slots=True)
class _Shape:
    """How prompts and replies are said."""

    form: DecisionForm
    dialect: Dialect

    def sft(self, task: Task, decision: Decision, reply: _Reply) -> dict[str, Any]:
        row = {"id": task.id, "decision": decision}
        if self.form == "text":
            return row | {"prompt": self.prompt(task), "completion": self.reply(reply)}
        return row | {"messages": self.prompt(task) + self.reply(reply), "tools": self._tools(task)}

    def preference(
        self, task: Task, decision: Decision, chosen: _Reply, rejected: _Reply, reason: str
    ) -> dict[str, Any]:
        return {
            "id": task.id,
            "decision": decision,
            "prompt": self.prompt(task),
            "chosen": self.reply(chosen),
            "rejected": self.reply(rejected),
            **self.tools(task),
            "reason": reason,
        }

    def prompt(self, task: Task) -> Any:
        if self.form == "text":
            return self.dialect.render_prompt(task.messages, task.prompt_tools)
        return [filled(message.as_chat()) for message in task.messages]

    def reply(self, reply: _Reply) -> Any:
        if self.form == "chat":
            return [assistant_chat(reply.words, reply.calls)]
        text = self.dialect.render_action(reply.calls, reply.words)
        return text if self.form == "text" else [assistant_chat(text, ())]

    def tools(self, task: Task) -> dict[str, Any]:
        """The column of the tools; as text, the prompt documents them."""
        return {} if self.form == "text" else {"tools": self._tools(task)}

    def _tools(self, task: Task) -> list[dict[str, Any]]:
        return [tool.as_chat() for tool in task.prompt_tools]


def _preferences(judged: Iterable[_Judged], shape: _Shape, seed: int) -> Iterator[dict[str, Any]]:
    draws: dict[Decision, _Draws] = {decision: _Draws(decision, seed) for decision in DECISIONS.values()}
    for task, decision, replies, scores in judged:
        wrong = [other for other in replies if scores[other] < 1.0]
        if wrong:
            rejected = draws[decision].draw(wrong)
            reason = _fault(task, decision, rejected)
            yield shape.preference(task, decision, replies[decision], replies[rejected], reason)


class _Draws:
    """Wrong decisions beside a right one, each as often as the others: whoever had none yet in a round is drawn."""

    def __init__(self, right: Decision, seed: int) -> None:
        self._die = Die("decision", seed, right)
        self._drawn: dict[Decision, int] = defaultdict(int)

    def draw(self, wrong: Sequence[Decision]) -> Decision:
        fewest = min(self._drawn[decision] for decision in wrong)
        drawn = self._die.pick([decision for decision in wrong if self._drawn[decision] == fewest])
        self._drawn[drawn] += 1
        return drawn


def _rewards(judged: _Judged, shape: _Shape) -> Iterator[dict[str, Any]]:
    task, right = judged.task, judged.decision
    for decision, reply in judged.replies.items():
        score = judged.scores[decision]
        yield {
            "id": f"{task.id}/{decision}",
            "decision": right,
            "prompt": shape.prompt(task),
            "completion": shape.reply(reply),
            **shape.tools(task),
            "score": score,
            "label": score == 1.0,
            "reason": f"right to {_due(task, right)}" if score == 1.0 else _fault(task, right, decision),
        }


def _fault(task: Task, right: Decision, done: Decision) -> str:
    if done == right:
        return f"should {_due(task, right)}, but not so"
    return f"should {_due(task, right)}, not {done}"


def _due(task: Task, right: Decision) -> str:
    """What is right, in words."""
    if right == "ask":
        goal = task.goal_of(DecisionGoal)
        return f"ask for {' or '.join(goal.missing) if goal is not None and goal.missing else 'what is missing'}"
    return right


# The published files.


def _decide(words: str) -> Decision:
    return reply_kind(words).best or "answer"


def _published(task: Task, shape: _Shape) -> dict[str, Any] | None:
    """None where the rejected reply's calls cannot be read."""
    decision: Decision = task.meta["decision"]  # type: ignore[assignment]
    reply = _tagged(str(task.meta["reply"]))
    if "rejected" not in task.meta:
        return shape.sft(task, decision, reply)
    try:
        rejected = _tagged(str(task.meta["rejected"]))
    except (LookupError, TypeError, ValueError, RecursionError):
        return None
    done: Decision = "call" if rejected.calls else _decide(rejected.words)
    return shape.preference(task, decision, reply, rejected, _fault(task, decision, done))


def _tagged(text: str) -> _Reply:
    """A reply whose calls stand in the published files' tags."""
    return _Reply(calls_in(text), text.partition(_CALL_TAG)[0].strip())


# The files.


def _check_choice(name: str, value: Any, choices: Any) -> Any:
    if value not in get_args(choices):
        raise ConfigurationError(f"{name} is one of {', '.join(map(repr, get_args(choices)))}, got {value!r}")
    return value


def _at_least_one(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise DataError("there is no row to write: no task has a right reply that is paid 1")


def _columns(datasets: Any, lines: Path) -> dict[str, Any]:
    """The features of rows, by the types in the first."""
    kinds = {str: datasets.Value("string"), float: datasets.Value("float64"), bool: datasets.Value("bool")}
    with lines.open(encoding="utf-8") as file:
        first = json.loads(file.readline())
    return {name: kinds.get(type(value), datasets.List(datasets.Json())) for name, value in first.items()}
