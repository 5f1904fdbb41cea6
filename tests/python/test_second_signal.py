"""One signal ends a command; those that come while it ends change nothing."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command import COMMAND, ROOT, ledger_under_way

from ssdlab.signals import FirstSignal, interrupted_once

FOREVER = ("--limit", "4000000000", "--set", "workload.requests=4000000000")

LOADING = """
import os, signal, sys
class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                print("in the middle", file=sys.stderr)
                raise
sys.meta_path.insert(0, Press())
from ssdlab_command import main
main()
"""
"""What the command does, with Ctrl-C pressed while NumPy is loaded."""

ENDING = """
import atexit, os, signal, sys, time
from ssdlab.cli import main as cli
class Late:
    def __del__(self, kill=os.kill, pid=os.getpid(), signals=(signal.SIGINT, signal.SIGHUP)):
        for number in signals:
            kill(pid, number)
@cli.ssdlab.command()
def end():
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
    sys.kept_to_the_end = Late()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
@cli.ssdlab.command()
def stick():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    except KeyboardInterrupt:
        print("stuck", flush=True)
        time.sleep(60)
cli.main()
"""
"""Commands that SIGTERM ends: other signals come late in its exit, or it gets stuck in it."""


def running_in_group(group: int) -> list[str]:
    """Returns the processes of a group that run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of_group = stat.read_text().rpartition(") ")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                found.append(stat.parent.name)
    return found


@pytest.mark.parametrize("gap_s", [0.0, 0.05, 0.2])
@pytest.mark.parametrize(("by", "code"), [("INT", 130), ("TERM", 143), ("HUP", 129)])
def test_a_second_signal_leaves_the_command_to_its_end(
    tmp_path: Path, by: str, code: int, gap_s: float
) -> None:
    files = ("--log", "l", "--series", "s", "--timeline", "t", "--report", "r")
    process = subprocess.Popen(
        [*COMMAND, "run", *FOREVER, *files],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2)
    process.send_signal(signal.Signals[f"SIG{by}"])
    time.sleep(gap_s)
    # The order of two signals that come at once is unknown.
    process.send_signal(signal.SIGINT if gap_s else signal.Signals[f"SIG{by}"])
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, "")
    assert {path.name for path in tmp_path.iterdir()} == {"l", "s", "t", "r"}


def test_a_library_is_loaded_to_its_end(tmp_path: Path) -> None:
    program = [sys.executable, "-c", LOADING, "fit", str(ROOT / "examples" / "chips.csv")]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_signals_late_in_the_exit_change_nothing() -> None:
    command = [sys.executable, "-c", ENDING, "end"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "interrupted\n")


def test_what_is_stuck_in_its_exit_ends_by_a_later_ctrl_c() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDING, "stick"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGINT)
    time.sleep(1.2)
    assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (143, "", "interrupted\n")


@pytest.mark.parametrize("gap_s", [0.0, 0.03, 0.2])
@pytest.mark.parametrize(
    ("signals", "code"), [(("INT", "INT"), 130), (("TERM", "INT"), 143), (("HUP", "HUP"), 129)]
)
def test_two_signals_in_a_row_end_a_ledger(
    tmp_path: Path, signals: tuple[str, str], code: int, gap_s: float
) -> None:
    process = ledger_under_way(tmp_path)
    first, second = (signal.Signals[f"SIG{name}"] for name in signals)
    os.killpg(process.pid, first)
    # The order of two signals that come at once is unknown.
    time.sleep(gap_s if first == second else max(gap_s, 0.01))
    with suppress(ProcessLookupError):
        os.killpg(process.pid, second)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.splitlines() == [
        "interrupted: finished runs are kept in out, and the same command goes on"
    ]
    assert not list(tmp_path.glob("out/runs/.ssdlab-*"))
    until = time.monotonic() + 5
    while (left := running_in_group(process.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


def test_one_signal_interrupts_what_has_to_be_ended() -> None:
    before = signal.getsignal(signal.SIGINT)
    steps = []

    def end() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("ended")

    with pytest.raises(KeyboardInterrupt), interrupted_once():
        end()
    assert (steps, signal.getsignal(signal.SIGINT)) == (["ended"], before)


def test_ctrl_c_interrupts_again_a_second_later(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [5.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    first = FirstSignal()
    for at, number, expected in (
        (5.0, signal.SIGTERM, True),
        (5.9, signal.SIGINT, False),
        (6.0, signal.SIGHUP, False),
        (6.0, signal.SIGINT, True),
        (6.9, signal.SIGINT, False),
        (7.0, signal.SIGINT, True),
    ):
        now[0] = at
        assert first.interrupts(number) == expected, (at, number)
