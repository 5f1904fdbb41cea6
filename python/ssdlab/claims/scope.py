"""Of what the runs of the claims are made: a seed, how much of each workload, real traces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ssdlab import _native
from ssdlab.errors import InputError
from ssdlab.plans import Plan, assignments
from ssdlab.traces.mixing import App

_TITLE = re.compile(r"twin of (?:MSPS )?(.*) \(")
"""The trace of which a twin is; those of Microsoft's servers are called so without their source."""
_TIMES, _LIMIT = "--time-scale=", "--limit="


@dataclass(frozen=True, slots=True)
class Scope:
    """What all runs of a ledger have in common, or those of one of its seeds.

    ``quick`` cuts workloads short and leaves some out; ``traces`` are files in place of twins, by
    the twin's name. ``settings`` are put on top of every run, or of those of some schemes, and in
    place of a run's own of the same key: lines ``key=value``, and ``--time-scale=FACTOR`` and
    ``--limit=REQUESTS``, which are no keys of a drive. ``needs`` are a scheme's own besides.
    """

    seed: int = 1
    quick: bool = False
    traces: Mapping[str, Path] = field(default_factory=dict)
    settings: Sequence[str] = ()
    schemes: Sequence[str] = ()
    needs: Mapping[str, str] = field(default_factory=dict)

    def cut(self, requests: int | None, quick: int) -> int | None:
        """Return how many requests run: in a quick ledger so many, else ``requests``."""
        return quick if self.quick else requests

    def some(self, names: Sequence[str], quick: Sequence[str]) -> Sequence[str]:
        """Return the workloads or values that run: in a quick ledger these, else all."""
        return quick if self.quick else names

    def plan(self, device: str, scheme: str, workload: str, **options: Any) -> Plan:
        """Return a run of a twin, or of the trace or the mix of traces that takes its place."""
        load: dict[str, Any] = {"workload": workload}
        members = _members().get(workload, ())
        if workload in self.traces:
            load = {"trace": self.traces[workload], "fit": True}
        elif members and all(member in self.traces for member in members):
            apps = [
                App(str(self.traces[member]), member.partition("/")[2], queue=at)
                for at, member in enumerate(members)
            ]
            load = {"mix": apps, "fit": True}
        given = {**options, **load}
        settings = assignments(given.pop("set", ()))
        if not self.schemes or scheme in self.schemes:
            asked = [*self.needs.get(scheme, "").split(), *self.settings]
            own = [line for line in asked if "workload" in load or not of_twin(line)]
            taken = {_key(line) for line in own}
            settings = [line for line in settings if _key(line) not in taken]
            for line in own:
                if line.startswith(_TIMES):
                    given["time_scale"] = float(line.removeprefix(_TIMES))
                elif line.startswith(_LIMIT):
                    given["limit"] = int(line.removeprefix(_LIMIT))
                else:
                    settings.append(line)
        return Plan(device=device, scheme=scheme, seed=self.seed, set=settings, **given)


@dataclass(frozen=True, slots=True)
class Real:
    """The files of a folder that take the place of twins, by the twin's name.

    ``notes`` say what else is there, and which mixes lack a member's file and run as twins.
    """

    traces: Mapping[str, Path] = field(default_factory=dict)
    notes: Sequence[str] = ()


def traces_in(folder: str | Path) -> Real:
    """Return the real traces of a folder.

    A file is called as the trace is (``hm_0.csv.gz``, ``Financial1.spc``) or as its twin
    (``fin1.csv``); case and punctuation do not matter. Raises :class:`InputError` if there is no
    such folder, nothing in it has such a name, or two files are the same trace.
    """
    try:
        files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError.at("--traces", f"cannot read {str(folder)!r}: {reason}") from None
    named: dict[str, list[Path]] = {}
    for path in files:
        named.setdefault(_plain(path.name.partition(".")[0]), []).append(path)
    found = {}
    for twin in _twins():
        own = [path for name in dict.fromkeys(_names(twin)) for path in named.get(name, ())]
        if len(own) > 1:
            told = " and ".join(path.name for path in own)
            raise InputError.at("--traces", f"{told} are both {twin['name']}: expected one of them")
        if own and not twin["members"]:
            found[twin["name"]] = own[0]
    if not found:
        expected = "files called as the traces are, such as hm_0.csv.gz or Financial1.spc"
        raise InputError.at("--traces", f"no trace in {str(folder)!r}: expected {expected}")
    others = [path.name for path in files if path not in found.values()]
    notes = [f"not used, for no twin has its name: {', '.join(others)}"] if others else []
    for mix, members in _members().items():
        lacking = [member for member in members if member not in found]
        if 0 < len(lacking) < len(members):
            notes.append(f"{mix} runs as a twin: no file for {', '.join(lacking)}")
    return Real(found, notes)


@cache
def _twins() -> Sequence[Mapping[str, Any]]:
    return tuple(json.loads(_native.twins()))


@cache
def _members() -> Mapping[str, Sequence[str]]:
    """Return the twins of which each mix consists, a queue each."""
    return {twin["name"]: twin["members"] for twin in _twins() if twin["members"]}


def of_twin(line: str) -> bool:
    """Tell whether a setting changes a twin, so that a real trace has no use for it."""
    return _key(line).startswith("workload.")


def _key(line: str) -> str:
    return line.partition("=")[0].strip()


def _names(twin: Mapping[str, Any]) -> list[str]:
    """Return what a file of a twin's trace may be called: as any twin of that trace, or as it."""
    trace = _trace_of(twin)
    alike = [one["name"].partition("/")[2] for one in _twins() if _trace_of(one) == trace]
    return [_plain(name) for name in (*alike, trace)]


def _trace_of(twin: Mapping[str, Any]) -> str:
    title = _TITLE.match(twin["title"])
    assert title is not None
    return title[1]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
