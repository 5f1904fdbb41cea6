"""PV-read's placement, as a user meets it."""

from __future__ import annotations

import ssdlab
from ssdlab import report

SMALL = {
    "geometry.channels": 1,
    "geometry.chips": 1,
    "geometry.blocks": 128,
    "workload.kind": "zipf",
    "workload.footprint": "16MiB",
    "workload.read_share": "90%",
    "workload.sizes": "4KiB",
}


def run(scheme: str, **more: object) -> ssdlab.Result:
    """Run a small drive of the preset."""
    settings = {**SMALL, **{key.replace("__", "."): value for key, value in more.items()}}
    device = "pv-read-mlc-128g"
    return ssdlab.run(ssdlab.Plan(device=device, scheme=scheme, set=settings, limit=20_000))


def test_what_is_read_often_moves_and_is_read_faster() -> None:
    plain, placed = run("conventional"), run("groups-2")
    assert plain.moves is None
    assert placed.moves is not None
    assert placed.moves.hot_in > 500
    assert sum(plain.read_levels) == sum(placed.read_levels) > 17_000
    assert placed.read_levels[0] > 3 * plain.read_levels[0]
    assert placed.ops["program"]["migration"] >= placed.moves.hot_in
    assert f"{placed.moves.hot_in:,} hot pages" in report.of_run(placed)
    assert "hot pages" not in report.of_run(plain)


def test_the_metadata_of_the_paper_is_counted() -> None:
    found = run("groups-3").metadata_bytes
    blocks = 128 * 2 * 4
    # Two bits a block, two a cached entry; eleven for each block that is set apart.
    assert found["block_groups"] == blocks * 2 / 8
    assert found["read_counts"] == found["map_cache"] / 4 * 2 / 8
    assert 0 < found["clock"] <= blocks * 0.1 * 11 / 8
