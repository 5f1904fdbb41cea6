"""The ledger: every claim beside the result of our runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import StatisticsError
from typing import Any, TypeVar

from ssdlab._native import __version__
from ssdlab.arguments import integer
from ssdlab.confidence import Interval, interval
from ssdlab.errors import InputError
from ssdlab.plan import Plan, to_json
from ssdlab.result import Result
from ssdlab.suggestions import did_you_mean
from ssdlab.sweeps import MAX_RUNS, check_run_count
from ssdlab_reproduction import crossing
from ssdlab_reproduction.claim import SYSTEMS, Claim, Sweep, Verdict, claims
from ssdlab_reproduction.crossing import Combination
from ssdlab_reproduction.real_traces import (
    RealTraces,
    TraceUsed,
    find_traces,
    is_part,
    measure_trace,
    trace_used,
)
from ssdlab_reproduction.registry import PICTURES, RULES, NeverRanError, Picture, Rows, Rule, Set
from ssdlab_reproduction.runs import (
    SHORT_HASH,
    Job,
    Jobs,
    Runs,
    RunStore,
    as_job,
    library_hash,
    sha256,
)
from ssdlab_reproduction.scope import Change, Scope, of_twin

T = TypeVar("T")

_Wanted = tuple[Sequence[Set], Scope]
"""Sets of runs that a rule or a picture needs, and the scope to run them in."""

SEEDS = 3
"""The number of seeds of a whole ledger; a quick one has one seed."""
MAX_SEEDS = 1000
"""The maximum number of seeds; a ledger of more would take years."""
ALL = "all"
"""The name for all systems."""
TWINS, TRACES, PARTS = "twins", "real traces", "parts of real traces"
"""The loads of runs; a part has fewer requests than a run of the twin reads."""
KEPT = "runs"
"""The folder of finished runs within the folder of the ledger."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The figures of a claim under other settings; an empty ``settings`` means as ruled.

    ``off`` is their distance from the paper's figures, None without figures. ``saturated`` means
    that a run behind them asked more of a drive than it could do.
    """

    settings: str
    ours: Sequence[float]
    verdict: Verdict
    off: float | None = None
    saturated: bool = False


@dataclass(frozen=True, slots=True)
class Swept:
    """A ruling, and the figures under its alternatives, all with the first seed."""

    sweep: Sweep
    ruled: Variant
    variants: Sequence[Variant]


@dataclass(frozen=True, slots=True)
class Row:
    """A claim and its result.

    ``ours`` are means over seeds, one per figure. It is empty if the claim was left out, or if the
    event that the claim is about never happened. ``why`` then names the event, and ``never`` the
    seeds. ``loads`` says whether twins or real traces ran, whole or in part. ``saturated`` says
    whether a run asked more of a drive than it could do.
    """

    claim: Claim
    verdict: Verdict
    ours: Sequence[Interval] = ()
    verdicts: Sequence[Verdict] = ()
    seeds: Sequence[int] = ()
    loads: str = ""
    why: str = ""
    never: Sequence[int] = ()
    saturated: bool = False
    swept: Sequence[Swept] = ()
    crossed: Sequence[Combination] = ()

    @property
    def failed(self) -> bool:
        """Tell whether the claim was tested and did not reproduce in full."""
        return self.verdict in (Verdict.DIRECTION, Verdict.NOT)

    @property
    def ways(self) -> list[tuple[str, float]]:
        """Return the ways to find the figures, with their distances, the nearest first."""
        means = [one.mean for one in self.ours]
        ways = self.claim.ways if means else ()
        return sorted(((way, self.claim.off(means, way)) for way in ways), key=lambda way: way[1])

    @property
    def sweeps(self) -> list[Sweep]:
        """Return the rulings to vary; a ruling on a twin does not apply to a real trace."""
        wanted = [one for one in self.claim.sweeps if self.failed or one.always]
        if TWINS in self.loads:
            return wanted
        return [
            one
            for one in wanted
            if not all(of_twin(line) for variant in one.variants for line in variant.split())
        ]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Claims and their results, and how they were found.

    ``traces`` are the real traces; ``notes`` name the unused files of their folder.
    """

    rows: Sequence[Row]
    quick: bool
    seeds: Sequence[int]
    runs: int
    digest: str
    traces: Sequence[TraceUsed] = ()
    notes: Sequence[str] = ()
    version: str = __version__
    build: str = field(default_factory=lambda: library_hash()[:SHORT_HASH])
    pictures: Sequence[tuple[Picture, Rows]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger as it stands in JSON."""
        drawn = [
            {"system": one.system, "figure": one.figure, "title": one.title, "rows": rows}
            for one, rows in self.pictures
        ]
        return {**asdict(replace(self, pictures=())), "pictures": drawn}


def reproduce(
    names: Iterable[str] = (ALL,),
    *,
    out: str | Path,
    quick: bool = False,
    traces: str | Path | None = None,
    jobs: int | None = None,
    seeds: int | None = None,
    max_runs: int = MAX_RUNS,
) -> Ledger:
    """Recompute the claims of these systems, or single claims; see docs/ledger.md.

    Finished runs are kept in the folder ``out``, so that a new call resumes a stopped one.
    ``traces`` is a folder of real traces, which replace the twins of their names. More than
    ``max_runs`` runs of claims and pictures are refused before the first run. Runs under
    alternative rulings come on top, with the first seed, because they depend on the claims'
    figures. Raises :class:`InputError` if an input is invalid, :class:`KeyboardInterrupt` on
    Ctrl-C.
    """
    chosen, systems = _chosen(names)
    for name in {one.system for one in chosen}:
        load(name)
    count = integer("--seeds", (1 if quick else SEEDS) if seeds is None else seeds, 1, MAX_SEEDS)
    real = RealTraces() if traces is None else find_traces(traces)
    scopes = [Scope(seed, quick, real.traces) for seed in range(1, count + 1)]
    recomputed = [one for one in chosen if one.id in RULES]
    pictures = sorted((one for one in PICTURES if one.system in systems), key=lambda one: one.place)
    wanted: list[_Wanted] = []
    for rule in (RULES[one.id] for one in recomputed):
        wanted += [(rule.sets, scope) for scope in _seeds(rule, scopes, every=seeds is not None)]
    wanted += [(one.sets, scopes[0]) for one in pictures]
    _check_run_count(wanted, max_runs)
    book = _Book(RunStore(Path(out) / KEPT), jobs, scopes, real.traces, all_seeds=seeds is not None)
    book.make(wanted)
    rows = [book.row(one) for one in recomputed]
    if not quick:
        book.make(
            (RULES[row.claim.id].sets, scope)
            for row in rows
            for sweep in row.sweeps
            for scope in (
                crossing.shortened(scopes[0], row.claim),
                *(under(scopes[0], row.claim, sweep, variant) for variant in sweep.variants),
            )
        )
        book.make(
            (RULES[row.claim.id].sets, crossing.under(scopes[0], row.claim, options))
            for row in rows
            for options in crossing.combinations(row.claim)
        )
        rows = [
            replace(row, swept=list(book.swept(row)), crossed=list(book.crossed(row)))
            for row in rows
        ]
    used = {twin: path for twin, path in real.traces.items() if twin in book.replaced}
    return Ledger(
        rows,
        quick,
        [scope.seed for scope in scopes],
        book.count(),
        book.digest(),
        [book.seen(*one) for one in used.items()],
        [*real.notes, *_unread(real, used)],
        pictures=[pair for one in pictures for pair in book.drawn(one)],
    )


def _chosen(wanted: Iterable[str]) -> tuple[list[Claim], set[str]]:
    """Return the named claims in the ledger's order, and the systems that are named as a whole."""
    every, known = claims(), (*SYSTEMS, ALL)
    # Names ignore case: pages write DLV and R14.
    names = {name.casefold(): name for name in (*known, *(one.id for one in every))}
    chosen = {names.get(name.casefold(), name) for name in wanted}
    for name in sorted(chosen.difference(names.values())):
        expected = f"{', '.join(known)} or claims such as R14{did_you_mean(name, names.values())}"
        raise InputError(f"claim or system: got {name!r}, expected {expected}")
    systems = set(SYSTEMS) if ALL in chosen else chosen.intersection(SYSTEMS)
    return [one for one in every if one.system in systems or one.id in chosen], systems


def load(system: str) -> None:
    """Load the rules and the pictures of a system."""
    module = system.replace("-", "_")
    for part in ("systems", "pictures"):
        importlib.import_module(f"ssdlab_reproduction.{part}.{module}")


def _unread(real: RealTraces, used: Mapping[str, Path]) -> Iterator[str]:
    others = sorted({path.name for path in real.traces.values()} - {p.name for p in used.values()})
    if others:
        yield f"not used, because no selected claim runs on it: {', '.join(others)}"


def under(scope: Scope, claim: Claim, sweep: Sweep, variant: str) -> Scope:
    """Return the scope of a claim's runs under an alternative of a sweep."""
    return crossing.shortened(scope, claim, Change(variant.split(), sweep.of, sweep.needs))


class _Book:
    """Runs the jobs of rules, and finds the figures."""

    def __init__(
        self,
        kept: RunStore,
        count: int | None,
        scopes: Sequence[Scope],
        real: Mapping[str, Path],
        *,
        all_seeds: bool,
    ) -> None:
        self._kept, self._count, self._scopes = kept, count, scopes
        self._real, self._all_seeds = real, all_seeds
        self._made: dict[str, Job] = {}
        self.replaced: set[str] = set()
        """The twins that real traces replaced."""

    def make(self, wanted: Iterable[_Wanted]) -> None:
        """Run the jobs that are not kept; a job that several need runs once."""
        with self._kept.nothing_left_by_bad_input():
            jobs = {
                job.name(): job
                for sets, scope in wanted
                for found in _found(sets, scope)
                for job in _jobs(found)
            }
        self._made |= jobs
        # Report an unreadable trace before hours of runs.
        files = {file for job in jobs.values() for file in job.files()}
        self._kept.make(map(_look, files), self._count)
        self._kept.make(jobs.values(), self._count)

    def scopes(self, rule: Rule) -> Sequence[Scope]:
        """Return the seeds of a claim: all if the caller chose them, else those of its rule."""
        return _seeds(rule, self._scopes, every=self._all_seeds)

    def count(self) -> int:
        """Return the number of runs in the ledger."""
        return len(self._made)

    def seen(self, twin: str, file: Path) -> TraceUsed:
        """Return the figures of a real trace beside those of its twin."""
        return trace_used(twin, file, sha256(file), self._kept.read(_look(file)))

    def digest(self) -> str:
        """Return a hash over the results of all runs; equal results give an equal hash."""
        return self._kept.digest(self._made.values())

    def drawn(self, picture: Picture) -> Iterator[tuple[Picture, Rows]]:
        """Yield the data of a picture, if its runs were made."""
        sets = _found(picture.sets, self._scopes[0])
        if all(sets):
            with suppress(NeverRanError):
                yield picture, self._look(picture.rows, sets)

    def row(self, claim: Claim) -> Row:
        rule = RULES[claim.id]
        scopes = self.scopes(rule)
        sets = _found(rule.sets, scopes[0])
        loads = self._loads(claim.system, [job for jobs in sets for job in _jobs(jobs)])
        if not all(sets):
            return Row(claim, Verdict.LEFT_OUT)
        seeds = [scope.seed for scope in scopes]
        found: list[Sequence[float]] = []
        never: dict[int, str] = {}
        for scope in scopes:
            try:
                found.append(self._figures(claim, scope))
            except NeverRanError as reason:
                never[scope.seed] = str(reason)
                found.append(reason.found)
        # If one seed found nothing, there is no mean over seeds.
        ours = [interval(values) for values in zip(*found, strict=all(found))]
        verdicts = claim.judged([one.mean for one in ours]) if ours else ()
        verdict = Verdict.NOT if never else Verdict.worst(verdicts)
        why = _why(never, len(scopes)) if never else ""
        saturated = any(self._is_saturated(rule, scope) for scope in scopes)
        return Row(claim, verdict, ours, verdicts, seeds, loads, why, list(never), saturated)

    def _loads(self, system: str, jobs: Sequence[Job]) -> str:
        """Return whether twins or real traces ran, and whether the traces were whole."""
        own = {twin: file for twin, file in self._real.items() if twin.startswith(f"{system}/")}
        ran = [
            (job, [self.seen(twin, file) for twin, file in own.items() if file in job.files()])
            for job in jobs
        ]
        self.replaced |= {one.twin for _, read in ran for one in read}
        parts = [is_part(read, job.plan.limit) for job, read in ran if read]
        kinds = {
            TRACES: not all(parts),
            PARTS: any(parts),
            TWINS: any("/" in (job.plan.workload or "") for job in jobs),
        }
        return " and ".join(name for name, there in kinds.items() if there)

    def swept(self, row: Row) -> Iterator[Swept]:
        if not row.sweeps:
            return
        ruled = self._variant(row.claim, crossing.shortened(self._scopes[0], row.claim), "")
        for sweep in row.sweeps:
            found = [
                self._variant(row.claim, under(self._scopes[0], row.claim, sweep, variant), variant)
                for variant in sweep.variants
            ]
            yield Swept(sweep, ruled, found)

    def crossed(self, row: Row) -> Iterator[Combination]:
        for options in crossing.combinations(row.claim):
            scope = crossing.under(self._scopes[0], row.claim, options)
            one = self._variant(row.claim, scope, "")
            yield Combination(options, one.ours, one.verdict, one.off)

    def _variant(self, claim: Claim, scope: Scope, settings: str) -> Variant:
        saturated = self._is_saturated(RULES[claim.id], scope)
        try:
            ours = self._figures(claim, scope)
        except NeverRanError as reason:
            off = claim.off(reason.found) if reason.found else None
            return Variant(settings, reason.found, Verdict.NOT, off, saturated)
        verdict = Verdict.worst(claim.judged(ours))
        return Variant(settings, ours, verdict, claim.off(ours), saturated)

    def _is_saturated(self, rule: Rule, scope: Scope) -> bool:
        made = (self._kept.read(job) for found in _found(rule.sets, scope) for job in _jobs(found))
        return any(isinstance(one, Result) and one.saturated for one in made)

    def _figures(self, claim: Claim, scope: Scope) -> list[float]:
        rule = RULES[claim.id]
        found = self._look(rule.figures, _found(rule.sets, scope))
        if len(found) != len(claim.figures):
            raise ValueError(f"{claim.id} has {len(claim.figures)} figures, found {len(found)}")
        return [float(one) for one in found]

    def _look(self, find: Callable[..., T], sets: Iterable[Jobs]) -> T:
        """Return what ``find`` computes from runs.

        Raises :class:`NeverRanError` if requests are too few; a short trace may lack a kind of
        request.
        """
        try:
            return find(*(Runs(jobs, self._kept) for jobs in sets))
        except (ZeroDivisionError, StatisticsError):
            raise NeverRanError("a run has nothing to compare with: too few requests") from None


def _seeds(rule: Rule, scopes: Sequence[Scope], *, every: bool) -> Sequence[Scope]:
    return scopes if every else scopes[: rule.seeds]


def _check_run_count(wanted: Iterable[_Wanted], most: int) -> None:
    """Refuse more runs than allowed, without creating more than that."""
    runs: set[tuple[Any, str]] = set()
    check_run_count(len(runs), most)
    for sets, scope in wanted:
        for found in _found(sets, scope):
            runs.update((job.make, to_json(job.plan)) for job in _jobs(found))
            check_run_count(len(runs), most, at_least=True)


def _why(never: Mapping[int, str], seeds: int) -> str:
    """Return the event that never happened, and the seeds unless they are all."""
    first = next(iter(never.values()))
    if len(never) == seeds:
        return first
    return f"with seed {', '.join(map(str, never))}: {first}"


def _look(file: Path) -> Job:
    return Job(Plan(trace=file), measure_trace)


def _found(sets: Iterable[Set], scope: Scope) -> list[Jobs]:
    return [make(scope) for make in sets]


def _jobs(jobs: Jobs) -> Iterator[Job]:
    return (as_job(run) for run in jobs.values())
