"""The public functions that run and compare plans."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, TypeVar, Unpack

from ssdlab import _native, arguments, display
from ssdlab.arguments import MAX_COUNT, integer
from ssdlab.cpu import available_cores
from ssdlab.errors import InputError, Interrupted, quoted
from ssdlab.files import (
    File,
    OutputFile,
    OutputFolder,
    check_apart,
    check_no_trace,
    input_files_of,
)
from ssdlab.plan import (
    Plan,
    RunOptions,
    check_plan,
    to_json,
    varied_settings,
    with_pipes_read,
)
from ssdlab.progress import Progress
from ssdlab.result import Comparison, Missing, Result, aggregate
from ssdlab.room import DRAWING, NOTHING, RUNS, check_room, for_reading, for_results
from ssdlab.signals import deferred
from ssdlab.sweeps import MAX_RUNS, check_run_count, seed_groups

T = TypeVar("T")


def run(
    plan: Plan | None = None, /, *, progress: Progress | None = None, **options: Unpack[RunOptions]
) -> Result:
    """Run one simulation; return its result. Options override those of the plan.

    >>> import ssdlab
    >>> result = ssdlab.run(workload="random", limit=1000)
    >>> result.requests
    1000

    Raises :class:`InputError` if an input is invalid. On Ctrl-C raises :class:`Interrupted`, which
    holds the partial result if anything was measured.
    """
    plan = check_plan(Plan() if plan is None else plan)
    return compare([replace(plan, **options)], jobs=1, progress=progress)[0]


def compare(
    plans: Iterable[Plan],
    *,
    jobs: int | None = None,
    max_runs: int = MAX_RUNS,
    progress: Progress | None = None,
) -> Comparison:
    """Run several plans, ``jobs`` at a time; return their results in the order of the plans.

    The default of ``jobs`` is the number of cores, or fewer if memory for the drives is short. More
    than ``max_runs`` plans are refused.

    ssdlab checks all plans before the first one runs. Plans that differ only in their seed are also
    aggregated, with 95 % intervals. Raises the same errors as :func:`run`.
    """
    most = integer("--max-runs", max_runs, 1, MAX_COUNT)
    iterator = _iterate("nothing to run", plans, "plans")
    plans = [check_plan(plan) for plan in itertools.islice(iterator, most + 1)]
    check_run_count(len(plans), most, at_least=True)
    if not plans:
        raise InputError("nothing to run: got no plan, expected at least one")
    jobs = None if jobs is None else integer("--jobs", jobs, 1)
    plans = with_pipes_read(plans)
    wire = _plans_json(plans)
    read = input_files_of(wire)
    check_results(plans)
    check_apart(*_native.files_of(wire))
    progress = arguments.callback("progress", progress)
    comparison = None
    try:
        with deferred() as signals:
            texts, interrupted, wrong = _native.run(wire, jobs, signals.stopping(progress))
            comparison, lacking = _comparison(plans, texts, read)
            wrong = wrong or lacking
            signals.check()
    except InputError as error:
        raise _as_typed(error, plans) from None
    except KeyboardInterrupt:
        if comparison is None:
            raise
        interrupted = True
    if wrong is not None:
        wrong = _as_typed(wrong, plans)
        wrong.partial = comparison or None
        raise wrong
    if interrupted:
        raise Interrupted(comparison)
    return comparison


def _as_typed(error: InputError, plans: Sequence[Plan]) -> InputError:
    """Return an error about a value of ``--vary``, which the core calls ``--set``, as typed."""
    varied = {f"{key}={value}" for plan in plans for key, value in plan.vary.items()}
    setting = (error.file or "").removeprefix("--set ")
    if setting == error.file or setting not in varied:
        return error
    return InputError.at(f"--vary {setting}", error.message)


def input_files(plans: Iterable[Plan]) -> list[File]:
    """Return the files that these plans read, each with the option that names it."""
    return list(_native.files_of(_plans_json(plans))[0])


def parallel_runs(plans: Iterable[Plan]) -> int:
    """Return how many of these plans can run at a time, limited by cores and memory."""
    # Memory depends on the drive, and there are far fewer drives than plans.
    drives: dict[Any, list[Plan]] = {}
    for one in plans:
        drive = (one.device, str(one.config), one.scheme, str(one.set), one.state, one.precondition)
        drives.setdefault(drive, []).append(one)
    return _native.at_a_time(
        _plans_json(one for alike in drives.values() for one in alike[: available_cores()])
    )


def check_results(plans: Sequence[Plan], drawn: str | None = None) -> None:
    """Refuse more results than fit into memory, before the first run.

    ``drawn`` is the option that asks for drawings of the results, if any. Raises
    :class:`InputError`, which names the option that causes too many results.
    """
    detailed = len(plans) if drawn else sum(plan.detail is True for plan in plans)
    results = f"the results of {len(plans)} runs"
    # A few results need no memory beyond that of a run, but drawing them does.
    runs = RUNS if len(plans) > _CHECKED else NOTHING
    check_room(f"{_option_of(plans)}: {results}", for_results(len(plans), 0) + runs)
    if detailed:
        what = f"{drawn or 'detail'}: {results} with what a report draws"
        drawing = DRAWING + RUNS if drawn else runs
        check_room(what, for_results(len(plans), detailed) + drawing)


def _option_of(plans: Sequence[Plan]) -> str:
    """Return the option that causes the number of plans: seeds, or the compared variants."""
    seeds = len({plan.seed for plan in plans})
    if seeds * seeds >= len(plans):
        return "--seeds"
    return "--vary" if any(plan.vary for plan in plans) else "plans"


def _plans_json(plans: Iterable[Plan]) -> str:
    return "[" + ",".join(to_json(plan) for plan in plans) + "]"


_NO_RESULT = "null"
"""The JSON text of a plan whose run never began."""
_CHECKED = 32
"""The number of results between two checks of the free memory."""


def _taken(texts: list[str], option: str) -> Iterator[str]:
    """Yield JSON texts and drop each, so that a result and its text do not both stay in memory.

    Raises :class:`InputError`, which names the option that causes too many results, if the
    remaining results do not fit into memory.
    """
    what = f"{option}: the results of {len(texts)} runs"
    texts.reverse()
    while texts:
        if not len(texts) % _CHECKED:
            check_room(what, for_reading(texts))
        yield texts.pop()


def _comparison(
    plans: list[Plan], texts: list[str], read: Sequence[File] = ()
) -> tuple[Comparison, InputError | None]:
    """Return the results, and an error if memory ran out before all were read.

    A plan that was stopped before its run began has no result.
    """
    configs: dict[str, Mapping[str, Any]] = {}
    missing: list[Missing] = []
    begun: list[Plan] = []
    typed: list[Result] = []
    lacking: InputError | None = None
    try:
        for plan, text in zip(plans, _taken(texts, _option_of(plans)), strict=True):
            if text == _NO_RESULT:
                missing.append(Missing(_label(plan), plan.seed))
                continue
            result = Result.from_json(text, varied_settings(plan))
            made = result.provenance
            # Runs with the same config share one copy of it.
            config = configs.setdefault(made.config_hash, made.config)
            if config == made.config:
                made = replace(made, config=config)
            begun.append(plan)
            typed.append(replace(result, provenance=made, input_files=read))
    except InputError as error:
        # Results that were read before are still shown and written.
        lacking = error
        others = plans[len(begun) + len(missing) :]
        missing.extend(Missing(_label(plan), plan.seed) for plan in others)
    return _summed(begun, typed, missing), lacking


def _summed(plans: list[Plan], typed: list[Result], missing: list[Missing]) -> Comparison:
    groups = seed_groups(plans)
    if len(groups) == len(plans):
        return Comparison(typed, missing=missing)
    labels = [_label(plans[group[0]]) for group in groups]
    summed = [aggregate(label, group, typed) for label, group in zip(labels, groups, strict=True)]
    return Comparison(typed, summed, missing)


def _label(plan: Plan) -> str:
    return plan.label or plan.scheme


def report_html(results: Result | Iterable[Result], path: str | os.PathLike[str]) -> None:
    """Write a report to ``path``: one HTML file with figures and tables, which needs no network.

    ``results`` is a comparison, a result, or several results, made with ``detail=True``. The report
    draws several results side by side. The documentation's page "Reports" describes its contents.
    Raises :class:`InputError` if the file cannot be written or a result has no detail.
    """
    results = _as_comparison(results)
    path = arguments.path("report", path)
    _check_not_read(results, path)
    target = OutputFile("report", path)
    target.write(display.as_html(results))


def save_figures(results: Result | Iterable[Result], folder: str | os.PathLike[str]) -> list[str]:
    """Write a report's figures to ``folder`` as PDF, SVG and PNG; return the file names.

    A figure is 3.3 inches wide, like a column of a paper. ``results`` and the errors are those of
    :func:`report_html`.
    """
    results = _as_comparison(results)
    target = OutputFolder("figures", folder, _input_files_of(results))
    files = display.as_figure_files(results)
    check_no_trace("figures", _trace_hashes(results), [FilePath(folder) / name for name in files])
    target.write(files)
    return list(files)


def _as_comparison(results: Result | Iterable[Result]) -> Comparison:
    if isinstance(results, Comparison):
        return results
    iterable = [results] if isinstance(results, Result) else results
    found = list(_iterate("nothing to draw", iterable, "results"))
    if not found or not all(isinstance(one, Result) for one in found):
        raise InputError(f"nothing to draw: got {quoted(results)}, expected results")
    return Comparison(found)


def _iterate(what: str, values: Iterable[T], expected: str) -> Iterator[T]:
    """Return an iterator over an argument.

    Raises :class:`InputError` if the argument cannot be iterated.
    """
    try:
        return iter(values)
    except TypeError:
        raise InputError(f"{what}: got {quoted(values)}, expected {expected}") from None


def _input_files_of(results: Comparison) -> list[File]:
    """Return the files that the runs of these results have read.

    Results of this process know the files whatever the current folder is. Other results name them
    as the user gave them.
    """
    known = {file for result in results for file in result.input_files}
    plans = [json.dumps(dict(result.provenance.plan)) for result in results]
    return [*known, *_native.files_of(f"[{','.join(plans)}]")[0]]


def _check_not_read(results: Comparison, path: str) -> None:
    """Refuse a report path that is an input file of its runs, or a copy of their trace."""
    check_apart(_input_files_of(results), [("report", path)])
    check_no_trace("report", _trace_hashes(results), [FilePath(path)])


def _trace_hashes(results: Comparison) -> set[str]:
    """Return the SHA-256 of every trace that these runs have read."""
    hashes = {result.provenance.trace_sha256 for result in results}
    hashes |= {one.trace_sha256 for result in results for one in result.provenance.mix or ()}
    return {one for one in hashes if one is not None}


def presets() -> dict[str, str]:
    """Return the devices by name, each with a one-line description."""
    return dict(_native.presets())


def schemes() -> dict[str, str]:
    """Return the schemes by name, each with a one-line description."""
    return dict(_native.schemes())
