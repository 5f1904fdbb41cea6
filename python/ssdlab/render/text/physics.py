"""The true properties of a device's blocks, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ssdlab import escaping
from ssdlab.physics import Anchor, Group, Physics, Point
from ssdlab.render.formatting import NONE, digits, share, span
from ssdlab.render.text.table import Column, TitledTable

MODEL_NAMES = {
    "levels": "sensing levels (physics.levels)",
    "retries": "retries (physics.retries, or measured)",
}


_SHOWN = (0, 14, 28, 60, 112, 180, 240)
"""The indices of the points over age that are shown; points over cycles are evenly spaced."""


_LEVELS = 8


def physics_text(physics: Physics) -> str:
    """Return the text that ``ssdlab physics`` prints."""
    head = (
        f"{physics.blocks:,} blocks, {MODEL_NAMES[physics.model]}, {physics.pe_cycles:,} P/E cycles"
    )
    found = [group_table(physics), program_table(physics) if len(physics.programs) > 1 else None]
    found += [ladder_table(physics), *course_tables(physics), anchor_table(physics)]
    parts = [f"{physics.heading}\n{head}", *(str(each) for each in found if each)]
    text = "\n\n".join(
        [*parts, *(["\n".join(physics_notes(physics))] * any(physics_notes(physics)))]
    )
    return escaping.escape(text)


def physics_notes(physics: Physics) -> Iterator[str]:
    """Yield what the user should know beyond the figures, one line each."""
    names = [group.name for group in physics.groups]
    rates = [group.over_age[0].rber for group in physics.groups]
    apart = (max(rates) - min(rates)) / physics.levels[-1].capability
    if len(physics.base.classes) > 1 and apart < _ALIKE:
        yield f"as programmed, {' and '.join(names)} read alike: their lines cover one another"


_ALIKE = 0.004
"""Lines that are closer than this share of the picture are indistinguishable."""


def course_tables(physics: Physics) -> Iterator[TitledTable]:
    """Yield the tables of reads over age and over P/E cycles."""
    if physics.heeds_age:
        yield _course_table(
            physics, "reads by the age of the data", "d", lambda group: group.over_age
        )
    for at, over in enumerate(physics.groups[0].over_cycles):
        title = f"reads by P/E cycles, data of {over.age_days:g} days"
        yield _course_table(physics, title, "", lambda group, at=at: group.over_cycles[at].points)  # type: ignore[misc]


def rber_text(value: float) -> str:
    """Return a raw bit error rate as text."""
    return f"{value:.2e}"


def group_table(physics: Physics) -> TitledTable:
    """Return the initial error rates and the program modes of each class of blocks."""
    groups = physics.groups
    columns = [
        Column("of all", [share(group.blocks / physics.blocks) for group in groups]),
        Column("RBER as made", [rber_text(group.base_rber) for group in groups]),
        Column("lowest", [rber_text(group.base_least) for group in groups]),
        Column("highest", [rber_text(group.base_most) for group in groups]),
        Column("programmed", [group.program_mode for group in groups]),
        Column("in", [span(_program(physics, group)) for group in groups]),
    ]
    return TitledTable("blocks", Column("class", [group.name for group in groups]), columns)


def _program(physics: Physics, group: Group) -> float:
    times = {program.name: program.program_us for program in physics.programs}
    return times[group.program_mode]


def program_table(physics: Physics) -> TitledTable:
    """Return the program modes."""
    ways = physics.programs
    columns = [
        Column("a page takes", [span(way.program_us) for way in ways]),
        Column("factor on RBER as made", [digits(way.base_factor, 4) for way in ways]),
        Column("wears", [digits(way.wear, 4) for way in ways]),
    ]
    return TitledTable("ways to program", Column("voltages", [way.name for way in ways]), columns)


def ladder_table(physics: Physics) -> TitledTable:
    """Return the error rates that the levels of a read correct, and the times that they take."""
    step = -(-len(physics.levels) // _LEVELS)
    levels = [level for at, level in enumerate(physics.levels) if at % step == 0]
    levels += [physics.levels[-1]] if levels[-1] is not physics.levels[-1] else []
    columns = [
        Column("decodes RBER", [rber_text(level.capability) for level in levels]),
        Column("sensing", [span(level.sense_us) for level in levels]),
        Column("transfer", [span(level.transfer_us) for level in levels]),
        Column("decoding", [span(level.decode_us) for level in levels]),
        Column("read from it", [span(level.direct_us) for level in levels]),
        Column("climbing to it", [span(level.climb_us) for level in levels]),
    ]
    return TitledTable(
        "a read", Column(physics.model, [str(level.needed) for level in levels]), columns
    )


def _course_table(
    physics: Physics, title: str, unit: str, points_of: Callable[[Group], Sequence[Point]]
) -> TitledTable:
    """Return the reads of the groups at some points of a line."""
    whole = len(points_of(physics.groups[0]))
    places = _SHOWN if unit else range(0, whole, (whole - 1) // 5)
    columns = []
    for group in physics.groups:
        points = [points_of(group)[at] for at in places]
        columns += [
            Column(f"{group.name}: RBER", [rber_text(point.rber) for point in points]),
            Column(physics.model, [_or_none(point.needed, str) for point in points]),
            Column("read", [_or_none(_read_us(physics, point), span) for point in points]),
        ]
    ages = [f"{points_of(physics.groups[0])[at].at:g} {unit}".rstrip() for at in places]
    return TitledTable(title, Column("age" if unit else "cycles", ages), columns)


def _read_us(physics: Physics, point: Point) -> float | None:
    """Return the time of a read: it may start at the needed level, but climbs all retries."""
    if physics.model == "retries" and point.needed is not None:
        return point.climb_us
    return point.direct_us


def _or_none(value: Any, write: Callable[[Any], str]) -> str:
    return NONE if value is None else write(value)


def anchor_table(physics: Physics) -> TitledTable | None:
    """Return the values of papers beside those of the model; None if papers give none."""
    anchors = physics.anchors
    if not anchors:
        return None
    columns = [
        Column("paper", [anchor_figure(anchor, anchor.paper) for anchor in anchors]),
        Column("model", [anchor_figure(anchor, anchor.model) for anchor in anchors]),
        Column(
            "difference",
            [anchor_figure(anchor, anchor.difference, signed=True) for anchor in anchors],
        ),
        Column("source", [anchor.source for anchor in anchors]),
    ]
    labels = Column("anchor", [anchor_label(anchor) for anchor in anchors])
    return TitledTable("papers' figures for these blocks", labels, columns, words=True)


def anchor_label(anchor: Anchor) -> str:
    """Return a short name of the compared value."""
    at = f"{anchor.at:.4g}"
    return {
        "rber_at_age": f"RBER at {at} days",
        "level_start": f"level {at} from, {anchor.group}",
        "capability": f"RBER at {at} level{'s' * (anchor.at > 1)}",
        "read_time": f"read at RBER {at}",
        "program_time": f"program at RBER ×{at}",
        "retries_ratio": f"worst / best block{_when(anchor)}",
        "retries_least": f"retries, best block{_when(anchor)}",
        "retries_most": f"retries, worst block{_when(anchor)}",
        "blocks_apart": f"blocks apart{_when(anchor)}",
        "pages_apart": f"pages apart{_when(anchor)}",
    }[anchor.what]


def _when(anchor: Anchor) -> str:
    """Return the age of an anchor's data, and its P/E cycles."""
    cycles = "" if anchor.cycles is None else f", {anchor.cycles:,.0f} P/E"
    return f"{cycles}, {anchor.at:g} d"


def anchor_figure(anchor: Anchor, value: float | None, *, signed: bool = False) -> str:
    """Return a value as text in the unit of its anchor."""
    if value is None:
        return NONE
    units = {"level_start": (".1f", " d"), "read_time": (".1f", " µs")}
    if anchor.cycles is not None:
        units[anchor.what] = (".2f" if anchor.what == "retries_ratio" else ".0f", "")
    plain = (".3f" if anchor.what == "program_time" else ".1e" if signed else ".5f", "")
    form, unit = units.get(anchor.what, plain)
    written = f"{value:{'+' if signed else ''}{form}}"
    return "0" if signed and float(written) == 0 else written + unit
