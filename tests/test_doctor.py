"""``callgym doctor`` says what is there and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from callgym import doctor
from callgym.cli import main
from callgym.data import cache_folder


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


def test_the_report_for_people_and_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_gpu", lambda: "Some GPU")
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "matplotlib" else "1.0")
    (cache_folder() / "bfcl").mkdir(parents=True)
    words = CliRunner().invoke(main, ["doctor"])
    assert words.exit_code == 0
    assert "Some GPU" in words.output
    assert "viz: pip install 'callgym[viz]' for what is missing" in words.output
    assert "callgym fetch apibank" in words.output
    assert "callgym fetch bfcl" not in words.output
    told = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).output)
    assert told["data"]["apibank"] is None
    assert Path(told["data"]["bfcl"]).is_dir()
    assert {"extra": "viz", "name": "matplotlib", "wanted": ">=3.8", "found": None} in told["packages"]
