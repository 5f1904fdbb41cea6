"""Inject system faults into each command; write docs/project/robustness.md (`make faults`).

build/faults/ keeps the outcomes as long as the program stays the same. An interrupted run resumes
from there.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fault_injection import CASES, build, chosen, counts, tried

import ssdlab
from ssdlab_reproduction.tables.common import DOCS, ROOT, grid, write

PAGE = DOCS / "project" / "robustness.md"
MARK = "<!-- Below: written by `make faults`. -->"
MOST = int(sys.argv[1]) if len(sys.argv) > 1 else 200
"""Allocation faults to try per command and kind; a command makes about a million allocations."""
LESS = dict.fromkeys(("fit", "physics", "info"), MOST // 4)
"""The limit for commands that run no drive; they write files as the other commands do."""
FEW = 10
"""Faults of each kind to try on a ledger, which takes two seconds."""
KINDS = ("alloc", "memory", "write", "sync", "name", "thread", "tmpfile")
Found = dict[str, str | None]
"""By fault: the forbidden behavior that it caused, or None."""


def program() -> str:
    """Return a hash of the tested program and of the fault injector."""
    package = Path(ssdlab.__file__).parent
    files = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    files += [ROOT / "tests/faults/faults.c", ROOT / "tests/python/fault_injection.py"]
    files += (ROOT / "reproduction/ssdlab_reproduction").rglob("*.py")
    digest = hashlib.sha256(str(MOST).encode())
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def faults_of(library: Path, folder: Path, name: str) -> list[str]:
    """Return the faults to try on a command."""
    kinds = dict.fromkeys(KINDS, FEW)
    if name != "reproduce":
        most = LESS.get(name, MOST)
        kinds = dict.fromkeys(KINDS, 10_000) | {"alloc": most, "memory": most}
    return chosen(counts(library, folder, CASES[name]), kinds)


stopped = threading.Event()


def try_all(library: Path, kept: Path, name: str, *, there: bool) -> Found:
    """Try the remaining faults of a command; return the outcomes of all its faults.

    ``kept`` is the folder of the file that keeps the outcomes.
    """
    path = kept / f"{name}{'-there' if there else ''}.jsonl"
    with tempfile.TemporaryDirectory() as folder:
        if not path.exists():
            faults = faults_of(library, Path(folder), name)
            path.write_text(json.dumps(faults) + "\n", encoding="utf-8")
        # An interrupted run may leave an incomplete last line; drop it.
        first, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        found: Found = dict(map(json.loads, lines))
        path.write_text("\n".join([first, *lines, ""]), encoding="utf-8")
        rest = [fault for fault in json.loads(first) if fault not in found]
        with path.open("a", encoding="utf-8", buffering=1) as keep:
            for fault, what in tried(library, Path(folder), CASES[name], rest, there=there):
                keep.write(json.dumps([fault, what]) + "\n")
                found[fault] = what
                if stopped.is_set():
                    break
                if what is not None:
                    print(f"{name} {fault}: {what}", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Try all faults and write the table; return 1 if a command did something forbidden."""
    kept = ROOT / "build" / "faults" / program()
    kept.mkdir(parents=True, exist_ok=True)
    both = [(name, there) for name in CASES for there in (False, True)]
    each = [(name, there) for name, there in both if name != "reproduce" or not there]
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        library = build(Path(folder))
        try:
            found = list(pool.map(lambda one: try_all(library, kept, one[0], there=one[1]), each))
        except KeyboardInterrupt:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            print("stopped; the same command goes on from there", file=sys.stderr)
            return 128 + signal.SIGINT
    return write_table([(name, faults) for (name, _), faults in zip(each, found, strict=True)])


def title(name: str) -> str:
    """Return the command without its files and options."""
    words = CASES[name].arguments
    return " ".join(words[: 2 if words[0] in {"state", "trace", "reproduce"} else 1])


def write_table(found: list[tuple[str, Found]]) -> int:
    """Write the table of tried faults; return 1 if a command did something forbidden."""
    counted = {name: Counter[str]() for name in CASES}
    for name, faults in found:
        counted[name].update(fault.partition(":")[0] for fault in faults)
    wrong = sum(what is not None for _, faults in found for what in faults.values())
    about = (
        "Each fault is tried alone, and with all faults after it. Of allocations, ssdlab's library"
        f" (alloc) and all others (memory) fail at most {MOST:,} times per command, and"
        f" {MOST // 4} times in {', '.join(f'`{title(name)}`' for name in LESS)}. `reproduce` has"
        f" {FEW} faults of each kind. All other kinds are tried at every place. Faults after which"
        f" a command misbehaved: {wrong}."
    )
    rows = [
        [f"`{title(name)}`", *(str(tried[kind]) for kind in KINDS)]
        for name, tried in counted.items()
    ]
    write(PAGE, MARK, about, [("Faults that were tried", grid(["command", *KINDS], rows))])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
