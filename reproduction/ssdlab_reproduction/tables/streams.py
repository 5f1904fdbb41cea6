"""Write the tables of docs/systems/sepbit.md: write amplification with SepBIT and without.

``make streams`` runs this program; docs/systems/sepbit.md says how long it takes.
``SSDLAB_TRACES=DIR`` also runs real traces: DIR has folders, each with a ``trace.csv`` (or ``.gz``,
``.xz``, ``.zst``). Of these traces, the writes of those run that overwrite much of their data.
Finished runs are kept in ``build/reproduction``, so that a stopped run can be resumed.
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
"""The share of pages without data when the drive is full: the paper's share of garbage."""
BLOCKS, PAGES = 1280, 64
SEEDS = (1, 2, 3)
SETTLE, COUNTED = 6, 3
"""How many times a drive is overwritten before figures count, and while they count."""
PAGE_EVERY_US = 10_000
"""The mean time between two written pages, enough for the drive to finish collection."""
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
"""A trace is cut after it has written its footprint so many times."""
LEAST_PAGES, LEAST_REWRITTEN, LEAST_WRITES = 3000, 1.25, 0.5
"""The minimum footprint in pages, the minimum of pages written per page of it, and the least share
of writes, for a trace to run.
"""
DEVICE_BITS = 48
"""The number of pages of a device is below two to this power."""
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
        """Return the number of blocks without data when the drive is full."""
        return round(SPARE * self.blocks)

    @property
    def logical(self) -> int:
        """Return the number of pages that the host can address."""
        return (self.blocks - self.spare) * self.pages

    def settings(self) -> list[str]:
        """Return the settings that turn the preset into this drive."""
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
    """The writes of a trace, with its written pages placed one behind the other."""

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
        """Return the number of replays; only the last counts."""
        return 1 + math.ceil(SETTLE * self.footprint / self.pages)


def shape_for(footprint: int) -> Shape:
    """Return the smallest drive for so many pages that has enough blocks."""
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
    """Return a run of a workload that writes single pages over the whole drive."""
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
    """Return a run that replays the writes of a trace."""
    return ssdlab.Plan(
        device=DEVICE,
        trace=trace.file,
        seed=seed,
        precondition="steady",
        replays=trace.replays,
        set=[*trace.shape.settings(), *KINDS[kind]],
    )


def is_run(writes: float, pages: int, footprint: int) -> bool:
    """Tell whether a trace runs, by its share of writes, its written pages, and its footprint."""
    return (
        writes > LEAST_WRITES and footprint >= LEAST_PAGES and pages >= LEAST_REWRITTEN * footprint
    )


def written(trace: Path, folder: Path) -> Written | None:
    """Extract the writes of a trace; return None if the trace does not run.

    Each becomes a write of whole pages. The written pages of all devices lie one behind the other,
    in their order. Requests arrive so slowly that the drive finishes collection between them.
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
    # The drive has no room for pages that only the dropped rest of the trace writes.
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
    """Return the first page and the number of pages of each request; devices do not overlap."""
    offsets, sizes = (table[name].to_numpy() for name in ("offset_bytes", "size_bytes"))
    devices = np.unique(table["dev"].to_numpy(), return_inverse=True)[1]
    first = offsets // PAGE
    counts = (offsets + sizes - 1) // PAGE - first + 1
    return first + (devices << DEVICE_BITS), counts


def find_traces(folder: Path, out: Path) -> list[Written]:
    """Return the traces in a folder of folders that run, each reduced to its writes."""
    out.mkdir(exist_ok=True, parents=True)
    found = [written(one, out) for one in sorted(folder.glob("*/trace.csv*"))]
    return [one for one in found if one is not None]


def waf(result: ssdlab.Result) -> float:
    """Return the write amplification of a drive that kept up with its requests.

    Raises :class:`SystemExit` if the drive was saturated.
    """
    assert result.waf is not None
    if result.saturated:
        raise SystemExit(
            f"{result.workload}: the drive could not keep up, so its WAF means nothing"
        )
    return result.waf


def about(values: Sequence[float], form: str = ".2f") -> str:
    """Return a mean with its interval as text."""
    found = interval(values)
    return f"{found.mean:{form}} ± {found.half_width_95:{form.removeprefix('+')}}"


def changes(own: Sequence[float], bases: Sequence[Sequence[float]]) -> list[str]:
    """Return the changes in percent against each of some bases, seed by seed, as text."""
    return [
        about([percent(*pair) for pair in zip(own, base, strict=True)], "+.1f") for base in bases
    ]


def first_pass(results: Sequence[ssdlab.Result]) -> list[float]:
    """Return the write amplification of the first replay of a trace."""
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
        """Yield a row for each of these loads."""
        for load in loads:
            each = {kind: [waf(one) for one in self.found[load, kind]] for kind in KINDS}
            against = changes(each[BOTH], [each[NOT_APART], each[APART]])
            yield [load, *map(about, each.values()), *against]


AGAINST = [f"against {NOT_APART}, %", f"against {APART}, %"]
HEADS = ["", *KINDS, *AGAINST]


def by_workload(study: Study) -> Iterator[str]:
    """Yield the write amplification of each workload."""
    yield from grid(HEADS, study.rows(list(WORKLOADS)))


def by_trace(study: Study) -> Iterator[str]:
    """Yield the write amplification of each trace, and how it was run."""
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
    """Yield the programs and the valid pages of each stream."""
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
    """Yield the same workloads with a victim policy that lets young blocks wait."""
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
    """Yield the cost of open blocks under uniform writes, where nothing can be gained."""
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
    """Measure and write the page."""
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
