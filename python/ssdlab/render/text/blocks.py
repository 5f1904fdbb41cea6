"""Lines about blocks: pages moved, inversions repaired, wear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.render import queues
from ssdlab.render.formatting import NONE, digits, pluralize, share
from ssdlab.result.parts import INVERSION_REPAIR

if TYPE_CHECKING:
    from ssdlab.result import Life, MigrationCounts, Result, StreamResult, Wear


def block_lines(result: Result) -> Iterator[str]:
    """Yield the lines about pages and blocks that apply to this run."""
    if result.migration is not None:
        yield _moved(result, result.migration)
    yield from _streams(result.streams)
    for policy, counters in result.counters.items():
        yield from _repaired(counters) if policy == INVERSION_REPAIR else _counted(policy, counters)
    if result.wear.max > 0:
        yield from _wear(result)
    if result.life is not None:
        yield from _worn(result.life)


def _streams(streams: Sequence[StreamResult]) -> Iterator[str]:
    """Yield the pages and blocks of each stream that has any.

    The WAF of a stream counts the pages that collection moves out of its blocks, so that it differs
    from the drive's.
    """
    head = "streams"
    for number, stream in enumerate(streams):
        programmed = stream.host_pages + stream.moved_pages
        if not programmed:
            continue
        pages = f"{stream.host_pages:,} pages written, {stream.moved_pages:,} moved in"
        collected = f"{pluralize(stream.blocks_collected, 'block')} collected"
        if stream.valid_share is not None:
            collected += f", {share(stream.valid_share)} valid"
        waf = NONE if stream.waf is None else f"{stream.waf:.3f}"
        yield f"{head:<10} {number}: {pages}, own WAF {waf}"
        yield f"{'':<13} {collected}"
        head = ""


def _counted(policy: str, counters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counters of a policy, by its names."""
    written = (f"{name.replace('_', ' ')} {_number(value)}" for name, value in counters.items())
    yield f"counters   {policy}: {', '.join(written)}"


def _number(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_number, value))
    return f"{value:,}" if isinstance(value, int) else digits(value, 4)


def _repaired(counters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the repairs of blocks that were worse than blocks of a lower priority."""
    left_out, rounds = counters["left_out"], counters["rounds"]
    left = f"{left_out:,} left out for wear leveling" if left_out else ""
    if rounds == 0:
        yield f"repairs    no round has come yet{', ' + left if left else ''}"
        return
    found = f"{rounds:,} rounds, {counters['inversions']:,} inversions"
    done = f"{counters['reassigned']:,} blocks reassigned, {counters['refreshed']:,} refreshed"
    yield f"repairs    {found}: {done}"
    if left:
        yield f"           {left}"
    if counters["moved_by_all"]:
        extra = share(counters["extra_share"])
        part = f"{extra} of all that the controller has moved since the start"
        yield f"           {counters['moved']:,} pages moved; {part}"
    margins = ", ".join(map(share, counters["margins"]))
    yield f"           margins {margins} of the most retries"


def _wear(result: Result) -> Iterator[str]:
    """Yield the wear of all blocks, and that of the blocks of each priority."""
    yield f"wear       {_cycles(result.wear)} P/E cycles"
    priorities = result.wear.priorities or ()
    names = queues.queue_labels(result)
    for number, worn in enumerate(priorities):
        name = names[number] if len(names) == len(priorities) else number
        # A priority without data in any block has no wear.
        yield f"           priority {name}: {_cycles(worn) if worn.max else NONE}"


def _cycles(worn: Wear) -> str:
    return f"{worn.mean:,.1f} ({worn.min:,} to {worn.max:,})"


def _worn(life: Life) -> Iterator[str]:
    """Yield how many blocks have worn out, with a line for each recorded moment."""
    written = f"{life.host_bytes / 1e12:.3g} TB written"
    yield f"worn out   {life.worn_out:,} blocks ({life.worn_at_start:,} at the start), {written}"
    for mark in life.marks:
        at = f"{mark.host_bytes / 1e12:.3g} TB, {mark.cycles:,.0f} P/E cycles"
        yield f"           {share(mark.worn_out)} of blocks at {at}"


def _moved(result: Result, counts: MigrationCounts) -> str:
    """Return the number of pages moved for their read frequency, with the share of all requests."""
    moved = share((counts.hot + counts.cold) / max(1, result.requests))
    return f"moved      {counts.hot:,} hot pages, {counts.cold:,} to make room: {moved} a request"
