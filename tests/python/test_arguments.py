"""Whatever stands in an argument, and wherever the streams lead: one line, and exit code 2."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import COMMAND

from ssdlab.cli import main

LONG = "x" * 5000
ODD = "a\nb\x1b[31m\u2028c\u202ed"
"""A line break, an escape, a line separator, and what turns the order of signs around."""
NO_UTF8 = os.fsdecode(b"a\xff.csv")

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Here:
    """Runs the command in this process: its code, and what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ssdlab", *arguments])
        code = main.exit_code()
        return code, *capsys.readouterr()

    return call


PLACES = [
    (),
    ("run",),
    ("run", "--set"),
    ("run", "--trace"),
    ("run", "--config"),
    ("run", "--device"),
    ("run", "--scheme"),
    ("run", "--workload"),
    ("run", "--limit"),
    ("run", "--warmup"),
    ("run", "--vary"),
    ("run", "--mix"),
    ("run", "--app"),
    ("run", "--stage"),
    ("run", "--state"),
    ("run", "--time-scale"),
    ("preset", "show"),
    ("scheme", "show"),
    ("state", "load"),
    ("config", "validate"),
    ("trace", "info"),
    ("trace", "check"),
    ("trace", "convert", "in"),
    ("workload", "show"),
    ("physics",),
    ("ldpc", "--cell"),
    ("fit",),
    ("fit", "--chips"),
    ("reproduce",),
]


@pytest.mark.parametrize("place", PLACES, ids=" ".join)
@pytest.mark.parametrize(
    "argument",
    [LONG, f"--{LONG}", ODD, f"--{ODD}", f"key={LONG}", f"{ODD}=1", NO_UTF8],
    ids=["long", "long option", "odd", "odd option", "long value", "odd key", "no UTF-8"],
)
def test_an_argument_is_refused_in_a_line_fit_to_print(
    here: Here, tmp_path: Path, place: tuple[str, ...], argument: str
) -> None:
    code, out, err = here(*place, argument)
    assert (code, out) == (2, "")
    assert (len(err.splitlines()), err[-1:]) == (1, "\n"), err
    assert len(err) < 2500
    assert not set(err) & {"\x1b", "\u202e", "\udcff"}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", [COMMAND[0], f"{sys.executable} -m ssdlab"])
def test_streams_that_are_closed_get_no_file_in_their_place(
    tmp_path: Path, closed: str, command: str
) -> None:
    run = f"{command} run --limit 100 --json out.json --log l {closed}"
    done = subprocess.run(
        ["sh", "-c", run], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    # The table is lost, and nothing else.
    code, line = (2, "output: cannot be written: Bad file descriptor\n")
    code, line = (code, line if "2>" not in closed else "") if ">&-" in closed.split() else (0, "")
    assert (done.returncode, done.stderr) == (code, line)
    assert (tmp_path / "out.json").read_text().startswith("{")
    assert (tmp_path / "l").read_bytes()[:4] == b"PAR1"
    wrong = f"{command} run --workload rando {closed}"
    assert subprocess.run(["sh", "-c", wrong], cwd=tmp_path, check=False).returncode == 2


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("state load nope 2>/dev/full", 2),
        ("run --trace nope 2>/dev/full", 2),
        ("nope 2>/dev/full", 2),
        ("trace check nope 2>/dev/full", 2),
        ("run --limit 100 >/dev/full 2>/dev/full", 2),
        ("run --limit 100 >/dev/full", 2),
    ],
)
def test_a_full_disk_behind_the_streams_changes_no_exit_code(
    tmp_path: Path, command: str, code: int
) -> None:
    done = subprocess.run(["sh", "-c", f"{COMMAND[0]} {command}"], cwd=tmp_path, check=False)
    assert done.returncode == code
