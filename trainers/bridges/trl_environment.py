"""TRL's ``environment_factory``: an environment's tools as the methods of a class, played in the one ToolEnv::

    environments = TrlEnvironments("bfcl/web_search_base-v0")
    trainer = GRPOTrainer(
        model, args=GRPOConfig(...), processing_class=tokenizer, train_dataset=environments.dataset(),
        environment_factory=environments.environment_factory, reward_funcs=environments.reward_funcs,
    )

TRL generates, reads the calls by the tokenizer's own template, and runs the methods; each call is one action of
a ToolEnv, so record, gates and rubric are the same as everywhere. TRL gives an environment no text, so the last words
reach it through ``reward_funcs``; then ``get_reward`` is the return.

For ids whose tasks have one tool set, which does not change, and no scripted user: TRL's loop ends with
the first answer. ``callgym.trainers.trl.EpisodeRollouts`` trains on any id, and sees what TRL keeps to itself here:
calls of unknown tools and calls that cannot be read are answered by TRL and stand in no record. Two calls of one
message are two actions. ``environment_factory`` is experimental in TRL; this was tested with trl 1.16.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ValidationError

from callgym.call import ToolCall
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.episode import Episode
from callgym.errors import ConfigurationError, MissingPackageError
from callgym.rollouts.plan import derive_seed
from callgym.task import Task
from callgym.tool import Tool
from callgym.trainers.bridges.tool_method import check_tool_names, tool_method

__all__ = ["ToolMethods", "TrlEnvironments", "environment_class"]

_ELSE = "callgym.trainers.trl.EpisodeRollouts trains on any id"
_RESERVED = ("reset", "get_reward")
_OVER = "The episode is over; no more calls are made."

TaskChoice = Sequence[str] | Callable[[Task], bool] | None
"""Which tasks: their ids, a function that says so of each, or None for all."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the environments of one class play."""

    id: str
    """The registered id."""
    options: Mapping[str, Any]
    """Arguments of ``gym.make``."""
    seed: int
    """What the episodes' seeds follow from."""
    tasks: Mapping[str, Task]
    """Id to task."""
    documents: tuple[dict[str, Any], ...]
    """The tools in OpenAI's shape, by name."""
    opened: list[ToolEnv] = field(default_factory=list)
    """Every environment that was made."""

    def open(self) -> ToolEnv:
        env = make_tool_env(self.id, **self.options)
        self.opened.append(env)
        return env

    def episode_seed(self, task_id: str) -> int:
        """The same for all members of a group, whose episodes differ by the policy alone."""
        return derive_seed("trl", self.seed, self.id, task_id)


class ToolMethods:
    """An environment as TRL wants it; the tools are methods of the classes that ``environment_class`` makes."""

    _plan: ClassVar[_Plan]

    def __init__(self) -> None:
        self._env: ToolEnv | None = None
        self._episode: Episode | None = None
        self._running = False
        self._heard = False
        self._actions = 0

    def reset(self, **row: Any) -> str | None:
        """Begin the episode of a row's task.

        Args:
            row: A row of the dataset: ``task``, a task's id, and ``prompt``, a list of messages. Other columns are
                not looked at.

        Returns:
            What TRL is to add to the row's last message so that the prompt holds the task's text once: None where it
            is there already.

        Raises:
            ConfigurationError: The row names no task of this class, or its prompt is no list of messages.
        """
        task_id = self._task_of(row)
        prompt = _texts(row.get("prompt"))
        if self._env is None:
            self._env = self._plan.open()
        self._episode, self._running, self._heard, self._actions = None, False, False, 0
        _, info = self._env.reset(seed=self._plan.episode_seed(task_id), options={"task": task_id})
        if tuple(sorted(info["tools"], key=_name)) != self._plan.documents:
            raise ConfigurationError(
                f"task {task_id!r} of {self._plan.id} was changed (by perturb=?) and has other tools than the class; "
                f"{_ELSE}"
            )
        self._running = True
        told = [message["content"] or "" for message in info["messages"]]
        missing = [self._env.dialect.defused(text) for text in told if not self._holds(prompt, text)]
        return "\n\n".join(missing) if missing else None

    def get_reward(self) -> float | None:
        """The rubric's return of the episode; None where it could not be computed, which TRL leaves out.

        Raises:
            ConfigurationError: The episode's last words were not heard, without which the return is another.
        """
        if self._episode is None or not self._heard:
            raise ConfigurationError(
                "the return needs the last words of the completion, which TRL gives to reward functions only; "
                "pass reward_funcs=TrlEnvironments(...).reward_funcs to the trainer"
            )
        return self._episode.episode_return

    def _holds(self, prompt: Sequence[str], text: str) -> bool:
        """Whether a prompt says a text already, as it is or unable to open a turn."""
        wanted = (text, self._playing().dialect.defused(text))
        return not text or any(one in words for words in prompt for one in wanted)

    def _task_of(self, row: Mapping[str, Any]) -> str:
        task_id = row.get("task")
        if not isinstance(task_id, str) or task_id not in self._plan.tasks:
            found = repr(task_id)[:80] if "task" in row else "no such column"
            raise ConfigurationError(
                f"a row's 'task' is the id of one of the {len(self._plan.tasks)} tasks of {self._plan.id}, "
                f"such as {next(iter(self._plan.tasks))!r}; got {found}. TrlEnvironments.dataset() gives such rows"
            )
        return task_id

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        """Make one call; what comes back, as a tool message says it.

        Raises:
            ValueError: The arguments are no JSON; TRL tells the policy.
        """
        if self._episode is not None:
            return _OVER
        try:
            call = ToolCall(name=name, arguments=arguments)
        except (ValidationError, RecursionError):
            raise ValueError(f"the arguments of {name} are no JSON object of finite numbers") from None
        return self._step(self._playing().dialect.render_action((call,)))

    def _step(self, action: str) -> str:
        env = self._playing()
        _, _, terminated, truncated, info = env.step(action)
        self._actions += 1
        if terminated or truncated:
            self._episode = info["episode"]
        return env.dialect.defused("\n".join(message["content"] or "" for message in info["messages"][1:]))

    def _hear(self, completion: Sequence[Mapping[str, Any]]) -> Episode:
        """End the episode by the completion's last message, once; the record.

        An answer is stepped. A completion that ends otherwise was cut off, by the budget of tokens or of calls: the
        episode is truncated.
        """
        env = self._playing()
        last = completion[-1] if completion else {}
        unanswered = last.get("tool_calls") if last.get("role") == "assistant" else None
        if self._episode is None and last.get("role") == "assistant" and not unanswered:
            self._step(_text(last.get("content")))
        elif self._episode is None and not self._actions:
            # A record needs an action: the calls that TRL did not make.
            self._step(env.dialect.render_action(_calls(unanswered), _text(last.get("content"))))
        if self._episode is None:
            self._episode = env.truncate()
        self._heard = True
        return self._episode

    def _playing(self) -> ToolEnv:
        if self._env is None or not self._running:
            raise ConfigurationError("no episode was begun; call reset() with a row of TrlEnvironments.dataset() first")
        return self._env


class TrlEnvironments:
    """What a GRPOTrainer takes for one id or several: factories, reward functions, and rows."""

    def __init__(
        self,
        ids: str | Sequence[str],
        *,
        seed: int = 0,
        tasks: TaskChoice = None,
        max_tool_sets: int = 1,
        **env_options: Any,
    ) -> None:
        """Make a class for each tool set.

        Args:
            ids: One registered id, or several to mix.
            seed: What the episodes' seeds follow from, with the task: a task's episode is the same at every reset.
            tasks: Which tasks, as ids or as a function of each; all by default.
            max_tool_sets: Most tool sets that an id's tasks may have; each becomes an environment of its own.
            env_options: Arguments of ``gym.make``; ``split`` is ``"train"``, ``dialect`` is ``"hermes"`` unless given.
                TRL hands over arguments as JSON, and that is the dialect in which they are written down.

        Raises:
            ConfigurationError: An id or option is wrong, or an id's tasks cannot be played this way; the message
                says why, and what can.
        """
        chosen = (ids,) if isinstance(ids, str) else tuple(ids)
        if not chosen or len(set(chosen)) != len(chosen):
            raise ConfigurationError(f"ids is one registered id, or several different ones, got {ids!r}")
        self._classes: dict[str, type[ToolMethods]] = {}
        for id in chosen:
            self._classes.update(_classes_of(id, seed, tasks, max_tool_sets, env_options))

    @property
    def environment_factory(self) -> type[ToolMethods] | dict[str, type[ToolMethods]]:
        """The class; where there are several, name to class, for TRL's column ``environment``."""
        return dict(self._classes) if len(self._classes) > 1 else next(iter(self._classes.values()))

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """The function that steps the last words; the return itself is ``get_reward``'s."""
        return [final_words]

    def dataset(self, limit: int | None = None) -> Any:
        """A ``datasets.Dataset`` with a row a task: ``prompt``, ``task``, and ``environment`` where there are several.

        Args:
            limit: At most so many tasks of each class, the first ones.

        Raises:
            MissingPackageError: ``datasets`` is not installed.
        """
        try:
            import datasets
        except ImportError as error:
            raise MissingPackageError.for_extra("datasets", "train") from error
        rows = []
        for name, made in self._classes.items():
            env = make_tool_env(made._plan.id, **made._plan.options)
            for task in list(made._plan.tasks.values())[:limit]:
                row: dict[str, Any] = {"prompt": _opening(task, env), "task": task.id}
                rows.append({**row, "environment": name} if len(self._classes) > 1 else row)
            env.close()
        return datasets.Dataset.from_list(rows)

    def close(self) -> None:
        """Close every environment that the trainer made."""
        for made in self._classes.values():
            while made._plan.opened:
                made._plan.opened.pop().close()


def environment_class(id: str, *, seed: int = 0, tasks: TaskChoice = None, **env_options: Any) -> type[ToolMethods]:
    """The class of one id: its public methods are ``reset``, ``get_reward`` and the tools.

    Arguments and errors are those of ``TrlEnvironments``.
    """
    return next(iter(_classes_of(id, seed, tasks, 1, env_options).values()))


def final_words(
    completions: Sequence[Any],
    environments: Sequence[Any],
    log_metric: Callable[[str, float], None] | None = None,
    **columns: Any,
) -> list[float | None]:
    """A TRL reward function: each completion's last words end its episode. It pays nothing itself.

    Args:
        completions: For each row the messages after the prompt.
        environments: For each row what the factory made; others' environments are passed over.
        log_metric: Takes each reward's mean under ``id/name``, and the share of truncated episodes.
        columns: Not used.

    Returns:
        0 a row, which changes no sum; None where the return is unknown, so that TRL leaves the row out.

    Raises:
        ConfigurationError: A completion is no list of messages, because the prompts were none.
    """
    paid: list[float | None] = []
    episodes: dict[str, list[Episode]] = defaultdict(list)
    for completion, environment in zip(completions, environments, strict=True):
        if not isinstance(environment, ToolMethods):
            paid.append(None)
            continue
        if not isinstance(completion, list) or not all(isinstance(message, Mapping) for message in completion):
            raise ConfigurationError(
                f"a completion is a list of messages, got {type(completion).__name__}; the dataset's 'prompt' must be "
                "messages, as TrlEnvironments.dataset() gives them"
            )
        episode = environment._hear(completion)
        episodes[environment._plan.id].append(episode)
        paid.append(None if episode.episode_return is None else 0.0)
    if log_metric is not None:
        _log(episodes, log_metric)
    return paid


def _log(episodes: Mapping[str, Sequence[Episode]], log_metric: Callable[[str, float], None]) -> None:
    for id, played in episodes.items():
        log_metric(f"{id}/truncated", sum(episode.ended == "truncated" for episode in played) / len(played))
        for name in dict.fromkeys(name for episode in played for name in episode.rewards):
            scores = [episode.rewards[name].value for episode in played if name in episode.rewards]
            known = [score for score in scores if score is not None]
            if known:
                log_metric(f"{id}/{name}", math.fsum(known) / len(known))


def _classes_of(
    id: str, seed: int, tasks: TaskChoice, max_tool_sets: int, env_options: Mapping[str, Any]
) -> dict[str, type[ToolMethods]]:
    """Name to class, one a tool set, in the order of their first tasks."""
    options = {"split": "train", "dialect": "hermes", **env_options, "observation": "delta"}
    env = make_tool_env(id, **options)
    chosen = _chosen(env, tasks)
    _check_playable(env, chosen)
    sets: dict[tuple[str, ...], list[Task]] = defaultdict(list)
    for task in chosen:
        sets[tuple(sorted(_document_text(tool) for tool in _shown_tools(task)))].append(task)
    env.close()
    if len(sets) > max_tool_sets:
        sizes = ", ".join(str(size) for size in sorted(map(len, sets.values()), reverse=True)[:5])
        raise ConfigurationError(
            f"the {len(chosen)} tasks of {id} have {len(sets)} tool sets (the largest: {sizes} tasks), and a class has "
            f"one; choose tasks of one set with tasks=, raise max_tool_sets to have an environment a set, or take "
            f"callgym.trainers.trl.EpisodeRollouts, which trains on any id"
        )
    classes = {}
    for number, group in enumerate(sets.values(), 1):
        suffix = f"#{number}" if len(sets) > 1 else ""
        classes[f"{id}{suffix}"] = _make_class(id, suffix, seed, options, group)
    return classes


def _make_class(
    id: str, suffix: str, seed: int, options: Mapping[str, Any], tasks: Sequence[Task]
) -> type[ToolMethods]:
    tools = sorted(_shown_tools(tasks[0]), key=lambda tool: tool.name)
    check_tool_names(tools, _RESERVED, _ELSE)
    documents = tuple(tool.as_chat() for tool in tools)
    plan = _Plan(id, dict(options), seed, {task.id: task for task in tasks}, documents)
    methods = {tool.name: tool_method(tool) for tool in tools}
    words = re.split(r"[\W_]+", id.removesuffix("-v0") + suffix)
    body = {"__doc__": f"The tools of {id}.", "__module__": __name__, "_plan": plan, **methods}
    return type("".join(word[:1].upper() + word[1:] for word in words), (ToolMethods,), body)


def _chosen(env: ToolEnv, tasks: TaskChoice) -> list[Task]:
    if tasks is None:
        return list(env.tasks)
    if callable(tasks):
        chosen = [task for task in env.tasks if tasks(task)]
    else:
        by_id = {task.id: task for task in env.tasks}
        unknown = [id for id in tasks if id not in by_id]
        if unknown:
            raise ConfigurationError(
                f"{env.env_id} has no task {unknown[0]!r} in split {env.split!r}; the first of its {len(by_id)} tasks "
                f"is {env.tasks[0].id!r}"
            )
        chosen = [by_id[id] for id in dict.fromkeys(tasks)]
    if not chosen:
        raise ConfigurationError(f"tasks= leaves none of the {len(env.tasks)} tasks of {env.env_id}")
    return chosen


def _check_playable(env: ToolEnv, tasks: Sequence[Task]) -> None:
    """Refuse tasks whose episodes TRL's loop cannot play, and say how many there are of each kind."""
    finds_tools = type(env).tools_found is not ToolEnv.tools_found
    kinds: tuple[tuple[str, Callable[[Task], bool]], ...] = (
        ("end with their first action (protocol 'single' or 'step')", lambda task: env.protocol_of(task) != "dialogue"),
        ("may find more tools in the course of an episode, and a class has its methods", lambda task: finds_tools),
        ("have a scripted user, to whom TRL's loop does not listen", lambda task: bool(task.user_turns)),
        ("open with calls or results, which a column of messages cannot hold", _opens_with_calls),
    )
    for words, applies in kinds:
        count = sum(applies(task) for task in tasks)
        if count:
            mend = "" if count == len(tasks) else "leave them out with tasks=, or note that "
            raise ConfigurationError(f"{count} of {len(tasks)} tasks of {env.env_id} {words}; {mend}{_ELSE}")


def _opens_with_calls(task: Task) -> bool:
    return any(message.tool_calls or message.role == "tool" for message in task.messages)


def _opening(task: Task, env: ToolEnv) -> list[dict[str, str]]:
    """A task's first messages, unable to open a turn."""
    return [{"role": message.role, "content": env.dialect.defused(message.content or "")} for message in task.messages]


def _shown_tools(task: Task) -> list[Tool]:
    hidden = task.meta.get("hidden_tools")
    return [tool for tool in task.tools if not (isinstance(hidden, list) and tool.name in hidden)]


def _document_text(tool: Tool) -> str:
    return json.dumps(tool.as_chat(), sort_keys=True)


def _name(document: Mapping[str, Any]) -> str:
    name: str = document["function"]["name"]
    return name


def _texts(prompt: Any) -> list[str]:
    """The texts of a row's messages; none where the row has no prompt."""
    if prompt is None:
        return []
    if not isinstance(prompt, list) or not all(isinstance(message, Mapping) for message in prompt):
        raise ConfigurationError(
            f"a row's 'prompt' is a list of messages, as TrlEnvironments.dataset() gives it; got {repr(prompt)[:80]}"
        )
    return [_text(message.get("content")) for message in prompt]


def _text(content: Any) -> str:
    """A message's words: its content, or the text blocks in it."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(
        block["text"] for block in blocks if isinstance(block, Mapping) and isinstance(block.get("text"), str)
    )


def _calls(given: Any) -> list[ToolCall]:
    """The calls of a message that are calls."""
    calls = []
    for item in given if isinstance(given, list) else ():
        function = item.get("function") if isinstance(item, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        try:
            calls.append(ToolCall(name=function.get("name"), arguments=function.get("arguments")))  # type: ignore[arg-type]
        except (ValidationError, RecursionError):
            continue
    return calls
