"""ReadGuard's figures of chips and of the predictor, from a fit to generated chips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab_reproduction.registry import EXTREMES, Rows, picture
from ssdlab_reproduction.runs import Runs
from ssdlab_reproduction.statistics import quantiles
from ssdlab_reproduction.systems.readguard import predictor

_CYCLES, _SHARE = "P/E cycles", "Share of blocks"
_BOXES: dict[str, Any] = {"kind": "boxes", "y": "Retries"}
_READ = 0.0, 57_600.0
"""The reads of an unread block, and of a block of 576 pages that was read a hundred times."""
_AGES = {0.0: "fresh", 7.0: "1 week", 30.0: "1 month"}
_YEAR = {365.0: "12 months"}


def _conditions(
    fit: Mapping[str, Any], ages: Mapping[float, str] = _AGES
) -> Iterator[tuple[str, float, Any]]:
    """Yield the paper's conditions: the age of the data, the reads, the retries of blocks."""
    for one in fit["conditions"]:
        if one["days"] in ages and one["reads"] in _READ:
            yield ages[one["days"]], one["reads"], one["chances"]


@picture("readguard", "Fig. 6", "Retries of blocks", predictor, x=_CYCLES, **_BOXES)
def fig_6(runs: Runs) -> Rows:
    """Retries of all blocks of the chips by cycles and age of the data, which was not read."""
    return [
        (f"{chance['cycles']:g}", age, value)
        for age, reads, chances in _conditions(runs["fit",], _AGES | _YEAR)
        if reads == _READ[0]
        for chance in chances
        for value in quantiles(chance["shares"])
    ]


@picture(
    "readguard",
    "Fig. 8",
    "Errors and retries",
    predictor,
    kind="lines",
    x="Raw bit errors of a codeword at the first attempt",
    y="Retries",
)
def fig_8(runs: Runs) -> Rows:
    """Retries that were measured of pages with so many errors: the fewest, the mean, the most."""
    return [
        (one["errors"], name, one[name])
        for name in ("least", "mean", "most")
        for one in runs["fit",]["steps"]
    ]


@picture(
    "readguard",
    "Fig. 10a",
    "Retries foreseen",
    predictor,
    x="Retries that were foreseen",
    ends=EXTREMES,
    **_BOXES,
)
def fig_10a(runs: Runs) -> Rows:
    """Retries that were measured: least, most and the middle half where so many were foreseen."""
    ends = ("least", "quarter", "median", "three_quarters", "most")
    return [
        (f"{one['predicted']}", "measured", one[end])
        for one in runs["fit",]["spreads"]
        for end in ends
    ]


def _errors(runs: Runs, over: str) -> Rows:
    """Return measured and predicted errors, by the age of the evaluated blocks."""
    return [
        (point["at"], f"{one['center']:.2f}, {kind}", point[kind])
        for one in runs["fit",]["errors"]
        if one["over"] == over
        for kind in ("measured", "predicted")
        for point in one["points"]
    ]


_LINES: dict[str, Any] = {"kind": "lines", "y": "Raw bit errors of a codeword"}


@picture("readguard", "Fig. 10b", "Errors over retention", predictor, x="Days at 30 °C", **_LINES)
def fig_10b(runs: Runs) -> Rows:
    """Mean errors of blocks of three ages by the age of their data, which was not read."""
    return _errors(runs, "retention")


@picture("readguard", "Fig. 10c", "Errors over reads", predictor, x="Reads of the block", **_LINES)
def fig_10c(runs: Runs) -> Rows:
    """Mean errors of blocks of three ages by how often they were read after they were written."""
    return _errors(runs, "reads")


@picture("readguard", "Fig. 10d", "Predictors that know less", predictor, kind="bars", y="%RMSE")
def fig_10d(runs: Runs) -> Rows:
    """%RMSE of errors: of the predictor as it is (all), and of some that know less.

    C1 has P/E cycles in place of the age, at first or in both equations; C2 does not know the
    data's age.
    """
    return [(one["name"], "predictor", one["percent"]) for one in runs["fit",]["ablations"]]


def _add(letter: str, at: int, age: str) -> None:
    """Register a picture of the retries that blocks need, by cycles."""

    def rows(runs: Runs) -> Rows:
        return [
            (f"{chance['cycles']:g}", f"{retries}", share)
            for found, reads, chances in _conditions(runs["fit",])
            if (found, reads) == (age, _READ[at])
            for chance in chances
            for retries, share in enumerate(chance["shares"])
        ]

    state = f"{age}{', 100 block reads' if at else ''}"
    rows.__doc__ = f"Shares of blocks by the retries that they need: {state}."
    options: dict[str, Any] = {"kind": "shares", "x": _CYCLES, "y": _SHARE, "number": ".0%"}
    picture("readguard", f"Fig. 21{letter}", f"Retries, {state}", predictor, **options)(rows)


for _nth, _letter in enumerate("abcdef"):
    _add(_letter, _nth // len(_AGES), list(_AGES.values())[_nth % len(_AGES)])
