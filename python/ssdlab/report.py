"""What a user sees of results: one run at length, or several side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.names import PAGE_TYPES, shortest
from ssdlab.text import NONE, Column, amount, bar, digits, ratio, share, span, table

if TYPE_CHECKING:
    from ssdlab.intervals import Interval
    from ssdlab.results import (
        Aggregate,
        Comparison,
        KindResult,
        Life,
        MoveCounts,
        PageTypesResult,
        PreconditionResult,
        ReplayResult,
        Result,
    )

_LEAST_SHARE = 0.005
"""Parts of the latency smaller than this in reads and in writes are not shown."""

_LONG_S = 0.5
"""A set-up that takes longer than this is told, in seconds."""


def of_run(result: Result) -> str:
    """Return the report of one run."""
    blocks = [
        heading(result),
        _latencies(result),
        _replays(result),
        "\n".join(_figures(result)),
        _blame(result),
        "\n".join(notes(result)),
    ]
    return "\n\n".join(block for block in blocks if block)


def heading(result: Result) -> str:
    """Say what ran, and on what."""
    parts = [result.device, result.scheme, taken_for(result), f"seed {result.provenance.seed}"]
    return " · ".join(parts)


def taken_for(result: Result) -> str:
    """Name the workload, and the format that a trace was read in: ``hm_0.csv.gz (msr)``."""
    made = result.provenance
    if made.mix:
        members = (f"{one.name} ({one.twin or one.trace_format})" for one in made.mix)
        return f"mix of {' + '.join(members)}"
    twins = f" with {', '.join(made.twins)}" if made.twins else ""
    name = result.workload.removesuffix(twins)
    named = made.trace_format is None or name.endswith(f":{made.trace_format}")
    return f"{name}{'' if named else f' ({made.trace_format})'}{twins}"


def _latencies(result: Result) -> str:
    kinds = [("read", result.read), ("write", result.write)]
    shown = [(name, kind) for name, kind in kinds if kind.requests]
    if not shown:
        return "no reads and no writes"
    if len(shown) > 1:
        shown.append(("all", result.all))
    columns = [Column("requests", [f"{kind.requests:,}" for _, kind in shown])]
    for head, name in [("mean",) * 2, ("p50",) * 2, ("p99",) * 2, ("p99.9", "p999"), ("max",) * 2]:
        cells = [span(getattr(kind.latency_us, name)) for _, kind in shown]
        columns.append(Column(head, cells))
    return table(Column("latency", [name for name, _ in shown]), columns, gap="   ")


REPLAY_HEADS = ("read mean", "read p99", "write mean", "write p99", "WAF", "GC blocks")


def replay_cells(one: ReplayResult) -> list[str]:
    """Return the figures of a replay, one for each of `REPLAY_HEADS`."""
    pairs = [(kind, name) for kind in (one.read, one.write) for name in ("mean", "p99")]
    times = [
        span(getattr(kind.latency_us, name)) if kind.requests else NONE for kind, name in pairs
    ]
    return [*times, NONE if one.waf is None else f"{one.waf:.3f}", f"{one.gc.count:,}"]


def _replays(result: Result) -> str:
    """Return a row a replay, if there were several; the figures around are those of the last."""
    if not result.replays:
        return ""
    labels = [str(nth) for nth, _ in enumerate(result.replays, start=1)]
    cells = zip(*map(replay_cells, result.replays), strict=True)
    columns = [Column(head, column) for head, column in zip(REPLAY_HEADS, cells, strict=True)]
    return table(Column("replay", labels), columns)


def _figures(result: Result) -> Iterator[str]:
    """List the figures of the run as a whole, a line each."""
    yield f"IOPS       {digits(result.iops, 4)}"
    yield f"bandwidth  {digits(result.bandwidth_mb_s, 4)} MB/s"
    yield f"WAF        {NONE if result.waf is None else f'{result.waf:.3f}'}"
    gc = result.gc
    yield f"GC         {gc.count:,} blocks, {gc.moved_pages:,} pages moved"
    busy = result.utilisation
    yield f"busy       dies {share(busy.die)}, buses {share(busy.bus)}"
    yield from _found(result)
    if result.prioritised is not None:
        first = result.prioritised
        yield f"overtaking {share(first.read)} of reads, {share(first.write)} of writes"
    if result.page_types is not None and tells_types(result):
        yield from _typed(result.page_types)
    yield from _of_blocks(result)
    if result.scheduling_steps:
        yield f"choosing   {result.scheduling_steps / result.requests:.1f} steps a request"
    if result.strong_share is not None:
        yield f"strong     {share(result.strong_share)} of pages written to the better blocks"
    if result.metadata_bytes:
        yield f"metadata   {amount(sum(result.metadata_bytes.values()))} bytes in the controller"
    if result.bit_errors is not None:
        errors = f"{digits(result.bit_errors.per_codeword)} in a codeword"
        yield f"bit errors {errors}, {result.retries:,} retries"
    if result.set_aside is not None:
        aside = result.set_aside
        yield (
            f"set aside  {aside.reads:,} reads, {aside.programs:,} programs, {aside.erases:,} "
            f"erases: {digits(aside.dropped_s)} s done again"
        )
    elif result.suspensions:
        yield f"suspended  {result.suspensions:,} programs and erases"
    if result.precondition is not None:
        yield f"start      {steadiness(result.precondition)}"
    sim, simulated = result.sim, f"{digits(result.duration_s, 4)} s"
    speed = f"{amount(sim.requests_per_s)} requests/s"
    ready = f", {digits(sim.ready_s)} s of it to set up" if sim.ready_s > _LONG_S else ""
    yield f"simulated  {simulated} in {digits(sim.wall_s)} s{ready} ({speed})"


def _found(result: Result) -> Iterator[str]:
    """Say how much was found in what the controller holds."""
    if result.buffer is not None and result.buffer.hit_ratio is not None:
        yield f"buffer     {share(result.buffer.hit_ratio)} of pages found in it"
    if result.map_cache is not None and result.map_cache.hit_ratio is not None:
        yield f"map        {share(result.map_cache.hit_ratio)} of entries found in its cache"


def _of_blocks(result: Result) -> Iterator[str]:
    """Say what becomes of pages and blocks where these differ."""
    if result.moves is not None:
        yield _moved(result, result.moves)
    if result.life is not None:
        yield from _worn(result.life)


def _worn(life: Life) -> Iterator[str]:
    """Say how far the blocks have worn out, a line for each moment that was noted."""
    written = f"{life.host_bytes / 1e12:.3g} TB written"
    yield f"worn out   {life.worn_out:,} blocks ({life.worn_at_start:,} at the start), {written}"
    for mark in life.marks:
        at = f"{mark.host_bytes / 1e12:.3g} TB, {mark.cycles:,.0f} P/E cycles"
        yield f"           {share(mark.worn_out)} of blocks at {at}"


def _moved(result: Result, moves: MoveCounts) -> str:
    """Say how many pages were moved by how often they are read, for all requests."""
    moved = share((moves.hot_in + moves.cold_out) / max(1, result.requests))
    return (
        f"moved      {moves.hot_in:,} hot pages, {moves.cold_out:,} to make room: {moved} a request"
    )


def tells_types(result: Result) -> bool:
    """Say whether page types matter: some were wished for, or they take unequal times."""
    types = result.page_types
    times = result.provenance.config["timing"]["program"]
    unequal = isinstance(times, list) and len(set(times)) > 1
    return types is not None and (unequal or types.success is not None)


def _typed(types: PageTypesResult) -> Iterator[str]:
    """Say what page types were written, and how many of those wished for."""
    # A drive that buffers writes programs no page while a request waits.
    if whole := sum(types.dominated):
        named = zip(PAGE_TYPES[len(types.dominated)], types.dominated, strict=True)
        shares = ", ".join(f"{name} {share(count / whole)}" for name, count in named)
        yield f"page type  {shares} of writes by their slowest"
    if types.success is not None:
        yield f"typed      {100 * types.success:.1f} % of pages are of the type wished"


def steadiness(done: PreconditionResult) -> str:
    """Say how steady a drive became by being overwritten."""
    state = "steady" if done.settled else "NOT steady"
    return f"{state} after {done.capacities} capacities, WAF {done.waf:.3f}"


def _blame(result: Result) -> str:
    """Show where the time of reads and writes went."""
    reads, writes = _shares(result.read), _shares(result.write)
    names = [name for name in reads if max(reads[name], writes[name]) >= _LEAST_SHARE]
    kinds = [("read", result.read, reads), ("write", result.write, writes)]
    kinds = [kind for kind in kinds if kind[1].requests]
    if not names or not kinds:
        return ""
    width = max(len(name) for name in names)
    half = 26
    heads = "  ".join(f"{name + ' time':<{half}}" for name, _, _ in kinds)
    lines = [f"{'where':<{width}}  {heads}".rstrip()]
    for name in names:
        bars = (f"{_percent(part[name]):>4} {bar(part[name], half - 6)}" for _, _, part in kinds)
        lines.append(f"{name:<{width}}  {'  '.join(f'{b:<{half}}' for b in bars)}".rstrip())
    return "\n".join(lines)


def _shares(kind: KindResult) -> dict[str, float]:
    whole = kind.latency_us.mean or 1.0
    return {name: part / whole for name, part in kind.blame_us.items()}


def _percent(value: float) -> str:
    return f"{value * 100:.0f}%" if value >= _LEAST_SHARE else NONE


def notes(result: Result) -> Iterator[str]:
    """List what the user should know beyond the figures, a line each."""
    yield from warnings(result)
    for name, what in _COUNTS.items():
        count = getattr(result, name)
        if count:
            yield f"{name.replace('_', ' ')}: {count:,} {what}"


def warnings(result: Result) -> Iterator[str]:
    """List what casts doubt on a run's figures, or says how the input was understood."""
    if result.partial:
        yield f"PARTIAL: stopped after {_done(result)}"
    if result.saturated:
        yield (
            "SATURATED: the drive cannot keep up;"
            f" {result.backlog:,} requests unfinished when the last one arrived"
        )
    if result.uncorrectable:
        yield f"uncorrectable: {result.uncorrectable:,} pages read that never decoded"
    yield from (f"note: {remark}" for remark in result.remarks)


def _warnings_of_seeds(runs: Sequence[Result]) -> Iterator[str]:
    """List the same of runs that differ in their seed alone."""
    saturated = [run.backlog for run in runs if run.saturated]
    if saturated:
        yield (
            f"SATURATED: {_of(saturated, runs)} saturated, the drive cannot keep up;"
            f" backlog up to {max(saturated):,} requests when the last one arrived"
        )
    failed = [run.uncorrectable for run in runs if run.uncorrectable]
    if failed:
        yield (
            f"uncorrectable: pages read that never decoded with {_of(failed, runs)},"
            f" up to {max(failed):,}"
        )
    for remark in dict.fromkeys(remark for run in runs for remark in run.remarks):
        having = [run for run in runs if remark in run.remarks]
        yield f"note: {remark}" + f" ({_of(having, runs)})" * (len(having) < len(runs))


def _of(some: Sequence[object], runs: Sequence[Result]) -> str:
    return f"{len(some)} of {len(runs)} seeds"


def missing(comparison: Comparison) -> str:
    """Say in a line which runs were never measured; nothing if all were."""
    seeds: dict[str, list[str]] = {}
    for run in comparison.missing:
        seeds.setdefault(run.label, []).append(str(run.seed))
    told = [
        f"{label} (seed{'s' * (len(those) > 1)} {', '.join(those)})"
        for label, those in seeds.items()
    ]
    return f"PARTIAL: not run: {'; '.join(told)}" if told else ""


_SAME = ratio(1, 1)
_COUNTS = {
    "preloaded": "pages read that were written before the start (start.preload)",
    "unmapped_reads": "pages read that were never written",
    "folded": "requests beyond the drive, folded into it",
    "clamped": "requests over the drive's end, moved to end there",
}

# Several runs.

_Write = Callable[[float], str]


def _percentage(value: float) -> str:
    return f"{100 * value:.1f} %"


@dataclass(frozen=True, slots=True)
class _Row:
    """A run, or runs that differ in their seed alone, of which ``result`` is the first."""

    label: str
    result: Result
    summed: Aggregate | None = None
    runs: Sequence[Result] = ()
    """The runs that are summed up."""
    left_out: Sequence[Result] = ()


_METRICS: Sequence[tuple[str, str, _Write]] = (
    ("read mean", "read.latency_us.mean", span),
    ("read p99", "read.latency_us.p99", span),
    ("read p99.9", "read.latency_us.p999", span),
    ("write mean", "write.latency_us.mean", span),
    ("write p99", "write.latency_us.p99", span),
    ("write p99.9", "write.latency_us.p999", span),
    ("IOPS", "iops", lambda value: digits(value, 4)),
    ("MB/s", "bandwidth_mb_s", lambda value: digits(value, 4)),
    ("WAF", "waf", lambda value: f"{value:.3f}"),
    ("GC blocks", "gc.count", lambda value: f"{value:,.0f}"),
    ("buffer hits", "buffer.hit_ratio", _percentage),
    ("map hits", "map_cache.hit_ratio", _percentage),
    ("reads overtaking", "prioritised.read", _percentage),
    ("writes overtaking", "prioritised.write", _percentage),
    ("strong pages", "strong_share", _percentage),
    ("moved in", "moves.hot_in", lambda value: f"{value:,.0f}"),
    ("moved out", "moves.cold_out", lambda value: f"{value:,.0f}"),
    ("first worn out", "life.first_bytes", lambda value: f"{value / 1e12:.3f} TB"),
    ("5 % worn out", "life.five_percent_bytes", lambda value: f"{value / 1e12:.3f} TB"),
    ("typed pages", "page_types.success", _percentage),
    *((name.replace("_", " "), name, lambda value: f"{value:,.0f}") for name in _COUNTS),
)


@dataclass(frozen=True, slots=True)
class Summary:
    """The runs on one workload side by side: a row each, ratios to the first, and what to know."""

    title: str
    labels: Column
    columns: Sequence[Column]
    notes: Sequence[str]

    def __str__(self) -> str:
        """Return it as text."""
        body = table(self.labels, self.columns)
        return "\n\n".join(part for part in (self.title, body, "\n".join(self.notes)) if part)


def of_comparison(comparison: Comparison) -> str:
    """Return a table a workload: a row a run, or a row a group of seeds, ratios to the first."""
    parts = [*map(str, summaries(comparison)), missing(comparison)]
    return "\n\n".join(part for part in parts if part)


def doubts(comparison: Comparison) -> list[str]:
    """Return what casts doubt on the figures, each once."""
    told = [note for part in summaries(comparison) for note in part.notes]
    return [note for note in dict.fromkeys([*told, missing(comparison)]) if note]


def summaries(comparison: Comparison) -> list[Summary]:
    """Return what there is to tell, a part a workload."""
    return [_of_workload(rows) for rows in _groups(comparison).values()]


def named(comparison: Comparison) -> list[tuple[str, Result]]:
    """Return the runs with the names that the tables give them; of several seeds the first."""
    groups = _groups(comparison).values()
    return [
        (label, row.result)
        for rows in groups
        for label, row in zip(_labels(rows).cells, rows, strict=True)
    ]


def _groups(comparison: Comparison) -> dict[str, list[_Row]]:
    """Return the rows of each workload's table."""
    groups: dict[str, list[_Row]] = {}
    for row in _rows(comparison):
        groups.setdefault(row.result.workload, []).append(row)
    return groups


def _rows(comparison: Comparison) -> Iterator[_Row]:
    if comparison.aggregates:
        for summed in comparison.aggregates:
            runs, left_out = (
                [comparison[run] for run in some] for some in (summed.runs, summed.left_out)
            )
            yield _Row(summed.label, runs[0], summed, runs, left_out)
        return
    for result in comparison:
        yield _Row(result.label or result.scheme, result)


def _of_workload(rows: Sequence[_Row]) -> Summary:
    first, summed = rows[0].result, rows[0].summed
    replays = {len(row.result.replays) for row in rows}
    alike = {row.result.device for row in rows} == {first.device}
    parts = [first.device] * alike + [taken_for(first), f"{first.requests:,} requests"]
    if max(replays) > 0:
        least, most = min(replays), max(replays)
        span_of = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"the last of {span_of} replays")
    seeds = 1 if summed is None else len(summed.seeds)
    many = f"{seeds} seeds from {first.provenance.seed}, ± 95% interval"
    parts.append(many if seeds > 1 else f"seed {first.provenance.seed}")
    columns = [_column(head, metric, write, rows) for head, metric, write in _METRICS]
    labels = _labels(rows)
    shown = [column for column in columns if column is not None]
    pairs = zip(labels.cells, rows, strict=True)
    told = list(_told([(label, list(_doubts(row))) for label, row in pairs]))
    return Summary(" · ".join(parts), labels, shown, told)


def _doubts(row: _Row) -> Iterator[str]:
    """List what casts doubt on a row."""
    summed, runs = row.summed, row.runs
    if summed is None or len(runs) + len(row.left_out) == 1:
        yield from warnings(row.result)
        return
    if summed.partial:
        yield f"PARTIAL: all of these seeds were stopped, the first after {_done(row.result)}"
    for stopped in row.left_out:
        seed = stopped.provenance.seed
        yield f"PARTIAL: seed {seed} stopped after {_done(stopped)} and is left out"
    yield from warnings(runs[0]) if len(runs) == 1 else _warnings_of_seeds(runs)
    if len(runs) > 1 and summed.alike:
        yield "note: nothing here is left to chance; all seeds give the same figures"


def _done(result: Result) -> str:
    replay = f" of replay {len(result.replays)}" if result.replays else ""
    return f"{result.requests:,} requests{replay}"


def _labels(rows: Sequence[_Row]) -> Column:
    """Name the rows: by what varies, if it is the same keys in all of them, else by their label."""
    results = [row.result for row in rows]
    keys = list(results[0].vary)
    if not keys or any(list(result.vary) != keys for result in results):
        return Column("", [row.label for row in rows])
    varying: list[tuple[str, list[str]]] = []
    for name in ("device", "scheme"):
        values = [getattr(result, name) for result in results]
        if len(set(values)) > 1:
            varying.append((name, values))
    varying += [
        (short, [result.vary[key] for result in results])
        for key, short in zip(keys, shortest(keys), strict=True)
    ]
    head = ", ".join(name for name, _ in varying)
    cells = zip(*(values for _, values in varying), strict=True)
    return Column(head, [", ".join(cell) for cell in cells])


def _told(notes: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """List the notes of all runs; those that all have in common once, without a label."""
    common = [note for note in notes[0][1] if all(note in own for _, own in notes)]
    yield from common
    for label, own in notes:
        yield from (f"{label}: {note}" for note in own if note not in common)


def _column(head: str, metric: str, write: _Write, rows: Sequence[_Row]) -> Column | None:
    """Return a metric's column, each cell with its ratio to the first; None if all are nothing."""
    found = [_figure(row.result, row.summed, metric) for row in rows]
    values = [value for value, _ in found]
    if not any(values):
        return None
    texts = [_with_interval(value, half, write) for value, half in found]
    base = values[0]
    if base is None or metric in _COUNTS or len(set(values)) == 1:
        return Column(head, texts)
    ratios = ["", *("" if value is None else ratio(value, base) for value in values[1:])]
    if set(ratios) <= {"", _SAME}:
        return Column(head, texts)
    width = max(len(text) for text in texts)
    cells = [f"{text:>{width}} {times}" for text, times in zip(texts, ratios, strict=True)]
    whole = max(map(len, cells))
    return Column(f"{head:>{width}}".ljust(whole), [cell.ljust(whole) for cell in cells])


def _figure(
    result: Result, summed: Aggregate | None, metric: str
) -> tuple[float | None, float | None]:
    if summed is not None:
        interval: Interval | None = summed.metrics.get(metric)
        return (None, None) if interval is None else (interval.mean, interval.half_width_95)
    value: Any = result
    for part in metric.split("."):
        value = None if value is None else getattr(value, part)
    return value, None


def _with_interval(value: float | None, half: float | None, write: _Write) -> str:
    if value is None:
        return NONE
    if half is None:
        return write(value)
    return f"{write(value)} ±{digits(100 * half / value, 2) if value else 0}%"
