"""The standard streams of the command."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from ssdlab import signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

_LOOK_MS = 20
"""The time between two checks whether the reader has made room."""


class _PatientOutput(io.RawIOBase):
    """A stream that waits for its reader, at most until a second after a signal.

    If the system accepts a part of a text, the stream writes the rest, too. After it has given up
    or failed to write, the stream neither writes nor waits any more.
    """

    def __init__(self, number: int, name: str) -> None:
        """Write to a descriptor; messages call it ``name``."""
        super().__init__()
        self.name = name
        self._number, self._is_abandoned = number, False
        self._room = select.poll()
        self._room.register(number, select.POLLOUT)
        self._write = _writer(number)

    def writable(self) -> bool:
        """Return true."""
        return True

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._number

    def isatty(self) -> bool:
        """Tell whether the descriptor leads to a terminal."""
        return os.isatty(self._number)

    def write(self, data: Buffer) -> int:
        """Write all of ``data``; return its length.

        Raises :class:`KeyboardInterrupt` if a wait takes too long after a signal.
        """
        rest = memoryview(data).cast("B")
        length = len(rest)
        since = time.monotonic()
        try:
            while rest and not self._is_abandoned:
                try:
                    rest = rest[self._write(rest) :]
                    since = time.monotonic()
                except BlockingIOError:
                    self._wait(since)
        except (KeyboardInterrupt, OSError):
            # Otherwise Python would try to write the rest once more at exit.
            self._is_abandoned = True
            raise
        return length

    def _wait(self, since: float) -> None:
        """Wait for room, or give up if the wait takes too long after a signal."""
        if not signals.is_overdue(since):
            self._room.poll(_LOOK_MS)
        elif self.name == "standard error":
            # Nobody would read a message.
            self._is_abandoned = True
        else:
            message = f"{self.name}: cannot be written: interrupted while waiting for a reader"
            raise KeyboardInterrupt(message)


def _writer(number: int) -> Callable[[Buffer], int]:
    """Return a function that writes to a descriptor as much as it has room for."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return partial(os.write, number)
    import socket  # noqa: PLC0415  standard output is hardly ever a socket

    ours = socket.socket(fileno=os.dup(number))
    return lambda rest: ours.send(rest, socket.MSG_DONTWAIT)


def wait_for_readers() -> None:
    """Make the standard streams write whole texts and wait for slow readers.

    They write a question mark for a character that their encoding lacks. Without a buffer
    (PYTHONUNBUFFERED), Python would drop the rest of a text if the system writes only a part of it.
    The system does so on a full disk or when a signal arrives.
    """
    sys.stdout = _patient(sys.stdout, sys.__stdout__, "standard output")
    sys.stderr = _patient(sys.stderr, sys.__stderr__, "standard error")


def _patient(stream: Any, original: Any, name: str) -> Any:
    stream.reconfigure(errors="replace")
    if stream is not original:
        return stream
    stream.flush()
    number = stream.fileno()
    _take_without_waiting(number)
    buffer = io.BufferedWriter(_PatientOutput(number, name))
    return io.TextIOWrapper(
        buffer, stream.encoding, errors="replace", line_buffering=stream.line_buffering
    )


def _take_without_waiting(number: int) -> None:
    """Make a pipe or a terminal refuse data that it has no room for, instead of blocking.

    The descriptor is opened anew, because other processes may share the inherited one. If the
    system does not allow it, writing blocks as before.
    """
    kind = os.fstat(number).st_mode
    if not stat.S_ISFIFO(kind) and not os.isatty(number):
        return
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
    try:
        anew = os.open(f"/proc/self/fd/{number}", flags)
    except OSError:
        return
    os.dup2(anew, number, inheritable=True)
    os.close(anew)
