"""Tables that generators fill say what their recorded files say."""

import json
from copy import deepcopy
from pathlib import Path

import pytest
from command import ROOT, load_module

from ssdlab_reproduction.tables.common import UnmarkedError, fill

GENERATORS = ROOT / "docs" / "generators"


def below(name: str, mark: str) -> str:
    """Return what a page has below a generator's mark."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return page.partition(mark)[2].strip()


def test_the_tables_of_scale_are_those_of_its_raw_values() -> None:
    scale = load_module(GENERATORS / "scale_table.py")
    about, sections = scale.contents(json.loads(scale.RAW.read_text(encoding="utf-8")))
    lines = [line for title, own in sections for line in (f"### {title}", "", *own)]
    assert below("project/performance.md", scale.MARK) == "\n".join([about, "", *lines]).strip()


def filled(page: str, tables: dict[str, list[str]]) -> str:
    for name, lines in tables.items():
        page = fill(page, name, lines)
    return page


def test_the_tables_of_buffers_are_those_of_its_recorded_results() -> None:
    buffers = load_module(GENERATORS / "buffers_table.py")
    page = buffers.PAGE.read_text(encoding="utf-8")
    recorded = json.loads(buffers.RECORDED.read_text(encoding="utf-8"))
    assert filled(page, buffers.tables(recorded)) == page, "run `make buffers`"
    changed = deepcopy(recorded)
    changed["traces"][1]["cells"][3]["hit_ratio"] += 0.01
    assert filled(page, buffers.tables(changed)) != page


def test_what_the_page_of_buffers_says_of_its_tables_holds() -> None:
    buffers = load_module(GENERATORS / "buffers_table.py")
    recorded = json.loads(buffers.RECORDED.read_text(encoding="utf-8"))
    for trace in recorded["traces"]:
        left = {(one["buffer.size"], one["eviction"]): one for one in trace["cells"]}
        for size in buffers.SIZES:
            dirty = {name: left[size, name]["evicted_dirty"] for name in buffers.POLICIES}
            for name in ("cflru", "lru_wsr", "ccf_lru"):
                assert dirty[name] < dirty["lru"], (trace["name"], size, name)
            is_financial = trace["name"].startswith("spc_financial1")
            assert (dirty["pt_lru"] > dirty["lru"]) == is_financial
        assert left["16MiB", "lru"]["hit_ratio"] > left["1MiB", "lru"]["hit_ratio"]


def test_the_tables_of_validation_are_those_of_its_recorded_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "validation")
    validation = load_module(GENERATORS / "validation_table.py")
    page = validation.PAGE.read_text(encoding="utf-8")
    theory, ours = validation.load(validation.THEORY), validation.load(validation.MQSIM)
    assert filled(page, validation.tables(theory, ours)) == page
    for at in range(len(theory["lines"])):
        changed = deepcopy(theory)
        changed["lines"][at][1] *= 1.5
        what = theory["lines"][at][0]
        is_shown = " 16 pages" not in what or what.startswith("Random, 7 %")
        is_shown &= what != "backlog"
        assert (filled(page, validation.tables(changed, ours)) != page) == is_shown, what
    for name in ours["cases"]:
        changed = deepcopy(ours)
        changed["cases"][name]["as_mqsim"]["response_us"] += 1
        assert filled(page, validation.tables(theory, changed)) != page, name


def test_what_the_tests_of_theory_print_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "validation")
    validation = load_module(GENERATORS / "validation_table.py")
    monkeypatch.setattr(validation, "_fifo_of_few_pages", lambda: [1.0, 2.0])
    printed = (
        "running 2 tests\ntest theory::queueing::a ... M/D/1 at 0.2: measured 11.9177, theory"
        " 11.8750, +0.36 %\nM/D/1 at 0.4: measured 31.8626, theory 31.6667, +0.62 %\nok\n"
    )
    assert validation.record_theory(printed)["lines"] == [
        ["M/D/1 at 0.2", 11.9177, 11.875],
        ["M/D/1 at 0.4", 31.8626, 31.6667],
    ]


def test_our_figures_beside_those_of_mqsim_are_those_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "validation")
    validation = load_module(GENERATORS / "validation_table.py")
    recorded = validation.load(validation.MQSIM)["cases"]["r-unloaded"]
    trace = validation.traces.write(tmp_path, "r-unloaded")
    found = validation._figures(validation.mqsim.replay("r-unloaded", trace, as_mqsim=True))
    assert found == recorded["as_mqsim"], "run `make validation`"


@pytest.mark.parametrize("page", ["", "<!-- a: written by x -->\n<!-- end of b -->\n"])
def test_a_page_without_a_place_for_a_table_is_refused(page: str) -> None:
    with pytest.raises(UnmarkedError, match="a: got 0 places, expected one"):
        fill(page, "a", ["| a |"])


def test_the_redesign_costs_at_most_two_percent_of_the_instructions() -> None:
    bench = load_module(GENERATORS / "bench_table.py")
    rows = bench.redesign(bench._newest(bench.REDESIGN))[2:]
    ratios = [float(row.split("|")[-2]) for row in rows]
    assert len(ratios) == 5
    assert max(ratios) <= 1.02
