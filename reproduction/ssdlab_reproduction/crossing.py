"""The readings of a claim, crossed: its figures under every combination of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ssdlab_reproduction.claim import Claim, Option, Verdict
from ssdlab_reproduction.scope import Change, Scope


@dataclass(frozen=True, slots=True)
class Combination:
    """One answer to each reading of a claim, and the claim's figures under these answers.

    ``off`` is the distance from the paper's figures, None if the claim's event never happened.
    """

    options: Sequence[Option]
    ours: Sequence[float]
    verdict: Verdict
    off: float | None

    @property
    def is_ruled(self) -> bool:
        """Tell whether all answers are ssdlab's."""
        return not any(option.settings for option in self.options)


def combinations(claim: Claim) -> list[tuple[Option, ...]]:
    """Return every combination of answers to a claim's readings; none without readings."""
    if not claim.readings:
        return []
    return list(product(*(reading.options for reading in claim.readings)))


def under(scope: Scope, claim: Claim, options: Sequence[Option]) -> Scope:
    """Return the scope of a claim's runs under these answers."""
    own = (Change(one.settings.split(), one.of) for one in options if one.settings)
    return shortened(scope, claim, *own)


def shortened(scope: Scope, claim: Claim, *changes: Change) -> Scope:
    """Return the scope of a claim's runs in sweeps and crossings, which may be shorter."""
    return replace(scope, changes=[*scope.changes, Change(claim.short.split()), *changes])


def favored(claim: Claim) -> tuple[Option, ...]:
    """Return the answers that the texts favor, and ssdlab's where they favor none.

    Empty if the texts favor no answer to any reading.
    """
    marked = [[one for one in reading.options if one.favored] for reading in claim.readings]
    if not any(marked):
        return ()
    pairs = zip(marked, claim.readings, strict=True)
    return tuple(own[0] if own else reading.options[0] for own, reading in pairs)


def nearest(found: Sequence[Combination]) -> Combination | None:
    """Return the combination with the figures nearest to the paper's."""
    known = [one for one in found if one.off is not None]
    return min(known, key=lambda one: one.off or 0.0, default=None)


def counts(found: Sequence[Combination]) -> Iterator[tuple[Verdict, int]]:
    """Yield how many combinations have each verdict, the best first."""
    for verdict in Verdict:
        number = sum(one.verdict == verdict for one in found)
        if number:
            yield verdict, number
