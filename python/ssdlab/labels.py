"""Names of page types and priorities, and short names of config keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PAGE_TYPES = {2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB"), 4: ("LSB", "2nd", "3rd", "MSB")}
"""The names of the page types, from the lowest, by bits per cell."""

PRIORITIES = ("high", "mid", "low")
"""The names of three submission queues and their applications, from the first queue."""


def counts_by_page_type(counts: Mapping[str, int]) -> list[int]:
    """Return counts by page type (``{"lsb": …}``) as a list, from the lowest type."""
    return [counts[name.lower()] for name in PAGE_TYPES.get(len(counts), ())]


def shortest_suffixes(keys: Sequence[str]) -> list[str]:
    """Return the shortest end of each key that distinguishes it from the others."""
    return [_shortest_suffix(key, [other for other in keys if other != key]) for key in keys]


def _shortest_suffix(key: str, others: Sequence[str]) -> str:
    parts = key.split(".")
    tails = (".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
    unique = (tail for tail in tails if not any(f".{o}".endswith(f".{tail}") for o in others))
    return next(unique, key)
