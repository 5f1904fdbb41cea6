"""Run the commands of a page; fill in their output.

A ``console`` block holds commands after ``$``, each followed by its output. An ``sh`` block holds
only commands, a ``python`` block a program. ``make docs`` fills in the output, and
``tests/python/test_pages.py`` compares it.

A block without a language is output that a generator or a person wrote. A comment above it names
the command: ``<!-- printed by: COMMAND -->``, or ``<!-- in the output of: COMMAND -->`` for a part.
There, tests/python/test_shown_outputs.py compares the shape.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ssdlab_reproduction.tables.common import ROOT, pages_with

BLOCK = re.compile(r"^```(console|sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WALL_CLOCK = re.compile(r"in [\d.,]+ (?:m|µ)?s \([\d.,]+ [kM]? ?requests/s\)")
"""The wall time of the simulator, which differs from run to run."""

SHOWN = re.compile(
    r"^<!-- (printed by|in the output of): (ssdlab [^\n]*) -->\n\n?```\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
"""A block of output: of all or of a part, of which command, and the output."""
NUMBER = re.compile(r"[-+×]?\d[\d.,]*(?:e[-+]?\d+)?|(?<= )–")
BAR = re.compile("[\u2580-\u259f]+")


class CommandError(Exception):
    """A command of a page fails."""


def commands(body: str) -> Iterator[str]:
    """Yield the commands of a ``console`` block as typed, without their output."""
    lines = iter(body.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            continue
        typed = [line]
        while typed[-1].endswith("\\"):
            typed.append(next(lines))
        yield "\n".join(typed)


def output_of(script: str, folder: Path) -> str:
    """Run a script in a folder; return its output.

    Raises :class:`CommandError` if a command of the script fails.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603  a page of this project
        ["bash", "-e", "-c", script],  # noqa: S607
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        message = f"{script}: exit code {done.returncode}: {done.stderr}"
        raise CommandError(message)
    return done.stdout


def filled(page: str, folder: Path) -> str:
    """Run the commands of a page in a folder; return the page with their current output."""

    def run(block: re.Match[str]) -> str:
        kind, body = block[1], block[2]
        if kind != "console":
            output_of(body if kind == "sh" else f"python -c {shlex.quote(body)}", folder)
            return block[0]
        shown: list[str] = []
        is_behind_output = False
        for command in commands(body):
            printed = output_of(command.removeprefix("$ "), folder)
            shown += [""] * is_behind_output + [command, *printed.splitlines()]
            is_behind_output = bool(printed)
        return "\n".join(["```console", *shown, "```"])

    return BLOCK.sub(run, page)


def without_wall_clock(text: str) -> str:
    """Return a text without the wall time of the simulator."""
    return WALL_CLOCK.sub("in …", text)


def shapes(text: str) -> list[str]:
    """Return each shape of a line once, in their order: numbers and bars left out."""
    lines = (" ".join(NUMBER.sub("#", BAR.sub("", line)).split()) for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def _reads(count: int) -> str:
    """Return a trace in MSR's format: reads of 4 KiB, one after the other, each millisecond."""
    first, ms = 128_166_372_000_000_000, 10_000
    return "".join(f"{first + ms * at},hm,0,Read,{4096 * at},4096,0\n" for at in range(count))


def prepare(folder: Path) -> None:
    """Put what the commands of the pages read into a folder: the examples, and small traces."""
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "hm_0.csv.gz").write_bytes(gzip.compress(_reads(1000).encode(), mtime=0))
    heads = "time_us,dev,op,offset_bytes,size_bytes"
    (folder / "db.csv").write_text(f"{heads}\n0,0,R,0,4096\n5,0,W,0,4096\n9,0,T,0,4096\n")
    traces = folder / "traces"
    traces.mkdir()
    (traces / "hm_0.csv").write_text(_reads(1000))
    (traces / "web_1.csv").write_text(_reads(999))
    columns = "lines\tread_ratio\tmeanR_KB\tiat_mean_us\tiat_p50_us\tndev"
    rows = [f"{name}\t1000\t1.00\t4.0\t1000\t1000\t1" for name in ("hm_0", "web_1")]
    (traces / "MANIFEST.tsv").write_text("\n".join([f"name\t{columns}", *rows, ""]))


def main() -> None:
    """Fill in the output on all pages."""
    for page in pages_with(BLOCK):
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            text = page.read_text(encoding="utf-8")
            now = filled(text, Path(folder))
        if without_wall_clock(now) != without_wall_clock(text):
            page.write_text(now, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: what its commands print has changed")


if __name__ == "__main__":
    main()
