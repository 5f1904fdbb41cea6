"""The levels at which reads decode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssdlab.render.figures.base import Figure, Run
from ssdlab.render.figures.fills import LEVELS
from ssdlab.render.figures.stacked_bars import Bars, stacked_shares

_BARS = Bars(
    "read-levels",
    "Page reads",
    "Page reads by decoding level",
    "Share of host page reads that decode at each sensing level or retry step.",
    "Share of host page reads",
    "~%",
)


def levels(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the pages read for the host by the level at which they decoded."""
    most = max((len(run.result.decoded_at) for run in runs), default=0)
    # Reads at higher levels share the last fill.
    count = min(most, len(LEVELS))
    names = [f"level {level}" for level in range(1, count + 1)]
    if most > count:
        names[-1] += " and more"

    def counts(run: Run) -> Sequence[int]:
        counts = run.result.decoded_at
        found = [*counts, *[0] * count][: max(count, len(counts))]
        return [*found[: count - 1], sum(found[count - 1 :])] if count else ()

    yield from stacked_shares(runs, _BARS, list(zip(names, LEVELS, strict=False)), counts)
