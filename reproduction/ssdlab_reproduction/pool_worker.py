"""A process of the pool: tasks come through a channel, and what each raised goes back.

It is run as a file, by itself. It imports ssdlab once the parent has sent the path.
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
"""Time between two checks whether the parent is there."""


def main() -> None:
    """Do tasks until there are no more, or until SIGUSR1 interrupts one."""
    # SIGINT, SIGTERM and SIGHUP are held back since the process began: the parent answers them.
    signal.signal(signal.SIGUSR1, signal.default_int_handler)
    channel = Connection(int(sys.argv[1]))
    sys.path[:] = channel.recv()
    from ssdlab import room  # noqa: PLC0415  it is found when the path is known

    room.end_first_without_memory()
    # Without a thread to spare, a task goes on to its end if the parent is gone.
    with suppress(RuntimeError):
        threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            channel.send(_do(channel.recv_bytes()))


def _do(task: bytes) -> BaseException | None:
    """Do a task; return what it raised."""
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
