"""Where memory is short, what loads NumPy ends in a line; a fit has the same bits everywhere."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import COMMAND, ROOT

import ssdlab
from ssdlab import room
from ssdlab.calibration import pipeline

CHIPS = str(ROOT / "examples/chips.csv")
AS, DATA = resource.RLIMIT_AS, resource.RLIMIT_DATA
MEGA = 10**6


def limited(limit: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(limit, (most, most))


def lines(limit: int, mega: int, *arguments: str, cwd: Path) -> list[str]:
    """Run a command that is refused under a limit; what it says."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        preexec_fn=limited(limit, mega * MEGA),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("limit", "mega"), [(AS, 100), (AS, 200), (AS, 250), (AS, 310), (DATA, 80), (DATA, 160)]
)
def test_a_fit_without_room_is_refused(limit: int, mega: int, tmp_path: Path) -> None:
    [line] = lines(limit, mega, "fit", CHIPS, "--out", "o", cwd=tmp_path)
    name, needed = {AS: ("ulimit -v", 300), DATA: ("ulimit -d", 185)}[limit]
    start, _, end = line.partition(f"at least {needed} MB are needed, and ")
    assert start == "a fit: expected more memory: "
    assert end.endswith(f" MB are left ({name})")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("limit", "mega"), [(AS, 358), (AS, 370), (DATA, 210), (DATA, 240)])
def test_a_fit_with_little_room_is_done(limit: int, mega: int) -> None:
    done = subprocess.run(
        [*COMMAND, "fit", CHIPS],
        env={"OPENBLAS_NUM_THREADS": "64"},
        preexec_fn=limited(limit, mega * MEGA),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


# Python itself takes up to 38 MB, depending on the packages that are installed beside ssdlab.
@pytest.mark.parametrize(("limit", "mega"), [(AS, 100), (AS, 180), (DATA, 48)])
def test_a_ledger_without_room_is_refused(limit: int, mega: int, tmp_path: Path) -> None:
    ledger = ("reproduce", "H4", "--quick", "--jobs", "2", "--out", "o")
    [line] = lines(limit, mega, *ledger, cwd=tmp_path)
    assert "expected more memory: at least " in line
    assert not list(tmp_path.iterdir())


def test_a_process_that_has_no_memory_leaves_the_line_to_its_parent(tmp_path: Path) -> None:
    ledger = ("reproduce", "H4", "--quick", "--jobs", "2", "--out", "o")
    [line] = lines(AS, 700, *ledger, cwd=tmp_path)
    assert "are left (ulimit -v)" in line or line.startswith("the process of a run was killed")


def test_a_library_under_a_limit_begins_with_one_thread() -> None:
    script = f"import ssdlab; ssdlab.fit({CHIPS!r}); import os; print(dict(os.environ))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"OPENBLAS_NUM_THREADS": "64"},
        preexec_fn=limited(AS, 400 * MEGA),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "'OPENBLAS_NUM_THREADS': '64'" in done.stdout


COUNTED = """
import json, numpy, scipy.linalg, ssdlab
from ssdlab import blas
from ssdlab.calibration import pipeline
def threads():
    return [get() for get, _ in blas._libraries()]
found = [threads()]
run = pipeline.run_fit
def counted(*arguments):
    found.append(threads())
    return run(*arguments)
pipeline.run_fit = counted
try:
    ssdlab.fit("nowhere.csv")
except ssdlab.InputError:
    found.append(threads())
print(json.dumps(found))
"""


def test_a_fit_takes_one_thread_and_gives_the_others_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COUNTED],
        env={"OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, meanwhile, after = json.loads(done.stdout)
    assert before == after
    if 2 not in before:
        pytest.skip("NumPy and SciPy are without OpenBLAS, or it has fewer threads")
    assert set(meanwhile) == {1}


def test_where_libraries_are_loaded_less_room_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pipeline.__name__ in sys.modules
    needs: list[room.Need] = []
    monkeypatch.setattr(room, "check_room", lambda _, need: needs.append(need))
    ssdlab.fit(CHIPS)
    assert needs == [room.LOADED]
