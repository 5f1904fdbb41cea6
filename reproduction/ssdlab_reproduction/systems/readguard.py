"""The claims of ReadGuard: reads of three applications of different priority on one drive.

Runs are expensive. Most read the first two million requests of a mix, in which the quality monitor
has no round; the history of the start has some. The first quarter of them does not count: it brings
the drive to its own steady state, with the scheme's own allocation. Claims that need rounds take
long runs with one seed. A quick ledger runs two of the mixes on the 500 GB version of the drive,
which is ready in a second. It has no long runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from statistics import fmean, median, pstdev
from typing import Any

from ssdlab.calibration import fit
from ssdlab.plan import Plan
from ssdlab.result import Result, Wear
from ssdlab.result.detail import RetrySpread
from ssdlab.result.parts import INVERSION_REPAIR
from ssdlab_reproduction.registry import NeverRanError, Set, claim
from ssdlab_reproduction.runs import Job, Jobs, Runs
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import percent

CYCLES = {"young": 500, "adult": 1000, "old": 3000, "worn": 3500}
"""P/E cycles at the start of a drive: the paper's three stages of life, and that of section 6.4."""
YOUNG, ADULT, OLD, WORN = tuple(CYCLES)
STAGES = YOUNG, ADULT, OLD
SIZES = ("500g", "1t", "2t", "4t")
_SIZE, _QUICK_SIZE = "2t", "500g"
_QUICK_SIZES = ("500g", "1t")

BASE, RGFTL = "baseline", "rgftl"
NO_PREEMPTION, LAST_SEEN = "rgftl-", "rgftl++"
BASE_PLUS, RGFTL_PLUS = "baseline+", "rgftl+"
NO_ORACLE_PREEMPTION, ORACLE = "nopftl", "rorftl"

MIXES = ("mix-a", "mix-b", "mix-c", "mix-d", "mix-e")
MIX_A, MIX_C = "mix-a", "mix-c"
YCSB = "ycsb"
_QUICK = (MIX_A, MIX_C)
_DETAILED = (YCSB, MIX_A)
"""The loads whose latency distributions are drawn, and whose reads are compared by page."""
COMPRESSED = 0.1
"""The paper's arrivals are ten times as fast as those of the volumes."""
STRETCHED = 4.0
"""At the pace of its twin, YCSB exceeds what the old drive can do under any scheme."""

HIGH, MID, LOW = range(3)
CUT, _QUICK_CUT = 2_000_000, 100_000
SETTLED = 500_000
"""After so many requests, collection costs what the mix makes it cost, under every scheme. A drive
starts in the steady state of uniform overwriting.
"""
HISTORY = ("start.history.span=90d", "start.age_max=0d")
"""How long tenants and policies have worked on a drive before its run: nothing is older (ruled)."""
EQUALLY = "start.owners=equal"
"""Data that no application touches belongs to all equally, as MQSim divides its addresses."""
LONG = 75_000_000
"""MixB and MixD end earlier, with all their rounds. The others have the first round. After it,
repairs soon reach their limit, a tenth of the controller's writes.
"""

# A sixty-fourth of the drive, and MixD at its own pace, which so few dies can sustain.
LIFE = (
    "geometry.channels=2",
    "geometry.chips=1",
    "geometry.blocks=484",
    "flash.time_scale=1",
    EQUALLY,
)
_REPLAYS, _LAST = 50, 10
ACROSS = 70
"""The spread of P/E cycles beyond which wear is leveled across priorities (section 6.5)."""
DRAWN = ("ablations", "conditions", "errors", "spreads", "steps")
"""The parts of a fit that figures draw, by their names in its JSON (docs/guides/calibrate.md)."""

Figure = Callable[[Result], list[float]]


def run(
    scope: Scope, scheme: str, stage: str, load: str, *, size: str = _SIZE, limit: int | None = CUT
) -> Plan:
    """Return a run of a mix, or of YCSB, on a drive of this size and stage of life.

    The drive has a history (:data:`HISTORY`): the same mix ran on it, under the same policies.
    """
    device = f"readguard-tlc-{_QUICK_SIZE if scope.quick and size == _SIZE else size}"
    limit = scope.cut(limit, _QUICK_CUT)
    owners = [] if scheme in (BASE, BASE_PLUS) else [EQUALLY]
    return scope.plan(
        device,
        f"readguard/{scheme}",
        f"readguard/{load}",
        limit=limit,
        warmup=settling(limit),
        time_scale=STRETCHED if load == YCSB else COMPRESSED,
        detail=load in _DETAILED,
        set=[f"start.pe_cycles={CYCLES[stage]}", *HISTORY, *owners],
    )


def settling(limit: int | None) -> int:
    """Return how many requests of a run do not count: at most a quarter."""
    return SETTLED if limit is None else min(SETTLED, limit // 4)


def mixes(*schemes: str, stages: Sequence[str] = (OLD,)) -> Set:
    """Return the set of these schemes at these stages of life, on each mix."""
    return lambda scope: _runs(scope, schemes, stages, scope.some(MIXES, _QUICK))


def on(load: str, *schemes: str, stages: Sequence[str] = (OLD,)) -> Set:
    """Return the set of these schemes at these stages of life, on one mix or on YCSB."""
    return lambda scope: _runs(scope, schemes, stages, [load])


def _runs(
    scope: Scope, schemes: Sequence[str], stages: Sequence[str], loads: Sequence[str]
) -> Jobs:
    return {
        (scheme, stage, load): run(scope, scheme, stage, load)
        for stage in stages
        for load in loads
        for scheme in schemes
    }


lives = on(MIX_A, RGFTL, stages=tuple(CYCLES))
"""The set of ReadGuard on MixA, from each number of P/E cycles of section 6.4."""


def long_mixes(scope: Scope) -> Jobs:
    """Return the baseline and ReadGuard on each mix, long enough for a round of the monitor."""
    if scope.quick:
        return {}
    return {
        (scheme, OLD, mix): run(scope, scheme, OLD, mix, limit=LONG)
        for mix in MIXES
        for scheme in (BASE, RGFTL)
    }


def old_mixes(scope: Scope) -> Jobs:
    """Return the long runs; in a quick ledger, short runs of the same kinds."""
    return long_mixes(scope) or mixes(BASE, RGFTL)(scope)


def sizes(scope: Scope) -> Jobs:
    """Return the baseline and ReadGuard on drives of several sizes, each on each mix."""
    return {
        (scheme, size, mix): run(scope, scheme, ADULT, mix, size=size)
        for size in scope.some(SIZES, _QUICK_SIZES)
        for mix in scope.some(MIXES, _QUICK)
        for scheme in (BASE, RGFTL)
    }


def tables(scope: Scope) -> Jobs:
    """Return a request on an empty drive of each size, where the table exists at once."""
    return {
        (size,): scope.plan(
            f"readguard-tlc-{size}",
            f"readguard/{RGFTL}",
            f"readguard/{MIX_A}",
            limit=1,
            set=["start.fill=0", "start.steady_state=false"],
        )
        for size in SIZES[1:]
    }


def life(scope: Scope) -> Jobs:
    """Return repeated replays of MixD on a drive of 32 GB."""
    if scope.quick:
        return {}
    drive = scope.plan(
        "readguard-tlc-2t",
        f"readguard/{RGFTL}",
        "readguard/mix-d",
        wrap=True,
        limit=CUT,
        replays=_REPLAYS,
        set=LIFE,
    )
    return {(RGFTL,): drive}


def fitted(plan: Plan) -> dict[str, Any]:
    """Fit the predictor to generated chips; return its errors and the parts that figures draw."""
    found = fit(device=plan.device, set=plan.set, seed=plan.seed)
    return {
        "percent": [error.percent for error in found.errors],
        "spread": max(spread.most - spread.least for spread in found.spreads),
        **{name: found.raw[name] for name in DRAWN},
    }


def predictor(scope: Scope) -> Jobs:
    """Return a fit of the predictor."""
    plan = Plan(device="readguard-tlc-2t", seed=scope.seed, set=list(scope.settings))
    return {("fit",): Job(plan, fitted)}


def means(result: Result) -> list[float]:
    """Return each application's mean latency of reads, in microseconds."""
    return [queue.read.latency_us.mean for queue in result.queues]


def tails(result: Result) -> list[float]:
    """Return the 99th percentile of each application's latencies of reads, in microseconds."""
    return [queue.read.latency_us.p99 for queue in result.queues]


def waits(result: Result) -> list[float]:
    """Return the mean wait of each application's reads for their command, in microseconds."""
    return [queue.read_waiting_us for queue in result.queues]


def retries(result: Result) -> list[float]:
    """Return the mean number of retries of the pages that each application reads."""
    return [
        sum(at * count for at, count in enumerate(queue.read_retries)) / sum(queue.read_retries)
        for queue in result.queues
    ]


def results(runs: Runs, scheme: str, stage: str = OLD) -> list[Result]:
    """Return a scheme's results at a stage of life, or on a drive size, by load."""
    return [runs[key] for key in runs if key[:2] == (scheme, stage)]


def under(
    runs: Runs,
    scheme: str,
    stage: str,
    app: int,
    over: Callable[[Iterable[float]], float] = fmean,
) -> float:
    """Return high's change of reads against another application in percent, over loads."""
    found = map(means, results(runs, scheme, stage))
    return over(percent(one[HIGH], one[app]) for one in found)


def against(
    runs: Runs, scheme: str, base: str, figure: Figure = means, stage: str = OLD
) -> list[float]:
    """Return each application's change against another scheme in percent, averaged over loads."""
    pairs = zip(results(runs, scheme, stage), results(runs, base, stage), strict=True)
    changes = [map(percent, figure(one), figure(other)) for one, other in pairs]
    return [fmean(app) for app in zip(*changes, strict=True)]


def rising(of: Iterable[Result], figure: Figure) -> float:
    """Return the share of results in which a figure rises from high to low priority, in percent."""
    return 100 * fmean(all(one < next_ for one, next_ in pairwise(figure(run))) for run in of)


def repaired(runs: Runs, found: Sequence[float]) -> None:
    """Raise :class:`NeverRanError` if the quality monitor repaired nothing on some mix.

    ``found`` are the claim's figures, which are then those of runs without repairs. Runs that a
    sweep or a crossing shortens have no round; the history of their start has some.
    """
    idle = [
        load
        for scheme, stage, load in runs
        if scheme == RGFTL
        and not is_shortened(runs[scheme, stage, load])
        and not moved(runs[scheme, stage, load])
    ]
    if idle:
        raise NeverRanError(f"the quality monitor repaired nothing on {', '.join(idle)}", found)


def is_shortened(result: Result) -> bool:
    """Tell whether a sweep or a crossing shortened a long run."""
    limit: int = result.provenance.plan["limit"]
    return limit < LONG


def moved(result: Result) -> int:
    """Return the pages that repairs moved."""
    counters = result.counters.get(INVERSION_REPAIR)
    return 0 if counters is None else counters["moved"]


@claim("R1", mixes(RGFTL, stages=STAGES))
def differentiation(runs: Runs) -> list[float]:
    """Return by how much high reads faster than low and than mid, at each stage.

    First the means over the mixes, then the largest gains.
    """
    return [
        under(runs, RGFTL, stage, app, over)
        for over in (fmean, min)
        for app in (LOW, MID)
        for stage in STAGES
    ]


@claim("R2", long_mixes, seeds=1)
def gains(runs: Runs) -> list[float]:
    """Return by how much each application reads faster or slower on the old drive."""
    found = against(runs, RGFTL, BASE)
    repaired(runs, found)
    return found


@claim("R3", old_mixes, on(YCSB, BASE), seeds=1)
def waits_alone(of_mixes: Runs, of_ycsb: Runs) -> list[float]:
    """Return the shares of loads whose waits follow the priorities, and whose latencies do not."""
    found = results(of_mixes, BASE) + results(of_ycsb, BASE)
    return [rising(found, waits), 100 - rising(found, means)]


@claim("R4", mixes(BASE, RGFTL, stages=STAGES))
def shorter_tails(runs: Runs) -> list[float]:
    """Return by how much high's 99th percentile is lower, at each stage."""
    return [against(runs, RGFTL, BASE, tails, stage)[HIGH] for stage in STAGES]


@claim("R5", mixes(BASE, LAST_SEEN, NO_PREEMPTION, RGFTL, stages=STAGES))
def tails_of_last_seen(runs: Runs) -> list[float]:
    """Return the reduction with the retries last seen, and how much smaller it is."""
    found = []
    for scheme in (LAST_SEEN, NO_PREEMPTION):
        seen = [against(runs, scheme, BASE, tails, stage)[HIGH] for stage in STAGES]
        less = (one - best for one, best in zip(seen, shorter_tails(runs), strict=True))
        found += [*seen, *less]
    return found


@claim("R6", on(YCSB, NO_ORACLE_PREEMPTION, ORACLE))
def oracles(runs: Runs) -> list[float]:
    """Return by how much high reads slower if other reads are not interrupted for it."""
    return [against(runs, NO_ORACLE_PREEMPTION, ORACLE, of)[HIGH] for of in (tails, means)]


def changes(runs: Runs, figure: Callable[[Result], float]) -> dict[str, float]:
    """Return ReadGuard's changes against the baseline in percent, by mix."""
    return {
        mix: percent(figure(runs[RGFTL, OLD, mix]), figure(runs[BASE, OLD, mix]))
        for mix in runs.names(2)
    }


@claim("R7", long_mixes, seeds=1)
def slower_writes(runs: Runs) -> list[float]:
    """Return by how much writes are slower, on the mean and on MixC."""
    each = changes(runs, lambda result: result.write.latency_us.mean)
    found = [fmean(each.values()), each[MIX_C]]
    repaired(runs, found)
    return found


@claim("R8", long_mixes, seeds=1)
def more_programs(runs: Runs) -> list[float]:
    """Return the largest growth of programmed pages per written page, over the mixes."""
    found = [max(changes(runs, lambda result: result.waf or 1.0).values())]
    repaired(runs, found)
    return found


@claim("R9", mixes(RGFTL_PLUS, stages=STAGES))
def differentiation_with_mitigation(runs: Runs) -> list[float]:
    """Return by how much high reads faster if retries are fewer and shorter in any case."""
    return [under(runs, RGFTL_PLUS, stage, app) for app in (LOW, MID) for stage in STAGES]


@claim("R10", predictor)
def foreseen(runs: Runs) -> list[float]:
    """Return the predictor's errors under the worst condition, and the spread of retries."""
    fit = runs["fit",]
    return [max(fit["percent"]), fit["spread"]]


def retry_spread(result: Result) -> RetrySpread:
    """Return the spread of the retries that host reads needed, over blocks and over pages."""
    assert result.detail is not None
    assert result.detail.retry_spread is not None
    return result.detail.retry_spread


@claim("R11", on(MIX_A, RGFTL, stages=[WORN]))
def worn_apart(runs: Runs) -> list[float]:
    """Return the spread of retries over the blocks that MixA reads, and over the pages of one."""
    found = retry_spread(runs[RGFTL, WORN, MIX_A])
    return [found.blocks, found.pages]


@claim("R12", sizes, seeds=1)
def on_all_sizes(runs: Runs) -> list[float]:
    """Return the deviation of high's gain over sizes and mixes, and over sizes alone."""
    found = [
        [
            percent(means(runs[RGFTL, size, mix])[HIGH], means(runs[BASE, size, mix])[HIGH])
            for size in runs.names(1)
        ]
        for mix in runs.names(2)
    ]
    return [pstdev(chain.from_iterable(found)), fmean(map(pstdev, found))]


@claim("R13", tables, seeds=1)
def size_of_table(runs: Runs) -> list[float]:
    """Return the size of the grader's table on drives of 1, 2 and 4 TB, in megabytes."""
    return [result.metadata_bytes["block_retries"] / 1e6 for result in runs.values()]


def apart_by(wear: Wear) -> int:
    """Return the difference between the most and the least worn block, in P/E cycles."""
    return wear.max - wear.min


@claim("R14", life)
def wear_comes_back(runs: Runs) -> list[float]:
    """Return the spread of wear over all blocks and within a priority, after the last replays."""
    result = runs[RGFTL,]
    spreads = [apart_by(replay.wear) for replay in result.replays]
    within = [max(map(apart_by, one.wear.priorities or ())) for one in result.replays[-_LAST:]]
    found = [median(spreads[-_LAST:]), median(within)]
    if max(spreads) <= ACROSS:
        reason = f"the spread never passed {ACROSS}: it was {max(spreads)} at most"
        raise NeverRanError(reason, found)
    if not result.wear_leveled:
        raise NeverRanError("no wear was leveled in the last replay", found)
    return found


@claim("R15", on(MIX_C, RGFTL, NO_PREEMPTION))
def reads_over_reads(runs: Runs) -> list[float]:
    """Return by how much high reads faster because other reads are interrupted for it."""
    return [against(runs, RGFTL, NO_PREEMPTION)[HIGH]]


@claim("R16", on(MIX_A, BASE))
def slower_high(runs: Runs) -> list[float]:
    """Return by how much high reads slower than mid and than low under the baseline."""
    return [under(runs, BASE, OLD, app) for app in (MID, LOW)]


@claim("R17", on(MIX_A, BASE_PLUS, stages=STAGES))
def slower_high_with_mitigation(runs: Runs) -> list[float]:
    """Return by how much high reads slower than mid where retries are fewer and shorter."""
    return [under(runs, BASE_PLUS, stage, MID) for stage in STAGES]


@claim("R18", mixes(BASE_PLUS, RGFTL_PLUS))
def gain_with_mitigation(runs: Runs) -> list[float]:
    """Return by how much high reads faster if retries are fewer and shorter in any case."""
    return [against(runs, RGFTL_PLUS, BASE_PLUS)[HIGH]]


@claim("R19", long_mixes, on(YCSB, BASE, RGFTL), seeds=1)
def order_of_retries(of_mixes: Runs, of_ycsb: Runs) -> list[float]:
    """Return the shares of loads whose retries rise from high to low, and whose are inverted."""
    base, own = (results(of_mixes, one) + results(of_ycsb, one) for one in (BASE, RGFTL))
    inverted = [apps[HIGH] > apps[LOW] for apps in map(retries, base)]
    found = [rising(own, retries), 100 * fmean(inverted)]
    repaired(of_mixes, found)
    return found
