"""What each picture of DLV and PA-SSD draws of results that are made up, worked out here.

No two figures that could be taken for each other are alike. DLV's Fig. 5 is beside DLV's claims.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from claim_cases import FakeRuns, ids, made

from ssdlab_reproduction.registry import PICTURES
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.systems.dlv_runs import BUFFERS, CLOSED, COUNTS, OPEN, WAITS, WAYS

Row = tuple[str | float, str, float]
Case = tuple[Sequence[Mapping[Any, Any]], Sequence[Row]]
"""A picture's sets of results, by their names, and the rows that follow from them by hand."""


def series(places: Sequence[str | float], of: Mapping[str, Sequence[float]]) -> list[Row]:
    """Return rows of values by series, one at each place."""
    return [
        (place, name, value)
        for name, each in of.items()
        for place, value in zip(places, each, strict=True)
    ]


def parts(names: Sequence[str], of: Mapping[str, Sequence[float]]) -> list[Row]:
    """Return rows of values by place, one of each part."""
    return [
        (place, name, value)
        for place, each in of.items()
        for name, value in zip(names, each, strict=True)
    ]


# The largest, the mean and the smallest of requests; 150 s are shown.
SECONDS = {
    ("hm0",): [
        (0, "all", 8, 3.5, 1),
        (0, "read", 4, 2.5, 2),
        (0, "write", 7, 4.5, 3),
        (149, "all", 64, 9.5, 5),
        (149, "read", 63, 9.25, 7),
        (149, "write", 32, 12.5, 6),
        (150, "all", 99, 98.0, 97),
        (150, "write", 96, 95.0, 94),
    ]
}
ON = ("hm0", "ts0", "web0")
ON_AVERAGE = (*ON, "mean")
ALL_OF_DLV = ("baseline", "woo", "roo", "dlv", "pv-reorder", "pv-allocation", "lv-ldpc", "laldpc")
BASELINE = {
    "bandwidth_mb_s": (100, 40, 7),
    "iops": (2000, 300, 50),
    "every": (90, 600, 400),
    "write": (700, 3000, 800),
    "read": (30, 20, 110),
}
# Of the baseline's, on each of three workloads and on average.
OF_BASELINE = {
    (CLOSED, "bandwidth_mb_s"): {
        "woo": (1.1, 1.3, 2.4, 1.6),
        "roo": (1.2, 0.9, 1.8, 1.3),
        "dlv": (1.5, 2.5, 1.4, 1.8),
    },
    (CLOSED, "iops"): {
        "woo": (2.1, 2.3, 3.1, 2.5),
        "roo": (0.6, 0.7, 1.1, 0.8),
        "dlv": (4.0, 3.2, 3.3, 3.5),
    },
    (OPEN, "every"): {
        "woo": (0.9, 0.8, 0.4, 0.7),
        "roo": (0.55, 0.25, 0.1, 0.3),
        "dlv": (0.45, 0.15, 0.06, 0.22),
    },
    (OPEN, "write"): {
        "woo": (0.92, 0.42, 0.52, 0.62),
        "pv-reorder": (0.88, 0.48, 0.38, 0.58),
        "pv-allocation": (1.2, 0.84, 0.6, 0.88),
    },
    (OPEN, "read"): {
        "roo": (0.73, 0.83, 0.54, 0.7),
        "lv-ldpc": (0.91, 0.96, 0.98, 0.95),
        "laldpc": (1.05, 1.15, 1.01, 1.07),
    },
}
OVERTAKING = {
    "writes, woo": (0.3, 0.04, 0.5),
    "writes, dlv": (0.2, 0.03, 0.6),
    "reads, roo": (0.7, 0.1, 0.8),
    "reads, dlv": (0.4, 0.9, 0.05),
}


def over_baseline(way: str, kind: str, scheme: str, at: int) -> float:
    """Return what of the baseline's that is; what no picture draws is five times as much."""
    each = OF_BASELINE.get((way, kind), {})
    return 1 if scheme == "baseline" else each[scheme][at] if scheme in each else 5


def overtaking(way: str, kind: str, scheme: str, at: int) -> float:
    each = OVERTAKING.get(f"{kind}s, {scheme}")
    return each[at] if each and way == OPEN else 0.99


OFFERED = {
    (way, scheme, name): made(
        **{kind: us[at] * over_baseline(way, kind, scheme, at) for kind, us in BASELINE.items()},
        prioritized=SimpleNamespace(
            read=overtaking(way, "read", scheme, at), write=overtaking(way, "write", scheme, at)
        ),
    )
    for way, scheme, (at, name) in product(WAYS, ALL_OF_DLV, enumerate(ON))
}

CURVES = {
    "write": {
        "baseline": [(900.0, 0.5), (5000.0, 1.0)],
        "woo": [(800.0, 0.7), (4000.0, 1.0)],
        "roo": [(850.0, 0.4), (3000.0, 0.8), (6000.0, 1.0)],
        "dlv": [(700.0, 0.9), (2000.0, 1.0)],
    },
    "read": {
        "baseline": [(90.0, 0.45), (500.0, 1.0)],
        "woo": [(80.0, 0.35), (400.0, 1.0)],
        "roo": [(60.0, 0.65), (300.0, 0.85), (350.0, 1.0)],
        "dlv": [(50.0, 0.75), (200.0, 1.0)],
    },
}


def distributed(scheme: str, factor: float) -> Any:
    """Return a result with distributions of such latencies, and some that take no time."""
    curves = {kind: each[scheme] for kind, each in CURVES.items()}
    distributions = [
        SimpleNamespace(
            kind=kind, points=[(0.0, 0.1), *((factor * us, upto) for us, upto in curve)]
        )
        for kind, curve in {"all": [(1.0, 1.0)], **curves}.items()
    ]
    return made(detail=SimpleNamespace(distributions=distributions))


DISTRIBUTED = {
    (way, scheme, "hm0"): distributed(scheme, 1 if way == OPEN else 3)
    for way, scheme in product(WAYS, CURVES["read"])
}


def curves(kind: str) -> list[Row]:
    # None at 0, which a logarithmic axis has not.
    return [(us, scheme, upto) for scheme, curve in CURVES[kind].items() for us, upto in curve]


# The last workload is none of those that have a line of their own.
QUEUES = {
    (queue, length, name): made(every=us[at])
    for queue, each in {
        COUNTS: {"rsrch0": (200, 150, 50), "hm0": (10, 9, 4), "ts0": (8, 2.4, 4.0)},
        WAITS: {"rsrch0": (80, 64, 16), "hm0": (20, 14, 12), "ts0": (8, 2.4, 3.2)},
    }.items()
    for at, length in enumerate(("1", "4", "16"))
    for name, us in each.items()
}

CHIPS = {
    (way, count, name): made(every=us[at] if way == OPEN else 5.0 + at)
    for way in WAYS
    for at, count in enumerate(("4", "8", "16"))
    for name, us in {"src12": (40, 10, 2), "hm0": (100, 60, 30), "ts0": (8, 1.6, 6)}.items()
}

# By how many percent hm0 and ts0 change behind each buffer.
BEHIND = {
    CLOSED: ((-10, -30), (-50, 20), (-5, -15), (4, 12), (-60, -20)),
    OPEN: ((-1, -3), (-7, 1), (-4, -6), (5, 9), (-11, -13)),
}
BUFFERED = {
    (way, scheme, name, evict): made(
        every=us * (1 + at) * (1 + (changes[place] / 100 if scheme == "dlv" else 0))
    )
    for way, each in BEHIND.items()
    for at, (evict, changes) in enumerate(zip(BUFFERS, each, strict=True))
    for scheme in ("baseline", "dlv")
    for place, (name, us) in enumerate({"hm0": 300, "ts0": 50}.items())
}

OF_DLV: dict[str, Case] = {
    "Fig. 3a": (
        [SECONDS],
        series((0, 149), {"maximum": (8, 64), "average": (3.5, 9.5), "minimum": (1, 5)}),
    ),
    "Fig. 3b": (
        [SECONDS],
        series((0, 149), {"maximum": (7, 32), "average": (4.5, 12.5), "minimum": (3, 6)}),
    ),
    "Fig. 9": ([OFFERED], series(ON_AVERAGE, OF_BASELINE[CLOSED, "bandwidth_mb_s"])),
    "Fig. 10": ([OFFERED], series(ON_AVERAGE, OF_BASELINE[CLOSED, "iops"])),
    "Fig. 11": ([OFFERED], series(ON_AVERAGE, OF_BASELINE[OPEN, "every"])),
    "Fig. 12a": ([DISTRIBUTED], curves("write")),
    "Fig. 12b": ([DISTRIBUTED], curves("read")),
    "Fig. 13": ([OFFERED], series(ON_AVERAGE, OF_BASELINE[OPEN, "write"])),
    "Fig. 14": ([OFFERED], series(ON, OVERTAKING)),
    "Fig. 15": ([OFFERED], series(ON_AVERAGE, OF_BASELINE[OPEN, "read"])),
    "Fig. 16a": (
        [QUEUES],
        [
            *series((1, 4, 16), {"rsrch0": (1, 0.75, 0.25), "hm0": (1, 0.9, 0.4)}),
            *series((1, 4, 16), {"mean of 3": (1, 0.65, (0.25 + 0.4 + 0.5) / 3)}),
        ],
    ),
    "Fig. 16b": (
        [QUEUES],
        [
            *series((1, 4, 16), {"rsrch0": (1, 0.8, 0.2), "hm0": (1, 0.7, 0.6)}),
            *series((1, 4, 16), {"mean of 3": (1, 0.6, 0.4)}),
        ],
    ),
    "Fig. 17": (
        [CHIPS],
        [
            *series((4, 8, 16), {"src12": (1, 0.25, 0.05), "hm0": (1, 0.6, 0.3)}),
            *series((4, 8, 16), {"mean of 3": (1, 0.35, (0.05 + 0.3 + 0.75) / 3)}),
        ],
    ),
    "Fig. 18": (
        [BUFFERED],
        series(
            ("lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru"),
            {"64 outstanding": (-20, -15, -10, 8, -40), "at their times": (-2, -3, -5, 7, -12)},
        ),
    ),
}


TYPES = ("LSB", "CSB", "MSB")
# The conventional drive's means of writes and of reads, the lightest workload first.
CONVENTIONAL = {"fin": (1000, 100), "dap": (2000, 150), "msfs": (9000, 70), "bs": (8000, 50)}
LOADS = (*CONVENTIONAL, "mean")
# Of the conventional drive's, on each of four workloads and on average.
WRITES = {
    "us": (0.9, 0.8, 0.7, 0.2, 0.65),
    "lfs": (0.2, 0.3, 0.6, 1.1, 0.55),
    "sbs+us": (0.5, 0.52, 0.74, 0.64, 0.6),
    "sbs+ubs": (1.2, 0.92, 0.84, 0.64, 0.9),
    "qds+us": (0.4, 0.41, 0.49, 0.5, 0.45),
    "qds+ubs": (0.44, 0.34, 0.12, 0.1, 0.25),
}
READS = {
    "us": (0.71, 0.72, 0.74, 0.75, 0.73),
    "lfs": (0.31, 0.32, 0.35, 0.38, 0.34),
    "sbs+us": (0.61, 0.63, 0.66, 0.7, 0.65),
    "sbs+ubs": (1.5, 1.3, 0.95, 1.05, 1.2),
    "qds+us": (0.53, 0.54, 0.56, 0.57, 0.55),
    "qds+ubs": (0.81, 0.83, 0.86, 0.9, 0.85),
}
# DAP's writes by their slowest page.
SHARES = {
    "conventional": (0.3, 0.45, 0.25),
    "us": (0.4, 0.35, 0.25),
    "lfs": (0.8, 0.15, 0.05),
    "sbs+us": (0.5, 0.3, 0.2),
    "sbs+ubs": (0.41, 0.28, 0.31),
    "qds+us": (0.6, 0.31, 0.09),
    "qds+ubs": (0.36, 0.33, 0.31),
}
# Pages for which a type was wished, 1000 in all, and those that got it.
REQUESTED = (100, 100, 300, 500)
GRANTED = {
    "us": (90, 80, 270, 410),
    "lfs": (50, 60, 100, 190),
    "sbs+us": (95, 85, 290, 450),
    "sbs+ubs": (70, 75, 250, 385),
    "qds+us": (99, 98, 295, 498),
    "qds+ubs": (60, 65, 275, 500),
}


def slowest(*counts: float) -> dict[str, float]:
    return dict(zip(("lsb", "csb", "msb"), counts, strict=True))


def typed(requested: int, granted: int) -> Any:
    """Return so many pages by type; it was LSB pages that were missed."""
    return SimpleNamespace(requested=[requested - 40, 30, 10], granted=[granted - 40, 30, 10])


def under(*schemes: str) -> dict[Any, Any]:
    """Return results, the heaviest workload first; MSFS counts as it ran the first time."""
    runs = {}
    loads = reversed(list(enumerate(CONVENTIONAL.items())))
    for (at, (name, (write, read))), scheme in product(loads, schemes):
        runs[scheme, name] = one = made(
            write=write * WRITES.get(scheme, [1] * 4)[at],
            read=read * READS.get(scheme, [1] * 4)[at],
            slowest_page_type=slowest(
                *(500 * one for one in SHARES[scheme][:: 1 if name == "dap" else -1])
            ),
            page_types=typed(REQUESTED[at], GRANTED.get(scheme, [40] * 4)[at]),
        )
        if name == "msfs":
            more = made(write=10 * write, read=10 * read, page_types=typed(3000, 1500))
            runs[scheme, name] = SimpleNamespace(**{**vars(more), "replays": [one, more]})
    return runs


def latencies(*write: float) -> Any:
    """Return a result with the mean of writes, their median, and two more of their percentiles."""
    one = made()
    one.write.latency_us = SimpleNamespace(
        **dict(zip(("mean", "p50", "p90", "p99"), write, strict=True)), p999=99_000, max=99_999
    )
    one.read.latency_us = one.all.latency_us = SimpleNamespace(mean=21, p50=22, p90=23, p99=24)
    return one


def of_pages(requests: int, *counts: int) -> Any:
    one = made(slowest_page_type=slowest(*counts))
    one.write.requests, one.read.requests, one.all.requests = requests, 70, 70 + requests
    return one


# By quarters of an hour: means of writes in µs, if there were any, and free LSB pages.
QUARTERS: dict[str, dict[str, list[tuple[float | None, int]]]] = {
    "fin": {
        "conventional": [(3000, 91), (None, 92), (5000, 93)],
        "us": [(2900, 81), (2800, 82), (2700, 83)],
        "lfs": [(400, 70), (None, 40), (600, 0)],
        "qds+us": [(500, 71), (550, 41), (650, 11)],
        "qds+ubs": [(700, 72), (750, 42), (850, 12)],
    },
    # It ran again from the third on.
    "msfs": {
        "conventional": [(9100, 191), (9200, 192), (9300, 193)],
        "lfs": [(1400, 170), (1450, 0), (1600, 110)],
        "qds+us": [(None, 171), (1550, 141), (1650, 111)],
        "qds+ubs": [(1700, 172), (1750, 142), (1850, 112)],
    },
}


def over_time(name: str, *schemes: str) -> dict[Any, Any]:
    """Return results of a workload quarter by quarter."""
    runs = {}
    for scheme in schemes:
        quarters = [
            SimpleNamespace(
                start_s=900.0 * at,
                end_s=900.0 * (at + 1),
                write_mean_us=us,
                write_p99_us=7e4,
                read_mean_us=90.0,
                free_0=free,
                free_1=5000,
            )
            for at, (us, free) in enumerate(QUARTERS[name][scheme])
        ]
        runs[scheme, name] = made(
            replays=[made(end_s=1800.0), made(end_s=2700.0)] if name == "msfs" else (),
            duration_s=2700.0,
            detail=SimpleNamespace(series=quarters),
        )
    return runs


# Of the conventional drive's, in each of three replays.
AGAIN = {
    "conventional": (1, 1, 1),
    "lfs": (0.2, 0.5, 0.9),
    "qds+us": (0.3, 0.4, 0.8),
    "qds+ubs": (0.1, 0.15, 1.2),
}
THRICE = {
    (scheme, "msfs"): made(
        replays=[
            made(write=us * one, read=10 + at)
            for at, (us, one) in enumerate(zip((1000, 4000, 9000), each, strict=True))
        ]
    )
    for scheme, each in AGAIN.items()
}

TYPED = ("lfs", "qds+us", "qds+ubs")
OF_PA_SSD: dict[str, Case] = {
    "Fig. 1a, b": (
        [under("conventional", "qds+ubs")],
        parts(TYPES, {name: SHARES[name] for name in ("conventional", "qds+ubs")}),
    ),
    "Fig. 1c, d": (
        [
            {
                ("conventional", "dap"): latencies(2000, 1500, 4000, 9000),
                ("qds+ubs", "dap"): latencies(1200, 700, 3000, 8500),
            },
            {("SLC mode", "dap"): latencies(550, 510, 600, 950)},
        ],
        series(
            ("mean", "p50", "p90", "p99"),
            {
                "conventional": (2, 1.5, 4, 9),
                "qds+ubs": (1.2, 0.7, 3, 8.5),
                "SLC mode": (0.55, 0.51, 0.6, 0.95),
            },
        ),
    ),
    # The slowest of two is LSB if both are: 1/9. It is none of MSB if neither is: 4/9.
    "Fig. 5": (
        [{("1",): of_pages(200, 60, 80, 60), ("2",): of_pages(400, 20, 100, 280)}],
        [
            (pages, name, share)
            for pages, each in {
                1: (0.3, 1 / 3, 0.4, 1 / 3, 0.3, 1 / 3),
                2: (0.05, 1 / 9, 0.25, 3 / 9, 0.7, 5 / 9),
            }.items()
            for name, share in zip(
                [f"{name}{of}" for name in TYPES for of in ("", ", by chance")], each, strict=True
            )
        ],
    ),
    "Fig. 9a": ([under("conventional", *WRITES)], series(LOADS, WRITES)),
    "Fig. 9b": ([under("conventional", *WRITES)], series(LOADS, READS)),
    "Fig. 10": ([under("conventional", *WRITES)], parts(TYPES, SHARES)),
    "Fig. 11": (
        [under(*WRITES)],
        [
            *parts(["all workloads"], {"us": [0.85], "lfs": [0.4], "sbs+us": [0.92]}),
            *parts(["all workloads"], {"sbs+ubs": [0.78], "qds+us": [0.99], "qds+ubs": [0.9]}),
        ],
    ),
    "Fig. 12a": (
        [over_time("fin", "conventional", "us", *TYPED)],
        [
            *((0, "conventional", 3), (0.5, "conventional", 5)),
            *series((0, 0.25, 0.5), {"us": (2.9, 2.8, 2.7)}),
            *((0, "lfs", 0.4), (0.5, "lfs", 0.6)),
            *series((0, 0.25, 0.5), {"qds+us": (0.5, 0.55, 0.65), "qds+ubs": (0.7, 0.75, 0.85)}),
        ],
    ),
    "Fig. 12b": (
        [over_time("msfs", "conventional", *TYPED)],
        [
            *series((0, 0.25), {"conventional": (9.1, 9.2), "lfs": (1.4, 1.45)}),
            (0.25, "qds+us", 1.55),
            *series((0, 0.25), {"qds+ubs": (1.7, 1.75)}),
        ],
    ),
    "Fig. 12c": (
        [over_time("msfs", *TYPED) | over_time("fin", *TYPED)],
        [
            *series((0.25, 0.5, 0.75), {"fin, lfs": (70, 40, 0), "fin, qds+us": (71, 41, 11)}),
            *series((0.25, 0.5, 0.75), {"fin, qds+ubs": (72, 42, 12)}),
            *series((0.25, 0.5), {"msfs, lfs": (170, 0), "msfs, qds+us": (171, 141)}),
            *series((0.25, 0.5), {"msfs, qds+ubs": (172, 142)}),
        ],
    ),
    "Fig. 13": ([THRICE], series(("replay 1", "replay 2", "replay 3"), AGAIN)),
}

CASES = {
    (system, figure): case
    for system, cases in {"dlv": OF_DLV, "pa-ssd": OF_PA_SSD}.items()
    for figure, case in cases.items()
}


def drawn() -> dict[tuple[str, str], Any]:
    """Return the pictures of both systems by system and figure."""
    ids("dlv", "pa-ssd")
    found = [one for one in PICTURES if one.system in ("dlv", "pa-ssd")]
    by_name = {(one.system, one.figure): one for one in found}
    assert len(by_name) == len(found)
    return by_name


def test_every_picture_is_looked_at() -> None:
    assert set(CASES) == set(drawn()) - {("dlv", "Fig. 5")}


@pytest.mark.parametrize(("system", "figure"), CASES)
def test_a_picture_draws_what_its_runs_say(system: str, figure: str) -> None:
    sets, expected = CASES[system, figure]
    rows = drawn()[system, figure].rows(*map(FakeRuns, sets))
    assert [row[:2] for row in rows] == [row[:2] for row in expected]
    assert [row[2] for row in rows] == pytest.approx([row[2] for row in expected])


@pytest.mark.parametrize("figure", OF_PA_SSD)
def test_a_picture_needs_all_runs_that_it_draws(figure: str) -> None:
    # Some draw whatever ran.
    sets = drawn()["pa-ssd", figure].sets
    for jobs, runs in zip(sets, OF_PA_SSD[figure][0], strict=True):
        assert {name for name, *_ in jobs(Scope())} >= {name for name, *_ in runs}
