"""Streams, as a user meets them: pages that live as long as one another share blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ssdlab
from ssdlab.render.text.run import run_text
from ssdlab.result import Result

SMALL = {
    "geometry.channels": 1,
    "geometry.chips": 2,
    "geometry.dies": 1,
    "geometry.planes": 1,
    "geometry.blocks": 128,
    "geometry.pages": 96,
    "geometry.page_size": "4KiB",
    "ftl.overprovisioning": "25%",
    "workload.sizes": ["4KiB"],
    "workload.read_share": 0,
    "workload.footprint": "72MiB",
    "workload.interarrival": "5ms",
    "workload.requests": 60_000,
}


def run(placement: object, workload: str = "zipf") -> Result:
    """A small drive that has been overwritten, and is written on."""
    settings = {**SMALL, "placement": placement}
    return ssdlab.run(
        device="generic-tlc-2t", workload=workload, precondition="steady", set=settings
    )


@pytest.fixture(scope="module")
def plain() -> Result:
    """All pages in the open block of their plane."""
    return run(["next_page"])


@pytest.fixture(scope="module")
def separated() -> Result:
    """The same with SepBIT's six classes."""
    return run(["sepbit"])


def test_skewed_writes_are_moved_less(plain: Result, separated: Result) -> None:
    assert plain.waf is not None
    assert separated.waf is not None
    assert separated.waf < 0.95 * plain.waf


def test_results_tell_what_became_of_each_stream(plain: Result, separated: Result) -> None:
    assert plain.streams == ()
    streams = separated.streams
    assert len(streams) == 6
    assert sum(one.host_pages for one in streams) == separated.ops["program"]["host"]
    assert sum(one.moved_pages for one in streams) == separated.ops["program"]["gc"]
    assert sum(one.blocks_collected for one in streams) == separated.gc.count
    shares = [one.valid_share for one in streams if one.valid_share is not None]
    assert len(shares) > 2
    assert all(0 <= one < 1 for one in shares)
    # What was overwritten soon before is overwritten soon again.
    assert streams[0].valid_share is not None
    assert streams[1].valid_share is not None
    assert streams[0].valid_share < streams[1].valid_share
    of_a_page = [one.waf for one in streams if one.waf is not None]
    assert all(one >= 1 for one in of_a_page)


def test_the_report_says_it_a_line_each(plain: Result, separated: Result) -> None:
    assert "streams" not in run_text(plain)
    lines = run_text(separated).splitlines()
    (first,) = (line for line in lines if line.startswith("streams"))
    assert f"0: {separated.streams[0].host_pages:,} pages written" in first
    one, none = (replace(separated.streams[0], blocks_collected=n) for n in (1, 0))
    lines = run_text(
        replace(separated, streams=(one, replace(none, valid_share=None)))
    ).splitlines()
    collected = [line.strip() for line in lines if line.endswith(("valid", "collected"))]
    assert collected[0].startswith("1 block collected, ")
    assert collected[1] == "0 blocks collected"


def test_without_any_separation_nothing_changes(plain: Result) -> None:
    nothing = run([{"sepbit": {"host": False, "gc": False}}])
    assert (nothing.waf, nothing.duration_s, nothing.ops) == (
        plain.waf,
        plain.duration_s,
        plain.ops,
    )


def test_a_drive_of_page_types_is_refused() -> None:
    with pytest.raises(ssdlab.InputError, match="relaxed order"):
        ssdlab.run(device="pa-ssd-tlc-288g", scheme="pa-ssd/us", set={"placement": ["sepbit"]})
