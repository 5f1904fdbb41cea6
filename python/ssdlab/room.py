"""Checks that enough memory is left for a step before the step begins; else a one-line error."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab import _native
from ssdlab.errors import InputError

MEGA = 10**6
_LIMITS = (("ulimit -v", resource.RLIMIT_AS, 0), ("ulimit -d", resource.RLIMIT_DATA, 5))
"""The limits of a process, and the field of ``/proc/self/statm`` with what it uses, in pages."""


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes of address space, of data, and of memory that is certainly touched."""

    addresses: int
    data: int
    resident: int

    def __add__(self, other: Need) -> Need:
        """Return the sum of two needs."""
        addresses, data = self.addresses + other.addresses, self.data + other.data
        return Need(addresses, data, self.resident + other.resident)


NOTHING = Need(0, 0, 0)
DRAWING = Need(0, 0, 150 * MEGA)
"""The need of Altair and the renderer. :mod:`ssdlab.render.process` checks the renderer's address
space.
"""

LOADING = Need(300 * MEGA, 185 * MEGA, 35 * MEGA)
"""The need of NumPy, SciPy and a small fit; OpenBLAS's buffers are a fifth of the addresses."""
LOADED = Need(120 * MEGA, 120 * MEGA, 10 * MEGA)
"""The same need once NumPy and SciPy are loaded."""

_RESULT, _DETAIL = 48_000, 400_000
"""The peak bytes of a short run's result, and of its details in a report. Measured."""
_READ = 2
"""The least bytes that a parsed result takes per byte of its JSON. Measured."""

RUNS = Need(0, 0, 28 << 20)
"""The memory of runs besides their drives and their results."""

_PROCESSES = Need(10 * MEGA, 5 * MEGA, 5 * MEGA)
"""The need of starting processes."""
_PROCESS = 35 * MEGA
"""The memory of each of these processes, without a drive."""


def check_room(what: str, need: Need) -> None:
    """Refuse a step that needs more than the limits, the control groups or the machine leave.

    Raises :class:`InputError`, whose message begins with ``what``.
    """
    for (name, limit, at), needed in zip(_LIMITS, (need.addresses, need.data), strict=True):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            _check(what, needed, max(most - _taken(at), 0), name)
    if (left := _native.memory_left()) is not None:
        _check(what, need.resident, *left)


def for_results(count: int, detailed: int) -> Need:
    """Return the need of results, ``detailed`` of them with the details that a report draws."""
    taken = count * _RESULT + detailed * _DETAIL
    return Need(taken, taken, taken)


def for_reading(texts: Sequence[str]) -> Need:
    """Return the need of results, besides the texts from which they are parsed."""
    taken = _READ * sum(map(len, texts))
    return Need(taken, taken, taken)


def for_processes(count: int) -> Need:
    """Return the need of the processes of runs, without their drives."""
    return replace(_PROCESSES, resident=_PROCESSES.resident + count * _PROCESS)


def end_first_without_memory() -> None:
    """Make the kernel kill this process before its parent, which then reports that in a line."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def is_limited() -> bool:
    """Tell whether the address space or the data of this process is limited."""
    return any(resource.getrlimit(limit)[0] != resource.RLIM_INFINITY for _, limit, _ in _LIMITS)


def _check(what: str, needed: int, left: int, limited_by: str) -> None:
    if left < needed:
        report = f"at least {needed // MEGA} MB are needed, and {left // MEGA} MB are left"
        raise InputError(f"{what}: expected more memory: {report} ({limited_by})")


def _taken(at: int) -> int:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[at]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()
