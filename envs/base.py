"""ToolEnv: an episode of tool use as a Gymnasium environment of texts.

A benchmark's environment is a subclass that says where its tasks come from and which backend answers
its calls::

    class MyEnv(ToolEnv):
        family = "mine"
        protocol = "dialogue"

        def load_tasks(self, source, split):
            return my_tasks

        def make_backend(self, source):
            return PythonBackend({"Add": add})

Everything else (parsing, running, scoring, observing, recording) is here, once.
"""

from __future__ import annotations

import hashlib
import inspect
import marshal
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import gymnasium as gym
import numpy as np

from callgym.call import ToolCall, ToolResult
from callgym.data import DataSource, find_source
from callgym.dialects import Dialect, ParsedAction, get_dialect
from callgym.dialects.base import MAX_LENGTH as MAX_ACTION_LENGTH
from callgym.envs.perturbations.disguise import DisguisedSession, disguised
from callgym.envs.perturbations.specs import get_perturbation, spec_of
from callgym.episode import Ending, Episode, ParseError, Step
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal, StateGoal
from callgym.message import assistant_chat, tool_chat
from callgym.rewards import Rubric, get_rubric
from callgym.schema import Coercion, ToolSchema
from callgym.spaces import TextSpace
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends import Session, ToolBackend, checked_acall, checked_call, waits
from callgym.tool_backends.base import known_state
from callgym.tool_backends.faults import Fault, FaultySession, get_faults
from callgym.tool_backends.spec import get_backend

__all__ = [
    "CUT_ACTION",
    "FLAGS",
    "MAX_ACTION_LENGTH",
    "MAX_OBSERVATION_LENGTH",
    "Perturbation",
    "Protocol",
    "ToolEnv",
    "check_choice",
    "make_tool_env",
    "without_flagged",
]

MAX_OBSERVATION_LENGTH = 1_048_576
"""Longest observation, in characters; an episode that would exceed it is truncated."""
FLAGS = ("official_gold", "gold_fault", "label_fault")
"""Keys of ``Task.meta`` that say what is wrong with a task's own label: the official evaluation calls it
wrong, a tool refuses it, or it was not recorded as it should be."""
CUT_ACTION = "the action was cut off at the writer's limit; nothing of it was run"
"""What the record of an action says that ``truncate`` was given."""
_MAX_RESULT_LENGTH = 32_768
_MAX_CALLS_PER_ACTION = 64
_PREPARED_TASKS = 2048
_MAX_SEED = 2**63
_COERCIONS = ("strict", "lenient")
_ANY_DIALECT = "auto"

Protocol = Literal["single", "step", "dialogue"]
Perturbation = Callable[[Task, np.random.Generator], Task]
"""Changes a task before it is played: the seam for renamed tools, distractors and the like."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a task gives at every reset, worked out once."""

    task: Task
    prompt: str
    info: bytes
    asks_state: bool
    """Whether the goal asks for the backend's state at the end."""
    schemas: dict[str, ToolSchema]


# A memo of a pure function of (task, dialect), shared by all environments of the process so that many
# of them side by side cost no more than one. An entry holds its task, so the task's id stays its own.
_prepared: OrderedDict[tuple[int, int], tuple[_Prepared, Dialect]] = OrderedDict()


class ToolEnv(gym.Env[str, str]):
    """Base of all CallGym environments.

    Actions and observations are text. ``info`` after ``reset``: ``task_id``, ``messages`` and ``tools``
    (plain dicts in OpenAI's shape, fresh copies), ``turn``, ``data``. After ``step``: ``calls``,
    ``results``, ``messages`` (the new ones), ``rewards`` (name to score), ``turn``, ``tools`` where a user
    turn changed them, and at the end ``episode``, the Episode record.

    ``protocol`` says how an episode runs. ``single`` and ``step``: one action, then the end (``step``
    is teacher-forced: the recorded history comes first). ``dialogue``: the policy acts until done;
    calls run and their results come back, an action without calls hands over to the scripted user,
    and the episode ends when the user has nothing more to say.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}  # type: ignore[misc]
    family: ClassVar[str]
    """Name of the benchmark; the first half of its ids."""
    protocol: Protocol = "single"
    """How the running episode goes; see ``protocol_of``."""
    dialect: Dialect
    """How calls are written in the running episode; see ``dialect_of``."""
    default_dialect: ClassVar[str] = "hermes"
    default_rubric: ClassVar[str] = "default"
    """The rubric that ``rubric="default"`` stands for."""

    def __init__(
        self,
        *,
        split: str = "test",
        data: str | os.PathLike[str] | Sequence[Task] = "auto",
        dialect: str | Dialect | None = None,
        rubric: str | Rubric = "default",
        max_steps: int = 16,
        backend: ToolBackend | str | None = None,
        perturb: Sequence[Perturbation | str | Mapping[str, Any]] = (),
        observation: Literal["prompt", "delta"] = "prompt",
        coercion: Literal["strict", "lenient"] | None = None,
        faults: str | Mapping[str, Any] | Fault | Sequence[str | Mapping[str, Any] | Fault] = (),
        render_mode: str | None = None,
    ) -> None:
        """Create the environment; ``gym.make(id, ...)`` takes these arguments.

        Args:
            split: Part of the data: ``"train"``, ``"test"``, or what else the benchmark has.
            data: ``"auto"``, ``"official"``, ``"starter"``, a folder, or tasks; see ``callgym.data``.
            dialect: How calls are written; the environment's own dialect by default.
            rubric: What is paid: a name in ``callgym.rewards.RUBRICS`` or a Rubric.
            max_steps: Most actions in an episode; then it is truncated.
            backend: What answers the calls; the environment's own by default. A ToolBackend, or its name:
                ``"http://host:port"`` (``callgym serve``) or ``"recorded:PATH"`` (``tool_backends.spec``).
            perturb: Changes to each task before it is played, in order: names such as ``"remove_tool"`` or
                ``"rename:0.5"``, objects with options (``callgym.envs.perturbations.specs``), or functions.
            observation: ``"prompt"``: the whole conversation so far; ``"delta"``: only what is new.
            coercion: How arguments of the wrong type are read (``ToolSchema.coerce``): ``"strict"``: as they are
                written; ``"lenient"``: as the type that is asked for, where they can be. By default strict, but
                text as the type that is asked for in dialects whose values are bare text. Backend, rewards and
                record get the same.
            faults: What goes wrong with the tools, by the episode's seed: names such as ``"latency"`` or
                ``"errors:0.1"``, or objects with options (``callgym.tool_backends.faults.specs``); one or a list, the
                first nearest to the tools. What was injected is in ``Episode.faults``.
            render_mode: None or ``"ansi"``: ``render()`` returns the conversation as text.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            DataError: Data is missing or damaged.
        """
        _check_options(max_steps, perturb, observation, render_mode, self.metadata["render_modes"])
        self.dialect = self._given_dialect = get_dialect(dialect or self.default_dialect)
        self.rubric = get_rubric(self.default_rubric if rubric == "default" else rubric)
        self._pays_steps = bool(self.rubric.steps)
        self.max_steps = max_steps
        self.split = split
        self.observation_mode = observation
        self.render_mode = render_mode
        self._coercion = None if coercion is None else check_choice("coercion", coercion, _COERCIONS)
        self._settle_modes()
        self.action_space = TextSpace(MAX_ACTION_LENGTH)
        self.observation_space = TextSpace(MAX_OBSERVATION_LENGTH)
        if isinstance(data, (str, os.PathLike)):
            self.source = find_source(self.family, data)
            self.tasks: Sequence[Task] = self.load_tasks(self.source, split)
        else:
            self.source = DataSource("given")
            self.tasks = tuple(data)
        if not self.tasks:
            raise DataError(f"{type(self).__name__} found no tasks for split={split!r} and data={data!r}")
        self._perturb = self._perturbations(perturb)
        self._backend = self.make_backend(self.source) if backend is None else get_backend(backend)
        self._index_of: dict[str, int] | None = None
        self._config = {
            "split": split,
            "dialect": self.dialect.name,
            "max_steps": max_steps,
            "observation": observation,
        }
        if coercion is not None:  # records of environments without it stay as they were
            self._config["coercion"] = coercion
        if isinstance(backend, str):  # one without a name could not be found again
            self._config["backend"] = backend
        if self._perturb:
            self._config["perturb"] = [spec_of(change) for change in self._perturb]
        self._faults = get_faults(faults)
        self._faulty: FaultySession | None = None
        if self._faults:
            self._config["faults"] = [fault.spec for fault in self._faults]
        self._sweep: list[int] = []
        self._session: Session | None = None
        self._opened: Session | None = None  # what the backend opened: the same, but for other names of tools
        self._now: _Prepared | None = None
        self._done = True
        # What a benchmark leaves as it is costs nothing on every step.
        kind = type(self)
        self._finds_tools = self.protocol == "dialogue" and kind.tools_found is not ToolEnv.tools_found
        self._varies = kind.protocol_of is not ToolEnv.protocol_of or kind.dialect_of is not ToolEnv.dialect_of
        self._watches_turns = kind.turn_ended is not ToolEnv.turn_ended
        self._limits_turns = kind.turn_exhausted is not ToolEnv.turn_exhausted

    # What a benchmark says of itself.

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        """The tasks of one split. Raises DataError or ConfigurationError where there are none."""
        raise NotImplementedError

    def make_backend(self, source: DataSource) -> ToolBackend:
        """What answers the calls of these tasks."""
        raise NotImplementedError

    def tools_found(self, call: ToolCall, result: ToolResult) -> Sequence[Tool]:
        """Tools that can be called from now on because of this call: the answer of a tool search, say."""
        return ()

    def protocol_of(self, task: Task) -> Protocol:
        """How an episode of this task goes, for a benchmark whose tasks differ in it."""
        return self.protocol

    def dialect_of(self, task: Task) -> Dialect:
        """How calls are written in this task, for a benchmark whose tasks differ in it."""
        return self._given_dialect

    def run_call(self, call: ToolCall) -> ToolResult:
        """Run one call in the episode's session: by default after a check against the tool's schema."""
        assert self._session is not None
        return checked_call(self._session, call, self._tools)

    async def arun_call(self, call: ToolCall) -> ToolResult:
        """As ``run_call``, awaiting the tool where it waits."""
        assert self._session is not None
        return await checked_acall(self._session, call, self._tools)

    def hands_over(self, parsed: ParsedAction) -> bool:
        """In a dialogue: whether an action without results ends the user's turn. By default unless a call in it
        could not be read: that is said to the policy, which may mend it."""
        return not parsed.errors

    def turn_ended(self) -> None:
        """A user turn is over, or the episode in the middle of it: the time to look at the state."""

    def turn_exhausted(self, parsed: ParsedAction) -> bool:
        """Whether the user turn has had its most actions with this one, so that the episode is truncated."""
        return False

    def final_state(self) -> dict[str, Any] | None:
        """The state that the record keeps: by default the session's, where the goal asks for one and it is known."""
        if self._session is None or not self._playing().asks_state:
            return None
        return known_state(self._session)

    # Gymnasium's interface.

    @property
    def env_id(self) -> str:
        """The registered id, or the class name for an environment made without one."""
        return self.spec.id if self.spec is not None else type(self).__name__

    @property
    def config(self) -> dict[str, Any]:
        """The arguments that shape an episode, as its record has them."""
        return dict(self._config)

    @property
    def backend(self) -> ToolBackend:
        """What answers the calls."""
        return self._backend

    @property
    def task(self) -> Task:
        """The task of the running episode. Raises ``gymnasium.error.ResetNeeded`` before ``reset``."""
        return self._playing().task

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seeds the choice of tasks, and everything random in this episode.
            options: ``{"task": id or index}`` plays that task; ``{"sweep": True}`` draws without
                replacement until every task was played once.

        Returns:
            The first observation and ``info``.

        Raises:
            ConfigurationError: There is no such task or option.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._sweep = []
        index = self._choose(options)
        if self._session is not None:
            self._session.close()
        self._seed = int(self.np_random.integers(_MAX_SEED)) if seed is None else seed
        now = self._now = self._prepare(index)
        if self._varies:
            self.protocol, self.dialect = self.protocol_of(now.task), self.dialect_of(now.task)
            self._settle_modes()
        session = self._opened = self._backend.open(now.task, self._session_seed(now.task))
        if self._faults:
            spared = self._brings_tools if self._finds_tools else None
            session = self._faulty = FaultySession(session, self._faults, self._session_seed(now.task), spared)
        self._session = disguised(session, now.task)
        self._steps: list[Step] = []
        self._texts = [now.prompt]
        self._length = len(now.prompt)
        self._turn = 0
        self._tools = now.schemas
        self._tools_changed = False
        self._done = False
        info: dict[str, Any] = marshal.loads(now.info)
        info["turn"] = 0
        info["data"] = self.source.kind
        return now.prompt, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Read the action, run its calls, score, and observe.

        Nothing that a policy writes raises. The reward is NaN where the return could not be computed.

        Raises:
            TypeError: The action is no string: a programming error.
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
        """
        action, parsed = self._read(action)
        return self._go_on(action, parsed, tuple([self.run_call(call) for call in parsed.calls]))

    async def astep(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """As ``step``, and the same to the byte, for many episodes in one event loop: it awaits tools that wait.

        The calls of one action are made one after another, as in ``step``: they share a state.
        """
        action, parsed = self._read(action)
        return self._go_on(action, parsed, tuple([await self.arun_call(call) for call in parsed.calls]))

    @property
    def waits(self) -> bool:
        """Whether the tools of the running episode wait, so that ``astep`` is worth its while."""
        return self._session is not None and waits(self._session)

    def _read(self, action: str) -> tuple[str, ParsedAction]:
        """The action as it is kept, and what it says."""
        if not isinstance(action, str):
            raise TypeError(f"an action is text (str), got {type(action).__name__}: {str(action)[:80]!r}")
        self._playing()
        if self._done:
            raise gym.error.ResetNeeded("the episode is over; call reset() before the next step()")
        action = _only_characters(str(action))  # numpy's text is a subclass, which JSON records must not hold
        return action, self._parse(action)

    def _go_on(
        self, action: str, parsed: ParsedAction, results: tuple[ToolResult, ...]
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Observe, record and score an action whose calls gave these results."""
        now = self._playing()
        if self._finds_tools:
            self._add_found(parsed.calls, results)
        turn = self._turn
        delta, ended, messages = self._answer(parsed, results)
        delta, ended = self._extend(action, delta, ended)
        self._steps.append(
            Step.trusted(
                action=action,
                turn=turn,
                content=parsed.content,
                reasoning=parsed.reasoning,
                calls=parsed.calls,
                errors=parsed.errors,
                results=results,
                observation=delta,
                reward=0.0,
            )
        )
        info: dict[str, Any] = {
            "task_id": now.task.id,
            "calls": parsed.calls,
            "results": results,
            "messages": messages,
            "turn": self._turn,
            "rewards": {},
        }
        if parsed.dialect:
            info["dialect"] = parsed.dialect
        if self._tools_changed:
            info["tools"] = [schema.tool.as_chat() for schema in self._tools.values()]
            self._tools_changed = False
        reward = 0.0
        if self._pays_steps:
            reward = self._pay_step(now.task)
        if ended != "running":
            episode = self._finish(ended)
            info["episode"] = episode
            info["rewards"] = {name: score.value for name, score in episode.rewards.items()}
            last = episode.steps[-1].reward
            reward = float("nan") if last is None else last
        observation = delta if self.observation_mode == "delta" else "".join(self._texts)
        return observation, reward, ended == "terminated", ended == "truncated", info

    def render(self) -> str | None:  # type: ignore[override,unused-ignore]
        """The conversation so far as text, in render mode ``"ansi"``; else None."""
        return "".join(self._texts) if self.render_mode == "ansi" and self._now is not None else None

    def close(self) -> None:
        """Close the running session."""
        if self._session is not None:
            self._session.close()
            self._session = self._opened = None
        self._now = None
        self._done = True

    # What trainers and checks need beside it.

    def oracle_action(self) -> str:
        """An action that does what the goal asks for next: the policy to measure others against.

        Raises:
            ConfigurationError: The goal's kind has no oracle.
        """
        task = self._playing().task
        calls = task.goal_of(CallsGoal)
        done = [step for step in self._steps if step.turn == self._turn and step.calls]
        if calls is not None and self._turn < len(calls.turns) and not done and calls.turns[self._turn]:
            gold = [call.reference() for call in calls.turns[self._turn]]
            return self.dialect.render_action(gold)
        return self.dialect.render_action((), _oracle_words(task))

    def truncate(self, action: str | None = None) -> Episode:
        """End the running episode here, as a trainer does when its token budget is spent.

        The record is scored as it stands and says ``truncated``.

        Args:
            action: What was written of an action that the budget cut off. It is on record as an attempt that cannot
                be read; nothing of it is run, and it is no answer.

        Raises:
            gymnasium.error.ResetNeeded: No episode is running, or no action was taken yet.
        """
        if action is not None and not self._done:
            self._record_cut(_only_characters(action))
        if self._done or not self._steps:
            raise gym.error.ResetNeeded("truncate() needs a running episode with at least one step")
        return self._finish("truncated")

    def _record_cut(self, action: str) -> None:
        error = ParseError(kind="truncated", position=len(action), message=CUT_ACTION)
        self._extend(action, "", "truncated")
        step = Step.trusted(
            action=action, turn=self._turn, content="", reasoning="", calls=(), errors=(error,), results=(),
            observation="", reward=0.0,
        )  # fmt: skip
        self._steps.append(step)
        if self._pays_steps:
            self._pay_step(self._playing().task)

    # How an episode runs.

    def _playing(self) -> _Prepared:
        if self._now is None:
            raise gym.error.ResetNeeded("no episode was begun; call reset() first")
        return self._now

    def _perturbations(self, given: Sequence[Perturbation | str | Mapping[str, Any]]) -> tuple[Perturbation, ...]:
        return tuple(get_perturbation(spec, self.tasks) for spec in given)

    def _choose(self, options: dict[str, Any] | None) -> int:
        count = len(self.tasks)
        if not options:
            return int(self.np_random.integers(count))
        unknown = options.keys() - {"task", "sweep"}
        if unknown:
            raise ConfigurationError(f"reset knows the options 'task' and 'sweep', got {sorted(unknown)}")
        wanted = options.get("task")
        if wanted is not None:
            return self._find(wanted)
        if not options.get("sweep"):
            return int(self.np_random.integers(count))
        if not self._sweep:
            self._sweep = self.np_random.permutation(count).tolist()
        return self._sweep.pop()

    def _find(self, wanted: Any) -> int:
        count = len(self.tasks)
        if isinstance(wanted, str):
            if self._index_of is None:
                self._index_of = {task.id: index for index, task in enumerate(self.tasks)}
            if wanted in self._index_of:
                return self._index_of[wanted]
            raise ConfigurationError(
                f"{self.env_id} has no task {wanted!r} in split {self.split!r}; "
                f"the first of its {count} tasks is {self.tasks[0].id!r}"
            )
        if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and 0 <= wanted < count:
            return int(wanted)
        raise ConfigurationError(f"options['task'] is a task's id or an index below {count}, got {wanted!r}")

    def _prepare(self, index: int) -> _Prepared:
        task = self.tasks[index]
        if self._perturb:
            rng = np.random.default_rng(_digest("perturb", self._seed, task.id))
            for change in self._perturb:
                task = change(task, rng)
            return _work_out(task, self.dialect_of(task))
        dialect = self.dialect_of(task) if self._varies else self.dialect
        key = (id(task), id(dialect))
        found = _prepared.get(key)
        if found is None:
            found = _prepared[key] = (_work_out(task, dialect), dialect)
            if len(_prepared) > _PREPARED_TASKS:
                _prepared.popitem(last=False)
        return found[0]

    def _session_seed(self, task: Task) -> int:
        return _digest("session", self._seed, task.id)

    def _brings_tools(self, call: ToolCall, result: ToolResult) -> bool:
        """Whether an answer must stay whole under faults, because the environment reads it, too."""
        return bool(self.tools_found(call, result))

    def _parse(self, action: str) -> ParsedAction:
        parsed = self.dialect.parse(action)
        if len(parsed.calls) > _MAX_CALLS_PER_ACTION:
            message = f"the action makes {len(parsed.calls)} calls; at most {_MAX_CALLS_PER_ACTION} are run"
            error = ParseError(kind="too_long", position=0, message=message)
            return parsed._replace(calls=(), errors=(*parsed.errors, error))
        if self._as_written or not parsed.calls:
            return parsed
        modes = self._coercion_modes(get_dialect(parsed.dialect)) if parsed.dialect else self._modes
        return parsed._replace(calls=tuple([self._typed(call, modes) for call in parsed.calls]))

    def _typed(self, call: ToolCall, modes: Sequence[Coercion]) -> ToolCall:
        schema = self._tools.get(call.name)
        if schema is None or not call.arguments:
            return call
        arguments = call.arguments
        for mode in modes:
            arguments = schema.coerce(arguments, mode)
        return ToolCall.trusted(name=call.name, arguments=arguments, id=call.id)

    def _settle_modes(self) -> None:
        """Look once how arguments are read in the running episode; where the dialect differs from action to action,
        it is looked at again in each."""
        self._modes = self._coercion_modes(self.dialect)
        self._as_written = not self._modes and self.dialect.name.partition(":")[0] != _ANY_DIALECT

    def _coercion_modes(self, dialect: Dialect) -> tuple[Coercion, ...]:
        """How arguments written in a dialect are read, one mode after the other."""
        text: tuple[Coercion, ...] = () if dialect.typed or self._coercion == "strict" else ("text",)
        return (*text, "lenient") if self._coercion == "lenient" else text

    def _add_found(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> None:
        if isinstance(self._session, DisguisedSession):
            found = self._session.found(self.tools_found)
        else:
            pairs = zip(calls, results, strict=True)
            found = [tool for call, result in pairs for tool in self.tools_found(call, result)]
        new = [tool for tool in found if tool.name not in self._tools]
        if new:
            self._tools = {**self._tools, **_compile(new)}
            self._tools_changed = True

    def _answer(
        self, parsed: ParsedAction, results: tuple[ToolResult, ...]
    ) -> tuple[str, Ending, list[dict[str, Any]]]:
        """What comes back, how the episode stands, and the new messages."""
        dialogue = self.protocol == "dialogue"
        messages = [assistant_chat(parsed.content or None, parsed.calls)]
        delta = ""
        if results:
            texts = [self._result_text(result) for result in results]
            delta = self.dialect.join_results(parsed.calls, texts)
            messages += [tool_chat(text, call) for text, call in zip(texts, parsed.calls, strict=True)]
        fault = " ".join([error.message for error in parsed.errors[:3]]) if parsed.errors else ""
        if dialogue and not results and self.hands_over(parsed):
            return self._next_user_turn(fault, messages)
        if fault:
            delta = self.dialect.add_reply(delta, fault) if delta else self.dialect.render_reply(fault)
            messages.append({"role": "user", "content": fault})
        if not dialogue:
            return delta, "terminated", messages
        exhausted = self._limits_turns and self.turn_exhausted(parsed)
        return delta, "truncated" if exhausted else "running", messages

    def _result_text(self, result: ToolResult) -> str:
        text = self.dialect.result_text(result)
        if len(text) > _MAX_RESULT_LENGTH:
            text = self.dialect.result_text(_shortened(text))
        return _only_characters(text)

    def _extend(self, action: str, delta: str, ended: Ending) -> tuple[str, Ending]:
        """Add action and answer to the conversation, within its limits of steps and of length."""
        if ended == "running" and len(self._steps) + 1 >= self.max_steps:
            ended = "truncated"
        shown = action if len(action) <= MAX_ACTION_LENGTH else action[:MAX_ACTION_LENGTH]
        if self._length + len(shown) + len(delta) > MAX_OBSERVATION_LENGTH:
            delta = delta[: max(0, MAX_OBSERVATION_LENGTH - self._length - len(shown))]
            shown = shown[: MAX_OBSERVATION_LENGTH - self._length]
            ended = "truncated" if ended == "running" else ended
        self._length += len(shown) + len(delta)
        self._texts += (shown, delta)
        return delta, ended

    def _next_user_turn(self, fault: str, messages: list[dict[str, Any]]) -> tuple[str, Ending, list[dict[str, Any]]]:
        """What the user says next, after what was wrong with the action that handed over, if anything was."""
        task = self._playing().task
        if self._watches_turns:
            self.turn_ended()
        if self._turn >= len(task.user_turns):
            return (self.dialect.render_reply(fault) if fault else ""), "terminated", messages
        user = task.user_turns[self._turn]
        self._turn += 1
        if user.add_tools or user.remove_tools:
            self._tools = {n: s for n, s in self._tools.items() if n not in user.remove_tools}
            self._tools.update(_compile(user.add_tools))
            self._tools_changed = True
        documents = self.dialect.render_tools(user.add_tools) if user.add_tools else ""
        content = "\n\n".join(filter(None, (fault, documents, user.content)))
        messages.append({"role": "user", "content": content})
        return _only_characters(self.dialect.render_reply(content)), "running", messages

    def _finish(self, ended: Ending) -> Episode:
        now = self._playing()
        self._done = True
        if self._watches_turns and ended == "truncated":
            self.turn_ended()
        episode = Episode.trusted(
            env_id=self.env_id,
            task_id=now.task.id,
            seed=self._seed,
            config=dict(self._config),
            data=self.source.kind,
            prompt=now.prompt,
            steps=tuple(self._steps),
            ended=ended,
            state=self.final_state(),
            faults=None if self._faulty is None else self._faulty.record(),
            rewards={},
            rubric=self.rubric.name,
            episode_return=None,
        )
        value, scores = self.rubric.score(now.task, episode)
        # The record is filled in here, before anybody has it; from now on it is frozen.
        vars(episode).update(rewards=scores, episode_return=value)
        if value is not None and self._pays_steps:
            value -= math.fsum(step.reward or 0.0 for step in episode.steps[:-1])
        vars(episode.steps[-1])["reward"] = value
        return episode

    def _pay_step(self, task: Task) -> float:
        """What the step just taken earns at once; the step's record says so, too."""
        reward = self.rubric.step_reward(task, self._steps, len(self._steps) - 1)
        vars(self._steps[-1])["reward"] = reward
        return reward


def check_choice(name: str, value: Any, known: Sequence[str]) -> Any:
    """The value, where it is one of those that an option can have.

    Raises:
        ConfigurationError: It is not; the message lists them.
    """
    if value not in known:
        raise ConfigurationError(f"{name} is one of {', '.join(map(repr, known))}, got {value!r}")
    return value


def without_flagged(tasks: Sequence[Task]) -> list[Task]:
    """The tasks whose own label has no fault that is known (``FLAGS``)."""
    return [task for task in tasks if task.meta.keys().isdisjoint(FLAGS)]


def make_tool_env(id: str, **options: Any) -> ToolEnv:
    """``gym.make`` without wrappers, for code that needs a ToolEnv's own methods.

    Raises:
        ConfigurationError: The id is registered and is no tool environment, or takes no such option.
    """
    spec = gym.spec(id)
    entry = spec.entry_point if isinstance(spec, gym.envs.registration.EnvSpec) else None
    made = gym.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
    if not (isinstance(made, type) and issubclass(made, ToolEnv)):
        raise ConfigurationError(f"{id} is no tool environment; its class is {made!r}")
    unknown = options.keys() - (known := _options_of(made))
    if unknown:
        raise ConfigurationError(f"{id} takes no option {sorted(unknown)}; its options are: {', '.join(sorted(known))}")
    env = gym.make(id, disable_env_checker=True, **options).unwrapped
    assert isinstance(env, ToolEnv)
    return env


def _options_of(env: type[ToolEnv]) -> set[str]:
    """The keyword arguments that a class takes, those that it hands on to its bases included."""
    found: set[str] = set()
    for base in env.__mro__:
        if issubclass(base, ToolEnv) and "__init__" in vars(base):
            parameters = inspect.signature(base).parameters.values()
            found.update(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)
            if all(p.kind is not p.VAR_KEYWORD for p in parameters):
                break
    return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _work_out(task: Task, dialect: Dialect) -> _Prepared:
    own = task.family in dialect.instructed_by
    instruction, cue = (_text(task.meta.get(name)) if own else None for name in ("instruction", "cue"))
    prompt = dialect.render_prompt(task.messages, task.prompt_tools, instruction, cue)
    prompt = _only_characters(prompt)
    if len(prompt) > MAX_OBSERVATION_LENGTH:
        raise DataError(f"the prompt of task {task.id!r} has {len(prompt)} characters; at most 2**20 fit")
    hidden = task.meta.get("hidden_tools")  # callable, but shown nowhere: a policy must not get their documents
    hidden = hidden if isinstance(hidden, list) else []
    info = {
        "task_id": task.id,
        "messages": [message.as_chat() for message in task.messages],
        "tools": [tool.as_chat() for tool in task.tools if tool.name not in hidden],
    }
    # marshal turns these plain values into a fresh deep copy at every reset, at C speed: nothing that a
    # caller does to `info` can reach the next episode.
    asks_state = task.goal_of(StateGoal) is not None
    return _Prepared(task, prompt, marshal.dumps(info), asks_state, _compile(task.tools))


_MAX_COMPILED = 4096
_compiled: OrderedDict[int, ToolSchema] = OrderedDict()  # by id of the tool, which the schema holds


def _compile(tools: Sequence[Tool]) -> dict[str, ToolSchema]:
    compiled = {}
    for tool in tools:
        schema = _compiled.get(id(tool))
        if schema is None:
            schema = _compiled[id(tool)] = ToolSchema(tool)
            if len(_compiled) > _MAX_COMPILED:
                _compiled.popitem(last=False)
        compiled[tool.name] = schema
    return compiled


def _check_options(
    max_steps: Any, perturb: Any, observation: Any, render_mode: Any, render_modes: Sequence[str]
) -> None:
    if not isinstance(max_steps, int) or isinstance(max_steps, bool) or max_steps < 1:
        raise ConfigurationError(f"max_steps is a whole number of at least 1, got {max_steps!r}")
    if observation not in ("prompt", "delta"):
        raise ConfigurationError(f"observation is 'prompt' or 'delta', got {observation!r}")
    if render_mode is not None and render_mode not in render_modes:
        raise ConfigurationError(f"render_mode is None or one of {list(render_modes)}, got {render_mode!r}")
    if isinstance(perturb, (str, bytes, Mapping)) or not isinstance(perturb, Sequence):
        raise ConfigurationError(f"perturb is a list of perturbations, got {perturb!r}")


def _digest(purpose: str, seed: int, task_id: str) -> int:
    """A 64-bit seed that differs by purpose and task, the same on every machine."""
    text = f"{purpose}/{seed}/{task_id}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _only_characters(text: str) -> str:
    """Replace half surrogates, which no encoding can carry, by U+FFFD; all else stays as it is."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _shortened(text: str) -> ToolResult:
    kept = text[:_MAX_RESULT_LENGTH]
    return ToolResult(content=f"{kept}... ({len(text) - len(kept)} more characters were cut)")


def _oracle_words(task: Task) -> str:
    from callgym.goal import AnswerGoal, TextGoal

    text = task.goal_of(TextGoal)
    if text is not None:
        return text.reference
    answer = task.goal_of(AnswerGoal)
    if answer is not None:
        return str(answer.accepted[0])
    decision = task.goal_of(DecisionGoal)
    if decision is not None and decision.reply:
        return decision.reply
    if decision is not None and decision.decision == "decline":
        return "None of the tools can do that."
    if task.goal_of(CallsGoal) is not None:
        return "Done."
    raise ConfigurationError(f"task {task.id!r} has a goal of kind {task.goal.kind!r}, which has no oracle")
