"""Write the figures of docs/concepts/ldpc.md: error rates that codes correct, and frame failures.

``make ldpc`` runs this script for ten minutes on two cores. ``python docs/generators/ldpc_table.py
FRAMES`` measures at most FRAMES frames at each point, for a first look.
"""

from __future__ import annotations

import sys

import ssdlab
from ssdlab.ldpc import Ldpc
from ssdlab.progress import ProgressLine
from ssdlab.render.text.ldpc import difference_text, page_table, rber_text
from ssdlab_reproduction.tables.common import DOCS, grid

FRAMES = 100_000
FEW = 200
"""The frames at each point when a test compares what is printed."""
SHIFTS = [0.1, 0.2, 0.4]
PAGE = DOCS / "concepts" / "ldpc.md"
MARK = "<!-- measured: written by `make ldpc` -->\n"


def points(ldpc: Ldpc) -> list[str]:
    """Return the three published points beside the derived and the measured values."""
    carried = {curve.levels: curve.carried_on for curve in ldpc.measured}
    found = ldpc.bch
    rows = [
        [
            "BCH",
            rber_text(found.published),
            rber_text(found.rber),
            difference_text(found.difference),
            "–",
            "–",
        ]
    ]
    stopped = min(ldpc.hurried, key=lambda one: abs(one.hard_difference))
    of_stopped = {
        1: (stopped.hard, stopped.hard_difference),
        ldpc.levels[-1].levels: (stopped.soft, stopped.soft_difference),
    }
    for level in ldpc.levels:
        if level.published is None:
            continue
        value, difference = of_stopped[level.levels]
        rows.append(
            [
                f"LDPC, {level.levels} level{'s' * (level.levels > 1)}",
                rber_text(level.published),
                rber_text(level.min_sum.corrected),
                difference_text(level.difference),
                f"{rber_text(value)} ({difference_text(difference)})",
                rber_text(carried[level.levels]),
            ]
        )
    early = f"{stopped.iterations} iterations"
    return grid(["", "published", "derived", "differs", early, "carried on"], rows)


def falls(ldpc: Ldpc) -> list[str]:
    """Return the normal approximation at 1e-15 beside the extrapolated measurement."""
    rows = []
    for curve in ldpc.measured:
        if curve.carried_on is None:
            continue
        ours = ldpc.levels[curve.levels - 1].min_sum.corrected
        last = curve.points[-1]
        cells = [str(curve.levels), rber_text(ours), rber_text(curve.carried_on)]
        cells += [
            difference_text(curve.carried_on / ours - 1),
            f"{last.rate:.1e} at {rber_text(last.rber)}",
        ]
        rows.append(cells)
    return grid(["levels", "approximation", "carried on", "differs", "last point"], rows)


def shifted(ldpc: Ldpc) -> list[str]:
    """Return the error rates that min-sum corrects after the states have lost charge."""
    others = [ssdlab.ldpc(ldpc.cell, shift=shift) for shift in SHIFTS]
    rows = []
    for at, level in enumerate(ldpc.levels):
        cells = [rber_text(other.levels[at].min_sum.corrected) for other in [ldpc, *others]]
        rows.append([str(level.levels), *cells])
    return grid(["levels", "0", *(f"{shift:g}" for shift in SHIFTS)], rows)


def main() -> None:
    """Measure and write the page."""
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES
    with ProgressLine(unit="frames") as line:
        ldpc = ssdlab.ldpc(frames=frames, progress=line)
    text, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    parts = [
        f"`ssdlab ldpc --frames {frames}`, seed {ldpc.seed}, ssdlab {ssdlab.__version__}.",
        "",
        "### The published points",
        "",
        *points(ldpc),
        "### What is printed",
        "",
        f"<!-- in the output of: ssdlab ldpc --frames {FEW} -->",
        "```",
        str(ldpc),
        "```",
        "",
        "### The approximation against the fall that was measured",
        "",
        *falls(ldpc),
        "### States that lost charge: min-sum by levels and shift",
        "",
        *shifted(ldpc),
        "### Three bits a cell",
        "",
        "<!-- in the output of: ssdlab ldpc --cell tlc -->",
        "```",
        str(page_table(ssdlab.ldpc("tlc"))),
        "```",
        "",
    ]
    PAGE.write_text(f"{text}{MARK}\n" + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
