"""Ctrl-C, and SIGTERM, end a run well.

What was measured by then is shown and written, marked partial.
"""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import jsonschema
import pytest
from command import COMMAND, ROOT, ledger_under_way

import ssdlab
from ssdlab import api

LOADING = """
import os, signal, sys
class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "ssdlab.api":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Press())
from ssdlab_command import main
main()
"""
"""What the command does, with Ctrl-C pressed in the middle of its imports."""

FOREVER = ("--limit", "4000000000", "--set", "workload.requests=4000000000")


def used_s(process: subprocess.Popen[str]) -> float:
    """Returns how much processor time a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(
    tmp_path: Path,
    *arguments: str,
    by: signal.Signals = signal.SIGINT,
    after_s: float | None = None,
) -> tuple[int, str, str]:
    """Runs the command, sends it a signal when it is well under way, and waits for its end.

    That is after two seconds, or when it has used so much processor time.
    """
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if after_s is None:
        time.sleep(2)
    while after_s is not None and process.poll() is None and used_s(process) < after_s:
        time.sleep(0.01)
    process.send_signal(by)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def test_one_run(tmp_path: Path) -> None:
    code, out, err = interrupted(tmp_path, "run", *FOREVER, "--json", "out.json")
    assert (code, err) == (130, "")
    assert "PARTIAL: stopped after " in out
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert result["partial"] is True
    assert result["requests"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_report(tmp_path: Path) -> None:
    code, out, err = interrupted(tmp_path, "run", *FOREVER, "--report", "r.html", "--log", "l")
    assert (code, err) == (130, "")
    assert "PARTIAL: stopped after " in out
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "PARTIAL: stopped after " in text[: text.index("<main")]
    assert (tmp_path / "l").read_bytes()[-4:] == b"PAR1"


@pytest.mark.parametrize(
    ("by", "code"), [(signal.SIGHUP, 129), (signal.SIGTERM, 143), (signal.SIGXCPU, 152)]
)
def test_a_signal_ends_a_run_as_ctrl_c_does(tmp_path: Path, by: signal.Signals, code: int) -> None:
    files = ("--log", "l", "--series", "s", "--json", "j", "--timeline", "t", "--report", "r")
    ended, out, err = interrupted(tmp_path, "run", *FOREVER, *files, by=by)
    assert (ended, err) == (code, "")
    assert "PARTIAL: stopped after " in out
    assert {path.name for path in tmp_path.iterdir()} == {"l", "s", "j", "t", "r"}
    assert json.loads((tmp_path / "j").read_text())["results"][0]["partial"] is True


def test_a_run_goes_on_without_its_terminal_under_nohup(tmp_path: Path) -> None:
    deaf = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    command = [sys.executable, "-c", f"{deaf}; os.execv(sys.argv[1], sys.argv[1:])", *COMMAND]
    run = [*command, "run", "--limit", "400000", "--set", "workload.requests=400000"]
    process = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "PARTIAL" not in out


@pytest.mark.parametrize("deaf", [False, True], ids=["ended by it", "nohup"])
def test_a_terminal_that_is_gone_costs_no_run(tmp_path: Path, deaf: bool) -> None:
    # Closing the window takes the line of progress away, too.
    ours, terminal = pty.openpty()
    runs = 400_000 if deaf else 400_000_000

    def enter() -> None:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        if deaf:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    size = ("--limit", str(runs), "--set", f"workload.requests={runs}")
    process = subprocess.Popen(
        [*COMMAND, "run", *size, "--json", "out.json"],
        cwd=tmp_path,
        preexec_fn=enter,  # noqa: PLW1509  no test has threads here
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )
    os.close(terminal)
    os.read(ours, 1)
    os.close(ours)
    assert process.wait(60) == (0 if deaf else 129)
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert result["partial"] is not deaf


@pytest.mark.parametrize(("by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_also_ends_the_reader_of_the_pipe(
    tmp_path: Path, by: signal.Signals, code: int
) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "run", *FOREVER, "--json", "out.json"],
        cwd=tmp_path,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    time.sleep(2)
    os.close(reader)
    process.send_signal(by)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, "interrupted\n")
    assert json.loads((tmp_path / "out.json").read_text())["results"][0]["partial"] is True


def test_a_comparison_on_stdout(tmp_path: Path) -> None:
    vary = ("--vary", "scheduler=fifo,read_first", "--jobs", "1")
    code, out, err = interrupted(tmp_path, "compare", *vary, *FOREVER, "--json", "-")
    assert code == 130
    assert "Traceback" not in err
    whole = json.loads(out)
    (result,) = whole["results"]
    assert (result["label"], result["partial"]) == ("scheduler=fifo", True)
    assert whole["missing"] == [{"label": "scheduler=read_first", "seed": 1}]
    assert err.splitlines() == [
        f"PARTIAL: stopped after {result['requests']:,} requests",
        "PARTIAL: not run: scheduler=read_first (seed 1)",
    ]


def test_seeds_that_never_ran_are_named(tmp_path: Path) -> None:
    seeds = ("--seeds", "3", "--jobs", "1", "--json", "out.json", "--report", "r.html")
    code, out, err = interrupted(tmp_path, "run", *FOREVER, *seeds)
    assert (code, err) == (130, "")
    line = "PARTIAL: not run: conventional (seeds 2, 3)"
    assert "PARTIAL: stopped after " in out
    assert line in out.splitlines()
    whole = json.loads((tmp_path / "out.json").read_text())
    assert [run["seed"] for run in whole["missing"]] == [2, 3]
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert line in text[: text.index("<main")]


def three_seeds(*partial: int) -> ssdlab.Comparison:
    """Runs of three seeds and one of another setting, as if these had been stopped."""
    base = ssdlab.Plan(limit=300)
    plans = ssdlab.sweep(base, vary={"scheduler": ["fifo", "read_first"]}, seeds=3)
    results = [result.to_dict() for result in ssdlab.compare(plans[:4])]
    for index in partial:
        results[index]["partial"] = True
    texts = [json.dumps(one) for one in [*results, None, None]]
    comparison, _ = api._comparison(plans, texts)
    return comparison


def test_what_was_stopped_is_left_out_of_a_mean() -> None:
    whole = three_seeds(1, 3)
    first, second = whole.aggregates
    assert (first.seeds, first.runs, first.left_out, first.partial) == ([1, 3], [0, 2], [1], False)
    mean = (whole[0].read.latency_us.mean + whole[2].read.latency_us.mean) / 2
    assert first.metrics["read.latency_us.mean"].mean == mean
    assert (second.seeds, second.left_out, second.partial) == ([1], [], True)
    lines = str(whole).splitlines()
    assert "fifo: PARTIAL: seed 2 stopped after 300 requests and is left out" in lines
    assert "read_first: PARTIAL: stopped after 300 requests" in lines
    assert "PARTIAL: not run: scheduler=read_first (seeds 2, 3)" in lines
    schema = json.loads((ROOT / "docs" / "reference" / "results.schema.json").read_text())
    jsonschema.validate(whole.to_dict(), schema)


def test_of_very_many_runs_that_never_ran_the_first_are_named() -> None:
    plans = ssdlab.sweep(ssdlab.Plan(limit=300), vary={"scheduler": ["fifo", "dlv"]}, seeds=2000)
    results = [result.to_dict() for result in ssdlab.compare(plans[:1])]
    whole, _ = api._comparison(plans, [*map(json.dumps, results), *["null"] * 3999])
    *_, line = str(whole).splitlines()
    seeds = ", ".join(map(str, range(2, 12)))
    assert line == f"PARTIAL: not run: scheduler=fifo (seeds {seeds}), and 3,989 more"
    assert len(whole.missing) == 3999


def test_a_mean_of_stopped_runs_alone_is_marked() -> None:
    whole = three_seeds(0, 1, 2)
    assert (whole.aggregates[0].seeds, whole.aggregates[0].partial) == ([1, 2, 3], True)
    assert whole.to_dict()["aggregates"][0]["partial"] is True
    caveat = "fifo: PARTIAL: all of these seeds were stopped, the first after 300 requests"
    assert caveat in str(whole).splitlines()


@pytest.mark.parametrize("output", [(), ("--json", "-"), ("--json", "out.json")])
@pytest.mark.parametrize(("by", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_preparation(
    tmp_path: Path, output: tuple[str, ...], by: signal.Signals, expected: int
) -> None:
    code, out, err = interrupted(tmp_path, "run", "--precondition", "steady", *output, by=by)
    assert (code, out, err) == (expected, "", "interrupted before anything was measured\n")
    assert not list(tmp_path.iterdir())


def test_a_start_state_that_is_drawn(tmp_path: Path) -> None:
    steady = ("--device", "generic-tlc-2t", "--set", "start={fill=0.9, steady_state=true}")
    # To draw the drive and to write it takes three seconds of a fast processor.
    code, out, err = interrupted(tmp_path, "state", "save", *steady, "aged", after_s=1)
    assert (code, out, err) == (130, "", "interrupted\n")
    assert not list(tmp_path.iterdir())


def test_a_preparation_that_is_to_be_saved(tmp_path: Path) -> None:
    began = time.monotonic()
    code, out, err = interrupted(tmp_path, "state", "save", "--precondition", "steady", "aged")
    assert (code, out, err) == (130, "", "interrupted\n")
    assert time.monotonic() - began < 20
    assert not list(tmp_path.iterdir())


def test_while_the_program_is_loaded(tmp_path: Path) -> None:
    # Python takes some 20 ms to begin, the package several times that to load.
    command = [sys.executable, "-c", LOADING]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


READERS = {
    "state load": ("state", "load", "pipe"),
    "run --state": ("run", "--state", "pipe"),
    "fit": ("fit", "pipe"),
    "config validate": ("config", "validate", "pipe"),
    "run --config": ("run", "--config", "pipe"),
    "state save": ("state", "save", "aged", "--config", "pipe"),
    "physics": ("physics", "generic-mlc-512g", "--config", "pipe"),
    "trace info": ("trace", "info", "pipe"),
    "trace convert": ("trace", "convert", "pipe:ssdlab", "out.csv:ssdlab"),
    "trace mix": ("trace", "mix", "a=pipe:ssdlab", "-o", "out.csv", "--share-addresses"),
}
"""Commands that read a pipe, or refuse it."""


LINES = b"time_us,dev,op,offset_bytes,size_bytes\n" + b"".join(
    b"%d,0,R,%d,4096\n" % (at, at * 4096) for at in range(20_000)
)
"""Requests: more than is read at a time."""


def settle(process: subprocess.Popen[str]) -> None:
    """Waits until a process ends or does nothing any more."""
    used = -1.0
    while process.poll() is None and not 0.05 < used == used_s(process):
        used = used_s(process)
        time.sleep(0.3)


@pytest.mark.parametrize(
    ("command", "fed"),
    [(command, None) for command in READERS]
    + [(command, b"") for command in ("config validate", "trace info", "fit")]
    + [(command, LINES) for command in ("trace info", "trace convert", "trace mix")],
    ids=lambda of: of if isinstance(of, str) else "alone" if of is None else f"{len(of)} bytes",
)
def test_a_pipe_that_blocks(tmp_path: Path, command: str, fed: bytes | None) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Both ways, which does not wait: somebody has it open to write, and writes no more than that.
    writer = None if fed is None else os.open(pipe, os.O_RDWR)
    if writer is not None:
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
        os.write(writer, fed or b"")
    process = subprocess.Popen(
        [*COMMAND, *READERS[command]],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        settle(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    finally:
        process.kill()
        if writer is not None:
            os.close(writer)
    if process.returncode == 2:
        assert "is a pipe or a device" in err
    else:
        assert (process.returncode, out) == (130, "")
        assert err.count("\n") == 1
        assert "interrupted" in err
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_trace_of_blank_lines(tmp_path: Path) -> None:
    endless = "import os\nwhile True: os.write(1, b'\\n' * 65536)"
    feeder = subprocess.Popen(
        [sys.executable, "-c", endless], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process = subprocess.Popen(
        [*COMMAND, "trace", "info", "/dev/stdin:msr"],
        cwd=tmp_path,
        stdin=feeder.stdout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert feeder.stdout is not None
    feeder.stdout.close()
    try:
        while process.poll() is None and used_s(process) < 1:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    finally:
        process.kill()
        feeder.kill()
        feeder.wait()
    assert process.returncode == 130
    assert "interrupted" in err


def test_a_config_from_a_pipe_is_that_of_every_run(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [*COMMAND, "run", "--config", "pipe", "--seeds", "2", "--json", "out.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    pipe.write_text("workload.requests = 300\n", encoding="utf-8")
    assert process.wait(timeout=60) == 0
    results = json.loads((tmp_path / "out.json").read_text())["results"]
    assert [result["requests"] for result in results] == [300, 300]


def test_in_a_program() -> None:
    presses = iter([signal.SIGINT])

    def press(plans: list[tuple[float | None, int, bool, bool]]) -> None:
        # Once, when the run is under way: a second one would not wait for the result.
        if plans[0][1] > 0:
            for by in presses:
                os.kill(os.getpid(), by)

    with pytest.raises(ssdlab.Interrupted) as caught:
        ssdlab.run(limit=4_000_000_000, set={"workload.requests": 4_000_000_000}, progress=press)
    assert caught.value.partial[0].partial
    assert isinstance(caught.value, KeyboardInterrupt)


@pytest.mark.parametrize(("by", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_the_end_of_a_terminal_reaches_all_processes_of_a_ledger(
    tmp_path: Path, by: signal.Signals, code: int
) -> None:
    process = ledger_under_way(tmp_path)
    os.killpg(process.pid, by)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.splitlines() == [
        "interrupted: finished runs are kept in out, and the same command goes on"
    ]
    assert not list(tmp_path.glob("out/runs/*.part"))
