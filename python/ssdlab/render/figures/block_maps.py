"""The blocks of a drive at the end of a run, as maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import altair as alt

from ssdlab.render.figures.base import LIGHT, SAME, Figure, Run, inline_data, rounded

_MAPS = (
    ("erases", "P/E cycles", "Mean P/E cycles of the blocks in a cell.", ",.{digits}~r"),
    ("valid", "Valid pages", "Mean share of pages in a cell that hold valid data.", "~%"),
    (
        "rber",
        "Raw bit error rate",
        "Mean true RBER of the worst pages of blocks that hold data; gray where none do.",
        ".{decimals}e",
    ),
)
"""The maps: name, title, caption, and the format of a value with so many significant digits."""
_DIGITS = {"erases": 3, "valid": 3, "rber": 2}
"""The fewest significant digits of a legend's labels."""
_MAX_DIGITS = 17
"""So many significant digits tell any two floating-point numbers apart."""
SECTION = "Blocks at the end of the run"
_NOTHING = alt.ViewBackground(fill="#888888", fillOpacity=0.25)
"""The tone of a cell without a figure, visible on black and on white."""


_BELOW_ZERO_ABOVE = [LIGHT[0], "#f2f2f2", LIGHT[1]]
"""The tones of a difference; a cell without a figure is darker than zero."""
_Grid = Sequence[Sequence[float | None]]
_SHADES = 256
"""Maps that differ nowhere by more than one of so many shades look the same."""
_SHARED = " Runs whose maps look the same share one map."
_ALIKE = 0.1
"""Maps whose cells are this near in the mean, of the whole range, differ by a little."""


def blocks(runs: Sequence[Run]) -> Iterator[Figure]:
    """Draw the blocks as maps, on the same scale for all runs; none where all blocks are alike.

    Runs of the same map share one. A map that differs from the first by a little is drawn as the
    difference; all differences have one scale, with zero in its middle.
    """
    for map_of in _MAPS:
        name = map_of[0]
        grids = [(run, grid) for run in runs if (grid := getattr(run.detail.blocks, name))]
        values = [v for _, grid in grids for row in grid for v in row if v is not None]
        if not values or min(values) == max(values):
            continue
        span = max(values) - min(values)
        distinct = list(_distinct(grids, span))
        differences = _differences(distinct, span)
        most = max((_most(each) for each in differences if each), default=0.0)
        whole, around = _edges(min(values), max(values)), _edges(-most, most)
        for (run, grid, same), difference in zip(distinct, differences, strict=True):
            names = {"ending": run.slug(runs), "whose": ""}
            if len(runs) > 1:
                names["whose"] = f": {SAME.join(each.label for each in same)}"
            if difference:
                names["than"] = distinct[0][0].label
                yield _figure(map_of, run, difference, around, **names)
            else:
                names["shared"] = _SHARED * (len(same) > 1)
                yield _figure(map_of, run, grid, whole, **names)


def _figure(
    map_of: tuple[str, str, str, str],
    run: Run,
    grid: _Grid,
    edges: list[float],
    *,
    ending: str,
    whose: str,
    shared: str = "",
    than: str | None = None,
) -> Figure:
    """Return the figure of a map, or of its difference from that of the run ``than``."""
    name, title, what, shape = map_of
    named = _format(shape, edges, _DIGITS[name])
    if than is None:
        chart = _map(run, grid, edges, title, named)
        slug, heading, about = f"blocks-{name}{ending}", title, what + shared
    else:
        chart = _map(run, grid, edges, f"{title}, difference", f"+{named}", around_zero=True)
        slug, heading = f"blocks-{name}-difference{ending}", f"{title}, difference"
        about = f"{what} The map shows the difference from the map of {than}."
    return Figure(slug, SECTION, heading + whose, about, chart, many=True)


def _differences(
    distinct: Sequence[tuple[Run, _Grid, list[Run]]], span: float
) -> list[list[list[float | None]] | None]:
    """Return the difference of each map from the first, or none where that is no clearer."""
    first, first_grid, _ = distinct[0]
    found: list[list[list[float | None]] | None] = []
    for run, grid, _ in distinct:
        near = _size(run) == _size(first) and _apart(grid, first_grid, span) <= _ALIKE
        difference = _difference(grid, first_grid) if near else None
        found.append(difference if difference and _most(difference) * _SHADES > span else None)
    return found


def _most(difference: _Grid) -> float:
    """Return the greatest distance from zero."""
    return max((abs(v) for row in difference for v in row if v is not None), default=0.0)


def _different(values: Sequence[float], least: int) -> int:
    """Return how many significant digits tell values apart, at least ``least``."""
    wide = range(least, _MAX_DIGITS)
    return next(
        (n for n in wide if len({f"{v:.{n - 1}e}" for v in values}) == len(values)), _MAX_DIGITS
    )


def _edges(low: float, high: float) -> list[float]:
    """Return the ends of a scale, rounded, but different."""
    digits = _different([low, high], 6)
    return [float(f"{low:.{digits}g}"), float(f"{high:.{digits}g}")]


def _ticks(domain: Sequence[float]) -> list[float]:
    """Return the values that a legend labels: both ends and the middle."""
    return [domain[0], sum(domain) / 2, domain[1]]


def _format(shape: str, domain: Sequence[float], least: int) -> str:
    """Return a format with enough digits for the labels of a legend to differ."""
    digits = _different(_ticks(domain), least)
    return shape.format(digits=digits, decimals=digits - 1)


def _distinct(
    grids: Sequence[tuple[Run, _Grid]], span: float
) -> Iterator[tuple[Run, _Grid, list[Run]]]:
    """Yield each map that looks different: its first run, the map, and all its runs."""
    left = list(grids)
    while left:
        first, grid = left[0]
        alike = [_size(run) == _size(first) and _same(other, grid, span) for run, other in left]
        yield first, grid, [run for (run, _), same in zip(left, alike, strict=True) if same]
        left = [each for each, same in zip(left, alike, strict=True) if not same]


def _size(run: Run) -> tuple[int, int]:
    return run.detail.blocks.planes, run.detail.blocks.blocks


def _pairs(one: _Grid, other: _Grid) -> Iterator[tuple[float | None, float | None]]:
    return ((a, b) for rows in zip(one, other, strict=True) for a, b in zip(*rows, strict=True))


def _distances(one: _Grid, other: _Grid, span: float) -> Iterator[float]:
    """Yield the distance of each pair of cells, as a share of the whole range.

    The distance is 1 where only one of the maps has a value.
    """
    for a, b in _pairs(one, other):
        if a is None or b is None:
            yield float(a != b)
        else:
            yield abs(a - b) / span


def _same(one: _Grid, other: _Grid, span: float) -> bool:
    return all(distance <= 1 / _SHADES for distance in _distances(one, other, span))


def _apart(one: _Grid, other: _Grid, span: float) -> float:
    return fmean(_distances(one, other, span))


def _difference(grid: _Grid, first: _Grid) -> list[list[float | None]]:
    """Return by how much each cell is above that of the first map, if both have a value there."""
    return [
        [None if a is None or b is None else a - b for a, b in zip(*rows, strict=True)]
        for rows in zip(grid, first, strict=True)
    ]


def uniform_blocks(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a line for each figure that is equal in all blocks; such a map would be blank."""
    for name, title, _, _ in _MAPS:
        grids = [grid for run in runs if (grid := getattr(run.detail.blocks, name))]
        values = {v for grid in grids for row in grid for v in row if v is not None}
        if len(values) == 1:
            yield f"{title}: {values.pop():g} everywhere."


def _axis(title: str, count: int) -> alt.Axis:
    # With more ticks than there are things to count some would lie between whole numbers.
    return alt.Axis(title=title, grid=False, tickCount=min(count, 5), format="d")


def _map(
    run: Run,
    grid: Sequence[Sequence[float | None]],
    domain: list[float],
    title: str,
    shape: str,
    *,
    around_zero: bool = False,
) -> alt.Chart:
    """Draw a map. The scale ``around_zero`` has two hues, and a tone without hue at zero."""
    planes, many = run.detail.blocks.planes, run.detail.blocks.blocks
    across, down = len(grid[0]), len(grid)
    digits = _different(_ticks(domain), 2) + 2
    cells = [{"v": rounded(value, digits)} for row in grid for value in row]
    x_scale = alt.Scale(domain=[0, many], nice=False)
    y_scale = alt.Scale(domain=[0, planes], nice=False, reverse=True)
    scale = alt.Scale(domain=domain, scheme="viridis")
    if around_zero:
        scale = alt.Scale(domain=_ticks(domain), range=_BELOW_ZERO_ABOVE)
    tone = alt.Color(
        "v:Q",
        scale=scale,
        legend=alt.Legend(
            title=title,
            orient="top",
            direction="horizontal",
            type="gradient",
            format=shape,
            values=_ticks(domain),
        ),
    )
    # A cell lies over the end of the one before: edge beside edge would let the background through.
    chart: alt.Chart = (
        alt.Chart(inline_data(cells))
        .transform_window(row="row_number()")
        .transform_calculate(
            x=f"floor((datum.row - 1) % {across} * {many} / {across})",
            x2=f"floor(((datum.row - 1) % {across} + 1) * {many} / {across}) + {many / across / 5}",
            y=f"floor(floor((datum.row - 1) / {across}) * {planes} / {down})",
            y2=f"floor((floor((datum.row - 1) / {across}) + 1) * {planes} / {down})"
            f" + {planes / down / 5}",
        )
        .transform_filter("isValid(datum.v)")
        .mark_rect(clip=True)
        .encode(
            x=alt.X("x:Q", scale=x_scale, axis=_axis("Block in the plane", many)),
            x2="x2:Q",
            y=alt.Y("y:Q", scale=y_scale, axis=_axis("Plane", planes)),
            y2="y2:Q",
            color=tone,
            tooltip=[
                alt.Tooltip("y:Q", title="from plane"),
                alt.Tooltip("x:Q", title="from block"),
                alt.Tooltip("v:Q", title=title, format=shape),
            ],
        )
    )
    if any(value is None for row in grid for value in row):
        chart = chart.properties(view=_NOTHING)
    return chart
