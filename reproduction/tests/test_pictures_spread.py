"""What pictures draw of what is spread: boxes, moves either way, stages."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from claim_cases import FakeRuns, compared, made, read

from ssdlab_reproduction.pictures import dlv, hire, pv_read, readguard_chips
from ssdlab_reproduction.pictures import readguard as pictures
from ssdlab_reproduction.systems.hire import STARTS
from ssdlab_reproduction.systems.readguard import ADULT, OLD, STAGES, WORN, YOUNG


def test_moves_in_and_out_are_drawn_of_each_and_on_the_mean() -> None:
    # Of 1,000 requests; the second drive's are twice and thrice as many.
    counts = {("a", "x"): (20, 5), ("a", "y"): (40, 1), ("b", "x"): (40, 15), ("b", "y"): (80, 3)}
    runs = FakeRuns(
        {
            key: made(migration=SimpleNamespace(hot=hot, cold=cold, emptied=900))
            for key, (hot, cold) in counts.items()
        }
    )
    bars = {"x a": (2, 0.5), "x b": (4, 1.5), "y a": (4, 0.1), "y b": (8, 0.3)}
    bars |= {"mean a": (3, 0.3), "mean b": (6, 0.9)}
    for figure in (pv_read.fig_10a, pv_read.fig_10b):
        rows = figure(runs)
        assert [row[:2] for row in rows] == [(bar, way) for bar in bars for way in ("in", "out")]
        assert [row[2] for row in rows] == pytest.approx(
            [one for both in bars.values() for one in both]
        )


def test_a_mean_is_drawn_of_more_than_is_drawn_by_itself() -> None:
    def drawn(*names: str) -> list[str]:
        counts = {
            ("open", count, name): made(every=12 / int(count)) for count in "48" for name in names
        }
        return list(dict.fromkeys(series for _, series, _ in dlv.fig_17(FakeRuns(counts))))

    assert drawn("rsrch0") == ["rsrch0"]
    assert drawn("rsrch0", "other") == ["rsrch0", "mean of 2"]


def test_reads_by_stage_are_drawn_over_those_of_the_first() -> None:
    us = {
        ("pv-unaware", "0.004 0.005"): (100, 200),
        ("pv-read", "0.004 0.005"): (50, 180),
        ("pv-unaware", "0.012 0.001"): (300, 500),
        ("pv-read", "0.012 0.001"): (200, 500),
    }
    runs = {
        (*key, load): made(read=one)
        for key, both in us.items()
        for load, one in zip(("x", "y"), both, strict=True)
    }
    rows = pv_read.fig_11b(FakeRuns(runs))
    assert [row[:2] for row in rows] == [
        ("0.004 ± 0.005", "pv-unaware"),
        ("0.004 ± 0.005", "pv-read"),
        ("0.012 ± 0.001", "pv-unaware"),
        ("0.012 ± 0.001", "pv-read"),
    ]
    assert [row[2] for row in rows] == pytest.approx([1, 0.7, 2.75, 2.25])


def test_retries_of_blocks_are_drawn_up_to_a_year() -> None:
    def needed(days: float, reads: float, at: int) -> dict[str, Any]:
        chances = [{"cycles": 500.0, "shares": [0.0] * at + [1.0]}]
        return {"days": days, "reads": reads, "chances": chances}

    fit = [needed(0, 0, 1), needed(365, 0, 9), needed(365, 57_600, 11), needed(90, 0, 5)]
    rows = readguard_chips.fig_6(FakeRuns({("fit",): {"conditions": fit}}))
    assert rows == [("500", "fresh", 1)] * 5 + [("500", "12 months", 9)] * 5


def test_latencies_are_drawn_as_they_are_distributed() -> None:
    # Sixty of a hundred take 10 µs, thirty 20, and ten 90.
    points = [[10.0, 0.6], [20.0, 0.9], [90.0, 1.0]]
    distributions = [
        SimpleNamespace(kind=kind, queue=queue, points=[[factor * us, upto] for us, upto in points])
        for kind, factor in (("write", 100), ("read", 1))
        for queue in (2, 1, 0)
    ]
    runs = {
        ("baseline", stage, "ycsb"): made(detail=SimpleNamespace(distributions=distributions))
        for stage in STAGES
    }
    rows = pictures.fig_1(FakeRuns(runs))
    assert rows[:5] == [(YOUNG, "high", us) for us in (10, 10, 10, 20, 90)]
    assert len(rows) == 3 * 3 * 5


def test_retries_are_drawn_in_parts_of_the_most() -> None:
    runs = {
        ("baseline", YOUNG, "ycsb"): read(retries=((1, 1, 0), (1,), (0, 1))),
        ("baseline", OLD, "ycsb"): read(retries=((0, 0, 0, 0, 1), (1,), (0, 1))),
    }
    rows = pictures.fig_7(FakeRuns(runs))
    drawn = {(stage, app): [at for *of, at in rows if of == [stage, app]] for stage, app, _ in rows}
    assert drawn[OLD, "high"] == [1.0] * 5
    assert drawn[OLD, "low"] == [0.25] * 5
    assert drawn[YOUNG, "high"] == [0, 0, 0, 0.25, 0.25]


def test_retries_under_rgftl_are_drawn_of_it_alone() -> None:
    runs = {
        ("baseline", ADULT, "mix-a"): read(retries=((0,) * 8 + (1,), (1,), (1,))),
        ("rgftl", ADULT, "mix-a"): read(retries=((0, 1), (0, 0, 1), (1,))),
    }
    rows = pictures.fig_16(FakeRuns(runs))
    assert rows == [
        (ADULT, app, at) for app, at in (("high", 0.5), ("mid", 1), ("low", 0)) for _ in range(5)
    ]


def test_blocks_and_pages_apart_are_drawn_by_the_cycles_at_the_start() -> None:
    runs = {("rgftl", YOUNG, "mix-a"): compared(6, 1), ("rgftl", WORN, "mix-a"): compared(16, 3)}
    assert pictures.fig_18(FakeRuns(runs)) == [
        ("500", "blocks", 6),
        ("500", "pages of a block", 1),
        ("3,500", "blocks", 16),
        ("3,500", "pages of a block", 3),
    ]


@pytest.mark.parametrize(
    ("spreads", "drawn"),
    [
        # After the second replay blocks are further apart than leveling allows, ...
        ((60, 71, 80, 75, 70, 65, 60, 60), ["1.000", "2.000", "3.000", "4.000"]),
        # ... never, so that the furthest counts, and at the end alone.
        ((60, 61, 62, 65, 63), ["2.000", "2.500"]),
        ((60, 61, 71), ["1.500"]),
    ],
)
def test_wear_is_drawn_from_when_it_spread(spreads: Sequence[int], drawn: Sequence[str]) -> None:
    part = SimpleNamespace(min=1, quarter=2, median=3, three_quarters=4, max=5)
    replays = [
        SimpleNamespace(
            wear=SimpleNamespace(min=100, max=100 + spread, priorities=[part] * 3),
            write=SimpleNamespace(bytes=5e11),
        )
        for spread in spreads
    ]
    rows = pictures.fig_20(FakeRuns({("rgftl",): made(replays=replays)}))
    assert list(dict.fromkeys(at for at, _, _ in rows)) == [f"{at} TB" for at in drawn]
    assert [at for _, _, at in rows[:5]] == [1, 2, 3, 4, 5]
    assert len(rows) == len(drawn) * 3 * 5


def test_reads_from_both_starts_are_drawn_replay_by_replay() -> None:
    def replayed(*us: float) -> Any:
        return SimpleNamespace(replays=[made(read=one) for one in us])

    known, unknown = STARTS
    runs = {
        ("baseline", "stg1"): replayed(100, 80),
        (known, "stg1"): replayed(50, 20),
        (unknown, "stg1"): replayed(90, 60),
    }
    assert list(hire.convergence(FakeRuns(runs))) == [
        *((1, f"stg1, {known}", 0.5), (2, f"stg1, {known}", 0.25)),
        *((1, f"stg1, {unknown}", 0.9), (2, f"stg1, {unknown}", 0.75)),
    ]
