"""What codes decode: the command, its JSON, its figures, Ctrl-C, what is wrong."""

import json
import os
import re
import signal
import xml.etree.ElementTree as ET
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, Ssdlab
from test_html_report import Reader
from test_interrupt import interrupted

import ssdlab
from ssdlab.ldpc import (
    Bch,
    Curve,
    Decoded,
    Hard,
    Hurried,
    Ldpc,
    LdpcInterrupted,
    Level,
    Measured,
    Page,
    Voltages,
)
from ssdlab.render.figures import drawing
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.ldpc import ldpc_figures
from ssdlab.render.html.ldpc import ldpc_page
from ssdlab.render.text.ldpc import corrected_table, early_stop_table, hard_decision_table

FIGURES = {"ldpc-capability", "ldpc-failures", "ldpc-voltages"}
FRAMES = 40


@cache
def derived() -> Ldpc:
    return ssdlab.ldpc(frames=FRAMES)


def of() -> dict[str, Figure]:
    return {figure.name: figure for figure in ldpc_figures(derived())}


def rows(figure: Figure) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return list(values)


def test_the_derived_rate_of_bch_is_near_the_papers() -> None:
    assert derived().bch.rber == pytest.approx(0.0041, rel=0.02)
    assert derived().bch.difference == pytest.approx(derived().bch.rber / 0.0041 - 1)


def test_the_derived_table_is_the_simulators() -> None:
    blocks = ssdlab.physics(device="dlv-mlc-128g", set={"physics.levels.capability": "derived"})
    stored = [level.capability for level in blocks.levels]
    assert [level.min_sum.corrected for level in derived().levels] == pytest.approx(
        stored, abs=1e-5
    )
    paper = ssdlab.physics(device="dlv-mlc-128g", set={"physics.levels.capability": "paper"})
    default = ssdlab.physics(device="dlv-mlc-128g")
    assert paper.config_hash == default.config_hash != blocks.config_hash
    assert paper.levels[0].capability == derived().levels[0].published
    assert paper.levels[6].capability == derived().levels[6].published


def test_decoders_are_in_order_and_levels_help() -> None:
    before = 0.0
    for level in derived().levels:
        for one in (level.limit, level.sum_product, level.min_sum):
            assert one.corrected < one.threshold
        assert level.min_sum.corrected < level.sum_product.corrected < level.limit.corrected
        assert level.min_sum.corrected > before
        before = level.min_sum.corrected
        assert level.transfer_bits == (level.levels).bit_length()
    assert {each.decoder for each in derived().hard} > {"Gallager A", "Gallager B", "Gallager E"}
    last = derived().levels[-1]
    assert last.difference == pytest.approx(last.min_sum.corrected / 0.0132 - 1)


def test_what_was_measured_has_intervals_around_it() -> None:
    assert [curve.levels for curve in derived().measured] == [1, 2, 3, 7]
    for curve in derived().measured:
        for point in curve.points:
            assert point.frames == FRAMES
            assert point.rate == point.failures / FRAMES
            assert point.least <= point.rate <= point.most
        # Points are at falling rates, and where the approximation has half of all frames fail,
        # about half do.
        rates = [point.rber for point in curve.points]
        assert rates == sorted(rates, reverse=True)
        assert 0.2 < curve.points[0].rate < 0.9
    assert not derived().partial


def test_figures_of_codes_have_their_names() -> None:
    drawn = of()
    assert set(drawn) == FIGURES
    lines = [row for row in rows(drawn["ldpc-capability"]) if row["kind"] == "line"]
    assert len(lines) == 3 * 7
    anchors = [row["y"] for row in rows(drawn["ldpc-capability"]) if row["kind"] == "anchor"]
    assert anchors == [0.0044, 0.0132]
    points = rows(drawn["ldpc-failures"])
    assert len(points) == sum(len(curve.points) for curve in derived().measured)
    references = [row for row in rows(drawn["ldpc-voltages"]) if row["kind"] == "reference"]
    assert [row["x"] for row in references] == pytest.approx(
        derived().voltages.references, abs=1e-4
    )


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_figure_can_be_printed(name: str) -> None:
    files = drawing.draw(of()[name])
    assert files["png"].startswith(b"\x89PNG")
    words = set(ET.fromstring(files["svg"]).itertext())
    assert words & {"Raw bit error rate", "Density of cells"}


def test_the_page_has_the_figures_and_the_tables() -> None:
    reader = Reader(ldpc_page(derived()))
    places = {attributes.get("id") for tag, attributes in reader.tags if tag == "div"}
    assert places >= FIGURES
    for words in ("Gallager B", "sum-product", "95 % interval", "iterations"):
        assert words in reader.text


def test_the_table_fits_a_terminal() -> None:
    assert max(map(len, str(derived()).splitlines())) <= 80


def test_the_dataclasses_hold_the_same_as_the_json() -> None:
    typed = asdict(derived())
    del typed["read"]
    assert typed.pop("raw") == typed


def test_the_docs_tell_every_field() -> None:
    page = (ROOT / "docs" / "concepts" / "ldpc.md").read_text(encoding="utf-8")
    text = page.partition("## The JSON")[2]
    kinds = (Ldpc, Level, Decoded, Page, Hard, Hurried, Bch)
    for kind in (*kinds, Voltages, Measured, Curve):
        for one in fields(kind):
            assert f"`{one.name}`" in text or one.name in {"raw", "read"}, (
                f"{kind.__name__}.{one.name}"
            )


def test_the_docs_hold_the_table_of_today() -> None:
    text = (ROOT / "docs" / "concepts" / "ldpc.md").read_text(encoding="utf-8")
    for made in (corrected_table, hard_decision_table, early_stop_table):
        assert str(made(derived())) in text, "run `make ldpc`"


def test_the_command_prints_draws_and_hands_out(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab(
        *("ldpc", "--frames", FRAMES, "--json", "out.json", "--figures", "drawn"),
        *("--report", "page.html", "--jobs", 1),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.rstrip("\n") == str(derived())
    assert json.loads((tmp_path / "out.json").read_text()) == derived().raw
    assert {path.stem for path in (tmp_path / "drawn").iterdir()} == FIGURES
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_nothing_is_measured_by_default_and_cells_and_seeds_count(ssdlab: Ssdlab) -> None:
    found = ssdlab("ldpc", "--cell", "tlc", "--shift", "0.2", "--json", "-").json()
    assert (found["cell"], found["measured"], found["partial"]) == ("tlc", [], False)
    assert [one["boundaries"] for one in found["pages"]] == [1, 2, 4]
    # Lost charge errs to one side, of which soft decisions know.
    assert found["levels"][6]["min_sum"]["corrected"] > derived().levels[6].min_sum.corrected


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    presses = iter([signal.SIGINT])

    def press(plans: list[tuple[float | None, int, bool, bool]]) -> None:
        # Once some frames have been decoded.
        for by in presses if plans[0][1] > 50 else ():
            os.kill(os.getpid(), by)

    with pytest.raises(LdpcInterrupted) as caught:
        ssdlab.ldpc(frames=10**9, progress=press)
    kept = caught.value.partial
    assert kept.partial
    assert kept.levels == derived().levels
    assert sum(point.frames for curve in kept.measured for point in curve.points) > 50
    assert "PARTIAL: stopped after" in str(kept)
    kept.report_html(tmp_path / "page.html")
    assert "PARTIAL: stopped after" in (tmp_path / "page.html").read_text()


def test_ctrl_c_before_the_table_leaves_nothing(tmp_path: Path) -> None:
    code, out, err = interrupted(tmp_path, "ldpc", "--jobs", "1", "--json", "out.json")
    assert (code, out, err) == (130, "", "interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cell", "qlc"], "--cell: got 'qlc', expected mlc or tlc"),
        (["--shift", "0.5"], "--shift: got 0.5, expected 0 to 0.4"),
        (["--shift", "nan"], "--shift: got nan"),
        (["--frames", "0"], "--frames"),
        (["--seconds", "0"], "--seconds"),
        (["--frames", "9", "--seconds", "9"], "expected one or the other"),
        (["--jobs", "0"], "--jobs"),
        (["mlc"], "unexpected extra argument"),
        (["--json", "a", "--report", "a"], "--report"),
        (["--figures", "/dev/null/x"], "--figures"),
    ],
)
def test_wrong_arguments_are_reported_in_a_line(
    ssdlab: Ssdlab, arguments: list[str], message: str
) -> None:
    done = ssdlab("ldpc", *arguments)
    assert done.code == 2
    assert re.fullmatch(r"[^\n]+\n", done.err)
    assert message in done.err
    assert not done.out


@pytest.mark.parametrize(
    "wrong",
    [{"cell": "slc"}, {"shift": -0.1}, {"frames": 0}, {"seconds": -1}, {"seed": -1}, {"jobs": 0}],
)
def test_the_library_refuses_the_same(wrong: dict[str, Any]) -> None:
    with pytest.raises(ssdlab.InputError):
        ssdlab.ldpc(**wrong)
