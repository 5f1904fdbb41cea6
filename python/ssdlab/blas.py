"""OpenBLAS, the linear algebra under NumPy and SciPy, in one thread and with room for it.

How it sums depends on its threads, and with that the last digits of what is fitted. Each thread
takes tens of MB of addresses besides, and where they are short OpenBLAS ends the process, or tries
for ever.
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
"""What OpenBLAS reads as it is loaded."""
_NAMES = tuple(product(("scipy_openblas_", "openblas_"), ("_num_threads64_", "_num_threads")))
"""How its functions may be called: NumPy's and SciPy's are renamed, so that each has its own."""

_Get = Callable[[], int]
_Set = Callable[[int], object]


def start_with_one_thread() -> None:
    """Have OpenBLAS begin with one thread in this process and in those that it starts."""
    os.environ[_THREADS] = "1"


@contextmanager
def one_thread(what: str) -> Iterator[None]:
    """Load NumPy and SciPy, and have them do their linear algebra in one thread meanwhile.

    Raises :class:`InputError` if limits on this process leave too little for ``what`` is done.
    """
    room.check_room(what, room.LOADED if "scipy.linalg" in sys.modules else room.LOADING)
    with _limited_while_loading(), held_back():
        import numpy as np  # noqa: PLC0415  loaded when it is needed
        from scipy import linalg  # noqa: PLC0415  as above

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
