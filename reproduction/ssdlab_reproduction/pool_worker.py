"""A process of the pool: it receives tasks over a channel and returns the error of each.

It runs as a file of its own, and imports ssdlab after the parent has sent the path.
"""

import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection

_LOOK_S = 0.5
"""The time between two checks whether the parent still runs."""


def main() -> None:
    """Run tasks until there are no more, or until SIGUSR1 interrupts one."""
    # SIGINT, SIGTERM and SIGHUP are blocked since the start of the process: the parent handles
    # them.
    signal.signal(signal.SIGUSR1, signal.default_int_handler)
    channel = Connection(int(sys.argv[1]))
    sys.path[:] = channel.recv()
    from ssdlab import room  # noqa: PLC0415  importable only after the path is set

    room.end_first_without_memory()
    # If no thread can start, a task runs to its end even without its parent.
    with suppress(RuntimeError):
        threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            channel.send(_do(channel.recv_bytes()))


def _do(task: bytes) -> BaseException | None:
    """Run a task; return the error that it raised."""
    try:
        pickle.loads(task)()  # noqa: S301  it comes from the parent
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001  the parent raises it
        return raised
    return None


def _end_with(parent: int) -> None:
    """Interrupt this process when its parent is gone."""
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os.kill(os.getpid(), signal.SIGUSR1)


if __name__ == "__main__":
    main()
