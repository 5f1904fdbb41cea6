"""Mutation tests of the drive's core, all mutants compiled at once: `make mutants`.

cargo-mutants lists the mutants. Its own way builds the tests anew for each, which takes days for
some thousands. Here `plant/` writes them all into a copy of the sources, each behind a switch
(`switch.rs`, an environment variable), so that the tests are built once. Every test is run alone
to see which mutants it reaches, and how long it takes. Then each mutant is switched on and given
the tests that reach it, the short ones first, until one fails.

A mutant for which a switch cannot be written (in a constant, say), or not so that it compiles, is
tried alone, as cargo-mutants would.

All is kept in `target/mutants`: results.jsonl has a line for every mutant that was tried. A run
that was stopped goes on where it was; a mutant whose function has changed since is tried again.
Linux only.
"""

import argparse
import hashlib
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from signal import SIGKILL, SIGXCPU
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORK = TARGET / "mutants"
CORE = Path("crates/ssdlab-core")
# Whose mutants are tried: each uses those before it, and the first holds the switch.
CRATES = ("ssdlab-policy", "ssdlab-schemes", "ssdlab-core")
PACKAGES = [word for crate in CRATES for word in ("--package", crate)]

# Tests of this many seconds and more are run by themselves, the others together.
SHORT = 0.06
# What a mutant may take: so many seconds, and so many times what the tests take without it.
GRACE, TIMES = 3, 5
MEMORY = 5 << 30

CAUGHT, BY_TIME, MISSED, NO_BUILD = "caught", "caught by time", "missed", "does not build"
RESULTS = (CAUGHT, BY_TIME, MISSED, NO_BUILD)


@dataclass
class Mutant:
    """One change of one place."""

    id: int
    listed: dict[str, Any]
    # Its file as it was when the mutants were listed.
    source: str

    @property
    def file(self) -> str:
        return str(self.listed["file"])

    @property
    def name(self) -> str:
        return re.sub(r"^crates/[a-z-]+/src/", "", str(self.listed["name"]))

    @cached_property
    def key(self) -> str:
        """What it changes into what, wherever in the file its function stands."""
        text = self.source
        start, end = spot(text, self.listed["span"])
        function = self.listed["function"]
        if function is not None:
            whole = slice(*spot(text, function["span"]))
        else:
            whole = slice(text.rfind("\n", 0, start) + 1, text.find("\n", end))
        inside = (start - whole.start, end - whole.start)
        parts = (self.file, text[whole], inside, self.listed["replacement"])
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def alone(self) -> str:
        """Return the file's text with this change and no other."""
        start, end = spot(self.source, self.listed["span"])
        return self.source[:start] + str(self.listed["replacement"]) + self.source[end:]


def spot(text: str, span: dict[str, dict[str, int]]) -> tuple[int, int]:
    """Return where in a text a stretch of it begins and ends; lines and columns count from 1."""

    def offset(position: dict[str, int]) -> int:
        lines = text.splitlines(keepends=True)[: position["line"] - 1]
        return sum(map(len, lines)) + position["column"] - 1

    return offset(span["start"]), offset(span["end"])


def output(command: list[str], stdin: str = "") -> str:
    """Run a command that has to succeed; return what it writes."""
    done = subprocess.run(
        command, cwd=ROOT, input=stdin, check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: it ended with {done.returncode}")
    return done.stdout


def add_line(path: Path, value: dict[str, Any]) -> None:
    """Append a value and its hash to a file of JSON lines."""
    line = json.dumps({"sha256": checksum(value), "value": value})
    # A line that was cut short, by a kill or a full disk, takes no other with it.
    before = "\n" if path.exists() and path.read_bytes()[-1:] != b"\n" else ""
    with path.open("a") as file:
        file.write(f"{before}{line}\n")


def read_lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the values whose hash fits, and how many lines hold none."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    found = [value for line in lines if (value := intact(line)) is not None]
    return found, len(lines) - len(found)


def intact(line: str) -> dict[str, Any] | None:
    """Return the value of a line, None if the line is not as it was written."""
    try:
        found = json.loads(line)
        value: dict[str, Any] = found["value"]
        return value if found["sha256"] == checksum(value) else None
    except (ValueError, TypeError, KeyError):
        return None


def checksum(value: dict[str, Any]) -> str:
    """Return the hash of a value."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def listed() -> list[Mutant]:
    """Return all mutants of the drive and its policies."""
    if shutil.which("cargo-mutants") is None:
        sys.exit("cargo-mutants is wanting: cargo install --locked cargo-mutants")
    found = json.loads(output(["cargo", "mutants", "--list", "--json", *PACKAGES]))
    sources = {file: (ROOT / file).read_text() for file in {mutant["file"] for mutant in found}}
    return [Mutant(at, mutant, sources[mutant["file"]]) for at, mutant in enumerate(found)]


# Tests that are long or read the source, and by which targets the others are built.
SKIPPED = ("a_full_drive", "tidy")
TARGETS = (
    *(f"--package {crate} --lib" for crate in CRATES),
    "--package ssdlab-core --test all",
    "--package ssdlab-core --test start",
)


class Tree:
    """A copy of the workspace that may be changed and built."""

    def __init__(self, folder: Path, changed: Iterable[str]) -> None:
        """Copy all files but those that will be changed. What is the same is left alone."""
        self.folder = folder
        changed = set(changed)
        files = [ROOT / "Cargo.toml", ROOT / "Cargo.lock"]
        files += [path for path in (ROOT / "crates").rglob("*") if path.is_file()]
        for path in files:
            name = path.relative_to(ROOT)
            if str(name) not in changed:
                self.write(str(name), path.read_bytes())

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def append(self, name: str, line: str) -> None:
        """Append a line to a file that may be as it is in the sources."""
        text = (self.folder / name).read_text()
        if line not in text:
            self.write(name, (text + line).encode())

    def cargo(self, *words: str) -> tuple[bool, list[dict[str, Any]]]:
        """Run cargo: whether it succeeds, and its messages."""
        # A mutant may leave something unused.
        env = dict(os.environ, RUSTFLAGS="--cap-lints=allow", CARGO_TARGET_DIR=str(WORK / "build"))
        command = ["cargo", *words, "--message-format=json"]
        done = subprocess.run(
            command, cwd=self.folder, env=env, check=False, capture_output=True, text=True
        )
        return done.returncode == 0, [json.loads(line) for line in done.stdout.splitlines()]

    def binary(self, target: str) -> str | None:
        """Build the tests of a target: the binary's path, or None where that fails."""
        fine, messages = self.cargo("test", "--no-run", "--locked", *target.split())
        paths = [str(message["executable"]) for message in messages if message.get("executable")]
        return paths[0] if fine else None


def plant(tree: Tree, mutants: list[Mutant]) -> set[int]:
    """Write all mutants into the tree that compile there; return those that are in."""
    switch, *others = CRATES
    tree.write(f"crates/{switch}/src/mutants.rs", (HERE / "switch.rs").read_bytes())
    build = ["cargo", "build", "--release", "--quiet", "--locked", "--manifest-path"]
    output([*build, str(HERE / "plant/Cargo.toml"), "--target-dir", str(WORK / "plant")])
    planted = {mutant.id for mutant in mutants}
    while True:
        # A file of which no mutant is left is as it was.
        for file in {m.file for m in mutants} - {m.file for m in mutants if m.id in planted}:
            tree.write(file, (ROOT / file).read_bytes())
        words = json.dumps([{"id": m.id} | m.listed for m in mutants if m.id in planted])
        command = [str(WORK / "plant/release/plant"), str(ROOT), str(tree.folder)]
        marks = json.loads(output(command, words))
        for crate in CRATES:
            own = "pub use ssdlab_policy::mutants" if crate in others else "pub mod mutants"
            tree.append(f"crates/{crate}/src/lib.rs", f"#[doc(hidden)]\n{own};\n")
        planted = {number for of_file in marks.values() for m in of_file for number in m["mutants"]}
        fine, messages = tree.cargo("check", "--lib", "--tests", *PACKAGES)
        if fine:
            return planted
        wrong = {number for message in messages for number in culprits(message, marks)}
        if not wrong:
            errors = (message.get("message", {}).get("rendered", "") for message in messages)
            sys.exit("the core does not compile, no mutant being at fault\n" + "".join(errors))
        planted -= wrong


def culprits(message: dict[str, Any], marks: dict[str, list[dict[str, Any]]]) -> Iterator[int]:
    """Yield the mutants in whose text the compiler stumbles: of each place, the closest."""
    if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
        return
    for span in message["message"]["spans"]:
        around = [
            mark
            for mark in marks.get(span["file_name"], [])
            if span["is_primary"]
            and mark["start"] <= span["byte_start"]
            and span["byte_end"] <= mark["end"]
        ]
        if around:
            yield from min(around, key=lambda mark: mark["end"] - mark["start"])["mutants"]


@dataclass
class Test:
    """A test by itself: how long it takes, and which mutants it reaches."""

    binary: str
    name: str
    seconds: float
    reached: list[int]


def run_tests(binary: str, names: list[str], seconds: float, **env: str) -> tuple[str, str]:
    """Run tests of one binary until one fails: what came of it, and the one that failed."""
    # The same random inputs for every mutant; a failure is not searched for a smaller one.
    steady = {
        "PROPTEST_CASES": "12",
        "PROPTEST_RNG_SEED": "1",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
    }
    process = subprocess.Popen(
        [binary, "--exact", "--test-threads=1", *names],
        cwd=WORK / "tree" / CORE,
        env={**os.environ, **steady, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    # Time of the processor, so that what else the machine does counts for nothing.
    limit = math.ceil(seconds)
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit))
    resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            if failed := re.match(r"test (\S+).* FAILED$", line):
                process.kill()
                process.wait()
                return CAUGHT, failed[1]
    if process.wait() == 0:
        return MISSED, ""
    return (BY_TIME if -process.returncode in (SIGXCPU, SIGKILL) else CAUGHT), ""


def spent() -> float:
    """Return the processor's seconds that processes took which have ended."""
    times = os.times()
    return times.children_user + times.children_system


def names_of(binary: str) -> list[str]:
    """Return the names of a binary's tests that are not skipped."""
    words = [word for skipped in SKIPPED for word in ("--skip", skipped)]
    lines = output([binary, "--list", "--format", "terse", *words]).splitlines()
    return [line.removesuffix(": test") for line in lines if line.endswith(": test")]


def reach(binaries: list[str], longest: int) -> list[Test]:
    """Run every test alone to see which mutants it reaches, but those that take too long.

    What is found is kept for these binaries.
    """
    cache = WORK / "reach.jsonl"
    contents = b"".join(Path(binary).read_bytes() for binary in binaries)
    digest = hashlib.sha256(contents + str(longest).encode()).hexdigest()
    kept, _ = read_lines(cache)
    if kept and kept[-1]["of"] == digest:
        return [Test(**test) for test in kept[-1]["tests"]]
    found = []
    notes = WORK / "reached"
    for binary in binaries:
        for name in names_of(binary):
            notes.write_text("")
            before = spent()
            result, _ = run_tests(binary, [name], longest, MUTANTS_REACHED=str(notes))
            seconds = spent() - before
            if result == BY_TIME:
                print(f"left out, for it is long: {name}", flush=True)
                continue
            if result != MISSED:
                sys.exit(f"{name} fails with no mutant on")
            reached = [int(line) for line in notes.read_text().split()]
            found.append(Test(binary, name, seconds, reached))
    cache.unlink(missing_ok=True)
    add_line(cache, {"of": digest, "tests": [asdict(test) for test in found]})
    return found


def groups(tests: list[Test]) -> Iterator[list[Test]]:
    """Yield tests that are run together: the short ones of each binary, then each of the others."""
    for binary in sorted({test.binary for test in tests}):
        if short := [test for test in tests if test.binary == binary and test.seconds < SHORT]:
            yield short
    rest = [test for test in tests if test.seconds >= SHORT]
    yield from ([test] for test in sorted(rest, key=lambda test: test.seconds))


def run_groups(tests: list[Test], **env: str) -> tuple[str, str]:
    """Run tests group by group until one fails: what came of it, and the one that failed."""
    for group in groups(tests):
        seconds = GRACE + TIMES * sum(test.seconds for test in group)
        result = run_tests(group[0].binary, [test.name for test in group], seconds, **env)
        if result[0] != MISSED:
            return result
    return MISSED, ""


def try_switched(known: list[Test], mutant: Mutant) -> tuple[str, str]:
    """Give a mutant the tests that reach it."""
    reaching = [test for test in known if mutant.id in test.reached]
    return run_groups(reaching, MUTANT=str(mutant.id))


def try_alone(known: list[Test], mutant: Mutant) -> tuple[str, str]:
    """Build one mutant as cargo-mutants would; give it all tests that are known."""
    tree = Tree(WORK / "alone", [mutant.file])
    tree.write(mutant.file, mutant.alone().encode())
    if not tree.cargo("check", "--lib", *PACKAGES)[0]:
        return NO_BUILD, ""
    by_name = {test.name: test for test in known}
    for target in TARGETS:
        binary = tree.binary(target)
        if binary is None:
            return NO_BUILD, ""
        here = [by_name[name] for name in names_of(binary) if name in by_name]
        result = run_groups([replace(test, binary=binary) for test in here])
        if result[0] != MISSED:
            return result
    return MISSED, ""


class Results:
    """What came of the mutants, in a file that grows."""

    def __init__(self, path: Path, mutants: list[Mutant]) -> None:
        self.path = path
        self.mutants = mutants
        lines, damaged = read_lines(path)
        if damaged:
            print(f"{path}: {damaged} damaged, tried again", flush=True)
        of_key = {line["key"]: line for line in lines}
        self.found: dict[int, str] = {
            mutant.id: of_key[mutant.key]["result"] for mutant in mutants if mutant.key in of_key
        }

    def add(self, mutant: Mutant, result: str, by: str) -> None:
        self.found[mutant.id] = result
        line = {"key": mutant.key, "name": mutant.name, "result": result, "by": by}
        add_line(self.path, line)

    def report(self) -> str:
        """Return the table, and what was missed or not tried."""
        counts = Counter(self.found.values())
        columns = ["mutants", "tried", *RESULTS]
        figures = [len(self.mutants), len(self.found), *(counts[result] for result in RESULTS)]
        rows = [columns, ["---"] * len(columns), list(map(str, figures))]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        for what in (MISSED, None):
            names = [m.name for m in self.mutants if self.found.get(m.id) == what]
            lines += ["", f"{what or 'not tried'}: {len(names)}", *names] if names else []
        return "\n".join(lines)


def run(results: Results, todo: list[Mutant], jobs: int, attempt: Any) -> None:
    """Try mutants, several at once, and say now and then how far it is."""
    start = time.monotonic()

    def one(mutant: Mutant) -> tuple[Mutant, str, str]:
        return mutant, *attempt(mutant)

    with ThreadPoolExecutor(jobs) as pool:
        for done, (mutant, result, by) in enumerate(pool.map(one, todo), 1):
            results.add(mutant, result, by)
            if result == MISSED:
                print(f"missed: {mutant.name}", flush=True)
            if done % 50 == 0 or done == len(todo):
                left = (time.monotonic() - start) / done * (len(todo) - done) / 60
                print(f"{done} of {len(todo)}, {left:.0f} minutes to go", flush=True)


def try_all(results: Results, todo: list[Mutant], options: argparse.Namespace) -> None:
    """Try mutants: first those that are switched on, then those that are built alone."""
    mutants = results.mutants
    tree = Tree(
        WORK / "tree",
        [*{mutant.file for mutant in mutants}, *(f"crates/{crate}/src/lib.rs" for crate in CRATES)],
    )
    planted = plant(tree, mutants)
    binaries = [binary for target in TARGETS if (binary := tree.binary(target))]
    if len(binaries) < len(TARGETS):
        sys.exit("the tests do not compile")
    known = reach(binaries, options.longest)
    switched = [mutant for mutant in todo if mutant.id in planted]
    print(f"{len(switched)} to switch on, {len(todo) - len(switched)} to build alone", flush=True)
    run(results, switched, options.jobs, partial(try_switched, known))
    alone = [mutant for mutant in todo if mutant.id not in planted]
    run(results, alone, 1, partial(try_alone, known))


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Mutation tests of the drive's core")
    parser.add_argument("--only", default="", help="mutants whose name this expression finds")
    parser.add_argument("--again", action="store_true", help="try what was missed once more")
    parser.add_argument("--longest", type=int, default=5, help="seconds of the longest test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--report", action="store_true", help="only say what was found")
    return parser.parse_args()


def main() -> None:
    """Try all mutants that have not been tried."""
    options = arguments()
    WORK.mkdir(parents=True, exist_ok=True)
    mutants = listed()
    results = Results(WORK / "results.jsonl", mutants)
    again = MISSED if options.again else None
    todo = [
        mutant
        for mutant in mutants
        if results.found.get(mutant.id) in {None, again} and re.search(options.only, mutant.name)
    ]
    if todo and not options.report:
        try_all(results, todo, options)
    report = results.report()
    (WORK / "report.txt").write_text(report + "\n")
    print(report)


if __name__ == "__main__":
    main()
