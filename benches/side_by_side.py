"""Run the same requests through another simulator and ssdlab in turn, and print the ratios."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click
from machine import commit, processor

import ssdlab
from ssdlab import Plan

DEVICE = "generic-mlc-512g"
VALIDATION = Path(__file__).parents[1] / "tests/validation"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Request(NamedTuple):
    """A request of a trace: when it arrives, what it does, and its bytes."""

    ns: int
    read: bool
    offset: int
    size: int


@dataclass(frozen=True)
class Case:
    """A workload, and the config files that adapt the device to it."""

    about: str
    config: tuple[str, ...]
    footprint: int
    sizes: tuple[int, ...]
    read_share: float
    gap_us: float

    def requests(self, count: int) -> Iterator[Request]:
        """Yield random requests, aligned to the smallest size."""
        draw = random.Random(1)
        now = 0.0
        for _ in range(count):
            now += draw.expovariate(1 / self.gap_us)
            size = draw.choice(self.sizes)
            step = min(self.sizes)
            at = draw.randrange((self.footprint - size) // step + 1) * step
            yield Request(round(now * 1000), draw.random() < self.read_share, at, size)


class Operations(NamedTuple):
    """The page operations of a run."""

    reads: int
    programs: int


@dataclass
class Run:
    """The cost of a command, and the mean response time that it reports, in microseconds."""

    processor_s: float
    wall_s: float
    peak_mb: float
    mean_us: float
    operations: Operations | None = None
    """None if the simulator's output does not count them."""


@dataclass(frozen=True)
class Simulator:
    """Another simulator, and how it gets the drive and the trace of an ssdlab run."""

    name: str
    title: str
    trace: str
    """The trace format that both read."""
    lines: Callable[[Iterable[Request]], Iterator[str]]
    configure: Callable[[Mapping[str, Any], Path], None]
    """Writes the simulator's configuration of an ssdlab config into a folder."""
    run: Callable[[Path, Path], Run]
    """Runs the binary on the files in a folder."""
    cases: Mapping[str, Case]


def wrong(line: str) -> NoReturn:
    """Print an error and end with exit code 2."""
    print(line, file=sys.stderr)
    raise SystemExit(2)


WATCH = """
import json, os, resource, sys, time
begin = time.monotonic()
code = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
took = used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024 / 1e6
with open(sys.argv[1], "w") as file:
    json.dump(took, file)
sys.exit(code if code in (0, 127) else 1)
"""
"""A program that runs a command and records its cost.

The system reports a process as at least as large as its parent, so a small process has to start the
command.
"""


NO_PROGRAM = 127
"""The exit code of a shell, and of the program above, if the command cannot be run."""


def timed(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Run a command; return processor and wall time in seconds, and peak memory in MB."""
    watch = [sys.executable, "-S", "-E", "-c", WATCH, "took"]
    with (folder / "log").open("wb") as log:
        done = subprocess.run(
            [*watch, *command], cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode == NO_PROGRAM:
        wrong(f"{command[0]}: it cannot be run: expected a program")
    if done.returncode != 0:
        text = " ".join((folder / "log").read_text(errors="replace")[-300:].split())
        wrong(f"{command[0]}: it failed{f': {text}' if text else ', and log nothing'}")
    processor, wall, peak = json.loads((folder / "took").read_text(encoding="utf-8"))
    return processor, wall, peak


def nanoseconds(time_: str) -> int:
    """Return a time of a config, such as "75us", in nanoseconds."""
    units = {"ns": 1, "us": 1000, "ms": 1_000_000}
    number, unit = time_[:-2], time_[-2:]
    return round(float(number) * units[unit])


def page_bytes(config: Mapping[str, Any]) -> int:
    """Return the bytes of a page of an ssdlab config."""
    return int(config["geometry"]["page_size"].removesuffix("KiB")) * KIB


def through_ssdlab(case: Case, trace: str, folder: Path) -> Run:
    """Run ssdlab on the trace in a folder, which is of this format."""
    config = [word for file in case.config for word in ("--config", file)]
    ours = Path(sys.executable).with_name("ssdlab")
    command = [str(ours), "run", "--device", DEVICE, *config]
    took = timed([*command, "--trace", f"trace:{trace}", "--json", "ours.json"], folder)
    result = json.loads((folder / "ours.json").read_text(encoding="utf-8"))["results"][0]
    operations = Operations(*(sum(result["ops"][kind].values()) for kind in ("read", "program")))
    return Run(*took, result["all"]["latency_us"]["mean"], operations)


def _in_turn(
    other: Simulator, case: Case, binary: Path, requests: int, runs: int
) -> dict[str, Any]:
    """Return the runs of a case by the simulators' names."""
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with (folder / "trace").open("w", encoding="ascii") as trace:
            trace.writelines(other.lines(case.requests(requests)))
        read = str(folder / f"trace:{other.trace}")
        first = Plan(device=DEVICE, config=case.config, trace=read, limit=1)
        other.configure(ssdlab.run(first).provenance.config, folder)
        for _ in range(runs):
            theirs.append(other.run(binary.resolve(), folder))
            ours.append(through_ssdlab(case, other.trace, folder))
    return {other.name: theirs, "ssdlab": ours}


def _show(other: Simulator, taken: Mapping[str, list[Run]]) -> None:
    """Print the fastest run of each simulator, and the ratios."""
    best = {name: min(runs, key=lambda run: run.processor_s) for name, runs in taken.items()}
    width = max(map(len, (other.title, "ssdlab", "ratio")))
    for name, run in best.items():
        title = other.title if name == other.name else name
        done = run.operations
        print(
            f"  {title:<{width}} {run.processor_s:7.2f} s of processor, {run.wall_s:7.2f} s,"
            f" {run.peak_mb:7,.0f} MB, mean response {run.mean_us:,.0f} µs"
            + (f", {done.reads:,} page reads, {done.programs:,} programs" if done else "")
        )
    more, less = best[other.name], best["ssdlab"]
    print(
        f"  {'ratio':<{width}} {more.processor_s / less.processor_s:7.1f} × processor,"
        f" {more.wall_s / less.wall_s:6.1f} × wall, {more.peak_mb / less.peak_mb:5.1f} × memory"
    )


def compare(other: Simulator, binary: Path, requests: int, runs: int, save: Path | None) -> None:
    """Compare the simulators case by case."""
    raw: dict[str, Any] = {"version": ssdlab.__version__, "requests": requests}
    raw |= {"day": f"{datetime.now(UTC):%F}", "commit": commit(), "processor": processor()}
    if save is not None:
        # Report an unwritable folder before the first run, not after the last.
        try:
            save.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            wrong(f"--save: cannot write {save}: {error.strerror}")
    for name, case in other.cases.items():
        print(f"{name}: {requests:,} requests of {case.about}")
        taken = _in_turn(other, case, binary, requests, runs)
        raw[name] = {simulator: [*map(asdict, some)] for simulator, some in taken.items()}
        _show(other, taken)
    if save is not None:
        kept = save / f"against_{other.name}.json"
        kept.write_text(json.dumps(raw, indent=2) + "\n", "utf-8")


def command(other: Simulator, about: str | None) -> click.Command:
    """Return the command that compares a simulator with ssdlab."""

    @click.command(help=about)
    @click.argument(
        "binary",
        metavar=other.title.upper(),
        type=click.Path(exists=True, dir_okay=False, executable=True, path_type=Path),
    )
    @click.option("--requests", type=click.IntRange(min=1), default=1_000_000, show_default=True)
    @click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
    @click.option(
        "--save",
        type=click.Path(file_okay=False, path_type=Path),
        help="A folder for the figures of all runs.",
    )
    def main(binary: Path, requests: int, runs: int, save: Path | None) -> None:
        compare(other, binary, requests, runs, save)

    return main
