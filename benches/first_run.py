"""Measure how long a newcomer waits: from a clone to the first table, from an edit to a run.

    python benches/first_run.py [--edits N]

The script clones the checkout into a temporary folder. It times the clone and `make demo` there,
until the first table appears. Caches of Cargo and pip are empty, so that downloads count; the Rust
toolchain is there. Then it changes the drive's loop, and times `make dev` with a short run. Of
the edits, the median counts.

``make time-first-run`` writes benches/runs/first-run/raw.json and fills in the pages. The machine
should have nothing else to do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from machine import commit, memory_gb, processor

ROOT = Path(__file__).parents[1]
RAW = ROOT / "benches/runs/first-run/raw.json"
EDITED = "crates/ssdlab-core/src/drive/mod.rs"
STEP = "        while self.step(to) {}\n"
"""The line of the drive's loop that each edit changes."""
TABLE = re.compile(r"latency +requests ")
"""The head of the first table that `make demo` prints."""
RUN = (".venv/bin/ssdlab", "run", "--workload", "random", "--limit", "10000")
OWN = ("CARGO_TARGET_DIR", "VIRTUAL_ENV", "PYTHONPATH", "PYO3_PYTHON", "MAKEFLAGS", "MAKELEVEL")
"""Variables of the environment that would lead out of the clone."""


class FailedError(click.ClickException):
    """A command of a newcomer fails."""


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of someone who has a Rust toolchain, and nothing downloaded."""
    kept = {name: value for name, value in os.environ.items() if name not in OWN}
    # Where rustup keeps the toolchain, in case that follows from its own place.
    kept.setdefault("RUSTUP_HOME", str(Path.home() / ".rustup"))
    # Settings say where registries are; they are no download.
    own = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "config.toml"
    (folder / "cargo").mkdir()
    if own.exists():
        shutil.copy(own, folder / "cargo")
    return kept | {"CARGO_HOME": str(folder / "cargo"), "PIP_NO_CACHE_DIR": "1"}


def check_done(command: tuple[str, ...], code: int) -> None:
    """Raise :class:`FailedError` if a command ended with an exit code other than zero."""
    if code:
        raise FailedError(f"{' '.join(command)}: got exit code {code}, expected 0")


def run(command: tuple[str, ...], folder: Path, variables: dict[str, str]) -> float:
    """Run a command; return its seconds."""
    start = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.DEVNULL, check=False
    )
    check_done(command, done.returncode)
    return time.monotonic() - start


def until_table(folder: Path, variables: dict[str, str]) -> float:
    """Run `make demo`; return the seconds until its first table."""
    command, start, seen = ("make", "demo"), time.monotonic(), None
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if seen is None and TABLE.match(line):
                seen = time.monotonic() - start
    check_done(command, demo.returncode)
    if seen is None:
        raise FailedError("make demo: got no table, expected one of latencies")
    return seen


def edit(file: Path, number: int) -> None:
    """Change the loop of the drive, so that its code is compiled anew."""
    text = file.read_text(encoding="utf-8")
    if text.count(STEP) != 1:
        raise FailedError(f"{EDITED}: got no single line {STEP.strip()!r} to edit")
    changed = text.replace(STEP, f"        std::hint::black_box({number});\n{STEP}")
    file.write_text(changed, encoding="utf-8")


def measure(source: Path, folder: Path, edits: int) -> dict[str, Any]:
    """Return the seconds of a clone, of the first table after it, and of each edit."""
    variables, clone = environment(folder), folder / "ssdlab"
    cloning = ("git", "clone", "--quiet", "--no-hardlinks", str(source), str(clone))
    clone_s = run(cloning, folder, variables)
    table_s = until_table(clone, variables)
    # A contributor has the tools of the tests already.
    run(("make", "dev"), clone, variables)
    edit_s = []
    for number in range(edits):
        edit(clone / EDITED, number)
        edit_s.append(run(("make", "dev"), clone, variables) + run(RUN, clone, variables))
    return {"clone_s": clone_s, "table_s": table_s, "edit_s": edit_s}


@click.command()
@click.option("--edits", type=click.IntRange(1), default=3, help="Edits to time.  [default: 3]")
def main(edits: int) -> None:
    """Measure on a fresh clone; keep the figures."""
    with tempfile.TemporaryDirectory() as folder:
        found = measure(ROOT, Path(folder), edits)
    facts = {
        "date": time.strftime("%F"),
        "commit": commit(),
        "processor": processor(),
        "memory_gb": memory_gb(),
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    RAW.parent.mkdir(parents=True, exist_ok=True)
    RAW.write_text(json.dumps({**facts, **found}, indent=2) + "\n", encoding="utf-8")
    click.echo(f"{found['clone_s'] + found['table_s']:.0f} s to the first table")


if __name__ == "__main__":
    main()
