"""A pool of processes that end with the process that started them.

The standard library's pool also needs threads and semaphores. If the system refuses one of these,
that pool waits forever, and a stuck process keeps the program from ending.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.signals import held_back

Task = Callable[[], None]
"""A function of a module, without arguments, so that another process can call it."""

_WORKER = Path(__file__).with_name("pool_worker.py")
_FLAGS = ["-I", "-B"] if sys.dont_write_bytecode else ["-I"]
"""Isolated: only the path that the process receives decides what is imported."""
_PATIENCE_S = 10.0
"""How long an interrupted process may take to remove its temporary files."""
_FEWER = "expected fewer runs at a time (--jobs); finished ones are kept"


@dataclass(frozen=True, slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    channel: Connection

    def give(self, task: Task) -> None:
        """Send a task to the process. If it is gone, :meth:`check` raises an error."""
        with suppress(OSError):
            self.channel.send(task)

    def check(self) -> None:
        """Receive the result of the task; raise the error of the task, or how the process ended."""
        try:
            raised = self.channel.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if raised is not None:
            raise raised

    def _gone(self) -> InputError:
        code = self.process.wait(_PATIENCE_S)
        how = f"ended with exit code {code}" if code >= 0 else "was killed"
        return InputError(f"the process of a run {how}, perhaps for lack of memory: {_FEWER}")


@contextmanager
def side_by_side(count: int, tasks: Sequence[Task]) -> Iterator[Iterator[int]]:
    """Run tasks in ``count`` processes, which have all ended when the context ends.

    The context yields an iterator over the positions of tasks, as they end. A ``count`` of 1 runs
    the tasks in this process. Raises the error of a task, and :class:`InputError` if a process
    cannot be started, or ends before its task.
    """
    if count == 1:
        yield _one_by_one(tasks)
        return
    workers: list[_Worker] = []
    try:
        for task in tasks[:count]:
            with held_back():
                workers.append(_begin())
            workers[-1].give(task)
        yield _ends(workers, tasks)
        for worker in workers:
            worker.channel.close()
        _wait_for(workers)
    except BaseException:
        for worker in workers:
            worker.process.send_signal(signal.SIGUSR1)
        # A Ctrl-C during this wait ends it: the processes are killed below.
        with suppress(KeyboardInterrupt):
            _wait_for(workers)
        raise
    finally:
        for worker in workers:
            worker.channel.close()
            worker.process.kill()
        _wait_for(workers, at_most_s=1.0)


def _begin() -> _Worker:
    """Start a process, in which the blocked signals stay blocked."""
    try:
        ours, theirs = Pipe()
        with theirs:
            descriptor = theirs.fileno()
            process = subprocess.Popen(  # noqa: S603  our own file
                [sys.executable, *_FLAGS, str(_WORKER), str(descriptor), str(os.getpid())],
                pass_fds=[descriptor],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # The parent reports errors.
                stderr=subprocess.DEVNULL,
            )
    except OSError as error:
        raise InputError(
            f"no process for a run can be started: {error.strerror}: {_FEWER}"
        ) from None
    worker = _Worker(process, ours)
    with suppress(OSError):
        ours.send(sys.path)
    return worker


def _one_by_one(tasks: Sequence[Task]) -> Iterator[int]:
    """Run the tasks here; yield the position of each as it ends."""
    for at, task in enumerate(tasks):
        task()
        yield at


def _ends(workers: Sequence[_Worker], tasks: Sequence[Task]) -> Iterator[int]:
    """Yield the positions of tasks as they end, and give each process the next task."""
    # Each process has the task at its own position.
    busy = dict(enumerate(workers))
    coming = iter(range(len(workers), len(tasks)))
    while busy:
        ready = wait([worker.channel for worker in busy.values()])
        for at, worker in [one for one in busy.items() if one[1].channel in ready]:
            worker.check()
            del busy[at]
            if (following := next(coming, None)) is not None:
                worker.give(tasks[following])
                busy[following] = worker
            yield at


def _wait_for(workers: Iterable[_Worker], at_most_s: float = _PATIENCE_S) -> None:
    """Wait until the processes have ended, at most ``at_most_s`` seconds."""
    until = time.monotonic() + at_most_s
    for worker in workers:
        with suppress(subprocess.TimeoutExpired):
            worker.process.wait(max(until - time.monotonic(), 0.0))
