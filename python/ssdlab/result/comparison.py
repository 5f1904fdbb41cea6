"""The results of several runs, and means over seeds."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdlab import _native, arrow
from ssdlab.confidence import Interval, intervals
from ssdlab.display import as_text
from ssdlab.result.run import Result

if typing.TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Runs that differ only in their seed, aggregated: every figure with its 95 % interval.

    ``runs`` are their indices. ``left_out`` are the runs that were stopped before their end. If all
    were, none is left out, and ``partial`` is True.
    """

    label: str
    runs: Sequence[int]
    seeds: Sequence[int]
    metrics: Mapping[str, Interval]
    partial: bool = False
    left_out: Sequence[int] = ()

    @property
    def alike(self) -> bool:
        """Tell whether all seeds gave the same figures."""
        return not any(interval.half_width_95 for interval in self.metrics.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the aggregate as it stands in JSON."""
        metrics = {name: interval.to_dict() for name, interval in self.metrics.items()}
        whole: dict[str, Any] = {"label": self.label, "runs": list(self.runs)}
        whole |= {"seeds": list(self.seeds), "metrics": metrics, "partial": self.partial}
        return whole | {"left_out": list(self.left_out)}


@dataclass(frozen=True, slots=True)
class Missing:
    """A run that was requested but stopped before anything was measured."""

    label: str
    seed: int


@dataclass(frozen=True, slots=True)
class Comparison(Sequence[Result]):
    """The results of several runs, in the order of the requested runs."""

    results: Sequence[Result]
    aggregates: Sequence[Aggregate] = ()
    missing: Sequence[Missing] = ()

    @typing.overload
    def __getitem__(self, index: int) -> Result: ...
    @typing.overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        """Return one result, or several."""
        return self.results[index]

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        """Return an iterator over the results."""
        return iter(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``--json`` writes."""
        whole: dict[str, Any] = {"schema_version": _native.SCHEMA_VERSION}
        whole["results"] = [result.to_dict() for result in self.results]
        if self.aggregates:
            whole["aggregates"] = [aggregate.to_dict() for aggregate in self.aggregates]
        if self.missing:
            whole["missing"] = [asdict(run) for run in self.missing]
        return whole

    def to_arrow(self) -> pa.Table:
        """Return the results as an Arrow table, a row each, for polars or pandas.

        The columns are the names of what ran, the seed, a column ``vary.KEY`` for each varied
        setting, and every figure. A figure has its dotted name in the JSON, such as
        ``read.latency_us.p99`` or ``queues.0.read.latency_us.p99``, and the unit of
        the documentation's page "Results". A value that a result does not have is null.
        """
        return arrow.table([_row(result) for result in self.results])

    def to_json(self, indent: int | None = 2) -> str:
        """Return the text that ``--json`` writes."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def json_parts(self) -> Iterator[str]:
        """Yield the text of :meth:`to_json` in parts, made one by one.

        The whole text of many results would take several times the memory of the results.
        """
        head, tail = Comparison((), self.aggregates, self.missing).to_json().split("[]", 1)
        yield head + "["
        separator = "\n"
        for result in self.results:
            # A string in JSON never contains a line end.
            yield separator + _INDENT + result.to_json().replace("\n", "\n" + _INDENT)
            separator = ",\n"
        yield ("\n  ]" if self.results else "]") + tail

    def __str__(self) -> str:
        """Return the tables that ``ssdlab compare`` prints."""
        return as_text(self)


_INDENT = 4 * " "
"""The indentation of each line of a result."""


def _row(result: Result) -> dict[str, Any]:
    names = ("label", "device", "scheme", "workload", "partial", "results_digest")
    row: dict[str, Any] = {name: getattr(result, name) for name in names}
    made = result.provenance
    row |= {"seed": made.seed, "version": made.version, "config_hash": made.config_hash}
    row |= {f"vary.{key}": value for key, value in result.vary.items()}
    return row | flat_figures(result.raw)


def aggregate(label: str, runs: Sequence[int], results: Sequence[Result]) -> Aggregate:
    """Aggregate the runs of these indices, which differ only in their seed."""
    whole = [run for run in runs if not results[run].partial]
    left_out = [run for run in runs if results[run].partial] if whole else []
    runs = whole or runs
    figures = (flat_figures(results[run].raw) for run in runs)
    seeds = [results[run].provenance.seed for run in runs]
    return Aggregate(label, runs, seeds, intervals(figures), not whole, left_out)


_LISTS = {"queues", "priorities", "each"}
"""Lists of tables that have the same length in all compared runs."""


def flat_figures(data: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Return every number of a result by its dotted name; the index of a queue is a part of it.

    How and how fast the result was computed is left out, and so is the data for reports.
    """
    figures: dict[str, float] = {}
    for key, value in data.items():
        if key in {"detail", "provenance", "sim"} and not prefix:
            continue
        if key in _LISTS and isinstance(value, list | tuple):
            value = {str(at): one for at, one in enumerate(value)}  # noqa: PLW2901
        if isinstance(value, Mapping):
            figures |= flat_figures(value, f"{prefix}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            figures[prefix + key] = value
    return figures
