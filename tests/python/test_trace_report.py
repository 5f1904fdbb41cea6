"""The report of what traces are like: its figures, the page, the command."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import example_results
import pytest
from command import OFFICE, Ssdlab
from test_html_report import Reader

from ssdlab import traces
from ssdlab.render.figures import drawing
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.trace import trace_figures
from ssdlab.render.html.traces import trace_page
from ssdlab.render.text.traces import trace_columns

NAMES = {
    *(f"trace-{what}-{kind}" for what in ("sizes", "load") for kind in ("read", "write")),
    *("trace-gaps", "trace-dispersion", "trace-runs-read", "trace-runs-write"),
    *("trace-footprint", "trace-reuse"),
}


def of(*infos: dict[str, Any]) -> dict[str, Figure]:
    return {figure.name: figure for figure in trace_figures(infos)}


def rows(figure: Figure, label: str = "office.csv.xz") -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return [row for row in values if row["label"] == label]


def office() -> dict[str, Any]:
    return example_results.two_traces()[0]


def test_there_is_a_figure_of_everything() -> None:
    assert set(of(office())) == set(of(*example_results.two_traces())) == NAMES


@pytest.mark.parametrize("kind", ["read", "write"])
def test_shares_of_sizes_sum_to_one(kind: str) -> None:
    shares = [row["share"] for row in rows(of(office())[f"trace-sizes-{kind}"])]
    assert sum(shares) == pytest.approx(1, 1e-5)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_the_load_over_time_sums_to_the_requests(kind: str) -> None:
    found = rows(of(office())[f"trace-load-{kind}"])
    rates = [row["rate"] for row in found[:-1]]
    assert sum(rates) * office()["load"]["interval_s"] == pytest.approx(office()[f"{kind}s"], 1e-3)
    assert (found[0]["t"], found[-1]["t"]) == (0, pytest.approx(60, 0.02))


def test_a_long_trace_does_not_hide_a_short_one() -> None:
    load = office()["load"]
    slow = {**load, "interval_s": 100 * load["interval_s"]}
    infos = (office(), {**office(), "trace": "slow", "load": slow})
    figure = of(*infos)["trace-load-read"]
    encoding = figure.chart.to_dict()["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0, 1]
    assert encoding["y"]["scale"]["type"] == "log"
    low = encoding["y"]["scale"]["domain"][0]
    for label in ("office.csv.xz", "slow"):
        found = rows(figure, label)
        assert (found[0]["t"], found[-1]["t"]) == (0, 1)
        assert 30 < len(found) <= 65
        assert all(row["rate"] >= low for row in found)
    of_both = sum(row["rate"] for row in rows(figure)[:-1]) / 2
    one = sum(row["rate"] for row in rows(of(office())["trace-load-read"])[:-1]) / 4
    assert of_both == pytest.approx(one, 0.05)
    alike = of(office(), {**office(), "trace": "twin"})["trace-load-read"]
    assert alike.chart.to_dict()["encoding"]["y"]["scale"] == {"zero": True}


@pytest.mark.parametrize("name", ["trace-gaps", "trace-reuse"])
def test_the_curves_rise_to_one(name: str) -> None:
    found = rows(of(office())[name])
    for key in ("x", "share"):
        values = [row[key] for row in found]
        assert values == sorted(values)
    assert found[-1]["share"] == 1


def test_the_curves_pass_the_medians() -> None:
    drawings = of(office())
    for name, median in (
        ("trace-gaps", office()["gap_median_us"]),
        ("trace-reuse", office()["reuse"]["median_pages"]),
    ):
        below = [row["share"] for row in rows(drawings[name]) if row["x"] <= median * 1.001]
        assert below[-1] == pytest.approx(0.5, abs=0.01)


def test_a_gap_of_nothing_stands_where_the_axis_begins() -> None:
    figure = of(*example_results.two_traces())["trace-gaps"]
    (label,) = {row["label"] for row in rows_of_all(figure)} - {"office.csv.xz"}
    first = rows(figure, label)[0]
    assert first["share"] == 0.25
    assert 0 < first["x"] < min(row["x"] for row in rows(figure, label)[1:])
    assert "above 0" in figure.what


def rows_of_all(figure: Figure) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return list(values)


def test_the_footprint_grows_to_the_whole() -> None:
    grown = [row["touched"] for row in rows(of(office())["trace-footprint"])]
    assert grown == sorted(grown)
    assert (grown[0], grown[-1]) == (0, pytest.approx(office()["footprint_pages"] / 2**18, 1e-4))


def test_what_was_not_measured_is_not_drawn() -> None:
    assert set(of({**office(), "reuse": None})) == NAMES - {"trace-reuse"}
    reads = {**office(), "write_size": None, "writes": 0}
    reads["load"] = {**reads["load"], "requests": reads["load"]["reads"]}
    reads["burstiness"] = {**reads["burstiness"], "write_runs": None}
    assert set(of(reads)) == {name for name in NAMES if not name.endswith("-write")}


def test_the_same_trace_twice_has_two_labels() -> None:
    (figure, *_) = trace_figures([office(), office()])
    labels = {row["label"] for row in rows_of_all(figure)}
    assert labels == {"office.csv.xz (1)", "office.csv.xz (2)"}


def test_figures_are_as_wide_as_a_column() -> None:
    figure = of(*example_results.two_traces())["trace-sizes-read"]
    root = ET.fromstring(drawing.draw(figure)["svg"])
    assert root.attrib["width"] == f"{drawing.COLUMN_IN}in"


# The page.


def test_a_page_loads_nothing_from_elsewhere() -> None:
    reader = Reader(example_results.page_of_two_traces())
    for tag, attributes in reader.tags:
        for name in ("src", "href", "srcset", "data", "action", "poster"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}, tag


def test_a_name_is_text_and_nothing_else() -> None:
    mischief = example_results.two_traces()[1]["trace"]
    assert mischief not in example_results.page_of_two_traces()
    reader = Reader(example_results.page_of_two_traces())
    assert mischief in reader.text
    assert len(reader.scripts) == 2


def test_every_figure_has_its_place_and_the_tables_their_captions() -> None:
    reader = Reader(example_results.page_of_two_traces())
    (data,) = [script for script in reader.scripts if script.startswith('{"data"')]
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert {figure["id"] for figure in json.loads(data)["figures"]} == NAMES
    assert set(ids) >= NAMES
    assert len(ids) == len(set(ids))
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("h1") == tags.count("main") == 1
    assert tags.count("caption") == tags.count("table") == 5
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    assert all(link and link.removeprefix("#") in ids for link in links)
    for _, attributes in reader.tags:
        if attributes.get("class") == "chart":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]


def test_it_holds_the_table_that_is_printed() -> None:
    text = Reader(example_results.page_of_two_traces()).text
    for column in trace_columns(example_results.two_traces()):
        assert column.head in text
        for cell in column.cells:
            assert cell in text


def test_flushes_alone_make_a_page(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(
        "time_us,dev,op,offset_bytes,size_bytes\n0,a,F,0,0\n1,a,F,0,0\n"
    )
    infos = traces.info([tmp_path / "f.csv"])
    assert trace_figures(infos) == []
    assert "f.csv" in Reader(trace_page(infos)).text


# The command.


def test_a_report_and_figures_beside_what_is_printed(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(example_results.FEW)
    plain = ssdlab("trace", "info", OFFICE, "few.csv")
    both = ("--report", "r.html", "--figures", "figures")
    done = ssdlab("trace", "info", OFFICE, "few.csv", *both)
    assert (done.code, done.err, done.out) == (0, "", plain.out)
    assert "2 traces side by side" in (tmp_path / "r.html").read_text(encoding="utf-8")
    names = {f"{name}.{ending}" for name in NAMES for ending in ("pdf", "svg", "png")}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == names
    assert {path.name for path in tmp_path.iterdir()} == {"few.csv", "r.html", "figures"}


def test_a_report_that_cannot_be_written_is_found_first(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(example_results.FEW)
    (tmp_path / "file").write_text("kept")
    for options, message in (
        (
            ("--report", "no/r.html"),
            '--report: cannot write "no/r.html": No such file or directory',
        ),
        (("--report", "."), '--report: cannot write ".": is a folder'),
        (("--figures", "file"), "--figures: cannot write 'file': is not a folder"),
        (
            ("--report", "a", "--json", "a"),
            '--report: the file that --json writes: got "a", expected another file',
        ),
    ):
        done = ssdlab("trace", "info", "few.csv", *options)
        assert (done.code, done.out, done.err) == (2, "", message + "\n")
    assert {path.name for path in tmp_path.iterdir()} == {"few.csv", "file"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk at hand")
def test_a_full_disk_is_reported_in_a_line(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(example_results.FEW)
    done = ssdlab("trace", "info", "few.csv", "--report", "/dev/full")
    assert done.code == 2
    assert done.err == "--report: cannot write '/dev/full': No space left on device\n"


def test_a_broken_trace_leaves_no_report(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(example_results.FEW + "oh\n")
    done = ssdlab("trace", "info", "bad.csv", "--report", "r.html", "--figures", "figures")
    assert done.code == 2
    assert done.err.startswith("bad.csv:7:")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_in_python_too(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(example_results.FEW)
    infos = traces.info([tmp_path / "few.csv"], reuse=False)
    traces.report_html(infos, tmp_path / "r.html")
    assert "few.csv" in Reader((tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "trace-gaps.pdf" in traces.save_figures(infos, tmp_path / "figures")
