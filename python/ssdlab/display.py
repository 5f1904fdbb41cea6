"""Results as text, page or figures: declared here, registered by ``ssdlab.render``.

A result imports these functions, and none of the code that renders it. So imports go one way: from
the renderers to the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.render.figures.base import Figure


@singledispatch
def as_text(subject: object) -> str:
    """Return the text that the command prints for a result."""
    raise _unknown(subject, "text")


@singledispatch
def as_html(subject: object) -> str:
    """Return a result's page with figures and tables."""
    raise _unknown(subject, "page")


@singledispatch
def as_figures(subject: object) -> Sequence[Figure]:
    """Return a result's figures."""
    raise _unknown(subject, "figures")


@singledispatch
def as_figure_files(subject: object) -> dict[str, bytes]:
    """Return the content of a result's figure files, by name."""
    raise _unknown(subject, "files of figures")


def _unknown(subject: object, what: str) -> TypeError:
    return TypeError(f"no {what} of a {type(subject).__name__}")
