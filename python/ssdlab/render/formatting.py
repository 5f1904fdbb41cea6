"""Numbers as text: readable, easy to paste, and for 80 columns without a terminal."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 80
NONE = "–"

_TIMES = (("ns", 1e-3), ("µs", 1.0), ("ms", 1e3), ("s", 1e6))
_LEAST_FIXED = 0.1
"""The least ratio with two decimals; with them, a smaller one has less than two digits."""
_LEAST_PERCENT = 0.01
"""Shares below this are printed as smaller than it."""
_AMOUNTS = (("", 1.0), (" k", 1e3), (" M", 1e6), (" G", 1e9))


def digits(value: float, significant: int = 3) -> str:
    """Return a number with this many significant digits, without an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{significant - 1}e}")
    exponent = int(f"{abs(rounded):e}".partition("e")[2])
    return f"{rounded:,.{max(0, significant - 1 - exponent)}f}"


def pluralize(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun: ``1 read``, ``2 reads``."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def span(us: float) -> str:
    """Return a time given in microseconds: ``842 µs``, ``1.20 ms``."""
    return _scaled(us, _TIMES, first=1) if us else "0 µs"


def amount(value: float) -> str:
    """Return a large number in a short form: ``1.21 M``."""
    return _scaled(value, _AMOUNTS)


def _scaled(value: float, units: Sequence[tuple[str, float]], first: int = 0) -> str:
    """Return a value in the largest unit in which it is at least one."""
    rounded = float(f"{value:.2e}")
    fitting = [unit for unit in units if abs(rounded) >= unit[1]]
    name, factor = fitting[-1] if fitting else units[0]
    gap = " " if first else ""
    return f"{digits(value / factor)}{gap}{name}"


def share(value: float) -> str:
    """Return a share from 0 to 1 in percent."""
    percent = value * 100
    if 0 < percent < _LEAST_PERCENT:
        return f"< {_LEAST_PERCENT:g} %"
    return f"{percent:.0f} %" if percent >= 10 else f"{digits(percent, 2)} %"


def ratio(value: float, base: float) -> str:
    """Return a value as a multiple of another: ``×0.58``, ``×0.0036``."""
    if not base:
        return ""
    times = value / base
    return f"×{digits(times, 2) if times < _LEAST_FIXED else f'{times:.2f}'}"


def bar(value: float, width: int = 24) -> str:
    """Return a share from 0 to 1 as a bar of at most ``width`` columns, in eighths of a column."""
    eighths = round(value * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
