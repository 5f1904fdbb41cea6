"""The error rates that LDPC and BCH codes correct, derived and typed.

The Rust extension declares these figures (``ssdlab_ldpc::ledger``); the documentation's page
"Error rates that codes decode" explains them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ssdlab import _native, arguments
from ssdlab.analysis import Analysis
from ssdlab.arguments import MAX_COUNT, integer, optional_integer
from ssdlab.cpu import available_cores
from ssdlab.deserialize import from_dict
from ssdlab.files import File
from ssdlab.progress import Progress
from ssdlab.signals import deferred

Cell = Literal["mlc", "tlc"]
"""Bits per cell: two (mlc) or three (tlc)."""
CELLS: tuple[Cell, ...] = get_args(Cell)
MAX_SECONDS = 7 * 86_400
"""The longest measurement, in seconds."""
MAX_SHIFT = 0.4
"""The largest shift. From 0.5 on, the highest state is usually misread."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Raw bit error rates that a decoder corrects: in infinitely long codes, and in this code."""

    threshold: float
    corrected: float


@dataclass(frozen=True, slots=True)
class Level:
    """The error rates that decoders correct with a number of sensing levels."""

    levels: int
    transfer_bits: int
    offsets: Sequence[float]
    limit: Decoded
    sum_product: Decoded
    min_sum: Decoded
    published: float | None = None
    difference: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The error rates that min-sum corrects on a page of a cell, from one level up."""

    page: int
    boundaries: int
    corrected: Sequence[float]


@dataclass(frozen=True, slots=True)
class Hard:
    """The error rates that a decoder corrects from hard decisions."""

    decoder: str
    threshold: float
    corrected: float
    difference: float


@dataclass(frozen=True, slots=True)
class Hurried:
    """The error rates that min-sum corrects if stopped early, at one level and at seven."""

    iterations: int
    hard: float
    hard_difference: float
    soft: float
    soft_difference: float


@dataclass(frozen=True, slots=True)
class Bch:
    """The error rate that a BCH code of the same rate corrects."""

    corrects: int
    rber: float
    published: float
    difference: float


@dataclass(frozen=True, slots=True)
class Voltages:
    """The states and references of the page, in distances between neighboring states."""

    rber: float
    sigma: float
    means: Sequence[float]
    bits: Sequence[int]
    references: Sequence[float]


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured frame error rate of the real code at a raw bit error rate."""

    rber: float
    frames: int
    failures: int
    rate: float
    least: float
    most: float
    iterations: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """The measured frame error rates at a number of sensing levels, beside the approximation."""

    levels: int
    points: Sequence[Measured]
    predicted: Sequence[float]
    carried_on: float | None = None


@dataclass(frozen=True, slots=True)
class Ldpc(Analysis):
    """The error rates that codes correct; ``str`` gives the text that ``ssdlab ldpc`` prints."""

    cell: Cell
    page: int
    shift: float
    bits: int
    rate: float
    failure: float
    levels: Sequence[Level]
    pages: Sequence[Page]
    hard: Sequence[Hard]
    hurried: Sequence[Hurried]
    bch: Bch
    voltages: Voltages
    seed: int
    measured: Sequence[Curve]
    partial: bool
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    read: Sequence[File] = field(default=(), repr=False, compare=False)

    @property
    def heading(self) -> str:
        """Return the page and the code that the result belongs to."""
        boundaries = self.pages[self.page].boundaries
        moved = f", highest state {self.shift:g} lower" if self.shift else ""
        return (
            f"{self.cell.upper()}, page with {boundaries} boundaries{moved} · rate {self.rate:.3f}"
            f" · {self.bits:,} bits · failure {self.failure:.0e}"
        )

    def notes(self) -> list[str]:
        """Return what the user should know beyond the figures, one line each."""
        frames = sum(point.frames for curve in self.measured for point in curve.points)
        return [f"PARTIAL: stopped after {frames:,} frames"] if self.partial else []


class LdpcInterrupted(KeyboardInterrupt):
    """Ctrl-C ended the measurement; ``partial`` holds the table and the measurements so far."""

    partial: Ldpc

    def __init__(self, partial: Ldpc) -> None:
        """Store the partial result."""
        super().__init__("interrupted")
        self.partial = partial


def ldpc(
    cell: Cell = "mlc",
    *,
    shift: float = 0.0,
    frames: int | None = None,
    seconds: float | None = None,
    seed: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Ldpc:
    """Derive the error rates that LDPC and BCH codes correct.

    ``cell`` is mlc or tlc. ``shift`` is the voltage that the highest state has lost, in distances
    between neighboring states. ``frames`` (the maximum at each point) or ``seconds`` also measures
    how often frames of a real code fail. ``jobs`` threads measure, by default one per core.
    ``progress`` is called as by :func:`ssdlab.run`, with frames in place of requests.

    The documentation's page "Error rates that codes decode" explains the terms. Raises
    :class:`InputError` if an input is invalid. On Ctrl-C raises :class:`LdpcInterrupted`, which
    holds the measurements so far, or :class:`KeyboardInterrupt` before the table is derived.
    """
    name = arguments.text("--cell", cell)
    if name not in CELLS:
        raise arguments.invalid("--cell", name, " or ".join(CELLS))
    order = {
        "cell": name,
        "shift": arguments.number_between("--shift", shift, 0, MAX_SHIFT, f"0 to {MAX_SHIFT:g}"),
        "frames": optional_integer("--frames", frames),
        "seconds": None if seconds is None else _seconds(seconds),
        "seed": integer("--seed", seed, 0),
        "jobs": available_cores() if jobs is None else integer("--jobs", jobs, 1, MAX_COUNT),
    }
    progress = arguments.callback("progress", progress)
    found = None
    try:
        with deferred() as signals:
            answer, interrupted = _native.ldpc(json.dumps(order), signals.stopping(progress))
            data: dict[str, Any] | None = json.loads(answer)
            if data is not None:
                found = from_dict(Ldpc, data, raw=data, read=())
            signals.check()
    except KeyboardInterrupt:
        if found is None:
            raise
        interrupted = True
    if found is None:
        raise KeyboardInterrupt
    if interrupted:
        raise LdpcInterrupted(found)
    return found


def _seconds(seconds: object) -> float:
    found = arguments.positive_number("--seconds", seconds)
    if found > MAX_SECONDS:
        expected = f"a number above 0, at most {MAX_SECONDS:,} (a week)"
        raise arguments.invalid("--seconds", seconds, expected)
    return found
