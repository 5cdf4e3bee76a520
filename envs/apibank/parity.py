"""API-Bank's parity suite: official verdicts on recorded calls, their mutations, rules, sequences and texts.

    callgym parity apibank FOLDER --data FOLDER_OF_OFFICIAL_FILES

The fixtures' format is described beside them; each row was made by running the official code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from callgym.data import cache_folder, read_json_file, read_json_lines
from callgym.envs.apibank.call_text import extract_call, parse_call
from callgym.envs.apibank.official import judge_call, judge_made_call
from callgym.envs.apibank.simulator.manager import CallFault, call_tool
from callgym.envs.apibank.simulator.session import SimulatorBackend
from callgym.envs.apibank.simulator.tables import load_tables
from callgym.envs.apibank.simulator.tool_search import split_capitals
from callgym.envs.apibank.simulator.world import ReturnedError, World, own_copy
from callgym.errors import DataError
from callgym.parity import Case
from callgym.rewards.rouge import official_rouge_l
from callgym.tool_backends.ranking import get_ranker

__all__ = ["cases"]

_FILES = ("calls", "rules", "sequences", "parser", "rouge", "toolsearch")
_SETS = {1: "apis", 2: "apis", 3: "lv3_apis"}
_SAMPLES = {1: "lv1-lv2-samples/level-1-given-desc", 2: "lv1-lv2-samples/level-2-toolsearcher"}
_RANDOM = re.compile(r"<random:[^>]*>")


def cases(folder: Path, data: str | None = None, ranker: str = "auto") -> Iterator[Case]:
    """Every case of the fixture files that the folder holds.

    Args:
        folder: The fixtures (``calls.jsonl``, ``rules.jsonl``, ...).
        data: The folder of official files; by default ``api_bank`` beside the fixtures, else the fetched files.
        ranker: What the tool search ranks with; ``auto`` is the official model where it is installed.

    Raises:
        DataError: There are no fixtures, or the official files are missing.
    """
    present = [name for name in _FILES if (folder / f"{name}.jsonl").is_file()]
    if not present:
        raise DataError(f"{folder} holds none of {', '.join(f'{name}.jsonl' for name in _FILES)}")
    suite = _Suite(_data_folder(folder, data), ranker)
    compare: dict[str, Callable[[dict[str, Any]], Iterator[Case]]] = {
        "calls": suite.call,
        "rules": suite.rule,
        "sequences": suite.sequence,
        "parser": suite.parser,
        "rouge": suite.rouge,
        "toolsearch": suite.tool_search,
    }
    for name in present:
        path = folder / f"{name}.jsonl"
        for number, row in read_json_lines(path):
            try:
                yield from compare[name](row)
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                raise DataError(f"{path}, row {number}: not a fixture ({type(error).__name__}: {error})") from error


def _data_folder(fixtures: Path, data: str | None) -> Path:
    if data is not None:
        return Path(data)
    beside = fixtures.resolve().parent / "api_bank"
    return beside if beside.is_dir() else cache_folder() / "apibank"


class _Suite:
    """Our answers to fixture rows."""

    def __init__(self, data: Path, ranker: str) -> None:
        tables = load_tables(data)
        chosen = get_ranker(ranker)
        self._backends = {s: SimulatorBackend(tables, s, chosen, official=True) for s in ("apis", "lv3_apis")}
        self._data = data
        self._dialogues: dict[str, list[Any]] = {}

    # Recorded rows.

    def _recorded(self, level: int, dialogue: str, turn: int) -> dict[str, Any]:
        row: dict[str, Any]
        if level == 3:
            sample = self._read("test-data/level-3.json", lines=False)[int(dialogue[len("level-3.json[") : -1])]
            row = sample["apis"][turn]
            return {"api_name": row["api_name"], "result": row["output"]}
        row = self._read(f"{_SAMPLES[level]}/{dialogue}", lines=True)[turn]
        return row

    def _read(self, name: str, lines: bool) -> list[Any]:
        if name not in self._dialogues:
            path = self._data / name
            self._dialogues[name] = [row for _, row in read_json_lines(path)] if lines else read_json_file(path)
        return self._dialogues[name]

    # The files.

    def call(self, row: dict[str, Any]) -> Iterator[Case]:
        level = row["level"]
        backend = self._backends[_SETS[level]]
        gold = self._recorded(level, row["dialogue"], row["turn"])
        verdict = judge_call(row["output"], gold, backend)
        official = [row["official_correct"], row["extracted"], row.get("parsed")]
        found = [verdict.correct, verdict.extracted, None if verdict.parsed is None else list(verdict.parsed)]
        yield Case("calls.jsonl", row["case"], official, found)
        yield Case("calls.jsonl (status)", row["case"], row["official_status"], verdict.status)
        if level != 3:
            yield Case("calls.jsonl (error class)", row["case"], row["by_json_category"], verdict.category)
        if isinstance(row["official_result"], dict) and row["official_status"] != "key_error":
            made = _as_shown(row["official_result"], verdict.result)
            yield Case("calls.jsonl (result)", row["case"], *_without_random(row["official_result"], made))
        yield from self._typed(row, gold, backend)

    def _typed(self, row: dict[str, Any], gold: dict[str, Any], backend: SimulatorBackend) -> Iterator[Case]:
        for kind, earlier in (("typed_fresh", []), ("typed_replay", row["history_calls"])):
            if kind not in row:
                continue
            world = backend.open_world()
            for turn in earlier:
                _attempt(world, backend.tool_set, *_typed_call(self._recorded(row["level"], row["dialogue"], turn)))
            made = _attempt(world, backend.tool_set, *_typed_call(gold))
            correct = isinstance(made, dict) and (
                judge_made_call(backend.tool_set, gold["api_name"], made, own_copy(gold["result"]))[0] == "correct"
            )
            yield Case(f"calls.jsonl ({kind})", row["case"], row[kind]["correct"], correct)

    def rule(self, row: dict[str, Any]) -> Iterator[Case]:
        tool_set, tool = row["tools"], row["api_name"]
        backend = self._backends[tool_set]
        reference = _attempt(backend.open_world(), tool_set, tool, row["groundtruth_args"])
        made = _attempt(backend.open_world(), tool_set, tool, row["args"])
        ran = isinstance(made, dict) and isinstance(reference, dict)
        correct = ran and judge_made_call(tool_set, tool, made, reference)[0] == "correct"
        yield Case("rules.jsonl", row["case"], row["official_correct"], correct)
        if "result" in row:
            made = _as_shown(row["result"], made)
            yield Case("rules.jsonl (result)", row["case"], *_without_random(row["result"], made))

    def sequence(self, row: dict[str, Any]) -> Iterator[Case]:
        backend = self._backends[row["tools"]]
        world = backend.open_world()
        made: list[Any] = []
        agree = True
        for number, (call, official) in enumerate(zip(row["calls"], row["official_outputs"], strict=True)):
            answer = _attempt(world, row["tools"], call["api_name"], _resolved(call["args"], made))
            made.append(answer)
            expected = official["result"] if official["status"] == "ok" else official["error"]
            case = Case("sequences.jsonl (calls)", f"{row['case']}#{number}", *_without_random(expected, answer))
            agree = agree and case.agree
            yield case
        changes = {n: c for n, c in world.changes().items() if "/" not in n and n != "OpenBankAccount"}
        state = Case("sequences.jsonl (state)", row["case"], *_without_random(row["state_changes"], changes))
        yield state
        yield Case("sequences.jsonl", row["case"], True, agree and state.agree)

    def parser(self, row: dict[str, Any]) -> Iterator[Case]:
        extracted = extract_call(row["text"])
        parsed = None if extracted is None else parse_call(extracted)
        whole = parse_call(row["text"])
        official = [row["official_extracted"], row.get("official_parsed"), row.get("official_parse_of_full_text")]
        found = [extracted, parsed and list(parsed), whole and list(whole)]
        yield Case("parser.jsonl", row["case"], official, found)

    def rouge(self, row: dict[str, Any]) -> Iterator[Case]:
        score = official_rouge_l(row["reference"], row["output"], row["level"])
        official = row["official_rouge_l"]
        # The package raises on texts without words; a reply of that kind earns nothing here.
        expected = official if isinstance(official, (int, float)) else 0.0
        yield Case("rouge.jsonl", row["case"], expected, score)

    def tool_search(self, row: dict[str, Any]) -> Iterator[Case]:
        search = self._backends[row["tools"]].search
        keywords = row["keywords"]
        name = search.best(split_capitals(keywords) if row["tools"] == "lv3_apis" else keywords)
        official = row["official_names"]
        yield Case("toolsearch.jsonl", row["case"], official[-1] if isinstance(official, list) else official, name)


def _typed_call(gold: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The recorded call with the values as the recorded result shows them."""
    return gold["api_name"], own_copy(gold["result"]["input"] or {})


def _attempt(world: World, tool_set: str, name: str, arguments: dict[str, Any]) -> Any:
    """The result, or the text of the error that comes out of the manager."""
    try:
        made = own_copy(call_tool(world, tool_set, name, own_copy(arguments)))
        return {**made, "output": str(made["output"])} if isinstance(made["output"], ReturnedError) else made
    except CallFault as fault:
        return str(fault)


def _as_shown(official: dict[str, Any], made: Any) -> Any:
    """Our result with the parts of the input that the official row still has: some official checks delete one."""
    if not (isinstance(made, dict) and isinstance(made["input"], dict) and isinstance(official["input"], dict)):
        return made
    return {**made, "input": {key: value for key, value in made["input"].items() if key in official["input"]}}


def _resolved(arguments: Any, made: list[Any]) -> Any:
    if isinstance(arguments, dict) and "$ref" in arguments:
        step, *path = arguments["$ref"]
        value = made[step]
        for part in path:
            value = value[part]
        return value
    if isinstance(arguments, dict):
        return {key: _resolved(value, made) for key, value in arguments.items()}
    if isinstance(arguments, list):
        return [_resolved(value, made) for value in arguments]
    return arguments


def _without_random(official: Any, ours: Any) -> tuple[Any, Any]:
    """Both, with what is random in the official one taken out of both."""
    if isinstance(official, dict) and isinstance(ours, dict):
        random = [key for key in official if isinstance(key, str) and _RANDOM.search(key)]
        if random:
            extra = [key for key in ours if key not in official]
            if len(extra) == len(random):
                renamed = {new: ours[old] for new, old in zip(random, extra, strict=True)}
                ours = {**{key: value for key, value in ours.items() if key not in extra}, **renamed}
        pairs = {key: _without_random(official[key], ours[key]) for key in official if key in ours}
        rest = {key: value for key, value in ours.items() if key not in official}
        return (
            {key: pairs[key][0] if key in pairs else value for key, value in official.items()},
            {**{key: pair[1] for key, pair in pairs.items()}, **rest},
        )
    if isinstance(official, list) and isinstance(ours, list) and len(official) == len(ours):
        both = [_without_random(a, b) for a, b in zip(official, ours, strict=True)]
        return [a for a, _ in both], [b for _, b in both]
    if isinstance(official, str) and _RANDOM.fullmatch(official) and isinstance(ours, str):
        return official, official
    return official, ours
