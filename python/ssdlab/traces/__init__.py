"""Traces by themselves: what they are like, in other formats, several as one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ssdlab import _native, arguments
from ssdlab.display import as_figure_files, as_html
from ssdlab.errors import InputError
from ssdlab.files import File, OutputFile, OutputFolder, check_apart
from ssdlab.traces.apps import App, check_app, parse
from ssdlab.traces.infos import TraceInfo, TraceInfos
from ssdlab.traces.manifest import Line, check
from ssdlab.traces.reading import Reading, check_reading

if TYPE_CHECKING:
    from ssdlab.progress import Progress

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
    """Read traces and say what each is like; docs/reference/traces.md says what every figure means.

    A trace is ``FILE`` or ``FILE:format``. ``reuse`` asks for reuse distances, which take most of
    the time. Raises :class:`InputError` if a trace is wrong, KeyboardInterrupt on Ctrl-C.
    """
    names = [arguments.path("trace", trace) for trace in arguments.sequence("traces", traces)]
    with_reuse, progress = (
        arguments.boolean("reuse", reuse),
        arguments.callback("progress", progress),
    )
    answer = _native.trace_info(names, check_reading(reading).wire(), with_reuse, progress)
    found: list[dict[str, Any]] = []
    for name, one in zip(names, _done(answer), strict=True):
        trace = TraceInfo(one)
        trace.input_files = [("trace", _native.trace_file(name).absolute())]
        found.append(trace)
    return found


def report_html(infos: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write what :func:`info` returned to ``path``: one HTML file, which needs no network.

    Several traces are drawn side by side. Raises :class:`InputError` if the file cannot be written.
    """
    infos = _infos(infos)
    path = arguments.path("report", path)
    check_apart(_files_of(infos), [("report", path)])
    target = OutputFile("report", path)
    target.write(as_html(TraceInfos(infos)))


def save_figures(infos: Sequence[Mapping[str, Any]], folder: Path) -> list[str]:
    """Write the figures of such a report to ``folder`` as PDF, SVG and PNG; the files' names."""
    infos = _infos(infos)
    target = OutputFolder("figures", folder, _files_of(infos))
    files = as_figure_files(TraceInfos(infos))
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
    wire, progress = check_reading(reading).wire(), arguments.callback("progress", progress)
    source, target = arguments.path("trace", trace), arguments.path("out", out)
    answer = _native.trace_convert(source, target, wire, progress)
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
        "apps": [check_app("apps", app).to_wire() for app in arguments.sequence("apps", apps)],
        "share_addresses": arguments.boolean("share_addresses", share_addresses),
        "reading": check_reading(reading).to_wire(),
    }
    progress = arguments.callback("progress", progress)
    answer = _native.trace_mix(json.dumps(order), arguments.path("out", out), progress)
    written: dict[str, Any] = _done(answer)
    return written


def formats() -> list[dict[str, Any]]:
    """Return every trace format with its columns and its unit of time."""
    found: list[dict[str, Any]] = json.loads(_native.trace_formats())
    return found


def _infos(infos: object) -> list[Mapping[str, Any]]:
    """Return what :func:`info` returned; refuse anything else."""
    expected = "what ssdlab.traces.info returns"
    found = arguments.sequence("infos", infos, expected)
    if not found or not all(isinstance(one, Mapping) and "certainty" in one for one in found):
        raise arguments.invalid("infos", infos, expected)
    return found


def _files_of(infos: Sequence[Mapping[str, Any]]) -> list[File]:
    """Return the files of the traces that were read."""
    known = [file for one in infos if isinstance(one, TraceInfo) for file in one.input_files]
    others: list[File] = []
    for one in infos:
        if not isinstance(one, TraceInfo) and "trace" in one:
            # The caller may have given the trace a name that no file can have.
            with suppress(InputError):
                others.append(("trace", _native.trace_file(str(one["trace"]))))
    return [*known, *others]


def _done(answer: tuple[str, bool]) -> Any:
    text, interrupted = answer
    if interrupted:
        raise KeyboardInterrupt
    return json.loads(text)
