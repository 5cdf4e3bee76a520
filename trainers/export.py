"""Episode files as rows to train reward models on::

    summary = export_episodes(["episodes.jsonl"], kind="preference", out="pairs.jsonl", margin=0.2)

Three kinds of row, each in the shape that TRL gives it, as JSON lines or as a dataset on disk:

- ``reward``: one row an episode, with its return and each reward by name;
- ``preference``: two episodes of one task whose returns differ by at least the margin;
- ``process``: one row an episode with a label a step; ``step_labels`` says what a label is.

Messages have the shape of ``callgym.message``, with empty text where a turn is nothing but calls. The tasks
are looked up again for them, in the data that the record names. A completion ends with the policy's last
words: what the tools answered to them was not written by it, and would give away whether they were right.
An action that could not be read stands there as it was written; reasoning is left out.
An unknown return is never taken for 0: such episodes are left out of ``reward`` and ``preference``, and counted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import gymnasium as gym

from callgym.dialects import Dialect
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode, Step
from callgym.errors import ConfigurationError, DataError, MissingPackageError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.message import assistant_chat, tool_chat
from callgym.rewards import final_answer
from callgym.rewards.matching import CallMatch, match_calls
from callgym.rollouts.episodes import EpisodeRow, read_rows
from callgym.task import Task
from callgym.whole_file import whole_file

__all__ = [
    "ExportFormat",
    "ExportKind",
    "ExportSummary",
    "completion_messages",
    "dataset_writer",
    "export_episodes",
    "filled",
    "step_labels",
    "write_lines",
]

ExportKind = Literal["reward", "preference", "process"]
ExportFormat = Literal["jsonl", "dataset"]

_SLACK = 1e-9  # 0.6 - 0.5 is a difference of 0.1
_FAULTS_SHOWN = 3  # as many as the environment tells the policy of
_JSON_COLUMNS = ("messages", "prompt", "completion", "chosen", "rejected", "tools")


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What an export wrote and what it left out."""

    kind: ExportKind
    """Kind of the rows."""
    out: Path
    """Where they are."""
    episodes: int
    """Episodes that were read."""
    rows: int
    """Rows that were written."""
    unknown: int
    """Episodes left out because their return is unknown."""
    unlabelled: int
    """Episodes left out because their task's goal says nothing of single steps."""

    def __str__(self) -> str:
        parts = [f"{self.rows} {self.kind} rows in {self.out}, from {self.episodes} episodes"]
        if self.unknown:
            parts.append(f"{self.unknown} of unknown return left out")
        if self.unlabelled:
            parts.append(f"{self.unlabelled} without step labels left out")
        return "; ".join(parts)


def export_episodes(
    paths: Sequence[str | Path],
    *,
    kind: ExportKind,
    out: str | Path,
    format: ExportFormat = "jsonl",
    margin: float = 0.1,
    pairs: int = 4,
    graded: bool = False,
    data: Any = None,
    advance: Callable[[int], object] = lambda episodes: None,
) -> ExportSummary:
    """Write episode files as rows of one kind; the same files give the same rows, in the same order.

    Files are read line by line, ``preference`` reads them twice. ``out`` is there once it is whole.

    Columns of ``reward``: id, env_id, task_id, prompt, completion (messages), tools, reward, rewards (name to
    value, or null), rubric. Of ``preference``: id, env_id, task_id, prompt, chosen, rejected (messages), tools,
    chosen_return, rejected_return, margin; TRL's RewardTrainer takes ``margin`` into its loss, so drop the
    column if you do not want that. Of ``process``: id, env_id, task_id, prompt (text), completions (texts),
    labels: TRL's stepwise format is of plain text (TRL 1.16 itself has no trainer for it). There the prompt and
    all completions, joined, are the whole conversation in the episode's dialect; from the second on, each begins
    with what the environment answered.

    Args:
        paths: Episode files with different names.
        kind: ``"reward"``, ``"preference"`` or ``"process"``.
        out: The file, or for ``format="dataset"`` the folder, that is written.
        format: ``"jsonl"``, or ``"dataset"`` for ``datasets.Dataset.save_to_disk``.
        margin: For ``preference``: the least difference of returns, above 0.
        pairs: For ``preference``: most pairs of one task. Best and worst are paired first, then second best
            and second worst, and so on, so that every episode is used once before one is used twice.
        graded: For ``process``: labels in [0, 1] instead of true and false.
        data: Where the tasks are, as in ``gym.make``; what the records name by default.
        advance: Is told of each episode when it was read.

    Raises:
        ConfigurationError: An option has a value it cannot have.
        DataError: A file is damaged, or a row's task is not found; the message names file and row.
        MissingPackageError: ``format="dataset"`` without the ``datasets`` package.
    """
    files, target = [Path(path) for path in paths], Path(out)
    _check_options(files, kind, target, format, margin, pairs)
    write = write_lines if format == "jsonl" else dataset_writer(lambda datasets, _: _columns(datasets, kind, graded))
    export = _Export(files, data, advance)
    if kind == "reward":
        rows = export.reward_rows()
    elif kind == "preference":
        rows = export.preference_rows(margin, pairs)
    else:
        rows = export.process_rows(graded)
    with contextlib.closing(export):
        count = write(rows, target)
    return ExportSummary(kind, target, export.episodes, count, export.unknown, export.unlabelled)


# The rows.


class _Candidate(NamedTuple):
    """An episode that may become one half of a pair."""

    value: float
    file: int
    row: int


@dataclass
class _Export:
    """One run over the files: finds the tasks, makes rows, counts what is left out."""

    files: list[Path]
    data: Any
    advance: Callable[[int], object] = lambda episodes: None
    episodes: int = 0
    unknown: int = 0
    unlabelled: int = 0
    _envs: dict[str, ToolEnv] = field(default_factory=dict)

    def close(self) -> None:
        for env in self._envs.values():
            env.close()

    def reward_rows(self) -> Iterator[dict[str, Any]]:
        for number, row in self._known():
            episode, path = row.episode, self.files[number]
            task, prompt, tools, dialect = self._played(episode, path, row.row)
            yield {
                **_identity(path, row),
                "prompt": prompt,
                "completion": completion_messages(task, episode, dialect),
                "tools": tools,
                "reward": episode.episode_return,
                "rewards": {name: score.value for name, score in episode.rewards.items()},
                "rubric": episode.rubric,
            }

    def preference_rows(self, margin: float, most: int) -> Iterator[dict[str, Any]]:
        groups: dict[bytes, list[_Candidate]] = defaultdict(list)
        seen: set[bytes] = set()
        for number, row in self._known():
            episode = row.episode
            key = _digest(episode.env_id, episode.task_id, episode.data, episode.rubric, episode.config, episode.prompt)
            done = key + _digest([step.action for step in episode.steps])
            if done not in seen:  # the same actions once more are no second answer
                seen.add(done)
                assert episode.episode_return is not None
                groups[key].append(_Candidate(episode.episode_return, number, row.row))
        wanted: dict[tuple[int, int], list[tuple[_Candidate, _Candidate]]] = defaultdict(list)
        for candidates in groups.values():
            for pair in _pairs(candidates, margin, most):
                for _, file, at in pair:
                    wanted[file, at].append(pair)
        del groups, seen
        yield from self._joined(wanted)

    def _joined(self, wanted: dict[tuple[int, int], list[tuple[_Candidate, _Candidate]]]) -> Iterator[dict[str, Any]]:
        """A row a pair, as soon as its second episode is read again; none is held longer than it is needed."""
        held: dict[tuple[int, int], EpisodeRow] = {}
        uses = {place: len(pairs) for place, pairs in wanted.items()}
        for number, path in enumerate(self.files):
            for row in read_rows(path):
                here = (number, row.row)
                if here not in wanted:
                    continue
                held[here] = row
                for better, worse in wanted[here]:
                    places = ((better.file, better.row), (worse.file, worse.row))
                    if not all(place in held for place in places):
                        continue
                    yield self._pair(*places, held)
                    for place in places:
                        uses[place] -= 1
                        if not uses[place]:
                            del held[place]

    def _pair(
        self, better: tuple[int, int], worse: tuple[int, int], held: dict[tuple[int, int], EpisodeRow]
    ) -> dict[str, Any]:
        chosen, rejected = held[better], held[worse]
        path, other = self.files[better[0]], self.files[worse[0]]
        task, prompt, tools, dialect = self._played(chosen.episode, path, chosen.row)
        high, low = chosen.episode.episode_return, rejected.episode.episode_return
        assert high is not None
        assert low is not None
        return {
            **_identity(path, chosen),
            "id": f"{path.stem}/{chosen.index}>{other.stem}/{rejected.index}",
            "prompt": prompt,
            "chosen": completion_messages(task, chosen.episode, dialect),
            "rejected": completion_messages(task, rejected.episode, dialect),
            "tools": tools,
            "chosen_return": high,
            "rejected_return": low,
            "margin": round(high - low, 9),
        }

    def process_rows(self, graded: bool) -> Iterator[dict[str, Any]]:
        for number, row in self._rows():
            episode, path = row.episode, self.files[number]
            task, *_ = self._played(episode, path, row.row)
            labels = step_labels(task, episode)
            if labels is None:
                self.unlabelled += 1
                continue
            before = ["", *(step.observation for step in episode.steps[:-1])]
            yield {
                **_identity(path, row),
                "prompt": episode.prompt,
                "completions": [text + step.action for text, step in zip(before, episode.steps, strict=True)],
                "labels": list(labels) if graded else [label == 1.0 for label in labels],
            }

    def _rows(self) -> Iterator[tuple[int, EpisodeRow]]:
        for number, path in enumerate(self.files):
            for row in read_rows(path):
                self.episodes += 1
                self.advance(1)
                if not row.episode.steps:
                    raise DataError(f"{path}, row {row.row}: the episode has no step; delete the row")
                yield number, row

    def _known(self) -> Iterator[tuple[int, EpisodeRow]]:
        for number, row in self._rows():
            if row.episode.episode_return is None:
                self.unknown += 1
            else:
                yield number, row

    def _played(
        self, episode: Episode, path: Path, row: int
    ) -> tuple[Task, list[dict[str, Any]], list[dict[str, Any]], Dialect]:
        """Task, first messages, tools and dialect of an episode, from the environment it was played in."""
        where = f"{path}, row {row}"
        env = self._env(episode, where)
        try:
            prompt, info = env.reset(seed=episode.seed, options={"task": episode.task_id})
        except ConfigurationError as error:
            raise DataError(f"{where}: {error}; was it played with other data?") from error
        if prompt != episode.prompt:
            raise DataError(
                f"{where}: task {episode.task_id!r} begins otherwise than the record; it was played with other "
                "data or changed by a perturbation: give the data it was played with"
            )
        return env.task, [filled(message) for message in info["messages"]], info["tools"], env.dialect

    def _env(self, episode: Episode, where: str) -> ToolEnv:
        data = self.data
        if data is None:
            if episode.data not in ("starter", "official"):
                raise DataError(f"{where}: the tasks came from data {episode.data!r}; say where they are (data=...)")
            data = episode.data
        key = json.dumps([episode.env_id, episode.config, episode.data], sort_keys=True)
        env = self._envs.get(key)
        if env is None:
            try:
                env = make_tool_env(episode.env_id, **{**episode.config, "observation": "prompt", "data": data})
            except (ConfigurationError, DataError, gym.error.Error) as error:
                raise DataError(f"{where}: its environment cannot be made again: {error}") from error
            self._envs[key] = env
        return env


def _pairs(candidates: list[_Candidate], margin: float, most: int) -> Iterator[tuple[_Candidate, _Candidate]]:
    """Up to ``most`` pairs (better, worse): the ends first, and everybody once before anybody twice."""
    ordered = sorted(candidates, key=lambda candidate: (-candidate.value, candidate.file, candidate.row))
    count = len(ordered)
    found = 0
    for shift in range(count):
        for place, better in enumerate(ordered):
            worse = ordered[count - 1 - (place + shift) % count]
            if better.value - worse.value >= margin - _SLACK:
                yield better, worse
                found += 1
                if found == most:
                    return


def _identity(path: Path, row: EpisodeRow) -> dict[str, Any]:
    return {"id": f"{path.stem}/{row.index}", "env_id": row.episode.env_id, "task_id": row.episode.task_id}


def completion_messages(task: Task, episode: Episode, dialect: Dialect) -> list[dict[str, Any]]:
    """What followed the prompt, as chat messages, up to and with the policy's last action."""
    messages: list[dict[str, Any]] = []
    last = len(episode.steps) - 1
    for number, step in enumerate(episode.steps):
        # Templates refuse results without calls before them: of two calls, one unreadable, the other stands.
        unread = step.errors and not step.calls
        messages.append(assistant_chat(step.action, ()) if unread else assistant_chat(step.content, step.calls))
        if number == last:
            break
        # A record may leave results out.
        answered = zip(step.calls, step.results, strict=False)
        messages += [tool_chat(dialect.result_text(result), call) for call, result in answered]
        said = _said_to(task, step, episode.steps[number + 1], dialect)
        if said:
            messages.append({"role": "user", "content": said})
    return messages


def _said_to(task: Task, step: Step, following: Step, dialect: Dialect) -> str:
    """What the user said after a step: what could not be read, documents of tools that are new, the next turn."""
    parts = [" ".join(error.message for error in step.errors[:_FAULTS_SHOWN])]
    if following.turn > step.turn and step.turn < len(task.user_turns):
        user = task.user_turns[step.turn]
        parts += [dialect.render_tools(user.add_tools) if user.add_tools else "", user.content]
    return "\n\n".join(filter(None, parts))


def filled(message: dict[str, Any]) -> dict[str, Any]:
    """The message with text, empty if need be."""
    # None is OpenAI's way to say "calls only"; chat templates that concatenate contents break on it.
    return {**message, "content": message["content"] or ""}


# The labels.


def step_labels(task: Task, episode: Episode) -> tuple[float, ...] | None:
    """A label a step in [0, 1]: can what it does be a part of the right answer? 1 is yes.

    Calls are paired with gold calls as the rewards do it: the best assignment within a turn, or within the
    episode where the goal's scope is that. Then

    - a step with calls: the mean over its calls and unreadable attempts. A call matched exactly is worth 1,
      one matched otherwise the F1 of its arguments, one without a partner (extra, hallucinated, repeated) and
      an unreadable one 0. The goal's free tools (a tool search) are worth 1;
    - a step of words only: the share of the gold calls due by then that was made, each at its F1; 1 where none
      was due. Due are the calls of the turn; where the scope is the episode, those of all turns so far, and at
      the last turn all;
    - where the task is to be declined: 1 for words, 0 for silence, a call and an attempt at one;
    - where a final answer is asked for: the last step, if it is words, is worth no more than ``final_answer``.

    None where the goal says nothing of single steps: it asks neither for certain calls nor for a decline (gold calls
    that are exemplary are one way of several), or the final answer cannot be scored. True labels are those that are
    exactly 1.
    """
    goal, decision = task.goal_of(CallsGoal), task.goal_of(DecisionGoal)
    if goal is not None and goal.exemplary:
        return None
    if goal is not None:
        labels = _call_labels(task, goal, episode)
    elif decision is not None and decision.decision == "decline":
        labels = [_decline_label(decision, step.calls, step.errors, step.content) for step in episode.steps]
    else:
        return None
    answer = final_answer(task, episode)
    if answer.applies and episode.steps and not (episode.steps[-1].calls or episode.steps[-1].errors):
        if answer.value is None:
            return None
        labels[-1] = min(labels[-1], answer.value)
    return tuple(labels)


def _decline_label(goal: DecisionGoal, calls: Sequence[Any], errors: Sequence[Any], content: str) -> float:
    if errors or any(call.name not in goal.free for call in calls):
        return 0.0
    return float(bool(calls or content.strip()))


class _Group(NamedTuple):
    """Gold calls, and the steps among whose calls their partners are sought."""

    gold: list[GoldCall]
    steps: list[int]


def _call_labels(task: Task, goal: CallsGoal, episode: Episode) -> list[float]:
    steps = episode.steps
    labels = [1.0] * len(steps)
    for group in _groups(goal, episode):
        made = [(at, call) for at in group.steps for call in steps[at].calls if call.name not in goal.free]
        unreadable = sum(len(steps[at].errors) for at in group.steps)
        match = match_calls(group.gold, [call for _, call in made], unreadable, goal.ordered)
        worth = {predicted: comparison.f1 for _, predicted, comparison in match.pairs}
        for at in group.steps:
            step = steps[at]
            if step.calls or step.errors:
                values = [worth.get(number, 0.0) for number, (place, _) in enumerate(made) if place == at]
                free = len(step.calls) - len(values)
                labels[at] = (sum(values) + free) / (len(step.calls) + len(step.errors))
            else:
                due = _due(task, goal, step.turn, len(group.gold))
                labels[at] = _share_made(match, due, [place for place, _ in made], at)
    return labels


def _groups(goal: CallsGoal, episode: Episode) -> list[_Group]:
    turns = [step.turn for step in episode.steps]
    if goal.scope == "episode":
        return [_Group([call for turn in goal.turns for call in turn], list(range(len(turns))))]
    count = max([len(goal.turns), *(turn + 1 for turn in turns)])
    return [
        _Group(
            list(goal.turns[number]) if number < len(goal.turns) else [],
            [at for at, turn in enumerate(turns) if turn == number],
        )
        for number in range(count)
    ]


def _due(task: Task, goal: CallsGoal, turn: int, gold: int) -> int:
    """How many of a group's gold calls, from the first, are due when turn ``turn`` ends."""
    if goal.scope == "turn" or turn >= len(task.user_turns):
        return gold
    return sum(len(calls) for calls in goal.turns[: turn + 1])


def _share_made(match: CallMatch, due: int, places: list[int], at: int) -> float:
    if not due:
        return 1.0
    return sum(c.f1 for gold, predicted, c in match.pairs if gold < due and places[predicted] < at) / due


# The files.


def _check_options(files: list[Path], kind: Any, out: Path, format: Any, margin: float, pairs: int) -> None:
    for name, value, known in (("kind", kind, get_args(ExportKind)), ("format", format, get_args(ExportFormat))):
        if value not in known:
            raise ConfigurationError(f"{name} is one of {', '.join(map(repr, known))}, got {value!r}")
    if not 0.0 < margin <= 1.0:
        raise ConfigurationError(f"margin lies above 0 and at most at 1, got {margin!r}")
    if pairs < 1:
        raise ConfigurationError(f"pairs is a whole number of at least 1, got {pairs!r}")
    if not files:
        raise ConfigurationError("there is no episode file to export")
    stems = [path.stem for path in files]
    if len(set(stems)) != len(stems):  # rows are named after them
        raise ConfigurationError(f"the episode files need different names, got {', '.join(map(str, files))}")
    if out.resolve() in [path.resolve() for path in files]:
        raise ConfigurationError(f"{out} is one of the episode files; give another file to write to")


def _line(row: dict[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which can only be written as an escape
        return json.dumps(row, allow_nan=False, separators=(",", ":"))
    return text


def write_lines(rows: Iterable[dict[str, Any]], out: Path) -> int:
    """Write beside ``out``, and put it there once all is written."""
    count = 0
    with whole_file(out) as file:
        for row in rows:
            file.write(_line(row) + "\n")
            count += 1
    return count


def dataset_writer(
    columns: Callable[[Any, Path], dict[str, Any]],
) -> Callable[[Iterable[dict[str, Any]], Path], int]:
    """What writes rows as a dataset on disk.

    Args:
        columns: From the package ``datasets`` and the JSON lines of the rows to the features; messages and tools are
            lists of its ``Json``.
    """
    try:
        import datasets
    except ImportError as error:
        raise MissingPackageError.for_extra("datasets", "train") from error
    if not hasattr(datasets, "Json"):
        raise MissingPackageError(
            f"datasets {datasets.__version__} cannot hold tool calls, whose arguments differ from row to row; "
            "pip install 'datasets>=4.7'"
        )

    def write(rows: Iterable[dict[str, Any]], out: Path) -> int:
        with tempfile.TemporaryDirectory() as folder:
            lines = Path(folder) / "rows.jsonl"
            count = write_lines(rows, lines)
            dataset = datasets.Dataset.from_generator(
                _encoded,
                features=datasets.Features(columns(datasets, lines)),
                cache_dir=str(Path(folder) / "cache"),
                gen_kwargs={"path": str(lines)},
                fingerprint=hashlib.blake2b(lines.read_bytes(), digest_size=8).hexdigest(),
            )
            dataset.save_to_disk(str(out))
        return count

    return write


def _columns(datasets: Any, kind: ExportKind, graded: bool) -> dict[str, Any]:
    text, number = datasets.Value("string"), datasets.Value("float64")
    # A JSON feature keeps each call's own arguments; a struct would give every call those of all others.
    messages = datasets.List(datasets.Json())
    columns: dict[str, Any] = {"id": text, "env_id": text, "task_id": text}
    if kind == "reward":
        columns |= {"prompt": messages, "completion": messages, "tools": messages}
        columns |= {"reward": number, "rewards": datasets.Json(), "rubric": text}
    elif kind == "preference":
        columns |= {"prompt": messages, "chosen": messages, "rejected": messages, "tools": messages}
        columns |= {"chosen_return": number, "rejected_return": number, "margin": number}
    else:
        label = number if graded else datasets.Value("bool")
        columns |= {"prompt": text, "completions": datasets.List(text), "labels": datasets.List(label)}
    return columns


def _encoded(path: str) -> Iterator[dict[str, Any]]:
    """The lines of a file, JSON columns as text: the feature takes it as it is, and no digit is lost."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            for name in _JSON_COLUMNS:
                if isinstance(row.get(name), list):
                    row[name] = [_line(item) for item in row[name]]
            if "rewards" in row:
                row["rewards"] = _line(row["rewards"])
            yield row


def _digest(*parts: Any) -> bytes:
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).digest()
