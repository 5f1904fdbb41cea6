"""What is printed replaces no input, nor does an output what a config from a pipe names."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, OFFICE, ROOT
from test_outputs import contents

import ssdlab as library

CHIPS = OFFICE.parent / "chips.csv"


def in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with what a shell redirects."""
    line = ["sh", "-c", f"{COMMAND[0]} {command}"]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        "run --device generic-tlc-2t --limit 10 --config <(echo '{named}') --json m.csv",
        "run --device generic-tlc-2t --limit 10 --config <(echo '{named}') --report m.csv",
        "run --device generic-tlc-2t --limit 10 --config <(echo '{named}') --timeline m.csv",
        "run --device generic-tlc-2t --limit 10 --config <(echo '{named}') --log m",
        "compare --device generic-tlc-2t --seeds 2 --config <(echo '{named}') --json m.csv",
        "physics generic-tlc-2t --config <(echo '{named}') --json m.csv",
        "fit --device generic-tlc-2t --config <(echo '{named}') --json m.csv",
        "fit --device generic-tlc-2t --config m.toml --json chips.csv",
        "state save m.csv --device generic-tlc-2t --config <(echo '{named}')",
        "config validate --device generic-tlc-2t <(echo '{named}') >> m.csv",
    ],
)
def test_measurements_that_a_config_from_a_pipe_names_are_not_replaced(
    inputs: Path, command: str
) -> None:
    # A log is no CSV file.
    name = "m" if command.endswith("--log m") else "m.csv"
    (inputs / name).write_bytes(CHIPS.read_bytes())
    before = contents(inputs)
    named = f'physics.measured.file = "{inputs / name}"'
    line = ["bash", "-c", f"{COMMAND[0]} {command.format(named=named)}"]
    done = subprocess.run(line, cwd=inputs, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert ": the file that physics.measured.file reads: got " in done.stderr
    assert contents(inputs) == before


@pytest.mark.parametrize("as_plans", [False, True])
def test_the_library_reads_a_config_from_a_pipe_once(inputs: Path, *, as_plans: bool) -> None:
    def pipe(text: str) -> str:
        reader, writer = os.pipe()
        os.write(writer, text.encode())
        os.close(writer)
        return f"/dev/fd/{reader}"

    named = f'physics.measured.file = "{inputs / "chips.csv"}"'
    plan = library.Plan(device="readguard-tlc-2t", config=[pipe(named)], log=inputs / "chips.csv")
    before = contents(inputs)
    with pytest.raises(library.InputError, match=r"the file that physics\.measured\.file reads"):
        library.run(plan)
    assert contents(inputs) == before
    plan = library.Plan(config=pipe("workload.requests = 300"))
    plans = library.sweep(plan, vary={"scheduler": ["fifo", "read_first"]})
    results = library.compare(plans) if as_plans else [library.run(plan)]
    assert {result.requests for result in results} == {300}
    assert all("piped" not in result.provenance.plan for result in results)


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("run --trace t.csv --json - >> t.csv", "the file that --trace reads"),
        ("run --trace t.csv >> hard", "the file that --trace reads"),
        ("run --json - --report r.html > r.html", "the file that --report writes"),
        ("trace info t.csv >> soft", "the file that FILE reads"),
        ("fit chips.csv >> chips.csv", "the file that CSV reads"),
        ("fit chips.csv --out d > d/fit.json", "the file that --out writes"),
        ("state load s >> s", "the file that FILE reads"),
        ("state save s > s", "the file that FILE writes"),
        ("state save new --config c.toml >> c.toml", "the file that --config reads"),
        ("config validate c.toml >> c.toml", "the file that --config reads"),
        ("config validate --toml --config c.toml >> c.toml", "the file that --config reads"),
        (
            "config validate m.toml --device readguard-tlc-2t >> chips.csv",
            "the file that physics.measured.file reads",
        ),
        ("physics dlv-mlc-128g --config c.toml >> c.toml", "the file that --config reads"),
        ("trace convert t.csv o.csv >> t.csv", "the file that IN reads"),
        ("trace convert t.csv o.csv > o.csv", "the file that OUT writes"),
        ("trace mix a=t.csv -o o.csv >> t.csv", "the file that APP reads"),
        ("trace formats --json j > j", "the file that --json writes"),
        ("reproduce H4 --quick --traces rt >> rt/hm_0.csv", "the file that --traces reads"),
        ("reproduce H4 --quick --out d > d/ledger.json", "the file that --out writes"),
    ],
)
def test_what_is_printed_replaces_nothing_either(inputs: Path, command: str, refused: str) -> None:
    (inputs / "rt").mkdir()
    (inputs / "rt" / "hm_0.csv").write_bytes((inputs / "t.csv").read_bytes())
    (inputs / "s").write_bytes(b"")
    before = contents(inputs)
    done = in_shell(command, inputs)
    assert done.returncode == 2
    by_folder = "--out: the file of standard output may be one of those that are written"
    assert done.stderr.startswith(("standard output: " + refused, by_folder)), done.stderr
    # The shell makes the file that it leads what is printed to.
    after = contents(inputs)
    for name in ("r.html", "d/fit.json", "d/ledger.json", "o.csv", "j"):
        assert after.pop(str(inputs / name), b"") == b""
    assert after == before


def test_commands_look_at_their_files_in_one_place() -> None:
    folders = (ROOT / "python" / "ssdlab" / "cli", ROOT / "reproduction" / "ssdlab_reproduction")
    texts = {path.name: path.read_text() for folder in folders for path in folder.glob("*.py")}
    importing = re.compile(r"^from ssdlab\.files import .*\bcheck_apart\b", re.MULTILINE)
    assert [name for name, text in texts.items() if importing.search(text)] == ["outputs.py"]


@pytest.mark.parametrize(
    "command",
    [
        "run --trace t.csv --json new 2>> hard",
        "state load s 2>> s",
        "config validate c.toml 2>> c.toml",
        "trace info t.csv 2>> soft",
        "fit chips.csv 2>> chips.csv",
    ],
)
def test_standard_error_does_not_go_into_an_input(inputs: Path, command: str) -> None:
    (inputs / "s").write_bytes(b"a state")
    before = contents(inputs)
    done = in_shell(command, inputs)
    assert done.returncode == 2
    # The line cannot go where it should.
    assert done.stdout.startswith("standard error: the file that "), done.stdout
    assert contents(inputs) == before
    done = in_shell(command.replace("2>>", ">>") + " 2>&1", inputs)
    assert (done.returncode, contents(inputs)) == (2, before)


@pytest.mark.parametrize(
    "command",
    [
        "run --trace t.csv --limit 50 > out",
        "run --trace t.csv --limit 50 --json - > out",
        "fit chips.csv --samples s.csv > out",
        "trace info t.csv > out",
        "run --trace t.csv --limit 50 > out 2>&1",
        "run --trace t.csv --limit 50 > out 2> err",
        "config validate c.toml > out 2>&1",
    ],
)
def test_what_is_printed_may_go_to_a_file_of_its_own(inputs: Path, command: str) -> None:
    done = in_shell(command, inputs)
    assert (done.returncode, done.stderr) == (0, "")
    assert (inputs / "out").stat().st_size > 0


@pytest.mark.parametrize(
    "command",
    [
        "run --trace t.csv --limit 50 --json /dev/stdout > out",
        "run --trace t.csv --limit 50 --json /dev/stdout >> out",
        "run --trace t.csv --limit 50 --json - --report /dev/stdout > out",
        "run --trace t.csv --limit 50 --log /dev/stderr 2>> out",
        "run --trace t.csv --limit 50 --timeline /dev/fd/3 3>> out",
        "compare --trace t.csv --limit 50 --seeds 2 --json /proc/self/fd/4 4<> out",
        "trace convert t.csv /dev/fd/3:ssdlab 3>> out",
        "trace mix a=t.csv -o /dev/stdout:ssdlab >> out",
        "trace info t.csv --json /dev/stderr 2>> out",
        "state save /dev/fd/3 3>> out",
    ],
)
def test_a_file_that_is_open_already_is_not_replaced(inputs: Path, command: str) -> None:
    """Neither what it holds is lost, nor what others print to it."""
    before = "" if " > " in command else "precious\n"
    (inputs / "out").write_text(before)
    number = (inputs / "out").stat().st_ino
    done = in_shell(command, inputs)
    assert done.returncode == 2
    assert (inputs / "out").stat().st_ino == number
    text = (inputs / "out").read_text()
    line = done.stderr or text.removeprefix(before)
    assert text in {before, before + line}
    assert line.count("\n") == 1, line
    assert "names an open file, expected a path to the file" in line, line


def test_results_gather_in_a_file_that_is_appended_to(inputs: Path) -> None:
    run = f"{COMMAND[0]} run --trace t.csv --limit 50 --json -"
    done = subprocess.run(f"{run} >> all; {run} >> all", shell=True, cwd=inputs, check=False)
    assert done.returncode == 0
    assert (inputs / "all").read_text().count('"results"') == 2


@pytest.mark.parametrize(
    "command",
    [
        *(f"run --trace t.csv --limit 50 --{one} -" for one in ("report", "log", "timeline")),
        "trace convert t.csv -- -:ssdlab",
        "trace mix a=t.csv -o -",
        "state save -",
        "fit chips.csv --samples -",
    ],
)
def test_standard_output_is_a_name_for_json_alone(inputs: Path, command: str) -> None:
    before = contents(inputs)
    done = in_shell(command, inputs)
    assert (done.returncode, done.stdout, contents(inputs)) == (2, "", before)
    assert re.fullmatch(r"\S+: got -, expected a file, .*\n", done.stderr), done.stderr
