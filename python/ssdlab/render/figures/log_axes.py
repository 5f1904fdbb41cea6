"""Logarithmic axes: their ends fit the data, and at least three of their values have labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

LEAST_LABELS = 3
MOST_DECADES = 5
"""An axis of at most so many decades labels each of them."""
_GAP = 0.17
"""The least distance of two labels, of the axis: about the width of ``500 ms`` on a phone."""
_GAP_UPRIGHT = 0.1
_PADDING = 0.05
"""The room between the data and an end, of the data's range, unless a round value is nearer."""
_LEAST_RATIO = 1.2
"""The least ratio of the ends; with less, a nearly constant value would look restless."""
_STEPS = ((1, 2, 5), (1, 3), (1,))
"""The labeled multiples of powers of ten; the first that all fit are taken."""
_MORE_STEPS = (1, 5, 2, 3, 1.5, 4, 7)
"""Multiples that are labeled while there is room, if none of those fit."""

_SPAN = (
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' s' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' ms' : "
    "datum.value >= 1 ? format(datum.value, '~g') + ' µs' : format(datum.value * 1e3, '~g') + ' ns'"
)
NUMBER = "format(datum.value, '~g')"


def latency_axis(title: str, least: float, most: float, *, upright: bool = False) -> dict[str, Any]:
    """Return the scale and the axis of times in microseconds."""
    return log_axis(title, least, most, _SPAN, upright=upright)


def log_axis(
    title: str, least: float, most: float, label: str = NUMBER, *, upright: bool = False
) -> dict[str, Any]:
    """Return a logarithmic scale from ``least`` to ``most``, and its axis.

    ``label`` is the Vega expression of a label. An axis that stands ``upright`` has room for more
    labels.
    """
    low, high = _ends(max(least, 1e-12), most)
    return _axis(title, low, high, label, _labeled(low, high, _GAP_UPRIGHT if upright else _GAP))


def count_axis(title: str, least: float, most: float) -> dict[str, Any]:
    """Return the scale and the axis of counts, which labels whole numbers alone."""
    low, high = _ends(least, max(most, least + LEAST_LABELS - 1))
    values = _labeled(low, high, _GAP, whole=True)
    return _axis(title, low, high, "format(datum.value, '~s')", values)


def _axis(
    title: str, low: float, high: float, label: str, values: Sequence[float]
) -> dict[str, Any]:
    return {
        "scale": alt.Scale(type="log", domain=[low, high], nice=False),
        "axis": alt.Axis(
            title=title,
            values=values,
            labelExpr=label,
            # A label that moved from its end inward would cover its neighbor.
            labelFlush=False,
            labelOverlap="greedy",
        ),
    }


def _ends(least: float, most: float) -> tuple[float, float]:
    """Return the ends of the axis: round values that are near the data, or a bit beyond it."""
    wide = max(most / least, _LEAST_RATIO) ** _PADDING
    middle = math.sqrt(least * max(most, least))
    half = math.sqrt(_LEAST_RATIO)
    least, most = min(least, middle / half), max(most, middle * half)
    # A chart draws six digits, and the rounded value may lie beyond the exact one.
    low = _round(least / wide, up=True)
    high = _round(most * wide, up=False)
    return (
        low if low <= least * (1 + 1e-6) else float(f"{least / wide:.4g}"),
        high if high >= most * (1 - 1e-6) else float(f"{most * wide:.4g}"),
    )


def _round(value: float, *, up: bool) -> float:
    """Round a value up or down to 1, 2, 5 or 10 times a power of ten."""
    power = math.floor(math.log10(value))
    steps = [float(f"{step}e{power}") for step in (1, 2, 5)] + [float(f"1e{power + 1}")]
    if up:
        return next((step for step in steps if step >= value), steps[-1])
    return next((step for step in reversed(steps) if step <= value), steps[0])


def _labeled(low: float, high: float, gap: float, *, whole: bool = False) -> list[float]:
    """Return the values with labels: round ones, all decades, and at least three."""
    decades = math.log10(high / low)
    tens = _multiples((1,), low, high)
    every = math.ceil(gap * decades)
    if every > 1:
        return tens[::every]
    for steps in _STEPS:
        values = sorted(_multiples(steps, low, high))
        if len(values) >= LEAST_LABELS and values == _with_room(tens, values, gap * decades):
            return values
    for values in (_multiples(_MORE_STEPS, low, high), *_linear(low, high)):
        fitting = [value for value in values if not whole or value == int(value)]
        kept = _with_room(tens, fitting, gap * decades)
        if len(kept) >= LEAST_LABELS:
            return kept
    return tens


def _multiples(steps: Sequence[float], low: float, high: float) -> list[float]:
    """Return multiples of powers of ten between two ends, by the order of the steps."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{step}e{power}") for step in steps for power in powers]
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def _with_room(tens: Sequence[float], values: Sequence[float], gap: float) -> list[float]:
    """Return the decades, and those values that lie far enough from all that are kept."""
    kept = list(tens)
    for value in values:
        if all(abs(math.log10(value / other)) >= gap for other in kept):
            kept.append(value)
    return sorted(kept)


def _linear(low: float, high: float) -> Iterator[list[float]]:
    """Yield values at equal distances between two ends, the fewest first."""
    power = math.floor(math.log10(high - low))
    for exponent in (power, power - 1):
        for step in (5, 2, 1):
            each = float(f"{step}e{exponent}")
            count = range(math.ceil(low / each), math.floor(high / each) + 1)
            yield [float(f"{at * each:.9g}") for at in count]
