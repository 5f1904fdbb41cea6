"""What the tests of claims share."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ssdlab.result.parts import INVERSION_REPAIR
from ssdlab_reproduction import ledger
from ssdlab_reproduction.claim import claims
from ssdlab_reproduction.registry import RULES
from ssdlab_reproduction.systems.readguard import LONG

COUNTS = {"dlv": ("D", 19), "pa-ssd": ("P", 17), "pv-read": ("V", 14), "readguard": ("R", 19)}
COUNTS["hire"] = ("H", 5)
"""How many claims the ledger has of each system."""


class FakeRuns(dict[Any, Any]):
    """Results by their names, as :class:`ssdlab_reproduction.runs.Runs` gives them."""

    def names(self, at: int) -> list[str]:
        return list(dict.fromkeys(key[at] for key in self))


def made(
    read: float = 7.0, write: float = 11.0, every: float = 13.0, tail: float = 17.0, **of_run: Any
) -> Any:
    """Make up a result: mean latencies of reads, of writes and of all, the tail of reads."""
    us = {"read": (read, tail), "write": (write, 19.0), "all": (every, 23.0)}
    kinds = {
        kind: SimpleNamespace(latency_us=SimpleNamespace(mean=mean, p99=p99))
        for kind, (mean, p99) in us.items()
    }
    return SimpleNamespace(**{**kinds, "replays": (), "requests": 1000, **of_run})


def planned(limit: int) -> Any:
    """Return the origin of a run that was to read so many requests."""
    return SimpleNamespace(plan={"limit": limit})


def read(
    means: Sequence[float] = (3, 5, 7),
    tails: Sequence[float] = (31, 37, 41),
    waits: Sequence[float] = (43, 47, 53),
    retries: Sequence[Any] = ((1,), (1,), (1,)),
    **of_run: Any,
) -> Any:
    """Make up a run of three applications, the highest first."""
    queues = [
        SimpleNamespace(
            read=SimpleNamespace(latency_us=SimpleNamespace(mean=mean, p99=tail)),
            read_waiting_us=wait,
            read_retries=counts,
        )
        for mean, tail, wait, counts in zip(means, tails, waits, retries, strict=True)
    ]
    other = {"counters": {INVERSION_REPAIR: {"moved": 5}}, "provenance": planned(LONG)}
    return made(queues=queues, **{**other, **of_run})


def compared(blocks: int, pages: int) -> Any:
    """Make up a run whose pages are so many retries apart: of blocks, and of one."""
    return made(detail=SimpleNamespace(retry_spread=SimpleNamespace(blocks=blocks, pages=pages)))


Case = tuple[Sequence[Mapping[Any, Any]], Sequence[float]]
"""A claim's sets of results, by their names, and the figures that follow from them by hand."""


def ids(*systems: str) -> set[str]:
    """Return the claims of these systems, whose rules are loaded."""
    for system in systems:
        ledger.load(system)
    return {one.id for one in claims(systems)}


def found(name: str, sets: Sequence[Mapping[Any, Any]]) -> list[float]:
    """Return the figures of a claim."""
    return [float(one) for one in RULES[name].figures(*map(FakeRuns, sets))]


def hold(name: str, case: Case) -> None:
    """Hold a claim's figures against those that were worked out."""
    sets, expected = case
    (claim,) = (one for one in claims() if one.id == name)
    assert len(expected) == len(claim.figures)
    assert found(name, sets) == pytest.approx(list(expected), abs=1e-9)
