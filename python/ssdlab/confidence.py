"""Means over seeds, with 95 % intervals by Student's t."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom, as in any table of it.
_T_975 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL_975 = 1.959964


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over seeds, and half the width of its 95 % interval, None for a single seed."""

    mean: float
    half_width_95: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as it stands in JSON."""
        return asdict(self)


def t_975(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, to three decimals."""
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    # The Cornish-Fisher expansion, exact to the third decimal from 30 degrees of freedom on.
    z, n = _NORMAL_975, freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of the values, one per seed, with its 95 % interval."""
    same = all(value == values[0] for value in values)
    # Sums and roots are not exact, but equal values must give a width of zero.
    mean = float(values[0]) if same else statistics.fmean(values)
    if same and len(values) > 1:
        return Interval(mean, 0.0)
    if len(values) < 2:
        return Interval(mean, None)
    error = statistics.stdev(values, mean) / math.sqrt(len(values))
    return Interval(mean, t_975(len(values) - 1) * error)


def intervals(figures: Iterable[Mapping[str, float]]) -> dict[str, Interval]:
    """Return the interval of each figure that every run has; consume the runs one by one."""
    runs = iter(figures)
    columns = {name: [value] for name, value in next(runs).items()}
    for run in runs:
        for name in columns.keys() - run.keys():
            del columns[name]
        for name, values in columns.items():
            values.append(run[name])
    return {name: interval(values) for name, values in columns.items()}
