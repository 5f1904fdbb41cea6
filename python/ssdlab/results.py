"""What came of a run, with typed attributes: ``result.read.latency_us.p99``.

The Rust side declares these figures (``ssdlab_run::RunResult``); docs/results.md says what each one
means. Here are the types that give them attributes; a test holds the two against one another.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from ssdlab import _native, arrow, report
from ssdlab.details import (
    BlockMap,
    Detail,
    Distribution,
    RetriesApart,
    SeriesInterval,
    Slow,
)
from ssdlab.intervals import Interval, intervals

__all__ = [
    "Aggregate",
    "BitErrors",
    "BlockMap",
    "BufferResult",
    "Comparison",
    "Detail",
    "Distribution",
    "GcResult",
    "HotnessResult",
    "Interval",
    "KindResult",
    "LatencyUs",
    "PreconditionResult",
    "Priorities",
    "ProgramModeResult",
    "ProgramModesResult",
    "Provenance",
    "QueueResult",
    "Result",
    "RetriesApart",
    "SeriesInterval",
    "Sim",
    "Slow",
    "Utilization",
    "Wear",
    "WearResult",
    "aggregate",
    "build",
    "figures_of",
]

if typing.TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


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

    ``wished`` and ``granted`` are pages programmed for the host, ``free`` pages of the drive at the
    end.
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
class Repairs:
    """Blocks of one priority that were worse than those of a lower one, and what became of them.

    ``margins`` are parts of the most retries, one for each priority but the last. ``extra_share``,
    which the monitor holds at its limit, counts from the run's beginning, all else with the rest.
    """

    rounds: int
    inversions: int
    given: int
    refreshed: int
    moved: int
    moved_by_all: int
    extra_share: float
    checks: int
    margins: list[float]
    left_out: int


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


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made the result: enough to make it again."""

    version: str
    config: Mapping[str, Any]
    config_hash: str
    seed: int
    plan: Mapping[str, Any]
    trace_sha256: str | None
    state_sha256: str | None = None
    trace_format: str | None = None
    twins: Sequence[str] = ()
    mix: Sequence[MixMember] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one run.

    Pages read for the host are counted by the sensing level at which they decoded in ``levels``
    (``"1"``, …), by the rung of a ladder of retries in ``rungs``. ``wearing_weight`` counts each
    program by its voltages' mean ratio to the normal ones.
    """

    label: str | None
    device: str
    scheme: str
    workload: str
    partial: bool
    requests: int
    read: KindResult
    write: KindResult
    all: KindResult
    trims: int
    flushes: int
    duration_s: float
    iops: float
    bandwidth_mb_s: float
    waf: float | None
    ops: Mapping[str, Mapping[str, int]]
    retries: int
    uncorrectable: int
    suspensions: int
    gc: GcResult
    wear_leveled: int
    wear: WearResult
    utilization: Utilization
    clamped: int
    folded: int
    unwritten_reads: int
    unmapped_reads: int
    saturated: bool
    backlog: int
    results_digest: str
    remarks: Sequence[str]
    sim: Sim
    provenance: Provenance
    queues: Sequence[QueueResult] = ()
    priority: Priorities | None = None
    replays: Sequence[ReplayResult] = ()
    buffer: BufferResult | None = None
    map_cache: MapCacheResult | None = None
    levels: Mapping[str, int] = field(default_factory=dict)
    rungs: Sequence[int] = ()
    migration: MigrationCounts | None = None
    repairs: Repairs | None = None
    set_aside: SetAsideResult | None = None
    sensed_in_vain: int | None = None
    life: Life | None = None
    wearing_weight: float | None = None
    program_modes: ProgramModesResult | None = None
    bit_errors: BitErrors | None = None
    prioritized: Prioritized | None = None
    slowest_page_type: Mapping[str, int] = field(default_factory=dict)
    allocation_success: float | None = None
    page_types: PageTypesResult | None = None
    scheduling_steps: int | None = None
    strong_share: float | None = None
    metadata_bytes: Mapping[str, int] = field(default_factory=dict)
    precondition: PreconditionResult | None = None
    detail: Detail | None = None
    vary: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """Give attributes to a result as it stands in JSON."""
        return build(cls, {**data, "raw": data})

    @property
    def decoded_at(self) -> list[int]:
        """The pages read for the host by level or rung, the first first; none if there is one."""
        numbers = range(1, len(self.levels) + 1)
        return [self.levels[str(number)] for number in numbers] or list(self.rungs)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it stands in JSON."""
        return dict(self.raw)

    def series_to_arrow(self) -> pa.Table:
        """Return the run in intervals as an Arrow table; it must have been run for its details.

        The columns are those of :class:`SeriesInterval` and of a ``series`` file: times in seconds
        of the run, latencies in microseconds (null where nothing ended), shares from 0 to 1. Its
        schema's metadata says what such a file's does: ``ssdlab.workload``, ``ssdlab.seed``, ...
        """
        if self.detail is None:
            raise ValueError("a result without details: run it with detail=True")
        rows = [asdict(interval) for interval in self.detail.series]
        return arrow.table(rows).replace_schema_metadata(self._about())

    def _about(self) -> dict[str, str]:
        """Return what a file of this run says of itself, by name."""
        told = {**asdict(self.provenance), "workload": self.workload}
        told["twins"] = ", ".join(self.provenance.twins)
        return {
            f"ssdlab.{name}": value if isinstance(value, str) else _compact(value)
            for name, value in told.items()
            if value not in (None, "")
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def __str__(self) -> str:
        """Return the report that ``ssdlab run`` prints."""
        return report.of_run(self)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Runs that differ in their seed alone, summed up: every figure with its 95 % interval.

    ``runs`` are their indices. Runs that were stopped before their end are ``left_out``, unless
    all were: then ``partial`` says that the figures are of such runs.
    """

    label: str
    runs: Sequence[int]
    seeds: Sequence[int]
    metrics: Mapping[str, Interval]
    partial: bool = False
    left_out: Sequence[int] = ()

    @property
    def alike(self) -> bool:
        """Tell whether every seed gave the same figures."""
        return not any(interval.half_width_95 for interval in self.metrics.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it as it stands in JSON."""
        metrics = {name: interval.to_dict() for name, interval in self.metrics.items()}
        whole: dict[str, Any] = {"label": self.label, "runs": list(self.runs)}
        whole |= {"seeds": list(self.seeds), "metrics": metrics, "partial": self.partial}
        return whole | {"left_out": list(self.left_out)}


@dataclass(frozen=True, slots=True)
class Missing:
    """A run that was asked for and stopped before anything of it was measured."""

    label: str
    seed: int


@dataclass(frozen=True, slots=True)
class Comparison(Sequence[Result]):
    """The results of several runs, in the order in which the runs were asked for."""

    results: Sequence[Result]
    aggregates: Sequence[Aggregate] = ()
    missing: Sequence[Missing] = ()

    @typing.overload
    def __getitem__(self, index: int) -> Result: ...
    @typing.overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        """Return one result, or some."""
        return self.results[index]

    def __len__(self) -> int:
        """Count the results."""
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        """Go through the results."""
        return iter(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` writes."""
        whole: dict[str, Any] = {"schema_version": _native.SCHEMA_VERSION}
        whole["results"] = [result.to_dict() for result in self.results]
        if self.aggregates:
            whole["aggregates"] = [aggregate.to_dict() for aggregate in self.aggregates]
        if self.missing:
            whole["missing"] = [asdict(run) for run in self.missing]
        return whole

    def to_arrow(self) -> pa.Table:
        """Return the results as an Arrow table, a row each, for polars or pandas.

        Columns are the names of what ran, its seed, a column ``vary.KEY`` for each setting that was
        varied, and every figure by its dotted name in the JSON, such as ``read.latency_us.p99`` or
        ``queues.0.read.latency_us.p99``, in the unit of docs/results.md. What a result does not
        have is null.
        """
        return arrow.table([_row(result) for result in self.results])

    def to_json(self, indent: int | None = 2) -> str:
        """Return what ``--json`` writes, as text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def __str__(self) -> str:
        """Return the tables that ``ssdlab compare`` prints."""
        return report.of_comparison(self)


def _row(result: Result) -> dict[str, Any]:
    names = ("label", "device", "scheme", "workload", "partial", "results_digest")
    row: dict[str, Any] = {name: getattr(result, name) for name in names}
    made = result.provenance
    row |= {"seed": made.seed, "version": made.version, "config_hash": made.config_hash}
    row |= {f"vary.{key}": value for key, value in result.vary.items()}
    return row | figures_of(result.raw)


def aggregate(label: str, runs: Sequence[int], results: Sequence[Result]) -> Aggregate:
    """Sum up the runs of these indices, which differ in their seed alone."""
    whole = [run for run in runs if not results[run].partial]
    left_out = [run for run in runs if results[run].partial] if whole else []
    runs = whole or runs
    figures = [figures_of(results[run].raw) for run in runs]
    seeds = [results[run].provenance.seed for run in runs]
    return Aggregate(label, runs, seeds, intervals(figures), not whole, left_out)


_LISTS = {"queues", "priorities", "each"}
"""Lists of tables that are as long in all runs that are compared."""


def figures_of(data: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Return every number of a result by its dotted name; of a queue, with its number in it.

    How and how fast it was made is left out, and so is what a report draws.
    """
    figures: dict[str, float] = {}
    for key, value in data.items():
        if key in {"detail", "provenance", "sim"} and not prefix:
            continue
        if key in _LISTS and value is not None:
            value = {str(at): one for at, one in enumerate(value)}  # noqa: PLW2901
        if isinstance(value, Mapping):
            figures |= figures_of(value, f"{prefix}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            figures[prefix + key] = value
    return figures


def build(kind: type[T], data: Mapping[str, Any]) -> T:
    """Make a dataclass of plain data; what it does not declare stays in the plain data alone."""
    given = {}
    for name, make, needed in _slots(typing.cast(Hashable, kind)):
        if name in data:
            value = data[name]
            given[name] = value if make is None or value is None else make(value)
        elif needed:
            raise KeyError(f"a result without {name!r}")
    return kind(**given)


_Make = Callable[[Any], Any]


@cache
def _slots(kind: type) -> list[tuple[str, _Make | None, bool]]:
    """Return the fields of a dataclass: how each is made, and whether it must be there."""
    hints = typing.get_type_hints(kind)
    return [
        (
            slot.name,
            _maker(hints[slot.name]),
            slot.default is MISSING and slot.default_factory is MISSING,
        )
        for slot in fields(kind)
    ]


def _maker(hint: Any) -> _Make | None:
    """Return what makes a value of this type of a plain one; None if that stays as it is."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        return _maker(arguments[0])
    if origin is Sequence:
        make = _maker(arguments[0])
        return None if make is None else lambda values: [make(value) for value in values]
    if is_dataclass(hint) and isinstance(hint, type):
        return lambda data: build(hint, data)
    return None
