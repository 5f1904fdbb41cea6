"""Signals that end a program: the first one interrupts it, later ones do not disturb its end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)
"""The signals that end a program; the last one arrives at the soft limit of processor time."""

INTERRUPTING: set[Any] = {signal.default_int_handler}
"""Handlers that raise :class:`KeyboardInterrupt`, which :func:`deferred` may delay."""

_PATIENCE_S = 1.0
"""How long an interrupted program may take to end before another Ctrl-C interrupts it."""


class FirstSignal:
    """Decides which signals interrupt: the first, and a Ctrl-C at least a second later."""

    def __init__(self) -> None:
        """Start before the first signal."""
        self._last_s: float | None = None

    def interrupts(self, number: int) -> bool:
        """Tell whether a signal that has just arrived interrupts."""
        now = time.monotonic()
        if self._last_s is not None:
            # A user who presses Ctrl-C again after a second has seen a stuck command.
            is_late = now - self._last_s >= _PATIENCE_S
            if number != signal.SIGINT or not is_late:
                return False
        self._last_s = now
        return True


@contextmanager
def held_back() -> Iterator[None]:
    """Block signals within this context; processes that start in it never receive them.

    Libraries in C, NumPy among them, print a traceback if a signal arrives while they are loaded.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Let one signal interrupt, so that a second one does not disturb the end of the program.

    A Ctrl-C at least a second later interrupts again. Outside the main thread, which alone handles
    signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first = FirstSignal()
    before = {number: signal.getsignal(number) for number in ENDING}

    def pass_on(number: int, frame: FrameType | None) -> None:
        handler = before[signal.Signals(number)]
        if first.interrupts(number) and callable(handler):
            handler(number, frame)

    # A signal that is ignored, as under nohup, or that ends the process at once stays so.
    ours = [number for number, handler in before.items() if callable(handler)]
    try:
        for number in ours:
            signal.signal(number, pass_on)
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


class Deferred:
    """Handling of signals in which the first one interrupts only where that loses nothing.

    A Ctrl-C at least a second later interrupts at once.
    """

    def __init__(self) -> None:
        """Start before the first signal."""
        self._first = FirstSignal()
        self._waits: tuple[int, FrameType | None] | None = None
        # A program's own handler still runs at once.
        found = {number: signal.getsignal(number) for number in ENDING}
        self._before: dict[int, Any] = {
            number: handler for number, handler in found.items() if handler in INTERRUPTING
        }
        self._came_s: float | None = None

    def check(self) -> None:
        """Raise :class:`KeyboardInterrupt` if a signal has arrived and has not interrupted yet."""
        if self._waits is not None:
            (number, frame), self._waits = self._waits, None
            self._before[number](number, frame)

    def stopping(self, progress: Callable[..., Any] | None) -> Callable[..., Any]:
        """Return a callback that stops the work if a signal has arrived, else reports progress."""

        def report(*arguments: Any) -> None:
            self.check()
            if progress is not None:
                progress(*arguments)

        return report

    def is_overdue(self, since_s: float) -> bool:
        """Tell whether a wait since ``since_s`` has lasted for a second after a signal."""
        came = self._came_s
        return came is not None and time.monotonic() - max(came, since_s) >= _PATIENCE_S

    def _answer(self, number: int, frame: FrameType | None) -> None:
        if not self._first.interrupts(number):
            return
        if self._came_s is None:
            self._came_s = time.monotonic()
            self._waits = (number, frame)
        else:
            self._waits = None
            self._before[number](number, frame)

    def begin(self) -> None:
        """Handle signals from now on."""
        for number in self._before:
            signal.signal(number, self._answer)

    def end(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


_deferred: list[Deferred] = []
"""The active deferral, if any."""


@contextmanager
def deferred() -> Iterator[Deferred]:
    """Defer the first signal to a :meth:`Deferred.check`, or to the end of this context.

    A signal that arrives while measured results are shown and written loses none of them. Nothing
    changes within another deferral, or outside the main thread, which alone handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield Deferred()
        return
    if _deferred:
        yield _deferred[0]
        return
    one = Deferred()
    try:
        _deferred.append(one)
        one.begin()
        yield one
    except BaseException:
        _end(one)
        # The error is reported, not the signal that arrived as well.
        with suppress(KeyboardInterrupt):
            one.check()
        raise
    else:
        _end(one)
        one.check()


def _end(one: Deferred) -> None:
    one.end()
    _deferred.clear()


def is_overdue(since_s: float) -> bool:
    """Tell whether a wait since ``since_s`` must end, a second after a deferred signal."""
    return any(one.is_overdue(since_s) for one in _deferred)
