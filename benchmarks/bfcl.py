"""What BFCL's rules cost beside the official package: ``python benchmarks/bfcl.py [--data FOLDER]``.

Both run in this process, in turn, on the same texts: decoding and checking of single-turn answers, scoring of whole
dialogues, opening a session. ``gold``: right answers; ``mixed``: answers of which many are wrong, the fixtures' where
they lie beside the data. ``cold``: nothing is known of an entry yet, as in an evaluation; ``warm``: it was scored
before, as in training. Times are of the processor; a ratio is that of the fastest rounds. Then what hostile actions
take in ``env.step``, what each reader takes over hostile texts, and what 5,000 multi-turn episodes leave behind. Exit
status 1 where a limit is broken.

The package is installed without its dependencies into ``--reference``, an environment of its own, the first time.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import gzip
import json
import random
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from bfcl_reference import Reference, load_reference

from callgym.data import cache_folder
from callgym.dialects.base import MAX_LENGTH
from callgym.dialects.python_calls import PythonDialect
from callgym.envs.base import make_tool_env
from callgym.envs.bfcl.categories import CATEGORIES
from callgym.envs.bfcl.code_dialect import CodeDialect
from callgym.envs.bfcl.code_text import read_java, read_javascript
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.format_dialect import FormatDialect
from callgym.envs.bfcl.loading import official_tasks, starter_tasks
from callgym.envs.bfcl.memory.session import open_store
from callgym.envs.bfcl.memory.store import STORES
from callgym.envs.bfcl.official import checker, syntax_tree
from callgym.envs.bfcl.official.agentic import states_answer
from callgym.envs.bfcl.official.checker import judge_text
from callgym.envs.bfcl.official.code_values import convert_java, convert_javascript
from callgym.envs.bfcl.official.multi_turn import score, score_outputs
from callgym.envs.bfcl.official.strict_answer import strict_answer
from callgym.envs.bfcl.prompt_formats import FORMATS
from callgym.envs.bfcl.simulators.base import Refusal, Tables
from callgym.envs.bfcl.simulators.session import World
from callgym.envs.bfcl.starter.tables import starter_tables
from callgym.envs.bfcl.web.corpus import corpus_index
from callgym.goal import CallsGoal
from callgym.task import Task

HERE = Path(__file__).resolve().parents[1]
SINGLE_LIMIT, PARALLEL_LIMIT, DIALOGUE_LIMIT = 1.0, 2.0, 5.0
HOSTILE_LIMIT_MS, TRACED_LIMIT_MB, RESIDENT_LIMIT_MB = 50.0, 1.0, 10.0
ROUND_SECONDS = 0.02
WARM_UP = 500
PARTS = ("single", "dialogues", "hostile", "memory")


@dataclass(frozen=True)
class Answer:
    """An answer to a single-turn task."""

    category: str
    functions: list[dict[str, Any]]
    gold: Any
    text: str


@dataclass(frozen=True)
class Dialogue:
    """The answers to a multi-turn task: call texts by turn and step, or replies by turn."""

    entry: dict[str, Any]
    gold: list[list[str]]
    turns: Any = None
    outputs: Any = None


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    kind: str
    items: int
    official_us: float
    own_us: float
    limit: float | None = None
    differing: int = 0
    """Verdicts that are not the official ones."""

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.official_us / self.own_us

    @property
    def fits(self) -> bool:
        """Whether it is within its limit."""
        return self.limit is None or self.ratio >= self.limit


# Measuring.


def compare(
    row: Row, official: Callable[[Any], Any], own: Callable[[Any], Any], fresh: Callable[[], list[Any]], rounds: int
) -> Row:
    """Run both on the same items, in turn; the fastest round of each counts.

    Args:
        row: What is measured.
        official: Scores an item.
        own: Scores an item.
        fresh: The items of the next round, as neither side has seen them, or as ours has.
        rounds: How often.
    """
    best = [float("inf"), float("inf")]
    differing = items = 0
    gc.disable()
    for number in range(rounds):
        found: list[list[Any]] = [[], []]
        batch = fresh()
        items = len(batch)
        for side in (0, 1) if number % 2 else (1, 0):
            function = (official, own)[side]
            gc.collect(0)
            started = time.process_time()
            found[side] = [function(item) for item in batch]
            best[side] = min(best[side], (time.process_time() - started) / items)
        differing = sum(one != other for one, other in zip(*found, strict=True))
        gc.collect()
    gc.enable()
    return replace(row, official_us=best[0] * 1e6, own_us=best[1] * 1e6, differing=differing)


# Single-turn answers.


def single_turn(
    reference: Reference, tasks: dict[str, Sequence[Task]], fixtures: Path | None, rounds: int
) -> Iterator[Row]:
    """Decoding and checking, by category."""
    texts = fixture_texts(fixtures)
    for category, found in tasks.items():
        known = CATEGORIES[category]
        if known.kind not in ("calls", "irrelevance", "relevance"):
            continue
        language = known.language
        limit = PARALLEL_LIMIT if "parallel" in category else SINGLE_LIMIT

        def official(answer: Answer, language: str = language) -> bool:
            return reference.judge(answer.text, answer.category, language, answer.functions, answer.gold)

        for name, answers in answers_of(category, found, texts).items():
            repeats = max(1, round(ROUND_SECONDS / (4e-5 * len(answers))))
            batch = answers * repeats
            row = Row(f"{category}, {name}", "cold", len(answers), 0, 0, limit)
            yield compare(row, official, own_verdict, partial(copies, batch), rounds)
            yield compare(replace(row, kind="warm"), official, own_verdict, partial(list, batch), rounds)


def copies(answers: Sequence[Answer]) -> list[Any]:
    """The same answers to golds and functions that nobody has seen."""
    checker._prepared.clear()  # so that what was kept is not thrown away while the clock runs
    return [deepcopy(answer) for answer in answers]


def own_verdict(answer: Answer) -> bool:
    """Our verdict on an answer."""
    return judge_text(answer.text, answer.category, answer.functions, answer.gold).valid


def fixture_texts(fixtures: Path | None) -> dict[str, dict[str, list[str]]]:
    """Task id to the fixtures' answers by name; empty without fixtures."""
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"gold": [], "mixed": []})
    for row in fixture_rows(fixtures, "single_turn"):
        if "fc" not in row["mutation"]:
            texts[row["id"]]["mixed"].append(row["output"])
            texts[row["id"]]["gold"] += [row["output"]] if row["mutation"] == "gold" else []
    return texts


def fixture_rows(fixtures: Path | None, stem: str) -> Iterator[dict[str, Any]]:
    """The rows of a file of fixtures."""
    path = None if fixtures is None else fixtures / f"{stem}.jsonl.gz"
    if path is not None and path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def answers_of(category: str, tasks: Sequence[Task], texts: dict[str, dict[str, list[str]]]) -> dict[str, list[Answer]]:
    """Answers by name: the fixtures' where they have the category, else made ones."""
    fixed = any(task.id in texts for task in tasks)
    answers: dict[str, list[Answer]] = {"gold": [], "mixed": []}
    for number, task in enumerate(tasks):
        functions: list[Any] = [tool.meta["bfcl"] for tool in task.tools]
        for name, own in answers.items():
            said = texts[task.id][name] if fixed else [made_answer(task, name, random.Random(number))]
            own += [Answer(category, functions, task.meta.get("gold"), text) for text in said]
    return {name: own for name, own in answers.items() if own}


def made_answer(task: Task, name: str, rng: random.Random) -> str:
    """The gold as text; ``mixed``: three of four times with a fault."""
    goal = task.goal_of(CallsGoal)
    if goal is None:
        return "I cannot do that with these functions." if name == "gold" else f"{task.tools[0].name}(x=1)"
    calls = [(gold.reference().name, dict(gold.reference().arguments)) for gold in goal.turns[0]]
    fault = rng.choice(("none", "value", "less", "name")) if name == "mixed" else "none"
    called, arguments = calls[-1]
    is_python = CATEGORIES[str(task.meta["category"])].language == "python"
    if fault == "name":
        calls[-1] = (f"{called}_", arguments)
    elif fault != "none" and arguments:
        last = next(reversed(arguments))
        arguments |= {last: "something else" if is_python else '"something else"'}
        if fault == "less":
            del arguments[last]
    write = repr if is_python else str
    written = [(name, ", ".join(f"{key}={write(value)}" for key, value in given.items())) for name, given in calls]
    return f"[{', '.join(f'{name}({given})' for name, given in written)}]"


# Dialogues.


def dialogues(
    reference: Reference, tasks: dict[str, Sequence[Task]], fixtures: Path | None, tables: Tables, rounds: int
) -> Iterator[Row]:
    """Scoring whole dialogues, and opening a session, by category."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for fixture in fixture_rows(fixtures, "multi_turn"):
        rows[fixture["id"]].append(fixture)
    official = partial(official_verdict, reference)
    own = partial(own_dialogue_verdict, tables)
    ids = iter(range(1_000_000, 100_000_000))
    for category, found in tasks.items():
        if CATEGORIES[category].kind != "multi_turn":
            continue
        for name, batch in dialogues_of(found, rows).items():
            row = Row(f"{category}, {name}", "cold", len(batch), 0, 0, DIALOGUE_LIMIT)
            yield compare(row, official, own, partial(renamed, reference, batch, ids), rounds)
            known = renamed(reference, batch, ids)
            for item in known * 2:
                own(item)
            yield compare(replace(row, kind="warm"), official, own, partial(forgotten, reference, known), rounds)
        entries = [Dialogue(entry_of(task), []) for task in found]
        row = Row(f"{category}, opening", "", len(entries), 0, 0)
        opening = partial(renamed, reference, entries, ids)
        yield compare(row, lambda item: reference.open(item.entry), partial(open_world, tables), opening, rounds)


def renamed(reference: Reference, dialogues: Sequence[Dialogue], ids: Iterator[int]) -> list[Dialogue]:
    """The same dialogues under new ids: by the id the package keeps its instances, and we what we know of a gold."""
    reference.forget()
    categories = [item.entry["id"].rpartition("_")[0] for item in dialogues]
    return [
        replace(item, entry={**item.entry, "id": f"{category}_{next(ids)}"})
        for item, category in zip(dialogues, categories, strict=True)
    ]


def forgotten(reference: Reference, dialogues: list[Dialogue]) -> list[Dialogue]:
    """The same dialogues, of which the package has no instances any more."""
    reference.forget()
    return dialogues


def official_verdict(reference: Reference, item: Dialogue) -> bool:
    """The package's verdict on a dialogue."""
    if item.turns is not None:
        return reference.judge_turns(item.entry, item.gold, item.turns)
    return reference.judge_outputs(item.entry, item.gold, item.outputs)


def own_dialogue_verdict(tables: Tables, item: Dialogue) -> bool:
    """Our verdict on a dialogue."""
    if item.turns is not None:
        return score(item.entry, item.gold, item.turns, tables).valid
    return score_outputs(item.entry, item.gold, item.outputs, tables).valid


def open_world(tables: Tables, item: Dialogue) -> None:
    """Our classes of an entry, each of them made, which otherwise waits until it is needed."""
    entry = item.entry
    world = World(entry["involved_classes"], entry["initial_config"], tables, "long_context" in entry["id"])
    for name in world.classes:
        world.instance(name)


def entry_of(task: Task) -> dict[str, Any]:
    """The official entry that a task was made of, as far as scoring needs it."""
    return {
        "id": task.id,
        "involved_classes": task.meta["involved_classes"],
        "initial_config": task.initial_state,
    }


def dialogues_of(tasks: Sequence[Task], rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[Dialogue]]:
    """Dialogues by name: the gold played in one step a turn, and mixed ones."""
    found: dict[str, list[Dialogue]] = {"gold": [], "mixed": []}
    fixed = any(task.id in rows for task in tasks)
    for number, task in enumerate(tasks):
        entry = entry_of(task)
        gold: Any = task.meta["gold"]
        found["gold"].append(Dialogue(entry, gold, [[calls] if calls else [] for calls in gold]))
        if fixed:
            found["mixed"] += [Dialogue(entry, gold, row.get("turns"), row.get("outputs")) for row in rows[task.id]]
            continue
        turns = [[[call] for call in calls] for calls in gold]
        turn = random.Random(number).choice([steps for steps in turns if steps] or [[[]]])
        del turn[-1]
        found["mixed"].append(Dialogue(entry, gold, turns))
    return found


# Hostile actions.


def hostile_actions() -> dict[str, str]:
    """Actions by name that careless work takes long over, or fails on."""
    megabyte = 1_000_000
    deep = 20_000
    return {
        "9**9**9": "[f(a=9**9**9)]",
        "shift": "[f(a=1<<999999999)]",
        "repetition": "[f(a='x'*999999999*999)]",
        "many digits": f"[f(a={'9' * 30_000})]",
        "many signs": f"[f(a={'-' * 30_000}1)]",
        "brackets": "[" * deep,
        "closed brackets": f"[f(a={'[' * 10_000}{']' * 10_000})]",
        "parentheses": "[f(a=" + "(" * deep,
        "nested calls": "[" + "f(a=" * 6_000 + "1" + ")" * 6_000 + "]",
        "nested objects": '{"a":' * 5_000 + "1" + "}" * 5_000,
        "tags": "<TOOLCALL>" * 3_000,
        "tool_call tags": "<tool_call>" * 3_000,
        "functions": "<functions>" * 3_000,
        "think": "<think>" * 4_000,
        "control characters": "".join(map(chr, range(32))) * 900,
        "zero": "[f(a='\0')]",
        "surrogates": "[f(a='\ud800')]" * 2_000,
        "quotes": "'" * 30_000,
        "open quotes": "[f(a='" + "x" * 30_000,
        "backslashes": "[f(a='" + "\\" * 30_001 + "')]",
        "f-strings": "[f(a=f'" + "{" * 10_000 + "')]",
        "spaces": "[f(" + " " * 30_000 + "a",
        "names": "[" + "a." * 16_000 + "f()]",
        "commas": "[f(" + "," * 30_000,
        "arguments": f"[f({', '.join(f'a{n}={n}' for n in range(3_000))})]",
        "calls": f"[{', '.join('f(a=1)' for _ in range(4_000))}]",
        "java": "f(a=" + "new int[]{" * 3_000,
        "javascript": "f(a=" + "[{a:" * 7_000,
        "dictionaries": "[f(a=" + "{1:" * 10_000,
        "lambdas": "[f(a=" + "lambda:" * 4_000 + "1)]",
        "format width": "[f(a='%999999999d'%5)]",
        "format many": "[f(a='%(k)s'*900%{'k':'x'*9000})]",
        "shared lists": "[f(a=[[[['a']*300]*300]*300]*300)]",
        "colliding keys": "[f(a={" + ",".join(f"{number * (2**61 - 1)}:1" for number in range(3_000)) + "})]",
        "hexadecimal": f"[f(a=0x{'f' * 90_000})]",
        "warnings": "[f(a='" + "\\d" * 40_000 + "')]",
        "closings": "}" + " ]" * 49_000 + "[{",
        "deep xml": "<functions>" + "<a>" * 14_000 + "</a>" * 14_000 + "</functions>",
        "megabyte": "x" * megabyte,
        "megabyte of brackets": "[" * megabyte,
        "megabyte of calls": f"[{', '.join(['f(a=1)'] * (megabyte // 8))}]",
        "megabyte of quotes": "[f(a='" + "x" * megabyte + "')]",
        "megabyte of spaces": " " * megabyte,
        "megabyte of control characters": "\x00\x1b" * (megabyte // 2),
    }


def hostile_steps(data: str, rounds: int) -> list[tuple[float, str, bool]]:
    """Milliseconds, which action where, and whether it was an error of reading; the slowest first."""
    found = []
    actions = hostile_actions()
    for category in ("simple_python", "simple_java", "simple_javascript", "parallel", "multi_turn_base"):
        for dialect in ("python", "hermes"):
            env = make_tool_env(f"bfcl/{category}-v0", data=data, dialect=dialect)
            for name, action in actions.items():
                best, unread = float("inf"), False
                for _ in range(rounds):
                    env.reset(seed=0, options={"task": 0})
                    started = time.process_time()
                    info = env.step(action)[4]
                    best = min(best, time.process_time() - started)
                    unread = not info["calls"]
                found.append((best * 1e3, f"{category}, {dialect}: {name}", unread))
            env.close()
    return sorted(found, reverse=True)


# Readers on hostile texts.

PIECES = (
    "[", "{", "(", "'", '"', "\\", ",", " ", "\n", "`", "``` ", "<think>", "</think>", "[A(", "[A(x=", "[A(x='",
    "[A(x=[", "[A(x={", "[A(x='a'", "[A(x='a')", "[A(x='a')]", "[A(x)]", "['a'(", "['", "f(),", "f(a=1),",
    "f(a=1)\n", "f(x),", "x=1,", "x=[],", "'a':1,", "'a':[],", "'a''b'", "'a', ", "'\\n',", "\\x41", "**{'a':1},",
    "x='''", "()", "[],", "(1,", "1,", "9", "1_", "0x", "1.", "-", "a", "é", "[f(),'", "[f(),\"'", "x,", ", , ",
    '"""', ";", "<", "a<", "a<b,", "a <", "[f(", "[f(a=", "[f(a=1)", "[f(a=1),", "[f(a=1", "f(", "[f(a='",
    '[f(a="\\', "[f(a=</think>", "[f(a=1</think>[", "**{", "[f(**{'a':", "=", "a=", "[f(a=1, 2)", "f(1)\n", "```",
    "`a", "[f(a=1)}", '[f(a="</think>")]', "{{", "`${", "[a,", "a.", "1+", "new A(", "/*", "\x00", "new HashMap<",
    'put("', 'put("a", ', "put(\"a\",\n", "> ()", "{ ", "}", "new ArrayList<X>(Arrays.asList(",
    "new ArrayList<X>() {{ ", "add(", "))", "}}", "new int[]{", "new a", "new ", "\n}", "1", "1e", "[[1],", "],[",
    "] ,\n[", "[a", "a:", ", :", ",a", "a ", "1 and ", "'a',", "\\d", "get_current_speed() ", "{'answer': '",
    "{answer:,a:", "', x", "</TOOLCALL>", "<TOOLCALL>", "<functions>", "<a>", "\ud800",
)  # fmt: skip
"""What hostile texts are repetitions of."""
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Reader:
    """What reads texts that a policy writes, and what the repetitions stand between, how long."""

    name: str
    variant: str
    read: Callable[[str], object]
    openings: tuple[str, ...] = ("",)
    endings: tuple[str, ...] = ("",)
    lengths: tuple[int, ...] = (MAX_LENGTH, MEGABYTE)
    others: Mapping[str, str] = field(default_factory=dict)
    """Texts by name."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """All its texts, each with a name."""
        for length, opening, piece, ending in product(self.lengths, self.openings, PIECES, self.endings):
            times = (length - len(opening) - len(ending)) // len(piece)
            yield f"{opening!r} + {piece!r} * {times} + {ending!r}", opening + piece * times + ending
        yield from self.others.items()


def readers(tables: Tables) -> Iterator[Reader]:
    """All that read what a policy writes."""
    actions = hostile_actions()
    openings = ("", "[f(a=", "[f(a='", "[f(a={", "f(a=", "<think>")
    dialect = partial(Reader, openings=openings, endings=("", "')]", "</think>[f(a=1)]"), lengths=(MAX_LENGTH,))
    yield dialect("PythonDialect.parse", "", PythonDialect().parse, others=actions)
    for language in ("java", "javascript"):
        yield dialect("CodeDialect.parse", language, CodeDialect(language).parse, others=actions)
    yield from format_readers(actions)
    yield from code_readers(actions)
    yield from session_readers(tables, actions)


def format_readers(actions: Mapping[str, str]) -> Iterator[Reader]:
    """The prompt formats, and the official verdicts on texts."""
    function = {"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "string"}}, "required": []}}
    judge = partial(judge_text, category="simple_python", functions=[function], gold=[{"f": {"a": ["x", ""]}}])
    openings = {
        "python": ("", "[f(a=", "[f(a='"),
        "json": ("", '[{"function": "f", "parameters": {"a": ', '[{"function": "f", "parameters": {"a": "'),
        "verbose_xml": ("", '<functions><function name="f"><param name="a" value="'),
        "concise_xml": ("", '<functions><function name="f"><param name="a" type="string">'),
    }
    for form in [form for form in FORMATS[:24] if form.doc_fmt == "json"]:  # that makes no difference to reading
        tag = "<TOOLCALL>" if form.tagged else ""
        opened = tuple(tag + opening for opening in openings[form.ret_fmt])
        yield Reader("FormatDialect.parse", form.ret_fmt, FormatDialect(form).parse, opened, others=actions)
        official = partial(judge, ret_fmt=form.ret_fmt, tagged=form.tagged)
        yield Reader("judge_text", form.ret_fmt, official, opened, lengths=(90_000, MEGABYTE), others=actions)
    for language in ("java", "javascript"):
        official = partial(judge, category=f"simple_{language}")
        lengths = (syntax_tree.MOST_CHARACTERS, MEGABYTE)
        yield Reader("judge_text, code", language, official, ("", "[f(a="), lengths=lengths, others=actions)


def code_readers(actions: Mapping[str, str]) -> Iterator[Reader]:
    """Values in Java and JavaScript: our reading of them, and the official conversion."""
    openings = {
        "java": {"HashMap": "new HashMap<A>() {{", "ArrayList": "new ArrayList<A>() {{", "Array": "new int[]{"},
        "javascript": {"array": "[[", "dict": "{a:"},
    }
    functions = {
        "java": {"values of code": read_java, "values of code, officially": convert_java},
        "javascript": {"values of code": read_javascript, "values of code, officially": convert_javascript},
    }
    for language, types in openings.items():
        for declared, (name, function) in product((*types, "integer", "float", "String"), functions[language].items()):
            read = partial(read_value, function, declared)
            opened = ("", types[declared]) if declared in types else ("",)
            yield Reader(name, f"{language}, {declared}", read, opened, ("", "}}", "]]"), (4_900, MEGABYTE), actions)


def read_value(function: Callable[[str, str, str | None], object], declared: str, text: str) -> None:
    """Read a value; the official converters raise where a number has too many digits."""
    with contextlib.suppress(ValueError):
        function(text, declared, "String")


def session_readers(tables: Tables, actions: Mapping[str, str]) -> Iterator[Reader]:
    """Call texts of multi-turn tasks, answers, searches, and what is put into a memory."""
    run = World(["VehicleControlAPI"], {}, tables).run_call_text
    openings, endings = ("", "display_log(messages=[", "display_log(messages=['"), ("", "'])")
    yield Reader("World.run_call_text", "", run, openings, endings, others=actions)
    run = grown_world(tables).run_call_text
    yield Reader("World.run_call_text", "maths and files", run, lengths=(), others={text: text for text in LARGE})
    for name, rule in (("strict_answer", strict_answer), ("states_answer", states_answer)):
        answer = partial(rule, accepted=["a", "answer"])
        yield Reader(name, "", answer, ("", "{'answer': '"), ("", "'}"), others=actions)
    words = " ".join(f"river{number} town founded {number}" for number in range(40_000))
    yield Reader("SearchIndex.search", "", corpus_index("test").search, others={**actions, "different words": words})
    for store in STORES:
        yield Reader("memory, all tools", store, partial(remember, store), lengths=(MEGABYTE,), others=actions)


LARGE = (
    "power(base=9, exponent=999999999)",
    "round_number(number=5, decimal_places=-999999999)",
    "square_root(number=2, precision=99999999)",
    "logarithm(value=3, base=2, precision=99999999)",
    "find(path='.')",
    "du(human_readable=True)",
    "cp(source='a', destination='c')",
)
"""Calls that careless work takes long over."""


def grown_world(tables: Tables) -> World:
    """Maths, and files that were copied into one another until that was refused."""
    world = World(["MathAPI", "GorillaFileSystem"], {}, tables)
    calls = ["mkdir(dir_name='a')"]
    for number in range(1_000):
        calls += [f"cp(source='a', destination='b{number}')", f"mv(source='b{number}', destination='a')"]
    for call in calls:
        if world.run_call_text(call).text.startswith("Error during execution"):
            break
    return world


def remember(name: str, text: str) -> None:
    """Give a text to every tool of a memory store, as each of its arguments."""
    store = open_store(name)
    for tool, argument in product(store.tools, ("key", "value", "query", "text", "new_text", "old_text", "vec_id")):
        with contextlib.suppress(Refusal):
            store.call(tool, {argument: text})


def hostile_reads(tables: Tables) -> Iterator[tuple[float, str, str, int]]:
    """Milliseconds, which reader, over which text, and how many texts there were; the slowest of each reader."""
    found: dict[str, list[tuple[float, str, int]]] = defaultdict(list)
    for reader in readers(tables):
        milliseconds, text, count = slowest_read(reader)
        found[reader.name].append((milliseconds, f"{reader.variant}: {text}" if reader.variant else text, count))
    for name, slowest in found.items():
        milliseconds, text, _ = max(slowest)
        yield milliseconds, name, text, sum(count for _, _, count in slowest)


def slowest_read(reader: Reader) -> tuple[float, str, int]:
    """Milliseconds, over which text, and how many texts there were."""
    worst, name, count = 0.0, "", 0
    for text_name, text in reader.texts():
        count += 1
        taken = read_ms(reader, text)
        if taken > worst:  # what else the machine did is not counted
            taken = min(taken, *(read_ms(reader, text) for _ in range(3)))
        if taken > worst:
            worst, name = taken, text_name
    return worst, name, count


def read_ms(reader: Reader, text: str) -> float:
    """Milliseconds of the processor."""
    started = time.process_time()
    reader.read(text)
    return (time.process_time() - started) * 1e3


# Memory.


def memory_added(data: str, episodes: int) -> tuple[float, float]:
    """MB that episodes leave behind after a warm-up: traced by Python, and resident."""
    env = make_tool_env("bfcl/multi_turn_base-v0", data=data, observation="delta")
    rng = random.Random(0)
    play(env, rng, range(WARM_UP))
    gc.collect()
    resident = resident_mb()
    play(env, rng, range(WARM_UP, episodes // 2))
    tracemalloc.start()
    play(env, rng, range(episodes // 2, episodes // 2 + WARM_UP))
    gc.collect()
    traced = tracemalloc.get_traced_memory()[0]
    play(env, rng, range(episodes // 2 + WARM_UP, episodes))
    gc.collect()
    traced = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    gc.collect()
    return traced / 2**20, resident_mb() - resident


def play(env: Any, rng: random.Random, numbers: range) -> None:
    """Episodes of every task in turn; every third action is noise."""
    noise = (
        "[ls()]",
        "[post_tweet(content='x')]",
        "[unknown(a=1)]",
        "[f(",
        "Hello.",
        "[mkdir(dir_name='x'), ls(a=True)]",
    )
    for number in numbers:
        env.reset(seed=number, options={"task": number % len(env.tasks)})
        ended = False
        while not ended:
            action = rng.choice(noise) if rng.random() < 0.33 else env.oracle_action()
            _, _, terminated, truncated, _ = env.step(action)
            ended = terminated or truncated


def resident_mb() -> float:
    """Resident memory of this process, in MB (Linux)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * 4096 / 2**20


# The whole.


def tasks_of(data: str) -> dict[str, Sequence[Task]]:
    """Tasks by category: the official ones of a folder, or the starter tasks."""
    names = [
        name
        for name, category in CATEGORIES.items()
        if category.kind in ("calls", "irrelevance", "relevance", "multi_turn")
    ]
    if data == "starter":
        return {name: starter_tasks(CATEGORIES[name], "test") for name in names}
    files = BfclFiles(Path(data))
    return {name: official_tasks(files, CATEGORIES[name], "test") for name in names}


def find_data(given: str | None) -> str:
    """The folder that was given, else the official files beside the repository, else the starter tasks."""
    if given is not None:
        return given
    beside = HERE.parent / "shared" / "data" / "bfcl"
    return str(beside) if beside.is_dir() else "starter"


def main() -> None:
    """Measure, print, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="starter, or a folder of official files; by default those beside the repository")
    parser.add_argument("--reference", type=Path, default=cache_folder() / "bfcl-reference")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--episodes", type=int, default=5_000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = find_data(options.data)
    fixtures = None if data == "starter" else Path(data).absolute().parent / "bfcl_parity"
    reference = load_reference(options.reference)
    figures: dict[str, Any] = {"rows": []}
    over: list[str] = []

    tasks = tasks_of(data)
    files = None if data == "starter" else BfclFiles(Path(data))
    tables = starter_tables() if files is None else Tables(files.constants(), files.long_context())
    rows: list[Iterator[Row]] = []
    if "single" in options.parts:
        rows.append(single_turn(reference, tasks, fixtures, options.rounds))
    if "dialogues" in options.parts:
        rows.append(dialogues(reference, tasks, fixtures, tables, options.rounds))
    print(
        f"data {data}\n{'':<36}{'':<6}{'items':>6}{'official us':>13}{'ours us':>10}{'ratio':>8}{'limit':>7}  differing"
    )
    for row in (row for part in rows for row in part):
        limit = "" if row.limit is None else f"{row.limit:g}"
        print(
            f"{row.name:<36}{row.kind:<6}{row.items:>6}{row.official_us:>13.1f}{row.own_us:>10.1f}{row.ratio:>8.2f}"
            f"{limit:>7}{row.differing:>11}{'' if row.fits else '  OVER'}",
            flush=True,
        )
        figures["rows"].append({**asdict(row), "ratio": row.ratio})
        over += [] if row.fits else [f"{row.name} {row.kind}"]
    if "hostile" in options.parts:
        steps = hostile_steps(data, 2)
        print(f"hostile actions, milliseconds of env.step, the slowest of {len(steps)} (limit {HOSTILE_LIMIT_MS:g})")
        for milliseconds, name, unread in steps[:10]:
            print(f"{milliseconds:>10.2f}  {name}{'' if unread else ' (read as calls)'}")
        figures["hostile_ms"] = steps[0][0]
        over += ["hostile actions"] if steps[0][0] > HOSTILE_LIMIT_MS else []
        print(f"readers on hostile texts, milliseconds over the slowest (limit {HOSTILE_LIMIT_MS:g})")
        figures["readers_ms"] = {}
        for milliseconds, name, text, count in hostile_reads(tables):
            print(f"{milliseconds:>10.2f}  {name} ({count:,} texts): {text}")
            figures["readers_ms"][name] = milliseconds
            over += [name] if milliseconds > HOSTILE_LIMIT_MS else []
    if "memory" in options.parts:
        traced, resident = memory_added(data, options.episodes)
        print(f"{options.episodes:,} multi-turn episodes, after the first {WARM_UP}:")
        print(f"{traced:>10.2f} MB more that Python holds (limit {TRACED_LIMIT_MB:g}), in the second half")
        print(f"{resident:>10.2f} MB more resident (limit {RESIDENT_LIMIT_MB:g})")
        figures |= {"traced_mb": traced, "resident_mb": resident}
        over += ["memory"] if traced > TRACED_LIMIT_MB or resident > RESIDENT_LIMIT_MB else []
    if options.json:
        print(json.dumps(figures))
    if over:
        raise SystemExit(f"over the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
