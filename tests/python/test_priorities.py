"""What is told and drawn of applications of different priorities."""

import json
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import example_results
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

import ssdlab
from ssdlab.labels import PRIORITIES
from ssdlab.render import queues
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.report import comparison_figures
from ssdlab.render.formatting import digits, span
from ssdlab.render.text.comparison import Summary, summaries
from ssdlab.result import Comparison, Result, Wear, WearResult, flat_figures
from ssdlab.result.parts import INVERSION_REPAIR

APPS = ["high", "mid", "low"]


def drawn_of(*results: Result) -> dict[str, Figure]:
    return {figure.name: figure for figure in comparison_figures(Comparison(results))}


def rows(figure: Figure) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return list(values)


def expanded(counts: Sequence[int]) -> list[int]:
    return [at for at, count in enumerate(counts) for _ in range(count)]


def test_a_run_has_a_row_a_queue() -> None:
    _, run = example_results.prioritized()
    block = str(run).split("\n\n")[2].splitlines()
    heads = ["queue", "read mean", "read p99", "waiting", "retries", "write mean", "write p99"]
    assert block[0].split() == " ".join(heads).split()
    for at, (line, queue) in enumerate(zip(block[1:], run.queues, strict=True)):
        read, write = queue.read.latency_us, queue.write.latency_us
        cells = [
            *(f"{at} ({APPS[at]})", span(read.mean), span(read.p99), span(queue.read_waiting_us)),
            digits(fmean(expanded(queue.read_retries))),
            *(span(write.mean), span(write.p99)),
        ]
        assert line.split() == " ".join(cells).split()
    waits = [queue.read_waiting_us for queue in run.queues]
    assert len(set(waits)) == 3, "else rows may have been mixed up"
    assert max(map(len, str(run).splitlines()[1:])) <= 80


def test_a_column_of_queues_without_anything_in_it_is_left_out() -> None:
    run = example_results.queued()
    block = str(run).split("\n\n")[2].splitlines()
    assert [line.split()[0] for line in block] == ["queue", "0", "1"]
    assert "retries" not in block[0]
    assert "queue" not in str(example_results.one())


def test_queues_are_named_after_their_applications() -> None:
    _, run = example_results.prioritized()
    assert queues.queue_labels(run) == ["0 (high)", "1 (mid)", "2 (low)"]
    assert run.provenance.mix is not None
    both = [replace(one, queue=2) for one in run.provenance.mix[1:]]
    made = replace(run.provenance, mix=both)
    assert queues.queue_labels(replace(run, provenance=made)) == ["0", "1", "2 (mid + low)"]
    plain = replace(run, provenance=replace(run.provenance, mix=None))
    assert queues.queue_labels(plain) == ["0", "1", "2"]
    twin = replace(plain, workload="twin of MixD (ReadGuard)")
    assert queues.queue_labels(twin) == ["0 (ali284)", "1 (ali81)", "2 (ali295)"]


@given(some.lists(some.integers(0, 9), min_size=1, max_size=30), some.floats(0.01, 1))
def test_a_quantile_is_that_of_the_pages_one_by_one(counts: list[int], share: float) -> None:
    pages = expanded(counts)
    found = queues.retry_quantile(counts, share)
    if pages:
        assert sum(page <= found for page in pages) >= share * len(pages)
        assert sum(page < found for page in pages) < share * len(pages)
        assert queues.mean_retries(counts) == pytest.approx(fmean(pages))
    else:
        assert (found, queues.mean_retries(counts)) == (0, None)


def test_a_comparison_has_columns_a_queue() -> None:
    one, other = example_results.prioritized()
    (summary,) = summaries(example_results.prioritized())
    columns = {column.head.strip(): column.cells for column in summary.columns}
    for at in range(3):
        for name in ("mean", "p99"):
            first, second = (getattr(run.queues[at].read.latency_us, name) for run in (one, other))
            cells = [cell.split("×") for cell in columns[f"{PRIORITIES[at]} read {name}"]]
            assert [cell[0].strip() for cell in cells] == [span(first), span(second)]
            if len(cells[1]) > 1:
                assert float(cells[1][1]) == pytest.approx(second / first, abs=0.01)
    assert not any(
        head.startswith(("q", *PRIORITIES)) for head in (c.head for c in of_one().columns)
    )
    # One of the runs has fewer queues.
    (short,) = summaries(Comparison([one, replace(other, queues=other.queues[:2], priority=None)]))
    columns = {column.head.strip(): column.cells for column in short.columns}
    assert columns["q2 read mean"][1].strip() == "–"


def test_three_queues_have_names() -> None:
    run = example_results.prioritized()[0]
    assert run.priority is not None
    assert [getattr(run.priority, name) for name in PRIORITIES] == list(run.queues)
    assert example_results.queued().priority is None
    found = flat_figures(run.raw)
    for at, name in enumerate(PRIORITIES):
        p99 = "read.latency_us.p99"
        assert found[f"priority.{name}.{p99}"] == found[f"queues.{at}.{p99}"]


def of_one() -> Summary:
    (summary,) = summaries(Comparison([example_results.one()]))
    return summary


def test_figures_of_queues_are_in_tables_and_summed_up_over_seeds() -> None:
    table = pl.DataFrame(example_results.prioritized().to_arrow())
    for at in range(3):
        for name in ("read.latency_us.p99", "read_waiting_us"):
            found = table[f"queues.{at}.{name}"].to_list()
            expected = [run.queues[at] for run in example_results.prioritized()]
            values = [
                queue.read_waiting_us if "waiting" in name else queue.read.latency_us.p99
                for queue in expected
            ]
            assert found == values
    worn = example_results.prioritized()[1].wear.priorities
    assert worn is not None
    assert table["wear.priorities.2.mean"].to_list() == [None, worn[2].mean]
    settings = {**example_results.SMALL, "host.queues": 2, "workload.footprint": "64MiB"}
    plan = ssdlab.Plan(workload="random", limit=300, set=settings)
    seeds = ssdlab.compare(ssdlab.sweep(plan, seeds=2))
    summed = seeds.aggregates[0].metrics["queues.0.read.latency_us.mean"]
    means = [run.queues[0].read.latency_us.mean for run in seeds]
    assert means[0] != means[1]
    assert summed.mean == pytest.approx(fmean(means))
    assert "q0 read mean" in str(seeds)


REPAIRS = {
    "rounds": 3,
    "inversions": 12,
    "reassigned": 5,
    "refreshed": 7,
    "moved": 25,
    "moved_by_all": 1000,
    "extra_share": 0.031,
    "checks": 2,
    "margins": [0.1, 0.2],
    "left_out": 0,
}


def lines_of(run: Result, name: str) -> list[str]:
    """The lines of a figure of a run, without its name."""
    lines = str(run).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith(name))
    end = next(at for at in range(at + 1, len(lines)) if not lines[at].startswith(" " * 11))
    return [line[11:] for line in lines[at:end]]


def test_the_shipped_scheme_collects_for_its_subpools() -> None:
    run = ssdlab.run(
        device="readguard-tlc-500g-old",
        scheme="rgftl",
        workload="mix-c",
        time_scale=0.1,
        limit=300_000,
    )
    assert run.gc.for_subpools > run.gc.count / 3 > 30
    assert f"({run.gc.for_subpools:,} for subpools)" in str(run)
    assert not any("cells age" in remark for remark in run.remarks)


def test_cells_that_age_by_another_clock_than_the_requests_are_noted() -> None:
    run = ssdlab.run(device="readguard-tlc-500g", workload="mix-c", limit=10, scheme="baseline")
    assert any("cells age 10 times as fast" in remark for remark in run.remarks)


@pytest.mark.parametrize("scheme", ["rgftl", "rgftl-"])
def test_reads_that_release_the_die_need_no_other_setting(scheme: str) -> None:
    few = {
        "geometry.blocks": 64,
        "ftl.overprovisioning": 0.3,
        "start.steady_state": False,
        "flash.hold_until_decoded": False,
    }
    run = ssdlab.run(device="readguard-tlc-500g", scheme=scheme, set=few, limit=200)
    assert run.suspended is not None
    assert run.suspended.reads == 0


def test_repairs_are_printed() -> None:
    run = example_results.one()
    assert "repairs" not in str(run)

    def repaired(**counters: Any) -> list[str]:
        of = {INVERSION_REPAIR: {**REPAIRS, **counters}}
        return lines_of(replace(run, counters=of), "repairs")

    assert repaired() == [
        "3 rounds, 12 inversions: 5 blocks reassigned, 7 refreshed",
        "25 pages moved; 3.1 % of all that the controller has moved since the start",
        "margins 10 %, 20 % of the most retries",
    ]
    assert repaired(rounds=0) == ["no round has come yet"]
    left = "no round has come yet, 2 left out for wear leveling"
    assert repaired(rounds=0, left_out=2) == [left]
    assert repaired(moved=0, moved_by_all=0, left_out=1)[1:] == [
        "1 left out for wear leveling",
        "margins 10 %, 20 % of the most retries",
    ]
    # What a run makes of it: none comes in so short a time.
    assert lines_of(example_results.prioritized()[1], "repairs") == ["no round has come yet"]


def test_what_any_policy_counts_is_printed() -> None:
    counters = {"blocks_asked": 1200, "share": 0.25, "limits": [0.5, 0.75]}
    run = replace(example_results.one(), counters={"background/mine": counters})
    printed = ["background/mine: blocks asked 1,200, share 0.2500, limits 0.5000 0.7500"]
    assert lines_of(run, "counters") == printed


def test_wear_is_printed_by_priority() -> None:
    _, run = example_results.prioritized()
    low = Wear(1200, 1000, 1200, 1200, 1200, 1300)
    parts = (Wear(9.25, 8, 8, 9, 10, 11), Wear(0, 0, 0, 0, 0, 0), low)
    worn = replace(run, wear=WearResult(10.5, 8, 9, 10, 11, 1300, parts))
    assert lines_of(worn, "wear") == [
        "10.5 (8 to 1,300) P/E cycles",
        "priority 0 (high): 9.2 (8 to 11)",
        "priority 1 (mid): –",
        "priority 2 (low): 1,200.0 (1,000 to 1,300)",
    ]
    assert lines_of(replace(run, wear=WearResult(10.5, 8, 9, 10, 11, 13)), "wear") == [
        "10.5 (8 to 13) P/E cycles"
    ]
    assert "P/E" not in str(example_results.one()), "nothing is worn"


def test_sensings_in_vain_are_printed() -> None:
    base, run = example_results.prioritized()
    assert run.sensed_in_vain
    (line,) = lines_of(run, "unneeded")
    assert line == f"{run.sensed_in_vain:,} attempts sensed ahead of a successful decode"
    assert "unneeded" not in str(base)


def test_retries_are_drawn_as_boxes_a_run_and_queue() -> None:
    runs = example_results.prioritized()
    found = rows(drawn_of(*runs)["queue-retries"])
    pairs = [(run, at) for run in runs for at in range(3)]
    for row, (run, at) in zip(found, pairs, strict=True):
        pages = sorted(expanded(run.queues[at].read_retries))
        assert (row["label"], row["queue"]) == (run.scheme, f"queue {at} ({APPS[at]})")
        assert row["pages"] == len(pages)
        for name, share in (("p1", 1), ("q1", 25), ("median", 50), ("q3", 75), ("p99", 99)):
            # The first page that so many in a hundred are not above.
            assert row[name] == pages[-(-len(pages) * share // 100) - 1], name
    spread = [replace(queue, read_retries=[1] * 100) for queue in runs[0].queues]
    (row, *_) = rows(drawn_of(replace(runs[0], queues=spread))["queue-retries"])
    assert [row[name] for name in ("p1", "q1", "median", "q3", "p99")] == [0, 24, 49, 74, 98]
    spec = drawn_of(*runs)["queue-retries"].chart.to_dict()
    drawn_from = [
        (layer["encoding"]["y"]["field"], layer["encoding"].get("y2", {}).get("field"))
        for layer in spec["layer"]
    ]
    box = ("q1", "q3")
    assert drawn_from == [("p1", "q1"), ("q3", "p99"), box, box, ("median", None)]
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [f"queue {at} ({app})" for at, app in enumerate(APPS)]
    assert len(set(scale["range"])) == 3
    assert spec["layer"][0]["encoding"]["y"]["axis"]["title"] == "Retries per page read"


def test_retries_are_drawn_only_of_several_queues_some_of_which_need_them() -> None:
    _, run = example_results.prioritized()
    flat = [replace(queue, read_retries=[40, 0, 0]) for queue in run.queues]
    alone = [run.queues[0], *(replace(q, read=replace(q.read, requests=0)) for q in run.queues[1:])]
    for other in (
        *(example_results.one(), example_results.busy(), example_results.queued()),
        *(replace(run, queues=some_queues) for some_queues in (flat, alone)),
    ):
        assert "queue-retries" not in drawn_of(other)
    # A run without them beside one that has them has no boxes.
    both = drawn_of(run, replace(example_results.one(), workload=run.workload))
    assert {row["label"] for row in rows(both["queue-retries"])} == {"rgftl+"}


def test_what_reads_wait_and_the_rest_sum_to_their_mean() -> None:
    runs = example_results.prioritized()
    figure = drawn_of(*runs)["queue-waiting"]
    x = figure.chart.to_dict()["encoding"]["x"]
    assert x["stack"] == "zero"
    unit = {"(µs)": 1, "(ms)": 1e3}[x["axis"]["title"].split()[-1]]
    found = {(row["bar"], row["part"]): row["value"] * unit for row in rows(figure)}
    assert len(found) == 2 * 2 * 3
    for run in runs:
        for at, queue in enumerate(run.queues):
            label = f"{run.scheme}, queue {at} ({APPS[at]})"
            waited, rest = (found[label, part] for part in (BEFORE, REST))
            assert waited == pytest.approx(queue.read_waiting_us, 1e-4)
            assert waited + rest == pytest.approx(queue.read.latency_us.mean, 1e-4)
    assert figure.lanes == 6
    assert {"queue-waiting", "blame-read"} <= set(drawn_of(example_results.queued()))
    assert not {"queue-waiting"} & {
        *drawn_of(example_results.one()),
        *drawn_of(example_results.busy()),
    }


BEFORE, REST = "before the read command", "from the read command on"


def test_wear_is_drawn_over_replays() -> None:
    base, run = example_results.prioritized()
    figure = drawn_of(base, run)["wear-replays"]
    unit = figure.chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]["title"]
    assert unit == "Written by the host (MB)"
    found = {
        (label, of): [row for row in rows(figure) if (row["label"], row["of"]) == (label, of)]
        for label in ("baseline", "rgftl+")
        for of in ("all blocks", "within a priority")
    }
    # Not of a run whose priorities have no blocks of their own.
    assert not found["baseline", "within a priority"]
    for of in ("all blocks", "within a priority"):
        written, points = 0, found["rgftl+", of]
        for one, point in zip(run.replays, points, strict=True):
            written += one.write.bytes
            parts = [one.wear] if of == "all blocks" else one.wear.priorities
            assert point["spread"] == max(part.max - part.min for part in parts or ())
            assert point["written"] == pytest.approx(written / 1e6, 1e-4)
    assert [row["spread"] for row in found["baseline", "all blocks"]] == [
        one.wear.max - one.wear.min for one in base.replays
    ]
    assert "wear-replays" not in drawn_of(base)
    assert "wear-replays" not in drawn_of(replace(run, replays=()))
    layers = figure.chart.to_dict()["layer"]
    assert ["all blocks" in layers[0]["transform"][0]["filter"]] == [True]
    assert ["within" in layers[1]["transform"][0]["filter"]] == [True]
