"""The figures of a report: one function each, from typed results to an Altair chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ssdlab import report
from ssdlab.codes import Ldpc
from ssdlab.figures import (
    ages,
    blame,
    codes,
    course,
    drive,
    fit,
    latency,
    levels,
    page_types,
    physics,
    queues,
    trace,
    wear,
)
from ssdlab.figures.base import Figure, Run, runs_of
from ssdlab.fitting import Fit
from ssdlab.results import Comparison
from ssdlab.traces.text import Info
from ssdlab.truth import Physics

__all__ = [
    "Figure",
    "Run",
    "all_of",
    "figures",
    "of_fit",
    "of_ldpc",
    "of_physics",
    "of_traces",
    "runs_of",
]


def figures(comparison: Comparison) -> list[Figure]:
    """Return every figure that there is something to see in, in the order of a report.

    The runs must have been made with ``detail=True``.
    """
    return all_of(runs_of(comparison))


def all_of(runs: Sequence[Run]) -> list[Figure]:
    """Return every figure of these runs, each of which says of what runs it is."""
    subject = "; ".join(dict.fromkeys(report.heading(run.result) for run in runs))
    drawn = [
        *latency.distributions(runs),
        *blame.blame(runs),
        *queues.waiting(runs),
        *blame.slowest(runs),
        *course.course(runs),
        *page_types.slowest_page_type(runs),
        *levels.levels(runs),
        *queues.retries(runs),
        *ages.read(runs),
        *drive.programs(runs),
        *drive.utilization(runs),
        *wear.replays(runs),
        *drive.blocks(runs),
    ]
    return [replace(figure, subject=subject) for figure in drawn]


def of_traces(infos: Sequence[Info]) -> list[Figure]:
    """Return every figure of what traces are like, as :func:`ssdlab.traces.info` returned it."""
    return trace.figures(trace.traces_of(infos))


def of_physics(told: Physics) -> list[Figure]:
    """Return every figure of what blocks are, as :func:`ssdlab.physics` returned it."""
    return physics.figures(told)


def of_ldpc(told: Ldpc) -> list[Figure]:
    """Return every figure of what codes decode, as :func:`ssdlab.ldpc` returned it."""
    return codes.figures(told)


def of_fit(told: Fit) -> list[Figure]:
    """Return every figure of a fitted predictor, as :func:`ssdlab.fit` returned it."""
    return fit.figures(told)
