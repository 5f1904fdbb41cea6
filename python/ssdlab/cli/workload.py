"""``ssdlab workload``: workloads from distributions, and twins of traces."""

from __future__ import annotations

import itertools
import json
from operator import itemgetter
from typing import Any

import click

from ssdlab import _native, arguments
from ssdlab.cli import completion, exit_codes
from ssdlab.cli.messages import print_error
from ssdlab.cli.parameters import CommandGroup, WholeNumber
from ssdlab.errors import InputError, quoted
from ssdlab.progress import ProgressLine
from ssdlab.render.formatting import amount, digits, pluralize, share
from ssdlab.render.text.table import Column, format_table
from ssdlab.render.text.traces import measured_lines, measured_tables, seconds, size

_MEASURED = 1_000_000
_SHARES = {"read_ratio", "read_hot", "read_cold", "large_writes"}
_PLACES = "reads of places"


@click.group(cls=CommandGroup)
def workload() -> None:
    """List workloads, or show a twin against its targets."""


@workload.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_workloads(*, as_json: bool) -> None:
    """List the distributions and the twins.

    A twin is a synthetic workload that stands in for a published trace.
    """
    twins = json.loads(_native.twins())
    if as_json:
        click.echo(json.dumps({"closed": _native.workloads(), "twins": twins}, indent=2))
        return
    forms = ", ".join(_native.workloads())
    click.echo(f"distributions: {forms} (workload.kind in `ssdlab config keys`)\n")
    columns = [
        Column("requests", [amount(twin["requests"]) for twin in twins]),
        Column("reads", [share(twin["read_ratio"]) for twin in twins]),
        Column("read size", [size(twin["mean_read"]) for twin in twins]),
        Column("write size", [size(twin["mean_write"]) for twin in twins]),
        Column("footprint", [size(twin["footprint"]) for twin in twins]),
        Column("span", [seconds(twin["span_s"]) for twin in twins]),
    ]
    click.echo(format_table(Column("twin", [twin["name"] for twin in twins]), columns))


@workload.command("show")
@click.argument("name", shell_complete=completion.twin)
@click.option(
    "--requests",
    type=WholeNumber(1),
    help=f"Scale the twin down to N requests (default: {_MEASURED:,}).",
)
@click.option("--full", is_flag=True, help="Generate all of its requests.")
@click.option(
    "--seed", type=WholeNumber(0), default=1, show_default=True, help="Seed the requests."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_workload(name: str, *, requests: int | None, full: bool, seed: int, as_json: bool) -> int:
    """Show a twin: what is published of its trace, and what it achieves.

    The figures of `ssdlab trace info` follow.
    """
    if full and requests is not None:
        raise click.UsageError("--requests beside --full: expected one or the other")
    _check_twin(arguments.text("NAME", name))
    most = None if full else requests or _MEASURED
    with ProgressLine() as line:
        text, interrupted = _native.show_twin(name, most, seed, line)
    if interrupted:
        print_error("interrupted")
        return exit_codes.INTERRUPTED
    twin = json.loads(text)
    click.echo(json.dumps(twin, indent=2) if as_json else _twin_text(twin))
    return 0


def _check_twin(name: str) -> None:
    """Refuse a name that no twin has, with its family or without; suggest the nearest names."""
    twins = json.loads(_native.twins())
    names_by_key: dict[str, list[str]] = {}
    for full in (twin["name"] for twin in twins):
        names_by_key[full] = [full]
        names_by_key.setdefault(full.rpartition("/")[2], []).append(full)
    if name in names_by_key:
        return
    found = f"not a twin: got {quoted(name)}"
    if name in _native.workloads():
        raise InputError.at("NAME", f"{found}, a distribution, which has no targets")
    if family := [twin["name"] for twin in twins if twin["family"] == name]:
        raise InputError.at("NAME", f"{found}, expected one of its family: {', '.join(family)}")
    near = _native.nearest(name, [key for key in names_by_key if "/" in name or "/" not in key])
    suggested = " or ".join(f'"{full}"' for full in names_by_key[near]) if near else ""
    accepted = "expected a twin that `ssdlab workload list` prints, such as dlv/hm0"
    hint = f" (did you mean {suggested}?)" * bool(suggested)
    raise InputError.at("NAME", f"{found}, {accepted}{hint}")


def _twin_text(found: dict[str, Any]) -> str:
    """Return the description of a twin, and its targets beside the achieved values."""
    twin, figures = found["twin"], found["figures"]
    head = f"{twin['name']}: {twin['title']}"
    if twin["members"]:
        head += f", a mix of {', '.join(twin['members'])}, each on a queue of its own"
    elif found["shape"]:
        head += f", with the shape {found['shape']}"
    part = "all" if found["measured"] == twin["requests"] else "scaled to"
    head += "\n".join(["", f"{part} {pluralize(found['measured'], 'request')}", *found["remarks"]])
    columns = [
        Column("target", [_figure(row, "target") for row in figures]),
        Column("achieved", [_figure(row, "achieved") for row in figures]),
    ]
    rows = format_table(Column("figure", [row["what"] for row in figures]), columns)
    measured = "\n".join(measured_lines(found["profile"]))
    tables = [*_hit_ratios(found["hit_ratios"]), measured, *measured_tables(found["profile"])]
    return "\n\n".join([head, rows, *tables, _sources(found)])


def _hit_ratios(ratios: list[dict[str, Any]]) -> list[str]:
    """Return the table of the hit ratios of caches, if any are published."""
    if not ratios:
        return []
    # A cache of places holds bytes, the others pages of 4 KiB.
    bytes_of = [row["size"] * (1 if row["what"] == _PLACES else 4096) for row in ratios]
    columns = [
        Column("hits of", [row["what"] for row in ratios]),
        Column("target", [share(row["published"]) for row in ratios]),
        Column("achieved", [share(row["achieved"]) for row in ratios]),
    ]
    return [format_table(Column("LRU cache", [size(each) for each in bytes_of]), columns)]


def _sources(found: dict[str, Any]) -> str:
    """Return where the targets stand; figures of one source in a row share its mention."""
    lines = ["where the targets stand"]
    for source, rows in itertools.groupby(found["figures"], key=itemgetter("source")):
        lines.append(f"{', '.join(row['what'] for row in rows)}: {source}")
    if found["hit_ratios"]:
        lines.append('hit ratios: of the whole trace (documentation: "Twins")')
    if found["shape"]:
        lines.append(
            f"the rest, such as locality, by the shape {found['shape']}: {found['shape_source']}"
        )
    return "\n".join(lines)


def _figure(row: dict[str, Any], column: str) -> str:
    """Return a figure in its unit."""
    value = row[column]
    if row["what"] in _SHARES:
        return share(value)
    if row["unit"] == "B":
        return size(value)
    if row["unit"] == "s":
        return seconds(value)
    if row["unit"] == "pages":
        return f"{value:.3g} a request"
    if row["unit"] == "requests" or row["what"].startswith("dispersion"):
        return digits(value)
    return f"{value:,.0f}"
