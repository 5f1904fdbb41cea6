"""`ssdlab run` and `ssdlab compare`: every option does what it says."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from command import COMMAND, OFFICE, Ssdlab

from ssdlab.cli.run import compare as compare_command
from ssdlab.cli.run import run as run_command

QUICK = ("--limit", 2000)


def figures(ssdlab: Ssdlab, *arguments: object) -> dict[str, object]:
    """The one result of a run, without what differs from run to run."""
    done = ssdlab("run", *arguments, "--json", "-")
    assert (done.code, done.err.count("Traceback")) == (0, 0), done.err
    (result,) = done.json()["results"]
    del result["sim"]
    return dict(result)


def test_the_version(ssdlab: Ssdlab) -> None:
    done = ssdlab("--version")
    assert done.code == 0
    assert done.out.startswith("ssdlab ")
    assert done.out.count("\n") == 1


@pytest.mark.parametrize(("limit", "slowest"), [(1000, 1), (5000, 5), (10_000, None)])
def test_a_short_run_says_that_its_tail_rests_on_few_requests(
    ssdlab: Ssdlab, limit: int, slowest: int | None
) -> None:
    reads = ("--workload", "random", "--set", "workload.read_share=1", "--limit", limit)
    done = ssdlab("run", *reads)
    line = f"few reads: p99.9 rests on the slowest {slowest} of {limit:,}"
    assert (line in done.out) == (slowest is not None), done.out
    assert "few writes" not in done.out


@pytest.mark.parametrize(
    ("arguments", "notes"),
    [
        (
            (3000, "--set", "workload.read_share=1", "--vary", "scheduler=fifo,read_first"),
            ["few reads: p99.9 rests on the slowest 3 of 3,000 in every run"],
        ),
        (
            (3000, "--vary", "workload.read_share=0,1"),
            [
                "few reads: p99.9 rests on the slowest 3 of 3,000 in at least one run",
                "few writes: p99.9 rests on the slowest 3 of 3,000 in at least one run",
            ],
        ),
        ((10_000, "--vary", "workload.read_share=0,1"), []),
    ],
)
def test_a_short_comparison_says_once_that_its_tail_rests_on_few_requests(
    ssdlab: Ssdlab, arguments: tuple[object, ...], notes: list[str]
) -> None:
    done = ssdlab("compare", "--workload", "random", "--limit", *arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("few ") == len(notes), done.out
    assert not notes or done.out.endswith("\n\n" + "\n".join(notes) + "\n"), done.out


def test_a_few_reads_with_some_seeds_are_noted_once(ssdlab: Ssdlab) -> None:
    for command in ("run", "compare"):
        done = ssdlab(command, "--workload", "random", "--seeds", 3, *QUICK)
        assert (done.code, done.err) == (0, "")
        found = [line for line in done.out.splitlines() if line.startswith("few ")]
        assert [line.partition(":")[0] for line in found] == ["few reads", "few writes"]
        assert all(line.endswith(" in at least one run") for line in found)


def test_help_groups_the_options_and_leaves_none_out(ssdlab: Ssdlab) -> None:
    for command in (run_command, compare_command):
        groups = ssdlab(command.name, "--help").out.split("\n\n")
        headed = {group.partition(":\n")[0]: group for group in groups}
        named = ("The drive", "The load", "The start", "Several runs", "How it runs", "Outputs")
        assert not [heading for heading in named if heading not in headed]
        assert headed["The drive"].index("--device") < headed["The drive"].index("--seed")
        rest = headed["Other options"]
        assert [word for word in rest.split() if word.startswith("--")] == ["--help"]
        listed = "".join(headed.values())
        assert all(param.opts[0] in listed for param in command.params)


def test_help_names_every_option_at_80_columns(ssdlab: Ssdlab) -> None:
    for command in ("run", "compare"):
        done = ssdlab(command, "--help")
        assert done.code == 0
        names = (
            *("device", "config", "set", "vary", "trace", "workload", "scheme", "seed", "seeds"),
            *("limit", "warmup", "precondition", "time-scale", "closed", "wrap", "jobs", "state"),
            *("paranoid", "replays", "json", "report", "figures", "log", "series", "interval"),
            *("timeline", "timeline-span"),
        )
        for name in names:
            assert f"--{name} " in done.out, name
        assert max(map(len, done.out.splitlines())) <= 80


def test_a_report_of_one_run(ssdlab: Ssdlab) -> None:
    done = ssdlab("run", "--trace", OFFICE, *QUICK)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"generic-mlc-512g · conventional · {OFFICE} (msr) · seed ")
    for word in ("latency", "read", "write", "p99.9", "IOPS", "WAF", "GC", "where", "sense"):
        assert word in done.out, word
    assert "\x1b" not in done.out
    body = done.out.splitlines()[1:]
    assert max(map(len, body)) <= 80


def test_without_a_trace_the_workload_is_random(ssdlab: Ssdlab) -> None:
    assert figures(ssdlab, *QUICK)["workload"] == "random"


@pytest.mark.parametrize("name", ["random", "sequential", "zipf", "hotcold", "bursty"])
def test_every_workload(ssdlab: Ssdlab, name: str) -> None:
    result = figures(ssdlab, "--workload", name, *QUICK)
    assert (result["workload"], result["requests"]) == (name, 2000)


@pytest.mark.parametrize("name", ["generic-mlc-512g", "generic-tlc-2t", "dlv-mlc-128g"])
def test_every_device(ssdlab: Ssdlab, name: str) -> None:
    result = figures(ssdlab, "--device", name, *QUICK)
    assert (result["device"], result["requests"]) == (name, 2000)


@pytest.mark.parametrize(
    "option",
    [
        ("--set", "scheduler=fifo", "--set", "workload.interarrival=1us"),
        ("--seed", 2),
        ("--scheme", "conventional", "--set", "timing.read=50us"),
        ("--warmup", 1000),
        ("--warmup", "50ms"),
        ("--time-scale", 0.5),
        ("--closed", 4),
        ("--device", "dlv-mlc-128g"),
        ("--workload", "zipf"),
        ("--vary", "scheduler=fifo", "--time-scale", 0.01),
    ],
    ids=str,
)
def test_an_option_changes_the_result(ssdlab: Ssdlab, option: tuple[object, ...]) -> None:
    plain = figures(ssdlab, *QUICK)
    assert figures(ssdlab, *QUICK, *option)["results_digest"] != plain["results_digest"]


def test_a_limit_changes_the_result(ssdlab: Ssdlab) -> None:
    plain = figures(ssdlab, *QUICK)["results_digest"]
    assert figures(ssdlab, "--limit", 1500)["results_digest"] != plain


def test_the_options_that_must_not_change_the_result(ssdlab: Ssdlab) -> None:
    plain = figures(ssdlab, *QUICK)["results_digest"]
    for option in (("--paranoid",), ("--jobs", 1), ("--wrap",), ("--seed", 1), ("--seeds", 1)):
        assert figures(ssdlab, *QUICK, *option)["results_digest"] == plain, option


def test_config_files_lie_below_settings_and_above_the_device(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    (tmp_path / "slow.toml").write_text('[timing]\nread = "1ms"\nprogram = "5ms"\n')
    (tmp_path / "slower.toml").write_text('[timing]\nprogram = "9ms"\n')
    files = ("--config", "slow.toml", "--config", "slower.toml")
    result = figures(ssdlab, *files, "--set", "timing.read=2ms", *QUICK)
    config = json.loads(json.dumps(result["provenance"]))["config"]
    assert config["timing"]["read"] == "2ms"
    assert config["timing"]["program"] == "9ms"


def test_wrap_folds_addresses_beyond_the_drive(ssdlab: Ssdlab, tmp_path: Path) -> None:
    line = f"128166372000000000,hm,1,Read,{1 << 50},4096,0\n"
    (tmp_path / "far.csv").write_text(line)
    done = ssdlab("run", "--trace", "far.csv", "--wrap")
    assert done.code == 0
    assert "folded: 1 requests beyond the drive" in done.out


def test_a_trace_with_its_format_named(ssdlab: Ssdlab, trace: Path) -> None:
    assert figures(ssdlab, "--trace", f"{trace.name}:msr")["requests"] == 3


def test_a_trace_that_may_be_two_formats_says_so(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "five.txt").write_text("0 0 0 8 1\n1000 0 8 8 0\n")
    done = ssdlab("run", "--trace", "five.txt")
    remark = (
        "note: five.txt: read as mqsim, though it could be ssdsim or disksim "
        "(FILE:format says which)"
    )
    assert remark in done.out.splitlines()
    piped = ssdlab("run", "--trace", "five.txt", "--json", "-")
    assert remark in piped.err.splitlines()
    assert piped.json()["results"][0]["provenance"]["trace_format"] == "mqsim"


def test_a_drive_that_cannot_keep_up_is_called_saturated(ssdlab: Ssdlab) -> None:
    done = ssdlab("run", "--limit", 20_000, "--set", "workload.interarrival=1us", "--json", "a")
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("SATURATED")]
    assert "requests unfinished when the last one arrived" in line


def test_json_on_stdout_is_nothing_else(ssdlab: Ssdlab) -> None:
    done = ssdlab("compare", "--vary", "scheduler=fifo,read_first", *QUICK, "--json", "-")
    whole = done.json()
    assert (done.code, done.err) == (0, "")
    assert whole["schema_version"] == 2
    assert [result["vary"] for result in whole["results"]] == [
        {"scheduler": "fifo"},
        {"scheduler": "read_first"},
    ]


def test_json_in_a_file_comes_beside_the_table(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("what was there before")
    done = ssdlab("run", *QUICK, "--json", "out.json")
    assert "latency" in done.out
    assert json.loads((tmp_path / "out.json").read_text())["results"][0]["requests"] == 2000
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_blame_sums_to_the_mean(ssdlab: Ssdlab) -> None:
    done = ssdlab("run", "--trace", OFFICE, "--json", "-")
    for kind in ("read", "write"):
        part = done.json()["results"][0][kind]
        assert sum(part["blame_us"].values()) == pytest.approx(part["latency_us"]["mean"], 1e-9)


def test_a_comparison_has_a_row_a_run_with_ratios(ssdlab: Ssdlab) -> None:
    vary = ("--vary", "scheduler=fifo,read_first", "--vary", "timing.read=50us,75us")
    done = ssdlab("compare", *vary, *QUICK)
    assert done.code == 0
    assert done.out.splitlines()[2].startswith("scheduler, read ")
    for label in ("fifo, 50us", "fifo, 75us", "read_first, 50us", "read_first, 75us"):
        assert any(line.startswith(label) for line in done.out.splitlines()), label
    assert "×" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_comparison_of_devices_and_of_traces(ssdlab: Ssdlab, trace: Path) -> None:
    devices = "generic-mlc-512g,dlv-mlc-128g"
    traces = ("--trace", trace.name, "--trace", OFFICE)
    done = ssdlab("compare", "--device", devices, *traces, *QUICK)
    lines = done.out.splitlines()
    # Two tables, each of several blocks, in which each device has a row.
    titles = [line.split(" · ")[0] for line in lines if " · " in line]
    assert titles == [f"{trace.name} (msr)", f"{OFFICE} (msr)"]
    for name in devices.split(","):
        assert sum(line.startswith(name) for line in lines) >= 2


def test_seeds_give_a_mean_and_an_interval(ssdlab: Ssdlab) -> None:
    options = ("--vary", "scheduler=fifo,read_first", "--seeds", 3, *QUICK)
    table = ssdlab("compare", *options)
    assert "3 seeds from 1, ± 95% interval" in table.out
    assert "±" in table.out.splitlines()[4]
    whole = ssdlab("compare", *options, "--json", "-").json()
    assert [result["provenance"]["seed"] for result in whole["results"]] == [1, 2, 3] * 2
    assert [part["seeds"] for part in whole["aggregates"]] == [[1, 2, 3]] * 2
    assert [part["runs"] for part in whole["aggregates"]] == [[0, 1, 2], [3, 4, 5]]
    means = [result["read"]["latency_us"]["mean"] for result in whole["results"][:3]]
    interval = whole["aggregates"][0]["metrics"]["read.latency_us.mean"]
    assert interval["mean"] == pytest.approx(sum(means) / 3)
    assert interval["half_width_95"] > 0


def test_seeds_that_change_nothing_are_noted(ssdlab: Ssdlab, trace: Path) -> None:
    done = ssdlab("run", "--seeds", 2, "--trace", trace.name)
    assert "nothing here is random: all seeds give the same figures" in done.out


def test_run_takes_seeds_too(ssdlab: Ssdlab) -> None:
    done = ssdlab("run", "--seeds", 2, *QUICK)
    assert done.code == 0
    assert "2 seeds from 1" in done.out


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_digest_is_the_same_for_any_number_of_jobs(ssdlab: Ssdlab, jobs: int) -> None:
    vary = ("--vary", "scheduler=fifo,read_first", "--vary", "ftl.allocation=static,dynamic")
    done = ssdlab("compare", *vary, "--trace", OFFICE, "--jobs", jobs, "--json", "-")
    alone = ssdlab(
        *("run", "--set", "scheduler=read_first", "--set", "ftl.allocation=static"),
        *("--trace", OFFICE, "--json", "-"),
    )
    assert (
        done.json()["results"][2]["results_digest"] == alone.json()["results"][0]["results_digest"]
    )


def test_output_that_cannot_show_every_sign(ssdlab: Ssdlab) -> None:
    done = ssdlab("run", *QUICK, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.code, done.err) == (0, "")
    assert "latency" in done.out


def test_a_reader_that_has_had_enough() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "config", "schema"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode in {0, 1}


def test_progress_goes_to_a_terminal_on_stderr_and_json_to_stdout() -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "run", "--limit", "900000", "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    out, _ = process.communicate(timeout=60)
    parts = []
    # A terminal whose other end is closed gives what is left of it, then an error.
    with suppress(OSError):
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    drawn = b"".join(parts).decode()
    os.close(ours)
    assert json.loads(out)["results"][0]["requests"] == 900_000
    assert drawn.startswith("\r")
    assert "%" in drawn
