"""The result of one run."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ssdlab import arrow
from ssdlab.deserialize import from_dict
from ssdlab.display import as_text
from ssdlab.files import File
from ssdlab.renamed import renamed
from ssdlab.result.detail import Detail
from ssdlab.result.parts import (
    BitErrors,
    BufferResult,
    GcResult,
    KindResult,
    Life,
    MapCacheResult,
    MigrationCounts,
    MixMember,
    PageTypesResult,
    PreconditionResult,
    Priorities,
    Prioritized,
    ProgramModesResult,
    QueueResult,
    ReplayResult,
    SettledFigure,
    Sim,
    StreamResult,
    SuspendedResult,
    Utilization,
    WearResult,
)
from ssdlab.result.raw import RawResult

if typing.TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a result: enough to compute it again."""

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
    """The result of one run.

    ``levels`` counts the pages read for the host by the sensing level at which they decoded
    (``"1"``, …); ``retry_steps`` counts them by the step of a ladder of read retries. ``counters``
    holds what policies count, by their place in the config: numbers and lists of numbers.
    ``wearing_weight`` counts programs, each weighted by the mean ratio of its voltages to the
    normal ones.
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
    retry_steps: Sequence[int] = ()
    migration: MigrationCounts | None = None
    streams: Sequence[StreamResult] = ()
    counters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suspended: SuspendedResult | None = None
    sensed_in_vain: int | None = None
    life: Life | None = None
    wearing_weight: float | None = None
    program_modes: ProgramModesResult | None = None
    bit_errors: BitErrors | None = None
    prioritized: Prioritized | None = None
    superseded_writes: int | None = None
    slowest_page_type: Mapping[str, int] = field(default_factory=dict)
    allocation_success: float | None = None
    page_types: PageTypesResult | None = None
    scheduling_steps: int | None = None
    strong_share: float | None = None
    metadata_bytes: Mapping[str, int] = field(default_factory=dict)
    precondition: PreconditionResult | None = None
    until_settled: SettledFigure | None = None
    detail: Detail | None = None
    vary: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    input_files: Sequence[File] = field(default=(), repr=False, compare=False)

    if not typing.TYPE_CHECKING:
        __getattr__ = renamed("Result")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """Return a typed result from one in JSON.

        Raises :class:`InputError` if a value is missing or has another type.
        """
        return from_dict(cls, data, raw=data, input_files=())

    @classmethod
    def from_json(cls, text: str, vary: Mapping[str, str]) -> Result:
        """Return a typed result from the JSON of the Rust extension, with what a sweep varies."""
        raw = RawResult(text, {"vary": vary})
        return from_dict(cls, raw.load(), raw=raw, input_files=())

    @property
    def decoded_at(self) -> list[int]:
        """The pages read for the host by level or retry step, from the first; [] for one level."""
        numbers = range(1, len(self.levels) + 1)
        return [self.levels[str(number)] for number in numbers] or list(self.retry_steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it stands in JSON."""
        return self.raw.load() if isinstance(self.raw, RawResult) else dict(self.raw)

    def series_to_arrow(self) -> pa.Table:
        """Return the run in intervals as an Arrow table; the run needs ``detail=True``.

        The columns are those of :class:`SeriesInterval` and of a ``series`` file: times in seconds
        of the run, latencies in microseconds (null if nothing ended), shares from 0 to 1. The
        metadata of its schema are those of such a file: ``ssdlab.workload``, ``ssdlab.seed``, ...
        Raises :class:`ValueError` if the result has no details.
        """
        if self.detail is None:
            raise ValueError("a result without details: run it with detail=True")
        rows = [asdict(interval) for interval in self.detail.series]
        return arrow.table(rows).replace_schema_metadata(self._about())

    def _about(self) -> dict[str, str]:
        """Return the metadata that a file of this run holds, by name."""
        about = {**asdict(self.provenance), "workload": self.workload}
        about["twins"] = ", ".join(self.provenance.twins)
        return {
            f"ssdlab.{name}": value if isinstance(value, str) else _compact(value)
            for name, value in about.items()
            if value not in (None, "")
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def __str__(self) -> str:
        """Return the report that ``ssdlab run`` prints."""
        return as_text(self)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
