"""``ssdlab run`` and ``ssdlab compare``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from ssdlab import api
from ssdlab.cli import exit_codes, options
from ssdlab.cli.messages import print_error
from ssdlab.cli.outputs import STDOUT, RunOutputs, print_out, write_each
from ssdlab.errors import InputError, Interrupted
from ssdlab.plan import Plan
from ssdlab.progress import ProgressLine
from ssdlab.render.text.comparison import caveats, comparison_text, missing_runs
from ssdlab.result import Comparison
from ssdlab.signals import deferred
from ssdlab.sweeps import sweep


@click.command(cls=options.RunCommand)
@options.add(*options.RUN_GROUPS.values())
def run(**parameters: Any) -> int:
    """Run one drive on one trace or workload."""
    plans = _plans(parameters)
    one = {plan.label for plan in plans if plan.trace == plans[0].trace}
    if len(plans) != parameters["seeds"] or len(one) > 1:
        count = len(plans) // parameters["seeds"]
        raise InputError(f"ssdlab run: got {count} configurations, expected one (use compare)")
    return _execute(plans, parameters, _report)


@click.command(cls=options.RunCommand)
@options.add(*options.RUN_GROUPS.values())
def compare(**parameters: Any) -> int:
    """Run several schemes or settings on one trace, side by side.

    --device, --stage and --scheme take several names with commas between them, --trace may be given
    several times, and --vary gives a setting several values; all combinations are run.

    --log, --series and --timeline take one run only: one combination with one seed.
    """
    return _execute(_plans(parameters), parameters, comparison_text)


def _plans(parameters: dict[str, Any]) -> list[Plan]:
    devices = options.devices(parameters["device"], parameters["stage"])
    return sweep(
        options.plan_from({**parameters, "device": devices[0], "stage": None}),
        devices=devices,
        schemes=options.split_list("--scheme", parameters["scheme"]),
        traces=parameters["trace"],
        vary=options.parse_vary(parameters["vary"]),
        seeds=parameters["seeds"],
        max_runs=parameters["max_runs"],
    )


def _report(comparison: Comparison) -> str:
    """Return the report of one run, or the table of one run over several seeds."""
    if comparison.aggregates:
        return str(comparison)
    parts = [str(comparison[0]), missing_runs(comparison)]
    return "\n\n".join(part for part in parts if part)


def _execute(
    plans: Sequence[Plan], parameters: dict[str, Any], show: Callable[[Comparison], str]
) -> int:
    """Run the plans, show and write the results, and return the exit code."""
    outputs = RunOutputs(parameters, len(plans), api.input_files(plans))
    if outputs.drawing.is_wanted:
        plans = [replace(plan, detail=True) for plan in plans]
    api.check_results(plans, outputs.drawing.option)
    # A signal after the runs must not lose their measurements.
    with deferred():
        return _run_and_write(plans, parameters, show, outputs)


def _run_and_write(
    plans: Sequence[Plan],
    parameters: dict[str, Any],
    show: Callable[[Comparison], str],
    outputs: RunOutputs,
) -> int:
    code = 0
    try:
        with ProgressLine() as line:
            limits = {"jobs": parameters["jobs"], "max_runs": parameters["max_runs"]}
            comparison = api.compare(plans, **limits, progress=line)
    except Interrupted as interrupted:
        comparison, code = interrupted.partial, exit_codes.INTERRUPTED
        if not comparison:
            print_error("interrupted before anything was measured")
            return code
    except InputError as error:
        if error.partial is None:
            raise
        # Keep the measurements of the other runs; the error is raised all the same.
        with suppress(InputError, OSError):
            _write_outputs(error.partial, parameters, show, outputs)
        raise
    _write_outputs(comparison, parameters, show, outputs)
    if code and not comparison.missing and not any(result.partial for result in comparison):
        # The shown results are complete, so nothing in them mentions the interruption.
        print_error("interrupted")
    return code


def _write_outputs(
    comparison: Comparison,
    parameters: dict[str, Any],
    show: Callable[[Comparison], str],
    outputs: RunOutputs,
) -> None:
    """Write the results as JSON, print them, and draw them."""

    def print_all() -> None:
        if parameters["json"] == STDOUT:
            print_out(comparison.json_parts())
            for caveat in caveats(comparison):
                print_error(caveat)
        else:
            print_out(show(comparison))

    steps = (lambda: outputs.write_json(comparison), print_all)
    write_each([*steps, *outputs.drawing_steps(comparison)])
