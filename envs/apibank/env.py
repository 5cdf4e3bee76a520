"""API-Bank: calling, retrieving and planning with everyday tools.

Li et al., API-Bank: A Comprehensive Benchmark for Tool-Augmented LLMs, EMNLP 2023. Level 1 (Call)
documents the tools of the dialogue; level 2 (Retrieve and Call) documents a tool search only; level 3
(Plan, Retrieve and Call) gives one requirement that takes several calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from callgym.call import ToolCall, ToolResult
from callgym.data import DataSource, check_split
from callgym.envs.apibank import rewards as _official_rewards  # noqa: F401  registers the official scores
from callgym.envs.apibank.dialogues import load_dialogues
from callgym.envs.apibank.live import SEARCH, searches_for
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import Tables, has_tables, load_tables, loaded_tables, starter_tables
from callgym.envs.apibank.starter import starter_backend, starter_dialogues, starter_tasks
from callgym.envs.apibank.tasks import SAMPLES, Samples, load_official
from callgym.envs.apibank.tools import make_tool
from callgym.envs.base import Protocol, ToolEnv, check_choice, without_flagged
from callgym.envs.perturbations.renaming import Renaming
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal
from callgym.task import Task
from callgym.tool import Tool
from callgym.tool_backends import RecordedBackend, ToolBackend
from callgym.tool_backends.ranking import get_ranker

__all__ = ["ApiBankEnv"]

_PROTOCOLS = ("step", "dialogue")
_STATES = ("fresh", "replayed")


class ApiBankEnv(ToolEnv):
    """API-Bank, teacher-forced (``step``) or live (``dialogue``).

    ``step``: the recorded history up to a call is shown, the policy writes one action, the episode ends.
    On official data in the default dialect the observation is byte for byte the benchmark's prompt.

    ``dialogue``: the recorded user speaks turn by turn, the policy calls tools that really run, asks and
    answers; an action without a call hands over to the user, and the episode ends when the user has
    nothing more to say, or after ``max_steps``. At levels 2 and 3 only the tool search can be called at
    first; what it finds stands in its answer and in ``info["tools"]``, and can be called from then on.

    Reward (rubric ``default``): calls (half exact match, half argument F1), the state reached and a fact
    of the final answer, as far as the task asks for them, in equal parts. The official scores are the
    rewards ``apibank_exec`` and ``apibank_rouge`` (rubric ``apibank_official``).
    """

    family: ClassVar[str] = "apibank"
    protocol: Protocol = "step"
    default_dialect: ClassVar[str] = "apibank"

    def __init__(
        self,
        *,
        level: int,
        protocol: Literal["step", "dialogue"] = "step",
        samples: Samples = "calls",
        state: Literal["fresh", "replayed"] = "fresh",
        exclude_flagged: bool = False,
        ranker: str = "bm25",
        official_faults: bool = False,
        **options: Any,
    ) -> None:
        """Create the environment of one level.

        Args:
            level: 1, 2 or 3.
            protocol: ``"step"`` (teacher-forced, official) or ``"dialogue"`` (live).
            samples: In ``step``: ``"calls"`` asks for the next call, ``"replies"`` for the next reply (official
                data), ``"all"`` for both.
            state: In ``step``: ``"fresh"`` starts every sample from the databases' first state, as the
                official evaluation does; ``"replayed"`` executes the recorded earlier calls first.
            exclude_flagged: Leave out the tasks whose own gold call the official evaluation calls wrong
                (``meta["official_gold"]``), a tool refuses (``meta["gold_fault"]``), or that was not
                recorded as a call (``meta["label_fault"]``).
            ranker: What the tool search ranks with: ``"bm25"``, ``"minilm"`` (the official model; extra
                ``search``), ``"auto"`` (the model where it is installed), or a folder with such a model.
            official_faults: Let the tools keep the official implementation's faults, too; official data only.
            **options: As in ToolEnv.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            DataError: Data is missing or damaged.
        """
        self.level = level
        self.protocol = check_choice("protocol", protocol, _PROTOCOLS)
        self.samples = check_choice("samples", samples, SAMPLES)
        self.state_policy = check_choice("state", state, _STATES)
        self.exclude_flagged = exclude_flagged
        self.official_faults = official_faults
        self.ranker = get_ranker(ranker)
        self._ranker = ranker
        self._search: SimulatorBackend | None = None
        self._found: dict[str, Tool] = {}
        super().__init__(**options)
        if self._search is None and self.protocol == "dialogue":
            self.make_backend(self.source)  # whatever answers the calls: what a tool search finds is documented here
        self._config.update(
            protocol=protocol,
            samples=samples,
            state=state,
            # A folder by its path: the name alone would not find it again.
            ranker=self.ranker.name if ranker in ("bm25", "minilm", "auto") else str(ranker),
            official_faults=official_faults,
        )

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        """Official or starter tasks; see ``tasks.SPLITS`` and ``dialogues.LIVE_SPLITS`` for official splits."""
        if source.folder is None:
            check_split(split, ("train", "test"), f"the starter data of API-Bank level {self.level}")
            if self.official_faults:
                raise ConfigurationError(
                    "official_faults=True is for official data; the starter tasks have none of them"
                )
            live = self.protocol == "dialogue"
            return starter_dialogues(self.level, split) if live else starter_tasks(self.level, split)
        if self.protocol == "dialogue":
            tasks = load_dialogues(source.folder, self.level, split, self._ranker, self.official_faults)
        else:
            tasks = load_official(source.folder, self.level, split, self.samples, self._ranker)
        return without_flagged(tasks) if self.exclude_flagged else tasks

    def make_backend(self, source: DataSource) -> ToolBackend:
        """The simulators; the starter tasks of ``step`` have tools of their own."""
        if self.protocol == "step" and all(task.meta.get("source") == "starter" for task in self.tasks):
            return starter_backend()
        tables = self._tables(source)
        if tables is None:
            return RecordedBackend()
        self._search = SimulatorBackend(
            tables,
            "lv3_apis" if self.level == 3 else "apis",
            self.ranker,
            official=self.official_faults,
            replay=self.state_policy == "replayed" and self.protocol == "step",
        )
        return self._search

    def _tables(self, source: DataSource) -> Tables | None:
        if source.folder is None:
            return self._tables_of_tasks()
        if has_tables(source.folder):
            return load_tables(source.folder)
        if self.protocol == "dialogue" or self.state_policy == "replayed":
            raise DataError(
                f"{source.folder} lacks init_database/ or builtin_tables.json, which the tools run on; "
                "fetch the data again: callgym fetch apibank"
            )
        return None

    def _tables_of_tasks(self) -> Tables | None:
        """The tables that tasks given by the user name; for live tasks that name none, the starter tables."""
        named = {str(task.meta["tables"]) for task in self.tasks if "tables" in task.meta}
        if not named:
            return starter_tables() if self.protocol == "dialogue" else None
        tables = loaded_tables(named.pop())
        if tables is None or named:
            raise DataError(
                "the tasks run on official tables that are not loaded, or on several: load the tasks with "
                "data=FOLDER first, and give tasks of one folder"
            )
        return tables

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """As in ToolEnv; ``info["ranker"]`` names what the tool search ranks with."""
        observation, info = super().reset(seed=seed, options=options)
        info["ranker"] = self.ranker.name
        return observation, info

    def tools_found(self, call: ToolCall, result: ToolResult) -> Sequence[Tool]:
        """The tools in the answer of a tool search."""
        if call.name != SEARCH or result.error is not None or self._search is None:
            return ()
        content: Any = result.content
        rows = content if isinstance(content, list) else [content]
        documents = self._search.tables.documents[self._search.tool_set]
        return [make_tool(documents[row["name"]]) for row in rows]

    def oracle_action(self) -> str:
        """Live: the next gold call (a search first, if its tool is not there yet), then the reference reply."""
        if self.protocol != "dialogue":
            return super().oracle_action()
        task = self.task
        goal = task.goal_of(CallsGoal)
        turns = goal.turns if goal is not None else ()
        gold = turns[self._turn] if self._turn < len(turns) else ()
        searches = {SEARCH, Renaming.of(task).tool_name(SEARCH)}
        made = [c for step in self._steps if step.turn == self._turn for c in step.calls if c.name not in searches]
        if len(made) < len(gold):
            return self.dialect.render_action([self._next_call(task, gold[len(made)].reference())])
        replies: Any = task.meta.get("replies", ())
        reply = replies[self._turn] if self._turn < len(replies) else ""
        return self.dialect.render_action((), str(reply) or "Done.")

    def _next_call(self, task: Task, gold: ToolCall) -> ToolCall:
        if gold.name in self._tools or self._search is None:
            return gold
        recorded: Any = task.meta.get("searched", ())
        renaming = Renaming.of(task)
        keywords = searches_for(renaming.original_name(gold.name), self._search, recorded)
        return gold if keywords is None else renaming.call(ToolCall(name=SEARCH, arguments={"keywords": keywords}))
