"""PA-SSD's figures."""

from __future__ import annotations

from collections.abc import Callable

from ssdlab.labels import PAGE_TYPES, counts_by_page_type
from ssdlab.plan import Plan
from ssdlab_reproduction.registry import Rows, picture
from ssdlab_reproduction.runs import Jobs, Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import reads, relative, writes
from ssdlab_reproduction.systems.pa_ssd import (
    BASE,
    DEVICE,
    LFS,
    QDS_UBS,
    QDS_US,
    QUICK_CUT,
    SCHEMES,
    US,
    WORKLOADS,
    Part,
    changes,
    quarters,
    slowest_page_type,
    success,
    under,
)

_OF_CONVENTIONAL = "Of the conventional drive's"
_HOUR_S = 3600.0
_SLC_MODE = "SLC mode"
_SLC = ["geometry.cell=slc", "geometry.pages=128", "timing.program=500us"]
_PAGES = range(1, 9)
_WRITES = ["workload.read_share=0", "workload.interarrival=10ms"]


def _relative(runs: Runs, figure: Callable[[Part], float]) -> Rows:
    found = {scheme: changes(runs, scheme, figure) for scheme in SCHEMES}
    # The lightest workload first.
    return relative(
        {
            scheme: {name: each[name] for name in WORKLOADS if name in each}
            for scheme, each in found.items()
        }
    )


@picture(
    "pa-ssd",
    "Fig. 1a, b",
    "DAP's writes by their slowest page, without and with PA-SSD",
    under(BASE, QDS_UBS, on=["dap"]),
    kind="shares",
    y="Share of the writes",
    number="~%",
)
def fig_1ab(runs: Runs) -> Rows:
    """Shares of the writes of DAP whose slowest page is of each type, under two schemes."""
    return _dominated(runs, BASE, QDS_UBS)


def _slc_mode(scope: Scope) -> Jobs:
    """Return DAP on a drive with one bit per cell, at the speed of LSB pages."""
    options = {"limit": scope.cut(None, QUICK_CUT), "set": _SLC}
    return {(_SLC_MODE, "dap"): scope.plan(DEVICE, BASE, "pa-ssd/dap", **options)}


@picture(
    "pa-ssd",
    "Fig. 1c, d",
    "DAP's writes, and those of a drive in SLC mode",
    under(BASE, QDS_UBS, on=["dap"]),
    _slc_mode,
    kind="bars",
    y="Response of writes (ms)",
)
def fig_1cd(runs: Runs, slc: Runs) -> Rows:
    """Response of DAP's writes; in SLC mode cells hold one bit, as fast as LSB pages."""
    found = {name: one.write.latency_us for (name, _), one in (*runs.items(), *slc.items())}
    return [
        (place, name, figure / 1e3)
        for name, us in found.items()
        for place, figure in (("mean", us.mean), ("p50", us.p50), ("p90", us.p90), ("p99", us.p99))
    ]


def _of_pages(scope: Scope) -> Jobs:
    """Return random writes of one page, of two pages, and so on, on the conventional drive."""

    def plan(pages: int) -> Plan:
        own = [*_WRITES, f"workload.sizes={8 * pages}KiB"]
        return scope.plan(DEVICE, BASE, "random", set=own, limit=scope.cut(20_000, 2_000))

    return {(f"{pages}",): plan(pages) for pages in _PAGES}


@picture(
    "pa-ssd",
    "Fig. 5",
    "The slowest page of writes of several pages",
    _of_pages,
    kind="lines",
    x="Pages of a write",
    y="Share of the writes",
)
def fig_5(runs: Runs) -> Rows:
    """Random writes by their slowest page; by chance, if the types of their pages were drawn.

    Planes that are written in turn go on in step: pages that lie side by side are of one type.
    """
    return [
        row
        for (pages,), one in runs.items()
        for name, count, drawn in zip(
            PAGE_TYPES[3],
            counts_by_page_type(one.slowest_page_type),
            _by_chance(int(pages)),
            strict=True,
        )
        for row in (
            (float(pages), name, count / one.write.requests),
            (float(pages), f"{name}, by chance", drawn),
        )
    ]


def _by_chance(pages: int) -> tuple[float, float, float]:
    """Return the chance of each type to be the slowest of so many pages with random types."""
    low, high = (1 / 3) ** pages, 1 - (2 / 3) ** pages
    return low, 1 - low - high, high


def _dominated(runs: Runs, *schemes: str) -> Rows:
    return [
        (scheme, name, share / 100)
        for scheme in schemes
        for name, share in zip(PAGE_TYPES[3], slowest_page_type(runs, scheme), strict=True)
    ]


@picture("pa-ssd", "Fig. 9a", "Writes", under(BASE, *SCHEMES), kind="bars", y=_OF_CONVENTIONAL)
def fig_9a(runs: Runs) -> Rows:
    """Mean response of writes under each scheme, over the conventional drive's."""
    return _relative(runs, writes)


@picture("pa-ssd", "Fig. 9b", "Reads", under(BASE, *SCHEMES), kind="bars", y=_OF_CONVENTIONAL)
def fig_9b(runs: Runs) -> Rows:
    """Mean response of reads under each scheme, over the conventional drive's."""
    return _relative(runs, reads)


@picture(
    "pa-ssd",
    "Fig. 10",
    "DAP's writes by their slowest page",
    under(BASE, *SCHEMES, on=["dap"]),
    kind="shares",
    y="Share of the writes",
    number="~%",
)
def fig_10(runs: Runs) -> Rows:
    """Shares of the writes of DAP whose slowest page is of each type."""
    return _dominated(runs, BASE, *SCHEMES)


@picture(
    "pa-ssd",
    "Fig. 11",
    "Success of typed allocation",
    under(*SCHEMES, whole=True),
    kind="bars",
    y="Pages of the type requested",
    number="~%",
)
def fig_11(runs: Runs) -> Rows:
    """Share of the pages of all workloads that got the type that was requested for them."""
    return [(scheme, "all workloads", success(runs, scheme) / 100) for scheme in SCHEMES]


@picture(
    "pa-ssd",
    "Fig. 12a",
    "Fin's writes over time",
    under(BASE, US, LFS, QDS_US, QDS_UBS, on=["fin"], whole=True),
    kind="lines",
    x="Hours",
    y="Mean response of writes (ms)",
)
def fig_12a(runs: Runs) -> Rows:
    """Mean response of the writes of Fin, quarter of an hour by quarter."""
    return _over_time(runs, "fin")


@picture(
    "pa-ssd",
    "Fig. 12b",
    "MSFS's writes over time",
    under(BASE, LFS, QDS_US, QDS_UBS, on=["msfs"], whole=True),
    kind="lines",
    x="Hours",
    y="Mean response of writes (ms)",
)
def fig_12b(runs: Runs) -> Rows:
    """Mean response of the writes of MSFS, quarter of an hour by quarter."""
    return _over_time(runs, "msfs")


def _over_time(runs: Runs, name: str) -> Rows:
    """Return the mean response of a workload's writes in ms, by quarter of an hour."""
    return [
        (one.start_s / _HOUR_S, scheme, one.write_mean_us / 1e3)
        for scheme in runs.names(0)
        for one in quarters(runs[scheme, name])
        if one.write_mean_us is not None
    ]


@picture(
    "pa-ssd",
    "Fig. 12c",
    "Free LSB pages over time",
    under(LFS, QDS_US, QDS_UBS, on=["fin", "msfs"], whole=True),
    kind="lines",
    x="Hours",
    y="Free LSB pages",
)
def fig_12c(runs: Runs) -> Rows:
    """Free LSB pages of the drive at the end of each quarter of an hour."""
    return [
        (one.end_s / _HOUR_S, f"{name}, {scheme}", one.free_0)
        for name in ("fin", "msfs")
        for scheme in runs.names(0)
        for one in quarters(runs[scheme, name])
        if one.free_0 is not None
    ]


@picture(
    "pa-ssd",
    "Fig. 13",
    "MSFS three times",
    under(BASE, LFS, QDS_US, QDS_UBS, on=["msfs"], whole=True),
    kind="bars",
    y="Of the conventional drive's",
)
def fig_13(runs: Runs) -> Rows:
    """Mean response of writes in each replay, over the conventional drive's in the same."""
    base = runs[BASE, "msfs"].replays
    return [
        (f"replay {nth}", scheme, writes(one) / writes(other))
        for scheme in runs.names(0)
        for nth, (one, other) in enumerate(
            zip(runs[scheme, "msfs"].replays, base, strict=True), start=1
        )
    ]
