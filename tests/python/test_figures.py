"""The figures of a report: they draw what the results say."""

import json
import math
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import example_results
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as some

import ssdlab
from ssdlab.render.figures import base, blame, drawing, time_series
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.report import comparison_figures
from ssdlab.result import Comparison, Result
from ssdlab.result.detail import Detail, Distribution, SeriesInterval, Slow

KINDS = ("read", "write")


def of(*all_results: Result) -> dict[str, Figure]:
    return {figure.name: figure for figure in comparison_figures(Comparison(all_results))}


def rows(figure: Figure) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return list(values)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cdf_rises_to_one_and_a_tail_falls_to_a_single_request(kind: str) -> None:
    found = of(example_results.one())
    cdf, tail = rows(found[f"latency-cdf-{kind}"]), rows(found[f"latency-tail-{kind}"])
    shares = [row["share"] for row in cdf]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    part = getattr(example_results.one(), kind)
    assert cdf[-1]["us"] == pytest.approx(part.latency_us.max, 1e-5)
    assert min(row["share"] for row in tail) == pytest.approx(1 / part.requests, 1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tail_falls_through_the_percentiles_of_the_result(kind: str) -> None:
    result = ssdlab.run(workload="zipf", limit=8000, detail=True)
    figure = of(result)[f"latency-tail-{kind}"]
    encoding = figure.chart.to_dict()["encoding"]
    for axis, field in (("x", "us"), ("y", "share")):
        low, high = encoding[axis]["scale"]["domain"]
        assert encoding[axis]["field"] == field
        assert low < high
        assert not encoding[axis]["scale"].get("reverse")
    points = [(row["us"], row["share"]) for row in rows(figure)]
    assert points[0][1] == 1
    assert all(one[0] <= two[0] and one[1] >= two[1] for one, two in pairwise(points))
    latency = getattr(result, kind).latency_us
    for name, quantile in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        drawn_at = next(us for us, share in points if share <= 1 - quantile + 1e-6)
        assert drawn_at == pytest.approx(getattr(latency, name), 1e-5), name
    assert points[-1][0] == pytest.approx(latency.max, 1e-5)
    # Between two points the share falls by little, or at once.
    assert len(points) > 50


def test_percentiles_are_those_of_the_result() -> None:
    found = {row["what"]: row["us"] for row in rows(of(example_results.one())["percentiles-read"])}
    latency = example_results.one().read.latency_us
    assert found["p99.9"] == pytest.approx(latency.p999, 1e-5)
    assert found["max"] == pytest.approx(latency.max, 1e-5)


def test_percentiles_that_are_equal_do_not_cover_each_other() -> None:
    # The same run twice, each with two queues: eight dots of each percentile, two and two alike.
    figure = of(example_results.queued(), example_results.queued())["percentiles-read"]
    scale = figure.chart.to_dict()["encoding"]["yOffset"]["scale"]
    drawn_in = [(row["what"], row["lane"]) for row in rows(figure)]
    assert len(set(drawn_in)) == len(drawn_in) == 5 * 2 * 2
    assert scale["domain"] == [lane for what, lane in drawn_in if what == "p50"]
    assert figure.lanes == 5
    assert figure.marks == 4
    (alone,) = [of(example_results.one())["percentiles-read"]]
    assert "yOffset" not in alone.chart.to_dict()["encoding"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("result", [example_results.one, example_results.busy])
def test_blame_sums_to_the_mean(result: Any, kind: str) -> None:
    part = getattr(result(), kind)
    parts = blame.rows_of([("all", part.blame_us)])
    assert sum(row["us"] for row in parts) == pytest.approx(part.latency_us.mean, 1e-9)
    assert {row["part"] for row in parts} <= {*blame.PARTS, blame.OTHER}


@pytest.mark.parametrize("kind", KINDS)
def test_bars_are_as_long_as_the_means_of_their_queues(kind: str) -> None:
    figure = of(example_results.queued())[f"blame-{kind}"]
    x = figure.chart.to_dict()["encoding"]["x"]
    assert (x["field"], x["stack"]) == ("t", "zero")
    unit = {"(µs)": 1, "(ms)": 1e3}[x["axis"]["title"].split()[-1]]
    lengths: dict[str, float] = defaultdict(float)
    for row in rows(figure):
        lengths[row["bar"]] += row["t"] * unit
        assert row["of"] > 0
    means = {
        f"queue {at}": getattr(queue, kind).latency_us.mean
        for at, queue in enumerate(example_results.queued().queues or ())
    }
    assert len(means) == 2
    assert lengths == pytest.approx(means, 1e-4)


def test_parts_below_a_hundredth_of_every_bar_are_one() -> None:
    bars: list[tuple[str, dict[str, float]]] = [
        ("one", {"sense": 98.1, "bus": 1.0, "decode": 0.9}),
        ("two", {"sense": 99.2, "decode": 0.8}),
    ]
    found = blame.rows_of(bars)
    assert {row["part"] for row in found} == {"sense", "bus", blame.OTHER}
    assert [row["us"] for row in found if row["part"] == blame.OTHER] == [0.9, 0.8]


def test_labels_of_several_lines_fit_beside_their_bars() -> None:
    names = [f"scheduler={at}, suspend=none, flash.array=plane" for at in range(16)]
    chart, keys = blame._stacked([(name, {"sense": 1.0}) for name in names], "Latency", "")
    figure = Figure("name", "section", "title", "what", chart, keys, len(names), 3)
    spec = drawing.paper_spec(figure)
    line = drawing.PAPER["axis"]["labelFontSize"] + 2
    assert spec["height"] >= 16 * 3 * line
    # What has three lines begins one above the middle of its bar.
    assert spec["encoding"]["y"]["axis"]["labelOffset"] == -line


def test_every_part_of_the_blame_is_known() -> None:
    assert set(example_results.one().read.blame_us) == set(blame.PARTS)


def test_empty_figures_are_not_drawn() -> None:
    quiet, busy = of(example_results.one()), of(example_results.busy())
    for name in ("time-waf", "time-gc-blocks", "time-retries", "programs", "blocks-erases"):
        assert name not in quiet, name
        assert name in busy, name
    assert "blocks-rber" in busy


def test_cells_without_data_are_gray() -> None:
    run = example_results.busy()
    assert run.detail is not None
    assert run.detail.blocks.rber is not None
    most, *others = run.detail.blocks.rber
    some = replace(run.detail.blocks, rber=[[None, *most[1:]], *others])
    figure = of(replace(run, detail=replace(run.detail, blocks=some)))["blocks-rber"]
    assert figure.chart.to_dict()["view"]["fill"] == "#888888"
    assert rows(figure)[0]["v"] is None
    assert "blocks that hold data; gray where none do" in figure.what
    assert "view" not in of(run)["blocks-erases"].chart.to_dict()


def test_programs_sum_to_the_write_amplification() -> None:
    assert sum(
        row["value"] for row in rows(of(example_results.busy())["programs"])
    ) == pytest.approx(example_results.busy().waf, 1e-4)


def test_page_types_are_drawn_where_they_are_requested() -> None:
    run = example_results.typed()
    found = of(run)
    assert run.page_types is not None
    writes = sum(run.slowest_page_type.values())
    shares = {row["part"]: row["value"] for row in rows(found["slowest_page_type"])}
    expected = {
        name: run.slowest_page_type[name.lower()] / writes for name in ("LSB", "CSB", "MSB")
    }
    assert shares == pytest.approx(expected, 1e-3)
    for at, free in enumerate(run.page_types.free):
        assert rows(found[f"time-free-{at}"])[-1][f"free_{at}"] == free
    assert "time-free-3" not in found
    assert not {"slowest_page_type", "time-free-0"} & set(of(example_results.one()))


def test_levels_of_reads_are_drawn_where_there_are_several() -> None:
    steps = example_results.busy().retry_steps
    found = rows(of(example_results.busy())["read-levels"])
    assert len(steps) > len(found) == 7
    assert [row["part"] for row in found] == [
        *(f"level {n}" for n in range(1, 7)),
        "level 7 and more",
    ]
    parts = [*steps[:6], sum(steps[6:])]
    expected = [part / sum(steps) for part in parts]
    assert [row["value"] for row in found] == pytest.approx(expected, 1e-3, 1e-3)
    assert "read-levels" not in of(example_results.one())


def test_how_old_data_is_when_it_is_read_is_drawn_where_it_ages() -> None:
    settings = {"start.fill": 0.9, "start.age_max": "30d", "workload.read_share": 1}
    old = ssdlab.run(
        device="dlv-mlc-128g", workload="random", limit=20_000, detail=True, set=settings
    )
    found = rows(of(old)["read-ages"])
    days, shares = [row["days"] for row in found], [row["share"] for row in found]
    assert days == sorted(days)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    # Ages are drawn evenly up to 30 days, and all reads are of what was there before.
    for day, share in zip(days, shares, strict=True):
        assert share == pytest.approx(day / 30, abs=0.05)
    assert "read-ages" not in of(example_results.one())


def test_dies_are_sorted_by_how_busy_they_were() -> None:
    shares = [row["busy"] for row in rows(of(example_results.one())["busy-dies"])]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == 64 + 1


@pytest.mark.parametrize("planes", [1, 2, 3, 7])
def test_maps_number_their_planes_in_whole_steps(planes: int) -> None:
    small: dict[str, int | str] = {f"geometry.{part}": 1 for part in ("channels", "chips", "dies")}
    small |= {"geometry.planes": planes, "geometry.blocks": 64, "workload.footprint": "8MiB"}
    figures = of(ssdlab.run(workload="random", limit=300, detail=True, set=small))
    chart = next(figure for name, figure in figures.items() if name.startswith("blocks-")).chart
    spec = chart.to_dict()
    spec["encoding"]["x"]["axis"] = spec["encoding"]["color"]["legend"] = None
    labels = re.findall(r">(\d+)<", vl_convert.vegalite_to_svg(spec))
    assert len(labels) > 1
    assert len(set(labels)) == len(labels)


def test_of_several_seeds_the_first_is_drawn() -> None:
    plans = ssdlab.sweep(ssdlab.Plan(limit=500, detail=True), seeds=2)
    comparison = ssdlab.compare(plans)
    (run,) = base.runs_of(comparison)
    assert run.result.provenance.seed == 1
    assert not any(name.startswith("detail") for name in comparison.aggregates[0].metrics)


def test_many_runs_have_colors_too() -> None:
    colors = base.palette(20)
    assert colors is not None
    assert len(set(colors)) == 20
    assert base.palette(len(base.LIGHT)) is None


def test_a_result_without_detail_is_refused() -> None:
    with pytest.raises(ssdlab.InputError, match="detail=True"):
        comparison_figures(Comparison([ssdlab.run(limit=10)]))


def test_a_run_of_one_request_can_be_drawn() -> None:
    assert of(ssdlab.run(limit=1, detail=True))


def interval(at: int, reads: int, writes: int, busy: float) -> SeriesInterval:
    return SeriesInterval(
        start_s=at,
        end_s=at + 1,
        reads=reads,
        writes=writes,
        mb=1.5,
        read_mean_us=10.0 * at if reads else None,
        read_p99_us=20.0 * at if reads else None,
        read_max_us=30.0 * at if reads else None,
        write_mean_us=5.0 if writes else None,
        write_p99_us=6.0 if writes else None,
        write_max_us=7.0 if writes else None,
        host_pages=writes,
        pages=2 * writes,
        waf=2.0 if writes else None,
        gc_blocks=1,
        gc_pages=writes,
        erases=1,
        retries=reads,
        die_busy=busy,
        bus_busy=busy / 2,
        in_system=at,
        free_0=100 - at,
        free_1=200 - at,
        free_2=None,
        free_3=None,
    )


PART = some.tuples(some.integers(0, 50), some.integers(0, 50), some.floats(0, 1))


@given(some.lists(PART, min_size=1, max_size=60), some.integers(1, 20))
def test_intervals_that_are_joined_keep_their_sums_and_means(
    parts: list[tuple[int, int, float]], most: int
) -> None:
    series = [interval(at, *part) for at, part in enumerate(parts)]
    found = time_series.joined(series, most)
    assert len(found) <= most
    assert (found[0].start_s, found[-1].end_s) == (0, len(parts))
    assert found[-1].in_system == series[-1].in_system
    assert (found[-1].free_0, found[-1].free_1) == (series[-1].free_0, series[-1].free_1)
    for name in ("reads", "writes", "gc_blocks", "gc_pages", "retries", "erases", "pages"):
        assert sum(getattr(one, name) for one in found) == sum(getattr(one, name) for one in series)
    total = sum((one.read_mean_us or 0) * one.reads for one in series)
    assert sum((one.read_mean_us or 0) * one.reads for one in found) == pytest.approx(total)
    busy = sum(one.die_busy * (one.end_s - one.start_s) for one in found)
    assert busy == pytest.approx(sum(one.die_busy for one in series))
    worst = max((one.read_p99_us or 0 for one in series), default=0)
    assert max(one.read_p99_us or 0 for one in found) == worst


def test_a_long_run_is_drawn_in_so_few_intervals_that_a_line_is_seen() -> None:
    series = [interval(at, 1, 1, 0.5) for at in range(700)]
    (run,) = base.runs_of(Comparison([example_results.one()]))
    long = replace(run, detail=replace(run.detail, series=series))
    assert 100 <= len(time_series.rows_of([long])) <= 200
    assert 2 * 50 <= len(time_series.rows_of([long, replace(long, label="other")])) <= 2 * 100


def test_units_of_time() -> None:
    assert [base.time_unit_us(us)[0] for us in (0.5, 40, 4e3, 4e6)] == ["ns", "µs", "ms", "s"]
    seconds = (1e-5, 0.02, 30, 900, 90_000, 1e6)
    assert [base.time_unit_s(s)[0] for s in seconds] == ["µs", "ms", "s", "min", "h", "d"]


def test_numbers_that_cannot_be_drawn_are_left_out() -> None:
    assert base.rounded(None) is None
    assert base.rounded(math.nan) is None
    assert base.rounded(1234567.8) == 1234570


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "drawn"
    ssdlab.save_figures(example_results.busy(), path)
    return path


def test_every_figure_is_there_in_three_formats(folder: Path) -> None:
    magic = {".pdf": b"%PDF-", ".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<svg "}
    by_name: dict[str, set[str]] = defaultdict(set)
    for path in folder.iterdir():
        assert path.read_bytes().startswith(magic[path.suffix]), path.name
        by_name[path.stem].add(path.suffix)
    assert set(by_name) == set(of(example_results.busy()))
    assert all(endings == set(magic) for endings in by_name.values())
    assert [path.name for path in folder.parent.iterdir()] == ["drawn"]


def test_the_files_of_a_figure_say_of_what_runs_it_is(tmp_path: Path) -> None:
    name = "latency-cdf-read"
    twin = "twin of hm_0 (DLV)"
    ssdlab.save_figures(replace(example_results.one(), workload=twin), tmp_path)
    title = of(example_results.one())[name].title
    svg = ET.parse(tmp_path / f"{name}.svg").getroot()
    assert svg[0].text == title
    assert twin in str(svg[1].text)
    png = (tmp_path / f"{name}.png").read_bytes()
    assert f"iTXtTitle\0\0\0\0\0{title}".encode() in png
    assert twin.encode() in png
    pdf = (tmp_path / f"{name}.pdf").read_bytes()
    assert twin.encode("utf-16-be").hex().encode() in pdf.partition(b"/Subject <feff")[2]
    # Every object is where the table of them says, which is where the end says.
    start = int(pdf.rpartition(b"startxref")[2].split()[0])
    assert pdf[start:].startswith(b"xref\n")
    places = [int(line.split()[0]) for line in pdf[start:].split(b"\n") if b" 00000 n" in line]
    assert [pdf[at:].split()[0] for at in places] == [b"%d" % n for n in range(1, len(places) + 1)]


def test_figures_are_as_wide_as_a_column(folder: Path) -> None:
    for path in folder.glob("*.svg"):
        root = ET.fromstring(path.read_text(encoding="utf-8"))
        assert root.attrib["width"] == f"{drawing.COLUMN_IN}in", path.name
        assert float(root.attrib["height"].removesuffix("in")) < 4, path.name


def test_figures_take_their_place_beside_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    names = ssdlab.save_figures(example_results.one(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names, "mine.txt"}


def test_the_types_know_every_part_of_the_detail() -> None:
    detail = example_results.busy().detail
    assert isinstance(detail, Detail)
    assert isinstance(detail.series[0], SeriesInterval)
    assert isinstance(detail.distributions[0], Distribution)
    assert isinstance(detail.slowest[0], Slow)
    assert detail.blocks.rber is not None
    assert len(detail.slowest) == 20
    assert example_results.one().detail is not None
    assert ssdlab.run(limit=10).detail is None
