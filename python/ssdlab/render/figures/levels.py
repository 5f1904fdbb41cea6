"""The levels at which reads decode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssdlab.render.figures.base import Figure, Run
from ssdlab.render.figures.stacked_bars import Bars, stacked_shares

# From few levels to many; reads at higher levels share the last tone.
_TONES = ("#440154", "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725")

_BARS = Bars(
    "read-levels",
    "Page reads",
    "The levels of reads",
    "Share of the pages read for the host that decoded at each sensing level or retry step.",
    "Share of the pages read",
    "~%",
)


def levels(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the pages read for the host by the level at which they decoded."""
    most = max((len(run.result.decoded_at) for run in runs), default=0)
    count = min(most, len(_TONES))
    names = [f"level {level}" for level in range(1, count + 1)]
    if most > count:
        names[-1] += " and more"

    def counts(run: Run) -> Sequence[int]:
        counts = run.result.decoded_at
        found = [*counts, *[0] * count][: max(count, len(counts))]
        return [*found[: count - 1], sum(found[count - 1 :])] if count else ()

    yield from stacked_shares(runs, _BARS, list(zip(names, _TONES, strict=False)), counts)
