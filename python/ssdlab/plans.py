"""What to run: one plan a run, and sweeps, which are lists of plans."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ssdlab import values
from ssdlab.errors import InputError, quoted
from ssdlab.names import shortest
from ssdlab.traces.mixing import App, named
from ssdlab.values import COUNT_MOST, MOST, optional_path, optional_text, optional_whole, whole

DEFAULT_DEVICE = "generic-mlc-512g"
DEFAULT_SCHEME = "conventional"
DEFAULT_SEED = 1

_NESTED_MOST = 16
"""Lists and tables in one another that a setting may have."""

RUNS_MOST = 10_000
"""The most runs of a sweep or a comparison unless more are allowed: each takes memory and time."""

Path = str | os.PathLike[str]
Settings = Mapping[str, object] | Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run, as asked for. Whatever is left out is at its default.

    ``set`` holds config keys and their values, as a mapping (``{"buffer.size": "50MB"}``) or
    as lines (``["buffer.size=50MB"]``); ``config`` the files below them, later ones before
    earlier ones. ``trace`` is ``FILE`` or ``FILE:format``; ``workload`` the name of one in closed
    form, ``random`` if there is neither; ``mix`` holds traces that run at once, each in a queue and
    in addresses of its own: :class:`ssdlab.traces.App` or text, ``"NAME=FILE@queue=0,scale=2"``.
    ``warmup`` is a number of requests or a time such as ``"10s"``. ``replays`` runs the load so
    often, each time from where the last has left the drive: the figures are those of the last
    time, and ``Result.replays`` has them all; ``until_worn``, a share such as ``"5%"``, so often
    until so many blocks are worn out. ``vary`` says which of all this
    a sweep varies, for the record.

    Numbers and arrays of NumPy are as good as numbers and lists; None for a list or a mapping is
    none of them. Values are checked when the plan runs.

    ``detail`` has the result hold what a report draws. ``log`` and ``series`` are Parquet files
    for a row a request and a row an interval, of ``interval`` such as ``"1s"`` (as fine as some
    hundred rows are if it is not given); ``timeline`` is a file for the Perfetto viewer with what
    every part of the drive does in the first ``timeline_span``, 10 ms if it is not given.
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
    time_scale: float | None = None
    closed: int | None = None
    fit: bool = False
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

    def __post_init__(self) -> None:
        """Take what NumPy's scalars and arrays hold in their place, and nothing for None."""
        empty: dict[str, object] = {"config": (), "set": (), "mix": (), "vary": {}}
        for one in fields(self):
            given = getattr(self, one.name)
            plain = empty.get(one.name) if given is None else values.plain(given)
            if plain is not given:
                object.__setattr__(self, one.name, plain)

    def to_wire(self) -> dict[str, Any]:
        """Return the plan as the Rust side reads it; what is not given is left out."""
        varied_settings(self)
        wire = {
            "device": values.text("--device", self.device),
            "scheme": values.text("--scheme", self.scheme),
            "config": self.configs(),
            "set": assignments(self.set),
            "trace": optional_path("--trace", self.trace),
            "workload": optional_text("--workload", self.workload),
            "mix": [app.to_wire() for app in named("--mix", self.mix)] or None,
            "seed": whole("--seed", self.seed, 0),
            "limit": optional_whole("--limit", self.limit),
            "warmup": _as_typed("--warmup", self.warmup),
            "precondition": optional_text("--precondition", self.precondition),
            "replays": optional_whole("--replays", self.replays, COUNT_MOST),
            "until_worn": _as_typed("--until-worn", self.until_worn),
            "time_scale": _above_zero("--time-scale", self.time_scale),
            "closed": optional_whole("--closed", self.closed, COUNT_MOST),
            "fit": values.truth("--fit", self.fit) or None,
            "state": optional_path("--state", self.state),
            "paranoid": values.truth("--paranoid", self.paranoid) or None,
            "detail": values.truth("detail", self.detail) or None,
            "log": optional_path("--log", self.log),
            "series": optional_path("--series", self.series),
            "interval": optional_text("--interval", self.interval),
            "timeline": optional_path("--timeline", self.timeline),
            "timeline_span": optional_text("--timeline-span", self.timeline_span),
            "label": optional_text("label", self.label),
        }
        return {key: value for key, value in wire.items() if value is not None}

    def configs(self) -> list[str]:
        """Return the paths of the config files; a single one need not be in a list."""
        given = [self.config] if isinstance(self.config, str | bytes | os.PathLike) else self.config
        return [values.path("--config", file) for file in values.items("--config", given)]


def to_json(plan: Plan) -> str:
    """Return a plan as the Rust side reads it."""
    return json.dumps(plan.to_wire(), allow_nan=False)


def assignments(settings: Settings) -> list[str]:
    """Return settings as ``key=value`` lines."""
    expected = "a mapping or a list"
    settings = values.plain(settings)
    if isinstance(settings, str):
        raise InputError.at("--set", f"got the text {quoted(settings)}, expected {expected}")
    if isinstance(settings, Mapping):
        given = values.mapping("--set", settings)
        return [f"{key}={toml(value, f'--set {key}')}" for key, value in given.items()]
    return values.texts("--set", settings, expected)


def varied_settings(plan: Plan) -> dict[str, str]:
    """Return the settings that a sweep varies, by their keys."""
    told = values.mapping("vary", plan.vary)
    return {key: values.text(f"vary {key}", value) for key, value in told.items()}


def toml(value: object, place: str = "--set", depth: int = 0) -> str:
    """Return a value as it is typed after ``key=``; ``place`` is what a message names."""
    value = values.plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | os.PathLike):
        text = values.path(place, value) if isinstance(value, os.PathLike) else value
        return _quoted(values.text(place, text)) if depth else values.text(place, text)
    if depth > _NESTED_MOST:
        raise InputError.at(place, f"got more than {_NESTED_MOST} lists in one another")
    if isinstance(value, Mapping):
        pairs = values.mapping(place, value).items()
        told = [f"{key} = {toml(item, place, depth + 1)}" for key, item in pairs]
        return "{ " + ", ".join(told) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ", ".join(toml(item, place, depth + 1) for item in value) + "]"
    number = values.real(value)
    if number is None or (isinstance(number, int) and abs(number) > MOST):
        expected = "a text, a finite number, True or False, or a list or a mapping of these"
        raise values.refused(place, value, expected)
    return str(number)


def _quoted(text: str) -> str:
    """Return a text as it stands inside a list."""
    return json.dumps(text, ensure_ascii=False)


def _as_typed(name: str, value: object) -> str | None:
    """Return a text, or a number as it would be typed."""
    number = values.real(value)
    return optional_text(name, value) if number is None else toml(number, name)


def _above_zero(name: str, value: object) -> float | None:
    return None if value is None else values.above_zero(name, value)


def as_plan(plan: object) -> Plan:
    """Return what is to be run, if it is a plan."""
    if not isinstance(plan, Plan):
        raise InputError(f"nothing to run: got {quoted(plan)}, expected a ssdlab.Plan")
    return plan


def sweep(
    base: Plan,
    *,
    devices: Sequence[str] = (),
    schemes: Sequence[str] = (),
    traces: Sequence[Path] = (),
    vary: Mapping[str, Sequence[object]] | None = None,
    seeds: int = 1,
    max_runs: int = RUNS_MOST,
) -> list[Plan]:
    """Return a plan for every combination of what is given, each of them ``seeds`` times.

    A list that is empty varies nothing. ``vary`` holds config keys and the values they take.
    Raises :class:`InputError` before any plan is made if there are more than ``max_runs``.
    """
    base = as_plan(base)
    settings = {}
    for key, given in values.mapping("--vary", vary).items():
        place = f"--vary {key}"
        listed = values.items(place, given, "a list of values")
        if not listed:
            raise InputError.at(place, "got no value, expected at least one")
        settings[key] = [toml(value, place) for value in listed]
    devices, schemes = values.texts("--device", devices), values.texts("--scheme", schemes)
    traces = [values.path("--trace", trace) for trace in values.items("--trace", traces)]
    seeds, first = whole("--seeds", seeds, 1), whole("--seed", base.seed, 0)
    sizes = [len(devices), len(schemes), len(traces), *map(len, settings.values())]
    check_count(math.prod(size or 1 for size in sizes) * seeds, max_runs)
    plans = []
    every_trace: Sequence[Path | None] = traces or [base.trace]
    for trace in every_trace:
        for device, scheme, *chosen in itertools.product(
            devices or [base.device], schemes or [base.scheme], *settings.values()
        ):
            varied = dict(zip(settings, chosen, strict=True))
            plan = _varied(replace(base, device=device, scheme=scheme, trace=trace), varied)
            names = [device] * (len(devices) > 1) + [scheme] * (len(schemes) > 1)
            short = zip(shortest(list(varied)), chosen, strict=True)
            label = ", ".join([*names, *(f"{key}={value}" for key, value in short)])
            plan = replace(plan, label=label or base.label or scheme)
            plans += [replace(plan, seed=first + nth) for nth in range(seeds)]
    return plans


def check_count(runs: int, most: int, *, at_least: bool = False) -> None:
    """Refuse more runs than are allowed; ``at_least`` if there may be more still."""
    whole("--max-runs", most, 1, COUNT_MOST)
    if runs > most:
        count = f"{runs} runs or more" if at_least else f"{runs} runs"
        raise InputError.at("--max-runs", f"got {count}, expected at most {most}")


def _varied(plan: Plan, varied: Mapping[str, str]) -> Plan:
    lines = [f"{key}={value}" for key, value in varied.items()]
    return replace(plan, set=[*assignments(plan.set), *lines], vary=varied)


def differ_in_seed_alone(plans: Sequence[Plan]) -> list[list[int]]:
    """Return the indices of the plans in groups whose plans differ in nothing but the seed."""
    groups: dict[str, list[int]] = {}
    for index, plan in enumerate(plans):
        groups.setdefault(to_json(replace(plan, seed=0)), []).append(index)
    return list(groups.values())
