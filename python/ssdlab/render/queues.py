"""Submission queues: their labels, and the retries of the pages that they read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from ssdlab import _native, escaping

if TYPE_CHECKING:
    from ssdlab.result import Result


def queue_labels(result: Result) -> list[str]:
    """Return the numbers of the queues, each with the applications that use it, if known."""
    apps = _apps(result)
    return [
        f"{number} ({' + '.join(apps[number])})" if apps.get(number) else str(number)
        for number, _ in enumerate(result.queues)
    ]


def _apps(result: Result) -> dict[int, list[str]]:
    """Return the applications by queue, as far as they are known."""
    apps: dict[int, list[str]] = {}
    for member in result.provenance.mix or ():
        apps.setdefault(member.queue, []).append(escaping.display_label(member.name))
    if apps or not result.queues:
        return apps
    # A twin that is a mix gives each of its members its own queue.
    return {at: [name] for at, name in enumerate(_members_of_twins().get(result.workload, ()))}


@cache
def _members_of_twins() -> dict[str, list[str]]:
    """Return the members of twins that are mixes, by the workload name in a result."""
    return {
        twin["title"]: [name.rpartition("/")[2] for name in twin["members"]]
        for twin in json.loads(_native.twins())
    }


def mean_retries(counts: Sequence[int]) -> float | None:
    """Return the mean of retries; ``counts`` has the pages by number of retries, from 0."""
    whole = sum(counts)
    return sum(at * count for at, count in enumerate(counts)) / whole if whole else None


def retry_quantile(counts: Sequence[int], share: float) -> int:
    """Return the smallest number of retries that sufficed for this share of the pages."""
    enough = share * sum(counts)
    sums = accumulate(counts)
    return next((at for at, so_far in enumerate(sums) if so_far >= enough > 0), 0)
