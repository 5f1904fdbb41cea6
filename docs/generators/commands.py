"""Run the commands of a page; fill in their output.

A ``console`` block holds commands after ``$``, each followed by its output. An ``sh`` block holds
only commands, a ``python`` block a program. ``make docs`` fills in the output, and
``tests/python/test_pages.py`` compares it.
"""

from __future__ import annotations

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


def prepare(folder: Path) -> None:
    """Link the examples, which the pages use, into a folder."""
    (folder / "examples").symlink_to(ROOT / "examples")


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
