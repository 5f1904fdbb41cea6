"""Functions on traces: inspect, convert, merge and check them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ssdlab import _native, arguments
from ssdlab.display import as_figure_files, as_html
from ssdlab.errors import InputError
from ssdlab.files import File, OutputFile, OutputFolder, check_apart
from ssdlab.traces.apps import App, check_app, parse
from ssdlab.traces.infos import TraceInfo, TraceInfos
from ssdlab.traces.manifest import Line, check
from ssdlab.traces.reading import Reading, check_reading
from ssdlab.traces.values import Converted, FormatInfo, Mixed, TraceValues, Written

if TYPE_CHECKING:
    from ssdlab.progress import Progress

__all__ = [
    "App",
    "Converted",
    "FormatInfo",
    "Line",
    "Mixed",
    "Reading",
    "TraceValues",
    "Written",
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
) -> list[TraceValues]:
    """Read traces and return the figures of each; the documentation's page "Traces" explains them.

    A trace is ``FILE`` or ``FILE:format``. ``reuse`` asks for reuse distances, which take most of
    the time. Raises :class:`InputError` if a trace is invalid, and :class:`KeyboardInterrupt` on
    Ctrl-C.
    """
    names = [arguments.path("trace", trace) for trace in arguments.sequence("traces", traces)]
    with_reuse, progress = (
        arguments.boolean("reuse", reuse),
        arguments.callback("progress", progress),
    )
    answer = _native.trace_info(names, check_reading(reading).wire(), with_reuse, progress)
    found: list[TraceValues] = []
    for name, one in zip(names, _done(answer), strict=True):
        trace = TraceInfo(one)
        trace.input_files = [("trace", _native.trace_file(name).absolute())]
        found.append(cast("TraceValues", trace))
    return found


def report_html(infos: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the figures that :func:`info` returned to ``path``: one HTML file without network use.

    The report draws several traces side by side. Raises :class:`InputError` if the file cannot be
    written.
    """
    infos = _infos(infos)
    path = arguments.path("report", path)
    check_apart(_files_of(infos), [("report", path)])
    target = OutputFile("report", path)
    target.write(as_html(TraceInfos(infos)))


def save_figures(infos: Sequence[Mapping[str, Any]], folder: Path) -> list[str]:
    """Write a report's figures to ``folder`` as PDF, SVG and PNG; return the file names.

    Raises :class:`InputError` if the files cannot be written.
    """
    infos = _infos(infos)
    target = OutputFolder("figures", folder, _files_of(infos))
    files = as_figure_files(TraceInfos(infos))
    target.write(files)
    return list(files)


def convert(
    trace: Path, out: Path, reading: Reading | None = None, *, progress: Progress | None = None
) -> Converted:
    """Write a trace, or a part of it, to another file; return counts of what was written.

    ``out`` is ``FILE`` or ``FILE:format``. Without a format, ``.csv`` is ssdlab's own CSV and
    ``.parquet`` is Parquet; ``.gz``, ``.zst`` and ``.xz`` compress. The file appears whole or not
    at all. Raises the same errors as :func:`info`.
    """
    wire, progress = check_reading(reading).wire(), arguments.callback("progress", progress)
    source, target = arguments.path("trace", trace), arguments.path("out", out)
    answer = _native.trace_convert(source, target, wire, progress)
    written: Converted = _done(answer)
    return written


def mix(
    apps: Sequence[App],
    out: Path,
    *,
    share_addresses: bool = False,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> Mixed:
    """Merge the traces of several applications into one file; return counts of what was written.

    By default, the addresses of each application follow those of the applications before it. The
    ``offset`` of an application overrides this; ``share_addresses`` leaves all addresses unchanged.
    ``reading`` applies to all traces, its limit to the mix. Raises the same errors as :func:`info`.
    """
    order = {
        "apps": [check_app("apps", app).to_wire() for app in arguments.sequence("apps", apps)],
        "share_addresses": arguments.boolean("share_addresses", share_addresses),
        "reading": check_reading(reading).to_wire(),
    }
    progress = arguments.callback("progress", progress)
    answer = _native.trace_mix(json.dumps(order), arguments.path("out", out), progress)
    written: Mixed = _done(answer)
    return written


def formats() -> list[FormatInfo]:
    """Return every trace format with its columns and its unit of time."""
    found: list[FormatInfo] = json.loads(_native.trace_formats())
    return found


def _infos(infos: object) -> list[Mapping[str, Any]]:
    """Return infos that :func:`info` returned; refuse anything else."""
    expected = "what ssdlab.traces.info returns"
    found = arguments.sequence("infos", infos, expected)
    if not found or not all(isinstance(one, Mapping) and "certainty" in one for one in found):
        raise arguments.invalid("infos", infos, expected)
    return found


def _files_of(infos: Sequence[Mapping[str, Any]]) -> list[File]:
    """Return the files that these traces were read from."""
    known = [file for one in infos if isinstance(one, TraceInfo) for file in one.input_files]
    others: list[File] = []
    for one in infos:
        if not isinstance(one, TraceInfo) and "trace" in one:
            # The caller may have set the trace to a name that no file can have.
            with suppress(InputError):
                others.append(("trace", _native.trace_file(str(one["trace"]))))
    return [*known, *others]


def _done(answer: tuple[str, bool]) -> Any:
    text, interrupted = answer
    if interrupted:
        raise KeyboardInterrupt
    return json.loads(text)
