"""``callgym doctor`` and ``completion``: the installation, and the shell it is used from."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from callgym.command_line import HELP, explained, json_option, print_json

__all__ = ["completion", "doctor"]

_INSTALL = {
    "bash": "callgym completion bash > ~/.local/share/bash-completion/completions/callgym",
    "zsh": "callgym completion zsh > FOLDER/_callgym, FOLDER one of those in $fpath, before compinit is run",
    "fish": "callgym completion fish > ~/.config/fish/completions/callgym.fish",
}
"""Shell to how its completion stays."""


@click.command(context_settings=HELP)
@json_option
@explained
def doctor(as_json: bool) -> None:
    """What is installed, what is missing, and what data is there."""
    from callgym.doctor import examine

    report = examine()
    if as_json:
        print_json(report.to_dict())
    else:
        click.echo(report.as_text())


@click.command(context_settings=HELP)
@click.argument("shell", type=click.Choice(sorted(_INSTALL)))
@json_option
@click.pass_context
@explained
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    """The script that lets a shell complete what is typed.

    Verbs, options, ids, policies, files. The script says where to keep it.

    To try it in bash or zsh: eval "$(callgym completion bash)".
    """
    script = _script(shell)
    if as_json:
        print_json({"shell": shell, "install": _INSTALL[shell], "script": script})
    else:
        click.echo(script)


def _script(shell: str) -> str:
    from callgym.cli import main

    made = get_completion_class(shell)
    assert made is not None  # click has all three
    source = made(main, {}, "callgym", "_CALLGYM_COMPLETE").source()
    # click's script for fish splits at every comma, so that it loses what a description says after its first.
    source = source.replace('string split "," ', 'string split --max 1 "," ')
    first, _, rest = source.partition("\n")
    note = f"# To keep it: {_INSTALL[shell]}"
    # zsh looks for #compdef in the first line.
    return f"{first}\n{note}\n{rest}" if first.startswith("#compdef") else f"{note}\n{first}\n{rest}"
