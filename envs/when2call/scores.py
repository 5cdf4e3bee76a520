"""When2Call's official totals of episodes that were played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from callgym.data import DataSource, find_source
from callgym.envs.played import PlayedTasks
from callgym.envs.when2call.judge import offline_judge
from callgym.envs.when2call.metrics import Decided, judge_report, mcq_report
from callgym.envs.when2call.offer import offered_task
from callgym.envs.when2call.rewards import right_kind, when2call_choice
from callgym.envs.when2call.rows import Answer
from callgym.envs.when2call.starter import starter_tasks
from callgym.envs.when2call.tasks import load_mcq, load_open
from callgym.episode import Episode
from callgym.errors import DataError
from callgym.task import Task

__all__ = ["official_scores"]

_NO_LABEL = "none"


def official_scores(episodes: Iterable[Episode], data: str = "auto") -> Iterator[dict[str, Any]]:
    """Accuracy, normalised accuracy, macro F1, hallucination rate and the confusion matrix, a row a form.

    Args:
        episodes: Records of any When2Call environment. Of open episodes the kind is told by rules, or by the judge
            that played along.
        data: Where the tasks are, as in ``gym.make``.

    Raises:
        DataError: The data is missing, or an episode is of none of its tasks.
    """
    tasks = PlayedTasks(find_source("when2call", data), _load)
    chosen: list[Decided] = []
    said: list[tuple[Answer, str]] = []
    offered: list[int] = []
    for episode in episodes:
        form = str(episode.config.get("form"))
        task = tasks.of(episode)
        gold = right_kind(task)
        if form == "mcq":
            family = str(episode.config.get("choice_family", "default"))
            verdict: Any = when2call_choice(offered_task(task, family), episode).explanation
            chosen.append(Decided(gold, verdict["raw"], verdict["chosen"], len(task.tools)))
        else:
            said.append((gold, _label(task, episode)))
            offered.append(len(task.tools))
    if chosen:
        yield {"form": "mcq", "episodes": len(chosen), **mcq_report(chosen).to_dict()}
    if said:
        yield {"form": "open", "episodes": len(said), **judge_report(said, offered).to_dict()}


def _label(task: Task, episode: Episode) -> str:
    judged = [score for name, score in episode.rewards.items() if name.startswith("when2call_kind:")]
    score = judged[0] if judged and judged[0].value is not None else offline_judge(task, episode)
    return str(score.explanation.get("label") or _NO_LABEL)


def _load(source: DataSource, id: str) -> Iterable[Task]:
    """The tasks of the set that an id is of."""
    if id.startswith("starter/"):
        return starter_tasks(id.split("/")[2])
    if source.folder is None:
        raise DataError("scores of official tasks need their files: give the folder, or: callgym fetch when2call")
    return [*load_mcq(source.folder), *load_open(source.folder)]
