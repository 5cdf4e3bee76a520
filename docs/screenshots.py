"""The pictures of README and documentation, taken in a headless Chromium: ``python docs/screenshots.py``.

Two policies that are right now and then play starter tasks, seeded, so that the pictures show the same at every run.
Pages that other commands write can be given, and have their pictures taken too::

    python docs/screenshots.py --report report.html --site site/index.html
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from playwright.sync_api import Browser, Page, sync_playwright

from callgym import ToolCall
from callgym.envs.base import ToolEnv
from callgym.rollouts.policy import Situation
from callgym.rollouts.runner import run_episodes
from callgym.viewer.page import write_page

PICTURES = Path(__file__).parent / "pictures"
PLAYED: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("apibank/L1-v0", 80, {}),
    ("apibank/L3-v0", 30, {"protocol": "dialogue"}),
    ("bfcl/parallel-v0", 50, {}),
    ("when2call/open-v0", 40, {}),
)
WINDOW = (1280, 800)
Show = Callable[[Page], object]


class CarelessPolicy:
    """Does what is asked for, but for a share of its actions, in which something is wrong."""

    def __init__(self, name: str, care: float) -> None:
        """Take the name, and the share of actions that are right."""
        self.name = name
        self._care = care

    def act(self, situations: Sequence[Situation]) -> list[str]:
        """One action a situation, by its seed alone."""
        return [self._action(situation.env, random.Random(situation.seed)) for situation in situations]

    def close(self) -> None:
        """Nothing to give back."""

    def _action(self, env: Any, dice: random.Random) -> str:
        assert isinstance(env, ToolEnv)
        right = env.oracle_action()
        if dice.random() < self._care:
            return right
        calls = list(env.dialect.parse(right).calls)
        if not calls:
            return "I am not sure."
        if dice.random() < 0.08:
            return right[: len(right) * 2 // 3]
        at = dice.randrange(len(calls))
        calls[at] = _spoiled(calls[at], dice)
        if len(calls) > 1 and dice.random() < 0.3:
            del calls[dice.randrange(len(calls))]
        return env.dialect.render_action(calls)


def _spoiled(call: ToolCall, dice: random.Random) -> ToolCall:
    """The call with one argument changed, left out, or too many."""
    arguments = dict(call.arguments)
    name = dice.choice(sorted(arguments)) if arguments else None
    kind = dice.choice(("change", "change", "leave out", "add"))
    if name is None or kind == "add":
        arguments["note"] = "as soon as possible"
    elif kind == "leave out":
        del arguments[name]
    else:
        value = arguments[name]
        arguments[name] = value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else "tomorrow"
    return ToolCall(name=call.name, arguments=arguments)


def play(folder: Path) -> list[Path]:
    """Files of two runs over the same tasks, before and after."""
    files = []
    for name, care in (("before", 0.45), ("after", 0.85)):
        files.append(folder / f"{name}.jsonl")
        with files[-1].open("w", encoding="utf-8") as out:
            lines = [line for id, count, options in PLAYED for line in _lines(folder, name, care, id, count, options)]
            for index, line in enumerate(lines):
                out.write(json.dumps({**line, "index": index}) + "\n")
    return files


def _lines(folder: Path, name: str, care: float, id: str, count: int, options: dict[str, Any]) -> list[dict[str, Any]]:
    part = folder / f"{name}.part"
    run_episodes(
        id,
        CarelessPolicy(name, care),
        episodes=count,
        env_options={"data": "starter", **options},
        out=part,
        progress=False,
        resume=False,
    )
    return [json.loads(line) for line in part.read_text(encoding="utf-8").splitlines()]


def take(
    browser: Browser, page: Path, picture: str, *, fragment: str = "", show: Show | None = None, height: int = WINDOW[1]
) -> None:
    """A picture of a page.

    Args:
        browser: What shows it.
        page: The HTML file.
        picture: Name of the picture, in ``docs/pictures``.
        fragment: What follows the file in the address.
        show: What to do before the picture is taken.
        height: Of the window, in pixels.
    """
    tab = browser.new_page(viewport={"width": WINDOW[0], "height": height}, reduced_motion="reduce")
    tab.goto(page.resolve().as_uri() + fragment)
    tab.wait_for_load_state("load")
    if show is not None:
        show(tab)
    tab.wait_for_timeout(300)
    PICTURES.mkdir(exist_ok=True)
    tab.screenshot(path=PICTURES / picture)
    tab.close()
    click.echo(f"docs/pictures/{picture}")


def viewer(browser: Browser, page: Path, files: Sequence[Path]) -> None:
    """The four pictures of ``callgym view``."""
    before = [json.loads(line) for line in files[0].read_text(encoding="utf-8").splitlines()]
    episode = next(at for at, line in enumerate(before) if _is_telling(line))
    take(browser, page, "viewer_list.png", fragment="#sort=return.up&error=any", show=_ready)
    take(browser, page, "viewer_episode.png", fragment=f"#open={episode}", show=_opened, height=1420)
    take(
        browser,
        page,
        "viewer_compare.png",
        fragment="#view=compare&order=difference.down",
        show=_open_pair,
        height=1100,
    )
    take(browser, page, "viewer_charts.png", fragment="#view=charts", show=_ready, height=1140)


def _is_telling(line: dict[str, Any]) -> bool:
    """Whether the episode is short and several verdicts occur in it, one of them of an argument left out or added."""
    turns = line["rewards"].get("call_exact_match", {}).get("explanation", {}).get("turns", [])
    verdicts = {verdict for turn in turns for pair in turn["matched"] for verdict in pair["arguments"].values()}
    return len(line["steps"]) == 1 and len(verdicts) > 1 and not verdicts.isdisjoint(("extra", "missing"))


def _ready(page: Page) -> None:
    page.wait_for_selector("html[data-ready='true']", state="attached")


def _opened(page: Page) -> None:
    _ready(page)
    page.wait_for_selector(".episode")


def _open_pair(page: Page) -> None:
    _ready(page)
    page.locator(".list.pairs .rows .row").first.click()
    page.wait_for_selector(".pair")


def _chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CALLGYM_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise click.ClickException(f"no browser: install one of {', '.join(names)}, or name it in CALLGYM_CHROMIUM")
    return found


@click.command()
@click.option(
    "--report", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A page of callgym report."
)
@click.option("--site", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A page of the site.")
def main(report: Path | None, site: Path | None) -> None:
    """Take the pictures of README and documentation."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        files = play(folder)
        write_page(files, folder / "view.html", title="before and after")
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        viewer(browser, folder / "view.html", files)
        for given, picture in ((report, "report.png"), (site, "site.png")):
            if given is not None:
                take(browser, given, picture)
        browser.close()


if __name__ == "__main__":
    main()
