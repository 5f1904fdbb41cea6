"""Names of page types, priorities and config keys, and the known one nearest to a wrong one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ssdlab import _native

PAGE_TYPES = {2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB"), 4: ("LSB", "2nd", "3rd", "MSB")}
"""How the page types are called, the lowest first, by how many a cell has."""

PRIORITIES = ("high", "mid", "low")
"""How three submission queues and their applications are called, the first queue first."""


def by_type(counts: Mapping[str, int]) -> list[int]:
    """Return counts by page type (``{"lsb": …}``) from the lowest type on."""
    return [counts[name.lower()] for name in PAGE_TYPES.get(len(counts), ())]


def hint(typed: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` if a known name is near to what was typed."""
    # What is typed may be no UTF-8, which the Rust side does not take.
    near = _native.nearest(typed.encode(errors="replace").decode(), list(known))
    return f' (did you mean "{near}"?)' if near else ""


def shortest(keys: Sequence[str]) -> list[str]:
    """Return as much of the end of each key as tells it from the others."""
    return [_shortest(key, [other for other in keys if other != key]) for key in keys]


def _shortest(key: str, others: Sequence[str]) -> str:
    parts = key.split(".")
    tails = (".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
    unique = (tail for tail in tails if not any(f".{o}".endswith(f".{tail}") for o in others))
    return next(unique, key)
