"""Write the tables of docs/systems/buffers.md: hit ratios and evictions under each policy.

``make buffers`` draws the tables from ``buffers.json``, which this script keeps beside itself. With
``SSDLAB_TRACES=DIR`` it first runs the policies again: DIR has a folder for each trace, with a
``trace.csv`` (or ``.gz``, ``.zst``, ``.xz``) in ssdlab's own format. No trace comes with ssdlab.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab_reproduction.tables.common import DOCS, fill, grid

PAGE = DOCS / "systems" / "buffers.md"
RECORDED = Path(__file__).with_name("buffers.json")
DEVICE = "generic-mlc-512g"
POLICIES = ("lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru")
SIZES = ("1MiB", "16MiB")
TRACES = {
    "msr_hm_0_7k": ("hm_0", "MSR hm_0"),
    "spc_financial1_10k": ("Financial1", "SPC Financial1, its beginning"),
    "msr_cut10k_rw_20_80_105": ("MSR, unnamed", "an MSR volume that its source does not name"),
    "diskmon_mayun": ("computer", "a personal computer"),
}
"""Folders of traces, each with its name in the tables and what it is."""
Recorded = dict[str, Any]


def record(folder: Path) -> Recorded:
    """Run each trace of a folder under each policy and size; return the results."""
    return {
        "version": ssdlab.__version__,
        "device": DEVICE,
        "traces": [_of_trace(next(folder.glob(f"{name}/trace.csv*")), name) for name in TRACES],
    }


def _of_trace(file: Path, name: str) -> Recorded:
    plans = ssdlab.sweep(
        ssdlab.Plan(device=DEVICE, trace=file, wrap=True),
        vary={"buffer.size": list(SIZES), "eviction": list(POLICIES)},
    )
    results = list(ssdlab.compare(plans))
    first = results[0]
    cells = []
    for plan, result in zip(plans, results, strict=True):
        assert result.buffer is not None
        kept = {"hit_ratio": result.buffer.hit_ratio, "evicted_dirty": result.buffer.evicted_dirty}
        cells.append({**dict(plan.vary), **kept})
    return {
        "name": name,
        "sha256": first.provenance.trace_sha256,
        "requests": first.requests,
        "read_share": first.read.requests / first.requests,
        "cells": cells,
    }


def tables(recorded: Recorded) -> dict[str, list[str]]:
    """Return the lines of each table by its name on the page."""
    known = [(TRACES[trace["name"]], trace) for trace in recorded["traces"]]
    rows = [
        [about, f"{trace['requests']:,}", f"{100 * trace['read_share']:.0f} %"]
        for (_, about), trace in known
    ]
    return {
        "traces": grid(["trace", "requests", "reads"], rows),
        "hits": _of_policies(recorded, "hit ratio, %", "hit_ratio", lambda v: f"{100 * v:.1f}"),
        "evictions": _of_policies(
            recorded, "dirty pages that left", "evicted_dirty", lambda v: f"{v:,}"
        ),
    }


def _of_policies(recorded: Recorded, title: str, key: str, text: Callable[[Any], str]) -> list[str]:
    """Return a table of a value by trace and size of the buffer, with a column for each policy."""
    rows = []
    for trace in recorded["traces"]:
        for size in SIZES:
            cells = {
                cell["eviction"]: text(cell[key])
                for cell in trace["cells"]
                if cell["buffer.size"] == size
            }
            name = TRACES[trace["name"]][0] if size == SIZES[0] else ""
            rows.append([name, size.replace("MiB", " MiB"), *(cells[one] for one in POLICIES)])
    return grid([title, "buffer", *(f"`{one}`" for one in POLICIES)], rows)


def main() -> None:
    """Run the policies if there are traces; write the page."""
    if folder := os.environ.get("SSDLAB_TRACES"):
        text = json.dumps(record(Path(folder)), indent=2)
        RECORDED.write_text(f"{text}\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in tables(json.loads(RECORDED.read_text(encoding="utf-8"))).items():
        page = fill(page, name, lines)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
