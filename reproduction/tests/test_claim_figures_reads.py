"""What each claim of PV-read and ReadGuard makes of results that are made up, worked out here."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from claim_cases import Case, compared, found, hold, ids, made, planned, read

from ssdlab.result.parts import INVERSION_REPAIR
from ssdlab_reproduction.claim import claims
from ssdlab_reproduction.registry import NeverRanError
from ssdlab_reproduction.systems import pv_read, readguard
from ssdlab_reproduction.systems.readguard import ADULT, OLD, STAGES, WORN, YOUNG

Each = Mapping[str, float]

UNAWARE = {("pv-unaware", "hm0"): made(read=100.0), ("pv-unaware", "src12"): made(read=200.0)}


def moved(hot: int, cold: int) -> Any:
    return SimpleNamespace(hot=hot, cold=cold)


def drives(some: int = 1, **each: tuple[float, float]) -> dict[Any, Any]:
    """Return drives that read hm0 and src12 so much faster or slower, in percent."""
    return {
        (name.replace("_", "-").removeprefix("at-"), load): made(
            read=us * (1 + change / 100), write=1 / us, migration=moved(some, 0)
        )
        for name, changes in each.items()
        for load, us, change in zip(("hm0", "src12"), (100, 200), changes, strict=True)
    }


# Means of -50, -40, -45 and -30 %.
GROUPS = drives(groups_2=(-70, -30), pv_read=(-60, -20), groups_4=(-50, -40), groups_7=(-20, -40))
# -20, -25, -32 and -30 %.
APART = {
    (f"{name}%", load): one
    for (name, load), one in drives(
        at_5=(-10, -30), at_10=(-20, -30), at_20=(-34, -30), at_30=(-30, -30)
    ).items()
}


def moves(**each: tuple[tuple[int, int], ...]) -> dict[Any, Any]:
    """Return drives by the pages that they moved in and out on hm0, src12 and hm1."""
    return {
        (name.replace("_", "-").replace("at-5", "5%").replace("at-30", "30%"), load): made(
            migration=moved(*both)
        )
        for name, of in each.items()
        for load, both in zip(("hm0", "src12", "hm1"), of, strict=True)
    }


BY_GROUPS = moves(
    groups_2=((100, 20), (10, 0), (1, 0)),
    # Of 1,000 requests each: 10, 5 and 0 %; 120 of 150 pages went in.
    pv_read=((90, 10), (30, 20), (0, 0)),
    # Less than with two groups on hm0 alone.
    groups_7=((100, 10), (50, 0), (1, 0)),
)
# Fewer out on hm0 and on hm1, more in.
BY_SPACE = moves(
    at_5=((1, 10), (1, 3), (1, 8)),
    at_30=((50, 5), (50, 4), (50, 7)),
)

HOT = {
    **{
        key: made(read=one.read.latency_us.mean, migration=moved(*both))
        for (key, one), both in zip(
            # Means of -40, -35, -20 and -10 %; 12, 6, 4 and 2 % moved.
            drives(at_2=(-60, -20), at_3=(-50, -20), at_4=(-20, -20), at_5=(0, -20)).items(),
            (
                *((100, 20), (110, 10)),
                *((50, 10), (30, 30)),
                *((40, 0), (0, 40)),
                *((10, 10), (20, 0)),
            ),
            strict=True,
        )
    }
}


def drawn(**each: float) -> dict[Any, Any]:
    """Return drives with blocks of some kinds, without groups and with three that gain so much."""
    return {
        (scheme, kind, "hm0"): made(
            read=100.0 + (change if scheme == "pv-read" else 0.0), migration=moved(1, 0)
        )
        for kind, change in each.items()
        for scheme in ("pv-unaware", "pv-read")
    }


def lived(hot: int = 1, **of_load: tuple[float, float]) -> dict[Any, Any]:
    """Return what was written by three groups and under wear leveling alone."""
    return {
        (scheme, load): made(
            life=SimpleNamespace(five_percent_bytes=written), migration=moved(hot, 0)
        )
        for load, both in of_load.items()
        for scheme, written in zip(("pv-read", "pv-wear-leveling"), both, strict=True)
    }


COUNTED = {
    (name,): dict(
        zip(("pages seldom", "pages often", "reads seldom", "reads often"), of, strict=True)
    )
    for name, of in {
        "proj0": (80, 6, 70, 11),
        "stg0": (60, 2, 65, 12),
        "wdev0": (90, 4, 21, 85),
        "rsrch0": (70, 8, 22, 82),
    }.items()
}
MEMORY = {"block_groups": 128, "read_counts": 800, "clock": 200}

OF_PV_READ: dict[str, Case] = {
    "V1": ([UNAWARE, drives(ideal_wear=(50, 10))], [30]),
    "V2": ([UNAWARE, drives(pv_ideal=(-80, -60))], [-70]),
    "V3": ([UNAWARE, drives(pv_read=(-50, -30))], [-40]),
    "V4": ([UNAWARE, GROUPS], [100 * 2 / 3, 50 - 30]),
    "V5": ([UNAWARE, APART], [32 - 20]),
    "V6": ([BY_GROUPS, BY_SPACE], [fmean([10, 5, 0]), 100 * 120 / 150, 100 / 3, 100 * 2 / 3]),
    "V7": ([lived(hm0=(90, 100), src12=(190, 200))], [-10, -5]),
    "V8": (
        [drawn(new=-10, worn=5), drawn(even=-30, wide=-20, wider=-25, widest=5)],
        [100 / 2, 100 * 3 / 4, 100 * 2 / 3, 30 + 5],
    ),
    "V9": ([UNAWARE, HOT], [12 / 6, -35 + 40]),
    "V10": ([COUNTED], [fmean([80, 60, 90, 70]), fmean([6, 2, 4, 8])]),
    "V11": ([{("codes",): {"bch": 1e-3, "hard": 2e-3, "soft": 3e-3}}], [1e-3, 2e-3, 3e-3]),
    "V12": ([COUNTED], [70, 65, 85, 82]),
    "V13": (
        [{("pv-read",): made(metadata_bytes={key: 1024 * kib for key, kib in MEMORY.items()})}],
        [128, 800, 200],
    ),
    "V14": (
        [{("needed",): 4000.0, ("ldpc",): 9000.0, ("bch",): 1500.0}],
        [4000, 1500, 9000],
    ),
}


MIXES = ("mix-a", "mix-b")


def aged(scheme: str, figure: str, **stages: Sequence[Sequence[float]]) -> dict[Any, Any]:
    """Return a scheme's runs by stage and mix, of which such a figure is as given."""
    return {
        (scheme, stage, mix): read(**{figure: of})
        for stage, each in stages.items()
        for mix, of in zip(MIXES, each, strict=True)
    }


def differing(scheme: str) -> dict[Any, Any]:
    return aged(
        scheme,
        "means",
        young=[(50, 80, 100), (30, 40, 60)],  # -50 and -50 % of low, -37.5 and -25 % of mid
        adult=[(40, 50, 100), (20, 40, 80)],  # -60 and -75 %, -20 and -50 %
        old=[(90, 100, 120), (80, 100, 100)],  # -25 and -20 %, -10 and -20 %
    )


DIFFERING = [
    *(fmean([-50, -50]), fmean([-60, -75]), fmean([-25, -20])),
    *(fmean([-37.5, -25]), fmean([-20, -50]), fmean([-10, -20])),
]
MOST_DIFFERING = [-50, -75, -25, -37.5, -50, -20]


def tails(scheme: str, young: float, adult: float, old: float) -> dict[Any, Any]:
    """Return tails of which high's change so on MixA, and half as much on MixB."""
    both = {"young": young, "adult": adult, "old": old}
    base = aged("baseline", "tails", **{stage: [(100, 9, 9), (200, 9, 9)] for stage in both})
    own = {stage: [(100 + change, 8, 7), (200 + change, 8, 7)] for stage, change in both.items()}
    return base | aged(scheme, "tails", **own)


ON_OLD = {
    **aged("baseline", "means", old=[(100, 100, 100), (200, 100, 50)]),
    # -50 and -25 %, +20 and +10 %, +50 and +100 %
    **aged("rgftl", "means", old=[(50, 120, 150), (150, 110, 100)]),
}

# Waits are in order on two of four loads, latencies on one.
WAITING = {
    ("baseline", OLD, "mix-a"): read((5, 4, 6), waits=(1, 2, 3)),
    ("baseline", OLD, "mix-b"): read((1, 2, 3), waits=(2, 1, 3)),
    ("baseline", OLD, "mix-c"): read((3, 2, 1), waits=(3, 2, 1)),
    # What ReadGuard does is not asked.
    ("rgftl", OLD, "mix-a"): read((1, 2, 3), waits=(1, 2, 3)),
}
WAITING_YCSB = {("baseline", OLD, "ycsb"): read((3, 2, 1), waits=(1, 2, 3))}


def changed(moved: int = 5) -> dict[Any, Any]:
    """Return long runs: writes and WAF of MixA and of MixC, where MixA's baseline has none."""
    repairs = SimpleNamespace(moved=moved)
    return {
        ("baseline", OLD, "mix-a"): read(write=100.0, waf=None),
        ("baseline", OLD, "mix-c"): read(write=50.0, waf=2.0),
        ("rgftl", OLD, "mix-a"): read(write=102.0, waf=1.2, repairs=repairs),
        ("rgftl", OLD, "mix-c"): read(write=53.0, waf=2.1, repairs=repairs),
    }


SIZED = {
    ("baseline", "500g", "mix-a"): read((100, 1, 1)),
    ("baseline", "500g", "mix-b"): read((200, 1, 1)),
    ("baseline", "1t", "mix-a"): read((10, 1, 1)),
    ("baseline", "1t", "mix-b"): read((20, 1, 1)),
    # -50, -30, -40 and -20 %: 15, 5, 5 and 15 from their mean.
    ("rgftl", "500g", "mix-a"): read((50, 3, 5)),
    ("rgftl", "500g", "mix-b"): read((140, 4, 2)),
    ("rgftl", "1t", "mix-a"): read((6, 2, 4)),
    ("rgftl", "1t", "mix-b"): read((16, 6, 3)),
}

FIT = {
    "percent": [3.0, 12.0, 9.0],
    "spread": 2,
}


def worn(*spreads: int, leveled: int = 1) -> dict[Any, Any]:
    # Half as far apart within the second priority, a quarter within the others.
    replays = [
        SimpleNamespace(
            wear=SimpleNamespace(
                min=100,
                max=100 + one,
                priorities=[SimpleNamespace(min=100, max=100 + one / part) for part in (4, 2, 4)],
            )
        )
        for one in spreads
    ]
    return {("rgftl",): made(replays=replays, wear_leveled=leveled)}


ENDS = (66, 60, 68, 61, 62, 63, 64, 65, 67, 69)
# Of pages that need none, one and two: means of 0.5, 1 and 1.5.
RISING = ((1, 1), (0, 1), (0, 1, 1))
FALLING = RISING[::-1]
ALIKE = ((0, 1), (0, 1), (0, 1))
RETRIED = {
    ("baseline", OLD, "mix-a"): read(retries=FALLING),
    ("baseline", OLD, "mix-b"): read(retries=ALIKE),
    ("rgftl", OLD, "mix-a"): read(retries=RISING),
    ("rgftl", OLD, "mix-b"): read(retries=RISING),
}
RETRIED_YCSB = {
    ("baseline", OLD, "ycsb"): read(retries=ALIKE),
    ("rgftl", OLD, "ycsb"): read(retries=FALLING),
}

OF_READGUARD: dict[str, Case] = {
    "R1": ([differing("rgftl")], DIFFERING + MOST_DIFFERING),
    "R2": ([ON_OLD], [fmean([-50, -25]), fmean([20, 10]), fmean([50, 100])]),
    "R3": ([WAITING, WAITING_YCSB], [100 * 2 / 4, 100 * 3 / 4]),
    "R4": ([tails("rgftl", -40, -52, -20)], [-30, -39, -15]),
    "R5": (
        [
            {
                **tails("rgftl++", -16, 8, -24),
                **tails("rgftl-", -40, -52, 20),
                **tails("rgftl", -40, -52, -20),
            }
        ],
        [-12, 6, -18, 30 - 12, 39 + 6, 15 - 18, -30, -39, 15, 0, 0, 15 + 15],
    ),
    "R6": (
        [
            {
                ("nopftl", OLD, "ycsb"): read((120, 1, 9), (70, 2, 8)),
                ("rorftl", OLD, "ycsb"): read((100, 2, 7), (50, 4, 6)),
            }
        ],
        [40, 20],
    ),
    "R7": ([changed()], [fmean([2, 6]), 6]),
    "R8": ([changed()], [20]),
    "R9": ([differing("rgftl+")], DIFFERING),
    "R10": ([{("fit",): FIT}], [12, 2]),
    "R11": ([{("rgftl", WORN, "mix-a"): compared(15, 4)}], [15, 4]),
    "R12": ([SIZED], [fmean([15**2, 5**2, 5**2, 15**2]) ** 0.5, 5]),
    "R13": (
        [
            {
                (size,): made(metadata_bytes={"block_retries": mb * 10**6, "other": 1})
                for size, mb in {"1t": 2.5, "2t": 5, "4t": 10}.items()
            }
        ],
        [2.5, 5, 10],
    ),
    "R14": ([worn(*range(1, 41), 90, *ENDS)], [64.5, 32.25]),
    "R15": (
        [
            {
                ("rgftl", OLD, "mix-c"): read((90, 3, 4)),
                ("rgftl-", OLD, "mix-c"): read((100, 5, 5)),
            }
        ],
        [-10],
    ),
    "R16": ([{("baseline", OLD, "mix-a"): read((140, 100, 112))}], [40, 25]),
    "R17": (
        [
            {
                ("baseline+", stage, "mix-a"): read((high, 100, 50))
                for stage, high in ((YOUNG, 120), (ADULT, 125), (OLD, 90))
            }
        ],
        [20, 25, -10],
    ),
    "R18": (
        [
            {
                **aged("baseline+", "means", old=[(100, 1, 1), (200, 1, 1)]),
                # -40 and -10 %
                **aged("rgftl+", "means", old=[(60, 2, 3), (180, 2, 3)]),
            }
        ],
        [-25],
    ),
    "R19": ([RETRIED, RETRIED_YCSB], [100 * 2 / 3, 100 / 3]),
}

CASES = {**OF_PV_READ, **OF_READGUARD}


def test_every_claim_is_looked_at() -> None:
    assert set(CASES) == ids("pv-read", "readguard")
    assert STAGES == ("young", "adult", "old")


@pytest.mark.parametrize("name", CASES)
def test_a_claims_figures_are_those_of_its_runs(name: str) -> None:
    hold(name, CASES[name])


ROUNDS = sorted(one.id for one in claims() if "rounds" in one.ruled)
"""The claims that say that the quality monitor has its rounds."""


def test_some_claims_need_rounds() -> None:
    assert ROUNDS == ["R19", "R2", "R7", "R8"]


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("counters", [{INVERSION_REPAIR: {"moved": 0}}, {}])
def test_without_repairs_nothing_is_found(name: str, counters: Any) -> None:
    (long, *others), expected = CASES[name]
    last = list(long)[-1]
    assert last[0] == "rgftl"
    idle = {**long, last: SimpleNamespace(**{**vars(long[last]), "counters": counters})}
    with pytest.raises(NeverRanError, match=f"repaired nothing on {last[2]}$") as raised:
        found(name, [idle, *others])
    # What is shown beside the paper's.
    assert list(raised.value.found) == pytest.approx(list(expected))
    # In a run that a sweep shortens, nothing could have been repaired.
    short = {**vars(long[last]), "counters": counters, "provenance": planned(readguard.LONG - 1)}
    assert found(name, [{**long, last: SimpleNamespace(**short)}, *others]) == pytest.approx(
        list(expected)
    )


NOTHING = SimpleNamespace(hot=0, cold=9)


@pytest.mark.parametrize("name", ["V3", "V4", "V5", "V6", "V7", "V8", "V9"])
def test_without_moves_nothing_is_found(name: str) -> None:
    still = [
        {key: SimpleNamespace(**{**vars(one), "migration": NOTHING}) for key, one in runs.items()}
        for runs in CASES[name][0]
    ]
    with pytest.raises(NeverRanError, match="no page was read often enough"):
        found(name, still)


def test_a_life_without_moves_shows_nothing_whatever_the_other_moves() -> None:
    one, other = lived(hm0=(90, 100)), lived(hot=0, src12=(190, 200))
    with pytest.raises(NeverRanError, match="no page was read often enough"):
        found("V7", [one | other])


def test_little_that_is_gained_cannot_differ_by_much() -> None:
    little = {
        (f"{name}%", load): one
        for (name, load), one in drives(at_5=(-1, -1), at_10=(-2.5, -2.5)).items()
    }
    with pytest.raises(NeverRanError, match="so little is gained") as raised:
        found("V5", [UNAWARE, little])
    assert list(raised.value.found) == pytest.approx([1.5])


def test_blocks_that_outlast_all_cycles_show_nothing() -> None:
    with pytest.raises(NeverRanError, match="outlasts"):
        found("V14", [{("needed",): 4000.0, ("ldpc",): None, ("bch",): 1500.0}])


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (worn(*range(1, 41), 70, *ENDS), "never passed 70: it was 70"),
        (worn(*range(1, 41), 71, *ENDS, leveled=0), "no wear was leveled"),
    ],
)
def test_wear_that_never_spread_cannot_come_back(runs: Any, message: str) -> None:
    with pytest.raises(NeverRanError, match=message) as raised:
        found("R14", [runs])
    # Shown all the same, and with the other seeds' figures.
    assert list(raised.value.found) == [64.5, 32.25]


def test_names_are_those_of_the_rules() -> None:
    assert (*MIXES, "mix-c") == readguard.MIXES[:3]
    assert {name for name, _ in GROUPS} == {*pv_read.GROUPS}
    assert {name for name, _ in APART} == {*pv_read.APART}
    assert {name for name, _ in HOT} == {*pv_read.THRESHOLDS}
