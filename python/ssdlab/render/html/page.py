"""A report as one HTML file that needs only a browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from ssdlab import escaping
from ssdlab._native import __version__
from ssdlab.render.figures import fills, vega_names
from ssdlab.render.figures.base import DARK, LIGHT, Figure
from ssdlab.render.figures.drawing import LITE
from ssdlab.render.figures.fills import Fill
from ssdlab.render.process import Job, run_jobs

_HEIGHT, _MAP_HEIGHT, _LANE, _LINE = 240, 300, 30, 14


def render_page(template: str, figures: Sequence[Figure], **context: object) -> str:
    """Fill in a template with these figures and the other values that it uses."""
    folder = files("ssdlab.render.html")
    loader = jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8"))
    page = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_visible
    )
    page.filters["key"] = _color
    used = list(dict.fromkeys(fill for figure in figures for fill in figure.fills))
    return page.get_template(template).render(
        version=__version__,
        style=(folder / "page.css").read_text(encoding="utf-8"),
        light=LIGHT,
        dark=DARK,
        fills=used,
        patterns=Markup(fills.page_patterns(used)),  # noqa: S704  made of constants
        script=_script((folder / "page.js").read_text(encoding="utf-8")),
        data=_data(figures),
        sections=_sections(figures),
        **context,
    )


@cache
def _script(text: str) -> str:
    """Return a script with the parts of Vega that it uses, so that the page needs no network."""
    return run_jobs([Job("report", {"script": text, "version": LITE})])[0]["js"].decode()


def _visible(value: object) -> object:
    """Return a value for a template; in a text that is no markup, every character is visible."""
    return (
        escaping.escape(value)
        if isinstance(value, str) and not isinstance(value, Markup)
        else value
    )


def _sections(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    """Group figures by section."""
    sections: dict[str, list[Figure]] = {}
    for figure in figures:
        sections.setdefault(figure.section, []).append(figure)
    return sections


def _color(tone: str | int | Fill | None) -> str:
    """Return a color as CSS; the colors of runs and fills depend on the theme of the page."""
    if isinstance(tone, Fill):
        return tone.paint
    return f"var(--run-{tone})" if isinstance(tone, int) else tone or "currentColor"


def _data(figures: Sequence[Figure]) -> str:
    """Return all figures as JSON for the page's script; shared data occurs only once."""
    shared: dict[str, Any] = {}
    specs = []
    for figure in figures:
        spec = vega_names.vega_spec(figure.chart)
        # Altair names data by its contents, but two figures may use a field name differently.
        name, (rows,) = spec.pop("data")["name"], spec.pop("datasets").values()
        if shared.setdefault(name, rows) != rows:
            name = figure.name
            shared[name] = rows
        del spec["config"], spec["$schema"]
        fills.paint(spec, figure.fills)
        if figure.keys:
            _without_legends(spec)
        figure.center_labels(spec, _LINE)
        specs.append(
            {
                "id": figure.name,
                "data": name,
                "canvas": figure.many,
                "spec": {**spec, "height": _height(figure)},
            }
        )
    text = json.dumps({"data": shared, "figures": specs}, ensure_ascii=False, separators=(",", ":"))
    # A label must not end the script element that contains it.
    return text.replace("<", "\\u003c")


def _without_legends(spec: dict[str, Any]) -> None:
    """Remove the legends from a drawing; the page's own legend wraps on a narrow screen."""
    for part in (spec, *spec.get("layer", ())):
        encoding = part.get("encoding", {})
        for channel in ("color", "shape", "strokeDash"):
            if channel in encoding:
                encoding[channel]["legend"] = None


def _height(figure: Figure) -> int:
    if figure.lanes:
        height = figure.lanes * figure.lane(_LANE, thin=18, line=_LINE, mark=8) + 50
        return max(height, _HEIGHT) if figure.marks > 1 else height
    return _MAP_HEIGHT if figure.many else _HEIGHT
