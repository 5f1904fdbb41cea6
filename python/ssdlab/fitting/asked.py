"""What is measured of chips that are made for a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab import _native
from ssdlab.errors import InputError

CORRECTABLE = 72.0
"""Errors up to which a page needs no retry. Source: ReadGuard (ruled)."""
ACTIVATION_EV = 1.0827
"""With which an hour at 50 °C counts as 13 h at 30 °C. Source: ReadGuard, footnote 6."""
YEAR = 365.0
_ROOM_DAYS = 30.0
"""Data that gets older is baked."""
_ROOM_CELSIUS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How chips are characterised: 60 to fit, 60 to validate, 40 to simulate, of 16 blocks each.

    Each block is measured after each of ``cycles``, at each age of ``retention`` (days at 30 °C)
    after each count of ``reads`` (page reads of the block); ages above 30 days are baked at
    ``bake`` °C. Blocks have ``dwell`` days between erases, by turns. Source: ReadGuard, section
    4.2, for chips and blocks; the grid is assumed.
    """

    chips: Sequence[int] = (60, 60, 40)
    blocks: int = 16
    cycles: Sequence[float] = (0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000)
    retention: Sequence[float] = (0, 1, 7, 30, 90, 180, YEAR)
    reads: Sequence[float] = (0, 28_800, 57_600, 115_200)
    dwell: Sequence[float] = (1, 3, 10, 30)
    bake: float = 85.0

    def __post_init__(self) -> None:
        """Raise an :class:`InputError` that names the option of what cannot be."""
        if len(self.chips) != 3 or not all(_whole(count, 1) for count in self.chips):
            expected = "three whole numbers from 1: to fit, to validate, to simulate"
            raise InputError.at("--chips", f"got {_listed(self.chips)}, expected {expected}")
        if not _whole(self.blocks, 1):
            raise InputError.at("--blocks", f"got {self.blocks!r}, expected a whole number from 1")
        axes = (("cycles", 0.0, 1e6), ("retention", 0.0, 36_500.0), ("reads", 0.0, 4e9))
        for name, least, most in (*axes, ("dwell", 1e-3, 3_650.0)):
            _check(f"--{name}", getattr(self, name), least, most)
        if not all(_whole(count, 0) for count in self.reads):
            raise InputError.at("--reads", f"got {_listed(self.reads)}, expected whole numbers")
        if not 30 <= self.bake <= 125:
            raise InputError.at("--bake", f"got {self.bake!r}, expected 30 to 125 degrees Celsius")

    def order(self) -> dict[str, Any]:
        """Return it as the Rust side reads it."""
        ages = [(days, self._oven(days)) for days in self.retention]
        conditions = [
            [24 * days / _native.acceleration(oven, ACTIVATION_EV), oven, int(reads)]
            for days, oven in ages
            for reads in self.reads
        ]
        return {
            "chips": sum(self.chips),
            "blocks": self.blocks,
            "cycles": list(map(float, self.cycles)),
            "conditions": conditions,
            "dwell_h": [24.0 * days for days in self.dwell],
        }

    def _oven(self, days: float) -> float:
        return self.bake if days > _ROOM_DAYS else _ROOM_CELSIUS


def _whole(value: Any, least: int) -> bool:
    return not isinstance(value, bool) and value == int(value) and value >= least


def _check(option: str, values: Sequence[float], least: float, most: float) -> None:
    fine = all(math.isfinite(value) and least <= value <= most for value in values)
    if not values or not fine or sorted(set(values)) != list(values):
        expected = f"rising numbers from {least:g} to {most:g}"
        raise InputError.at(option, f"got {_listed(values)}, expected {expected}")


def _listed(values: Sequence[float]) -> str:
    return repr(",".join(f"{value:g}" for value in values))
