"""The entry point of the command ``ssdlab``: Ctrl-C ends it in one line from the first moment on.

It is separate from the package, whose import takes most of a short command's time.
"""

import os
import signal
import sys
from types import FrameType

_INPUT, _INTERRUPTED = 2, 130
"""As in ``ssdlab.cli.exit_codes``, which is not loaded yet."""


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
    # The command line handles signals itself once it is loaded.
    from ssdlab.cli.main import main as run  # noqa: PLC0415  slow to import

    run()


def _open_standard_streams() -> None:
    """Open the null device for streams that the shell has closed (``>&-``).

    Otherwise the next opened file would take their place and receive the output. Standard output
    stays unwritable, so that lost output is reported.
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
    """End at once: nothing has begun, and a half-finished import cannot continue."""
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)
