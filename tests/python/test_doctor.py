"""``ssdlab doctor`` says what is there and what it is for."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib

import pytest
from command import ROOT, Ssdlab

from ssdlab import __version__, _native
from ssdlab.arrow import INSTALL
from ssdlab.cli import doctor


def test_versions_cores_memory_and_parts_are_printed(ssdlab: Ssdlab) -> None:
    done = ssdlab("doctor")
    assert (done.code, done.err) == (0, "")
    found = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in done.out.splitlines())
    assert found["ssdlab"].startswith(f"{__version__}, in /")
    assert found["build"].startswith(f"{_native.PROFILE} profile, ")
    assert re.match(r"[1-9]\d* for this process", found["cores"])
    assert re.match(r"\d+\.\d GB are left \(.+\)$", found["memory"])
    for name in ("numpy", "scipy", "altair", "pyarrow"):
        assert found[name].startswith(importlib.metadata.version(name)), name
        assert found[name].endswith(")"), name
    assert found["reproduction"].startswith("found ")


def test_a_part_that_is_missing_is_named_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", version)
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    found = dict(doctor._packages())
    line = f"not installed: {INSTALL} (Comparison.to_arrow())"
    assert found["pyarrow"] == line
    assert found["scipy"] == "not installed: pip install scipy (fit)"
    assert found["reproduction"].startswith("not installed: pip install ./reproduction")


def test_the_command_for_tables_has_the_version_of_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = project["optional-dependencies"]["arrow"]
    assert f"'{needed}'" in INSTALL


@pytest.mark.parametrize(("profile", "advice"), [("dev", "make install"), ("release", "speed")])
def test_a_slower_build_is_named_with_the_command_for_a_faster_one(
    monkeypatch: pytest.MonkeyPatch, profile: str, advice: str
) -> None:
    monkeypatch.setattr(_native, "PROFILE", profile)
    assert advice in dict(doctor._machine())["build"]


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "memory_left", lambda: None)
    monkeypatch.setattr("resource.getrlimit", lambda _: (5_000_000_000, 0))
    found = dict(doctor._machine())
    assert found["memory"] == "not reported by the system"
    assert found["addresses"] == "5.0 GB (ulimit -v)"
