"""Near misses: right actions beside actions that miss by little, as a benchmark for reward models::

    pairs = list(near_misses("apibank/L1-v0", count=500, seed=0, split="test"))
    accuracy_by_kind(pairs, my_model)                      # my_model(prompt, action) -> float | None
    accuracy_by_kind(pairs, rule_scorers("apibank/L1-v0", split="test")["argument_f1"])

A pair is one moment of an episode with the oracle's action and one mutation of it (``callgym.trainers.mutations``
has one function a kind). Both are played before they are handed out: after the right action, and the oracle's from
there on, ``call_exact_match`` is 1, after the mutation it is 0 (``irrelevance_abstention``, where the task is to be
declined), and the return of the environment's default rubric is 1 and below 1. Where the task leaves open which calls
are made (the gold ones are exemplary, or any call that fits will do) the return alone tells: what a mutated call
brings about may be right. Pairs of kind ``equal_variant`` are the exception: their second action is as right as the
first, and a scorer must tell no difference. Left out are tasks whose own label is known to be faulty
(``callgym.envs.base.FLAGS``), and those that ask for an answer alone: their calls are neither right nor wrong. The same
arguments give the same bytes on every machine, and pairs stay in the split of their tasks.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from callgym.envs.base import FLAGS, ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal, GoldCall
from callgym.rewards import argument_f1, call_exact_match, get_rubric, irrelevance_abstention
from callgym.task import Task
from callgym.trainers.mutations import KINDS, TIE_KINDS, Decision, Die, ValuePool

__all__ = [
    "NearMiss",
    "Prompt",
    "Scorer",
    "accuracy_by_kind",
    "accuracy_table",
    "near_misses",
    "read_near_misses",
    "rule_scorers",
    "write_near_misses",
]

_DRAWS = 8  # mutations tried at one task before the next is taken


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a scorer is shown beside the action."""

    task_id: str
    """The task."""
    messages: tuple[dict[str, Any], ...]
    """The conversation so far in the chat shape; read it, do not change it."""
    tools: tuple[dict[str, Any], ...]
    """The tools in OpenAI's shape; read them, do not change them."""
    text: str
    """All of it as text, in the environment's dialect."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A right action and another one."""

    kind: str
    """What was done to the right action: a name in ``callgym.trainers.mutations.KINDS``."""
    prompt: Prompt
    """Where both may be written."""
    chosen: str
    """The right action."""
    rejected: str
    """The other one."""
    expected: Literal["chosen", "tie"]
    """``tie`` where both are right: no scorer may prefer one."""

    @property
    def task_id(self) -> str:
        """The task."""
        return self.prompt.task_id

    def as_row(self) -> dict[str, Any]:
        """The pair as JSON: TRL's preference format (prompt, chosen, rejected as messages, tools), and the rest."""
        return {
            "kind": self.kind,
            "task_id": self.task_id,
            "expected": self.expected,
            "prompt": list(self.prompt.messages),
            "tools": list(self.prompt.tools),
            "chosen": [{"role": "assistant", "content": self.chosen}],
            "rejected": [{"role": "assistant", "content": self.rejected}],
            "text": self.prompt.text,
        }

    @classmethod
    def from_row(cls, row: Any, where: str) -> NearMiss:
        """The inverse of ``as_row``.

        Raises:
            DataError: The row is no near miss; the message opens with ``where``.
        """
        try:
            prompt = Prompt(row["task_id"], tuple(row["prompt"]), tuple(row["tools"]), row["text"])
            ((chosen,), (rejected,)) = row["chosen"], row["rejected"]
            pair = cls(row["kind"], prompt, chosen["content"], rejected["content"], row["expected"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{where}: no near miss ({error!r}); write the file again: callgym near-misses") from error
        texts = (pair.kind, pair.task_id, pair.chosen, pair.rejected, prompt.text)
        if pair.expected not in ("chosen", "tie") or not all(isinstance(text, str) for text in texts):
            raise DataError(f"{where}: no near miss; write the file again: callgym near-misses")
        return pair


Scorer = Callable[[Prompt, str], float | None]
"""From a prompt and an action's text to a score, higher where it is better; None where it is unknown."""


# Making pairs.


def near_misses(
    env_id: str, count: int, seed: int = 0, kinds: Sequence[str] | None = None, **env_options: Any
) -> Iterator[NearMiss]:
    """Up to ``count`` pairs, no two alike, the kinds in turn; fewer where the data hold no more.

    Args:
        env_id: A registered id.
        count: Most pairs.
        seed: Another seed gives other pairs.
        kinds: Names in ``callgym.trainers.mutations.KINDS``; all of them by default. A kind that nothing in the
            data allows (a wrong date where there is none) gives no pair.
        env_options: Arguments of ``gym.make``: ``split``, ``data``, ``dialect`` and so on.

    Raises:
        ConfigurationError: There is no such kind, id or option, a number is too small, or no task asks for calls
            or to be declined.
        DataError: The data is missing or damaged.
    """
    kinds = tuple(KINDS) if kinds is None else tuple(dict.fromkeys(kinds))
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ConfigurationError(f"no near miss of kind {unknown}; there are: {', '.join(KINDS)}")
    if count < 1 or seed < 0:
        raise ConfigurationError(f"count is at least 1 and seed at least 0, got {count!r} and {seed!r}")
    referee = _Referee(env_id, env_options)
    if not any(map(_asks_for_calls_or_none, referee.env.tasks)):
        raise ConfigurationError(
            f"{env_id} has no task whose calls are right or wrong, and near misses are made of calls; "
            "answers have none yet"
        )
    return _in_turn([_of_kind(referee, kind, seed) for kind in kinds], count)


def _in_turn(sources: list[Iterator[NearMiss]], count: int) -> Iterator[NearMiss]:
    made = 0
    while sources:
        for source in tuple(sources):
            pair = next(source, None)
            if pair is None:
                sources.remove(source)
                continue
            yield pair
            made += 1
            if made == count:
                return


def _of_kind(referee: _Referee, kind: str, seed: int) -> Iterator[NearMiss]:
    """Pairs of one kind: a pass over all tasks in random order, and another, until a pass finds nothing new."""
    count = len(referee.env.tasks)
    seen: set[tuple[int, str]] = set()
    round_ = 0
    found = True
    while found:
        found = False
        for index in Die("near-miss", seed, kind, round_).order(count):
            pair = _at_task(referee, kind, index, Die("near-miss", seed, kind, round_, index))
            if pair is not None and (index, pair.rejected) not in seen:
                seen.add((index, pair.rejected))
                found = True
                yield pair
        round_ += 1


def _at_task(referee: _Referee, kind: str, index: int, die: Die) -> NearMiss | None:
    moments = referee.moments(index)
    if not moments:
        return None
    moment = die.pick(moments)
    ties = kind in TIE_KINDS
    for _ in range(_DRAWS):
        action = KINDS[kind](moment.decision, die)
        if action is None or action == moment.decision.action:
            continue
        readable = not moment.decision.dialect.parse(action).errors
        if readable != (kind == "truncated_call"):
            verdict = referee.judge(moment.prompt, action)
            if verdict.right is ties and verdict.episode_return is not None and (verdict.episode_return == 1.0) is ties:
                return NearMiss(kind, moment.prompt, moment.decision.action, action, "tie" if ties else "chosen")
    return None


# Playing them.


class _Moment(NamedTuple):
    """A moment at which the oracle calls, or declines."""

    prompt: Prompt
    decision: Decision


class _Verdict(NamedTuple):
    """What our rewards say of an episode that went on as the oracle would after one action."""

    right: bool | None
    """Call exact match; abstention where the task is to be declined; a full return where neither is asked for. None
    where it is unknown."""
    scores: Mapping[str, float | None]
    """Scorer name to score."""
    episode_return: float | None
    """The return of the environment's default rubric."""


class _Referee:
    """Plays the oracle up to a moment, then an action, then the oracle to the end."""

    def __init__(self, env_id: str, env_options: Mapping[str, Any]) -> None:
        self.env: ToolEnv = make_tool_env(env_id, **{**env_options, "observation": "prompt"})
        self._pool: ValuePool | None = None
        self._rubric = get_rubric(self.env.default_rubric)
        self._moments: dict[int, tuple[_Moment, ...]] = {}
        self._last: tuple[tuple[Prompt, str], _Verdict] | None = None

    def moments(self, index: int) -> tuple[_Moment, ...]:
        """The moments of a task; none where its oracle does not do what is asked, or what is asked is no call."""
        if index not in self._moments:
            self._moments[index] = tuple(self._find_moments(index))
        return self._moments[index]

    def _find_moments(self, index: int) -> list[_Moment]:
        env = self.env
        task = env.tasks[index]
        if task.meta.keys() & set(FLAGS) or not _asks_for_calls_or_none(task):
            return []
        goal, decision = task.goal_of(CallsGoal), task.goal_of(DecisionGoal)
        declines = goal is None and decision is not None and decision.decision == "decline"
        free = goal.free if goal is not None else ()
        text, info = env.reset(seed=0, options={"task": index})
        messages, tools = tuple(info["messages"]), tuple(info["tools"])
        found: list[_Moment] = []
        done = False
        while not done:
            action = env.oracle_action()
            prompt = Prompt(task.id, messages, tools, text)
            text, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
            calls = info["calls"]
            if not (calls or found) if declines else any(call.name not in free for call in calls):
                found.append(_Moment(prompt, self._decision(prompt, action, calls, goal)))
            messages += tuple(info["messages"])
            tools = tuple(info.get("tools", tools))
        verdict = self._verdict(task, info["episode"])
        return found if verdict.right and verdict.episode_return == 1.0 else []

    def _decision(self, prompt: Prompt, action: str, calls: Sequence[Any], goal: CallsGoal | None) -> Decision:
        if self._pool is None:
            self._pool = ValuePool(self.env.tasks)
        gold = [call for turn in goal.turns for call in turn] if goal is not None else []
        return Decision(
            dialect=self.env.dialect,
            text=prompt.text,
            action=action,
            calls=tuple(calls),
            gold=tuple(_gold_of(call, gold) for call in calls),
            ordered=goal is not None and goal.ordered,
            tools={tool["function"]["name"]: tool["function"]["parameters"] for tool in prompt.tools},
            pool=self._pool,
        )

    def judge(self, prompt: Prompt, action: str) -> _Verdict:
        """What comes of an action at ``prompt``."""
        key = (prompt, action)
        if self._last is not None and self._last[0][0] is prompt and self._last[0][1] == action:
            return self._last[1]
        env = self.env
        text, _ = env.reset(seed=0, options={"task": prompt.task_id})
        done = False
        while text != prompt.text and not done:
            text, _, terminated, truncated, info = env.step(env.oracle_action())
            done = terminated or truncated
        if done:
            raise ConfigurationError(
                f"{env.env_id} has no such moment in task {prompt.task_id!r}; were the pairs made with other options?"
            )
        _, _, terminated, truncated, info = env.step(action)
        while not (terminated or truncated):
            _, _, terminated, truncated, info = env.step(env.oracle_action())
        verdict = self._verdict(env.task, info["episode"])
        self._last = (key, verdict)
        return verdict

    def _verdict(self, task: Task, episode: Episode) -> _Verdict:
        goal = task.goal_of(CallsGoal)
        compared = goal is not None and not goal.exemplary
        value, _ = self._rubric.score(task, episode)
        scores = {
            "call_exact_match": call_exact_match(task, episode).value if compared else None,
            "argument_f1": argument_f1(task, episode).value if compared else None,
            "default rubric": value,
        }
        abstained = irrelevance_abstention(task, episode)
        told = scores["call_exact_match"] if compared else abstained.value if abstained.applies else value
        return _Verdict(None if told is None else told == 1.0, scores, value)


def _asks_for_calls_or_none(task: Task) -> bool:
    """Whether calls are right or wrong in the task: it asks for certain ones, for any that fits, or for none."""
    decision = task.goal_of(DecisionGoal)
    return task.goal_of(CallsGoal) is not None or (decision is not None and decision.decision in ("call", "decline"))


def _gold_of(call: Any, gold: Sequence[GoldCall]) -> GoldCall | None:
    return next((g for g in gold if g.name == call.name and g.reference().arguments == call.arguments), None)


def rule_scorers(env_id: str, **env_options: Any) -> dict[str, Scorer]:
    """Our rule rewards as scorers: ``call_exact_match``, ``argument_f1`` and the return of the default rubric.

    They play the action, and the oracle's from there on. A reward that does not ask for what the task is about
    (calls, where the task is to be declined) is unknown there.

    Args:
        env_id: The id that the pairs were made in.
        env_options: The options they were made with.

    Raises:
        ConfigurationError: An option is wrong; or, from a scorer, there is no such prompt.
    """
    referee = _Referee(env_id, env_options)

    def scorer(name: str) -> Scorer:
        return lambda prompt, action: referee.judge(prompt, action).scores[name]

    return {name: scorer(name) for name in ("call_exact_match", "argument_f1", "default rubric")}


# Measuring scorers.


def accuracy_by_kind(
    pairs: Iterable[NearMiss], scorer: Scorer, tolerance: float = 0.0
) -> dict[str, dict[str, int | float | None]]:
    """How often a scorer is right, kind by kind.

    A pair is right where the right action scores higher; where a tie is expected, if the scores differ by no more
    than ``tolerance``.

    Args:
        pairs: The pairs.
        scorer: What is measured.
        tolerance: The largest difference that passes for an expected tie: a model's scores are hardly ever the same.

    Returns:
        Kind to ``pairs`` (their number), ``right``, ``ties`` (also where none was expected), ``unknown`` (a score
        was None) and ``accuracy``: right over those that are known, None where none is.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        count = counts[pair.kind]
        count["pairs"] += 1
        chosen, rejected = scorer(pair.prompt, pair.chosen), scorer(pair.prompt, pair.rejected)
        if chosen is None or rejected is None:
            count["unknown"] += 1
            continue
        tie = abs(chosen - rejected) <= (tolerance if pair.expected == "tie" else 0.0)
        count["ties"] += tie
        count["right"] += tie if pair.expected == "tie" else chosen > rejected
    return {kind: _with_accuracy(counts[kind]) for kind in sorted(counts, key=_place)}


def _place(kind: str) -> int:
    return list(KINDS).index(kind) if kind in KINDS else len(KINDS)


def _with_accuracy(count: Mapping[str, int]) -> dict[str, int | float | None]:
    known = count["pairs"] - count["unknown"]
    numbers: dict[str, int | float | None] = {name: count[name] for name in ("pairs", "right", "ties", "unknown")}
    return {**numbers, "accuracy": count["right"] / known if known else None}


def accuracy_table(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Results of ``accuracy_by_kind`` by scorer as a table, and the mean over the kinds of real misses."""
    kinds = sorted({kind for result in results.values() for kind in result}, key=_place)
    widths = {name: max(10, len(name) + 2) for name in results}
    lines = [f"{'kind':<20}{'pairs':>6}" + "".join(f"{name:>{width}}" for name, width in widths.items())]
    for kind in kinds:
        pairs = max(result[kind]["pairs"] for result in results.values() if kind in result)
        cells = [result.get(kind, {}).get("accuracy") for result in results.values()]
        lines.append(f"{kind:<20}{pairs:>6}" + _cells(cells, widths.values()))
    means = [_mean_of_misses(result) for result in results.values()]
    lines.append(f"{'mean of the misses':<26}" + _cells(means, widths.values()))
    return "\n".join(lines)


def _cells(values: Sequence[float | None], widths: Iterable[int]) -> str:
    return "".join(
        f"{'-' if value is None else format(value, '.3f'):>{width}}"
        for value, width in zip(values, widths, strict=True)
    )


def _mean_of_misses(result: Mapping[str, Mapping[str, Any]]) -> float | None:
    known = [numbers["accuracy"] for kind, numbers in result.items() if kind not in TIE_KINDS]
    known = [value for value in known if value is not None]
    return sum(known) / len(known) if known else None


# Files.


def write_near_misses(path: str | Path, pairs: Iterable[NearMiss]) -> int:
    """Write a JSON line a pair and return their number."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            file.write(json.dumps(pair.as_row(), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read_near_misses(path: str | Path) -> Iterator[NearMiss]:
    """The pairs of a file that ``write_near_misses`` wrote.

    Raises:
        DataError: The file is missing, or a row is no near miss; the message names file and row.
    """
    path = Path(path)
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open(encoding="utf-8"))
        except FileNotFoundError:
            raise DataError(f"{path} does not exist; it is written by: callgym near-misses ID --out {path}") from None
        for number, line in enumerate(file, 1):
            where = f"{path}, row {number}"
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where}: not valid JSON ({error}); write the file again") from error
            yield NearMiss.from_row(row, where)
