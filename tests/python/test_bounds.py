"""What does not fit into memory, or is more than anybody means, ends in one line.

Each command has little address space, so that one that takes too much cannot take the machine.
"""

from __future__ import annotations

import itertools
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import COMMAND, Done

import ssdlab

LITTLE = 3_000_000_000
"""Bytes of address space. The command, its threads and its libraries reserve half of that."""


def under(*arguments: object, most: int = LITTLE) -> Done:
    """Run the command with so much address space."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=limit)
    return Done(done.returncode, done.stdout, done.stderr)


def refusal(*arguments: object, most: int = LITTLE) -> str:
    """Run a command that is refused, and return the one line that it says."""
    done = under(*arguments, most=most)
    assert done.code == 2, (done.code, done.out, done.err)
    [line] = done.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            "--device generic-tlc-2t --set buffer.size=400GiB",
            'buffer.size: got "400GiB", expected more memory: at least',
        ),
        (
            "--set geometry.blocks=131071",
            "geometry: got 4294934528 pages on 128 planes, expected more memory",
        ),
        (
            "--set workload.requests=200000000 --closed 100000000",
            "--closed: more requests than fit into memory: got 100000000",
        ),
        (
            "--set workload.requests=100000000 --set workload.interarrival=0ns",
            "workload: piles up more requests than fit into memory: got",
        ),
    ],
)
def test_a_run_beyond_memory_is_refused_with_need_and_limit(options: str, expected: str) -> None:
    line = refusal("run", *options.split())
    assert expected in line
    assert line.split(" (--limit")[0].endswith("are left (ulimit -v)"), line


def test_a_broken_line_is_refused_wherever_a_trace_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.msr").write_text("1,h,0,Read,0,4096,0\n2,h,0,Read,4096,511000000000,0\n")
    drive = ("--device", "generic-tlc-2t")
    for command in (
        ("run", *drive, "--trace", "t.msr"),
        ("run", *drive, "--trace", "t.msr", "--wrap", "--time-scale", 2),
        ("run", *drive, "--set", "host.queues=2", "--mix", "t.msr", "--mix", "a=t.msr"),
        ("trace", "info", "t.msr"),
        ("trace", "convert", "t.msr", "out.csv"),
        ("trace", "mix", "t.msr", "a=t.msr", "--out", "out.csv"),
    ):
        line = refusal(*command)
        assert "t.msr:2: a request too large: got 511GB, expected a read or write" in line
        assert not Path("out.csv").exists()
    allow = ("--set", "workload.trace.max_request=1TiB")
    allowed = under("trace", "convert", "t.msr", "out.csv", *allow)
    assert allowed.code == 0, allowed.err


def test_a_request_by_hand_is_bounded() -> None:
    drive = ssdlab.Drive(device="generic-tlc-2t")
    expected = "sectors: a request too large: got 998046875, expected at most 524288, 256MiB"
    with pytest.raises(ssdlab.InputError, match=expected):
        drive.submit("read", lba=0, sectors=998_046_875)
    assert drive.submit("read", lba=0, sectors=524_288) == 0


def test_a_trace_that_touches_more_pages_than_fit_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.msr"
    size = 256 << 20
    path.write_text("".join(f"{n},h,0,Read,{n * size},{size},0\n" for n in range(2_000)))
    line = refusal("trace", "info", path, "--no-reuse", most=400_000_000)
    assert "more pages are touched than fit into memory" in line
    assert line.endswith("are left (ulimit -v)")


def test_sizes_of_a_closed_form_are_bounded() -> None:
    sizes = ("workload.sizes=511GB", "workload.footprint=1TB")
    line = refusal("run", "--device", "generic-tlc-2t", "--set", sizes[0], "--set", sizes[1])
    assert "workload.sizes: got" in line
    assert line.endswith("multiples of 512 B from 512 B to 256MiB")


def test_a_dictionary_that_is_huge_once_decompressed_is_refused(tmp_path: Path) -> None:
    text = "x" * 20_000_000
    table = pa.table(
        {
            "time_us": pa.array([1, 2]),
            "op": pa.array(["R", "W"]),
            "offset_bytes": pa.array([0, 4096]),
            "size_bytes": pa.array([4096, 4096]),
            "dev": pa.array([text, text]),
        }
    )
    path = tmp_path / "t.parquet"
    bound = {"dictionary_pagesize_limit": 1 << 30, "write_statistics": False}
    pq.write_table(table, path, compression="zstd", **bound)
    del table, text
    assert path.stat().st_size < 100_000
    line = refusal("trace", "info", path)
    assert "a dictionary of 20000004 bytes exceeds the limit of 16777216 bytes" in line


def test_a_sweep_is_counted_before_its_plans_are_made() -> None:
    line = refusal("compare", "--seeds", 100_000)
    assert line == "--max-runs: got 100000 runs, expected at most 10000", line
    line = refusal("compare", "--vary", "workload.requests=1,2,3", "--max-runs", 2)
    assert "--max-runs: got 3 runs, expected at most 2" in line
    with pytest.raises(ssdlab.InputError, match="--max-runs: got 1000000000000 runs"):
        ssdlab.sweep(ssdlab.Plan(), seeds=10**12)
    few = {"workload.requests": [1, 2]}
    assert len(ssdlab.sweep(ssdlab.Plan(), vary=few, seeds=2, max_runs=4)) == 4


def test_plans_without_end_are_refused() -> None:
    def plans() -> Iterator[ssdlab.Plan]:
        return itertools.repeat(ssdlab.Plan())

    with pytest.raises(ssdlab.InputError, match="--max-runs: got 11 runs or more"):
        ssdlab.compare(plans(), max_runs=10)


def test_ten_thousand_plans_take_little() -> None:
    # The last is wrong, so that all are checked and none runs.
    script = (
        "import ssdlab\n"
        "plans = ssdlab.sweep(ssdlab.Plan(), seeds=9_999)\n"
        "try:\n"
        "    ssdlab.compare([*plans, ssdlab.Plan(device='none')])\n"
        "except ssdlab.InputError as error:\n"
        "    print(error)\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.partition('VmHWM:')[2].split()[0])\n"
    )
    python = str(Path(COMMAND[0]).with_name("python"))
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True)
    line, peak = done.stdout.splitlines()
    assert "not a device" in line
    assert int(peak) < 250 * 1024, f"{peak} KiB"
