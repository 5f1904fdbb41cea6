"""Write the tables of docs/pa-ssd.md: the schemes of PA-SSD on its eight workloads, in full.

Run by ``make pa-ssd``; half an hour on two cores. The workloads are twins (docs/twins.md).
``python docs/pa_ssd_table.py REQUESTS`` stops each after so many requests, for a first look.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean

from tables import change, grid

import ssdlab
from ssdlab.names import by_type
from ssdlab.text import digits

DEVICE = "pa-ssd-tlc-288g"
BASE = "conventional"
SCHEMES = ["us", "lfs", "sbs+us", "sbs+ubs", "qds+us", "qds+ubs"]
WORKLOADS = ["fin", "ra", "dap", "rbess", "dtr", "exch", "msfs", "bs"]
# What of the drive works at a time: the paper does not say.
ARRAYS = {"plane": "Planes work by themselves", "chip": "A chip does one thing at a time"}
SETTINGS: dict[str, dict[str, object]] = {
    "plane": {"flash.array": "plane"},
    "chip": {"flash.array": "chip", "flash.multi_plane": False},
}
LONG = ["lfs", "qds+us", "qds+ubs"]
SCALES = [1.0, 0.5, 0.2, 0.1, 0.05]
INTENSE = 3_000_000
"""Requests of MSFS at each scale of its times."""
QUARTER = "15min"
PAGE = Path(__file__).with_name("pa-ssd.md")
MARK = "<!-- measured: written by `make pa-ssd` -->\n"

Runs = dict[tuple[str, str], ssdlab.Result]


def write_us(result: ssdlab.Result) -> float:
    """Return the mean latency of writes."""
    return result.write.latency_us.mean


def run(array: str, limit: int | None) -> Runs:
    """Return the result of every workload and scheme."""
    keys = [(workload, scheme) for workload in WORKLOADS for scheme in [BASE, *SCHEMES]]
    plans = [
        ssdlab.Plan(
            device=DEVICE,
            workload=f"pa-ssd/{workload}",
            scheme=scheme,
            set=SETTINGS[array],
            limit=limit,
            detail=True,
            interval=QUARTER,
        )
        for workload, scheme in keys
    ]
    return dict(zip(keys, ssdlab.compare(plans), strict=True))


def against_conventional(runs: Runs) -> list[str]:
    """Return writes and reads of every scheme, in percent of the conventional drive's."""
    rows = []
    for workload in WORKLOADS:
        base = runs[workload, BASE]
        cells = [f"{write_us(base) / 1e3:.2f} ms", f"{base.read.latency_us.mean:.0f} µs"]
        for scheme in SCHEMES:
            one = runs[workload, scheme]
            reads = change(one.read.latency_us.mean, base.read.latency_us.mean)
            cells.append(f"{change(write_us(one), write_us(base))} / {reads}")
        rows.append([workload, f"{base.requests:,}", *cells])
    means = []
    for scheme in SCHEMES:
        pair = [
            fmean(
                100 * (kind(runs[workload, scheme]) / kind(runs[workload, BASE]) - 1)
                for workload in WORKLOADS
            )
            for kind in (write_us, lambda result: result.read.latency_us.mean)
        ]
        means.append(" / ".join(f"**{mean:+.0f}**" for mean in pair))
    rows.append(["**mean**", "", "", "", *means])
    return grid(["workload", "requests", "writes", "reads", *SCHEMES], rows)


def page_types(runs: Runs) -> list[str]:
    """Return which pages DAP's writes waited for, how often a wish was granted, and collections."""
    rows = []
    for scheme in [BASE, *SCHEMES]:
        all_of = [runs[workload, scheme] for workload in WORKLOADS]
        types = [one.page_types for one in all_of if one.page_types is not None]
        dominated = by_type(runs["dap", scheme].dominated)
        shares = [f"{100 * count / sum(dominated):.0f} %" for count in dominated]
        granted, wished = (
            sum(sum(getattr(one, name)) for one in types) for name in ("granted", "wished")
        )
        success = f"{100 * granted / wished:.1f} %" if wished else "–"
        found = (one.allocation_success for one in all_of)
        worst = min((one for one in found if one is not None), default=None)
        count = sum(one.gc.count for one in all_of)
        base = sum(runs[workload, BASE].gc.count for workload in WORKLOADS)
        lost = sum(one.gc.unprogrammed_pages for one in all_of)
        least = "–" if worst is None else f"{100 * worst:.1f} %"
        cells = [f"{count:,} ({100 * (count / base - 1):+.1f} %)", f"{lost:,}"]
        rows.append([scheme, *shares, success, least, *cells])
    heads = ["scheme", "LSB", "CSB", "MSB", "granted", "least", "blocks collected", "pages lost"]
    return grid(heads, rows)


def over_time(runs: Runs, workload: str, every: int) -> list[str]:
    """Return writes and free LSB pages over time, one row for so many quarters of an hour."""
    shown = [BASE, "us", *LONG]
    found = []
    for scheme in shown:
        detail = runs[workload, scheme].detail
        assert detail is not None
        found.append(list(detail.series))
    rows = []
    for at in range(0, max(map(len, found)), every):
        cells = []
        for scheme, series in zip(shown, found, strict=True):
            part = series[at : at + every]
            writes = sum(one.writes for one in part)
            total = sum((one.write_mean_us or 0.0) * one.writes for one in part)
            mean = f"{total / writes / 1e3:.2f}" if writes else "–"
            free = f" · {part[-1].free_0 / 1e6:.2f}" if scheme in LONG and part else ""
            cells.append(mean + free)
        rows.append([f"{at // 4}:{at % 4 * 15:02}", *cells])
    return grid(["from", *shown], rows)


def replays(array: str, limit: int | None) -> list[str]:
    """Return MSFS three times, one after another."""
    schemes = [BASE, *LONG]
    plans = [
        ssdlab.Plan(
            device=DEVICE,
            workload="pa-ssd/msfs",
            scheme=scheme,
            set=SETTINGS[array],
            limit=limit,
            replays=3,
        )
        for scheme in schemes
    ]
    results = ssdlab.compare(plans)
    base = results[0].replays
    rows = []
    for scheme, result in zip(schemes, results, strict=True):
        cells = []
        for one, other in zip(result.replays, base, strict=True):
            mean, of_base = one.write.latency_us.mean, other.write.latency_us.mean
            assert one.page_types is not None
            free = f"{one.page_types.free[0] / 1e6:.2f} M"
            cells.append(f"{mean / 1e3:.2f} ms ({change(mean, of_base)}), {free}")
        rows.append([scheme, *cells])
    return grid(["scheme", "first", "second", "third"], rows)


def intensity(limit: int | None) -> list[str]:
    """Return MSFS with its times pressed together."""
    schemes = [BASE, "us", *LONG, "sbs+ubs"]
    rows = []
    for array in ARRAYS:
        for scale in SCALES:
            plans = [
                ssdlab.Plan(
                    device=DEVICE,
                    workload="pa-ssd/msfs",
                    scheme=scheme,
                    set=SETTINGS[array],
                    limit=min(limit or INTENSE, INTENSE),
                    time_scale=scale,
                )
                for scheme in schemes
            ]
            base, *others = ssdlab.compare(plans)
            cells = [change(write_us(one), write_us(base)) for one in others]
            own = f"{digits(write_us(base) / 1e3)} ms"
            rows.append([array, f"× {1 / scale:.0f}", f"{base.iops:,.0f}", own, *cells])
    return grid(["works", "rate", "IOPS", BASE, *schemes[1:]], rows)


def closed_form() -> list[str]:
    """Return which pages the writes of the conventional drive wait for, by how many they have.

    Half of them have one page: were all alike, planes would go through their blocks in step.
    """
    rows = []
    for pages in (2, 4, 8, 16):
        low, middle = ((share**pages + share) / 2 for share in (1 / 3, 2 / 3))
        cells = [" / ".join(f"{100 * one:.1f}" for one in (low, middle - low, 1 - middle))]
        for allocation in ("static", "dynamic"):
            settings = {
                "ftl.allocation": allocation,
                "workload.sizes": ["8KiB", f"{8 * pages}KiB"],
                "workload.read_share": 0,
                "workload.interarrival": "20ms",
            }
            plan = ssdlab.Plan(device=DEVICE, set=settings, limit=200_000, warmup=50_000)
            counts = by_type(ssdlab.run(plan).dominated)
            whole = sum(counts)
            cells.append(" / ".join(f"{100 * count / whole:.1f}" for count in counts))
        rows.append([f"1 or {pages}", *cells])
    return grid(["pages a write", "closed form", "static", "dynamic"], rows)


def main() -> None:
    """Measure and write."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    parts: list[str] = []
    for array, title in ARRAYS.items():
        runs = run(array, limit)
        keys = " ".join(f"{key}={value}".lower() for key, value in SETTINGS[array].items())
        parts += [f"### {title} (`{keys}`)", "", *against_conventional(runs)]
        parts += [
            "The pages that writes of DAP wait for; of all workloads, wishes and collection:",
            "",
        ]
        parts += page_types(runs)
        parts += ["Fin by the hour:", "", *over_time(runs, "fin", 4)]
        parts += ["MSFS by the quarter:", "", *over_time(runs, "msfs", 1)]
        parts += ["MSFS three times:", "", *replays(array, limit)]
        print(f"{title}: done", file=sys.stderr)
    parts += ["### The rate of MSFS", "", *intensity(limit)]
    parts += ["### Which pages the writes of a conventional drive wait for", "", *closed_form()]
    text, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    cut = "in full" if limit is None else f"of which the first {limit:,} requests ran"
    about = f"The twins {cut}, seed 1, ssdlab {ssdlab.__version__}.\n\n"
    PAGE.write_text(f"{text}{MARK}\n{about}" + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
