"""OpenBLAS, the linear algebra library of NumPy and SciPy, in one thread and with enough memory.

The number of threads changes the order of sums, and so the last digits of a fit. Each thread also
takes tens of MB of address space. Where a limit leaves too little of it, OpenBLAS ends the process
or retries forever.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

from ssdlab import room
from ssdlab.signals import held_back

_THREADS = "OPENBLAS_NUM_THREADS"
"""The environment variable that OpenBLAS reads when it is loaded."""
_NAMES = tuple(product(("scipy_openblas_", "openblas_"), ("_num_threads64_", "_num_threads")))
"""Possible names of its functions. NumPy and SciPy rename them, so that each has its own copy."""

_Get = Callable[[], int]
_Set = Callable[[int], object]


def start_with_one_thread() -> None:
    """Make OpenBLAS start with one thread in this process and in its child processes."""
    os.environ[_THREADS] = "1"


@contextmanager
def one_thread(what: str) -> Iterator[None]:
    """Load NumPy and SciPy, and run their linear algebra in one thread within the context.

    Raises :class:`InputError`, whose message begins with ``what``, if limits on this process leave
    too little memory.
    """
    room.check_room(what, room.LOADED if "scipy.linalg" in sys.modules else room.LOADING)
    with _limited_while_loading(), held_back():
        import numpy as np  # noqa: PLC0415  loaded when it is needed
        from scipy import linalg  # noqa: PLC0415  as above

    before = [(get(), put) for get, put in _libraries()]
    for _, put in before:
        put(1)
    # Each library allocates its buffer now, while memory is free, and keeps it.
    for svd in (np.linalg.svd, linalg.svd):
        svd(np.ones((1000, 4)), full_matrices=False)
    try:
        yield
    finally:
        for threads, put in before:
            put(threads)


@contextmanager
def _limited_while_loading() -> Iterator[None]:
    """Make OpenBLAS start with one thread if limits may leave no memory for more."""
    if not room.is_limited():
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
    """Yield the thread getter and setter of every loaded OpenBLAS.

    Yields nothing where the system does not list the loaded libraries.
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
