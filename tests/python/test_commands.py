"""The commands that run nothing: state, preset, scheme, config."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from command import COMMAND, Ssdlab

# A drive small enough to be saved in no time.
SMALL = (
    *("--set", "geometry.channels=2", "--set", "geometry.chips=1", "--set", "geometry.dies=1"),
    *("--set", "geometry.blocks=64", "--set", "ftl.overprovisioning=20%"),
)
LITTLE = ("--set", "workload.footprint=64MiB", "--limit", 2000)
DEVICES = [
    "generic-mlc-512g",
    "generic-tlc-2t",
    "dlv-mlc-128g",
    "pa-ssd-tlc-288g",
    "pa-ssd-tlc-288g-ssdsim",
    "pv-read-mlc-128g",
    "hire-mlc-128g",
    "readguard-tlc-2t",
    "readguard-tlc-2t-young",
    "readguard-tlc-2t-old",
    "readguard-tlc-500g",
    "readguard-tlc-500g-young",
    "readguard-tlc-500g-old",
    "readguard-tlc-1t",
    "readguard-tlc-1t-young",
    "readguard-tlc-1t-old",
    "readguard-tlc-4t",
    "readguard-tlc-4t-young",
    "readguard-tlc-4t-old",
    "five-tlc-512g",
]


def test_list_presets(ssdlab: Ssdlab) -> None:
    done = ssdlab("preset", "list")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == DEVICES
    assert all(len(line.split()) > 3 for line in done.out.splitlines())


@pytest.mark.parametrize("name", DEVICES)
def test_a_preset_that_is_shown_can_be_read_back(ssdlab: Ssdlab, tmp_path: Path, name: str) -> None:
    done = ssdlab("preset", "show", name)
    assert "geometry" in tomllib.loads(done.out)
    (tmp_path / "same.toml").write_text(done.out)
    plain = ssdlab("config", "validate", "--device", name)
    assert ssdlab("config", "validate", "--device", name, "same.toml").out == plain.out


def test_list_and_show_schemes(ssdlab: Ssdlab) -> None:
    done = ssdlab("scheme", "list")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert names[:2] == ["conventional", "dlv/baseline"]
    assert "read_start" in tomllib.loads(ssdlab("scheme", "show", "dlv/roo").out)
    whole = ssdlab("scheme", "show", "readguard/rgftl").out
    assert ssdlab("scheme", "show", "rgftl").out == whole
    several = ssdlab("scheme", "show", "baseline")
    assert several.code == 2
    expected = 'scheme: of several families: got "baseline", expected dlv/baseline or '
    assert several.err.startswith(expected)
    family = ssdlab("scheme", "show", "streams")
    expected = 'scheme: not a scheme: got "streams", expected one of its family: '
    expected += "streams/by-queue, streams/sepbit\n"
    assert (family.code, family.err) == (2, expected)
    done = ssdlab("scheme", "show", "conventional")
    assert (done.code, done.err) == (0, "")
    assert tomllib.loads(done.out) == {}
    assert done.out.startswith("# ")


@pytest.mark.parametrize("group", ["", "config", "preset", "scheme", "state", "trace", "workload"])
def test_a_list_of_commands_is_not_cut(ssdlab: Ssdlab, group: str) -> None:
    listed = ssdlab(*group.split(), "--help").out.partition("\nCommands:\n")[2]
    assert len(listed.splitlines()) > 1
    assert "..." not in listed
    assert all(line.endswith((".", ")")) and len(line) <= 80 for line in listed.splitlines())


def test_the_help_says_what_reproduce_and_config_do(ssdlab: Ssdlab) -> None:
    whole = " ".join(ssdlab("reproduce", "--help").out.split())
    assert "Recompute the papers' claims beside the published figures." in whole
    assert "  config     Validate settings and list all keys.\n" in ssdlab("--help").out


def test_the_help_says_which_outputs_take_one_run_only(ssdlab: Ssdlab) -> None:
    text = " ".join(ssdlab("compare", "--help").out.split())
    assert "--log, --series and --timeline take one run only" in text


def test_the_example_of_a_mix_runs_without_files(ssdlab: Ssdlab, tmp_path: Path) -> None:
    text = ssdlab("trace", "mix", "--help").out
    example = re.search(r"^ +ssdlab (trace mix .*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert example, text
    done = ssdlab(*shlex.split(example[1].replace("\\\n", "")))
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mix.csv"]


def test_the_commands_that_the_help_proposes_run_anywhere(ssdlab: Ssdlab, tmp_path: Path) -> None:
    lines = [line.strip() for line in ssdlab().err.splitlines()]
    commands = [line for line in lines if re.match("ssdlab (run|compare) --", line)]
    assert len(commands) == 3
    path = f"{Path(COMMAND[0]).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


def test_validate_names_the_hash(ssdlab: Ssdlab) -> None:
    plain, fifo = (
        ssdlab("config", "validate"),
        ssdlab("config", "validate", "--set", "scheduler=fifo"),
    )
    assert plain.out.startswith("valid: generic-mlc-512g, conventional, config ")
    assert len(plain.out.split()[-1]) == 64
    assert plain.out != fifo.out


def test_validate_shows_every_value_and_its_origin(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('[timing]\nread = "50us"\n')
    done = ssdlab("config", "validate", "--show", "my.toml", "--set", "scheduler=fifo")
    lines = done.out.splitlines()
    assert 'timing.read = "50us"  # my.toml:2:8' in lines
    assert 'scheduler = "fifo"  # --set scheduler=fifo' in lines
    assert any(line.startswith('timing.program = "750us"  # preset ') for line in lines)
    assert any(line.endswith("# built-in default") for line in lines)


@pytest.mark.parametrize(
    ("stage", "preset"),
    [("young", "readguard-tlc-500g-young"), ("adult", "readguard-tlc-500g")],
)
def test_a_stage_names_a_sister(ssdlab: Ssdlab, stage: str, preset: str) -> None:
    staged = ssdlab("config", "validate", "--device", "readguard-tlc-500g", "--stage", stage)
    assert (staged.code, staged.err) == (0, "")
    assert staged.out == ssdlab("config", "validate", "--device", preset).out
    assert staged.out.startswith(f"valid: {preset}, conventional")


def test_a_comparison_has_every_device_at_every_stage(ssdlab: Ssdlab) -> None:
    devices = ("readguard-tlc-500g", "readguard-tlc-1t")
    options = ("--device", ",".join(devices), "--stage", "old,adult", "--workload", "random")
    compared = ssdlab("compare", *options, "--limit", 10, "--json", "-").json()
    expected = [f"{device}{suffix}" for device in devices for suffix in ("-old", "")]
    assert [run["device"] for run in compared["results"]] == expected
    assert [run["label"] for run in compared["results"]] == expected


def test_the_config_as_toml_gives_the_same_config(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab("config", "validate", "--toml", "--set", "buffer.size=64MiB")
    (tmp_path / "all.toml").write_text(done.out)
    again = ssdlab("config", "validate", "all.toml", "--device", "dlv-mlc-128g")
    whole = ssdlab("config", "validate", "--set", "buffer.size=64MiB")
    assert again.out.split()[-1] == whole.out.split()[-1]


def test_the_schema_accepts_every_preset(ssdlab: Ssdlab) -> None:
    schema = ssdlab("config", "schema").json()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in DEVICES:
        preset = tomllib.loads(ssdlab("preset", "show", name).out)
        jsonschema.validate(preset, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**preset, "ordr": "fifo"}, schema)


def test_keys_names_those_of_drive_and_workload(ssdlab: Ssdlab) -> None:
    done = ssdlab("config", "keys")
    for key in (
        "geometry.channels",
        "timing.read",
        "background.gc.threshold",
        "workload.footprint",
    ):
        assert f"| `{key}` |" in done.out, key


def test_a_drive_is_saved_looked_at_and_run(ssdlab: Ssdlab, tmp_path: Path) -> None:
    aged = (*SMALL, "--set", "start.fill=90%", "--set", "start.invalid=20%")
    saved = ssdlab("state", "save", "aged.state", *aged)
    assert (saved.code, saved.err) == (0, "")
    assert "generic-mlc-512g, aged under conventional, seed 1" in saved.out
    assert ssdlab("state", "load", "aged.state").out == saved.out
    assert [path.name for path in tmp_path.iterdir()] == ["aged.state"]
    runs = {
        name: ssdlab("run", *options, *LITTLE, "--json", "-").json()["results"][0]
        for name, options in {
            "saved": (*SMALL, "--state", "aged.state"),
            "aged": aged,
            "fresh": SMALL,
        }.items()
    }
    for figure in ("read", "write", "ops", "gc", "waf", "unwritten_reads"):
        assert runs["saved"][figure] == runs["aged"][figure], figure
    assert runs["fresh"]["unwritten_reads"] > runs["aged"]["unwritten_reads"]


def test_a_drive_of_priorities_is_saved_with_its_workload(ssdlab: Ssdlab) -> None:
    small = ("--set", "geometry.blocks=64", "--set", "ftl.overprovisioning=50%")
    drive = ("--device", "readguard-tlc-2t-old", "--scheme", "rgftl", *small)
    none = ssdlab("state", "save", "old.state", *drive)
    assert none.code == 2
    assert "metadata.block_class: expected the workload with which the drive will run" in none.err
    saved = ssdlab("state", "save", "old.state", *drive, "--workload", "mix-a")
    assert (saved.code, saved.err) == (0, "")
    load = ("--workload", "mix-a", "--wrap", "--limit", "2000")
    assert ssdlab("run", *drive, *load, "--state", "old.state").code == 0
    useless = ssdlab("state", "save", "x.state", *SMALL, "--workload", "zipf")
    assert useless.code == 2
    assert "--workload: a workload of a drive that is saved: expected none" in useless.err


def test_a_run_ends_once_its_figure_has_settled(ssdlab: Ssdlab) -> None:
    goal = ("--closed", 2, "--until-settled", "read.latency_us.mean@10%")
    done = ssdlab("run", *SMALL, *LITTLE[:2], "--workload", "random", *goal)
    assert done.code == 0, done.err
    line = next(line for line in done.out.splitlines() if line.startswith("settled"))
    assert line.startswith("settled    read.latency_us.mean = "), line
    assert " left out) and " in line, line
    wrong = ssdlab("run", *SMALL, "--until-settled", "read.mean")
    assert wrong.code == 2
    assert "--until-settled: unknown figure" in wrong.err


def test_precondition_and_state_save_go_together(ssdlab: Ssdlab) -> None:
    saved = ssdlab("state", "save", "steady.state", *SMALL, "--precondition", "steady")
    assert saved.code == 0
    assert "100 % of the drive" in saved.out
    done = ssdlab("run", *SMALL, "--precondition", "steady", *LITTLE)
    assert "steady after" in done.out


def test_what_is_no_state_is_refused(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "no.state").write_text("not one")
    done = ssdlab("state", "load", "no.state")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "no.state: is no state file: expected a file written by `ssdlab state save`\n"
    )


def test_the_state_of_another_drive_is_refused(ssdlab: Ssdlab) -> None:
    ssdlab("state", "save", "small.state", *SMALL)
    for other in (("--device", "dlv-mlc-128g"), (*SMALL, "--seed", 2)):
        done = ssdlab("run", *other, "--state", "small.state")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert done.err.startswith("small.state: ")


def test_a_state_that_cannot_be_written_is_refused_at_once(ssdlab: Ssdlab) -> None:
    done = ssdlab("state", "save", "no/such/aged.state")
    assert (done.code, done.out) == (2, "")
    assert done.err == 'FILE: cannot write "no/such/aged.state": No such file or directory\n'


def test_the_help_says_where_workloads_have_their_names(ssdlab: Ssdlab) -> None:
    text = " ".join(ssdlab("run", "--help").out.split())
    assert "or a twin of a published trace, such as dlv/hm0: `ssdlab workload list`" in text


def test_the_module_is_the_command(ssdlab: Ssdlab) -> None:
    command = [sys.executable, "-m", "ssdlab", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ssdlab("--version").out
