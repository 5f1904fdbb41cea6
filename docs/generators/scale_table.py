"""Measure how the cost of a request grows with drive size, run length and footprint.

``make scale`` runs this script. It writes the end of docs/project/performance.md, its figures, and
``benches/runs/scale/raw.json``. Each run has its own process. The runs of a figure take turns, so
that a busy minute of the machine affects all cases. Of each case, the fastest run counts.
``--draw`` writes page and figures anew from the raw values, without a measurement.
"""

from __future__ import annotations

import json
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from typing import Any, TypeVar

import altair as alt
from machine import commit, processor

import ssdlab
from ssdlab.render.figures import drawing
from ssdlab.render.figures.base import Figure, inline_data
from ssdlab_reproduction.tables.common import DOCS, ROOT, grid, write

PAGE = DOCS / "project" / "performance.md"
FIGURES = DOCS / "project" / "performance"
RAW = ROOT / "benches/runs/scale/raw.json"
MARK = "<!-- measured: written by `make scale` -->\n"
DEVICE = "generic-mlc-512g"
T = TypeVar("T")
TURNS = 3
REQUESTS = 2_000_000
LONG = 100_000_000
PARTS = 10
BLOCKS_A_TIB = 2048
"""Blocks per plane at which the device has 1 TiB, in pages of 16 KiB."""
SIZES_GIB = [64, 256, 1024, 4096, 16384]
FOOTPRINTS_GIB = [1, 4, 16, 64, 256, 1024, 4096]
FOOTPRINT_GIB = 16
STARTS = {"new": [], "70 % full": ["start.fill=0.7"]}


_Case = tuple[int, str]
"""A size in GiB and a label."""


@dataclass(frozen=True)
class Cost:
    """The cost of a run: wall time in nanoseconds, memory in MB, set-up time in seconds."""

    request_ns: float
    page_op_ns: float
    peak_rss_mb: float
    ready_s: float


def _sized(size_gib: int, footprint_gib: int) -> list[str]:
    return [
        "geometry.page_size=16KiB",
        f"geometry.blocks={size_gib * BLOCKS_A_TIB // 1024}",
        f"workload.footprint={footprint_gib}GiB",
        f"workload.requests={REQUESTS}",
    ]


def _cost(settings: Sequence[str]) -> Cost:
    """Return the cost of ``random`` on the device with these settings."""
    sim = ssdlab.run(device=DEVICE, workload="random", seed=1, set=list(settings)).sim
    return Cost(
        1e9 / sim.requests_per_s, 1e9 / sim.page_ops_per_s, sim.peak_rss_mb or 0, sim.ready_s
    )


def _parts(requests: int) -> list[float]:
    """Return the nanoseconds per request in each part of a run on the unchanged device."""
    seen: list[tuple[int, float]] = []

    def note(progress: list[tuple[float | None, int, bool, bool]]) -> None:
        seen.append((progress[0][1], time.perf_counter()))

    settings = [f"workload.requests={requests}"]
    ssdlab.run(device=DEVICE, workload="random", seed=1, set=settings, progress=note)

    def when(done: int) -> float:
        at = min(max(bisect_left(seen, (done, 0.0)), 1), len(seen) - 1)
        (less, before), (more, after) = seen[at - 1], seen[at]
        return before + (after - before) * (done - less) / max(more - less, 1)

    part = requests // PARTS
    return [(when(n * part + part) - when(n * part)) * 1e9 / part for n in range(PARTS)]


def _alone(work: Callable[..., T], *arguments: Any) -> T:
    """Call a function in its own process, with its own memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _in_turns(cases: dict[_Case, list[str]]) -> dict[_Case, Cost]:
    best: dict[_Case, Cost] = {}
    for turn in range(TURNS):
        for (gib, about), settings in cases.items():
            print(f"turn {turn + 1}: {_size(gib)} {about}", file=sys.stderr, flush=True)
            cost = _alone(_cost, settings)
            if (gib, about) not in best or cost.request_ns < best[gib, about].request_ns:
                best[gib, about] = cost
    return best


def _spread(costs: Sequence[float]) -> float:
    return max(costs) / min(costs)


def _size(gib: int) -> str:
    return f"{gib} GiB" if gib < 1024 else f"{gib // 1024} TiB"


def _line(name: str, title: str, what: str, x: alt.X, rows: list[dict[str, Any]]) -> Figure:
    cost = alt.Y("ns:Q", title="Wall time a request (ns)").scale(domainMin=0)
    kinds = list(dict.fromkeys(row["label"] for row in rows))
    legend = alt.Legend(title=None) if len(kinds) > 1 else None
    color = alt.Color("label:N", legend=legend).scale(domain=kinds)
    chart = alt.Chart(inline_data(rows)).mark_line(point=True).encode(x=x, y=cost, color=color)
    return Figure(name, "Scale", title, what, chart)


def _figures(
    sizes: dict[_Case, Cost], long: list[float], footprints: dict[_Case, Cost]
) -> Iterator[Figure]:
    def by_gib(costs: dict[_Case, Cost]) -> list[dict[str, Any]]:
        return [
            {"gib": gib, "label": about, "ns": cost.request_ns}
            for (gib, about), cost in costs.items()
        ]

    def gib(title: str, values: Sequence[int]) -> alt.X:
        axis = alt.Axis(values=list(values), labelExpr=_LABEL)
        return alt.X("gib:Q", title=title, axis=axis).scale(type="log", base=4)

    yield _line(
        "scale-size",
        "Size of the drive",
        f"Of each drive {FOOTPRINT_GIB} GiB are used.",
        gib("Size of the drive", SIZES_GIB),
        by_gib(sizes),
    )
    part = LONG / PARTS / 1e6
    yield _line(
        "scale-length",
        "Length of the run",
        f"Each point is the mean of {part:.0f} million requests; {FOOTPRINT_GIB} GiB are used.",
        alt.X("at:Q", title="Requests (million)"),
        [{"at": (n + 1) * part, "label": "", "ns": ns} for n, ns in enumerate(long)],
    )
    yield _line(
        "scale-footprint",
        "Footprint",
        f"Of a new drive of {_size(SIZES_GIB[-1])}.",
        gib("Footprint", FOOTPRINTS_GIB),
        by_gib(footprints),
    )


_LABEL = "datum.value < 1024 ? datum.value + ' GiB' : datum.value / 1024 + ' TiB'"


def _rows(costs: dict[_Case, Cost]) -> Iterator[list[str]]:
    for (gib, about), cost in costs.items():
        figures = (f"{cost.request_ns:.0f}", f"{cost.page_op_ns:.0f}", f"{cost.peak_rss_mb:,.0f}")
        yield [_size(gib), about, *figures, f"{cost.ready_s:.2f}"]


def _raw(costs: dict[_Case, Cost]) -> list[dict[str, Any]]:
    return [{"gib": gib, "start": about, **asdict(cost)} for (gib, about), cost in costs.items()]


def _costs(raw: list[dict[str, Any]]) -> dict[_Case, Cost]:
    """Return the costs that :func:`_raw` wrote."""
    return {
        (one["gib"], one["start"]): Cost(**{field.name: one[field.name] for field in fields(Cost)})
        for one in raw
    }


def _measure() -> dict[str, Any]:
    """Measure, and return the raw values."""
    sizes = _in_turns(
        {
            (gib, about): [*_sized(gib, FOOTPRINT_GIB), *start]
            for about, start in STARTS.items()
            for gib in SIZES_GIB
        }
    )
    footprints = _in_turns({(gib, "new"): _sized(SIZES_GIB[-1], gib) for gib in FOOTPRINTS_GIB})
    print(f"{LONG:,} requests", file=sys.stderr, flush=True)
    long = _alone(_parts, LONG)
    return {
        "date": time.strftime("%F"),
        "commit": commit(),
        "version": ssdlab.__version__,
        "processor": processor(),
        "sizes": _raw(sizes),
        "footprints": _raw(footprints),
        "long_request_ns": long,
    }


def figures_of(raw: dict[str, Any]) -> list[Figure]:
    """Return the figures of raw values."""
    sizes, footprints = _costs(raw["sizes"]), _costs(raw["footprints"])
    return list(_figures(sizes, raw["long_request_ns"], footprints))


def main() -> None:
    """Measure and save the raw values, unless they are only drawn; write figures and page."""
    if sys.argv[1:] != ["--draw"]:
        RAW.parent.mkdir(parents=True, exist_ok=True)
        RAW.write_text(json.dumps(_measure(), indent=2) + "\n", encoding="utf-8")
    raw = json.loads(RAW.read_text(encoding="utf-8"))
    FIGURES.mkdir(exist_ok=True)
    for figure in figures_of(raw):
        (FIGURES / f"{figure.name}.svg").write_bytes(drawing.draw(figure)["svg"])
    about, sections = contents(raw)
    write(PAGE, MARK, about, sections)


def contents(raw: dict[str, Any]) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return what the page has of raw values: its first paragraph, and titles with their lines."""
    sizes, footprints = _costs(raw["sizes"]), _costs(raw["footprints"])
    long = raw["long_request_ns"]
    drawn: dict[str, list[str]] = {}
    for figure in figures_of(raw):
        picture = f"![{figure.title}]({FIGURES.name}/{figure.name}.svg)"
        drawn[figure.name] = [f"{figure.what}", "", picture, ""]
    heads = ["start", "ns a request", "ns a page operation", "peak RSS, MB", "ready, s"]
    within = {about: _spread(_relative_costs(sizes, about)) for about in STARTS}
    spreads = ", ".join(f"{spread:.2f}× {about}" for about, spread in within.items())
    about = (
        f"`{DEVICE}` under `random`. Sizes and footprints: the fastest of {TURNS} runs of "
        f"{REQUESTS:,} requests, with pages of 16 KiB and as many blocks as the size needs. "
        f"Length: one run of {LONG:,} requests on the unchanged preset, with pages of 8 KiB. "
        f"{raw['processor']}, ssdlab {raw['version']} "
        "([raw](../../benches/runs/scale/raw.json))."
    )
    return about, [
        (
            f"Size of the drive: a request costs within {spreads}",
            [*drawn["scale-size"], *grid(["drive", *heads], _rows(sizes))],
        ),
        (
            f"Length of the run: a request costs within {_spread(long):.2f}×",
            drawn["scale-length"],
        ),
        (
            "Footprint",
            [*drawn["scale-footprint"], *grid(["footprint", *heads], _rows(footprints))],
        ),
    ]


def _relative_costs(costs: dict[_Case, Cost], about: str) -> list[float]:
    return [cost.request_ns for (_, start), cost in costs.items() if start == about]


if __name__ == "__main__":
    main()
