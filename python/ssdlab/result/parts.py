"""The parts of a result: latencies, wear, garbage collection, queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


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
    """The reads, or the writes. ``blame_us`` are the parts that sum to the mean latency."""

    requests: int
    bytes: int
    latency_us: LatencyUs
    blame_us: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class QueueResult:
    """The requests of one submission queue; ``read_waiting_us`` passes before a read's command.

    ``read_retries`` counts the pages read by the number of retries, none first.
    """

    read: KindResult
    write: KindResult
    read_waiting_us: float
    read_retries: list[int]


@dataclass(frozen=True, slots=True)
class Priorities:
    """The queues of a drive that has three, by name."""

    high: QueueResult
    mid: QueueResult
    low: QueueResult


@dataclass(frozen=True, slots=True)
class GcResult:
    """Garbage collection: blocks collected, pages moved for it, pages never programmed of them.

    ``for_subpools`` are those of the blocks that a subpool which ran short asked for.
    """

    count: int
    moved_pages: int
    unprogrammed_pages: int
    for_subpools: int = 0


@dataclass(frozen=True, slots=True)
class PageTypesResult:
    """By page type, the lowest (LSB) first, each list with one number for each type.

    ``requested`` and ``granted`` are pages programmed for the host, ``free`` pages of the drive at
    the end.
    """

    requested: Sequence[int]
    granted: Sequence[int]
    free: Sequence[int]


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One of several replays of the same load, each on the drive as the last has left it.

    It began at ``start_s`` seconds of the run; its last request ended at ``end_s``.
    ``slowest_page_type`` are writes by the type of their slowest page (``lsb``, …),
    ``allocation_success`` is the share of the pages for which a type was asked that got it.
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


@dataclass(frozen=True, slots=True)
class BitErrors:
    """Raw bit errors: the mean in a codeword, and the true rate."""

    per_codeword: float
    rber: float


@dataclass(frozen=True, slots=True)
class Wear:
    """P/E cycles of some blocks: their mean, and what none, a quarter and so on lie below."""

    mean: float
    min: int
    quarter: int
    median: int
    three_quarters: int
    max: int


@dataclass(frozen=True, slots=True)
class WearResult(Wear):
    """P/E cycles of the blocks at the end; ``priorities`` are of those with each one's data."""

    priorities: Sequence[Wear] | None = None


@dataclass(frozen=True, slots=True)
class ProgramModeResult:
    """Pages programmed with these voltages, whatever for, and those of them read for the host."""

    name: str
    programs: int
    reads: int


@dataclass(frozen=True, slots=True)
class ProgramModesResult:
    """How hard pages were programmed, the normal voltages first.

    ``weight_erases`` counts the P/E cycles of each erase by the mean ratio of the voltages of the
    pages of its block to the normal ones.
    """

    each: Sequence[ProgramModeResult]
    weight_erases: float


@dataclass(frozen=True, slots=True)
class Utilization:
    """Mean busy shares, from 0 to 1, of the array units and of the channels."""

    die: float
    bus: float


@dataclass(frozen=True, slots=True)
class HotnessResult:
    """What pages were mostly used for in the buffer: ``read_hot``, ``mixed`` and ``write_hot``.

    ``left`` are pages that left it, or that a flush programmed, ``pages`` all logical pages as they
    were found to be last, ``rewritten`` unwritten ones that were programmed once more.
    """

    left: Mapping[str, int]
    pages: Mapping[str, int]
    rewritten: int


@dataclass(frozen=True, slots=True)
class BufferResult:
    """Pages looked for in the page buffer, and pages that made room there."""

    hit_ratio: float | None
    read_hits: int
    read_misses: int
    write_hits: int
    write_misses: int
    evicted_clean: int
    evicted_dirty: int
    hotness: HotnessResult | None = None


@dataclass(frozen=True, slots=True)
class SetAsideResult:
    """What was set aside for host reads, and the time that was dropped and done again."""

    reads: int
    programs: int
    erases: int
    dropped_s: float


@dataclass(frozen=True, slots=True)
class MigrationCounts:
    """Pages that moved because they are read often (``hot``), or to make room for these."""

    hot: int
    cold: int
    emptied: int
    given_up: int
    outdated: int


@dataclass(frozen=True, slots=True)
class StreamResult:
    """What became of the pages of a stream, in pages and blocks.

    ``valid_share`` is the part of a collected block's pages that were still valid, the mean.
    ``waf`` is the pages programmed in the stream and moved out of it for each page programmed.
    """

    host_pages: int
    moved_pages: int
    blocks_collected: int
    valid_pages: int
    valid_share: float | None = None
    waf: float | None = None


INVERSION_REPAIR = "background/inversion_repair"
"""Where results have what inversion repair counts, among ``counters``."""


@dataclass(frozen=True, slots=True)
class LifeMark:
    """When a share of the blocks had worn out: bytes programmed for the host, mean P/E cycles."""

    worn_out: float
    host_bytes: int
    cycles: float


@dataclass(frozen=True, slots=True)
class Life:
    """How blocks wear out where ``flash.cycles_per_erase`` runs wear forward.

    A block is worn out when fresh data on it are beyond the last level. ``marks`` has the first
    block since the start, then shares of all blocks; ``first_bytes`` and ``five_percent_bytes``
    are what two of them say.
    """

    worn_at_start: int
    worn_out: int
    host_bytes: int
    first_bytes: int | None
    five_percent_bytes: int | None
    marks: Sequence[LifeMark]


@dataclass(frozen=True, slots=True)
class MapCacheResult:
    """The part of the page map that the controller holds: entries looked up, and what that cost.

    ``written_back`` translation pages were changed and left, ``changed_on_flash`` ones were read,
    changed and written where they lay, since their entries were not held.
    """

    hit_ratio: float | None
    hits: int
    misses: int
    written_back: int
    changed_on_flash: int


@dataclass(frozen=True, slots=True)
class Prioritized:
    """Shares of the requests that went to the flash before one of their kind that came earlier."""

    read: float
    write: float


@dataclass(frozen=True, slots=True)
class PreconditionResult:
    """How the drive was brought into a steady state before the run."""

    capacities: int
    waf: float
    settled: bool


@dataclass(frozen=True, slots=True)
class Sim:
    """The simulation itself: wall time in seconds, and its speed. No part of the digest."""

    wall_s: float
    ready_s: float
    start_copied: bool
    requests_per_s: float
    page_ops_per_s: float
    peak_rss_mb: float | None


@dataclass(frozen=True, slots=True)
class MixMember:
    """A trace or a twin of a mix, and where and when its requests were put."""

    name: str
    trace: str
    twin: str | None
    trace_sha256: str | None
    queue: int
    scale: float
    start_us: float
    shift_bytes: int
    trace_format: str | None = None
