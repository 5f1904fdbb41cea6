"""The tables of docs/systems/sepbit.md: their drives, real traces as writes, and rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import example_results
import pyarrow.parquet as pq
import pytest

import ssdlab
from ssdlab_reproduction.tables import streams
from ssdlab_reproduction.tables.common import Kept
from ssdlab_reproduction.tables.streams import BOTH, KINDS, Shape, Study

HEAD = "time_us,dev,op,offset_bytes,size_bytes"


def trace_in(folder: Path, *rows: str) -> Path:
    """Return a trace as they lie in a folder of real ones."""
    folder.mkdir(parents=True)
    lines = [f"{at}.0,{row}" for at, row in enumerate(rows)]
    (folder / "trace.csv").write_text("\n".join([HEAD, *lines]) + "\n")
    return folder / "trace.csv"


def test_a_trace_becomes_writes_of_whole_pages_one_behind_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LEAST_PAGES", 4)
    rows = [
        "a,W,40960000,4096",
        # Half a page, and the one before it; a read, which is left out.
        "a,W,40958976,2048",
        "a,R,81920000,65536",
        # The same address on another device is another page; two pages, of which one is new.
        "b,W,40960000,4096",
        "a,W,40960512,4096",
    ]
    trace = trace_in(tmp_path / "real" / "mine", *rows)
    found = streams.written(trace, tmp_path)
    assert found is not None
    assert (found.name, found.requests, found.pages, found.footprint) == ("mine", 4, 6, 4)
    table = pq.read_table(found.file).to_pydict()
    assert [one // 4096 for one in table["offset_bytes"]] == [1, 0, 3, 1]
    assert [one // 4096 for one in table["size_bytes"]] == [1, 2, 1, 2]
    # A page every ten milliseconds.
    assert table["time_us"] == [0, 10_000, 30_000, 40_000]
    # Six times four pages, and once more.
    assert found.replays == 5


def test_a_trace_is_cut_where_it_has_written_its_pages_often_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LEAST_PAGES", 3)
    rows = [f"a,W,{4096 * (at % 2)},4096" for at in range(20)]
    trace = trace_in(tmp_path / "real" / "long", *rows, "a,W,999424,4096")
    found = streams.written(trace, tmp_path)
    assert found is not None
    # The third page comes behind the cut.
    assert (found.requests, found.footprint) == (9, 2)


def test_traces_that_hardly_write_or_hardly_overwrite_are_left_out(tmp_path: Path) -> None:
    run = streams.is_run
    assert run(0.51, 5000, 4000)
    assert not run(0.5, 5000, 4000)
    assert not run(1.0, 4999, 4000)
    assert not run(1.0, 9000, 2999)
    trace_in(tmp_path / "real" / "few", "a,W,0,4096", "a,W,0,4096")
    out = tmp_path / "out"
    assert streams.find_traces(tmp_path / "real", out) == []
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("footprint", [3_000, 3_464, 5_815, 27_000, 208_000])
def test_a_trace_fills_its_drive(footprint: int) -> None:
    shape = streams.shape_for(footprint)
    assert 0 <= shape.logical - footprint < shape.pages
    assert 0.14 < shape.spare / shape.blocks < 0.16
    assert shape.pages == 8 or shape.blocks >= streams.LEAST_BLOCKS
    # Six open blocks are a small part of them.
    assert shape.spare > 60
    for pages in (shape.logical, shape.logical + 1):
        used = [f"workload.footprint={pages * streams.PAGE}B", "workload.requests=1"]
        plan = ssdlab.Plan(device=streams.DEVICE, set=[*shape.settings(), *used])
        if pages == shape.logical:
            ssdlab.run(plan)
        else:
            with pytest.raises(ssdlab.InputError, match="footprint"):
                ssdlab.run(plan)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_a_drive_that_keeps_up(kind: str) -> None:
    plan = streams.workload_plan(kind, "Zipf, 0.99", Shape(160, 8), 1)
    result = ssdlab.run(plan)
    assert streams.waf(result) > 1
    assert len(result.streams) == (6 if kind in (BOTH, streams.GC) else 3 * (kind == streams.HOST))


def test_a_drive_that_could_not_keep_up_ends_it() -> None:
    result = replace(example_results.one(), saturated=True)
    with pytest.raises(SystemExit, match="could not keep up"):
        streams.waf(result)


def test_without_traces_the_tables_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ssdlab_reproduction.tables.common.ROOT", tmp_path)
    (line, _) = streams.by_trace(Study(Kept()))
    assert "SSDLAB_TRACES" in line
    assert streams.MARK in streams.PAGE_FILE.read_text(encoding="utf-8")
