"""The values that functions on traces return, as JSON has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

Certainty = Literal["named", "recognized", "ambiguous"]
"""How certain the format of a trace is: the user named it, or its first lines match it."""
Point = Sequence[float]
"""A point of a curve: its place and its height."""


class SizeCount(TypedDict):
    """The number of requests of some sizes."""

    up_to_bytes: int
    requests: int


class Sizes(TypedDict):
    """The sizes of reads, or of writes."""

    mean_bytes: float
    median_bytes: int
    max_bytes: int
    histogram: list[SizeCount]


class Window(TypedDict):
    """The requests in windows of one length, and their index of dispersion."""

    window_s: float
    windows: int
    mean_requests: float
    dispersion: float


class LeftOut(TypedDict):
    """Windows of one length without an index of dispersion, and the reason."""

    window_s: float
    why: Literal["shorter_than_stamp_step", "few_windows", "burst_at_end"]


class Hurst(TypedDict):
    """The estimate of the Hurst exponent: its 95 % interval, and the range of time behind it."""

    exponent: float
    low: float
    high: float
    from_s: float
    to_s: float
    octaves: int


class RunLengths(TypedDict):
    """The lengths of runs of reads, or of writes."""

    runs: int
    mean_requests: float
    median_requests: float
    p90_requests: float
    p99_requests: float
    points: list[Point]


class Phases(TypedDict):
    """How reads and writes of seconds go together."""

    seconds: int
    read_share: float
    write_share: float
    correlation: float | None


class Burstiness(TypedDict):
    """How requests cluster in time, and in reads and writes."""

    stamp_step_s: float | None
    windows: list[Window]
    left_out: list[LeftOut]
    hurst: Hurst | None
    read_runs: RunLengths | None
    write_runs: RunLengths | None
    phases: Phases | None


class Load(TypedDict):
    """Requests and touched pages over time."""

    interval_s: float
    requests: list[int]
    reads: list[int]
    footprint_pages: list[int]
    peak_per_s: int
    peak_to_mean: float


class Reuse(TypedDict):
    """Distances between two uses of a page, in distinct other pages."""

    median_pages: float | None
    p90_pages: float | None
    points: list[Point]
    first_uses: float
    one_page_in: int


class DeviceCount(TypedDict):
    """Reads and writes of a device."""

    name: str
    requests: int


class Profile(TypedDict):
    """The measurements of a trace."""

    requests: int
    reads: int
    writes: int
    trims: int
    flushes: int
    read_ratio: float
    read_bytes: int
    write_bytes: int
    read_size: Sizes | None
    write_size: Sizes | None
    span_s: float
    footprint_pages: int
    read_pages: int
    written_pages: int
    first_byte: int
    end_byte: int
    rate_per_s: float | None
    gap_mean_us: float
    gap_median_us: float
    gap_middle_us: list[float]
    gap_p99_us: float
    gap_points: list[Point]
    gap_variation: float
    burstiness: Burstiness
    load: Load
    hottest_20: float
    hottest_1: float
    read_counts: list[Point]
    sequential: float
    reuse: Reuse | None
    devices: list[DeviceCount]


class TraceValues(Profile):
    """The measurements of a trace, and how it was read."""

    trace: str
    format: str
    certainty: Certainty
    ambiguous_with: list[str]
    compression: str | None
    remarks: list[str]
    other_devices: int
    reordered: int
    widened: int
    sample_one_page_in: int


class Written(TypedDict):
    """The requests of a written trace, and those that its format cannot represent."""

    out: str
    format: str
    remarks: list[str]
    requests: int
    trims: int
    flushes: int
    left_out: int
    rounded: int
    devices_left_out: int
    queues_left_out: int
    hints_left_out: int


class Converted(Written):
    """A converted trace."""

    trace: str
    from_format: str
    certainty: Certainty
    widened: int


class MixedApp(TypedDict):
    """An application in a mix."""

    name: str
    trace: str
    twin: str | None
    format: str
    queue: int | None
    scale: float
    start_us: float
    shift_bytes: int
    requests: int
    trims: int
    flushes: int


class Mixed(Written):
    """A written mix."""

    apps: list[MixedApp]


class FormatInfo(TypedDict):
    """A trace format."""

    name: str
    summary: str
    columns: str
    time_unit: str
    is_written: bool
