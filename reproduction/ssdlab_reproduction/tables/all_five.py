"""Write the tables of docs/systems/all-five.md: what each of the five adds, alone and together.

``make all-five`` runs this program; docs/systems/all-five.md says how long it takes. The mixes
consist of twins (docs/concepts/twins.md). ``python -m ssdlab_reproduction.tables.all_five
REQUESTS`` stops each run after REQUESTS requests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import ssdlab
from ssdlab.confidence import interval
from ssdlab.traces import App
from ssdlab_reproduction.runs import library_hash
from ssdlab_reproduction.statistics import percent
from ssdlab_reproduction.tables.common import DOCS, Kept, grid, load, several, write

DEVICE, SCHEME = "five-tlc-512g", "all-five"
ORDER, TYPES, BLOCK_CLASSES, OVER, HOT, VOLTAGES = PARTS = (
    "DLV's order",
    "page types",
    "subpools",
    "reads over programs",
    "read-hot placement",
    "voltages",
)
# The settings that remove a part from the scheme.
GONE: Mapping[str, Sequence[str]] = {
    ORDER: ["scheduler=read_first"],
    TYPES: ["ftl.page_order=strict", "timing.wordline_buffer=true"],
    BLOCK_CLASSES: [
        "metadata.block_class=none",
        "metadata.retry_estimate=none",
        "ftl.free_block_policy=least_erased",
        "background.subpool_gc=false",
        "background.inversion_repair=false",
        "background.dual_pool=false",
    ],
    OVER: ["suspend=none"],
    HOT: ["background.read_hot_migration=false"],
    VOLTAGES: [
        "metadata.page_hotness=none",
        'program_mode=["normal"]',
        "start.program_mode=normal",
    ],
}
# ReadGuard's order, and its suspension of reads for reads, which no other order has.
PASSING = ["scheduler=strict_priority", "suspend.esra.reads=true"]
# High, mid and low priority, each from another paper.
MIXES: Mapping[str, Sequence[str]] = {
    "oltp": ["dlv/fin2", "hire/fin1", "pv-read/stg0"],
    "office": ["dlv/web0", "pv-read/hm0", "pa-ssd/msfs"],
    "build": ["hire/usr0", "readguard/ali121", "pa-ssd/bs"],
    "archive": ["pv-read/wdev0", "dlv/src12", "readguard/ali284"],
}
# The scheme was developed on these two mixes, so they do not show how good it is.
MADE_ON: Mapping[str, Sequence[str]] = {
    "search": ["hire/websearch", "pa-ssd/exch", "dlv/proj0"],
    "store": ["readguard/ycsb-b", "pa-ssd/dap", "hire/prn0"],
}
PER_SECOND = 2000.0
"""The mean number of requests per second of each application, over its twin."""
REQUESTS = 1_500_000
# The requests that do not count, at most a third. During them, the schemes open their own blocks,
# and victims are still those of uniform overwriting.
SETTLED = 500_000
# The length and the number of spans in which the start of an evenly overwritten drive is studied.
START, SPANS = 125_000, 3
# After so many requests, PV-read's run is cut: its groups would take hours.
GROUPS = 20_000
SEEDS = (1, 2, 3)
PAGE = DOCS / "systems" / "all-five.md"
MARK = "<!-- measured: written by `make all-five` -->\n"

Chosen = frozenset[str]
ALL = frozenset(PARTS)


def settings(parts: Chosen) -> list[str]:
    """Return the settings that reduce the scheme to these parts."""
    gone = [line for part in PARTS if part not in parts for line in GONE[part]]
    links = ["{priority={}}"] if BLOCK_CLASSES in parts else []
    links += ['"sbs"', '"ubs"'] if TYPES in parts else []
    place = ",".join(links or ['"next_page"'])
    return [*gone, f"placement=[{place}]"]


def apps(mix: str) -> list[App]:
    """Return the applications of a mix, all at the same rate."""
    twins = {**MIXES, **MADE_ON}[mix]
    return [
        App(twin, name, queue=at, scale=load(twin)[0] / PER_SECOND)
        for at, (name, twin) in enumerate(zip(("high", "mid", "low"), twins, strict=True))
    ]


Figure = Callable[[ssdlab.Result], float | None]


def queue(at: int) -> Callable[[ssdlab.Result], float]:
    """Return a function that gives the mean read of a queue, in microseconds."""
    return lambda result: result.queues[at].read.latency_us.mean


def high_p99(result: ssdlab.Result) -> float:
    """Return the 99th percentile of the first queue's reads, in microseconds."""
    return result.queues[0].read.latency_us.p99


FIGURES: Mapping[str, Figure] = {
    "high reads": queue(0),
    "mid reads": queue(1),
    "low reads": queue(2),
    "high p99": high_p99,
    "writes": lambda result: result.write.latency_us.mean,
    "WAF": lambda result: result.waf,
}


def weight(result: ssdlab.Result) -> float:
    """Return the wearing weight, by programs."""
    assert result.wearing_weight is not None
    return result.wearing_weight


COMPARED: Mapping[str, Figure] = {**FIGURES, "wear": weight}


@dataclass(frozen=True, slots=True)
class Kind:
    """A drive in the comparison: parts of the scheme or another scheme, and additional settings."""

    parts: Chosen
    more: Sequence[str] = ()
    scheme: str = SCHEME


NONE = Kind(frozenset())
WHOLE = Kind(ALL)
READGUARDS = Kind(ALL - {ORDER}, PASSING)
# The hotness of the data at the start is unknown.
UNTAUGHT = Kind(ALL, ["metadata.page_hotness.buffer.initial=none"])
WRITERS = Kind(ALL - {ORDER, HOT})
# The systems by themselves on this drive, except PV-read, which collects its groups for hours
# (docs/systems/all-five.md).
SYSTEMS = ("dlv/dlv", "pa-ssd/qds+ubs", "readguard/rgftl", "hire/hire")
BY_ITSELF: Mapping[str, Kind] = {name: Kind(frozenset(), (), name) for name in SYSTEMS}
# All of ReadGuard, with program modes by the learned hotness of pages.
GUARDED = Kind(frozenset({BLOCK_CLASSES, OVER, VOLTAGES}), PASSING)
# The same, with unknown hotness of the data at the start.
UNTAUGHT_GUARDED = Kind(GUARDED.parts, [*PASSING, *UNTAUGHT.more])
# HIRE by itself, with the knowledge about the start that the whole scheme has.
TAUGHT_HIRE = Kind(
    frozenset(),
    ["start.program_mode=policy", "metadata.page_hotness.buffer.initial=classified"],
    "hire/hire",
)
# Pairs of parts that may change the value of each other.
PAIRS = ((ORDER, OVER), (VOLTAGES, BLOCK_CLASSES), (TYPES, BLOCK_CLASSES))


def without(part: str) -> Kind:
    """Return the scheme without a part, and without the parts that need it."""
    return Kind(ALL - {part} - ({HOT} if part == BLOCK_CLASSES else set()))


def alone(part: str) -> Kind:
    """Return a part alone, with the parts that it needs."""
    return Kind(frozenset({part}) | ({BLOCK_CLASSES} if part == HOT else frozenset()))


def baseline_of(part: str) -> Kind:
    """Return the drive to compare a part alone with."""
    return Kind(frozenset({BLOCK_CLASSES} if part == HOT else ()))


def both(pair: tuple[str, str]) -> Kind:
    """Return two parts and no other part."""
    return Kind(frozenset(pair))


# PV-read by itself, for the start of a drive.
PV_READ = Kind(frozenset(), (), "pv-read/pv-read")

KINDS = [NONE, WHOLE, READGUARDS, UNTAUGHT, WRITERS, GUARDED, UNTAUGHT_GUARDED, TAUGHT_HIRE]
KINDS += BY_ITSELF.values()
KINDS += [*map(without, PARTS), *map(alone, PARTS), *map(both, PAIRS)]


def settling(limit: int) -> int:
    """Return how many of a run's requests do not count."""
    return min(SETTLED, limit // 3)


def mixes_of(kind: Kind) -> list[str]:
    """Return the mixes on which a kind of drive runs."""
    return [*MIXES, *(MADE_ON if kind in (NONE, WHOLE) else ())]


def _key(kind: Kind) -> Kind:
    """Return a kind that can be a key of a dictionary."""
    return Kind(kind.parts, tuple(kind.more), kind.scheme)


@dataclass(slots=True)
class Study:
    """The runs by kind, mix and seed."""

    kept: Kept
    limit: int
    found: dict[Kind, dict[str, list[ssdlab.Result]]]

    def run(self) -> None:
        """Run every kind on its mixes with every seed."""
        kinds = list(dict.fromkeys(map(_key, KINDS)))
        groups = [
            [self.plan(kind, mix, seed) for mix in mixes_of(kind) for seed in SEEDS]
            for kind in kinds
        ]
        for kind, own in zip(kinds, self.kept.groups(groups, "drives"), strict=True):
            each = iter(own)
            self.found[kind] = {mix: [next(each) for _ in SEEDS] for mix in mixes_of(kind)}

    def plan(
        self, kind: Kind, mix: str, seed: int, span: tuple[int, int] | None = None
    ) -> ssdlab.Plan:
        """Return a run that counts the requests of a span, or those after settling."""
        first, limit = span or (settling(self.limit), self.limit)
        return ssdlab.Plan(
            device=DEVICE,
            scheme=kind.scheme,
            mix=apps(mix),
            seed=seed,
            limit=limit,
            warmup=first,
            set=[*(settings(kind.parts) if kind.scheme == SCHEME else ()), *kind.more],
        )

    def results(self, kind: Kind) -> dict[str, list[ssdlab.Result]]:
        """Return the results of a kind, by mix."""
        return self.found[_key(kind)]

    def change(self, kind: Kind, base: Kind, figure: Figure, mixes: Sequence[str]) -> str:
        """Return a change in percent, averaged over mixes for each seed, with its interval."""
        pairs = [
            [
                (figure(own), figure(other))
                for own, other in zip(self.results(kind)[mix], self.results(base)[mix], strict=True)
            ]
            for mix in mixes
        ]
        by_seed = [
            fmean(
                percent(own, other)
                for own, other in (of_mix[at] for of_mix in pairs)
                if own is not None and other
            )
            for at in range(len(SEEDS))
        ]
        found = interval(by_seed)
        return f"{found.mean:+.1f} ± {found.half_width_95:.1f}"


def table(study: Study, rows: Sequence[tuple[str, Kind, Kind]], mixes: Sequence[str]) -> list[str]:
    """Return a table of changes, with a row for each pair of drives."""
    lines = [
        [name, *(study.change(kind, base, figure, mixes) for figure in COMPARED.values())]
        for name, kind, base in rows
    ]
    return grid(["", *COMPARED], lines)


def by_mix(study: Study) -> Iterator[str]:
    """Yield a comparison of the scheme with the same drive without any part."""
    rows = []
    for mix in mixes_of(WHOLE):
        for name, kind in (("none", NONE), ("all-five", WHOLE)):
            values = [
                fmean(
                    value for one in study.results(kind)[mix] if (value := figure(one)) is not None
                )
                for figure in FIGURES.values()
            ]
            cells = [f"{value:,.0f}" for value in values[:-1]] + [f"{values[-1]:.2f}"]
            rows.append([mix, name, *cells])
    units = ["µs"] * (len(FIGURES) - 1) + [""]
    heads = [f"{name}, {unit}" if unit else name for name, unit in zip(FIGURES, units, strict=True)]
    yield from grid(["mix", "", *heads], rows)
    for mix in mixes_of(WHOLE):
        scales = ", ".join(f"`{app.trace}` × {app.scale:.4g}" for app in apps(mix))
        yield f"- {mix}{' (used in development)' if mix in MADE_ON else ''}: {scales}"
    yield ""


def _named(part: str) -> str:
    return f"without {part}" + (" and read-hot placement" if part == BLOCK_CLASSES else "")


def by_system(study: Study) -> Iterator[str]:
    """Yield a comparison of the scheme, and of parts of it, with the systems by themselves."""
    kinds = {
        **{f"`{name}`": kind for name, kind in BY_ITSELF.items()},
        "`hire/hire`, the start's voltages known": TAUGHT_HIRE,
        "all-five": WHOLE,
        "all-five without DLV's order": without(ORDER),
        "all-five without DLV's order and read-hot placement": WRITERS,
        "ReadGuard with voltages": GUARDED,
        "ReadGuard with voltages, the start's unknown": UNTAUGHT_GUARDED,
    }
    yield "Against none of them:"
    yield ""
    yield from table(study, [(name, kind, NONE) for name, kind in kinds.items()], list(MIXES))
    yield "High, mid and low reads in µs, by mix:"
    yield ""
    rows = []
    for name, kind in kinds.items():
        own = [study.results(kind)[mix] for mix in MIXES]
        found = [[fmean(queue(at)(one) or 0.0 for one in mix) for at in range(3)] for mix in own]
        rows.append([name, *(several(of_mix, ",.0f") for of_mix in found)])
    yield from grid(["", *MIXES], rows)


def ablation(study: Study) -> Iterator[str]:
    """Yield the changes when each part is removed in turn."""
    yield from table(
        study,
        [
            ("all-five, against none", WHOLE, NONE),
            *((_named(part), without(part), WHOLE) for part in PARTS),
            ("ReadGuard's order for DLV's", READGUARDS, WHOLE),
            ("without the start's voltages known", UNTAUGHT, WHOLE),
            ("without DLV's order and read-hot placement", WRITERS, WHOLE),
        ],
        list(MIXES),
    )


def added(study: Study) -> Iterator[str]:
    """Yield what a part adds alone, beside what it adds to the others."""
    rows = []
    for part in PARTS:
        how = "on top of subpools" if part == HOT else "alone"
        rows.append((f"{part}, {how}", alone(part), baseline_of(part)))
        others = without(part)
        rows.append((f"{part}, to the others", Kind(others.parts | alone(part).parts), others))
    yield from table(study, rows, list(MIXES))


def pairs(study: Study) -> Iterator[str]:
    """Yield what a part adds alone, beside what it adds to one other part."""
    rows = []
    for one, other in PAIRS:
        rows.append((f"{one}, alone", alone(one), NONE))
        rows.append((f"{one}, on top of {other}", both((one, other)), alone(other)))
    yield from table(study, rows, list(MIXES))


def each_mix(study: Study) -> Iterator[str]:
    """Yield the changes when each part is removed in turn, mix by mix."""
    for mix in MIXES:
        yield from [f"{mix}:", ""]
        yield from table(study, [(_named(part), without(part), WHOLE) for part in PARTS], [mix])


def at_first(study: Study) -> Iterator[str]:
    """Yield the start of an unsettled drive, span by span, and PV-read's own groups."""
    length = min(START, study.limit // SPANS)
    spans = [(at * length, (at + 1) * length) for at in range(SPANS)]
    cases = [(mix, span, kind) for mix in MIXES for span in spans for kind in (NONE, WHOLE)]
    groups = [[study.plan(kind, mix, seed, span) for seed in SEEDS] for mix, span, kind in cases]
    found = iter(study.kept.groups(groups, "as drives begin"))
    rows = []
    for mix in MIXES:
        for first, last in spans:
            base, own = next(found), next(found)
            changes = [
                interval(
                    [
                        percent(figure(one), figure(other))
                        for one, other in zip(own, base, strict=True)
                    ]
                )
                for figure in (queue(0), high_p99)
            ]
            waf = [fmean(one.waf or 0.0 for one in of_kind) for of_kind in (base, own)]
            cells = [f"{one.mean:+.0f} ± {one.half_width_95:.0f}" for one in changes]
            rows.append([mix, f"{first:,} to {last:,}", *(f"{one:.1f}" for one in waf), *cells])
    yield from grid(
        ["mix", "requests", "WAF, none", "WAF, all-five", "high reads", "high p99"], rows
    )
    few = min(GROUPS, length)
    pv_read = study.kept.compare(
        [study.plan(PV_READ, mix, 1, (0, few)) for mix in MIXES], "PV-read by itself"
    )
    means = several([one.read.latency_us.mean / 1e6 for one in pv_read], ".1f")
    yield (
        f"`{PV_READ.scheme}`, whose groups are collected out of the drive first: of the first "
        f"{few:,} requests of each (seed 1) a read takes {means} s on the mean."
    )
    yield ""


def main() -> None:
    """Measure and write the page."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    study = Study(Kept(), limit, {})
    study.run()
    sections = [
        ("The scheme on each mix", by_mix),
        ("Systems by themselves", by_system),
        ("Each taken out in turn", ablation),
        ("What each adds, alone and to the others", added),
        ("Two at a time", pairs),
        ("Each taken out, by mix", each_mix),
        ("As a drive begins", at_first),
    ]
    about = (
        f"Requests {settling(limit):,} to {limit:,} of each mix, means over seeds {SEEDS[0]} to "
        f"{SEEDS[-1]} (± half a 95 % interval over seeds), ssdlab {ssdlab.__version__} (build "
        f"{library_hash()[:8]}). Changes are in percent, "
        f"and each of {', '.join(MIXES)} counts alike; wear is the weight of all programs "
        "(docs/systems/hire.md)."
    )
    write(PAGE, MARK, about, [(title, list(lines(study))) for title, lines in sections])


if __name__ == "__main__":
    main()
