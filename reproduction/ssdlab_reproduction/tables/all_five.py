"""Write the tables of docs/systems/all-five.md: the best parts of the five systems on one drive.

``make all-five`` runs this program; docs/systems/all-five.md says how long it takes. First a search
on two mixes finds the best subset of the parts. Then that subset is compared on four other mixes,
with the systems by themselves and with each part taken out or added. The mixes consist of twins
(docs/concepts/twins.md). ``python -m ssdlab_reproduction.tables.all_five REQUESTS`` stops each run
after REQUESTS requests, and writes the page all the same.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import ssdlab
from ssdlab.confidence import interval
from ssdlab_reproduction.runs import library_hash
from ssdlab_reproduction.statistics import percent
from ssdlab_reproduction.tables.all_five_drives import (
    BASE,
    BY_ITSELF,
    MIXES,
    PARTS,
    STREAMS,
    TUNED_ON,
    WHOLE,
    Kind,
    added,
    apps,
    plan,
    subsets,
    without,
)
from ssdlab_reproduction.tables.all_five_front import save
from ssdlab_reproduction.tables.common import DOCS, Kept, grid, write

REQUESTS = 750_000
SETTLED = 250_000
"""The requests that do not count, at most a third: drives reach the mix's own steady state."""
SEEDS = (1, 2, 3)
SHOWN = 8
"""How many subsets the page shows of those that the search tried."""
PAGE = DOCS / "systems" / "all-five.md"
MARK = "<!-- measured: written by `make all-five` -->\n"
TENANTS = ("high", "mid", "low")

Figure = Callable[[ssdlab.Result], float]


def mean_of(queue: int) -> Figure:
    """Return a function that gives the mean read of a queue, in microseconds."""
    return lambda result: result.queues[queue].read.latency_us.mean


def p99_of(queue: int) -> Figure:
    """Return a function that gives the 99th percentile of a queue's reads, in microseconds."""
    return lambda result: result.queues[queue].read.latency_us.p99


GOAL: Mapping[str, Figure] = {
    f"{name} {what}": of(queue)
    for queue, name in enumerate(TENANTS)
    for what, of in (("mean", mean_of), ("p99", p99_of))
}
"""The figures in which no tenant should have more than under the best single system."""


def writes(result: ssdlab.Result) -> float:
    """Return the mean write, in microseconds."""
    return result.write.latency_us.mean


def waf(result: ssdlab.Result) -> float:
    """Return the programmed pages per written page; 1 if nothing was written."""
    return result.waf or 1.0


COMPARED: Mapping[str, Figure] = {
    "high reads": mean_of(0),
    "mid reads": mean_of(1),
    "low reads": mean_of(2),
    "high p99": p99_of(0),
    "writes": writes,
    "WAF": waf,
}
FRONT = ("high reads", "writes", "WAF")
"""The figures of the Pareto front."""


def settling(limit: int) -> int:
    """Return how many of a run's requests do not count."""
    return min(SETTLED, limit // 3)


def named(kind: Kind) -> str:
    """Return the parts of a drive as text."""
    if kind == BASE:
        return "none"
    if kind in BY_ITSELF.values():
        return f"`{kind.scheme}`"
    return ", ".join(part for part in PARTS if part in kind.parts)


@dataclass(slots=True)
class Study:
    """The runs by drive, mix and seed, and the best subset that the search found."""

    kept: Kept
    limit: int
    found: dict[tuple[Kind, str], list[ssdlab.Result]] = field(default_factory=dict)
    best: Kind = BASE

    def run(
        self, kinds: Sequence[Kind], mixes: Sequence[str], seeds: Sequence[int], what: str
    ) -> None:
        """Run drives on mixes with some seeds."""
        keys = [(kind, mix) for kind in dict.fromkeys(kinds) for mix in mixes]
        groups = [
            [plan(kind, mix, seed, settling(self.limit), self.limit) for seed in seeds]
            for kind, mix in keys
        ]
        self.found |= zip(keys, self.kept.groups(groups, what), strict=True)

    def lowest(self, mix: str, figure: Figure) -> float:
        """Return the lowest figure of a single system on a mix, the mean over seeds."""
        return self.least(mix, figure)[0]

    def least(self, mix: str, figure: Figure) -> tuple[float, str]:
        """Return the lowest figure of a single system on a mix, and the system."""
        of = BY_ITSELF.items()
        return min((fmean(map(figure, self.found[kind, mix])), name) for name, kind in of)

    def ratios(self, kind: Kind, mixes: Sequence[str]) -> list[float]:
        """Return each tenant's figures on each mix, relative to the best single system's."""
        return [
            fmean(map(figure, self.found[kind, mix])) / self.lowest(mix, figure)
            for mix in mixes
            for figure in GOAL.values()
        ]

    def change(self, kind: Kind, base: Kind, figure: Figure, mixes: Sequence[str]) -> list[float]:
        """Return the changes in percent by seed, averaged over mixes."""
        pairs = [zip(self.found[kind, mix], self.found[base, mix], strict=True) for mix in mixes]
        by_mix = [[percent(figure(own), figure(other)) for own, other in pair] for pair in pairs]
        return [fmean(of_seed) for of_seed in zip(*by_mix, strict=True)]

    def changed(self, kind: Kind, base: Kind) -> list[str]:
        """Return a row of changes over the held-out mixes, with their intervals."""
        found = (
            interval(self.change(kind, base, figure, list(MIXES))) for figure in COMPARED.values()
        )
        return [f"{one.mean:+.1f} ± {one.half_width_95:.1f}" for one in found]


def search(study: Study) -> Iterator[str]:
    """Find the best subset of parts, and yield a table of the best ones.

    The best subset has the smallest of the largest ratios (:meth:`Study.ratios`) on the mixes that
    tune. This rule was chosen before the first run of the search.
    """
    mixes, every = list(TUNED_ON), list(subsets())
    study.run([*every, *BY_ITSELF.values()], mixes, SEEDS[:1], "The search")
    ranked = sorted(every, key=lambda kind: max(study.ratios(kind, mixes)))
    study.best = ranked[0]
    shown = dict.fromkeys([*ranked[:SHOWN], WHOLE, BASE])
    rows = []
    for kind in [*shown, *BY_ITSELF.values()]:
        ratios = study.ratios(kind, mixes)
        place = str(ranked.index(kind) + 1) if kind in ranked else "–"
        rows.append([place, named(kind), f"{max(ratios):.2f}", f"{fmean(ratios):.2f}"])
    yield from grid(["place", "parts", "largest ratio", "mean ratio"], rows)


def held_out(study: Study) -> None:
    """Run all drives of the tables on the mixes that no choice rests on."""
    best = study.best
    changed = [
        added(best, part) if part not in best.parts else without(best, part) for part in PARTS
    ]
    kinds = [BASE, *BY_ITSELF.values(), best, WHOLE, *changed]
    kinds += [without(WHOLE, part) for part in PARTS if part in WHOLE.parts]
    study.run(kinds, list(MIXES), SEEDS, "Held-out mixes")


def on_each_mix(study: Study) -> Iterator[str]:
    """Yield the figures of the best subset on each mix, and the lowest of a single system."""
    rows = []
    for mix in MIXES:
        for name, kind in (("none", BASE), ("the best subset", study.best)):
            own = study.found[kind, mix]
            rows.append([mix, name, *(f"{fmean(map(of, own)):,.0f}" for of in GOAL.values())])
        least = (f"{study.lowest(mix, figure):,.0f}" for figure in GOAL.values())
        rows.append([mix, "the lowest of a single system", *least])
        rows.append([mix, "ratio", *(f"{one:.2f}" for one in study.ratios(study.best, [mix]))])
    yield from grid(["mix", "", *(f"{name}, µs" for name in GOAL)], rows)
    holders = Counter(study.least(mix, figure)[1] for mix in MIXES for figure in GOAL.values())
    held = ", ".join(f"`{name}` {count}" for name, count in holders.most_common())
    ratios = study.ratios(study.best, list(MIXES))
    met = sum(ratio <= 1 for ratio in ratios)
    yield (
        f"In {met} of {len(ratios)} cells, the best subset has no more than the lowest of a single "
        f"system; the largest ratio is {max(ratios):.2f}. The lowest are by {held}."
    )
    yield ""
    for mix in (*MIXES, *TUNED_ON):
        scales = ", ".join(f"`{app.trace}` × {app.scale:.4g}" for app in apps(mix))
        yield f"- {mix}{' (decided the best subset)' if mix in TUNED_ON else ''}: {scales}"
    yield ""


def by_system(study: Study) -> Iterator[str]:
    """Yield a comparison of the systems by themselves, the best subset and all parts."""
    kinds = {**{named(kind): kind for kind in BY_ITSELF.values()}, **_together(study)}
    rows = [[name, *study.changed(kind, BASE)] for name, kind in kinds.items()]
    yield from grid(["", *COMPARED], rows)


def _together(study: Study) -> dict[str, Kind]:
    both = {"the best subset": study.best, "all parts": WHOLE}
    if STREAMS not in study.best.parts:
        both["the best subset and streams"] = added(study.best, STREAMS)
    return both


def ablation(study: Study) -> Iterator[str]:
    """Yield the changes when a part of the best subset is taken out, or another one added."""
    rows = []
    for part in PARTS:
        inside = part in study.best.parts
        kind = without(study.best, part) if inside else added(study.best, part)
        rows.append([f"{'without' if inside else 'with'} {part}", *study.changed(kind, study.best)])
    yield from grid(["", *COMPARED], rows)


def ablation_of_all(study: Study) -> Iterator[str]:
    """Yield the changes when a part of all five systems is taken out."""
    rows = [
        [f"without {part}", *study.changed(without(WHOLE, part), WHOLE)]
        for part in PARTS
        if part in WHOLE.parts
    ]
    yield from grid(["", *COMPARED], rows)


def front(study: Study) -> Iterator[str]:
    """Yield each drive's place against the base, and whether another is better in all figures."""
    kinds = {"none": BASE, **{named(kind): kind for kind in BY_ITSELF.values()}, **_together(study)}
    points = {
        name: [fmean(study.change(kind, BASE, COMPARED[of], list(MIXES))) for of in FRONT]
        for name, kind in kinds.items()
    }
    save(
        {
            name.strip("`"): [1 + percent_of / 100 for percent_of in own]
            for name, own in points.items()
        }
    )
    rows = []
    for name, own in points.items():
        better = [
            other
            for other, its in points.items()
            if all(a <= b for a, b in zip(its, own, strict=True)) and its != own
        ]
        cells = [f"{value:+.1f}" for value in own]
        rows.append([name, *cells, ", ".join(better) or "none: on the front"])
    yield from grid(["", *FRONT, "better in all three"], rows)


def main() -> None:
    """Measure and write the page."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    study = Study(Kept(), limit)
    found = list(search(study))
    held_out(study)
    sections = [
        ("The search for the best subset", found),
        ("The best subset on each mix", list(on_each_mix(study))),
        ("Systems by themselves and together", list(by_system(study))),
        ("The Pareto front", list(front(study))),
        ("The best subset, with each part taken out or added", list(ablation(study))),
        ("All parts, with each taken out", list(ablation_of_all(study))),
    ]
    about = (
        f"Requests {settling(limit):,} to {limit:,} of each mix; seed {SEEDS[0]} in the search, "
        f"else means over seeds {SEEDS[0]} to {SEEDS[-1]} (± half a 95 % interval over seeds). "
        f"ssdlab {ssdlab.__version__} (build {library_hash()[:8]}). Changes are in percent of the "
        f"drive without any part, and each of {', '.join(MIXES)} counts alike. A ratio is a "
        "tenant's mean or 99th percentile of reads over the lowest of a single system."
    )
    write(PAGE, MARK, about, sections)


if __name__ == "__main__":
    main()
