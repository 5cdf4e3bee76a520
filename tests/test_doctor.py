"""``callgym doctor`` says what is there and what is not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from callgym import doctor
from callgym.cli import main
from callgym.data import cache_folder, install_folder


@pytest.mark.parametrize(
    ("requirement", "package"),
    [
        ("numpy>=1.26", ("core", "numpy", ">=1.26")),
        ("click<9,>=8.1", ("core", "click", "<9,>=8.1")),
        ('torch>=2.6; extra == "train"', ("train", "torch", ">=2.6")),
        ('ray[rllib]<3,>=2.60; extra == "ray"', ("ray", "ray", "<3,>=2.60")),
        ("no-such-package; extra == 'viz'", ("viz", "no-such-package", "")),
    ],
)
def test_requirements_are_read(requirement: str, package: tuple[str, str, str]) -> None:
    [found] = doctor._packages([requirement])
    assert (found.extra, found.name, found.wanted) == package
    assert (found.found is None) == (found.name == "no-such-package") or found.name in ("torch", "ray")


def test_an_extra_of_extras_is_no_package() -> None:
    assert doctor._packages(['callgym[train,viz]; extra == "all"']) == []


def test_every_core_package_is_found_with_its_release() -> None:
    core = {package.name: package for package in doctor.examine().packages if package.extra == "core"}
    assert {"gymnasium", "numpy", "pydantic", "click"} <= core.keys()
    assert all(package.found for package in core.values())


A_GPU = doctor.Compute((doctor.Gpu("Some GPU", 80 << 30, True),), "12.8", None)


def told() -> dict[str, Any]:
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == 0
    (line,) = result.stdout.splitlines()
    value: dict[str, Any] = json.loads(line)
    return value


def test_the_report_for_people_and_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_compute", lambda: A_GPU)
    monkeypatch.setattr(doctor, "_version", lambda name: None if name in ("matplotlib", "ray") else "1.0")
    (cache_folder() / "bfcl").mkdir(parents=True)
    words = CliRunner().invoke(main, ["doctor"])
    assert words.exit_code == 0
    assert "GPU      Some GPU, 80.0 GiB, CUDA 12.8, bfloat16" in words.output
    assert "viz: pip install 'callgym[viz]' for what is missing" in words.output
    assert "Ray      missing; pip install 'callgym[ray]'" in words.output
    assert "output   a pipe or a file, no colours" in words.output
    assert "callgym fetch apibank. Starter tasks are there" in words.output
    found = told()
    assert list(found) == [
        "versions", "cpus", "compute", "ray", "cache", "free_bytes", "output", "packages", "data",
    ]  # fmt: skip
    assert found["compute"]["gpus"] == [{"name": "Some GPU", "memory_bytes": 80 << 30, "bfloat16": True}]
    assert found["cache"] == str(cache_folder())
    assert found["free_bytes"] > 0
    assert found["data"]["apibank"] is None
    assert Path(found["data"]["bfcl"]["folder"]).is_dir()
    assert {"extra": "viz", "name": "matplotlib", "wanted": ">=3.8", "found": None} in found["packages"]


def test_fetched_data_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_compute", lambda: A_GPU)
    part = cache_folder() / ".bfcl.part"
    part.mkdir(parents=True)
    (part / "a.json").write_text("[1]", encoding="utf-8")
    install_folder("bfcl", part)
    whole = told()["data"]["bfcl"]
    assert (whole["files"], whole["whole"], whole["fault"]) == (1, True, None)
    (cache_folder() / "bfcl" / "a.json").write_text("[2]", encoding="utf-8")
    altered = told()["data"]["bfcl"]
    assert (altered["whole"], "a.json was altered" in altered["fault"]) == (False, True)
    assert "a.json was altered" in CliRunner().invoke(main, ["doctor"]).output
    (cache_folder() / "bfcl" / "callgym-manifest.json").unlink()
    assert told()["data"]["bfcl"]["whole"] is None  # nothing says what it should be


def test_without_torch_the_mend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    found = doctor._compute()
    assert found == doctor.Compute((), None, "unknown: torch is not installed; pip install 'callgym[train]'")
