"""What to run: one plan a run, and sweeps, which are lists of plans."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ssdlab.errors import InputError
from ssdlab.names import shortest
from ssdlab.traces.mixing import App, named

DEFAULT_DEVICE = "generic-mlc-512g"
DEFAULT_SCHEME = "conventional"
DEFAULT_SEED = 1

MOST = (1 << 63) - 1
"""The largest whole number that the Rust side takes."""
COUNT_MOST = (1 << 32) - 1
"""The most requests that can be kept outstanding, and the most replays."""

RUNS_MOST = 10_000
"""The most runs of a sweep or a comparison unless more are allowed: each takes memory and time."""

Path = str | os.PathLike[str]
Settings = Mapping[str, object] | Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run, as asked for. Whatever is left out is at its default.

    ``set`` holds config keys and their values, as a mapping (``{"tend.gc.threshold": "5%"}``) or
    as lines (``["tend.gc.threshold=5%"]``); ``config`` the files below them, later ones before
    earlier ones. ``trace`` is ``FILE`` or ``FILE:format``; ``workload`` the name of one in closed
    form, ``random`` if there is neither; ``mix`` holds traces that run at once, each in a queue and
    in addresses of its own: :class:`ssdlab.traces.App` or text, ``"NAME=FILE@queue=0,scale=2"``.
    ``warmup`` is a number of requests or a time such as ``"10s"``. ``replays`` runs the load so
    often, each time from where the last has left the drive: the figures are those of the last
    time, and ``Result.replays`` has them all; ``until_worn``, a share such as ``"5%"``, so often
    until so many blocks are worn out. ``vary`` says which of all this
    a sweep varies, for the record.

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

    def to_wire(self) -> dict[str, Any]:
        """Return the plan as the Rust side reads it; what is not given is left out."""
        config = self.config if not isinstance(self.config, str | os.PathLike) else [self.config]
        wire = {
            "device": _text("--device", self.device),
            "scheme": _text("--scheme", self.scheme),
            "config": [_path("--config", file) for file in config],
            "set": assignments(self.set),
            "trace": _path("--trace", self.trace),
            "workload": _text("--workload", self.workload),
            "mix": [app.to_wire() for app in named("--mix", self.mix)] or None,
            "seed": whole("--seed", self.seed, 0),
            "limit": _optional_whole("--limit", self.limit),
            "warmup": _text("--warmup", _as_typed(self.warmup)),
            "precondition": _text("--precondition", self.precondition),
            "replays": _optional_whole("--replays", self.replays, COUNT_MOST),
            "until_worn": _text("--until-worn", _as_typed(self.until_worn)),
            "time_scale": _above_zero("--time-scale", self.time_scale),
            "closed": _optional_whole("--closed", self.closed, COUNT_MOST),
            "fit": _truth("--fit", self.fit) or None,
            "state": _path("--state", self.state),
            "paranoid": _truth("--paranoid", self.paranoid) or None,
            "detail": _truth("detail", self.detail) or None,
            "log": _path("--log", self.log),
            "series": _path("--series", self.series),
            "interval": _text("--interval", self.interval),
            "timeline": _path("--timeline", self.timeline),
            "timeline_span": _text("--timeline-span", self.timeline_span),
            "label": _text("label", self.label),
        }
        return {key: value for key, value in wire.items() if value is not None}

    def files(self) -> list[tuple[str, str]]:
        """Return the files that the run writes as it goes, each with the name of its option."""
        files = {"--log": self.log, "--series": self.series, "--timeline": self.timeline}
        return [(name, os.fspath(path)) for name, path in files.items() if path is not None]


def to_json(plan: Plan) -> str:
    """Return a plan as the Rust side reads it."""
    return json.dumps(plan.to_wire(), allow_nan=False)


def assignments(settings: Settings) -> list[str]:
    """Return settings as ``key=value`` lines."""
    if isinstance(settings, str):
        raise InputError.at("--set", f"got the text {settings!r}, expected a mapping or a list")
    if isinstance(settings, Mapping):
        return [f"{key}={toml(value)}" for key, value in settings.items()]
    if not isinstance(settings, Sequence):
        raise InputError.at("--set", f"got {settings!r}, expected a mapping or a list")
    for line in settings:
        _text("--set", line)
    return list(settings)


def toml(value: object) -> str:
    """Return a value as it is typed after ``key=``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_quoted(item)}" for key, item in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    return str(value)


def _quoted(value: object) -> str:
    """Return a value as it stands inside a list, where texts have quotes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else toml(value)


def _path(name: str, path: Path | None) -> str | None:
    return _text(name, os.fspath(path) if isinstance(path, os.PathLike) else path)


def _text(name: str, value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError.at(name, f"got {value!r}, expected a text")
    return value


def _truth(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise InputError.at(name, f"got {value!r}, expected True or False")
    return value


def _as_typed(value: str | float | None) -> Any:
    """Return a number as it would be typed."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def whole(name: str, value: int, least: int, most: int = MOST) -> int:
    """Return a whole number that the Rust side can take, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError.at(name, f"got {value!r}, expected {bounds(value, least, most)}")
    return value


def bounds(value: object, least: int, most: int) -> str:
    """Return what was expected in place of a value, which is too large or no such number."""
    too_large = isinstance(value, int) and value > most
    return f"at most {most}" if too_large else f"a whole number from {least}"


def _above_zero(name: str, value: float | None) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and 0 < value < float("inf")):
        raise InputError.at(name, f"got {value!r}, expected a number above 0")
    return value


def _optional_whole(name: str, value: int | None, most: int = MOST) -> int | None:
    return None if value is None else whole(name, value, 1, most)


def as_plan(plan: object) -> Plan:
    """Return what is to be run, if it is a plan."""
    if not isinstance(plan, Plan):
        raise InputError(f"nothing to run: got {plan!r}, expected a ssdlab.Plan")
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
    for key, values in (vary or {}).items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise InputError.at(f"--vary {key}", f"got {values!r}, expected a list of values")
        if not values:
            raise InputError.at(f"--vary {key}", "got no value, expected at least one")
    whole("--seeds", seeds, 1)
    varied_lists = [devices, schemes, traces, *(vary or {}).values()]
    check_count(math.prod(len(values) or 1 for values in varied_lists) * seeds, max_runs)
    settings = {key: [toml(value) for value in values] for key, values in (vary or {}).items()}
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
            plans += [replace(plan, seed=base.seed + nth) for nth in range(seeds)]
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
