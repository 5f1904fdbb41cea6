"""The page about a fitted predictor."""

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


def calibration_page(told: Fit) -> str:
    """Return the page of a fitted predictor, as :func:`ssdlab.fit` returned it."""
    return render_page(
        "sections.html",
        calibration_figures(told),
        title=f"The retry predictor, fitted to {PurePath(told.source).name}",
        how="What was fitted",
        notes=list(calibration.fit_notes(told)),
        summary=_summary(told),
        beneath=_beneath(told),
        origins=list(_origins(told)),
    )


def _summary(told: Fit) -> list[Table]:
    """Return the coefficients, and what the paper says of a predictor beside this one."""
    return [
        html_table(calibration.claim_table(told, whole=True)),
        html_table(calibration.coefficient_table(told)),
    ]


def _beneath(told: Fit) -> dict[str, Table]:
    """Return what else there is in calibration_figures, by section."""
    return {
        PREDICTED: html_table(calibration.spread_table(told)),
        ERRORS: html_table(calibration.error_table(told)),
        CHIPS: html_table(calibration.variation_table(told)),
    }


def _origins(told: Fit) -> Iterator[Origin]:
    """Say what was fitted, to which chips."""
    facts = [("chips", told.source), ("seed", str(told.seed)), ("version", told.version)]
    facts += [("config", told.config_hash)] if told.config_hash else []
    facts += [("SHA-256 of the file", told.csv_sha256)] if told.csv_sha256 else []
    facts += [
        (part.name, f"{part.chips} chips, {part.blocks} blocks, {part.rows:,} rows")
        for part in told.parts
    ]
    yield Origin(told.source, facts)
