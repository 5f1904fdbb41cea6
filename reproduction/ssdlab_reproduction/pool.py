"""Processes that work side by side, and end with the process that began them."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from ssdlab import room
from ssdlab.errors import InputError
from ssdlab.signals import held_back

_PATIENCE_S = 10.0
"""How long a process that is told to end may take to remove its temporary files."""


@contextmanager
def side_by_side(count: int, tasks: Iterable[Callable[[], None]]) -> Iterator[Iterator[None]]:
    """Do tasks in ``count`` processes, which all have ended when this ends.

    Each end of a task is yielded. One process is this one. Raises :class:`InputError` if the system
    kills a process, and what a task raises.
    """
    if count == 1:
        yield (task() for task in tasks)
        return
    with held_back():
        # To start it lets signals through.
        resource_tracker.ensure_running()
    others = set(mp.active_children())
    ours: set[BaseProcess] = set()
    pool = ProcessPoolExecutor(count, mp.get_context("spawn"), _begin)
    try:
        with held_back():
            begun = [pool.submit(_do, task) for task in tasks]
            ours = set(mp.active_children()) - others
        yield _unless_killed(future.result() for future in as_completed(begun))
    except BaseException:
        _end(ours)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _unless_killed(ended: Iterator[None]) -> Iterator[None]:
    """Return what processes return; raise :class:`InputError` if the system kills one."""
    try:
        yield from ended
    except BrokenProcessPool:
        expected = "fewer runs at a time, if memory ran out (--jobs); finished ones are kept"
        raise InputError(f"the process of a run was killed: expected {expected}") from None


def _end(processes: Iterable[BaseProcess]) -> None:
    """Interrupt what processes do, and kill those that go on."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(_PATIENCE_S)
        process.kill()


def _begin() -> None:
    """Prepare a process of the pool. It began with signals held back, and hears SIGTERM alone."""
    # The parent says what is wrong: a lack of memory is told in other lines, too.
    room.end_first_without_memory()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _end_with_parent() -> None:
    """End this process when its parent is gone: the pool would wait for tasks for ever."""
    parent = mp.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _do(task: Callable[[], None]) -> None:
    """Do a task; end the process if it is interrupted, which would begin the next one."""
    try:
        task()
    except KeyboardInterrupt:
        os._exit(1)
