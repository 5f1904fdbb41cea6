"""Submission queues: rows for one run, columns for several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ssdlab.labels import PRIORITIES
from ssdlab.render.formatting import NONE, digits, span
from ssdlab.render.queues import mean_retries, queue_labels
from ssdlab.render.text.table import Column, format_table

if TYPE_CHECKING:
    from ssdlab.result import KindResult, QueueResult, Result

_HEADS = ("read mean", "read p99", "waiting", "retries", "write mean", "write p99")


def queue_table(result: Result) -> str:
    """Return a table with a row per queue; an empty string for a run with a single queue."""
    if not result.queues:
        return ""
    found = zip(*map(_cells, result.queues), strict=True)
    pairs = zip(_HEADS, found, strict=True)
    columns = [Column(head, column) for head, column in pairs if set(column) != {NONE}]
    return format_table(Column("queue", queue_labels(result)), columns) if columns else ""


def _cells(queue: QueueResult) -> list[str]:
    """Return the figures of a queue, one for each of `_HEADS`."""
    retries = mean_retries(queue.read_retries)
    return [
        *_times(queue.read),
        span(queue.read_waiting_us) if queue.read.requests else NONE,
        NONE if retries is None else digits(retries),
        *_times(queue.write),
    ]


def _times(kind: KindResult) -> list[str]:
    latency = kind.latency_us
    return [span(us) if kind.requests else NONE for us in (latency.mean, latency.p99)]


def queue_metrics(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Yield the metrics that compare queues: the heads of columns, and the names of the figures."""
    if all(result.priority is not None for result in results):
        places = [(name, f"priority.{name}") for name in PRIORITIES]
    else:
        most = max(len(result.queues) for result in results)
        places = [(f"q{number}", f"queues.{number}") for number in range(most)]
    for head, place in places:
        for name in ("mean", "p99"):
            yield f"{head} read {name}", f"{place}.read.latency_us.{name}"
