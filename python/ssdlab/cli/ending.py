"""How signals end the command: with one line, and with the exit code of the first."""

from __future__ import annotations

import atexit
import os
import signal
from types import FrameType

from ssdlab import _native
from ssdlab.cli import exit_codes
from ssdlab.signals import ENDING, INTERRUPTING, FirstSignal


class Ending:
    """What answers the signals that end a program, as long as the command runs."""

    def __init__(self) -> None:
        """Answer none yet."""
        self._first = FirstSignal()
        self._by: signal.Signals | None = None
        self._final: int | None = None
        self._arrived, arrives = os.pipe()
        os.set_blocking(arrives, False)
        # Python answers signals that came while it was busy in another order.
        signal.set_wakeup_fd(arrives, warn_on_full_buffer=False)

    def begin(self) -> None:
        """Answer signals from now on: the first raises :class:`KeyboardInterrupt`."""
        # Python gives signals back to the system before its process is gone.
        atexit.register(self._ignore)
        INTERRUPTING.add(self._answer)
        for number in ENDING:
            # Under nohup a command goes on when its terminal is gone.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._answer)

    def has_begun(self) -> bool:
        """Tell whether a signal has come."""
        return self._by is not None

    def exit_code(self, code: int) -> int:
        """Return what the process ends with; no signal changes it any more."""
        if self._by is not None and code == exit_codes.INTERRUPTED:
            code = exit_codes.OF_SIGNALS[self._by]
        self._final = code
        return code

    def _answer(self, number: int, _frame: FrameType | None) -> None:
        """End as by Ctrl-C: what is written appears whole or not at all."""
        if not self._first.interrupts(number):
            return
        if self._final is not None:
            _native.remove_unfinished()
            os._exit(self._final)
        if self._by is None:
            self._by = signal.Signals(os.read(self._arrived, 1)[0])
        raise KeyboardInterrupt

    def _ignore(self) -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
