"""The page about what codes decode."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.ldpc import Ldpc
from ssdlab.render.figures.ldpc import DECODED, FAILED, READ, ldpc_figures
from ssdlab.render.html.page import render_page
from ssdlab.render.html.tables import Origin, Table, html_table
from ssdlab.render.text.ldpc import (
    bch_line,
    corrected_table,
    early_stop_table,
    hard_decision_table,
    measured_tables,
    nearest_decoder_line,
    page_table,
    threshold_table,
)


def ldpc_page(told: Ldpc) -> str:
    """Return the page of what codes decode, as :func:`ssdlab.ldpc` returned it."""
    return render_page(
        "sections.html",
        ldpc_figures(told),
        title=f"What {told.bits:,} bits decode, read from {told.cell.upper()}",
        how="What was derived",
        notes=told.notes(),
        summary=_summary(told),
        beneath=_beneath(told),
        origins=list(_origins(told)),
    )


def _summary(told: Ldpc) -> list[Table]:
    """Return what levels decode, and which decoder meets what is published."""
    given = [corrected_table(told), hard_decision_table(told), early_stop_table(told)]
    return [html_table(each) for each in [*given, *measured_tables(told)]]


def _beneath(told: Ldpc) -> dict[str, Table]:
    """Return what else there is in ldpc_figures, by section."""
    found = {DECODED: html_table(threshold_table(told)), READ: html_table(page_table(told))}
    measured = list(measured_tables(told))
    return {**found, FAILED: html_table(measured[0])} if measured else found


def _origins(told: Ldpc) -> Iterator[Origin]:
    """Say what was derived."""
    facts = [
        ("cell", told.cell),
        ("page", f"{told.page}, the one with the most boundaries"),
        ("shift", f"{told.shift:g} of the distance between states"),
        ("code", f"regular (4, 36), {told.bits:,} bits"),
        ("failure", f"{told.failure:.0e}"),
        ("BCH", bch_line(told)),
        ("hard decisions", nearest_decoder_line(told)),
        ("seed", str(told.seed)),
    ]
    yield Origin(told.heading, facts)
