"""Write the tables of docs/systems/pv-read.md: its claims, measured on its eight workloads.

``make pv-read`` runs this program, for three quarters of an hour on two cores. The workloads are
twins (docs/concepts/twins.md). Finished runs are kept in ``build/reproduction``, so that a stopped
run can be resumed. ``python -m ssdlab_reproduction.tables.pv_read REQUESTS`` stops each run after
REQUESTS requests, for a first look.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq

import ssdlab
from ssdlab_reproduction.runs import Job
from ssdlab_reproduction.statistics import percent
from ssdlab_reproduction.systems.pv_read import (
    APART,
    BASE,
    DEVICE,
    GROUPS,
    LIVES,
    RANKS,
    WORKLOADS,
    last_cycles,
)
from ssdlab_reproduction.tables.common import DOCS, Kept, change, grid, write

# Table I of the paper.
SHARES = [9, 12.5, 21.3, 19.6, 17.6, 12.9, 7]
TOUCHED = 'placement=[{oracle_hotness={by="writes",among="touched"}}]'
# Blocks are measured, but the measurement is not used otherwise.
MEASURED = "metadata.block_class={measured={boundaries={levels=[]}}}"
THRESHOLDS = [2, 3, 4, 5]
STAGES = [(0.004, 0.005), (0.006, 0.004), (0.008, 0.003), (0.010, 0.002), (0.012, 0.001)]
WIDTHS = [(0.008, sigma) for sigma in (0.001, 0.00175, 0.0025, 0.00325, 0.004)]
CAPABILITIES = ["paper", "derived"]
HELD = ["100%", "10%", "1%", "0.1%", "0.01%"]
YOUNG = 1500
# A drive of 4 GiB, on which each erase counts as 50.
LIFE = ["geometry.blocks=64", "flash.cycles_per_erase=50"]
WORN = [("the first", 0.0), ("1 %", 0.01), ("5 %", 0.05)]
BCH = ["physics.levels.code=bch", "timing.decode=6us"]
SINGLE = 4000
"""The requests of a run of single reads."""
THRESHOLD = 3
"""The default number of reads that make a page hot."""
KIB = 1024
SECTOR = 512
PAGE = DOCS / "systems" / "pv-read.md"
MARK = "<!-- measured: written by `make pv-read` -->\n"

Eight = list[ssdlab.Result]


@dataclass(frozen=True, slots=True)
class Drive:
    """A scheme and additional settings."""

    scheme: str
    settings: tuple[str, ...] = ()


@dataclass(slots=True)
class Study:
    """The runs, and the results that several tables share."""

    kept: Kept
    limit: int | None
    found: dict[str, Any] = field(default_factory=dict)

    def plan(self, workload: str, drive: Drive, **options: Any) -> ssdlab.Plan:
        """Return a run of a twin."""
        return ssdlab.Plan(
            device=DEVICE,
            workload=f"pv-read/{workload}",
            scheme=drive.scheme,
            set=drive.settings,
            limit=self.limit,
            **options,
        )

    def life(self, workload: str, drive: Drive) -> ssdlab.Plan:
        """Return repeated replays of a twin until 5 % of a small drive's blocks are worn out."""
        small = replace(drive, settings=(*LIFE, *drive.settings))
        return replace(self.plan(workload, small), limit=None, until_worn="5%")

    def results(self, title: str, drives: Sequence[Drive]) -> list[Eight]:
        """Return for each drive its results on the eight workloads."""
        return self.kept.groups(
            [[self.plan(workload, drive) for workload in WORKLOADS] for drive in drives], title
        )


def read_us(result: ssdlab.Result) -> float:
    """Return the mean latency of reads, in microseconds."""
    return result.read.latency_us.mean


def level(result: ssdlab.Result) -> float:
    """Return the mean level at which pages decoded."""
    levels = result.decoded_at
    return sum(count * (at + 1) for at, count in enumerate(levels)) / sum(levels)


def level_shares(result: ssdlab.Result) -> list[float]:
    """Return the shares of pages that decoded at each level."""
    return [count / sum(result.decoded_at) for count in result.decoded_at]


def at_one(result: ssdlab.Result) -> float:
    """Return the percentage of pages that decoded at level 1."""
    return 100 * result.decoded_at[0] / sum(result.decoded_at)


def moved_in(result: ssdlab.Result) -> float:
    """Return the pages that moved in, in percent of all requests."""
    assert result.migration is not None
    return 100 * result.migration.hot / result.requests


def moved_out(result: ssdlab.Result) -> float:
    """Return the pages that moved out to make room, in percent of all requests."""
    assert result.migration is not None
    return 100 * result.migration.cold / result.requests


def pages_moved(result: ssdlab.Result) -> float:
    """Return the pages that moved, in percent of all programmed pages."""
    assert result.migration is not None
    programs = sum(result.ops["program"].values())
    return 100 * (result.migration.hot + result.migration.cold) / programs


def mean(results: Eight, figure: Callable[[ssdlab.Result], float]) -> float:
    """Return the mean of a figure over the workloads."""
    return fmean(figure(one) for one in results)


def gain(results: Eight, base: Eight) -> float:
    """Return the mean change of reads in percent; all workloads have equal weight."""
    return fmean(
        percent(read_us(one), read_us(other)) for one, other in zip(results, base, strict=True)
    )


def signed(value: float) -> str:
    """Return a change in percent as text with its sign."""
    return f"{value:+.0f}"


def by_workload(study: Study) -> list[str]:
    """Return the reads of every scheme, workload by workload (V1 to V4)."""
    drives = {
        "pv-ideal": Drive("pv-ideal"),
        "ideal-wear": Drive("ideal-wear"),
        "ideal-wear, touched": Drive("ideal-wear", (TOUCHED,)),
        **{name: Drive(name) for name in ("pv-wear-leveling", "health-binning", *GROUPS)},
    }
    base, *others = study.results("by workload", [Drive(BASE), *drives.values()])
    rows = []
    for at, workload in enumerate(WORKLOADS):
        own = base[at]
        cells = [f"{read_us(own):.0f} µs", f"{level(own):.2f}", f"{at_one(own):.1f} %"]
        cells += [change(read_us(of[at]), read_us(own)) for of in others]
        rows.append([workload, *cells])
    means = {name: gain(of, base) for name, of in zip(drives, others, strict=True)}
    cells = [f"**{mean(base, read_us):.0f} µs**", f"**{mean(base, level):.2f}**"]
    cells += [f"**{mean(base, at_one):.1f} %**"]
    rows.append(["**mean**", *cells, *(f"**{signed(one)}**" for one in means.values())])
    heads = ["workload", BASE, "level", "at level 1", *drives]
    lines = grid(heads, rows)
    rows = []
    for name, of in zip([BASE, *drives], [base, *others], strict=True):
        levels = [[100 * count / sum(one.decoded_at) for count in one.decoded_at] for one in of]
        cells = [f"{fmean(shares):.1f}" for shares in zip(*levels, strict=True)]
        collected = sum(one.gc.count for one in of)
        rows.append([name, *cells, f"{mean(of, level):.2f}", f"{collected:,}"])
    heads = ["scheme", *map(str, range(1, len(SHARES) + 1)), "mean level", "blocks collected"]
    lines += ["Pages read, in percent by the level at which they decoded, means:", ""]
    return lines + grid(heads, rows)


def single_shots(study: Study, settings: Sequence[str]) -> list[float]:
    """Return the latency of a single page read at each level, without the map lookup."""
    plans = []
    for needed in range(1, len(SHARES) + 1):
        shares = ",".join("1" if at + 1 == needed else "0" for at in range(len(SHARES)))
        lines = [f"physics.levels.base={{shares=[{shares}]}}", "workload.read_share=1"]
        lines += ['workload.sizes=["4KiB"]', "ftl.map_cache=false", *settings]
        plans.append(
            ssdlab.Plan(device=DEVICE, workload="random", closed=1, limit=SINGLE, set=lines)
        )
    found = []
    for needed, result in enumerate(study.kept.compare(plans, "single reads"), 1):
        assert sum(result.decoded_at) == result.levels[str(needed)] == SINGLE
        climbs = 0 if "read_start=measured_level" in settings else needed - 1
        assert result.retries == SINGLE * climbs
        found.append(read_us(result))
    return found


def where_reads_start(study: Study) -> list[str]:
    """Return a scheme's gain by the first level of its reads, and the most that latencies allow."""
    ways: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "climb, incremental": ((), ()),
        "climb, restart": (("physics.levels.sensing=restart",),) * 2,
        "measured_level": ((MEASURED, "read_start=measured_level"), ("read_start=measured_level",)),
    }
    rows = []
    for name, (of_base, of_scheme) in ways.items():
        shots = single_shots(study, of_base)
        average = sum(map(float.__mul__, map(float, SHARES), shots)) / sum(SHARES)
        best, worst = percent(shots[0], average), percent(shots[-1], average)
        study.found.setdefault("singles", shots)
        known = "read_start=measured_level" in of_scheme
        drives = [Drive(BASE, of_base), Drive("pv-read", of_scheme)]
        drives += [Drive("pv-wear-leveling", of_scheme)]
        if not known:
            drives += [Drive("pv-ideal", of_scheme), Drive("ideal-wear", (TOUCHED, *of_scheme))]
        base, *others = study.results(name, drives)
        gains = [signed(gain(of, base)) for of in others] + ["–"] * (2 * known)
        single = f"{shots[0]:.0f} / {average:.0f} / {shots[-1]:.0f}"
        rows.append(
            [name, f"{mean(base, read_us):.0f} µs", *gains, single, signed(best), signed(worst)]
        )
    heads = ["a read starts", BASE, "pv-read", "pv-wear-leveling", "pv-ideal"]
    heads += ["ideal-wear, touched", "alone: best / mean / worst, µs", "best", "worst"]
    return grid(heads, rows)


def of_setting(study: Study, key: str, values: Sequence[object]) -> list[str]:
    """Return the reads and moves of pv-read by a setting (V5, V6, V9)."""
    drives = [Drive("pv-read", (f"{key}={value}",)) for value in values]
    base, *others = study.results(key, [Drive(BASE), *drives])
    rows = []
    for value, of in zip(values, others, strict=True):
        figures = gain(of, base), mean(of, moved_in), mean(of, moved_out)
        change_of, hot, cold = figures
        cells = [signed(change_of), f"{mean(of, at_one):.1f} %", f"{hot:.2f} %", f"{cold:.2f} %"]
        rows.append([str(value).replace("%", " %"), *cells, f"{mean(of, pages_moved):.1f} %"])
    heads = [f"`{key}`", "reads", "pages at level 1", "moved in", "moved out", "of all programs"]
    return grid(heads, rows)


def of_groups(study: Study) -> list[str]:
    """Return the moves by number of groups (V6)."""
    found = study.results("groups", [Drive(name) for name in GROUPS])
    rows = []
    for at, workload in enumerate(WORKLOADS):
        cells = [f"{moved_in(of[at]):.2f} / {moved_out(of[at]):.2f}" for of in found]
        rows.append([workload, *cells])
    means = [(mean(of, moved_in), mean(of, moved_out)) for of in found]
    rows.append(["**mean**", *(f"**{hot:.2f}** / **{cold:.2f}**" for hot, cold in means)])
    shares = [f"{mean(of, pages_moved):.1f}" for of in found]
    rows.append(["of all programs, mean", *shares])
    return grid(["workload", *GROUPS], rows)


def ceiling_of(study: Study, base: Eight) -> float:
    """Return the gain in percent if all pages were on the best blocks of a drive.

    It assumes as many blocks of each level as an unaware drive reads pages at that level.
    """
    levels = [fmean(shares) for shares in zip(*map(level_shares, base), strict=True)]
    singles = study.found["singles"]
    average = sum(map(float.__mul__, levels, singles))
    best = next(single for share, single in zip(levels, singles, strict=True) if share > 0)
    return percent(best, average)


def life_stages(study: Study) -> list[str]:
    """Return the gain of three groups as the blocks' error rates vary (V8)."""
    rows = []
    for capability in CAPABILITIES:
        for middle, sigma in [*STAGES, *WIDTHS]:
            drawn = f"{{gaussian={{mean={middle},sigma={sigma},bound=8}}}}"
            settings = (f"physics.levels.base={drawn}", f"physics.levels.capability={capability}")
            drives = [Drive(BASE, settings), Drive("pv-read", settings)]
            drives += [Drive("pv-read", (*settings, RANKS))]
            base, fixed, rank = study.results(f"{capability} {middle} {sigma}", drives)
            gains = gain(fixed, base), gain(rank, base)
            ceiling = ceiling_of(study, base)
            cells = [f"{mean(base, read_us):.0f} µs", f"{mean(base, level):.2f}"]
            cells += [f"{mean(base, at_one):.1f} %", *(f"{one:+.1f}" for one in gains)]
            cells.append(signed(ceiling))
            ins = [f"{mean(of, moved_in):.1f} / {mean(of, moved_out):.2f}" for of in (fixed, rank)]
            lost = sum(one.uncorrectable for of in (base, fixed, rank) for one in of)
            rows.append([capability, f"{middle}; {sigma}", *cells, *ins, f"{lost:,}"])
    heads = ["capability", "mean; sigma", BASE, "level", "at level 1", "levels 1, 2–4, 5–7"]
    return grid(
        [*heads, "by rank", "ceiling", "moved in / out, levels", "by rank", "uncorrectable"], rows
    )


def of_map_cache(study: Study) -> list[str]:
    """Return reads and moves by the cached share of the page map."""
    rows = []
    for share in HELD:
        settings = (f"ftl.map_cache.share={share}",)
        base, three = study.results(
            f"map cache {share}", [Drive(BASE, settings), Drive("pv-read", settings)]
        )
        hits = []
        for of in (base, three):
            caches = [one.map_cache for one in of if one.map_cache is not None]
            hits.append(f"{fmean(100 * (one.hit_ratio or 0) for one in caches):.2f} %")
        one = gain(three, base)
        cells = [hits[0], f"{mean(base, read_us):.0f} µs", signed(one)]
        cells += [f"{mean(three, moved_in):.2f} %", f"{mean(three, moved_out):.2f} %"]
        rows.append([share.replace("%", " %"), *cells])
    return grid(["held", "hits", BASE, "pv-read", "moved in", "moved out"], rows)


def life_of(result: ssdlab.Result) -> list[tuple[float, float]]:
    """Return the bytes written and the P/E cycles at each share of worn-out blocks."""
    life = result.life
    assert life is not None
    found = []
    for _, share in WORN:
        mark = next(mark for mark in life.marks if mark.worn_out >= share)
        found.append((float(mark.host_bytes), mark.cycles))
    return found


def lifetime(study: Study) -> list[str]:
    """Return how much can be written until blocks are worn out (V7)."""
    kinds = {
        BASE: Drive(BASE),
        "pv-wear-leveling": Drive("pv-wear-leveling"),
        "health-binning": Drive("health-binning"),
        "pv-read": Drive("pv-read"),
    }
    for apart in ("5%", "10%"):
        settings = (
            "ftl.free_block_policy=fewest_errors",
            f"metadata.block_class.measured.read_hot_share={apart}",
        )
        kinds[f"pv-read in pv-wear-leveling, {apart.replace('%', ' %')}"] = Drive(
            "pv-read", settings
        )
    keys = [(workload, name) for workload in LIVES for name in kinds]
    plans = [
        study.life(
            workload,
            Drive(kinds[name].scheme, (f"start.pe_cycles={YOUNG}", *kinds[name].settings)),
        )
        for workload, name in keys
    ]
    results = dict(zip(keys, study.kept.compare(plans, "lifetime"), strict=True))
    rows = []
    for (workload, name), result in results.items():
        own, of_errors = life_of(result), life_of(results[workload, "pv-wear-leveling"])
        cells = []
        for (written, cycles), (other, _) in zip(own, of_errors, strict=True):
            cells.append(f"{written / 1e12:.3f} TB ({change(written, other, 1)}), {cycles:,.0f}")
        wear = result.wear
        cells += [f"{wear.min:,} to {wear.max:,}", f"{result.waf:.3f}", f"{len(result.replays)}"]
        rows.append([workload, name, *cells])
    heads = ["workload", "scheme", *(name for name, _ in WORN), "cycles at the end", "WAF", "times"]
    return grid(heads, rows)


def codes(study: Study) -> list[str]:
    """Return the lifetime with LDPC and with BCH, and the pages that BCH cannot read (V14)."""
    kinds: dict[str, list[str]] = {"LDPC": [], "BCH": BCH}
    plans = [
        study.life(LIVES[0], Drive(BASE, ("start.pe_cycles=0", *code))) for code in kinds.values()
    ]
    results = study.kept.compare(plans, "codes")
    rows = []
    for (name, code), result in zip(kinds.items(), results, strict=True):
        middle = last_cycles(ssdlab.Plan(device=DEVICE, set=code))
        assert middle is not None
        own = life_of(result)
        cells = [f"{written / 1e12:.3f} TB, {cycles:,.0f}" for written, cycles in own]
        rows.append([name, *cells, f"{middle:,.0f}"])
    lines = grid(["code", *(name for name, _ in WORN), "the median block"], rows)
    base, bch = study.results("uncorrectable", [Drive(BASE), Drive(BASE, tuple(BCH))])
    rows = []
    for workload, one, other in zip(WORKLOADS, base, bch, strict=True):
        pages = sum(other.ops["read"].values())
        share = f"{100 * other.uncorrectable / pages:.1f} %"
        cells = [f"{pages:,}", f"{one.uncorrectable:,}", f"{other.uncorrectable:,}", share]
        reads = f"{read_us(other):.0f} µs ({change(read_us(other), read_us(one))})"
        rows.append([workload, *cells, reads])
    lines += ["Pages that could not be decoded, of all that are read, at 4,500 cycles:", ""]
    heads = ["workload", "pages read", "uncorrectable, LDPC", "BCH", "share", "its reads"]
    return lines + grid(heads, rows)


def read_counts(plan: ssdlab.Plan) -> dict[str, float]:
    """Run a plan; return the shares of pages and of reads by how often a page is read."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        ssdlab.run(replace(plan, log=log))
        table = pq.read_table(log, columns=["number", "op", "lba", "sectors"])
    table = table.sort_by("number")
    sectors = 4 * KIB // SECTOR
    counts: Counter[int] = Counter()
    # The reads of each page since its last write.
    since: dict[int, int] = {}
    written: set[int] = set()
    of_written = late = 0
    requests = (table[name].to_pylist() for name in ("op", "lba", "sectors"))
    for op, lba, length in zip(*requests, strict=True):
        for page in range(lba // sectors, (lba + length - 1) // sectors + 1):
            if op == "write":
                written.add(page)
                since[page] = 0
            elif op == "read":
                before = since.get(page, 0)
                counts[page] += 1
                since[page] = before + 1
                of_written += page in written
                late += before >= THRESHOLD
    reads = counts.total()
    seldom = [count for count in counts.values() if count <= 2]
    often = [count for count in counts.values() if count > 10]
    return {
        "pages": len(counts),
        "reads": reads,
        "most": max(counts.values()),
        "pages seldom": 100 * len(seldom) / len(counts),
        "pages often": 100 * len(often) / len(counts),
        "reads seldom": 100 * sum(seldom) / reads,
        "reads often": 100 * sum(often) / reads,
        "written": 100 * of_written / reads,
        "late": 100 * late / reads,
    }


def by_read_count(study: Study) -> list[str]:
    """Return how often the pages of each workload are read (V10, V12)."""
    names = ["pages seldom", "pages often", "reads seldom", "reads often", "written", "late"]
    rows = []
    jobs = [Job(study.plan(workload, Drive(BASE)), read_counts) for workload in WORKLOADS]
    found = study.kept.compare(jobs, "reads by page")
    for workload, own in zip(WORKLOADS, found, strict=True):
        cells = [f"{own[name]:,}" for name in ("pages", "reads", "most")]
        rows.append([workload, *cells, *(f"{own[name]:.1f} %" for name in names)])
    means = {name: fmean(one[name] for one in found) for name in names}
    rows.append(["**mean**", "", "", "", *(f"**{one:.1f} %**" for one in means.values())])
    heads = ["workload", "pages read", "reads of pages", "most of one page"]
    heads += ["read once or twice", "more than 10 times", "reads of the first", "of the second"]
    heads += ["of pages written before", "after three since the last write"]
    return grid(heads, rows)


def memory(study: Study) -> list[str]:
    """Return the metadata of a controller with three groups (V13)."""
    result = study.results("memory", [Drive("pv-read")])[0][0]
    rows = [[name, f"{size / KIB:,.0f} KiB"] for name, size in result.metadata_bytes.items()]
    return grid(["held", "memory"], rows)


def main() -> None:
    """Measure and write the page."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    study = Study(Kept(), limit)
    sections: list[tuple[str, Callable[[Study], list[str]]]] = [
        ("Reads by workload", by_workload),
        ("Where a read starts", where_reads_start),
        (
            "How much is set apart",
            partial(of_setting, key="metadata.block_class.measured.read_hot_share", values=APART),
        ),
        ("Moves by groups", of_groups),
        (
            "When a page is hot",
            partial(of_setting, key="background.read_hot_migration.threshold", values=THRESHOLDS),
        ),
        ("How often pages are read", by_read_count),
        ("Memory", memory),
        ("How much of the page map is held", of_map_cache),
        ("Stages of life, and widths", life_stages),
        ("Lifetime", lifetime),
        ("LDPC and BCH", codes),
    ]
    cut = "in full" if limit is None else f"of which the first {limit:,} requests ran"
    about = (
        f"The twins {cut}, seed 1, ssdlab {ssdlab.__version__}. Reads are changes of their mean "
        f"response in percent of the same drive's under `{BASE}`; means count each workload alike. "
        "Moves are pages, in percent of all requests."
    )
    write(PAGE, MARK, about, ((title, lines(study)) for title, lines in sections))


if __name__ == "__main__":
    main()
