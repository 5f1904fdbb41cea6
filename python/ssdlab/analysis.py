"""Results that need no run of a drive: text, JSON, figures, and an HTML page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab import arguments
from ssdlab.display import as_figure_files, as_figures, as_html, as_text
from ssdlab.files import File, OutputFile, OutputFolder, check_apart

if TYPE_CHECKING:
    from ssdlab.render.figures.base import Figure


class Analysis:
    """The result of a command that runs no drive; ``str`` gives the printed text.

    ``raw`` is the JSON document behind it. ``read`` lists the input files, which no output
    replaces.
    """

    __slots__ = ()

    raw: Mapping[str, Any]
    read: Sequence[File]

    def __str__(self) -> str:
        """Return the printed text."""
        return as_text(self)

    def html(self) -> str:
        """Return the HTML page with figures and tables."""
        return as_html(self)

    def figures(self) -> Sequence[Figure]:
        """Return the figures."""
        return as_figures(self)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the JSON text that ``--json`` writes."""
        return json.dumps(self.raw, indent=indent, ensure_ascii=False)

    def report_html(self, path: str | os.PathLike[str]) -> None:
        """Write figures and tables to ``path``: one HTML file, which needs no network.

        Raises :class:`InputError` if the file cannot be written.
        """
        path = arguments.path("report", path)
        check_apart(self.read, [("report", path)])
        target = OutputFile("report", path)
        target.write(self.html())

    def save_figures(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write the figures to ``folder`` as PDF, SVG and PNG; return the file names.

        Raises :class:`InputError` if the files cannot be written.
        """
        target = OutputFolder("figures", folder, self.read)
        files = as_figure_files(self)
        target.write(files)
        return list(files)
