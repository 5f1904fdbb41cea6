"""The page of the error rates that codes correct."""

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


def ldpc_page(ldpc: Ldpc) -> str:
    """Return the page of a result that :func:`ssdlab.ldpc` returned."""
    return render_page(
        "sections.html",
        ldpc_figures(ldpc),
        title=f"LDPC correction, {ldpc.bits:,} bits per frame, {ldpc.cell.upper()}",
        how="Parameters",
        notes=ldpc.notes(),
        summary=_summary(ldpc),
        section_tables=_section_tables(ldpc),
        origins=list(_origins(ldpc)),
    )


def _summary(ldpc: Ldpc) -> list[Table]:
    """Return the rates that levels correct, and the decoders that come near the published ones."""
    derived = [corrected_table(ldpc), hard_decision_table(ldpc), early_stop_table(ldpc)]
    return [html_table(each) for each in [*derived, *measured_tables(ldpc)]]


def _section_tables(ldpc: Ldpc) -> dict[str, Table]:
    """Return the tables that accompany the figures, by section."""
    found = {DECODED: html_table(threshold_table(ldpc)), READ: html_table(page_table(ldpc))}
    measured = list(measured_tables(ldpc))
    return {**found, FAILED: html_table(measured[0])} if measured else found


def _origins(ldpc: Ldpc) -> Iterator[Origin]:
    """Yield what was derived."""
    facts = [
        ("cell", ldpc.cell),
        ("page", f"{ldpc.page}, the one with the most boundaries"),
        ("shift", f"{ldpc.shift:g} of the distance between states"),
        ("code", f"regular (4, 36), {ldpc.bits:,} bits"),
        ("failure", f"{ldpc.failure:.0e}"),
        ("BCH", bch_line(ldpc)),
        ("hard decisions", nearest_decoder_line(ldpc)),
        ("seed", str(ldpc.seed)),
    ]
    yield Origin(ldpc.heading, facts)
