"""``callgym list``, ``show``, ``check``, ``flagged``, ``perturb``: the environments and their tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from callgym.command_line import (
    HELP,
    data_option,
    dialect_option,
    explained,
    json_option,
    more_option,
    output_kept_clean,
    print_json,
    say_no,
    split_option,
)
from callgym.completions import complete_families, complete_ids, complete_perturbations, complete_policies
from callgym.errors import CallGymError
from callgym.registry import ENVIRONMENTS, find_environment
from callgym.terminal import Cell, harmless, one_line, styled, table

__all__ = ["check", "flagged", "id_argument", "list_environments", "made", "perturb", "show"]

id_argument = click.argument("id", shell_complete=complete_ids)


def made(id: str, **options: Any) -> Any:
    """The environment of that id; says what is wrong with the id or the options."""
    from callgym.envs.base import make_tool_env

    find_environment(id)
    return make_tool_env(id, **options)


@click.command("list", context_settings=HELP)
@json_option
@click.option(
    "--family",
    default=None,
    help="Only this benchmark's; needed where --data is its folder.",
    shell_complete=complete_families,
)
@data_option
@explained
def list_environments(as_json: bool, family: str | None, data: str) -> None:
    """The environments, and how many test tasks each has."""
    rows = list(_environments(family, data))
    if not rows:
        raise CallGymError(f"no family {family!r}; there are: {', '.join(sorted({e.family for e in ENVIRONMENTS}))}")
    if as_json:
        print_json(rows)
        return
    cells = [
        (row["id"], row["protocol"], str(row["tasks"]), row["data"], Cell(str(row["summary"]), "dim")) for row in rows
    ]
    click.echo(table(("id", "protocol", "tasks", "data", "about"), cells, align="llrll"))


def _environments(family: str | None, data: str) -> Iterator[dict[str, Any]]:
    import gymnasium as gym

    for entry in ENVIRONMENTS:
        if family not in (None, entry.family):
            continue
        env: Any = gym.make(entry.id, data=data, disable_env_checker=True).unwrapped
        yield {
            "id": entry.id,
            "family": entry.family,
            "protocol": entry.protocol,
            "tasks": len(env.tasks),
            "data": env.source.kind,
            "summary": entry.summary,
        }
        env.close()


@click.command(context_settings=HELP)
@id_argument
@click.option("--task", default=None, help="A task's id or number; the first by default.")
@click.option("--prompt", is_flag=True, help="Print the first observation as the policy gets it.")
@click.option("--episodes", type=click.Path(exists=True, dir_okay=False), help="Show an episode of this file instead.")
@click.option(
    "--play",
    "policy",
    default=None,
    help="Play the task with this policy and show the episode.",
    shell_complete=complete_policies,
)
@json_option
@data_option
@split_option
@dialect_option
@more_option
@explained
def show(
    id: str,
    task: str | None,
    prompt: bool,
    episodes: str | None,
    policy: str | None,
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """A task as a person would read it; or an episode.

    A task is shown with its goal, the rubric, and the oracle's action."""
    if episodes is not None:
        _show_episode(_recorded(episodes, task), as_json)
        return
    options = {"data": data, "split": split, "dialect": dialect, **more}
    env = made(id, **options)
    observation, _ = env.reset(seed=0, options={"task": 0 if task is None else _named(task)})
    if policy is not None:
        with output_kept_clean(as_json):
            episode = _play(id, policy, env.task, options)
        _show_episode(episode, as_json)
    elif prompt:
        _show_prompt(env, observation, as_json)
    else:
        _show_task(env, as_json)


def _named(task: str) -> int | str:
    return int(task) if task.isdecimal() else task


def _recorded(path: str, task: str | None) -> Any:
    from callgym.rollouts.episodes import read_episodes

    for index, episode in read_episodes(path):
        if task in (None, episode.task_id, str(index)):
            return episode
    raise CallGymError(f"{path} has no episode of task {task!r}")


def _play(id: str, policy: str, task: Any, options: dict[str, Any]) -> Any:
    from callgym.rollouts.policy import get_policy
    from callgym.rollouts.runner import run_episodes

    return run_episodes(
        id, get_policy(policy), episodes=1, env_options={**options, "data": [task]}, progress=False
    ).episodes[0]


def _show_episode(episode: Any, as_json: bool) -> None:
    from callgym.show import episode_as_text

    if as_json:
        print_json(episode.to_dict())
    else:
        click.echo(harmless(episode_as_text(episode)))


def _show_prompt(env: Any, observation: str, as_json: bool) -> None:
    if as_json:
        print_json({"task_id": env.task.id, "prompt": observation})
    else:
        click.echo(harmless(observation))


def _show_task(env: Any, as_json: bool) -> None:
    from callgym.show import rubric_as_text, task_as_text

    rubric = rubric_as_text(env.rubric)
    if as_json:
        print_json({"task": env.task.to_dict(), "rubric": rubric.splitlines(), "oracle": env.oracle_action()})
        return
    click.echo(harmless(task_as_text(env.task)))
    click.echo(f"\n{rubric.replace('rubric', 'RUBRIC', 1)}")
    click.echo(harmless(f"\nORACLE\n  {env.oracle_action()}"))


@click.command(context_settings=HELP)
@id_argument
@json_option
@data_option
@split_option
@dialect_option
@more_option
@explained
def check(id: str, as_json: bool, data: str, split: str, dialect: str | None, more: dict[str, Any]) -> None:
    """Check that an environment keeps the contract.

    It runs callgym.check_tool_env. Exit status 1: the contract is broken, and standard output says where.
    """
    import gymnasium as gym

    from callgym.checker import check_tool_env

    options = {"data": data, "split": split, "dialect": dialect, **more}
    made(id, **options).close()  # says what is wrong with them
    fault = None
    with output_kept_clean(as_json):
        try:
            check_tool_env(gym.make(id, **options))
        except AssertionError as error:  # ToolEnvError, or Gymnasium's own
            fault = str(error)
    if as_json:
        print_json({"id": id, "ok": fault is None, "fault": fault})
    else:
        click.echo(f"{id}: {styled('ok', 'good') if fault is None else styled(one_line(fault), 'bad')}")
    if fault is not None:
        say_no()


@click.command(context_settings=HELP)
@id_argument
@json_option
@data_option
@split_option
@more_option
@explained
def flagged(id: str, as_json: bool, data: str, split: str, more: dict[str, Any]) -> None:
    """The tasks whose own label is faulty, and why.

    `--set exclude_flagged=true` leaves them out."""
    from callgym.envs.base import FLAGS

    tasks = made(id, data=data, split=split, **more).tasks
    rows = [
        (task.id, {name: task.meta[name] for name in FLAGS if name in task.meta})
        for task in tasks
        if any(name in task.meta for name in FLAGS)
    ]
    if as_json:
        print_json({"id": id, "tasks": len(tasks), "flagged": [{"task": task, "faults": why} for task, why in rows]})
        return
    if rows:
        cells = [(task, name, _as_json(value)) for task, why in rows for name, value in why.items()]
        click.echo(table(("task", "fault", "what"), cells))
    click.echo(f"{len(rows)} of {len(tasks)} tasks")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@click.command(context_settings=HELP)
@id_argument
@click.argument("specs", nargs=-1, required=True, shell_complete=complete_perturbations)
@click.option("--task", default=None, help="A task's id or number; the first that is changed by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@json_option
@data_option
@split_option
@dialect_option
@explained
def perturb(
    id: str,
    specs: tuple[str, ...],
    task: str | None,
    seed: int,
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
) -> None:
    """A task before and after perturbations.

    SPECS are those of gym.make(perturb=): remove_tool, rename:0.5, a JSON object ..."""
    from callgym.envs.perturbations.describe import describe
    from callgym.envs.perturbations.perturbation import notes_of

    given = [_spec(spec) for spec in specs]
    env = made(id, data=data, split=split, dialect=dialect, perturb=given)
    for choice in range(len(env.tasks)) if task is None else [_named(task)]:
        env.reset(seed=seed, options={"task": choice})
        notes = notes_of(env.task)
        if task is None and not any(entry["applied"] for entry in notes):
            continue
        before = next(known for known in env.tasks if known.id == env.task.id)
        if as_json:
            print_json({"before": before.to_dict(), "after": env.task.to_dict(), "notes": notes})
        else:
            click.echo(harmless(describe(before, env.task)))
        return
    raise CallGymError(f"none of the {len(env.tasks)} tasks of {id} is changed by {', '.join(specs)}")


def _spec(text: str) -> Any:
    if not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{text[:60]!r} is not a JSON object: {error}", param_hint="SPECS") from None
