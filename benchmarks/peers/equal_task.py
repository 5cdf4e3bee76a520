"""The task that every framework plays, and how a player of it talks to the benchmark.

One episode is two actions: a call of the tool ``price`` with JSON arguments, then an answer in words that is right
or wrong, nothing between. The policy is a script of no cost: all its words are made beforehand.

Nothing but the standard library is needed here: it runs in the environment of each framework.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["PRICES", "SCHEMA", "Includes", "Script", "episodes_of", "price", "resident_mb", "serve"]

PRICES = {f"item {number}": 3 + 7 * number for number in range(100)}
"""What the tool knows: 100 tasks, so that no framework plays from a cache of one."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"item": {"type": "string", "description": "What is sold."}},
    "required": ["item"],
    "additionalProperties": False,
}
"""The arguments of ``price``."""


@dataclass(frozen=True)
class Script:
    """What the policy says in one episode."""

    task: int
    """The task: 0 to 99."""
    question: str
    """What the user asks."""
    gold: str
    """The right answer."""
    arguments: dict[str, Any]
    """What the tool is called with."""
    call: str
    """The first action, in Hermes' form."""
    answer: str
    """The second action."""

    @classmethod
    def of(cls, task: int, *, item: Any = None, answer: str | None = None) -> Script:
        """The right script for a task, or a wrong one."""
        name = f"item {task}"
        arguments = {"item": name if item is None else item}
        call = json.dumps({"name": "price", "arguments": arguments})
        return cls(
            task=task,
            question=f"What does {name} cost?",
            gold=str(PRICES[name]),
            arguments=arguments,
            call=f"<tool_call>\n{call}\n</tool_call>",
            answer=str(PRICES[name]) if answer is None else answer,
        )


@dataclass(frozen=True)
class Includes:
    """What one episode of a framework does, for an honest comparison."""

    name: str
    version: str
    plays: str
    """The public interface that is played through."""
    call: str
    """In what form the call arrives, and who reads it."""
    record: str
    """What is left of an episode, and so what is kept where episodes are kept."""
    scoring: str
    """Who scores, and whether the score says why."""


Play = Callable[[Sequence[Script]], Iterator[tuple[float | None, Any]]]
"""Plays one episode a script: (return, record) of each, in any order."""

_runs = 0
_RIGHT = [Script.of(task) for task in range(len(PRICES))]


def price(item: str) -> int:
    """The price of an item.

    Args:
        item: What is sold.
    """
    global _runs
    _runs += 1
    return PRICES[item]


def episodes_of(scripts: Sequence[Script], count: int) -> Iterator[Script]:
    """``count`` scripts, over and over."""
    return (scripts[number % len(scripts)] for number in range(count))


def serve(includes: Includes, play: Play, process_ids: Sequence[int] = ()) -> None:
    """Answer the benchmark's commands, one JSON document a line, until there are no more.

    Args:
        includes: What the framework does.
        play: Plays episodes.
        process_ids: Other processes whose memory and time count.
    """
    replies = _own_output()
    _reply(replies, {"includes": vars(includes), "probe": _probe(play)})
    for line in sys.stdin:
        command = json.loads(line)
        _reply(replies, _measure(play, command["episodes"], command["keep"], process_ids))


def resident_mb(process_ids: Sequence[int] = ()) -> float:
    """Resident memory of this process and of others, in MB (Linux)."""
    return sum(_resident_pages(process) for process in (os.getpid(), *process_ids)) * 4096 / 2**20


def _measure(play: Play, episodes: int, keep: bool, process_ids: Sequence[int]) -> dict[str, Any]:
    scripts = list(episodes_of(_RIGHT, episodes))
    gc.collect()
    before = resident_mb(process_ids)
    kept, right = [], 0
    started, worked = time.perf_counter(), _worked_seconds(process_ids)
    for reward, record in play(scripts):
        right += reward == 1.0
        if keep:
            kept.append(record)
    seconds, cpu_seconds = time.perf_counter() - started, _worked_seconds(process_ids) - worked
    gc.collect()
    return {
        "episodes": episodes,
        "right": right,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "rss_mb_before": before,
        "rss_mb_after": resident_mb(process_ids),
        "kept": len(kept),
    }


def _probe(play: Play) -> dict[str, Any]:
    """What the framework makes of a right episode, a wrong answer, and a call with a wrong type, by playing them."""
    outcome: dict[str, Any] = {}
    probes = {"right": Script.of(0), "wrong": Script.of(0, answer="none"), "bad_call": Script.of(0, item=5)}
    for name, script in probes.items():
        before = _runs
        outcome[name] = next(reward for reward, _ in play([script]))
        outcome[f"{name}_ran"] = _runs - before
    return outcome


def _own_output() -> TextIO:
    """The benchmark's channel; what a framework prints goes to stderr."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _reply(replies: TextIO, document: dict[str, Any]) -> None:
    replies.write(json.dumps(document) + "\n")
    replies.flush()


def _worked_seconds(process_ids: Sequence[int]) -> float:
    """Processor time of this process and of others, in seconds: other programs disturb it less than the clock."""
    ticks = 0
    for process in process_ids:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            ticks += sum(int(field) for field in file.read().rpartition(")")[2].split()[11:13])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _resident_pages(process: int) -> int:
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1])
