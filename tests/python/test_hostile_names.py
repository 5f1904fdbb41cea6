"""Names that mean mischief, or only look so, in all that shows them."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import altair as alt
import example_results
import pyarrow.parquet as pq
import pytest
from command import OFFICE, Ssdlab

import ssdlab
from ssdlab import escaping, traces
from ssdlab.render.figures import base, drawing, ldpc, vega_names
from ssdlab.render.figures.base import Figure, runs_of
from ssdlab.render.figures.report import comparison_figures
from ssdlab.render.html.comparison import comparison_page
from ssdlab.render.html.traces import trace_page
from ssdlab.result import Comparison, Result

FILE = "\x1b[31mred\u2028\u202e</script> constructor.csv.xz"
KINDS = {"latency-cdf-read", "percentiles-read", "blame-read", "time-mean-read", "programs"}
SVG = "{http://www.w3.org/2000/svg}"
LABELS = tuple(label for label in example_results.HOSTILE if escaping.is_utf8(label))


def of(comparison: Comparison) -> list[Figure]:
    """The figures that all runs share, one of each kind."""
    return [one for one in comparison_figures(comparison) if one.name in KINDS]


def marks(svg: bytes) -> int:
    return len(re.findall(rb'<path [^>]*d="M', svg))


def test_every_figure_has_the_marks_that_it_has_under_plain_names() -> None:
    labels = example_results.HOSTILE[:8]
    drawings = [
        [
            *of(example_results.called(example_results.queued(), names)),
            *(
                one
                for one in of(example_results.called(example_results.busy(), names))
                if one.name == "programs"
            ),
        ]
        for names in ([f"run {at}" for at, _ in enumerate(labels)], labels)
    ]
    plain, hostile = drawings
    assert {one.name for one in hostile} == KINDS
    contents = drawing.draw_all([*plain, *hostile], ["svg"])
    for figure, expected, found in zip(plain, contents, contents[len(plain) :], strict=False):
        assert marks(found["svg"]) == marks(expected["svg"]) > 5, figure.name


def test_files_of_figures_are_well_formed_and_say_what_they_show() -> None:
    figure = of(example_results.called(example_results.one(), example_results.HOSTILE[4:7]))[0]
    title = "".join(example_results.HOSTILE[:8])
    odd = escaping.escape_name(title)
    files = drawing.draw(replace(figure, title=title, subject=title))
    root = ET.fromstring(files["svg"])
    assert root[0].text == odd
    assert b"iTXtTitle" + bytes(5) + odd.encode() in files["png"]
    assert ("\ufeff" + odd).encode("utf-16-be").hex().encode() in files["pdf"]


def test_a_drawing_distinguishes_unescaped_names() -> None:
    names = ["\x1b", "\\x1b", "constructor", "a\nb"]
    data = base.inline_data([{"label": name, "x": 1, "kind": "\x00"} for name in names])
    lines = [ldpc.Line(name) for name in names]
    x = alt.X("x:Q", title="\uffff")
    chart = alt.Chart(data).mark_bar().encode(x=x, color=base.color(lines))
    spec = vega_names.vega_spec(chart)
    (rows,) = spec["datasets"].values()
    visible = ["\\x1b (1)", "\\x1b (2)", "constructor", "a\\x0ab"]
    assert [row["label"] for row in rows] == spec["params"][0]["value"] == visible
    assert {row["kind"] for row in rows} == {"\\x00"}
    assert spec["encoding"]["x"]["title"] == "\\uffff"
    assert spec["encoding"]["color"]["scale"]["domain"] == [0, 1, 2, 3]
    svg = drawing.draw(Figure("name", "section", "title", "what", chart, [], 0))["svg"]
    texts = ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]
    assert [text for text in texts if text in visible] == visible


def test_no_name_is_a_part_of_a_drawing_but_as_data() -> None:
    labels = [f"name {at} of a run" for at in range(3)]
    for figure in comparison_figures(example_results.called(example_results.busy(), labels)):
        spec = vega_names.vega_spec(figure.chart)
        for data in ("datasets", "params"):
            spec.pop(data, None)
        assert "of a run" not in json.dumps(spec), figure.name


def test_hostile_labels_are_printed_as_visible_text() -> None:
    names = [escaping.display_label(label or "conventional") for label in LABELS]
    hostile, plain = (
        ssdlab.compare([ssdlab.Plan(trace=OFFICE, limit=200, label=label) for label in labels])
        for labels in (LABELS, names)
    )
    assert str(hostile) == str(plain) == escaping.escape(str(plain))
    # What is kept is what was given.
    assert [each["label"] for each in json.loads(hostile.to_json())["results"]] == list(LABELS)


def test_half_a_character_is_refused_in_a_line() -> None:
    with pytest.raises(
        ssdlab.InputError, match=r"\Alabel: got '\\ud800', expected a text in UTF-8"
    ):
        ssdlab.run(workload="random", limit=100, label="\ud800")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A trace in a file with a hostile name."""
    return Path(shutil.copy(OFFICE, tmp_path / FILE.replace("/", ":")))


def test_a_file_of_any_name_is_named_in_messages(ssdlab: Ssdlab, odd: Path, tmp_path: Path) -> None:
    kept = {
        f"--{name}": tmp_path / f"kept.{name}"
        for name in ("json", "report", "log", "series", "timeline", "figures")
    }
    outputs = [part for option, path in kept.items() for part in (option, path)]
    done = ssdlab("run", "--trace", odd, "--limit", 500, *outputs)
    assert (done.code, done.err) == (0, "")
    assert escaping.escape(done.out) == done.out
    assert escaping.escape_name(odd.name) in done.out
    assert json.loads(kept["--json"].read_text())["results"][0]["workload"] == str(odd)
    json.loads(kept["--timeline"].read_text())
    for table in ("--log", "--series"):
        metadata = pq.read_metadata(kept[table]).metadata
        assert metadata[b"ssdlab.workload"].decode() == str(odd)
    for svg in kept["--figures"].glob("*.svg"):
        assert escaping.escape_name(odd.name) in (ET.parse(svg).getroot()[1].text or "")
    assert "\x1b" not in kept["--report"].read_text()


def test_a_trace_of_any_name_is_looked_at(ssdlab: Ssdlab, odd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out\x1b.csv"
    for words in (("info", odd), ("info", odd, OFFICE), ("convert", odd, out)):
        done = ssdlab("trace", *words, "--limit", 500)
        assert done.code == 0
        assert escaping.escape(done.out) == done.out
        assert escaping.escape(done.err) == done.err
    text = trace_page(traces.info([odd, OFFICE], traces.Reading(limit=500)))
    assert escaping.escape_name(odd.name).replace("<", "&lt;").replace(">", "&gt;") in text


def test_names_of_a_page_are_each_in_one_place() -> None:
    """Labels that look the same are told apart in legends, tables and drawings alike."""
    runs = runs_of(example_results.called(example_results.one(), ["same", " same\u200b", "same"]))
    assert [run.label for run in runs] == ["same (1)", "same\\u200b", "same (2)"]


def test_a_result_of_any_label_is_drawn() -> None:
    raw = example_results.one().to_dict()
    for label in ("\ud800", "\x00"):
        text = comparison_page(Comparison([Result.from_dict({**raw, "label": label, "vary": {}})]))
        assert label not in text
        text.encode()
