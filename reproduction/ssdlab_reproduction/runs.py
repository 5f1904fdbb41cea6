"""The runs of a ledger: each is kept when it ends, and what is kept is not run again."""

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
"""How often a log is told how far the runs have come."""

SHORT_HASH = 12
"""Characters of a hash that a ledger shows."""

Key = tuple[str, ...]
Make = Callable[[Plan], Any]


def simulated(plan: Plan) -> dict[str, Any]:
    """Run a plan; its result as plain data."""
    return api.run(plan).to_dict()


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be made of a plan: a result, or what ``make`` returns, which is plain data.

    ``make`` is a function that stands in a module, so that another process can call it.
    """

    plan: Plan
    make: Make = simulated

    def name(self) -> str:
        """Return what this is and nothing else is: of the same build, with the same files."""
        made = [f"{self.make.__module__}.{self.make.__qualname__}"]
        if self.make is not simulated:
            made += [inspect.getsource(sys.modules[self.make.__module__]), sources_hash()]
        inputs = [sha256(file) for file in self._inputs()]
        parts = [build_id(), made, to_json(self.plan), inputs]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def _inputs(self) -> list[Path]:
        """Return every file that decides what comes out: traces, configs and the state."""
        state = [] if self.plan.state is None else [self.plan.state]
        return self.files() + [Path(file) for file in (*self.plan.configs(), *state)]

    def files(self) -> list[Path]:
        """Return the traces that it reads."""
        files = [
            file for app in parse_apps("mix", self.plan.mix) if (file := _file_of(app)) is not None
        ]
        return files + ([] if self.plan.trace is None else [Path(self.plan.trace)])


Jobs = Mapping[Key, Plan | Job]
"""Runs, each with a name among its like: ``("hire", "stg1")``."""


def as_job(run: Plan | Job) -> Job:
    """Return a plan as a job."""
    return run if isinstance(run, Job) else Job(run)


@cache
def build_id() -> str:
    """Return what makes figures what they are, besides their inputs: this build of ssdlab."""
    return __version__ + library_hash()


@cache
def library_hash() -> str:
    """Return the hash of what simulates."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()


@cache
def sources_hash() -> str:
    """Return a hash over the modules that a function of a job may call, what renders aside."""
    package, rendering = Path(_native.__file__).parent, ("render", "cli")
    sources = [
        path.read_bytes()
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in rendering
    ]
    return hashlib.sha256(b"\n".join(sources)).hexdigest()


def _file_of(app: App) -> Path | None:
    """Return the file of an application, whose format may be named behind it; none of a twin."""
    paths = map(Path, (app.file, app.file.rpartition(":")[0]))
    return next((path for path in paths if path.is_file()), None)


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes, as results have it of the trace that they read."""
    try:
        known = path.stat()
        return _sha256(path, known.st_size, known.st_mtime_ns, known.st_ctime_ns)
    except OSError as error:
        raise InputError.at(str(path), f"cannot be read: {error.strerror}") from None


@cache
def _sha256(path: Path, *_seen: int) -> str:
    """Read a file once, as long as it seems to be the same."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class RunStore:
    """Finished jobs, a file each in a folder: what was stopped goes on there."""

    def __init__(self, folder: Path) -> None:
        """Keep them in this folder, which is made if it is not there."""
        self._new = [one for one in (folder, *folder.parents) if not one.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            is_other = isinstance(error, FileExistsError)
            reason = "is no folder" if is_other else error.strerror
            raise InputError.at("--out", f"cannot write {quoted(folder)}: {reason}") from None
        self.folder = folder

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def make(self, jobs: Iterable[Job], count: int | None = None) -> None:
        """Make what is not there, ``count`` at a time; each is kept as soon as it has ended.

        A damaged file counts as not there; how many there are is written to stderr. Raises
        :class:`KeyboardInterrupt` on Ctrl-C, and what :func:`ssdlab.run` raises.
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
        tasks = [partial(_make, job, name, self._file(name)) for name, job in missing.items()]
        done, whole = len(jobs) - len(missing), len(jobs)
        with (
            ProgressLine(every_s=_LOG_EVERY_S) as line,
            side_by_side(at_a_time, tasks) as ended,
        ):
            line(_progress(done, whole))
            for _ in ended:
                done += 1
                line(_progress(done, whole))

    def _missing(self, jobs: Mapping[str, Job]) -> dict[str, Job]:
        """Return the jobs without a file that can be believed; tell how many files cannot."""
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
        """Take folders away that were made for this and are empty, if an input is wrong."""
        try:
            yield
        except InputError:
            with suppress(OSError):
                for folder in self._new:
                    folder.rmdir()
            raise

    def read(self, job: Job) -> Any:
        """Return what was made; a file that was damaged since is made again."""
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
        """Return a hash over what was made, without how fast it was."""
        found = [self.read(job) for job in jobs]
        digests = sorted(
            one.results_digest if isinstance(one, Result) else json.dumps(one) for one in found
        )
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _at_a_time(jobs: Iterable[Job]) -> int:
    """Return how many run at a time. What simulates nothing may be no drive's plan: one a core."""
    plans = [job.plan for job in jobs if job.make is simulated]
    return api.parallel_runs(plans) if plans else available_cores()


def _progress(done: int, whole: int) -> Sequence[tuple[float | None, int, bool, bool]]:
    return [(1.0, 0, False, True)] * done + [(0.0, 0, False, False)] * (whole - done)


def _make(job: Job, name: str, file: Path) -> None:
    """Make a job and keep it."""
    try:
        made = job.make(job.plan)
    except OSError as error:
        # Some jobs write a trace of their own, which goes where temporary files do.
        try:
            where = quoted(tempfile.gettempdir())
        except OSError:
            where = "temporary files"
        found = f"cannot write {where}: {error.strerror or error}"
        raise InputError.at("TMPDIR", found) from None
    if job.name() != name:
        files = " or ".join(["ssdlab", *map(str, job.files())])
        raise InputError(f"{files} changed while it was in use: expected the same until the end")
    job_files.write(file, name, made)


class Runs(Mapping[Key, Any]):
    """Jobs of a set by their names, read when they are asked for."""

    def __init__(self, jobs: Jobs, kept: RunStore) -> None:
        """Read these from there."""
        self._jobs, self._kept = jobs, kept
        self._read: dict[Key, Any] = {}

    def __getitem__(self, key: Key) -> Any:
        """Return a result, or what a job's function returned."""
        if key not in self._read:
            self._read[key] = self._kept.read(as_job(self._jobs[key]))
        return self._read[key]

    def __iter__(self) -> Iterator[Key]:
        """Go through the names, in the order of the set."""
        return iter(self._jobs)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._jobs)

    def names(self, at: int) -> list[str]:
        """Return what stands at a place of the names, each once, in their order."""
        return list(dict.fromkeys(key[at] for key in self))
