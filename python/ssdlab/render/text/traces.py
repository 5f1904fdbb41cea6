"""The properties of traces, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ssdlab import escaping
from ssdlab.render.formatting import NONE, WIDTH, bar, digits, pluralize, share, span
from ssdlab.render.text.burstiness import (
    burst_facts,
    burst_tables,
    dispersion_text,
    window_notes,
)
from ssdlab.render.text.table import Column, format_table
from ssdlab.traces.infos import Info

_LABEL = 11
_LEVELS = "▁▂▃▄▅▆▇█"
_SIZES = (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40))
_MOST_DEVICES = 8
_SPARKS = 64


def size(count: float) -> str:
    """Return a number of bytes as text: ``4 KiB``, ``1.21 GiB``."""
    fitting = [unit for unit in _SIZES if count >= unit[1]]
    name, factor = fitting[-1] if fitting else _SIZES[0]
    scaled = count / factor
    return f"{scaled:.0f} {name}" if scaled == round(scaled) else f"{digits(scaled)} {name}"


def seconds(value: float) -> str:
    """Return a time given in seconds as text: ``148 s``, ``2.0 h``, ``6.67 d``."""
    if value < 600:
        return span(value * 1e6)
    for name, factor in (("min", 60.0), ("h", 3600.0), ("d", 86400.0)):
        scaled = value / factor
        if scaled < 120 or name == "d":
            return f"{digits(scaled)} {name}"
    return NONE


def spark(counts: Sequence[int]) -> str:
    """Return counts as columns of eight heights, relative to the largest; zero is a dot."""
    top = max(counts, default=0)
    return "".join(_LEVELS[min(7, 8 * count // top)] if count else "·" for count in counts)


def _spark_columns(counts: Sequence[int]) -> list[int]:
    """Return the counts, added up to the number of drawn columns."""
    step = max(1, -(-len(counts) // _SPARKS))
    return [sum(counts[at : at + step]) for at in range(0, len(counts), step)]


def format_label(info: Info) -> str:
    """Return the format of a trace, and how certain it is."""
    others = " or ".join(info["ambiguous_with"])
    sure = {"named": "as named", "recognized": "recognized", "ambiguous": f"could be {others}"}
    packed = f", {info['compression']}" if info["compression"] else ""
    return f"{info['format']} ({sure[info['certainty']]}){packed}"


def trace_text(info: Info) -> str:
    """Return the full report of one trace."""
    lines = [escaping.display_label(info["trace"]), _line("format", format_label(info))]
    lines += [
        line
        for remark in info["remarks"]
        for line in _wrapped("", _placeless(escaping.escape_name(remark)))
    ]
    lines += [*_counts(info), *measured_lines(info)]
    return "\n\n".join(["\n".join(lines), *measured_tables(info)])


def measured_lines(info: Info) -> list[str]:
    """Return the measurements of requests, of a trace or of a twin, a line each."""
    of_both = [*_space(info), *_time(info), *_reuse(info)] if info["requests"] else []
    return [*_sizes(info), *of_both]


def measured_tables(info: Info) -> list[str]:
    """Return the tables of the measurements: windows, runs, sizes."""
    return [*burst_tables(info), _histogram(info)] if _kinds(info) else []


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}} {text}".rstrip()


def _wrapped(label: str, text: str) -> list[str]:
    parts = textwrap.wrap(text, WIDTH - _LABEL - 1, break_long_words=False) or [""]
    return [_line(label if at == 0 else "", part) for at, part in enumerate(parts)]


def _placeless(remark: str) -> str:
    """Return a remark without its file, which the report names already."""
    return remark.partition(": ")[2]


def _kinds(info: Info) -> list[str]:
    return [kind for kind in ("read", "write") if info[f"{kind}_size"] is not None]


def _counts(info: Info) -> Iterable[str]:
    reads, writes = pluralize(info["reads"], "read"), pluralize(info["writes"], "write")
    yield _line(
        "requests", f"{info['requests']:,}: {reads} ({share(info['read_ratio'])}), {writes}"
    )
    others = [pluralize(info["trims"], "trim"), pluralize(info["flushes"], "flush", "flushes")]
    others.append(pluralize(info["other_devices"], "request") + " of other devices, left out")
    done = [f"{info['reordered']:,} moved to where their stamps say"]
    done.append(f"{info['widened']:,} widened to whole sectors of 512 B")
    for label, parts in (("besides", others), ("mended", done)):
        if counted := [part for part in parts if not part.startswith("0 ")]:
            yield from _wrapped(label, ", ".join(counted))
    if info["sample_one_page_in"] > 1:
        yield _line("sample", f"one page of 4 KiB in {info['sample_one_page_in']}")
    yield from _devices(info)


def _devices(info: Info) -> Iterable[str]:
    devices = info["devices"]
    named = [
        f"{escaping.display_label(device['name'])} {device['requests']:,}"
        for device in devices[:_MOST_DEVICES]
    ]
    if len(devices) > _MOST_DEVICES:
        named.append(f"{len(devices) - _MOST_DEVICES} others")
    label = "device" if len(devices) == 1 else f"{len(devices)} devices"
    line = ""
    for part in named:
        if line and len(line) + len(part) + 2 > WIDTH - _LABEL - 2:
            yield _line(label, f"{line},")
            label, line = "", ""
        line = f"{line}, {part}" if line else part
    if line:
        yield _line(label, line)


def _sizes(info: Info) -> Iterable[str]:
    for kind in _kinds(info):
        sizes = info[f"{kind}_size"]
        text = f"mean {size(sizes['mean_bytes'])}, median {size(sizes['median_bytes'])}"
        whole = size(info[f"{kind}_bytes"])
        yield from _wrapped(
            f"{kind} size", f"{text}, largest {size(sizes['max_bytes'])}; {whole} in all"
        )


def _space(info: Info) -> Iterable[str]:
    pages = [info[name] * 4096 for name in ("footprint_pages", "read_pages", "written_pages")]
    touched, read, written = (size(count) for count in pages)
    count = pluralize(info["footprint_pages"], "page")
    yield from _wrapped(
        "footprint", f"{touched} in {count} of 4 KiB; {read} read, {written} written"
    )
    yield _line("addresses", f"from {size(info['first_byte'])} to {size(info['end_byte'])}")
    yield _line("sequential", f"{share(info['sequential'])} continue the previous read or write")
    if info["reads"]:
        hot = f"{share(info['hottest_20'])} of the page reads go to the hottest 20 % of read pages"
        yield from _wrapped("read-hot", f"{hot}, {share(info['hottest_1'])} to the hottest 1 %")
        upto = {times: (pages, reads) for times, pages, reads in info["read_counts"]}
        few, many = upto[2], [1 - part for part in upto[10]]
        yield from _wrapped(
            "read",
            f"{share(few[0])} of the read pages once or twice, {share(many[0])} more than 10 times;"
            f" these take {share(few[1])} and {share(many[1])} of the page reads",
        )


def _time(info: Info) -> Iterable[str]:
    rate = info["rate_per_s"]
    rate_text = "" if rate is None else f", {digits(rate)} requests/s"
    yield _line("span", f"{seconds(info['span_s'])}{rate_text}")
    gaps = [f"{name} {span(info[f'gap_{key}_us'])}" for name, key in _GAPS]
    yield _line("gaps", f"{', '.join(gaps)} between requests")
    load = info["load"]
    spread = f"coefficient of variation of the gaps {digits(info['gap_variation'])}"
    peak = f"{pluralize(load['peak_per_s'], 'request')} in the busiest second"
    mean = f"{digits(load['peak_to_mean'])} × the mean"
    yield from _wrapped("burstiness", f"{spread}; {peak}, {mean}")
    for label, text in burst_facts(info):
        yield from _wrapped(label, text)
    counts = _spark_columns(load["requests"])
    step = -(-len(load["requests"]) // _SPARKS) * load["interval_s"]
    yield _line("load", spark(counts))
    yield _line("", f"a column is {seconds(step)}, the highest {pluralize(max(counts), 'request')}")


_GAPS = (("mean", "mean"), ("median", "median"), ("p99", "p99"))


def _reuse(info: Info) -> Iterable[str]:
    reuse = info["reuse"]
    if reuse is None:
        return
    median, p90 = reuse["median_pages"], reuse["p90_pages"]
    if median is None:
        yield _line("reuse", "no page is used twice")
        return
    text = f"median {_pages(median)}, p90 {_pages(p90)} used in between"
    first = f"{share(reuse['first_uses'])} of the page uses are the first of their page"
    of = f" (followed on one page in {reuse['one_page_in']})" if reuse["one_page_in"] > 1 else ""
    yield from _wrapped("reuse", f"{text}; {first}{of}")


def _pages(count: float) -> str:
    pages = pluralize(round(count), "page") if count < 1e5 else f"{digits(count)} pages"
    return f"{pages} ({size(round(count) * 4096)})"


def _histogram(info: Info) -> str:
    """Return the sizes of requests by kind, with a bar for each."""
    kinds = _kinds(info)
    counted = {
        kind: {row["up_to_bytes"]: row["requests"] for row in info[f"{kind}_size"]["histogram"]}
        for kind in kinds
    }
    bounds = sorted({bound for counts in counted.values() for bound in counts})
    columns = []
    for kind in kinds:
        total = sum(counted[kind].values())
        shares = [counted[kind].get(bound, 0) / total for bound in bounds]
        cells = [f"{share(part):>6} {bar(part, 18)}" if part else f"{NONE:>6}" for part in shares]
        width = max(len(cell) for cell in cells)
        columns.append(Column(f"{kind}s".ljust(width), [cell.ljust(width) for cell in cells]))
    return format_table(Column("size up to", [f"{size(bound):>10}" for bound in bounds]), columns)


def traces_table(infos: Sequence[Info]) -> str:
    """Return a table of several traces, one line each."""
    names = [
        escaping.display_label(label) for label in short_paths([info["trace"] for info in infos])
    ]
    table = format_table(Column("trace", names), trace_columns(infos))
    # Of all windows, the table has those of a second alone.
    notes = window_notes(list(zip(names, infos, strict=True)), [1.0])
    return "\n".join([table, *(textwrap.fill(escaping.escape(note), WIDTH) for note in notes)])


def trace_columns(infos: Sequence[Info]) -> list[Column]:
    """Return the columns of a table of traces."""
    each = [Column(head, [cell(info) for info in infos]) for head, cell in _COLUMNS.items()]
    return [column for column in each if set(column.cells) != {NONE}]


def short_paths(names: Sequence[str]) -> list[str]:
    """Return the names without the folders at the start that all have in common."""
    folders = [Path(name).parent.parts for name in names]
    common = 0
    if len(set(names)) > 1:
        for parts in zip(*folders, strict=False):
            if len(set(parts)) > 1:
                break
            common += 1
    return [str(Path(*Path(name).parts[common:])) for name in names]


def _mean(kind: str, info: Info) -> str:
    sizes = info[f"{kind}_size"]
    return NONE if sizes is None else size(sizes["mean_bytes"])


def _count(value: int) -> str:
    return f"{value:,}" if value else NONE


def _median(info: Info) -> str:
    median = (info["reuse"] or {}).get("median_pages")
    return NONE if median is None else size(round(median) * 4096)


_COLUMNS: Mapping[str, Callable[[Info], str]] = {
    "format": lambda info: info["format"] + "?" * (info["certainty"] == "ambiguous"),
    "requests": lambda info: f"{info['requests']:,}",
    "reads": lambda info: share(info["read_ratio"]),
    "trims": lambda info: _count(info["trims"]),
    "flushes": lambda info: _count(info["flushes"]),
    "mean read": lambda info: _mean("read", info),
    "mean write": lambda info: _mean("write", info),
    "span": lambda info: seconds(info["span_s"]),
    "requests/s": lambda info: NONE if info["rate_per_s"] is None else digits(info["rate_per_s"]),
    "gap variation": lambda info: digits(info["gap_variation"]),
    "dispersion (1 s)": lambda info: dispersion_text(info, 1.0),
    "footprint": lambda info: size(info["footprint_pages"] * 4096),
    "written": lambda info: size(info["written_pages"] * 4096) if info["written_pages"] else NONE,
    "end": lambda info: size(info["end_byte"]),
    "hottest 20 %": lambda info: share(info["hottest_20"]) if info["reads"] else NONE,
    "sequential": lambda info: share(info["sequential"]),
    "median reuse": _median,
    "devices": lambda info: str(len(info["devices"])),
}
