"""Figures of a fitted predictor: its predictions, its errors, and the chips."""

from __future__ import annotations

from typing import Any, Literal

import altair as alt

from ssdlab.calibration import Fit
from ssdlab.calibration.result import Condition, Error
from ssdlab.render.figures.base import Figure, Key, inline_data, rounded

PREDICTED, ERRORS, CHIPS = "Predictions", "Raw bit errors", "Chips"
_OVER = {
    "retention": ("Age of the data (days at 30 °C)", "data that was not read"),
    "reads": ("Page reads of the block", "data that was just written"),
}
_MEASURED, _PREDICTED = "first", "second"
"""The styles of marks, with the colors of the first and second run in either theme."""
_EQUAL = [2, 2]

_Row = dict[str, Any]


def calibration_figures(fit: Fit) -> list[Figure]:
    """Return the figures of a fit, in the order of a report."""
    return [
        _predicted(fit),
        _ablations(fit),
        *(_error(one) for one in fit.errors),
        _steps(fit),
        *(_chances(one) for one in fit.conditions),
    ]


def _predicted(fit: Fit) -> Figure:
    """Draw the measured retries by the predicted number of retries."""
    most = float(max(*(one.most for one in fit.spreads), len(fit.coefficients.thresholds)))
    rows: list[_Row] = [
        {
            "x": one.predicted,
            "least": one.least,
            "low": one.quarter,
            "middle": one.median,
            "high": one.three_quarters,
            "most": one.most,
            "rows": one.rows,
        }
        for one in fit.spreads
    ]
    scale = alt.Scale(domain=[-0.5, most + 0.5], nice=False)
    x = alt.X("x:Q", scale=scale, axis=_whole("Predicted retries"))

    def y(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", scale=scale, axis=_whole("Measured retries"))

    layers = [
        alt.Chart().mark_line(style="limit", strokeDash=_EQUAL).encode(x=x, y=y("x")),
        alt.Chart().mark_rule(style=_MEASURED).encode(x=x, y=y("least"), y2="most:Q"),
        alt.Chart().mark_bar(style=_MEASURED, size=5).encode(x=x, y=y("low"), y2="high:Q"),
        alt.Chart()
        .mark_point(style=_PREDICTED, filled=True, opacity=1)
        .encode(x=x, y=y("middle"), tooltip=["x:Q", "least:Q", "middle:Q", "most:Q", "rows:Q"]),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(rows))
    what = "Range, interquartile range and median of the measured retries, by predicted retries."
    what += f" {fit.exact:.1%} of the predictions are exact, {fit.within_one:.1%} within one."
    keys = [Key("measured", 0), Key("median", 1), Key("equal", dash=_EQUAL)]
    return Figure("fit-retries", PREDICTED, "Measured and predicted retries", what, chart, keys)


def _whole(title: str) -> alt.Axis:
    return alt.Axis(title=title, tickMinStep=1, grid=False, format="d")


def _error(one: Error) -> Figure:
    """Draw measured and predicted errors over the age of data or over reads."""
    title, of = _OVER[one.over]
    rows: list[_Row] = [
        {
            "x": rounded(point.at),
            "measured": rounded(point.measured, 5),
            "least": point.least,
            "most": point.most,
            "predicted": rounded(point.predicted, 5),
        }
        for point in one.points
    ]
    # Ages act by their logarithms, and are drawn by them.
    kind: Literal["symlog", "linear"] = "symlog" if one.over == "retention" else "linear"
    ticks = [0, 1, 7, 30, 90, 365] if one.over == "retention" else None
    axis = alt.Axis(title=title, grid=False, format="~s")
    axis = alt.Axis(title=title, grid=False, format="d", values=ticks) if ticks else axis
    x = alt.X("x:Q", scale=alt.Scale(type=kind, nice=False), axis=axis)

    def y(name: str) -> alt.Y:
        axis = alt.Axis(title="Raw bit errors per codeword", tickCount=5, grid=False)
        return alt.Y(f"{name}:Q", scale=alt.Scale(zero=True), axis=axis)

    layers = [
        alt.Chart().mark_rule(style=_MEASURED).encode(x=x, y=y("least"), y2="most:Q"),
        alt.Chart()
        .mark_point(style=_MEASURED, filled=True, opacity=1)
        .encode(x=x, y=y("measured")),
        alt.Chart().mark_line(style=_PREDICTED).encode(x=x, y=y("predicted")),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(rows))
    what = f"Mean and range of the measured errors of {of}, and the mean prediction."
    what += f" %RMSE: {one.percent:.2f}."
    if one.center != one.age:
        what += f" The nearest measured age is {one.center:.2f}."
    keys = [Key("measured", 0), Key("predicted", 1, "line")]
    name = f"fit-{one.over}-{one.age:g}".replace(".", "-")
    return Figure(
        name, ERRORS, f"Raw bit errors over {one.over}, age {one.age:g}", what, chart, keys
    )


def _ablations(fit: Fit) -> Figure:
    """Draw the errors of predictors that have less input."""
    rows: list[_Row] = [
        {"label": one.name, "x": rounded(one.percent, 4), "what": one.what} for one in fit.ablations
    ]
    chart = (
        alt.Chart(inline_data(rows))
        .mark_bar(style=_MEASURED)
        .encode(
            x=alt.X("x:Q", axis=alt.Axis(title="%RMSE of raw bit errors", tickCount=6)),
            y=alt.Y("label:N", sort=[one.name for one in fit.ablations], axis=alt.Axis(title=None)),
            tooltip=["label:N", "what:N", "x:Q"],
        )
    )
    what = "C1 uses P/E cycles instead of the age; C2 has no age of the data."
    title = "Predictors with fewer inputs"
    return Figure("fit-ablations", PREDICTED, title, what, chart, lanes=len(rows))


def _steps(fit: Fit) -> Figure:
    """Draw retries over errors, and the fitted steps."""
    rows: list[_Row] = [
        {
            "kind": "measured",
            "x": one.errors,
            "y": rounded(one.mean, 4),
            "least": one.least,
            "most": one.most,
        }
        for one in fit.steps
    ]
    steps = fit.coefficients.thresholds
    end = max(one.errors for one in fit.steps)
    rows += [{"kind": "step", "x": 0.0, "y": 0}]
    rows += [{"kind": "step", "x": rounded(at), "y": count} for count, at in enumerate(steps, 1)]
    rows += [{"kind": "step", "x": rounded(max(end, steps[-1])), "y": len(steps)}]
    axis = alt.Axis(title="Raw bit errors per codeword", grid=False, tickCount=6)
    x = alt.X("x:Q", scale=alt.Scale(nice=False), axis=axis)
    measured = "datum.kind === 'measured'"

    def y(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", axis=_whole("Retries"))

    layers = [
        alt.Chart()
        .mark_rule(style=_MEASURED)
        .transform_filter(measured)
        .encode(x=x, y=y("least"), y2="most:Q"),
        alt.Chart()
        .mark_line(style=_PREDICTED, interpolate="step-after")
        .transform_filter("datum.kind === 'step'")
        .encode(x=x, y=y("y")),
    ]
    chart = alt.LayerChart(layer=layers, data=inline_data(rows))
    what = "Range of the measured retries by raw bit errors, and the fitted steps."
    keys = [Key("measured", 0), Key("fitted", 1, "line")]
    return Figure("fit-steps", CHIPS, "Retries by raw bit errors", what, chart, keys)


def _chances(one: Condition) -> Figure:
    """Draw the shares of blocks by number of retries and P/E cycles."""
    rows: list[_Row] = [
        {"x": rounded(chance.cycles), "y": retries, "share": rounded(share, 3)}
        for chance in one.chances
        for retries, share in enumerate(chance.shares)
        if share
    ]
    counts = list(range(max(row["y"] for row in rows), -1, -1))
    chart = (
        alt.Chart(inline_data(rows))
        .mark_rect(stroke=None)
        .encode(
            x=alt.X("x:O", axis=alt.Axis(title="P/E cycles", labelAngle=0, grid=False)),
            y=alt.Y(
                "y:O",
                scale=alt.Scale(domain=counts),
                axis=alt.Axis(title="Retries", grid=False, labelOverlap="greedy"),
            ),
            color=alt.Color(
                "share:Q",
                scale=alt.Scale(domain=[0, 1], scheme="viridis"),
                legend=alt.Legend(title=None, format="~%"),
            ),
            tooltip=["x:O", "y:O", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    what = f"Share of blocks by the retries of their worst page, for data of {one.days:g} days,"
    what += f" after {one.reads:,.0f} page reads."
    name = f"fit-chances-{one.days:.0f}d-{one.reads:.0f}"
    return Figure(name, CHIPS, _named(one), what, chart)


def _named(one: Condition) -> str:
    age = f"{one.days:.0f} days" if one.days else "Fresh"
    return f"{age}, {one.reads:,.0f} reads" if one.reads else age
