"""The runs of a ledger: each is kept when it ends, and a kept run does not run again."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from ssdlab import _native, api, room
from ssdlab._native import __version__
from ssdlab.cli.messages import print_error
from ssdlab.cpu import available_cores
from ssdlab.errors import InputError, one_line, quoted
from ssdlab.files import open_regular
from ssdlab.plan import Plan, to_json
from ssdlab.progress import ProgressLine
from ssdlab.result import Result
from ssdlab.signals import interrupted_once
from ssdlab.traces.apps import App, parse_apps
from ssdlab_reproduction import job_files
from ssdlab_reproduction.pool import side_by_side

_LOG_EVERY_S = 60.0
"""The time between two lines of progress in a log, in seconds."""

_BATCH = 8
"""The most runs of a batch."""
_SHORT = 500_000
"""The most requests of a run that is part of a batch."""

SHORT_HASH = 12
"""The number of characters of a hash in a ledger."""

Key = tuple[str, ...]
Make = Callable[[Plan], Any]


def simulated(plan: Plan) -> dict[str, Any]:
    """Run a plan; return its result as plain data."""
    return api.run(plan).to_dict()


@dataclass(frozen=True, slots=True)
class Job:
    """A job on a plan: to simulate it, or to compute what ``make`` returns as plain data.

    ``make`` is a function of a module, so that another process can call it.
    """

    plan: Plan
    make: Make = simulated

    def name(self) -> str:
        """Return a name that is unique to this job, this build, and the contents of its files."""
        made = [f"{self.make.__module__}.{self.make.__qualname__}"]
        if self.make is not simulated:
            made += [inspect.getsource(sys.modules[self.make.__module__]), sources_hash()]
        inputs = [sha256(file) for file in self._inputs()]
        parts = [build_id(), made, to_json(self.plan), inputs]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def _inputs(self) -> list[Path]:
        """Return every file that determines the result: traces, configs and the state."""
        state = [] if self.plan.state is None else [self.plan.state]
        return self.files() + [Path(file) for file in (*self.plan.configs(), *state)]

    def files(self) -> list[Path]:
        """Return the traces that the job reads."""
        files = [
            file for app in parse_apps("mix", self.plan.mix) if (file := _file_of(app)) is not None
        ]
        return files + ([] if self.plan.trace is None else [Path(self.plan.trace)])


Jobs = Mapping[Key, Plan | Job]
"""Runs, each with a name that is unique in the set: ``("hire", "stg1")``."""


def as_job(run: Plan | Job) -> Job:
    """Return a plan as a job."""
    return run if isinstance(run, Job) else Job(run)


@cache
def build_id() -> str:
    """Return the build of ssdlab, which together with the inputs determines all figures."""
    return __version__ + library_hash()


@cache
def library_hash() -> str:
    """Return the hash of the simulator's library."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()


@cache
def sources_hash() -> str:
    """Return a hash over the modules that a job's function may call, without the renderers."""
    package, rendering = Path(_native.__file__).parent, ("render", "cli")
    sources = [
        path.read_bytes()
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in rendering
    ]
    return hashlib.sha256(b"\n".join(sources)).hexdigest()


def _file_of(app: App) -> Path | None:
    """Return the file of an application, whose format may follow its name; None for a twin."""
    paths = map(Path, (app.file, app.file.rpartition(":")[0]))
    return next((path for path in paths if path.is_file()), None)


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes, the same that results give for their trace.

    Raises :class:`InputError` if the file cannot be read.
    """
    try:
        known = path.stat()
        return _sha256(path, known.st_size, known.st_mtime_ns, known.st_ctime_ns)
    except OSError as error:
        raise InputError.at(str(path), f"cannot be read: {error.strerror}") from None


@cache
def _sha256(path: Path, *_seen: int) -> str:
    """Read a file once, as long as its size and times stay the same."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class RunStore:
    """Finished jobs in a folder, one file each, so that a stopped ledger can be resumed."""

    def __init__(self, folder: Path) -> None:
        """Keep jobs in this folder; create it if it does not exist.

        Raises :class:`InputError` if that fails.
        """
        self._new = [one for one in (folder, *folder.parents) if not one.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            is_other = isinstance(error, FileExistsError)
            reason = "is not a folder" if is_other else error.strerror
            raise InputError.at("--out", f"cannot write {quoted(folder)}: {reason}") from None
        self.folder = folder

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def make(self, jobs: Iterable[Job], count: int | None = None) -> None:
        """Run the jobs that are not kept, ``count`` at a time; keep each as soon as it has ended.

        A damaged file counts as missing; the number of damaged files is written to stderr. Raises
        :class:`KeyboardInterrupt` on Ctrl-C, and the errors of :func:`ssdlab.run`.
        """
        with (
            interrupted_once(),
            self.nothing_left_by_bad_input(),
            job_files.in_use(self.folder),
        ):
            self._make({job.name(): job for job in jobs}, count)

    def _make(self, jobs: Mapping[str, Job], count: int | None) -> None:
        missing = self._missing(jobs)
        if not missing:
            return
        at_a_time = min(count or _at_a_time(missing.values()), len(missing))
        room.check_room("processes for the runs", room.for_processes(at_a_time))
        files = {name: self._file(name) for name in missing}
        batches = _batches(missing, at_a_time)
        tasks = [partial(_make, [(*one, files[one[0]]) for one in batch]) for batch in batches]
        done, whole = len(jobs) - len(missing), len(jobs)
        with (
            ProgressLine(every_s=_LOG_EVERY_S) as line,
            side_by_side(at_a_time, tasks) as ended,
        ):
            line(_progress(done, whole))
            for at in ended:
                done += len(batches[at])
                line(_progress(done, whole))

    def _missing(self, jobs: Mapping[str, Job]) -> dict[str, Job]:
        """Return the jobs without a valid file; report how many files are damaged."""
        files = {name: self._file(name) for name in jobs}
        missing = {
            name: job for name, job in jobs.items() if job_files.read(files[name], name) is None
        }
        if damages := [files[name] for name in missing if files[name].exists()]:
            for file in damages:
                job_files.check_replaceable(file)
            damaged = len(damages)
            are = "kept run is damaged and is" if damaged == 1 else "kept runs are damaged and are"
            print_error(one_line(f"{self.folder}: {damaged} {are} run again"))
        return missing

    @contextmanager
    def nothing_left_by_bad_input(self) -> Iterator[None]:
        """Remove the empty folders that were created for this store, if an input is invalid."""
        try:
            yield
        except InputError:
            with suppress(OSError):
                for folder in self._new:
                    folder.rmdir()
            raise

    def read(self, job: Job) -> Any:
        """Return the result of a job; make it again if its file was damaged.

        Raises :class:`InputError` if the new file cannot be read either.
        """
        name = job.name()
        file = self._file(name)
        found = job_files.read(file, name)
        if found is None:
            self.make([job])
            found = job_files.read(file, name)
        if found is None:
            raise InputError.at("--out", f"{file} does not hold what was written to it")
        return Result.from_dict(found[0]) if job.make is simulated else found[0]

    def digest(self, jobs: Iterable[Job]) -> str:
        """Return a hash over all results, without the speed of the simulation."""
        found = [self.read(job) for job in jobs]
        digests = sorted(
            one.results_digest if isinstance(one, Result) else json.dumps(one) for one in found
        )
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _at_a_time(jobs: Iterable[Job]) -> int:
    """Return how many jobs run at a time; jobs that simulate nothing may run one per core."""
    plans = [job.plan for job in jobs if job.make is simulated]
    return api.parallel_runs(plans) if plans else available_cores()


def _progress(done: int, whole: int) -> Sequence[tuple[float | None, int, bool, bool]]:
    return [(1.0, 0, False, True)] * done + [(0.0, 0, False, False)] * (whole - done)


def _batches(jobs: Mapping[str, Job], at_a_time: int) -> list[list[tuple[str, Job]]]:
    """Return the jobs, by name, in batches; short runs of a batch share their start and load.

    A batch is short, so that little is lost if it is interrupted, and all processes have work.
    """
    most = max(1, min(_BATCH, len(jobs) // (4 * at_a_time)))
    short: dict[Any, list[tuple[str, Job]]] = {}
    alone: list[list[tuple[str, Job]]] = []
    for name, job in jobs.items():
        plan = job.plan
        if job.make is simulated and plan.limit is not None and plan.limit <= _SHORT:
            short.setdefault((plan.device, plan.seed), []).append((name, job))
        else:
            alone.append([(name, job)])
    for group in short.values():
        group.sort(key=lambda one: (str(one[1].plan.workload), one[1].plan.scheme))
    parts = ((group, range(0, len(group), most)) for group in short.values())
    return alone + [group[at : at + most] for group, starts in parts for at in starts]


def _make(batch: Sequence[tuple[str, Job, Path]]) -> None:
    """Run the jobs of a batch, each with its name and its file, and keep their results."""
    try:
        if len(batch) == 1:
            made = [batch[0][1].make(batch[0][1].plan)]
        else:
            plans = [job.plan for _, job, _ in batch]
            made = [result.to_dict() for result in api.compare(plans, jobs=1)]
    except OSError as error:
        # Some jobs write their own trace to the folder of temporary files.
        try:
            where = quoted(tempfile.gettempdir())
        except OSError:
            where = "temporary files"
        found = f"cannot write {where}: {error.strerror or error}"
        raise InputError.at("TMPDIR", found) from None
    for (name, job, file), one in zip(batch, made, strict=True):
        if job.name() != name:
            files = " or ".join(["ssdlab", *map(str, job.files())])
            raise InputError(
                f"{files} changed while it was in use: expected the same until the end"
            )
        job_files.write(file, name, one)


class Runs(Mapping[Key, Any]):
    """The results of a set of jobs by name, read when they are needed."""

    def __init__(self, jobs: Jobs, kept: RunStore) -> None:
        """Store the jobs and the store that holds their results."""
        self._jobs, self._kept = jobs, kept
        self._read: dict[Key, Any] = {}

    def __getitem__(self, key: Key) -> Any:
        """Return a result, or what the function of a job returned."""
        if key not in self._read:
            self._read[key] = self._kept.read(as_job(self._jobs[key]))
        return self._read[key]

    def __iter__(self) -> Iterator[Key]:
        """Return an iterator over the names, in the order of the set."""
        return iter(self._jobs)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self._jobs)

    def names(self, at: int) -> list[str]:
        """Return the distinct values at a position of the names, in their order."""
        return list(dict.fromkeys(key[at] for key in self))
