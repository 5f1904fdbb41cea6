"""Drawing in a process of its own: whatever ends the renderer ends in one line here.

The renderer is a browser's engine as a library. It ends its process when memory is short or a text
is one that it cannot read; so it is not in the process of the one who asks, which may be a notebook
of many hours' work.
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
"""A single drawing may take so long; one takes a tenth of a second."""
RESERVED_BYTES = 70 << 30
"""Bytes of addresses that the renderer reserves, of which it uses less than a hundredth."""

MIN_DESCRIPTORS = 24
"""Files that the renderer may have to hold open; with 16 it cannot begin."""

_WORKER = Path(__file__).with_name("worker.py")
_PANIC = re.compile(r"panicked at [^\n]*:\n(.+)")
_FATAL = re.compile(r"(Fatal\b.+)")
_MEMORY = ("MemoryError", "PanicException")


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be made: ``name`` is for messages, the worker reads the ``request``."""

    name: str
    request: Mapping[str, Any]


Files = dict[str, bytes]


def run_jobs(jobs: Sequence[Job]) -> list[Files]:
    """Do the jobs, one after the other in one process; what each has made, by endings of files.

    Raises :class:`InputError` if the process ended or was ended, or there is none, and
    :class:`InternalError` if what was to be drawn is at fault.
    """
    done: list[Files] = []
    while len(done) < len(jobs):
        found, end = _run(jobs[len(done) :])
        done += found
        # What ends a process that has drawn before may be what it had heaped up; no such thing
        # makes a drawing endless.
        if len(done) < len(jobs) and (not found or end.code == -signal.SIGALRM):
            raise _ended(jobs[len(done)], end)
    return done


@dataclass(frozen=True, slots=True)
class _End:
    """How a process ended, and what it wrote to its stderr."""

    code: int
    stderr: str


def _run(jobs: Sequence[Job]) -> tuple[list[Files], _End]:
    """Start a process for these jobs; what it made of the first of them, and how it ended."""
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
    """Have a process read and answer; how it ended, and its answers."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise FileNotFoundError(0, "this program has no Python interpreter beside it")
    # Isolated: neither the environment nor the folder decides what is imported, only the path here.
    command = [sys.executable, "-I", str(_WORKER)]
    # A terminal signals all of its processes. The renderer goes on: this process ends it.
    with held_back():
        process = subprocess.Popen(  # noqa: S603  our own file
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages
        )
    with process:
        try:
            answers, _ = process.communicate(request)
        finally:
            # Nothing to be seen if it has ended; on Ctrl-C it is to end at once.
            process.kill()
            process.wait()
    return process.returncode, answers


def _read(answers: bytes, jobs: Sequence[Job]) -> Iterator[Files]:
    """Go through the answers that came whole."""
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
    """Return what to raise if the renderer has said what it could not do."""
    if kind in {"ImportError", "ModuleNotFoundError"}:
        return InputError(f"{job.name}: {_line(error)} (pip install vl-convert-python)")
    if few := _descriptor_problem():
        return InputError(f"{job.name}: cannot be drawn: {few}")
    if kind in _MEMORY:
        return InputError(f"{job.name}: cannot be drawn: {_line(error) or kind}{_limits(job)}")
    return InternalError(f"{job.name}: cannot be drawn: {_line(error) or kind}")


def _ended(job: Job, end: _End) -> Exception:
    """Return what to raise if the process is gone."""
    if end.code == -signal.SIGALRM:
        return InputError(f"{job.name}: not drawn within {MAX_SECONDS} s, and given up")
    how = f"with code {end.code}" if end.code >= 0 else f"by {_signal(-end.code)}"
    why = "".join(f": {reason}" for reason in [_reason(end)] if reason)
    return InputError(f"{job.name}: the renderer ended {how}{why}{_limits(job)}")


def _signal(number: int) -> str:
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")


def _reason(end: _End) -> str:
    """Return why a process ended, as far as that is known."""
    if end.code == -signal.SIGKILL:
        return "memory may be short"
    found = _FATAL.search(end.stderr) or _PANIC.search(end.stderr)
    last = end.stderr.strip().splitlines()[-1:] if found is None else [found[1]]
    return _line("".join(last))


def _limits(job: Job) -> str:
    """Say if addresses are too few, which may be why; a script takes hardly any."""
    few = address_space_problem() if "spec" in job.request else ""
    return few and f"; {few}"


def limits_problem() -> str:
    """Say that this process has too few addresses or descriptors to draw; nothing if it has."""
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
    """Say that this process may have fewer addresses than drawing takes; nothing if it has them."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most >= RESERVED_BYTES:
        return ""
    return (
        f"addresses are limited to {most / 2**30:.3g} GiB, and the renderer reserves"
        f" {RESERVED_BYTES >> 30} GiB of them: raise the limit (ulimit -v unlimited), or write"
        " a report in place of figures, which needs none"
    )


def _line(message: str) -> str:
    """Return the first two lines of what was said as one."""
    return escaping.truncate(escaping.escape_name(" ".join(message.strip().splitlines()[:2])), 300)
