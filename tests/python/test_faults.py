"""Whatever fails of the system, nothing is half-written and nothing that was finished is lost.

``make faults`` tries every fault; here some of each kind are tried.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND
from fault_injection import CASES, Case, build, call, found, wrong

SOME = {"alloc": 3, "memory": 2, "write": 3, "sync": 2, "name": 2, "thread": 1, "tmpfile": 1}
FEW = {**dict.fromkeys(SOME, 0), "write": 2, "sync": 2, "name": 2}
"""For commands that write as others do, by the same code, and for what is in place of another."""
OF_A_LEDGER = {**FEW, "alloc": 1, "memory": 1, "sync": 1, "name": 1}
"""For the ledger, which takes two seconds each time."""
ANALYSES = ("fit", "physics", "info")
CHEAPEST = "info"
"""All analyses write by the same code; `make faults` tries the others."""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes things fail."""
    return build(tmp_path_factory.mktemp("faults"))


OTHERS = [name for name in CASES if name not in {"reproduce", *ANALYSES}]
# The same code writes a new file and one in place of another: of a run, which draws, one is enough.
PLACES = [(name, there) for name in OTHERS for there in (False, True) if not there or name != "run"]


@pytest.mark.parametrize(("name", "there"), PLACES)
def test_a_failed_command_leaves_no_partial_file(
    library: Path, tmp_path: Path, name: str, there: bool
) -> None:
    for fault, what in found(library, tmp_path, CASES[name], FEW if there else SOME, there=there):
        assert what is None, (fault, what)


def test_a_ledger_that_fails_goes_on_with_what_it_has_kept(library: Path, tmp_path: Path) -> None:
    for fault, what in found(library, tmp_path, CASES["reproduce"], OF_A_LEDGER, there=False):
        assert what is None, (fault, what)


def test_an_output_that_fails_keeps_no_other_back(library: Path, tmp_path: Path) -> None:
    for fault, what in found(library, tmp_path, CASES[CHEAPEST], FEW, there=False):
        assert what is None, (fault, what)


FOLDER = """
import os
from ssdlab.errors import InputError
from ssdlab.files import OutputFolder
folder = OutputFolder("--figures", "f")
os.environ["SSDLAB_FAULT_ARMED"] = "1"
try:
    folder.write({f"{name}.svg": b"new" for name in range(5)})
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [0, 3, 5])
@pytest.mark.parametrize("kind", ["write", "sync", "name"])
def test_all_files_of_a_folder_are_there_or_none(
    library: Path, tmp_path: Path, kind: str, there: int
) -> None:
    before = {f"{name}.svg": "old" for name in range(there)}
    for nth in range(1, 6):
        work = tmp_path / str(nth)
        (work / "f").mkdir(parents=True)
        for name, text in before.items():
            (work / "f" / name).write_text(text)
        environment = {**os.environ, "LD_PRELOAD": str(library), "SSDLAB_FAULT": f"{kind}:{nth}"}
        command = [sys.executable, "-c", FOLDER]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, check=True)
        assert done.stdout.startswith(b"--figures: cannot write 'f/%d.svg': " % (nth - 1))
        assert {path.name: path.read_text() for path in (work / "f").iterdir()} == before


def test_files_are_whole_where_none_is_without_a_name(library: Path, tmp_path: Path) -> None:
    case = CASES["run"]
    for nth in (1, 2):
        (tmp_path / str(nth)).mkdir()
        done = call(library, tmp_path / str(nth), case, SSDLAB_FAULT=f"tmpfile:{nth}+")
        assert (done.code, done.err) == (0, "")
        assert wrong(tmp_path / str(nth), case, done) is None


def test_a_run_is_not_lost_with_its_log(library: Path, tmp_path: Path) -> None:
    done = call(library, tmp_path, CASES["run"], SSDLAB_FAULT="write:1")
    assert (done.code, done.err) == (2, '--log: cannot write "l": No space left on device\n')
    assert "IOPS" in done.out
    assert {path.name for path in tmp_path.iterdir()} == {"j", "r", "s", "t"}


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.csv.zst", "o.csv.xz", "o.parquet"])
def test_a_full_disk_is_named_through_every_format(
    library: Path, tmp_path: Path, name: str
) -> None:
    convert = CASES["convert"].arguments[:3]
    case = Case((*convert, name, "--limit", "2000"), {})
    done = call(library, tmp_path, case, SSDLAB_FAULT="write:1+")
    line = f'OUT: cannot write "{name}": No space left on device\n'
    assert (done.code, done.out, done.err) == (2, "", line)
    assert not list(tmp_path.iterdir())


def test_ended_runs_are_kept_when_another_fails(tmp_path: Path) -> None:
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
    document = json.loads((tmp_path / "j").read_text())
    assert [one["workload"] for one in document["results"]] == ["good.csv"]
    assert document["missing"] == [{"label": "conventional", "seed": 1}]
