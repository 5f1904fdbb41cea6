"""What ``make fast`` learns from, and what sets two builds side by side."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import builds
import pytest
import train
from click.testing import CliRunner

import ssdlab


def test_every_run_that_is_learned_from_runs() -> None:
    schemes = [ssdlab.run(replace(plan, limit=200)).scheme for plan in train.PLANS]
    families = {scheme.partition("/")[0] for scheme in schemes}
    papers = {"dlv", "qds+ubs", "pv-read", "readguard", "hire", "all-five"}
    assert families == {"conventional", *papers}


def test_two_builds_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    few: dict[str, Any] = {"random": {**builds.CASES["random"], "limit": 1000}}
    few["msr-4k"] = {**builds.CASES["msr-4k"], "limit": 1000}
    monkeypatch.setattr(builds, "CASES", few)
    done = CliRunner().invoke(builds.main, [sys.executable, sys.executable, "--runs", "1"])
    assert done.exit_code == 0, done.output
    rows = [line.split(" | ") for line in done.output.splitlines()[2:]]
    assert [row[0] for row in rows] == ["| `random`", "| `msr-4k`"]
    assert all(0.1 < float(row[-1].strip(" |")) < 10 for row in rows)
    measured = iter([(1.0, 1.0, "a"), (1.0, 1.0, "b")])
    monkeypatch.setattr(builds, "rates", lambda *_: next(measured))
    done = CliRunner().invoke(builds.main, [sys.executable, sys.executable, "--runs", "1"])
    assert (done.exit_code, "random: results differ" in done.output) == (1, True)


@pytest.mark.parametrize("wrong", ["/bin/true", "/bin/false", __file__])
def test_a_python_without_ssdlab_is_reported_in_a_line(wrong: str) -> None:
    done = CliRunner().invoke(builds.main, [wrong, wrong, "--runs", "1"])
    assert done.exit_code == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"Error: {wrong}: got ")
    assert last.endswith(", expected a Python with ssdlab")


def test_every_case_is_a_plan() -> None:
    for plan in builds.CASES.values():
        ssdlab.Plan(**plan)
