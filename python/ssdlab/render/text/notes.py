"""Notes about a result: what ran, and what a reader of its figures should know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ssdlab import escaping
from ssdlab.render.formatting import digits, pluralize

if TYPE_CHECKING:
    from ssdlab.result import PreconditionResult, Result, SettledFigure

COUNTS = {
    "unwritten_reads": "pages count as written before the start",
    "unmapped_reads": "pages read that were never written",
    "folded": "requests beyond the drive, folded into it",
    "clamped": "requests over the drive's end, moved to end there",
}
"""The counts that deserve a line, but cast no doubt on a run."""
_SLOWEST_LEAST = 10
"""The least number of requests slower than a percentile; with fewer, it varies between runs."""


def heading(result: Result) -> str:
    """Return the device, the scheme, the workload and the seed."""
    named = [escaping.display_label(each) for each in (result.device, result.scheme)]
    return " · ".join([*named, workload_label(result), f"seed {result.provenance.seed}"])


def workload_label(result: Result) -> str:
    """Return the name of the workload, with the format of a trace: ``hm_0.csv.gz (msr)``."""
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
    """Tell whether page types matter: some were requested, or their program times differ."""
    times = result.provenance.config["timing"]["program"]
    unequal = isinstance(times, list) and len(set(times)) > 1
    return bool(result.slowest_page_type) and (unequal or result.allocation_success is not None)


def steadiness(done: PreconditionResult) -> str:
    """Return how steady the drive became when it was overwritten."""
    state = "steady" if done.settled else "NOT steady"
    return f"{state} after {done.capacities} capacities, WAF {done.waf:.3f}"


def settling(found: SettledFigure) -> str:
    """Return the figure that ended the run, and how long it took to settle."""
    if found.mean is None or found.half_width_95 is None:
        return f"NOT: too few requests for windows of {found.figure}"
    interval = f"{found.figure} = {digits(found.mean, 4)} ± {digits(found.half_width_95)}"
    requests = pluralize(found.requests, "request")
    requests += f" (the first {found.transient_requests:,} left out)"
    state = "" if found.settled else "NOT: "
    return f"{state}{interval} after {requests} and {pluralize(found.host_pages, 'page')} written"


def result_notes(result: Result) -> Iterator[str]:
    """Yield what the user should know beyond the figures, one line each."""
    yield from warnings(result)
    for name, what in COUNTS.items():
        count = getattr(result, name)
        if count:
            yield f"{name.replace('_', ' ')}: {count:,} {what}"
    yield from few_requests([result])


def few_requests(results: Sequence[Result]) -> Iterator[str]:
    """Yield a note per kind if p99.9 of a run depends on a few slow requests: the fewest."""
    counts_by_kind = {
        "reads": [result.read.requests for result in results],
        "writes": [result.write.requests for result in results],
    }
    for name, counts in counts_by_kind.items():
        few = [count for count in counts if 0 < count < 1000 * _SLOWEST_LEAST]
        if few:
            least = min(few)
            scope = " in every run" if len(set(counts)) == 1 else " in at least one run"
            yield (
                f"few {name}: p99.9 rests on the slowest {max(least // 1000, 1)} of {least:,}"
                f"{scope * (len(counts) > 1)}"
            )


def warnings(result: Result) -> Iterator[str]:
    """Yield what casts doubt on the figures of a run, or says how the input was interpreted."""
    if result.partial:
        yield f"PARTIAL: stopped after {progress_made(result)}"
    if result.saturated:
        yield (
            "SATURATED: the drive cannot keep up;"
            f" {pluralize(result.backlog, 'request')} unfinished when the last one arrived"
        )
    if result.uncorrectable:
        yield f"uncorrectable: {pluralize(result.uncorrectable, 'page')} read that never decoded"
    yield from (f"note: {escaping.escape_name(remark)}" for remark in result.remarks)


def progress_made(result: Result) -> str:
    """Return how much of a run was measured."""
    replay = f" of replay {len(result.replays)}" if result.replays else ""
    return f"{pluralize(result.requests, 'request')}{replay}"
