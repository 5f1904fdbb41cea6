"""Sweeps: lists of plans, one for every combination."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ssdlab import arguments
from ssdlab.arguments import MAX_COUNT, integer
from ssdlab.errors import InputError
from ssdlab.labels import shortest_suffixes
from ssdlab.plan import Path, Plan, check_plan, setting_lines, to_json, toml_value

MAX_RUNS = 10_000
"""The default limit on the runs of a sweep or a comparison; each takes memory and time."""


def sweep(
    base: Plan,
    *,
    devices: Sequence[str] = (),
    schemes: Sequence[str] = (),
    traces: Sequence[Path] = (),
    vary: Mapping[str, Sequence[object]] | None = None,
    seeds: int = 1,
    max_runs: int = MAX_RUNS,
) -> list[Plan]:
    """Return a plan for every combination of the given values, each with ``seeds`` seeds.

    An empty list varies nothing. ``vary`` holds config keys and their values. Raises
    :class:`InputError` before it makes any plan if there would be more than ``max_runs``.
    """
    base = check_plan(base)
    settings = {}
    for key, values in arguments.mapping("--vary", vary).items():
        place = f"--vary {key}"
        listed = arguments.sequence(place, values, "a list of values")
        if not listed:
            raise InputError.at(place, "got no value, expected at least one")
        settings[key] = [toml_value(value, place) for value in listed]
    devices, schemes = (
        arguments.text_list("--device", devices),
        arguments.text_list("--scheme", schemes),
    )
    traces = [arguments.path("--trace", trace) for trace in arguments.sequence("--trace", traces)]
    seeds, first = integer("--seeds", seeds, 1), integer("--seed", base.seed, 0)
    sizes = [len(devices), len(schemes), len(traces), *map(len, settings.values())]
    check_run_count(math.prod(size or 1 for size in sizes) * seeds, max_runs)
    plans = []
    every_trace: Sequence[Path | None] = traces or [base.trace]
    for trace in every_trace:
        for device, scheme, *chosen in itertools.product(
            devices or [base.device], schemes or [base.scheme], *settings.values()
        ):
            varied = dict(zip(settings, chosen, strict=True))
            plan = _with_settings(replace(base, device=device, scheme=scheme, trace=trace), varied)
            names = [device] * (len(devices) > 1) + [scheme] * (len(schemes) > 1)
            short = zip(shortest_suffixes(list(varied)), chosen, strict=True)
            label = ", ".join([*names, *(f"{key}={value}" for key, value in short)])
            plan = replace(plan, label=label or base.label or scheme)
            plans += [replace(plan, seed=first + nth) for nth in range(seeds)]
    return plans


def check_run_count(runs: int, maximum: int, *, at_least: bool = False) -> None:
    """Refuse more runs than allowed; with ``at_least``, there may be even more."""
    integer("--max-runs", maximum, 1, MAX_COUNT)
    if runs > maximum:
        count = f"{runs} runs or more" if at_least else f"{runs} runs"
        raise InputError.at("--max-runs", f"got {count}, expected at most {maximum}")


def _with_settings(plan: Plan, varied: Mapping[str, str]) -> Plan:
    lines = [f"{key}={value}" for key, value in varied.items()]
    return replace(plan, set=[*setting_lines(plan.set), *lines], vary=varied)


def seed_groups(plans: Sequence[Plan]) -> list[list[int]]:
    """Return the indices of the plans, in groups of plans that differ only in their seed."""
    groups: dict[str, list[int]] = {}
    for index, plan in enumerate(plans):
        groups.setdefault(to_json(replace(plan, seed=0)), []).append(index)
    return list(groups.values())
