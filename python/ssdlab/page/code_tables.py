"""The tables of a page about what codes decode."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab import codes
from ssdlab.codes import Ldpc
from ssdlab.figures.codes import DECODED, FAILED, READ
from ssdlab.page.physics_tables import Origin, of
from ssdlab.page.tables import Table


def summary(told: Ldpc) -> list[Table]:
    """Return what levels decode, and which decoder meets what is published."""
    given = [codes.corrected(told), codes.hard(told), codes.hurried(told)]
    return [of(each) for each in [*given, *codes.measured(told)]]


def beneath(told: Ldpc) -> dict[str, Table]:
    """Return what else there is in figures, by section."""
    found = {DECODED: of(codes.thresholds(told)), READ: of(codes.pages(told))}
    measured = list(codes.measured(told))
    return {**found, FAILED: of(measured[0])} if measured else found


def origins(told: Ldpc) -> Iterator[Origin]:
    """Say what was derived."""
    facts = [
        ("cell", told.cell),
        ("page", f"{told.page}, the one with the most boundaries"),
        ("shift", f"{told.shift:g} of the distance between states"),
        ("code", f"regular (4, 36), {told.bits:,} bits"),
        ("failure", f"{told.failure:.0e}"),
        ("BCH", codes.bch(told)),
        ("hard decisions", codes.nearest(told)),
        ("seed", str(told.seed)),
    ]
    yield Origin(told.heading, facts)
