"""The page of the true properties of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.physics import Physics
from ssdlab.render.figures.physics import ERRORS, MADE, READS, physics_figures
from ssdlab.render.html.page import render_page
from ssdlab.render.html.tables import Origin, Table, html_table
from ssdlab.render.text.physics import (
    MODEL_NAMES,
    anchor_table,
    course_tables,
    group_table,
    ladder_table,
    physics_notes,
    program_table,
)


def physics_page(physics: Physics) -> str:
    """Return the page of a result that :func:`ssdlab.physics` returned."""
    return render_page(
        "sections.html",
        physics_figures(physics),
        title=f"{physics.device}, {physics.scheme}: block characteristics",
        how="Device and config",
        notes=list(physics_notes(physics)),
        summary=_summary(physics),
        section_tables=_section_tables(physics),
        origins=list(_origins(physics)),
    )


def _summary(physics: Physics) -> list[Table]:
    """Return the classes of blocks, and the values of papers for them."""
    return [html_table(each) for each in (group_table(physics), anchor_table(physics)) if each]


def _section_tables(physics: Physics) -> dict[str, Table]:
    """Return the values that the figures draw as tables, by section."""
    courses = list(course_tables(physics))
    tables = {READS: html_table(ladder_table(physics)), MADE: html_table(program_table(physics))}
    return {ERRORS: html_table(courses[0]), **tables} if courses else tables


def _origins(physics: Physics) -> Iterator[Origin]:
    """Yield the device and how it was configured."""
    facts = [
        ("device", physics.device),
        ("scheme", physics.scheme),
        ("seed", str(physics.seed)),
        ("config", physics.config_hash),
        ("blocks", f"{physics.blocks:,}"),
        ("P/E cycles", f"{physics.pe_cycles:,}"),
        ("physics", MODEL_NAMES[physics.model]),
    ]
    yield Origin(physics.device, facts)
