"""Validation of a fitted predictor, on chips to which it was not fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ssdlab.calibration.measurements import Measurements, Numbers
from ssdlab.calibration.model import (
    RETRIES_MOST,
    ErrorInputs,
    Predictor,
    fit_errors,
    rmse_percent,
    rounded,
)

AGES = (0.2, 0.5, 0.8)
_WINDOW = 0.05
_OLD_CYCLES = 3500.0
_STEP = 6.0
"""The width of a bin of errors, over which retries are averaged."""
_WEEK, _MONTH, _FEW_MONTHS = 7.0, 30.0, 90.5
RMSE_MOST, SPREAD_MOST = 10.0, 1
CLEARLY = 1.5
"""The factor from which an error counts as clearly worse. Assumed."""


def errors(table: Measurements, ages: Numbers, predicted: Numbers) -> Iterator[dict[str, Any]]:
    """Yield prediction errors by age, over retention of unread data and over reads of new data."""
    calm, young = table.reads == table.reads.min(), table.days == table.days.min()
    for over, among, along in (("retention", calm, table.days), ("reads", young, table.reads)):
        for age in AGES:
            center = _found(ages[among], age)
            rows = among & (np.abs(ages - center) <= _WINDOW)
            measured, foreseen, at = table.errors[rows], predicted[rows], along[rows]
            yield {
                "age": age,
                "center": round(center, 3),
                "over": over,
                "rows": int(rows.sum()),
                "percent": rmse_percent(foreseen, measured),
                "points": [_point(at, place, measured, foreseen) for place in _places(at)],
            }


def _found(ages: Numbers, age: float) -> float:
    """Return ``age`` if blocks near it exist, else the nearest age of a block."""
    apart = np.abs(ages - age)
    return age if apart.min() <= _WINDOW else float(ages[int(apart.argmin())])


def _places(values: Numbers) -> Numbers:
    """Return the distinct values of an axis; values that differ by rounding count once."""
    return np.unique(np.round(values, 3))


def _point(at: Numbers, place: float, measured: Numbers, foreseen: Numbers) -> dict[str, float]:
    here = np.round(at, 3) == place
    return {
        "at": float(place),
        "measured": float(measured[here].mean()),
        "least": float(measured[here].min()),
        "most": float(measured[here].max()),
        "predicted": float(foreseen[here].mean()),
    }


def spreads(measured: Numbers, predicted: Numbers) -> Iterator[dict[str, Any]]:
    """Yield the distribution of measured retries for each predicted number of retries."""
    for value in np.unique(predicted):
        of = measured[predicted == value]
        quarter, median, three = (float(at) for at in np.quantile(of, (0.25, 0.5, 0.75)))
        yield {
            "predicted": int(value),
            "rows": len(of),
            "least": int(of.min()),
            "quarter": quarter,
            "median": median,
            "three_quarters": three,
            "most": int(of.max()),
        }


def ablations(
    fitted: Measurements, validated: Measurements, predictor: Predictor, percent_all: float
) -> Iterator[dict[str, Any]]:
    """Yield the validation error of predictors that are fitted with less input."""
    yield {"name": "all", "what": "age, retention, reads", "percent": percent_all}
    most = float(fitted.cycles.max()) or 1.0

    def inputs(table: Measurements, name: str) -> ErrorInputs:
        ages, cycles = predictor.ages(table), table.cycles / most
        days = np.zeros(len(table)) if name == "C2" else table.days
        initial = cycles if name.startswith("C1") else ages
        growth = cycles if name == "C1 in both" else ages
        return ErrorInputs(initial, growth, days, table.reads)

    for name, what in (
        ("C1", "P/E cycles in place of the age, in eq. 1"),
        ("C1 in both", "P/E cycles in place of the age, in eq. 1 and 2"),
        ("C2", "no retention"),
    ):
        found = np.array(rounded(fit_errors(inputs(fitted, name), fitted.errors)))
        foreseen = inputs(validated, name).errors(found)
        yield {"name": name, "what": what, "percent": rmse_percent(foreseen, validated.errors)}


def conditions(table: Measurements) -> Iterator[dict[str, Any]]:
    """Yield the retries by cycles, for data of four ages up to a year, unread and much read."""
    days, reads = _places(table.days), _places(table.reads)
    often = _nearest(reads, 57_600.0)
    for age in dict.fromkeys(_nearest(days, wanted) for wanted in (0.0, _WEEK, _MONTH, 365.0)):
        for count in dict.fromkeys((float(reads[0]), often)):
            here = (np.round(table.days, 3) == age) & (table.reads == count)
            chances = [
                {"cycles": float(cycles), "shares": _shares(table.retries[here & at])}
                for cycles in np.unique(table.cycles[here])
                for at in (table.cycles == cycles,)
            ]
            if chances:
                yield {"days": age, "reads": count, "chances": chances}


def _nearest(values: Numbers, wanted: float) -> float:
    return float(values[int(np.argmin(np.abs(np.log1p(values) - np.log1p(wanted))))])


def _shares(retries: Numbers) -> list[float]:
    counts = np.bincount(retries.astype(int))
    return [round(float(count) / len(retries), 5) for count in counts]


def variation(table: Measurements) -> Iterator[dict[str, Any]]:
    """Yield the range of retries over blocks and over pages, by condition, at about 3.5K cycles."""
    cycles = float(
        np.unique(table.cycles)[np.argmin(np.abs(np.unique(table.cycles) - _OLD_CYCLES))]
    )
    old = table.where(table.cycles == cycles)
    for days in _places(old.days):
        for reads in np.unique(old.reads):
            at = old.where((np.round(old.days, 3) == days) & (old.reads == reads))
            if not len(at):
                continue
            intra = int((at.retries - at.best).max()) if len(at.best) else None
            yield {
                "cycles": cycles,
                "days": float(days),
                "reads": float(reads),
                "inter": int(np.ptp(at.retries)),
                "intra": intra,
            }


def steps(table: Measurements) -> Iterator[dict[str, Any]]:
    """Yield the measured retries by bin of errors."""
    places = np.floor(table.errors / _STEP)
    for place in np.unique(places):
        of = table.retries[places == place]
        yield {
            "errors": float((place + 0.5) * _STEP),
            "rows": len(of),
            "mean": round(float(of.mean()), 4),
            "least": int(of.min()),
            "most": int(of.max()),
        }


def claims(found: dict[str, Any], table: Measurements) -> Iterator[dict[str, Any]]:
    """Yield the claims of the paper beside the values found."""
    for one in found["errors"]:
        words = f"%RMSE over {one['over']}, age {one['age']:g}"
        near = f", nearest {one['center']:g}" if one["center"] != one["age"] else ""
        tested = abs(one["center"] - one["age"]) <= _WINDOW
        fine = one["percent"] < RMSE_MOST if tested else None
        # A value just below the bound must not be rounded to the bound.
        digits = 4 if fine and round(one["percent"], 2) == RMSE_MOST else 2
        figure = f"{one['percent']:.{digits}f} %"
        yield _claim(words + near, words, f"< {RMSE_MOST:g} %", figure, holds=fine)
    widest = max(one["most"] - one["least"] for one in found["spreads"])
    words, short = "measured retries where as many were predicted", "retries predicted alike"
    paper = f"within {SPREAD_MOST}"
    yield _claim(words, short, paper, f"within {widest}", holds=widest <= SPREAD_MOST)
    whole, *others = found["ablations"]
    for one in others:
        factor = one["percent"] / whole["percent"] if whole["percent"] else 1.0
        words, short = f"%RMSE of {one['name']}: {one['what']}", f"%RMSE of {one['name']}"
        figure = f"{one['percent']:.2f} % (×{factor:.2f})"
        yield _claim(words, short, "clearly worse", figure, holds=factor >= CLEARLY)
    yield from _chips(found, table)


def _chips(found: dict[str, Any], table: Measurements) -> Iterator[dict[str, Any]]:
    """Compare the chips with the paper, where they were measured under its conditions."""
    least, most = int(table.retries.min()), int(table.retries.max())
    fine = least == 0 and most == RETRIES_MOST
    words = "retries over all conditions"
    yield _claim(words, words, f"0 to {RETRIES_MOST}", f"{least} to {most}", holds=fine)
    calm = table.where(table.reads == table.reads.min())

    def at(cycles: float, days: float) -> Numbers:
        near = np.abs(calm.days - days) <= 0.01 * days
        found: Numbers = calm.retries[(calm.cycles == cycles) & near]
        return found

    new = at(0.0, 365.0)
    if len(new) and new.min() > 0:
        factor = new.max() / new.min()
        words = "no cycles, 12 months: retries of the worst block over the best's"
        figure = f"{int(new.max())} / {int(new.min())}"
        yield _claim(words, "0 cycles, 12 months", "3 times", figure, holds=2.5 <= factor <= 3.5)
    old = at(3000.0, _MONTH)
    if len(old):
        figure = f"{int(old.min())} to {int(old.max())}"
        fine = bool(old.min() >= 8 and old.max() <= 16)
        words = "3K cycles, 1 month: retries"
        yield _claim(words, words, "8 to 16", figure, holds=fine)
    yield from _spread_claims(found, calm)


def _spread_claims(found: dict[str, Any], calm: Measurements) -> Iterator[dict[str, Any]]:
    """Compare the spread of blocks and of pages in old chips, for data of up to 90 days."""
    cycles = found["variation"][0]["cycles"]
    if abs(cycles - _OLD_CYCLES) > 0.1 * _OLD_CYCLES:
        return
    old = calm.where((calm.cycles == cycles) & (calm.days <= _FEW_MONTHS))
    inter = int(np.ptp(old.retries))
    words = f"{cycles:g} cycles, up to 90 days: retries of blocks apart"
    short = f"{cycles:g} cycles: blocks apart"
    yield _claim(words, short, "up to 16", str(inter), holds=14 <= inter <= 16)
    if len(old.best):
        intra = int((old.retries - old.best).max())
        words = f"{cycles:g} cycles, up to 90 days: retries of pages of a block apart"
        short = f"{cycles:g} cycles: pages of a block apart"
        yield _claim(words, short, "up to 3", str(intra), holds=2 <= intra <= 3)


def _claim(what: str, short: str, paper: str, found: str, *, holds: bool | None) -> dict[str, Any]:
    fine = None if holds is None else bool(holds)
    return {"what": what, "short": short, "paper": paper, "found": found, "holds": fine}
