"""The full report of one run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ssdlab.labels import PAGE_TYPES, counts_by_page_type
from ssdlab.render.formatting import NONE, amount, bar, digits, pluralize, share, span
from ssdlab.render.text import blocks, queues, voltages
from ssdlab.render.text.notes import (
    heading,
    result_notes,
    settling,
    shows_page_types,
    steadiness,
)
from ssdlab.render.text.table import Column, format_table

if TYPE_CHECKING:
    from ssdlab.result import KindResult, ReplayResult, Result

_LEAST_SHARE = 0.005
"""The least share of a latency part that is shown; smaller in reads and in writes, it is not."""

_LONG_S = 0.5
"""The least set-up time that is shown, in seconds."""


def run_text(result: Result) -> str:
    """Return the report of one run."""
    parts = [
        heading(result),
        _latencies(result),
        queues.queue_table(result),
        _replays(result),
        "\n".join([*figure_lines(result), *_simulation_lines(result)]),
        _blame(result),
        "\n".join(result_notes(result)),
    ]
    return "\n\n".join(part for part in parts if part)


def _latencies(result: Result) -> str:
    kinds = [("read", result.read), ("write", result.write)]
    rows = [(name, kind) for name, kind in kinds if kind.requests]
    if not rows:
        return "no reads and no writes"
    if len(rows) > 1:
        rows.append(("all", result.all))
    columns = [Column("requests", [f"{kind.requests:,}" for _, kind in rows])]
    for head, name in [("mean",) * 2, ("p50",) * 2, ("p99",) * 2, ("p99.9", "p999"), ("max",) * 2]:
        cells = [span(getattr(kind.latency_us, name)) for _, kind in rows]
        columns.append(Column(head, cells))
    return format_table(Column("latency", [name for name, _ in rows]), columns, gap="   ")


REPLAY_HEADS = ("read mean", "read p99", "write mean", "write p99", "WAF", "GC blocks")


def replay_cells(one: ReplayResult) -> list[str]:
    """Return the figures of a replay, one for each of `REPLAY_HEADS`."""
    pairs = [(kind, name) for kind in (one.read, one.write) for name in ("mean", "p99")]
    times = [
        span(getattr(kind.latency_us, name)) if kind.requests else NONE for kind, name in pairs
    ]
    return [*times, NONE if one.waf is None else f"{one.waf:.3f}", f"{one.gc.count:,}"]


def _replays(result: Result) -> str:
    """Return a row per replay, if there are several; the other figures are those of the last."""
    if not result.replays:
        return ""
    labels = [str(nth) for nth, _ in enumerate(result.replays, start=1)]
    cells = zip(*map(replay_cells, result.replays), strict=True)
    columns = [Column(head, column) for head, column in zip(REPLAY_HEADS, cells, strict=True)]
    return format_table(Column("replay", labels), columns)


def figure_lines(result: Result) -> Iterator[str]:
    """Yield the figures of the run as a whole, one line each."""
    yield f"IOPS       {digits(result.iops, 4)}"
    yield f"bandwidth  {digits(result.bandwidth_mb_s, 4)} MB/s"
    yield f"WAF        {NONE if result.waf is None else f'{result.waf:.3f}'}"
    gc = result.gc
    subpools = f" ({gc.for_subpools:,} for subpools)" if gc.for_subpools else ""
    collected, pages = pluralize(gc.count, "block"), pluralize(gc.moved_pages, "page")
    yield f"GC         {collected}{subpools}, {pages} moved"
    if result.superseded_writes is not None:
        yield f"superseded {result.superseded_writes:,} writes of pages that went with earlier ones"
    busy = result.utilization
    yield f"busy       dies {share(busy.die)}, buses {share(busy.bus)}"
    yield from _cache_lines(result)
    if result.prioritized is not None:
        first = result.prioritized
        yield f"overtaking {share(first.read)} of reads, {share(first.write)} of writes"
    if shows_page_types(result):
        yield from _page_type_lines(result)
    yield from voltages.voltage_lines(result)
    yield from blocks.block_lines(result)
    if result.scheduling_steps:
        yield f"choosing   {result.scheduling_steps / result.requests:.1f} steps a request"
    if result.strong_share is not None:
        yield f"strong     {share(result.strong_share)} of pages written to the better blocks"
    if result.metadata_bytes:
        yield f"metadata   {amount(sum(result.metadata_bytes.values()))} bytes in the controller"
    yield from _decoding_lines(result)
    if result.suspended is not None:
        counts = result.suspended
        yield (
            f"suspended  {counts.reads:,} reads, {counts.programs:,} programs, "
            f"{counts.erases:,} erases: {digits(counts.dropped_s)} s done again"
        )
    elif result.suspensions:
        yield f"suspended  {result.suspensions:,} programs and erases"
    yield from _settling_lines(result)


def _settling_lines(result: Result) -> Iterator[str]:
    """Yield how the drive settled before the run, and a figure during it."""
    if result.precondition is not None:
        yield f"start      {steadiness(result.precondition)}"
    if result.until_settled is not None:
        yield f"settled    {settling(result.until_settled)}"


def _simulation_lines(result: Result) -> Iterator[str]:
    """Yield how long the simulated run was, and how long the simulation took."""
    sim, simulated = result.sim, f"{digits(result.duration_s, 4)} s"
    speed = f"{amount(sim.requests_per_s)} requests/s"
    ready = f", {digits(sim.ready_s)} s of it to set up" if sim.ready_s > _LONG_S else ""
    yield f"simulated  {simulated} in {digits(sim.wall_s)} s{ready} ({speed})"


def _decoding_lines(result: Result) -> Iterator[str]:
    """Yield the bit errors of reads, and the attempts sensed ahead of a successful decode."""
    if result.bit_errors is not None:
        errors = f"{digits(result.bit_errors.per_codeword)} in a codeword"
        yield f"bit errors {errors}, {result.retries:,} retries"
    if result.sensed_in_vain is not None:
        yield f"unneeded   {result.sensed_in_vain:,} attempts sensed ahead of a successful decode"


def _cache_lines(result: Result) -> Iterator[str]:
    """Yield the hit ratios of the controller's buffer and map cache."""
    if result.buffer is not None and result.buffer.hit_ratio is not None:
        yield f"buffer     {share(result.buffer.hit_ratio)} of pages found in it"
    if result.map_cache is not None and result.map_cache.hit_ratio is not None:
        yield f"map        {share(result.map_cache.hit_ratio)} of entries found in its cache"


def _page_type_lines(result: Result) -> Iterator[str]:
    """Yield the page types that were written, and the share of those that were requested."""
    # A drive that buffers writes programs no page while a request waits.
    if whole := sum(result.slowest_page_type.values()):
        named = zip(
            PAGE_TYPES[len(result.slowest_page_type)],
            counts_by_page_type(result.slowest_page_type),
            strict=True,
        )
        shares = ", ".join(f"{name} {share(count / whole)}" for name, count in named)
        yield f"page type  {shares} of writes by their slowest"
    if result.allocation_success is not None:
        success = f"{100 * result.allocation_success:.1f} %"
        yield f"typed      {success} of pages are of the type requested"


def _blame(result: Result) -> str:
    """Return bars that show where the time of reads and writes went."""
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
