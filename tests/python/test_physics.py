"""What the blocks of a device are: the command, its JSON, its figures, what is wrong."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, Ssdlab
from test_html_report import Reader

import ssdlab
from ssdlab.physics import Anchor, Base, Bin, Group, Level, OverCycles, Physics, Point, Program
from ssdlab.render.figures import drawing
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.physics import physics_figures
from ssdlab.render.formatting import NONE, span
from ssdlab.render.html.physics import physics_page
from ssdlab.render.text.physics import anchor_label, anchor_table, course_tables

DLV = "dlv-mlc-128g"
OF_LEVELS = {
    *("physics-rber-age", "physics-capability", "physics-needed-age", "physics-read-age"),
    *("physics-read-rber", "physics-base", "physics-programs"),
}
OF_RETRIES = {
    *("physics-rber-age", "physics-rber-cycles", "physics-needed-age", "physics-needed-cycles"),
    *("physics-read-age", "physics-read-rber", "physics-base"),
}


@cache
def dlv(scheme: str = "lv-ldpc") -> Physics:
    return ssdlab.physics(device=DLV, scheme=scheme)


@cache
def retries() -> Physics:
    return ssdlab.physics(set={"physics": "retries"})


def of(physics: Physics) -> dict[str, Figure]:
    return {figure.name: figure for figure in physics_figures(physics)}


def rows(figure: Figure, kind: str) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return [row for row in values if row["kind"] == kind]


def anchors(physics: Physics, what: str) -> list[Anchor]:
    return [anchor for anchor in physics.anchors if anchor.what == what]


def test_the_model_meets_the_papers_retention() -> None:
    found = anchors(dlv(), "rber_at_age")
    assert [(anchor.at, anchor.paper) for anchor in found] == [(14, 0.0044), (99, 0.0132)]
    for anchor in found:
        assert anchor.model == pytest.approx(anchor.paper, rel=0.005)


def test_classes_climb_at_the_ages_of_the_papers_tables() -> None:
    found = anchors(dlv(), "level_start")
    assert [anchor.paper for anchor in found] == [
        *(14, 28, 42, 56, 70, 85),
        *(15, 29, 42, 57, 71, 85),
    ]
    for anchor in found:
        print(f"{anchor_label(anchor)}: paper {anchor.paper:g}, model {anchor.model:.1f}")
        assert anchor.model == pytest.approx(anchor.paper, abs=1.5), anchor_label(anchor)


def test_a_difference_is_the_models_less_the_papers() -> None:
    for anchor in dlv("dlv").anchors:
        if anchor.model is None:
            assert anchor.difference is None
        else:
            assert anchor.difference == pytest.approx(anchor.model - anchor.paper)
    assert {anchor.what for anchor in dlv().anchors} == {
        *("rber_at_age", "level_start", "capability", "read_time", "program_time"),
    }


def test_there_is_a_figure_of_everything() -> None:
    assert set(of(dlv())) == OF_LEVELS
    assert set(of(retries())) == OF_RETRIES
    worn = ssdlab.physics(device=DLV, set={"physics.levels.wear": "{}"})
    assert set(of(worn)) == (OF_LEVELS | OF_RETRIES) - {"physics-programs"}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("physics-rber-age", "rber_at_age"),
        ("physics-needed-age", "level_start"),
        ("physics-capability", "capability"),
        ("physics-read-rber", "read_time"),
        ("physics-programs", "program_time"),
    ],
)
def test_a_figure_marks_what_papers_say_with_its_label(name: str, what: str) -> None:
    drawn = rows(of(dlv())[name], "anchor")
    assert [row["what"] for row in drawn] == [
        anchor_label(anchor) for anchor in anchors(dlv(), what)
    ]
    assert all(row["paper"].startswith(("DLV", "PV-read")) for row in drawn)
    assert any(row["note"] for row in drawn)


def test_changed_physics_has_no_marks_of_papers() -> None:
    physics = ssdlab.physics(device=DLV, set={"physics.levels.retention.rate": 0.001})
    assert not physics.anchors
    assert not any(rows(figure, "anchor") for figure in of(physics).values())
    assert "papers say" not in str(physics)


def test_a_line_a_class_and_a_rule_a_level() -> None:
    figure = of(dlv())["physics-rber-age"]
    lines = rows(figure, "line")
    assert {row["label"] for row in lines} == {"strong", "normal"}
    assert [row["rber"] for row in rows(figure, "limit")] == [r.capability for r in dlv().levels]
    for label in ("strong", "normal"):
        rates = [row["rber"] for row in lines if row["label"] == label]
        assert rates == sorted(rates)


def test_bars_sum_to_all_blocks_of_a_class() -> None:
    bars = rows(of(dlv())["physics-base"], "bar")
    strong = sum(row["upto"] - row["below"] for row in bars if row["label"] == "strong")
    assert strong == pytest.approx(1 / 3, abs=1e-3)
    assert sum(row["upto"] - row["below"] for row in bars) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", sorted(OF_LEVELS | OF_RETRIES))
def test_a_figure_can_be_printed(name: str) -> None:
    drawn = of(dlv()).get(name) or of(retries())[name]
    files = drawing.draw(drawn)
    assert files["png"].startswith(b"\x89PNG")
    assert ET.fromstring(files["svg"]).tag.endswith("svg")
    sizes = re.findall(rb'font-size="([0-9.]+)px"', files["svg"])
    assert max(map(float, sizes)) <= 7.5
    words = set(ET.fromstring(files["svg"]).itertext())
    # Every axis says its unit or what it counts.
    assert words & {"Raw bit error rate", "Levels needed", "Retries needed", "Share of blocks"} or (
        words & {"Read time (µs)", "RBER as manufactured, relative"}
    )


def test_the_page_has_the_figures_and_the_table_of_papers() -> None:
    html = physics_page(dlv())
    reader = Reader(html)
    places = {attributes.get("id") for tag, attributes in reader.tags if tag == "div"}
    assert places >= OF_LEVELS
    assert "level 7 from, strong" in reader.text
    assert "DLV, Fig. 8, table 2" in reader.text


def test_a_drawing_leaves_its_legend_to_the_page() -> None:
    (data, _) = Reader(physics_page(dlv())).scripts
    specs = {figure["id"]: figure["spec"] for figure in json.loads(data)["figures"]}
    assert set(specs) == OF_LEVELS
    for name in ("physics-rber-age", "physics-read-rber"):
        encodings = [layer["encoding"] for layer in specs[name]["layer"]]
        colored = [
            one[channel]
            for one in encodings
            for channel in ("color", "strokeDash")
            if channel in one
        ]
        assert colored
        assert all(channel["legend"] is None for channel in colored)


def test_the_docs_hold_the_table_of_papers() -> None:
    table = anchor_table(dlv())
    assert str(table) in (ROOT / "docs" / "concepts" / "physics.md").read_text(encoding="utf-8")


def test_classes_that_read_alike_are_noted() -> None:
    assert "cover one another" in str(dlv("dlv"))
    assert "cover one another" not in str(dlv())


def test_a_read_may_start_at_its_level_but_climbs_to_its_retry() -> None:
    worn = ssdlab.physics(set={"physics": "retries", "start.pe_cycles": 3_000})
    for physics, time in ((worn, "climb_us"), (dlv(), "direct_us")):
        table = next(course_tables(physics))
        reads = next(column for column in table.columns if column.head == "read")
        points = {f"{point.at:g} d": point for point in physics.groups[0].over_age}
        of_age = [points[label] for label in table.labels.cells]
        known = [NONE if p.needed is None else span(getattr(p, time)) for p in of_age]
        assert list(reads.cells) == known
        assert any((point.needed or 0) > 1 for point in of_age)


def test_the_table_fits_a_terminal() -> None:
    for physics in (dlv(), dlv("dlv"), dlv("conventional"), retries()):
        assert max(map(len, str(physics).splitlines())) <= 80


def test_the_command_prints_draws_and_hands_out(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab(
        *("physics", DLV, "--scheme", "lv-ldpc", "--json", "out.json", "--figures", "drawn"),
        *("--report", "page.html"),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.rstrip("\n") == str(dlv())
    assert json.loads((tmp_path / "out.json").read_text()) == dlv().raw
    names = {path.stem for path in (tmp_path / "drawn").iterdir()}
    assert names == OF_LEVELS
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_the_dataclasses_hold_the_same_as_the_json() -> None:
    for physics in (dlv(), retries()):
        typed = asdict(physics)
        del typed["read"]
        assert typed.pop("raw") == typed


def test_the_docs_tell_every_field() -> None:
    text = (ROOT / "docs" / "concepts" / "physics.md").read_text(encoding="utf-8")
    section = text.partition("## The JSON")[2]
    kinds = (Physics, Level, Program, Group, Point, OverCycles)
    for kind in (*kinds, Base, Bin, Anchor):
        for one in fields(kind):
            assert f"`{one.name}`" in section or one.name in {"raw", "read"}, (
                f"{kind.__name__}.{one.name}"
            )


def test_the_library_writes_what_the_command_does(tmp_path: Path) -> None:
    dlv().report_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == physics_page(dlv())
    names = dlv().save_figures(tmp_path / "drawn")
    assert {name.partition(".")[0] for name in names} == OF_LEVELS


def test_json_goes_to_stdout_alone(ssdlab: Ssdlab) -> None:
    done = ssdlab(
        "physics", DLV, "--set", "metadata.block_class=factory", "--seed", 2, "--json", "-"
    )
    found = done.json()
    assert found["seed"] == 2
    assert [group["name"] for group in found["groups"]] == ["strong", "normal"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["generic-mlc-512g"], 'physics: got "flat", expected levels or retries'),
        (["dlv-mlc-128"], 'did you mean "dlv-mlc-128g"'),
        ([], "missing DEVICE"),
        (["dlv-mlc-128"], 'DEVICE: not a device: got "dlv-mlc-128", expected generic-mlc-512g,'),
        ([DLV, "--set", "physics.levels.codewort=4KiB"], "codeword"),
        ([DLV, "--json", "a", "--report", "a"], "--report"),
        ([DLV, "--figures", "/dev/null/x"], "--figures"),
    ],
)
def test_wrong_arguments_are_reported_in_a_line(
    ssdlab: Ssdlab, arguments: list[str], line: str
) -> None:
    done = ssdlab("physics", *arguments)
    assert done.code == 2
    assert re.fullmatch(r"[^\n]+\n", done.err)
    assert line in done.err
    assert not done.out
