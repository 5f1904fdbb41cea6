"""How signals end the command: with one line, and with the exit code of the first signal."""

from __future__ import annotations

import atexit
import os
import signal
from types import FrameType

from ssdlab import _native
from ssdlab.cli import exit_codes
from ssdlab.signals import ENDING, INTERRUPTING, FirstSignal


class Ending:
    """Handles the signals that end the program while the command runs."""

    def __init__(self) -> None:
        """Prepare, but handle no signal yet."""
        self._first = FirstSignal()
        self._by: signal.Signals | None = None
        self._final: int | None = None
        self._arrived, arrives = os.pipe()
        os.set_blocking(arrives, False)
        # The pipe keeps the order of arrival; Python may handle pending signals in another order.
        signal.set_wakeup_fd(arrives, warn_on_full_buffer=False)

    def begin(self) -> None:
        """Handle signals from now on; the first raises :class:`KeyboardInterrupt`."""
        # At exit, Python restores the system's handlers before its process has ended.
        atexit.register(self._ignore)
        INTERRUPTING.add(self._answer)
        for number in ENDING:
            # Under nohup, a command continues when its terminal is gone.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._answer)

    def has_begun(self) -> bool:
        """Tell whether a signal has arrived."""
        return self._by is not None

    def exit_code(self, code: int) -> int:
        """Return the exit code of the process; no later signal changes it."""
        if self._by is not None and code == exit_codes.INTERRUPTED:
            code = exit_codes.OF_SIGNALS[self._by]
        self._final = code
        return code

    def _answer(self, number: int, _frame: FrameType | None) -> None:
        """End as on Ctrl-C; an output file appears whole or not at all."""
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
