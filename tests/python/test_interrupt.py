"""Ctrl-C, and SIGTERM, end a run well.

What was measured by then is shown and written, marked partial.
"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from calling import COMMAND

import ssdlab

FOREVER = ("--limit", "4000000000", "--set", "workload.requests=4000000000")


def interrupted(
    tmp_path: Path, *arguments: str, by: signal.Signals = signal.SIGINT
) -> tuple[int, str, str]:
    """Runs the command, sends it a signal when it is well under way, and waits for its end."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2)
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


def test_sigterm_leaves_no_file_half_written(tmp_path: Path) -> None:
    files = ("--log", "l", "--series", "s", "--json", "j", "--timeline", "t")
    code, out, err = interrupted(tmp_path, "run", *FOREVER, *files, by=signal.SIGTERM)
    assert (code, err) == (143, "")
    assert "PARTIAL: stopped after " in out
    assert {path.name for path in tmp_path.iterdir()} == {"l", "s", "j", "t"}
    assert json.loads((tmp_path / "j").read_text())["results"][0]["partial"] is True


def test_a_comparison_on_stdout(tmp_path: Path) -> None:
    vary = ("--vary", "order=fifo,read_first", "--jobs", "1")
    code, out, err = interrupted(tmp_path, "compare", *vary, *FOREVER, "--json", "-")
    assert code == 130
    assert "Traceback" not in err
    (result,) = json.loads(out)["results"]
    assert (result["label"], result["partial"]) == ("order=fifo", True)


@pytest.mark.parametrize("output", [(), ("--json", "-"), ("--json", "out.json")])
@pytest.mark.parametrize(("by", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_preparation(
    tmp_path: Path, output: tuple[str, ...], by: signal.Signals, expected: int
) -> None:
    code, out, err = interrupted(tmp_path, "run", "--precondition", "steady", *output, by=by)
    assert (code, out, err) == (expected, "", "interrupted before anything was measured\n")
    assert not list(tmp_path.iterdir())


def test_a_preparation_that_is_to_be_saved(tmp_path: Path) -> None:
    began = time.monotonic()
    code, out, err = interrupted(tmp_path, "state", "save", "--precondition", "steady", "aged")
    assert (code, out, err) == (130, "", "interrupted\n")
    assert time.monotonic() - began < 20
    assert not list(tmp_path.iterdir())


def test_in_a_program() -> None:
    def press(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ssdlab.Interrupted) as caught:
        ssdlab.run(limit=4_000_000_000, set={"workload.requests": 4_000_000_000}, progress=press)
    assert caught.value.partial[0].partial
    assert isinstance(caught.value, KeyboardInterrupt)
