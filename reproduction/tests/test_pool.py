"""Processes that work side by side end when they should, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab_reproduction.pool import side_by_side

WAIT_S = 20.0


def begun(folder: Path) -> list[int]:
    """Return the processes that have begun a task."""
    return [int(path.name) for path in folder.glob("[0-9]*")]


def until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds; tell whether it did."""
    end = time.monotonic() + WAIT_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def is_running(process: int) -> bool:
    """Tell whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def long(folder: Path) -> None:
    """Say which process does this, and work with a temporary folder."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="tmp"):
        (folder / str(os.getpid())).touch()
        time.sleep(10 * WAIT_S)


def short(folder: Path) -> None:
    """Say which process has done this."""
    (folder / str(os.getpid())).touch()


def wrong() -> None:
    """Refuse to work."""
    raise InputError("a wrong task")


def test_every_task_is_done_and_then_no_process_is_left(tmp_path: Path) -> None:
    with side_by_side(2, [partial(short, tmp_path)] * 20) as ended:
        assert len(list(ended)) == 20
    assert 1 <= len(begun(tmp_path)) <= 2
    assert not any(map(is_running, begun(tmp_path)))


def test_one_at_a_time_takes_no_other_process(tmp_path: Path) -> None:
    with side_by_side(1, [partial(short, tmp_path)] * 3) as ended:
        list(ended)
    assert begun(tmp_path) == [os.getpid()]


def test_what_is_interrupted_removes_its_temporary_files(tmp_path: Path) -> None:
    def interrupted() -> None:
        with side_by_side(2, [partial(long, tmp_path)] * 9):
            assert until(lambda: len(begun(tmp_path)) == 2)
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.glob("tmp*"))
    assert not any(map(is_running, begun(tmp_path)))
    assert len(begun(tmp_path)) == 2
    assert time.monotonic() - start < WAIT_S


def test_a_wrong_task_ends_the_others(tmp_path: Path) -> None:
    tasks: list[Callable[[], None]] = [partial(long, tmp_path), wrong]
    with (
        pytest.raises(InputError, match=r"^a wrong task$"),
        side_by_side(2, tasks) as ended,
    ):
        list(ended)
    assert not any(map(is_running, begun(tmp_path)))


def stuck(folder: Path) -> None:
    """Say which process does this, and stop it as a device does that does not answer."""
    short(folder)
    os.kill(os.getpid(), signal.SIGSTOP)


def test_a_second_ctrl_c_ends_what_is_stuck(tmp_path: Path) -> None:
    def pressed_twice() -> None:
        with side_by_side(2, [partial(stuck, tmp_path)] * 2):
            assert until(lambda: len(begun(tmp_path)) == 2)
            time.sleep(0.2)
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pressed_twice()
    assert time.monotonic() - start < 5
    assert not any(map(is_running, begun(tmp_path)))


def test_a_process_that_cannot_be_started_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen = subprocess.Popen
    started: list[Any] = []

    def second_fails(*arguments: Any, **options: Any) -> Any:
        if started:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        started.append(popen(*arguments, **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", second_fails)
    line = r"^no process for a run can be started: Resource temporarily unavailable: expected fewer"
    with (
        pytest.raises(InputError, match=line),
        side_by_side(2, [partial(long, tmp_path)] * 2),
    ):
        pass
    assert started[0].poll() is not None


def test_signals_to_a_process_of_the_pool_are_its_parents(tmp_path: Path) -> None:
    def signaled(number: signal.Signals) -> partial[None]:
        return partial(tell, tmp_path, number)

    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    with side_by_side(2, [signaled(number) for number in numbers]) as ended:
        assert len(list(ended)) == 3


def tell(folder: Path, number: signal.Signals) -> None:
    """Send this process a signal, as a terminal does."""
    os.kill(os.getpid(), number)
    short(folder)


LEDGER = """
import sys
from functools import partial
from pathlib import Path
from test_pool import long
from ssdlab_reproduction.pool import side_by_side
with side_by_side(2, [partial(long, Path(sys.argv[1]))] * 9) as ended:
    list(ended)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_one_that_began_it(tmp_path: Path, number: signal.Signals) -> None:
    ledger = subprocess.Popen(
        [sys.executable, "-c", LEDGER, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert until(lambda: len(begun(tmp_path)) == 2)
    # The terminal tells its whole group of a Ctrl-C; memory that runs out takes one process.
    os.killpg(ledger.pid, number) if number == signal.SIGINT else ledger.kill()
    ledger.wait(WAIT_S)
    assert until(lambda: not any(map(is_running, begun(tmp_path))))
