"""Runs side by side in the figures of a report: told apart, and drawn once where they are alike."""

import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import altair as alt
import example_results
import pytest
import vl_convert
from command import ROOT

from ssdlab.render.figures import base, drawing, vega_names
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.report import comparison_figures
from ssdlab.render.figures.run_lines import Axis, run_lines
from ssdlab.result import Comparison, Result


def of(*all_results: Result) -> dict[str, Figure]:
    return {figure.name: figure for figure in comparison_figures(Comparison(all_results))}


def rows(figure: Figure) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return list(values)


def test_runs_side_by_side_have_a_color_each_and_maps_of_their_own() -> None:
    found = of(example_results.one(), example_results.busy())
    names = ["conventional, office.csv.xz", "busy, random"]
    assert {row["label"] for row in rows(found["time-mean-read"])} == set(names)
    assert {"slowest-1-conventional-office-csv-xz", "slowest-2-busy-random"} <= set(found)
    for figure in found.values():
        spec = figure.chart.to_dict()
        domain = spec["encoding"].get("color", {}).get("scale", {}).get("domain", [])
        if domain and isinstance(domain[0], str) and spec["encoding"]["color"]["field"] == "label":
            assert domain == names, figure.name


def test_runs_of_the_same_name_have_labels_of_their_own() -> None:
    runs = base.runs_of(Comparison([example_results.one(), example_results.one()]))
    assert [run.label for run in runs] == ["conventional (1)", "conventional (2)"]
    unlike = base.runs_of(Comparison([example_results.one(), example_results.busy()]))
    assert [run.label for run in unlike] == ["conventional, office.csv.xz", "busy, random"]


def test_lines_in_the_same_place_are_all_seen() -> None:
    runs = base.runs_of(Comparison([example_results.one()] * 3))
    heights = {"conventional (1)": 5.0, "conventional (2)": 8.0, "conventional (3)": 5.001}
    data = [{"label": run.label, "t": t, "y": heights[run.label]} for run in runs for t in (0, 9)]
    lines = run_lines(runs, data, Axis("t", 0, 9), Axis("y", 0, 10))
    scale = lines.channels["strokeDash"].to_dict()["scale"]
    dashes = dict(zip(scale["domain"], scale["range"], strict=True))
    assert dashes == dict(zip(heights, base.DASHES, strict=False))
    assert [key.dash for key in lines.keys] == list(base.DASHES[:3])
    assert lines.note == " Lines that nearly cover one another have markers."
    # Each of the two has markers of its own, on its line and where the other has none.
    markers = [row for row in lines.rows if row.get("marks")]
    assert {row["label"]: row["y"] for row in markers} == {
        label: height for label, height in heights.items() if height < 8
    }
    places = sorted(row["t"] for row in markers)
    assert places == pytest.approx([9 * (at + 0.5) / 12 for at in range(12)], 1e-4)
    circle, _, square = (base.SHAPES[name] for name in ("circle", "diamond", "square"))
    assert [key.marker for key in lines.keys] == [circle, "", square]
    spec = lines.chart(alt.MarkDef(type="line"), x="t:Q", y="y:Q").to_dict()
    shape = spec["layer"][1]["encoding"]["shape"]
    first, second, third = (base.dashed_symbol(dash) for dash in base.DASHES[:3])
    assert shape["scale"]["range"] == [first + circle, second, third + square]
    assert shape["legend"] == spec["encoding"]["color"]["legend"]
    alone = run_lines(runs[:2], data[:4], Axis("t", 0, 9), Axis("y", 0, 10))
    assert (alone.note, alone.markers) == ("", {})
    assert alone.rows == data[:4]


@pytest.mark.parametrize("stepped", [False, True])
def test_markers_stand_on_lines_and_not_where_these_break(*, stepped: bool) -> None:
    runs = base.runs_of(Comparison([example_results.one()] * 2))
    heights = {0: 1.0, 1: 10.0, 2: 10.0, 3: None, 7: None, 8: 10.0, 9: 100.0}
    data = [
        {"label": run.label, "t": t, "y": y and y * times}
        for run, times in zip(runs, (1, 1.001), strict=True)
        for t, y in heights.items()
    ]
    lines = run_lines(runs, data, Axis("t", 0, 9), Axis("y", 1, 100, log=True), stepped=stepped)
    markers = [row for row in lines.rows if row.get("marks")]
    assert {row["label"] for row in markers} == {run.label for run in runs}
    for row in markers:
        t, y = row["t"], row["y"] / (1.001 if row["label"] == runs[1].label else 1)
        assert t <= 2.01 or t >= 7.99
        if stepped:
            # Along, at the height before, or up to the next height.
            level = any(y == pytest.approx(height, 1e-3) for height in (1, 10, 100))
            assert level or t == pytest.approx(round(t), abs=1e-3)
        elif t < 1:
            assert math.log10(y) == pytest.approx(t, abs=0.01)


def test_a_run_keeps_its_dash_where_lines_cover_one_another() -> None:
    one = example_results.one()
    assert one.detail is not None
    all_results = [one]
    for times in (1.0001, 3):
        spread = [
            replace(each, points=[(us * times, share) for us, share in each.points])
            for each in one.detail.distributions
        ]
        all_results.append(replace(one, detail=replace(one.detail, distributions=spread)))
    found = of(*all_results)
    assert "layer" in found["latency-cdf-read"].chart.to_dict()
    for figure in found.values():
        encoding = figure.chart.to_dict()["encoding"]
        if encoding.get("strokeDash", {}).get("field") == "label":
            scale, labels = encoding["strokeDash"]["scale"], encoding["color"]["scale"]["domain"]
            dashes = dict(zip(scale["domain"], scale["range"], strict=True))
            assert [dashes[label] for label in labels] == list(base.DASHES[:3]), figure.name
    marked = found["latency-cdf-read"]
    assert {row["label"] for row in rows(marked) if row.get("marks")} == {
        "conventional (1)",
        "conventional (2)",
    }
    assert drawing.draw(marked)["svg"].count(b"<path") > 24


def test_runs_of_the_same_line_are_drawn_as_one() -> None:
    one = example_results.one()
    assert one.detail is not None
    first, *others = one.detail.distributions
    points = [(us * 3, share) for us, share in first.points]
    slow = replace(one.detail, distributions=[replace(first, points=points), *others])
    runs = [one, replace(one, detail=slow), one]
    figure = of(*runs)[f"latency-cdf-{first.kind}"]
    same = "conventional (1) · conventional (3)"
    assert figure.what.endswith(f" Runs that share a line: {same}.")
    assert list(dict.fromkeys(row["label"] for row in rows(figure))) == [same, "conventional (2)"]
    # The second of three keeps its color, its dash and its place in the legend.
    keys = [(key.label, key.color, key.dash) for key in figure.keys]
    assert keys == [(same, 0, [1, 0]), ("conventional (2)", 1, [5, 3])]
    encoding = figure.chart.to_dict()["encoding"]
    for channel in ("color", "strokeDash"):
        assert encoding[channel]["scale"]["domain"] == [
            same,
            "conventional (2)",
            "conventional (3)",
        ]
        assert encoding[channel]["legend"]["values"] == [same, "conventional (2)"]
    svg = ET.fromstring(drawing.draw(figure)["svg"])
    texts = [text for each in svg.iter() if (text := (each.text or "").strip())]
    at = texts.index("conventional (1)")
    assert texts[at : at + 3] == ["conventional (1)", "· conventional (3)", "conventional (2)"]


def test_a_run_has_the_same_dash_and_color_in_every_figure_of_lines() -> None:
    found = of(example_results.one(), example_results.busy())
    lined = [name for name, figure in found.items() if any(key.dash for key in figure.keys)]
    assert {"time-mean-read", "time-load-bandwidth", "busy-dies"} <= set(lined)
    for name in lined:
        figure = found[name]
        encoding = figure.chart.to_dict()["encoding"]
        if encoding["strokeDash"]["field"] == "queue":
            continue
        assert encoding["strokeDash"]["scale"]["range"] == [[1, 0], [5, 3]], name
        assert encoding["strokeDash"]["legend"] == encoding["color"]["legend"], name
        assert [(key.color, key.dash) for key in figure.keys] == [(0, [1, 0]), (1, [5, 3])], name
    assert len({tuple(dash) for dash in base.DASHES}) == len(base.DASHES) == len(base.LIGHT)


def test_the_outlines_of_markers_in_a_legend_are_solid() -> None:
    runs = base.runs_of(Comparison([example_results.one()] * 2))
    data = [
        {"label": run.label, "t": t, "y": 5 + at / 1000}
        for at, run in enumerate(runs)
        for t in (0, 9)
    ]
    lines = run_lines(runs, data, Axis("t", 0, 9), Axis("y", 0, 10))
    assert lines.markers
    spec = vega_names.vega_spec(lines.chart(alt.MarkDef(type="line"), x="t:Q", y="y:Q"))
    (legend,) = vl_convert.vegalite_to_vega(spec, drawing.LITE)["legends"]
    assert legend["shape"] == "shape"
    assert "strokeDash" not in legend


@pytest.mark.parametrize("dash", base.DASHES, ids=str)
def test_the_pieces_of_a_dashed_symbol_are_those_of_its_dash(dash: list[int]) -> None:
    found = re.findall(r"M([-\d.]+),0H([-\d.]+)", base.dashed_symbol(dash))
    ends = [(float(left) + 4, float(right) + 4) for left, right in found]
    assert ends[0][0] == 0
    assert ends[-1][1] <= 8
    whole = base.LEGEND_LINE if not dash[1] else min(dash[0], base.LEGEND_LINE)
    assert (ends[0][1] - ends[0][0]) * 3 == pytest.approx(whole, abs=0.01)
    for (_, right), (left, _) in pairwise(ends):
        assert min(abs((left - right) * 3 - gap) for gap in dash[1::2]) < 0.01


def test_lines_do_not_overshoot_their_values() -> None:
    assert drawing.PAPER["line"]["strokeJoin"] == "round"
    page = (ROOT / "python/ssdlab/render/html/page.js").read_text(encoding="utf-8")
    assert 'line: { strokeWidth: 1.75, strokeJoin: "round" }' in page


def test_runs_have_a_marker_each_where_no_queue_has() -> None:
    found = of(example_results.one(), example_results.one())["percentiles-read"]
    shape = found.chart.to_dict()["encoding"]["shape"]
    assert (shape["field"], shape["scale"]["range"]) == ("label", ["circle", "diamond"])
    assert [(key.color, key.mark) for key in found.keys] == [(0, "shape0"), (1, "shape1")]
    queued = of(example_results.queued(), example_results.queued())["percentiles-read"]
    assert queued.chart.to_dict()["encoding"]["shape"]["field"] == "queue"


def test_a_legend_shows_how_queues_are_dashed() -> None:
    encoding = of(example_results.queued())["latency-tail-read"].chart.to_dict()["encoding"]
    legend = encoding["strokeDash"]["legend"]
    # A path is drawn at half the root of its size: each dash is to be seen, and a gap.
    path = re.fullmatch(r"M(\S+),0H(\S+)", legend["symbolType"])
    assert path is not None
    begin, end = map(float, path.groups())
    length = (end - begin) * legend["symbolSize"] ** 0.5 / 2
    assert length == base.LEGEND_LINE > max(sum(dash) for dash in base.DASHES) * 1.5
    # Moved, it begins where a symbol does, and ends before its label.
    symbol, moved = legend["symbolSize"] ** 0.5, legend["symbolOffset"]
    assert symbol / 2 + moved == length / 2
    assert symbol + moved + legend["labelOffset"] > length


def test_the_slowest_requests_of_all_runs_share_an_axis() -> None:
    quick, busy = example_results.one(), example_results.busy()
    panels = [each for name, each in of(quick, busy).items() if name.startswith("slowest-")]
    axes = [panel.chart.to_dict()["encoding"]["x"] for panel in panels]
    assert len(axes) == 2
    assert axes[0] == axes[1]
    assert quick.detail is not None
    assert busy.detail is not None
    unit = {"(ms)": 1e3, "(s)": 1e6}[axes[0]["axis"]["title"].split()[-1]]
    longest = max(slow.latency_us for run in (quick.detail, busy.detail) for slow in run.slowest)
    assert axes[0]["scale"]["domain"][0] == 0
    assert axes[0]["scale"]["domain"][1] * unit == pytest.approx(longest, 1e-4)
    # Alone, the panel of the quicker run ends where its own slowest request does.
    assert of(quick)["slowest"].chart.to_dict()["encoding"]["x"] != axes[0]


def with_slowest(run: Result, factor: float) -> Result:
    assert run.detail is not None
    slowest = [
        replace(slow, blame_us={part: us * factor for part, us in slow.blame_us.items()})
        for slow in run.detail.slowest
    ]
    return replace(run, detail=replace(run.detail, slowest=slowest))


def test_the_slowest_requests_of_runs_that_look_the_same_share_a_panel() -> None:
    one = example_results.one()
    same, other = with_slowest(one, 1.001), with_slowest(one, 0.5)
    found = of(one, other, same)
    panels = {name: each for name, each in found.items() if name.startswith("slowest-")}
    assert [panel.title for panel in panels.values()] == [
        "Slowest requests: conventional (1) · conventional (3)",
        "Slowest requests: conventional (2)",
    ]
    first, second = panels.values()
    assert first.what.endswith(" Runs whose slowest requests look the same share one chart.")
    assert second.what.endswith(" All runs share one axis.")
    alike = [each for name, each in of(one, same).items() if name.startswith("slowest-")]
    assert [each.title for each in alike] == ["Slowest requests: alike in all runs"]
    # A run with fewer requests has a panel of its own.
    assert one.detail is not None
    fewer = replace(one, detail=replace(one.detail, slowest=one.detail.slowest[:3]))
    assert len([name for name in of(one, fewer) if name.startswith("slowest-")]) == 2


def hues(tone: str) -> tuple[int, int, int]:
    return int(tone[1:3], 16), int(tone[3:5], 16), int(tone[5:7], 16)


def with_map(run: Result, erases: Sequence[Sequence[float | None]]) -> Result:
    assert run.detail is not None
    blocks = replace(run.detail.blocks, planes=2, blocks=2, valid=[[1.0] * 2] * 2, erases=erases)
    return replace(run, detail=replace(run.detail, blocks=replace(blocks, rber=None)))


def test_runs_of_the_same_map_share_one_and_others_show_what_differs() -> None:
    one = example_results.one()
    # The second looks like the first, the third is near it, the fourth is far; the fifth lacks a
    # block that the first has. The sixth is nearer than the third.
    alike: list[list[float | None]] = [[10, 20], [30, 40]]
    near: list[list[float | None]] = [[10, 20], [30, 42]]
    far: list[list[float | None]] = [[40, 30], [20, 10]]
    lacking: list[list[float | None]] = [[10, 20], [None, 40]]
    same: list[list[float | None]] = [[10, 20], [30.1, 40]]
    nearer: list[list[float | None]] = [[10, 20], [30, 39]]
    maps = (alike, same, near, far, lacking, nearer)
    found = of(*(with_map(one, each) for each in maps))
    drawn = {name: each for name, each in found.items() if name.startswith("blocks-")}
    assert {name: figure.title for name, figure in drawn.items()} == {
        "blocks-erases-1-conventional-1": "P/E cycles: conventional (1) · conventional (2)",
        "blocks-erases-difference-3-conventional-3": "P/E cycles, difference: conventional (3)",
        "blocks-erases-4-conventional-4": "P/E cycles: conventional (4)",
        "blocks-erases-5-conventional-5": "P/E cycles: conventional (5)",
        "blocks-erases-difference-6-conventional-6": "P/E cycles, difference: conventional (6)",
    }
    less = drawn["blocks-erases-difference-3-conventional-3"]
    assert [row["v"] for row in rows(less)] == [0, 0, 0, 2]
    # All differences have one scale: blue below zero, orange above, and no hue at zero.
    scale = less.chart.to_dict()["encoding"]["color"]["scale"]
    assert scale["domain"] == [-2, 0, 2]
    below, zero, above = (hues(tone) for tone in scale["range"])
    assert below[2] > below[0]
    assert above[0] > above[2]
    assert zero[0] == zero[1] == zero[2]
    other = drawn["blocks-erases-difference-6-conventional-6"]
    assert [row["v"] for row in rows(other)] == [0, 0, 0, -1]
    assert other.chart.to_dict()["encoding"]["color"]["scale"] == scale
    assert less.what.endswith(" The map shows the difference from the map of conventional (1).")
    shared = drawn["blocks-erases-1-conventional-1"].what
    assert shared.endswith(" Runs whose maps look the same share one map.")
    # All whole maps have the scale of all runs.
    whole = drawn["blocks-erases-4-conventional-4"].chart.to_dict()["encoding"]["color"]
    assert whole["scale"]["domain"] == [10, 42]


def test_a_map_may_lack_what_the_first_lacks_too() -> None:
    maps: list[list[list[float | None]]] = [[[10, None], [30, 40]], [[10, None], [30, 42]]]
    found = of(*(with_map(example_results.one(), each) for each in maps))
    less = found["blocks-erases-difference-2-conventional-2"]
    assert [row["v"] for row in rows(less)] == [0, None, 0, 2]


@pytest.mark.parametrize("edges", [(1500, 1501), (1500.001, 1500.002), (10, 42), (0, 1e-9)])
@pytest.mark.parametrize("near", [False, True])
def test_the_legend_of_a_map_labels_no_two_values_alike(
    edges: tuple[float, float], *, near: bool
) -> None:
    low, high = edges
    maps: list[list[list[float | None]]] = [[[low, low], [low, high]]]
    maps += [[[low, low], [low, (low + 2 * high) / 3]]] * near
    drawn = of(*(with_map(example_results.one(), each) for each in maps))
    name = "blocks-erases-difference-2-conventional-2" if near else "blocks-erases"
    spec = drawn[name].chart.to_dict()
    # The axes have numbers, too.
    spec["encoding"]["x"]["axis"] = spec["encoding"]["y"]["axis"] = None
    labels = re.findall(r">([−+]?\d[^<]*)<", vl_convert.vegalite_to_svg(spec))
    assert len(labels) == len(set(labels)) == 3, labels
    bottom, *_, top = spec["encoding"]["color"]["scale"]["domain"]
    cells = [row["v"] for row in rows(drawn[name])]
    assert [min(cells), max(cells)] == pytest.approx(
        [bottom, 0 if near else top], abs=(top - bottom) / 1000
    )
