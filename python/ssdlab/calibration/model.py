"""The fit of the predictor's coefficients. Only the Rust extension implements its formulas."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression, least_squares

from ssdlab import _native
from ssdlab.calibration.chip_spec import YEAR
from ssdlab.calibration.measurements import Measurements, Numbers
from ssdlab.errors import InputError

DIGITS = 6
"""Significant digits of a written coefficient. Validation uses the written coefficients."""
RETRIES_MOST = 25
"""Source: ReadGuard, section 3."""
_LEAST_APART = 0.01
"""The minimum distance between two thresholds, in errors."""
_YEAR_NEAR, _LONG = 0.01, 90.0


@dataclass(frozen=True, slots=True)
class Predictor:
    """The predictor with given coefficients."""

    age: tuple[float, ...] = (0.0,) * 5
    initial: tuple[float, ...] = (0.0,) * 2
    growth: tuple[float, ...] = (0.0,) * 3
    thresholds: tuple[float, ...] = (1.0,)
    min_dwell: str = "1d"
    _made: list[_native.Predictor] = field(default_factory=list, repr=False, compare=False)

    def config(self) -> dict[str, Any]:
        """Return the config of ``metadata.retry_estimate.predicted``."""
        return {
            "age": list(self.age),
            "initial": list(self.initial),
            "growth": list(self.growth),
            "thresholds": list(self.thresholds),
            "min_dwell": self.min_dwell,
        }

    def _native_predictor(self) -> _native.Predictor:
        if not self._made:
            self._made.append(_native.Predictor(json.dumps(self.config())))
        return self._made[0]

    def ages(self, table: Measurements) -> Numbers:
        """Return the age of each row's block."""
        columns = (table.cycles, table.erase_us, table.e0, table.dwell)
        return _from_bytes(self._native_predictor().age(*map(_to_bytes, columns)))

    def errors(self, age: Numbers, days: Numbers, reads: Numbers) -> Numbers:
        """Return the predicted errors of blocks of these ages."""
        return _from_bytes(self._native_predictor().errors(*map(_to_bytes, (age, days, reads))))

    def retries(self, errors: Numbers) -> Numbers:
        """Return the predicted retries for these errors."""
        return _from_bytes(self._native_predictor().retries(_to_bytes(errors)))


def _to_bytes(values: Numbers) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def _from_bytes(values: bytes) -> Numbers:
    return np.frombuffer(values, dtype="<f8")


def rounded(values: Any) -> tuple[float, ...]:
    """Round to the digits that are written."""
    return tuple(float(f"{value:.{DIGITS}g}") for value in values)


def fit_thresholds(
    table: Measurements, correctable: float | None, source: str
) -> tuple[float, ...]:
    """Fit the thresholds: the errors from which a page needs one more retry.

    Retries are fitted as a monotone function of the errors. The threshold of retry n lies where
    this function passes n - 0.5. ``correctable`` replaces the first threshold. Raises
    :class:`InputError` if the chips do not determine the thresholds.
    """
    values, inverse = np.unique(table.errors, return_inverse=True)
    if len(values) == 1:
        got = f"chips all of whose pages have {values[0]:g} errors"
        raise InputError.at(source, f"got {got}, expected errors that grow with age")
    weights = np.bincount(inverse).astype(float)
    means = np.bincount(inverse, table.retries) / weights
    fitted = isotonic_regression(means, weights=weights).x
    most = int(fitted[-1] + 0.5)
    if most < 1:
        got = f"chips that need {fitted[-1]:.2f} retries at most"
        raise InputError.at(source, f"got {got}, expected some that need one and more")
    steps = []
    for step in range(1, most + 1):
        at = int(np.searchsorted(fitted, step - 0.5))
        steps.append(float((values[max(at - 1, 0)] + values[at]) / 2))
    if correctable is not None:
        if len(steps) > 1 and steps[1] <= correctable:
            found = f"got a second retry from {steps[1]:g} errors on"
            expected = f"more than the {correctable:g} of --correctable, or --correctable fitted"
            raise InputError.at(source, f"{found}, expected {expected}")
        steps[0] = correctable
    for at in range(1, len(steps)):
        steps[at] = max(steps[at], steps[at - 1] + _LEAST_APART)
    return rounded(steps)


def errors_after_a_year(table: Measurements, source: str) -> tuple[Measurements, Numbers, int]:
    """Return a row for each block and count of cycles, and its errors after 12 months at 30 °C.

    If no row has that age, a straight line over ln(1 + days) gives the errors. The line goes
    through the rows before and after. If there is no row after, it goes through the last two rows,
    and the oldest data must be at least 90 days old. The third value counts the blocks, each at
    some cycles, for which neither works; they are left out. Raises :class:`InputError` if all
    blocks are left out.
    """
    calm = table.where(table.reads == table.reads.min())
    order = np.lexsort((calm.days, calm.cycles, calm.block))
    changes = np.diff(calm.block[order]) + np.diff(calm.cycles[order])
    starts = np.flatnonzero(np.concatenate(([True], changes != 0)))
    firsts, found, left_out = [], [], 0
    for rows in np.split(order, starts[1:]):
        days, errors = calm.days[rows], calm.errors[rows]
        near = np.flatnonzero(np.abs(days / YEAR - 1) < _YEAR_NEAR)
        if len(near):
            found.append(float(errors[near].mean()))
        elif len(rows) > 1 and days[-1] >= _LONG:
            above = min(max(int(np.searchsorted(days, YEAR)), 1), len(rows) - 1)
            x, y = np.log1p(days[above - 1 : above + 1]), errors[above - 1 : above + 1]
            slope = (y[1] - y[0]) / (x[1] - x[0])
            found.append(float(y[0] + slope * (np.log1p(YEAR) - x[0])))
        else:
            left_out += 1
            continue
        firsts.append(rows[0])
    if not firsts:
        got = f"data of at most {calm.days.max():.1f} days at 30 °C, or of one age, for every block"
        expected = f"at least two ages, up to {_LONG:g} days or more"
        raise InputError.at(source, f"got {got}, expected {expected}")
    mask = np.zeros(len(calm), dtype=bool)
    mask[firsts] = True
    by_place = dict(zip(firsts, found, strict=True))
    errors_then = np.array([by_place[at] for at in np.flatnonzero(mask)])
    return calm.where(mask), errors_then, left_out


def fit_age(blocks: Measurements, measured: Numbers, base: Predictor) -> tuple[float, ...]:
    """Fit c0 to c4 by linear least squares; the coefficient of a constant column is 0."""
    units = np.eye(5)
    columns = [replace(base, age=tuple(unit), _made=[]).ages(blocks) for unit in units]
    kept = [at for at, column in enumerate(columns) if at == 0 or np.ptp(column) > 0]
    design = np.column_stack([columns[at] for at in kept])
    scale = np.abs(design).max(axis=0)
    solved = np.linalg.lstsq(design / scale, measured, rcond=None)[0] / scale
    found = np.zeros(5)
    found[kept] = solved
    return tuple(float(value) for value in found)


@dataclass(frozen=True, slots=True)
class ErrorInputs:
    """The inputs of a prediction of errors: an age for either term, days and reads."""

    age_initial: Numbers
    age_growth: Numbers
    days: Numbers
    reads: Numbers

    def errors(self, coefficients: Numbers) -> Numbers:
        """Return the errors with these coefficients c5 to c9."""
        zeros = np.zeros(len(self.days))
        initial = Predictor(initial=tuple(coefficients[:2]))
        growth = Predictor(growth=tuple(coefficients[2:]))
        begun = initial.errors(self.age_initial, zeros, zeros)
        return begun + growth.errors(self.age_growth, self.days, self.reads)


def fit_errors(inputs: ErrorInputs, measured: Numbers) -> Numbers:
    """Fit c5 to c9 by non-linear least squares."""
    # In units of its own size, each coefficient is of the order of 1.
    reads = max(float(inputs.reads.max()), 1.0)
    sizes = np.array([1.0, 1.0, 1.0, 1.0, 1.0 / reads])

    def column(initial: tuple[float, float], growth: tuple[float, float, float]) -> Numbers:
        return inputs.errors(np.array([*initial, *growth]) * sizes)

    # For a given c9, a linear fit gives the other coefficients: a start close to the solution.
    start_read = 0.5
    flat = (0.0, 0.0, start_read)
    grown = column((0.0, 0.0), (1.0, 0.0, start_read))
    design = [column((1.0, 0.0), flat), column((0.0, 1.0), flat), grown]
    design.append(column((0.0, 0.0), (1.0, 1.0, start_read)) - grown)
    linear = np.linalg.lstsq(np.column_stack(design), measured, rcond=None)[0]
    scale = max(float(linear[2]), 1e-3)
    begin = np.array([linear[0], linear[1], scale, linear[3] / scale, start_read])
    free = inputs.reads.max() > 0
    low = np.array([-np.inf, -np.inf, 0.0, -np.inf, 0.0])
    chosen = np.arange(5 if free else 4)

    def complete(some: Numbers) -> Numbers:
        whole = np.append(some, 0.0) if len(some) < len(sizes) else some
        sized: Numbers = whole * sizes
        return sized

    solved = least_squares(
        lambda some: inputs.errors(complete(some)) - measured,
        begin[chosen],
        bounds=(low[chosen], np.full(len(chosen), np.inf)),
        x_scale=np.maximum(np.abs(begin[chosen]), 1e-3),
        ftol=1e-12,
        xtol=1e-12,
        gtol=1e-12,
    )
    return complete(solved.x)


def rmse_percent(predicted: Numbers, measured: Numbers) -> float:
    """Return the root mean square error in percent of the measured mean."""
    difference = float(np.sqrt(np.mean((predicted - measured) ** 2)))
    mean = float(np.mean(measured))
    return 100 * difference / mean if mean else 0.0
