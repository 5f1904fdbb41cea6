"""The ledger with real traces in the twins' places."""

import hashlib
import json
import lzma
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import OFFICE, Ssdlab

import ssdlab as lab
from ssdlab import InputError
from ssdlab_reproduction import ledger, ledger_page, ledger_text, runs
from ssdlab_reproduction.claim import Verdict
from ssdlab_reproduction.claim import claims as declared
from ssdlab_reproduction.ledger import PARTS, TRACES, TWINS, reproduce
from ssdlab_reproduction.real_traces import TraceUsed, find_traces, is_part
from ssdlab_reproduction.scope import Change, Scope


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for real traces, beside which a ledger is."""
    made = tmp_path / "traces"
    made.mkdir()
    return made


def test_real_traces_take_the_place_of_twins(tmp_path: Path) -> None:
    for name in ("hm_0.csv.gz", "fin1.spc", "fin2.csv", "README.md", "Build Server.csv"):
        (tmp_path / name).write_text("")
    real = find_traces(tmp_path)
    found = real.traces
    assert real.notes == ["not used, because no twin has this name: README.md"]
    assert found["dlv/hm0"] == found["hire/hm0"] == found["pv-read/hm0"] == tmp_path / "hm_0.csv.gz"
    # As any of its twins is called, or as it is.
    assert found["pa-ssd/fin"] == found["hire/fin1"] == tmp_path / "fin1.spc"
    assert found["dlv/fin2"] == tmp_path / "fin2.csv"
    assert found["pa-ssd/bs"] == tmp_path / "Build Server.csv"
    # A link that leads nowhere is not passed over: its name is told when it is read.
    (tmp_path / "rsrch_0.csv").symlink_to("nowhere")
    assert find_traces(tmp_path).traces["dlv/rsrch0"] == tmp_path / "rsrch_0.csv"
    (tmp_path / "fin1.spc").rename(tmp_path / "Financial1.spc")
    assert find_traces(tmp_path).traces["dlv/fin1"] == tmp_path / "Financial1.spc"
    assert tmp_path / "README.md" not in found.values()
    plan = Scope(traces=found).plan("hire-mlc-128g", "hire/hire", "hire/hm0")
    assert (plan.trace, plan.workload, plan.wrap) == (found["hire/hm0"], None, True)


def test_a_mix_is_of_real_traces_if_all_are_there(tmp_path: Path) -> None:
    def planned(*names: str) -> lab.Plan:
        for name in names:
            (tmp_path / name).write_bytes(OFFICE.read_bytes())
        return Scope(traces=find_traces(tmp_path).traces).plan(
            "readguard-tlc-500g", "readguard/baseline", "readguard/mix-a", limit=300
        )

    assert planned("ali2.csv.xz", "284.csv.xz", "ali284.csv.xz").workload == "readguard/mix-a"
    lacking = "readguard/mix-a runs as a twin: no file for readguard/ali121"
    assert lacking in find_traces(tmp_path).notes
    plan = planned("AliCloud_121.csv.xz")
    assert (plan.workload, len(plan.mix)) == (None, 3)
    result = lab.run(plan)
    assert [queue.read.requests > 0 for queue in result.queues] == [True] * 3


def test_a_real_trace_is_run_and_named(one_claim: Any, tmp_path: Path, folder: Path) -> None:
    (folder / "stg_1.csv.xz").write_bytes(OFFICE.read_bytes())
    (folder / "hm_0.csv").write_text("nobody reads this")

    def both(scope: Scope) -> runs.Jobs:
        return {
            (name,): scope.plan("hire-mlc-128g", "hire/baseline", f"hire/{name}", limit=200)
            for name in ("stg1", "fin1")
        }

    one_claim(lambda found: [found["stg1",].read.latency_us.mean], sets=(both,))
    result = reproduce(["hire"], out=tmp_path / "out", seeds=1, jobs=1, traces=folder)
    alone = lab.run(
        device="hire-mlc-128g", scheme="hire/baseline", trace=OFFICE, limit=200, wrap=True
    )
    assert result.rows[0].ours[0].mean == alone.read.latency_us.mean
    assert result.rows[0].loads == "real traces and twins"
    (read,) = lab.traces.info([OFFICE])
    own = (read["format"], read["requests"], read["span_s"])
    (seen,) = result.traces
    sha256 = hashlib.sha256(OFFICE.read_bytes()).hexdigest()
    assert sha256 == alone.provenance.trace_sha256
    assert seen == TraceUsed("hire/stg1", "stg_1.csv.xz", sha256, *own, 2_196_861, seen.twin_s)
    line = ledger_text.of_trace(seen)
    assert f"SHA-256 {sha256[:12]})" in line
    assert line in " ".join(ledger_text.ledger_text(result).split())
    assert line in ledger_text.ledger_markdown(result)
    (origin,) = ledger_page.origins(result)
    assert ("real trace", line) in origin.facts
    assert result.notes == ["not used, because no selected claim runs on it: hm_0.csv"]
    # It is a trace of other systems', too, of which nothing ran.
    assert "dlv/stg1" in find_traces(folder).traces


def test_what_a_trace_held_before_is_not_taken_for_what_it_holds(
    one_claim: Any, tmp_path: Path, folder: Path
) -> None:
    file = folder / "stg_1.csv"
    lines = [f"{at * 10**7},stg,1,Read,{at * 4096},4096,0\n" for at in range(1, 300)]

    def sizes(scope: Scope) -> runs.Jobs:
        return {("baseline",): scope.plan("hire-mlc-128g", "hire/baseline", "hire/stg1")}

    one_claim(lambda found: [found["baseline",].read.bytes], sets=(sizes,))

    def read(size: int, at: int) -> tuple[float, int]:
        file.write_text("".join(lines).replace("4096,0\n", f"{size},0\n"))
        os.utime(file, (at, at))
        result = reproduce(["hire"], out=tmp_path / "out", seeds=1, jobs=1, traces=folder)
        kept = list((tmp_path / "out" / "runs").iterdir())
        return result.rows[0].ours[0].mean, len(kept)

    assert read(4096, 1) == (299 * 4096, 2)
    # As long, and as old, by the look of it.
    assert read(8192, 1) == (299 * 8192, 4)
    # Copied, or touched: nothing is run again.
    assert read(4096, 2) == (299 * 4096, 4)


def test_a_part_of_a_trace_differs_from_a_whole_one(
    one_claim: Any, tmp_path: Path, folder: Path
) -> None:
    lines = lzma.decompress(OFFICE.read_bytes()).decode().splitlines(keepends=True)[1:301]
    (folder / "stg_1.csv").write_text("".join(lines))

    def ran(*limits: int | None) -> str:
        def under(scope: Scope) -> runs.Jobs:
            drive = "hire-mlc-128g", "hire/baseline", "hire/stg1"
            return {(str(limit),): scope.plan(*drive, limit=limit) for limit in limits}

        one_claim(lambda _: [1.0], sets=(under,), made="twin")
        result = reproduce(["hire"], out=tmp_path / "out", seeds=1, jobs=1, traces=folder)
        return result.rows[0].loads

    assert ran(len(lines)) == TRACES
    assert ran(400) == ran(None) == PARTS
    assert ran(200, None) == f"{TRACES} and {PARTS}"
    seen = TraceUsed("a/twin", "a file", "a hash", "msr", 900, 1.0, 1000, 1.0)
    assert [is_part([seen], limit) for limit in (None, 1000, 1001)] == [False] * 3
    assert is_part([replace(seen, requests=899)], None)
    # A file of a mix has to have its own part of what is read.
    other, few = replace(seen, requests=27000, twin_requests=3000), replace(seen, requests=450)
    assert is_part([few, other], None)
    assert is_part([few, other], 2100)
    assert not is_part([few, other], 2000)


def test_settings_of_twins_do_not_apply_to_real_traces() -> None:
    drive = "hire-mlc-128g", "hire/baseline", "hire/stg1"
    lines = ["workload.overlap=0.27", "host.queue_depth=7"]
    scope = Scope(changes=[Change(lines)])
    assert scope.plan(*drive).set == lines
    real = replace(scope, traces={"hire/stg1": OFFICE})
    assert real.plan(*drive).set == lines[1:]
    (one,) = (claim for claim in declared(["hire"]) if claim.id == "H1")
    abouts = [
        {sweep.about for sweep in ledger.Row(one, Verdict.NOT, loads=loads).sweeps}
        for loads in ("twins", "real traces and twins", "real traces")
    ]
    assert abouts[0] == abouts[1] > abouts[2]


def test_a_wrong_trace_is_refused_before_anything_runs(
    ssdlab: Ssdlab, tmp_path: Path, folder: Path
) -> None:
    good = "".join(f"{at * 10**7},stg,1,Read,{at * 4096},4096,0\n" for at in range(1, 5000))
    (folder / "stg_1.csv").write_text(good + "5000,stg,1,Reed,0,4096,0\n")
    (folder / "notes.txt").write_text("mine")
    done = ssdlab("reproduce", "hire", "--quick", "--traces", "traces", "--out", "ledger")
    assert done.code == 2
    assert "stg_1.csv:5000:12: " in done.err
    assert not (tmp_path / "ledger").exists()
    (folder / "stg_1.csv").write_text(good)
    done = ssdlab("reproduce", "hire", "--quick", "--traces", "traces", "--out", "ledger")
    assert "\n--traces: not used, because no twin has this name: notes.txt\n" in done.out


def test_traces_that_leave_nothing_to_compare_are_reported(
    ssdlab: Ssdlab, tmp_path: Path, folder: Path
) -> None:
    reads = "".join(f"{at * 10**7},hm,1,Read,{at * 4096},4096,0\n" for at in range(9))
    (folder / "Financial2.csv").write_text(reads)
    done = ssdlab("reproduce", "hire", "--quick", "--traces", "traces", "--out", "ledger")
    assert done.code == 0, done.err
    assert "the buffer holds fin2 whole: nothing of it was programmed" in " ".join(done.out.split())
    rows = json.loads((tmp_path / "ledger" / "ledger.json").read_text())["rows"]
    found = {row["claim"]["id"]: (row["verdict"], row["why"]) for row in rows}
    assert found["H2"][0] == Verdict.NOT
    assert not found["H1"][1]


def test_what_a_twin_was_made_for_a_real_trace_was_not() -> None:
    (made,) = (claim for claim in declared(["pv-read"]) if claim.id == "V10")
    loads = (TWINS, f"{TRACES} and {TWINS}", TRACES)
    outcomes = [
        ledger_text.outcome(ledger.Row(made, Verdict.REPRODUCED, loads=one)) for one in loads
    ]
    assert outcomes == ["reproduced, by construction"] * 2 + ["reproduced"]
    # What a drive was made for it does of a real trace, too.
    (example,) = (claim for claim in declared(["dlv"]) if claim.id == "D12")
    explanations = [
        ledger_text.outcome(ledger.Row(example, Verdict.REPRODUCED, loads=one)) for one in loads
    ]
    assert explanations == ["reproduced, by construction"] * 3


def test_what_a_ruling_follows_is_marked() -> None:
    def outcome_of(name: str, verdict: Verdict, loads: str = TWINS) -> str:
        (claim,) = (one for one in declared() if one.id == name)
        return ledger_text.outcome(ledger.Row(claim, verdict, loads=loads))

    mark = "by a ruling that follows it"
    assert outcome_of("P13", Verdict.REPRODUCED) == f"reproduced, {mark}"
    assert outcome_of("P13", Verdict.DIRECTION) == f"direction only, {mark}"
    assert outcome_of("P13", Verdict.NOT) == "not reproduced"
    # What a large write of a twin is does not bear on a real trace; the drive does.
    assert outcome_of("P13", Verdict.REPRODUCED, TRACES) == "reproduced"
    assert outcome_of("D7", Verdict.DIRECTION, PARTS) == f"direction only, {mark}"
    # What the start assumes bears on every load.
    assert outcome_of("H1", Verdict.DIRECTION, TRACES) == "direction only, by the start"
    assert outcome_of("H1", Verdict.NOT) == "not reproduced"
    counts = ledger_text.count_outcomes(
        [f"reproduced, {mark}", "reproduced, by construction", "reproduced"]
    )
    assert counts == f"3 reproduced (1 of them by construction, 1 of them {mark})"


def test_two_files_for_one_twin_are_refused(tmp_path: Path) -> None:
    for name in ("fin1.csv", "Financial1.spc"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"--traces: fin1\.csv and Financial1\.spc are both"):
        find_traces(tmp_path)


@pytest.mark.parametrize("system", ["D7", "hire"])
def test_traces_without_reads_are_reported(ssdlab: Ssdlab, folder: Path, system: str) -> None:
    writes = "".join(f"{at * 10**7},hm,1,Write,{at * 409600},4096,0\n" for at in range(3000))
    for name in ("hm_0.csv", "Financial1.csv"):
        (folder / name).write_text(writes)
    done = ssdlab("reproduce", system, "--quick", "--traces", "traces", "--out", "ledger")
    assert done.code == 0, done.err
