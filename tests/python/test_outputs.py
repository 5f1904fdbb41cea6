"""No output replaces an input or another output, and files appear whole or not at all."""

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, OFFICE, Ssdlab

import ssdlab as library
from ssdlab import traces
from ssdlab.files import OutputFolder

CHIPS = OFFICE.parent / "chips.csv"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# A command, and the line with which it is refused.
REPLACING = [
    *(
        (
            f"run --trace t.csv {option} {name}",
            f'{option}: the file that --trace reads: got "{name}", expected another file',
        )
        for option in ("--json", "--report", "--log", "--series", "--timeline")
        for name in ("t.csv", "./soft", "hard")
    ),
    ("run --trace soft --json hard", '--json: the file that --trace reads: got "hard"'),
    ("run --trace t.csv:msr --json t.csv", '--json: the file that --trace reads: got "t.csv"'),
    ("compare --trace t.csv --seeds 2 --json t.csv", "--json: the file that --trace reads"),
    ("run --mix a=t.csv --json t.csv", "--json: the file that --mix reads"),
    ("run --app high=t.csv,low=hard --log soft", "--log: the file that --mix reads"),
    ("run --config c.toml --json c.toml", "--json: the file that --config reads"),
    ("run --state d/blame.svg --report d/blame.svg", "--report: the file that --state reads"),
    (
        "run --config m.toml --device readguard-tlc-2t --json chips.csv",
        "--json: the file that physics.measured.file reads",
    ),
    ("state save c.toml --config c.toml", "FILE: the file that --config reads"),
    ("physics generic-tlc-2t --config c.toml --json c.toml", "--json: the file that --config"),
    ("fit chips.csv --json chips.csv", "--json: the file that CSV reads"),
    ("fit chips.csv --samples chips.csv", "--samples: the file that CSV reads"),
    ("fit chips.csv --out .", "--out: the file that CSV reads"),
    ("trace info t.csv --json hard", "--json: the file that FILE reads"),
    ("trace info t.csv --report soft", "--report: the file that FILE reads"),
    ("trace convert t.csv hard:msr", "OUT: the file that IN reads"),
    ("trace convert t.csv o.csv --json t.csv", "--json: the file that IN reads"),
    ("trace convert t.csv o.csv --json o.csv", "--json: the file that OUT writes"),
    ("trace mix a=t.csv b=hard -o soft:msr", "OUT: the file that APP reads"),
    ("trace mix a=t.csv -o o.csv --json t.csv", "--json: the file that APP reads"),
    ("run --limit 9 --json new --report ./new", "--report: the file that --json writes"),
    ("run --limit 9 --json d/../new --log new", "--log: the file that --json writes"),
]


@pytest.mark.parametrize(("arguments", "line"), REPLACING, ids=[case[0] for case in REPLACING])
def test_an_output_never_replaces_an_input_or_another_output(
    ssdlab: Ssdlab, inputs: Path, arguments: str, line: str
) -> None:
    before = contents(inputs)
    done = ssdlab(*arguments.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(line)
    assert done.err.count("\n") == 1
    assert contents(inputs) == before


@pytest.mark.parametrize(
    "arguments",
    [
        "run --trace d/blame.svg:msr --figures d",
        "run --limit 9 --json d/new.pdf --figures d",
        "run --limit 9 --report d/../d/new.png --figures d/.",
        "run --limit 9 --log d/new.svg --figures d",
        "physics dlv-mlc-128g --report d/new.svg --figures d",
        "trace info t.csv --json d/new.svg --figures d",
        "reproduce H4 --quick --traces d --out d",
    ],
)
def test_a_folder_of_figures_holds_no_other_file_of_such_a_name(
    ssdlab: Ssdlab, inputs: Path, arguments: str
) -> None:
    (inputs / "d" / "hm_0.json").write_text("a trace")
    before = contents(inputs)
    done = ssdlab(*arguments.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert " may be one of those that are written: got " in done.err
    assert contents(inputs) == before


def test_an_output_never_replaces_a_file_that_was_read_for_it(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    found = library.fit("chips.csv")
    blocks = library.physics(device="dlv-mlc-128g", config="c.toml")
    run = library.run(trace="t.csv", detail=True)
    found.save("fitted")
    again = library.fit(
        device="generic-tlc-2t",
        set={"physics": "retries"},
        config=["fitted/fit.toml"],
        chips=library.ChipSpec(chips=(4, 4, 2), blocks=8),
    )
    before = contents(inputs)
    for write in (
        lambda: found.report_html("chips.csv"),
        lambda: blocks.report_html("c.toml"),
        lambda: again.save("fitted"),
        lambda: library.report_html(run, "hard"),
    ):
        with pytest.raises(library.InputError, match=r"the file that .* reads"):
            write()
    # Wherever one has gone since.
    monkeypatch.chdir("/")
    for write in (
        lambda: found.report_html(inputs / "chips.csv"),
        lambda: library.report_html(run, inputs / "t.csv"),
    ):
        with pytest.raises(library.InputError, match="read"):
            write()
    assert contents(inputs) == before


def test_a_manifest_and_its_traces_are_not_replaced(ssdlab: Ssdlab, inputs: Path) -> None:
    (inputs / "all" / "one").mkdir(parents=True)
    (inputs / "t.csv").rename(inputs / "all" / "one" / "trace.csv")
    (inputs / "all" / "MANIFEST.tsv").write_text("name\tlines\none\t3\n")
    before = contents(inputs)
    for name in ("all/MANIFEST.tsv", "all/one/trace.csv"):
        done = ssdlab("trace", "check", "all", "--json", name)
        assert (done.code, done.err.partition(":")[0]) == (2, "--json")
    assert contents(inputs) == before


def test_the_library_refuses_it_too(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    before = contents(inputs)
    for plan in ({"log": "hard"}, {"series": Path("soft")}, {"timeline": inputs / "t.csv"}):
        with pytest.raises(library.InputError, match="the file that --trace reads"):
            library.run(trace="t.csv", **plan)
    with pytest.raises(library.InputError, match="--log: the file that another run writes"):
        library.compare([library.Plan(log="new", seed=seed, limit=9) for seed in (1, 2)])
    result = library.run(trace="t.csv", detail=True)
    with pytest.raises(library.InputError, match="report: the file that --trace reads"):
        library.report_html(result, "hard")
    assert contents(inputs) == before


def test_a_result_knows_what_it_has_read_from_any_folder(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    result = library.run(trace="t.csv", config=["c.toml"], detail=True)
    before = contents(inputs)
    monkeypatch.chdir("/")
    with pytest.raises(library.InputError, match="the file that --config reads"):
        library.report_html(result, inputs / "c.toml")
    old = library.Result.from_dict(result.to_dict())
    Path(inputs / "d" / "blame.svg").rename(inputs / "d" / "blame-read.svg")
    with pytest.raises(library.InputError, match="a trace that was read"):
        library.save_figures(old, inputs / "d")
    Path(inputs / "d" / "blame-read.svg").rename(inputs / "d" / "blame.svg")
    assert contents(inputs) == before


def test_a_report_of_traces_replaces_none(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    Path("d/blame.svg").rename("d/trace-gaps.svg")
    before = contents(inputs)
    with pytest.raises(library.InputError, match="the file that trace reads"):
        traces.report_html(traces.info(["t.csv"]), "hard")
    with pytest.raises(library.InputError, match="the file that trace reads"):
        traces.save_figures(traces.info(["d/trace-gaps.svg:msr"]), "d")
    infos = traces.info(["t.csv"])
    monkeypatch.chdir("d")
    with pytest.raises(library.InputError, match="the file that trace reads"):
        traces.report_html(infos, "../t.csv")
    assert contents(inputs) == before


def test_the_library_draws_no_figure_over_what_was_read(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    Path("c.toml").rename("d/blame-read.svg")
    before = contents(inputs)
    result = library.run(trace="t.csv", config=["d/blame-read.svg"], detail=True)
    with pytest.raises(library.InputError, match="the file that --config reads"):
        library.save_figures(result, "d")
    assert contents(inputs) == before


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("trace info t.csv --json new --figures new", "--figures"),
        ("run --trace t.csv --report new --figures ./new", "--figures"),
        ("fit chips.csv --json x --out x", "--out"),
        ("fit chips.csv --samples d/fit-steps.svg --figures d", "--figures"),
        ("run --trace t.csv --json j --figures links", "--figures"),
        ("run --limit 9 --json j --figures dangling", "--figures"),
    ],
)
def test_a_folder_that_holds_another_file_by_any_name_is_refused_before_anything_runs(
    ssdlab: Ssdlab, inputs: Path, arguments: str, option: str
) -> None:
    for folder, leads_to in (("links", "../t.csv"), ("dangling", "../j")):
        (inputs / folder).mkdir()
        (inputs / folder / "slowest.svg").symlink_to(leads_to)
    before = sorted(inputs.rglob("*"))
    done = ssdlab(*arguments.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert done.err.startswith(f"{option}: the file of --"), done.err
    assert done.err.endswith("expected another folder\n")
    assert sorted(inputs.rglob("*")) == before


def test_figures_take_few_descriptors(inputs: Path) -> None:
    words = f"ulimit -n 40; exec {COMMAND[0]} run --trace t.csv --figures f"
    done = subprocess.run(["bash", "-c", words], cwd=inputs, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(list((inputs / "f").iterdir())) > 40


def test_a_folder_of_figures_follows_links_and_keeps_rights(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "f" / "a.svg").symlink_to("../real")
    OutputFolder("figures", str(tmp_path / "f")).write({"a.svg": b"new", "b.svg": b"new"})
    assert (tmp_path / "f" / "a.svg").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == ["a.svg", "b.svg"]


def test_figures_of_a_result_do_not_replace_its_inputs(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    found = library.physics(device="dlv-mlc-128g", config="c.toml")
    monkeypatch.setattr("ssdlab.analysis.as_figure_files", lambda _: {"c.toml": b"drawn"})
    before = contents(inputs)
    with pytest.raises(library.InputError, match="the file that --config reads"):
        found.save_figures(".")
    assert contents(inputs) == before


# A command, the option that comes before each of its files, and what it prints.
WRITING = [
    ("run --trace t.csv", ["--json", "--log", "--series", "--timeline", "--report"], "IOPS"),
    ("compare --trace t.csv --seeds 2", ["--json", "--report"], "IOPS"),
    ("physics dlv-mlc-128g", ["--json", "--report"], "strong"),
    ("ldpc", ["--json", "--report"], "BCH"),
    ("fit chips.csv", ["--samples", "--json", "--report", "--out"], "RMSE"),
    ("trace info t.csv", ["--json", "--report"], "requests"),
    ("trace convert t.csv o.csv", ["--json"], "requests"),
    ("trace mix a=t.csv -o o.csv", ["--json"], "requests"),
    ("trace formats", ["--json"], "msr"),
]


@pytest.mark.parametrize(("arguments", "options", "word"), WRITING, ids=[c[0] for c in WRITING])
def test_what_cannot_be_written_keeps_no_other_output_back(
    ssdlab: Ssdlab, inputs: Path, arguments: str, options: list[str], word: str
) -> None:
    full = next(option for option in options if option in {"--json", "--samples"})
    others = [option for option in options if option != full]
    files = [text for option in others for text in (option, f"new{option}")]
    done = ssdlab(*arguments.split(), full, "/dev/full", *files)
    line = f"{full}: cannot write '/dev/full': No space left on device\n"
    assert (done.code, done.err) == (2, line)
    assert word in done.out
    assert all((inputs / f"new{option}").exists() for option in others)


@pytest.mark.parametrize("option", ["--report", "--figures"])
def test_a_full_standard_output_keeps_no_file_back(inputs: Path, option: str) -> None:
    words = ["trace", "info", "t.csv", "--json", "new", option, "drawn"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *words], cwd=inputs, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"output: cannot be written: No space left on device\n"
    assert (inputs / "new").exists()
    assert (inputs / "drawn").exists()


@pytest.mark.parametrize("command", ["config keys", "--help", "run --limit 100 --json new"])
def test_a_reader_that_is_gone_is_no_error(inputs: Path, command: str) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [*COMMAND, *command.split()],
        cwd=inputs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (inputs / "new").exists() == ("new" in command)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_does_not_fit_is_an_error_without_a_buffer_too(inputs: Path, unbuffered: str) -> None:
    # The rest of a write that the system cuts short is written, or that is an error.
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    with (inputs / "printed").open("w") as printed:
        done = subprocess.run(
            [*COMMAND, "config", "keys"],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=limit,
            stdout=printed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"output: cannot be written: File too large\n"


def test_two_outputs_that_fail_are_one_line_and_one_code(inputs: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "trace", "info", "t.csv", "--json", "/dev/full"],
            cwd=inputs,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    line = b"--json: cannot write '/dev/full': No space left on device\n"
    assert (done.returncode, done.stderr) == (2, line)


def test_every_output_follows_a_link(ssdlab: Ssdlab, tmp_path: Path) -> None:
    options = ("--json", "--report", "--log", "--series", "--timeline")
    (tmp_path / "real").mkdir()
    for option in options:
        (tmp_path / option).symlink_to(Path("real", option))
    for _ in range(2):
        named = [word for option in options for word in (option, f"./{option}")]
        done = ssdlab("run", "--limit", 300, *named)
        assert (done.code, done.err) == (0, "")
        assert all((tmp_path / option).is_symlink() for option in options)
        assert sorted(path.name for path in (tmp_path / "real").iterdir()) == sorted(options)
    assert json.loads((tmp_path / "real" / "--json").read_text())["results"]


def test_a_file_of_a_killed_process_is_replaced(tmp_path: Path) -> None:
    # In a container every command has the same number.
    run = f"touch .r.html.$$.part; exec {COMMAND[0]} run --limit 100 --report r.html"
    done = subprocess.run(["sh", "-c", run], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("option", ["--json", "--report", "--log", "--series", "--timeline"])
def test_a_name_that_cannot_be_written_is_refused_in_a_line(
    ssdlab: Ssdlab, tmp_path: Path, option: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    names = {
        "loop": "Too many levels of symbolic links",
        "x" * 256: "File name too long",
        "/".join(["x" * 200] * 25): "File name too long",
    }
    for name, reason in names.items():
        done = ssdlab("run", "--limit", 100, option, name)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"{option}: cannot write")
        assert done.err.endswith(f"{reason}\n")
        assert (done.err.count("\n"), len(done.err) < 500) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--trace", "loop"),
        ("run", "--config", "loop"),
        ("run", "--state", "loop"),
        ("run", "--mix", "loop"),
        ("run", "--figures", "loop"),
        ("config", "validate", "loop"),
        ("state", "load", "loop"),
        ("state", "save", "loop"),
        ("fit", "loop"),
        ("fit", CHIPS, "--out", "loop"),
        ("trace", "info", "loop"),
        ("trace", "check", "loop"),
        ("trace", "convert", OFFICE, "loop:msr"),
        ("reproduce", "H1", "--quick", "--out", "loop"),
        ("reproduce", "H1", "--quick", "--traces", "loop"),
    ],
)
def test_a_link_that_leads_to_itself_is_refused_in_a_line(
    ssdlab: Ssdlab, tmp_path: Path, arguments: tuple[object, ...]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = ssdlab(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


@pytest.mark.parametrize(
    "command",
    [
        *(f"run --limit 100 --{name} NAME" for name in ("json", "report", "figures", "log")),
        *(f"run --limit 100 --{name} NAME" for name in ("timeline", "series")),
        *(f"compare --limit 100 --{name} NAME" for name in ("json", "report", "figures")),
        *(f"trace info t.csv --{name} NAME" for name in ("json", "report", "figures")),
        *(f"physics generic-mlc-512g --{name} NAME" for name in ("json", "report", "figures")),
        *(f"ldpc --{name} NAME" for name in ("json", "report", "figures")),
        *(f"fit chips.csv --{name} NAME" for name in ("json", "report", "figures", "samples")),
        "fit chips.csv --out NAME",
        "trace convert t.csv NAME",
        "trace mix a=t.csv -o NAME",
        "trace check d --json NAME",
        "trace formats --json NAME",
        "state save NAME",
        "reproduce --out NAME",
    ],
)
def test_a_name_that_is_no_utf8_is_refused_before_anything_runs(
    ssdlab: Ssdlab, inputs: Path, command: str
) -> None:
    before = contents(inputs)
    done = ssdlab(
        *(os.fsdecode(b"n\xff.csv") if word == "NAME" else word for word in command.split())
    )
    assert (done.code, done.out) == (2, "")
    assert ": got 'n\\udcff.csv', expected a text in UTF-8\n" in done.err
    assert done.err.count("\n") == 1
    assert contents(inputs) == before


@pytest.mark.parametrize("option", ["--json", "--report", "--log", "--series"])
def test_an_empty_name_is_refused_before_the_run(inputs: Path, option: str) -> None:
    # As a shell passes a variable that is not set.
    done = subprocess.run(
        [*COMMAND, "run", "--workload", "random", "--limit", "1000000000", option, ""],
        cwd=inputs,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith(f'{option}: cannot write "": ')
