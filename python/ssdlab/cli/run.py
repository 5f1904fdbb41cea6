"""``ssdlab run`` and ``ssdlab compare``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from ssdlab import api, report
from ssdlab.cli import exits, options
from ssdlab.cli.lines import tell
from ssdlab.cli.outputs import STDOUT, Outputs
from ssdlab.errors import InputError, Interrupted
from ssdlab.plans import Plan, sweep
from ssdlab.progress import Line
from ssdlab.results import Comparison


@click.command()
@options.add(*options.RUN)
def run(**given: Any) -> int:
    """Run one drive on one trace or workload."""
    plans = _plans(given)
    one = {plan.label for plan in plans if plan.trace == plans[0].trace}
    if len(plans) != given["seeds"] or len(one) > 1:
        count = len(plans) // given["seeds"]
        raise InputError(f"ssdlab run: got {count} configurations, expected one (use compare)")
    return _execute(plans, given, _report)


@click.command()
@options.add(*options.RUN)
def compare(**given: Any) -> int:
    """Run several schemes or settings on one trace, side by side.

    --device, --stage and --scheme take several names with commas between them, --trace may be given
    several times, and --vary gives a setting several values; all combinations are run.
    """
    return _execute(_plans(given), given, report.of_comparison)


def _plans(given: dict[str, Any]) -> list[Plan]:
    devices = options.devices(given["device"], given["stage"])
    return sweep(
        options.plan_of({**given, "device": devices[0], "stage": None}),
        devices=devices,
        schemes=options.listed("--scheme", given["scheme"]),
        traces=given["trace"],
        vary=options.varied(given["vary"]),
        seeds=given["seeds"],
        max_runs=given["max_runs"],
    )


def _report(comparison: Comparison) -> str:
    """Return the report of one run, or the table of one run over several seeds."""
    if comparison.aggregates:
        return str(comparison)
    parts = [str(comparison[0]), report.missing(comparison)]
    return "\n\n".join(part for part in parts if part)


def _execute(
    plans: Sequence[Plan], given: dict[str, Any], show: Callable[[Comparison], str]
) -> int:
    """Run the plans, show the results, write them; the exit code."""
    outputs, code = Outputs(given, len(plans), api.files_read(plans)), 0
    if outputs.drawing.is_wanted:
        plans = [replace(plan, detail=True) for plan in plans]
    try:
        with Line() as line:
            limits = {"jobs": given["jobs"], "max_runs": given["max_runs"]}
            comparison = api.compare(plans, **limits, progress=line)
    except Interrupted as interrupted:
        comparison, code = interrupted.partial, exits.INTERRUPTED
        if not comparison:
            tell("interrupted before anything was measured")
            return code
    except InputError as error:
        if error.partial is None:
            raise
        # What was measured is not lost with what failed, of which the line tells.
        with suppress(InputError, OSError):
            _hand_out(error.partial, given, show, outputs)
        raise
    _hand_out(comparison, given, show, outputs)
    return code


def _hand_out(
    comparison: Comparison,
    given: dict[str, Any],
    show: Callable[[Comparison], str],
    outputs: Outputs,
) -> None:
    """Write the results and show them; what fails does not keep the rest back."""

    def print_all() -> None:
        if given["json"] == STDOUT:
            click.echo(comparison.to_json())
            for doubt in report.doubts(comparison):
                tell(doubt)
        else:
            click.echo(show(comparison))
        sys.stdout.flush()

    failed: list[Exception] = []
    for hand_out in (outputs.write_json, lambda _: print_all(), outputs.draw):
        try:
            hand_out(comparison)
        except (InputError, OSError) as error:
            failed.append(error)
    if failed:
        raise failed[0]
