"""Traces by themselves: what they are like, in other formats, several as one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab import _native
from ssdlab.files import Folder, Target
from ssdlab.traces.manifest import Line, check
from ssdlab.traces.mixing import App, parse
from ssdlab.traces.reading import Reading

if TYPE_CHECKING:
    from ssdlab.api import Progress

__all__ = [
    "App",
    "Line",
    "Reading",
    "check",
    "convert",
    "formats",
    "info",
    "mix",
    "parse",
    "report_html",
    "save_figures",
]

Path = str | os.PathLike[str]


def info(
    traces: Sequence[Path],
    reading: Reading | None = None,
    *,
    reuse: bool = True,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Read traces and say what each is like; docs/traces.md says what every figure means.

    A trace is ``FILE`` or ``FILE:format``. ``reuse`` asks for reuse distances, which take most of
    the time. Raises :class:`InputError` if a trace is wrong, KeyboardInterrupt on Ctrl-C.
    """
    names = [os.fspath(trace) for trace in traces]
    answer = _native.trace_info(names, (reading or Reading()).wire(), reuse, progress)
    found: list[dict[str, Any]] = _done(answer)
    return found


def report_html(infos: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write what :func:`info` returned to ``path``: one HTML file, which needs no network.

    Several traces are drawn side by side. Raises :class:`InputError` if the file cannot be written.
    """
    from ssdlab import page  # noqa: PLC0415  drawing is loaded when something is to be drawn

    target = Target("report", os.fspath(path))
    target.write(page.html_of_traces(infos))


def save_figures(infos: Sequence[Mapping[str, Any]], folder: Path) -> list[str]:
    """Write the figures of such a report to ``folder`` as PDF, SVG and PNG; the files' names."""
    from ssdlab.figures import of_traces, render  # noqa: PLC0415  as above

    target = Folder("figures", os.fspath(folder))
    files = render.files(of_traces(infos))
    target.write(files)
    return list(files)


def convert(
    trace: Path, out: Path, reading: Reading | None = None, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Write a trace, or a part of it, to another file and return what was written.

    ``out`` is ``FILE`` or ``FILE:format``: without a format ``.csv`` is our own CSV, ``.parquet``
    Parquet; ``.gz``, ``.zst`` and ``.xz`` compress. The file appears whole or not at all.
    Raises as :func:`info` does.
    """
    wire = (reading or Reading()).wire()
    answer = _native.trace_convert(os.fspath(trace), os.fspath(out), wire, progress)
    written: dict[str, Any] = _done(answer)
    return written


def mix(
    apps: Sequence[App],
    out: Path,
    *,
    share_addresses: bool = False,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Merge the traces of several applications into one file and return what was written.

    The addresses of each application lie behind those of the ones before it, unless it says
    otherwise or ``share_addresses`` leaves them as they are. ``reading`` is how all traces are
    read; its limit is on the mix. Raises as :func:`info` does.
    """
    order = {
        "apps": [app.to_wire() for app in apps],
        "share_addresses": share_addresses,
        "reading": (reading or Reading()).to_wire(),
    }
    answer = _native.trace_mix(json.dumps(order), os.fspath(out), progress)
    written: dict[str, Any] = _done(answer)
    return written


def formats() -> list[dict[str, Any]]:
    """Return every trace format with its columns and its unit of time."""
    found: list[dict[str, Any]] = json.loads(_native.trace_formats())
    return found


def _done(answer: tuple[str, bool]) -> Any:
    text, interrupted = answer
    if interrupted:
        raise KeyboardInterrupt
    return json.loads(text)
