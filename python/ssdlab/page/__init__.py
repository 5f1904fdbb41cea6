"""The report as one HTML file that needs nothing but a browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any

import jinja2
from markupsafe import Markup

from ssdlab import __version__, report, shown
from ssdlab.codes import Ldpc
from ssdlab.figures import (
    Figure,
    Run,
    all_of,
    codes,
    drive,
    fit,
    numbered,
    physics,
    runs_of,
    trace,
)
from ssdlab.figures.base import DARK, LIGHT
from ssdlab.figures.blame import PARTS
from ssdlab.figures.render import LITE
from ssdlab.fitting import Fit, words
from ssdlab.page import code_tables, fit_tables, physics_tables, tables, trace_tables
from ssdlab.rendering import Job, made
from ssdlab.results import Comparison
from ssdlab.traces.text import Info
from ssdlab.truth import Physics, notes

_HEIGHT, _MAP_HEIGHT, _LANE, _LINE = 240, 300, 30, 14
_TITLE = 60


def html(comparison: Comparison) -> str:
    """Return the page of these results, which must have been made with ``detail=True``."""
    runs = runs_of(comparison)
    return render(
        "page.html",
        all_of(runs),
        title=_title(comparison, runs),
        how="Config and provenance",
        notes=tables.notes(comparison, runs),
        summary=tables.summary(comparison),
        heading=report.heading(comparison[0]) if len(comparison) == 1 else "",
        seeds=_seeds(comparison),
        percentiles=tables.percentiles(runs),
        blame=tables.blame(runs),
        parts=PARTS,
        slowest=[tables.slowest(run, len(runs) > 1) for run in runs if run.detail.slowest],
        alike=list(drive.alike(runs)),
        told=list(tables.told(comparison)),
        origins=list(tables.origins(comparison)),
    )


def html_of_traces(infos: Sequence[Info]) -> str:
    """Return the page of what traces are like, as :func:`ssdlab.traces.info` returned it."""
    traces = trace.traces_of(infos)
    several = f"{len(traces)} traces side by side"
    return render(
        "sections.html",
        trace.figures(traces),
        title=several if len(traces) > 1 else traces[0].label,
        how="How they were read" if len(traces) > 1 else "How it was read",
        notes=list(dict.fromkeys(remark for info in infos for remark in info["remarks"])),
        summary=[trace_tables.summary(traces)],
        beneath=trace_tables.beneath(traces),
        origins=list(trace_tables.origins(traces)),
    )


def html_of_physics(told: Physics) -> str:
    """Return the page of what blocks are, as :func:`ssdlab.physics` returned it."""
    return render(
        "sections.html",
        physics.figures(told),
        title=f"{told.device}, {told.scheme}: what its blocks are",
        how="Which device",
        notes=list(notes(told)),
        summary=physics_tables.summary(told),
        beneath=physics_tables.beneath(told),
        origins=list(physics_tables.origins(told)),
    )


def html_of_ldpc(told: Ldpc) -> str:
    """Return the page of what codes decode, as :func:`ssdlab.ldpc` returned it."""
    return render(
        "sections.html",
        codes.figures(told),
        title=f"What {told.bits:,} bits decode, read from {told.cell.upper()}",
        how="What was derived",
        notes=told.notes(),
        summary=code_tables.summary(told),
        beneath=code_tables.beneath(told),
        origins=list(code_tables.origins(told)),
    )


def html_of_fit(told: Fit) -> str:
    """Return the page of a fitted predictor, as :func:`ssdlab.fit` returned it."""
    return render(
        "sections.html",
        fit.figures(told),
        title=f"The retry predictor, fitted to {PurePath(told.source).name}",
        how="What was fitted",
        notes=list(words.notes(told)),
        summary=fit_tables.summary(told),
        beneath=fit_tables.beneath(told),
        origins=list(fit_tables.origins(told)),
    )


def render(template: str, drawn: Sequence[Figure], **given: object) -> str:
    """Fill in a template with these figures and what else it asks for."""
    folder = files("ssdlab.page")
    loader = jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8"))
    page = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_visible
    )
    page.filters["key"] = _colour
    return page.get_template(template).render(
        version=__version__,
        style=(folder / "page.css").read_text(encoding="utf-8"),
        light=LIGHT,
        dark=DARK,
        script=_script((folder / "page.js").read_text(encoding="utf-8")),
        data=_data(drawn),
        sections=_sections(drawn),
        **given,
    )


@cache
def _script(text: str) -> str:
    """Return a script with what it uses of Vega, so that the page needs no network."""
    return made([Job("report", {"script": text, "version": LITE})])[0]["js"].decode()


def _visible(given: object) -> object:
    """Return what a template shows: what is no mark-up of ours, with every character visible."""
    return shown.text(given) if isinstance(given, str) and not isinstance(given, Markup) else given


def _title(comparison: Comparison, runs: Sequence[Run]) -> str:
    first = comparison[0]
    if len(runs) == 1:
        return f"{first.device}, {runs[0].label}: {first.workload}"
    several = " / ".join(run.label for run in runs)
    if len(several) > _TITLE:
        several = f"{len(runs)} runs side by side"
    workloads = {PurePath(run.result.workload).name for run in runs}
    return f"{several}: {workloads.pop()}" if len(workloads) == 1 else several


def _seeds(comparison: Comparison) -> int:
    return max((len(group.seeds) for group in comparison.aggregates), default=1)


def _sections(drawn: Sequence[Figure]) -> dict[str, list[Figure]]:
    """Group figures under their headings."""
    sections: dict[str, list[Figure]] = {}
    for figure in drawn:
        sections.setdefault(figure.section, []).append(figure)
    return sections


def _colour(given: str | int | None) -> str:
    """Return a colour as CSS: those of the runs depend on whether the page is light or dark."""
    return f"var(--run-{given})" if isinstance(given, int) else given or "currentColor"


def _data(drawn: Sequence[Figure]) -> str:
    """Return all figures for the page's script, what several of them draw written down once."""
    shared: dict[str, Any] = {}
    specs = []
    for figure in drawn:
        spec = numbered.spec_of(figure.chart)
        # Altair names data by its contents, in which two figures may call a name differently.
        name, (rows,) = spec.pop("data")["name"], spec.pop("datasets").values()
        if shared.setdefault(name, rows) != rows:
            name = figure.name
            shared[name] = rows
        del spec["config"], spec["$schema"]
        if figure.keys:
            _without_legends(spec)
        figure.centre_labels(spec, _LINE)
        specs.append(
            {
                "id": figure.name,
                "data": name,
                "canvas": figure.many,
                "spec": {**spec, "height": _height(figure)},
            }
        )
    text = json.dumps({"data": shared, "figures": specs}, ensure_ascii=False, separators=(",", ":"))
    # No text of a label may end the script element that holds it.
    return text.replace("<", "\\u003c")


def _without_legends(spec: dict[str, Any]) -> None:
    """Take the legends out of a drawing: the page has its own, which wraps on a narrow screen."""
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
