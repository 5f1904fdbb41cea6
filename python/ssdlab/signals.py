"""Signals that end a program: the first one interrupts it, later ones leave it to its end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end a program."""

_PATIENCE_S = 1.0
"""How long an interrupted program may take to end before Ctrl-C interrupts it again."""


class FirstSignal:
    """Tells which signals interrupt: the first, and a Ctrl-C that comes a second later."""

    def __init__(self) -> None:
        """Begin before the first signal."""
        self._last_s: float | None = None

    def interrupts(self, number: int) -> bool:
        """Return whether this signal, which has just come, interrupts."""
        now = time.monotonic()
        if self._last_s is not None:
            # What is stuck has to be ended by somebody who sees that it is.
            is_late = now - self._last_s >= _PATIENCE_S
            if number != signal.SIGINT or not is_late:
                return False
        self._last_s = now
        return True


@contextmanager
def held_back() -> Iterator[None]:
    """Hold signals back until this ends; processes that begin in it never hear them.

    Libraries in C, NumPy among them, print a traceback if a signal comes while they are loaded.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupted_once() -> Iterator[None]:
    """Let one signal interrupt: a second one would leave half done what the first has begun.

    A Ctrl-C that comes a second later interrupts again. Outside of the main thread, which alone
    handles signals, nothing changes.
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

    # What is ignored, as under nohup, and what ends the process at once stays so.
    ours = [number for number, handler in before.items() if callable(handler)]
    try:
        for number in ours:
            signal.signal(number, pass_on)
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
