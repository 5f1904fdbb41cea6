"""The process that draws: jobs come from its standard input, what it has made goes to its output.

It is run as a file, by itself: it may import nothing of ssdlab. Both ways a message is a line of
JSON; behind that of an answer follow the bytes of what was made. What is said on the standard error
goes into a file in memory, which both processes read.
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
    # SIGINT, SIGTERM and SIGHUP are held back since the process began: the parent answers them.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    # What the renderer itself would print goes to the error output: answers have theirs alone.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(_STDERR, sys.stdout.fileno())
    start = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = start["path"]
    for line in sys.stdin.buffer:
        # A job that takes longer ends the process: nothing in here could be asked to stop.
        signal.alarm(start["seconds"])
        _answer(answers, json.loads(line))


def _end_first_without_memory() -> None:
    """Make the kernel kill this process before its parent, which then reports that in a line."""
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
    """Return what a job asks for, by the endings of files."""
    import vl_convert  # noqa: PLC0415  it is found when the path is known

    version = job["version"]
    if "script" in job:
        return {"js": vl_convert.javascript_bundle(job["script"], vl_version=version).encode()}
    svg = vl_convert.vegalite_to_svg(job["spec"], vl_version=version)
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
    """Return what Vega complains about: it draws on without the marks that it could not make."""
    lines = stderr.decode(errors="replace").splitlines()
    return next((line for line in lines if line.startswith("ERROR")), "")


if __name__ == "__main__":
    main()
