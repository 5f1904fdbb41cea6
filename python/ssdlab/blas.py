"""OpenBLAS, the linear algebra under NumPy and SciPy, in one thread and with room for it.

How it sums depends on its threads, and with that the last digits of what is fitted. Each thread
takes tens of MB of addresses besides, and where they are short OpenBLAS ends the process, or tries
for ever.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

from ssdlab.errors import InputError

_THREADS = "OPENBLAS_NUM_THREADS"
"""What OpenBLAS reads as it is loaded."""
_NAMES = tuple(product(("scipy_openblas_", "openblas_"), ("_num_threads64_", "_num_threads")))
"""How its functions may be called: NumPy's and SciPy's are renamed, so that each has its own."""

_MEGA = 10**6
_LIMITS = (("ulimit -v", resource.RLIMIT_AS, 0), ("ulimit -d", resource.RLIMIT_DATA, 5))
"""What limits a process, and where ``/proc/self/statm`` has what it takes of that, in pages."""
_Get = Callable[[], int]
_Set = Callable[[int], object]

LOADING = (300 * _MEGA, 185 * _MEGA)
"""What NumPy, SciPy and a fit of few chips take of each: a fifth of it is OpenBLAS's buffers."""
LOADED = (120 * _MEGA, 120 * _MEGA)
"""The same where they are loaded."""

PROCESSES = (250 * _MEGA, 150 * _MEGA)
"""What NumPy takes, and the threads and processes that joblib starts for runs."""


def start_with_one_thread() -> None:
    """Have OpenBLAS begin with one thread in this process and in those that it starts."""
    os.environ[_THREADS] = "1"


def check_room(what: str, need: Sequence[int]) -> None:
    """Refuse what takes more than the limits on this process leave."""
    for (name, limit, at), needed in zip(_LIMITS, need, strict=True):
        most, _ = resource.getrlimit(limit)
        if most == resource.RLIM_INFINITY:
            continue
        left = max(most - _taken(at), 0)
        if left < needed:
            report = f"at least {needed // _MEGA} MB are needed, and {left // _MEGA} MB are left"
            raise InputError(f"{what}: expected what fits into memory: {report} ({name})")


def _taken(at: int) -> int:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[at]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


@contextmanager
def one_thread(what: str) -> Iterator[None]:
    """Load NumPy and SciPy, and have them do their linear algebra in one thread meanwhile.

    Raises :class:`InputError` if limits on this process leave too little for ``what`` is done.
    """
    check_room(what, LOADED if "scipy.linalg" in sys.modules else LOADING)
    with _limited_while_loading():
        from scipy import linalg  # noqa: PLC0415  loaded when it is needed
    import numpy as np  # noqa: PLC0415  as above

    before = [(get(), put) for get, put in _libraries()]
    for _, put in before:
        put(1)
    # Each library takes its buffer now, while there is room, and keeps it.
    for svd in (np.linalg.svd, linalg.svd):
        svd(np.ones((1000, 4)), full_matrices=False)
    try:
        yield
    finally:
        for threads, put in before:
            put(threads)


@contextmanager
def _limited_while_loading() -> Iterator[None]:
    """Have OpenBLAS begin with one thread where limits may leave no room for more."""
    if all(resource.getrlimit(limit)[0] == resource.RLIM_INFINITY for _, limit, _ in _LIMITS):
        yield
        return
    before = os.environ.get(_THREADS)
    start_with_one_thread()
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before


def _libraries() -> Iterator[tuple[_Get, _Set]]:
    """Return how every OpenBLAS that is loaded tells its threads and takes another number.

    None where the system does not tell what is loaded.
    """
    try:
        maps = os.fsdecode(Path("/proc/self/maps").read_bytes())
    except OSError:
        return
    paths = {line.split(maxsplit=5)[-1] for line in maps.splitlines() if "openblas" in line}
    for path in sorted(paths):
        with suppress(OSError):
            library = ctypes.CDLL(path)
            for prefix, suffix in _NAMES:
                with suppress(AttributeError):
                    yield library[f"{prefix}get{suffix}"], library[f"{prefix}set{suffix}"]
