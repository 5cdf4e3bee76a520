"""BFCL's verdict on one answer: calls against gold calls, or whether there is a call at all.

    >>> document = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    >>> judge_text("f(a=2)", "simple_python", [document], [{"f": {"a": [1, 2]}}]).valid
    True

Source: ``bfcl-eval`` 2026.3.23, its checker of syntax trees with every quirk: greedy matching of parallel calls,
types compared exactly, texts compared without spaces and some punctuation. What makes the official code raise
is a verdict here, ``EXCEPTION:<class>``, and not valid.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callgym.envs.bfcl.official.decode import DecodeFailure, counts_as_empty, decode, format_ok
from callgym.envs.bfcl.official.value_rules import ArgumentRule, Fault, passes_at_once

__all__ = ["PreparedGold", "Verdict", "check", "judge_decoded", "judge_text", "language_of", "prepare"]

_MAX_PREPARED = 8_192
_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)


class Verdict(NamedTuple):
    """What the official checker says of one answer."""

    valid: bool
    error_type: str | None = None
    """The official error type; None for a valid answer."""
    template: str = ""
    values: tuple[Any, ...] = ()
    """Fill the template."""

    @property
    def message(self) -> str:
        """What is wrong, in a sentence of ours; made only when asked for."""
        return self.template.format(*map(_shown, self.values)) if self.values else self.template


_VALID = Verdict(True)
_NO_GOLD: tuple[Mapping[str, Any], ...] = ()


def judge_text(
    text: str,
    category: str,
    functions: Sequence[Mapping[str, Any]],
    gold: Sequence[Mapping[str, Any]] | None = None,
    *,
    ret_fmt: str | None = None,
    tagged: bool = False,
    underscore_to_dot: bool = False,
    language: str | None = None,
) -> Verdict:
    """The official verdict on what a model wrote.

    Args:
        text: The answer.
        category: A category's name; for format_sensitivity the id of the original entry.
        functions: The untouched official documents.
        gold: The untouched official ``ground_truth``; not looked at where the question is whether there is a call.
        ret_fmt: The format to decode; the category's language by default. Whether there is a call is always read
            in Python's notation.
        tagged: The calls stand in ``<TOOLCALL>`` ... ``</TOOLCALL>``.
        underscore_to_dot: As for ``check``.
        language: As for ``check``.
    """
    if "relevance" in category:
        try:
            decoded = decode(text)
        except DecodeFailure as failure:
            return _decision(category, False, str(failure))
        return check(decoded, gold, functions, category)
    language = language or language_of(category)
    try:
        decoded = decode(text, ret_fmt or language, tagged)
    except DecodeFailure as failure:
        return Verdict(False, "ast_decoder:decoder_failed", f"the text cannot be decoded: {failure}")
    return judge_decoded(decoded, gold, functions, category, underscore_to_dot=underscore_to_dot, language=language)


def judge_decoded(
    decoded: Any,
    gold: Sequence[Mapping[str, Any]] | None,
    functions: Sequence[Mapping[str, Any]],
    category: str,
    *,
    underscore_to_dot: bool = False,
    language: str | None = None,
) -> Verdict:
    """The verdict on what a decoder returned: its form first, then ``check``."""
    if "relevance" not in category and not format_ok(decoded):
        return Verdict(False, "ast_decoder:decoder_wrong_output_format", "what was decoded is no list of calls")
    return check(decoded, gold, functions, category, underscore_to_dot=underscore_to_dot, language=language)


def check(
    decoded: Any,
    gold: Sequence[Mapping[str, Any]] | None,
    functions: Sequence[Mapping[str, Any]],
    category: str,
    *,
    underscore_to_dot: bool = False,
    language: str | None = None,
) -> Verdict:
    """The verdict on decoded calls.

    Args:
        decoded: ``[{name: {argument: value}}, ...]``.
        gold: The untouched official ``ground_truth``, ``[{name: {argument: [accepted values]}}, ...]``; it and the
            documents are prepared once and remembered by identity, so they are not to be changed afterwards.
        functions: The untouched official documents.
        category: Decides the rule: "irrelevance" or "relevance" in it, else "parallel", else "multiple", else simple.
        underscore_to_dot: Dots in the expected name are underscores, as for models behind APIs that allow no dots.
        language: "python", "java" or "javascript"; the category's by default.
    """
    if "relevance" in category:
        return _decision(category, not counts_as_empty(decoded))
    try:
        prepared = prepare(
            _NO_GOLD if gold is None else gold, functions, language or language_of(category), underscore_to_dot
        )
        return prepared.check(decoded, category)
    except _FAULTS as error:
        name = type(error).__name__
        return Verdict(False, f"EXCEPTION:{name}", f"the official checker fails on this ({name})")


def language_of(category: str) -> str:
    """The language of a category's values."""
    if "javascript" in category:
        return "javascript"
    return "java" if "java" in category else "python"


def _decision(category: str, called: bool, why: str = "") -> Verdict:
    if "irrelevance" in category:
        message = "a call was made where no function fits"
        return Verdict(False, "irrelevance_error:decoder_success", message) if called else _VALID
    message = "no call was made where a function fits" + (f": {why}" if why else "")
    return _VALID if called else Verdict(False, "relevance_error:decoder_failed", message)


class _CallRule:
    """One gold call with its function's document."""

    __slots__ = ("_accepted", "_arguments", "_declared", "_error", "_language", "_name", "_required")

    def __init__(
        self,
        gold: Mapping[str, Any],
        functions: Sequence[Mapping[str, Any]],
        language: str,
        underscore_to_dot: bool,
        by_name: bool,
    ) -> None:
        self._language = language
        self._arguments: dict[str, ArgumentRule] = {}
        # What is wrong with a document or a gold shows when it is used, as officially.
        self._error: Exception | None = None
        try:
            ((name, self._accepted), *_) = gold.items()
            document: Any = _document(functions, name) if by_name else functions[0]
            self._name: str = document["name"]
            self._declared: Mapping[str, Any] = document["parameters"]["properties"]
            self._required: Sequence[str] = document["parameters"]["required"]
            if underscore_to_dot:
                self._name = self._name.replace(".", "_")
        except _FAULTS as error:
            self._error = error

    def fault(self, call: Mapping[str, Mapping[str, Any]]) -> Fault | None:
        """What is wrong with a call, None if nothing is; the first fault counts."""
        if self._error is not None:
            # A new one: the same one would gather a longer trace with every answer.
            raise type(self._error)(*self._error.args)
        if self._name not in call:
            return Fault("simple_function_checker:wrong_func_name", "function {} is not called", (self._name,))
        arguments = call[self._name]
        for name in self._required:
            if name not in arguments:
                return Fault("simple_function_checker:missing_required", "argument {} is required", (name,))
        for name, value in arguments.items():
            rule = self._arguments.get(name)
            if rule is None:
                if name not in self._declared or name not in self._accepted:
                    return Fault("simple_function_checker:unexpected_param", "argument {} is not expected", (name,))
                document, allowed = self._declared[name], self._accepted[name]
                if passes_at_once(value, document, allowed, self._language):
                    continue
                rule = self._arguments[name] = ArgumentRule(name, document, allowed, self._language)
            fault = rule.fault(value)
            if fault is not None:
                return fault
        # All that are given are accepted ones: where their numbers agree, none is missing.
        return None if len(arguments) == len(self._accepted) else self._missing(arguments)

    def _missing(self, arguments: Mapping[str, Any]) -> Fault | None:
        for name, allowed in self._accepted.items():
            if name not in arguments and "" not in allowed:
                return Fault("simple_function_checker:missing_optional", "argument {} is expected", (name,))
        return None


class PreparedGold:
    """Gold calls with their documents, ready to check many answers."""

    def __init__(
        self,
        gold: Sequence[Mapping[str, Any]],
        functions: Sequence[Mapping[str, Any]],
        language: str = "python",
        underscore_to_dot: bool = False,
    ) -> None:
        # Both are kept, so that their identities stay theirs.
        self._gold = gold
        self._functions = tuple(functions)
        self._options = (language, underscore_to_dot)
        self._rules: dict[bool, list[_CallRule]] = {}

    def check(self, decoded: Sequence[Mapping[str, Any]], category: str) -> Verdict:
        """The verdict on decoded calls, by the rule for the category.

        Raises:
            Exception: What the official code raises.
        """
        if "parallel" in category:
            return self._check_parallel(decoded)
        if "multiple" in category:
            return _check_one(decoded, self._call_rules(True), "multiple_function_checker", len(self._gold))
        return _check_one(decoded, self._call_rules(False), "simple_function_checker", 1)

    def _check_parallel(self, decoded: Sequence[Mapping[str, Any]]) -> Verdict:
        checker = "parallel_function_checker_no_order"
        if len(decoded) != len(self._gold):
            return _wrong_count(checker, len(decoded), len(self._gold))
        left = list(decoded)
        for place, rule in enumerate(self._call_rules(True)):
            fault: Fault | None = None
            for at, call in enumerate(left):
                fault = rule.fault(call)
                if fault is None:
                    del left[at]
                    break
            if fault is not None:
                template = f"no call fits gold call {place + 1}; of the last one tried: {fault.template}"
                return Verdict(False, f"{checker}:cannot_find_match", template, fault.values)
        return _VALID

    def _call_rules(self, by_name: bool) -> list[_CallRule]:
        """A rule a gold call: with the document of the function it names, or with the first one whatever its name."""
        rules = self._rules.get(by_name)
        if rules is None:
            rules = [_CallRule(call, self._functions, *self._options, by_name) for call in self._gold]
            self._rules[by_name] = rules
        return rules


def _check_one(decoded: Sequence[Mapping[str, Any]], rules: list[_CallRule], checker: str, count: int) -> Verdict:
    if len(decoded) != count:
        return _wrong_count(checker, len(decoded), count)
    fault = rules[0].fault(decoded[0])
    return _VALID if fault is None else Verdict(False, *fault)


def _document(functions: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    for function in functions:
        if function["name"] == name:
            return function
    return None


def _wrong_count(checker: str, found: int, expected: int) -> Verdict:
    return Verdict(False, f"{checker}:wrong_count", f"{found} calls, expected {expected}")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        text = f"a {type(value).__name__} that is nested too deep or too large to show"
    return text if len(text) <= 200 else f"{text[:200]}..."


_prepared: dict[tuple[Any, ...], PreparedGold] = {}
_prepared_lock = threading.Lock()


def prepare(
    gold: Sequence[Mapping[str, Any]],
    functions: Sequence[Mapping[str, Any]],
    language: str = "python",
    underscore_to_dot: bool = False,
) -> PreparedGold:
    """Gold calls made ready, remembered by the identity of ``gold`` and of each document."""
    key = (id(gold), language, underscore_to_dot, *map(id, functions))
    found = _prepared.get(key)
    if found is None:
        found = PreparedGold(gold, functions, language, underscore_to_dot)
        with _prepared_lock:
            if len(_prepared) >= _MAX_PREPARED:
                del _prepared[next(iter(_prepared))]
            _prepared[key] = found
    return found
