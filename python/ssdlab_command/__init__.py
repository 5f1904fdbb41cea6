"""The way into the command ``ssdlab``: Ctrl-C ends it in one line from its first moment on.

It stands beside the package, whose import takes most of a short command's time.
"""

import os
import signal
import sys
from types import FrameType

_INPUT, _INTERRUPTED = 2, 130
"""As in ``ssdlab.cli.exit_codes``, which is not there yet."""


def main() -> None:
    """Load the command line and run it."""
    try:
        _main()
    except MemoryError:
        os.write(2, b"out of memory\n")
        os._exit(_INPUT)


def _main() -> None:
    _open_standard_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    # It answers signals itself from its beginning on.
    from ssdlab.cli.main import main as run  # noqa: PLC0415  what takes the time

    run()


def _open_standard_streams() -> None:
    """Lead streams nowhere that the shell has closed (``>&-``).

    Otherwise the next file to be opened would take their place, and get what is printed. Standard
    output stays one that cannot be written: what is printed there alone would be lost unnoticed.
    """
    for descriptor, mode in enumerate((os.O_RDWR, os.O_RDONLY, os.O_RDWR)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  kept
            setattr(sys, name, stream)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End at once: nothing has begun, and an import half done is nothing to go on from."""
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)
