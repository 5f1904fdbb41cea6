"""What each claim of DLV makes of results that are made up, worked out here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from claim_cases import Case, FakeRuns, found, hold, ids, made

from ssdlab.plan import Plan
from ssdlab_reproduction.pictures import dlv as pictures
from ssdlab_reproduction.registry import NeverRanError
from ssdlab_reproduction.systems import dlv_runs
from ssdlab_reproduction.systems.dlv_runs import CLOSED, COUNTS, OPEN, WAITS

Each = Mapping[str, float]


def offered(kind: str, **of_way: Mapping[str, Each]) -> dict[Any, Any]:
    """Return results by way, scheme and workload, in which such a latency is as given."""
    return {
        (way, scheme, name): made(**{kind: us})
        for way, schemes in of_way.items()
        for scheme, each in schemes.items()
        for name, us in each.items()
    }


def rates(
    iops: Mapping[str, Each], bandwidth: Mapping[str, Each], speed: Mapping[str, Each]
) -> dict[Any, Any]:
    """Return rates with requests outstanding, and responses at the workloads' own times."""
    closed = {
        (CLOSED, scheme, name): made(iops=rate, bandwidth_mb_s=bandwidth[scheme][name])
        for scheme, each in iops.items()
        for name, rate in each.items()
    }
    own = {
        (OPEN, scheme, name): made(every=1 / rate, iops=1, bandwidth_mb_s=1)
        for scheme, each in speed.items()
        for name, rate in each.items()
    }
    return closed | own


def distributed(kind: str, curve: Sequence[tuple[float, float]]) -> Any:
    """Return a result with a distribution of latencies, and others that are not asked for."""
    other = {"read": "write", "write": "read"}[kind]
    made_up = [(other, [(1.0, 0.5), (9.0, 1.0)]), (kind, curve), ("all", [(1.0, 1.0)])]
    distributions = [SimpleNamespace(kind=name, points=points) for name, points in made_up]
    return made(detail=SimpleNamespace(distributions=distributions))


BANDWIDTH = {
    "baseline": {"proj3": 100, "hm1": 200, "web0": 50, "usr0": 10, "src12": 4},
    # +200, +10, -10, +300 and +400 %.
    "dlv": {"proj3": 300, "hm1": 220, "web0": 45, "usr0": 40, "src12": 20},
}
IOPS = {
    "baseline": {"proj3": 1000, "hm1": 100, "web0": 10, "usr0": 20, "src12": 40},
    # +100, +50, +20, -50 and 0 %.
    "dlv": {"proj3": 2000, "hm1": 150, "web0": 12, "usr0": 10, "src12": 40},
}
SPEED = {
    "baseline": {"proj3": 10, "hm1": 10, "web0": 10, "usr0": 10, "src12": 10},
    # +100, +30, +40, +20 and +160 %.
    "dlv": {"proj3": 20, "hm1": 13, "web0": 14, "usr0": 12, "src12": 26},
}
GROWN = rates(IOPS, BANDWIDTH, SPEED)

RESPONSE = offered(
    "every",
    closed={
        "baseline": {"hm0": 100, "ts0": 200},
        "dlv": {"hm0": 40, "ts0": 100},  # -60 and -50 %: -55
        "woo": {"hm0": 80, "ts0": 160},  # -20 and -20 %: -20
        "roo": {"hm0": 50, "ts0": 200},  # -50 and 0 %: -25
    },
    open={
        "baseline": {"hm0": 10, "ts0": 10},
        "dlv": {"hm0": 5, "ts0": 8},  # -50 and -20 %: -35
        "woo": {"hm0": 10, "ts0": 16},  # 0 and +60 %: +30
        "roo": {"hm0": 8, "ts0": 10},  # -20 and 0 %: -10
    },
)

ENDED = {
    # Half way from one point to the next, but for roo and dlv at their own times.
    (CLOSED, "dlv", "hm0"): distributed("write", [(1000, 0.6), (3000, 1.0)]),  # 80
    (CLOSED, "woo", "hm0"): distributed("write", [(1000, 0.5), (3000, 0.9)]),  # 70
    (CLOSED, "roo", "hm0"): distributed("write", [(1000, 0.5), (3000, 0.7)]),  # 60
    (CLOSED, "baseline", "hm0"): distributed("write", [(1000, 0.4), (3000, 0.6)]),  # 50
    (OPEN, "dlv", "hm0"): distributed("write", [(500, 1.0)]),
    (OPEN, "woo", "hm0"): distributed("write", [(1000, 0.7), (3000, 0.9)]),  # 80
    (OPEN, "roo", "hm0"): distributed("write", [(2000, 0.95), (3000, 1.0)]),
    (OPEN, "baseline", "hm0"): distributed("write", [(1000, 0.85), (3000, 0.95)]),  # 90
}

WRITTEN = offered(
    "write",
    closed={
        "baseline": {"hm0": 100, "ts0": 200},
        "woo": {"hm0": 60, "ts0": 160},  # -40 and -20 %: -30
        "pv-reorder": {"hm0": 90, "ts0": 140},  # -10 and -30 %: -20
        "pv-allocation": {"hm0": 80, "ts0": 190},  # -20 and -5 %: -12.5
    },
    open={
        "baseline": {"hm0": 10, "ts0": 20},
        "woo": {"hm0": 9, "ts0": 20},  # -10 and 0 %: -5
        "pv-reorder": {"hm0": 12, "ts0": 20},  # +20 and 0 %: +10
        "pv-allocation": {"hm0": 4, "ts0": 18},  # -60 and -10 %: -35
    },
)

READ = offered(
    "read",
    closed={
        "baseline": {"hm0": 100, "ts0": 200},
        "roo": {"hm0": 40, "ts0": 120},  # -60 and -40 %: -50
        "lv-ldpc": {"hm0": 70, "ts0": 180},  # -30 and -10 %: -20
        "laldpc": {"hm0": 90, "ts0": 200},  # -10 and 0 %: -5
    },
    open={
        "baseline": {"hm0": 10, "ts0": 20},
        "roo": {"hm0": 5, "ts0": 16},  # -50 and -20 %: -35
        "lv-ldpc": {"hm0": 8, "ts0": 20},  # -20 and 0 %: -10
        "laldpc": {"hm0": 11, "ts0": 22},  # +10 and +10 %
    },
)


def by_value(way: str, kind: str, of: Mapping[str, Mapping[str, float]]) -> dict[Any, Any]:
    return {
        (way, value, name): made(**{kind: us})
        for name, each in of.items()
        for value, us in each.items()
    }


QUEUES = {
    # Means of both over a queue of 1: 1, 0.9, 0.7 and 0.55; 95 % of what 64 gains is 0.4275.
    **by_value(
        COUNTS,
        "every",
        {
            "rsrch0": {"1": 100, "4": 90, "16": 60, "64": 50},
            "hm0": {"1": 10, "4": 9, "16": 8, "64": 6},
        },
    ),
    # 1, 0.6, 0.5 and 0.49; 95 % of what 64 gains is 0.4845.
    **by_value(
        WAITS,
        "every",
        {
            "rsrch0": {"1": 100, "4": 60, "16": 50, "64": 48},
            "hm0": {"1": 10, "4": 6, "16": 5, "64": 5},
        },
    ),
}


def of_chips(way: str, iops: Each, of: Mapping[str, Sequence[float]]) -> dict[Any, Any]:
    return {
        (way, count, name): made(every=us, iops=iops[name] * 10 ** (count != "16"))
        for name, means in of.items()
        for count, us in zip(("4", "8", "16"), means, strict=True)
    }


CHIPS = {
    # Five of six steps lengthen nothing; of 80, 5 and 30 % gained, hm0's are fewer than proj3's.
    **of_chips(
        CLOSED,
        {"src12": 10, "hm0": 20, "proj3": 30},
        {"src12": (100, 40, 20), "hm0": (100, 90, 95), "proj3": (100, 80, 70)},
    ),
    # Four of six; 10, 0 and 11 %: src12 is before hm0 alone.
    **of_chips(
        OPEN,
        {"src12": 10, "hm0": 20, "proj3": 30},
        {"src12": (10, 8, 9), "hm0": (10, 10, 10), "proj3": (9, 9.5, 8)},
    ),
}

SAVED = {"lru": 10, "cflru": 20, "lru_wsr": 30, "ccf_lru": 40, "pt_lru": 50}
BUFFERED = {
    # hm0 saves so many percent with 64 outstanding and half as many at its times, ts0 nothing.
    (way, scheme, name, evict): made(
        every=us * (1 - saved * (name == "hm0") * (scheme == "dlv") / part)
    )
    for way, part in ((CLOSED, 100), (OPEN, 200))
    for scheme in ("baseline", "dlv")
    for name, us in (("hm0", 300.0), ("ts0", 50.0))
    for evict, saved in SAVED.items()
}

HALVES = {
    "baseline": {"fin1": 100, "mds0": 50, "hm1": 100, "fin2": 100, "mds1": 100},
    "woo": {"fin1": 130, "mds0": 60, "hm1": 120, "fin2": 105, "mds1": 140},
    # More than woo on mds0 of the first two, on hm1 and fin2 of the others.
    "roo": {"fin1": 120, "mds0": 70, "hm1": 125, "fin2": 150, "mds1": 110},
}

FASTER = {
    "baseline": {"fin1": 10, "mds0": 10, "hm1": 10, "fin2": 10, "mds1": 10},
    "woo": {"fin1": 15, "mds0": 14, "hm1": 12, "fin2": 13, "mds1": 11},
    # Less than woo on both of the first two, and on hm1 and fin2 of the others.
    "roo": {"fin1": 12, "mds0": 11, "hm1": 11, "fin2": 12, "mds1": 14},
}

WHERE = offered(
    "write",
    closed={
        "baseline": {"rsrch0": 100, "mds0": 100},
        "pv-reorder": {"rsrch0": 60, "mds0": 85},
        "pv-allocation": {"rsrch0": 75, "mds0": 80},
    },
    open={
        "baseline": {"rsrch0": 10, "mds0": 10},
        "pv-reorder": {"rsrch0": 8, "mds0": 9},
        "pv-allocation": {"rsrch0": 7, "mds0": 9.2},
    },
)

STRONG = {
    (way, scheme, name): made(strong_share=share)
    for way, each in {
        CLOSED: {"woo": {"hm0": 0.2, "ts0": 0.3}, "pv-reorder": {"hm0": 0.4, "ts0": 0.3}},
        OPEN: {"woo": {"hm0": 0.33, "ts0": 0.0}, "pv-reorder": {"hm0": 0.3, "ts0": 0.0}},
    }.items()
    for scheme, shares in each.items()
    for name, share in shares.items()
}

CHOSEN = {
    # 0.1 µs of 100 and 0.5 µs of 200.
    (OPEN, "dlv", "hm0"): made(
        every=100.0,
        requests=100,
        scheduling_steps=1000,
        metadata_bytes={"block_classes": 16 * 1024, "plane_counters": 5 * 1024},
    ),
    (CLOSED, "dlv", "hm0"): made(
        every=200.0, requests=100, scheduling_steps=5000, metadata_bytes={"block_classes": 0}
    ),
}
FOUR = made(metadata_bytes={"block_classes": 32 * 1024, "plane_counters": 2 * 1024})

ALIKE = {
    (CLOSED, "roo", "hm0"): distributed("read", [(100, 0.5), (200, 1.0)]),
    (CLOSED, "dlv", "hm0"): distributed("read", [(100, 0.3), (200, 1.0)]),
    # Farthest apart at 150, where roo is at 75 %.
    (OPEN, "roo", "hm0"): distributed("read", [(100, 0.5), (200, 1.0)]),
    (OPEN, "dlv", "hm0"): distributed("read", [(100, 0.6), (150, 1.0)]),
}

OVERTAKING = {
    (OPEN, "woo", "rsrch0"): made(prioritized=SimpleNamespace(write=0.3, read=0.9)),
    (OPEN, "woo", "mds0"): made(prioritized=SimpleNamespace(write=0.04, read=0.8)),
}

SIX = {("woo",): [4.0, 3.0, 1.0, 5.0, 2.0, 6.0], ("baseline",): [9.0, 8.0, 8.0, 8.0, 8.0, 7.0]}

CASES: dict[str, Case] = {
    "D1": ([GROWN], [70, 100, 30, 1, 1, fmean([200, 10, -10, 300, 400]), 200, 10, 2, 1]),
    "D2": ([GROWN], [70, 100, 30, 1, 1, fmean([100, 50, 20, -50, 0]), 100, 50, 0, 3]),
    "D3": ([RESPONSE], [-55, -35]),
    "D4": (
        [RESPONSE],
        [
            *(-20 + 55, -25 + 55, fmean([50, 37.5]), fmean([20, 50])),
            *(30 + 35, -10 + 35, fmean([50, 50]), fmean([37.5, 20])),
        ],
    ),
    "D5": ([ENDED], [80, 50, 70, 60, 100, 100, 90, 80, 95, 100 * 2 / 3]),
    "D6": ([WRITTEN], [-30, -20, -12.5, -5, -20, -5, 10, -35, -10, -60]),
    "D7": ([READ], [-50, -20, -5, -35, -10, 10]),
    "D8": ([QUEUES], [-40, 64, -50, 16]),
    "D9": ([CHIPS], [-60, 100 * 5 / 6, 100 * 2 / 3, -20, 100 * 4 / 6, 100 / 3]),
    "D10": ([BUFFERED], [-5, -10, -15, -20, -25, -2.5, -5, -7.5, -10, -12.5]),
    "D11": ([OVERTAKING], [30, 4]),
    # They end as 2, 4, 1, 0, 3 and 5; the paper's last two are the other way round.
    "D12": ([SIX], [3.5, 8, 4]),
    "D13": (
        [
            offered(
                "write",
                closed={
                    "baseline": {"proj0": 100},
                    "woo": {"proj0": 70},
                    "pv-reorder": {"proj0": 90},
                },
                open={
                    "baseline": {"proj0": 10},
                    "woo": {"proj0": 10},
                    "pv-reorder": {"proj0": 9.5},
                },
            )
        ],
        [-10 + 30, -5 - 0],
    ),
    "D14": ([rates(HALVES, HALVES, FASTER)], [100, 100 / 3, 100 / 2, 100 * 2 / 3]),
    "D15": ([CHOSEN, {("four",): FOUR}], [0.25, 16, 32, 2]),
    "D16": ([ALIKE], [20, 25]),
    "D17": ([WRITTEN], [10, 7.5, 15, -45]),
    "D18": ([WHERE], [15, 5, -10, 2]),
    "D19": ([STRONG], [-25, 0, 10, 1]),
}


def test_every_claim_is_looked_at() -> None:
    assert set(CASES) == ids("dlv")


@pytest.mark.parametrize("name", CASES)
def test_a_claims_figures_are_those_of_its_runs(name: str) -> None:
    hold(name, CASES[name])


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("D15", [{key: made(scheduling_steps=0) for key in CHOSEN}, {("four",): FOUR}]),
        (
            "D11",
            [{key: made(prioritized=SimpleNamespace(write=0.0, read=1.0)) for key in OVERTAKING}],
        ),
        ("D19", [{key: made(strong_share=0.0) for key in STRONG}]),
    ],
)
def test_a_figure_of_what_never_happened_is_refused(name: str, sets: Any) -> None:
    with pytest.raises(NeverRanError):
        found(name, sets)


def test_sizes_are_found_second_by_second(tmp_path: Path) -> None:
    trace = tmp_path / "hm_0.csv"
    requests = [
        ("0", "W", 4096, 4096),
        ("999999", "R", 0, 512),
        # Half a page, and half of the next.
        ("999999.999", "R", 2048, 4096),
        ("3000000", "W", 0, 3 * 4096),
    ]
    rows = [f"{at},0,{op},{offset},{size}" for at, op, offset, size in requests]
    trace.write_text("\n".join(["time_us,dev,op,offset_bytes,size_bytes", *rows]) + "\n")
    expected = [
        (0, "all", 2, fmean([1, 1, 2]), 1),
        (0, "read", 2, 1.5, 1),
        (0, "write", 1, 1, 1),
        (3, "all", 3, 3, 3),
        (3, "write", 3, 3, 3),
    ]
    assert dlv_runs.by_second(Plan(trace=trace)) == expected
    assert dlv_runs.by_second(Plan(trace=trace, limit=3)) == expected[:3]


def test_ages_of_data_that_is_read_are_counted_in_days() -> None:
    day = 86_400.0
    ages = [[0.0, 0.2], [2 * day, 0.6], [30 * day, 1.0]]
    runs = {
        (name,): made(detail=SimpleNamespace(read_ages=each))
        for name, each in {"a": ages, "b": None}.items()
    }
    rows = pictures.fig_5(FakeRuns(runs))
    names = ["up to 1 day", *(f"up to {days} days" for days in range(2, 8)), "older"]
    # What is 30 days old is none of what is younger; of what was not read nothing is told.
    shares = [0.2, 0.4, *[0.0] * 5, 0.4]
    assert [row[:2] for row in rows] == [("a", name) for name in names]
    assert [row[2] for row in rows] == pytest.approx(shares)
