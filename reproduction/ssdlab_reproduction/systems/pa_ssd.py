"""The claims of PA-SSD: page types for whole requests, on eight workloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import prod
from statistics import fmean
from typing import Any

from ssdlab.labels import counts_by_page_type
from ssdlab.plan import Plan
from ssdlab.result import PageTypesResult, ReplayResult, Result
from ssdlab.result.detail import SeriesInterval
from ssdlab_reproduction.registry import NeverRanError, Set, claim
from ssdlab_reproduction.runs import Jobs, Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import percent, reads, writes

DEVICE = "pa-ssd-tlc-288g-ssdsim"
"""The paper builds on SSDSim and names no change of how chips and partial writes work there."""
BASE = "conventional"
US, LFS, SBS_US, SBS_UBS, QDS_US, QDS_UBS = SCHEMES = (
    *("us", "lfs", "sbs+us", "sbs+ubs", "qds+us", "qds+ubs"),
)
LIGHT = ("fin", "ra", "dap", "rbess", "dtr", "exch")
HEAVY = ("msfs", "bs")
WORKLOADS = (*LIGHT, *HEAVY)
_QUICK = ("fin", "dap", *HEAVY)
QUICK_CUT = 300_000
_OVER_TIME, _QUARTER, _HOUR_S = ("fin", "msfs"), "15min", 3600.0
REPLAYED, _REPLAYS = (BASE, LFS, QDS_US, QDS_UBS), 3
_LOW = 0.5
"""Writes of a quarter are low if they are below this share of the conventional drive's in it."""

Part = Result | ReplayResult


def under(*schemes: str, on: Sequence[str] = WORKLOADS, whole: bool = False) -> Set:
    """Return the set of the runs of some schemes on some workloads, the heaviest first.

    A quick ledger leaves out a set that needs ``whole`` workloads.
    """

    def runs(scope: Scope) -> Jobs:
        if whole and scope.quick:
            return {}
        return {
            (scheme, workload): _plan(scope, scheme, workload)
            for workload in reversed(on)
            if workload in scope.some(WORKLOADS, _QUICK)
            for scheme in schemes
        }

    return runs


def _plan(scope: Scope, scheme: str, workload: str) -> Plan:
    """Return a full run. Runs that figures over time or over replays need have these outputs."""
    options: dict[str, Any] = {"limit": scope.cut(None, QUICK_CUT)}
    if not scope.quick and workload in _OVER_TIME:
        options |= {"detail": True, "interval": _QUARTER}
    if not scope.quick and workload == "msfs" and scheme in REPLAYED:
        options["replays"] = _REPLAYS
    name = scheme if scheme == BASE else f"pa-ssd/{scheme}"
    return scope.plan(DEVICE, name, f"pa-ssd/{workload}", **options)


def once(result: Result) -> Part:
    """Return the result of the first replay of a workload."""
    return result.replays[0] if result.replays else result


def types(part: Part) -> PageTypesResult:
    """Return the counts of a run by page type."""
    assert part.page_types is not None
    return part.page_types


def changes(
    runs: Runs, scheme: str, figure: Callable[[Part], float], against: str = BASE
) -> dict[str, float]:
    """Return a scheme's changes against another in percent, by workload."""
    return {
        name: percent(figure(once(runs[scheme, name])), figure(once(runs[against, name])))
        for name in runs.names(1)
    }


def on_average(runs: Runs, scheme: str) -> list[float]:
    """Return a scheme's mean changes of writes and of reads in percent over the workloads."""
    return [fmean(changes(runs, scheme, figure).values()) for figure in (writes, reads)]


def rounded(change: float) -> float:
    """Return a change as the paper gives it: in whole percent, so that half a percent is none."""
    return float(round(change))


def acted(runs: Runs, found: Sequence[float]) -> None:
    """Raise :class:`NeverRanError` if QDS gains no whole percent on any workload's writes.

    The comparison is with US. ``found`` are the claim's figures, which are then those of US.
    """
    gained = {name: rounded(change) for name, change in changes(runs, QDS_US, writes, US).items()}
    if not any(change < 0 for change in gained.values()):
        raise NeverRanError(
            "QDS shortens no writes by a whole percent more than US does, on any workload", found
        )


@claim("P1", under(BASE, US))
def alternating(runs: Runs) -> list[float]:
    """Return by how much US changes writes and reads."""
    return on_average(runs, US)


@claim("P2", under(BASE, LFS))
def lowest_first(runs: Runs) -> list[float]:
    """Return by how much LFS changes writes and reads."""
    return on_average(runs, LFS)


@claim("P3", under(BASE, SBS_US))
def by_size(runs: Runs) -> list[float]:
    """Return by how much SBS+US changes writes and reads."""
    return on_average(runs, SBS_US)


@claim("P4", under(BASE, US, QDS_US))
def by_queue(runs: Runs) -> list[float]:
    """Return by how much QDS+US changes writes and reads."""
    found = on_average(runs, QDS_US)
    acted(runs, found)
    return found


@claim("P5", under(BASE, US, QDS_US, QDS_UBS))
def performance(runs: Runs) -> list[float]:
    """Return the factors by which QDS+UBS writes and reads faster."""
    found = [1 / (1 + change / 100) for change in on_average(runs, QDS_UBS)]
    acted(runs, found)
    return found


@claim("P6", under(BASE, US, QDS_US, QDS_UBS, on=["msfs"]))
def heaviest(runs: Runs) -> list[float]:
    """Return by how much QDS+UBS changes the writes of MSFS."""
    found = [changes(runs, QDS_UBS, writes)["msfs"]]
    acted(runs, found)
    return found


@claim("P7", under(US, QDS_US, QDS_UBS))
def complements(runs: Runs) -> list[float]:
    """Return how UBS changes writes against US, both behind QDS: light and heavy workloads."""
    each = changes(runs, QDS_UBS, writes, against=QDS_US)
    found = [fmean(each[name] for name in kind if name in each) for kind in (LIGHT, HEAVY)]
    acted(runs, found)
    return found


def success(runs: Runs, scheme: str) -> float:
    """Return the share of the pages of all workloads that got the type requested, in percent."""
    all_of = [types(once(runs[scheme, name])) for name in runs.names(1)]
    return 100 * sum(sum(one.granted) for one in all_of) / sum(sum(one.requested) for one in all_of)


@claim("P8", under(*SCHEMES, whole=True))
def typed_allocation(runs: Runs) -> list[float]:
    """Return the lowest success of the five schemes other than LFS, and that of LFS."""
    found = {scheme: success(runs, scheme) for scheme in SCHEMES}
    return [min(found[scheme] for scheme in SCHEMES if scheme != LFS), found[LFS]]


@claim("P9", under(BASE, *SCHEMES, whole=True))
def collections(runs: Runs) -> list[float]:
    """Return the largest change of collected blocks: of the five other schemes, and of LFS."""
    count = {
        scheme: sum(once(runs[scheme, name]).gc.count for name in runs.names(1))
        for scheme in runs.names(0)
    }
    if not count[BASE]:
        raise NeverRanError("no block was collected")
    found = {scheme: abs(percent(count[scheme], count[BASE])) for scheme in SCHEMES}
    return [max(found[scheme] for scheme in SCHEMES if scheme != LFS), found[LFS]]


def slowest_page_type(runs: Runs, scheme: str) -> list[float]:
    """Return the shares of DAP's writes by the type of their slowest page, in percent."""
    counts = counts_by_page_type(once(runs[scheme, "dap"]).slowest_page_type)
    return [100 * count / sum(counts) for count in counts]


@claim("P10", under(US, on=["dap"]))
def balanced(runs: Runs) -> list[float]:
    """Return the shares of writes that wait for LSB and for MSB pages under US."""
    low, _, high = slowest_page_type(runs, US)
    return [low, high]


@claim("P11", under(US, *REPLAYED, on=["msfs"], whole=True))
def long_term(runs: Runs) -> list[float]:
    """Return by how much writes change in the third replay of MSFS."""
    last = {scheme: writes(runs[scheme, "msfs"].replays[-1]) for scheme in REPLAYED}
    found = [percent(last[scheme], last[BASE]) for scheme in (LFS, QDS_US, QDS_UBS)]
    acted(runs, found)
    return found


def quarters(result: Result) -> list[SeriesInterval]:
    """Return the quarters of an hour in a workload's first replay."""
    assert result.detail is not None
    end = result.replays[0].end_s if result.replays else result.duration_s
    return [one for one in result.detail.series if one.start_s < end]


@claim("P12", under(BASE, LFS, QDS_UBS, on=["msfs"], whole=True))
def low_for_long(runs: Runs) -> list[float]:
    """Return for how many quarters the writes of MSFS stay low under QDS+UBS and under LFS."""
    base = [one.write_mean_us or 0.0 for one in quarters(runs[BASE, "msfs"])]
    found: list[float] = []
    for scheme in (QDS_UBS, LFS):
        own = [one.write_mean_us or 0.0 for one in quarters(runs[scheme, "msfs"])]
        pairs = zip(own, base, strict=False)
        found.append(sum(1 for _ in takewhile(lambda pair: pair[0] < _LOW * pair[1], pairs)))
    return found


@claim("P13", under(BASE, US, on=["fin"]))
def small_writes(runs: Runs) -> list[float]:
    """Return Fin's conventional writes over the mean program time, and the change under US."""
    base = runs[BASE, "fin"]
    programs = [_us(time) for time in base.provenance.config["timing"]["program"]]
    return [writes(base) / fmean(programs), rounded(changes(runs, US, writes)["fin"])]


def _us(time: str) -> float:
    """Return a time in a config's notation, in microseconds."""
    units = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
    return float(time[:-2]) * units[time[-2:]]


@claim("P14", under(*SCHEMES, on=["dap"]))
def least_slow(runs: Runs) -> list[float]:
    """Return the share of schemes whose writes wait least for MSB pages, and the largest share."""
    shares = [slowest_page_type(runs, scheme) for scheme in SCHEMES]
    return [100 * fmean(one[-1] == min(one) for one in shares), max(one[-1] for one in shares)]


@claim("P15", under(BASE, *SCHEMES, whole=True))
def order_of_schemes(runs: Runs) -> list[float]:
    """Return on which workloads LFS writes fastest and not, and how often SBS+UBS is slower.

    The first two figures are percentages of the light and of the heavy workloads. The third counts
    writes and reads that SBS+UBS makes slower on some workload.
    """
    fastest = {
        name: min((BASE, *SCHEMES), key=lambda scheme: writes(once(runs[scheme, name])))
        for name in runs.names(1)
    }
    of_writes, of_reads = (changes(runs, SBS_UBS, one).values() for one in (writes, reads))
    slower = [rounded(max(pair)) > 0 for pair in zip(of_writes, of_reads, strict=True)]
    return [
        100 * fmean(fastest[name] == LFS for name in LIGHT),
        100 * fmean(fastest[name] != LFS for name in HEAVY),
        sum(slower),
    ]


def _planes(result: Result) -> int:
    """Return the number of planes of the drive."""
    geometry = result.provenance.config["geometry"]
    return prod(int(geometry[name]) for name in ("channels", "chips", "dies", "planes"))


def _at_start(result: Result) -> float:
    """Return the number of free LSB pages before a run."""
    config = result.provenance.config
    pages = _planes(result) * int(config["geometry"]["blocks"]) * int(config["geometry"]["pages"])
    return pages / len(config["timing"]["program"]) * (1 - float(config["start"]["used"]))


def _left_in_last_hour(result: Result) -> float:
    """Return the maximum of free LSB pages at the ends of quarters in the trace's last hour."""
    all_of = quarters(result)
    hour = _HOUR_S * (result.provenance.plan.get("time_scale") or 1)
    return max(one.free_0 for one in all_of if one.end_s > all_of[-1].end_s - hour)


@claim(
    "P16",
    under(LFS, on=["fin"], whole=True),
    under(LFS, QDS_US, QDS_UBS, on=["msfs"], whole=True),
)
def used_up(light: Runs, heavy: Runs) -> list[float]:
    """Return the free LSB pages that are left, in percent of those at the start."""
    fin = light[LFS, "fin"]
    found = [100 * _left_in_last_hour(fin) / _at_start(fin)]
    for scheme in (LFS, QDS_US, QDS_UBS):
        result = heavy[scheme, "msfs"]
        least = min(types(one).free[0] for one in result.replays[:-1])
        found.append(100 * least / _at_start(result))
    return found


@claim("P17", under(US, on=["dap"]), seeds=1)
def tracking(runs: Runs) -> list[float]:
    """Return the bytes per plane that record which pages are programmed."""
    result = runs[US, "dap"]
    return [result.metadata_bytes["page_progress"] / _planes(result)]
