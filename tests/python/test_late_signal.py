"""A signal that comes once everything is measured loses nothing of it."""

import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from command import COMMAND

import ssdlab
from ssdlab import api
from ssdlab.cli.outputs import write_each
from ssdlab.errors import InputError
from ssdlab.signals import deferred

PRESSED = """
import os, signal, sys
from ssdlab import _native, api
from ssdlab.cli import main as cli, outputs
from ssdlab.files import OutputFile

place, number = sys.argv.pop(1), signal.Signals[sys.argv.pop(1)]

presses = iter([number])

def press():
    # Once: a second one, a second later, ends what is stuck.
    for one in presses:
        os.kill(os.getpid(), one)

def pressing(function, before):
    def call(*arguments, **options):
        if before:
            press()
        found = function(*arguments, **options)
        if not before:
            press()
        return found
    return call

match place:
    case "native":
        for name in ("run", "ldpc", "trace_info"):
            setattr(_native, name, pressing(getattr(_native, name), before=False))
    case "parse":
        api._comparison = pressing(api._comparison, before=True)
    case "summed":
        api.compare = pressing(api.compare, before=False)
    case "json":
        OutputFile.write = pressing(OutputFile.write, before=True)
    case "print":
        from ssdlab.cli import run, trace
        press_first = pressing(outputs.print_out, before=True)
        run.print_out = trace.print_out = outputs.print_out = press_first
cli.main()
"""
"""The command, with a signal at one place after the last run."""

CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


def pressed(folder: Path, place: str, by: str, *command: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-P", "-c", PRESSED, place, by, *command]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("place", "by"),
    [
        *((place, "SIGINT") for place in ("native", "parse", "summed", "json", "print")),
        ("native", "SIGHUP"),
        ("json", "SIGTERM"),
    ],
)
def test_a_signal_after_the_last_run_loses_no_output(tmp_path: Path, place: str, by: str) -> None:
    files = ("--log", "l", "--json", "j", "--report", "r", "--seeds", "1")
    done = pressed(tmp_path, place, by, "run", "--limit", "300", *files)
    assert (done.returncode, done.stderr) == (CODES[by], "interrupted\n")
    assert "IOPS" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"l", "j", "r"}
    (result,) = json.loads((tmp_path / "j").read_text())["results"]
    assert (result["requests"], result["partial"]) == (300, False)


@pytest.mark.parametrize("place", ["native", "summed"])
def test_a_comparison_is_whole_too(tmp_path: Path, place: str) -> None:
    vary = ("--vary", "scheduler=fifo,read_first", "--seeds", "2", "--json", "-")
    done = pressed(tmp_path, place, "SIGINT", "compare", "--limit", "300", *vary)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    whole = json.loads(done.stdout)
    assert (len(whole["results"]), len(whole["aggregates"])) == (4, 2)


@pytest.mark.parametrize("place", ["native", "json", "print"])
def test_every_output_of_an_analysis_is_written(tmp_path: Path, place: str) -> None:
    done = pressed(tmp_path, place, "SIGTERM", "ldpc", "--json", "j", "--report", "r")
    assert done.returncode == 143
    assert done.stderr in {"", "interrupted\n"}
    assert "BCH" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"j", "r"}


@pytest.mark.parametrize("place", ["native", "json", "print"])
def test_of_traces_everything_is_written(tmp_path: Path, trace: Path, place: str) -> None:
    files = ("--json", "j", "--report", "r")
    done = pressed(tmp_path, place, "SIGINT", "trace", "info", trace.name, *files)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert "requests" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"j", "r", trace.name}


def test_in_a_program_the_result_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    comparison = api._comparison

    def press(*arguments: object) -> tuple[ssdlab.Comparison, InputError | None]:
        os.kill(os.getpid(), signal.SIGINT)
        return comparison(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(api, "_comparison", press)
    with pytest.raises(ssdlab.Interrupted) as caught:
        ssdlab.run(limit=300)
    assert [result.requests for result in caught.value.partial] == [300]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_programs_own_handler_is_called_at_once() -> None:
    called: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: called.append(number))
    try:
        with deferred():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            assert called == [signal.SIGINT] * 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_first_signal_waits_and_a_ctrl_c_a_second_later_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [5.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    steps = []
    with deferred() as signals:
        os.kill(os.getpid(), signal.SIGINT)
        steps.append("waits")
        with pytest.raises(KeyboardInterrupt):
            signals.check()
        now[0] = 5.9
        os.kill(os.getpid(), signal.SIGINT)
        signals.check()
        now[0] = 6.0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert steps == ["waits"]


def test_a_signal_does_not_hide_what_went_wrong() -> None:
    def fail() -> None:
        with deferred():
            os.kill(os.getpid(), signal.SIGINT)
            raise InputError("disk")

    with pytest.raises(InputError, match="disk"):
        fail()


def test_a_thread_other_than_the_first_defers_no_signal() -> None:
    ended = []

    def work() -> None:
        with deferred() as signals:
            signals.check()
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


def test_every_step_is_taken_when_one_is_interrupted() -> None:
    steps = []

    def stuck() -> None:
        steps.append("stuck")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_each([stuck, lambda: steps.append("written")])
    assert steps == ["stuck", "written"]


@pytest.mark.parametrize("is_open", [False, True], ids=["without a reader", "that nobody reads"])
def test_a_pipe_keeps_no_other_output_back(tmp_path: Path, is_open: bool) -> None:
    pipe = tmp_path / "f"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if is_open else None
    if reader is not None:
        # Far less than the results take.
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    command = [*COMMAND, "run", "--limit", "1000", "--json", "f", "--report", "r"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        time.sleep(3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        if reader is not None:
            os.close(reader)
    line = "--json: cannot write 'f': interrupted while waiting for a reader\n"
    assert "IOPS" in out
    assert (tmp_path / "r").exists()
    assert (process.returncode, err) == (130, f"{line}interrupted\n")


def test_a_pipe_gets_the_whole_text(tmp_path: Path) -> None:
    pipe = tmp_path / "f"
    os.mkfifo(pipe)
    command = [*COMMAND, "run", "--limit", "3000", "--seeds", "40", "--json", "f"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    with pipe.open() as reader:
        # More than a pipe holds at a time.
        time.sleep(1)
        text = reader.read()
    assert process.wait(timeout=60) == 0
    assert len(text) > 1 << 17
    assert len(json.loads(text)["results"]) == 40


@pytest.mark.parametrize("kind", ["pipe", "terminal", "socket"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_unread_standard_output_delays_no_other_output(
    tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    match kind:
        case "pipe":
            reads, writes = os.pipe()
            fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
        case "terminal":
            reads, writes = os.openpty()
        case _:
            pair = socket.socketpair()
            pair[1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
            reads, writes = (end.detach() for end in pair)
    long = ["compare", "--workload", "random", "--limit", "200", "--seeds", "12", "--json", "-"]
    command = [*COMMAND, *long, "--report", "report.html"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=writes, stderr=subprocess.PIPE) as running:
        os.close(writes)
        assert running.stderr is not None
        # It has begun to write: what is measured waits for a reader.
        while not select.select([reads], [], [], 0.1)[0]:
            assert running.poll() is None
        time.sleep(0.5)
        assert running.poll() is None
        running.send_signal(number)
        error = running.stderr.read().decode()
        assert running.wait(20) == CODES[number.name]
    os.close(reads)
    line = "standard output: cannot be written: interrupted while waiting for a reader"
    assert error.splitlines() == [line, "interrupted"]
    assert (tmp_path / "report.html").read_text().rstrip().endswith("</html>")


def test_a_slow_reader_gets_all_that_is_printed() -> None:
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([*COMMAND, "config", "keys"], stdout=writes) as running:
        os.close(writes)
        parts = []
        while part := os.read(reads, 1000):
            parts.append(part)
            time.sleep(0.005)
        assert running.wait() == 0
    os.close(reads)
    whole = subprocess.run([*COMMAND, "config", "keys"], capture_output=True, check=True)
    assert b"".join(parts) == whole.stdout


def test_a_derivation_raises_what_its_progress_raises() -> None:
    def fail(*_: object) -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        ssdlab.ldpc(progress=fail)
