"""How a fitted predictor is validated, on chips to which it was not fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ssdlab.fitting.model import RETRIES_MOST, Predictor, Seen, of_errors, percent, rounded
from ssdlab.fitting.table import Numbers, Table

AGES = (0.2, 0.5, 0.8)
_WINDOW = 0.05
_OLD_CYCLES = 3500.0
_STEP = 6.0
"""Errors that count as one where retries are set beside them."""
_WEEK, _MONTH = 7.0, 30.0
RMSE_MOST, SPREAD_MOST = 10.0, 1
CLEARLY = 1.5
"""As many times worse counts as clearly worse. Assumed."""


def errors(table: Table, ages: Numbers, predicted: Numbers) -> Iterator[dict[str, Any]]:
    """Go through ages, over retention of data never read, and over reads of data just written."""
    calm, young = table.reads == table.reads.min(), table.days == table.days.min()
    for over, among, along in (("retention", calm, table.days), ("reads", young, table.reads)):
        for age in AGES:
            low, high = float(ages[among].min()) + _WINDOW, float(ages[among].max()) - _WINDOW
            centre = min(max(age, low), max(low, high))
            rows = among & (np.abs(ages - centre) <= _WINDOW)
            measured, foreseen, at = table.errors[rows], predicted[rows], along[rows]
            yield {
                "age": age,
                "centre": round(centre, 3),
                "over": over,
                "rows": int(rows.sum()),
                "percent": percent(foreseen, measured),
                "points": [_point(at, place, measured, foreseen) for place in _places(at)],
            }


def _places(values: Numbers) -> Numbers:
    """Return the values of an axis, those that differ by rounding once."""
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
    """Go through the retries that were predicted."""
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
    fitted: Table, validated: Table, predictor: Predictor, percent_all: float
) -> Iterator[dict[str, Any]]:
    """Fit predictors that know less, and validate them."""
    yield {"name": "all", "what": "age, retention, reads", "percent": percent_all}
    most = float(fitted.cycles.max()) or 1.0

    def seen(table: Table, name: str) -> Seen:
        ages, cycles = predictor.ages(table), table.cycles / most
        days = np.zeros(len(table)) if name == "C2" else table.days
        initial = cycles if name.startswith("C1") else ages
        growth = cycles if name == "C1 in both" else ages
        return Seen(initial, growth, days, table.reads)

    for name, what in (
        ("C1", "P/E cycles in place of the age, in eq. 1"),
        ("C1 in both", "P/E cycles in place of the age, in eq. 1 and 2"),
        ("C2", "no retention"),
    ):
        found = np.array(rounded(of_errors(seen(fitted, name), fitted.errors)))
        foreseen = seen(validated, name).errors(found)
        yield {"name": name, "what": what, "percent": percent(foreseen, validated.errors)}


def conditions(table: Table) -> Iterator[dict[str, Any]]:
    """Go through fresh data, a week, a month and a year, each read never and often."""
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


def variation(table: Table) -> Iterator[dict[str, Any]]:
    """Go through conditions at about 3.5K cycles: how far blocks and pages are apart."""
    cycles = float(np.unique(table.cycles)[np.argmin(np.abs(np.unique(table.cycles) - _OLD_CYCLES))])
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


def steps(table: Table) -> Iterator[dict[str, Any]]:
    """Go through errors, a few at a time: how many retries go with them."""
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


def claims(found: dict[str, Any], table: Table) -> Iterator[dict[str, Any]]:
    """Set what the paper says beside what came out."""
    for one in found["errors"]:
        words = f"%RMSE of E over {one['over']}, age {one['age']:g}"
        if one["centre"] != one["age"]:
            words += f" (nearest {one['centre']:g})"
        fine = one["percent"] < RMSE_MOST
        yield _claim(words, f"< {RMSE_MOST:g} %", f"{one['percent']:.2f} %", holds=fine)
    widest = max(one["most"] - one["least"] for one in found["spreads"])
    words = "measured retries where as many were predicted"
    paper = f"within {SPREAD_MOST}"
    yield _claim(words, paper, f"within {widest}", holds=widest <= SPREAD_MOST)
    whole, *others = found["ablations"]
    for one in others:
        factor = one["percent"] / whole["percent"]
        words = f"{one['name']}: %RMSE, {one['what']}"
        shown = f"{one['percent']:.2f} % (×{factor:.2f})"
        yield _claim(words, "clearly worse", shown, holds=factor >= CLEARLY)
    yield from _chips(found, table)


def _chips(found: dict[str, Any], table: Table) -> Iterator[dict[str, Any]]:
    """Compare the chips themselves, where they were measured under the paper's conditions."""
    least, most = int(table.retries.min()), int(table.retries.max())
    fine = least == 0 and most <= RETRIES_MOST
    yield _claim("retries over all conditions", "0 to 25", f"{least} to {most}", holds=fine)

    def at(cycles: float, days: float) -> Numbers:
        calm = table.reads == table.reads.min()
        near = np.abs(table.days - days) <= 0.01 * days
        return table.retries[calm & (table.cycles == cycles) & near]

    new = at(0.0, 365.0)
    if len(new) and new.min() > 0:
        factor = new.max() / new.min()
        words = "new, 12 months: retries of the worst block over the best's"
        shown = f"{int(new.max())} over {int(new.min())}"
        yield _claim(words, "3 times", shown, holds=2 <= factor <= 4)
    old = at(3000.0, _MONTH)
    if len(old):
        shown = f"{int(old.min())} to {int(old.max())}"
        fine = bool(old.min() >= 8 and old.max() <= 16)
        yield _claim("3K cycles, 1 month: retries", "8 to 16", shown, holds=fine)
    apart = [one for one in found["variation"] if one["reads"] == table.reads.min()]
    apart = [one for one in apart if one["days"] <= 90]
    cycles = apart[0]["cycles"]
    of = table.where(
        (table.cycles == cycles) & (table.reads == table.reads.min()) & (table.days <= 90.5)
    )
    inter = int(np.ptp(of.retries))
    words = f"{cycles:g} cycles, up to 90 days: retries of blocks apart"
    yield _claim(words, "up to 16", str(inter), holds=12 <= inter <= 20)
    if apart[0]["intra"] is not None:
        intra = max(one["intra"] for one in apart)
        words = f"{cycles:g} cycles, up to 90 days: retries of pages of a block apart"
        yield _claim(words, "up to 3", str(intra), holds=2 <= intra <= 3)


def _claim(what: str, paper: str, found: str, *, holds: bool) -> dict[str, Any]:
    return {"what": what, "paper": paper, "found": found, "holds": bool(holds)}
