"""When2Call: to call, to ask, to say that it cannot be done, or just to answer.

Ross et al., When2Call: When (not) to Call Tools, NAACL 2025; data and rules of ``NVIDIA/When2Call`` at ecc8d42.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from callgym.data import DataSource, cache_folder, check_split
from callgym.envs.base import ToolEnv, check_choice, without_flagged
from callgym.envs.when2call import rewards as _rewards  # noqa: F401  registers When2Call's rewards and rubrics
from callgym.envs.when2call.judge import KindJudge
from callgym.envs.when2call.offer import offered_task
from callgym.envs.when2call.starter import starter_tasks
from callgym.envs.when2call.tasks import load_mcq, load_open
from callgym.errors import ConfigurationError
from callgym.message import Message
from callgym.rewards import Rubric, register_reward
from callgym.rewards.presets import RUBRICS
from callgym.task import Task
from callgym.tool_backends import ToolBackend
from callgym.tool_backends.accepting import AcceptingBackend

__all__ = ["When2CallEnv"]

_FORMS = ("mcq", "open", "judge")
_SERVER = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)")


class When2CallEnv(ToolEnv):
    """One question, some tools, one action: which of the four decisions is right?

    ``open``: the policy calls or replies in its own words; the decision is read from what it does
    (``irrelevance_abstention``), and where a call is due the call counts. ``judge``: the same, and only the kind
    of the reply counts, told by rules (their accuracy stands in the data card) or by a model. ``mcq``: four replies
    are offered; the action is a letter, a reply word for word, or ``{"loglikelihoods": [a, b, c, d]}`` of
    ``env.choices``.
    """

    family: ClassVar[str] = "when2call"
    default_dialect: ClassVar[str] = "hermes"
    default_rubric: ClassVar[str] = "when2call"

    def __init__(
        self,
        *,
        form: Literal["mcq", "open", "judge"],
        exclude_flagged: bool = False,
        choice_family: str = "default",
        judge: str = "rules",
        rubric: str | Rubric = "default",
        **options: Any,
    ) -> None:
        """Create the environment of one form.

        Args:
            form: ``"mcq"``, ``"open"`` or ``"judge"``.
            exclude_flagged: Leave out tasks whose label is seen to be wrong.
            choice_family: In ``mcq``: how the offered call is written; a name in ``choices.FAMILIES``.
            judge: In ``judge``: ``"rules"``, or ``"MODEL@http://HOST:PORT/v1"``, whose labels are kept in the cache
                folder.
            rubric: As in ToolEnv; in ``judge`` the default pays the kind alone.
            **options: As in ToolEnv.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            DataError: Data is missing or damaged.
        """
        if judge != "rules" and form != "judge":
            raise ConfigurationError("judge=... is for when2call/judge-v0")
        self.form = check_choice("form", form, _FORMS)
        self.exclude_flagged = exclude_flagged
        self._choice_family = choice_family
        if form == "judge" and rubric == "default":
            rubric = "when2call_kind" if judge == "rules" else _judged_rubric(judge)
        super().__init__(rubric=rubric, **options)
        self._config.update(form=form, choice_family=choice_family, judge=judge)

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        """Official tasks have the split ``test``, starter tasks ``train`` and ``test``."""
        if source.folder is None:
            check_split(split, ("train", "test"), "When2Call's starter set")
            tasks: Sequence[Task] = starter_tasks(split)
        else:
            tasks = load_mcq(source.folder, split) if self.form == "mcq" else load_open(source.folder, split)
        if self.exclude_flagged:
            tasks = without_flagged(tasks)
        if self.form == "mcq":
            tasks = [offered_task(task, self._choice_family) for task in tasks]
        return tasks

    def make_backend(self, source: DataSource) -> ToolBackend:
        """The tools exist on paper only."""
        return AcceptingBackend()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """As in ToolEnv; in ``mcq`` ``info["choices"]`` has the four replies, in the official order."""
        observation, info = super().reset(seed=seed, options=options)
        if self.form == "mcq":
            info["choices"] = list(self.choices)
        return observation, info

    @property
    def choices(self) -> tuple[str, ...]:
        """The four replies of the running episode in the official order: answer, call, question back, refusal.

        Raises:
            ConfigurationError: The form offers none.
        """
        if self.form != "mcq":
            raise ConfigurationError(f"{self.env_id} offers no replies; when2call/mcq-v0 does")
        choices: Any = self.task.meta["choices"]
        return tuple(choices)

    @property
    def open_prompt(self) -> str:
        """The prompt of the running episode as in the open form, without the offered replies: what log-likelihoods
        are conditioned on."""
        messages: Any = self.task.meta.get("open_messages")
        task = self.task
        told = task.messages if messages is None else tuple(Message(**message) for message in messages)
        return self.dialect.render_prompt(told, task.prompt_tools)


def _judged_rubric(judge: str) -> Rubric:
    """A rubric that pays what the model at this place says of the kind."""
    found = _SERVER.fullmatch(judge)
    if found is None:
        raise ConfigurationError(f"judge is 'rules' or 'MODEL@http://HOST:PORT/v1', got {judge!r}")
    name = f"when2call_kind:{judge}"
    if name not in RUBRICS:
        cache = Path(cache_folder()) / "when2call-labels.jsonl"
        register_reward(name, KindJudge(found["url"], found["model"], cache))
        RUBRICS[name] = Rubric(name=name, weights={name: 1.0, "when2call_kind": 0.0})
    return RUBRICS[name]
