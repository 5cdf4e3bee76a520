"""The command line: every verb of ``callgym``, by name.

The module of a verb is imported when it is run, asked for help, or completed; the list of all of them needs none.
"""

from __future__ import annotations

import difflib
import importlib
import warnings
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = ["VERBS", "Verb", "main"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One command."""

    name: str
    """What a user types."""
    section: str
    """Under which head ``--help`` lists it."""
    place: str
    """``module:function``, in ``callgym``."""
    help: str
    """How its docstring begins, up to the first colon or full stop; a test holds them equal."""

    def command(self) -> click.Command:
        """The command itself; its module is imported."""
        module, _, name = self.place.partition(":")
        command: click.Command = getattr(importlib.import_module(f"callgym.{module}"), name)
        return command


_ENVIRONMENTS = "Environments"
_PLAYING = "Playing and evaluating"
_LOOKING = "Looking"
_TRAINING = "Training and data"
_SERVING = "Serving"
_SCORES = "Scores"
_DESK = "Housekeeping"

VERBS: tuple[Verb, ...] = (
    Verb(
        "list",
        _ENVIRONMENTS,
        "environment_commands:list_environments",
        "The environments, and how many test tasks each has",
    ),
    Verb("show", _ENVIRONMENTS, "environment_commands:show", "A task as a person would read it; or an episode"),
    Verb("check", _ENVIRONMENTS, "environment_commands:check", "Check that an environment keeps the contract"),
    Verb("flagged", _ENVIRONMENTS, "environment_commands:flagged", "The tasks whose own label is faulty, and why"),
    Verb("perturb", _ENVIRONMENTS, "environment_commands:perturb", "A task before and after perturbations"),
    Verb("new-env", _ENVIRONMENTS, "new_env_commands:new_env", "Make a new family of environments"),
    Verb("eval", _PLAYING, "evaluate_commands:evaluate", "Play episodes with a policy and report the mean return"),
    Verb("play", _PLAYING, "play_commands:play", "Play episodes of ID yourself"),
    Verb(
        "fill-memory",
        _PLAYING,
        "evaluate_commands:fill_memory",
        "BFCL's memory: play the conversations before the questions",
    ),
    Verb("parse", _PLAYING, "parse_commands:parse", "Read an action as an environment would"),
    Verb("view", _LOOKING, "view_commands:view", "Write episodes as one page"),
    Verb("report", _LOOKING, "report_commands:report", "Compare runs"),
    Verb("replay", _LOOKING, "replay_commands:replay", "Play recorded episodes again and compare every byte"),
    Verb("rescore", _LOOKING, "replay_commands:rescore", "Score recorded episodes again by another rubric"),
    Verb("records", _LOOKING, "record_commands:records", "Recordings of tool calls: list, show, export, import"),
    Verb("train", _TRAINING, "training_commands:train", "Train a model with GRPO or RLOO (TRL)"),
    Verb("export", _TRAINING, "export_commands:export", "Recorded episodes as rows for reward models (TRL)"),
    Verb("export-verl", _TRAINING, "export_commands:export_verl", "An environment's tasks as rows for verl"),
    Verb("decisions", _TRAINING, "export_commands:decisions", "When2Call's training data as rows (TRL)"),
    Verb(
        "near-misses", _TRAINING, "export_commands:near_misses", "Right actions beside near misses, for reward models"
    ),
    Verb("fetch", _TRAINING, "data_commands:fetch", "Download a benchmark, or take the files that one has"),
    Verb("web-index", _TRAINING, "data_commands:web_index", "BFCL's web search: make an index of pages"),
    Verb("serve", _SERVING, "serve_commands:serve", "Serve an environment's tools over HTTP"),
    Verb("serve-env", _SERVING, "serve_commands:serve_env", "Serve a whole environment over HTTP and WebSocket"),
    Verb("mcp", _SERVING, "mcp_commands:serve_over_mcp", "Serve an environment's tools over MCP"),
    Verb("score", _SCORES, "score_commands:score", "A benchmark's official scores of recorded episodes"),
    Verb("pass-k", _SCORES, "score_commands:pass_k", "pass^k and pass@k of tasks that were played several times"),
    Verb("parity", _SCORES, "score_commands:parity", "Compare our verdicts with official ones, case by case"),
    Verb("doctor", _DESK, "desk_commands:doctor", "What is installed, what is missing, and what data is there"),
    Verb("completion", _DESK, "desk_commands:completion", "The script that lets a shell complete what is typed"),
)
"""All verbs, in the order in which ``--help`` lists them."""

_EPILOG = """Every verb takes -h, and --json for programs: one line of JSON on standard output, and nothing else there.

\b
Exit status
  0    done, and good
  1    done, and the answer is no: a check fails, records differ, a file is damaged
  2    wrong use
  3    could not be done; a line on standard error says why
  130  broken off

NO_COLOR takes colours away, FORCE_COLOR sends them into a pipe too."""


class _Commands(MutableMapping[str, click.Command]):
    """Name to command; the module of a verb is imported when its command is taken."""

    def __init__(self) -> None:
        self._verbs = {verb.name: verb for verb in VERBS}
        self._known: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._known:
            self._known[name] = self._verbs[name].command()
        return self._known[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        if self._verbs.pop(name, None) is None or name in self._known:
            del self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._verbs or name in self._known  # without an import

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._verbs, *self._known)))

    def __len__(self) -> int:
        return len(self._verbs.keys() | self._known.keys())


class _Verbs(click.Group):
    """The group of all verbs; it knows their names and imports none before it is wanted."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.commands = _Commands()

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):  # while a verb was imported
            from callgym.command_line import break_off

            break_off()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(args[0], list(self.commands), n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - 6 - max(len(verb.name) for verb in VERBS)
        for section in dict.fromkeys(verb.section for verb in VERBS):
            with formatter.section(section):
                formatter.write_dl([(v.name, _short(v.help, room)) for v in VERBS if v.section == section])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text(_EPILOG)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        verbs = [CompletionItem(v.name, help=v.help) for v in VERBS if v.name.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)


def _short(text: str, room: int) -> str:
    """The text on one line, its last words left out if need be."""
    if len(text) <= room:
        return text
    return text[: room - 3].rpartition(" ")[0].rstrip(",;:") + "..."


def _notice(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
    from callgym.terminal import harmless

    click.echo(harmless(str(message)), err=True)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="callgym")
def main() -> None:
    """Gymnasium environments in which language models learn to use tools."""
    from callgym.data import DataNotice

    warnings.showwarning = _notice
    warnings.simplefilter("once", DataNotice)
