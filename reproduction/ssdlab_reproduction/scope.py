"""The common options of the runs of claims: a seed, the length of workloads, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdlab.plan import Plan, setting_lines
from ssdlab.traces.apps import App
from ssdlab_reproduction.real_traces import members

_TIMES, _LIMIT = "--time-scale=", "--limit="


@dataclass(frozen=True, slots=True)
class Change:
    """Settings that override those of all runs, or of the runs of ``schemes``.

    They are lines ``key=value``, and also ``--time-scale=FACTOR`` and ``--limit=REQUESTS``, which
    are no config keys. ``needs`` holds additional settings by scheme.
    """

    settings: Sequence[str] = ()
    schemes: Sequence[str] = ()
    needs: Mapping[str, str] = field(default_factory=dict)

    def lines(self, scheme: str) -> list[str]:
        """Return the settings for the runs of a scheme."""
        if self.schemes and scheme not in self.schemes:
            return []
        return [*self.needs.get(scheme, "").split(), *self.settings]


@dataclass(frozen=True, slots=True)
class Scope:
    """The common options of all runs of a ledger, or of the runs of one seed.

    ``quick`` cuts workloads short and leaves some out. ``traces`` are the files that replace twins,
    by the twin's name. Later ``changes`` override earlier ones.
    """

    seed: int = 1
    quick: bool = False
    traces: Mapping[str, Path] = field(default_factory=dict)
    changes: Sequence[Change] = ()

    @property
    def settings(self) -> list[str]:
        """Return the settings of all changes, whatever schemes they affect."""
        return [line for change in self.changes for line in change.settings]

    def cut(self, requests: int | None, quick: int) -> int | None:
        """Return the number of requests to run: ``quick`` in a quick ledger, else ``requests``."""
        return quick if self.quick else requests

    def some(self, names: Sequence[str], quick: Sequence[str]) -> Sequence[str]:
        """Return the workloads or values to run: ``quick`` in a quick ledger, else all."""
        return quick if self.quick else names

    def plan(self, device: str, scheme: str, workload: str, **options: Any) -> Plan:
        """Return a run of a twin, or of the trace or the mix of traces that replaces it."""
        load: dict[str, Any] = {"workload": workload}
        parts = members().get(workload, ())
        if workload in self.traces:
            load = {"trace": self.traces[workload], "wrap": True}
        elif parts and all(member in self.traces for member in parts):
            apps = [
                App(str(self.traces[member]), member.partition("/")[2], queue=at)
                for at, member in enumerate(parts)
            ]
            load = {"mix": apps, "wrap": True}
        chosen = {**options, **load}
        settings = setting_lines(chosen.pop("set", ()))
        for change in self.changes:
            wanted = change.lines(scheme)
            own = [line for line in wanted if "workload" in load or not of_twin(line)]
            taken = {_key(line) for line in own}
            settings = [line for line in settings if _key(line) not in taken]
            for line in own:
                if line.startswith(_TIMES):
                    chosen["time_scale"] = float(line.removeprefix(_TIMES))
                elif line.startswith(_LIMIT):
                    chosen["limit"] = int(line.removeprefix(_LIMIT))
                else:
                    settings.append(line)
        return Plan(device=device, scheme=scheme, seed=self.seed, set=settings, **chosen)


def of_twin(line: str) -> bool:
    """Tell whether a setting changes a twin, so that it does not apply to a real trace."""
    return _key(line).startswith("workload.")


def _key(line: str) -> str:
    return line.partition("=")[0].strip()
