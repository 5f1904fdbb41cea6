"""The page of one or several traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssdlab.render.figures.base import KINDS
from ssdlab.render.figures.trace import BURSTS, LOAD, REUSE, SIZES, Trace, figures, traces_of
from ssdlab.render.formatting import NONE, digits, pluralize, share, span
from ssdlab.render.html.page import render_page
from ssdlab.render.html.tables import Origin, Table
from ssdlab.render.text.burstiness import (
    LENGTHS_S,
    RUN_HEADS,
    dispersion_text,
    run_cells,
    window_name,
    window_notes,
)
from ssdlab.render.text.traces import format_label, size, trace_columns
from ssdlab.traces.infos import Info


def trace_page(infos: Sequence[Info]) -> str:
    """Return the page of traces that :func:`ssdlab.traces.info` returned."""
    traces = traces_of(infos)
    several = f"{len(traces)} traces side by side"
    return render_page(
        "sections.html",
        figures(traces),
        title=several if len(traces) > 1 else traces[0].label,
        how="Trace reader settings",
        notes=list(dict.fromkeys(remark for info in infos for remark in info["remarks"])),
        summary=[_summary(traces)],
        section_tables=_section_tables(traces),
        origins=list(_origins(traces)),
    )


def _summary(traces: Sequence[Trace]) -> Table:
    """Return the table that `ssdlab trace info` prints for several traces."""
    columns = trace_columns([trace.info for trace in traces])
    cells = zip(*(column.cells for column in columns), strict=True)
    rows = [[trace.label, *row] for trace, row in zip(traces, cells, strict=True)]
    return Table("Trace statistics", ["trace", *(c.head for c in columns)], rows)


def _section_tables(traces: Sequence[Trace]) -> dict[str, Table]:
    """Return the values that the figures draw as tables, by section."""
    return {
        SIZES: _sizes(traces),
        LOAD: _load(traces),
        BURSTS: _bursts(traces),
        REUSE: _reuse(traces),
    }


def _sizes(traces: Sequence[Trace]) -> Table:
    counted = {
        f"{kind}s" + f": {trace.label}" * (len(traces) > 1): {
            row["up_to_bytes"]: row["requests"] / trace.info[f"{kind}s"]
            for row in trace.info[f"{kind}_size"]["histogram"]
        }
        for kind in KINDS
        for trace in traces
        if trace.info[f"{kind}_size"] is not None
    }
    bounds = sorted({bound for shares in counted.values() for bound in shares})
    rows = [
        [size(bound), *(_share(shares.get(bound)) for shares in counted.values())]
        for bound in bounds
    ]
    return Table("Requests by size", ["size, up to", *counted], rows)


def _share(value: float | None) -> str:
    return NONE if value is None else share(value)


def _load(traces: Sequence[Trace]) -> Table:
    heads = ["trace", "mean", "median", "p99", "requests in the peak second", "peak to mean"]
    rows = [
        [
            trace.label,
            *(span(trace.info[f"gap_{name}_us"]) for name in ("mean", "median", "p99")),
            f"{trace.info['load']['peak_per_s']:,}",
            f"×{digits(trace.info['load']['peak_to_mean'])}",
        ]
        for trace in traces
    ]
    return Table("Interarrival times and peak load", heads, rows)


def _bursts(traces: Sequence[Trace]) -> Table:
    """Return dispersions, exponents and runs, a row each and a trace a column."""
    rows = [
        [f"index of dispersion, {window_name(length)}"]
        + [dispersion_text(trace.info, length) for trace in traces]
        for length in LENGTHS_S
    ]
    rows.append(["Hurst exponent", *(_exponent(trace.info) for trace in traces)])
    for kind in KINDS:
        cells = [run_cells(trace.info, kind) for trace in traces]
        for head, each in zip(RUN_HEADS, zip(*cells, strict=True), strict=True):
            name = f"runs of {kind}s" + f", {head}" * (head != "runs")
            rows.append([name, *each])
    for kind in KINDS:
        shares = (_phase(trace.info, f"{kind}_share") for trace in traces)
        rows.append([f"seconds with at least 90 % {kind}s", *(_share(each) for each in shares)])
    kept = (_phase(trace.info, "correlation") for trace in traces)
    cells_kept = [NONE if each is None else digits(each, 2).replace("-", "−") for each in kept]
    rows.append(["share of reads, correlation with the next second", *cells_kept])
    heads = ["metric", *(trace.label for trace in traces)]
    notes = window_notes([(trace.label, trace.info) for trace in traces])
    caption = "; ".join(["Burstiness and run lengths", *notes])
    return Table(caption, heads, rows)


def _exponent(info: Info) -> str:
    hurst = info["burstiness"]["hurst"]
    if hurst is None:
        return NONE
    value, low, high = (digits(hurst[name], 2) for name in ("exponent", "low", "high"))
    return f"{value} ({low} to {high})"


def _phase(info: Info, name: str) -> float | None:
    found: float | None = (info["burstiness"]["phases"] or {}).get(name)
    return found


def _reuse(traces: Sequence[Trace]) -> Table:
    heads = ["trace", "footprint", "read", "written"]
    heads += ["reads of the hottest 1 %", "reads of the hottest 20 %"]
    heads += ["median reuse distance", "p90 reuse distance", "first accesses", "sample"]
    return Table(
        "Footprint, read-hot pages and reuse distances", heads, [_space(trace) for trace in traces]
    )


def _space(trace: Trace) -> list[str]:
    info = trace.info
    pages = [info[name] for name in ("footprint_pages", "read_pages", "written_pages")]
    hottest = [share(info[name]) if info["reads"] else NONE for name in ("hottest_1", "hottest_20")]
    cells = [trace.label, *(size(count * 4096) for count in pages), *hottest]
    reuse = info["reuse"]
    if reuse is None or reuse["median_pages"] is None:
        return [*cells, *[NONE] * 4]
    distances = [pluralize(round(reuse[name]), "page") for name in ("median_pages", "p90_pages")]
    return [*cells, *distances, share(reuse["first_uses"]), f"1 page in {reuse['one_page_in']}"]


def _origins(traces: Sequence[Trace]) -> Iterator[Origin]:
    """Yield how every trace was read."""
    for trace in traces:
        yield Origin(trace.label, list(_facts(trace)))


def _facts(trace: Trace) -> Iterator[tuple[str, str]]:
    info = trace.info
    yield "trace", info["trace"]
    yield "format", format_label(info)
    yield "trims", f"{info['trims']:,}"
    yield "flushes", f"{info['flushes']:,}"
    yield "of other devices", f"{info['other_devices']:,}, left out"
    yield "reordered", f"{info['reordered']:,}, by timestamp"
    yield "widened", f"{info['widened']:,}, to whole sectors of 512 B"
    if info["sample_one_page_in"] > 1:
        yield "sample", f"one page of 4 KiB in {info['sample_one_page_in']}"
    yield "devices", ", ".join(f"{each['name']} {each['requests']:,}" for each in info["devices"])
