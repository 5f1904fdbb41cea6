"""`ssdlab trace`: what traces are like, other formats, several as one, manifests."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import COMMAND, OFFICE, Ssdlab

from ssdlab import _native, traces
from ssdlab.render.text.traces import seconds, short_paths, size, spark

HEAD = "time_us,dev,op,offset_bytes,size_bytes"
FEW = f"""{HEAD}
0,a,R,4096,4096
1000000,a,R,8192,4096
1000000,b,F,0,0
2000000,b,W,4096,12288
3000000,a,T,512000,512
4000000,b,R,2048,4096
"""
COUNTS = {"requests": 4, "reads": 3, "writes": 1, "trims": 1, "flushes": 1}
SPACE = {"footprint_pages": 4, "read_pages": 3, "written_pages": 3}


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.csv"
    path.write_text(FEW)
    return path


def rows(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:]


def test_info_counts_exactly(ssdlab: Ssdlab, few: Path) -> None:
    info = ssdlab("trace", "info", few.name, "--json", "-").json()
    assert {key: info[key] for key in COUNTS} == COUNTS
    assert {key: info[key] for key in SPACE} == SPACE
    assert (info["trace"], info["format"], info["certainty"]) == ("few.csv", "ssdlab", "recognized")
    assert (info["read_ratio"], info["span_s"], info["rate_per_s"]) == (0.75, 4.0, 1.0)
    assert (info["first_byte"], info["end_byte"]) == (2048, 16384)
    assert (info["read_bytes"], info["write_bytes"]) == (12288, 12288)
    assert info["read_size"]["histogram"] == [{"up_to_bytes": 4096, "requests": 3}]
    assert info["write_size"]["median_bytes"] == 12288
    assert info["devices"] == [{"name": "a", "requests": 2}, {"name": "b", "requests": 2}]
    assert info["reuse"]["median_pages"] == 1.0
    assert sum(info["load"]["requests"]) == 4
    assert info["gap_median_us"] == pytest.approx(1e6, rel=0.016)


def test_info_says_it_in_words(ssdlab: Ssdlab, few: Path) -> None:
    done = ssdlab("trace", "info", few.name)
    assert (done.code, done.err) == (0, "")
    for line in (
        "format      ssdlab (recognized)",
        "requests    4: 3 reads (75 %), 1 write",
        "besides     1 trim, 1 flush",
        "2 devices   a 2, b 2",
        "footprint   16 KiB in 4 pages of 4 KiB; 12 KiB read, 12 KiB written",
        "addresses   from 2 KiB to 16 KiB",
        "span        4.00 s, 1.00 requests/s",
    ):
        assert line in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_info_of_one_request_is_in_the_singular(ssdlab: Ssdlab, few: Path) -> None:
    few.write_text(f"{HEAD}\n0,a,R,0,4096\n")
    text = " ".join(ssdlab("trace", "info", few.name).out.split())
    for part in (
        "requests 1: 1 read (100 %), 0 writes",
        "footprint 4 KiB in 1 page of 4 KiB; 4 KiB read, 0 B written",
        "1 request in the busiest second",
        "the highest 1 request ",
    ):
        assert part in text
    few.write_text(f"{HEAD}\n0,a,R,0,4096\n1,a,R,4096,4096\n2,a,R,0,4096\n")
    assert "median 1 page (4 KiB), p90 1 page (4 KiB)" in ssdlab("trace", "info", few.name).out


def test_info_of_a_named_and_of_an_ambiguous_format(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "five").write_text("".join(f"{n * 1000} 0 {n * 8} 8 1\n" for n in range(20)))
    both = [ssdlab("trace", "info", name, "--json", "-").json() for name in ("five", "five:mqsim")]
    assert [info["certainty"] for info in both] == ["ambiguous", "named"]
    assert both[0]["ambiguous_with"] == ["ssdsim", "disksim"]
    assert "mqsim (could be ssdsim or disksim)" in ssdlab("trace", "info", "five").out


def test_info_of_a_trace_without_reads_and_writes(ssdlab: Ssdlab, few: Path) -> None:
    few.write_text(f"{HEAD}\n0,a,F,0,0\n1,a,T,0,512\n")
    done = ssdlab("trace", "info", few.name)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[2:] == [
        "requests    0: 0 reads (0 %), 0 writes",
        "besides     1 trim, 1 flush",
    ]
    assert ssdlab("trace", "info", few.name, few.name).code == 0
    assert ssdlab("trace", "info", few.name, "--json", "-").json()["rate_per_s"] is None


def test_info_of_several_is_a_table_and_a_list(ssdlab: Ssdlab, few: Path) -> None:
    done = ssdlab("trace", "info", few.name, OFFICE)
    assert (done.code, done.err) == (0, "")
    assert "42,461" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())
    found = ssdlab("trace", "info", few.name, OFFICE, "--json", "-", "--no-reuse").json()
    assert [info["requests"] for info in found] == [4, 42_461]
    assert found[0]["reuse"] is None


def test_parts_of_a_trace(ssdlab: Ssdlab, few: Path) -> None:
    def part(*options: str) -> tuple[int, int, int]:
        info = ssdlab("trace", "info", few.name, "--json", "-", *options).json()
        return info["requests"], info["trims"], info["flushes"]

    assert part("--limit", "2") == (2, 0, 0)
    assert part("--from", "1s", "--to", "3s") == (2, 0, 1)
    assert part("--set", "workload.trace.device=b") == (2, 0, 1)
    whole, some = (
        ssdlab("trace", "info", OFFICE, "--json", "-", "--sample-addresses", rate).json()
        for rate in ("1/1", "1/8")
    )
    assert 0.5 < some["footprint_pages"] * 8 / whole["footprint_pages"] < 2
    assert some["sample_one_page_in"] == 8


def test_convert_there_and_back_changes_no_figure(ssdlab: Ssdlab, few: Path) -> None:
    def figures(name: str) -> object:
        info = ssdlab("trace", "info", name, "--json", "-").json()
        for key in ("trace", "format", "certainty", "compression"):
            del info[key]
        return info

    before = figures(few.name)
    for out in ("a.parquet", "a.csv", "a.csv.gz", "a.csv.zst", "a.csv.xz", "a.bin:ssdlab"):
        done = ssdlab("trace", "convert", few.name, out)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"{out} ({'parquet' if 'parquet' in out else 'ssdlab'}): 4 req")
        assert done.out.splitlines()[1] == "besides 1 trim, 1 flush"
        assert figures(out.removesuffix(":ssdlab")) == before
    compressed = ssdlab("trace", "info", "a.csv.xz", "--json", "-").json()["compression"]
    assert compressed == "xz"


def test_convert_says_what_a_format_cannot_hold(ssdlab: Ssdlab, few: Path, tmp_path: Path) -> None:
    few.write_text(FEW.replace("2000000,b", "2000000.050,b"))
    done = ssdlab("trace", "convert", few.name, "out:msr", "--json", "counts.json")
    assert done.out.splitlines() == [
        "out:msr (msr): 4 requests of few.csv (ssdlab)",
        "2 trims and flushes left out: msr has none",
        "1 time rounded down to the unit of msr",
    ]
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert (counts["requests"], counts["left_out"], counts["rounded"]) == (4, 2, 1)
    assert (tmp_path / "out").read_text().count(",Read,") == 3
    done = ssdlab("trace", "convert", few.name, "out:mqsim")
    assert "4 requests written as of device 0: mqsim cannot name theirs" in done.out


def test_convert_writes_a_part(ssdlab: Ssdlab, few: Path, tmp_path: Path) -> None:
    assert ssdlab("trace", "convert", few.name, "out.csv", "--from", "2s", "--limit", 2).code == 0
    assert rows(tmp_path / "out.csv") == [
        "0.000,b,W,4096,12288,0,0",
        "1000000.000,a,T,512000,512,0,0",
    ]


def test_convert_writes_all_or_nothing(ssdlab: Ssdlab, few: Path, tmp_path: Path) -> None:
    few.write_text(FEW + "5000000,a,R,x,512\n")
    (tmp_path / "old.csv").write_text("old")
    for out in ("new.csv", "old.csv", "new.parquet"):
        done = ssdlab("trace", "convert", few.name, out)
        assert (done.code, done.out) == (2, "")
        assert (
            done.err == "few.csv:8:13: offset_bytes: got x, expected a whole number, zero or more\n"
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.csv", "old.csv"]
    assert (tmp_path / "old.csv").read_text() == "old"


def two(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{HEAD}\n0,x,R,1048576,4096\n10,x,R,1052672,4096\n")
    (tmp_path / "b.csv").write_text(f"{HEAD}\n0,y,W,0,512\n4,y,F,0,0\n10,y,W,512,512\n")


def test_mix_merges_by_arrival(ssdlab: Ssdlab, tmp_path: Path) -> None:
    two(tmp_path)
    done = ssdlab(
        "trace", "mix", "high=a.csv@queue=0", "low=b.csv@queue=1,scale=2", "-o", "mix.csv"
    )
    assert (done.code, done.err) == (0, "")
    assert rows(tmp_path / "mix.csv") == [
        "0.000,high,R,0,4096,0,0",
        "0.000,low,W,1048576,512,1,0",
        "8.000,low,F,0,0,1,0",
        "10.000,high,R,4096,4096,0,0",
        "20.000,low,W,1049088,512,1,0",
    ]
    lines = done.out.splitlines()
    assert lines[0] == "mix.csv (ssdlab): 4 requests"
    assert lines[1] == "besides 1 flush"
    assert lines[3].split() == ["high", "a.csv", "2", "0", "×1.00", "0", "µs", "−1", "MiB"]
    info = ssdlab("trace", "info", "mix.csv", "--json", "-").json()
    assert info["devices"] == [{"name": "high", "requests": 2}, {"name": "low", "requests": 2}]


def test_mix_places_addresses_as_its_options_say(ssdlab: Ssdlab, tmp_path: Path) -> None:
    two(tmp_path)

    def offsets(*arguments: str) -> list[int]:
        done = ssdlab("trace", "mix", *arguments, "-o", "mix.csv")
        assert done.code == 0, done.err
        return [int(row.split(",")[3]) for row in rows(tmp_path / "mix.csv")]

    assert offsets("a.csv", "b.csv", "--share-addresses") == [1048576, 0, 0, 1052672, 512]
    giga, mega = 1 << 30, 1 << 20
    assert offsets("b.csv@offset=1GiB,start=1s", "a.csv") == [
        *(giga + mega, giga + mega + 4096),
        *(giga, 0, giga + 512),
    ]


def test_a_hint_that_a_format_cannot_say_is_counted(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{HEAD},hint\n0,x,R,0,4096,2\n10,x,R,0,4096,0\n")
    done = ssdlab("trace", "convert", "a.csv", "b:mqsim")
    assert "1 request with a latency hint that mqsim cannot represent" in done.out
    assert ssdlab("trace", "convert", "a.csv", "b.parquet").code == 0
    assert ssdlab("trace", "convert", "b.parquet", "c.csv").code == 0
    assert [row.split(",")[6] for row in rows(tmp_path / "c.csv")] == ["2", "0"]


def test_mix_keeps_queues_where_the_format_can(ssdlab: Ssdlab, tmp_path: Path) -> None:
    two(tmp_path)
    order = ("trace", "mix", "a.csv@queue=3", "b.csv", "-o")
    assert ssdlab(*order, "mix.parquet").code == 0
    assert ssdlab("trace", "convert", "mix.parquet", "back.csv").code == 0
    queues = [row.split(",")[5] for row in rows(tmp_path / "back.csv")]
    assert queues == ["3", "0", "0", "3", "0"]
    done = ssdlab(*order, "mix:disksim")
    assert "2 requests with a submission queue that disksim cannot represent" in done.out
    run = ssdlab("run", "--trace", "mix.parquet", "--set", "host.queues=4", "--json", "-")
    assert run.json()["results"][0]["requests"] == 5


def test_applications_without_names_are_called_after_their_files() -> None:
    names = [app.name for app in traces.parse(["x/a.csv.gz", "a.csv:mqsim", "b=c@queue=255"])]
    assert names == ["a", "a_2", "b"]
    (app,) = traces.parse(["n=f:msr@queue=2, scale=0.5,offset=64GiB,start=1s"])
    assert app == traces.App("f:msr", "n", 2, 0.5, "1s", "64GiB")
    assert traces.parse(["user@host.csv"])[0].trace == "user@host.csv"


MANIFEST = "name\tlines\tspan_s\tread_ratio\tmeanW_KB\tfootprint_MB\tndev\tnote\n"


def folder(tmp_path: Path, *lines: str) -> None:
    (tmp_path / "t" / "few").mkdir(parents=True, exist_ok=True)
    (tmp_path / "t" / "few" / "trace.csv").write_text(FEW)
    (tmp_path / "t" / "flat.csv").write_text(FEW)
    (tmp_path / "t" / "MANIFEST.tsv").write_text(MANIFEST + "".join(lines))


def test_check_finds_nothing_wrong(ssdlab: Ssdlab, tmp_path: Path) -> None:
    folder(tmp_path, "few\t4\t4.00\t0.7500\t12.00\t0.0\t2\tx\n", "flat\t4\t4\t0.75\tNA\t0.0\t2\t\n")
    done = ssdlab("trace", "check", "t")
    assert done.out.splitlines() == [
        "ok    few   6 figures agree",
        "DIFF  flat  meanW_KB 12 (manifest NA); 5 others agree",
        "1 of 2 traces agree with MANIFEST.tsv",
    ]
    assert (done.code, done.err) == (1, "")
    folder(tmp_path, "few\t4\t4.00\t0.7500\t12.00\t0.0\t2\tx\n")
    assert ssdlab("trace", "check", "t").code == 0


def test_check_finds_a_wrong_count_and_a_trace_that_is_not_there(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    folder(tmp_path, "few\t5\t4.1\t0.75\t12\t0.02\t2\t\n", "gone\t1\t1\t1\tNA\t1\t1\t\n")
    done = ssdlab("trace", "check", "t", "--json", "-")
    assert done.code == 1
    few, gone = done.json()["lines"]
    assert few["differ"] == [{"figure": "lines", "manifest": "5", "read": 4}]
    assert gone["wrong"] == "no trace: expected gone, gone.* or gone/trace.*"
    (tmp_path / "t" / "few" / "trace.csv").write_text("nonsense\n")
    assert "few/trace.csv:1: trace format not recognized" in ssdlab("trace", "check", "t").out


def test_formats_lists_them_all(ssdlab: Ssdlab) -> None:
    found = ssdlab("trace", "formats", "--json", "-").json()
    assert [entry["name"] for entry in found] == _native.formats()
    assert [entry["name"] for entry in found if entry["is_written"]] == [
        *("msr", "spc", "mqsim", "disksim", "fio", "ssdlab", "parquet"),
    ]
    done = ssdlab("trace", "formats")
    assert any(line.split()[:2] == ["msr*", "100ns"] for line in done.out.splitlines())
    assert all(entry["columns"] and entry["time_unit"] and entry["summary"] for entry in found)


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", "t.fifo"),
        ("convert", "t.fifo", "out.csv"),
        ("mix", "t.fifo", "--share-addresses", "-o", "out.csv"),
    ],
)
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    fifo = tmp_path / "t.fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*COMMAND, "trace", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    endless = (
        "import itertools\nwith open('t.fifo', 'w') as pipe:\n"
        f"    print('{HEAD}', file=pipe)\n"
        "    pipe.writelines(f'{n},0,R,{n % 999 * 4096},4096\\n' for n in itertools.count())"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", endless], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    writer.wait(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("arguments", ["--help", "trace --help", "trace mix --help"])
def test_help_keeps_its_lines(ssdlab: Ssdlab, arguments: str) -> None:
    lines = ssdlab(*arguments.split()).out.splitlines()
    assert not any("\\b" in line for line in lines)
    assert not any(line.endswith("...") for line in lines[1:])


def test_figures_as_text() -> None:
    assert [size(n) for n in (0, 511, 4096, 6912, 1 << 40)] == [
        *("0 B", "511 B", "4 KiB", "6.75 KiB", "1 TiB"),
    ]
    assert [seconds(n) for n in (0.001, 599, 660, 7200, 600000)] == [
        *("1.00 ms", "599 s", "11.0 min", "2.00 h", "6.94 d"),
    ]
    assert spark([0, 1, 4, 8]) == "·▂▅█"
    assert short_paths(["/a/b/c", "/a/d/c"]) == ["b/c", "d/c"]
    assert short_paths(["x", "x"]) == ["x", "x"]
