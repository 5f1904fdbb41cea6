"""The parts of a result: latencies, wear, garbage collection, queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ssdlab.renamed import renamed


@dataclass(frozen=True, slots=True)
class LatencyUs:
    """Latency in microseconds, from arrival to completion."""

    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True, slots=True)
class KindResult:
    """The reads, or the writes. The parts in ``blame_us`` sum to the mean latency."""

    requests: int
    bytes: int
    latency_us: LatencyUs
    blame_us: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class QueueResult:
    """The requests of one submission queue.

    ``read_waiting_us`` is the mean time that passes before a read's command. ``read_retries``
    counts the pages read by their number of retries, from 0.
    """

    read: KindResult
    write: KindResult
    read_waiting_us: float
    read_retries: list[int]


@dataclass(frozen=True, slots=True)
class Priorities:
    """The queues of a drive with three queues, by name."""

    high: QueueResult
    mid: QueueResult
    low: QueueResult


@dataclass(frozen=True, slots=True)
class GcResult:
    """Garbage collection: blocks collected, pages moved, and pages that were never programmed.

    ``for_subpools`` counts the collected blocks that a subpool requested because it ran short.
    """

    count: int
    moved_pages: int
    unprogrammed_pages: int
    for_subpools: int = 0


@dataclass(frozen=True, slots=True)
class PageTypesResult:
    """Counts by page type; each list has one number per type, from the lowest (LSB).

    ``requested`` and ``granted`` are pages programmed for the host, ``free`` pages of the drive at
    the end.
    """

    requested: Sequence[int]
    granted: Sequence[int]
    free: Sequence[int]

    if not TYPE_CHECKING:
        __getattr__ = renamed("PageTypesResult")


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One of several replays of the same load; each continues on the drive that the last one left.

    The replay began at ``start_s`` seconds of the run; its last request ended at ``end_s``.
    ``slowest_page_type`` counts writes by the type of their slowest page (``lsb``, …).
    ``allocation_success`` is the share of pages with a requested type that got this type.
    """

    start_s: float
    end_s: float
    read: KindResult
    write: KindResult
    all: KindResult
    waf: float | None
    gc: GcResult
    wear: WearResult
    slowest_page_type: Mapping[str, int] = field(default_factory=dict)
    allocation_success: float | None = None
    page_types: PageTypesResult | None = None

    if not TYPE_CHECKING:
        __getattr__ = renamed("ReplayResult")


@dataclass(frozen=True, slots=True)
class BitErrors:
    """Raw bit errors: the mean per codeword, and the true rate."""

    per_codeword: float
    rber: float


@dataclass(frozen=True, slots=True)
class Wear:
    """The P/E cycles of some blocks: mean, minimum, quartiles and maximum."""

    mean: float
    min: int
    quarter: int
    median: int
    three_quarters: int
    max: int


@dataclass(frozen=True, slots=True)
class WearResult(Wear):
    """The P/E cycles of all blocks at the end; ``priorities`` has those by priority of the data."""

    priorities: Sequence[Wear] | None = None


@dataclass(frozen=True, slots=True)
class ProgramModeResult:
    """Pages programmed in this mode for any cause, and pages read for the host in this mode."""

    name: str
    programs: int
    reads: int


@dataclass(frozen=True, slots=True)
class ProgramModesResult:
    """The program modes in use, the normal one first.

    ``weight_erases`` counts the P/E cycles of each erase, weighted by the mean ratio of the
    voltages of the block's pages to the normal voltages.
    """

    each: Sequence[ProgramModeResult]
    weight_erases: float


@dataclass(frozen=True, slots=True)
class Utilization:
    """The mean busy shares, from 0 to 1, of the array units and of the channels."""

    die: float
    bus: float


@dataclass(frozen=True, slots=True)
class HotnessResult:
    """The main use of pages in the buffer: ``read_hot``, ``mixed`` and ``write_hot``.

    ``left`` counts pages that left the buffer or that a flush programmed. ``pages`` counts all
    logical pages by their last known use. ``rewritten`` counts unwritten pages that were programmed
    once more.
    """

    left: Mapping[str, int]
    pages: Mapping[str, int]
    rewritten: int


@dataclass(frozen=True, slots=True)
class BufferResult:
    """Lookups of pages in the page buffer, and pages evicted from it."""

    hit_ratio: float | None
    read_hits: int
    read_misses: int
    write_hits: int
    write_misses: int
    evicted_clean: int
    evicted_dirty: int
    hotness: HotnessResult | None = None


@dataclass(frozen=True, slots=True)
class SuspendedResult:
    """The operations suspended for host reads, and the dropped time that was spent again."""

    reads: int
    programs: int
    erases: int
    dropped_s: float


@dataclass(frozen=True, slots=True)
class MigrationCounts:
    """Pages moved because they are read often (``hot``), or to make room for these (``cold``)."""

    hot: int
    cold: int
    emptied: int
    dropped: int
    outdated: int

    if not TYPE_CHECKING:
        __getattr__ = renamed("MigrationCounts")


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The pages and blocks of a stream.

    ``moved_pages`` counts all that the controller programmed: moved pages, and the map's own. Both
    leave blocks as ``valid_pages``, so ``waf`` compares like with like.

    ``valid_share`` is the mean share of a collected block's pages that were still valid. ``waf`` is
    the pages programmed in the stream plus the pages moved out of it, per page programmed in it.
    """

    host_pages: int
    moved_pages: int
    blocks_collected: int
    valid_pages: int
    valid_share: float | None = None
    waf: float | None = None


INVERSION_REPAIR = "background/inversion_repair"
"""The key in ``counters`` of the counts of inversion repair."""


@dataclass(frozen=True, slots=True)
class LifeMark:
    """The moment when a share of the blocks had worn out.

    ``host_bytes`` counts bytes programmed for the host, ``cycles`` is the mean of P/E cycles.
    """

    worn_out: float
    host_bytes: int
    cycles: float


@dataclass(frozen=True, slots=True)
class Life:
    """The wear-out of blocks if ``flash.cycles_per_erase`` accelerates wear.

    A block is worn out if even fresh data on it needs more than the last level. ``marks`` holds the
    moment of the first block since the start, then those of shares of all blocks. ``first_bytes``
    and ``five_percent_bytes`` repeat two of them.
    """

    worn_at_start: int
    worn_out: int
    host_bytes: int
    first_bytes: int | None
    five_percent_bytes: int | None
    marks: Sequence[LifeMark]


@dataclass(frozen=True, slots=True)
class MapCacheResult:
    """The part of the page map that the controller caches: lookups of entries, and their cost.

    ``written_back`` counts changed translation pages that left the cache. ``changed_on_flash``
    counts those that were read, changed and written on flash, because their entries were not
    cached.
    """

    hit_ratio: float | None
    hits: int
    misses: int
    written_back: int
    changed_on_flash: int


@dataclass(frozen=True, slots=True)
class Prioritized:
    """The shares of requests that went to the flash before an earlier request of their kind."""

    read: float
    write: float


@dataclass(frozen=True, slots=True)
class PreconditionResult:
    """How the drive reached a steady state before the run."""

    capacities: int
    waf: float
    settled: bool


@dataclass(frozen=True, slots=True)
class SettledFigure:
    """How the figure settled that ended the run; times in seconds after the warm-up."""

    figure: str
    settled: bool
    width: float
    mean: float | None
    half_width_95: float | None
    windows: int
    window_requests: int
    transient_requests: int
    requests: int
    transient_s: float
    duration_s: float
    host_pages: int
    collected: bool
    filling: float


@dataclass(frozen=True, slots=True)
class Sim:
    """The simulation itself: wall time in seconds, and its speed. The digest leaves it out."""

    wall_s: float
    ready_s: float
    start_copied: bool
    requests_per_s: float
    page_ops_per_s: float
    peak_rss_mb: float | None


@dataclass(frozen=True, slots=True)
class MixMember:
    """A trace or a twin of a mix, with the queue, times and addresses of its requests."""

    name: str
    trace: str
    twin: str | None
    trace_sha256: str | None
    queue: int
    scale: float
    start_us: float
    shift_bytes: int
    trace_format: str | None = None
