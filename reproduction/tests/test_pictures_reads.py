"""What each picture of PV-read, ReadGuard and HIRE draws of results that are made up.

What is expected is worked out here; no two figures that could be taken for each other are alike.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from claim_cases import FakeRuns, made

from ssdlab_reproduction import ledger
from ssdlab_reproduction.registry import PICTURES, Picture, Rows
from ssdlab_reproduction.scope import Scope

Name = tuple[str, str]
Case = tuple[Sequence[Mapping[Any, Any]], Rows]
"""A picture's sets of results, by their names, and the rows that follow from them by hand."""

SYSTEMS = ("pv-read", "readguard", "hire")
ELSEWHERE: set[Name] = {
    ("hire", "Convergence"),
    ("pv-read", "Fig. 10a"),
    ("pv-read", "Fig. 10b"),
    ("pv-read", "Fig. 11b"),
    ("readguard", "Fig. 1"),
    ("readguard", "Fig. 6"),
    ("readguard", "Fig. 7"),
    ("readguard", "Fig. 16"),
    ("readguard", "Fig. 18"),
    ("readguard", "Fig. 20"),
}
"""The pictures that other tests look at."""

LOADS = ("hm0", "src12")


def drive(us: float, **of_run: Any) -> Any:
    """Return a drive of whose latencies reads alone are in proportion to ``us``."""
    return made(read=us, write=7 + 3 * us, every=5 + us, tail=11 + 2 * us, **of_run)


def bars(each: Mapping[str, Sequence[float]], loads: Sequence[str] = LOADS) -> Rows:
    """Return the bars of each series by load, and on the mean."""
    return [
        (place, name, value)
        for name, values in each.items()
        for place, value in zip((*loads, "mean"), values, strict=True)
    ]


def drives(each: Mapping[str, Sequence[float]]) -> dict[Any, Any]:
    """Return drives that read hm0 and src12 so fast."""
    return {
        (name, load): drive(us)
        for name, both in each.items()
        for load, us in zip(LOADS, both, strict=True)
    }


UNAWARE = drives({"pv-unaware": (100, 200)})


def of_unaware(*sets: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Case:
    """Return a case of drives: what they read the loads in, and what that is of the unaware's."""
    runs = [drives({name: us for name, (us, _) in each.items()}) for each in sets]
    rows = [bars({name: ratios for name, (_, ratios) in each.items()}) for each in sets]
    return [UNAWARE, *runs], [row for each in rows for row in each]


CURVES = {
    # So many reads of a page; the shares of pages and of reads up to there.
    ("proj0",): {"curve": [(1, 0.61, 0.23), (2, 0.84, 0.37), (9, 0.97, 0.72)]},
    ("wdev0",): {"curve": [(1, 0.11, 0.02), (4, 0.58, 0.19)]},
}

Levels = Mapping[str, tuple[Sequence[int], Sequence[int]]]
"""Of 10 pages of hm0, and of 20 of src12, how many decoded at each level."""
OF_UNAWARE: Levels = {"pv-unaware": ((6, 3, 1), (2, 4, 14))}
BY_GROUPS: Levels = {
    "groups-2": ((5, 1, 4), (17, 2, 1)),
    "pv-read": ((8, 2, 0), (9, 8, 3)),
    "groups-4": ((7, 1, 2), (5, 9, 6)),
    "groups-7": ((1, 4, 5), (12, 5, 3)),
}
BY_SPACE: Levels = {
    "5%": ((4, 5, 1), (16, 3, 1)),
    "10%": ((3, 1, 6), (7, 11, 2)),
    "20%": ((2, 7, 1), (1, 6, 13)),
    "30%": ((9, 0, 1), (4, 1, 15)),
}


def decoded(each: Levels) -> dict[Any, Any]:
    """Return runs that decoded so."""
    return {
        (name, load): made(decoded_at=list(counts))
        for name, both in each.items()
        for load, counts in zip(LOADS, both, strict=True)
    }


def stacked(each: Levels) -> Rows:
    """Return the shares of pages at each level: a bar a load and name, and a name's means."""
    shares = {
        name: [(one / 10, two / 20, one / 20 + two / 40) for one, two in zip(*both, strict=True)]
        for name, both in each.items()
    }
    return [
        (f"{place} {name}", f"level {level}", values[nth])
        for nth, place in enumerate((*LOADS, "mean"))
        for name, levels in shares.items()
        for level, values in enumerate(levels, start=1)
    ]


AGED = {
    ("0.004 0.005",): [(0.003, 0.81), (0.005, 0.12)],
    ("0.006 0.004",): [(0.004, 0.63), (0.006, 0.34)],
    ("0.008 0.003",): [(0.007, 0.57)],
    ("0.010 0.002",): [(0.009, 0.22)],
    ("0.012 0.001",): [(0.011, 0.29)],
}
VARIED = {
    ("0.008 0.01",): [(0.0075, 0.41), (0.0085, 0.52)],
    ("0.008 0.04",): [(0.0065, 0.18)],
}

# What the unaware drive and three groups read hm0 and src12 in, on blocks of each kind.
ON_BLOCKS = {
    "0.008 0.01": ((100, 200), (50, 180)),  # 0.5 and 0.9
    "0.008 0.0175": ((80, 160), (32, 96)),  # 0.4 and 0.6
    "0.008 0.025": ((125, 250), (100, 75)),  # 0.8 and 0.3
    "0.008 0.0325": ((40, 50), (30, 55)),  # 0.75 and 1.1
    "0.008 0.04": ((60, 90), (15, 27)),  # 0.25 and 0.3
}
WIDTHS = {
    (name, kind, load): drive(us)
    for kind, both in ON_BLOCKS.items()
    for name, each in zip(("pv-unaware", "pv-read"), both, strict=True)
    for load, us in zip(LOADS, each, strict=True)
}

# Pages in and out: of 1,000 requests of hm0, and of 2,000 of src12.
MOVED = {
    "2": ((100, 20), (60, 20)),  # 12 and 4 %
    "3": ((50, 40), (40, 20)),  # 9 and 3 %
    "4": ((20, 30), (20, 0)),  # 5 and 1 %
    "5": ((10, 0), (0, 8)),  # 1 and 0.4 %
}
MOVES = {
    (value, load): drive(100, migration=SimpleNamespace(hot=hot, cold=cold), requests=requests)
    for value, each in MOVED.items()
    for load, requests, (hot, cold) in zip(LOADS, (1000, 2000), each, strict=True)
}

OF_PV_READ: dict[str, Case] = {
    "Fig. 4": of_unaware(
        {"ideal-wear": ((150, 220), (1.5, 1.1, 1.3))},
        {"pv-ideal": ((40, 90), (0.4, 0.45, 0.425))},
    ),
    "Fig. 5a": (
        [CURVES],
        [
            *((1, "proj0", 0.61), (2, "proj0", 0.84), (9, "proj0", 0.97)),
            *((1, "wdev0", 0.11), (4, "wdev0", 0.58)),
        ],
    ),
    "Fig. 5b": (
        [CURVES],
        [
            *((1, "proj0", 0.23), (2, "proj0", 0.37), (9, "proj0", 0.72)),
            *((1, "wdev0", 0.02), (4, "wdev0", 0.19)),
        ],
    ),
    "Fig. 8a": of_unaware(
        {
            "groups-2": ((30, 80), (0.3, 0.4, 0.35)),
            "pv-read": ((50, 110), (0.5, 0.55, 0.525)),
            "groups-4": ((60, 130), (0.6, 0.65, 0.625)),
            "groups-7": ((90, 140), (0.9, 0.7, 0.8)),
        }
    ),
    "Fig. 8b": (
        [decoded(OF_UNAWARE), decoded(BY_GROUPS)],
        stacked({**OF_UNAWARE, **BY_GROUPS}),
    ),
    "Fig. 9a": of_unaware(
        {
            "5%": ((120, 150), (1.2, 0.75, 0.975)),
            "10%": ((70, 170), (0.7, 0.85, 0.775)),
            "20%": ((25, 90), (0.25, 0.45, 0.35)),
            "30%": ((35, 210), (0.35, 1.05, 0.7)),
        }
    ),
    "Fig. 9b": ([decoded(BY_SPACE)], stacked(BY_SPACE)),
    "Fig. 11a": (
        [AGED],
        [
            *((0.003, "0.004 ± 0.005", 0.81), (0.005, "0.004 ± 0.005", 0.12)),
            *((0.004, "0.006 ± 0.004", 0.63), (0.006, "0.006 ± 0.004", 0.34)),
            (0.007, "0.008 ± 0.003", 0.57),
            (0.009, "0.010 ± 0.002", 0.22),
            (0.011, "0.012 ± 0.001", 0.29),
        ],
    ),
    "Fig. 12a": (
        [VARIED],
        [
            *((0.0075, "0.008 ± 0.01", 0.41), (0.0085, "0.008 ± 0.01", 0.52)),
            (0.0065, "0.008 ± 0.04", 0.18),
        ],
    ),
    "Fig. 12b": (
        [WIDTHS],
        [
            ("0.008 ± 0.01", "pv-read", 0.7),
            ("0.008 ± 0.0175", "pv-read", 0.5),
            ("0.008 ± 0.025", "pv-read", 0.55),
            ("0.008 ± 0.0325", "pv-read", 0.925),
            ("0.008 ± 0.04", "pv-read", 0.275),
        ],
    ),
    "Fig. 13a": of_unaware(
        {
            "2": ((20, 190), (0.2, 0.95, 0.575)),
            "3": ((45, 160), (0.45, 0.8, 0.625)),
            "4": ((65, 70), (0.65, 0.35, 0.5)),
            "5": ((85, 230), (0.85, 1.15, 1)),
        }
    ),
    "Fig. 13b": (
        [MOVES],
        [("2", "pv-read", 8), ("3", "pv-read", 6), ("4", "pv-read", 3), ("5", "pv-read", 0.7)],
    ),
}

APPS = ("high", "mid", "low")


def queue(mean: float = 37, tail: float = 211, ideal: float = 3, wait: float = 43) -> Any:
    """Return an application, of whose reads so much is neither waiting nor retries."""
    parts = {"sense": 0.5 * ideal, "decode": 0.3 * ideal, "transfer": 0.2 * ideal}
    others = {"host_queue": 7, "die_gc": 19, "bus": 23, "retry": 29, "program": 31}
    return SimpleNamespace(
        read=SimpleNamespace(
            latency_us=SimpleNamespace(mean=mean, p99=tail), blame_us=parts | others
        ),
        write=SimpleNamespace(latency_us=SimpleNamespace(mean=5 + mean, p99=9 + tail)),
        read_waiting_us=wait,
    )


UNITS = {"mix-a": (10, 20, 40), "mix-b": (50, 80, 100)}
RATIOS = {
    "baseline": ((2.5, 4.5, 3.5), (1.7, 5.5, 6.5)),
    "rgftl": ((1.1, 1.2, 1.3), (1.4, 1.6, 1.9)),
    "rgftl-": ((1.15, 1.25, 1.35), (1.45, 1.65, 1.85)),
    "rgftl++": ((2.1, 2.2, 2.3), (2.4, 2.6, 2.7)),
    "baseline+": ((3.1, 3.3, 3.2), (3.7, 3.6, 3.4)),
    "rgftl+": ((0.8, 0.9, 0.95), (0.7, 1.05, 1.75)),
}
"""Those figures over that on the young drive; 1 more on the adult drive, 2 on the old one."""


def of_apps(nth: int, base: str, own: Sequence[str], figure: str, over: str) -> Case:
    """Return a case of such a figure of schemes, over one of another or of one of them."""
    stage = ("young", "adult", "old")[nth]
    runs, rows = {}, []
    for at, (mix, units) in enumerate(UNITS.items()):
        for name in dict.fromkeys((base, *own)):
            queues = []
            for app, unit, ratio in zip(APPS, units, RATIOS[name][at], strict=True):
                drawn = {figure: (ratio + nth) * unit} if name in own else {}
                queues.append(queue(**drawn, **({over: unit} if name == base else {})))
                if drawn:
                    rows.append((f"{mix}, {app}", name, ratio + nth))
            runs[name, stage, mix] = made(queues=queues)
    for name in own:
        means = [fmean(each) + nth for each in zip(*RATIOS[name], strict=True)]
        rows += [(f"mean, {app}", name, mean) for app, mean in zip(APPS, means, strict=True)]
    return [runs], rows


OWN = ("rgftl", "rgftl-", "rgftl++")
OF_APPS = {
    f"{number}, {stage}": of_apps(nth, *of)
    for number, of in {
        "Fig. 14": ("baseline", ("baseline", *OWN), "mean", "ideal"),
        "Fig. 15": ("baseline", OWN, "tail", "tail"),
        "Fig. 17": ("baseline+", ("baseline+", "rgftl+"), "mean", "ideal"),
    }.items()
    for nth, stage in enumerate(("young", "adult", "old"))
}

LONG = {
    ("baseline", "old", "mix-a"): made(read=40, write=100, every=70, waf=None),
    ("rgftl", "old", "mix-a"): made(read=30, write=102, every=77, waf=1.2),
    ("baseline", "old", "mix-c"): made(read=90, write=50, every=60, waf=2.0),
    ("rgftl", "old", "mix-c"): made(read=80, write=53, every=75, waf=2.3),
}

STATES = {"a": (0, 0), "d": (0, 57_600), "b": (7, 0), "e": (7, 57_600), "c": (30, 0)}
STATES["f"] = (30, 57_600)
"""The days that data is old and the reads of a block, in the order in which a fit has them."""
FEWEST = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.45, "f": 0.3}
"""The share of the blocks of 500 cycles that need no retries."""


def condition(days: float, reads: float, share: float) -> dict[str, Any]:
    """Return what blocks need after so many days and reads."""
    chances = [
        {"cycles": 500.0, "shares": [share, 0.97 - share, 0.03]},
        {"cycles": 3000.0, "shares": [0.01, 0.98 - share, share, 0.01]},
    ]
    return {"days": days, "reads": reads, "chances": chances}


def point(at: float, measured: float, predicted: float) -> dict[str, float]:
    """Return errors, which were measured up to twice as often as on the mean."""
    most = 2 * measured
    return {"at": at, "measured": measured, "least": 1, "most": most, "predicted": predicted}


FIT = {
    "conditions": [
        *(condition(*STATES[letter], FEWEST[letter]) for letter in STATES),
        # Conditions that are not the paper's.
        *(condition(0, 1000, 0.17), condition(365, 0, 0.15), condition(365, 57_600, 0.13)),
    ],
    "steps": [
        {"errors": 3.0, "rows": 90, "least": 0, "mean": 0.4, "most": 2},
        {"errors": 9.0, "rows": 70, "least": 1, "mean": 3.6, "most": 5},
    ],
    "spreads": [
        {"predicted": at, "rows": rows}
        | dict(zip(("least", "quarter", "median", "three_quarters", "most"), of, strict=True))
        for at, rows, of in ((0, 60, (0, 1, 2.5, 3, 4)), (7, 80, (5, 6, 6.5, 8, 9)))
    ],
    "errors": [
        {"over": over, "age": 0.2, "center": center, "rows": 50, "percent": 4.0, "points": points}
        for over, center, points in (
            ("retention", 0.214, [point(0, 11, 12), point(30, 21, 23)]),
            ("retention", 0.8, [point(0, 31, 34)]),
            ("reads", 0.239, [point(0, 13, 15), point(57_600, 44, 47)]),
            ("reads", 0.771, [point(1000, 53, 58)]),
        )
    ],
    "ablations": [
        {"name": "all", "what": "all", "percent": 4.1},
        {"name": "C1", "what": "cycles", "percent": 13.2},
        {"name": "C2", "what": "no retention", "percent": 27.5},
    ],
}
FITS = [{("fit",): FIT}]

OF_READGUARD: dict[str, Case] = {
    "Fig. 5": (
        [{("baseline", "old", "ycsb"): made(queues=[queue(wait=at) for at in (61, 71, 67)])}],
        [("ycsb", "high", 61), ("ycsb", "mid", 71), ("ycsb", "low", 67)],
    ),
    "Fig. 8": (
        FITS,
        [
            *((3, "least", 0), (9, "least", 1)),
            *((3, "mean", 0.4), (9, "mean", 3.6)),
            *((3, "most", 2), (9, "most", 5)),
        ],
    ),
    "Fig. 10a": (
        FITS,
        [
            *(("0", "measured", at) for at in (0, 1, 2.5, 3, 4)),
            *(("7", "measured", at) for at in (5, 6, 6.5, 8, 9)),
        ],
    ),
    "Fig. 10b": (
        FITS,
        [
            *((0, "0.21, measured", 11), (30, "0.21, measured", 21)),
            *((0, "0.21, predicted", 12), (30, "0.21, predicted", 23)),
            *((0, "0.80, measured", 31), (0, "0.80, predicted", 34)),
        ],
    ),
    "Fig. 10c": (
        FITS,
        [
            *((0, "0.24, measured", 13), (57_600, "0.24, measured", 44)),
            *((0, "0.24, predicted", 15), (57_600, "0.24, predicted", 47)),
            *((1000, "0.77, measured", 53), (1000, "0.77, predicted", 58)),
        ],
    ),
    "Fig. 10d": (
        FITS,
        [("all", "predictor", 4.1), ("C1", "predictor", 13.2), ("C2", "predictor", 27.5)],
    ),
    **OF_APPS,
    "Fig. 19a": (
        [LONG],
        [
            *(("mix-a", "baseline", 1), ("mix-a", "rgftl", 1.02)),
            *(("mix-c", "baseline", 1), ("mix-c", "rgftl", 1.06)),
            *(("mean", "baseline", 1), ("mean", "rgftl", 1.04)),
        ],
    ),
    "Fig. 19b": (
        [LONG],
        [
            # What has none draws 1.
            *(("mix-a", "baseline", 1), ("mix-a", "rgftl", 1.2)),
            *(("mix-c", "baseline", 2), ("mix-c", "rgftl", 2.3)),
        ],
    ),
    **{
        f"Fig. 21{letter}": (
            FITS,
            [
                *(("500", "0", share), ("500", "1", 0.97 - share), ("500", "2", 0.03)),
                *(("3000", "0", 0.01), ("3000", "1", 0.98 - share)),
                *(("3000", "2", share), ("3000", "3", 0.01)),
            ],
        )
        for letter, share in FEWEST.items()
    },
}

# Reads, writes and weight on each; the buffer holds web0 whole.
OF_SCHEMES = {
    "baseline": {"stg1": (100, 1000, 10), "fin1": (200, 400, 20), "web0": (10, 100, 0)},
    "hvc": {"stg1": (30, 1300, 12), "fin1": (150, 480, 27), "web0": (6, 260, 0)},
    "lvc": {"stg1": (210, 700, 7), "fin1": (230, 340, 15), "web0": (17, 25, 0)},
    "hire": {"stg1": (40, 800, 8), "fin1": (180, 420, 19), "web0": (8, 190, 0)},
}
HIRE = {
    (name, load): made(read=read, write=write, every=read + write, wearing_weight=weight)
    for load in OF_SCHEMES["baseline"]
    for name, each in OF_SCHEMES.items()
    for read, write, weight in (each[load],)
}


def of_hire(hvc: Sequence[float], lvc: Sequence[float], hire: Sequence[float]) -> Case:
    """Return a case of the schemes: what they have is so much of the baseline's."""
    loads = ("stg1", "fin1", "web0")[: len(hire) - 1]
    ones = [1.0] * len(hire)
    return [HIRE], bars({"baseline": ones, "hvc": hvc, "lvc": lvc, "hire": hire}, loads)


OF_HIRE: dict[str, Case] = {
    "Fig. 3": of_hire((0.3, 0.75, 0.6, 0.55), (2.1, 1.15, 1.7, 1.65), (0.4, 0.9, 0.8, 0.7)),
    "Fig. 4": of_hire((1.2, 1.35, 1.275), (0.7, 0.75, 0.725), (0.8, 0.95, 0.875)),
    "Fig. 5": of_hire((1.3, 1.2, 2.6, 1.7), (0.7, 0.85, 0.25, 0.6), (0.8, 1.05, 1.9, 1.25)),
}

CASES: dict[Name, Case] = {
    (system, figure): case
    for system, each in zip(SYSTEMS, (OF_PV_READ, OF_READGUARD, OF_HIRE), strict=True)
    for figure, case in each.items()
}


def pictures() -> dict[Name, Picture]:
    """Return the pictures of these systems, which are loaded."""
    for system in SYSTEMS:
        ledger.load(system)
    return {(one.system, one.figure): one for one in PICTURES if one.system in SYSTEMS}


def test_every_picture_is_looked_at() -> None:
    assert set(pictures()) == CASES.keys() | ELSEWHERE
    assert not CASES.keys() & ELSEWHERE


@pytest.mark.parametrize("name", CASES, ids=" ".join)
def test_a_picture_draws_what_follows_from_its_runs(name: Name) -> None:
    sets, expected = CASES[name]
    rows = pictures()[name].rows(*map(FakeRuns, sets))
    assert [(at, series) for at, series, _ in rows] == [(at, series) for at, series, _ in expected]
    assert [value for *_, value in rows] == pytest.approx([value for *_, value in expected])


@pytest.mark.parametrize("name", CASES, ids=" ".join)
def test_made_up_runs_are_those_that_pictures_need(name: Name) -> None:
    for make, runs in zip(pictures()[name].sets, CASES[name][0], strict=True):
        jobs = make(Scope())
        assert runs.keys() <= jobs.keys()
        # Some workloads are enough.
        assert {of[:-1] for of in jobs} == {of[:-1] for of in runs}


def test_pictures_are_called_what_they_draw() -> None:
    drawn = pictures()
    assert [drawn["readguard", f"Fig. 21{letter}"].title for letter in "abcdef"] == [
        *(f"Retries, {age}" for age in ("fresh", "1 week", "1 month")),
        *(f"Retries, {age}, 100 block reads" for age in ("fresh", "1 week", "1 month")),
    ]
    ends = drawn["readguard", "Fig. 10a"].ends
    assert ends == ("least", "quarter", "median", "three quarters", "most")
