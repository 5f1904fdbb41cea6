"""The retry predictor fitted: to chips that are made, to a file's, to what it says itself."""

import gzip
import hashlib
import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import ROOT, Ssdlab

import ssdlab
from ssdlab import ChipSpec, Fit, _native
from ssdlab.calibration import fit, model
from ssdlab.calibration.measurements import Measurements, split_chips
from ssdlab.calibration.result import (
    FILES,
)
from ssdlab.errors import InputError

CHIPS = ROOT / "examples" / "chips.csv"
BUNDLE = ROOT / "crates/ssdlab-schemes/src/readguard/bundles/predictor.toml"
SMALL = ChipSpec(chips=(6, 6, 2), blocks=8, cycles=(0, 1000, 2000, 3000, 3500))
HEAD = "chip,block,pe,retention_h,temp_c,reads,t_erase_us,e0,errors,retries"


@cache
def made(*settings: str) -> Fit:
    return ssdlab.fit(chips=SMALL, set=settings)


@cache
def read() -> Fit:
    return ssdlab.fit(CHIPS)


def predicted(text: str) -> dict[str, Any]:
    found = tomllib.loads(text)["metadata"]["retry_estimate"]["predicted"]
    assert isinstance(found, dict)
    return found


def test_the_shipped_coefficients_are_those_of_the_command() -> None:
    shipped, found = predicted(BUNDLE.read_text()), predicted(ssdlab.fit().files["fit.toml"])
    assert shipped.keys() == found.keys()
    assert (shipped["thresholds"], shipped["min_dwell"]) == (
        found["thresholds"],
        found["min_dwell"],
    )
    for name in ("age", "initial", "growth"):
        # The last of six digits.
        assert shipped[name] == pytest.approx(found[name], rel=1e-5), "run `make fit`"


def rows_of(errors_of: Callable[[float, float, float], float]) -> list[str]:
    """Chips of which every block has an age, and errors by age, days and reads."""
    rows = []
    for chip in range(8):
        for block in range(4):
            dwell = (24, 240)[block % 2]
            for cycles in (0, 1000, 2000, 3000, 4000):
                # Independent of one another and of the cycles, up to their means.
                erase = 3500 + cycles / 10 + 37 * ((chip * 7 + block * 3) % 5)
                e0 = 20 + cycles / 100 + (chip * 5 + block * 11) % 7
                age = 0.01 + 5e-5 * cycles + 2e-5 * erase + 2e-3 * e0 - 0.01 * math.log(dwell / 24)
                for hours in (0, 24, 720, 8760):
                    for reads in (0, 50_000, 100_000):
                        errors = errors_of(age, hours / 24, reads)
                        retries = min(max(math.ceil((errors - 72) / 12), 0), 25)
                        known = f"{cycles},{hours},30,{reads},{erase},{e0}"
                        rows.append(f"{chip},{block},{known},{errors!r},{retries},{dwell}")
    return rows


def test_a_fit_recovers_a_formula_to_six_digits(tmp_path: Path) -> None:
    def errors(age: float, days: float, reads: float) -> float:
        grown = math.log(1 + days) + math.exp(9e-6 * reads)
        return 150 * age - 3 + 30 * (age + 0.2) * grown

    file = tmp_path / "formula.csv"
    file.write_text("\n".join([HEAD + ",dwell_h", *rows_of(errors)]))
    found = ssdlab.fit(file)
    # What is written down has six digits.
    assert found.errors_percent < 1e-3
    assert found.age_percent < 1e-3
    assert found.coefficients.growth[2] == pytest.approx(9e-6, rel=1e-4)
    assert found.exact > 0.97
    assert all(one.percent < 1e-3 for one in found.errors)
    # A month is a bake of 54.9 minutes at 85 °C less than 54.9 hours: 720 h / 581.
    bakes = [
        line.replace(",720,30,", f",{720 / 580.9489810975911!r},85,") for line in rows_of(errors)
    ]
    file.write_text("\n".join([HEAD + ",dwell_h", *bakes]))
    assert ssdlab.fit(file).coefficients.age == pytest.approx(found.coefficients.age, rel=1e-4)


def test_the_predictor_errs_on_chips_without_noise() -> None:
    # The chips' own law is another than the predictor's.
    quiet = made("physics.retries.noise=0")
    assert 1 < quiet.errors_percent < made().errors_percent
    assert min(one.percent for one in quiet.errors) > 1
    assert quiet.config_hash != made().config_hash


def test_knowing_less_is_worse_and_claims_are_as_found() -> None:
    percents = {one.name: one.percent for one in made().ablations}
    assert percents["all"] == made().errors_percent
    assert percents["C2"] > percents["C1 in both"] > percents["C1"] > percents["all"]
    held = {claim.short: claim.holds for claim in made().claims}
    widest = max(one.most - one.least for one in made().spreads)
    assert held["retries predicted alike"] == (widest <= 1)
    for one in made().errors:
        is_there = abs(one.center - one.age) <= 0.05
        fine = one.percent < 10 if is_there else None
        assert held[f"%RMSE over {one.over}, age {one.age:g}"] is fine
        assert sum(1 for _ in one.points) in {7, 4}
        for point in one.points:
            assert point.least <= point.measured <= point.most
    assert {one.age for one in made().errors} == {0.2, 0.5, 0.8}
    # Chips that are worn from the start on are never as young as the youngest that is asked for.
    worn = ssdlab.fit(
        chips=replace(ChipSpec(), cycles=(2000, 3000, 4000), chips=(3, 3, 1), blocks=4)
    )
    assert next(claim.holds for claim in worn.claims if claim.short.endswith("age 0.2")) is None


def test_shares_and_spreads_count_every_row() -> None:
    validated = made().parts[1].rows
    assert sum(one.rows for one in made().spreads) == validated
    assert sum(one.rows for one in made().steps) == validated
    for condition in made().conditions:
        assert [chance.cycles for chance in condition.chances] == list(SMALL.cycles)
        for chance in condition.chances:
            assert sum(chance.shares) == pytest.approx(1, abs=1e-3)
    assert {(one.days, one.reads) for one in made().conditions} == {
        (days, reads) for days in (0, 7, 30, 365) for reads in (0, 57_600)
    }
    means = {
        (one.days, one.reads): sum(at * share for at, share in enumerate(one.chances[3].shares))
        for one in made().conditions
    }
    assert means[0, 0] < means[7, 0] < means[30, 0] < means[365, 0]
    assert all(means[days, 0] + 0.5 < means[days, 57_600] for days in (0, 7, 30, 365))
    assert {one.cycles for one in made().variation} == {3500}
    assert all(one.intra is not None and 0 <= one.intra <= 4 for one in made().variation)
    assert made().within_one >= made().exact > 0.5


def test_the_example_is_what_the_docs_say(tmp_path: Path) -> None:
    few = ChipSpec(
        chips=(3, 3, 2),
        blocks=4,
        cycles=(0, 1000, 2000, 3000, 4000),
        retention=(0, 7, 30, 365),
        reads=(0, 57_600),
        dwell=(3, 30),
    )
    ssdlab.fit(chips=few, seed=7, samples=tmp_path / "chips.csv")
    assert (tmp_path / "chips.csv").read_bytes() == CHIPS.read_bytes()


def test_the_same_seed_is_the_same_fit_and_another_another() -> None:
    assert ssdlab.fit(chips=SMALL).raw == made().raw
    other = ssdlab.fit(chips=SMALL, seed=2)
    assert other.coefficients != made().coefficients
    assert ssdlab.fit(CHIPS).raw == read().raw


def test_a_files_chips_are_divided_as_the_papers() -> None:
    assert [part.chips for part in read().parts] == [3, 3, 2]
    assert sum(part.rows for part in read().parts) == CHIPS.read_text().count("\n") - 1
    assert read().csv_sha256 is not None
    assert read().config_hash is None
    kept = {line.split(",")[0] for line in read().files["chips.csv"].splitlines()[1:]}
    assert len(kept) == 2
    others = [ssdlab.fit(CHIPS, seed=seed).files["chips.csv"] for seed in (2, 3, 4)]
    assert any(text != read().files["chips.csv"] for text in others)


def test_each_part_of_the_chips_has_its_use(tmp_path: Path) -> None:
    table = Measurements.from_chips(_native.read_chips(CHIPS)[0])
    divided = split_chips(table, "chips", None, 1)
    assert sorted(chip for part in divided for chip in part) == list(range(8))

    def doubled(part: list[int]) -> Fit:
        def change(row: list[str], at: dict[str, int]) -> list[str]:
            # Chips are called by their places, from 1.
            if int(row[at["chip"]]) - 1 in part:
                row[at["errors"]] = str(2 * int(row[at["errors"]]))
            return row

        file = tmp_path / "doubled.csv"
        file.write_text(_changed(change))
        return ssdlab.fit(file)

    fitted, validated, simulated = map(doubled, divided)
    assert fitted.coefficients != read().coefficients
    assert validated.coefficients == simulated.coefficients == read().coefficients
    assert validated.errors_percent > 40
    assert simulated.errors_percent == read().errors_percent
    assert simulated.files["chips.csv"] != read().files["chips.csv"]


SMALL_DRIVE = ("geometry.blocks=128", "start.steady_state=false", "start.fill=0.5")


def test_what_is_fitted_runs_and_simulates_the_users_chips(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab("fit", CHIPS, "--out", "mine")
    assert (done.code, done.err) == (0, "")
    written = {path.name for path in (tmp_path / "mine").iterdir()}
    assert written == {"fit.toml", "fit.json", "chips.csv", "chips.toml"}

    def run(file: str, scheme: str) -> dict[str, Any]:
        settings = [word for line in SMALL_DRIVE for word in ("--set", line)]
        # Reads of data that was there before.
        load = ("--workload", "random", "--set", "workload.read_share=1", "--limit", 2000)
        drive = ("--device", "readguard-tlc-2t", "--scheme", scheme, "--config", file)
        (found,) = ssdlab("run", *drive, *settings, *load, "--json", "-").json()["results"]
        assert isinstance(found, dict)
        return found

    first = run("mine/fit.toml", "rgftl")
    config = first["provenance"]["config"]
    assert config["metadata"]["retry_estimate"]["predicted"]["growth"] == list(
        read().coefficients.growth
    )
    chips = tmp_path / "mine" / "chips.csv"
    sha256 = hashlib.sha256(chips.read_bytes()).hexdigest()
    assert config["physics"]["measured"]["sha256"] == sha256
    # Schemes that foresee nothing have the same chips.
    plain = run("mine/chips.toml", "baseline")["provenance"]["config"]
    assert plain["physics"] == config["physics"]
    assert plain["metadata"]["retry_estimate"] == "none"
    # Nor do they make anything of the predictor, if it is there.
    unasked = run("mine/fit.toml", "baseline")
    assert "block_retries" not in unasked.get("metadata_bytes", {})
    assert "block_retries" in first["metadata_bytes"]
    # Other chips are another drive, and the config's hash tells.
    head, *rows = chips.read_text().splitlines()
    at = head.split(",").index("retries")
    cells = [row.split(",") for row in rows]
    worse = [[*row[:at], str(min(int(row[at]) + 3, 25)), *row[at + 1 :]] for row in cells]
    chips.write_text("\n".join([head, *(",".join(row) for row in worse)]) + "\n")
    second = run("mine/fit.toml", "rgftl")
    assert second["provenance"]["config_hash"] != first["provenance"]["config_hash"]
    assert second["retries"] > 1.3 * first["retries"]


def without_a_row(folder: Path) -> tuple[Fit, str]:
    """A fit to chips of which one lacks a row, and that row."""
    lines = CHIPS.read_text().splitlines()
    kept = read().files["chips.csv"].splitlines()[5]
    file = folder / "short.csv"
    file.write_text("\n".join(line for line in lines if line != kept))
    return ssdlab.fit(file), kept


def test_chips_that_no_drive_can_have_are_left_out(tmp_path: Path) -> None:
    lines = CHIPS.read_text().splitlines()
    found, kept = without_a_row(tmp_path)
    assert found.simulated is None
    assert found.unfit is not None
    assert "no row for" in found.unfit
    chip, block = kept.split(",")[:2]
    line = next(at for at, row in enumerate(lines, 1) if row.startswith(f"{chip},{block},"))
    assert f"(chip {chip}, block {block}, line {line})" in found.unfit
    assert "no chips for simulation" in str(found)
    assert "physics" not in found.files["fit.toml"]


def test_a_file_name_puts_nothing_into_the_config(tmp_path: Path) -> None:
    crafted = tmp_path / 'chips\nbuffer.size = "1MiB"\n#.csv'
    crafted.write_text(CHIPS.read_text())
    written, plain = fit(crafted).files["fit.toml"], read().files["fit.toml"]
    assert tomllib.loads(written) == tomllib.loads(plain)


def test_measurements_are_not_overwritten_nor_left_beside_a_fit_without(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    mine = folder / "chips.csv"
    mine.write_text(CHIPS.read_text())
    done = ssdlab("fit", mine, "--out", "mine")
    assert (done.code, [path.name for path in folder.iterdir()]) == (2, ["chips.csv"])
    assert done.err.count("\n") == 1
    assert "the file that CSV reads" in done.err
    for option in ("--json", "--samples", "--report"):
        done = ssdlab("fit", mine, option, mine)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "the file that CSV reads" in done.err
    done = ssdlab("fit", CHIPS, "--json", "mine/fit.toml", "--out", "mine")
    assert (done.code, "the file that --json writes" in done.err) == (2, True)
    with pytest.raises(InputError, match="the file that CSV reads"):
        fit(mine).save(folder)
    assert mine.read_text() == CHIPS.read_text()
    # Chips of an earlier fit are no longer there to be run.
    read().save(tmp_path / "again")
    assert {path.name for path in (tmp_path / "again").iterdir()} == set(FILES)
    without_a_row(tmp_path)[0].save(tmp_path / "again")
    assert {path.name for path in (tmp_path / "again").iterdir()} == {"fit.toml", "fit.json"}


def test_chips_may_need_more_retries_than_the_papers(ssdlab: Ssdlab, tmp_path: Path) -> None:
    def doubled(cells: list[str], at: dict[str, int]) -> list[str]:
        return [
            *cells[: at["retries"]],
            str(2 * int(cells[at["retries"]])),
            *cells[at["retries"] + 1 :],
        ]

    (tmp_path / "worse.csv").write_text(_changed(doubled))
    assert ssdlab("fit", "worse.csv", "--correctable", "fitted", "--out", "worse").code == 0
    most = 2 * int(read().raw["retries_most"])
    assert f"physics.measured.retries = {most}\n" in (tmp_path / "worse" / "fit.toml").read_text()
    steps = predicted((tmp_path / "worse" / "fit.toml").read_text())["thresholds"]
    assert len(steps) > model.RETRIES_MOST
    settings = [word for line in SMALL_DRIVE for word in ("--set", line)]
    load = ("--workload", "random", "--set", "workload.read_share=1", "--limit", 500)
    for file, scheme in (("fit.toml", "rgftl"), ("chips.toml", "baseline")):
        drive = ("--device", "readguard-tlc-2t", "--scheme", scheme, "--config", f"worse/{file}")
        done = ssdlab("run", *drive, *settings, *load)
        assert (done.code, done.err) == (0, "")


def _changed(change: Callable[[list[str], dict[str, int]], list[str] | None]) -> str:
    """Return the example with each row changed, or left out."""
    head, *rows = CHIPS.read_text().splitlines()
    places = {name: at for at, name in enumerate(head.split(","))}
    changed = (change(row.split(","), places) for row in rows)
    return "\n".join([head, *(",".join(cells) for cells in changed if cells)]) + "\n"


def test_twelve_months_may_lie_between_ages(tmp_path: Path) -> None:
    def stretch(row: list[str], at: dict[str, int]) -> list[str]:
        if row[at["temp_c"]] == "85":
            row[at["retention_h"]] = repr(1.5 * float(row[at["retention_h"]]))
        return row

    file = tmp_path / "longer.csv"
    file.write_text(_changed(stretch))
    table = Measurements.from_chips(_native.read_chips(file)[0])
    blocks, errors, left_out = model.errors_after_a_year(table, "longer")
    assert (len(blocks), left_out) == (32 * 5, 0)
    # On the straight line over ln(1 + days) between 30 days and 18 months.
    of = (table.block == 0) & (table.cycles == 1000) & (table.reads == 0)
    month, later = (
        table.errors[of & (table.days == 30)][0],
        table.errors[of & (table.days > 500)][0],
    )
    part = math.log(366 / 31) / math.log((1 + 1.5 * 365) / 31)
    at = int(np.flatnonzero((blocks.block == 0) & (blocks.cycles == 1000))[0])
    assert errors[at] == pytest.approx(month + part * (later - month))
    # Of a block that was not measured so far at some cycles the rest is used, and it is said.
    gone = ("944", "0", "85")
    file.write_text(
        _changed(
            lambda row, at: (
                None if tuple(row[at[name]] for name in ("block", "pe", "temp_c")) == gone else row
            )
        )
    )
    found = ssdlab.fit(file)
    assert found.ageless > 0
    assert f"{found.ageless} times a block at some P/E cycles has no two ages" in str(found)
    # Too far from what was measured.
    file.write_text(_changed(lambda row, at: None if row[at["temp_c"]] == "85" else row))
    message = r"30\.0 days at 30 °C.* expected at least two ages"
    with pytest.raises(ssdlab.InputError, match=message):
        ssdlab.fit(file)


def test_a_compressed_file_is_read_as_it_is_stored(tmp_path: Path) -> None:
    packed = tmp_path / "chips.csv.gz"
    packed.write_bytes(gzip.compress(CHIPS.read_bytes()))
    found = ssdlab.fit(packed)
    assert found.coefficients == read().coefficients
    assert found.csv_sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()


def test_times_between_erases_may_be_unknown(tmp_path: Path) -> None:
    lines = [line.split(",") for line in CHIPS.read_text().splitlines()]
    at = lines[0].index("dwell_h")
    file = tmp_path / "restless.csv"
    file.write_text("\n".join(",".join(line[:at]) for line in lines))
    found = ssdlab.fit(file)
    assert found.coefficients.age[4] == 0
    assert found.coefficients.min_dwell == "1d"
    assert read().coefficients.min_dwell == "3d"


def test_the_first_threshold_is_ruled_or_fitted() -> None:
    assert read().coefficients.thresholds[0] == 72
    fitted = ssdlab.fit(CHIPS, correctable=None).coefficients.thresholds
    assert fitted[0] != 72
    assert fitted[1:] == read().coefficients.thresholds[1:]
    assert fitted == sorted(set(fitted))
    with pytest.raises(ssdlab.InputError, match=r"chips.csv: .*200 of --correctable"):
        ssdlab.fit(CHIPS, correctable=200)


def test_the_order_of_rows_makes_no_difference(tmp_path: Path) -> None:
    head, *rows = CHIPS.read_text().splitlines()
    file = tmp_path / "turned.csv"
    file.write_text("\n".join([head, *reversed(rows)]))
    turned, found = ssdlab.fit(file), read()
    assert turned.coefficients == found.coefficients
    assert turned.parts == found.parts
