"""The viewer's page of 20,000 episodes: ``python benchmarks/viewer.py [--episodes N] [--keep FOLDER]``.

Plays 20,000 episodes of mixed ids on starter data, two runs of the same tasks by several scripted policies, and writes
their page. Printed: its size, the time to write it as a multiple of what ``json.loads`` alone needs for the same lines,
the memory of a process that writes it, and, where Playwright and Chromium are there, how long a browser takes until the
list is shown and can be used. Limits: 40 MB and 3 seconds; a larger page is an error, a slow one may be the machine's.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from callgym.rollouts.episodes import write_episode
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import Rollouts
from callgym.viewer.page import MOST_BYTES, write_page

SECONDS_LIMIT = 3.0
IDS: tuple[tuple[str, dict[str, str]], ...] = (
    ("apibank/L1-v0", {}),
    ("apibank/L1-v0", {"protocol": "dialogue"}),
    ("apibank/L2-v0", {}),
    ("apibank/L3-v0", {"protocol": "dialogue"}),
    ("bfcl/simple_python-v0", {}),
    ("bfcl/live_multiple-v0", {}),
    ("bfcl/parallel_multiple-v0", {}),
    ("bfcl/irrelevance-v0", {}),
    ("bfcl/multi_turn_base-v0", {}),
    ("when2call/open-v0", {}),
)
RUNS = {"before": ("random", "abstain"), "after": ("oracle", "random")}
"""Run to the policies that play it in turn."""


def play(folder: Path, episodes: int) -> list[Path]:
    """Two files with half of the episodes each, ids one after another."""
    paths = []
    for run, policies in RUNS.items():
        path = folder / f"{run}.jsonl"
        share = max(1, episodes // (len(RUNS) * len(IDS) * len(policies)))
        with path.open("w", encoding="utf-8", newline="\n") as file:
            index = 0
            for id, options in IDS:
                for policy in policies:
                    env_options = {"data": "starter", **options}
                    with Rollouts(id, get_policy(policy), env_options=env_options) as rollouts:
                        for played in rollouts.stream(range(share)):
                            assert played.episode is not None
                            write_episode(file, index, policy, played.episode)
                            index += 1
        paths.append(path)
    return paths


def read_alone(paths: list[Path]) -> float:
    """Seconds of CPU time that ``json.loads`` takes for every line."""
    begun = time.process_time()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return time.process_time() - begun


def memory_of_writing(paths: list[Path], page: Path) -> float:
    """Most MB that a process of its own has at once when it writes the page."""
    code = (
        "import resource, sys; from callgym.viewer.page import write_page; write_page(sys.argv[2:], sys.argv[1]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(page), *map(str, paths)], check=True, capture_output=True, text=True
    )
    return float(done.stdout.split()[-1])


def opening_seconds(page: Path) -> list[float] | None:
    """Seconds from the start of a navigation until the list can be used, by the page's own clock; None without a
    browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser_path is None:
        return None
    return list(_openings(page, browser_path, sync_playwright))


def _openings(page: Path, browser_path: str, sync_playwright: object) -> Iterator[float]:
    with sync_playwright() as playwright:  # type: ignore[operator]
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for _ in range(3):
            tab = browser.new_page()
            tab.goto(page.as_uri(), wait_until="commit")
            tab.wait_for_selector("html[data-ready='true']", state="attached", timeout=120_000)
            yield tab.evaluate("performance.now()") / 1000
            tab.close()
        browser.close()


def main() -> None:
    """Play, write, open, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="A folder for the files; what lies there is used again.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{run}.jsonl" for run in RUNS]
        if not all(path.exists() for path in paths):
            paths = play(folder, arguments.episodes)
        report(paths, folder / "view.html")


def report(paths: list[Path], page: Path) -> None:
    """Measure and print."""
    size = sum(path.stat().st_size for path in paths)
    alone, writing = [], []
    for _ in range(2):
        gc.collect()
        alone.append(read_alone(paths))
        begun = time.process_time()
        summary = write_page(paths, page)
        writing.append(time.process_time() - begun)
    print(f"episodes          {summary.episodes:>10,}   of {len(IDS)} ids, {size / 1e6:.1f} MB of episode files")
    print(f"goals found       {summary.gold:>10,}   texts cut: {summary.cut}")
    print(f"page              {summary.bytes / 1e6:>10.1f} MB   limit {MOST_BYTES / 1e6:.0f}")
    times = min(writing) / min(alone)
    print(f"written           {times:>10.1f} times json.loads of the lines ({min(writing):.1f} s of CPU time)")
    print(f"memory            {memory_of_writing(paths, page):>10.0f} MB, of that process as a whole")
    seconds = opening_seconds(page)
    if seconds is None:
        print("opened               no Playwright or no Chromium here")
    else:
        over = ", over it in this run" if statistics.median(seconds) > SECONDS_LIMIT else ""
        print(f"opened            {statistics.median(seconds):>10.2f} s    limit {SECONDS_LIMIT:.0f}{over}")
    if summary.bytes > MOST_BYTES:
        sys.exit("the page is larger than its limit")


if __name__ == "__main__":
    main()
