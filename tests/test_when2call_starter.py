"""When2Call's starter tasks: balanced, seeded, split cleanly, determined, and not to be told apart by their looks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from callgym.call import ToolCall
from callgym.envs.bfcl.starter.functions_catalogue import FUNCTIONS
from callgym.envs.bfcl.starter.functions_model import live_name
from callgym.envs.bfcl.starter.functions_values import Clock, Date, Phrase, Word
from callgym.envs.when2call.starter import generate, starter_tasks
from callgym.envs.when2call.starter.errand_model import by_name, eased, raised, silent
from callgym.envs.when2call.starter.errands_catalogue import ERRANDS, SUBSTITUTES, look_alikes, versions
from callgym.envs.when2call.starter.tasks import CHATS, DECISIONS
from callgym.episode import Episode, Step
from callgym.errors import ConfigurationError
from callgym.goal import AllGoal, CallsGoal, DecisionGoal, GoldCall
from callgym.rewards.abstention import irrelevance_abstention
from callgym.rewards.reply_kind import names_parameter, reply_kind
from callgym.schema import ToolSchema
from callgym.task import Task

COUNTS = {"train": 2_000, "test": 400}
REPLIES = ("direct", "tool_call", "request_for_info", "cannot_answer")
RIGHT = {"call": "tool_call", "ask": "request_for_info", "decline": "cannot_answer", "answer": "direct"}
SPOKEN = {"direct": ("answer",), "request_for_info": ("ask",), "cannot_answer": ("decline",)}
BY_TOOL = {name: f for f in FUNCTIONS["python"] for name in (f.name, live_name(f))}


@cache
def all_tasks() -> tuple[Task, ...]:
    return (*starter_tasks("train"), *starter_tasks("test"))


@cache
def further_tasks(split: str) -> tuple[Task, ...]:
    """Of another seed, so that what is rare is among them."""
    return tuple(islice(generate(split, seed=3), 4_000))


def of(decision: str, tasks: Sequence[Task] | None = None) -> list[Task]:
    return [task for task in tasks or all_tasks() if task.meta["decision"] == decision]


def question(task: Task) -> str:
    return task.messages[-1].content or ""


def answers(task: Task) -> dict[str, str]:
    found: Any = task.meta["answers"]
    return dict(found)


def written_call(task: Task) -> dict[str, Any]:
    return dict(json.loads(answers(task)["tool_call"]))


def decision_goal(task: Task) -> DecisionGoal:
    goal = task.goal_of(DecisionGoal)
    assert goal is not None
    return goal


def gold_call(task: Task) -> GoldCall:
    goal = task.goal_of(CallsGoal)
    assert goal is not None
    ((call,),) = goal.turns
    return call


def fits(call: dict[str, Any], gold: GoldCall) -> bool:
    given = call["arguments"]
    return bool(
        call["name"] == gold.name
        and all(given[name] in gold.arguments[name] for name in given if name in gold.arguments)
        and given.keys() <= gold.arguments.keys() <= given.keys() | set(gold.optional)
    )


# --- shape ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", COUNTS)
def test_counts_balance_and_ids(split: str) -> None:
    tasks = starter_tasks(split)
    assert Counter(task.meta["decision"] for task in tasks) == dict.fromkeys(DECISIONS, COUNTS[split] // 4)
    for first in range(0, len(tasks), 4):
        assert {task.meta["decision"] for task in tasks[first : first + 4]} == set(DECISIONS)
    assert [task.id for task in tasks] == [f"starter/when2call/{split}/{n:06d}" for n in range(len(tasks))]
    assert {(task.family, task.split, task.meta["source"]) for task in tasks} == {("when2call", split, "starter")}
    contents = {(question(task), tuple(sorted(tool.name for tool in task.tools))) for task in tasks}
    assert len(contents) == len(tasks)
    assert starter_tasks(split) is tasks


def test_the_decisions_come_in_no_fixed_order() -> None:
    orders = {tuple(task.meta["decision"] for task in all_tasks()[first : first + 4]) for first in range(0, 2_000, 4)}
    assert len(orders) == 24


def test_other_seeds_give_other_tasks() -> None:
    more = list(islice(generate("train", seed=7), 400))
    assert Counter(task.meta["decision"] for task in more) == dict.fromkeys(DECISIONS, 100)
    assert more[0].id == "starter/when2call/train/seed7/000000"
    assert not {task.id for task in more} & {task.id for task in all_tasks()}
    first = {question(task) for task in starter_tasks("train")[:400]}
    assert len({question(task) for task in more} & first) < 40


def test_generation_does_not_end() -> None:
    assert len({task.id for task in further_tasks("test")}) == 4_000


def test_a_split_that_does_not_exist() -> None:
    with pytest.raises(ConfigurationError, match="'dev'"):
        generate("dev")
    with pytest.raises(ConfigurationError, match="'dev'"):
        starter_tasks("dev")


def test_a_task_survives_json_and_validation() -> None:
    for task in starter_tasks("test")[:120]:
        assert Task.from_json(task.to_json()) == task


def test_goals() -> None:
    for task in all_tasks():
        decision = decision_goal(task)
        assert (decision.decision, decision.worded) == (task.meta["decision"], True)
        assert isinstance(task.goal, AllGoal if decision.decision == "call" else DecisionGoal)
        if decision.decision != "call":
            assert decision.reply == answers(task)[RIGHT[decision.decision]]
        assert decision.missing == ((task.meta["held_out_param"],) if decision.decision == "ask" else ())
        assert ("held_out_param" in task.meta) == (decision.decision == "ask")


def test_four_replies_each_different_and_never_empty() -> None:
    for task in all_tasks():
        replies = answers(task)
        assert tuple(replies) == REPLIES
        assert len(set(replies.values())) == 4
        assert all(text.strip() == text and len(text) > 1 for text in replies.values()), replies
        assert not any(mark in text for text in replies.values() for mark in ("{noun", "{deed", "None", "  "))


def test_some_tasks_begin_with_small_talk() -> None:
    shares = {d: sum(len(task.messages) == 3 for task in of(d)) / len(of(d)) for d in DECISIONS}
    assert all(0.05 < share < 0.16 for share in shares.values()), shares
    roles = {tuple(message.role for message in task.messages) for task in all_tasks()}
    assert roles == {("user",), ("user", "assistant", "user")}


# --- each decision ----------------------------------------------------------------------------------------------


def test_calls_are_determined_by_question_and_tools() -> None:
    left_unsaid = 0
    for task in of("call"):
        gold, call = gold_call(task), written_call(task)
        assert fits(call, gold), (task.id, call, gold)
        (tool,) = (tool for tool in task.tools if tool.name == gold.name)
        given = call["arguments"]
        assert set(tool.required) <= given.keys()
        assert all(stands(gold.name, name, value, question(task)) for name, value in given.items()), task.id
        usual = {parameter.name for parameter in BY_TOOL[gold.name].parameters if parameter.required}
        left_unsaid += not usual <= given.keys()
    # Tools that do without what the catalogue's function requires: then leaving it out is right.
    assert 0.2 < left_unsaid / len(of("call")) < 0.5


def stands(function: str, name: str, value: Any, text: str) -> bool:
    """Whether names and identifiers among the values stand in the question; other kinds are tested with BFCL's."""
    (kind,) = (p.kind for p in BY_TOOL[function].parameters if p.name == name)
    if isinstance(kind, (Word, Phrase)) and not isinstance(kind, (Date, Clock)):
        return str(value) in text
    return True


def test_the_missing_parameter_is_required_and_has_no_default() -> None:
    optional = 0
    for task in of("ask"):
        call = written_call(task)
        (missing,) = decision_goal(task).missing
        (tool,) = (tool for tool in task.tools if tool.name == call["name"])
        assert missing in tool.required
        assert "default" not in tool.properties[missing]
        assert not re.search(r"Default is|[Oo]ptional|left out", str(tool.properties[missing]["description"])), task.id
        assert missing in call["arguments"]
        function = BY_TOOL[tool.name]
        optional += missing not in {parameter.name for parameter in function.parameters if parameter.required}
    assert 0.1 < optional / len(of("ask")) < 0.4


def test_questions_back_name_what_is_missing() -> None:
    for task in of("ask"):
        goal = decision_goal(task)
        (tool,) = (tool for tool in task.tools if tool.name == written_call(task)["name"])
        assert names_parameter(goal.reply, goal.missing[0]), goal.reply
        others = [name for name in tool.required if name not in goal.missing and names_parameter(goal.reply, name)]
        assert len(others) <= 2, (goal.reply, others)


def test_the_question_gives_nothing_of_what_is_missing() -> None:
    for errand in ERRANDS:
        for gap in errand.gaps:
            function = silent(errand, gap)
            assert not any(f"{{{gap.parameter}}}" in clause for clause in function.clauses), (errand.name, gap)
            (parameter,) = (p for p in function.parameters if p.name == gap.parameter)
            assert not parameter.tails
            assert not parameter.required


def test_declined_errands_have_no_fitting_tool() -> None:
    bare = 0
    for task in of("decline"):
        about = str(task.meta["about"])
        barred = {about, *SUBSTITUTES.get(about, ())}
        assert not barred & {BY_TOOL[tool.name].name for tool in task.tools}, task.id
        bare += not task.tools
    assert 0.05 < bare / len(of("decline")) < 0.15


def test_no_substitute_is_offered_beside_the_fitting_tool() -> None:
    for task in (*of("call"), *of("ask")):
        about = str(task.meta["about"])
        names = [BY_TOOL[tool.name].name for tool in task.tools]
        assert names.count(about) == 1
        assert not set(names) & set(SUBSTITUTES.get(about, ()))


def test_what_one_could_do_in_ones_head_is_never_declined() -> None:
    thinkable = {errand.name for errand in ERRANDS if errand.thinkable}
    assert thinkable
    assert not thinkable & {task.meta["about"] for task in of("decline")}
    assert thinkable & {task.meta["about"] for task in of("call")}


def test_right_answers_hold_what_is_accepted() -> None:
    determined = [task for task in of("answer") if "accepted" in task.meta]
    assert len(determined) > len(of("answer")) / 2
    for task in determined:
        (accepted,) = list(task.meta["accepted"])  # type: ignore[arg-type]
        assert str(accepted).lower() in decision_goal(task).reply.lower(), task.id
    assert not any("accepted" in task.meta for decision in DECISIONS[:3] for task in of(decision))


SAMPLES: dict[str, tuple[str, str]] = {
    "sum": (r"(\d+)\D+(\d+)", "{0} + {1}"),
    "packs": (r"(\d+)\D+(\d+)", "{0} * {1}"),
    "half": (r"(\d+)", "{0} / 2"),
    "hours": (r"(\d+)", "{0} * 60"),
}


@pytest.mark.parametrize("topic", SAMPLES)
def test_sums_are_right(topic: str) -> None:
    pattern, formula = SAMPLES[topic]
    operator = formula.split()[1]
    checked = 0
    for task in further_tasks("train"):
        if task.meta.get("about") == topic:
            found = re.search(pattern, question(task))
            assert found, question(task)
            left = int(found[1])
            right = int(found[2]) if "{1}" in formula else int(formula.split()[2])
            wanted = {"+": left + right, "*": left * right, "/": left // right}[operator]
            assert task.meta["accepted"] == [str(wanted)], question(task)
            checked += 1
    assert checked > 3


def test_answers_are_given_with_tempting_tools_beside() -> None:
    assert len(CHATS) >= 30
    assert sum(len(chat.requests) for chat in CHATS) >= 200
    assert {task.meta["about"] for task in of("answer")} == {chat.topic for chat in CHATS}
    by_topic = {chat.topic: chat for chat in CHATS}
    for task in of("answer"):
        tempting = by_topic[str(task.meta["about"])].tempting
        if task.tools and tempting:
            assert {BY_TOOL[tool.name].name for tool in task.tools} & set(tempting)


def test_every_reply_is_of_its_kind_and_of_no_other() -> None:
    for task in (*all_tasks(), *further_tasks("train")[:1_000]):
        for name, kinds in SPOKEN.items():
            assert reply_kind(answers(task)[name]).kinds == kinds, (task.id, answers(task)[name])


def test_written_calls_are_valid_for_the_tools_they_call() -> None:
    schemas: dict[int, ToolSchema] = {}
    unoffered = 0
    for task in all_tasks():
        call = written_call(task)
        tools = [tool for tool in task.tools if tool.name == call["name"]]
        if not tools:
            unoffered += 1
            assert not task.tools
            assert call["name"] in BY_TOOL
            continue
        schema = schemas.setdefault(id(tools[0]), ToolSchema(tools[0]))
        assert schema.check(call["arguments"]) is None, (task.id, call, schema.check(call["arguments"]))
    assert 0 < unoffered < 200


# --- errands ----------------------------------------------------------------------------------------------------


def test_errands_fit_the_catalogue() -> None:
    assert len({errand.name for errand in ERRANDS}) == len(ERRANDS) >= 80
    for errand in ERRANDS:
        required = {p.name for p in errand.function.parameters if p.required}
        assert errand.gaps, errand.name
        for gap in errand.gaps:
            assert (gap.parameter in required) == bool(gap.clauses), (errand.name, gap.parameter)
            for clause in gap.clauses:
                assert set(re.findall(r"\{(\w+)\}", clause)) == required - {gap.parameter}, (errand.name, clause)
            if gap.clauses:
                assert bool(gap.otherwise) != (gap.default is not None), (errand.name, gap.parameter)
                assert len(set(gap.clauses)) == len(gap.clauses) >= 3, (errand.name, gap.parameter)
                # Without any value to tell the splits apart the words must do it.
                assert required != {gap.parameter} or len(gap.clauses) == 4, errand.name


def test_versions_of_a_tool_differ_in_what_they_require() -> None:
    for errand in ERRANDS:
        required = [tuple(p.name for p in f.parameters if p.required) for f in versions(errand.name)]
        assert len(set(required)) == len(required) == len(errand.gaps) + 1, errand.name
        for gap in errand.gaps:
            changed = eased(errand, gap) if gap.clauses else raised(errand, gap)
            assert {p.name for p in changed.parameters} == {p.name for p in errand.function.parameters}
            if not gap.clauses:
                assert all(f"{{{gap.parameter}}}" in clause for clause in changed.clauses), errand.name


def test_look_alikes_never_include_the_function_itself() -> None:
    for errand in ERRANDS:
        names = {other.name for other in look_alikes(errand)}
        assert errand.name not in names
        assert len(names) >= 3, errand.name
    assert set(SUBSTITUTES) <= {errand.name for errand in ERRANDS}
    assert {name for names in SUBSTITUTES.values() for name in names} <= by_name().keys()


# --- splits -----------------------------------------------------------------------------------------------------


def test_splits_share_no_question_and_no_call_with_a_value() -> None:
    questions: dict[str, set[str]] = defaultdict(set)
    calls: dict[str, set[str]] = defaultdict(set)
    for split in COUNTS:
        for task in (*starter_tasks(split), *further_tasks(split)):
            questions[split].add(question(task).lower())
            if task.meta["decision"] == "call" and written_call(task)["arguments"]:
                call = written_call(task)
                calls[split].add(BY_TOOL[call["name"]].name + json.dumps(call["arguments"], sort_keys=True))
    assert questions["train"] & questions["test"] == set()
    assert calls["train"] & calls["test"] == set()
    assert len(calls["test"]) > 800


def test_splits_share_no_wording_of_a_chat() -> None:
    for chat in CHATS:
        assert len(set(chat.requests)) == 4, chat.topic
        assert not set(chat.of_split("train")) & set(chat.of_split("test"))


# --- looks ------------------------------------------------------------------------------------------------------

Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
NEEDS_TOOL = ("call", "ask", "decline")


def labelled(split: str, decisions: Sequence[str]) -> tuple[list[Task], Labels]:
    tasks = [task for task in starter_tasks(split) if task.meta["decision"] in decisions]
    return tasks, np.array([decisions.index(str(task.meta["decision"])) for task in tasks])


def marks(text: str) -> set[str]:
    """Words, punctuation, the shapes of numbers, and all pairs of neighbours."""
    found = re.findall(r"[a-z]+|\d+|[^\w\s]", re.sub(r"\d", "9", text.lower()))
    return {*found, *(f"{a} {b}" for a, b in pairwise(found))}


def naive_bayes(train: list[str], labels: Labels, test: list[str]) -> Labels:
    place = {mark: i for i, mark in enumerate(sorted(set().union(*map(marks, train))))}
    counts = np.ones((labels.max() + 1, len(place)))
    for text, label in zip(train, labels, strict=True):
        counts[label, [place[mark] for mark in marks(text)]] += 1
    weights = np.log(counts / (np.bincount(labels)[:, None] + 2))
    scores = [weights[:, [place[m] for m in marks(text) if m in place]].sum(axis=1) for text in test]
    return np.asarray(np.argmax(np.array(scores), axis=1))


def logistic(train: Matrix, labels: Labels, test: Matrix, steps: int = 300) -> Labels:
    mean, spread = train.mean(axis=0), train.std(axis=0) + 1e-9
    x, y = (np.c_[(part - mean) / spread, np.ones(len(part))] for part in (train, test))
    wanted = np.eye(labels.max() + 1)[labels]
    weights = np.zeros((x.shape[1], wanted.shape[1]))
    for _ in range(steps):
        scores = x @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights -= 0.3 * (x.T @ (odds / odds.sum(axis=1, keepdims=True) - wanted) / len(x) + weights / len(x))
    return np.asarray(np.argmax(y @ weights, axis=1))


def accuracy(found: Labels, labels: Labels) -> float:
    return float((found == labels).mean())


@pytest.mark.parametrize("tested", ["train", "test"])
def test_words_do_not_give_the_decision_away(tested: str) -> None:
    tasks, labels = labelled("train", NEEDS_TOOL)
    texts = [question(task) for task in tasks]
    if tested == "test":
        others, wanted = labelled("test", NEEDS_TOOL)
        found = naive_bayes(texts, labels, [question(task) for task in others])
    else:
        found, wanted = naive_bayes(texts[:1_000], labels[:1_000], texts[1_000:]), labels[1_000:]
    assert accuracy(found, wanted) < 0.45  # 0.33 is chance; asked for is less than 0.55


def numbers_of_tools(task: Task) -> list[float]:
    return [len(task.tools)]


def lengths(task: Task) -> list[float]:
    return [len(question(task)), len(question(task).split())]


def shapes(task: Task) -> list[float]:
    text = question(task)
    signs = [sum(text.count(mark) for mark in group) for group in (".", ",;:", "?", "!", "\"'")]
    return [*lengths(task), len(task.tools), len(task.messages), *signs, text[0].isupper(), sum(map(str.isdigit, text))]


@pytest.mark.parametrize("look", [numbers_of_tools, lengths, shapes])
def test_looks_do_not_give_the_decision_away(look: Callable[[Task], list[float]]) -> None:
    (tasks, labels), (others, wanted) = labelled("train", NEEDS_TOOL), labelled("test", NEEDS_TOOL)
    found = logistic(np.array(list(map(look, tasks)), float), labels, np.array(list(map(look, others)), float))
    assert accuracy(found, wanted) < 0.42


def test_tools_and_lengths_are_alike_for_all_four() -> None:
    tools = {d: np.mean([len(task.tools) for task in of(d)]) for d in DECISIONS}
    letters = {d: np.mean([len(question(task)) for task in of(d)]) for d in DECISIONS}
    assert max(tools.values()) - min(tools.values()) < 0.8, tools
    assert max(letters.values()) / min(letters.values()) < 1.2, letters
    for decision in DECISIONS:
        counted = Counter(len(task.tools) for task in of(decision))
        assert set(range(1, 7)) < set(counted)
        assert sum(count for size, count in counted.items() if size >= 12) > 0.05 * counted.total()


def test_one_request_comes_with_several_decisions() -> None:
    decisions = defaultdict(set)
    for task in (*all_tasks(), *further_tasks("train")):
        if re.search(r"\d|[A-Z].*[A-Z]", question(task)) is None and task.meta["decision"] != "answer":
            decisions[question(task).lower().rstrip("?.!")].add(task.meta["decision"])
    assert sum(len(found) > 1 for found in decisions.values()) > 50
    assert any(len(found) == 3 for found in decisions.values())


# --- policies without sense -------------------------------------------------------------------------------------


def paid(task: Task, reply: str, call: dict[str, Any] | None = None) -> float:
    """What ``irrelevance_abstention`` pays for a reply, or for a call."""
    calls = () if call is None else (ToolCall(name=call["name"], arguments=call["arguments"]),)
    step = Step(action=reply, content="" if calls else reply, calls=calls)
    return irrelevance_abstention(task, Episode(env_id="e", task_id=task.id, seed=0, steps=(step,))).value or 0.0


def first_call(task: Task) -> dict[str, Any] | None:
    """The first tool with arguments made up for it."""
    if not task.tools:
        return {"name": "none", "arguments": {}}
    tool, rng = task.tools[0], Random(task.id)
    parameters = {parameter.name: parameter for parameter in BY_TOOL[tool.name].parameters}
    return {
        "name": tool.name,
        "arguments": {name: parameters[name].kind.draw(rng, True).accepted[0] for name in tool.required},
    }


def test_constant_policies_earn_little() -> None:
    tasks = all_tasks()
    earned = {
        "call": [paid(task, "", first_call(task)) for task in tasks],
        "ask": [paid(task, "Could you tell me more?") for task in tasks],
        "refuse": [paid(task, "I'm sorry, but I can't do that.") for task in tasks],
        "answer": [paid(task, "The answer is 42.") for task in tasks],
    }
    means = {name: sum(values) / len(values) for name, values in earned.items()}
    assert max(means.values()) <= 0.30, means
    assert means["call"] < 0.05
    assert means["ask"] < 0.02


def test_the_right_reply_is_paid_and_the_three_others_are_not() -> None:
    for task in all_tasks():
        for name in REPLIES:
            call = written_call(task) if name == "tool_call" else None
            right = RIGHT[str(task.meta["decision"])] == name
            assert paid(task, answers(task)[name], call) == float(right), (task.id, name)


# --- sources ----------------------------------------------------------------------------------------------------


def test_no_official_sentence_is_copied(official_data: Path) -> None:
    file = official_data / "when2call" / "test" / "when2call_test_llm_judge.jsonl"
    if not file.is_file():
        pytest.skip(f"{file} is not here")
    official: set[str] = set()
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        official |= {row["question"], row.get("orig_question") or "", *row["answers"].values()}
    plain = {re.sub(r"\W+", " ", text).strip().lower() for text in official} - {""}
    for task in all_tasks():
        for text in (question(task), *answers(task).values()):
            assert re.sub(r"\W+", " ", text).strip().lower() not in plain, text


def test_the_same_on_every_machine() -> None:
    script = (
        "import hashlib\n"
        "from callgym.envs.when2call.starter import starter_tasks\n"
        "text = ''.join(task.to_json() for task in starter_tasks('test'))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    printed = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    here = hashlib.sha256("".join(task.to_json() for task in starter_tasks("test")).encode()).hexdigest()
    assert printed.stdout.strip() == here
