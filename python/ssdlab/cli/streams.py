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
"""Time between two checks whether who is written to has made room."""


class _PatientOutput(io.RawIOBase):
    """A stream that waits for its reader, until a second after a signal.

    What the system takes in part is written to its end. Nothing more is written, and nothing more
    waited for, once waiting was given up or writing has failed.
    """

    def __init__(self, number: int, name: str) -> None:
        """Write to a descriptor, which messages call by a name."""
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
        """Tell whether it leads to a terminal."""
        return os.isatty(self._number)

    def write(self, data: Buffer) -> int:
        """Write all of this."""
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
            # Python would write what is left once more at its end.
            self._is_abandoned = True
            raise
        return length

    def _wait(self, since: float) -> None:
        """Wait for room; give up when that has taken too long."""
        if not signals.is_overdue(since):
            self._room.poll(_LOOK_MS)
        elif self.name == "standard error":
            # Nobody would read it.
            self._is_abandoned = True
        else:
            message = f"{self.name}: cannot be written: interrupted, and nobody reads it"
            raise KeyboardInterrupt(message)


def _writer(number: int) -> Callable[[Buffer], int]:
    """Return what writes to a descriptor as much as there is room for."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return partial(os.write, number)
    import socket  # noqa: PLC0415  standard output is hardly ever a socket

    ours = socket.socket(fileno=os.dup(number))
    return lambda rest: ours.send(rest, socket.MSG_DONTWAIT)


def wait_for_readers() -> None:
    """Let the standard streams write whole texts, and wait for their readers as long as is wise.

    They write a question mark for a sign that their encoding lacks. Without a buffer
    (PYTHONUNBUFFERED) Python drops the rest when the system writes only a part, as on a full disk
    or when a signal comes.
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
    """Let a descriptor of a pipe or a terminal refuse what it has no room for.

    It is opened anew, since others may share the one that was inherited. Where the system does not
    let us, writing waits as it always did.
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
