"""The tables of a page, as plain text without markup."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from ssdlab import escaping
from ssdlab.render.figures.base import KINDS, Run
from ssdlab.render.figures.blame import PARTS, SLOWEST, bars_of, part_of
from ssdlab.render.figures.latency import PERCENTILES, parts_of
from ssdlab.render.formatting import digits, share, span
from ssdlab.render.text.comparison import caveats, few_notes, labeled_results, summaries
from ssdlab.render.text.notes import result_notes
from ssdlab.render.text.run import REPLAY_HEADS, figure_lines, replay_cells
from ssdlab.render.text.table import TitledTable
from ssdlab.result import Comparison, Result
from ssdlab.result.detail import Slow

_REASONS = 3
"""The maximum number of named parts of a slow request."""
_REASON_LEAST = 0.02


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first cell of a row names it."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[int] = field(default_factory=frozenset)
    """The columns of words, which are aligned left; columns of numbers are aligned right."""


def html_table(titled: TitledTable) -> Table:
    """Return a table of text as a table of the page."""
    columns = [titled.labels, *titled.columns]
    rows = list(zip(*(column.cells for column in columns), strict=True))
    words = frozenset({len(columns) - 1} if titled.words else ())
    return Table(titled.title.capitalize(), [column.head for column in columns], rows, words)


@dataclass(frozen=True, slots=True)
class Origin:
    """The provenance of what a page shows."""

    label: str
    facts: Sequence[tuple[str, str]]


def summary(comparison: Comparison) -> list[Table]:
    """Return the tables that `ssdlab compare` prints, and a table of replays if there are any."""
    tables = []
    for part in summaries(comparison):
        heads = [part.labels.head or "run", *(column.head.strip() for column in part.columns)]
        cells = zip(part.labels.cells, *(column.cells for column in part.columns), strict=True)
        rows = [[" ".join(cell.split()) for cell in row] for row in cells]
        tables.append(Table(part.title, heads, rows))
    named = [(name, run) for name, run in labeled_results(comparison) if run.replays]
    rows = [
        [", ".join([*[name] * (len(named) > 1), f"replay {nth}"]), *replay_cells(one)]
        for name, run in named
        for nth, one in enumerate(run.replays, start=1)
    ]
    if rows:
        tables.append(Table("Replays", ["", *REPLAY_HEADS], rows))
    return tables


def notes(comparison: Comparison, runs: Sequence[Run]) -> list[str]:
    """Return the notes that a reader of the results must know."""
    return [*_notes(comparison), *_alike(runs)]


def _alike(runs: Sequence[Run]) -> Iterator[str]:
    """Name the runs of the same latencies, which are drawn as one."""
    left = list(runs)
    while left:
        latencies = left[0].detail.distributions
        same = [run.label for run in left if run.detail.distributions == latencies]
        left = [run for run in left if run.detail.distributions != latencies]
        if len(same) > 1:
            yield f"the same latencies: {'; '.join(same)}"


def _notes(comparison: Comparison) -> list[str]:
    if len(comparison) == 1:
        return list(dict.fromkeys([*result_notes(comparison[0]), *caveats(comparison)]))
    return [*caveats(comparison), *few_notes(comparison)]


def percentiles(runs: Sequence[Run]) -> Table:
    """Return a table of latencies by kind, run and queue."""
    heads = ["requests", "count", "mean", *(name for name, _ in PERCENTILES)]
    rows = []
    for kind in KINDS:
        for run in runs:
            for queue, part in parts_of(run, kind):
                names = [run.label] * (len(runs) > 1) + [queue] * bool(run.result.queues)
                latency = part.latency_us
                figures = [latency.mean, *(getattr(latency, name) for _, name in PERCENTILES)]
                label = ": ".join([f"{kind}s", *filter(None, [", ".join(names)])])
                rows.append([label, f"{part.requests:,}", *map(span, figures)])
    return Table("Latency by kind and queue", heads, rows)


def blame(runs: Sequence[Run]) -> Table:
    """Return a table of the parts of the mean latencies, a column per bar, without zero parts."""
    columns = []
    for kind in KINDS:
        bars = list(bars_of(runs, kind))
        # A single bar is named after the kind.
        columns += [
            (f"{kind}s: {name}" if len(bars) > 1 else f"{kind}s", part) for name, part in bars
        ]
    names = {name for _, part in columns for name in part.blame_us}
    rows = []
    for name in [*PARTS, *sorted(names - set(PARTS))]:
        values = [(part.blame_us.get(name, 0.0), part.latency_us.mean) for _, part in columns]
        if any(value for value, _ in values):
            cells = [f"{span(value)} ({share(value / whole)})" for value, whole in values]
            rows.append([part_of(name).name, *cells, part_of(name).what])
    rows.append(["sum (mean latency)", *(span(part.latency_us.mean) for _, part in columns), ""])
    heads = ["part", *(head for head, _ in columns), "meaning"]
    words = frozenset({len(heads) - 1})
    return Table("Parts of the mean latency", heads, rows, words)


def slowest(run: Run, several: bool) -> Table:
    """Return a table of the slowest requests, with the largest parts of their latencies."""
    heads = ["rank", "latency", "largest parts", "kind", "arrival"]
    heads += ["request number", "first sector", "sectors"]
    queues = bool(run.result.queues)
    rows = [
        [
            str(rank),
            span(slow.latency_us),
            why(slow),
            slow.kind,
            f"{digits(slow.arrival_s, 6)} s",
            f"{slow.number:,}",
            f"{slow.lba:,}",
            f"{slow.sectors:,}",
            *([str(slow.queue)] * queues),
        ]
        for rank, slow in enumerate(run.detail.slowest, start=1)
    ]
    whose = f": {run.label}" if several else ""
    heads += ["queue"] * queues
    return Table(f"{SLOWEST}{whose}", heads, rows, frozenset({2, 3}))


def why(slow: Slow) -> str:
    """Return the largest parts of a request's latency, and those of its wait for its page."""
    whole = slow.latency_us or 1.0
    return ", ".join(
        f"{part_of(name).name} {span(us)} ({share(us / whole)})"
        + (f" {_earlier(slow)}" if name == "page" and slow.behind else "")
        for name, us in _largest(slow.blame_us)
    )


def _earlier(slow: Slow) -> str:
    """Return the operation for which a request waited on its page, and what it did then."""
    behind = slow.behind
    if behind is None:
        return ""
    what = "the buffer" if behind.number is None else f"{behind.kind} {behind.number:,}"
    parts = (f"{part_of(name).name} {span(us)}" for name, us in _largest(slow.page_blame_us))
    return f"behind {what}: [{', '.join(parts)}]"


def _largest(parts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return the largest parts of a time, the largest first, without those that hardly matter."""
    ranked = sorted(parts.items(), key=lambda part: -part[1])[:_REASONS]
    least = _REASON_LEAST * sum(parts.values())
    return [(name, us) for name, us in ranked if us >= least]


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """The provenance of a result."""

    label: str
    facts: Sequence[tuple[str, str]]
    plan: str
    config: str


def run_lines(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield the lines that `ssdlab run` prints below the latencies, for every run."""
    for label, result in _labeled(comparison):
        yield label, "\n".join(figure_lines(result))


def _labeled(comparison: Comparison) -> Iterator[tuple[str, Result]]:
    """Yield the results with distinguishing labels."""
    several = len({result.workload for result in comparison}) > 1
    for result in comparison:
        workload = [escaping.display_label(PurePath(result.workload).name)] * several
        seed = f"seed {result.provenance.seed}"
        label = escaping.display_label(result.label or result.scheme)
        yield ", ".join([label, *workload, seed]), result


def origins(comparison: Comparison) -> Iterator[RunOrigin]:
    """Yield the provenance of every result."""
    for label, result in _labeled(comparison):
        made = result.provenance
        config = json.dumps(made.config, indent=2, ensure_ascii=False)
        plan = {key: value for key, value in made.plan.items() if value not in (None, [], False)}
        plan_text = json.dumps(plan, indent=2, ensure_ascii=False)
        yield RunOrigin(label, list(_facts(result)), plan_text, config)


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    made = result.provenance
    yield "ssdlab", made.version
    yield "device", result.device
    yield "scheme", result.scheme
    yield "workload", result.workload
    yield "seed", str(made.seed)
    yield "config SHA-256", made.config_hash
    if made.trace_format:
        yield "trace format", made.trace_format
    if made.trace_sha256:
        yield "trace SHA-256", made.trace_sha256
    for member in made.mix or ():
        moved = f"queue {member.queue}, times ×{digits(member.scale)}, from {span(member.start_us)}"
        moved += f", addresses moved by {member.shift_bytes:,} B"
        what = member.twin or f"read as {member.trace_format}, SHA-256 {member.trace_sha256}"
        yield f"{member.name} in the mix", f"{member.trace}: {moved}, {what}"
    if made.state_sha256:
        yield "state SHA-256", made.state_sha256
    yield "results digest", result.results_digest
    yield "requests", f"{result.requests:,}"
    yield "simulated time", f"{digits(result.duration_s, 6)} s"
    yield "wall time", f"{digits(result.sim.wall_s)} s"
