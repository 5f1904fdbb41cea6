"""The chips that a fit generates, and the conditions under which it measures them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab import _native, arguments
from ssdlab.arguments import MAX_COUNT
from ssdlab.errors import quoted

CORRECTABLE = 72.0
"""The most errors at which a page needs no retry. Source: ReadGuard (ruled)."""
ACTIVATION_EV = 1.0827
"""Activation energy at which an hour at 50 °C counts as 13 h at 30 °C. Source: ReadGuard, footnote
6.
"""
YEAR = 365.0
_ROOM_DAYS = 30.0
"""The age above which data is baked."""
_ROOM_CELSIUS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipSpec:
    """The chips and the conditions of a characterization.

    By default, 60 chips fit the predictor, 60 validate it and 40 are simulated. Each has 16 blocks.
    Each block is measured after each of ``cycles``, at each age of ``retention`` (days at 30 °C),
    and after each count of ``reads`` (page reads of the block). Data older than 30 days is baked at
    ``bake`` °C. ``dwell`` lists days between erases; the blocks take these values in turn. Source:
    ReadGuard, section 4.2, for chips and blocks; the grid is assumed.
    """

    chips: Sequence[int] = (60, 60, 40)
    blocks: int = 16
    cycles: Sequence[float] = (0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000)
    retention: Sequence[float] = (0, 1, 7, 30, 90, 180, YEAR)
    reads: Sequence[float] = (0, 28_800, 57_600, 115_200)
    dwell: Sequence[float] = (1, 3, 10, 30)
    bake: float = 85.0

    def __post_init__(self) -> None:
        """Raise an :class:`InputError` that names the option of an invalid value."""
        chips = [arguments.as_integer(one) for one in arguments.sequence("--chips", self.chips)]
        if len(chips) != 3 or not all(one is not None and 1 <= one <= MAX_COUNT for one in chips):
            expected = "three whole numbers from 1: to fit, to validate, to simulate"
            raise arguments.invalid("--chips", _listed(self.chips), expected)
        bake = arguments.number_between("--bake", self.bake, 30, 125, "30 to 125 degrees Celsius")
        taken: dict[str, object] = {"chips": tuple(chips), "bake": bake}
        taken["blocks"] = arguments.integer("--blocks", self.blocks, 1, MAX_COUNT)
        axes = (("cycles", 0.0, 1e6), ("retention", 0.0, 36_500.0), ("reads", 0.0, 4e9))
        for name, least, most in (*axes, ("dwell", 1e-3, 3_650.0)):
            taken[name] = _rising(f"--{name}", getattr(self, name), least, most)
        for name, value in taken.items():
            object.__setattr__(self, name, value)
        if not all(count == int(count) for count in self.reads):
            raise arguments.invalid("--reads", _listed(self.reads), "whole numbers")

    @property
    def rows(self) -> int:
        """Return the number of measurements."""
        of_a_block = len(self.cycles) * len(self.retention) * len(self.reads)
        return sum(self.chips) * self.blocks * of_a_block

    def order(self) -> dict[str, Any]:
        """Return the specification as the Rust extension reads it."""
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


def _rising(option: str, values: object, minimum: float, maximum: float) -> tuple[float, ...]:
    found = tuple(arguments.as_number(one) for one in arguments.sequence(option, values))
    fine = [one for one in found if one is not None and minimum <= one <= maximum]
    if not found or len(fine) < len(found) or sorted(set(fine)) != fine:
        expected = f"rising numbers from {minimum:g} to {maximum:g}"
        raise arguments.invalid(option, _listed(values), expected)
    return tuple(fine)


def _listed(values: object) -> str:
    """Return numbers as they are typed on a command line."""
    found = arguments.sequence("", values)
    numbers = [arguments.as_number(one) for one in found]
    return ",".join(
        quoted(one) if number is None else f"{number:g}"
        for one, number in zip(found, numbers, strict=True)
    )
