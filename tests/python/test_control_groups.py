"""Commands in a control group: a line that says what is needed, or all of the work, no kill."""

from __future__ import annotations

import json
import lzma
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from command import COMMAND, ROOT, Ssdlab

import ssdlab
from ssdlab import _native, api
from ssdlab.errors import InputError

MEGA = 10**6
RUN = ("run", "--workload", "zipf", "--limit", "500")
DLV = ("run", "--device", "dlv-mlc-128g", "--scheme", "dlv/dlv", "--workload", "random")
CHIPS = str(ROOT / "examples/chips.csv")


def groups() -> tuple[Path, str] | None:
    """Return where groups are made that limit memory, and the file that does; None without them."""
    first, second = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    for folder, limit in ((first, "memory.limit_in_bytes"), (second, "memory.max")):
        child = folder / f"ssdlab-test-{os.getpid()}"
        try:
            child.mkdir()
            found = (child / limit).is_file()
            child.rmdir()
        except OSError:
            continue
        if found:
            return folder, limit
    return None


InGroup = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def in_group() -> Iterator[InGroup]:
    """Return what runs a command in a folder and in a group of so many MB."""
    found = groups()
    if found is None:
        pytest.skip("no control group can be made here")
    folder, limit = found
    group = folder / f"ssdlab-test-{os.getpid()}"
    group.mkdir()

    def run(mega: int, cwd: Path, *command: str) -> subprocess.CompletedProcess[str]:
        (group / limit).write_text(str(mega * MEGA))
        procs = str(group / "cgroup.procs")

        def enter() -> None:
            with open(procs, "w", encoding="ascii") as file:  # noqa: PTH123  after a fork
                file.write(str(os.getpid()))

        return subprocess.run(
            [*COMMAND, *command],
            cwd=cwd,
            preexec_fn=enter,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    yield run
    group.rmdir()


@pytest.mark.parametrize("mega", [60, 110, 160, 185, 230])
@pytest.mark.parametrize(
    "command",
    [
        (*RUN, "--report", "r.html"),
        (*RUN, "--figures", "figs"),
        ("compare", *RUN[1:], "--scheme", "conventional,streams/sepbit", "--report", "r.html"),
        ("physics", "dlv-mlc-128g", "--report", "r.html"),
        ("fit", "--out", "out"),
        ("fit", CHIPS, "--report", "r.html"),
        ("reproduce", "H4", "--quick", "--jobs", "1", "--out", "out"),
    ],
    ids=lambda command: " ".join(word for word in command if "/" not in word),
)
def test_a_command_says_what_it_lacks(
    in_group: InGroup, command: tuple[str, ...], mega: int, tmp_path: Path
) -> None:
    done = in_group(mega, tmp_path, *command)
    if done.returncode == 0:
        assert any(tmp_path.iterdir())
        return
    assert done.returncode == 2, done
    [line] = done.stderr.splitlines()
    lacks = "expected more memory: at least" in line and "(a control group)" in line
    assert lacks or line.endswith("memory may be short"), line


@pytest.mark.parametrize("mega", [165, 175, 185, 195, 205])
def test_a_report_is_refused_before_its_run(in_group: InGroup, mega: int, tmp_path: Path) -> None:
    done = in_group(mega, tmp_path, *RUN, "--report", "r.html")
    assert done.returncode in {0, 2}, done
    # What was run is printed.
    assert bool(done.stdout) == (done.returncode == 0), done


@pytest.mark.parametrize("mega", [100, 150, 200, 225, 290])
def test_a_drive_fits_or_is_refused(in_group: InGroup, mega: int, tmp_path: Path) -> None:
    done = in_group(mega, tmp_path, *DLV, "--limit", "2000")
    fits = mega == 290
    assert done.returncode == (0 if fits else 2), done
    assert fits or "(a control group)" in done.stderr


WIDE = ("--workload", "random", "--set", "workload.footprint=400GiB")
PV_READ = ("--device", "pv-read-mlc-128g", "--scheme", "pv-read/pv-read")


@pytest.mark.parametrize(
    ("mega", "command"),
    [
        (105, ("run", *WIDE, "--limit", "300000")),
        # Its footprint is laid down before the run.
        (115, ("run", *PV_READ, *WIDE[:3], "workload.footprint=100GiB", "--limit", "200000")),
    ],
)
def test_tables_that_grow_as_pages_are_reached_end_in_a_line(
    in_group: InGroup, mega: int, command: tuple[str, ...], tmp_path: Path
) -> None:
    done = in_group(mega, tmp_path, *command, "--json", "out.json")
    assert done.returncode == 2, done
    [line] = done.stderr.splitlines()
    assert line.startswith("workload: reaches more pages than fit into memory: "), line
    assert not any(tmp_path.iterdir())


def test_runs_that_ended_before_one_that_lacks_memory_are_kept(
    in_group: InGroup, tmp_path: Path
) -> None:
    vary = ("--vary", "workload.footprint=1GiB,400GiB", "--jobs", "1")
    command = ("compare", *WIDE[:2], "--limit", "200000", *vary, "--json", "out.json")
    done = in_group(150, tmp_path, *command)
    assert done.returncode == 2, done
    assert len(json.loads((tmp_path / "out.json").read_text())["results"]) == 1


def test_requests_that_a_comparison_shares_leave_room_for_its_runs(
    in_group: InGroup, tmp_path: Path
) -> None:
    random, first = Random(1), 128166372003061629
    lines = (
        f"{first + 2000 * n},h,0,Read,{random.randrange(1 << 14) << 12},4096,9\n"
        for n in range(2_500_000)
    )
    (tmp_path / "t.msr").write_text("".join(lines))
    vary = ("--vary", "host.queue_depth=4,8", "--jobs", "1")
    done = in_group(80, tmp_path, "compare", "--trace", "t.msr", "--closed", "16", *vary)
    assert done.returncode == 0, done


@pytest.mark.parametrize("mega", [1180, 1280, 1500])
def test_a_run_of_the_library_within_few_addresses_ends_in_an_error(
    mega: int, tmp_path: Path
) -> None:
    program = (
        "import ssdlab\n"
        "try:\n"
        "    ssdlab.run(workload='random', limit=9)\n"
        "except ssdlab.InputError as error:\n"
        "    print(error)\n"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (mega * MEGA, mega * MEGA))

    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done
    assert not done.stdout or done.stdout.endswith("are left (ulimit -v)\n"), done.stdout


def test_a_command_within_few_addresses_names_need_and_limit(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    saved = ("state", "save", "s", "--device", "dlv-mlc-128g", "--set", "start.fill=0.01")
    assert ssdlab(*saved).code == 0
    office = str(ROOT / "examples/office.csv.xz")
    for command in (("state", "load", "s"), ("trace", "convert", office, "o.csv.xz")):
        codes = set()
        for mega in (145, 185, 215, 250, 400):
            done = subprocess.run(
                ["sh", "-c", f"ulimit -v {mega}000; exec {shlex.join([*COMMAND, *command])}"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            codes.add(done.returncode)
            assert not done.returncode or done.stderr.endswith(" left (ulimit -v)\n"), done
        assert codes == {0, 2}


def left(monkeypatch: pytest.MonkeyPatch, mega: int) -> None:
    monkeypatch.setattr(_native, "memory_left", lambda: (mega * MEGA, "a control group"))


def test_a_library_that_has_no_room_to_load_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 9)
    with pytest.raises(InputError, match=r"^a fit: .*and 9 MB are left \(a control group\)$"):
        ssdlab.fit(CHIPS)


def test_more_chips_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 200)
    with pytest.raises(InputError, match=r"^a fit: .*at least 296 MB are needed"):
        ssdlab.fit()


@pytest.mark.parametrize(("option", "seeds", "cycles"), [("--seeds", 3000, 1), ("--vary", 1, 3000)])
def test_more_results_than_fit_are_refused_before_the_first_run(
    monkeypatch: pytest.MonkeyPatch, option: str, seeds: int, cycles: int
) -> None:
    left(monkeypatch, 150)
    vary = {"start.pe_cycles": range(cycles)}
    plans = ssdlab.sweep(ssdlab.Plan(limit=1), vary=vary, seeds=seeds)
    line = rf"^{option}: the results of 3000 runs: .*at least 173 MB .*\(a control group\)$"
    with pytest.raises(InputError, match=line):
        ssdlab.compare(plans)


def test_a_report_of_more_results_than_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 230)
    plans = ssdlab.sweep(ssdlab.Plan(limit=1), seeds=200)
    api.check_results(plans)
    with pytest.raises(InputError, match=r"^--report: the results of 200 runs .*at least 268 MB"):
        api.check_results(plans, "--report")


def test_results_that_turn_out_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 1)
    texts = [" " * 100_000] * api._CHECKED
    line = r"^--seeds: the results of 32 runs: .*at least 6 MB are needed"
    with pytest.raises(InputError, match=line):
        next(api._taken(texts, "--seeds"))


def test_results_that_were_read_are_kept_where_the_others_find_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []

    def check(what: str, _: object) -> None:
        checked.append(what)
        if len(checked) == 2:
            raise InputError(what)

    monkeypatch.setattr(api, "check_room", check)
    with pytest.raises(InputError, match=r"^--seeds: the results of 40 runs$") as raised:
        ssdlab.compare(ssdlab.sweep(ssdlab.Plan(workload="random", limit=1), seeds=40))
    partial = raised.value.partial
    assert partial is not None
    assert [result.provenance.seed for result in partial] == list(range(1, 9))
    assert [missing.seed for missing in partial.missing] == list(range(9, 41))


def test_results_of_many_runs_take_little(in_group: InGroup, tmp_path: Path) -> None:
    command = ("compare", "--workload", "random", "--limit", "1", "--seeds", "900")
    done = in_group(100, tmp_path, *command, "--json", "c.json")
    assert done.returncode == 0, done
    assert len(json.loads((tmp_path / "c.json").read_text())["results"]) == 900


@pytest.mark.parametrize(
    ("mega", "options", "fits"), [(110, (), False), (150, ("--no-reuse",), True)]
)
def test_a_trace_of_pages_far_apart(
    in_group: InGroup,
    mega: int,
    options: tuple[str, ...],
    fits: bool,
    tmp_path: Path,
) -> None:
    random = Random(1)
    addresses = (random.randrange(1 << 42) >> 9 << 9 for _ in range(150_000))
    lines = (f"{n},h,0,Read,{address},{256 << 10},0\n" for n, address in enumerate(addresses))
    (tmp_path / "t.msr").write_text("".join(lines))
    done = in_group(mega, tmp_path, "trace", "info", "t.msr", *options)
    assert done.returncode == (0 if fits else 2), done
    assert fits or "more pages are touched than fit into memory" in done.stderr


@pytest.mark.parametrize("mega", [150, 200])
def test_a_timeline_that_grows_ends_in_a_line(in_group: InGroup, mega: int, tmp_path: Path) -> None:
    load = ("--workload", "random", "--time-scale", "0.3", "--set", "workload.requests=3000000")
    files = ("--log", "l.parquet", "--series", "s.parquet", "--timeline", "t.json")
    done = in_group(mega, tmp_path, "run", *load, *files, "--timeline-span", "100s")
    assert done.returncode == 2, done
    start = "--timeline-span: a timeline of more than fits into memory: got "
    assert done.stderr.startswith(start), done.stderr
    assert done.stderr.endswith("are left (a control group)\n")


TEXT = b"133485408000016500,d,0,Read,4096,4096,0\n133485408000038850,d,0,Write,8192,4096,0\n"


def wide(folder: Path, ending: str) -> None:
    """Write a trace whose decompressor takes 128 or 192 MiB, as `zstd --long` and `xz` can."""
    if ending == "xz":
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 192 << 20}]
        contents = lzma.compress(TEXT, filters=filters)
    else:
        # A frame with a window of 2^27 bytes, and a block, the last one, that is not compressed.
        block = (len(TEXT) << 3 | 1).to_bytes(3, "little")
        contents = b"\x28\xb5\x2f\xfd\x00" + bytes([17 << 3]) + block + TEXT
    (folder / f"wide.csv.{ending}").write_bytes(contents)


@pytest.mark.parametrize("ending", ["xz", "zst"])
@pytest.mark.parametrize("mega", [60, 110, 400])
def test_a_wide_window_fits_or_is_refused(
    in_group: InGroup, ending: str, mega: int, tmp_path: Path
) -> None:
    wide(tmp_path, ending)
    trace = f"wide.csv.{ending}"
    done = in_group(mega, tmp_path, "trace", "convert", trace, "out.csv")
    if mega == 400:
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert done.returncode == 2, done
    lack = "a stream that takes more memory to decompress than is left: expected more memory"
    assert f"{trace}: {lack}" in done.stderr
    assert "(a control group)" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [trace]


def test_a_window_that_a_later_frame_announces_is_no_kill(
    in_group: InGroup, tmp_path: Path
) -> None:
    # Blank lines behind a short frame: blocks of one byte that is repeated, in a window of 2^27.
    block = (1 << 17 << 3 | 2).to_bytes(3, "little") + b"\n"
    last = (1 << 17 << 3 | 3).to_bytes(3, "little") + b"\n"
    wide_frame = b"\x28\xb5\x2f\xfd\x00" + bytes([17 << 3]) + 1300 * block + last
    short = (len(TEXT) << 3 | 1).to_bytes(3, "little") + TEXT
    (tmp_path / "two.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00\x40" + short + wide_frame)
    assert in_group(400, tmp_path, "trace", "convert", "two.csv.zst", "out.csv").returncode == 0
    done = in_group(110, tmp_path, "trace", "convert", "two.csv.zst", "none.csv")
    assert done.returncode == 2, done
    assert (
        "a stream that takes more memory to decompress than is left: expected more memory"
        in done.stderr
    )
    assert not (tmp_path / "none.csv").exists()


def test_windows_that_are_open_count_together(in_group: InGroup, tmp_path: Path) -> None:
    wide(tmp_path, "xz")
    apps = [f"a{number}=wide.csv.xz" for number in range(3)]
    assert in_group(400, tmp_path, "trace", "mix", apps[0], "-o", "one.csv").returncode == 0
    done = in_group(400, tmp_path, "trace", "mix", *apps, "-o", "all.csv")
    assert done.returncode == 2, done
    assert "expected more memory" in done.stderr


@pytest.mark.parametrize("mega", [60, 110, 300])
def test_what_is_written_as_xz_fits_or_is_refused(
    in_group: InGroup, mega: int, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT)
    done = in_group(mega, tmp_path, "trace", "convert", "t.csv", "out.csv.xz")
    if mega == 300:
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert done.returncode == 2, done
    assert 'cannot write "out.csv.xz": at least 99 MB are needed' in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_without_memory_for_its_compressor_xz_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (200_000 << 10, 200_000 << 10))

    done = subprocess.run(
        [*COMMAND, "trace", "convert", "t.csv", "out.csv.xz"],
        cwd=tmp_path,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1
