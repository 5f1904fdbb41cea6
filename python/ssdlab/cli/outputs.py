"""The output files of a command, checked before the command begins."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from ssdlab.cli.messages import print_error
from ssdlab.errors import InputError
from ssdlab.files import File, OutputFile, OutputFolder, check_apart
from ssdlab.room import DRAWING, check_room
from ssdlab.signals import deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ssdlab.analysis import Analysis
    from ssdlab.render.figures.base import Figure
    from ssdlab.result import Comparison

STDOUT = "-"
FIGURES = (".svg", ".png", ".pdf")
"""The suffixes of figure files."""


class DrawingOutputs:
    """The report and the figures that a command writes."""

    def __init__(self, parameters: dict[str, Any], others: Sequence[File] = ()) -> None:
        """Raise an :class:`InputError` that names the option if something cannot be written.

        The command reads or writes the ``others``, which no figure replaces.
        """
        report, figures = parameters["report"], parameters["figures"]
        self._report = None if report is None else OutputFile("--report", report)
        self._figures = (
            None if figures is None else OutputFolder("--figures", figures, others, FIGURES)
        )
        # A lack of memory is reported before the run; afterwards hours of simulation would be lost.
        for option in ("report", "figures"):
            if parameters[option] is not None:
                check_room(f"--{option}", DRAWING)
        if figures is not None:
            from ssdlab.render.process import limits_problem  # noqa: PLC0415  loaded only to draw

            if few := limits_problem():
                raise InputError.at("--figures", few)

    @property
    def is_wanted(self) -> bool:
        """Tell whether a report or figures are wanted."""
        return self._report is not None or self._figures is not None

    @property
    def option(self) -> str | None:
        """Return the option that asks for a report or figures; None if none does."""
        if self._report is not None:
            return "--report"
        return None if self._figures is None else "--figures"

    def steps(
        self, html: Callable[[], str], figures: Callable[[], Sequence[Figure]]
    ) -> list[Callable[[], object]]:
        """Return the steps that write the report and the figures, for :func:`write_each`."""
        report, folder = self._report, self._figures

        def draw() -> dict[str, bytes]:
            from ssdlab.render.figures import drawing  # noqa: PLC0415  loaded when something is to be drawn

            return drawing.figure_files(figures())

        steps: list[Callable[[], object]] = []
        if report is not None:
            steps.append(lambda: report.write(html()))
        if folder is not None:
            steps.append(lambda: folder.write(draw()))
        return steps


class AnalysisOutputs:
    """The outputs of a command that runs no drive."""

    def __init__(
        self, parameters: dict[str, Any], read: Sequence[File] = (), written: Sequence[File] = ()
    ) -> None:
        """Raise an :class:`InputError` that names the option if something cannot be written.

        The command reads the files in ``read``, and also writes those in ``written``.
        """
        files = output_files(parameters, ("json", "report"))
        all_files = check_outputs(read, [*files, *written])
        self._to_stdout = parameters["json"] == STDOUT
        self._json = _json_of(files)
        self._drawing = DrawingOutputs(parameters, [*read, *all_files])

    def steps(self, analysis: Analysis) -> list[Callable[[], object]]:
        """Return the steps that print the analysis and write its files, for :func:`write_each`."""
        file = self._json
        steps: list[Callable[[], object]] = []
        if file is not None:
            steps.append(lambda: file.write(analysis.to_json() + "\n"))
        steps.append(lambda: print_out(analysis.to_json() if self._to_stdout else str(analysis)))
        return [*steps, *self._drawing.steps(analysis.html, analysis.figures)]


class RunOutputs:
    """The outputs of ``ssdlab run`` and ``ssdlab compare``."""

    _WHOLE = ("json", "report")
    _OF_ONE_RUN = ("log", "series", "timeline")

    def __init__(self, parameters: dict[str, Any], runs: int, read: Sequence[File]) -> None:
        """Raise an :class:`InputError` that names the option if something cannot be written.

        The runs read the files in ``read``.
        """
        files = output_files(parameters, (*self._WHOLE, *self._OF_ONE_RUN))
        all_files = check_outputs(read, files)
        for name in self._OF_ONE_RUN:
            if parameters[name] is None:
                continue
            if runs > 1:
                expected = "expected one: the file holds a single run"
                raise InputError.at(f"--{name}", f"got {runs} runs, {expected}")
            OutputFile(f"--{name}", parameters[name])
        self._json = _json_of(files)
        self.drawing = DrawingOutputs(parameters, [*read, *all_files])

    def write_json(self, comparison: Comparison) -> None:
        """Write the results as JSON, if ``--json`` names a file."""
        if self._json is not None:
            self._json.write(_with_line_end(comparison.json_parts()))

    def drawing_steps(self, comparison: Comparison) -> list[Callable[[], object]]:
        """Return the steps that write the report and the figures."""

        def page() -> str:
            from ssdlab.render.html.comparison import comparison_page  # noqa: PLC0415  loaded when something is to be drawn

            return comparison_page(comparison)

        def figures() -> Sequence[Figure]:
            from ssdlab.render.figures.report import comparison_figures  # noqa: PLC0415  as above

            return comparison_figures(comparison)

        return self.drawing.steps(page, figures)


def write_each(steps: Iterable[Callable[[], object]]) -> None:
    """Run every step, even if an earlier step fails.

    Raises the error of the first step that failed. That stdout has lost its reader counts only if
    no other step failed. The first signal interrupts after the last step. A Ctrl-C at least a
    second later ends the running step, which may be stuck.
    """
    failed: list[Exception] = []
    stopped: KeyboardInterrupt | None = None
    try:
        with deferred():
            for step in steps:
                try:
                    step()
                except (InputError, OSError) as error:
                    failed.append(error)
                except KeyboardInterrupt as error:
                    stopped = error
                    if str(error):
                        print_error(str(error))
    except KeyboardInterrupt as error:
        stopped = stopped or error
    if failed:
        raise next((one for one in failed if not isinstance(one, BrokenPipeError)), failed[0])
    if stopped is not None:
        raise stopped


def print_out(text: str | Iterable[str]) -> None:
    """Print a text, which may come in parts, and flush it, so that a failure shows up here."""
    for part in _with_line_end([text] if isinstance(text, str) else text):
        click.echo(part, nl=False)
    sys.stdout.flush()


def _with_line_end(parts: Iterable[str]) -> Iterator[str]:
    yield from parts
    yield "\n"


def output_files(parameters: dict[str, Any], names: Sequence[str]) -> list[File]:
    """Return the files that these options name, each with its option."""
    return [
        (f"--{name}", parameters[name])
        for name in names
        if parameters[name] is not None and (name, parameters[name]) != ("json", STDOUT)
    ]


def check_outputs(read: Iterable[File], written: Sequence[File]) -> list[File]:
    """Return all files that a command writes: the named ones, and those that it prints to.

    Raises an :class:`InputError` if a written file is also read, is written twice, or is named
    ``-``. Every command that reads or writes files calls this before it begins.
    """
    for option, path in written:
        if os.fspath(path) == STDOUT:
            expected = "expected a file, which may be ./- or /dev/stdout"
            raise InputError.at(option, f"got {STDOUT}, {expected}")
    read, files = list(read), [*written, *printed_to(path for _, path in written)]
    try:
        check_apart(read, files)
    except InputError:
        _keep_errors_from(read)
        raise
    return files


def _keep_errors_from(read: Sequence[File]) -> None:
    """Redirect standard error if it leads to an input file, so that a message changes no input.

    The new target is standard output, or nowhere if that leads to an input file, too.
    """

    def is_read(stream: TextIO) -> bool:
        try:
            check_apart(read, [("", f"/proc/self/fd/{stream.fileno()}")])
        except (InputError, OSError, ValueError):
            return True
        return False

    if is_read(sys.stderr):
        to = os.open(os.devnull, os.O_WRONLY) if is_read(sys.stdout) else sys.stdout.fileno()
        os.dup2(to, sys.stderr.fileno())


def printed_to(named: Iterable[str | os.PathLike[str]] = ()) -> list[File]:
    """Return the files that standard output and standard error lead to.

    A stream is left out if an option names it. Standard error is also left out if it leads to the
    same file as standard output.
    """
    names = {os.fspath(name) for name in named}
    found: list[File] = []
    known: list[os.stat_result] = []
    streams = [(sys.stdout, "standard output", "stdout"), (sys.stderr, "standard error", "stderr")]
    for number, (stream, what, name) in enumerate(streams, 1):
        try:
            about = os.fstat(stream.fileno())
        except (OSError, ValueError):
            continue
        is_new = not any(os.path.samestat(about, other) for other in known)
        known.append(about)
        stream_names = {f"/dev/{name}", f"/dev/fd/{number}", f"/proc/self/fd/{number}"}
        if is_new and stat.S_ISREG(about.st_mode) and stream_names.isdisjoint(names):
            found.append((what, f"/proc/self/fd/{stream.fileno()}"))
    return found


def _json_of(files: Sequence[File]) -> OutputFile | None:
    path = dict(files).get("--json")
    return None if path is None else OutputFile("--json", str(path))
