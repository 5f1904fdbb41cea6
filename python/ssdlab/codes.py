"""What LDPC and BCH codes decode, derived, with typed attributes, and as text.

The Rust side declares these figures (``ssdlab_ldpc::ledger``); docs/ldpc.md says what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ssdlab import _native, values
from ssdlab.api import Progress, cores
from ssdlab.files import File
from ssdlab.results import build
from ssdlab.text import NONE, Column
from ssdlab.told import Told
from ssdlab.truth import Table
from ssdlab.values import COUNT_MOST, optional_whole, whole

if TYPE_CHECKING:
    from ssdlab.figures import Figure

CELLS = ("mlc", "tlc")
SECONDS_MOST = 7 * 86_400
"""What is measured for longer is never looked at."""
SHIFT_MOST = 0.4
"""From 0.5 on the highest state is read wrongly as a rule."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Raw bit error rates that a decoder bears: in infinitely long codes, and in this one."""

    threshold: float
    corrected: float


@dataclass(frozen=True, slots=True)
class Level:
    """What a number of sensing levels decodes."""

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
    """What a page of a cell decodes with min-sum, from one level up."""

    page: int
    boundaries: int
    corrected: Sequence[float]


@dataclass(frozen=True, slots=True)
class Hard:
    """What a decoder makes of hard decisions."""

    decoder: str
    threshold: float
    corrected: float
    difference: float


@dataclass(frozen=True, slots=True)
class Hurried:
    """What min-sum decodes that is stopped after some iterations, at one level and at seven."""

    iterations: int
    hard: float
    hard_difference: float
    soft: float
    soft_difference: float


@dataclass(frozen=True, slots=True)
class Bch:
    """What a BCH code of the same rate corrects."""

    corrects: int
    rber: float
    published: float
    difference: float


@dataclass(frozen=True, slots=True)
class Voltages:
    """States and references of the page, in distances between neighbouring states."""

    rber: float
    sigma: float
    means: Sequence[float]
    bits: Sequence[int]
    references: Sequence[float]


@dataclass(frozen=True, slots=True)
class Measured:
    """How often frames of the real code failed at a raw bit error rate."""

    rber: float
    frames: int
    failures: int
    rate: float
    least: float
    most: float
    iterations: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Frame error rates at a number of sensing levels, and what the approximation says of them."""

    levels: int
    points: Sequence[Measured]
    predicted: Sequence[float]
    carried_on: float | None = None


@dataclass(frozen=True, slots=True)
class Ldpc(Told):
    """What codes decode; ``str`` is what ``ssdlab ldpc`` prints."""

    cell: str
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

    def html(self) -> str:
        """Return the page with figures and tables."""
        from ssdlab import page  # noqa: PLC0415  drawing is loaded when something is to be drawn

        return page.html_of_ldpc(self)

    def figures(self) -> Sequence[Figure]:
        """Return the figures."""
        from ssdlab.figures import of_ldpc  # noqa: PLC0415  as above

        return of_ldpc(self)

    def __str__(self) -> str:
        """Return it as text."""
        return text(self)

    @property
    def heading(self) -> str:
        """Say of which page and code this is."""
        boundaries = self.pages[self.page].boundaries
        moved = f", highest state {self.shift:g} lower" if self.shift else ""
        return (
            f"{self.cell.upper()}, page with {boundaries} boundaries{moved} · rate {self.rate:.3f}"
            f" · {self.bits:,} bits · failure {self.failure:.0e}"
        )

    def notes(self) -> list[str]:
        """List what the user should know beyond the figures, a line each."""
        frames = sum(point.frames for curve in self.measured for point in curve.points)
        return [f"PARTIAL: stopped after {frames:,} frames"] if self.partial else []


class Stopped(KeyboardInterrupt):
    """Ctrl-C ended the measurement; ``partial`` holds the table and what was measured by then."""

    partial: Ldpc

    def __init__(self, partial: Ldpc) -> None:
        """Keep what was measured."""
        super().__init__("interrupted")
        self.partial = partial


def ldpc(
    cell: str = CELLS[0],
    *,
    shift: float = 0.0,
    frames: int | None = None,
    seconds: float | None = None,
    seed: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Ldpc:
    """Derive what LDPC and BCH codes decode.

    ``cell`` is mlc or tlc; ``shift`` what the highest state has lost, in distances between
    neighbouring states. With ``frames`` (at most so many at each point) or ``seconds``, how often
    frames of a real code fail is measured, by ``jobs`` threads (as many as cores if not given).
    ``progress`` is called as by :func:`ssdlab.run`, with frames in place of requests.

    docs/ldpc.md says what everything means. Raises :class:`InputError` if an input is wrong, and on
    Ctrl-C KeyboardInterrupt: one that holds what was measured, once the table stands.
    """
    cell = values.text("--cell", cell)
    if cell not in CELLS:
        raise values.refused("--cell", cell, " or ".join(CELLS))
    order = {
        "cell": cell,
        "shift": values.number("--shift", shift, 0, SHIFT_MOST, f"0 to {SHIFT_MOST:g}"),
        "frames": optional_whole("--frames", frames),
        "seconds": None if seconds is None else _seconds(seconds),
        "seed": whole("--seed", seed, 0),
        "jobs": cores() if jobs is None else whole("--jobs", jobs, 1, COUNT_MOST),
    }
    answer, interrupted = _native.ldpc(json.dumps(order), values.calls("progress", progress))
    data: dict[str, Any] | None = json.loads(answer)
    if data is None:
        raise KeyboardInterrupt
    told = build(Ldpc, {**data, "raw": data})
    if interrupted:
        raise Stopped(told)
    return told


def _seconds(seconds: object) -> float:
    found = values.above_zero("--seconds", seconds)
    if found > SECONDS_MOST:
        expected = f"a number above 0, at most {SECONDS_MOST:,} (a week)"
        raise values.refused("--seconds", seconds, expected)
    return found


# As text.


def text(told: Ldpc) -> str:
    """Return what ``ssdlab ldpc`` prints."""
    tables = [corrected(told), thresholds(told), hard(told), hurried(told), pages(told)]
    parts = [told.heading, *(str(each) for each in tables), nearest(told), bch(told)]
    parts += [str(each) for each in measured(told)]
    return "\n\n".join([*parts, *told.notes()])


def rate(value: float | None) -> str:
    """Write a raw bit error rate."""
    return NONE if value is None else f"{value:.5f}"


def percent(value: float | None) -> str:
    """Write by how much something is more."""
    return NONE if value is None else f"{100 * value:+.1f} %"


def _of(told: Ldpc, write: Callable[[Level], str]) -> list[str]:
    return [write(level) for level in told.levels]


def _levels(told: Ldpc) -> Column:
    return Column("levels", _of(told, lambda level: str(level.levels)))


def corrected(told: Ldpc) -> Table:
    """Set side by side what levels decode at this length, beside what is published."""
    columns = [
        Column("any code", _of(told, lambda level: rate(level.limit.corrected))),
        Column("sum-product", _of(told, lambda level: rate(level.sum_product.corrected))),
        Column("min-sum", _of(told, lambda level: rate(level.min_sum.corrected))),
        Column("published", _of(told, lambda level: rate(level.published))),
        Column("min-sum differs", _of(told, lambda level: percent(level.difference))),
    ]
    title = f"raw bit error rate at which frames fail with {told.failure:.0e}"
    return Table(title, _levels(told), columns)


def thresholds(told: Ldpc) -> Table:
    """Set side by side what levels decode in infinitely long codes, and what they transfer."""
    columns = [
        Column("any code", _of(told, lambda level: rate(level.limit.threshold))),
        Column("sum-product", _of(told, lambda level: rate(level.sum_product.threshold))),
        Column("min-sum", _of(told, lambda level: rate(level.min_sum.threshold))),
        Column("bits a cell", _of(told, lambda level: str(level.transfer_bits))),
    ]
    return Table("thresholds: the same of infinitely long codes", _levels(told), columns)


def hard(told: Ldpc) -> Table:
    """Set side by side what decoders make of hard decisions."""
    columns = [
        Column("threshold", [rate(each.threshold) for each in told.hard]),
        Column("at this length", [rate(each.corrected) for each in told.hard]),
        Column("published", [rate(told.levels[0].published)] * len(told.hard)),
        Column("differs", [percent(each.difference) for each in told.hard]),
    ]
    return Table("one level", Column("decoder", [each.decoder for each in told.hard]), columns)


def hurried(told: Ldpc) -> Table:
    """Set side by side what min-sum decodes in few iterations."""
    columns = [
        Column("1 level", [rate(each.hard) for each in told.hurried]),
        Column("differs", [percent(each.hard_difference) for each in told.hurried]),
        Column("7 levels", [rate(each.soft) for each in told.hurried]),
        Column("differs", [percent(each.soft_difference) for each in told.hurried]),
    ]
    labels = Column("iterations", [str(each.iterations) for each in told.hurried])
    return Table("min-sum that is stopped early, against the published", labels, columns)


def nearest(told: Ldpc) -> str:
    """Say which decoder comes nearest to what is published of hard decisions."""
    last = told.levels[-1]
    found = [(abs(one.difference), one.decoder, one.corrected, "") for one in told.hard]
    for one in told.hurried:
        soft = f";\nat {last.levels} levels it decodes {rate(one.soft)}"
        soft += f", published {rate(last.published)} ({percent(one.soft_difference)})"
        words = f"min-sum of {one.iterations} iterations"
        found.append((abs(one.hard_difference), words, one.hard, soft))
    _, words, value, soft = min(found)
    published = told.levels[0].published
    assert published is not None
    differs = percent(value / published - 1)
    return f"nearest to {rate(published)} of one level: {words}, {rate(value)} ({differs}){soft}"


def pages(told: Ldpc) -> Table:
    """Set side by side what the pages of a cell decode."""
    labels = Column("boundaries", [str(page.boundaries) for page in told.pages])
    columns = [
        Column(str(at + 1), [rate(page.corrected[at]) for page in told.pages])
        for at in range(len(told.levels))
    ]
    return Table("min-sum by page and levels", labels, columns)


def bch(told: Ldpc) -> str:
    """Say what BCH corrects."""
    found = told.bch
    return (
        f"BCH that corrects {found.corrects} bits: {rate(found.rber)},"
        f" published {rate(found.published)}, {percent(found.difference)}"
    )


def measured(told: Ldpc) -> Iterator[Table]:
    """Go through what was measured, a table for each number of levels."""
    for curve in told.measured:
        if not curve.points:
            continue
        points = curve.points
        columns = [
            Column("frames", [f"{point.frames:,}" for point in points]),
            Column("failed", [f"{point.failures:,}" for point in points]),
            Column("rate", [f"{point.rate:.1e}" for point in points]),
            Column("95 % interval", [f"{p.least:.1e} – {p.most:.1e}" for p in points]),
            Column("approximation", [f"{aim:.0e}" for aim in curve.predicted]),
        ]
        noun = "level" if curve.levels == 1 else "levels"
        title = f"measured, {curve.levels} {noun}"
        if curve.carried_on is not None:
            title += f": carried on, {told.failure:.0e} at {rate(curve.carried_on)}"
        yield Table(title, Column("RBER", [rate(point.rber) for point in points]), columns)
