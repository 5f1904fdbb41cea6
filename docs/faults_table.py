"""Faults of the system, tried on each command: the table of docs/robustness.md (`make faults`)."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from fault_injection import CASES, build, found

from ssdlab_reproduction.tables.common import grid, write

PAGE = Path(__file__).with_name("robustness.md")
MARK = "<!-- Below: written by `make faults`. -->"
MOST = int(sys.argv[1]) if len(sys.argv) > 1 else 200
"""Allocations of either kind that are tried of a command: there are a million."""
FEW = 2
"""Of each kind that are tried of a ledger, which takes ten seconds."""
KINDS = ("alloc", "memory", "write", "sync", "name", "thread", "tmpfile")


def main() -> int:
    """Try them, write the table; 1 if a command did what it may not."""
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        for name, case in CASES.items():
            tried: Counter[str] = Counter()
            kinds = dict.fromkeys(KINDS, FEW if name == "reproduce" else 10_000)
            if name != "reproduce":
                kinds |= {"alloc": MOST, "memory": MOST}
            for there in (False, True) if name != "reproduce" else (False,):
                work = Path(folder, f"{name}{there}")
                work.mkdir()
                for fault, what in found(library, work, case, kinds, there=there):
                    tried[fault.partition(":")[0]] += 1
                    if what is not None:
                        wrong += 1
                        print(f"{name} {fault}: {what}", file=sys.stderr, flush=True)
            rows.append(
                [f"`{' '.join(case.arguments[:2])}`", *(str(tried[kind]) for kind in KINDS)]
            )
    about = f"Of each command at most {MOST:,} allocations of ssdlab's library (alloc) and of all"
    about += (
        f" others (memory) are tried, of `reproduce` {FEW} of each kind, of all else every one,"
    )
    about += " by itself and with all that comes"
    about += f" after it. Commands that did what they may not: {wrong}."
    table = grid(["command", *KINDS], rows)
    write(PAGE, MARK, about, [("Faults that were tried", table)])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
