"""How figures of ours are found: a function a claim and a picture, and the runs that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab_reproduction.claim import SYSTEMS
from ssdlab_reproduction.runs import Jobs
from ssdlab_reproduction.scope import Scope

Set = Callable[[Scope], Jobs]
"""Returns the runs that a claim looks at; none where a quick ledger leaves the claim out."""

Figures = Callable[..., Sequence[float]]
"""Takes the sets' runs, each as :class:`.runs.Runs`; the figures of the claim."""


class NeverRanError(Exception):
    """What a claim is about did not happen in the runs: it is not reproduced.

    ``found`` are its figures, where there are any, to be shown beside the paper's.
    """

    def __init__(self, reason: str, found: Sequence[float] = ()) -> None:
        """Say what did not happen."""
        super().__init__(reason)
        self.found = found


@dataclass(frozen=True, slots=True)
class Rule:
    """How the figures of a claim are found."""

    sets: Sequence[Set]
    figures: Figures
    seeds: int | None = None


RULES: dict[str, Rule] = {}


def claim(name: str, *sets: Set, seeds: int | None = None) -> Callable[[Figures], Figures]:
    """Say that the decorated function finds the figures of a claim, in the order of its list.

    ``seeds`` is the most that are run, where each takes long.
    """

    def add(figures: Figures) -> Figures:
        if name in RULES:
            raise ValueError(f"two functions for {name}")
        RULES[name] = Rule(sets, figures, seeds)
        return figures

    return add


Rows = Sequence[tuple[str | float, str, float]]
"""What a picture draws: where along its axis, which series, and the value there; of a box the value
at each of its picture's ``ends``, in their order."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The ends of a box's whiskers, its borders, and the line in its middle."""
SHARES = tuple(f"{share:.0%}" for share in QUANTILES)
EXTREMES = ("least", "quarter", "median", "three quarters", "most")
"""The same of a box whose whiskers reach as far as there is anything."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a paper, to be drawn with data of ours.

    ``kind`` is ``bars`` or ``boxes`` (a group of them at each place), ``lines`` (over numbers) or
    ``shares`` (parts of a whole, a bar at each place); ``x`` and ``y`` are what the axes
    say, ``number`` how values are written on them, ``logarithmic`` the axis along which lines
    go, and ``ends`` what the values of a box are.
    """

    system: str
    figure: str
    title: str
    what: str
    kind: str
    y: str
    sets: Sequence[Set]
    rows: Callable[..., Rows]
    x: str = ""
    number: str = ",~r"
    logarithmic: bool = False
    from_zero: bool = True
    ends: Sequence[str] = SHARES

    @property
    def place(self) -> tuple[int, int]:
        """Return where it stands: by system, then by the paper's number."""
        number = re.search(r"\d+", self.figure)
        return list(SYSTEMS).index(self.system), int(number[0]) if number else 0


PICTURES: list[Picture] = []


def picture(
    system: str, figure: str, title: str, *sets: Set, **options: Any
) -> Callable[[Callable[..., Rows]], Callable[..., Rows]]:
    """Say that the decorated function finds what a paper's figure draws; see :class:`Picture`.

    Its docstring is what stands beside the figure. Pictures are of the first seed.
    """

    def add(rows: Callable[..., Rows]) -> Callable[..., Rows]:
        what = " ".join((rows.__doc__ or "").split())
        PICTURES.append(Picture(system, figure, title, what, sets=sets, rows=rows, **options))
        return rows

    return add
