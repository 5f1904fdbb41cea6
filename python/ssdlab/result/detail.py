"""The data that a report draws beyond the figures of every result: ``result.detail``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ssdlab.renamed import renamed


@dataclass(frozen=True, slots=True)
class Distribution:
    """The latencies of one kind of request in one queue.

    ``points`` rise: each is a latency in µs and the share of requests that took at most so long.
    """

    kind: str
    queue: int
    requests: int
    points: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The earlier operation on the page of a request; ``number`` is None for the buffer's."""

    kind: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Slow:
    """A slow request, and where its time went.

    ``behind`` is the operation for which it waited on its page, and ``page_blame_us`` what that
    operation did during the wait; without such a wait they are None and empty.
    """

    number: int
    arrival_s: float
    kind: str
    queue: int
    lba: int
    sectors: int
    latency_us: float
    blame_us: Mapping[str, float]
    behind: Earlier | None = None
    page_blame_us: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeriesInterval:
    """The figures of one interval of the run; a latency is None if no request ended in it."""

    start_s: float
    end_s: float
    reads: int
    writes: int
    mb: float
    read_mean_us: float | None
    read_p99_us: float | None
    read_max_us: float | None
    write_mean_us: float | None
    write_p99_us: float | None
    write_max_us: float | None
    host_pages: int
    pages: int
    waf: float | None
    gc_blocks: int
    gc_pages: int
    erases: int
    retries: int
    die_busy: float
    bus_busy: float
    in_system: int
    free_0: int
    free_1: int | None
    free_2: int | None
    free_3: int | None


@dataclass(frozen=True, slots=True)
class BlockMap:
    """The blocks at the end, in a grid: planes from top to bottom, their blocks left to right."""

    planes: int
    blocks: int
    erases: Sequence[Sequence[float | None]]
    valid: Sequence[Sequence[float | None]]
    rber: Sequence[Sequence[float | None]] | None = None


@dataclass(frozen=True, slots=True)
class RetrySpread:
    """The spread of the retries that pages needed when the host read them.

    ``blocks`` is the spread over the worst pages of blocks. ``pages`` is the largest spread between
    the best and the worst page of a block. One read in 256 is sampled.
    """

    blocks: int
    pages: int


@dataclass(frozen=True, slots=True)
class Detail:
    """The data that a report draws.

    It holds the distributions of latencies, the slowest requests, the run in intervals, the busy
    shares of dies and buses, and the blocks.

    ``read_ages`` are rising points of the age in seconds of data read from flash, and of the share
    of reads whose data was at most so old. ``read_ages`` and ``retry_spread`` are None under flat
    physics, and if nothing was read.
    """

    distributions: Sequence[Distribution]
    slowest: Sequence[Slow]
    series: Sequence[SeriesInterval]
    die_busy: Sequence[float]
    bus_busy: Sequence[float]
    blocks: BlockMap
    read_ages: Sequence[Sequence[float]] | None = None
    retry_spread: RetrySpread | None = None

    if not TYPE_CHECKING:
        __getattr__ = renamed("Detail")
