"""What a report draws beyond the figures of every result: ``result.detail``, if asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Distribution:
    """Latencies of one kind of request of one queue: rising points of latency in µs and share."""

    kind: str
    queue: int
    requests: int
    points: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Slow:
    """A request that took long, and where its time went."""

    number: int
    arrival_s: float
    kind: str
    queue: int
    lba: int
    sectors: int
    latency_us: float
    blame_us: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SeriesInterval:
    """What happened in one interval of the run; a latency is None if nothing ended in it."""

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
class RetriesApart:
    """How far apart the retries are that pages of what the host read needed as it did.

    Between the worst pages of the blocks, and between the best and the worst page of one at most;
    of one read in 256.
    """

    blocks: int
    pages: int


@dataclass(frozen=True, slots=True)
class Detail:
    """What a report draws: distributions, the slowest requests, the run in intervals, the parts.

    ``read_ages`` are rising points of how old what was read from flash was, in seconds, and which
    share of the reads was of data no older; None under flat physics, and if nothing was read, as
    ``retries_apart`` is.
    """

    distributions: Sequence[Distribution]
    slowest: Sequence[Slow]
    series: Sequence[SeriesInterval]
    die_busy: Sequence[float]
    bus_busy: Sequence[float]
    blocks: BlockMap
    read_ages: Sequence[Sequence[float]] | None = None
    retries_apart: RetriesApart | None = None
