"""The reference: what each public module offers, with signatures and docstrings, read from the modules themselves."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from docstring_text import as_markdown
from page import fenced
from pydantic import BaseModel

__all__ = ["GROUPS", "reference_index", "reference_pages"]

GROUPS: Mapping[str, tuple[str, Sequence[str]]] = {
    "nouns": (
        "Tasks, calls, episodes",
        ("callgym", "callgym.call", "callgym.tool", "callgym.message", "callgym.goal", "callgym.task",
         "callgym.episode", "callgym.errors", "callgym.data", "callgym.registry", "callgym.checker",
         "callgym.show", "callgym.spaces"),
    ),
    "environments": (
        "Environments",
        ("callgym.envs.base", "callgym.envs.apibank.env", "callgym.envs.bfcl.env", "callgym.envs.when2call.env",
         "callgym.envs.perturbations.specs"),
    ),
    "dialects": (
        "Dialects",
        ("callgym.dialects", "callgym.dialects.base", "callgym.dialects.detect", "callgym.dialects.chat_template"),
    ),
    "rewards": (
        "Rewards",
        ("callgym.rewards.registry", "callgym.rewards.rubric", "callgym.rewards.presets", "callgym.rewards.explain",
         "callgym.rewards.judge", "callgym.rewards.repeated", "callgym.rewards.calibration"),
    ),
    "backends": (
        "Tool backends",
        ("callgym.tool_backends", "callgym.tool_backends.base", "callgym.tool_backends.functions",
         "callgym.tool_backends.recording", "callgym.tool_backends.http", "callgym.tool_backends.mcp",
         "callgym.tool_backends.sandbox", "callgym.tool_backends.server.app", "callgym.tool_backends.server.run",
         "callgym.tool_backends.faults", "callgym.tool_backends.spec"),
    ),
    "rollouts": (
        "Rollouts",
        ("callgym.rollouts.runner", "callgym.rollouts.policy", "callgym.rollouts.limits", "callgym.rollouts.episodes",
         "callgym.rollouts.summary", "callgym.rollouts.replay", "callgym.rollouts.rescore",
         "callgym.rollouts.stored_lines", "callgym.rollouts.timings",
         "callgym.rollouts.ray.workers", "callgym.rollouts.ray.policy_actor", "callgym.rollouts.env_server.app",
         "callgym.rollouts.env_server.client", "callgym.rollouts.env_server.run"),
    ),
    "trainers": (
        "Trainers",
        ("callgym.trainers.trl", "callgym.trainers.grpo", "callgym.trainers.rloo", "callgym.trainers.curriculum",
         "callgym.trainers.credit", "callgym.trainers.export", "callgym.trainers.near_misses",
         "callgym.trainers.rllib.token_config", "callgym.trainers.rllib.candidate_config",
         "callgym.trainers.bridges.trl_environment", "callgym.trainers.bridges.verl_rows"),
    ),
    "desk": (
        "Viewer and reports",
        ("callgym.viewer.page", "callgym.reports.report", "callgym.reports.numbers", "callgym.reports.comparison"),
    ),
}  # fmt: skip
"""Page to its title and modules."""


class _Written(str):
    """An annotation that is shown as it stands in the source."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def reference_index() -> str:
    """Links to the pages, with the modules of each."""
    lines = []
    for page, (title, modules) in GROUPS.items():
        lines.append(f"- [{title}]({page}.md): {', '.join(f'`{name}`' for name in modules)}")
    return "\n".join(lines)


def reference_pages() -> dict[str, str]:
    """Place to Markdown."""
    return {
        f"reference/{page}.md": "\n".join([f"# {title}", *(line for name in modules for line in _module(name))]) + "\n"
        for page, (title, modules) in GROUPS.items()
    }


def _module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield from ("", f"## `{name}`", "", as_markdown(inspect.getdoc(module) or ""), "")
    for member in sorted(getattr(module, "__all__", ()), key=str.lower):
        value = getattr(module, member)
        home = inspect.getmodule(value) if inspect.isclass(value) or inspect.isroutine(value) else module
        if home is not module and home is not None and _has_page(home.__name__):
            continue  # it stands where it is defined
        yield from _member(member, value, module)


def _has_page(name: str) -> bool:
    return any(name in modules for _, modules in GROUPS.values())


def _member(name: str, value: Any, module: ModuleType) -> Iterator[str]:
    yield from (f"### `{name}`", "")
    if inspect.isclass(value):
        yield from (fenced(f"class {name}{_signature(value, back=False)}", "python"), "", _doc(value), "")
        yield from _fields(value)
        yield from _methods(value)
    elif inspect.isroutine(value):
        yield from (fenced(f"def {name}{_signature(value)}", "python"), "", _doc(value), "")
    else:
        told = _told(inspect.getsource(module)).get(name, "")
        kind = "A type." if type(value).__module__ in ("typing", "types") else f"A `{type(value).__name__}`."
        yield from (f"{kind} {as_markdown(told)}".rstrip(), "")


def _fields(made: type) -> Iterator[str]:
    """What stands below the class's attributes in its source."""
    try:
        told = _told(textwrap.dedent(inspect.getsource(made)), inside=True)
    except (OSError, TypeError):
        return
    yield from (f"- `{name}`: {' '.join(as_markdown(text).split())}" for name, text in told.items())
    if told:
        yield ""


def _told(source: str, inside: bool = False) -> dict[str, str]:
    """Names that are assigned and the text below each; ``inside``: those of the class that the source is."""
    body: Sequence[ast.stmt] = ast.parse(source).body
    if inside:
        body = body[0].body if isinstance(body[0], ast.ClassDef) else ()
    found = {}
    for statement, below in itertools.pairwise(body):
        target = _assigned(statement)
        text = below.value if isinstance(below, ast.Expr) else None
        if target is not None and isinstance(text, ast.Constant) and isinstance(text.value, str):
            found[target] = inspect.cleandoc(text.value)
    return found


def _assigned(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) and not target.id.startswith("_") else None


def _methods(made: type) -> Iterator[str]:
    if (told := vars(made).get("__init__")) is not None and told.__doc__:
        yield from (_doc(told), "")
    for name, value in vars(made).items():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if name.startswith("_"):
            continue
        if isinstance(value, property) and value.__doc__:
            yield from (f"**`{name}`** (property): {as_markdown(value.__doc__)}", "")
        elif inspect.isfunction(plain) and plain.__doc__:
            title = fenced(f"{'async ' * inspect.iscoroutinefunction(plain)}def {name}{_signature(plain)}", "python")
            yield from (title, "", _doc(plain), "")


def _doc(value: Any) -> str:
    """The docstring that stands at the thing itself: a dataclass has one that Python wrote."""
    text = value.__doc__ or ""
    return "" if text.startswith(f"{getattr(value, '__name__', '')}(") else as_markdown(text)


def _signature(value: Any, back: bool = True) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    told = _annotations(value)
    parameters = [
        p.replace(annotation=_written(told.get(p.name, p.annotation)), default=_default(p.default))
        for p in found.parameters.values()
        if p.name != "self"
    ]
    returned = _written(found.return_annotation) if back else inspect.Signature.empty
    shown = found.replace(parameters=parameters, return_annotation=returned)
    text = f"{shown}"
    if len(text) <= 100 or not parameters:
        return text
    tail = "" if returned is inspect.Signature.empty else f" -> {returned!r}"
    return "(\n    " + ",\n    ".join(_parts(parameters)) + f",\n){tail}"


def _parts(parameters: Sequence[inspect.Parameter]) -> list[str]:
    """The parameters as they are written, one each, with the star that opens keyword-only ones."""
    parts: list[str] = []
    starred = False
    for parameter in parameters:
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        parts.append(str(parameter))
    return parts


def _annotations(value: Any) -> dict[str, Any]:
    """The annotations of a class's fields as they stand in the source: pydantic's signatures have them resolved."""
    if not (inspect.isclass(value) and issubclass(value, BaseModel)):
        return {}
    return {
        name: text for base in reversed(value.__mro__) for name, text in vars(base).get("__annotations__", {}).items()
    }


def _written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation


def _default(value: Any) -> Any:
    """A default whose text differs from run to run is shown as dots."""
    return _Written("...") if value is not inspect.Parameter.empty and " at 0x" in repr(value) else value
