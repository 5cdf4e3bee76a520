"""The benchmark beside other frameworks: its players, with those that need nothing but CallGym."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "rollouts_peers.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rollouts_peers", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rollouts_peers"] = module
    spec.loader.exec_module(module)
    return module


def peer(benchmark: ModuleType, name: str) -> Any:
    return next(peer for peer in benchmark.PEERS if peer.name == name)


@pytest.mark.parametrize(
    ("name", "wrong_answer", "refused_call"),
    [("callgym", 0.0, 1.0), ("callgym, calls scored", 0.5, 0.5), ("callgym runner", 0.0, 1.0)],
)
def test_a_player_scores_what_it_plays(
    benchmark: ModuleType, tmp_path: Path, name: str, wrong_answer: float, refused_call: float
) -> None:
    player = benchmark.Player(peer(benchmark, name), tmp_path)
    try:
        probe = player.hello()["probe"]
        played = player.play(150, keep=True)
    finally:
        player.close()
    assert probe["right"] == 1.0
    assert probe["wrong"] == wrong_answer
    assert probe["bad_call"] == refused_call
    assert (probe["right_ran"], probe["bad_call_ran"]) == (1, 0)  # a wrong type never reaches the tool
    assert (played["episodes"], played["right"], played["kept"]) == (150, 150, 150)


def test_a_player_that_fails_is_named_with_its_last_words(benchmark: ModuleType, tmp_path: Path) -> None:
    broken = benchmark.Peer("broken", "callgym_peer.py", "no such variant")
    rows, failed = benchmark.measure(tmp_path, [broken], rounds=1, kept=1)
    assert rows == {}
    assert "KeyError: 'no such variant'" in failed["broken"]


@pytest.mark.parametrize("mode", ["bare", "runner", "file"])
def test_a_run_of_a_size_is_measured(mode: str) -> None:
    command = [sys.executable, str(BENCHMARK.parent / "peers" / "callgym_peer.py"), "grow", mode, "40"]
    row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert (row["mode"], row["episodes"]) == (mode, 40)
    assert (row["file_mb"] is not None) == (mode == "file")
    assert (row["summary_seconds"] is None) == (mode == "bare")


def test_a_framework_that_is_absent_comes_with_its_command(benchmark: ModuleType, tmp_path: Path) -> None:
    gem = peer(benchmark, "gem-llm")
    assert not gem.python(tmp_path).exists()
    folder = tmp_path / "gem-llm"
    assert gem.install_command(tmp_path) == f"python -m venv {folder} && {folder}/bin/pip install gem-llm==0.1.0"
