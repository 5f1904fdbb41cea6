"""The report as a page: what is in it; how a browser shows it, tests/browser says."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import example_results
import pytest
from command import OFFICE, Ssdlab

import ssdlab
from ssdlab.render.figures.base import runs_of
from ssdlab.render.figures.blame import part_of
from ssdlab.render.formatting import span
from ssdlab.render.html import tables
from ssdlab.render.html.comparison import comparison_page
from ssdlab.render.text.comparison import summaries
from ssdlab.render.text.run import figure_lines
from ssdlab.result import Earlier, Slow

LEAST = ("--limit", 2000)


class Reader(HTMLParser):
    """Collects what a test asks about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text += data


def test_a_page_loads_nothing_from_elsewhere() -> None:
    text = example_results.page_of_two()
    reader = Reader(text)
    for tag, attributes in reader.tags:
        for name in ("src", "href", "srcset", "data", "action", "poster"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}, tag
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "@import" not in style
    assert "url(" not in style
    (policy,) = [
        attributes["content"]
        for tag, attributes in reader.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy


def test_a_label_is_text_and_nothing_else() -> None:
    text = example_results.page_of_two()
    assert example_results.SHARP not in text
    reader = Reader(text)
    assert example_results.SHARP in reader.text
    assert len(reader.scripts) == 2
    (data,) = [script for script in reader.scripts if script.startswith('{"data"')]
    assert any(
        example_results.SHARP in json.dumps(row).replace('\\"', '"')
        for row in json.loads(data)["data"].values()
    )


def test_every_figure_has_its_place_and_data() -> None:
    reader = Reader(example_results.page_of_two())
    (data,) = [script for script in reader.scripts if script.startswith('{"data"')]
    whole = json.loads(data)
    places = {attributes.get("id") for _, attributes in reader.tags}
    assert len(whole["figures"]) > 15
    for figure in whole["figures"]:
        assert figure["id"] in places
        assert whole["data"][figure["data"]]


def test_a_page_says_once_that_tails_rest_on_few_requests() -> None:
    alone, several = (
        Reader(text).text
        for text in (
            comparison_page(ssdlab.Comparison([example_results.one()])),
            example_results.page_of_two(),
        )
    )
    requests = example_results.one().read.requests
    note = f"few reads: p99.9 rests on the slowest {max(requests // 1000, 1)} of {requests:,}"
    for text, scope in ((alone, ""), (several, " in every run")):
        assert (
            text.count(note + scope) == text.count("few reads:") == text.count("few writes:") == 1
        )
    assert f"{note} in" not in alone


def test_the_legend_of_a_page_is_dashed_as_its_lines_are() -> None:
    one = example_results.one()
    text = comparison_page(ssdlab.Comparison([one, example_results.busy()]))
    legend = re.findall(r'var\(--run-(\d)\)".*?stroke-dasharray="([\d ]+)"', text)
    assert {("0", "1 0"), ("1", "5 3")} == set(legend)


def test_the_contents_list_every_section() -> None:
    for text in (
        example_results.page_of_two(),
        comparison_page(ssdlab.Comparison([example_results.one()])),
    ):
        listed = re.search("<nav.*?</nav>", text, re.DOTALL)
        assert listed
        links = re.findall('<a href="#([^"]+)">([^<]+)</a>', listed[0])
        headings = re.findall('<h2 id="([^"]+)">([^<]+)</h2>', text)
        assert sorted(links) == sorted(headings)
        assert "Printed results" in dict(headings).values()


def test_the_data_of_every_figure_but_maps_can_be_saved() -> None:
    reader = Reader(example_results.page_of_two())
    saved = [attributes["data-figure"] for tag, attributes in reader.tags if tag == "button"]
    (data,) = [script for script in reader.scripts if script.startswith('{"data"')]
    whole = json.loads(data)
    assert saved == [figure["id"] for figure in whole["figures"] if not figure["canvas"]]


def test_the_page_has_less_than_three_megabytes() -> None:
    assert len(example_results.page_of_two().encode()) < 3_000_000


def test_the_page_can_be_read_without_eyes_or_mouse() -> None:
    reader = Reader(example_results.page_of_two())
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("h1") == tags.count("main") == 1
    assert tags.count("caption") == tags.count("table") > 4
    assert all(
        attributes.get("scope") in {"row", "col"} for tag, attributes in reader.tags if tag == "th"
    )
    assert tags.index("a") < tags.index("h1")
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    assert all(link and link.removeprefix("#") in ids for link in links)
    for tag, attributes in reader.tags:
        if attributes.get("class") == "chart":
            assert (tag, attributes["role"]) == ("div", "img")
            assert attributes["aria-label"]


def test_the_page_has_the_provenance_of_each_result() -> None:
    text = Reader(example_results.page_of_two()).text
    for result in example_results.two():
        made = result.provenance
        for fact in (made.config_hash, made.trace_sha256, result.results_digest, made.version):
            assert fact
            assert fact in text
    assert '"fifo"' in text
    assert '"limit": 3000' in text


def test_the_page_has_the_printed_table() -> None:
    text = Reader(example_results.page_of_two()).text
    for summary in summaries(example_results.two()):
        for column in summary.columns:
            for cell in column.cells:
                assert " ".join(cell.split()) in text


def test_the_page_has_the_printed_lines_of_each_run() -> None:
    text = Reader(example_results.page_of_two()).text
    for result in example_results.two():
        lines = list(figure_lines(result))
        assert any(line.startswith("GC ") for line in lines)
        for line in lines:
            assert " ".join(line.split()) in " ".join(text.split())


def test_a_partial_result_says_so_at_the_top() -> None:
    text = comparison_page(ssdlab.Comparison([example_results.partial()]))
    assert "PARTIAL: stopped after 3,000 requests" in text[: text.index("<main")]


def test_the_table_of_parts_has_a_column_for_every_bar() -> None:
    runs = runs_of(ssdlab.Comparison([example_results.queued()]))
    table = tables.blame(runs)
    queues = [f"{kind}: queue {at}" for kind in ("reads", "writes") for at in (0, 1)]
    assert table.heads == ["part", *queues, "meaning"]
    assert example_results.queued().queues
    means = [
        span(getattr(queue, kind).latency_us.mean)
        for kind in ("read", "write")
        for queue in example_results.queued().queues or ()
    ]
    assert table.rows[-1] == ["sum (mean latency)", *means, ""]
    one = tables.blame(runs_of(ssdlab.Comparison([example_results.one()])))
    assert one.heads == ["part", "reads", "writes", "meaning"]


def test_what_made_a_request_slow_is_named_the_largest_first() -> None:
    detail = example_results.busy().detail
    assert detail is not None
    (table,) = [
        tables.slowest(run, False) for run in runs_of(ssdlab.Comparison([example_results.busy()]))
    ]
    assert len(table.rows) == 20
    slow = detail.slowest[0]
    largest = max(slow.blame_us, key=lambda name: slow.blame_us[name])
    assert table.rows[0][2].startswith(part_of(largest).name)
    shares = [int(number) for number in re.findall(r"\((\d+) %\)", table.rows[0][2])]
    assert shares == sorted(shares, reverse=True)


def test_a_wait_for_a_page_names_the_earlier_operation_and_what_it_did() -> None:
    page = {"die_gc": 3000.0, "program": 800.0, "transfer": 10.0}
    slow = Slow(
        number=8,
        arrival_s=0.5,
        kind="read",
        queue=0,
        lba=64,
        sectors=8,
        latency_us=4000.0,
        blame_us={"page": 3810.0, "sense": 190.0},
        behind=Earlier("write", 1234),
        page_blame_us=page,
    )
    assert tables.why(slow) == (
        "same page 3.81 ms (95 %) behind write 1,234: [die (GC) 3.00 ms, program 800 µs], "
        "sense 190 µs (4.8 %)"
    )
    of_buffer = replace(slow, behind=Earlier("buffer", None))
    assert " behind the buffer: [die (GC) 3.00 ms" in tables.why(of_buffer)
    alone = replace(slow, behind=None, page_blame_us={})
    assert tables.why(alone) == "same page 3.81 ms (95 %), sense 190 µs (4.8 %)"


def test_the_slowest_requests_of_a_page_wait_for_one_another(tmp_path: Path) -> None:
    trace = tmp_path / "same.csv"
    rows = [f"{at},a,W,0,4096" for at in range(30)]
    trace.write_text("\n".join(["time_us,dev,op,offset_bytes,size_bytes", *rows, ""]))
    detail = ssdlab.run(trace=str(trace), detail=True, set={"geometry.page_size": "4KiB"}).detail
    assert detail is not None
    for slow in detail.slowest:
        assert slow.behind == Earlier("write", slow.number - 1)
        assert sum(slow.page_blame_us.values()) == pytest.approx(slow.blame_us["page"])


def test_the_tables_of_the_blame_end_with_the_mean() -> None:
    (run,) = runs_of(ssdlab.Comparison([example_results.one()]))
    assert tables.blame([run]).rows[-1][0] == "sum (mean latency)"


def test_runs_of_the_same_latencies_are_named() -> None:
    runs = runs_of(ssdlab.Comparison([example_results.one(), example_results.one()]))
    notes = tables.notes(ssdlab.Comparison([example_results.one(), example_results.one()]), runs)
    assert "the same latencies: conventional (1); conventional (2)" in notes


# The command.


def test_a_report_and_figures_beside_what_is_printed(ssdlab: Ssdlab, tmp_path: Path) -> None:
    done = ssdlab("run", "--trace", OFFICE, *LEAST, "--report", "r.html", "--figures", "figures")
    assert (done.code, done.err) == (0, "")
    assert "latency" in done.out
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "figures" / "latency-cdf-read.pdf").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"r.html", "figures"}


def test_a_report_changes_no_figure(ssdlab: Ssdlab) -> None:
    plain = ssdlab("run", *LEAST, "--json", "-").json()["results"][0]
    reported = ssdlab("run", *LEAST, "--json", "-", "--report", "r.html").json()["results"][0]
    assert reported["results_digest"] == plain["results_digest"]
    assert "detail" in reported
    assert "detail" not in plain


def test_a_report_of_several_runs_and_seeds(ssdlab: Ssdlab, tmp_path: Path) -> None:
    vary = ("--vary", "scheduler=fifo,read_first", "--seeds", 2)
    done = ssdlab("compare", *vary, *LEAST, "--report", "r.html")
    assert (done.code, done.err) == (0, "")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "means over 2 seeds" in text
    assert "±" in text


def test_a_log_a_series_and_a_timeline(ssdlab: Ssdlab, tmp_path: Path) -> None:
    files = ("--log", "l.parquet", "--series", "s.parquet", "--timeline", "t.json")
    done = ssdlab("run", *LEAST, *files, "--interval", "10ms", "--timeline-span", "1ms")
    assert (done.code, done.err) == (0, "")
    for name in ("l.parquet", "s.parquet"):
        content = (tmp_path / name).read_bytes()
        assert (content[:4], content[-4:]) == (b"PAR1", b"PAR1")
    timeline: Any = json.loads((tmp_path / "t.json").read_text())
    assert timeline
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("folder", [".", "there"])
def test_figures_keep_other_files_of_their_folder(
    ssdlab: Ssdlab, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "there").mkdir()
    kept = tmp_path / folder / "kept.txt"
    kept.write_text("kept")
    assert ssdlab("run", *LEAST, "--figures", folder).code == 0
    assert kept.read_text() == "kept"
    assert (tmp_path / folder / "blame-read.svg").exists()
