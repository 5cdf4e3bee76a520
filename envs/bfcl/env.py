"""BFCL v4: every category of the Berkeley Function Calling Leaderboard, and its groups.

Patil et al., The Berkeley Function Calling Leaderboard: From Tool Use to Agentic Evaluation of Large Language
Models, ICML 2025; version 4 as in ``bfcl-eval`` 2026.3.23.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from callgym.call import ToolCall, ToolResult
from callgym.data import DataSource
from callgym.dialects import Dialect, ParsedAction
from callgym.dialects.repair import RepairingDialect
from callgym.envs.base import Protocol, ToolEnv, check_choice, without_flagged
from callgym.envs.bfcl import rewards as _rewards  # noqa: F401  registers BFCL's rewards and rubrics
from callgym.envs.bfcl.backend import BfclBackend
from callgym.envs.bfcl.categories import CATEGORIES, Category, Language, categories_of
from callgym.envs.bfcl.code_dialect import code_dialect
from callgym.envs.bfcl.files import PROMPTS, BfclFiles
from callgym.envs.bfcl.format_dialect import format_dialect
from callgym.envs.bfcl.loading import official_tasks, starter_tasks
from callgym.envs.bfcl.official.decode import DecodeFailure, execute_pairs
from callgym.envs.bfcl.turns import TurnSession
from callgym.envs.bfcl.web.index import open_index
from callgym.envs.bfcl.web.provider import Provider
from callgym.errors import ConfigurationError, DataError
from callgym.goal import CallsGoal, DecisionGoal
from callgym.json_value import copy_json
from callgym.task import Task
from callgym.tool_backends import ToolBackend
from callgym.tool_backends.base import acall, known_state
from callgym.tool_backends.remote import RemoteBackend

__all__ = ["BfclEnv"]

_PYTHON = "python"
_MAX_STEPS = 256
_MAX_TURN_STEPS = 20


class BfclEnv(ToolEnv):
    """One category of BFCL v4, or a group of them.

    Single-turn categories: the question and its functions, one action, the end (``single``). Multi-turn
    categories: a scripted user, stateful tools that really run, up to 20 actions a turn, functions that come
    later (``dialogue``); after each turn state and results are compared with the gold's. Memory and web search:
    the policy searches as long as it likes, and its first action without a call is the answer.

    Reward (rubric ``bfcl``): ``call_match``, abstention, or a relevant call; turn by turn in multi-turn tasks; the
    answer, strictly, in agentic ones. The official verdicts are rubric ``bfcl_official``.
    """

    family: ClassVar[str] = "bfcl"
    default_dialect: ClassVar[str] = "python"
    default_rubric: ClassVar[str] = "bfcl"

    def __init__(
        self,
        *,
        category: str,
        exclude_flagged: bool = False,
        official_faults: bool = False,
        max_steps: int = _MAX_STEPS,
        max_turn_steps: int = _MAX_TURN_STEPS,
        memory: str | Path | None = None,
        embedder: str = "lexical",
        index: str | Path | Provider | None = None,
        wording: str = "own",
        backend: ToolBackend | str | None = None,
        **options: Any,
    ) -> None:
        """Create the environment of a category or group.

        Args:
            category: A name in ``categories.CATEGORIES`` or ``categories.GROUPS``.
            exclude_flagged: Leave out the tasks whose own gold fails the official check, or contradicts the
                functions' documents (``meta["label_fault"]``, ``meta["gold_fault"]``).
            official_faults: In dialogues, do as the official harness does: calls run unchecked, withheld
                functions run too, text goes through the official decoder (positional arguments are lost), and
                an action that cannot be read ends the turn.
            max_steps: Most actions in an episode.
            max_turn_steps: Most actions with calls in a user turn; officially 20, the next one ends the episode.
            memory: Folder of snapshots that a policy's own prerequisite conversations left; by default the
                reference snapshots. Official data only.
            embedder: What memory_vector searches with: "lexical" or "minilm" (extra ``search``).
            index: What web searches are answered from: an index file (``web.index.build_index``) or a Provider.
                By default starter tasks have an encyclopedia of their own, official ones an empty web.
            wording: Of system messages and prompts: "own", or "official" where it was fetched.
            backend: As in ToolEnv; "official" runs multi-turn tasks on the classes of the installed package
                ``bfcl-eval`` (isolated, and without its ``eval``).
            **options: As in ToolEnv.

        Raises:
            ConfigurationError: An argument has a value it cannot have.
            DataError: Data is missing or damaged.
            MissingPackageError: ``backend="official"``, and the package is not installed.
        """
        self.categories = categories_of(category)
        self.protocol = self.categories[0].protocol
        self.exclude_flagged = exclude_flagged
        self.official_faults = official_faults
        self.max_turn_steps = _at_least_one("max_turn_steps", max_turn_steps)
        self.wording = check_choice("wording", wording, ("own", "official"))
        self._memory = None if memory is None else Path(memory)
        self._embedder = embedder
        self._index = index
        self._only_formats = category == "format_sensitivity"
        if self._only_formats and options.get("dialect") is not None:
            raise ConfigurationError(
                "bfcl/format_sensitivity-v0 writes each task in its own format; it takes no dialect"
            )
        self._official_classes = isinstance(backend, str) and backend == "official"
        super().__init__(max_steps=max_steps, backend=None if self._official_classes else backend, **options)
        if official_faults and isinstance(self.backend, RemoteBackend):
            raise ConfigurationError("official_faults=True makes calls unchecked, and a tool server checks them")
        self._config.update(
            official_faults=official_faults,
            max_turn_steps=max_turn_steps,
            wording=wording,
            memory=None if memory is None else str(memory),
            embedder=embedder,
            **({"backend": "official"} if self._official_classes else {}),
            **({"dialect": None} if self._only_formats else {}),
        )

    def load_tasks(self, source: DataSource, split: str) -> Sequence[Task]:
        """Official tasks have the split ``test``, starter tasks ``train`` and ``test``."""
        if source.folder is None:
            self._refuse_official_options()
            found = [starter_tasks(category, split) for category in self.categories]
        else:
            files = BfclFiles(source.folder)
            wording = _official_wording(files) if self.wording == "official" else None
            found = [official_tasks(files, category, split, self._memory, wording) for category in self.categories]
        tasks = found[0] if len(found) == 1 else [task for part in found for task in part]
        return without_flagged(tasks) if self.exclude_flagged else tasks

    def _refuse_official_options(self) -> None:
        if self.wording == "official" or self._memory is not None:
            raise ConfigurationError(
                "wording='official' and memory=FOLDER are for official data; this is the starter set"
            )

    def make_backend(self, source: DataSource) -> ToolBackend:
        """Simulators, memory stores, the web's index; the functions of single-turn tasks exist on paper only."""
        provider = open_index(Path(self._index)) if isinstance(self._index, (str, Path)) else self._index
        return BfclBackend(self._embedder, provider, self._official_classes)

    def category_of(self, task: Task) -> Category:
        """A task's category."""
        return CATEGORIES[str(task.meta["category"])]

    # How an episode goes.

    def protocol_of(self, task: Task) -> Protocol:
        """``single`` or ``dialogue``, by the task's category."""
        return self.category_of(task).protocol

    def dialect_of(self, task: Task) -> Dialect:
        """The given dialect; in ``format_sensitivity`` the task's own format, and for Java and JavaScript in the
        dialect ``python`` its sibling whose values are code."""
        category = self.category_of(task)
        if category.kind != "format_sensitivity":
            given = self._given_dialect
            # By name: after pickling it is another instance.
            name, _, options = given.name.partition(":")
            if name != _PYTHON or category.language == "python":
                return given
            return _code_dialect(category.language, bool(options))
        return format_dialect(str(task.meta["format"]), None if self.wording == "own" else self.source.folder)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """As in ToolEnv; ``info["category"]`` names the task's category."""
        observation, info = super().reset(seed=seed, options=options)
        info["category"] = self.task.meta["category"]
        return observation, info

    def run_call(self, call: ToolCall) -> ToolResult:
        """Run a call; with ``official_faults`` unchecked, and whether or not its function was revealed."""
        told = self._told()
        if told is None:
            return super().run_call(call)
        told.tried()
        assert self._session is not None
        return self._session.call(call) if self.official_faults else super().run_call(call)

    async def arun_call(self, call: ToolCall) -> ToolResult:
        """As ``run_call``, awaiting the function where it waits."""
        told = self._told()
        if told is None or not self.official_faults:
            if told is not None:
                told.tried()
            return await super().arun_call(call)
        told.tried()
        assert self._session is not None
        return await acall(self._session, call)

    def _told(self) -> TurnSession | None:
        """The session of a conversation, which is told of tries and of the ends of turns, in whatever wrappers."""
        opened: Any = self._opened
        told = hasattr(opened, "end_turn") and self.category_of(self.task).kind == "multi_turn"
        return opened if told else None

    def _parse(self, action: str) -> ParsedAction:
        if self.official_faults and self.protocol == "dialogue" and self.dialect.name == "python":
            return _official_parse(action)
        return super()._parse(action)

    def hands_over(self, parsed: ParsedAction) -> bool:
        """Officially every action that gives no call ends the turn; else one that cannot be read may be mended."""
        return self.official_faults or not parsed.errors

    def turn_exhausted(self, parsed: ParsedAction) -> bool:
        """Whether this was one action more than a turn may have."""
        return sum(step.turn == self._turn for step in self._steps) >= self.max_turn_steps

    def turn_ended(self) -> None:
        """Compare state and results with the gold's."""
        told = self._told()
        if told is not None:
            told.end_turn()

    def final_state(self) -> dict[str, Any] | None:
        """What was found after each turn; of a conversation that is to be remembered, what the memory holds."""
        session = self._opened
        if session is None or (self._told() is None and "prerequisite" not in self.task.meta):
            return None
        return known_state(session)

    # The oracle.

    def oracle_action(self) -> str:
        """The gold calls; in agentic tasks those that find the answer, one by one, then the answer."""
        task = self.task
        goal = task.goal_of(DecisionGoal)
        if goal is not None and goal.decision == "call":
            return self.dialect.render_action([_fitting_call(task)])
        if self.category_of(task).kind in ("memory", "web_search"):
            return self._find_answer(task)
        if task.goal_of(CallsGoal) is not None and any(step.turn == self._turn for step in self._steps):
            return self.dialect.render_action((), "Done.")
        return super().oracle_action()

    def _find_answer(self, task: Task) -> str:
        searches: Any = task.meta.get("gold_calls", [])
        done = len(self._steps)
        if done < len(searches):
            return self.dialect.render_action([ToolCall(**searches[done])])
        gold: Any = task.meta["gold"]
        return self.dialect.render_action((), str({"answer": gold[0], "context": "It stands in what was found."}))


@cache
def _code_dialect(language: Language, repairing: bool) -> Dialect:
    # Remembered: environments tell dialects apart by identity.
    dialect = code_dialect(language)
    return RepairingDialect(dialect) if repairing else dialect


def _official_wording(files: BfclFiles) -> dict[str, Any]:
    wording = files.prompts()
    if wording is None:
        raise DataError(f"{files.folder} lacks {PROMPTS}, the official wording; fetch it with: callgym fetch bfcl")
    return wording


def _official_parse(action: str) -> ParsedAction:
    """An action as the official decoder reads it: calls, or nothing but words."""
    try:
        pairs = execute_pairs(action)
        calls = tuple([ToolCall(name=pair.name, arguments=copy_json(pair.arguments)) for pair in pairs])
    except (DecodeFailure, TypeError, ValueError):
        return ParsedAction(content=action)
    return ParsedAction(calls=calls)


def _fitting_call(task: Task) -> ToolCall:
    """A call that fits a task which leaves open which one is made: the starter set's, or one with made-up values."""
    reference: Any = task.meta.get("reference")
    if reference:
        return ToolCall(**reference[0])
    tool = task.tools[0]
    arguments = {name: _any_value(tool.properties.get(name, {})) for name in tool.required}
    return ToolCall(name=tool.name, arguments=arguments)


def _any_value(schema: dict[str, Any]) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        required = schema.get("required", ())
        return {name: _any_value(schema.get("properties", {}).get(name, {})) for name in required}
    plain: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "null": None}
    return plain.get(kind, "x")


def _at_least_one(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"{name} is a whole number of at least 1, got {value!r}")
    return value
