"""All five on one drive: the parts, and how docs/systems/all-five.md takes each out."""

import re
from functools import cache

import pytest
from command import ROOT

import ssdlab
from ssdlab.traces import App
from ssdlab_reproduction.tables.all_five_drives import GONE, OVER, TYPES, VOLTAGES, Kind, settings

PAGE = ROOT / "docs" / "systems" / "all-five.md"
MIX = [
    App("dlv/fin2", "high", queue=0, scale=0.01),
    App("hire/prn0", "mid", queue=1, scale=0.001),
    App("pv-read/stg0", "low", queue=2, scale=0.0005),
]
SMALL = [
    *("geometry.channels=2", "geometry.chips=2", "geometry.blocks=96", "buffer.size=1MB"),
    *("ftl.overprovisioning=0.3", "start.fill=0.9", "background.gc.threshold=0.04"),
]


def parts() -> dict[str, list[str]]:
    """Return what takes each part out, as the page says."""
    _, _, scheme = PAGE.read_text().partition("## The scheme\n")
    table, _, _ = scheme.partition("Each setting of the last column")
    rows = re.findall(r"^\| ([^|]*) \| [^|]* \| [^|]* \| (.*) \|$", table, re.MULTILINE)
    return {what: re.findall(r"`([^`]*)`", cell) for what, cell in rows[1:]}


@cache
def run(*settings: str, scheme: str = "all-five", paranoid: bool = False) -> ssdlab.Result:
    return ssdlab.run(
        device="five-tlc-512g",
        scheme=scheme,
        mix=MIX,
        limit=8_000,
        wrap=True,
        paranoid=paranoid,
        set=[*SMALL, *settings],
    )


def test_the_page_names_the_parts_that_its_tables_take_out() -> None:
    settings = [
        {line for line in lines if not line.startswith("placement=")}
        - {"background.read_hot_migration=false"}
        for lines in parts().values()
    ]
    assert settings == [
        set(lines) - {"background.read_hot_migration=false"} for lines in GONE.values()
    ]


@pytest.mark.parametrize("part", parts())
def test_every_part_does_something(part: str) -> None:
    assert run(*parts()[part]).queues != run().queues


def test_without_any_part_it_is_a_conventional_drive() -> None:
    gone: dict[str, str] = {}
    for lines in parts().values():
        gone |= {line.partition("=")[0]: line for line in lines}
    plain = run(*{**gone, "place": "placement=[next_page]"}.values())
    conventional = run(scheme="conventional")
    assert plain.provenance.config_hash == conventional.provenance.config_hash
    assert plain.queues == conventional.queues


def test_all_parts_together_keep_the_books_in_order() -> None:
    result = run(paranoid=True)
    assert result.results_digest == run().results_digest
    assert result.migration is not None
    assert result.migration.hot > 0
    # Its applications come at paces of their own.
    (remark,) = result.remarks
    assert remark == (
        "cells age 0.1 times as fast as requests were recorded: "
        "flash.time_scale and the time scale of the requests do not cancel out"
    )
    assert result.page_types is not None
    assert result.gc.moved_pages > 0
    assert result.program_modes is not None
    programs = {one.name: one.programs for one in result.program_modes.each}
    assert programs["normal"] > 0
    assert programs["reduced"] > 0
    reads = [queue.read.latency_us.mean for queue in result.queues]
    assert len(reads) == 3


def test_the_best_subset_is_a_scheme() -> None:
    best = settings(Kind(frozenset({OVER, TYPES, VOLTAGES})))
    composed, shipped = run(*best), run(scheme="all-five/best")
    assert shipped.provenance.config_hash == composed.provenance.config_hash
    page = PAGE.read_text()
    assert re.search(rf"^\| 1 \| {OVER}, {TYPES}, {VOLTAGES} \|", page, re.MULTILINE)
