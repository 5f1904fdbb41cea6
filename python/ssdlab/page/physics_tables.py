"""The tables of a page about what blocks are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ssdlab import truth
from ssdlab.figures.physics import ERRORS, MADE, READS
from ssdlab.page.tables import Table
from ssdlab.truth import Physics


def summary(physics: Physics) -> list[Table]:
    """Return the classes of blocks, and what papers say of them."""
    return [of(each) for each in (truth.groups(physics), truth.anchors(physics)) if each]


def beneath(physics: Physics) -> dict[str, Table]:
    """Return what the figures draw as figures, by section."""
    courses = list(truth.courses(physics))
    tables = {READS: of(truth.ladder(physics)), MADE: of(truth.programs(physics))}
    return {ERRORS: of(courses[0]), **tables} if courses else tables


def of(given: truth.Table) -> Table:
    """Return a table of text as one of the page."""
    columns = [given.labels, *given.columns]
    rows = list(zip(*(column.cells for column in columns), strict=True))
    words = frozenset({len(columns) - 1} if given.words else ())
    return Table(given.title.capitalize(), [column.head for column in columns], rows, words)


@dataclass(frozen=True, slots=True)
class Origin:
    """Which device it is."""

    label: str
    facts: Sequence[tuple[str, str]]


def origins(physics: Physics) -> Iterator[Origin]:
    """Say which device it is."""
    facts = [
        ("device", physics.device),
        ("scheme", physics.scheme),
        ("seed", str(physics.seed)),
        ("config", physics.config_hash),
        ("blocks", f"{physics.blocks:,}"),
        ("P/E cycles", f"{physics.pe_cycles:,}"),
        ("physics", truth.WHAT[physics.model]),
    ]
    yield Origin(physics.device, facts)
