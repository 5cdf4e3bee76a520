"""Rollouts beside other frameworks, on an equal task: ``python benchmarks/rollouts_peers.py --install``.

One episode is two actions: a call of a tool with JSON arguments, then an answer that is right or wrong
(``benchmarks/peers/equal_task.py``). Each framework plays it through its own public interface, in its own virtual
environment, in a process of its own, against a script that costs nothing. They take turns, so that what else the
machine does falls on all; the fastest of many short rounds of each counts. The ratio to CallGym's bare loop is one of
processor time, a server's included. What an episode of each includes is printed too: they do not all do the same.

Then the memory that episodes add, kept and dropped; and what CallGym's episodes cost as a run grows to 100,000.
Nothing is held against a limit. A framework that is not installed is listed with the command that installs it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import venv
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "peers"
ROUND_SECONDS = 0.06
WARM_UP = 200
MEMORY_SECONDS = 3.0
INSTALL_SECONDS = 300
BARE, RUNNER = "callgym", "callgym runner"


@dataclass(frozen=True)
class Peer:
    """One way to play the task."""

    name: str
    script: str
    variant: str = ""
    requirement: str = ""
    """What is installed for it; empty where it runs with CallGym itself."""
    least: int = 50
    """Fewest episodes of a round."""

    def folder(self, peers: Path) -> Path:
        """Its virtual environment."""
        return peers / self.requirement.partition("==")[0]

    def python(self, peers: Path) -> Path:
        """The interpreter that it runs in."""
        return self.folder(peers) / "bin" / "python" if self.requirement else Path(sys.executable)

    def install_command(self, peers: Path) -> str:
        """What a person types where it is not there."""
        folder = self.folder(peers)
        return f"python -m venv {folder} && {folder}/bin/pip install {self.requirement}"

    def command(self, peers: Path) -> list[str]:
        """How it is started."""
        return [str(self.python(peers)), str(SCRIPTS / self.script), *([self.variant] if self.variant else [])]


# reasoning-gym installs too, but has no tools and no second turn: the task cannot be played in it.
PEERS = (
    Peer(BARE, "callgym_peer.py", "bare"),
    Peer("callgym, calls scored", "callgym_peer.py", "calls"),
    Peer(RUNNER, "callgym_peer.py", "runner", least=2_000),  # it makes 32 environments first
    Peer("gem-llm", "gem_peer.py", requirement="gem-llm==0.1.0"),
    Peer("skyrl-gym", "skyrl_peer.py", requirement="skyrl-gym==0.4.0"),
    Peer("verifiers", "verifiers_peer.py", requirement="verifiers==0.1.8"),
    Peer("openenv", "openenv_peer.py", "typed", "openenv==0.10.0"),
    Peer("openenv, MCP tools", "openenv_peer.py", "tools", "openenv==0.10.0"),
    Peer(
        "openenv, served", "openenv_peer.py", "served", "openenv==0.10.0", least=200
    ),  # its time comes in ticks of 10 ms
)


class Player:
    """A process that plays episodes when told to."""

    def __init__(self, peer: Peer, peers: Path) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        if peer.requirement:
            environment.pop("PYTHONPATH", None)
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed in close)
        self._process = subprocess.Popen(
            peer.command(peers),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            env=environment,
        )

    def hello(self) -> dict[str, Any]:
        """What it includes, and what it made of a few odd episodes: its first words."""
        return self._reply()

    def play(self, episodes: int, *, keep: bool = False) -> dict[str, Any]:
        """Play, and say what it took.

        Raises:
            RuntimeError: It ended, or an episode was not scored as right.
        """
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # where it ended, its last words are still to be read
            self._process.stdin.write(json.dumps({"episodes": episodes, "keep": keep}) + "\n")
            self._process.stdin.flush()
        outcome = self._reply()
        if outcome["right"] != episodes:
            raise RuntimeError(f"{outcome['right']} of {episodes} episodes were scored as right; all of them are")
        return outcome

    def close(self) -> None:
        """Let it end: it does so where its commands end."""
        self._process.communicate(timeout=60)
        self._complaints.close()

    def _reply(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self._complaints.seek(0)
            last = (self._complaints.read().strip().splitlines() or ["nothing"])[-1]
            raise RuntimeError(f"the player ended with status {status} and said: {last}")
        reply: dict[str, Any] = json.loads(line)
        return reply


def install(peers: Path) -> None:
    """Make the virtual environments that are not there yet."""
    for requirement in dict.fromkeys(peer.requirement for peer in PEERS if peer.requirement):
        folder = peers / requirement.partition("==")[0]
        if (folder / "bin" / "python").exists():
            continue
        print(f"installing {requirement} in {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        command = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", requirement]
        try:
            subprocess.run(command, check=True, timeout=INSTALL_SECONDS, stdout=sys.stderr)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{requirement} did not install: {error}", file=sys.stderr)
            (folder / "bin" / "python").unlink()  # half an environment is none


def measure(peers: Path, present: list[Peer], rounds: int, kept: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Time and memory of each player, taken in turn; and what failed."""
    rows: dict[str, Any] = {}
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        players: dict[str, tuple[Player, int]] = {}

        def attempt(name: str, action: Callable[[], None]) -> None:
            """One that fails keeps no other from being measured."""
            try:
                action()
            except RuntimeError as error:
                failed[name] = str(error)
                players.pop(name, None)
                rows.pop(name, None)

        for peer in present:
            attempt(peer.name, partial(_begin, peer, peers, stack, players, rows))
        for _ in range(rounds):
            for name, (player, episodes) in list(players.items()):
                attempt(name, partial(_play_round, player, rows[name], episodes))
        for name, (player, _) in list(players.items()):
            # A runner holds its episodes itself, so there its rounds say nothing of memory: see the runs by size.
            attempt(name, partial(_finish, player, rows[name], 0 if name == RUNNER else kept))
    return rows, failed


def _begin(
    peer: Peer, peers: Path, stack: ExitStack, players: dict[str, tuple[Player, int]], rows: dict[str, Any]
) -> None:
    player = Player(peer, peers)
    stack.callback(player.close)
    row = {**player.hello(), "rounds": []}
    player.play(WARM_UP)
    seconds = player.play(WARM_UP)["seconds"] / WARM_UP
    players[peer.name] = player, max(peer.least, int(ROUND_SECONDS / seconds))
    rows[peer.name] = row


def _play_round(player: Player, row: dict[str, Any], episodes: int) -> None:
    row["rounds"].append(player.play(episodes))


def _finish(player: Player, row: dict[str, Any], kept: int) -> None:
    """The fastest round; and the KB that an episode adds, dropped (over the rounds but the first) and kept."""
    rounds = row.pop("rounds")
    seconds = min(played["seconds"] / played["episodes"] for played in rounds)
    cpu_seconds = min(played["cpu_seconds"] / played["episodes"] for played in rounds)
    row["cpu_microseconds"], row["microseconds"] = cpu_seconds * 1e6, seconds * 1e6
    if not kept:
        return
    dropped = sum(played["episodes"] for played in rounds[1:])
    added = rounds[-1]["rss_mb_after"] - rounds[0]["rss_mb_after"]
    kept = min(kept, int(MEMORY_SECONDS / seconds))
    outcome = player.play(kept, keep=True)
    row["episodes_dropped"], row["kb_dropped"] = dropped, added * 1024 / dropped
    row["episodes_kept"] = kept
    row["kb_kept"] = (outcome["rss_mb_after"] - outcome["rss_mb_before"]) * 1024 / kept


def measure_growth(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """CallGym's cost as a run grows, each in a fresh process."""
    rows = []
    for mode in ("bare", "runner", "file"):
        for size in sizes:
            command = [sys.executable, str(SCRIPTS / "callgym_peer.py"), "grow", mode, str(size)]
            rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return rows


def print_rows(rows: dict[str, Any]) -> None:
    """The table of frameworks, and what an episode of each includes."""
    base = rows[BARE]["cpu_microseconds"] if BARE in rows else None
    print(f"\n{'':24}{'CPU us':>9}{'ratio':>8}{'us':>9}{'KB kept':>9}{'KB dropped':>12}  wrong type refused")
    for name, row in rows.items():
        ratio = f"{row['cpu_microseconds'] / base:8.2f}" if base else f"{'':8}"
        memory = f"{row['kb_kept']:9.2f}{row['kb_dropped']:12.3f}" if "kb_kept" in row else f"{'-':>9}{'-':>12}"
        times = f"{row['cpu_microseconds']:9.1f}{ratio}{row['microseconds']:9.1f}"
        print(f"{name:24}{times}{memory}  {_refused(row['probe'])}")
    print("\nWhat an episode includes")
    for name, row in rows.items():
        includes = row["includes"]
        words = "; ".join(f"{key}: {includes[key]}" for key in ("plays", "call", "record", "scoring"))
        print(textwrap.fill(f"{name} ({includes['version']}): {words}.", 118, subsequent_indent="    "))


def print_growth(rows: list[dict[str, Any]]) -> None:
    """The table of CallGym's runs by size."""
    print(
        f"\n{'CallGym, by size':18}{'episodes':>9}{'us/episode':>12}{'KB/episode':>12}{'file KB':>9}{'summary us':>12}"
    )
    for row in rows:
        count = row["episodes"]
        file = f"{row['file_mb'] * 1024 / count:9.2f}" if row["file_mb"] else f"{'-':>9}"
        summary = f"{row['summary_seconds'] / count * 1e6:12.2f}" if row["summary_seconds"] else f"{'-':>12}"
        added = row["rss_mb_added"] * 1024 / count
        print(f"{row['mode']:18}{count:9,}{row['seconds'] / count * 1e6:12.1f}{added:12.3f}{file}{summary}")


def _refused(probe: dict[str, Any]) -> str:
    if probe["right_ran"] == 0:
        return "not seen from here"  # the tool ran in another process
    return "no: the tool ran" if probe["bad_call_ran"] else "yes"


def main() -> None:
    """Print the tables, and everything as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=Path("runs/peers"), help="folder of the virtual environments")
    parser.add_argument("--install", action="store_true", help="make those that are not there")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    options = parser.parse_args()
    if options.install:
        install(options.peers)
    present = [peer for peer in PEERS if peer.python(options.peers).exists()]
    rounds, kept = (5, 1_000) if options.quick else (options.rounds, 10_000)
    rows, failed = measure(options.peers, present, rounds, kept)
    print_rows(rows)
    growth = measure_growth((1_000, 10_000) if options.quick else (1_000, 10_000, 100_000))
    print_growth(growth)
    absent = {peer.name: peer for peer in PEERS if peer not in present}
    for name, peer in absent.items():
        print(f"{name} is not there: {peer.install_command(options.peers)}")
    for name, reason in failed.items():
        print(f"{name} failed: {reason}")
    print(json.dumps({"rows": rows, "growth": growth, "absent": list(absent), "failed": failed}))


if __name__ == "__main__":
    main()
