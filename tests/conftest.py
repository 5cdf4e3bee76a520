"""What all tests share: where the official benchmark files are, and how hypothesis runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from callgym import data

# The same examples at every run, and no time limit an example: machines differ.
settings.register_profile(
    "callgym", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("callgym")


def _find_official_data() -> Path | None:
    given = os.environ.get("CALLGYM_TEST_DATA")
    if given:
        return Path(given)
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared" / "data").is_dir():
            return parent / "shared" / "data"
    return None


@pytest.fixture(scope="session")
def official_data() -> Path:
    """The folder with the official benchmark files: CALLGYM_TEST_DATA, or shared/data in or above the repository."""
    folder = _find_official_data()
    if folder is None or not folder.is_dir():
        pytest.skip("official benchmark files are not here; CALLGYM_TEST_DATA names their folder")
    return folder


@pytest.fixture(scope="session")
def apibank_data(official_data: Path) -> Path:
    """API-Bank's official files."""
    folder = official_data / "api_bank"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


@pytest.fixture(autouse=True)
def _own_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or changes data that the user has fetched, and each hears the data notice anew."""
    monkeypatch.setenv("CALLGYM_DATA", str(tmp_path / "callgym-cache"))
    monkeypatch.setattr(data, "_announced", set())


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """A Ray cluster of this test process, shared by all its tests."""
    ray = pytest.importorskip("ray")
    if not ray.is_initialized():
        ray.init("local", num_cpus=8, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield ray
    ray.shutdown()
