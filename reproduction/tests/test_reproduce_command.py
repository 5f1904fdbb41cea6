"""The command `ssdlab reproduce`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from claim_cases import COUNTS
from command import COMMAND, Ssdlab

import ssdlab as lab
from ssdlab import api
from ssdlab_reproduction import ledger, ledger_text, registry, runs
from ssdlab_reproduction.claim import Verdict
from ssdlab_reproduction.ledger import reproduce
from ssdlab_reproduction.scope import Scope

SYSTEM = (
    "claim or system: got 'hier', expected dlv, pa-ssd, pv-read, readguard, hire, all or "
    "claims such as R14"
)


NO_FOLDER = "--traces: cannot read 'nowhere': No such file or directory"


NO_TRACE = "--traces: no trace in '.': expected files called as the traces are, such as hm_0.csv.gz"


def test_a_system_is_recomputed_by_one_command(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab("reproduce", "hire", "--quick", "--out", "ledger")
    assert done.code == 0, done.err
    assert "5 claims: " in done.out
    out = tmp_path / "ledger"
    data = json.loads((out / "ledger.json").read_text())
    assert [row["claim"]["id"] for row in data["rows"]] == [f"H{nth}" for nth in range(1, 6)]
    # The figure is that of the runs that a user would make.
    base, hire = (
        lab.run(
            device="hire-mlc-128g", scheme=f"hire/{name}", workload="hire/stg1", limit=100_000
        ).read.latency_us.mean
        for name in ("baseline", "hire")
    )
    assert data["rows"][0]["ours"][1]["mean"] == pytest.approx(100 * (hire / base - 1))
    assert "| **H1** |" in (out / "ledger.md").read_text()
    assert "HIRE, Fig. 3" in (out / "report.html").read_text()
    for number in (3, 4, 5):
        assert (out / f"hire-fig-{number}.pdf").read_bytes().startswith(b"%PDF")
    again = ssdlab("reproduce", "hire", "--quick", "--out", "ledger")
    assert again.out == done.out


def test_single_claims_are_recomputed(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab("reproduce", "h4", "D12", "--quick", "--out", "ledger")
    assert done.code == 0, done.err
    out = tmp_path / "ledger"
    data = json.loads((out / "ledger.json").read_text())
    assert [row["claim"]["id"] for row in data["rows"]] == ["D12", "H4"]
    # Figures of the papers are drawn of whole systems.
    assert not list(out.glob("*.pdf"))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("hier",), f'{SYSTEM} (did you mean "hire"?)'),
        (("hire", "h6"), "got 'h6'"),
        (("hire", "--traces", "nowhere"), NO_FOLDER),
        (("hire", "--traces", "."), NO_TRACE),
        (("hire", "--traces", ""), "--traces: got '', expected a folder"),
        (("hire", "--jobs", "0"), "--jobs"),
        (("hire", "--out", ""), "--out: got '', expected a folder"),
        (("hire", "--out", "/proc/here"), "--out: cannot write '/proc/here'"),
    ],
)
def test_wrong_options_are_reported_in_a_line(
    ssdlab: Ssdlab, tmp_path: Path, arguments: tuple[str, ...], line: str
) -> None:
    done = ssdlab("reproduce", *arguments)
    assert done.code == 2
    assert line in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_ledger_that_is_stopped_goes_on(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "reproduce", "hire", "--out", "ledger"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    kept = tmp_path / "ledger" / "runs"
    until = time.monotonic() + 90
    while not list(kept.glob("*.json")) and time.monotonic() < until:
        time.sleep(0.2)
    # As a terminal does: to all processes.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    # On a busy machine a minute may pass, and be told of.
    *_, last = err.splitlines()
    assert last == "interrupted: finished runs are kept in ledger, and the same command goes on"
    made = {file: file.stat().st_mtime_ns for file in kept.glob("*.json")}
    assert made
    assert not list(kept.glob("*.part"))
    assert not (tmp_path / "ledger" / "ledger.md").exists()


def test_what_was_stopped_goes_on_with_what_is_lacking(
    one_claim: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def three(scope: Scope) -> runs.Jobs:
        drive = ("generic-mlc-512g", "conventional", "random")
        return {(f"{n}",): scope.plan(*drive, limit=n) for n in (100, 200, 300)}

    def reads(found: runs.Runs) -> list[float]:
        return [sum(run.read.latency_us.mean for run in found.values())]

    one_claim(reads, sets=(three,))
    whole = reproduce(["hire"], out=tmp_path / "whole", seeds=1, jobs=1)
    ran: list[int | None] = []
    run = api.run

    def stopped(plan: lab.Plan) -> lab.Result:
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(plan.limit)
        return run(plan)

    monkeypatch.setattr(api, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["hire"], out=tmp_path / "out", seeds=1, jobs=1)
    ran.clear()
    result = reproduce(["hire"], out=tmp_path / "out", seeds=1, jobs=1)
    assert ran == [300]
    assert (result.rows, result.digest) == (whole.rows, whole.digest)


@pytest.mark.parametrize(
    ("what", "claims"), [(("pa-ssd",), COUNTS["pa-ssd"][1]), (("R14", "R17"), 2)]
)
def test_a_first_look_runs(ssdlab: Ssdlab, what: tuple[str, ...], claims: int) -> None:
    done = ssdlab("reproduce", *what, "--quick", "--out", "ledger")
    assert done.code == 0, done.err
    assert f"{claims} claims: " in done.out


def test_a_first_look_at_pv_read_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ledger.load("pv-read")
    # What codes decode takes half a minute, and is tested by itself.
    alone = replace(registry.RULES["V11"], sets=[lambda _: {}])
    monkeypatch.setitem(registry.RULES, "V11", alone)
    result = reproduce(["pv-read"], out=tmp_path, quick=True)
    left_out = [row.claim.id for row in result.rows if row.verdict == Verdict.LEFT_OUT]
    assert left_out == ["V7", "V11"]
    assert len(result.rows) == COUNTS["pv-read"][1]
    assert all(row.ours for row in result.rows if row.claim.id not in left_out)
    assert {picture.figure for picture, _ in result.pictures} >= {"Fig. 4", "Fig. 5b", "Fig. 13b"}
    assert "14 claims: " in ledger_text.ledger_text(result)


WITHOUT = """
import sys
from pathlib import Path
sys.path = [path for path in sys.path if not Path(path, "ssdlab_reproduction").exists()]
sys.argv[0] = "ssdlab"
from ssdlab_command import main
main()
"""
"""The command where there is no ledger."""


@pytest.mark.parametrize("arguments", [(), ("--help",), ("hire", "--quick", "--jobs", "x")])
def test_without_the_ledger_a_line_says_what_to_install(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = call("reproduce", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "ssdlab reproduce: the package ssdlab_reproduction is not installed:"
        " run `pip install ./reproduction` in a checkout of ssdlab\n"
    )
    assert list(tmp_path.iterdir()) == []
    assert "  reproduce  Recompute the papers' claims" in call("--help").stdout


def test_seeds_beyond_all_reason_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(lab.InputError, match="--seeds: got 99999999999, expected at most 1000"):
        reproduce(["hire"], out=tmp_path / "out", seeds=99_999_999_999)
    assert not list(tmp_path.iterdir())


def test_runs_are_counted_before_anything_is_made(
    one_claim: Any, ssdlab: Ssdlab, tmp_path: Path
) -> None:
    done = ssdlab("reproduce", "hire", "--seeds", "1000", "--max-runs", "20")
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(r"--max-runs: got \d+ runs or more, expected at most 20\n", done.err)
    every = ssdlab("reproduce", "--seeds", "1000", "--out", "ledger")
    assert "runs or more, expected at most 10000\n" in every.err
    one_claim(lambda found: [found["run",].read.latency_us.mean])
    for wrong in (2, 0, -1, True, "x"):
        with pytest.raises(lab.InputError, match=r"--max-runs: got [^\n]*, expected"):
            reproduce(["hire"], out=tmp_path / "out", seeds=3, max_runs=wrong)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    assert reproduce(["hire"], out=tmp_path / "ledger", seeds=3, max_runs=3).runs == 3


def test_what_several_claims_look_at_counts_once(one_claim: Any, tmp_path: Path) -> None:
    def twice(scope: Scope) -> runs.Jobs:
        plan = scope.plan("generic-mlc-512g", "conventional", "random", limit=100)
        return {("one",): plan, ("other",): plan}

    one_claim(lambda *found: [len(found)], sets=(twice, twice))
    assert reproduce(["hire"], out=tmp_path / "out", quick=True, max_runs=1).runs == 1
