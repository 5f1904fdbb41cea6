"""Drawing in a separate process: if the renderer ends, the user gets a one-line error.

The renderer is the engine of a browser as a library. It ends its process if memory is short or if
it cannot read a text. So it does not run in the caller's process, which may be a notebook with
hours of work.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab import escaping
from ssdlab.errors import InputError, InternalError
from ssdlab.signals import held_back

MAX_SECONDS = 120
"""The maximum time for a drawing; one usually takes a tenth of a second."""
RESERVED_BYTES = 70 << 30
"""The address space that the renderer reserves, in bytes; it uses less than a hundredth of it."""

MIN_DESCRIPTORS = 24
"""The number of open files that the renderer may need; with 16 it cannot start."""

_WORKER = Path(__file__).with_name("worker.py")
_PANIC = re.compile(r"panicked at [^\n]*:\n(.+)")
_FATAL = re.compile(r"(Fatal\b.+)")
_MEMORY = ("MemoryError", "PanicException")


@dataclass(frozen=True, slots=True)
class Job:
    """A drawing to make: messages use ``name``, the worker reads ``request``."""

    name: str
    request: Mapping[str, Any]


Files = dict[str, bytes]


def run_jobs(jobs: Sequence[Job]) -> list[Files]:
    """Run the jobs in order in one process; return the content that each made, by file suffix.

    Raises :class:`InputError` if the process ended, was stopped, or cannot start. Raises
    :class:`InternalError` if the renderer cannot draw a job.
    """
    done: list[Files] = []
    while len(done) < len(jobs):
        found, end = _run(jobs[len(done) :])
        done += found
        # A process that has drawn before may have ended for memory that it accumulated, so try
        # again in a new one. A drawing that takes too long would do so again.
        if len(done) < len(jobs) and (not found or end.code == -signal.SIGALRM):
            raise _ended(jobs[len(done)], end)
    return done


@dataclass(frozen=True, slots=True)
class _End:
    """The exit code of a process, and its stderr."""

    code: int
    stderr: str


def _run(jobs: Sequence[Job]) -> tuple[list[Files], _End]:
    """Start a process for these jobs; return the files of the first jobs, and how it ended."""
    lines = [
        {"path": [str(each) for each in sys.path], "seconds": MAX_SECONDS},
        *(job.request for job in jobs),
    ]
    request = "".join(json.dumps(line) + "\n" for line in lines).encode()
    try:
        with os.fdopen(os.memfd_create("ssdlab-drawing"), "r+b") as messages:
            code, answers = _exchanged(request, messages.fileno())
            messages.seek(0)
            end = _End(code, messages.read().decode(errors="replace"))
    except OSError as error:
        reason = f"no process to draw in can be started: {error.strerror or error}"
        raise InputError(f"{jobs[0].name}: {reason}") from None
    return list(_read(answers, jobs)), end


def _exchanged(request: bytes, messages: int) -> tuple[int, bytes]:
    """Run a process on a request; return its exit code and its answers."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise FileNotFoundError(0, "this program has no Python interpreter beside it")
    # Isolated: only the path given here decides what is imported, not environment or folder.
    command = [sys.executable, "-I", str(_WORKER)]
    # A terminal signals all of its processes. The renderer blocks the signals; this process ends
    # it.
    with held_back():
        process = subprocess.Popen(  # noqa: S603  our own file
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages
        )
    with process:
        try:
            answers, _ = process.communicate(request)
        finally:
            # Has no effect on a process that has ended; on Ctrl-C the process must end at once.
            process.kill()
            process.wait()
    return process.returncode, answers


def _read(answers: bytes, jobs: Sequence[Job]) -> Iterator[Files]:
    """Yield the complete answers."""
    at = 0
    for job in jobs:
        line = answers.find(b"\n", at)
        if line < 0:
            return
        head, at = json.loads(answers[at:line]), line + 1
        if head["error"] or head["kind"]:
            raise _failed(job, head["kind"], head["error"])
        if at + sum(head["sizes"].values()) > len(answers):
            return
        found = {}
        for ending, size in head["sizes"].items():
            found[ending] = answers[at : at + size]
            at += size
        yield found


def _failed(job: Job, kind: str, error: str) -> Exception:
    """Return the error for a job that the renderer could not do."""
    if kind in {"ImportError", "ModuleNotFoundError"}:
        return InputError(f"{job.name}: {_line(error)} (pip install vl-convert-python)")
    if few := _descriptor_problem():
        return InputError(f"{job.name}: cannot be drawn: {few}")
    if kind in _MEMORY:
        return InputError(f"{job.name}: cannot be drawn: {_line(error) or kind}{_limits(job)}")
    return InternalError(f"{job.name}: cannot be drawn: {_line(error) or kind}")


def _ended(job: Job, end: _End) -> Exception:
    """Return the error for a process that has ended."""
    if end.code == -signal.SIGALRM:
        return InputError(f"{job.name}: not drawn within {MAX_SECONDS} s, and given up")
    how = f"with code {end.code}" if end.code >= 0 else f"by {_signal(-end.code)}"
    why = "".join(f": {reason}" for reason in [_reason(end)] if reason)
    return InputError(f"{job.name}: the renderer ended {how}{why}{_limits(job)}")


def _signal(number: int) -> str:
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")


def _reason(end: _End) -> str:
    """Return why a process ended, as far as it is known."""
    if end.code == -signal.SIGKILL:
        return "memory may be short"
    found = _FATAL.search(end.stderr) or _PANIC.search(end.stderr)
    last = end.stderr.strip().splitlines()[-1:] if found is None else [found[1]]
    return _line("".join(last))


def _limits(job: Job) -> str:
    """Return a hint if address space is limited, a possible cause; a script needs hardly any."""
    few = address_space_problem() if "spec" in job.request else ""
    return few and f"; {few}"


def limits_problem() -> str:
    """Return the limit that prevents this process from drawing; an empty string if none does."""
    return address_space_problem() or _descriptor_problem()


def _descriptor_problem() -> str:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY or most >= MIN_DESCRIPTORS:
        return ""
    return (
        f"open files are limited to {most}, and the renderer takes {MIN_DESCRIPTORS}: raise the"
        " limit (ulimit -n 1024), or write a report in place of figures"
    )


def address_space_problem() -> str:
    """Return why address space may be too small to draw; an empty string if it is not."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most >= RESERVED_BYTES:
        return ""
    return (
        f"addresses are limited to {most / 2**30:.3g} GiB, and the renderer reserves"
        f" {RESERVED_BYTES >> 30} GiB of them: raise the limit (ulimit -v unlimited), or write"
        " a report in place of figures, which needs none"
    )


def _line(message: str) -> str:
    """Return the first two lines of a message as one."""
    return escaping.truncate(escaping.escape_name(" ".join(message.strip().splitlines()[:2])), 300)
