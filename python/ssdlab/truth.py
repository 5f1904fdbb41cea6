"""What the blocks of a device really are, with typed attributes, and as text.

The Rust side declares these figures (``ssdlab_run::physics``); docs/physics.md says what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ssdlab import _native, shown
from ssdlab.files import File, read_by
from ssdlab.plans import Plan, as_plan, to_json
from ssdlab.results import build
from ssdlab.text import NONE, Column, digits, share, span, table
from ssdlab.told import Told

if TYPE_CHECKING:
    from ssdlab.figures import Figure


@dataclass(frozen=True, slots=True)
class Rung:
    """A rung of the ladder that a read climbs: sensing levels from 1, or retries from 0."""

    needed: int
    capability: float
    sense_us: float
    transfer_us: float
    decode_us: float
    direct_us: float
    climb_us: float


@dataclass(frozen=True, slots=True)
class Program:
    """A way to program a page, its factor on the raw bit error rate as made, and on wear."""

    name: str
    program_us: float
    base_factor: float
    wear: float


@dataclass(frozen=True, slots=True)
class Point:
    """How the pages of a group read at an age in days, or after so many P/E cycles.

    ``needed`` and ``direct_us`` are None where no level decodes; ``lost`` is the share of the
    group's blocks of which that is true.
    """

    at: float
    rber: float
    needed: int | None
    direct_us: float | None
    climb_us: float
    lost: float


@dataclass(frozen=True, slots=True)
class OverCycles:
    """How the pages of a group read by P/E cycles, with data of this age."""

    age_days: float
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Group:
    """A class of blocks, or a quantile of all."""

    name: str
    quantile: float
    blocks: int
    voltage: str
    base_rber: float
    base_least: float
    base_most: float
    over_age: Sequence[Point]
    over_cycles: Sequence[OverCycles]


@dataclass(frozen=True, slots=True)
class Bin:
    """Blocks of each class that were made with a rate in an interval."""

    least: float
    most: float
    blocks: Sequence[int]


@dataclass(frozen=True, slots=True)
class Base:
    """How the rates with which blocks were made are distributed."""

    classes: Sequence[str]
    boundaries: Sequence[float]
    bins: Sequence[Bin]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A figure of a paper, the model's, and by how much that is more."""

    what: str
    at: float
    paper: float
    source: str
    group: str | None = None
    cycles: float | None = None
    model: float | None = None
    difference: float | None = None

    @property
    def label(self) -> str:
        """Return what is compared, in a few words."""
        at = f"{self.at:.4g}"
        return {
            "rber_at_age": f"RBER at {at} days",
            "level_start": f"level {at} from, {self.group}",
            "capability": f"RBER at {at} level{'s' * (self.at > 1)}",
            "read_time": f"read at RBER {at}",
            "program_time": f"program at RBER ×{at}",
            "retries_ratio": f"worst / best block{self._when}",
            "retries_least": f"retries, best block{self._when}",
            "retries_most": f"retries, worst block{self._when}",
            "blocks_apart": f"blocks apart{self._when}",
            "pages_apart": f"pages apart{self._when}",
        }[self.what]

    @property
    def _when(self) -> str:
        cycles = "" if self.cycles is None else f", {self.cycles:,.0f} P/E"
        return f"{cycles}, {self.at:g} d"

    def write(self, value: float | None, *, signed: bool = False) -> str:
        """Write a figure in the unit of this anchor."""
        if value is None:
            return NONE
        units = {"level_start": (".1f", " d"), "read_time": (".1f", " µs")}
        if self.cycles is not None:
            units[self.what] = (".2f" if self.what == "retries_ratio" else ".0f", "")
        plain = (".3f" if self.what == "program_time" else ".1e" if signed else ".5f", "")
        form, unit = units.get(self.what, plain)
        written = f"{value:{'+' if signed else ''}{form}}"
        return "0" if signed and float(written) == 0 else written + unit


@dataclass(frozen=True, slots=True)
class Physics(Told):
    """What the blocks of a device are; ``str`` is what ``ssdlab physics`` prints."""

    device: str
    scheme: str
    seed: int
    config_hash: str
    model: str
    blocks: int
    pe_cycles: int
    heeds_age: bool
    heeds_wear: bool
    rungs: Sequence[Rung]
    programs: Sequence[Program]
    groups: Sequence[Group]
    base: Base
    anchors: Sequence[Anchor]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    read: Sequence[File] = field(default=(), repr=False, compare=False)

    def html(self) -> str:
        """Return the page with figures and tables."""
        from ssdlab import page  # noqa: PLC0415  drawing is loaded when something is to be drawn

        return page.html_of_physics(self)

    def figures(self) -> Sequence[Figure]:
        """Return the figures."""
        from ssdlab.figures import of_physics  # noqa: PLC0415  as above

        return of_physics(self)

    def __str__(self) -> str:
        """Return it as text."""
        return text(self)

    @property
    def heading(self) -> str:
        """Say which device this is."""
        return " · ".join([shown.label(self.device), self.scheme, f"seed {self.seed}"])


def physics(plan: Plan | None = None, /, **options: Any) -> Physics:
    """Tell what the blocks of a device are: a plan, or its fields as options, which win.

    >>> import ssdlab
    >>> blocks = ssdlab.physics(device="dlv-mlc-128g", scheme="dlv")
    >>> [group.name for group in blocks.groups]
    ['strong', 'normal']

    No drive is run. docs/physics.md says what everything means. Raises :class:`InputError` if an
    input is wrong, flat physics among it, under which there is nothing to tell.
    """
    plan = as_plan(Plan() if plan is None else plan)
    wire = to_json(replace(plan, **options))
    data: dict[str, Any] = json.loads(_native.physics(wire))
    return build(Physics, {**data, "raw": data, "read": read_by(f"[{wire}]")})


# As text.

WHAT = {
    "levels": "sensing levels (physics.levels)",
    "retries": "retries (physics.retries, or measured)",
}
_SHOWN = (0, 14, 28, 60, 112, 180, 240)
"""Of the points over age so many are shown, of those over cycles as many as evenly apart."""
_RUNGS = 8


def text(physics: Physics) -> str:
    """Return what ``ssdlab physics`` prints."""
    head = f"{physics.blocks:,} blocks, {WHAT[physics.model]}, {physics.pe_cycles:,} P/E cycles"
    found = [groups(physics), programs(physics) if len(physics.programs) > 1 else None]
    found += [ladder(physics), *courses(physics), anchors(physics)]
    parts = [f"{physics.heading}\n{head}", *(str(each) for each in found if each)]
    told = "\n\n".join([*parts, *(["\n".join(notes(physics))] * any(notes(physics)))])
    return shown.text(told)


def notes(physics: Physics) -> Iterator[str]:
    """List what the user should know beyond the figures, a line each."""
    names = [group.name for group in physics.groups]
    rates = [group.over_age[0].rber for group in physics.groups]
    apart = (max(rates) - min(rates)) / physics.rungs[-1].capability
    if len(physics.base.classes) > 1 and apart < _ALIKE:
        yield f"as programmed, {' and '.join(names)} read alike: their lines cover one another"


_ALIKE = 0.004
"""Lines that are less than this part of the picture apart cannot be told from one another."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title over it; ``words`` are columns of words."""

    title: str
    labels: Column
    columns: Sequence[Column]
    words: bool = False

    def __str__(self) -> str:
        """Return it as text."""
        columns = list(self.columns)
        if self.words:
            width = columns[-1].width()
            cells = [cell.ljust(width) for cell in columns[-1].cells]
            columns[-1] = Column(columns[-1].head.ljust(width), cells)
        return f"{self.title}\n{table(self.labels, columns)}"


def courses(physics: Physics) -> Iterator[Table]:
    """Go through the tables of reads over age and over P/E cycles."""
    if physics.heeds_age:
        yield _course(physics, "reads by the age of the data", "d", lambda group: group.over_age)
    for at, over in enumerate(physics.groups[0].over_cycles):
        title = f"reads by P/E cycles, data of {over.age_days:g} days"
        yield _course(physics, title, "", lambda group, at=at: group.over_cycles[at].points)  # type: ignore[misc]


def rate(value: float) -> str:
    """Write a raw bit error rate."""
    return f"{value:.2e}"


def groups(physics: Physics) -> Table:
    """Set side by side how the blocks of each class were made and are programmed."""
    groups = physics.groups
    columns = [
        Column("of all", [share(group.blocks / physics.blocks) for group in groups]),
        Column("RBER as made", [rate(group.base_rber) for group in groups]),
        Column("lowest", [rate(group.base_least) for group in groups]),
        Column("highest", [rate(group.base_most) for group in groups]),
        Column("programmed", [group.voltage for group in groups]),
        Column("in", [span(_program(physics, group)) for group in groups]),
    ]
    return Table("blocks", Column("class", [group.name for group in groups]), columns)


def _program(physics: Physics, group: Group) -> float:
    times = {program.name: program.program_us for program in physics.programs}
    return times[group.voltage]


def programs(physics: Physics) -> Table:
    """Set side by side the ways to program."""
    ways = physics.programs
    columns = [
        Column("a page takes", [span(way.program_us) for way in ways]),
        Column("factor on RBER as made", [digits(way.base_factor, 4) for way in ways]),
        Column("wears", [digits(way.wear, 4) for way in ways]),
    ]
    return Table("ways to program", Column("voltages", [way.name for way in ways]), columns)


def ladder(physics: Physics) -> Table:
    """Set side by side what the rungs of a read decode and take."""
    step = -(-len(physics.rungs) // _RUNGS)
    rungs = [rung for at, rung in enumerate(physics.rungs) if at % step == 0]
    rungs += [physics.rungs[-1]] if rungs[-1] is not physics.rungs[-1] else []
    columns = [
        Column("decodes RBER", [rate(rung.capability) for rung in rungs]),
        Column("sensing", [span(rung.sense_us) for rung in rungs]),
        Column("transfer", [span(rung.transfer_us) for rung in rungs]),
        Column("decoding", [span(rung.decode_us) for rung in rungs]),
        Column("read from it", [span(rung.direct_us) for rung in rungs]),
        Column("climbing to it", [span(rung.climb_us) for rung in rungs]),
    ]
    return Table("a read", Column(physics.model, [str(rung.needed) for rung in rungs]), columns)


def _course(
    physics: Physics, title: str, unit: str, points_of: Callable[[Group], Sequence[Point]]
) -> Table:
    """Set side by side how the groups read at some points of a line."""
    whole = len(points_of(physics.groups[0]))
    shown = _SHOWN if unit else range(0, whole, (whole - 1) // 5)
    columns = []
    for group in physics.groups:
        points = [points_of(group)[at] for at in shown]
        columns += [
            Column(f"{group.name}: RBER", [rate(point.rber) for point in points]),
            Column(physics.model, [_or_none(point.needed, str) for point in points]),
            Column("read", [_or_none(_read_us(physics, point), span) for point in points]),
        ]
    ages = [f"{points_of(physics.groups[0])[at].at:g} {unit}".rstrip() for at in shown]
    return Table(title, Column("age" if unit else "cycles", ages), columns)


def _read_us(physics: Physics, point: Point) -> float | None:
    """Return the time of a read; it may know the level that it needs, but not the retry."""
    if physics.model == "retries" and point.needed is not None:
        return point.climb_us
    return point.direct_us


def _or_none(value: Any, write: Callable[[Any], str]) -> str:
    return NONE if value is None else write(value)


def anchors(physics: Physics) -> Table | None:
    """Set what papers say beside the model; None if they say nothing."""
    anchors = physics.anchors
    if not anchors:
        return None
    columns = [
        Column("paper", [anchor.write(anchor.paper) for anchor in anchors]),
        Column("model", [anchor.write(anchor.model) for anchor in anchors]),
        Column("difference", [anchor.write(anchor.difference, signed=True) for anchor in anchors]),
        Column("source", [anchor.source for anchor in anchors]),
    ]
    labels = Column("anchor", [anchor.label for anchor in anchors])
    return Table("what papers say of these blocks", labels, columns, words=True)
