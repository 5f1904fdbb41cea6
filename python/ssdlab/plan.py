"""The plan of a run, and its options."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self, TypedDict

from ssdlab import _native, arguments
from ssdlab.arguments import (
    MAX_COUNT,
    MAX_INTEGER,
    integer,
    optional_integer,
    optional_path,
    optional_text,
)
from ssdlab.errors import InputError, quoted
from ssdlab.traces.apps import App, parse_apps

DEFAULT_DEVICE = "generic-mlc-512g"
DEFAULT_SCHEME = "conventional"
DEFAULT_SEED = 1

RENAMED = {"fit": "wrap"}
"""The new names of renamed options, by the old ones."""

_MAX_NESTING = 16
"""The maximum depth of nested lists and tables in a setting."""


Path = str | os.PathLike[str]
Settings = Mapping[str, object] | Sequence[str]


class DriveOptions(TypedDict, total=False):
    """The options that describe a drive and its start.

    A drive that separates blocks by priority starts with the pages of its workload or its mix.
    """

    device: str
    """The drive's preset, a name in :func:`ssdlab.presets`."""
    scheme: str
    """The drive's policies, a name in :func:`ssdlab.schemes`."""
    config: Sequence[Path]
    """Config files in TOML. A later file overrides an earlier one, and all override the preset."""
    set: Settings
    """Config keys and values, which override all files: ``{"geometry.pages": 256}`` or a list of
    lines ``"geometry.pages=256"``.
    """
    seed: int
    """The seed of all random numbers."""
    workload: str | None
    """A distribution, or a twin of a trace; ``"random"`` if there is no load at all."""
    mix: Sequence[App | str]
    """Traces or twins that run at the same time, each with its own queue and addresses:
    :class:`ssdlab.traces.App`, or text such as ``"NAME=FILE@queue=0,scale=2"``.
    """
    precondition: str | None
    """``"steady"`` overwrites the drive before the run, until its WAF settles."""
    state: Path | None
    """A drive that ``ssdlab state save`` saved, from which the run starts."""
    paranoid: bool
    """Check the drive's invariants at every event; slow."""


class RunOptions(DriveOptions, total=False):
    """The options of a run: the fields of a :class:`Plan`, and the keywords of :func:`ssdlab.run`.

    NumPy numbers and arrays are valid in place of numbers and lists. None for a list or a mapping
    means an empty one. Values are checked when the plan runs.
    """

    trace: Path | None
    """A trace: ``FILE``, or ``FILE:format``."""
    limit: int | None
    """Stop after this many requests."""
    warmup: str | int | None
    """The start of the run that the figures leave out: a number of requests, or a time such as
    ``"10s"``.
    """
    replays: int | None
    """Run the load this many times; each replay starts with the drive that the last one left. The
    figures are those of the last replay; ``Result.replays`` has all.
    """
    until_worn: str | float | None
    """Replay until this share of the blocks is worn out, such as ``"5%"``."""
    until_settled: str | None
    """Replay until the 95 % interval of this figure is narrow: ``waf`` or any latency of the
    result, and the interval's half-width, such as ``"read.latency_us.mean@5%"``.
    """
    time_scale: float | None
    """The factor on the times between arrivals."""
    closed: int | None
    """Closed loop: keep this many requests outstanding and ignore timestamps."""
    wrap: bool
    """Wrap addresses beyond the end back into the drive."""
    detail: bool
    """Keep in the result the data that a report draws."""
    log: Path | None
    """A Parquet file with a row per request."""
    series: Path | None
    """A Parquet file with a row per interval."""
    interval: str | None
    """The length of an interval, such as ``"1s"``; None gives some hundred intervals."""
    timeline: Path | None
    """A file for the Perfetto viewer that shows what every part of the drive does."""
    timeline_span: str | None
    """The length of the timeline; ``"10ms"`` if None."""
    label: str | None
    """The name of the result in tables and figures; the scheme if None."""
    vary: Mapping[str, str]
    """The settings that a sweep varies, for the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run. An option that is not given has its default.

    The fields are the options of a run, which :class:`RunOptions` explains one by one.
    """

    device: str = DEFAULT_DEVICE
    scheme: str = DEFAULT_SCHEME
    config: Sequence[Path] = ()
    set: Settings = ()
    trace: Path | None = None
    workload: str | None = None
    mix: Sequence[App | str] = ()
    seed: int = DEFAULT_SEED
    limit: int | None = None
    warmup: str | int | None = None
    precondition: str | None = None
    replays: int | None = None
    until_worn: str | float | None = None
    until_settled: str | None = None
    time_scale: float | None = None
    closed: int | None = None
    wrap: bool = False
    state: Path | None = None
    paranoid: bool = False
    detail: bool = False
    log: Path | None = None
    series: Path | None = None
    interval: str | None = None
    timeline: Path | None = None
    timeline_span: str | None = None
    label: str | None = None
    vary: Mapping[str, str] = field(default_factory=dict)

    if not TYPE_CHECKING:
        # A type checker must know exactly the options that exist.

        def __new__(cls, *_arguments: object, **options: object) -> Self:
            """Raise an error that names the replacement of an old option."""
            for name in RENAMED.keys() & options:
                raise TypeError(f"{name} is now called {RENAMED[name]}")
            return object.__new__(cls)

    def __post_init__(self) -> None:
        """Replace NumPy objects by their content, and None by an empty list or mapping."""
        empty: dict[str, object] = {"config": (), "set": (), "mix": (), "vary": {}}
        for one in fields(self):
            value = getattr(self, one.name)
            plain = empty.get(one.name) if value is None else arguments.unwrap(value)
            if plain is not value:
                object.__setattr__(self, one.name, plain)

    def to_wire(self) -> dict[str, Any]:
        """Return the plan as the Rust extension reads it, without options that are not given."""
        varied_settings(self)
        wire: dict[str, Any] = {
            "device": arguments.text("--device", self.device),
            "scheme": arguments.text("--scheme", self.scheme),
            "config": self.configs(),
            "set": setting_lines(self.set),
            "trace": optional_path("--trace", self.trace),
            "workload": optional_text("--workload", self.workload),
            "mix": [app.to_wire() for app in parse_apps("--mix", self.mix)] or None,
            "seed": integer("--seed", self.seed, 0),
            "limit": optional_integer("--limit", self.limit),
            "warmup": _text_or_number("--warmup", self.warmup),
            "precondition": optional_text("--precondition", self.precondition),
            "replays": optional_integer("--replays", self.replays, MAX_COUNT),
            "until_worn": _text_or_number("--until-worn", self.until_worn),
            "until_settled": optional_text("--until-settled", self.until_settled),
            "time_scale": _above_zero("--time-scale", self.time_scale),
            "closed": optional_integer("--closed", self.closed, MAX_COUNT),
            "wrap": arguments.boolean("--wrap", self.wrap) or None,
            "state": None if self.state is None else arguments.input_file("--state", self.state),
            "paranoid": arguments.boolean("--paranoid", self.paranoid) or None,
            "detail": arguments.boolean("detail", self.detail) or None,
            "log": optional_path("--log", self.log),
            "series": optional_path("--series", self.series),
            "interval": optional_text("--interval", self.interval),
            "timeline": optional_path("--timeline", self.timeline),
            "timeline_span": optional_text("--timeline-span", self.timeline_span),
            "label": optional_text("label", self.label),
        }
        piped = {os.fspath(file): file.text for file in self._files() if isinstance(file, _Piped)}
        wire["piped"] = piped or None
        return {key: value for key, value in wire.items() if value is not None}

    def configs(self) -> list[str]:
        """Return the paths of the config files; a single one need not be in a list."""
        return [arguments.input_file("--config", file) for file in self._files()]

    def _files(self) -> list[Any]:
        is_one = isinstance(self.config, str | bytes | os.PathLike)
        return list(arguments.sequence("--config", [self.config] if is_one else self.config))


@dataclass(frozen=True, slots=True)
class _Piped(os.PathLike[str]):
    """A config file that is a pipe, and the text that was read from it."""

    path: str
    text: str

    def __fspath__(self) -> str:
        """Return the path."""
        return self.path


def with_pipes_read(plans: Iterable[Plan]) -> list[Plan]:
    """Return plans that hold the text of each config file that is a pipe.

    A pipe can be read only once. Plans are read several times: by the check of their input and
    output files, and by the run.
    """
    known: dict[str, _Piped | None] = {}

    def read(file: Any) -> Any:
        path = arguments.input_file("--config", file)
        if path not in known:
            text = file.text if isinstance(file, _Piped) else _native.text_of_pipe(path)
            known[path] = None if text is None else _Piped(path, text)
        return known[path] or file

    found = []
    for one in plans:
        files = [read(file) for file in one._files()]  # noqa: SLF001  a plan's own module
        is_any = any(isinstance(file, _Piped) for file in files)
        found.append(replace(one, config=files) if is_any else one)
    return found


def to_json(plan: Plan) -> str:
    """Return a plan as the Rust extension reads it."""
    return json.dumps(plan.to_wire(), allow_nan=False)


def setting_lines(settings: Settings) -> list[str]:
    """Return settings as ``key=value`` lines."""
    expected = "a mapping or a list"
    settings = arguments.unwrap(settings)
    if isinstance(settings, str):
        raise InputError.at("--set", f"got the text {quoted(settings)}, expected {expected}")
    if isinstance(settings, Mapping):
        table = arguments.mapping("--set", settings)
        return [f"{key}={toml_value(value, f'--set {key}')}" for key, value in table.items()]
    return arguments.text_list("--set", settings, expected)


def varied_settings(plan: Plan) -> dict[str, str]:
    """Return the settings that a sweep varies, by their keys."""
    varied = arguments.mapping("vary", plan.vary)
    return {key: arguments.text(f"vary {key}", value) for key, value in varied.items()}


def toml_value(value: object, place: str = "--set", depth: int = 0) -> str:
    """Return a value as it is typed after ``key=``; an error message names ``place``."""
    value = arguments.unwrap(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | os.PathLike):
        text = arguments.path(place, value) if isinstance(value, os.PathLike) else value
        return _toml_string(arguments.text(place, text)) if depth else arguments.text(place, text)
    if depth > _MAX_NESTING:
        raise InputError.at(place, f"got lists or tables nested more than {_MAX_NESTING} deep")
    if isinstance(value, Mapping):
        pairs = arguments.mapping(place, value).items()
        entries = [f"{key} = {toml_value(item, place, depth + 1)}" for key, item in pairs]
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ", ".join(toml_value(item, place, depth + 1) for item in value) + "]"
    number = arguments.as_number(value)
    if number is None or (isinstance(number, int) and abs(number) > MAX_INTEGER):
        expected = "a text, a finite number, True or False, or a list or a mapping of these"
        raise arguments.invalid(place, value, expected)
    return str(number)


def _toml_string(text: str) -> str:
    """Return a string as TOML writes it inside a list."""
    return json.dumps(text, ensure_ascii=False)


def _text_or_number(name: str, value: object) -> str | None:
    """Return a string, or a number as it is typed."""
    number = arguments.as_number(value)
    return optional_text(name, value) if number is None else toml_value(number, name)


def _above_zero(name: str, value: object) -> float | None:
    return None if value is None else arguments.positive_number(name, value)


def check_plan(plan: object) -> Plan:
    """Return a plan; raise an :class:`InputError` if it is none."""
    if not isinstance(plan, Plan):
        raise InputError(f"nothing to run: got {quoted(plan)}, expected a ssdlab.Plan")
    return plan
