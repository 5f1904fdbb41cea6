"""Short names for config keys."""

from __future__ import annotations

from collections.abc import Sequence


def shortest(keys: Sequence[str]) -> list[str]:
    """Return as much of the end of each key as tells it from the others."""
    return [_shortest(key, [other for other in keys if other != key]) for key in keys]


def _shortest(key: str, others: Sequence[str]) -> str:
    parts = key.split(".")
    tails = (".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
    unique = (tail for tail in tails if not any(f".{o}".endswith(f".{tail}") for o in others))
    return next(unique, key)
