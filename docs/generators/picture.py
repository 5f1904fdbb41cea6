"""Draw README's picture, docs/images/blame-read.svg, from the runs that README shows."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import ssdlab
from ssdlab_reproduction.tables.common import DOCS, ROOT

PICTURE = DOCS / "images" / "blame-read.svg"


def main() -> None:
    """Run the plans and draw the picture."""
    # The picture names the trace as a reader in a checkout does.
    os.chdir(ROOT)
    plan = ssdlab.Plan(trace="examples/office.csv.xz", detail=True)
    vary = {"scheduler": ["fifo", "read_first"], "suspend": ["none", "program_erase"]}
    with tempfile.TemporaryDirectory() as folder:
        ssdlab.save_figures(ssdlab.compare(ssdlab.sweep(plan, vary=vary)), folder)
        PICTURE.parent.mkdir(exist_ok=True)
        shutil.copy(Path(folder) / PICTURE.name, PICTURE)


if __name__ == "__main__":
    main()
