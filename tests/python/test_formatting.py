"""The parts of the package that need no drive."""

import io
import math
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import example_results
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ssdlab import Plan, sweep
from ssdlab.cli.options import parse_vary, split_list
from ssdlab.confidence import interval, t_975
from ssdlab.files import OutputFile
from ssdlab.plan import toml_value
from ssdlab.progress import ProgressLine, progress_text
from ssdlab.render.formatting import WIDTH, amount, bar, digits, ratio, share, span
from ssdlab.render.text.comparison import _merged_notes
from ssdlab.render.text.notes import workload_label
from ssdlab.render.text.table import Column, format_table
from ssdlab.result import MixMember, flat_figures
from ssdlab.sweeps import seed_groups


@pytest.mark.parametrize(
    ("us", "expected"),
    [
        (0, "0 µs"),
        (0.0409, "40.9 ns"),
        (1, "1.00 µs"),
        (99.96, "100 µs"),
        (842.4, "842 µs"),
        (999.6, "1.00 ms"),
        (12_345, "12.3 ms"),
        (999_999, "1.00 s"),
        (98_765_432, "98.8 s"),
        (123_456_789_000, "123,000 s"),
    ],
)
def test_a_span_has_three_digits_and_a_unit(us: float, expected: str) -> None:
    assert span(us) == expected


@given(some.floats(1e-3, 1e12))
def test_digits_are_right_to_half_of_the_last(value: float) -> None:
    written = float(digits(value).replace(",", ""))
    assert math.isclose(written, value, rel_tol=0.0051)


@pytest.mark.parametrize(
    ("value", "expected"), [(999, "999"), (999.6, "1.00 k"), (1_090_000, "1.09 M"), (5e9, "5.00 G")]
)
def test_an_amount(value: float, expected: str) -> None:
    assert amount(value) == expected


def test_shares_and_bars() -> None:
    assert [share(value) for value in (0, 0.044, 0.5, 1)] == ["0 %", "4.4 %", "50 %", "100 %"]
    assert [share(value) for value in (0.0001, 0.000099, 7e-9)] == ["0.010 %", *["< 0.01 %"] * 2]
    assert (bar(0), bar(1, 4), bar(0.5, 4), bar(1 / 32, 4)) == ("", "████", "██", "▏")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (73_600, "×1.00"),
        (42_688, "×0.58"),
        (7360, "×0.10"),
        (6403, "×0.087"),
        (268, "×0.0036"),
        (0.1, "×0.0000014"),
        (0, "×0"),
        (2_321_344, "×31.54"),
    ],
)
def test_a_ratio_has_two_digits_however_small(value: float, expected: str) -> None:
    assert ratio(value, 73_600) == expected
    assert not ratio(value, 0)


@given(some.lists(some.integers(1, 60), min_size=1, max_size=9), some.integers(1, 30))
def test_a_table_is_no_wider_than_80_unless_a_column_is(widths: list[int], label: int) -> None:
    columns = [Column("h", ["x" * width]) for width in widths]
    lines = format_table(Column("", ["l" * label]), columns).splitlines()
    assert max(map(len, lines)) <= max(WIDTH, label + 2 + max(widths))
    assert sum(line.count("h") for line in lines) == len(widths)


def test_student_t_against_its_published_values() -> None:
    # NIST/SEMATECH e-Handbook, table 1.3.6.7.2, column 0.975.
    published = {1: 12.706, 4: 2.776, 9: 2.262, 30: 2.042, 40: 2.021, 60: 2.000, 100: 1.984}
    for freedom, value in published.items():
        assert round(t_975(freedom), 3) == pytest.approx(value, abs=1e-3), freedom


def test_an_interval_worked_out_by_hand() -> None:
    # Mean 3, deviation √(10/4), error of the mean √(2.5/5), t for 4 degrees of freedom.
    found = interval([1, 2, 3, 4, 5])
    assert found.mean == 3
    assert found.half_width_95 == pytest.approx(2.776 * math.sqrt(0.5))
    assert interval([7]).half_width_95 is None


def test_a_sweep_is_every_combination_in_order() -> None:
    plans = sweep(
        Plan(seed=5),
        schemes=["conventional", "dlv"],
        vary={"timing.read": ["1us", "2us"], "background.gc.hard_threshold": [0.1]},
        seeds=2,
    )
    assert [plan.label for plan in plans[::2]] == [
        "conventional, read=1us, hard_threshold=0.1",
        "conventional, read=2us, hard_threshold=0.1",
        "dlv, read=1us, hard_threshold=0.1",
        "dlv, read=2us, hard_threshold=0.1",
    ]
    assert [plan.seed for plan in plans] == [5, 6] * 4
    assert plans[0].set == ["timing.read=1us", "background.gc.hard_threshold=0.1"]
    assert seed_groups(plans) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_a_label_tells_keys_of_the_same_name_apart() -> None:
    plans = sweep(Plan(), vary={"background.gc.share": ["1", "2"], "start.share": ["3"]})
    assert plans[0].label == "gc.share=1, start.share=3"


def test_lists_and_settings_of_the_command_line() -> None:
    assert split_list("--x", 'a, [1, 2],"b,c",{ d = 1, e = 2 }') == [
        "a",
        "[1, 2]",
        '"b,c"',
        "{ d = 1, e = 2 }",
    ]
    assert parse_vary(["a.b=1,2", "c=3"]) == {"a.b": ["1", "2"], "c": ["3"]}
    assert [toml_value(value) for value in (True, 0.5, "5%", ["a", 1])] == [
        "true",
        "0.5",
        "5%",
        '["a", 1]',
    ]


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    OutputFile("--json", str(path)).write("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        OutputFile("--json", str(tmp_path / "out.json")).write("new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("out.json")
    OutputFile("--json", str(tmp_path / "link")).write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out.json").read_text() == "new"


def test_a_device_is_written_in_place() -> None:
    OutputFile("--json", "/dev/null").write("gone")
    assert Path("/dev/null").is_char_device()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_alone() -> None:
    runs = [(0.5, 1_200_000, False, False), (1.0, 800_000, False, True)]
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with ProgressLine(stream) as line:
            line(runs)
    assert pipe.getvalue() == ""
    assert terminal.getvalue().startswith("\r█")
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert progress_text(runs).endswith("75%  1 of 2 runs  2.00 M requests")
    assert "preparing the drive, 30% of a capacity" in progress_text([(0.3, 0, True, False)])
    unknown = [(None, 1000, False, False), (0.5, 1000, False, False)]
    assert progress_text(unknown) == "0 of 2 runs  2.00 k requests"


def test_a_log_gets_progress_lines_if_it_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("ssdlab.progress.time.monotonic", lambda: clock[0])
    log, quiet = io.StringIO(), io.StringIO()
    with ProgressLine(log, every_s=60) as line, ProgressLine(quiet) as other:
        for at, done in ((0, 0), (59, 1), (61, 2), (119, 3), (130, 4)):
            clock[0] = at
            runs = [(1.0, 0, False, True)] * done + [(0.0, 0, False, False)] * (5 - done)
            line(runs)
            other(runs)
    assert log.getvalue() == "2 of 5 runs\n4 of 5 runs\n"
    assert quiet.getvalue() == ""


def test_notes_that_all_runs_share_are_printed_once() -> None:
    notes = list(_merged_notes([("a", ["both", "one"]), ("b", ["both"])]))
    assert notes == ["both", "a: one"]


def test_a_workload_is_named_with_its_trace_format() -> None:
    def label_of(workload: str, **made: Any) -> str:
        provenance = replace(example_results.one().provenance, **made)
        return workload_label(
            replace(example_results.one(), workload=workload, provenance=provenance)
        )

    assert label_of("a.csv.gz", trace_format="msr") == "a.csv.gz (msr)"
    assert label_of("a.csv.gz:msr", trace_format="msr") == "a.csv.gz:msr"
    assert label_of("zipf", trace_format=None) == "zipf"
    made = {"trace_format": "ssdlab", "twins": ["a (twin of x)", "b (twin of y)"]}
    held = "m.csv with a (twin of x), b (twin of y)"
    assert label_of(held, **made) == "m.csv (ssdlab) with a (twin of x), b (twin of y)"
    trace = MixMember("low", "b.csv", None, "0", 0, 1.0, 0.0, 0, "spc")
    twin = replace(trace, name="high", twin="twin of hm_0 (DLV)", trace_format=None)
    mixed = label_of("mix of high + low", trace_format=None, mix=[twin, trace])
    assert mixed == "mix of high (twin of hm_0 (DLV)) + low (spc)"


def test_figures_of_a_result_leave_out_how_it_was_made() -> None:
    data = {"read": {"x": 1.5}, "partial": True, "sim": {"wall_s": 1}, "waf": None, "gc": 3}
    assert flat_figures(data) == {"read.x": 1.5, "gc": 3}
