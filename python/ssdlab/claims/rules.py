"""How figures of ours are found: one function a claim, and sets of runs that claims share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.claims.runs import Jobs
from ssdlab.claims.scope import Scope

Set = Callable[[Scope], Jobs]
"""Returns the runs that a claim looks at; none where a quick ledger leaves the claim out."""

Figures = Callable[..., Sequence[float]]
"""Takes the sets' runs, each as :class:`ssdlab.claims.runs.Runs`; the figures of the claim."""


class NeverRanError(Exception):
    """What a claim is about did not happen in the runs: it is not reproduced."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How the figures of a claim are found."""

    sets: Sequence[Set]
    figures: Figures
    seeds: int | None = None


RULES: dict[str, Rule] = {}


def claim(name: str, *sets: Set, seeds: int | None = None) -> Callable[[Figures], Figures]:
    """Say that the decorated function finds the figures of a claim, in the order of its list.

    ``seeds`` is the most that are run, where each takes long.
    """

    def add(figures: Figures) -> Figures:
        if name in RULES:
            raise ValueError(f"two functions for {name}")
        RULES[name] = Rule(sets, figures, seeds)
        return figures

    return add
