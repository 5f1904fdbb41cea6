"""The burstiness of a trace, as text and as cells of tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab.render.formatting import NONE, WIDTH, digits, share, span
from ssdlab.render.text.table import Column, format_table
from ssdlab.traces.infos import Info

LENGTHS_S = (0.01, 0.1, 1.0, 10.0, 100.0)
"""The windows of the index of dispersion, in seconds."""
LEAST_WINDOWS = 20
"""A trace needs at least so many windows in its span."""
_STAMP_STEP, _FEW = "shorter_than_stamp_step", "few_windows"
KINDS = ("read", "write")
RUN_HEADS = ("runs", "mean", "median", "p90", "p99")


def window_name(length_s: float) -> str:
    """Return the length of a window: ``10 ms``, ``1 s``."""
    return f"{length_s:g} s" if length_s >= 1 else f"{length_s * 1e3:g} ms"


def missing_windows(info: Info, lengths_s: Sequence[float] = LENGTHS_S) -> list[str]:
    """Return why windows of these lengths have no index of dispersion: a sentence a reason."""
    found = info["burstiness"]
    names: dict[str, list[str]] = {}
    for row in found["left_out"]:
        if row["window_s"] in lengths_s:
            names.setdefault(row["why"], []).append(window_name(row["window_s"]))
    if not found["windows"] and _FEW in names:
        # Where the shortest does not fit, no other does.
        del names[_FEW][1:]
    return [_sentence(why, listed, found) for why, listed in names.items()]


def _sentence(why: str, names: Sequence[str], found: Mapping[str, Any]) -> str:
    first = ", ".join(names[:-1])
    windows = f"windows of {first} and {names[-1]}" if first else f"windows of {names[-1]}"
    if why == _FEW:
        return f"fewer than {LEAST_WINDOWS} {windows} fit into the span"
    if why == _STAMP_STEP:
        step = span(found["stamp_step_s"] * 1e6)
        return f"{windows} are shorter than the stamps' steps of {step}"
    return f"{windows} lack the burst with which the trace ends"


def window_notes(
    named: Sequence[tuple[str, Info]], lengths_s: Sequence[float] = LENGTHS_S
) -> list[str]:
    """Return a note for each reason why a trace has no index of dispersion for such windows."""
    return [
        f"{name}: {why}" if len(named) > 1 else why
        for name, info in named
        for why in missing_windows(info, lengths_s)
    ]


def _has_coarse_stamps(info: Info, length_s: float) -> bool:
    """Tell whether the steps of the time stamps are longer than this."""
    return (info["burstiness"]["stamp_step_s"] or 0.0) > length_s


def burst_facts(info: Info) -> Iterator[tuple[str, str]]:
    """Yield labels and texts of what stands in no table."""
    found = info["burstiness"]
    if not found["windows"]:
        yield "dispersion", f"no figure: {'; '.join(missing_windows(info))}"
    yield "hurst", hurst_text(found["hurst"])
    phases = found["phases"]
    if phases is None:
        why = f"fewer than {LEAST_WINDOWS} seconds have requests"
        if _has_coarse_stamps(info, 1.0):
            why = "a second is shorter than the stamps' steps"
        yield "phases", f"no figure: {why}"
        return
    kinds = ", ".join(
        f"{share(phases[f'{kind}_share'])} have at least 90 % {kind}s" for kind in KINDS
    )
    yield "phases", f"of {phases['seconds']:,} seconds with requests, {kinds}; {_kept(phases)}"


def dispersion_text(info: Info, length_s: float) -> str:
    """Return the index of dispersion for windows of this length, if enough of them fit."""
    found = {row["window_s"]: row["dispersion"] for row in info["burstiness"]["windows"]}
    return digits(found[length_s]) if length_s in found else NONE


def hurst_text(hurst: Mapping[str, Any] | None) -> str:
    """Return the exponent with its interval and its octaves, or why there is none."""
    if hurst is None:
        return "no exponent: counts vary on fewer than four time scales"
    low, high = digits(hurst["low"], 2), digits(hurst["high"], 2)
    bins = f"bins of {span(hurst['from_s'] * 1e6)} to {span(hurst['to_s'] * 1e6)}"
    return f"exponent {digits(hurst['exponent'], 2)} (95 %: {low} to {high}) in {bins}"


def _kept(phases: Mapping[str, Any]) -> str:
    if phases["correlation"] is None:
        return "no correlation of one second with the next"
    text = digits(phases["correlation"], 2).replace("-", "−")
    return f"correlation of the share of reads with the next second {text}"


def burst_tables(info: Info) -> Iterator[str]:
    """Yield the table of windows, with the reason why some have no row, and the table of runs."""
    rows = info["burstiness"]["windows"]
    if rows:
        labels = Column("windows of", [f"{window_name(row['window_s']):>10}" for row in rows])
        columns = [
            Column("number", [f"{row['windows']:,}" for row in rows]),
            Column("mean requests", [digits(row["mean_requests"]) for row in rows]),
            Column("index of dispersion", [digits(row["dispersion"]) for row in rows]),
        ]
        notes = [textwrap.fill(why, WIDTH) for why in missing_windows(info)]
        yield "\n".join([format_table(labels, columns), *notes])
    kinds = [kind for kind in KINDS if info["burstiness"][f"{kind}_runs"] is not None]
    if kinds:
        cells = [run_cells(info, kind) for kind in kinds]
        heads = zip(RUN_HEADS, zip(*cells, strict=True), strict=True)
        columns = [Column(head, each) for head, each in heads]
        yield format_table(Column("runs of", [f"{kind}s" for kind in kinds]), columns)


def run_cells(info: Info, kind: str) -> Sequence[str]:
    """Return the number of runs of a kind, and their lengths in requests."""
    runs = info["burstiness"][f"{kind}_runs"]
    if runs is None:
        return [NONE] * len(RUN_HEADS)
    lengths = [runs[f"{name}_requests"] for name in RUN_HEADS[1:]]
    # Percentiles are whole numbers of requests as far as they are exact.
    mean, *others = lengths
    return [f"{runs['runs']:,}", digits(mean), *(_length(each) for each in others)]


def _length(requests: float) -> str:
    return f"{requests:.0f}" if requests < 64 else digits(requests)
