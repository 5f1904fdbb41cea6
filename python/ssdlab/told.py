"""What is told without a run: text, JSON, and figures on a page."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab import values
from ssdlab.files import File, Folder, Target, check_apart

if TYPE_CHECKING:
    from ssdlab.figures import Figure


class Told(ABC):
    """What a command tells; ``str`` is what it prints, ``raw`` what it was made from.

    ``read`` are the files that were read for it, none of which is replaced.
    """

    __slots__ = ()

    raw: Mapping[str, Any]
    read: Sequence[File]

    @abstractmethod
    def html(self) -> str:
        """Return the page with figures and tables."""

    @abstractmethod
    def figures(self) -> Sequence[Figure]:
        """Return the figures."""

    def to_json(self, indent: int | None = 2) -> str:
        """Return what ``--json`` writes."""
        return json.dumps(self.raw, indent=indent, ensure_ascii=False)

    def report_html(self, path: str | os.PathLike[str]) -> None:
        """Write figures and tables to ``path``: one HTML file, which needs no network.

        Raises :class:`InputError` if the file cannot be written.
        """
        path = values.path("report", path)
        check_apart(self.read, [("report", path)])
        target = Target("report", path)
        target.write(self.html())

    def save_figures(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write the figures to ``folder`` as PDF, SVG and PNG; the files' names."""
        from ssdlab.figures import render  # noqa: PLC0415  loaded when something is to be drawn

        target = Folder("figures", values.path("figures", folder), self.read)
        files = render.files(self.figures())
        target.write(files)
        return list(files)
