"""What a user sees of results: one run at length, or several side by side."""

from ssdlab.report.one import REPLAY_HEADS, figures, of_run, replay_cells
from ssdlab.report.several import Summary, doubts, missing, named, of_comparison, summaries
from ssdlab.report.words import heading, notes, steadiness, taken_for, tells_types, warnings

__all__ = [
    "REPLAY_HEADS",
    "Summary",
    "doubts",
    "figures",
    "heading",
    "missing",
    "named",
    "notes",
    "of_comparison",
    "of_run",
    "replay_cells",
    "steadiness",
    "summaries",
    "taken_for",
    "tells_types",
    "warnings",
]
