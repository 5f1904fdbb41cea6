"""Registers the renderers of each type of result; ``import ssdlab`` loads this module.

Renderers of text are loaded at once; those that draw are loaded on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdlab.analysis import Analysis
from ssdlab.calibration.result import Fit
from ssdlab.display import as_figure_files, as_figures, as_html, as_text
from ssdlab.ldpc import Ldpc
from ssdlab.physics import Physics
from ssdlab.render.text.calibration import fit_text
from ssdlab.render.text.comparison import comparison_text
from ssdlab.render.text.ldpc import ldpc_text
from ssdlab.render.text.physics import physics_text
from ssdlab.render.text.run import run_text
from ssdlab.result import Comparison, Result
from ssdlab.traces.infos import TraceInfos

if TYPE_CHECKING:
    from ssdlab.render.figures.base import Figure

as_text.register(Result, run_text)
as_text.register(Comparison, comparison_text)
as_text.register(Physics, physics_text)
as_text.register(Ldpc, ldpc_text)
as_text.register(Fit, fit_text)


@as_html.register(Comparison)
def _(comparison: Comparison) -> str:
    from ssdlab.render.html.comparison import comparison_page  # noqa: PLC0415  loaded to draw

    return comparison_page(comparison)


@as_html.register(Physics)
def _(physics: Physics) -> str:
    from ssdlab.render.html.physics import physics_page  # noqa: PLC0415  loaded to draw

    return physics_page(physics)


@as_html.register(Ldpc)
def _(ldpc: Ldpc) -> str:
    from ssdlab.render.html.ldpc import ldpc_page  # noqa: PLC0415  loaded to draw

    return ldpc_page(ldpc)


@as_html.register(Fit)
def _(fit: Fit) -> str:
    from ssdlab.render.html.calibration import calibration_page  # noqa: PLC0415  loaded to draw

    return calibration_page(fit)


@as_html.register(TraceInfos)
def _(traces: TraceInfos) -> str:
    from ssdlab.render.html.traces import trace_page  # noqa: PLC0415  loaded to draw

    return trace_page(traces.infos)


@as_figures.register(Comparison)
def _(comparison: Comparison) -> Sequence[Figure]:
    from ssdlab.render.figures.report import comparison_figures  # noqa: PLC0415  loaded to draw

    return comparison_figures(comparison)


@as_figures.register(Physics)
def _(physics: Physics) -> Sequence[Figure]:
    from ssdlab.render.figures.physics import physics_figures  # noqa: PLC0415  loaded to draw

    return physics_figures(physics)


@as_figures.register(Ldpc)
def _(ldpc: Ldpc) -> Sequence[Figure]:
    from ssdlab.render.figures.ldpc import ldpc_figures  # noqa: PLC0415  loaded to draw

    return ldpc_figures(ldpc)


@as_figures.register(Fit)
def _(fit: Fit) -> Sequence[Figure]:
    from ssdlab.render.figures.calibration import calibration_figures  # noqa: PLC0415  loaded to draw

    return calibration_figures(fit)


@as_figures.register(TraceInfos)
def _(traces: TraceInfos) -> Sequence[Figure]:
    from ssdlab.render.figures.trace import trace_figures  # noqa: PLC0415  loaded to draw

    return trace_figures(traces.infos)


@as_figure_files.register(Comparison)
@as_figure_files.register(TraceInfos)
@as_figure_files.register(Analysis)
def _(subject: Comparison | TraceInfos | Analysis) -> dict[str, bytes]:
    from ssdlab.render.figures.drawing import figure_files  # noqa: PLC0415  loaded to draw

    return figure_files(as_figures(subject))
