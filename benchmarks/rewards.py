"""What scoring an episode costs: ``python benchmarks/rewards.py``.

The default rubric on episodes of 1 call, of 8 parallel calls and of 64, each call of 300 bytes and 8
arguments. ``right``: as the gold has them; ``mixed``: in another order, one or two arguments of every
other call wrong; ``alike``: the same gold call 64 times, and one value of each predicted call wrong. The floor is that
of ``benchmarks/speed.py``, taken in turn with them. Exit status 1 over a limit.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from floor import ARGUMENTS, fastest, make_floor

from callgym import Episode, GoldCall, Message, Step, Task, ToolCall, ToolResult
from callgym.goal import AnswerGoal, CallsGoal
from callgym.rewards import RUBRICS, final_answer

ONE_LIMIT, EIGHT_LIMIT, MOST_LIMIT_MS, ANSWER_LIMIT_MS = 5.0, 15.0, 5.0, 1_000.0
LONGEST_ANSWER = 32_768
HOSTILE_ANSWERS = (
    "9", "1.", "+-", ",111", "1e999999 ", "US$", "5 km ", "\ufdfa", "a b ", "a.b.", " ", "-", "[", "{x} ", "]",
)  # fmt: skip
"""Pieces of answers as long as an action may be, on which careless work takes quadratic time."""


@dataclass(frozen=True)
class Case:
    """An episode to score, twice: a score that was worked out once must not be found again."""

    name: str
    calls: int
    task: Task
    episodes: tuple[Episode, Episode]


def make_case(kind: str, count: int) -> Case:
    """``count`` gold calls and as many predicted ones."""
    rng = random.Random(0)
    gold = [{**ARGUMENTS, "title": f"meeting {i}", "seats": i} if kind != "alike" else ARGUMENTS for i in range(count)]
    made = [dict(arguments) for arguments in gold]
    for number, arguments in enumerate(made):
        if kind == "mixed" and number % 2 == 0:
            arguments.update(dict.fromkeys(rng.sample(sorted(arguments), rng.randint(1, 2)), "wrong"))
        elif kind == "alike":
            arguments[rng.choice(sorted(arguments))] = f"wrong {number}"
    if kind != "right":
        rng.shuffle(made)
    calls = tuple(ToolCall(name="BookRoom", arguments=arguments) for arguments in made)
    step = Step(action="...", calls=calls, results=tuple(ToolResult(content="success") for _ in calls))
    episode = Episode(env_id="speed", task_id="speed", seed=0, steps=(step,), ended="terminated")
    asked = tuple(GoldCall.of(ToolCall(name="BookRoom", arguments=arguments)) for arguments in gold)
    task = Task(
        id="speed",
        family="speed",
        split="test",
        messages=(Message(role="user", content="Book the rooms, please."),),
        goal=CallsGoal(turns=(asked,)),
    )
    return Case(kind, count, task, (episode, episode.model_copy()))


def scoring(case: Case) -> Callable[[], None]:
    """A function that scores both of a case's episodes."""
    score = RUBRICS["default"].score
    first, second = case.episodes

    def run() -> None:
        score(case.task, first)
        score(case.task, second)

    return run


def slowest_answer(rounds: int) -> tuple[float, str]:
    """Seconds of the final answer that takes longest to judge, the fastest of some rounds, and which it is."""
    reference = "The answer is a b c. And then a b, of course. " * 4
    found = (0.0, "")
    for piece in HOSTILE_ANSWERS:
        step = Step(action="...", content=piece * (LONGEST_ANSWER // len(piece)))
        episode = Episode(env_id="speed", task_id="speed", seed=0, steps=(step,), ended="terminated")
        for match in ("exact", "normalised", "numeric", "contains", "token_f1", "rouge_l"):
            goal = AnswerGoal.from_dict({"accepted": [reference, "5 km", "5", 7], "match": match, "others": ["x", 8]})
            task = Task(id="a", family="f", split="s", messages=(Message(role="user", content="?"),), goal=goal)
            (seconds,) = fastest(rounds, (partial(final_answer, task, episode), 1))
            found = max(found, (seconds, f"{match} of {piece!r}"))
    return found


def main() -> None:
    """Print times and ratios; exit status 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    cases = [make_case(kind, count) for count in (1, 8, 64) for kind in ("right", "mixed")]
    cases.append(make_case("alike", 64))
    # Short rounds, and many of them: on a shared machine some are left in peace.
    repeats = {1: 80, 8: 12, 64: 1}
    floor, *times = fastest(
        options.rounds, (make_floor(), 300), *((scoring(case), repeats[case.calls]) for case in cases)
    )
    print(f"floor             {floor * 1e6:9.2f} microseconds")
    within = True
    for case, seconds in zip(cases, times, strict=True):
        each = seconds / 2
        ratio = each / floor
        if case.calls == 64:
            limit, fits = f"limit {MOST_LIMIT_MS:g} ms", each * 1e3 <= MOST_LIMIT_MS
        else:
            most = ONE_LIMIT if case.calls == 1 else EIGHT_LIMIT
            limit, fits = f"limit {most:g} x", ratio <= most
        within = within and fits
        print(f"{case.calls:>2} calls, {case.name:<8} {each * 1e6:9.1f} microseconds {ratio:7.1f} x floor ({limit})")
    seconds, which = slowest_answer(3)
    within = within and seconds * 1e3 <= ANSWER_LIMIT_MS
    print(f"slowest answer    {seconds * 1e3:9.1f} ms, {which} (limit {ANSWER_LIMIT_MS:g} ms)")
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
