"""Logarithmic axes: what they label, and how their ends fit the data."""

import math
import re
from itertools import pairwise
from typing import Any

import example_results
import pytest
import vl_convert
from hypothesis import example, given
from hypothesis import strategies as some

from ssdlab.render.figures import drawing, log_axes
from ssdlab.render.figures.base import Figure
from ssdlab.render.figures.report import comparison_figures
from ssdlab.render.figures.trace import trace_figures
from ssdlab.result import Comparison


def ends(axis: dict[str, Any]) -> tuple[float, float]:
    low, high = axis["scale"].domain
    return low, high


def decades_within(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [ten for power in powers if low <= (ten := float(f"1e{power}")) <= high]


RATIOS = some.floats(1, 10**4.5)


@given(some.floats(1e-3, 1e9), RATIOS, some.booleans())
@example(50.0, 40.0, False)
@example(87.0, 13.1, False)
@example(110.0, 2.0, True)
def test_an_axis_labels_every_decade_and_at_least_three_values(
    least: float, times: float, upright: bool
) -> None:
    axis = log_axes.latency_axis("Latency", least, least * times, upright=upright)
    low, high = ends(axis)
    labels = axis["axis"]["values"]
    assert 3 <= len(labels) <= 10
    assert labels == sorted(set(labels))
    assert all(low * 0.999 <= label <= high * 1.001 for label in labels)
    assert set(decades_within(low, high)) <= set(labels)
    # No label is so near its neighbor that one of them is left out.
    least_gap = min(math.log(b / a) for a, b in pairwise(labels)) / math.log(high / low)
    assert least_gap > (0.09 if upright else 0.16)


@given(some.floats(1e-3, 1e9), some.floats(0, 12))
def test_an_axis_fits_its_data(least: float, decades: float) -> None:
    most = least * 10**decades
    low, high = ends(log_axes.log_axis("Latency", least, most))
    assert low <= least * 1.00001
    assert high >= most * 0.99999
    # A tenth of the range on either side, or a bit more about values that hardly differ.
    assert math.log(high / low) < 1.15 * math.log(most / least) + math.log(1.25)


@given(some.floats(1e-9, 1), some.floats(5.5, 15), some.booleans())
def test_a_long_axis_labels_decades_at_equal_distances(
    least: float, decades: float, upright: bool
) -> None:
    axis = log_axes.log_axis("Gap", least, least * 10**decades, upright=upright)
    powers = [math.log10(label) for label in axis["axis"]["values"]]
    assert len(powers) >= 3
    assert all(power == pytest.approx(round(power)) for power in powers)
    assert len({round(b - a) for a, b in pairwise(powers)}) == 1


@given(some.integers(1, 10**6), some.integers(0, 10**6))
def test_counts_have_labels_of_whole_numbers(least: int, more: int) -> None:
    axis = log_axes.count_axis("Pages", least, least + more)
    labels = axis["axis"]["values"]
    assert len(labels) >= 3
    assert all(label == int(label) for label in labels)


def test_an_end_is_a_round_value_that_is_near() -> None:
    assert ends(log_axes.log_axis("Share", 1 / 9994, 1.0)) == (1e-4, 1.0)
    assert ends(log_axes.log_axis("Latency", 110, 220)) == (106.3, 227.8)


def figures() -> list[Figure]:
    found = comparison_figures(Comparison([example_results.one(), example_results.busy()]))
    return [*found, *trace_figures(example_results.two_traces())]


def axes_of(figure: Figure) -> list[dict[str, Any]]:
    spec = figure.chart.to_dict()
    parts = [spec, *spec.get("layer", ())]
    channels = [part.get("encoding", {}).get(name) for part in parts for name in ("x", "y")]
    return [each["axis"] for each in channels if each and "log" in str(each.get("scale"))]


def test_a_drawing_shows_every_label_of_its_logarithmic_axes() -> None:
    seen = 0
    for figure in figures():
        labels = {value for axis in axes_of(figure) for value in axis["values"]}
        if not labels:
            continue
        seen += 1
        svg = vl_convert.vegalite_to_svg(drawing.paper_spec(figure), vl_version=drawing.LITE)
        # Of the axes' texts, those that overlap another one are not drawn.
        hidden = re.findall(r'<text[^>]* opacity="0"[^>]*>([^<]*)<', svg)
        assert hidden == [], figure.name
        drawn = re.findall(r"<text[^>]*>([^<]*)<", svg)
        assert len(drawn) >= len(labels), figure.name
    assert seen > 8
