"""An invalid input ends with a one-line error and the exit code 2."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command import OFFICE, Ssdlab

import ssdlab as lab
from ssdlab.cli import main

COLUMNS = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"
GOOD = "128166372000000000,hm,1,Write,4096,8192,0\n"
DEVICES = ", ".join(lab.presets())
STAGED = "readguard-tlc-2t, readguard-tlc-500g, readguard-tlc-1t, readguard-tlc-4t"
SCHEMES = ", ".join(lab.schemes())
FORMATS = (
    "one of msr, spc, mqsim, ssdsim, disksim, heimdall, alicloud, tencent, systor, fiu, blkparse, "
    "fio, vscsi, etw, wpa, diskmon, hfplayer, wiscsee, ssdlab, csv, parquet"
)

# Arguments after `ssdlab`, and the line.
ARGUMENTS = [
    ("rum", "ssdlab: no such command 'rum' (did you mean \"run\"?)"),
    ("preset sho", "ssdlab preset: no such command 'sho' (did you mean \"show\"?)"),
    ("preset show", "ssdlab preset show: missing NAME"),
    (
        "preset show dlv-mlc-128",
        (
            'preset: not a device: got "dlv-mlc-128", '
            f'expected {DEVICES} (did you mean "dlv-mlc-128g"?)'
        ),
    ),
    (
        "scheme show conventionl",
        (
            'scheme: not a scheme: got "conventionl", '
            f'expected {SCHEMES} (did you mean "conventional"?)'
        ),
    ),
    ("run --devise x", 'ssdlab run: no such option --devise (did you mean "--device"?)'),
    ("run --xyzzy", "ssdlab run: no such option --xyzzy"),
    ("run --fit", "ssdlab run: --fit is now called --wrap"),
    ("compare --fit=1", "ssdlab compare: --fit is now called --wrap"),
    ("physics --fit", 'ssdlab physics: no such option --fit (did you mean "--set"?)'),
    ("run --limit 3 --limit 4", "--limit: given 2 times, expected once"),
    *(
        (
            f"compare {option} a {option} b {option} c",
            f"{option}: given 3 times, expected once, with commas between several names",
        )
        for option in ("--device", "--stage", "--scheme")
    ),
    ("trace info x --json a --json b", "--json: given 2 times, expected once"),
    ("run --limit", "option '--limit' requires an argument"),
    (
        "run trace.csv",
        (
            "ssdlab run: got unexpected extra argument (trace.csv): "
            "expected --trace FILE or --workload NAME"
        ),
    ),
    ("run --seeds 0", "--seeds: got '0', expected a whole number from 1"),
    ("run --jobs many", "--jobs: got 'many', expected a whole number from 1"),
    ("run --seed -1", "--seed: got '-1', expected a whole number from 0"),
    *(
        (f"run {option} {2**63}", f"{option}: got '{2**63}', expected at most {2**63 - 1}")
        for option in ("--seed", "--limit", "--jobs", "--seeds")
    ),
    (f"run --closed {2**32}", f"--closed: got '{2**32}', expected at most {2**32 - 1}"),
    ("run --time-scale nan", "--time-scale: got 'nan', expected a number above 0"),
    (
        "run --device generic-mlc-512",
        (
            '--device: not a device: got "generic-mlc-512", '
            f'expected {DEVICES} (did you mean "generic-mlc-512g"?)'
        ),
    ),
    (
        "compare --device readguard-tlc-2t --stage young,ol",
        (
            '--stage: unknown stage: got "ol", '
            'expected one of young, adult, old (did you mean "old"?)'
        ),
    ),
    (
        "run --device dlv-mlc-128g --stage old",
        f"--stage: dlv-mlc-128g has no stages: expected one of {STAGED}",
    ),
    (
        "physics readguard-tlc-2t-old --stage old",
        ("--stage: readguard-tlc-2t-old is already at a stage: expected --device readguard-tlc-2t"),
    ),
    (
        "state save x.state --device readguard-tlc-2 --stage old",
        (
            '--device: not a device: got "readguard-tlc-2", '
            f'expected {DEVICES} (did you mean "readguard-tlc-2t"?)'
        ),
    ),
    (
        "run --device readguard-tlc-2t --stage young,old",
        "ssdlab run: got 2 configurations, expected one (use compare)",
    ),
    (
        "config validate --device readguard-tlc-2t --stage young,old",
        "--stage: got 'young,old', expected one stage",
    ),
    (
        "run --scheme convential",
        (
            '--scheme: not a scheme: got "convential", '
            f'expected {SCHEMES} (did you mean "conventional"?)'
        ),
    ),
    (
        "run --workload randon",
        (
            '--workload: unknown workload: got "randon", '
            "expected random, sequential, zipf, hotcold, bursty, or a twin such as dlv/hm0 "
            '(did you mean "random"?)'
        ),
    ),
    (
        "run --warmup 5parsecs",
        (
            '--warmup: invalid value: got "5parsecs", '
            'expected a number of requests, or a time with its unit such as "10s"'
        ),
    ),
    (
        "run --warmup 100000d",
        "--warmup: longer than any run: got 100000d, expected at most 25550d",
    ),
    (
        "ldpc --seconds 1e308",
        "--seconds: got 1e+308, expected a number above 0, at most 604,800 (a week)",
    ),
    (
        "run --precondition stead",
        (
            '--precondition: unknown way to precondition: got "stead", '
            'expected steady (did you mean "steady"?)'
        ),
    ),
    ("run --replays 0", "--replays: got '0', expected a whole number from 1"),
    (
        "run --replays 2 --warmup 10",
        (
            "--warmup: a warm-up beside --replays: "
            "expected one or the other: the figures are those of the last replay alone"
        ),
    ),
    (
        "run --closed 4 --time-scale 2",
        (
            "--time-scale: a time scale beside --closed: "
            "expected one or the other: a closed loop has no arrival times"
        ),
    ),
    (
        "run --trace a --workload zipf",
        "--workload: a workload beside --trace: expected one or the other",
    ),
    (
        "run --set order",
        "--set order: no value: expected KEY=VALUE, such as background.gc.threshold=5%",
    ),
    (
        "run --set schedular=fifo",
        '--set schedular=fifo: schedular: unknown key (did you mean "scheduler"?)',
    ),
    (
        "run --set timing.read=75u",
        (
            '--set timing.read=75u: timing.read: got "75u", '
            'expected a time with its unit, such as "45us", "3.5ms" or "90d", '
            "in one of ns, us, µs, ms, s, min, h, d"
        ),
    ),
    (
        "run --set scheduler=fif",
        (
            '--set scheduler=fif: scheduler: got "fif", '
            "expected one of fifo, read_first, write_first, strict_priority, dlv "
            '(did you mean "fifo"?)'
        ),
    ),
    (
        "run --set buffer.latency=2us",
        (
            '--set buffer.latency=2us: buffer.latency: got "2us", '
            "expected no such setting without a buffer"
        ),
    ),
    (
        "run --vary order",
        "--vary: got 'order', expected KEY=A,B,C, such as background.gc.threshold=2%,5%",
    ),
    (
        "run --vary scheduler=fifo,",
        "--vary scheduler: got 'fifo,', expected values with commas between them",
    ),
    (
        "run --vary scheduler=fifo,fifo",
        "--vary scheduler: got 'fifo,fifo', expected each value once",
    ),
    (
        "run --vary scheduler=fifo --vary scheduler=read_first",
        "--vary: got 'scheduler' twice, expected each key once",
    ),
    (
        "compare --vary schedular=fifo,read_first",
        '--vary schedular=fifo: schedular: unknown key (did you mean "scheduler"?)',
    ),
    (
        "compare --vary eviction=lru,lr",
        (
            '--vary eviction=lr: eviction: got "lr", expected one of lru, cflru, lru_wsr, ccf_lru, '
            'pt_lru (did you mean "lru"?)'
        ),
    ),
    (
        "compare --vary scheduler=fifo,read_first --set eviction=lr",
        (
            '--set eviction=lr: eviction: got "lr", expected one of lru, cflru, lru_wsr, ccf_lru, '
            'pt_lru (did you mean "lru"?)'
        ),
    ),
    (
        "run --vary scheduler=fifo,read_first",
        "ssdlab run: got 2 configurations, expected one (use compare)",
    ),
    (
        "run --scheme conventional,conventional",
        "--scheme: got 'conventional,conventional', expected each value once",
    ),
    (
        "run --json no/such/folder.json",
        '--json: cannot write "no/such/folder.json": No such file or directory',
    ),
    ("run --json /", '--json: cannot write "/": is a folder'),
    ("run --report no/r.html", '--report: cannot write "no/r.html": No such file or directory'),
    ("run --report /", '--report: cannot write "/": is a folder'),
    ("run --figures no/such", "--figures: cannot write 'no/such': No such file or directory"),
    ("run --figures /dev/null", "--figures: cannot write '/dev/null': is not a folder"),
    ("run --log no/l.parquet", '--log: cannot write "no/l.parquet": No such file or directory'),
    ("run --series no/s", '--series: cannot write "no/s": No such file or directory'),
    ("run --timeline no/t", '--timeline: cannot write "no/t": No such file or directory'),
    (
        "run --json a --report a",
        '--report: the file that --json writes: got "a", expected another file',
    ),
    (
        "run --log a --timeline ./a",
        '--timeline: the file that --log writes: got "./a", expected another file',
    ),
    ("run --seeds 2 --log l", "--log: got 2 runs, expected one: the file holds a single run"),
    (
        "compare --vary scheduler=fifo,read_first --series s",
        "--series: got 2 runs, expected one: the file holds a single run",
    ),
    (
        "compare --seeds 3 --timeline t",
        "--timeline: got 3 runs, expected one: the file holds a single run",
    ),
    (
        "run --interval 1ms",
        "--interval: an option without effect: expected --series or --report beside it",
    ),
    (
        "run --timeline-span 1ms",
        "--timeline-span: an option without effect: expected --timeline beside it",
    ),
    (
        "run --series s --interval 1",
        (
            '--interval: invalid value: got "1", '
            'expected a time above 0 with its unit, such as "10ms"'
        ),
    ),
    (
        "run --series s --interval 100000d",
        "--interval: longer than any run: got 100000d, expected at most 25550d",
    ),
    ("run --config no.toml", "no.toml: cannot be read: No such file or directory"),
    ("run --trace no.csv", "no.csv: no such file"),
    (
        "run --trace no.csv:mrs",
        f'no.csv:mrs: unknown trace format: got mrs, expected {FORMATS} (did you mean "msr"?)',
    ),
    (
        f"run --trace {OFFICE} --set workload.requests=3",
        (
            "--set workload.requests=3: workload.requests: got 3, "
            "expected no workload settings beside a trace"
        ),
    ),
    ("state load no.state", "no.state: cannot be read: No such file or directory"),
    ("config validate no.toml", "no.toml: cannot be read: No such file or directory"),
]

# A trace's content, and the line.
TRACES = [
    ("", "t.csv: holds no request: got an empty file, expected at least one"),
    (
        "# nothing\n",
        "t.csv: holds no request: got blank lines and comments only, expected at least one",
    ),
    (
        GOOD + "128166372000010000,hm,1,Read,4096",
        f"t.csv:2:34: columns: got 5, expected 7 ({COLUMNS})",
    ),
    (
        GOOD + "128166372000010000,hm,1,Read,4096,0,0\n",
        "t.csv:2:35: Size: got 0, expected at least one byte",
    ),
    (
        GOOD + "128166372000010000,hm,1,Read,NaN,512,0\n",
        "t.csv:2:30: Offset: got NaN, expected a whole number, zero or more",
    ),
    (
        GOOD + "128166372000010000,hm,1,Read,1099511627776,512,0\n",
        (
            "t.csv:2: a request beyond the drive's end: got sectors 2147483648 to 2147483649, "
            "expected below 998579888 (--wrap folds such addresses into the drive)"
        ),
    ),
    (
        GOOD + "128166372000010000,hm,1,Read,99999999999999999999,512,0\n",
        "t.csv:2:30: Offset: got 99999999999999999999, expected a number below 2^64",
    ),
    (
        "\x00\x01\x02binary\n",
        (
            "t.csv:1: trace format not recognized: got \ufffd\ufffd\ufffdbinary, "
            f"expected {FORMATS} (FILE:format names it; workload.trace.columns maps other tables)"
        ),
    ),
]

# A config file's content, and the line.
CONFIGS = [
    (
        '[ftl]\noverprovisionin = "5%"\n',
        'c.toml:2:1: ftl.overprovisionin: unknown key (did you mean "overprovisioning"?)',
    ),
    (
        "[buffer]\nsize = 4096\n",
        (
            "c.toml:2:8: buffer.size: got 4096, "
            'expected a size with its unit, such as "16KiB", "128GiB" or "50MB"'
        ),
    ),
    (
        "[geometry]\nblocks = 0\n",
        "c.toml:2:10: geometry.blocks: got 0, expected a whole number from 1 to 16777216",
    ),
    (
        "[read_start.fixed_level]\nstep = 0\n",
        "c.toml:2:8: read_start.fixed_level.step: got 0, expected a whole number from 1 to 255",
    ),
]


@pytest.mark.parametrize(("arguments", "line"), ARGUMENTS, ids=[case[0] for case in ARGUMENTS])
def test_an_argument(ssdlab: Ssdlab, tmp_path: Path, arguments: str, line: str) -> None:
    done = ssdlab(*arguments.split(" "))
    assert (done.err, done.out, done.code) == (line + "\n", "", 2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("content", "line"), TRACES, ids=[case[1] for case in TRACES])
def test_a_trace(ssdlab: Ssdlab, tmp_path: Path, content: str, line: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    done = ssdlab("compare", "--trace", "t.csv", "--seeds", 2, "--json", "out.json")
    assert (done.err, done.out, done.code) == (line + "\n", "", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(("content", "line"), CONFIGS, ids=[case[1] for case in CONFIGS])
@pytest.mark.parametrize("command", ["run --config", "config validate"])
def test_a_config(ssdlab: Ssdlab, tmp_path: Path, command: str, content: str, line: str) -> None:
    (tmp_path / "c.toml").write_text(content)
    done = ssdlab(*command.split(), "c.toml")
    assert (done.err, done.out, done.code) == (line + "\n", "", 2)


READING = [
    "run --config loop",
    "run --trace loop",
    "run --state loop",
    "run --set physics.measured.file=loop",
    "compare --trace loop --seeds 2",
    "run --mix a=loop",
    "state load loop",
    "config validate loop",
    "trace info loop",
    "trace convert loop:msr out.csv",
    "trace mix a=loop -o out.csv",
    "trace check loop",
    "fit loop",
    "reproduce hire --traces loop",
]


@pytest.mark.parametrize("command", READING)
def test_what_cannot_be_read_has_the_systems_words_without_its_number(
    ssdlab: Ssdlab, tmp_path: Path, command: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = ssdlab(*command.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "Too many levels of symbolic links" in done.err
    assert "error" not in done.err


@pytest.mark.parametrize(
    ("found", "put"),
    [
        ("chips.csv is a pipe or a device", os.mkfifo),
        ("chips.csv is a folder", Path.mkdir),
        ("chips.csv cannot be read: Too many", lambda path: path.symlink_to("chips.csv")),
        ("there is none at chips.csv", lambda _: None),
    ],
)
def test_what_is_no_file_of_measurements_is_named(
    ssdlab: Ssdlab, tmp_path: Path, found: str, put: Callable[[Path], object]
) -> None:
    put(tmp_path / "chips.csv")
    done = ssdlab("run", "--set", "physics.measured.file=chips.csv")
    expected = "a file with measurements of chips, in CSV"
    assert f'got "chips.csv", expected {expected}; {found}' in done.err
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_file_that_must_not_be_written_is_left_alone(ssdlab: Ssdlab, tmp_path: Path) -> None:
    target = tmp_path / "kept.json"
    target.write_text("kept")
    done = ssdlab("run", "--trace", "no.csv", "--json", "kept.json")
    assert done.code == 2
    assert target.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]


def test_without_a_command_there_is_help(ssdlab: Ssdlab) -> None:
    done = ssdlab()
    assert (done.code, done.out) == (2, "")
    assert "Usage: ssdlab" in done.err


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("state load", "FILE"),
        ("config validate", "--config"),
        ("run --config", "--config"),
        ("run --state", "--state"),
    ],
)
def test_a_file_without_a_name_is_refused_by_its_option(
    ssdlab: Ssdlab, arguments: str, option: str
) -> None:
    done = ssdlab(*arguments.split(), "")
    assert (done.code, done.out, done.err) == (2, "", f"{option}: got '', expected a file\n")


ODD: tuple[object, ...] = (-1, "x", [], {}, 1e999)


def test_what_is_no_result_is_refused_by_the_library() -> None:
    good = lab.run(workload="random", limit=50).to_dict()
    wrong: list[object] = [None, [], "x", {}]
    wrong += [{**good, "read": value} for value in ODD]
    wrong += [{**good, "queues": value} for value in (1, "x", [1], {"a": 1})]
    wrong += [{key: value for key, value in good.items() if key != "iops"}]
    for data in wrong:
        with pytest.raises(lab.InputError, match=r"^no [^\n]+: got .*expected "):
            lab.Result.from_dict(data)  # type: ignore[arg-type]


def test_a_library_that_cannot_be_loaded_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(**_: object) -> None:
        first = ImportError("libx.so: failed to map segment from shared object", name="numpy.x")
        raise ImportError("IMPORTANT:\nplease read this\n") from first

    monkeypatch.setattr(main.ssdlab, "main", load)
    assert main.exit_code() == 2
    line = "ssdlab: a library cannot be loaded: libx.so: failed to map segment from shared object"
    assert capsys.readouterr() == ("", line + "\n")
