"""Figures as files: PDF, SVG and PNG at the width of a paper's column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from ssdlab import escaping
from ssdlab.render.figures import fills, metadata, vega_names
from ssdlab.render.figures.base import LIGHT, SAME, SYMBOL, Figure
from ssdlab.render.figures.fills import Fill
from ssdlab.render.process import Job, run_jobs

ENDINGS = ("pdf", "svg", "png")
COLUMN_IN = 3.3
"""The width in inches of a column of a two-column paper."""
_POINTS = 72
_HEIGHT, _MAP_HEIGHT, _LANE, _LINE = 130, 165, 17, 9
_LEGEND_LINE = 10

LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
"""The version of Vega-Lite that Altair writes."""

_TEXT, _FAINT = "#1a1a1a", "#dddddd"
PAPER: dict[str, Any] = {
    "aria": False,
    "background": "white",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "padding": 2,
    "range": {"category": list(LIGHT)},
    "view": {"stroke": None},
    "line": {"strokeWidth": 1.1, "strokeJoin": "round"},
    "point": {"size": 22},
    "style": {
        "anchor": {"color": _TEXT, "size": 26},
        "note": {"color": _TEXT, "fontSize": 6.5},
        "faint": {"color": "#666666", "fontSize": 6},
        "limit": {"color": "#999999", "strokeWidth": 0.6},
        "first": {"color": LIGHT[0]},
        "second": {"color": LIGHT[1]},
        "middle": {"color": _TEXT},
        "marker": {"size": SYMBOL**2},
        # Parts of a bar are told apart where they meet.
        "part": {"stroke": "white", "strokeWidth": 0.4},
    },
    "axis": {
        "labelFontSize": 7,
        "titleFontSize": 7.5,
        "titleFontWeight": "normal",
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "domainColor": "#555555",
        "tickColor": "#555555",
        "gridColor": _FAINT,
        "gridWidth": 0.5,
        "tickSize": 3,
        "titlePadding": 4,
        "labelPadding": 2,
        "labelLimit": 110,
        "domainWidth": 0.6,
        "tickWidth": 0.6,
    },
    "legend": {
        "orient": "top",
        "layout": {"top": {"direction": "vertical", "anchor": "start"}},
        "labelFontSize": 7,
        "titleFontSize": 7,
        "titleFontWeight": "normal",
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "symbolSize": 42,
        "symbolStrokeWidth": 1.2,
        "columnPadding": 8,
        "rowPadding": 1,
        "padding": 0,
        "offset": 4,
        "labelLimit": 200,
        "gradientThickness": 6,
        "gradientLength": 120,
        "titlePadding": 2,
    },
}


def paper_spec(figure: Figure) -> dict[str, Any]:
    """Return a figure as Vega-Lite, in the style of a paper."""
    spec = vega_names.vega_spec(figure.chart)
    fills.paint(spec, _hatched(figure))
    columns, rows = _legend(figure)
    spec["config"] = {**PAPER, "legend": {**PAPER["legend"], "columns": columns}}
    spec["width"] = round(COLUMN_IN * _POINTS, 1)
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    spec["height"] = _MAP_HEIGHT if figure.many else _HEIGHT
    if figure.lanes:
        lane = figure.lane(_LANE, thin=9, line=_LINE, mark=7)
        spec["height"] = figure.lanes * lane + 30
        figure.center_labels(spec, _LINE)
    spec["height"] += rows * _LEGEND_LINE
    return spec


def _hatched(figure: Figure) -> list[Fill]:
    """Return the fills that a color alone cannot draw."""
    return [fill for fill in figure.fills if fill.hatch]


def _legend(figure: Figure) -> tuple[int, int]:
    """Return the number of columns of the legend, so that it fits the width, and of rows."""
    if not figure.keys:
        return 1, 0
    # A sign is about half as wide as it is high; each label has a symbol, and the axis is beside.
    labels = [key.label.split(SAME) for key in figure.keys]
    symbol = 32 if any(key.dash for key in figure.keys) else 18
    entry = max(len(line) for lines in labels for line in lines) * 3.7 + symbol
    room = COLUMN_IN * _POINTS - (70 if figure.lanes > 1 else 40)
    columns = max(1, min(len(labels), int(room / entry)))
    rows = [labels[at : at + columns] for at in range(0, len(labels), columns)]
    return columns, sum(max(map(len, row)) for row in rows)


def draw(figure: Figure) -> dict[str, bytes]:
    """Draw a figure; return the contents of its files by suffix."""
    return draw_all([figure])[0]


def draw_all(figures: Iterable[Figure], endings: Sequence[str] = ENDINGS) -> list[dict[str, bytes]]:
    """Draw figures; return the contents of each one's files by suffix.

    Raises :class:`InputError`, which names the figure, if memory or time runs out.
    """
    figures = list(figures)
    jobs = [
        Job(
            f"figure {figure.name}",
            {
                "spec": paper_spec(figure),
                "patterns": fills.paper_patterns(_hatched(figure), PAPER["background"]),
                "endings": endings,
                "version": LITE,
            },
        )
        for figure in figures
    ]
    return [_with_metadata(*each) for each in zip(figures, run_jobs(jobs), strict=True)]


def _with_metadata(figure: Figure, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Add title and description to each file of a figure."""
    what = f"{figure.subject}. {figure.what}" if figure.subject else figure.what
    metadata_of = escaping.escape_name(figure.title), escaping.escape_name(what)
    putting: dict[str, Callable[[bytes], bytes]] = {
        "pdf": lambda pdf: metadata.add_to_pdf(pdf, *metadata_of),
        "svg": lambda svg: metadata.add_to_svg(_in_inches(svg.decode()), *metadata_of).encode(),
        "png": lambda png: metadata.add_to_png(png, *metadata_of),
    }
    return {ending: putting[ending](content) for ending, content in files.items()}


def figure_files(figures: Iterable[Figure], endings: Sequence[str] = ENDINGS) -> dict[str, bytes]:
    """Draw figures; return the contents of their files by name."""
    figures = list(figures)
    return {
        f"{figure.name}.{ending}": content
        for figure, contents in zip(figures, draw_all(figures, endings), strict=True)
        for ending, content in contents.items()
    }


def _in_inches(svg: str) -> str:
    """State the size of a drawing in inches: a pixel is a point here, but 1/96 inch elsewhere."""
    head, gap, rest = svg.partition(">")

    def inches(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) / _POINTS:.4g}in"'

    return re.sub(r'\b(width|height)="([0-9.]+)"', inches, head) + gap + rest
