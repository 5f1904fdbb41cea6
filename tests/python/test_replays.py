"""A load that runs several times, each time on the drive as the last has left it."""

import dataclasses
import json
import re
import signal
from pathlib import Path

import pytest
from command import Ssdlab
from test_interrupt import interrupted

from ssdlab import Plan, Result, run

SMALL = {
    "geometry.channels": 2,
    "geometry.chips": 1,
    "geometry.planes": 2,
    "geometry.blocks": 24,
    "geometry.pages": 24,
    "workload.footprint": "12MiB",
    "workload.read_share": 0.3,
    "workload.sizes": ["8KiB", "32KiB"],
    "workload.interarrival": "6ms",
}
PLAN = Plan(
    device="pa-ssd-tlc-288g", scheme="qds+ubs", set=SMALL, limit=1500, detail=True, paranoid=True
)


@pytest.fixture(scope="module")
def thrice() -> Result:
    return run(dataclasses.replace(PLAN, replays=3))


def test_the_first_replay_is_a_run_and_the_last_is_the_result(thrice: Result) -> None:
    alone = run(PLAN)
    first, last = thrice.replays[0], thrice.replays[2]
    for name in (
        "read",
        "write",
        "all",
        "gc",
        "waf",
        "slowest_page_type",
        "allocation_success",
        "page_types",
    ):
        assert getattr(first, name) == getattr(alone, name), name
        assert getattr(last, name) == getattr(thrice, name), name
    assert alone.replays == ()
    assert first.gc != last.gc, "a drive that is nearly full is not the one that began"
    assert thrice.requests == alone.requests == 1500
    assert thrice.duration_s == pytest.approx(last.end_s - last.start_s)


def test_replays_follow_on_one_another(thrice: Result) -> None:
    starts = [one.start_s for one in thrice.replays]
    ends = [one.end_s for one in thrice.replays]
    assert starts == [0.0, *ends[:-1]]
    spans = [end - start for start, end in zip(starts, ends, strict=True)]
    # Arrivals are the same; what differs is the time that the last requests take.
    assert max(spans) - min(spans) < 0.1


def test_intervals_and_logs_are_of_all_of_them(thrice: Result, tmp_path: Path) -> None:
    assert thrice.detail is not None
    series, replays = thrice.detail.series, thrice.replays
    assert series[-1].end_s >= replays[-1].end_s
    assert sum(row.writes for row in series) == sum(one.write.requests for one in replays)
    assert sum(row.gc_blocks for row in series) == sum(one.gc.count for one in replays)
    assert sum(row.gc_pages for row in series) == sum(one.gc.moved_pages for one in replays)
    assert all(0 <= row.die_busy <= 1 for row in series)
    assert replays[-1].page_types is not None
    last = series[-1]
    assert [last.free_0, last.free_1, last.free_2] == list(replays[-1].page_types.free)
    assert last.free_3 is None
    slowest = max(slow.latency_us for slow in thrice.detail.slowest)
    assert slowest == max(thrice.read.latency_us.max, thrice.write.latency_us.max)

    parquet = pytest.importorskip("pyarrow.parquet")
    log, written = tmp_path / "log", tmp_path / "series"
    run(dataclasses.replace(PLAN, replays=3, log=log, series=written, interval="1s"))
    assert parquet.read_table(log).num_rows == 3 * 1500
    columns = parquet.read_table(written).to_pydict()
    assert sum(columns["gc_blocks"]) == sum(one.gc.count for one in replays)
    assert columns["free_0"][-1] == last.free_0
    assert set(columns["free_3"]) == {None}


@pytest.mark.parametrize(
    "load",
    [
        {"closed": 8},
        {"time_scale": 0.5},
        {"mix": ["a=dlv/hm0@scale=0.01", "b=dlv/ts0@scale=0.01"], "wrap": True},
        {"workload": "dlv/ts0", "wrap": True},
    ],
)
def test_any_load_can_be_replayed(load: dict[str, object]) -> None:
    settings = dict(SMALL)
    if "closed" in load:
        del settings["workload.interarrival"]
    if "wrap" in load:
        settings = {key: value for key, value in SMALL.items() if not key.startswith("workload.")}
        settings["host.queues"] = 2
    plan = dataclasses.replace(PLAN, set=settings, limit=400, **load)  # type: ignore[arg-type]
    once, twice = run(plan), run(dataclasses.replace(plan, replays=2))
    assert twice.replays[0].all == once.all
    assert twice.replays[1].all.requests == once.all.requests
    assert (twice.folded, twice.clamped) == (once.folded, once.clamped)


def test_replays_are_shown_in_text_and_report(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "time_us,dev,op,offset_bytes,size_bytes\n0,0,W,0,8192\n10,0,R,0,8192\n"
    )
    done = ssdlab("run", "--trace", "t.csv", "--replays", 2, "--report", "r.html")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.split("replay")[1].split("\n\n")[0].splitlines()]
    assert [row[0] for row in rows[1:]] == ["1", "2"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<caption><span>Replays</span></caption>" in page
    varied = ("--vary", "scheduler=fifo,read_first")
    done = ssdlab("compare", "--trace", "t.csv", "--replays", 2, *varied)
    assert "the last of 2 replays" in done.out


def test_a_run_that_is_stopped_says_in_which_replay(tmp_path: Path) -> None:
    settings = ("--limit", "20000", "--replays", "100000", "--json", "out.json")
    code, out, _ = interrupted(tmp_path, "run", *settings, by=signal.SIGINT)
    assert code == 130
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    found = re.search(r"PARTIAL: stopped after [\d,]+ requests of replay (\d+)", out)
    assert found is not None
    assert len(result["replays"]) == int(found[1]) > 1
    assert result["partial"] is True
    assert result["requests"] == result["replays"][-1]["all"]["requests"] <= 20000
