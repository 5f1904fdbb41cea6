"""Write the tables of docs/systems/pa-ssd.md: its schemes on its eight workloads, in full.

``make pa-ssd`` runs this program. It reuses the kept runs of the ledger (``make reproduce``), which
are most of its runs; without them it takes an hour. The workloads are twins
(docs/concepts/twins.md). A stopped run can be resumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import ssdlab
from ssdlab.labels import counts_by_page_type
from ssdlab.render.formatting import digits
from ssdlab_reproduction.claim import claims
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import reads, writes
from ssdlab_reproduction.systems.pa_ssd import (
    BASE,
    DEVICE,
    LFS,
    QDS_UBS,
    QDS_US,
    REPLAYED,
    SBS_UBS,
    SCHEMES,
    US,
    WORKLOADS,
    Part,
    changes,
    once,
    quarters,
    slowest_page_type,
    types,
    under,
)
from ssdlab_reproduction.tables.common import DOCS, Kept, change, grid, several, write

READINGS: Mapping[str, list[str]] = {
    option.name: option.settings.split()
    for claim in claims(["pa-ssd"])
    for reading in claim.readings
    if reading.name == "simulator"
    for option in reading.options
}
"""The settings of each simulator whose chips and partial writes the drive may have, by its name."""
LONG = [LFS, QDS_US, QDS_UBS]
SCALES = [1.0, 0.5, 0.2, 0.1, 0.05]
INTENSE = 3_000_000
"""The requests of MSFS at each time scale."""
PAGE = DOCS / "systems" / "pa-ssd.md"
MARK = "<!-- measured: written by `make pa-ssd` -->\n"


def ledgers(kept: Kept) -> Runs:
    """Return the ledger's runs of every scheme and workload; run those that are missing."""
    jobs = under(BASE, *SCHEMES)(Scope())
    kept.compare(list(jobs.values()), "Schemes by workload")
    return Runs(jobs, kept)


def against_conventional(runs: Runs) -> list[str]:
    """Return the writes and reads of every scheme, in percent of the conventional drive's."""
    found = {scheme: [changes(runs, scheme, of) for of in (writes, reads)] for scheme in SCHEMES}
    rows = []
    for workload in WORKLOADS:
        base = once(runs[BASE, workload])
        cells = [f"{writes(base) / 1e3:.2f} ms", f"{reads(base):.0f} µs"]
        cells += [several([each[workload] for each in pair]) for pair in found.values()]
        requests = base.read.requests + base.write.requests
        rows.append([workload, f"{requests:,}", *cells])
    means = (
        " / ".join(f"**{fmean(each.values()):+.0f}**" for each in pair) for pair in found.values()
    )
    rows.append(["**mean**", "", "", "", *means])
    return grid(["workload", "requests", "writes", "reads", *SCHEMES], rows)


def page_types(runs: Runs) -> list[str]:
    """Return the page types that DAP's writes waited for, the granted types, and collections."""
    of_all = {
        scheme: [once(runs[scheme, name]) for name in WORKLOADS] for scheme in (BASE, *SCHEMES)
    }
    base = sum(one.gc.count for one in of_all[BASE])
    rows = []
    for scheme, all_of in of_all.items():
        shares = [f"{share:.0f} %" for share in slowest_page_type(runs, scheme)]
        count = sum(one.gc.count for one in all_of)
        lost = sum(one.gc.unprogrammed_pages for one in all_of)
        cells = [f"{count:,} ({change(count, base, 1)} %)", f"{lost:,}"]
        rows.append([scheme, *shares, *granted(all_of), *cells])
    heads = ["scheme", "LSB", "CSB", "MSB", "granted", "least", "blocks collected", "pages lost"]
    return grid(heads, rows)


def granted(all_of: list[Part]) -> list[str]:
    """Return the share of granted page types: over all workloads, and the lowest of one."""
    pairs = [(sum(types(one).granted), sum(types(one).requested)) for one in all_of]
    if not all(requested for _, requested in pairs):
        return ["–", "–"]
    whole = sum(got for got, _ in pairs) / sum(requested for _, requested in pairs)
    return [f"{100 * share:.1f} %" for share in (whole, min(got / of for got, of in pairs))]


def over_time(runs: Runs, workload: str, every: int) -> list[str]:
    """Return writes and free LSB pages over time, with a row per ``every`` quarters of an hour."""
    schemes = [BASE, US, *LONG]
    found = [quarters(runs[scheme, workload]) for scheme in schemes]
    rows = []
    for at in range(0, max(map(len, found)), every):
        cells = []
        for scheme, series in zip(schemes, found, strict=True):
            part = series[at : at + every]
            count = sum(one.writes for one in part)
            total = sum((one.write_mean_us or 0.0) * one.writes for one in part)
            mean = f"{total / count / 1e3:.2f}" if count else "–"
            free = f" · {part[-1].free_0 / 1e6:.2f}" if scheme in LONG and part else ""
            cells.append(mean + free)
        rows.append([f"{at // 4}:{at % 4 * 15:02}", *cells])
    return grid(["from", *schemes], rows)


def replays(runs: Runs) -> list[str]:
    """Return MSFS replayed three times."""
    base = runs[BASE, "msfs"].replays
    rows = []
    for scheme in REPLAYED:
        cells = []
        for one, other in zip(runs[scheme, "msfs"].replays, base, strict=True):
            free = f"{types(one).free[0] / 1e6:.2f} M"
            changed = change(writes(one), writes(other))
            cells.append(f"{writes(one) / 1e3:.2f} ms ({changed}), {free}")
        rows.append([scheme, *cells])
    return grid(["scheme", "first", "second", "third"], rows)


def intensity(kept: Kept) -> list[str]:
    """Return MSFS with compressed times between its requests."""
    schemes = [BASE, US, *LONG, SBS_UBS]
    keys = [(simulator, scale) for simulator in READINGS for scale in SCALES]
    plans = [
        [
            ssdlab.Plan(
                device=DEVICE,
                workload="pa-ssd/msfs",
                scheme=scheme,
                set=READINGS[simulator],
                limit=INTENSE,
                time_scale=scale,
            )
            for scheme in schemes
        ]
        for simulator, scale in keys
    ]
    rows = []
    for (simulator, scale), (base, *others) in zip(
        keys, kept.groups(plans, "The rate"), strict=True
    ):
        cells = [change(writes(one), writes(base)) for one in others]
        own = f"{digits(writes(base) / 1e3)} ms"
        rows.append([simulator, f"× {1 / scale:.0f}", f"{base.iops:,.0f}", own, *cells])
    return grid(["units and writes", "rate", "IOPS", BASE, *schemes[1:]], rows)


def closed_form(kept: Kept) -> list[str]:
    """Return the page types that writes of the conventional drive wait for, by number of pages.

    Half of the writes have one page. If all were alike, planes would go through their blocks in
    step.
    """
    pages, kinds = (2, 4, 8, 16), ("static", "dynamic")
    plans = [
        [
            ssdlab.Plan(
                device=DEVICE,
                set={
                    "ftl.allocation": allocation,
                    "workload.sizes": ["8KiB", f"{8 * count}KiB"],
                    "workload.read_share": 0,
                    "workload.interarrival": "20ms",
                },
                limit=200_000,
                warmup=50_000,
            )
            for allocation in kinds
        ]
        for count in pages
    ]
    rows = []
    for count, results in zip(pages, kept.groups(plans, "Pages a write"), strict=True):
        low, middle = ((share**count + share) / 2 for share in (1 / 3, 2 / 3))
        cells = [several([100 * one for one in (low, middle - low, 1 - middle)], ".1f")]
        for result in results:
            counts = counts_by_page_type(result.slowest_page_type)
            cells.append(several([100 * each / sum(counts) for each in counts], ".1f"))
        rows.append([f"1 or {count}", *cells])
    return grid(["pages a write", "closed form", *kinds], rows)


def main() -> None:
    """Measure and write the page."""
    kept = Kept()
    runs = ledgers(kept)
    measured = [
        *against_conventional(runs),
        "Pages that writes of DAP wait for, requested types and collection, of all workloads:",
        "",
        *page_types(runs),
        *["Fin by the hour:", "", *over_time(runs, "fin", 4)],
        *["MSFS by the quarter:", "", *over_time(runs, "msfs", 1)],
        *["MSFS three times:", "", *replays(runs)],
    ]
    sections = [("Schemes by workload", measured), ("The rate of MSFS", intensity(kept))]
    title = "Which pages the writes of a conventional drive wait for"
    sections.append((title, closed_form(kept)))
    about = (
        f"The twins in full, seed 1, ssdlab {ssdlab.__version__}; where the rate of MSFS is "
        f"varied, its first {INTENSE:,} requests, and in the last table random writes.\n"
        "Of the schemes it says how much longer writes / reads take than under the conventional "
        "drive, in percent."
    )
    write(PAGE, MARK, about, sections)


if __name__ == "__main__":
    main()
