"""HIRE, as a user meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from math import ceil
from pathlib import Path
from random import Random

import pytest
from command import Ssdlab

import ssdlab
from ssdlab.render.text.comparison import summaries
from ssdlab.result import Comparison, ProgramModesResult

SMALL = {
    "geometry.channels": 1,
    "geometry.chips": 2,
    "geometry.blocks": 64,
    "geometry.pages": 32,
    "ftl.overprovisioning": "30%",
    "buffer.size": "1MiB",
}
SCHEMES = ["baseline", "hvc", "lvc", "hire"]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages that are read, pages that are written, and a few that are both."""
    random = Random(4)
    rows = []
    for at in range(30_000):
        kind = random.random()
        first, pages, op = (
            (0, 1000, "R")
            if kind < 0.35
            else (1000, 1000, "W")
            if kind < 0.9
            else (2000, 500, random.choice("RW"))
        )
        page = first + random.randrange(pages)
        rows.append(f"{at * 400},a,{op},{page * 4096},4096,0")
    path = tmp_path_factory.mktemp("hire") / "trace.csv"
    path.write_text("\n".join(["time_us,dev,op,offset_bytes,size_bytes,queue", *rows, ""]))
    return path


def plan(scheme: str, trace: Path, **more: object) -> ssdlab.Plan:
    """A small drive of the preset."""
    settings = {**SMALL, **{key.replace("__", "."): value for key, value in more.items()}}
    return ssdlab.Plan(device="hire-mlc-128g", scheme=scheme, trace=str(trace), set=settings)


@pytest.fixture(scope="module")
def runs(trace: Path) -> Comparison:
    """The four schemes."""
    return ssdlab.compare([plan(scheme, trace) for scheme in SCHEMES])


def voltages(run: ssdlab.Result) -> ProgramModesResult:
    assert run.program_modes is not None
    return run.program_modes


def weight(run: ssdlab.Result) -> float:
    assert run.wearing_weight is not None
    return run.wearing_weight


def lines_of(run: ssdlab.Result) -> list[str]:
    """The lines of a run's figures."""
    return str(run).split("\n\n")[2].splitlines()


def test_voltages_are_traded_for_wear(runs: Comparison) -> None:
    read = {scheme: run.read.latency_us.mean for scheme, run in zip(SCHEMES, runs, strict=True)}
    assert read["hvc"] < read["hire"] < read["baseline"] < read["lvc"]
    base, hvc, _, hire = (voltages(run) for run in runs)
    programs = [sum(run.ops["program"].values()) for run in runs]
    weights = [weight(run) for run in runs]
    assert weights[0] == programs[0] == base.each[0].programs
    assert weights[1] / programs[1] == pytest.approx(1.1998, abs=1e-3)
    assert weights[2] / programs[2] == pytest.approx(0.7992, abs=1e-3)
    assert 0.8 * programs[3] < weights[3] < programs[3]
    erases = [sum(run.ops["erase"].values()) for run in runs]
    assert base.weight_erases == erases[0] > 0
    assert hvc.weight_erases / erases[1] == pytest.approx(1.1998, abs=1e-3)
    assert 0.79 < hire.weight_erases / erases[3] < 0.9
    assert [one.name for one in hire.each] == ["normal", "boosted", "reduced"]
    assert all(one.reads for one in hire.each)
    assert sum(one.reads for one in hire.each) == runs[3].ops["read"]["host"]


def test_the_buffer_tells_what_pages_are_used_for(runs: Comparison) -> None:
    buffer = runs[3].buffer
    assert buffer is not None
    hotness = buffer.hotness
    assert hotness is not None
    assert sum(hotness.left.values()) == buffer.evicted_clean + buffer.evicted_dirty
    assert min(hotness.left.values()) > 0
    assert hotness.rewritten == 0
    assert runs[0].buffer is not None
    assert runs[0].buffer.hotness is None
    # Two counters of a byte for each of 256 pages; two bits for each entry of the map.
    assert runs[3].metadata_bytes["buffer_uses"] == 2 * 256
    assert runs[3].metadata_bytes["page_hotness"] == ceil(sum(hotness.pages.values()) / 4)


def test_a_run_tells_shares_of_pages_by_use_and_by_voltage(runs: Comparison) -> None:
    lines = lines_of(runs[3])
    (hot,) = (line for line in lines if line.startswith("hotness"))
    words = ["read-hot", "mixed", "write-hot"]
    assert [hot.index(word) for word in words] == sorted(hot.index(word) for word in words)
    at = next(at for at, line in enumerate(lines) if line.startswith("modes"))
    assert lines[at].endswith(" of programs")
    assert lines[at + 1].endswith(" of pages read")
    assert 0.75 < weight(runs[3]) / weight(runs[0]) < 1
    assert "a program wears 0." in lines[at + 2]
    assert max(map(len, str(runs[3]).splitlines()[1:])) <= 80
    # Where all is programmed normally there is nothing to tell.
    assert not any(line.startswith(("modes", "hotness")) for line in lines_of(runs[0]))


def test_modes_of_a_run_without_programs_are_of_reads_alone() -> None:
    reads = {**SMALL, "workload.read_share": "100%", "workload.footprint": "8MiB"}
    lines = lines_of(ssdlab.run(device="hire-mlc-128g", scheme="hvc", set=reads, limit=2000))
    assert "modes      normal –, boosted 100 %, reduced – of pages read" in lines
    assert not any("programs" in line or "wears" in line for line in lines)


def test_wear_is_printed_relative_to_the_first_run(runs: Comparison) -> None:
    (summary,) = summaries(runs)
    columns = {column.head.strip(): column.cells for column in summary.columns}
    base = weight(runs[0])
    assert list(columns["wear"]) == [f"{100 * weight(run) / base:.1f} %" for run in runs]
    assert columns["wear"][0] == "100.0 %"
    # Where all programs wear alike, so that their number says it, there is no such column.
    assert "wear" not in str(Comparison([runs[0]]))
    small = {"workload.footprint": "64MiB", "workload.read_share": 0}
    dlv = ssdlab.Plan(device="dlv-mlc-128g", scheme="pv-allocation", set=small, limit=100)
    assert "wear" not in {column.head for column in summaries(ssdlab.compare([dlv]))[0].columns}


def test_wear_has_intervals_over_seeds() -> None:
    small = {**SMALL, "workload.footprint": "8MiB"}
    base = ssdlab.Plan(device="hire-mlc-128g", scheme="baseline", set=small, limit=2000)
    found = ssdlab.compare(ssdlab.sweep(base, schemes=["baseline", "hvc"], seeds=2))
    (summary,) = summaries(found)
    (cells,) = (column.cells for column in summary.columns if column.head.strip() == "wear")
    assert cells[0].startswith("100.0 % ±")
    assert float(cells[1].split()[0]) == pytest.approx(120, abs=5)
    assert "program_modes.each.1.programs" in found.aggregates[1].metrics


def test_what_is_only_read_is_programmed_once_more(trace: Path) -> None:
    run = ssdlab.run(plan("hire", trace, metadata__page_hotness__buffer__initial="rewrite"))
    assert run.buffer is not None
    assert run.buffer.hotness is not None
    rewritten = run.buffer.hotness.rewritten
    # All that are only read, and some that are both.
    assert 1000 <= rewritten < 2500
    assert voltages(run).each[1].programs >= rewritten
    assert run.ops["program"]["migration"] == rewritten
    assert f"rewritten  {rewritten:,} pages that were only read" in lines_of(run)


def test_where_nearly_all_is_read_nearly_all_is_read_boosted() -> None:
    base, hire = ssdlab.compare(
        [
            ssdlab.Plan(device="hire-mlc-128g", scheme=scheme, workload="websearch", limit=20_000)
            for scheme in ("baseline", "hire")
        ]
    )
    reads = {each.name: each.reads for each in voltages(hire).each}
    assert reads["boosted"] > 0.99 * sum(reads.values()) > 40_000
    # 70 us of 170 us.
    change = hire.read.latency_us.mean / base.read.latency_us.mean - 1
    assert change == pytest.approx(-100 / 170, abs=0.02)


def test_page_uses_are_reported_without_a_scheme_that_needs_them(trace: Path) -> None:
    run = ssdlab.run(plan("baseline", trace, metadata__page_hotness="buffer"))
    hire = ssdlab.run(plan("hire", trace))
    assert run.buffer is not None
    assert hire.buffer is not None
    assert run.buffer.hotness is not None
    assert hire.buffer.hotness is not None
    # Of requests that come at once one or the other ends first.
    assert run.buffer.hotness.left == pytest.approx(hire.buffer.hotness.left, rel=0.01)
    assert voltages(run).each[1].programs == 0


def test_a_drive_that_was_written_before_has_no_first_pass_and_says_so(trace: Path) -> None:
    fresh = plan("hire", trace)
    steady = ssdlab.compare([fresh, replace(fresh, precondition="steady")])
    remarked = [
        "there was no first pass of the workload" in " ".join(run.remarks) for run in steady
    ]
    assert remarked == [False, True]
    read = [next(kind for kind in voltages(run).each if kind.name == "boosted") for run in steady]
    assert read[1].reads < read[0].reads


def test_a_drive_that_is_stepped_by_hand_was_programmed_so_too() -> None:
    full = {**SMALL, "start.fill": "50%"}
    for scheme, sense, transfer in [("baseline", 90, 80), ("hvc", 30, 40), ("lvc", 210, 100)]:
        drive = ssdlab.Drive(device="hire-mlc-128g", scheme=scheme, set=full)
        drive.submit("read", lba=80, sectors=8)
        (done,) = drive.advance()
        assert done.blame_ns == {"sense": sense * 1000, "transfer": transfer * 1000}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("buffer.size=0B", "without a buffer to learn from: buffer.size is 0B"),
        (
            'program_mode=[{per_hotness={mixed="high"}}]',
            'program_mode.per_hotness.mixed: got "high"',
        ),
        ("metadata.page_hotness.buffer.threshold=1", "a share from 50% to below 100%"),
        (
            'program_mode=["per_hotness","per_class"]',
            "expected no such setting behind a link that answers",
        ),
        ("ftl.page_order=relaxed", 'ftl.page_order = "strict"'),
    ],
)
def test_a_setting_that_contradicts_the_scheme_is_refused(
    ssdlab: Ssdlab, setting: str, message: str
) -> None:
    done = ssdlab("run", "--device", "hire-mlc-128g", "--scheme", "hire", "--set", setting)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_the_papers_comparison_from_the_command_line(
    ssdlab: Ssdlab, trace: Path, tmp_path: Path
) -> None:
    path = tmp_path / "all.json"
    sets = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]
    done = ssdlab(
        *("compare", "--device", "hire-mlc-128g", "--scheme", ",".join(SCHEMES)),
        *(*sets, "--trace", str(trace), "--limit", 5000, "--json", str(path)),
    )
    assert (done.code, done.err) == (0, "")
    results = json.loads(path.read_text())["results"]
    assert [result["scheme"] for result in results] == SCHEMES
    assert ["hotness" in result["buffer"] for result in results] == [False] * 3 + [True]
