"""Page types: which of them held writes up. Which are left is drawn over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssdlab import report
from ssdlab.figures.bars import Bars, stacked
from ssdlab.figures.base import Figure, Run
from ssdlab.names import PAGE_TYPES

SECTION = "Page types"

# From the quickest to program to the slowest.
_TONES = ("#56b4e9", "#e69f00", "#d55e00", "#7f3b08")

_BARS = Bars(
    "dominated",
    SECTION,
    "The slowest pages of writes",
    "Share of the writes whose slowest page is of each type.",
    "Share of the writes",
    "~%",
)


def types_of(runs: Sequence[Run]) -> Sequence[str]:
    """Return the names of the page types, if they matter to any of the runs."""
    if not any(report.tells_types(run.result) for run in runs):
        return ()
    found = [run.result.page_types for run in runs]
    return PAGE_TYPES[max(len(one.free) for one in found if one is not None)]


def dominated(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the writes by the type of their slowest page."""
    names = types_of(runs)
    values = []
    for run in runs:
        types = run.result.page_types
        counts: Sequence[int] = types.dominated if types else ()
        if len(counts) == len(names) and any(counts):
            shares = (count / sum(counts) for count in counts)
            values += [(run.label, *pair) for pair in zip(names, shares, strict=True)]
    if values:
        yield stacked(runs, _BARS, list(zip(names, _TONES, strict=False)), values)
