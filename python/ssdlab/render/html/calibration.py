"""The page of a fitted predictor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ssdlab.calibration import Fit
from ssdlab.render.figures.calibration import (
    CHIPS,
    ERRORS,
    PREDICTED,
    calibration_figures,
)
from ssdlab.render.html.page import render_page
from ssdlab.render.html.tables import Origin, Table, html_table
from ssdlab.render.text import calibration


def calibration_page(fit: Fit) -> str:
    """Return the page of a fit that :func:`ssdlab.fit` returned."""
    return render_page(
        "sections.html",
        calibration_figures(fit),
        title=f"Retry predictor, fitted to {PurePath(fit.source).name}",
        how="Fit data",
        notes=list(calibration.fit_notes(fit)),
        summary=_summary(fit),
        section_tables=_section_tables(fit),
        origins=list(_origins(fit)),
    )


def _summary(fit: Fit) -> list[Table]:
    """Return the coefficients, and the paper's claims beside the values of this predictor."""
    return [
        html_table(calibration.claim_table(fit, whole=True)),
        html_table(calibration.coefficient_table(fit)),
    ]


def _section_tables(fit: Fit) -> dict[str, Table]:
    """Return the tables that accompany the figures, by section."""
    return {
        PREDICTED: html_table(calibration.spread_table(fit)),
        ERRORS: html_table(calibration.error_table(fit)),
        CHIPS: html_table(calibration.variation_table(fit)),
    }


def _origins(fit: Fit) -> Iterator[Origin]:
    """Yield what was fitted, and the chips."""
    facts = [("chips", fit.source), ("seed", str(fit.seed)), ("version", fit.version)]
    facts += [("config", fit.config_hash)] if fit.config_hash else []
    facts += [("SHA-256 of the file", fit.csv_sha256)] if fit.csv_sha256 else []
    facts += [
        (part.name, f"{part.chips} chips, {part.blocks} blocks, {part.rows:,} rows")
        for part in fit.parts
    ]
    yield Origin(fit.source, facts)
