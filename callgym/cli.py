"""The command line: ``callgym list``, ``show``, ``eval``, ``check``, ``fetch``, ``parity``, ``score``, ``flagged``,
``pass-k``, ``export``, ``near-misses``, ``train``, ``replay``, ``rescore`` and others.
"""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import click
import gymnasium as gym

from callgym.checker import check_tool_env
from callgym.command_line import data_option, dialect_option, explained, more_option, split_option
from callgym.data import DataNotice, cache_folder
from callgym.errors import CallGymError
from callgym.mcp_commands import serve_over_mcp
from callgym.parity import SUITES, run_suite, suite_options
from callgym.record_commands import records
from callgym.registry import ENVIRONMENTS, find_environment
from callgym.replay_commands import replay, rescore
from callgym.serve_commands import serve, serve_env

__all__ = ["main"]

_FETCHERS = {
    "apibank": ("callgym.envs.apibank.fetch", "download_apibank", "copy_apibank"),
    "bfcl": ("callgym.envs.bfcl.fetch", "download_bfcl", "copy_bfcl"),
    "when2call": ("callgym.envs.when2call.fetch", "download_when2call", "copy_when2call"),
}
"""Benchmark to module, its function that downloads, and the one that takes what the user has."""
_SCORERS = {
    "apibank": "callgym.envs.apibank.scores",
    "bfcl": "callgym.envs.bfcl.scores",
    "when2call": "callgym.envs.when2call.scores",
}
"""Benchmark to the module whose ``official_scores`` yields a row a level or category."""


def _notice(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
    click.echo(str(message), err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="callgym")
def main() -> None:
    """Gymnasium environments in which language models learn to use tools."""
    warnings.showwarning = _notice
    warnings.simplefilter("once", DataNotice)


_step_seconds = click.option(
    "--step-seconds", type=click.FloatRange(min=0, min_open=True), help="Most of one step; a longer one is a failure."
)
_episode_seconds = click.option(
    "--episode-seconds", type=click.FloatRange(min=0, min_open=True), help="Most of an episode's steps together."
)
_attempts = click.option(
    "--attempts", type=click.IntRange(min=1), default=3, show_default=True, help="How often a broken episode is begun."
)


def _limits(workers: int | None, step_seconds: float | None, episode_seconds: float | None, attempts: int) -> Any:
    """Limits, where they are asked for, and always on workers."""
    from callgym.rollouts.limits import RolloutLimits

    asked = workers is not None or step_seconds is not None or episode_seconds is not None
    return RolloutLimits(step_seconds, episode_seconds, attempts) if asked else None


def _weights(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, float] | None:
    """``ID=NUMBER`` pairs."""
    found = {}
    for pair in given:
        id, _, number = pair.rpartition("=")
        try:
            found[id] = float(number)
        except ValueError:
            raise click.BadParameter(f"{pair!r} is no ID=NUMBER") from None
    return found or None


main.add_command(records)
main.add_command(serve_over_mcp)
main.add_command(serve)
main.add_command(serve_env)
main.add_command(replay)
main.add_command(rescore)


@main.command("list")
@click.option("--json", "as_json", is_flag=True, help="A JSON list of objects.")
@click.option("--family", default=None, help="Only this benchmark's; needed where --data is its folder.")
@data_option
@explained
def list_environments(as_json: bool, family: str | None, data: str) -> None:
    """The environments, with the number of tasks of their test split."""
    rows = []
    for entry in ENVIRONMENTS:
        if family not in (None, entry.family):
            continue
        env: Any = gym.make(entry.id, data=data, disable_env_checker=True).unwrapped
        row = {
            "id": entry.id,
            "family": entry.family,
            "protocol": entry.protocol,
            "tasks": len(env.tasks),
            "data": env.source.kind,
            "summary": entry.summary,
        }
        rows.append(row)
        env.close()
    if not rows:
        raise CallGymError(f"no family {family!r}; there are: {', '.join(sorted({e.family for e in ENVIRONMENTS}))}")
    if as_json:
        click.echo(json.dumps(rows))
        return
    width = max(len(str(row["id"])) for row in rows) + 2
    click.echo(f"{'id':<{width}}{'protocol':<10}{'tasks':>6}  {'data':<9}about")
    for row in rows:
        click.echo(f"{row['id']:<{width}}{row['protocol']:<10}{row['tasks']:>6}  {row['data']:<9}{row['summary']}")


@main.command()
@click.argument("id")
@click.option("--task", default=None, help="A task's id or number; the first by default.")
@click.option("--prompt", is_flag=True, help="Print the first observation as the policy gets it.")
@click.option("--episodes", type=click.Path(exists=True, dir_okay=False), help="Show an episode of this file instead.")
@click.option("--play", "policy", default=None, help="Play the task with this policy and show the episode.")
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
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """A task as a person would read it, with the oracle's action; or an episode."""
    from callgym.show import episode_as_text, rubric_as_text, task_as_text

    if episodes is not None:
        from callgym.rollouts.episodes import read_episodes

        for index, episode in read_episodes(episodes):
            if task in (None, episode.task_id, str(index)):
                click.echo(episode_as_text(episode))
                return
        raise CallGymError(f"{episodes} has no episode of task {task!r}")
    options = {"data": data, "split": split, "dialect": dialect, **more}
    env: Any = _make(id, **options)
    wanted: Any = 0 if task is None else int(task) if task.isdecimal() else task
    observation, _ = env.reset(seed=0, options={"task": wanted})
    if policy is not None:
        click.echo(episode_as_text(_play(id, policy, env.task, options)))
        return
    if prompt:
        click.echo(observation)
        return
    click.echo(task_as_text(env.task))
    click.echo(f"\n{rubric_as_text(env.rubric).replace('rubric', 'RUBRIC', 1)}")
    click.echo(f"\nORACLE\n  {env.oracle_action()}")


@main.command("eval")
@click.argument("id")
@click.option(
    "--policy", required=True, help="oracle, abstain, ask, answer, random, echo, silent ..., hf:PATH, openai:MODEL@URL."
)
@click.option("--episodes", type=click.IntRange(min=1), default=None, help="Every task once by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--batch", type=click.IntRange(min=1), default=32, show_default=True, help="Actions written at once.")
@click.option("--seats", type=click.IntRange(min=1), default=None, help="Episodes side by side; --batch by default.")
@click.option("--workers", type=click.IntRange(min=1), default=None, help="Play on so many Ray workers.")
@click.option(
    "--policy-in",
    type=click.Choice(("auto", "driver", "worker", "actor")),
    default="auto",
    show_default=True,
    help="With --workers: where actions are written; auto is driver for models, worker for all else.",
)
@click.option("--cpus", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Of Ray, for each worker.")
@click.option("--gpus", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Of Ray, for the actor.")
@_step_seconds
@_episode_seconds
@_attempts
@click.option("--temperature", type=click.FloatRange(min=0), default=None, help="For model policies.")
@click.option("--max-new-tokens", type=click.IntRange(min=1), default=None, help="For model policies.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write a JSON line an episode; resumes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object as the last line.")
@data_option
@split_option
@dialect_option
@more_option
@explained
def evaluate(
    id: str,
    policy: str,
    episodes: int | None,
    seed: int,
    batch: int,
    seats: int | None,
    workers: int | None,
    policy_in: str,
    cpus: float,
    gpus: float,
    step_seconds: float | None,
    episode_seconds: float | None,
    attempts: int,
    temperature: float | None,
    max_new_tokens: int | None,
    out: str | None,
    as_json: bool,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """Play episodes with a policy and report the mean return."""
    from callgym.rollouts.policy import get_policy
    from callgym.rollouts.ray.workers import RayWorkers
    from callgym.rollouts.runner import run_episodes

    given = {"temperature": temperature, "max_new_tokens": max_new_tokens}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    spread = None
    if workers is not None:
        if policy_in == "auto":
            policy_in = "driver" if "hf:" in policy else "worker"
        place: Any = "worker" if policy_in == "worker" else "driver"
        spread = RayWorkers(workers, policy=place, cpus=cpus)
    if policy_in == "actor":
        from callgym.rollouts.ray.policy_actor import ActorPolicy

        actor: Any = ActorPolicy(policy, gpus=gpus, batch_size=batch, **settings)
    else:
        actor = get_policy(policy, **settings)
    options = {"data": data, "split": split, "dialect": dialect, **more}
    env = _make(id, **options)
    count = len(env.tasks) if episodes is None else episodes
    env.close()
    result = run_episodes(
        id,
        actor,
        episodes=count,
        seed=seed,
        batch_size=batch,
        seats=seats,
        workers=spread,
        limits=_limits(workers, step_seconds, episode_seconds, attempts),
        env_options=options,
        out=out,
    )
    click.echo(result.summary.to_json() if as_json else result.summary.table())


@main.command()
@click.argument("id")
@data_option
@split_option
@dialect_option
@more_option
@explained
def check(id: str, data: str, split: str, dialect: str | None, more: dict[str, Any]) -> None:
    """Check that an environment keeps the contract (check_tool_env)."""
    options = {"data": data, "split": split, "dialect": dialect, **more}
    _make(id, **options).close()  # says what is wrong with them
    check_tool_env(gym.make(id, **options))
    click.echo(f"{id}: ok")


@main.command()
@click.argument("name", type=click.Choice(sorted(_FETCHERS)))
@click.option("--from", "path", type=click.Path(path_type=Path), help="What you have; no download.")
@explained
def fetch(name: str, path: Path | None) -> None:
    """Download a benchmark into the cache (CALLGYM_DATA), or take its files from a folder or package one has.

    HF_ENDPOINT, CALLGYM_GITHUB and CALLGYM_PYPI name mirrors of https://huggingface.co, https://codeload.github.com
    and https://pypi.org/simple.
    """
    module, download, copy = _FETCHERS[name]
    fetcher = importlib.import_module(module)
    fetched = getattr(fetcher, download)() if path is None else getattr(fetcher, copy)(path)
    for note in fetched.notes:
        click.echo(f"callgym: {note}", err=True)
    click.echo(f"{name}: {len(fetched.files)} files in {cache_folder() / name}")


@main.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--model", required=True, help="A folder or a name on the hub.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of the run.")
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--learning-rate", type=click.FloatRange(min=0, min_open=True), default=1e-6, show_default=True)
@click.option("--group", type=click.IntRange(min=2), default=8, show_default=True, help="Episodes of one task.")
@click.option("--batch", type=click.IntRange(min=2), default=64, show_default=True, help="Episodes of one step.")
@click.option("--micro-batch", type=click.IntRange(min=1), help="Episodes of one pass of one process.")
@click.option("--max-new-tokens", type=click.IntRange(min=1), default=256, show_default=True, help="Of one action.")
@click.option("--max-prompt-tokens", type=click.IntRange(min=1), help="Tasks with longer prompts are left out.")
@click.option("--max-episode-tokens", type=click.IntRange(min=1), help="Longer episodes are truncated.")
@click.option("--generation-batch", type=click.IntRange(min=1), help="Most conversations written for at once.")
@click.option("--algorithm", type=click.Choice(("grpo", "rloo")), default="grpo", show_default=True)
@click.option(
    "--weight", "weights", multiple=True, callback=_weights, metavar="ID=NUMBER", help="Share of an id's rows."
)
@click.option("--workers", type=click.IntRange(min=1), help="Run the environments on so many Ray workers.")
@_step_seconds
@_episode_seconds
@_attempts
@click.option("--vllm-mode", type=click.Choice(("colocate", "server")), help="Generate with vLLM.")
@click.option("--vllm-url", help="The vLLM server's address.")
@click.option("--vllm-tensor-parallel", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--save-steps", type=click.IntRange(min=1), help="Write a checkpoint after every so many steps.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint.")
@click.option("--report-to", default="none", show_default=True, help="tensorboard, wandb, or what else TRL knows.")
@click.option("--split", default="train", show_default=True)
@data_option
@dialect_option
@more_option
@explained
def train(
    ids: tuple[str, ...],
    model: str,
    out: Path,
    more: dict[str, Any],
    algorithm: str,
    step_seconds: float | None,
    episode_seconds: float | None,
    attempts: int,
    **options: Any,
) -> None:
    """Train a model on one environment, or several at once, with GRPO or RLOO (TRL)."""
    from callgym.trainers.grpo import GrpoSettings, train_grpo
    from callgym.trainers.rloo import make_rloo_trainer

    for id in ids:
        find_environment(id)
    limits = _limits(options["workers"], step_seconds, episode_seconds, attempts)
    settings = GrpoSettings(ids=ids, model=model, out=out, env_options=more, limits=limits, **options)
    click.echo(train_grpo(settings, make=make_rloo_trainer if algorithm == "rloo" else None))


@main.command()
@click.argument("suite", type=click.Choice(sorted(SUITES)))
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--data", default=None, help="Official files; by default beside FOLDER, else fetched.")
@click.option("--ranker", default="auto", show_default=True, help="What a tool search ranks with.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a JSON line a disagreement.")
@explained
def parity(suite: str, folder: Path, data: str | None, ranker: str, out: Path | None) -> None:
    """Compare our verdicts with official ones, case by case; the last line is a JSON summary."""
    if "ranker" in suite_options(suite) and ranker == "auto":
        from callgym.tool_backends.ranking import get_ranker

        click.echo(f"callgym: a tool search ranks with {get_ranker(ranker).name!r}", err=True)
    report = run_suite(suite, folder, data=data, ranker=ranker)
    for line in report.lines():
        click.echo(line)
    if out is not None:
        click.echo(f"{report.write_disagreements(out)} disagreements in {out}")
    click.echo(json.dumps(report.summary()))


@main.command("fill-memory")
@click.argument("store", type=click.Choice(("kv", "vector", "rec_sum")))
@click.option("--policy", required=True, help="As for eval.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of snapshots.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@data_option
@split_option
@dialect_option
@explained
def fill_memory(store: str, policy: str, out: Path, seed: int, data: str, split: str, dialect: str | None) -> None:
    """BFCL's memory: a policy plays the earlier conversations; --set memory=FOLDER then asks about what it kept."""
    from callgym.envs.bfcl.memory.snapshots import write_snapshots
    from callgym.rollouts.memory import fill_memories
    from callgym.rollouts.policy import get_policy

    snapshots = fill_memories(store, get_policy(policy), data=data, split=split, seed=seed, dialect=dialect)
    click.echo(f"{len(write_snapshots(out, snapshots))} snapshots in {out}")


@main.command("web-index")
@click.argument("pages", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The index, a new file.")
@explained
def web_index(pages: Path, out: Path) -> None:
    """BFCL's web search: make an index of pages, JSON Lines of {"url", "title", "text"}, for --set index=FILE."""
    from callgym.data import read_json_lines
    from callgym.envs.bfcl.web.index import build_index

    click.echo(f"{build_index((row for _, row in read_json_lines(pages)), out)} pages in {out}")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@explained
def doctor(as_json: bool) -> None:
    """What is installed, what is missing, and what data is there."""
    from callgym.doctor import examine

    report = examine()
    click.echo(json.dumps(report.to_dict()) if as_json else "\n".join(report.lines()))


@main.command("export-verl")
@click.argument("id")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="FILE.parquet or .jsonl.")
@click.option("--count", type=click.IntRange(min=1), default=None, help="Most rows; the whole split by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the episodes.")
@click.option("--split", default="train", show_default=True)
@data_option
@dialect_option
@more_option
@explained
def export_verl(id: str, out: Path, count: int | None, more: dict[str, Any], **options: Any) -> None:
    """An environment's tasks as rows for verl; its reward function is callgym.trainers.bridges.verl_rows."""
    from callgym.trainers.bridges.verl_rows import verl_rows, write_verl_rows

    find_environment(id)
    click.echo(f"{write_verl_rows(verl_rows(id, limit=count, **options, **more), out)} rows in {out}")


@main.command()
@click.argument("id")
@data_option
@split_option
@more_option
@explained
def flagged(id: str, data: str, split: str, more: dict[str, Any]) -> None:
    """The tasks whose own label is faulty, and why; `exclude_flagged=true` leaves them out."""
    from callgym.envs.base import FLAGS

    env = _make(id, data=data, split=split, **more)
    count = 0
    for task in env.tasks:
        faults = [f"{name}: {json.dumps(task.meta[name], ensure_ascii=False)}" for name in FLAGS if name in task.meta]
        count += bool(faults)
        if faults:
            click.echo(f"{task.id}  {'; '.join(faults)}")
    click.echo(f"{count} of {len(env.tasks)} tasks")


@main.command("pass-k")
@click.argument("episodes", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--threshold", type=float, default=1.0, show_default=True, help="Least return of a success.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@explained
def pass_k(episodes: tuple[str, ...], threshold: float, as_json: bool) -> None:
    """pass^k and pass@k of tasks that were played several times, over one or more episode files."""
    from callgym.rewards.repeated import repeated_runs
    from callgym.rollouts.episodes import read_episodes

    runs = repeated_runs((episode for path in episodes for _, episode in read_episodes(path)), threshold)
    click.echo(runs.to_json() if as_json else runs.table())


@main.command()
@click.argument("benchmark", type=click.Choice(sorted(_SCORERS)))
@click.argument("episodes", type=click.Path(exists=True, dir_okay=False))
@data_option
@explained
def score(benchmark: str, episodes: str, data: str) -> None:
    """Official scores of an episode file that `eval --out` wrote; one JSON line a level or category."""
    from callgym.rollouts.episodes import read_episodes

    scorer = importlib.import_module(_SCORERS[benchmark])
    for row in scorer.official_scores((episode for _, episode in read_episodes(episodes)), data):
        click.echo(json.dumps(row))


@main.command()
@click.argument("episodes", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--kind", type=click.Choice(("reward", "preference", "process")), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File, or the folder of a dataset.")
@click.option("--format", "format", type=click.Choice(("jsonl", "dataset")), default="jsonl", show_default=True)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="preference: least difference of returns.",
)
@click.option("--pairs", type=click.IntRange(min=1), default=4, show_default=True, help="preference: most of a task.")
@click.option("--graded", is_flag=True, help="process: labels from 0 to 1 instead of true and false.")
@click.option("--data", default=None, help="Where the tasks are; what the records name by default.")
@explained
def export(episodes: tuple[Path, ...], **options: Any) -> None:
    """Episode files as rows to train reward models on, in the formats of TRL."""
    from callgym.trainers.export import export_episodes

    click.echo(str(export_episodes(episodes, **options)))


@main.command()
@click.option("--kind", type=click.Choice(("sft", "preference", "reward")), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File, or the folder of a dataset.")
@click.option("--format", "format", type=click.Choice(("jsonl", "dataset")), default="jsonl", show_default=True)
@click.option("--count", type=click.IntRange(min=1), default=None, help="Most rows; the whole split by default.")
@click.option("--form", type=click.Choice(("chat", "written", "text")), default="chat", show_default=True)
@click.option("--dialect", default="hermes", show_default=True, help="For written and text: how calls are written.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--data", default="starter", show_default=True, help="starter, official, auto, or a folder.")
@click.option("--split", default="train", show_default=True)
@explained
def decisions(**options: Any) -> None:
    """When2Call's training data: rows to learn when to call, ask, decline or answer, in the formats of TRL."""
    from callgym.trainers.decision_data import export_decisions

    click.echo(str(export_decisions(**options)))


@main.command()
@click.argument("id")
@click.argument("specs", nargs=-1, required=True)
@click.option("--task", default=None, help="A task's id or number; the first that is changed by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@data_option
@split_option
@dialect_option
@explained
def perturb(
    id: str, specs: tuple[str, ...], task: str | None, seed: int, data: str, split: str, dialect: str | None
) -> None:
    """A task before and after perturbations (remove_tool, rename:0.5, a JSON object ...) of gym.make(perturb=)."""
    from callgym.envs.perturbations.describe import describe
    from callgym.envs.perturbations.perturbation import notes_of

    given = [json.loads(spec) if spec.startswith("{") else spec for spec in specs]
    env = _make(id, data=data, split=split, dialect=dialect, perturb=given)
    wanted = range(len(env.tasks)) if task is None else [int(task) if task.isdecimal() else task]
    for choice in wanted:
        env.reset(seed=seed, options={"task": choice})
        if task is not None or any(entry["applied"] for entry in notes_of(env.task)):
            before = next(known for known in env.tasks if known.id == env.task.id)
            click.echo(describe(before, env.task))
            return
    raise CallGymError(f"none of the {len(env.tasks)} tasks of {id} is changed by {', '.join(specs)}")


@main.command("near-misses")
@click.argument("id")
@click.option("--count", type=click.IntRange(min=1), default=500, show_default=True, help="Most pairs.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--kind", "kinds", multiple=True, help="Only this mutation; may be given again. All by default.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Write a JSON line a pair.")
@click.option("--score", type=click.Choice(("rules",)), default=None, help="Print how often our rewards are right.")
@data_option
@split_option
@dialect_option
@more_option
@explained
def write_pairs(
    id: str,
    count: int,
    seed: int,
    kinds: tuple[str, ...],
    out: Path,
    score: str | None,
    data: str,
    split: str,
    dialect: str | None,
    more: dict[str, Any],
) -> None:
    """Right actions beside near misses of them, to measure reward models with."""
    from callgym.trainers import near_misses as benchmark

    find_environment(id)
    options = {"data": data, "split": split, "dialect": dialect, **more}
    pairs = list(benchmark.near_misses(id, count, seed, kinds or None, **options))
    click.echo(f"{benchmark.write_near_misses(out, pairs)} pairs in {out}")
    if score is not None:
        scorers = benchmark.rule_scorers(id, **options)
        results = {name: benchmark.accuracy_by_kind(pairs, scorer) for name, scorer in scorers.items()}
        click.echo(benchmark.accuracy_table(results))


def _play(id: str, policy: str, task: Any, options: dict[str, Any]) -> Any:
    from callgym.rollouts.policy import get_policy
    from callgym.rollouts.runner import run_episodes

    result = run_episodes(id, get_policy(policy), episodes=1, env_options={**options, "data": [task]})
    return result.episodes[0]


def _make(id: str, **options: Any) -> Any:
    from callgym.envs.base import make_tool_env

    find_environment(id)
    return make_tool_env(id, **options)


@main.command()
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--dialect", default="auto", show_default=True, help="How calls are written.")
@click.option("--lines", is_flag=True, help="FILE is JSON Lines: a text, or an object with 'action', in each.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object an action.")
@explained
def parse(file: Any, dialect: str, lines: bool, as_json: bool) -> None:
    """Read an action, FILE or - for standard input, as an environment would; exit status 1 where it holds a fault."""
    from callgym.action_report import action_as_json, action_as_text, read_actions
    from callgym.dialects import get_dialect

    reader = get_dialect(dialect)
    faulty = False
    for number, text in enumerate(read_actions(file, lines)):
        if as_json:
            click.echo(json.dumps(action_as_json(text, reader), ensure_ascii=False))
        else:
            click.echo(("\n" if number else "") + action_as_text(text, reader))
        faulty = faulty or bool(reader.parse(text).errors)
    if faulty:
        raise SystemExit(1)
