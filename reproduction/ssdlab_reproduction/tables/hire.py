"""Write the tables of docs/systems/hire.md: HIRE's claims, measured on its seventeen workloads.

``make hire`` runs this program; docs/systems/hire.md says how long it takes. The workloads are
twins (docs/concepts/twins.md). Finished runs are kept in ``build/reproduction``, so that a stopped
run can be resumed. ``python -m ssdlab_reproduction.tables.hire REQUESTS`` stops each run after
REQUESTS requests, for a first look.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ssdlab
from ssdlab import traces
from ssdlab_reproduction.claim import claims
from ssdlab_reproduction.statistics import percent, reads, writes
from ssdlab_reproduction.systems.hire import BASE, DEVICE, WORKLOADS, weight
from ssdlab_reproduction.tables.common import DOCS, Kept, change, grid, several, write

OTHERS = ["hvc", "lvc", "hire"]
CUT = 1_000_000
"""The requests of each run whose reads are moved apart."""
SIZES = ["8MB", "16MB", "32MB", "50MB", "128MB", "256MB", "512MB"]
UNWRITTEN_READS = ["classified", "rewrite", "none"]
EVICTIONS = ["lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru"]
ABOVE = ["60%", "80%", "95%", "99%"]
APART = 1 << 36
"""The distance in bytes by which reads are moved, so that no write touches their pages."""
KIB4 = 4096
CLASSES = ["read_hot", "mixed", "write_hot"]
VOLTAGES = ["boosted", "normal", "reduced"]
# A drive of 2 GiB, which its workloads fill by half and overwrite again and again. Its blocks need
# as many sensing levels as PV-read's, so that wear shows.
SMALL = ["geometry.channels=2", "geometry.chips=2", "geometry.blocks=256"]
SHARES = "[9, 12.5, 21.3, 19.6, 17.6, 12.9, 7]"
SMALL += [f"physics.levels.base={{shares={SHARES}}}"]
SMALL += ["physics.levels.wear={reference_cycles=4500}", "flash.cycles_per_erase=100"]
LEVELED = "background.static_wear_leveling.threshold=500"
ONE_OPEN = 'placement=["next_page"]'
LIVES = ["fin1", "ts0"]
AGED = "start.pe_cycles=3000"
REPLAYS = 4
"""The number of replays where aged drives are compared after the same writes."""
WORN = 0.05
READS, WEAR = (
    {figure.of: figure.paper for figure in one.figures}
    for one in claims(["hire"])
    if one.id in ("H1", "H2")
)
"""The paper's changes for HIRE in percent of the baseline: over all workloads, and for two."""
PAGE = DOCS / "systems" / "hire.md"
MARK = "<!-- measured: written by `make hire` -->\n"

Results = Sequence[ssdlab.Result]
Kind = tuple[str, Sequence[str]]
"""A scheme and additional settings."""


@dataclass(slots=True)
class Study:
    """The runs, and the results that several tables share."""

    kept: Kept
    limit: int | None
    found: dict[str, Any] = field(default_factory=dict)

    def plan(self, workload: str, kind: Kind) -> ssdlab.Plan:
        """Return a run of a twin."""
        scheme, settings = kind
        return ssdlab.Plan(
            device=DEVICE,
            scheme=f"hire/{scheme}",
            workload=f"hire/{workload}",
            set=list(settings),
            limit=self.limit,
        )

    def results(self, title: str, kinds: Sequence[Kind]) -> list[list[ssdlab.Result]]:
        """Return for each kind its results on all workloads."""
        return self.kept.groups(
            [[self.plan(workload, kind) for workload in WORKLOADS] for kind in kinds], title
        )


def weight_erases(result: ssdlab.Result) -> float:
    """Return the wearing weight, by erases."""
    assert result.program_modes is not None
    return result.program_modes.weight_erases


Figure = Callable[[ssdlab.Result], float]


def changes(results: Results, base: Results, figure: Figure) -> dict[str, float]:
    """Return the changes in percent by workload, and their mean.

    A workload is left out if the buffer holds it whole, so that the baseline programs nothing.
    """
    each = {
        workload: percent(figure(one), figure(other))
        for workload, one, other in zip(WORKLOADS, results, base, strict=True)
        if figure(other)
    }
    return {**each, "mean": fmean(each.values())}


def shares(counts: Sequence[float], form: str = ".0f") -> str:
    """Return the parts of a sum as percentages."""
    return several([100 * count / max(1, sum(counts)) for count in counts], form)


def pages_left(result: ssdlab.Result) -> list[float]:
    """Return the pages that left the buffer as read-hot, mixed and write-hot."""
    assert result.buffer is not None
    assert result.buffer.hotness is not None
    return [result.buffer.hotness.left[name] for name in CLASSES]


def by_voltages(result: ssdlab.Result, of: str) -> list[float]:
    """Return the pages that were programmed, or read, by program mode."""
    assert result.program_modes is not None
    counts = {each.name: getattr(each, of) for each in result.program_modes.each}
    return [counts[name] for name in VOLTAGES]


def hits(result: ssdlab.Result) -> float:
    """Return the percentage of pages that were found in the buffer."""
    assert result.buffer is not None
    return 100 * (result.buffer.hit_ratio or 0)


def by_workload(study: Study) -> Iterator[str]:
    """Yield a comparison of the four schemes on each workload (H1 to H5)."""
    base, *others = study.results("by workload", [(name, ()) for name in [BASE, *OTHERS]])
    found = {
        figure.__name__: {
            name: changes(results, base, figure)
            for name, results in zip(OTHERS, others, strict=True)
        }
        for figure in (reads, writes, weight)
    }
    study.found["schemes"] = found
    study.found["hire"] = others[-1]
    rows = []
    for workload, own in zip([*WORKLOADS, "mean"], [*base, None], strict=True):
        cells = ["", "", ""] if own is None else [f"{own.requests:,}"]
        cells += [] if own is None else [f"{reads(own):.0f} µs", f"{writes(own):.0f} µs"]
        for kind, form in (("reads", "+.0f"), ("weight", "+.1f"), ("writes", "+.0f")):
            changed = [found[kind][name].get(workload) for name in OTHERS]
            known = [one for one in changed if one is not None]
            cells.append(several(known, form) if known else "–")
        bold = "**" if own is None else ""
        rows.append([f"{bold}{workload}{bold}", *cells])
    heads = ["workload", "requests", "reads", "writes", "reads of `hvc` / `lvc` / `hire`"]
    yield from grid([*heads, "wearing weight", "writes"], rows)


def what_is_hot(study: Study) -> Iterator[str]:
    """Yield how the buffer classifies each workload's pages, and the effect."""
    rows = []
    for workload, result in zip(WORKLOADS, study.found["hire"], strict=True):
        cells = [f"{hits(result):.0f} %", shares(pages_left(result))]
        cells += [shares(by_voltages(result, "programs")), shares(by_voltages(result, "reads"))]
        rows.append([workload, *cells, f"{result.waf or 1:.2f}"])
    heads = ["workload", "hits", "left read-hot / mixed / write-hot"]
    heads += ["programmed boosted / normal / reduced", "pages read", "WAF"]
    yield from grid(heads, rows)
    held = study.found["hire"][0].metadata_bytes
    sizes = ", ".join(f"`{name}` {size / 1024:,.0f} KiB" for name, size in held.items())
    yield from [f"The controller holds for it: {sizes}.", ""]


def swept(study: Study, key: str, values: Sequence[str], *, of_base: bool) -> Iterator[str]:
    """Yield the reads and wear of `hire` by a setting, which the baseline may have too.

    Means are over the workloads that program something under each of the values.
    """
    kinds: list[Kind] = [("hire", (f"{key}={value}",)) for value in values]
    bases: list[Kind] = [(BASE, kind[1] if of_base else ()) for kind in kinds]
    together = study.results(key, [*kinds, *bases])
    pairs = list(zip(together[: len(values)], together[len(values) :], strict=True))
    of_wear = [changes(own, base, weight) for own, base in pairs]
    common = [name for name in WORKLOADS if all(name in found for found in of_wear)]
    rows = []
    for value, (own, base), worn in zip(values, pairs, of_wear, strict=True):
        figures = changes(own, base, reads), worn
        for found in figures:
            found["mean"] = fmean(found[name] for name in common)
        study.found[f"{key}={value}"] = figures
        cells = [f"{fmean(map(hits, own)):.0f} %"]
        cells += [shares([fmean(one) for one in zip(*map(pages_left, own), strict=True)])]
        for found, paper in zip(figures, (READS, WEAR), strict=True):
            cells += [f"{found[name]:+.1f}" if name in found else "–" for name in paper]
        cells.append(f"{sum(found < 0 for name, found in figures[0].items() if name != 'mean')}")
        programs = sum(sum(by_voltages(one, "programs")) for one in own)
        plain = sum(sum(by_voltages(one, "programs")) for one in base)
        more = change(programs, plain, 1) if plain else ""
        rows.append([f"`{value.replace('%', ' %')}`", *cells, more])
    heads = [f"`{key}`", "hits", "left read-hot / mixed / write-hot"]
    heads += [f"reads: {name}" for name in READS] + [f"wear: {name}" for name in WEAR]
    yield from grid([*heads, f"faster, of {len(WORKLOADS)}", "programs"], rows)
    which = "those that program something under every value"
    yield from [f"Means are over {len(common)} workloads: {which}.", ""]


def of_sizes(study: Study) -> Iterator[str]:
    """Yield the effect of the buffer's size, which the paper does not give."""
    yield from swept(study, "buffer.size", SIZES, of_base=True)


def of_unwritten_reads(study: Study) -> Iterator[str]:
    """Yield the effect of the program mode of data that was there before."""
    key = "metadata.page_hotness.buffer.initial"
    yield from swept(study, key, UNWRITTEN_READS, of_base=False)
    far = {value: far_from_paper(*study.found[f"{key}={value}"]) for value in UNWRITTEN_READS}
    points_text = ", ".join(f"`{value}` {points:.1f}" for value, points in far.items())
    yield from [f"Mean distance from the paper's six figures, in points: {points_text}.", ""]


def far_from_paper(of_reads: Mapping[str, float], of_wear: Mapping[str, float]) -> float:
    """Return the mean distance from the paper's figures, in points."""
    pairs = ((of_reads, READS), (of_wear, WEAR))
    return fmean(abs(ours[name] - theirs[name]) for ours, theirs in pairs for name in theirs)


def of_policies(study: Study) -> Iterator[str]:
    """Yield the effect of the buffer's policy."""
    yield from swept(study, "eviction", EVICTIONS, of_base=True)


def of_thresholds(study: Study) -> Iterator[str]:
    """Yield the effect of the share of uses above which a page is hot."""
    yield from swept(study, "metadata.page_hotness.buffer.threshold", ABOVE, of_base=False)


def pages_apart(study: Study) -> Iterator[str]:
    """Yield the effect of pages that are both read and written: the two extremes."""
    cut = min(study.limit or CUT, CUT)
    study = replace(study, limit=cut)
    [base, own] = study.results("as they are", [(BASE, ()), ("hire", ())])
    made = {workload: moved_apart(study.kept.folder, workload, cut) for workload in WORKLOADS}
    plans = [
        replace(study.plan(workload, kind), workload=None, trace=file)
        for kind in ((BASE, ()), ("hire", ()))
        for workload, (file, _) in made.items()
    ]
    results = study.kept.compare(plans, "moved apart")
    of_apart = results[len(WORKLOADS) :], results[: len(WORKLOADS)]
    pairs = ((own, base), of_apart)
    figures = [changes(one, other, figure) for figure in (reads, weight) for one, other in pairs]
    shares = {workload: 100 * share for workload, (_, share) in made.items()}
    shares["mean"] = fmean(shares.values())
    rows = []
    for workload, share in shares.items():
        name = f"**{workload}**" if workload == "mean" else workload
        rows.append([name, f"{share:.0f} %", *(f"{one[workload]:+.1f}" for one in figures)])
    heads = ["workload", "pages read that were written before", "reads", "reads, apart"]
    yield from grid([*heads, "wear", "wear, apart"], rows)


def moved_apart(folder: Path, workload: str, cut: int) -> tuple[Path, float]:
    """Write the first requests of a twin, with its reads moved to pages that are never written.

    Return the file, and the share of the pages read that the twin itself has written before.
    """
    file = folder / f"{workload}-{cut}.parquet"
    traces.mix([traces.App(f"hire/{workload}")], file, reading=traces.Reading(limit=cut))
    table = pq.read_table(file)
    offsets, sizes = (table[name].to_numpy() for name in ("offset_bytes", "size_bytes"))
    is_read = table["op"].to_numpy() == "R"
    first = offsets // KIB4
    counts = (offsets + sizes - 1) // KIB4 - first + 1
    requests = np.repeat(np.arange(len(offsets)), counts)
    pages = first[requests] + np.arange(len(requests)) - np.repeat(counts.cumsum() - counts, counts)
    numbers = np.unique(pages, return_inverse=True)[1]
    written = np.full(numbers.max() + 1, len(offsets))
    of_write = ~is_read[requests]
    np.minimum.at(written, numbers[of_write], requests[of_write])
    share = np.mean(written[numbers[~of_write]] < requests[~of_write])
    moved = pa.array(offsets + APART * is_read)
    at = table.schema.get_field_index("offset_bytes")
    pq.write_table(table.set_column(at, table.schema.field(at), moved), file)
    return file, float(share)


def of_search(study: Study) -> Iterator[str]:
    """Yield WebSearch, whose pages are all read."""
    plans = [study.plan("websearch", (name, ())) for name in [BASE, *OTHERS]]
    base, *_ = results = study.kept.compare(plans, "websearch")
    rows = []
    for name, result in zip([BASE, *OTHERS], results, strict=True):
        own = "" if result is base else change(reads(result), reads(base), 1)
        hot = shares(by_voltages(result, "reads"), ".2f")
        rows.append([f"`{name}`", f"{reads(result):.0f} µs", own, hot])
    yield from grid(["scheme", "reads", "change", "read boosted / normal / reduced"], rows)


def after_as_many_writes(study: Study) -> Iterator[str]:
    """Yield a comparison of small drives with garbage collection, after the same writes."""
    rows = []
    for workload in LIVES:
        plans = [
            replace(study.plan(workload, (name, [*SMALL, AGED])), replays=REPLAYS)
            for name in [BASE, *OTHERS]
        ]
        base, *_ = results = study.kept.compare(plans, f"as many writes, {workload}")
        for name, result in zip([BASE, *OTHERS], results, strict=True):
            levels = result.decoded_at
            mean = sum(count * at for at, count in enumerate(levels, 1)) / sum(levels)
            assert result.bit_errors is not None
            cells = [f"{result.waf:.2f}", f"{result.gc.count:,}"]
            cells += [
                ""
                if result is base or not figure(base)
                else change(figure(result), figure(base), 1)
                for figure in (weight, weight_erases)
            ]
            cells += [f"{1000 * result.bit_errors.rber:.2f}", f"{mean:.2f}", f"{reads(result):.0f}"]
            rows.append([workload, f"`{name}`", *cells])
    heads = ["workload", "scheme", "WAF", "blocks erased", "weight, by programs", "by erases"]
    yield from grid([*heads, "RBER, 10⁻³", "mean level", "reads µs"], rows)


def lifetime(study: Study) -> Iterator[str]:
    """Yield how much can be written to small drives until blocks are worn out."""
    kinds: dict[str, Kind] = {f"`{name}`": (name, SMALL) for name in [BASE, *OTHERS]}
    kinds |= {f"`{name}`, leveled": (name, [*SMALL, LEVELED]) for name in (BASE, "hire")}
    # Program modes without separate blocks for each kind of page.
    kinds["`hire`, one open block"] = ("hire", [*SMALL, ONE_OPEN])
    kinds["`hire`, one open block, leveled"] = ("hire", [*SMALL, ONE_OPEN, LEVELED])
    rows = []
    for workload in LIVES:
        plans = [
            replace(study.plan(workload, kind), until_worn=f"{WORN:.0%}") for kind in kinds.values()
        ]
        results = study.kept.compare(plans, f"lifetime, {workload}")
        written: list[float] = []
        for name, result in zip(kinds, results, strict=True):
            assert result.life is not None
            mark = next(mark for mark in result.life.marks if mark.worn_out >= WORN)
            written.append(mark.host_bytes)
            own = change(written[-1], written[0], 1) if len(written) > 1 else ""
            cells = [f"{written[-1] / 1e9:.1f} GB", own]
            wear = result.wear
            cells += [f"{mark.cycles:,.0f}", f"{wear.min:,} to {wear.max:,}", f"{result.waf:.2f}"]
            rows.append([workload, name, *cells])
    heads = ["workload", "scheme", f"written until {WORN:.0%} are worn out", "change"]
    yield from grid([*heads, "P/E cycles then, mean", "at the end", "WAF"], rows)


def main() -> None:
    """Measure and write the page."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    study = Study(Kept(), limit)
    sections = [
        ("Each workload", by_workload),
        ("What is hot", what_is_hot),
        ("The size of the buffer", of_sizes),
        ("Data that was there before", of_unwritten_reads),
        ("Policies of the buffer", of_policies),
        ("The share above which a page is hot", of_thresholds),
        ("Pages that are read and written", pages_apart),
        ("WebSearch", of_search),
        ("Drives that collect, after the same writes", after_as_many_writes),
        ("Lifetime", lifetime),
    ]
    made = [(title, list(lines(study))) for title, lines in sections]
    whole = "in full" if limit is None else f"their first {limit:,} requests"
    about = (
        f"The twins, seed 1, ssdlab {ssdlab.__version__}: {whole}. Runs with moved reads use "
        f"the first {min(limit or CUT, CUT):,} requests of each. Changes are in percent of the "
        "baseline under the same settings."
    )
    write(PAGE, MARK, about, made)


if __name__ == "__main__":
    main()
