"""What a result says of itself in words: what ran, and what to know of its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ssdlab import escaping

if TYPE_CHECKING:
    from ssdlab.result import PreconditionResult, Result

COUNTS = {
    "unwritten_reads": "pages count as written before the start",
    "unmapped_reads": "pages read that were never written",
    "folded": "requests beyond the drive, folded into it",
    "clamped": "requests over the drive's end, moved to end there",
}
"""What is counted of a run that casts no doubt on it, and is worth a line."""
_SLOWEST_LEAST = 10
"""Requests that must be slower than a percentile, or the next run may show quite another."""


def heading(result: Result) -> str:
    """Say what ran, and on what."""
    named = [escaping.display_label(each) for each in (result.device, result.scheme)]
    return " · ".join([*named, workload_label(result), f"seed {result.provenance.seed}"])


def workload_label(result: Result) -> str:
    """Name the workload, and the format that a trace was read in: ``hm_0.csv.gz (msr)``."""
    return escaping.escape_name(_workload_label(result))


def _workload_label(result: Result) -> str:
    made = result.provenance
    if made.mix:
        members = (f"{one.name} ({one.twin or one.trace_format})" for one in made.mix)
        return f"mix of {' + '.join(members)}"
    twins = f" with {', '.join(made.twins)}" if made.twins else ""
    name = result.workload.removesuffix(twins)
    named = made.trace_format is None or name.endswith(f":{made.trace_format}")
    return f"{name}{'' if named else f' ({made.trace_format})'}{twins}"


def shows_page_types(result: Result) -> bool:
    """Say whether page types matter: some were requested, or they take unequal times."""
    times = result.provenance.config["timing"]["program"]
    unequal = isinstance(times, list) and len(set(times)) > 1
    return bool(result.slowest_page_type) and (unequal or result.allocation_success is not None)


def steadiness(done: PreconditionResult) -> str:
    """Say how steady a drive became by being overwritten."""
    state = "steady" if done.settled else "NOT steady"
    return f"{state} after {done.capacities} capacities, WAF {done.waf:.3f}"


def result_notes(result: Result) -> Iterator[str]:
    """List what the user should know beyond the figures, a line each."""
    yield from warnings(result)
    for name, what in COUNTS.items():
        count = getattr(result, name)
        if count:
            yield f"{name.replace('_', ' ')}: {count:,} {what}"
    yield from _few_requests(result)


def _few_requests(result: Result) -> Iterator[str]:
    """Say where p99.9 rests on a few slow requests."""
    for name, kind in (("read", result.read), ("write", result.write)):
        slower = kind.requests // 1000
        if kind.requests > 0 and slower < _SLOWEST_LEAST:
            yield f"few {name}s: p99.9 rests on the slowest {max(slower, 1)} of {kind.requests:,}"


def warnings(result: Result) -> Iterator[str]:
    """List what casts doubt on a run's figures, or says how the input was understood."""
    if result.partial:
        yield f"PARTIAL: stopped after {progress_made(result)}"
    if result.saturated:
        yield (
            "SATURATED: the drive cannot keep up;"
            f" {result.backlog:,} requests unfinished when the last one arrived"
        )
    if result.uncorrectable:
        yield f"uncorrectable: {result.uncorrectable:,} pages read that never decoded"
    yield from (f"note: {escaping.escape_name(remark)}" for remark in result.remarks)


def progress_made(result: Result) -> str:
    """Say how much of a run was measured."""
    replay = f" of replay {len(result.replays)}" if result.replays else ""
    return f"{result.requests:,} requests{replay}"
