"""Does the comparison with SimpleSSD give it our drive and our requests, and read its output?"""

from __future__ import annotations

import configparser
import json
import re
import sys
from pathlib import Path

import against_simplessd
import pytest
from command import ROOT, load_module
from side_by_side import Operations, Request
from test_against_mqsim import against, program

SCRIPT = Path(against_simplessd.__file__)
FAKE = """#!{python}
import shutil, sys
assert sys.argv[3] == "."
for name in (*sys.argv[1:3], "trace"):
    shutil.copy(name, {kept!r} + "/" + name)
print("Latency (ns): min=1.0, max=20000.0, avg=12000.0, stdev=3.0")
with open("statistics", "w") as statistics:
    statistics.write("pal.read.count   7.000000  Total\\npal.program.count   9.000000  Total\\n")
"""


def test_both_have_the_same_drive_and_the_same_requests(tmp_path: Path) -> None:
    fake = program(tmp_path / "fake", FAKE.format(python=sys.executable, kept=str(tmp_path)))
    done = against(fake, "--save", str(tmp_path / "kept"), script=SCRIPT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("mean response 12 µs, 7 page reads, 9 programs") == 2
    kept = json.loads((tmp_path / "kept/against_simplessd.json").read_text())
    assert kept["pages"]["simplessd"][0]["operations"] == [7, 9]
    lines = (tmp_path / "trace").read_text().splitlines()
    writes = sum(",W," in line for line in lines)
    # Every request of this case is a page: ours programs as many as the trace writes.
    assert kept["pages"]["ssdlab"][0]["operations"][1] == writes
    assert len(lines) == 200
    drive = configparser.ConfigParser()
    drive.read(tmp_path / "drive.cfg")
    expected = {
        "Channel": "8",
        "Package": "4",
        "Block": "2048",
        "PageSize": "8192",
        "NANDType": "1",
        "LSBRead": "75000000",
        "MSBWrite": "750000000",
        "Erase": "3800000000",
        "DMASpeed": "318",
        "PageAllocation": "CWDP",
    }
    assert {name: drive["pal"][name] for name in expected} == expected
    assert drive["ftl"]["OverProvisioningRatio"] == "0.07"
    simulation = configparser.RawConfigParser()
    simulation.read(tmp_path / "simulation.cfg")
    trace = simulation["trace"]
    pattern = re.compile(trace["Regex"].strip('"'))
    parts = [pattern.fullmatch(line) for line in lines]
    assert all(parts)
    assert {part[int(trace["ByteLength"])] for part in parts if part} == {"8192"}


def test_the_first_request_is_a_write_and_times_have_three_digits() -> None:
    requests = [Request(0, True, 4096, 512), Request(1_002_003, True, 0, 8192)]
    expected = ["0.000,0,W,4096,512\n", "1002.003,0,R,0,8192\n"]
    assert list(against_simplessd.lines_of(requests)) == expected


def test_a_mean_is_read_in_every_unit() -> None:
    for unit, shown in (("ps", "2500000.0"), ("ns", "2500.0"), ("us", "2.5"), ("ms", "0.0025")):
        printed = f"Latency ({unit}): min=1.0, max=9.0, avg={shown}, stdev=1.0"
        assert against_simplessd.mean_us(printed) == 2.5
    assert against_simplessd.mean_us("no latency") is None


def test_operations_are_those_of_the_flash() -> None:
    text = "dram.read.count 3.0 x\npal.read.count \t4.000000 x\npal.program.count 5.000000 x\n"
    assert against_simplessd.operations(text) == Operations(4, 5)


def test_a_program_that_is_no_simplessd_is_refused(tmp_path: Path) -> None:
    silent = against(program(tmp_path / "silent", "#!/bin/sh\n"), script=SCRIPT)
    assert (silent.returncode, silent.stderr.count("\n")) == (2, 1)
    assert "it printed no latency: expected SimpleSSD-Standalone" in silent.stderr


def test_a_page_cites_only_runs_of_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = load_module(ROOT / "docs/generators/figures.py")
    theirs = {"processor_s": 6.0, "mean_us": 101.0, "operations": [4, 5]}
    ours = {"processor_s": 2.0, "mean_us": 100.0, "operations": [4, 5]}
    raw = {
        "requests": 9,
        "mixed": {"simplessd": [theirs], "ssdlab": [ours, ours | {"processor_s": 3}]},
    }
    monkeypatch.setattr(figures, "_newest", lambda _: raw)
    assert figures.FIGURES["against_simplessd"]() == "3.0 to 3.0"
    assert figures.FIGURES["against_simplessd.apart"]() == "1.0 %"
    assert figures.FIGURES["against_simplessd.spread"]() == "50 %"
    ours["operations"] = [4, 6]
    with pytest.raises(figures.UnequalWorkError):
        figures.FIGURES["against_simplessd.apart"]()
