"""The functions that find the figures of claims and pictures, and the runs that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab_reproduction.claim import SYSTEMS
from ssdlab_reproduction.runs import Jobs
from ssdlab_reproduction.scope import Scope

Set = Callable[[Scope], Jobs]
"""Returns the runs that a claim needs; none if a quick ledger leaves the claim out."""

Figures = Callable[..., Sequence[float]]
"""Takes the runs of the sets, each as :class:`.runs.Runs`; returns the figures of the claim."""


class NeverRanError(Exception):
    """The event that a claim is about did not happen in the runs: it is not reproduced.

    ``found`` are its figures, if there are any, to show beside the paper's.
    """

    def __init__(self, reason: str, found: Sequence[float] = ()) -> None:
        """Store the event that did not happen, and the figures."""
        super().__init__(reason)
        self.found = found


@dataclass(frozen=True, slots=True)
class Rule:
    """The runs of a claim, and the function that finds its figures."""

    sets: Sequence[Set]
    figures: Figures
    seeds: int | None = None


RULES: dict[str, Rule] = {}


def claim(name: str, *sets: Set, seeds: int | None = None) -> Callable[[Figures], Figures]:
    """Register a function that finds the figures of a claim, in the order of its list.

    ``seeds`` limits the number of seeds for claims with long runs.
    """

    def add(figures: Figures) -> Figures:
        if name in RULES:
            raise ValueError(f"two functions for {name}")
        RULES[name] = Rule(sets, figures, seeds)
        return figures

    return add


Rows = Sequence[tuple[str | float, str, float]]
"""The data of a picture: the place along its axis, the series, and the value. A box has one value
for each of its picture's ``ends``, in their order.
"""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The ends of a box's whiskers, its borders, and the line in its middle."""
SHARES = tuple(f"{share:.0%}" for share in QUANTILES)
EXTREMES = ("least", "quarter", "median", "three quarters", "most")
"""The same for a box whose whiskers reach the least and the most."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a paper, to be drawn with our data.

    ``kind`` is ``bars`` or ``boxes`` (a group at each place), ``lines`` (over numbers) or
    ``shares`` (parts of a whole, a bar at each place). ``x`` and ``y`` are the titles of the axes,
    and ``number`` is the format of values. ``logarithmic`` is the axis along which lines go.
    ``ends`` names the values of a box.
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
        """Return its position: by system, then by the paper's number."""
        number = re.search(r"\d+", self.figure)
        return list(SYSTEMS).index(self.system), int(number[0]) if number else 0


PICTURES: list[Picture] = []


def picture(
    system: str, figure: str, title: str, *sets: Set, **options: Any
) -> Callable[[Callable[..., Rows]], Callable[..., Rows]]:
    """Register a function that finds the data of a paper's figure; see :class:`Picture`.

    Its docstring is the caption of the figure. Pictures use the first seed.
    """

    def add(rows: Callable[..., Rows]) -> Callable[..., Rows]:
        what = " ".join((rows.__doc__ or "").split())
        PICTURES.append(Picture(system, figure, title, what, sets=sets, rows=rows, **options))
        return rows

    return add
