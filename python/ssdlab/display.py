"""How results become text, a page, or figures: declared here, registered by ``ssdlab.render``.

A result knows these functions, and none of the code that renders it. So imports go one way: from
what renders to what is rendered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.render.figures.base import Figure


@singledispatch
def as_text(subject: object) -> str:
    """Return what the command prints of a result."""
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
    """Return the contents of the files of a result's figures, by name."""
    raise _unknown(subject, "files of figures")


def _unknown(subject: object, what: str) -> TypeError:
    return TypeError(f"no {what} of a {type(subject).__name__}")
