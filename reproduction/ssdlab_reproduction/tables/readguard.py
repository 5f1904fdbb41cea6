"""Write the tables of docs/systems/readguard.md: ReadGuard's claims, measured on its mixes.

``make readguard`` runs this program; docs/systems/readguard.md says how long it takes. The
workloads are twins (docs/concepts/twins.md). Runs are shared with the ledger (``make reproduce``)
and kept in ``build/reproduction``, so that a stopped run can be resumed. ``python -m
ssdlab_reproduction.tables.readguard REQUESTS`` stops each run after REQUESTS requests, for a first
look. ``python -m ssdlab_reproduction.tables.readguard full`` (``make readguard-full``) runs every
mix to its end at each stage. It writes the first and the third table to
``build/readguard-full.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import ssdlab
from ssdlab.result.parts import INVERSION_REPAIR
from ssdlab_reproduction.runs import library_hash
from ssdlab_reproduction.scope import Change, Scope
from ssdlab_reproduction.statistics import percent
from ssdlab_reproduction.systems.readguard import (
    ADULT,
    CUT,
    LIFE,
    LONG,
    MIXES,
    OLD,
    SIZES,
    STAGES,
    Figure,
    means,
    retries,
    run,
    settling,
    tails,
    waits,
)
from ssdlab_reproduction.tables.common import DOCS, ROOT, Kept, change, grid, several, write

SCHEMES = ["baseline", "rgftl", "rgftl-", "rgftl++"]
PLUS = ["baseline+", "rgftl+"]
ORACLES = ["nopftl", "rorftl"]
SIZE_NAMES = {"500g": "500 GB", "1t": "1 TB", "2t": "2 TB", "4t": "4 TB"}
# Under static allocation, one plane is written more than the others; no leveler moves data away.
ALLOCATIONS = ["dynamic", "static"]
# A round twice a day instead of once a week, in runs long enough for one.
OFTEN = ["background.inversion_repair.interval=12h"]
# Only its margins limit the monitor: it repairs at once what a round finds.
UNPACED = [*OFTEN, "background.inversion_repair.monitor.paced=false"]
OFTEN_REQUESTS = 5_000_000
LIFE_REQUESTS = 8_000_000
LIFE_REPLAYS = 70
PAGE = DOCS / "systems" / "readguard.md"
FULL = ROOT / "build" / "readguard-full.md"
MARK = "<!-- measured: written by `make readguard` -->\n"


@dataclass(slots=True)
class Study:
    """The runs, and the results that several tables share."""

    kept: Kept
    cut: int | None
    limit: int | None
    saturated: set[str] = field(default_factory=set)
    found: dict[str, Any] = field(default_factory=dict)

    def results(
        self, stage: str, schemes: Sequence[str], mixes: Sequence[str], limit: int | None, **of: str
    ) -> dict[str, list[ssdlab.Result]]:
        """Return the results by scheme, over all mixes in turn; ``of`` may give a drive size."""
        plans = [
            run(Scope(), scheme, stage, mix, limit=limit, **of)
            for mix in mixes
            for scheme in schemes
        ]
        results = self.kept.compare(plans, " ".join([*of.values(), stage]))
        for result in results:
            if result.saturated:
                self.saturated.add(f"`{result.scheme}` on {result.workload} ({stage})")
        return {scheme: results[at :: len(schemes)] for at, scheme in enumerate(schemes)}


def against(
    results: Sequence[ssdlab.Result],
    base: Sequence[ssdlab.Result],
    figure: Figure,
) -> list[float]:
    """Return each application's change in percent, averaged over the mixes."""
    changes = [
        [percent(new, old) for new, old in zip(figure(one), figure(other), strict=True)]
        for one, other in zip(results, base, strict=True)
    ]
    return [fmean(app) for app in zip(*changes, strict=True)]


def under(results: Sequence[ssdlab.Result], figure: Figure, app: int) -> float:
    """Return the change of the high application against another in percent, averaged over mixes."""
    return fmean(percent(figure(one)[0], figure(one)[app]) for one in results)


def least_read_us(result: ssdlab.Result) -> float:
    """Return the minimum latency of a read in microseconds: tR, tDMA and tECC of a page."""
    config = result.provenance.config
    rate = float(config["flash"]["bus_rate"].removesuffix("MB/s"))
    page = float(config["geometry"]["page_size"].removesuffix("KiB")) * 1024
    times = [float(config["timing"][part].removesuffix("us")) for part in ("read", "decode")]
    return sum(times) + page / rate


def times_least(result: ssdlab.Result) -> list[float]:
    """Return each application's mean read latency relative to the minimum latency."""
    return [mean / least_read_us(result) for mean in means(result)]


def tails_least(result: ssdlab.Result) -> list[float]:
    """Return each application's 99th percentile relative to the minimum read latency."""
    return [tail / least_read_us(result) for tail in tails(result)]


def rounds(results: Iterable[ssdlab.Result]) -> str:
    """Return the number of rounds of the quality monitor, over all mixes."""
    found = [result.counters.get(INVERSION_REPAIR) for result in results]
    done = [counters["rounds"] for counters in found if counters is not None]
    return f"{sum(done)}" if done else ""


def by_app(results: Sequence[ssdlab.Result], figure: Figure, form: str) -> str:
    """Return a figure of each application as text, averaged over the mixes."""
    return several([fmean(app) for app in zip(*map(figure, results), strict=True)], form)


def by_stage(study: Study) -> Iterator[str]:
    """Yield the applications beside one another and beside the baseline, by stage of life."""
    rows = []
    for stage in STAGES:
        found = study.results(stage, SCHEMES, MIXES, study.cut)
        study.found[stage] = found
        base = found["baseline"]
        for scheme, results in found.items():
            own = scheme == "baseline"
            rows.append(
                [
                    stage,
                    f"`{scheme}`",
                    f"{under(results, means, 2):+.0f}",
                    f"{under(results, means, 1):+.0f}",
                    "" if own else several(against(results, base, means)),
                    "" if own else several(against(results, base, tails)),
                    by_app(results, retries, ".2f"),
                    by_app(results, waits, ",.0f"),
                    by_app(results, times_least, ".1f"),
                    by_app(results, tails_least, ",.0f"),
                    rounds(results),
                ]
            )
    heads = [
        "stage",
        "scheme",
        "high against low",
        "high against mid",
        "mean against baseline",
        "p99 against baseline",
        "retries",
        "wait µs",
        "mean, of the least",
        "p99, of the least",
        "rounds",
    ]
    yield from grid(heads, rows)


def by_mix(study: Study) -> Iterator[str]:
    """Yield each mix on the old drive."""
    rows = []
    for at, mix in enumerate(MIXES):
        for scheme in SCHEMES:
            result = study.found[OLD][scheme][at]
            rows.append(
                [
                    mix,
                    f"`{scheme}`",
                    several(means(result), ",.0f"),
                    several(tails(result), ",.0f"),
                    several(retries(result), ".2f"),
                    several(waits(result), ",.0f"),
                    f"{result.write.latency_us.mean:,.0f}",
                ]
            )
    heads = ["mix", "scheme", "mean µs", "p99 µs", "retries", "wait µs", "writes µs"]
    yield from grid(heads, rows)


def with_mitigations(study: Study) -> Iterator[str]:
    """Yield a comparison where other means make retries fewer and shorter."""
    rows = []
    for stage in STAGES:
        found = study.results(stage, PLUS, MIXES, study.cut)
        for scheme, results in found.items():
            own = scheme == PLUS[0]
            rows.append(
                [
                    stage,
                    f"`{scheme}`",
                    f"{under(results, means, 2):+.0f}",
                    f"{under(results, means, 1):+.0f}",
                    "" if own else several(against(results, found[PLUS[0]], means)),
                    by_app(results, retries, ".2f"),
                ]
            )
    heads = [
        "stage",
        "scheme",
        "high against low",
        "high against mid",
        f"mean against `{PLUS[0]}`",
        "retries",
    ]
    yield from grid(heads, rows)


def with_oracles(study: Study) -> Iterator[str]:
    """Yield the gain of reads over reads if the quality of each block is known."""
    found = study.results(OLD, ["baseline", *ORACLES, "rgftl"], ["ycsb"], study.cut)
    rows = [
        [
            f"`{scheme}`",
            several(means(result), ",.0f"),
            several(tails(result), ",.0f"),
            several(retries(result), ".2f"),
            several(waits(result), ",.0f"),
        ]
        for scheme, [result] in found.items()
    ]
    yield from grid(["scheme", "mean µs", "p99 µs", "retries", "wait µs"], rows)


def in_long_runs(study: Study) -> Iterator[str]:
    """Yield runs on the old drive that are long enough for a round of the quality monitor."""
    limit = min(study.limit or LONG, LONG)
    found = study.results(OLD, ["baseline", "rgftl"], MIXES, limit)
    rows = []
    for mix, base, result in zip(MIXES, found["baseline"], found["rgftl"], strict=True):
        done = result.counters[INVERSION_REPAIR]
        rows.append(
            [
                mix,
                f"{result.requests / 1e6:.0f} M",
                f"{done['rounds']}",
                f"{done['inversions']:,}",
                f"{done['reassigned']:,} / {done['refreshed']:,}",
                f"{100 * done['extra_share']:.1f} %",
                several(done["margins"], ".1f"),
                several(against([result], [base], means)),
                several(against([result], [base], tails)),
                several(retries(base), ".2f"),
                several(retries(result), ".2f"),
                change(result.write.latency_us.mean, base.write.latency_us.mean, 1),
                f"{base.waf or 0:.2f} → {result.waf or 0:.2f}",
            ]
        )
    heads = [
        "mix",
        "requests",
        "rounds",
        "inversions",
        "given / refreshed",
        "extra writes",
        "margins",
        "mean against baseline",
        "p99 against baseline",
        "retries, `baseline`",
        "retries, `rgftl`",
        "writes",
        "WAF",
    ]
    yield from grid(heads, rows)


def often(study: Study) -> Iterator[str]:
    """Yield runs with so many rounds that the monitor reaches its limit, and whether it holds."""
    rows = []
    for mix in MIXES:
        limit = min(study.limit or OFTEN_REQUESTS, OFTEN_REQUESTS)
        plans = [
            run(Scope(changes=[Change(settings)]), "rgftl", OLD, mix, limit=limit)
            for settings in (OFTEN, UNPACED)
        ]
        result, unpaced = study.kept.compare(plans, "rounds often")
        done, at_once = (of.counters[INVERSION_REPAIR] for of in (result, unpaced))
        rows.append(
            [
                mix,
                f"{done['rounds']}",
                f"{done['inversions']:,}",
                f"{done['reassigned']:,} / {done['refreshed']:,}",
                f"{done['moved']:,}",
                f"{100 * done['extra_share']:.1f} %",
                f"{done['checks']}",
                several(done["margins"], ".1f"),
                f"{result.waf or 0:.2f}",
                f"{100 * at_once['extra_share']:.0f} %, {unpaced.waf or 0:.1f}",
            ]
        )
    heads = [
        "mix",
        "rounds",
        "inversions",
        "given / refreshed",
        "pages moved",
        "extra writes",
        "checks",
        "margins",
        "WAF",
        "by margins alone: extra writes, WAF",
    ]
    yield from grid(heads, rows)


def by_size(study: Study) -> Iterator[str]:
    """Yield a comparison of drives of four sizes."""
    rows = []
    for size in SIZES:
        found = study.results(ADULT, ["baseline", "rgftl"], MIXES, study.cut, size=size)
        each = [
            against([new], [old], means)[0]
            for new, old in zip(found["rgftl"], found["baseline"], strict=True)
        ]
        table = found["rgftl"][0].metadata_bytes["block_retries"]
        rows.append(
            [
                SIZE_NAMES[size],
                *(f"{one:+.1f}" for one in each),
                f"{fmean(each):+.1f}",
                megabytes(table),
            ]
        )
    yield from grid(["drive", *MIXES, "mean", "grader's table"], rows)


def megabytes(count: int) -> str:
    """Return a number of bytes as text in megabytes."""
    return f"{count / 1e6:.1f} MB"


def lifetime(study: Study) -> Iterator[str]:
    """Yield the spread of wear over replays of MixD on a small drive."""
    plan = ssdlab.Plan(
        device="readguard-tlc-2t",
        scheme="readguard/rgftl",
        workload="readguard/mix-d",
        wrap=True,
        limit=min(study.limit or LIFE_REQUESTS, LIFE_REQUESTS),
        replays=LIFE_REPLAYS,
    )
    sets = [[*LIFE, f"ftl.allocation={allocation}"] for allocation in ALLOCATIONS]
    results = study.kept.compare([replace(plan, set=keys) for keys in sets], "lifetime")
    rows = []
    for allocation, result in zip(ALLOCATIONS, results, strict=True):
        written = 0
        for nth, replay in enumerate(result.replays, start=1):
            written += replay.write.bytes
            priorities = replay.wear.priorities
            assert priorities is not None
            spread = replay.wear.max - replay.wear.min
            if nth % (LIFE_REPLAYS // 10) == 0:
                within = [wear.max - wear.min for wear in priorities]
                rows.append(
                    [
                        allocation,
                        f"{written / 1e12:.2f}",
                        f"{replay.wear.mean:,.0f}",
                        several([wear.mean for wear in priorities], ",.0f"),
                        several(within, "d"),
                        f"{spread}",
                        f"{replay.waf or 0:.2f}",
                    ]
                )
    heads = [
        "allocation",
        "TB written",
        "mean P/E",
        "by priority",
        "spread within",
        "spread over all",
        "WAF",
    ]
    yield from grid(heads, rows)


def full() -> None:
    """Run the mixes to their ends, and write the tables beside the kept runs."""
    study = Study(Kept(), None, None)
    parts = [("Stages of life", by_stage), ("With fewer and shorter retries", with_mitigations)]
    lines = [line for title, part in parts for line in (f"### {title}", "", *part(study))]
    FULL.parent.mkdir(exist_ok=True)
    FULL.write_text("\n".join(lines), encoding="utf-8")
    print(FULL)


def main() -> None:
    """Measure and write the page."""
    if sys.argv[1:] == ["full"]:
        full()
        return
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    cut = min(limit or CUT, CUT)
    study = Study(Kept(), cut, limit)
    sections = [
        ("Stages of life", by_stage),
        ("Each mix on the old drive", by_mix),
        ("With fewer and shorter retries", with_mitigations),
        ("YCSB, and blocks of known quality", with_oracles),
        ("Rounds twice a day", often),
        ("Four sizes", by_size),
        ("Lifetime", lifetime),
        ("Long runs", in_long_runs),
    ]
    made = [(title, list(lines(study))) for title, lines in sections]
    longest = min(limit or LONG, LONG)
    often_runs = min(limit or OFTEN_REQUESTS, OFTEN_REQUESTS)
    about = (
        f"The twins, seed 1, arrivals compressed tenfold, ssdlab {ssdlab.__version__} (build "
        f"{library_hash()[:8]}): the first {cut:,} requests of each mix, {often_runs:,} where "
        f"rounds come twice a day, and of long runs up to {longest:,}; the first "
        f"{settling(cut):,} of each bring the drive to the mix's own steady state and do not "
        "count, but in the lifetime. "
        "Changes are in "
        "percent, means over the five mixes; three numbers are of the apps high, mid and low. "
        "Waits and latencies are of reads; the least that one can take is tR, tDMA and tECC of a "
        "page. “Rounds” tells how often the quality monitor looked, over all mixes. Saturated, "
        "so that the backlog makes the figures: "
        f"{', '.join(sorted(study.saturated)) or 'none'}."
    )
    write(PAGE, MARK, about, made)


if __name__ == "__main__":
    main()
