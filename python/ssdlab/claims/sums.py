"""What claims are summed up with."""

from __future__ import annotations


def percent(new: float, old: float) -> float:
    """Return a change in percent."""
    return 100 * (new / old - 1)
