"""Write the tables of docs/systems/dlv.md: every scheme of DLV on its twenty workloads.

``make dlv`` runs this program, for a quarter of an hour on two cores. The workloads are twins
(docs/concepts/twins.md), cut after their first requests: ``python -m ssdlab_reproduction.tables.dlv
[REQUESTS]``. Under DLV, all also run in full.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from statistics import fmean

import ssdlab
from ssdlab_reproduction.tables import common
from ssdlab_reproduction.tables.common import DOCS, grid

SCHEMES = ["woo", "roo", "dlv", "pv-reorder", "pv-allocation", "lv-ldpc", "laldpc"]
WORKLOADS = [
    *("fin1", "mds0", "prn0", "proj0", "rsrch0", "src12", "src20", "stg0", "ts0"),
    *("fin2", "hm1", "mds1", "proj3", "src21", "web2"),
    *("hm0", "rsrch2", "stg1", "usr0", "web0"),
]
PAGE = DOCS / "systems" / "dlv.md"
MARK = "<!-- measured: written by `make dlv` -->\n"
# dlv_sweeps.py writes the rest of the page.
SWEPT = "## Swept\n"

change = partial(common.change, places=1)


def mean_us(result: ssdlab.Result) -> float:
    """Return the mean latency over reads and writes, in microseconds."""
    return result.all.latency_us.mean


def in_full() -> list[str]:
    """Return the table of DLV alone, on each whole workload at its own times."""
    rows = []
    for workload in WORKLOADS:
        plans = [
            ssdlab.Plan(device="dlv-mlc-128g", workload=f"dlv/{workload}", scheme=scheme)
            for scheme in ("baseline", "dlv")
        ]
        base, dlv = ssdlab.compare(plans)
        cells = [
            change(getattr(dlv, kind).latency_us.mean, getattr(base, kind).latency_us.mean)
            for kind in ("all", "read", "write")
        ]
        rows.append([workload, f"{dlv.requests:,}", *cells])
    return grid(["workload", "requests", "all", "reads", "writes"], rows)


def run(requests: int, closed: int | None) -> dict[tuple[str, str], ssdlab.Result]:
    """Return the result of every workload and scheme."""
    keys = [(workload, scheme) for workload in WORKLOADS for scheme in ["baseline", *SCHEMES]]
    plans = [
        ssdlab.Plan(
            device="dlv-mlc-128g",
            workload=f"dlv/{workload}",
            scheme=scheme,
            limit=requests,
            closed=closed,
        )
        for workload, scheme in keys
    ]
    return dict(zip(keys, ssdlab.compare(plans), strict=True))


def over_all(results: dict[tuple[str, str], ssdlab.Result], name: str, kind: str) -> str:
    """Return the mean change over all workloads: of reads, of writes or of all requests."""

    def mean(workload: str, scheme: str) -> float:
        found: float = getattr(results[workload, scheme], kind).latency_us.mean
        return found

    ratios = [mean(workload, name) / mean(workload, "baseline") for workload in WORKLOADS]
    return f"{100 * (fmean(ratios) - 1):+.1f}"


def of_way(results: dict[tuple[str, str], ssdlab.Result]) -> list[str]:
    """Return the table of one way to issue the workloads."""
    heads = [*SCHEMES, "dlv IOPS", "overtaking writes", "strong pages"]
    rows = []
    for workload in WORKLOADS:
        base, dlv = results[workload, "baseline"], results[workload, "dlv"]
        cells = [change(mean_us(results[workload, name]), mean_us(base)) for name in SCHEMES]
        assert dlv.prioritized is not None
        assert dlv.strong_share is not None
        shares = (dlv.prioritized.write, dlv.strong_share)
        cells += [change(dlv.iops, base.iops), *(f"{100 * share:.0f} %" for share in shares)]
        rows.append([workload, *cells])

    iops = fmean(
        100 * (results[workload, "dlv"].iops / results[workload, "baseline"].iops - 1)
        for workload in WORKLOADS
    )
    rows.append(
        [
            "**mean**",
            *(f"**{over_all(results, name, 'all')}**" for name in SCHEMES),
            f"**{iops:+.1f}**",
            "",
            "",
        ]
    )
    rows += [
        [f"{kind}s alone", *(over_all(results, name, kind) for name in SCHEMES), "", "", ""]
        for kind in ("read", "write")
    ]
    return grid(["workload", *heads], rows)


def of_physics(requests: int) -> list[str]:
    """Return the tables of what the physics contributes: the strong step, the age of data."""
    base = ssdlab.Plan(device="dlv-mlc-128g", workload="dlv/hm0", limit=requests, closed=64)

    def means(**options: object) -> tuple[float, float]:
        result = ssdlab.run(replace(base, **options))  # type: ignore[arg-type]
        return result.read.latency_us.mean, result.write.latency_us.mean

    _, write = means(scheme="baseline")
    rows = []
    steps = [0.3, 0.36, 0.45, 0.6]
    for scheme in ("woo", "dlv"):
        cells = []
        for step in steps:
            classes = f'[{{name="normal",step_volts=0.3}},{{name="strong",step_volts={step}}}]'
            cells.append(
                change(means(scheme=scheme, set={"timing.program_modes": classes})[1], write)
            )
        rows.append([f"{scheme}, writes", *cells])
    lines = grid(["ΔVp on strong blocks", "0.3 V (none)", "0.36 V", "0.45 V", "0.6 V"], rows)
    rows = []
    ages = [{"start.age_max": f"{days}d"} for days in (7, 30, 60, 90)]
    before = [means(scheme="baseline", set=age)[0] for age in ages]
    for scheme in ("lv-ldpc", "roo", "dlv"):
        after = [means(scheme=scheme, set=age)[0] for age in ages]
        cells = [change(new, old) for new, old in zip(after, before, strict=True)]
        rows.append([f"{scheme}, reads", *cells])
    return lines + grid(["oldest data", "7 d", "30 d", "60 d", "90 d"], rows)


def main() -> None:
    """Measure and write the page."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    ways = [
        ("64 requests outstanding (`--closed 64`)", 64),
        ("At the times of the workload", None),
    ]
    parts = []
    for title, closed in ways:
        parts += [f"### {title}", "", *of_way(run(requests, closed))]
        print(f"{title}: done", file=sys.stderr)
    parts += ["### DLV in full length, at the times of the workload", "", *in_full()]
    print("in full: done", file=sys.stderr)
    parts += ["### What the physics contributes", "", *of_physics(requests)]
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    _, mark, swept = rest.partition(SWEPT)
    about = (
        f"The first {requests:,} requests of each twin if nothing else is said, seed 1, "
        f"ssdlab {ssdlab.__version__}.\n\n"
    )
    measured = f"{MARK}\n{about}" + "\n".join(parts) + "\n"
    PAGE.write_text(head + measured + mark + swept, encoding="utf-8")


if __name__ == "__main__":
    main()
