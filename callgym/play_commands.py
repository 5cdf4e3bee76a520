"""``callgym play``: a person takes the policy's place."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from callgym.command_line import (
    HELP,
    data_option,
    dialect_option,
    explained,
    json_option,
    more_option,
    print_json,
    split_option,
)
from callgym.completions import complete_ids
from callgym.errors import ConfigurationError
from callgym.record_options import import_modules, modules_option
from callgym.terminal import harmless, styled

if TYPE_CHECKING:
    from callgym.envs.base import ToolEnv
    from callgym.episode import Episode
    from callgym.play_desk import Answer, Desk, Line
    from callgym.rollouts.plan import Plan

__all__ = ["HELPED", "HUMAN", "play"]

HUMAN = "human"
"""The policy's name in the record of an episode that a person played,"""
HELPED = "human:helped"
"""and of one in which a hint, the gold or an action taken back has helped."""
_INTERRUPTED = 130
_LONGEST_ECHO = 400


@click.command(context_settings=HELP)
@click.argument("id", shell_complete=complete_ids)
@click.option(
    "--task", default=None, help="A task's id or number; by default the tasks that eval plays with this seed."
)
@click.option("--episodes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Append a JSON line an episode.")
@modules_option
@json_option
@data_option
@split_option
@dialect_option
@more_option
@explained
def play(
    id: str,
    task: str | None,
    episodes: int,
    seed: int,
    out: Path | None,
    modules: tuple[str, ...],
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """Play episodes of ID yourself: type actions, see what comes back, and what it earns.

    Each line is an action; /help lists commands. Lines may come from a pipe, too. Where the input ends, the episode is
    truncated. Ctrl-C leaves: what has ended is kept, the episode that runs is not recorded. With --json, what there is
    to read goes to standard error.
    """
    env = _environment(id, modules, {**_given(data=data, split=split, dialect=dialect), **more})
    with contextlib.closing(env), contextlib.ExitStack() as stack:
        game = _Game(env, Keyboard(to_stderr=as_json), task, seed)
        if out is not None:
            game.index, game.file = _continued(out, env)
            stack.enter_context(game.file)
        code = game.play(episodes)
        if as_json:
            print_json(game.summary(out))
        elif game.returns and out is not None:
            click.echo(f"{len(game.returns)} recorded in {harmless(str(out))}")
    if code:
        raise SystemExit(code)


class Keyboard:
    """Where lines come from and go to: a terminal, or pipes."""

    def __init__(self, *, to_stderr: bool = False) -> None:
        self._to_stderr = to_stderr
        self._typed = sys.stdin.isatty() and sys.stdout.isatty() and not to_stderr
        if self._typed:
            _edit_lines()
        elif hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")  # what is no UTF-8 is no reason to end

    def ask(self, prompt: str) -> str | None:
        """The next line; None at the end of the input."""
        if self._typed:
            try:
                return input(prompt)
            except EOFError:
                click.echo()
                return None
        line = sys.stdin.readline()
        if not line:
            return None
        line = line.removesuffix("\n").removesuffix("\r")
        shown = line if len(line) <= _LONGEST_ECHO else f"{line[:_LONGEST_ECHO]}... ({len(line)} characters)"
        self.tell(f"{prompt}{shown}", "dim")
        return line

    def tell(self, text: str, kind: Any = None) -> None:
        """Show something, whoever wrote it."""
        stream = sys.stderr if self._to_stderr else sys.stdout
        click.echo(styled(harmless(text), kind, stream=stream), err=self._to_stderr)


@dataclass(slots=True)
class _Game:
    """Episodes, one after the other."""

    env: ToolEnv
    keyboard: Keyboard
    task: str | None
    seed: int
    index: int = 0
    file: TextIO | None = None
    returns: list[float | None] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    helped: int = 0

    def play(self, episodes: int) -> int:
        """Play so many episodes, or fewer, where the person has enough. Gives the exit status."""
        from callgym.rollouts.plan import Plan

        plan = Plan.of(self.env, HUMAN, self.seed)
        try:
            for left in range(episodes, 0, -1):
                if not self._episode(plan, left):
                    break
        except KeyboardInterrupt:
            self.keyboard.tell("\ninterrupted: the episode that was running is not recorded", "bad")
            return _INTERRUPTED
        return 0

    def _episode(self, plan: Plan, left: int) -> bool:
        """Play one; whether to go on."""
        from callgym.play import Seat
        from callgym.play_desk import Desk, ending_lines

        wanted: int | str = plan.task(self.index) if self.task is None else self.task
        if isinstance(wanted, str) and wanted.isdecimal():
            wanted = int(wanted)
        desk = Desk(Seat(self.env, wanted, plan.episode_seed(self.index)))
        self._show(desk.opening())
        self.keyboard.tell("\n(/help lists the commands; anything else is an action)", "dim")
        go_on = self._actions(desk)
        episode = desk.seat.stop()
        if episode is None:
            self.keyboard.tell("no action was taken, so there is nothing to score", "dim")
        else:
            self._show(ending_lines(episode))
            self._record(episode, desk.helped)
        self.index += 1
        if go_on and left > 1:
            self.keyboard.tell("")
        return go_on

    def _actions(self, desk: Desk) -> bool:
        """Take entries until the episode is over or left; whether to go on with another."""
        from callgym.play_entry import read_entry

        while True:
            number = len(desk.seat.actions) + 1
            entry = read_entry(lambda goes_on, at=number: self.keyboard.ask("... " if goes_on else f"action {at}> "))  # type: ignore[misc]
            if entry is None or not entry.whole:
                self.keyboard.tell("the input is at its end", "dim")
                desk.seat.stop(None if entry is None else entry.text)
                return False
            answer: Answer = desk.take(entry)
            self._show(answer.lines)
            if answer.move != "stay":
                return answer.move == "next"

    def _show(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.keyboard.tell(line.text, line.kind)

    def _record(self, episode: Episode, helped: bool) -> None:
        from callgym.rollouts.episodes import write_episode

        self.returns.append(episode.episode_return)
        self.endings.append(episode.ended)
        self.helped += helped
        if self.file is not None:
            write_episode(self.file, self.index, HELPED if helped else HUMAN, episode)

    def summary(self, out: Path | None) -> dict[str, Any]:
        """What was played, as JSON values."""
        known = [value for value in self.returns if value is not None]
        return {
            "env_id": self.env.env_id,
            "policy": HUMAN,
            "episodes": len(self.returns),
            "mean_return": sum(known) / len(known) if known else None,
            "returns": self.returns,
            "endings": self.endings,
            "helped": self.helped,
            "out": None if out is None else str(out),
        }


def _given(**options: Any) -> dict[str, Any]:
    """Those that were typed; for the others an id may have been registered with defaults of its own."""
    context = click.get_current_context()
    return {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }


def _environment(id: str, modules: tuple[str, ...], options: dict[str, Any]) -> ToolEnv:
    """Make the environment of an id, ``module:id`` included, as ``gym.make`` takes it."""
    import gymnasium as gym

    from callgym.envs.base import make_tool_env
    from callgym.registry import find_environment

    module, _, name = id.rpartition(":")
    import_modules((*modules, *filter(None, (module,))))
    if name not in gym.registry:
        find_environment(name)  # says which there are
    return make_tool_env(name, **options)


def _continued(path: Path, env: ToolEnv) -> tuple[int, TextIO]:
    """Open a file of episodes to go on with it: the next index, and the file.

    Raises:
        ConfigurationError: It holds episodes of another policy or environment.
        DataError: It is damaged.
    """
    from callgym.rollouts.episodes import cut_torn_tail, read_rows

    following = 0
    if path.exists():
        for row in read_rows(path, allow_torn_tail=True):
            found = row.episode
            facts = [
                ("policy", row.policy.partition(":")[0], HUMAN),
                ("env_id", found.env_id, env.env_id),
                ("data", found.data, env.source.kind),
                ("rubric", found.rubric, env.rubric.name),
                ("config", found.config, env.config),
            ]
            for name, there, here in facts:
                if there != here:
                    raise ConfigurationError(
                        f"{path}, row {row.row}: {name} is {there!r}, and {here!r} here; give another --out"
                    )
            following = max(following, row.index + 1)
        cut_torn_tail(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return following, path.open("a", encoding="utf-8", newline="\n")


def _edit_lines() -> None:
    """Keys that move the cursor and a history, where the platform has them; and commands by the tab key."""
    try:
        import readline
    except ImportError:
        return
    from callgym.play_desk import COMMANDS

    names = [command.partition(" ")[0] for command in COMMANDS]

    def complete(text: str, state: int) -> str | None:
        found = [name for name in names if name.startswith(text)] if text.startswith("/") else []
        return found[state] if state < len(found) else None

    readline.set_completer_delims(" \t\n")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
