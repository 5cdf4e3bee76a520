"""The examples run as they stand."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from callgym import check_tool_env
from callgym.rollouts.policy import get_policy
from callgym.rollouts.runner import run_episodes

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def run(*command: str | Path, cwd: Path) -> str:
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# A custom environment.


def test_the_custom_environment_prints_an_episode(tmp_path: Path) -> None:
    text = run(EXAMPLES / "custom_env.py", cwd=tmp_path)
    assert text.startswith("episode of pantry/Small-v0, task pantry/both, seed 0")
    assert text.count("--- action") == 4
    assert "terminated; return 1.000" in text
    assert list(tmp_path.iterdir()) == []


def test_the_custom_environment_works_with_policies_and_dialects() -> None:
    module = load("custom_env")
    try:
        check_tool_env(gym.make("pantry/Small-v0", dialect="apibank", disable_env_checker=True))
        for name, expected in (("oracle", 1.0), ("echo", 0.0), ("abstain", 0.0)):
            result = run_episodes("pantry/Small-v0", get_policy(name), episodes=3, progress=False)
            assert result.summary.return_mean == expected
        env: Any = gym.make("pantry/Small-v0").unwrapped
        env.reset(options={"task": "pantry/take"})
        action = env.dialect.render_action([module._call("Take", item="plums", amount=99)[0].reference()])
        *_, info = env.step(action)
        assert info["results"][0].message == "There is not so much plums."
    finally:
        del gym.registry["pantry/Small-v0"]


# GRPO in the open.


def test_every_argument_of_train_grpo_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("trl")
    module = load("train_grpo")
    assert module.parse_arguments([]) == module.Arguments()
    given = module.parse_arguments(["--learning-rate", "1e-3", "--out", "x", "--eval-episodes", "5"])
    assert (given.learning_rate, given.out, given.eval_episodes) == (1e-3, "x", 5)
    with pytest.raises(SystemExit, match="0"):
        module.parse_arguments(["--help"])
    text = capsys.readouterr().out
    for name in module.Arguments.__dataclass_fields__:
        assert re.search(rf"--{name.replace('_', '-')} \S+\s+[a-z]", text), name


@pytest.mark.slow
def test_train_grpo_trains_and_saves(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
    from callgym.trainers.warmup import oracle_texts

    texts = oracle_texts("apibank/L1-v0", limit=50, data="starter", dialect="apibank-short", split="test")
    model, tokenizer = build_tiny_policy(texts, TinyPolicyConfig(vocabulary=500, hidden=32, layers=1, heads=2))
    model.save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    options = {
        "model": "tiny", "data": "starter", "dialect": "apibank-short", "out": "run", "steps": 2, "batch": 8,
        "micro-batch": 4, "group": 4, "max-new-tokens": 6, "eval-episodes": 6, "learning-rate": 1e-3, "seed": 1,
        "train-split": "test",  # a tenth of the training tasks, which take seconds to make
    }  # fmt: skip
    words = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    text = run(EXAMPLES / "train_grpo.py", *words, cwd=tmp_path)
    for name in ("before", "after"):
        (line,) = [line for line in text.splitlines() if line.startswith(f"{name}: ")]
        summary = json.loads(line.partition(": ")[2])
        assert summary["episodes"] == 6
        assert math.isfinite(summary["return_mean"])
        assert len((tmp_path / f"run/episodes_{name}.jsonl").read_text(encoding="utf-8").splitlines()) == 6
    assert text.count("rewards/episode_return/mean") == 2
    policy = get_policy(f"hf:{tmp_path / 'run/model'}", max_new_tokens=4)
    result = run_episodes(
        "apibank/L1-v0", policy, episodes=2, env_options={"data": "starter", "dialect": "apibank-short"}, progress=False
    )
    assert result.summary.unknown == 0


@pytest.mark.slow
def test_the_demo_leaves_what_the_readme_promises(tmp_path: Path) -> None:
    """The whole path with a few steps: whether the policy learns is what `make demo` shows, not this."""
    words = [
        "--warmup-tasks",
        "300",
        "--copy-steps",
        "2",
        "--warmup-steps",
        "2",
        "--careless-steps",
        "2",
        "--grpo-steps",
        "1",
        "--episodes",
        "6",
    ]
    demo = Path(__file__).parents[1] / "examples" / "demo.py"
    command = [sys.executable, str(demo), "--out", str(tmp_path), *words]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    left = {path.name for path in tmp_path.iterdir()}
    promised = {"learning_curve.png", "summary_before.json", "summary_after.json", "episodes.txt", "table.txt"}
    assert promised <= left
    summary = json.loads((tmp_path / "summary_after.json").read_text(encoding="utf-8"))
    assert summary["episodes"] == 6
    assert 0.0 <= summary["return_mean"] <= 1.0
    assert "AFTER" in (tmp_path / "episodes.txt").read_text(encoding="utf-8")
