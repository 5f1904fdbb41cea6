"""The options of all commands that run plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import click

from ssdlab import _native
from ssdlab.arguments import MAX_COUNT
from ssdlab.cli import completion
from ssdlab.cli.parameters import PositiveNumber, WholeNumber
from ssdlab.errors import InputError, quoted
from ssdlab.plan import DEFAULT_DEVICE, DEFAULT_SCHEME, DEFAULT_SEED, Plan, with_pipes_read
from ssdlab.stages import STAGES, at_stages
from ssdlab.sweeps import MAX_RUNS
from ssdlab.traces.apps import App, apps_by_priority, parse

Command = TypeVar("Command", bound=Callable[..., Any])

_WORKLOADS = ", ".join(_native.workloads())
_FORMATS = ", ".join(_native.formats())

DEVICE = click.option(
    "--device",
    default=DEFAULT_DEVICE,
    metavar="NAME",
    shell_complete=completion.device,
    show_default=True,
    help="Simulate this drive (ssdlab preset list).",
)
STAGE = click.option(
    "--stage",
    metavar="|".join(STAGES),
    shell_complete=completion.stage,
    help="Age the drive to this stage of life (default: that of the device).",
)
SCHEME = click.option(
    "--scheme",
    default=DEFAULT_SCHEME,
    metavar="NAME",
    shell_complete=completion.scheme,
    show_default=True,
    help="Use the policies of this scheme (ssdlab scheme list).",
)

SETTINGS = [
    click.option(
        "--config",
        multiple=True,
        metavar="FILE",
        help="Read settings in TOML, over those of the drive; repeatable.",
    ),
    click.option(
        "--set",
        multiple=True,
        metavar="KEY=VALUE",
        shell_complete=completion.setting,
        help="Change a setting, over all files; repeatable.",
    ),
    click.option(
        "--seed",
        type=WholeNumber(0),
        default=DEFAULT_SEED,
        show_default=True,
        help="Seed the random numbers.",
    ),
]

DRIVE_SETTINGS = [STAGE, SCHEME, *SETTINGS]
"""The options that describe a drive, except its device."""
DRIVE = [DEVICE, *DRIVE_SETTINGS]

APPS = [
    click.option(
        "--mix",
        multiple=True,
        metavar="APP",
        help="Add an application, [NAME=]FILE[@queue=N,scale=X,...], as for trace mix; repeatable.",
    ),
    click.option(
        "--app",
        multiple=True,
        metavar="APPS",
        help="Run applications by priority: high=FILE[@scale=X],mid=FILE,low=FILE.",
    ),
    click.option(
        "--workload",
        metavar="NAME",
        shell_complete=completion.workload,
        help=f"Generate a workload ({_WORKLOADS}) or a twin of a published trace, such as dlv/hm0:"
        " `ssdlab workload list` names them (default: random, if no option names a load).",
    ),
]

LOAD = [
    click.option(
        "--trace",
        multiple=True,
        metavar="FILE[:FORMAT]",
        help=f"Replay a trace, plain or gz, zst, xz; FORMAT, if not recognized: {_FORMATS}.",
    ),
    *APPS,
    click.option("--limit", type=WholeNumber(1), help="Stop after N requests."),
    click.option(
        "--warmup", metavar="N|TIME", help="Leave N requests, or a time, out of the figures."
    ),
    click.option(
        "--replays",
        type=WholeNumber(1, MAX_COUNT),
        help="Run the load N times on the same drive; the figures are those of the last time.",
    ),
    click.option(
        "--until-worn",
        metavar="SHARE",
        help="Replay until this share of blocks is worn out, such as 5%; needs"
        " flash.cycles_per_erase.",
    ),
    click.option(
        "--until-settled",
        metavar="FIGURE[@WIDTH]",
        help="Replay, at most 100 times, until the 95 % interval of waf or of any latency, such as"
        " read.latency_us.mean, is within ± WIDTH of its mean (default: 5%).",
    ),
    click.option(
        "--time-scale", type=PositiveNumber(), help="Multiply the times between arrivals by X."
    ),
    click.option(
        "--closed",
        type=WholeNumber(1, MAX_COUNT),
        help="Keep N requests outstanding and ignore arrival times.",
    ),
    click.option("--wrap", is_flag=True, help="Wrap addresses beyond the end back into the drive."),
]

START = [
    click.option(
        "--precondition", metavar="steady", help="Overwrite the drive first, until its WAF settles."
    ),
]

SAVED_STATE = [
    click.option("--state", metavar="FILE", help="Start from a drive saved by `state save`."),
]

SWEEP = [
    click.option(
        "--vary",
        multiple=True,
        metavar="KEY=A,B,C",
        shell_complete=completion.setting,
        help="Run with each of these values; repeatable, in all combinations.",
    ),
    click.option(
        "--seeds",
        type=WholeNumber(1),
        default=1,
        help="Run with N seeds; show means and 95% intervals.",
    ),
    click.option(
        "--max-runs",
        type=WholeNumber(1, MAX_COUNT),
        default=MAX_RUNS,
        show_default=True,
        help="Refuse more than N runs.",
    ),
]

RUNNING = [
    click.option(
        "--jobs",
        type=WholeNumber(1),
        help="Run N at a time (default: as many as cores and memory allow).",
    ),
    click.option(
        "--paranoid", is_flag=True, help="Check the drive's invariants throughout the run."
    ),
]

OUTPUT = [
    click.option("--json", metavar="FILE", help="Write the results as JSON, - for stdout."),
]

DRAWING = [
    click.option("--report", metavar="FILE", help="Write a report with figures: one HTML file."),
    click.option("--figures", metavar="DIR", help="Write the figures as PDF, SVG and PNG."),
]

RECORDING = [
    click.option("--log", metavar="FILE", help="Write a row per request of one run, in Parquet."),
    click.option(
        "--series", metavar="FILE", help="Write a row per interval of one run, in Parquet."
    ),
    click.option(
        "--interval",
        metavar="TIME",
        help="Set the length of an interval (default: a run has 200 to 400 of them).",
    ),
    click.option(
        "--timeline",
        metavar="FILE",
        help="Write what each die, bus and decoder did in one run, for Perfetto.",
    ),
    click.option(
        "--timeline-span", metavar="TIME", help="Set the timeline's length (default: 10ms)."
    ),
]

RUN_GROUPS = {
    "The drive": DRIVE,
    "The load": LOAD,
    "The start": [*START, *SAVED_STATE],
    "Several runs": SWEEP,
    "How it runs": RUNNING,
    "Outputs": [*OUTPUT, *DRAWING, *RECORDING],
}
"""The options of a run, by the headings of its help."""


class RunCommand(click.Command):
    """A command whose help lists its options by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings, and the remaining ones at the end."""
        for heading, params in self.groups(ctx).items():
            records = [param.get_help_record(ctx) for param in params]
            with formatter.section(heading):
                formatter.write_dl([record for record in records if record])

    def groups(self, ctx: click.Context) -> dict[str, list[click.Parameter]]:
        """Return the parameters by the headings of the help."""
        rest = {param.name: param for param in self.get_params(ctx)}
        groups = {
            heading: [rest.pop(name) for name in _names(group)]
            for heading, group in RUN_GROUPS.items()
        }
        return {**groups, "Other options": list(rest.values())}


def _names(group: Iterable[Callable[..., Any]]) -> list[str]:
    """Return the parameter names of these options."""
    command = click.Command("")
    for option in group:
        option(command)
    return [param.name or "" for param in command.params]


def add(*groups: Iterable[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Return a decorator that adds these groups of options to a command."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def plan_from(options: dict[str, Any]) -> Plan:
    """Return the plan that the options name. Options that may name several plans are left out.

    Raises :class:`InputError` if options contradict each other.
    """
    names = {field.name for field in fields(Plan)} - {"device", "trace", "mix", "vary"}
    of_plan = {name: options[name] for name in names if name in options}
    if options.get("trace") and options.get("workload") is not None:
        raise InputError.at("--workload", "a workload beside --trace: expected one or the other")
    other = next((f"--{name}" for name in ("trace", "workload") if options.get(name)), None)
    if options.get("app") and other:
        raise InputError.at("--app", f"applications beside {other}: expected one or the other")
    plan = Plan(
        device=one_device(options["device"], options.get("stage")),
        mix=_mix(options.get("mix", ()), options.get("app", ())),
        **of_plan,
    )
    return with_pipes_read([plan])[0]


def devices(names: str, stages: str | None) -> list[str]:
    """Return every device of ``--device A,B`` at every stage of ``--stage A,B``."""
    return at_stages(split_list("--device", names), _stages(stages))


def one_device(name: str, stage: str | None) -> str:
    """Return the device that ``--device`` and ``--stage`` name; refuse several stages."""
    device, *more = at_stages([name], _stages(stage))
    if more:
        raise InputError.at("--stage", f"got {quoted(stage)}, expected one stage")
    return device


def _stages(text: str | None) -> list[str]:
    return [] if text is None else split_list("--stage", text)


def _mix(mix: Sequence[str], apps: Sequence[str]) -> list[App]:
    """Return the applications of ``--mix``, or of ``--app``, whose names choose the queues."""
    if mix and apps:
        raise InputError.at("--app", "applications beside --mix: expected one or the other")
    return apps_by_priority(apps, "--app") if apps else parse(mix, "--mix")


def split_list(option: str, text: str) -> list[str]:
    """Split ``a,b,c`` at the commas outside brackets, braces and quotes.

    Raises :class:`InputError` if a value is empty or occurs twice.
    """
    items, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        depth += (sign in "[{") - (sign in "]}") if not quote else 0
        if sign == "," and depth == 0 and not quote:
            items.append("")
        else:
            items[-1] += sign
    items = [item.strip() for item in items]
    if not all(items):
        raise InputError.at(option, f"got {quoted(text)}, expected values with commas between them")
    if len(set(items)) < len(items):
        raise InputError.at(option, f"got {quoted(text)}, expected each value once")
    return items


def parse_vary(arguments: Iterable[str]) -> dict[str, list[str]]:
    """Parse every ``--vary KEY=A,B,C``."""
    settings: dict[str, list[str]] = {}
    for argument in arguments:
        key, equals, values = argument.partition("=")
        key = key.strip()
        if not key or not equals:
            expected = "KEY=A,B,C, such as background.gc.threshold=2%,5%"
            raise InputError.at("--vary", f"got {quoted(argument)}, expected {expected}")
        if key in settings:
            raise InputError.at("--vary", f"got {quoted(key)} twice, expected each key once")
        settings[key] = split_list(f"--vary {key}", values)
    return settings
