"""The way into the command ``ssdlab``: Ctrl-C ends it in one line from its first moment on.

It stands beside the package, whose import takes most of a short command's time.
"""

import os
import signal
from types import FrameType

_INTERRUPTED = 130
"""As in ``ssdlab.cli.exits``, which is not there yet."""


def main() -> None:
    """Load the command line and run it."""
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, _leave)
    from ssdlab import cli  # noqa: PLC0415  what takes the time

    if is_ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End at once: nothing has begun, and an import half done is nothing to go on from."""
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)
