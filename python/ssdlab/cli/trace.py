"""``ssdlab trace``: inspect, convert, merge and check traces."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ssdlab import _native, arguments, escaping, traces
from ssdlab.cli import completion, exit_codes
from ssdlab.cli.messages import print_error
from ssdlab.cli.options import DRAWING, add
from ssdlab.cli.outputs import (
    STDOUT,
    DrawingOutputs,
    check_outputs,
    output_files,
    print_out,
    write_each,
)
from ssdlab.cli.parameters import CommandGroup, WholeNumber
from ssdlab.display import as_figures, as_html
from ssdlab.errors import InputError, one_line, quoted
from ssdlab.files import File, OutputFile
from ssdlab.progress import ProgressLine
from ssdlab.render.formatting import digits, pluralize, span
from ssdlab.render.text.table import Column, format_table
from ssdlab.render.text.traces import short_paths, size, trace_text, traces_table
from ssdlab.signals import deferred
from ssdlab.traces import manifest
from ssdlab.traces.infos import TraceInfos
from ssdlab.traces.reading import parse_sampling

_SET = click.option(
    "--set",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=completion.trace_setting,
    help="Set how to read traces: workload.trace.device, .tick, .unsorted, .columns, .max_request;"
    " repeatable.",
)


def _seed(of: str) -> Callable[..., Any]:
    return click.option("--seed", type=WholeNumber(0), default=1, show_default=True, help=of)


_LIMIT = click.option("--limit", type=WholeNumber(1), help="Use at most N requests.")
_PART = [
    _SET,
    click.option(
        "--from", "start", metavar="TIME", help="Leave out requests before this time, such as 10s."
    ),
    click.option("--to", "end", metavar="TIME", help="Leave out requests from this time on."),
    click.option(
        "--sample-addresses",
        metavar="1/N",
        help="Keep requests that begin in a sample of the pages of 4 KiB, one in N.",
    ),
    _seed("Seed the sample."),
    _LIMIT,
]
_JSON = click.option("--json", metavar="FILE", help="Write the result as JSON, - for stdout.")


def _ends_on_ctrl_c(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return the command, changed to end with one line and its exit code on Ctrl-C."""

    @functools.wraps(command)
    def run(*arguments: Any, **parameters: Any) -> int | None:
        try:
            return command(*arguments, **parameters)
        except KeyboardInterrupt:
            print_error("interrupted")
            return exit_codes.INTERRUPTED

    return run


@click.group(cls=CommandGroup)
def trace() -> None:
    """Look at traces, convert them, merge them, check them."""


@trace.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE[:FORMAT]...")
@add(_PART)
@click.option("--no-reuse", is_flag=True, help="Leave out reuse distances, which take longest.")
@_JSON
@add(DRAWING)
@_ends_on_ctrl_c
def info(files: tuple[str, ...], **parameters: Any) -> None:
    """Show the figures of traces; several share a table.

    All figures are of reads and writes; trims and flushes are counted apart.
    """
    read = [_file("FILE", file) for file in files]
    files_written = check_outputs(read, output_files(parameters, ("json", "report")))
    target = _target(parameters["json"])
    drawing = DrawingOutputs(parameters, [*read, *files_written])
    reading = _reading(parameters)
    # A signal after the traces were read must not lose the results.
    with deferred() as signals:
        with ProgressLine(what="traces") as line:
            progress = signals.stopping(line)
            infos = traces.info(files, reading, reuse=not parameters["no_reuse"], progress=progress)
        _write_infos(infos, parameters, target, drawing)


def _write_infos(
    infos: Sequence[traces.TraceValues],
    parameters: dict[str, Any],
    target: OutputFile | None,
    drawing: DrawingOutputs,
) -> None:
    """Show and write the figures of traces."""
    several = len(infos) > 1

    def print_all() -> None:
        if parameters["json"] != STDOUT:
            print_out(traces_table(infos) if several else trace_text(infos[0]))
        if several or parameters["json"] == STDOUT:
            _print_remarks([remark for info in infos for remark in info["remarks"]])

    found, drawn = (infos if several else infos[0]), TraceInfos(infos)
    steps = drawing.steps(lambda: as_html(drawn), lambda: as_figures(drawn))
    write_each([lambda: _write_json(found, target, parameters["json"]), print_all, *steps])


@trace.command()
@click.argument("source", metavar="IN[:FORMAT]")
@click.argument("out", metavar="OUT[:FORMAT]")
@add(_PART)
@_JSON
@_ends_on_ctrl_c
def convert(source: str, out: str, **parameters: Any) -> None:
    """Write a trace, or a part of it, in another format.

    OUT is our own CSV if it ends in .csv, Parquet if in .parquet, or as FORMAT says; .gz, .zst and
    .xz compress. It appears whole or not at all.
    """
    _check_apart([("IN", source)], out, parameters)
    target = _target(parameters["json"])
    with ProgressLine() as line:
        made = traces.convert(source, out, _reading(parameters), progress=line)
    _print_remarks(made["remarks"])
    _write_and_print(made, target, parameters["json"], lambda: _print_converted(source, out, made))


def _print_converted(source: str, out: str, made: traces.Converted) -> None:
    took = f"{escaping.display_label(source)} ({made['from_format']})"
    requests = pluralize(made["requests"], "request")
    click.echo(f"{escaping.display_label(out)} ({made['format']}): {requests} of {took}")
    _print_others(made)
    _print_losses(made)


@trace.command()
@click.argument("apps", nargs=-1, required=True, metavar="APP...")
@click.option("-o", "--out", required=True, metavar="OUT[:FORMAT]", help="The file to write.")
@click.option(
    "--share-addresses",
    is_flag=True,
    help="Keep addresses unchanged, so that applications share them.",
)
@add([_SET, _seed("Seed the twins."), _LIMIT])
@_JSON
@_ends_on_ctrl_c
def mix(apps: tuple[str, ...], **parameters: Any) -> None:
    """Merge the traces of several applications into one, by arrival.

    \b
    APP is [NAME=]FILE[:FORMAT][@KEY=VALUE,...], where a twin such as dlv/hm0
    may stand for the file, with the keys
      queue=N         the submission queue of its requests; 0 has the highest priority
      scale=X         the factor on the times between them: 2 is half as fast
      start=TIME      when the first one comes, such as 10s
      offset=SIZE     what its addresses are moved up by, such as 64GiB; or auto:
                      behind those of the applications before it (the default)

    \b
    ssdlab trace mix high=dlv/hm0@queue=0 low=dlv/fin1@queue=1,scale=2 \\
        --limit 10000 -o mix.csv
    """  # noqa: D301
    order = traces.parse(apps)
    _check_apart([("APP", app.trace) for app in order], parameters["out"], parameters)
    target = _target(parameters["json"])
    with ProgressLine() as line:
        mixed = traces.mix(
            order,
            parameters["out"],
            share_addresses=parameters["share_addresses"],
            reading=traces.Reading(
                set=parameters["set"], limit=parameters["limit"], seed=parameters["seed"]
            ),
            progress=line,
        )
    _print_remarks(mixed["remarks"])
    _write_and_print(mixed, target, parameters["json"], lambda: _print_mix(mixed))


def _print_mix(mixed: traces.Mixed) -> None:
    click.echo(
        f"{escaping.display_label(mixed['out'])} ({mixed['format']}):"
        f" {pluralize(mixed['requests'], 'request')}"
    )
    _print_others(mixed)
    apps = mixed["apps"]
    columns = [
        Column("trace", short_paths([app["twin"] or app["trace"] for app in apps])),
        Column("requests", [f"{app['requests']:,}" for app in apps]),
        Column("queue", ["as read" if a["queue"] is None else str(a["queue"]) for a in apps]),
        Column("times", [f"×{digits(app['scale'])}" for app in apps]),
        Column("starts at", [span(app["start_us"]) for app in apps]),
        Column("addresses moved by", [_moved(app["shift_bytes"]) for app in apps]),
    ]
    click.echo(format_table(Column("application", [app["name"] for app in apps]), columns))
    _print_losses(mixed)


def _moved(shift: int) -> str:
    return f"{'−' if shift < 0 else '+'}{size(abs(shift))}" if shift else "0"


@trace.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--files",
    default="trace.*",
    show_default=True,
    metavar="PATTERN",
    help="Read this file of each trace's folder.",
)
@_JSON
@_ends_on_ctrl_c
def check(folder: str, **parameters: Any) -> int:
    """Compare the traces in a folder with its manifest.

    The exit code is 1 if something differs. The manifest, DIR/MANIFEST.tsv, has a header, tabs
    between columns, and a line for each trace: its name, and any of the columns that the
    documentation's page "Traces" lists. It ignores other columns.
    """
    if not parameters["files"] or "/" in parameters["files"] or parameters["files"] in {".", ".."}:
        found = f"got {quoted(parameters['files'])}, expected a file's name, which may hold *"
        raise InputError.at("--files", found)
    manifest.check_pattern("--files", parameters["files"])
    read = [("DIR", file) for file in Path(folder).glob(f"*/{parameters['files']}")]
    read.append(("DIR", Path(folder, manifest.MANIFEST)))
    check_outputs(read, output_files(parameters, ["json"]))
    target = _target(parameters["json"])
    with ProgressLine() as line:
        lines = traces.check(
            folder,
            lambda name, reading: traces.info([name], reading, reuse=False, progress=line)[0],
            parameters["files"],
        )
    well = sum(line.is_well for line in lines)
    whole = {"traces": len(lines), "agree": well, "lines": [asdict(line) for line in lines]}
    _write_and_print(whole, target, parameters["json"], lambda: _print_check(lines, well))
    return 0 if well == len(lines) else 1


_NAME_LENGTH = 60
"""The maximum length of a trace's name in the output of ``check``."""


def _print_check(lines: Sequence[traces.Line], well: int) -> None:
    names = escaping.display_labels([line.name for line in lines], _NAME_LENGTH)
    width = max(map(len, names))
    for name, line in zip(names, lines, strict=True):
        if line.wrong is not None:
            verdict = one_line(line.wrong)
        elif line.differ:
            differences = [
                f"{d.figure} {_number_text(d.read)} (manifest {d.manifest})" for d in line.differ
            ]
            verdict = f"{', '.join(differences)}; {len(line.agree)} others agree"
        else:
            verdict = f"{len(line.agree)} figures agree"
        click.echo(f"{'ok  ' if line.is_well else 'DIFF'}  {name:<{width}}  {verdict}")
    click.echo(f"{well} of {len(lines)} traces agree with {manifest.MANIFEST}")


def _number_text(value: float | None) -> str:
    return "NA" if value is None else f"{value:,.10g}"


@trace.command("formats")
@_JSON
def list_formats(**parameters: Any) -> None:
    """List the formats with their columns and units of time."""
    found = traces.formats()
    check_outputs([], output_files(parameters, ["json"]))
    target = _target(parameters["json"])
    _write_and_print(found, target, parameters["json"], lambda: _print_formats(found))


def _print_formats(found: Sequence[traces.FormatInfo]) -> None:
    name = max(len(entry["name"]) for entry in found) + 1
    unit = max(len(entry["time_unit"]) for entry in found)
    click.echo(f"{'format':<{name}}  {'time unit':<{unit}}  columns of a request")
    for entry in found:
        mark = entry["name"] + "*" * entry["is_written"]
        click.echo(f"{mark:<{name}}  {entry['time_unit']:<{unit}}  {entry['columns']}")
    click.echo('* is written by trace convert and trace mix, too (documentation: "Traces")')


def _reading(parameters: dict[str, Any]) -> traces.Reading:
    sample = parameters["sample_addresses"]
    return traces.Reading(
        set=parameters["set"],
        start=parameters["start"],
        end=parameters["end"],
        one_page_in=1 if sample is None else parse_sampling("--sample-addresses", sample),
        seed=parameters["seed"],
        limit=parameters["limit"],
    )


def _check_apart(read: Sequence[File], out: str, parameters: dict[str, Any]) -> None:
    """Refuse an output that is an input trace, and two outputs in one file."""
    files = [_file(option, str(spec)) for option, spec in read]
    check_outputs(files, [_file("OUT", out), *output_files(parameters, ["json"])])


def _file(option: str, spec: str) -> File:
    """Return the file of a trace as the user named it, without its format."""
    return option, _native.trace_file(arguments.text(option, spec))


def _target(path: str | None) -> OutputFile | None:
    return OutputFile("--json", path) if path not in {None, STDOUT} and path is not None else None


def _write_json(found: object, target: OutputFile | None, path: str | None) -> None:
    """Write a result as JSON to the file or the stream that ``--json`` names."""
    lines = json.dumps(found, indent=2, ensure_ascii=False)
    if target is not None:
        target.write(lines + "\n")
    elif path == STDOUT:
        print_out(lines)


def _write_and_print(
    found: object, target: OutputFile | None, path: str | None, print_all: Callable[[], object]
) -> None:
    """Write a result as JSON, and print it as text unless the JSON went to stdout."""
    steps = [] if path == STDOUT else [print_all]
    write_each([lambda: _write_json(found, target, path), *steps])


def _print_remarks(remarks: Sequence[str]) -> None:
    for remark in dict.fromkeys(remarks):
        print_error(escaping.escape_name(remark))


def _print_others(written: Mapping[str, Any]) -> None:
    """Print the numbers of trims and flushes that were written."""
    others = (("trims", "trim", "trims"), ("flushes", "flush", "flushes"))
    counts = [pluralize(written[key], *names) for key, *names in others if written[key]]
    if counts:
        click.echo(f"besides {', '.join(counts)}")


def _print_losses(written: Mapping[str, Any]) -> None:
    """Print what the format could not represent."""
    name = written["format"]
    losses = {
        "left_out": ("trim or flush", "trims and flushes", f"left out: {name} has none"),
        "rounded": ("time", "times", f"rounded down to the unit of {name}"),
        "devices_left_out": (*_REQUESTS, f"written as of device 0: {name} cannot name theirs"),
        "queues_left_out": (*_REQUESTS, f"with a submission queue that {name} cannot represent"),
        "hints_left_out": (*_REQUESTS, f"with a latency hint that {name} cannot represent"),
        "widened": (*_REQUESTS, "widened to whole sectors of 512 B"),
    }
    for key, (one, several, meaning) in losses.items():
        if count := written.get(key, 0):
            click.echo(f"{pluralize(count, one, several)} {meaning}")


_REQUESTS = ("request", "requests")
