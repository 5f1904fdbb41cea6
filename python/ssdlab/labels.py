"""Names of page types, priorities and config keys, and the known one nearest to a wrong one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PAGE_TYPES = {2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB"), 4: ("LSB", "2nd", "3rd", "MSB")}
"""How the page types are called, the lowest first, by how many a cell has."""

PRIORITIES = ("high", "mid", "low")
"""How three submission queues and their applications are called, the first queue first."""


def counts_by_page_type(counts: Mapping[str, int]) -> list[int]:
    """Return counts by page type (``{"lsb": …}``) from the lowest type on."""
    return [counts[name.lower()] for name in PAGE_TYPES.get(len(counts), ())]


def shortest_suffixes(keys: Sequence[str]) -> list[str]:
    """Return as much of the end of each key as tells it from the others."""
    return [_shortest_suffix(key, [other for other in keys if other != key]) for key in keys]


def _shortest_suffix(key: str, others: Sequence[str]) -> str:
    parts = key.split(".")
    tails = (".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
    unique = (tail for tail in tails if not any(f".{o}".endswith(f".{tail}") for o in others))
    return next(unique, key)
