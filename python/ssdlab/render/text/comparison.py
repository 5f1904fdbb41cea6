"""Runs side by side: a row per run, or a row per group of seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab import escaping
from ssdlab.labels import shortest_suffixes
from ssdlab.render.formatting import NONE, digits, pluralize, ratio, span
from ssdlab.render.text import queues, voltages
from ssdlab.render.text.notes import (
    COUNTS,
    few_requests,
    progress_made,
    warnings,
    workload_label,
)
from ssdlab.render.text.table import Column, format_table
from ssdlab.result.parts import INVERSION_REPAIR

if TYPE_CHECKING:
    from ssdlab.confidence import Interval
    from ssdlab.result import Aggregate, Comparison, Result

_SAME = ratio(1, 1)


_Write = Callable[[float], str]


def _percentage(value: float) -> str:
    return f"{100 * value:.1f} %"


@dataclass(frozen=True, slots=True)
class _Row:
    """A run, or runs that differ only in their seed, with the first of them as ``result``."""

    label: str
    result: Result
    summed: Aggregate | None = None
    runs: Sequence[Result] = ()
    """The runs that are aggregated."""
    left_out: Sequence[Result] = ()


_Metric = tuple[str, str, _Write]
_LATENCIES: Sequence[_Metric] = (
    ("read mean", "read.latency_us.mean", span),
    ("read p99", "read.latency_us.p99", span),
    ("read p99.9", "read.latency_us.p999", span),
    ("write mean", "write.latency_us.mean", span),
    ("write p99", "write.latency_us.p99", span),
    ("write p99.9", "write.latency_us.p999", span),
)
_WEIGHT = "wearing_weight"
"""A metric that is meaningful only relative to another run; the table divides by the first run."""
_FIGURES: Sequence[_Metric] = (
    ("IOPS", "iops", lambda value: digits(value, 4)),
    ("MB/s", "bandwidth_mb_s", lambda value: digits(value, 4)),
    ("WAF", "waf", lambda value: f"{value:.3f}"),
    ("GC blocks", "gc.count", lambda value: f"{value:,.0f}"),
    ("wear", _WEIGHT, _percentage),
    ("buffer hits", "buffer.hit_ratio", _percentage),
    ("map hits", "map_cache.hit_ratio", _percentage),
    ("reads overtaking", "prioritized.read", _percentage),
    ("writes overtaking", "prioritized.write", _percentage),
    ("strong pages", "strong_share", _percentage),
    ("repair rounds", f"counters.{INVERSION_REPAIR}.rounds", lambda value: f"{value:,.0f}"),
    ("extra writes", f"counters.{INVERSION_REPAIR}.extra_share", _percentage),
    ("moved in", "migration.hot", lambda value: f"{value:,.0f}"),
    ("moved out", "migration.cold", lambda value: f"{value:,.0f}"),
    ("first worn out", "life.first_bytes", lambda value: f"{value / 1e12:.3f} TB"),
    ("5 % worn out", "life.five_percent_bytes", lambda value: f"{value / 1e12:.3f} TB"),
    ("typed pages", "allocation_success", _percentage),
    *((name.replace("_", " "), name, lambda value: f"{value:,.0f}") for name in COUNTS),
)


@dataclass(frozen=True, slots=True)
class Summary:
    """The runs on one workload: a row each, ratios to the first run, and notes."""

    title: str
    labels: Column
    columns: Sequence[Column]
    notes: Sequence[str]

    def __str__(self) -> str:
        """Return the summary as text."""
        body = format_table(self.labels, self.columns)
        return "\n\n".join(part for part in (self.title, body, "\n".join(self.notes)) if part)


def comparison_text(comparison: Comparison) -> str:
    """Return a table per workload, with a row per run or group of seeds and ratios to the first."""
    few = "\n".join(few_notes(comparison))
    parts = [*map(str, summaries(comparison)), few, missing_runs(comparison)]
    return "\n\n".join(part for part in parts if part)


def caveats(comparison: Comparison) -> list[str]:
    """Return the notes that cast doubt on the figures, each once."""
    found = [note for part in summaries(comparison) for note in part.notes]
    return [note for note in dict.fromkeys([*found, missing_runs(comparison)]) if note]


def few_notes(comparison: Comparison) -> list[str]:
    """Return a note per kind if p99.9 of a run in the tables depends on a few slow requests."""
    rows = _rows(comparison)
    return list(few_requests([run for row in rows for run in row.runs or [row.result]]))


def summaries(comparison: Comparison) -> list[Summary]:
    """Return a summary per workload."""
    return [_workload_summary(rows) for rows in _groups(comparison).values()]


def labeled_results(comparison: Comparison) -> list[tuple[str, Result]]:
    """Return the runs with their names in the tables; of several seeds, the first run."""
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
            yield _Row(escaping.display_label(summed.label), runs[0], summed, runs, left_out)
        return
    for result in comparison:
        yield _Row(escaping.display_label(result.label or result.scheme), result)


def _workload_summary(rows: Sequence[_Row]) -> Summary:
    first, summed = rows[0].result, rows[0].summed
    replays = {len(row.result.replays) for row in rows}
    alike = {row.result.device for row in rows} == {first.device}
    parts = [escaping.display_label(first.device)] * alike + [
        workload_label(first),
        pluralize(first.requests, "request"),
    ]
    if max(replays) > 0:
        least, most = min(replays), max(replays)
        span_of = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"the last of {span_of} replays")
    seeds = 1 if summed is None else len(summed.seeds)
    many = f"{seeds} seeds from {first.provenance.seed}, ± 95% interval"
    parts.append(many if seeds > 1 else f"seed {first.provenance.seed}")
    of_queues = [(*each, span) for each in queues.queue_metrics([row.result for row in rows])]
    metrics = [*_LATENCIES, *of_queues, *_FIGURES]
    columns = [_column(head, metric, write, rows) for head, metric, write in metrics]
    labels = _labels(rows)
    filled = [column for column in columns if column is not None]
    pairs = zip(labels.cells, rows, strict=True)
    caveat_lines = list(_merged_notes([(label, list(_row_caveats(row))) for label, row in pairs]))
    return Summary(" · ".join(parts), labels, filled, caveat_lines)


def _row_caveats(row: _Row) -> Iterator[str]:
    """Yield the notes that cast doubt on a row."""
    summed, runs = row.summed, row.runs
    if summed is None or len(runs) + len(row.left_out) == 1:
        yield from warnings(row.result)
        return
    if summed.partial:
        first = progress_made(row.result)
        yield f"PARTIAL: all of these seeds were stopped, the first after {first}"
    for stopped in row.left_out:
        seed = stopped.provenance.seed
        yield f"PARTIAL: seed {seed} stopped after {progress_made(stopped)} and is left out"
    yield from warnings(runs[0]) if len(runs) == 1 else _warnings_of_seeds(runs)
    if len(runs) > 1 and summed.alike:
        yield "note: nothing here is random: all seeds give the same figures"


def _labels(rows: Sequence[_Row]) -> Column:
    """Name the rows by the varied settings, if all rows vary the same keys, else by their label."""
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
        for key, short in zip(keys, shortest_suffixes(keys), strict=True)
    ]
    head = escaping.display_label(", ".join(name for name, _ in varying))
    cells = zip(*(values for _, values in varying), strict=True)
    return Column(head, [escaping.display_label(", ".join(cell)) for cell in cells])


def _merged_notes(notes: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """Yield the notes of all runs; notes that all runs share come once, without a label."""
    common = [note for note in notes[0][1] if all(note in own for _, own in notes)]
    yield from common
    for label, own in notes:
        yield from (f"{label}: {note}" for note in own if note not in common)


def _column(head: str, metric: str, write: _Write, rows: Sequence[_Row]) -> Column | None:
    """Return a metric's column with ratios to the first row; None if no row has a value."""
    found = [_figure(row.result, row.summed, metric) for row in rows]
    if metric == _WEIGHT:
        return _relative_column(head, found, write, rows)
    values = [value for value, _ in found]
    if not any(values):
        return None
    texts = [_with_interval(value, half, write) for value, half in found]
    base = values[0]
    if base is None or metric in COUNTS or len(set(values)) == 1:
        return Column(head, texts)
    ratios = ["", *("" if value is None else ratio(value, base) for value in values[1:])]
    if set(ratios) <= {"", _SAME}:
        return Column(head, texts)
    width = max(len(text) for text in texts)
    cells = [f"{text:>{width}} {times}" for text, times in zip(texts, ratios, strict=True)]
    whole = max(map(len, cells))
    return Column(f"{head:>{width}}".ljust(whole), [cell.ljust(whole) for cell in cells])


def _relative_column(
    head: str,
    found: Sequence[tuple[float | None, float | None]],
    write: _Write,
    rows: Sequence[_Row],
) -> Column | None:
    """Return a metric's column relative to the first run; None if programs wear alike in all."""
    base = found[0][0]
    if not base or not voltages.wears_apart([row.result for row in rows]):
        return None
    parts = [(value and value / base, half and half / base) for value, half in found]
    return Column(head, [_with_interval(value, half, write) for value, half in parts])


def _figure(
    result: Result, summed: Aggregate | None, metric: str
) -> tuple[float | None, float | None]:
    if summed is not None:
        interval: Interval | None = summed.metrics.get(metric)
        return (None, None) if interval is None else (interval.mean, interval.half_width_95)
    value: Any = result
    for part in metric.split("."):
        value = _part(value, part)
    return value, None


def _part(value: Any, name: str) -> Any:
    """Return the attribute or the list element of this name; None if there is none."""
    if isinstance(value, Mapping):
        return value.get(name)
    if value is None or not name.isdigit():
        return None if value is None else getattr(value, name)
    return value[int(name)] if int(name) < len(value) else None


def _with_interval(value: float | None, half: float | None, write: _Write) -> str:
    if value is None:
        return NONE
    if half is None:
        return write(value)
    return f"{write(value)} ±{digits(100 * half / value, 2) if value else 0}%"


def _warnings_of_seeds(runs: Sequence[Result]) -> Iterator[str]:
    """Yield the warnings about runs that differ only in their seed."""
    saturated = [run.backlog for run in runs if run.saturated]
    if saturated:
        yield (
            f"SATURATED: {_share_of_seeds(saturated, runs)} saturated, the drive cannot keep up;"
            f" backlog up to {pluralize(max(saturated), 'request')} when the last one arrived"
        )
    failed = [run.uncorrectable for run in runs if run.uncorrectable]
    if failed:
        yield (
            f"uncorrectable: pages read that never decoded with {_share_of_seeds(failed, runs)},"
            f" up to {max(failed):,}"
        )
    for remark in dict.fromkeys(remark for run in runs for remark in run.remarks):
        having = [run for run in runs if remark in run.remarks]
        yield f"note: {escaping.escape_name(remark)}" + f" ({_share_of_seeds(having, runs)})" * (
            len(having) < len(runs)
        )


def _share_of_seeds(some: Sequence[object], runs: Sequence[Result]) -> str:
    return f"{len(some)} of {len(runs)} seeds"


def missing_runs(comparison: Comparison) -> str:
    """Return a line that names the first runs without a result; an empty string if all ran."""
    seeds: dict[str, list[str]] = {}
    for run in comparison.missing[:_MISSING_NAMED]:
        seeds.setdefault(run.label, []).append(str(run.seed))
    runs = [
        f"{escaping.display_label(label)} (seed{'s' * (len(those) > 1)} {', '.join(those)})"
        for label, those in seeds.items()
    ]
    more = len(comparison.missing) - _MISSING_NAMED
    rest = f", and {more:,} more" if more > 0 else ""
    return f"PARTIAL: not run: {'; '.join(runs)}{rest}" if runs else ""


_MISSING_NAMED = 10
"""The maximum number of missing runs to name; a sweep may have thousands."""
