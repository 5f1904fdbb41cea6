"""The process that draws: it reads jobs from standard input and writes files to standard output.

It runs as a file of its own and must not import ssdlab. A message in either direction is a line of
JSON; in an answer, the bytes of the files follow the line. Standard error goes to a file in memory,
which both processes read.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

_STDERR = 2
_PPI = 300


def main() -> None:
    """Do jobs until there are no more."""
    _end_first_without_memory()
    # SIGINT, SIGTERM and SIGHUP are blocked since the start of the process: the parent handles
    # them.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    # Output of the renderer itself goes to standard error, so that answers have their own stream.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(_STDERR, sys.stdout.fileno())
    start = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = start["path"]
    for line in sys.stdin.buffer:
        # A job that takes too long ends the process, because the renderer cannot be interrupted.
        signal.alarm(start["seconds"])
        _answer(answers, json.loads(line))


def _end_first_without_memory() -> None:
    """Make the kernel kill this process before its parent, which then reports the end in a line."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _answer(answers: BinaryIO, job: dict[str, Any]) -> None:
    stderr_start = os.fstat(_STDERR).st_size
    made: dict[str, bytes] = {}
    error = kind = ""
    try:
        made = _made(job)
        error = _complaint(os.pread(_STDERR, 1 << 16, stderr_start))
    except BaseException as raised:  # noqa: BLE001  a panic of Rust is no Exception
        made, kind, error = {}, type(raised).__name__, str(raised)
    sizes = {name: len(content) for name, content in made.items()}
    head = {"sizes": sizes, "kind": kind, "error": error}
    answers.write(json.dumps(head).encode() + b"\n")
    answers.writelines(made.values())
    answers.flush()


def _made(job: dict[str, Any]) -> dict[str, bytes]:
    """Return the files that a job asks for, by suffix."""
    import vl_convert  # noqa: PLC0415  importable only after the path is set

    version = job["version"]
    if "script" in job:
        return {"js": vl_convert.javascript_bundle(job["script"], vl_version=version).encode()}
    svg = vl_convert.vegalite_to_svg(job["spec"], vl_version=version)
    if job.get("patterns"):
        head, gap, rest = svg.partition(">")
        svg = head + gap + job["patterns"] + rest
    made: dict[str, bytes] = {}
    for ending in job["endings"]:
        if ending == "svg":
            made[ending] = svg.encode()
        elif ending == "png":
            made[ending] = vl_convert.svg_to_png(svg, scale=1, ppi=_PPI)
        else:
            made[ending] = vl_convert.svg_to_pdf(svg)
    return made


def _complaint(stderr: bytes) -> str:
    """Return the complaint of Vega, which draws on without the marks that it cannot make."""
    lines = stderr.decode(errors="replace").splitlines()
    return next((line for line in lines if line.startswith("ERROR")), "")


if __name__ == "__main__":
    main()
