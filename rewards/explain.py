"""Explanations as text, and the score again from its explanation.

    for line in explanation_lines("argument_f1", episode.rewards["argument_f1"]):
        print(line)
    assert recompute("argument_f1", score) == score.value

An explanation is data (``Score.explanation``). Every reward of ours is a function of what its explanation
says; ``recompute`` is that function, so that a reader can check a number against its reasons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from callgym.episode import Score
from callgym.rewards.abstention import value_without_calls
from callgym.rewards.rouge import f_of

__all__ = ["explanation_lines", "recompute", "register_explanation"]

_RIGHT = ("equal", "variant")
_WIDEST = 300
_CALLS = {"matched", "missing", "extra", "unreadable"}
"""What the explanation of a turn has where its calls were compared,"""
_EFFECTS = {"gold", "made", "copies", "error"}
"""and where what they brought about was."""

Explanation = dict[str, Any]


def recompute(name: str, score: Score) -> float | None:
    """The value that the explanation of a score leads to; None where the score does not apply, is unknown,
    or the reward has no rule here."""
    if not score.applies or score.value is None:
        return None
    explanation: Explanation = score.explanation
    if "verdict" in explanation:  # a judge's, whatever the user called it
        return float(explanation["verdict"] == "correct")
    if "label" in explanation:  # likewise
        return float(explanation["label"] == explanation["expected"])
    if "loss" in explanation:  # there are as many of these rewards as there are costs
        return float(1 - explanation["loss"] / explanation["most"])
    rule = _RULES.get(name)
    return None if rule is None else rule(explanation)


def explanation_lines(name: str, score: Score) -> Iterator[str]:
    """The explanation of a score, for people: what matched what, and what was deducted."""
    if not score.applies:
        yield f"{name}: not asked for ({score.explanation.get('reason', 'the goal is of another kind')})"
        return
    value = "unknown" if score.value is None else f"{score.value:.3f}"
    try:
        details = _turns_in_lines(score.explanation)
    except (AttributeError, KeyError, TypeError, ValueError):  # of a record that somebody altered: shown as it stands
        details = None
    if details is None:
        yield f"{name}: {value}   {_short(json.dumps(score.explanation, ensure_ascii=False))}"
        return
    yield f"{name}: {value}"
    yield from details


def _turns_in_lines(explanation: Explanation) -> list[str] | None:
    """The turns of an explanation that compares calls, or their effects; None for one of another kind."""
    turns = explanation.get("turns")
    if turns is None:
        return None
    if all(turn.keys() >= _CALLS for turn in turns):
        return [line for number, turn in enumerate(turns, 1) for line in _turn_lines(number, turn)]
    if all(turn.keys() >= _EFFECTS for turn in turns):
        return [_effect_line(number, turn) for number, turn in enumerate(turns, 1)]
    return None


def register_explanation(name: str, rule: Callable[[Explanation], float]) -> None:
    """Make the rule of a reward known: its value from its explanation."""
    _RULES[name] = rule


def _turn_lines(number: int, turn: Explanation) -> Iterator[str]:
    gold, made = _counts(turn)
    yield f"  turn {number}: {gold} asked for, {made} made" + ("" if turn.get("reached", True) else ", not reached")
    for pair in turn["matched"]:
        verdicts = (
            ", ".join(f"{argument} {verdict}" for argument, verdict in pair["arguments"].items()) or "no arguments"
        )
        lost = 1 - _pair_f1(pair)
        deducted = f"   -{lost:.2f}" if lost else ""
        yield f"    {pair['name']} (gold {pair['gold'] + 1}, made {pair['predicted'] + 1}): {verdicts}{deducted}"
    for title, names in (("missing", turn["missing"]), ("extra", turn["extra"])):
        if names:
            yield f"    {title}: {', '.join(map(str, names))}"
    if turn["unreadable"]:
        yield f"    unreadable attempts: {turn['unreadable']}"


def _effect_line(number: int, turn: Explanation) -> str:
    copies = f", {turn['copies']} of them copies" if turn["copies"] else ""
    counts = f"  turn {number}: {turn['gold']} asked for, {turn['made']} made{copies}"
    if turn["error"]:
        return f"{counts}: {turn['error']}, {_short(turn.get('message', ''))}"
    return f"{counts}: {'passed' if turn['gold'] else 'nothing to do'}"


def _counts(turn: Explanation) -> tuple[int, int]:
    """Gold calls and made calls, unreadable attempts included."""
    matched = len(turn["matched"])
    return matched + len(turn["missing"]), matched + len(turn["extra"]) + turn["unreadable"]


def _pair_f1(pair: Explanation) -> float:
    verdicts = list(pair["arguments"].values())
    right = sum(verdict in _RIGHT for verdict in verdicts)
    asked = sum(verdict != "extra" for verdict in verdicts)
    given = sum(verdict != "missing" for verdict in verdicts)
    return 2 * right / (asked + given) if asked + given else 1.0


def _exact(explanation: Explanation) -> float:
    return float(
        all(
            turn["reached"]
            and not (turn["missing"] or turn["extra"] or turn["unreadable"])
            and all(verdict in _RIGHT for pair in turn["matched"] for verdict in pair["arguments"].values())
            for turn in explanation["turns"]
        )
    )


def _f1(explanation: Explanation) -> float:
    turns = []
    for turn in explanation["turns"]:
        calls = sum(_counts(turn))
        earned = 2 * sum(_pair_f1(pair) for pair in turn["matched"])
        turns.append(earned / calls if calls else float(turn["reached"]))
    return sum(turns) / len(turns)


def _format(explanation: Explanation) -> float:
    return explanation["valid"] / explanation["attempted"] if explanation["attempted"] else 0.0


def _answer(explanation: Explanation) -> float:
    if explanation.get("too_long"):
        return 0.0
    if "rouge_l" in explanation:
        return float(explanation["rouge_l"])
    if "both" in explanation:
        return float(2 * explanation["both"] / explanation["words"])
    return float(explanation["accepted"])


def _precision(explanation: Explanation) -> float:
    return _share(explanation["both"], explanation["made"], explanation)


def _recall(explanation: Explanation) -> float:
    return _share(explanation["both"], explanation["asked"], explanation)


def _name_f1(explanation: Explanation) -> float:
    return _share(2 * explanation["both"], explanation["asked"] + explanation["made"], explanation)


def _share(part: int, whole: int, explanation: Explanation) -> float:
    if not explanation["asked"]:
        return float(explanation["reached"] and not explanation["made"])
    return part / whole if whole else 0.0


def _at_most_one(part: float, whole: float, right: bool) -> float:
    return min(1.0, part / whole) if right and whole > 0 else float(right)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


_RULES: dict[str, Callable[[Explanation], float]] = {
    "call_exact_match": _exact,
    "argument_f1": _f1,
    "call_match": lambda e: (_exact(e) + _f1(e)) / 2,
    "relevant_call": lambda e: e["ran"] / e["made"] if e["made"] else 0.0,
    "argument_accuracy": lambda e: _mean(e["pairs"]),
    "irrelevance_abstention": lambda e: (_exact(e) + _f1(e)) / 2 if "turns" in e else value_without_calls(e),
    "state_reached": lambda e: float(not (e["differs"] or e.get("truncated"))),
    "format_validity": _format,
    "argument_f1_half_credit": lambda e: _mean([turn["f1"] for turn in e["turns"]]),
    "final_answer": _answer,
    "reply_rouge": lambda e: round(f_of(e["common"], e["reference_words"], e["reply_words"]), 6),
    "hallucinated_argument": lambda e: 1 - e["unknown"] / e["arguments"],
    "hallucinated_tool": lambda e: 1 - e["unknown"] / e["calls"],
    "length_efficiency": lambda e: _at_most_one(e["reference_length"], e["length"], e["calls_right"]),
    "nested_calls": lambda e: 2 * e["right"] / (e["gold"] + e["predicted"]),
    "plan_accuracy": lambda e: e["right"] / e["of"],
    "step_efficiency": lambda e: _at_most_one(e["gold_steps"], e["steps"], e["calls_right"]),
    "tool_name_f1": _name_f1,
    "tool_name_precision": _precision,
    "tool_name_recall": _recall,
    "toolrl_format": lambda e: float(bool(e["steps"]) and not (e["unreadable"] or e["silent"])),
    "toolrl_correctness": lambda e: (e["names"] + sum(p["keys"] + p["values"] for p in e["pairs"])) / e["most"],
}


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}... ({len(text)} characters)"
