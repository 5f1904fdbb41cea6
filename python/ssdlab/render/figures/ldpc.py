"""The error rates that LDPC and BCH codes correct, measured frame failures, and the voltages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from ssdlab.ldpc import Curve, Ldpc, Level
from ssdlab.render.figures.base import Figure, Key, color, inline_data, rounded, run_keys
from ssdlab.render.figures.log_axes import log_axis

DECODED, FAILED, READ = "Correctable error rates", "Frame error rates", "Threshold voltages"
_STEPS = 240
"""Points of a drawn Gaussian."""
_DASH = [2, 2]

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A named line with its own color."""

    label: str


_DECODERS: dict[str, Callable[[Level], float]] = {
    "any code": lambda level: level.limit.corrected,
    "sum-product": lambda level: level.sum_product.corrected,
    "min-sum": lambda level: level.min_sum.corrected,
}


def ldpc_figures(ldpc: Ldpc) -> list[Figure]:
    """Return the figures of a derivation, in the order of a report."""
    return [*_capability(ldpc), *_failures(ldpc), *_voltages(ldpc)]


def _of_kind(kind: str) -> str:
    return f"datum.kind === '{kind}'"


def _capability(ldpc: Ldpc) -> Iterator[Figure]:
    """Draw the raw bit error rate that each number of levels corrects, beside the published."""
    lines = [Line(name) for name in _DECODERS]
    rows: list[_Row] = [
        {"kind": "line", "label": name, "x": level.levels, "y": rounded(of(level), 4)}
        for name, of in _DECODERS.items()
        for level in ldpc.levels
    ]
    published = [(level.levels, level.published) for level in ldpc.levels if level.published]
    rows += [{"kind": "anchor", "x": x, "y": y, "note": f"{y:g}"} for x, y in published]
    bch = ldpc.bch
    rows.append({"kind": "bch", "x": 1, "y": bch.published, "note": f"BCH {bch.published:g}"})
    most = max(level.limit.corrected for level in ldpc.levels)
    axis = alt.Axis(title="Sensing levels", tickMinStep=1, grid=False, format="d")
    scale = alt.Scale(domain=[0.5, ldpc.levels[-1].levels + 0.8], nice=False)
    x = alt.X("x:Q", scale=scale, axis=axis)
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, rounded(1.1 * most, 3)], nice=False),
        axis=alt.Axis(title="Raw bit error rate", tickCount=5, grid=False, format="~g"),
    )
    line = alt.Chart().mark_line(point=True).transform_filter(_of_kind("line"))
    points = alt.Chart().mark_point(shape="diamond", filled=True, opacity=1, style="anchor")
    right = alt.Chart().mark_text(style="note", align="left", dx=7, dy=-1)
    below = alt.Chart().mark_text(style="note", align="left", dx=7, dy=8)
    left = alt.Chart().mark_text(style="note", align="right", dx=-7)
    layers = [
        line.encode(x=x, y=y, color=color(lines)),
        points.transform_filter("datum.kind !== 'line'").encode(x=x, y=y),
        right.transform_filter(_of_kind("anchor") + " && datum.x === 1").encode(
            x=x, y=y, text="note:N"
        ),
        left.transform_filter(_of_kind("anchor") + " && datum.x > 1").encode(
            x=x, y=y, text="note:N"
        ),
        below.transform_filter(_of_kind("bch")).encode(x=x, y=y, text="note:N"),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(rows))
    what = f"Raw bit error rate at which a frame of {ldpc.bits:,} bits fails with a"
    what += f" probability of {ldpc.failure:.0e}."
    keys = [*run_keys(lines), Key("published", mark="shape1")]
    yield Figure("ldpc-capability", DECODED, "Correctable raw bit error rate", what, chart, keys)


def _failures(ldpc: Ldpc) -> Iterator[Figure]:
    """Draw measured frame error rates with their intervals, and the approximation."""
    curves = [curve for curve in ldpc.measured if curve.points]
    if not curves:
        return
    lines = [Line(_name(curve)) for curve in curves]
    rows: list[_Row] = [
        {
            "label": _name(curve),
            "x": rounded(point.rber, 5),
            "rate": rounded(point.rate, 4) if point.failures else None,
            "least": rounded(max(point.least, point.most / 100), 4),
            "most": rounded(point.most, 4),
            "aim": aim,
        }
        for curve in curves
        for point, aim in zip(curve.points, curve.predicted, strict=True)
    ]
    low = min(row["least"] for row in rows)
    axis = alt.Axis(title="Raw bit error rate", tickCount=6, grid=False, format="~g")
    x = alt.X("x:Q", scale=alt.Scale(zero=False), axis=axis)
    rates = log_axis("Frame error rate", max(low, 1e-9), 1.0, upright=True)
    shades = color(lines)
    rate = alt.Y("rate:Q", **rates)
    points = alt.Chart().mark_line(point=True, clip=True).transform_filter("datum.rate !== null")
    bars = alt.Chart().mark_rule(clip=True)
    aims = alt.Chart().mark_line(strokeDash=_DASH, clip=True)
    layers = [
        points.encode(x=x, y=rate, color=shades),
        bars.encode(x=x, y=alt.Y("least:Q", **rates), y2="most:Q", color=shades),
        aims.encode(x=x, y=alt.Y("aim:Q", **rates), color=shades),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(rows))
    what = "Measured frame error rate of the min-sum decoder, with exact 95 % confidence"
    what += " intervals. Dashed: the normal approximation."
    keys = run_keys(lines)
    yield Figure("ldpc-failures", FAILED, "Frame error rate", what, chart, keys)


def _name(curve: Curve) -> str:
    return f"{curve.levels} level{'s' * (curve.levels > 1)}"


def _voltages(ldpc: Ldpc) -> Iterator[Figure]:
    """Draw the states of the page and its references."""
    found = ldpc.voltages
    lines = [Line(f"bit {bit}") for bit in sorted(set(found.bits), reverse=True)]
    rows: list[_Row] = []
    for state, (mean, bit) in enumerate(zip(found.means, found.bits, strict=True)):
        for step in range(_STEPS + 1):
            z = 10 * step / _STEPS - 5
            density = math.exp(-z * z / 2) / math.sqrt(math.tau) / found.sigma
            rows.append(
                {
                    "kind": "state",
                    "state": state,
                    "label": f"bit {bit}",
                    "x": rounded(mean + z * found.sigma, 5),
                    "y": rounded(density, 4),
                }
            )
    rows += [{"kind": "reference", "x": rounded(at, 5)} for at in found.references]
    axis = alt.Axis(title="Threshold voltage (distances between states)", grid=False, tickCount=8)
    x = alt.X("x:Q", scale=alt.Scale(nice=False, zero=False), axis=axis)
    y = alt.Y("y:Q", **log_axis("Density of cells", _least_density(ldpc), 4.0, upright=True))
    states = alt.Chart().mark_line(clip=True).transform_filter(_of_kind("state"))
    rules = alt.Chart().mark_rule(style="limit", strokeDash=_DASH)
    layers = [
        states.encode(x=x, y=y, color=color(lines), detail="state:N"),
        rules.transform_filter(_of_kind("reference")).encode(x=x),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(rows))
    what = f"States of the page at a raw bit error rate of {found.rber:.5f}. Dashed: the"
    what += f" {len(found.references)} read reference voltages of {ldpc.levels[-1].levels} levels."
    title = "Threshold voltages and references"
    yield Figure("ldpc-voltages", READ, title, what, chart, _keys(lines))


def _keys(lines: Sequence[Line]) -> list[Key]:
    return [*run_keys(lines), Key("reference", dash=_DASH)]


def _least_density(ldpc: Ldpc) -> float:
    """Return the lowest density that is drawn: a tenth of that where neighboring states meet."""
    half = 0.5 / ldpc.voltages.sigma
    return 0.1 * math.exp(-half * half / 2) / ldpc.voltages.sigma
