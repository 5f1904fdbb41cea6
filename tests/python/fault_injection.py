"""Commands whose n-th allocation, write, synchronization, naming or thread fails.

A library that is loaded before the command does it (tests/faults/faults.c).
"""

import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner
from command import COMMAND, ROOT, Done

from ssdlab.cli.main import ssdlab as command_line

ARMED = """
import os, sys
import ssdlab.cli.main
from ssdlab_command import main
os.environ["SSDLAB_FAULT_ARMED"] = "1"
main()
"""
"""The command. Faults are counted once it is loaded: Python's own imports are not ours."""
BEFORE = "what was there before"
SMALL = ("--set", "geometry={blocks=32, pages=64}", "--set", "ftl.overprovisioning=20%")
LITTLE = ("--limit", "300", *SMALL, "--set", "workload.footprint=1GiB")


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


def is_ledger(folder: Path) -> bool:
    """What a ledger that was stopped has kept is not made again, and it comes out whole."""
    kept = {path: path.read_bytes() for path in (folder / "runs").glob("*.json")}
    # Here, and not in a process of its own: to load the program takes longer than all else.
    done = CliRunner().invoke(command_line, [*LEDGER[:-1], str(folder)], standalone_mode=False)
    is_same = all(path.read_bytes() == content for path, content in kept.items())
    return done.return_value == 0 and is_same and "damaged" not in done.stderr


def is_chips(path: Path) -> bool:
    return path.read_bytes().endswith(b"\n")


def is_fit(folder: Path) -> bool:
    """A fit's folder holds its files or none."""
    return {path.name for path in folder.iterdir()} >= {"fit.toml", "fit.json"}


LEDGER = ("reproduce", "D12", "--quick", "--jobs", "1", "--out", "out")


@dataclass(frozen=True)
class Case:
    """A command, and what tells that a file or a folder of its is whole."""

    arguments: tuple[str, ...]
    files: Mapping[str, Callable[[Path], bool]]


CASES = {
    "run": Case(
        (
            *("run", *LITTLE, "--json", "j", "--log", "l", "--series", "s", "--timeline", "t"),
            *("--report", "r"),
        ),
        {"j": is_json, "l": is_parquet, "s": is_parquet, "t": is_json, "r": is_page},
    ),
    "compare": Case(
        ("compare", *LITTLE, "--vary", "scheduler=fifo,read_first", "--json", "j"),
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
    "mix": Case(
        (
            *("trace", "mix", f"a={ROOT / 'examples/office.csv.xz'}", "b=dlv/hm0"),
            *("--limit", "2000", "--out", "p.parquet", "--json", "j"),
        ),
        {"p.parquet": is_parquet, "j": is_json},
    ),
    "fit": Case(
        (
            *("fit", str(ROOT / "examples/chips.csv"), "--samples", "s", "--json", "j"),
            *("--report", "r", "--out", "o"),
        ),
        {"s": is_chips, "j": is_json, "r": is_page, "o": is_fit},
    ),
    "physics": Case(
        ("physics", "dlv-mlc-128g", "--json", "j", "--report", "r"), {"j": is_json, "r": is_page}
    ),
    "info": Case(
        (
            *("trace", "info", str(ROOT / "examples/office.csv.xz"), "--limit", "2000"),
            *("--json", "j", "--report", "r"),
        ),
        {"j": is_json, "r": is_page},
    ),
    "reproduce": Case(LEDGER, {"out": is_ledger}),
}


def build(folder: Path) -> Path:
    """Compiles the library that makes things fail."""
    built = folder / "faults.so"
    source = ROOT / "tests/faults/faults.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", built, source, "-ldl"], check=True)
    return built


def call(library: Path, folder: Path, case: Case, **variables: str) -> Done:
    """Runs a command in a folder, with the library loaded before it."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONMALLOC": "malloc",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "RUST_BACKTRACE": "0",
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
        # Ctrl-C is for who tries the faults.
        process_group=0,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def counts(library: Path, folder: Path, case: Case) -> dict[str, int]:
    """How often each kind of thing is done when nothing fails."""
    counted, work = folder / "counts", folder / "whole"
    work.mkdir()
    done = call(library, work, case, SSDLAB_FAULT_COUNTS=str(counted))
    assert (done.code, done.err) == (0, "")
    found = {kind: int(count) for kind, count in map(str.split, counted.read_text().splitlines())}
    # Each file is on the disk before it has its name.
    assert min(found["sync"], found["name"], found["write"]) >= len(case.files), found
    return found


REASONS = {
    "write": os.strerror(errno.ENOSPC),
    "sync": os.strerror(errno.EIO),
    "name": os.strerror(errno.ENOSPC),
}
"""What a line says that tells of such a fault, and no more."""


def wrong(folder: Path, case: Case, done: Done, fault: str = "") -> str | None:
    """What a command did that it may not: None if it ended in a line or not at all early.

    Where Python has no memory, how it ends is its own: only files are looked at.
    """
    kind = fault.partition(":")[0]
    if kind == "memory":
        return half_written(folder, case, done)
    if done.code not in {0, 2}:
        return f"exit code {done.code}: {done.err}"
    lines = without_rust(done.err.splitlines())
    if len(lines) > 1 or bool(lines) != bool(done.code) or "internal error" in done.err:
        return f"{len(lines)} lines and exit code {done.code}: {done.err}"
    if done.code and kind in REASONS and not says_why(done.err, REASONS[kind]):
        return f"a line that does not name a file and why: {done.err}"
    return half_written(folder, case, done) or kept_back(folder, case, done, fault)


def without_rust(lines: list[str]) -> list[str]:
    """Lines of the command, without what Rust adds that lacks memory for a thread's handle.

    It cannot be silenced. How to see more, or the command's own line, come after its own.
    """
    if lines and re.fullmatch(r"memory allocation of \d+ bytes failed", lines[0]):
        return lines[:1]
    return lines


def says_why(line: str, reason: str) -> bool:
    """Whether a line names a file that cannot be written, and why, without what lies between."""
    named = r"(\S+: )?cannot write (['\"])[^'\"]+\2"
    # Python tries several folders for temporary files, and names them all.
    tried = r"TMPDIR: cannot write temporary files: No usable temporary directory found in \[.*\]"
    return re.fullmatch(f"{named}: {reason}\n|{tried}\n", line) is not None


def kept_back(folder: Path, case: Case, done: Done, fault: str) -> str | None:
    """An output that is not there for a fault of another; None if there is none.

    A fault that lasts, or of which nothing says that it is an output's, may be that of all.
    """
    option = done.err.partition(": cannot ")[0]
    if (
        fault.endswith("+")
        or fault.partition(":")[0] not in REASONS
        or option not in {*case.arguments, "output"}
    ):
        return None
    # A file that is named without an option is called by its name.
    of_options = dict(zip(case.arguments, case.arguments[1:], strict=False))
    failed = option if option in case.files else of_options.get(option)
    for name in set(case.files) - {failed}:
        path = folder / name
        if not path.exists() or (path.is_file() and path.read_bytes() == BEFORE.encode()):
            return f"no {name}, for {option} failed"
    return None


def half_written(folder: Path, case: Case, done: Done) -> str | None:
    """A file that a command has left behind, or not whole; None if there is none."""
    left = {path.name for path in folder.iterdir()} - set(case.files)
    if left:
        return f"left behind: {sorted(left)}"
    for name, is_whole in case.files.items():
        path = folder / name
        is_before = path.is_file() and path.read_bytes() == BEFORE.encode()
        if done.code == 0 and (is_before or not path.exists()):
            return f"no {name}"
        if path.exists() and not is_before and not is_whole(path):
            return f"{name} is not whole"
    return None


def faults(kind: str, count: int, most: int) -> Iterator[str]:
    """Which of so many are made to fail: all, or as many as are wanted, always the same.

    Each fails by itself, and with all that come after it. If memory never comes back, not even
    Python ends: its import system tries again without end.
    """
    every = range(1, count + 1)
    chosen = every if count <= most else sorted(random.Random(count).sample(every, most))
    for nth in chosen:
        yield f"{kind}:{nth}"
        if kind != "memory":
            yield f"{kind}:{nth}+"


def chosen(counted: Mapping[str, int], kinds: Mapping[str, int]) -> list[str]:
    """Return the faults that are tried of a command that does so many things: so many of a kind."""
    return [fault for kind, count in counted.items() for fault in faults(kind, count, kinds[kind])]


def tried(
    library: Path, folder: Path, case: Case, chosen: Iterable[str], *, there: bool
) -> Iterator[tuple[str, str | None]]:
    """Tries faults, and goes through what each command did wrong.

    ``there`` puts files where the command's will be.
    """
    for fault in chosen:
        work = folder / fault.replace(":", "")
        work.mkdir()
        for name in set(case.files) - {"o"} if there else ():
            (work / name).write_text(BEFORE)
        try:
            done = call(library, work, case, SSDLAB_FAULT=fault)
        except subprocess.TimeoutExpired as error:
            yield fault, f"no end within {error.timeout} s"
        else:
            yield fault, wrong(work, case, done, fault)
        shutil.rmtree(work)


def found(
    library: Path, folder: Path, case: Case, kinds: Mapping[str, int], *, there: bool
) -> Iterator[tuple[str, str | None]]:
    """As :func:`tried`, with so many faults of each kind."""
    faults = chosen(counts(library, folder, case), kinds)
    return tried(library, folder, case, faults, there=there)
