"""Measurements of chips as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdlab import _native
from ssdlab.calibration.chip_spec import ACTIVATION_EV
from ssdlab.errors import InputError

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_DAY = 24.0


@dataclass(frozen=True, slots=True)
class Measurements:
    """Measurements, one per row; ages and times between erases are in days at 30 °C."""

    chip: Numbers
    block: Numbers
    cycles: Numbers
    days: Numbers
    reads: Numbers
    erase_us: Numbers
    e0: Numbers
    errors: Numbers
    retries: Numbers
    dwell: Numbers
    best: Numbers
    """Retries of the best page; empty if they were not measured."""

    @classmethod
    def from_chips(cls, chips: _native.Chips) -> Measurements:
        """Return the measurements that the Rust extension made or read."""

        def column(name: str) -> Numbers:
            return np.frombuffer(chips.column(name), dtype="<f8")

        temperatures, inverse = np.unique(column("temp_c"), return_inverse=True)
        faster = np.array([_native.acceleration(t, ACTIVATION_EV) for t in temperatures])
        dwell = column("dwell_h") / _DAY
        return cls(
            chip=column("chip"),
            block=column("block"),
            cycles=column("pe"),
            days=column("retention_h") * faster[inverse] / _DAY,
            reads=column("reads"),
            erase_us=column("t_erase_us"),
            e0=column("e0"),
            errors=column("errors"),
            retries=column("retries"),
            dwell=dwell if len(dwell) else np.ones(len(column("pe"))),
            best=column("retries_best"),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.chip)

    def where(self, mask: Mask) -> Measurements:
        """Return the rows where ``mask`` is true."""
        columns: dict[str, Any] = {slot.name: getattr(self, slot.name) for slot in fields(self)}
        return Measurements(**{name: of[mask] if len(of) else of for name, of in columns.items()})


PARTS = ("fit", "validate", "simulate")
_SHARES = (60, 60, 40)


def split_chips(
    table: Measurements, source: str, counts: tuple[int, ...] | None, seed: int
) -> list[list[int]]:
    """Return the chips of each part, by index.

    Generated chips are alike, so their numbers divide them. The chips of a file are drawn at
    random, in the proportions of the paper. Raises :class:`InputError` if a file has fewer than 3
    chips.
    """
    count = int(table.chip.max()) + 1
    if counts is not None:
        ends = np.cumsum(counts)
        return [
            list(range(int(end) - size, int(end))) for end, size in zip(ends, counts, strict=True)
        ]
    if count < len(PARTS):
        expected = "at least 3: one to fit, one to validate, one to simulate"
        raise InputError.at(source, f"got {count} chips, expected {expected}")
    shares = np.array(_SHARES) / sum(_SHARES)
    first = max(1, round(count * shares[0]))
    second = max(1, min(round(count * shares[1]), count - first - 1))
    drawn = np.random.default_rng(seed).permutation(count)
    cut = np.split(drawn, [first, first + second])
    return [sorted(int(chip) for chip in part) for part in cut]
