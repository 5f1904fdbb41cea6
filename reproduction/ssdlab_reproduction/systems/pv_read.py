"""The claims of PV-read: reads, moves, lifetime and codes on eight workloads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from ssdlab import api, traces
from ssdlab.ldpc import ldpc
from ssdlab.physics import physics
from ssdlab.plan import Plan, setting_lines
from ssdlab.result import MigrationCounts, Result
from ssdlab_reproduction.registry import NeverRanError, claim
from ssdlab_reproduction.runs import Job, Jobs, Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import percent

DEVICE = "pv-read-mlc-128g"
BASE = "pv-unaware"
GROUPS = ("groups-2", "pv-read", "groups-4", "groups-7")
THREE = "pv-read"
WORKLOADS = ("proj0", "hm0", "stg0", "wdev0", "rsrch0", "src20", "src12", "hm1")
_QUICK = ("proj0", "hm0", "hm1")
_CUT, _QUICK_CUT = None, 50_000
LITTLE = 3.0
"""A small change in points. Gains must exceed it before they can differ by no more than it."""

APART = ("5%", "10%", "20%", "30%")
THRESHOLDS = ("2", "3", "4", "5")
STAGES = (
    *(("0.004", "0.005"), ("0.006", "0.004"), ("0.008", "0.003")),
    *(("0.010", "0.002"), ("0.012", "0.001")),
)
"""Means and standard deviations of the blocks' error rates."""
WIDTHS = tuple(("0.008", sigma) for sigma in ("0.01", "0.0175", "0.025", "0.0325", "0.04"))
RANKS = "metadata.block_class.measured.boundaries={shares=[0.0901,0.5341]}"
"""The shares of blocks of three groups; the levels of Table I make fixed boundaries of them."""

SELDOM, OFTEN = ("proj0", "stg0"), ("wdev0", "rsrch0")
"""The workloads whose reads mostly go to seldom-read pages, or to often-read pages."""

LIVES = ("hm0", "src12")
LIFE = ("geometry.blocks=64", "flash.cycles_per_erase=50", "start.pe_cycles=1500")
"""A drive of 4 GiB, on which an erase counts as 50."""
LEVELED = "pv-wear-leveling"

NEEDED = 0.0078
"""The raw bit error rate that current 3D NAND should correct (PV-read, section V.B)."""
CODES: Mapping[str, Sequence[str]] = {
    "ldpc": (),
    "bch": ("physics.levels.code=bch", "timing.decode=6us"),
}

_COLUMNS = 'workload.trace.columns="time:end_ns:ns,op:op,offset:lba:sectors,size:sectors:sectors"'
"""How to read a request log as a trace, in the order in which the requests ended."""


def plan_of(scope: Scope, scheme: str, workload: str, *settings: str) -> Plan:
    """Return a run of a scheme on a workload."""
    limit = scope.cut(_CUT, _QUICK_CUT)
    names = f"pv-read/{scheme}", f"pv-read/{workload}"
    return scope.plan(DEVICE, *names, set=settings, limit=limit)


def on_each(scope: Scope, scheme: str, *settings: str, name: str | None = None) -> Jobs:
    """Return a scheme with some settings on each workload, under its own or another name."""
    return {
        (name or scheme, workload): plan_of(scope, scheme, workload, *settings)
        for workload in scope.some(WORKLOADS, _QUICK)
    }


def unaware(scope: Scope) -> Jobs:
    """Return the drive that ignores the differences of its blocks."""
    return on_each(scope, BASE)


def ideal_wear(scope: Scope) -> Jobs:
    """Return wear leveling that knows the heat of pages and the quality of blocks."""
    return on_each(scope, "ideal-wear")


def ideal_reads(scope: Scope) -> Jobs:
    """Return placement for reads that knows the heat of pages and the quality of blocks."""
    return on_each(scope, "pv-ideal")


def three_groups(scope: Scope) -> Jobs:
    """Return the drive with three groups."""
    return on_each(scope, THREE)


def numbers_of_groups(scope: Scope) -> Jobs:
    """Return the drives with 2, 3, 4 and 7 groups."""
    return {key: plan for scheme in GROUPS for key, plan in on_each(scope, scheme).items()}


def shares_apart(scope: Scope) -> Jobs:
    """Return three groups, with different shares of each set apart."""
    return _varied(scope, "metadata.block_class.measured.read_hot_share", APART)


def thresholds(scope: Scope) -> Jobs:
    """Return three groups, with different numbers of reads that make a page hot."""
    return _varied(scope, "background.read_hot_migration.threshold", THRESHOLDS)


def _varied(scope: Scope, key: str, values: Sequence[str]) -> Jobs:
    return {
        name: plan
        for value in values
        for name, plan in on_each(scope, THREE, f"{key}={value}", name=value).items()
    }


def stages(scope: Scope) -> Jobs:
    """Return the stages of life, without groups and with three."""
    return _drawn_drives(scope, STAGES)


def widths(scope: Scope) -> Jobs:
    """Return blocks of different spread, without groups and with three."""
    return _drawn_drives(scope, WIDTHS)


def _drawn_drives(scope: Scope, gaussians: Sequence[tuple[str, str]]) -> Jobs:
    """Return runs on blocks with rates of these means and deviations; a quick ledger skips some."""
    jobs: dict[tuple[str, ...], Plan | Job] = {}
    for mean, sigma in gaussians[:: 2 if scope.quick else 1]:
        blocks = _gaussian(mean, sigma)
        for scheme, settings in ((BASE, [blocks]), (THREE, [blocks, RANKS])):
            runs = on_each(scope, scheme, *settings)
            jobs |= {(scheme, f"{mean} {sigma}", name): run for (_, name), run in runs.items()}
    return jobs


def _gaussian(mean: str, sigma: str) -> str:
    return f"physics.levels.base={{gaussian={{mean={mean},sigma={sigma},bound=8}}}}"


def lives(scope: Scope) -> Jobs:
    """Return small drives that run until 5 % of their blocks are worn out.

    Some use wear leveling, some three groups. The blocks that are not set apart for groups are
    leveled in the same way.
    """
    if scope.quick:
        return {}
    apart = (
        "ftl.free_block_policy=fewest_errors",
        "metadata.block_class.measured.read_hot_share=5%",
    )
    kinds: dict[str, Sequence[str]] = {LEVELED: (), THREE: apart}
    return {
        (scheme, workload): replace(
            plan_of(scope, scheme, workload, *LIFE, *settings), until_worn="5%"
        )
        for workload in LIVES
        for scheme, settings in kinds.items()
    }


def read_counts(scope: Scope) -> Jobs:
    """Return the read counts of pages, for each whole workload."""
    return {
        (workload,): Job(replace(plan_of(scope, BASE, workload), limit=None), counted)
        for workload in scope.some(WORKLOADS, (*SELDOM, *OFTEN))
    }


def counted(plan: Plan) -> dict[str, Any]:
    """Run a plan; return the percentages of pages and of reads, by how often a page is read."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        api.run(replace(plan, log=log))
        info = traces.info([log], traces.Reading(set=[_COLUMNS]), reuse=False)[0]
    # The cumulative shares of pages, by number of reads.
    most = {count: (100 * pages, 100 * reads) for count, pages, reads in info["read_counts"]}
    return {
        "pages seldom": most[2][0],
        "pages often": 100 - most[10][0],
        "reads seldom": most[2][1],
        "reads often": 100 - most[10][1],
        "curve": info["read_counts"],
    }


def aged_blocks(scope: Scope) -> Jobs:
    """Return the spread of blocks at each stage of life."""
    return _blocks(scope, STAGES)


def varied_blocks(scope: Scope) -> Jobs:
    """Return the spread of blocks that vary more or less."""
    return _blocks(scope, WIDTHS)


def _blocks(scope: Scope, gaussians: Sequence[tuple[str, str]]) -> Jobs:
    return {
        (f"{mean} {sigma}",): Job(
            scope.plan(DEVICE, BASE, "random", set=[_gaussian(mean, sigma)]), spread
        )
        for mean, sigma in gaussians
    }


def spread(plan: Plan) -> list[tuple[float, float]]:
    """Return the shares of blocks by their raw bit error rate, at the middle of each interval."""
    found = physics(replace(plan, workload=None))
    return [((one.least + one.most) / 2, sum(one.blocks) / found.blocks) for one in found.base.bins]


def one_drive(scope: Scope) -> Jobs:
    """Return three groups on one workload."""
    return {(THREE,): plan_of(scope, THREE, "hm0")}


def decoders(scope: Scope) -> Jobs:
    """Return the rates that codes correct. No drive runs; the settings may name another decoder."""
    return {("codes",): Job(Plan(set=list(scope.settings)), decoded)}


def decoded(plan: Plan) -> dict[str, float]:
    """Return the raw bit error rate up to which each code decodes."""
    codes = ldpc()
    (setting,) = setting_lines(plan.set) or ["decoder=min_sum"]
    decoder, _, most = setting.partition("=")[2].partition(":")
    if most:
        stopped = next(one for one in codes.hurried if one.iterations == int(most))
        hard, soft = stopped.hard, stopped.soft
    else:
        hard, soft = (getattr(codes.levels[at], decoder).corrected for at in (0, -1))
    return {"bch": codes.bch.rber, "hard": hard, "soft": soft}


def codes(scope: Scope) -> Jobs:
    """Return the lifetime of the median block with each code."""
    return {
        (name,): Job(scope.plan(DEVICE, BASE, "random", set=settings), found)
        for name, settings, found in (
            ("needed", (), cycles_as_needed),
            *((name, settings, last_cycles) for name, settings in CODES.items()),
        )
    }


def last_cycles(plan: Plan) -> float | None:
    """Return the P/E cycles after which the code fails the median block; None if it never does."""
    return _cycles_at(plan, None)


def cycles_as_needed(plan: Plan) -> float | None:
    """Return the P/E cycles after which the median block has the rate that the paper names."""
    return _cycles_at(plan, NEEDED)


def _cycles_at(plan: Plan, rate: float | None) -> float | None:
    """Return the P/E cycles after which the median block exceeds a rate, or what the code decodes.

    None if it never does.
    """
    blocks = physics(replace(plan, workload=None))
    most = blocks.levels[-1].capability if rate is None else rate
    middle = next(group for group in blocks.groups if group.name == "median")
    points = [(point.at, point.rber) for point in middle.over_cycles[0].points]
    for (low, before), (high, after) in pairwise(points):
        if before <= most < after:
            return low + (high - low) * (most - before) / (after - before)
    return None


def reads(runs: Runs, *name: str) -> dict[str, float]:
    """Return the mean read latencies of the runs with this name, by workload."""
    return {key[-1]: runs[key].read.latency_us.mean for key in runs if key[:-1] == name}


def gain(new: Mapping[str, float], old: Mapping[str, float]) -> float:
    """Return the mean change in percent; all workloads have equal weight."""
    return fmean(percent(new[name], old[name]) for name in new)


def gains(runs: Runs, base: Runs) -> dict[str, float]:
    """Return the mean change of reads of each drive against the unaware drive."""
    return {name: gain(reads(runs, name), reads(base, BASE)) for name in runs.names(0)}


def migration(result: Result) -> MigrationCounts:
    """Return the counts of moved pages."""
    assert result.migration is not None
    return result.migration


def moves(result: Result) -> tuple[float, ...]:
    """Return the pages that moved in, and those that moved out, in percent of all requests."""
    counts = migration(result)
    return tuple(100 * count / result.requests for count in (counts.hot, counts.cold))


def moved(result: Result) -> float:
    """Return the pages that moved in or out, in percent of all requests."""
    return sum(moves(result))


def mean_moved(runs: Runs, name: str) -> float:
    """Return the mean of :func:`moved` over the workloads."""
    return fmean(moved(runs[key]) for key in runs if key[0] == name)


def must_move(results: Iterable[Result]) -> None:
    """Raise :class:`NeverRanError` if no drive has moved a page."""
    if not any(one.migration is not None and one.migration.hot for one in results):
        raise NeverRanError("no page was read often enough to move")


@claim("V1", unaware, ideal_wear)
def wear_leveling_alone(base: Runs, runs: Runs) -> list[float]:
    """Return how reads change if often-written data has the best blocks."""
    return [gains(runs, base)["ideal-wear"]]


@claim("V2", unaware, ideal_reads)
def ideal_placement(base: Runs, runs: Runs) -> list[float]:
    """Return how reads change if often-read data has the best blocks."""
    return [gains(runs, base)["pv-ideal"]]


@claim("V3", unaware, three_groups)
def three_groups_read_faster(base: Runs, runs: Runs) -> list[float]:
    """Return how reads change with three groups."""
    must_move(runs.values())
    return [gains(runs, base)[THREE]]


@claim("V4", unaware, numbers_of_groups)
def fewer_groups(base: Runs, runs: Runs) -> list[float]:
    """Return the share of steps at which fewer groups read no slower, and the gains' range."""
    must_move(runs.values())
    found = gains(runs, base)
    steps = [found[fewer] <= found[more] for fewer, more in pairwise(GROUPS)]
    return [100 * fmean(steps), max(found.values()) - min(found.values())]


@claim("V5", unaware, shares_apart)
def little_apart_is_enough(base: Runs, runs: Runs) -> list[float]:
    """Return the range of the gains by the share set apart."""
    must_move(runs.values())
    found = gains(runs, base).values()
    apart = max(found) - min(found)
    if min(map(abs, found)) < LITTLE:
        raise NeverRanError("so little is gained that it cannot differ by much", [apart])
    return [apart]


@claim("V6", numbers_of_groups, shares_apart)
def few_moves(groups: Runs, apart: Runs) -> list[float]:
    """Return moves, the share that moved in, and how often more groups or space save moves."""
    must_move(groups.values())
    names = groups.names(1)
    three = [migration(groups[THREE, name]) for name in names]
    hot, cold = (sum(one.hot for one in three), sum(one.cold for one in three))
    fewer = [moved(groups[GROUPS[-1], name]) < moved(groups[GROUPS[0], name]) for name in names]
    out = [
        migration(apart[APART[-1], name]).cold < migration(apart[APART[0], name]).cold
        for name in names
    ]
    in_share = 100 * hot / max(1, hot + cold)
    return [mean_moved(groups, THREE), in_share, 100 * fmean(fewer), 100 * fmean(out)]


@claim("V7", lives)
def little_life_lost(runs: Runs) -> list[float]:
    """Return how much less is written until 5 % of the blocks are worn out, by workload."""
    for name in LIVES:
        must_move([runs[THREE, name]])
    return [percent(written(runs[THREE, name]), written(runs[LEVELED, name])) for name in LIVES]


def written(result: Result) -> float:
    """Return the bytes that the host had written when 5 % of the blocks were worn out."""
    assert result.life is not None
    assert result.life.five_percent_bytes is not None
    return result.life.five_percent_bytes


@claim("V8", stages, widths)
def always_a_gain(ages: Runs, spreads: Runs) -> list[float]:
    """Return how often there is a gain, how often a wider spread gains less, and the range."""
    must_move(ages.values())
    must_move(spreads.values())
    by_age, by_width = gains_drawn(ages), gains_drawn(spreads)
    less = [wide >= narrow for narrow, wide in pairwise(by_width)]
    shares = [[one < 0 for one in found] for found in (by_age, by_width)]
    counts = [100 * fmean(share) for share in (*shares, less)]
    return [*counts, max(by_width) - min(by_width)]


def gains_drawn(runs: Runs) -> list[float]:
    """Return the mean change of reads with three groups on each kind of blocks."""
    return [gain(reads(runs, THREE, kind), reads(runs, BASE, kind)) for kind in runs.names(1)]


@claim("V9", unaware, thresholds)
def three_reads_are_enough(base: Runs, runs: Runs) -> list[float]:
    """Return the extra moves of a threshold of 2, and how far reads with 3 are from the best."""
    must_move(runs.values())
    costs = [mean_moved(runs, value) for value in THRESHOLDS]
    found = gains(runs, base)
    return [costs[0] / max(costs[1:]), found["3"] - min(found.values())]


@claim("V10", read_counts)
def most_pages_are_read_seldom(runs: Runs) -> list[float]:
    """Return the shares of read pages that are read seldom and often, means over the workloads."""
    return [fmean(one[name] for one in runs.values()) for name in ("pages seldom", "pages often")]


@claim("V11", decoders, seeds=1)
def what_codes_decode(runs: Runs) -> list[float]:
    """Return the rates that BCH, one level and seven levels correct."""
    return [runs["codes",][name] for name in ("bch", "hard", "soft")]


@claim("V12", read_counts)
def reads_of_few_or_many(runs: Runs) -> list[float]:
    """Return the shares of reads of seldom-read and of often-read pages, on two workloads each."""
    seldom = [runs[name,]["reads seldom"] for name in SELDOM]
    return [*seldom, *(runs[name,]["reads often"] for name in OFTEN)]


@claim("V13", one_drive, seeds=1)
def little_memory(runs: Runs) -> list[float]:
    """Return the memory of groups, counters and CLOCK, in KiB."""
    held = runs[THREE,].metadata_bytes
    return [held[name] / 1024 for name in ("block_groups", "read_counts", "clock")]


@claim("V14", codes)
def cycles_by_code(runs: Runs) -> list[float]:
    """Return the P/E cycles that the median block lasts at the paper's rate, and with each code."""
    found = [runs[name,] for name in ("needed", "bch", "ldpc")]
    if None in found:
        raise NeverRanError("the median block outlasts all cycles that were looked at")
    return found
