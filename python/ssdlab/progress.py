"""The line on a terminal that shows the progress of runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Self, TextIO

from ssdlab.render.formatting import amount

Progress = Callable[[list[tuple[float | None, int, bool, bool]]], object]
"""Called about ten times a second with four values for each run.

They are the share done from 0 to 1 (None if unknown), the requests done, whether its drive is still
being prepared, and whether it has finished.
"""

_WIDTH = 30


class ProgressLine:
    """A line on stderr that is redrawn. Without a terminal, there is a plain line at most."""

    def __init__(
        self,
        stream: TextIO | None = None,
        what: str = "runs",
        unit: str = "requests",
        *,
        every_s: float | None = None,
    ) -> None:
        """Draw on ``stream``, by default stderr.

        ``what`` is the plural name of the runs, ``unit`` that of the things that they process. A
        stream that is no terminal gets a plain line every ``every_s`` seconds, or nothing if that
        is None.
        """
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._what = what
        self._unit = unit
        self._drawn = False
        self._every_s = every_s
        self._written = time.monotonic()

    def __call__(self, runs: Sequence[tuple[float | None, int, bool, bool]]) -> None:
        """Draw the progress of the runs."""
        if self._live and runs:
            self._drawn = self._write(f"\r{progress_text(runs, self._what, self._unit)}\x1b[K")
        elif runs and self._every_s is not None:
            now = time.monotonic()
            if now - self._written >= self._every_s:
                self._write(f"{_finished(runs, self._what)}\n")
                self._written = now

    def __enter__(self) -> Self:
        """Return the line itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Erase the line."""
        if self._drawn:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> bool:
        """Write at once; return whether that worked. A terminal that is gone does not end a run."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._live, self._drawn, self._every_s = False, False, None
            return False
        return True


def progress_text(
    runs: Sequence[tuple[float | None, int, bool, bool]],
    what: str = "runs",
    unit: str = "requests",
) -> str:
    """Return the line: a bar, the share of all runs that is done, and the requests so far.

    There is no bar while the total is unknown.
    """
    begun = [1.0 if run[3] else 0.0 if run[2] else run[0] for run in runs]
    known = [done for done in begun if done is not None]
    requests = sum(run[1] for run in runs)
    parts = []
    if len(known) == len(begun):
        done = sum(known) / len(known)
        filled = "█" * round(done * _WIDTH)
        parts.append(f"{filled:·<{_WIDTH}} {done:4.0%}")
    if len(runs) > 1:
        parts.append(_finished(runs, what))
    preparing = [run[0] or 0.0 for run in runs if run[2] and not run[3]]
    parts.append(f"preparing the drive, {preparing[0]:.0%} of a capacity" if preparing else "")
    parts.append(f"{amount(requests)} {unit}" if requests else "")
    return "  ".join(part for part in parts if part)


def _finished(runs: Sequence[tuple[float | None, int, bool, bool]], what: str) -> str:
    return f"{sum(run[3] for run in runs)} of {len(runs)} {what}"
