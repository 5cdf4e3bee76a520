"""API-Bank: calling, retrieving and planning with everyday tools.

Li et al., API-Bank: A Comprehensive Benchmark for Tool-Augmented LLMs, EMNLP 2023. Level 1 (Call)
documents the tools of the dialogue; level 2 (Retrieve and Call) documents a tool search only; level 3
(Plan, Retrieve and Call) gives one requirement that takes several calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from callgym.data import DataSource, check_split
from callgym.envs.apibank.starter import starter_backend, starter_tasks
from callgym.envs.apibank.tasks import load_official
from callgym.envs.base import Protocol, ToolEnv
from callgym.task import Task
from callgym.tool_backends import RecordedBackend, ToolBackend

__all__ = ["ApiBankEnv"]


class ApiBankEnv(ToolEnv):
    """One call of an API-Bank dialogue, teacher-forced.

    Observation: instruction, tool documents, the recorded conversation, the cue; on official data in
    the default dialect byte for byte the benchmark's prompt. Action: one call in the benchmark's
    brackets. Reward (rubric ``default``): half call exact match, half argument F1 against the recorded
    call; on tasks that no tool fits, 1 for saying so without a call.
    """

    family: ClassVar[str] = "apibank"
    protocol: ClassVar[Protocol] = "step"
    default_dialect: ClassVar[str] = "apibank"

    def __init__(self, *, level: int, **options: Any) -> None:
        """Create the environment of one level, 1 to 3; other options as in ToolEnv."""
        self.level = level
        super().__init__(**options)

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        """Official or starter tasks; see ``tasks.SPLITS`` for the splits of official data."""
        if source.folder is not None:
            return load_official(source.folder, self.level, split)
        check_split(split, ("train", "test"), f"the starter data of API-Bank level {self.level}")
        return starter_tasks(self.level, split)

    def make_backend(self, source: DataSource) -> ToolBackend:
        """Starter tools run; official calls answer from the recording."""
        starter = all(task.meta.get("source") == "starter" for task in self.tasks)
        return starter_backend() if starter else RecordedBackend()
