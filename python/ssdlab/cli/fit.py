"""``ssdlab fit``: fit ReadGuard's retry predictor to characterized chips."""

from __future__ import annotations

from typing import Any

import click

from ssdlab import api
from ssdlab.calibration.chip_spec import CORRECTABLE, ChipSpec
from ssdlab.calibration.fitting import fit_with_samples
from ssdlab.calibration.result import DEFAULT_DEVICE, check_replaced, output_paths
from ssdlab.cli import completion, exit_codes, options
from ssdlab.cli.messages import print_error
from ssdlab.cli.outputs import AnalysisOutputs, output_files, printed_to, write_each
from ssdlab.cli.parameters import WholeNumber
from ssdlab.errors import InputError, quoted
from ssdlab.files import File, OutputFolder
from ssdlab.plan import Plan, with_pipes_read

_PLAIN = ChipSpec()
_FITTED = "fitted"


def _listed(values: Any) -> str:
    return ",".join(f"{value:g}" for value in values)


def _axis(name: str, what: str) -> Any:
    help_text = f"{what} (default: {_listed(getattr(_PLAIN, name))})."
    return click.option(f"--{name}", metavar="A,B,C", help=help_text)


_AXES = ("chips", "cycles", "retention", "reads", "dwell")

CHIPS = [
    click.option(
        "--device",
        metavar="NAME",
        shell_complete=completion.device,
        help=f"Generate chips of this device if there is no CSV (default: {DEFAULT_DEVICE}).",
    ),
    options.STAGE,
    *options.SETTINGS,
    _axis("chips", "Fit, validate and simulate this many chips"),
    click.option(
        "--blocks",
        type=WholeNumber(1),
        help=f"Measure N blocks of each chip (default: {_PLAIN.blocks}).",
    ),
    _axis("cycles", "Measure at these P/E cycles"),
    _axis("retention", "Measure data of these ages, in days at 30 °C"),
    _axis("reads", "Measure after these page reads of a block"),
    _axis("dwell", "Wait so many days between erases, at 30 °C"),
    click.option(
        "--bake",
        type=float,
        metavar="X",
        help=f"Age data beyond 30 days at X °C (default: {_PLAIN.bake:g}).",
    ),
]


@click.command(name="fit")
@click.argument("csv", required=False, metavar="[CSV]")
@options.add(CHIPS)
@click.option(
    "--correctable",
    metavar="X",
    default=f"{CORRECTABLE:g}",
    show_default=True,
    help=f"Set the errors up to which a page needs no retry, or `{_FITTED}`.",
)
@click.option("--out", metavar="DIR", help="Write the config, fit.json and the chips to simulate.")
@click.option("--samples", metavar="FILE", help="Write all measurements as CSV.")
@click.option("--json", metavar="FILE", help="Write the figures as JSON, - for stdout.")
@options.add(options.DRAWING)
def fit_command(**parameters: Any) -> int:
    """Fit ReadGuard's retry predictor to chips.

    CSV holds measurements of chips; without it, ssdlab generates chips. --out writes a config:
    `ssdlab run --scheme readguard/rgftl --config DIR/fit.toml` predicts with it. If CSV has all
    that a drive needs, that run also simulates the chips kept for simulation.
    The documentation's page "Fit the retry predictor" explains the figures and lists the columns
    of CSV.
    """
    named_alone = (*_AXES, "blocks", "bake", "device", "stage")
    made = [name for name in named_alone if parameters[name] is not None]
    made += [name for name in ("config", "set") if parameters[name]]
    if parameters["csv"] is not None and made:
        message = "a setting of generated chips, beside a CSV: expected one or the other"
        raise InputError.at(f"--{made[0]}", message)
    plan = Plan(
        device=options.one_device(parameters["device"] or DEFAULT_DEVICE, parameters["stage"]),
        **{name: parameters[name] for name in ("config", "set", "seed")},
    )
    (plan,) = with_pipes_read([plan])
    read = api.input_files([plan])
    if parameters["csv"] is not None:
        read.append(("CSV", parameters["csv"]))
    files = output_files(parameters, ("json", "report", "samples"))
    out = (
        None
        if parameters["out"] is None
        else OutputFolder("--out", parameters["out"], [*read, *files, *printed_to()])
    )
    samples = parameters["samples"]
    written: list[File] = [] if samples is None else [("--samples", samples)]
    written += [] if parameters["out"] is None else output_paths("--out", parameters["out"])
    outputs = AnalysisOutputs(parameters, read, written)
    if out is not None:
        check_replaced("--out", parameters["out"])
    correctable = _correctable(parameters["correctable"])
    options_of = {name: getattr(plan, name) for name in ("device", "config", "set", "seed")}
    options_of["samples"] = parameters["samples"]
    try:
        found, failure = fit_with_samples(
            parameters["csv"], chips=_chip_spec(parameters), correctable=correctable, **options_of
        )
    except KeyboardInterrupt:
        # Printed here, because click would print an empty line first.
        print_error("interrupted")
        return exit_codes.INTERRUPTED
    steps = outputs.steps(found)
    if out is not None:
        steps.insert(0, lambda: found.write_to(out, "--out", parameters["out"]))
    if failure is not None:
        steps.insert(0, lambda: _fail(failure))
    write_each(steps)
    return 0


def _fail(error: InputError) -> None:
    raise error


def _chip_spec(parameters: dict[str, Any]) -> ChipSpec:
    """Return the chips to generate, and what to measure."""
    axes = {
        name: _numbers(f"--{name}", parameters[name])
        for name in _AXES
        if parameters[name] is not None
    }
    plain = {name: parameters[name] for name in ("blocks", "bake") if parameters[name] is not None}
    return ChipSpec(**{**axes, **plain})


def _numbers(option: str, text: str) -> list[float]:
    return [_number(option, word.strip()) for word in text.split(",")]


def _number(option: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise InputError.at(option, f"got {quoted(word)}, expected a number") from None
    return int(number) if number.is_integer() else number


def _correctable(text: str) -> float | None:
    if text == _FITTED:
        return None
    number = _number("--correctable", text)
    if not 0 < number < 1e9:
        raise InputError.at(
            "--correctable", f"got {quoted(text)}, expected a number above 0, or fitted"
        )
    return number
