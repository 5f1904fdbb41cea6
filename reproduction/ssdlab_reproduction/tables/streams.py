"""Write the tables of docs/systems/sepbit.md: write amplification with SepBIT and without.

Run by ``make streams``; docs/systems/sepbit.md says how long it takes. With ``SSDLAB_TRACES=DIR``,
a folder of folders each with a ``trace.csv`` (or ``.gz``, ``.xz``, ``.zst``), the writes of those
that overwrite much of what they write are run, too. Finished runs are kept in
``build/reproduction``: what was stopped goes on there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import ssdlab
from ssdlab import traces
from ssdlab.confidence import interval
from ssdlab_reproduction.statistics import percent
from ssdlab_reproduction.tables.common import DOCS, Kept, grid, write

DEVICE = "generic-mlc-512g"
PAGE = 4096
SPARE = 0.15
"""Of all pages, those that hold no data when the drive is full: the paper's share of garbage."""
BLOCKS, PAGES = 1280, 64
SEEDS = (1, 2, 3)
SETTLE, COUNTED = 6, 3
"""How often a drive is overwritten before figures count, and while they do."""
PAGE_EVERY_US = 10_000
"""Time from one page that is written to the next, the mean: the drive has collected by then."""
WORKLOADS: Mapping[str, str] = {
    "uniform": "random",
    "Zipf, 0.6": "{zipf={theta=0.6}}",
    "Zipf, 0.99": "{zipf={theta=0.99}}",
    "Zipf, 1.2": "{zipf={theta=1.2}}",
    "hot and cold, 80/20": "hotcold",
}
NOT_APART = "nothing apart"
APART = "moved pages apart"
HOST, GC, BOTH = "`host` alone", "`gc` alone", "`sepbit`"
KINDS: Mapping[str, Sequence[str]] = {
    NOT_APART: ["ftl.gc_stream=shared"],
    APART: [],
    HOST: ["placement=[{sepbit={gc=false}}]"],
    GC: ["placement=[{sepbit={host=false}}]"],
    BOTH: ["placement=[sepbit]"],
}
VICTIM = "background.gc.victim=cost_benefit"
SHAPES = ((160, 512), (320, 256), (640, 128), (1280, 64), (2560, 32))
"""Blocks and pages of drives of the same size."""
TRACES = "SSDLAB_TRACES"
PIECE_MOST = COUNTED
"""A trace is cut where it has written its footprint so often."""
LEAST_PAGES, LEAST_REWRITTEN, LEAST_WRITES = 3000, 1.25, 0.5
"""Traces that are run have so many pages, write so much more, and write with so many requests."""
DEVICE_BITS = 48
"""A device has fewer pages than so many bits tell apart."""
LEAST_BLOCKS, BLOCK_SIZES = 512, (64, 32, 16, 8)
Numbers = npt.NDArray[np.int64]
PAGE_FILE = DOCS / "systems" / "sepbit.md"
MARK = "<!-- measured: written by `make streams` -->\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """A drive of one plane."""

    blocks: int
    pages: int

    @property
    def spare(self) -> int:
        """Return the blocks that hold no data when the drive is full."""
        return round(SPARE * self.blocks)

    @property
    def logical(self) -> int:
        """Return the pages that the host can address."""
        return (self.blocks - self.spare) * self.pages

    def settings(self) -> list[str]:
        """Return what makes the preset this drive."""
        return [
            *(f"geometry.{part}=1" for part in ("channels", "chips", "dies", "planes")),
            f"geometry.blocks={self.blocks}",
            f"geometry.pages={self.pages}",
            f"geometry.page_size={PAGE}B",
            f"ftl.overprovisioning={self.spare / self.blocks!r}",
            "background.gc.threshold=1%",
        ]


@dataclass(frozen=True, slots=True)
class Written:
    """The writes of a trace, to as many pages as it writes, one behind the other."""

    name: str
    file: Path
    requests: int
    pages: int
    footprint: int

    @property
    def shape(self) -> Shape:
        """Return the drive that its pages fill."""
        return shape_for(self.footprint)

    @property
    def replays(self) -> int:
        """Return how often it is run: the last time counts."""
        return 1 + math.ceil(SETTLE * self.footprint / self.pages)


def shape_for(footprint: int) -> Shape:
    """Return the smallest drive for so many pages, in blocks that are not too few."""
    for pages in BLOCK_SIZES:
        blocks = footprint // pages
        while Shape(blocks, pages).logical < footprint:
            blocks += 1
        if blocks >= LEAST_BLOCKS:
            break
    return Shape(blocks, pages)


def workload_plan(
    kind: str, workload: str, shape: Shape, seed: int, more: Sequence[str] = ()
) -> ssdlab.Plan:
    """Return a run of a workload that writes page by page all over the drive."""
    return ssdlab.Plan(
        device=DEVICE,
        seed=seed,
        precondition="steady",
        warmup=SETTLE * shape.logical,
        set=[
            *shape.settings(),
            *KINDS[kind],
            *more,
            f"workload.kind={WORKLOADS[workload]}",
            "workload.read_share=0",
            f"workload.sizes=[{PAGE}B]",
            f"workload.footprint={shape.logical * PAGE}B",
            f"workload.interarrival={PAGE_EVERY_US}us",
            f"workload.requests={(SETTLE + COUNTED) * shape.logical}",
        ],
    )


def trace_plan(kind: str, trace: Written, seed: int) -> ssdlab.Plan:
    """Return a run of a trace's writes, again and again."""
    return ssdlab.Plan(
        device=DEVICE,
        trace=trace.file,
        seed=seed,
        precondition="steady",
        replays=trace.replays,
        set=[*trace.shape.settings(), *KINDS[kind]],
    )


def is_run(writes: float, pages: int, footprint: int) -> bool:
    """Tell whether a trace is run: its share of writes, pages that it writes, and distinct ones."""
    return (
        writes > LEAST_WRITES and footprint >= LEAST_PAGES and pages >= LEAST_REWRITTEN * footprint
    )


def written(trace: Path, folder: Path) -> Written | None:
    """Take the writes out of a trace, or nothing if it is not run.

    Each becomes a write of whole pages. The pages that are written, of all devices, lie one behind
    the other in their order, and requests come so slowly that the drive has collected by then.
    """
    file = folder / f"{trace.parent.name}.parquet"
    traces.convert(trace, file)
    table = pq.read_table(file)
    is_write = table["op"].to_numpy() == "W"
    first, counts = pages_of(table.filter(is_write))
    before = counts.cumsum() - counts
    each = np.repeat(first - before, counts) + np.arange(counts.sum())
    distinct, places = np.unique(each, return_inverse=True)
    if not is_run(float(np.mean(is_write)), len(each), len(distinct)):
        file.unlink()
        return None
    kept = before + counts <= PIECE_MOST * len(distinct)
    pages = int(counts[kept].sum())
    # What only the rest of the trace writes is left out of the drive.
    distinct, places = np.unique(places[:pages], return_inverse=True)
    columns = {
        "time_us": before[kept] * PAGE_EVERY_US,
        "op": pa.array(["W"] * int(kept.sum())),
        "offset_bytes": places[before[kept]] * PAGE,
        "size_bytes": counts[kept] * PAGE,
    }
    pq.write_table(pa.table(columns), file)
    return Written(trace.parent.name, file, int(kept.sum()), pages, len(distinct))


def pages_of(table: pa.Table) -> tuple[Numbers, Numbers]:
    """Return the first page of each request, those of one device behind another's, and how many."""
    offsets, sizes = (table[name].to_numpy() for name in ("offset_bytes", "size_bytes"))
    devices = np.unique(table["dev"].to_numpy(), return_inverse=True)[1]
    first = offsets // PAGE
    counts = (offsets + sizes - 1) // PAGE - first + 1
    return first + (devices << DEVICE_BITS), counts


def find_traces(folder: Path, out: Path) -> list[Written]:
    """Return the traces of a folder of folders that are run, each as its writes alone."""
    out.mkdir(exist_ok=True, parents=True)
    found = [written(one, out) for one in sorted(folder.glob("*/trace.csv*"))]
    return [one for one in found if one is not None]


def waf(result: ssdlab.Result) -> float:
    """Return the write amplification of a drive that kept up with what it was asked for."""
    assert result.waf is not None
    if result.saturated:
        raise SystemExit(
            f"{result.workload}: the drive could not keep up, so its WAF means nothing"
        )
    return result.waf


def about(values: Sequence[float], form: str = ".2f") -> str:
    """Write a mean with its interval."""
    found = interval(values)
    return f"{found.mean:{form}} ± {found.half_width_95:{form.removeprefix('+')}}"


def changes(own: Sequence[float], bases: Sequence[Sequence[float]]) -> list[str]:
    """Write the changes in percent of each of some bases, seed by seed."""
    return [
        about([percent(*pair) for pair in zip(own, base, strict=True)], "+.1f") for base in bases
    ]


def first_pass(results: Sequence[ssdlab.Result]) -> list[float]:
    """Return the write amplification of the first time that a trace is run."""
    return [one.replays[0].waf or 1.0 for one in results]


@dataclass(slots=True)
class Study:
    """The runs."""

    kept: Kept
    traces: Sequence[Written] = ()
    found: dict[tuple[str, str], list[ssdlab.Result]] = field(default_factory=dict)

    def run(self) -> None:
        """Run every workload and trace under every kind with every seed."""
        drive = Shape(BLOCKS, PAGES)
        plans = {
            (load, kind): [workload_plan(kind, load, drive, seed) for seed in SEEDS]
            for load in WORKLOADS
            for kind in KINDS
        }
        plans |= {
            (trace.name, kind): [trace_plan(kind, trace, seed) for seed in SEEDS]
            for trace in self.traces
            for kind in KINDS
        }
        groups = self.kept.groups(list(plans.values()), "workloads and traces")
        self.found = dict(zip(plans, groups, strict=True))

    def rows(self, loads: Sequence[str]) -> Iterator[list[str]]:
        """Return a row for each of these loads."""
        for load in loads:
            each = {kind: [waf(one) for one in self.found[load, kind]] for kind in KINDS}
            against = changes(each[BOTH], [each[NOT_APART], each[APART]])
            yield [load, *map(about, each.values()), *against]


AGAINST = [f"against {NOT_APART}, %", f"against {APART}, %"]
HEADS = ["", *KINDS, *AGAINST]


def by_workload(study: Study) -> Iterator[str]:
    """Show the write amplification of each workload."""
    yield from grid(HEADS, study.rows(list(WORKLOADS)))


def by_trace(study: Study) -> Iterator[str]:
    """Show the write amplification of each trace, and what was run of it."""
    if not study.traces:
        yield from [f"`{TRACES}` named no folder of traces when these tables were written.", ""]
        return
    yield from grid(HEADS, study.rows([one.name for one in study.traces]))
    rows = []
    for one in study.traces:
        first = {kind: first_pass(study.found[one.name, kind]) for kind in KINDS}
        cells = [f"{one.requests:,}", f"{one.footprint * PAGE / 1e6:,.0f} MB"]
        cells += [f"{one.pages / one.footprint:.1f}", f"{one.replays}"]
        drive = f"{one.shape.blocks:,} of {one.shape.pages} pages, {one.shape.spare} spare"
        against = changes(first[BOTH], [first[NOT_APART], first[APART]])
        rows.append([one.name, *cells, drive, *against])
    heads = ["", "writes", "footprint", "written, in footprints", "times run"]
    first_heads = [f"the first time, {against}" for against in AGAINST]
    yield from grid([*heads, "blocks of the drive", *first_heads], rows)


def by_stream(study: Study) -> Iterator[str]:
    """Show what became of the pages of each stream."""
    loads = [*WORKLOADS, *(one.name for one in study.traces)]
    rows = []
    for load in loads:
        streams = study.found[load, BOTH][0].streams
        programs = sum(one.host_pages + one.moved_pages for one in streams)
        cells = [f"{100 * (one.host_pages + one.moved_pages) / programs:.0f}" for one in streams]
        valid = [
            f"{100 * one.valid_share:.0f}" if one.valid_share is not None else "–"
            for one in streams
        ]
        rows.append([load, " / ".join(cells), " / ".join(valid)])
    heads = ["", "programs by class, %", "valid in blocks that are collected, %"]
    yield from grid(heads, rows)


def by_victim(study: Study) -> Iterator[str]:
    """Show the same workloads where a young block waits before it is collected."""
    kinds = (NOT_APART, APART, BOTH)
    drive = Shape(BLOCKS, PAGES)
    plans = [
        [workload_plan(kind, load, drive, seed, [VICTIM]) for seed in SEEDS]
        for load in WORKLOADS
        for kind in kinds
    ]
    found = iter(study.kept.groups(plans, "collection by cost and benefit"))
    rows = []
    for load in WORKLOADS:
        each = [[waf(one) for one in next(found)] for _ in kinds]
        rows.append([load, *map(about, each), *changes(each[-1], each[:-1])])
    yield from grid(["", *kinds, *AGAINST], rows)


def by_shape(study: Study) -> Iterator[str]:
    """Show what open blocks cost where nothing is to be gained: uniform writes."""
    kinds = (APART, BOTH)
    groups = study.kept.groups(
        [
            [workload_plan(kind, "uniform", Shape(*shape), seed) for seed in SEEDS]
            for shape in SHAPES
            for kind in kinds
        ],
        "blocks of the drive",
    )
    found = iter([[waf(one) for one in group] for group in groups])
    rows = []
    for shape in SHAPES:
        plain, own = next(found), next(found)
        cells = [f"{shape[0]:,}", f"{Shape(*shape).spare}", about(plain), about(own)]
        rows.append([*cells, *changes(own, [plain])])
    yield from grid(["blocks", "spare", *kinds, "change, %"], rows)


def main() -> None:
    """Measure and write."""
    kept = Kept()
    folder = os.environ.get(TRACES)
    study = Study(kept, find_traces(Path(folder), kept.folder / "streams") if folder else ())
    study.run()
    sections = [
        ("Workloads", by_workload),
        ("Real traces", by_trace),
        ("The classes", by_stream),
        ("Collection by cost and benefit", by_victim),
        ("Open blocks, under uniform writes", by_shape),
    ]
    made = [(title, list(lines(study))) for title, lines in sections]
    text = (
        f"Write amplification, means of seeds {', '.join(map(str, SEEDS))} with their 95 % "
        f"intervals; the classes with seed {SEEDS[0]}. ssdlab {ssdlab.__version__}."
    )
    write(PAGE_FILE, MARK, text, made)


if __name__ == "__main__":
    main()
