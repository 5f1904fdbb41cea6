"""The files that a run leaves behind, tried out before it begins."""

from __future__ import annotations

from typing import Any

from ssdlab.errors import InputError
from ssdlab.files import Folder, Target, check_distinct
from ssdlab.results import Comparison


class Outputs:
    """Where the results of ``ssdlab run`` and ``ssdlab compare`` go."""

    STDOUT = "-"
    _WHOLE = ("json", "report")
    _OF_ONE_RUN = ("log", "series", "timeline")

    def __init__(self, given: dict[str, Any], runs: int) -> None:
        """Raise an :class:`InputError` that names the option if something cannot be written."""
        files = [
            (name, given[name])
            for name in (*self._WHOLE, *self._OF_ONE_RUN)
            if given[name] is not None and (name, given[name]) != ("json", self.STDOUT)
        ]
        for name, _ in files:
            if name in self._OF_ONE_RUN and runs > 1:
                raise InputError.at(f"--{name}", f"a file of one run: got {runs} runs")
        check_distinct((f"--{name}", path) for name, path in files)
        targets = {name: Target(f"--{name}", path) for name, path in files}
        self._json, self._report = targets.get("json"), targets.get("report")
        figures = given["figures"]
        self._figures = None if figures is None else Folder("--figures", figures)

    @property
    def drawn(self) -> bool:
        """Tell whether anything is to be drawn."""
        return self._report is not None or self._figures is not None

    def write_json(self, comparison: Comparison) -> None:
        """Write the results, if that is wanted."""
        if self._json is not None:
            self._json.write(comparison.to_json() + "\n")

    def draw(self, comparison: Comparison) -> None:
        """Write the report and the figures, if they are wanted."""
        if self._report is not None:
            from ssdlab import page  # noqa: PLC0415  loaded when something is to be drawn

            self._report.write(page.html(comparison))
        if self._figures is not None:
            from ssdlab.figures import render  # noqa: PLC0415  as above

            self._figures.write(render.files(comparison))
