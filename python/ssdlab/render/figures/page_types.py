"""The page types that delay writes. Figures over time show the page types that are left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssdlab.labels import PAGE_TYPES, counts_by_page_type
from ssdlab.render.figures import fills
from ssdlab.render.figures.base import Figure, Run
from ssdlab.render.figures.stacked_bars import Bars, stacked_shares
from ssdlab.render.text.notes import shows_page_types

SECTION = "Page types"

_BARS = Bars(
    "slowest_page_type",
    SECTION,
    "Writes by slowest page type",
    "Share of writes by the slowest page type that each of them programs.",
    "Share of writes",
    "~%",
)


def types_of(runs: Sequence[Run]) -> Sequence[str]:
    """Return the names of the page types, if they matter to any of the runs."""
    if not any(shows_page_types(run.result) for run in runs):
        return ()
    return PAGE_TYPES[max(len(run.result.slowest_page_type) for run in runs)]


def slowest_page_type(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the writes by the type of their slowest page."""

    def counts(run: Run) -> Sequence[int]:
        return counts_by_page_type(run.result.slowest_page_type)

    yield from stacked_shares(
        runs, _BARS, list(zip(types_of(runs), fills.PAGE_TYPES, strict=False)), counts
    )
