"""Burstiness of traces: what `trace info` prints, writes and draws of it."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
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
from ssdlab.render.text.traces import trace_columns, trace_text

HEAD = "time_us,dev,op,offset_bytes,size_bytes\n"


def trace(path: Path, times_us: list[int], kinds: str = "R") -> Path:
    rows = [f"{at},a,{kinds[n % len(kinds)]},0,4096\n" for n, at in enumerate(times_us)]
    path.write_text(HEAD + "".join(rows))
    return path


@pytest.fixture
def bursts(tmp_path: Path) -> Path:
    """Every 2 s, 50 reads in a row and 10 writes, one a millisecond, for 100 s."""
    times = [2_000_000 * burst + 1000 * n for burst in range(51) for n in range(60)]
    return trace(tmp_path / "bursts.csv", times, "R" * 50 + "W" * 10)


def office() -> dict[str, Any]:
    return example_results.two_traces()[0]


def of(*infos: Mapping[str, Any]) -> dict[str, Figure]:
    return {figure.name: figure for figure in trace_figures(infos)}


def rows(figure: Figure) -> list[dict[str, Any]]:
    (values,) = json.loads(figure.chart.to_json())["datasets"].values()
    return list(values)


def section(text: str, head: str) -> list[list[str]]:
    """Return the cells of the table with this head, one list a row."""
    lines = text.splitlines()
    (start,) = [at for at, line in enumerate(lines) if line.startswith(head)]
    end = next((at for at in range(start, len(lines)) if not lines[at]), len(lines))
    return [line.split() for line in lines[start + 1 : end] if not line.startswith("fewer")]


def test_windows_in_figures_and_in_a_table(ssdlab: Ssdlab, bursts: Path) -> None:
    found = ssdlab("trace", "info", bursts.name, "--json", "-").json()["burstiness"]
    windows = {row["window_s"]: row for row in found["windows"]}
    assert set(windows) == {0.01, 0.1, 1.0}
    # Of 100 whole seconds, 50 have 60 requests.
    second = windows[1.0]
    assert (second["windows"], second["mean_requests"]) == (100, 30)
    assert second["dispersion"] == pytest.approx(900 * 100 / 99 / 30)
    done = ssdlab("trace", "info", bursts.name)
    assert section(done.out, "windows of") == [
        ["10", "ms", "10,005", "0.305", "9.70"],
        ["100", "ms", "1,000", "3.00", "57.1"],
        ["1", "s", "100", "30.0", "30.3"],
    ]
    assert "\nfewer than 20 windows of 10 s and 100 s fit into the span\n" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


@pytest.fixture
def coarse(tmp_path: Path) -> Path:
    """Up to six requests a second for an hour, stamped with whole seconds, as MSR's web_2 is."""
    times = [1_000_000 * at for at in range(3600) for _ in range(at * at % 7)]
    return trace(tmp_path / "coarse.csv", times, "RRW")


def test_windows_shorter_than_the_steps_of_stamps_have_no_figure(
    ssdlab: Ssdlab, coarse: Path, bursts: Path
) -> None:
    info = ssdlab("trace", "info", coarse.name, "--json", "-").json()
    found = info["burstiness"]
    assert found["stamp_step_s"] == 1
    assert [row["window_s"] for row in found["windows"]] == [1, 10, 100]
    why = "shorter_than_stamp_step"
    assert found["left_out"] == [{"window_s": length, "why": why} for length in (0.01, 0.1)]
    note = "windows of 10 ms and 100 ms are shorter than the stamps' steps of 1.00 s"
    done = ssdlab("trace", "info", coarse.name)
    assert [row[:2] for row in section(done.out, "windows of  ")[:3]] == [
        ["1", "s"],
        ["10", "s"],
        ["100", "s"],
    ]
    assert f"\n{note}\n" in done.out
    assert note in of(info)["trace-dispersion"].what
    assert next(row["x"] for row in rows(of(info)["trace-dispersion"]) if row["label"]) == 1e6
    # The page has it below the figure and above the table.
    page, escaped = trace_page([info]), re.escape(note.replace("'", "&#39;"))
    assert re.search(f"<span>Variance[^<]*{escaped}", page)
    assert re.search(f"<caption><span>Burstiness[^<]*{escaped}", page)
    # Of several traces, the note names the trace.
    other = ssdlab("trace", "info", bursts.name, "--json", "-").json()
    both = of(info, other)["trace-dispersion"].what
    assert f"coarse.csv: {note}" in both
    assert "bursts.csv: fewer than 20 windows of 10 s and 100 s fit into the span" in both
    minutes = trace(coarse.parent / "minutes.csv", [60_000_000 * at for at in range(100)])
    table = ssdlab("trace", "info", minutes.name, coarse.name).out
    assert "\nminutes.csv: windows of 1 s are shorter than the stamps' steps of 60.0 s\n" in table
    text = " ".join(ssdlab("trace", "info", minutes.name).out.split())
    assert "phases no figure: a second is shorter than the stamps' steps" in text


def test_a_trace_that_ends_in_a_burst_has_no_figure_of_windows_without_it(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    times = [100_000 * at for at in range(400)] + [40_000_000 + 100 * at for at in range(401)]
    trace(tmp_path / "last.csv", times)
    found = ssdlab("trace", "info", "last.csv", "--json", "-").json()["burstiness"]
    missed = [row["window_s"] for row in found["left_out"] if row["why"] == "burst_at_end"]
    assert missed == [0.1, 1]
    out = ssdlab("trace", "info", "last.csv").out
    assert "\nwindows of 100 ms and 1 s lack the burst with which the trace ends\n" in out


def test_runs_and_phases_in_figures_and_in_words(ssdlab: Ssdlab, bursts: Path) -> None:
    found = ssdlab("trace", "info", bursts.name, "--json", "-").json()["burstiness"]
    reads, writes = found["read_runs"], found["write_runs"]
    assert (reads["runs"], reads["mean_requests"], reads["points"]) == (51, 50, [[50, 1]])
    assert (writes["runs"], writes["p99_requests"]) == (51, 10)
    assert found["phases"] == {
        "seconds": 50,
        "read_share": 0,
        "write_share": 0,
        "correlation": None,
    }
    done = ssdlab("trace", "info", bursts.name)
    assert section(done.out, "runs of") == [
        ["reads", "51", "50.0", "50", "50", "50"],
        ["writes", "51", "10.0", "10", "10", "10"],
    ]
    assert "of 50 seconds with requests, 0 % have at least 90 % reads" in done.out
    assert "no correlation of one second with the next" in " ".join(done.out.split())


def test_an_exponent_has_its_interval_and_its_range() -> None:
    hurst = office()["burstiness"]["hurst"]
    assert hurst["low"] < hurst["exponent"] < hurst["high"]
    assert hurst["to_s"] / hurst["from_s"] == 2 ** (hurst["octaves"] - 1)
    text = " ".join(trace_text(office()).split())
    assert f"hurst exponent {hurst['exponent']:.2f} (95 %: {hurst['low']:.2f} to" in text


def test_a_short_trace_says_why_it_has_no_figures(ssdlab: Ssdlab, tmp_path: Path) -> None:
    trace(tmp_path / "few.csv", [0, 10, 20])
    done = ssdlab("trace", "info", "few.csv")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert "dispersion no figure: fewer than 20 windows of 10 ms fit into the span" in text
    assert "hurst no exponent: counts vary on fewer" in text
    assert "phases no figure: fewer than 20 seconds have requests" in text
    assert not any(line.startswith("windows of") for line in done.out.splitlines())
    assert section(done.out, "runs of") == [["reads", "1", "3.00", "3", "3", "3"]]


def test_several_traces_have_the_dispersion_of_a_second() -> None:
    (column,) = [
        column
        for column in trace_columns(example_results.two_traces())
        if column.head == "dispersion (1 s)"
    ]
    assert column.cells[1] == "–"
    (second,) = [row for row in office()["burstiness"]["windows"] if row["window_s"] == 1]
    assert float(column.cells[0]) == pytest.approx(second["dispersion"], rel=0.005)


def test_dispersion_is_drawn_over_the_window_beside_a_poisson_process() -> None:
    figure = of(office())["trace-dispersion"]
    drawn = [(row["x"], row["dispersion"]) for row in rows(figure) if row["label"]]
    windows = office()["burstiness"]["windows"]
    wanted = [(row["window_s"] * 1e6, pytest.approx(row["dispersion"], 1e-4)) for row in windows]
    assert drawn == wanted
    assert [row["level"] for row in rows(figure) if row["label"] is None] == [1]
    rule, line = figure.chart.to_dict()["layer"]
    assert rule["mark"]["type"] == "rule"
    for layer in (rule, line):
        assert layer["encoding"]["y"]["scale"]["type"] == "log"
    assert line["encoding"]["x"]["scale"]["type"] == "log"
    root = ET.fromstring(drawing.draw(figure)["svg"])
    text = " ".join(root.itertext())
    assert "Index of dispersion" in text
    assert "100 ms" in text


def test_no_dispersion_at_all_stands_where_the_axis_begins(tmp_path: Path) -> None:
    # Eight requests in each 100 ms, so in each longer window, and not in each of 10 ms.
    even = [100_000 * n + 10_000 * m for n in range(400) for m in range(8)]
    (info,) = traces.info([trace(tmp_path / "even.csv", even)])
    dispersions = [row["dispersion"] for row in info["burstiness"]["windows"]]
    assert dispersions[0] > 0
    assert dispersions[1:] == [0, 0]
    figure = of(info)["trace-dispersion"]
    low = figure.chart.to_dict()["layer"][0]["encoding"]["y"]["scale"]["domain"][0]
    assert [row["dispersion"] for row in rows(figure) if row["label"]][1:] == [low, low]


@pytest.mark.parametrize("kind", ["read", "write"])
def test_runs_are_drawn_as_they_are_measured(kind: str) -> None:
    found = [row for row in rows(of(office())[f"trace-runs-{kind}"]) if not row.get("marks")]
    runs = office()["burstiness"][f"{kind}_runs"]
    assert found[-1]["share"] == 1
    below = [row["share"] for row in found if row["x"] <= runs["median_requests"]]
    assert below[-1] >= 0.5 - 1 / 128


def test_equal_lines_keep_their_markers_beside_the_level() -> None:
    near = json.loads(json.dumps(office()))
    near["trace"] = "near.csv"
    for row in near["burstiness"]["windows"]:
        row["dispersion"] *= 1.001
    figure = of(office(), near)["trace-dispersion"]
    _, _, points = figure.chart.to_dict()["layer"]
    assert points["mark"]["type"] == "point"
    assert points["transform"] == [{"filter": "datum.marks && !datum.level"}]
    drawing.draw(figure)


def test_the_page_holds_the_figures_of_bursts() -> None:
    text = Reader(trace_page([office()])).text
    for word in (
        "Burstiness and run lengths",
        "index of dispersion, 10 ms",
        "Hurst exponent",
        "runs of reads",
    ):
        assert word in text


def test_pieces_of_a_trace_are_measured_alike(ssdlab: Ssdlab) -> None:
    whole = ssdlab("trace", "info", OFFICE, "--json", "-").json()["burstiness"]
    ssdlab("trace", "convert", OFFICE, "office.parquet")
    again = ssdlab("trace", "info", "office.parquet", "--json", "-").json()["burstiness"]
    assert whole == again
