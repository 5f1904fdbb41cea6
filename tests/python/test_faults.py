"""Whatever fails of the system, nothing is half-written and nothing that was finished is lost.

A library that is loaded before the command (tests/faults/faults.c) makes the n-th allocation,
write, synchronisation, naming or thread fail. ``make faults`` tries every one, the suite some.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from calling import COMMAND, ROOT, Done

FULL = bool(os.environ.get("SSDLAB_EVERY_FAULT"))
ARMED = """
import os, sys
import ssdlab.cli
from ssdlab_command import main
os.environ["SSDLAB_FAULT_ARMED"] = "1"
main()
"""
"""The command. Faults are counted once it is loaded: Python's own imports are not ours."""
BEFORE = "what was there before"
SMALL = ("--set", "geometry={blocks=32, pages=64}", "--set", "ftl.overprovisioning=20%")


def is_json(path: Path) -> bool:
    json.loads(path.read_text())
    return True


def is_parquet(path: Path) -> bool:
    content = path.read_bytes()
    return content[:4] == content[-4:] == b"PAR1"


def is_page(path: Path) -> bool:
    return path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def is_state(path: Path) -> bool:
    load = [*COMMAND, "state", "load", str(path)]
    return subprocess.run(load, capture_output=True, check=False).returncode == 0


def is_kept(path: Path) -> bool:
    return all(is_json(file) for file in path.glob("*.json") if file.name != "ledger.json")


@dataclass(frozen=True)
class Case:
    """A command, and what tells that a file of its is whole."""

    arguments: tuple[str, ...]
    files: Mapping[str, Callable[[Path], bool]] = field(default_factory=dict)
    may_be_there: tuple[str, ...] = ()


CASES = {
    "run": Case(
        (
            *("run", "--limit", "300", *SMALL, "--json", "j", "--log", "l", "--series", "s"),
            *("--timeline", "t", "--report", "r"),
        ),
        {"j": is_json, "l": is_parquet, "s": is_parquet, "t": is_json, "r": is_page},
    ),
    "compare": Case(
        ("compare", "--limit", "300", *SMALL, "--vary", "order=fifo,read_first", "--json", "j"),
        {"j": is_json},
    ),
    "state": Case(
        ("state", "save", "aged", *SMALL, "--set", "start.fill=50%"),
        {"aged": is_state},
    ),
    "convert": Case(
        ("trace", "convert", str(ROOT / "examples/office.csv.xz"), "p.parquet", "--limit", "2000"),
        {"p.parquet": is_parquet},
    ),
}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes things fail."""
    built = tmp_path_factory.mktemp("faults") / "faults.so"
    source = ROOT / "tests/faults/faults.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", built, source, "-ldl"], check=True)
    return built


def call(library: Path, folder: Path, case: Case, **variables: str) -> Done:
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONMALLOC": "malloc",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", ARMED, *case.arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def counts(library: Path, folder: Path, case: Case) -> dict[str, int]:
    """How often each kind of thing is done when nothing fails."""
    told = folder / "counts"
    work = folder / "whole"
    work.mkdir()
    done = call(library, work, case, SSDLAB_FAULT_COUNTS=str(told))
    assert (done.code, done.err) == (0, "")
    return {kind: int(count) for kind, count in map(str.split, told.read_text().splitlines())}


def check(folder: Path, case: Case, done: Done, fault: str) -> None:
    """Holds what a command has left against what it may."""
    told = (fault, done.code, done.err)
    assert done.code in {0, 2}, told
    assert len(done.err.splitlines()) == (1 if done.code else 0), told
    assert not {"Traceback", "panicked", "internal error"} & set(done.err.split()), told
    left = {path.name for path in folder.iterdir()}
    assert left <= set(case.files) | set(case.may_be_there), (*told, left)
    for name, is_whole in case.files.items():
        path = folder / name
        if done.code == 0:
            assert path.exists(), (*told, name)
        if path.exists() and path.read_bytes() != BEFORE.encode():
            assert is_whole(path), (*told, name)


def tried(kind: str, count: int) -> list[int]:
    """Which of so many are made to fail: all, or some of them that are always the same."""
    most = {"alloc": 400 if FULL else 8}.get(kind, 10_000 if FULL else 6)
    if count <= most:
        return list(range(1, count + 1))
    return sorted(random.Random(count).sample(range(1, count + 1), most))


@pytest.mark.parametrize("there", [False, True], ids=["new", "in place of another"])
@pytest.mark.parametrize("name", CASES)
def test_what_fails_leaves_nothing_half_written(
    library: Path, tmp_path: Path, name: str, there: bool
) -> None:
    case = CASES[name]
    for kind, count in counts(library, tmp_path, case).items():
        for nth in tried(kind, count):
            # A process without any memory from some moment on is Python's own concern.
            for after in [""] if kind == "alloc" else ["", "+"]:
                fault = f"{kind}:{nth}{after}"
                folder = tmp_path / f"{kind}{nth}{after}"
                folder.mkdir()
                for file in case.files if there else ():
                    (folder / file).write_text(BEFORE)
                done = call(library, folder, case, SSDLAB_FAULT=fault)
                check(folder, case, done, fault)


def test_files_are_whole_where_none_is_without_a_name(library: Path, tmp_path: Path) -> None:
    case = CASES["run"]
    for nth in (1, 2):
        (tmp_path / str(nth)).mkdir()
        done = call(library, tmp_path / str(nth), case, SSDLAB_FAULT=f"tmpfile:{nth}+")
        assert (done.code, done.err) == (0, "")
        check(tmp_path / str(nth), case, done, "tmpfile")


def test_a_run_is_not_lost_with_its_log(library: Path, tmp_path: Path) -> None:
    done = call(library, tmp_path, CASES["run"], SSDLAB_FAULT="write:1")
    assert (done.code, done.err.partition(": cannot write")[0]) == (2, "--log")
    assert "IOPS" in done.out
    assert {path.name for path in tmp_path.iterdir()} == {"j", "r", "s", "t"}


def test_what_had_ended_is_not_lost_with_a_run_that_fails(tmp_path: Path) -> None:
    good = ["128166372000000000,hm,1,Write,4096,8192,0", "128166372000010000,hm,1,Read,4096,4096,0"]
    (tmp_path / "good.csv").write_text("\n".join(good) + "\n")
    beyond = "128166372000020000,hm,1,Read,1099511627776,512,0"
    (tmp_path / "bad.csv").write_text("\n".join([*good, beyond]) + "\n")
    traces = ("--trace", "good.csv", "--trace", "bad.csv", "--jobs", "1")
    command = [*COMMAND, "compare", *traces, "--json", "j"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("bad.csv:3: a request beyond the drive's end")
    assert done.stderr.count("\n") == 1
    assert "PARTIAL: not run: conventional (seed 1)" in done.stdout
    told = json.loads((tmp_path / "j").read_text())
    assert [one["workload"] for one in told["results"]] == ["good.csv"]
    assert told["missing"] == [{"label": "conventional", "seed": 1}]
