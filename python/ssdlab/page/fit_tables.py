"""The tables of a page about a fitted predictor."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.figures.fit import CHIPS, ERRORS, PREDICTED
from ssdlab.fitting import Fit, words
from ssdlab.page.physics_tables import Origin, of
from ssdlab.page.tables import Table


def summary(told: Fit) -> list[Table]:
    """Return the coefficients, and what the paper says of a predictor beside this one."""
    return [of(words.claims(told, whole=True)), of(words.coefficients(told))]


def beneath(told: Fit) -> dict[str, Table]:
    """Return what else there is in figures, by section."""
    return {
        PREDICTED: of(words.spreads(told)),
        ERRORS: of(words.errors(told)),
        CHIPS: of(words.variation(told)),
    }


def origins(told: Fit) -> Iterator[Origin]:
    """Say what was fitted, to which chips."""
    facts = [("chips", told.source), ("seed", str(told.seed)), ("version", told.version)]
    facts += [("config", told.config_hash)] if told.config_hash else []
    facts += [("SHA-256 of the file", told.csv_sha256)] if told.csv_sha256 else []
    facts += [
        (part.name, f"{part.chips} chips, {part.blocks} blocks, {part.rows:,} rows")
        for part in told.parts
    ]
    yield Origin(told.source, facts)
