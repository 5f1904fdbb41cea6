"""The page of one or several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ssdlab.render.figures import block_maps
from ssdlab.render.figures.base import Run, runs_of
from ssdlab.render.figures.blame import PARTS
from ssdlab.render.figures.report import run_figures
from ssdlab.render.html import tables
from ssdlab.render.html.page import render_page
from ssdlab.render.text.notes import heading
from ssdlab.result import Comparison

_TITLE = 60


def comparison_page(comparison: Comparison) -> str:
    """Return the page of these results, which must have been made with ``detail=True``.

    Raises :class:`InputError` if a result has no detail.
    """
    runs = runs_of(comparison)
    return render_page(
        "page.html",
        run_figures(runs),
        title=_title(comparison, runs),
        how="Config and provenance",
        notes=tables.notes(comparison, runs),
        summary=tables.summary(comparison),
        heading=heading(comparison[0]) if len(comparison) == 1 else "",
        seeds=_seeds(comparison),
        percentiles=tables.percentiles(runs),
        blame=tables.blame(runs),
        parts=PARTS,
        slowest=[tables.slowest(run, len(runs) > 1) for run in runs if run.detail.slowest],
        alike=list(block_maps.uniform_blocks(runs)),
        run_lines=list(tables.run_lines(comparison)),
        origins=list(tables.origins(comparison)),
    )


def _title(comparison: Comparison, runs: Sequence[Run]) -> str:
    first = comparison[0]
    if len(runs) == 1:
        return f"{first.device}, {runs[0].label}: {first.workload}"
    several = " / ".join(run.label for run in runs)
    if len(several) > _TITLE:
        several = f"{len(runs)} runs side by side"
    workloads = {PurePath(run.result.workload).name for run in runs}
    return f"{several}: {workloads.pop()}" if len(workloads) == 1 else several


def _seeds(comparison: Comparison) -> int:
    return max((len(group.seeds) for group in comparison.aggregates), default=1)
