"""The figures of a report: one function for each, from typed results to an Altair chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ssdlab.render.figures import (
    blame,
    block_maps,
    data_age,
    drive,
    latency,
    levels,
    page_types,
    queues,
    time_series,
    wear,
)
from ssdlab.render.figures.base import Figure, Run, runs_of
from ssdlab.render.text.notes import heading
from ssdlab.result import Comparison


def comparison_figures(comparison: Comparison) -> list[Figure]:
    """Return the figures of a comparison, in the order of a report.

    The runs must have been made with ``detail=True``.
    """
    return run_figures(runs_of(comparison))


def run_figures(runs: Sequence[Run]) -> list[Figure]:
    """Return the figures of these runs; each figure names its runs."""
    subject = "; ".join(dict.fromkeys(heading(run.result) for run in runs))
    drawn = [
        *latency.distributions(runs),
        *blame.blame(runs),
        *queues.waiting(runs),
        *blame.slowest(runs),
        *time_series.time_series(runs),
        *page_types.slowest_page_type(runs),
        *levels.levels(runs),
        *queues.retries(runs),
        *data_age.read_ages(runs),
        *drive.programs(runs),
        *drive.utilization(runs),
        *wear.replays(runs),
        *block_maps.blocks(runs),
    ]
    return [replace(figure, subject=subject) for figure in drawn]
