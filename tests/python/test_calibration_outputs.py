"""What a fit prints, draws and writes, and what is refused."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
from command import ROOT, Ssdlab
from test_calibration import BUNDLE, CHIPS, HEAD, SMALL_DRIVE, made, predicted, read
from test_html_report import Reader
from test_interrupt import interrupted

import ssdlab
from ssdlab import Fit, InputError
from ssdlab.calibration import evaluation
from ssdlab.calibration.measurements import Measurements
from ssdlab.calibration.result import (
    Ablation,
    At,
    Chance,
    Claim,
    Coefficients,
    Condition,
    Error,
    Part,
    Spread,
    Step,
    Variation,
)
from ssdlab.render.figures import drawing
from ssdlab.render.figures.calibration import calibration_figures
from ssdlab.render.html.calibration import calibration_page


def test_figures_of_a_fit_have_their_names() -> None:
    names = [figure.name for figure in calibration_figures(made())]
    assert len(names) == len(set(names)) == 3 + 6 + 8
    assert {"fit-retries", "fit-retention-0-2", "fit-reads-0-8", "fit-steps"} < set(names)
    assert "fit-chances-30d-57600" in names


def test_figures_can_be_printed() -> None:
    for figure in calibration_figures(made()):
        if figure.name in {"fit-retries", "fit-retention-0-5", "fit-chances-0d-0"}:
            files = drawing.draw(figure)
            assert files["png"].startswith(b"\x89PNG")
            assert set(ET.fromstring(files["svg"]).itertext()) & {
                "Measured retries",
                "P/E cycles",
                "150",
            }


def test_the_page_has_the_figures_and_the_tables() -> None:
    reader = Reader(calibration_page(made()))
    places = {attributes.get("id") for tag, attributes in reader.tags if tag == "div"}
    assert places >= {figure.name for figure in calibration_figures(made())}
    for words in ("clearly worse", "per P/E cycle", "measured retries", "claims do not hold"):
        assert words in reader.text


def test_the_table_fits_a_terminal() -> None:
    assert max(map(len, str(made()).splitlines()[1:])) <= 80


def test_the_dataclasses_hold_the_same_as_the_json() -> None:
    typed = asdict(read())
    typed.pop("files")
    del typed["read"]
    assert typed.pop("raw") == json.loads(json.dumps(typed))


def test_the_docs_tell_every_field_and_column() -> None:
    text = (ROOT / "docs" / "guides" / "calibrate.md").read_text(encoding="utf-8")
    section = text.partition("## The JSON")[2]
    kinds = (Fit, Coefficients, Part, Error, At, Spread)
    more = (Ablation, Condition, Chance, Variation, Step)
    for kind in (*kinds, *more, Claim):
        for one in fields(kind):
            assert f"`{one.name}`" in section or one.name in {"raw", "read", "files"}, (
                f"{kind}.{one.name}"
            )
    for column in (*HEAD.split(","), "dwell_h", "retries_best"):
        assert f"`{column}`" in text


def test_the_docs_hold_the_shipped_coefficients() -> None:
    text = (ROOT / "docs" / "guides" / "calibrate.md").read_text(encoding="utf-8")
    found = predicted(BUNDLE.read_text())
    for value in (*found["age"], *found["initial"], *found["growth"]):
        assert f"{value:.6g}" in text, "run `make fit`"
    assert str(ssdlab.fit()) in text, "run `make fit`"


def test_chips_that_were_made_can_be_simulated(ssdlab: Ssdlab, tmp_path: Path) -> None:
    few = ("--chips", "3,3,2", "--blocks", "2", "--cycles", "0,1000,3000")
    done = ssdlab("fit", *few, "--retention", "0,30,365", "--reads", "0,57600", "--out", "made")
    assert "2 chips are kept for simulation" in done.out
    # The predictor alone: a drive of the device has the blocks of its model.
    assert "physics" not in (tmp_path / "made" / "fit.toml").read_text()
    drive = ("--device", "readguard-tlc-2t", "--config", "made/chips.toml")
    settings = [word for line in SMALL_DRIVE for word in ("--set", line)]
    load = ("--workload", "random", "--set", "workload.read_share=1", "--limit", 200)
    (found,) = ssdlab("run", *drive, *settings, *load, "--json", "-").json()["results"]
    assert found["provenance"]["config"]["physics"]["measured"]["file"].endswith("chips.csv")
    assert found["retries"] > 0


def test_the_command_prints_draws_and_hands_out(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab(
        *(
            "fit",
            "--chips",
            "2,2,1",
            "--blocks",
            4,
            "--cycles",
            "0,2000,4000",
            "--json",
            "out.json",
        ),
        *("--report", "page.html", "--out", "mine", "--samples", "all.csv"),
    )
    assert (done.code, done.err) == (0, "")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found == json.loads((tmp_path / "mine" / "fit.json").read_text())
    assert [part["chips"] for part in found["parts"]] == [2, 2, 1]
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "mine" / "chips.csv").exists()
    assert (tmp_path / "all.csv").read_text().count("\n") == 1 + 5 * 4 * 3 * 28
    # What was written is what was fitted: from the file, another division of the same chips.
    again = ssdlab("fit", "all.csv", "--json", "-").json()
    assert again["coefficients"]["thresholds"][5] == pytest.approx(
        found["coefficients"]["thresholds"][5], rel=0.05
    )


@pytest.mark.parametrize("name", ["chips.csv", "chips.toml", "fit.toml", "fit.json"])
def test_a_fit_replaces_no_file_that_no_fit_has_written(
    ssdlab: Ssdlab, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / name).write_text('{"my": "own"}')
    done = ssdlab("fit", CHIPS, "--out", "mine", "--json", "out.json")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    line = "--out: a file that no fit wrote, or that was changed since: got "
    assert done.err == f"{line}'mine/{name}', expected another folder\n"
    assert {path.name for path in mine.iterdir()} == {name}
    assert (mine / name).read_text() == '{"my": "own"}'
    assert not (tmp_path / "out.json").exists()
    with pytest.raises(InputError, match="out: a file that no fit wrote"):
        made().save(mine)
    assert (mine / name).read_text() == '{"my": "own"}'


def test_a_fit_replaces_unchanged_files_of_an_earlier_one(ssdlab: Ssdlab, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    for seed in (1, 2):
        done = ssdlab("fit", CHIPS, "--seed", seed, "--out", "mine")
        assert (done.code, done.err) == (0, "")
        assert json.loads((mine / "fit.json").read_text())["seed"] == seed
    for name in ("fit.toml", "chips.csv", "chips.toml"):
        before = (mine / name).read_bytes()
        (mine / name).write_bytes(before + b"# mine\n")
        done = ssdlab("fit", CHIPS, "--out", "mine")
        assert (done.code, f"got 'mine/{name}'" in done.err) == (2, True)
        (mine / name).write_bytes(before)
    (mine / "fit.toml").unlink()
    assert ssdlab("fit", CHIPS, "--out", "mine").code == 0
    # Chips that are not kept any more leave none behind.
    found = made()
    alone = replace(found, files={"fit.toml": found.files["fit.toml"]})
    alone.save(mine)
    assert {path.name for path in mine.iterdir()} == {"fit.toml", "fit.json"}


def test_a_fit_interrupted_by_ctrl_c_writes_no_file(tmp_path: Path) -> None:
    arguments = (
        "fit",
        "--chips",
        "900,90,9",
        "--blocks",
        "70",
        "--out",
        "mine",
        "--json",
        "out.json",
    )
    code, out, err = interrupted(tmp_path, *arguments)
    assert (code, out, err) == (130, "", "interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("errors", "error"), r':1: .*"error".*did you mean "errors"'),
        (HEAD.replace(",e0", ""), ":1: no column e0"),
        (HEAD + "\n1,2,0,0,30,0,3500,30,40", ":2: not a row: got 9 values, expected 10"),
        (HEAD + "\n1,2,0,0,30,0,3500,x,40,0", ':2: e0: got "x", expected a number'),
        (HEAD + "\n1,2,0,0,30,0,9e6,30,40,0", ":2: t_erase_us: got .*to 1000000"),
        (
            HEAD + ",retries_best\n1,2,0,0,30,0,3500,30,40,2,3",
            ":2: retries_best: got 3, expected at most 2, the retries of the worst page",
        ),
        (HEAD + "\n1,2,0,0,30,0,3500,30,40,0", "got 1 chips, expected at least 3"),
        ("", "no measurement"),
    ],
)
def test_a_wrong_file_is_reported_in_a_line(
    ssdlab: Ssdlab, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "my.csv").write_text(text + "\n")
    done = ssdlab("fit", "my.csv", "--out", "mine")
    assert done.code == 2
    assert re.fullmatch(r"my\.csv:[^\n]+\n", done.err)
    assert re.search(message, done.err)
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.csv"], "gone.csv: cannot be read"),
        ([CHIPS, "--chips", "1,1,1"], "--chips: a setting of generated chips, beside a CSV"),
        ([CHIPS, "--device", "dlv-mlc-128g"], "--device"),
        ([CHIPS, "--set", "physics=retries"], "--set"),
        (["--device", "dlv-mlc-128g"], "expected retries"),
        (["--chips", "1,2"], "--chips: got '1,2', expected three whole numbers"),
        (["--chips", "1,2,x"], "--chips: got 'x', expected a number"),
        (["--cycles", "3,2"], "--cycles: got '3,2', expected rising numbers"),
        (["--reads", "0.5"], "--reads"),
        (["--bake", "300"], "--bake"),
        (["--dwell", "0"], "--dwell"),
        (["--blocks", "9999999"], "--blocks"),
        (["--chips", "1,1,5000", "--blocks", "1000"], "--chips: too many rows"),
        (["--retention", "0,7"], "--retention: got data of at most 7.0 days"),
        (["--correctable", "no"], "--correctable"),
        (["--correctable", "-1"], "--correctable"),
        (["--out", "/dev/null/x"], "--out"),
        (["--json", "a", "--samples", "a"], "--samples"),
    ],
)
def test_wrong_arguments_are_reported_in_a_line(
    ssdlab: Ssdlab, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = ssdlab("fit", *arguments)
    assert done.code == 2
    assert re.fullmatch(r"[^\n]+\n", done.err)
    assert message in done.err
    assert not done.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("percent", "shown", "holds"),
    [(9.61, "9.61 %", True), (9.9954, "9.9954 %", True), (10.0, "10.00 %", False)],
)
def test_an_error_below_the_bound_is_not_reported_as_the_bound(
    percent: float, shown: str, holds: bool
) -> None:
    found = {"errors": [{"over": "reads", "age": 0.2, "center": 0.2, "percent": percent}]}
    first = next(evaluation.claims(found, Measurements.__new__(Measurements)))
    assert (first["found"], first["holds"]) == (shown, holds)
