"""The report in a real browser, which reaches no network."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import example_results
import pytest
from chromium import Chromium, Page

from ssdlab import traces
from ssdlab.result import Comparison, Result

NAMES = ("one", "busy", "two", "apps", "trace", "traces")
CHARTS_LEAST = {"trace": 7, "traces": 7}
WIDTHS = (360, 1280)
DRAWN = "document.documentElement?.dataset.drawn"

# For each chart: its name, how many drawings it holds, how many marks of data, and its size.
CHARTS = """
[...document.querySelectorAll('.chart')].map(chart => {
  const drawing = chart.querySelector('svg, canvas');
  const box = drawing?.getBoundingClientRect();
  return {
    name: chart.id,
    drawings: chart.querySelectorAll('svg, canvas').length,
    width: box?.width ?? 0,
    height: box?.height ?? 0,
    room: chart.getBoundingClientRect().width,
    inked: drawing?.tagName === 'CANVAS'
      ? new Set(drawing.getContext('2d').getImageData(
          0, 0, drawing.width, drawing.height).data).size > 8
      : (chart.querySelectorAll('.mark-line path, .mark-rect path, .mark-symbol path').length > 0),
  };
})
"""
# How many marks each chart has, of data, axes and legends.
MARKS = """
Object.fromEntries([...document.querySelectorAll('.chart')].map(chart => [
  chart.id,
  [...chart.querySelectorAll('path')].filter(path => path.getAttribute('d')).length,
]))
"""
# What sticks out to the right of the window, though no box scrolls it.
OUTSIDE = """
[...document.body.querySelectorAll('*')]
  .filter(each => !each.closest('.box, pre, .skip, .chart, details:not([open])'))
  .filter(each => each.getBoundingClientRect().right > innerWidth + 0.5)
  .map(each => each.tagName + '.' + each.className)
"""
FOCUSED = """
(() => {
  const at = document.activeElement;
  const ring = getComputedStyle(at);
  return [at.tagName, at.textContent.trim().slice(0, 30), ring.outlineStyle];
})()
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of one run, of a busy one, of two and of two of apps side by side; of traces."""
    folder = tmp_path_factory.mktemp("reports")
    results: dict[str, Result | Comparison] = {
        "one": example_results.one(),
        "busy": example_results.busy(),
        "two": example_results.two(),
        "apps": example_results.prioritized(),
    }
    both = example_results.two_traces()
    for name, infos in (("trace", both[:1]), ("traces", both)):
        traces.report_html(infos, folder / f"{name}.html")
    written = {
        name: example_results.write(folder, f"{name}.html", each) for name, each in results.items()
    }
    return written | {name: folder / f"{name}.html" for name in ("trace", "traces")}


def opened(
    browser: Chromium, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False
) -> Page:
    page = browser.page(width, height, dark)
    page.open(path)
    page.wait(DRAWN)
    return page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_every_chart_is_drawn_and_fits(
    browser: Chromium, reports: dict[str, Path], name: str, width: int
) -> None:
    page = opened(browser, reports[name], width=width)
    charts = page.value(CHARTS)
    assert len(charts) >= CHARTS_LEAST.get(name, 13)
    for chart in charts:
        assert chart["drawings"] == 1, chart
        assert chart["inked"], chart
        assert chart["height"] > 50, chart
        assert 200 < chart["width"] <= chart["room"] + 1, chart
    assert page.complaints() == []


def test_names_that_mean_mischief_leave_every_chart_its_marks(
    browser: Chromium, tmp_path: Path
) -> None:
    labels = example_results.HOSTILE[:8]
    found = []
    for name, names in (("plain", [f"run {at}" for at, _ in enumerate(labels)]), ("odd", labels)):
        path = example_results.write(
            tmp_path, f"{name}.html", example_results.called(example_results.queued(), names)
        )
        page = opened(browser, path)
        assert page.complaints() == []
        assert all(chart["inked"] for chart in page.value(CHARTS))
        found.append(page.value(MARKS))
        text = page.value("document.querySelector('#blame-read').textContent")
        assert all(shown_name in text for shown_name in names[:4])
    plain, odd = found
    assert len(odd) > 20
    # A name at the end of an id is a part of it.
    assert list(odd.values()) == list(plain.values())


def test_a_chart_that_cannot_be_drawn_leaves_the_others(
    browser: Chromium, reports: dict[str, Path], tmp_path: Path
) -> None:
    text = reports["one"].read_text()
    broken = tmp_path / "broken.html"
    broken.write_text(text.replace('"type":"line"', '"type":"none such"', 1))
    charts = opened(browser, broken).value(CHARTS)
    assert [chart["drawings"] for chart in charts].count(0) == 1
    assert all(chart["inked"] for chart in charts if chart["drawings"])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_fetched(browser: Chromium, reports: dict[str, Path], name: str) -> None:
    page = opened(browser, reports[name])
    assert page.requested() == [reports[name].resolve().as_uri()]


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_scrolls_down_alone(browser: Chromium, reports: dict[str, Path], name: str) -> None:
    page = opened(browser, reports[name], width=360, height=640)
    page.value("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert page.value("document.documentElement.scrollWidth") <= 360
    assert page.value(OUTSIDE) == []


TABLES = """
[...document.querySelectorAll('.box')].map(box => {
  const style = getComputedStyle(box);
  return {
    scrolls: box.scrollWidth > box.clientWidth,
    right: box.querySelector('caption span').getBoundingClientRect().right,
    shadows: style.backgroundAttachment,
    overflow: style.overflowX,
  };
})
"""


def test_a_phone_shows_that_a_wide_table_scrolls(
    browser: Chromium, reports: dict[str, Path]
) -> None:
    page = opened(browser, reports["two"], width=390)
    page.value("document.querySelectorAll('details').forEach(each => { each.open = true })")
    tables = page.value(TABLES)
    assert any(table["scrolls"] for table in tables)
    for table in tables:
        assert table["overflow"] == "auto"
        # The shadows stay at the edges of the box; what covers them moves with the table.
        assert table["shadows"] == "local, local, scroll, scroll"
        assert table["right"] <= 390


HIDDEN = """
[...document.querySelectorAll('[id^=latency-], [id^=percentiles-]')].map(chart => [
  chart.id,
  [...chart.querySelectorAll('.role-axis-label text')]
    .filter(text => text.getAttribute('opacity') === '0').map(text => text.textContent),
])
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_of_a_latency_axis_is_left_out(
    browser: Chromium, reports: dict[str, Path], width: int
) -> None:
    for name in ("one", "busy", "two"):
        found = opened(browser, reports[name], width=width).value(HIDDEN)
        assert len(found) >= 6
        assert [each for each in found if each[1]] == []


# The tone of each pattern, and the contrast of WCAG 2 between it and the page.
BARS = """
(() => {
  const light = color => {
    const parts = color.match(/[0-9]+/g).slice(0, 3).map(part => part / 255)
      .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05;
  };
  const back = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('pattern')].map(pattern => {
    const tone = getComputedStyle(pattern.querySelector('path')).fill;
    const pair = [light(tone), back].sort((a, b) => b - a);
    return {id: pattern.id, tone, contrast: pair[0] / pair[1]};
  });
})()
"""
PAINTS = """
[...document.querySelectorAll('#blame-read .mark-rect path, #programs .mark-rect path')]
  .map(path => path.getAttribute('fill'))
"""


def test_bars_stand_out_in_light_and_dark(browser: Chromium, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["busy"])
    tones = []
    for name in ("light", "dark"):
        page.dark(name == "dark")
        page.wait(f"{DRAWN} === '{name}'")
        bars = page.value(BARS)
        assert len(bars) > 5
        assert min(bar["contrast"] for bar in bars) > 3
        tones.append([bar["tone"] for bar in bars])
        paints = set(page.value(PAINTS))
        assert len(paints) > 3
        assert paints <= {f"url(#{bar['id']})" for bar in bars}
    assert all(one != other for one, other in zip(*tones, strict=True))


def test_light_and_dark_and_a_change_while_open(
    browser: Chromium, reports: dict[str, Path]
) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    text = "document.querySelector('.chart svg text').getAttribute('fill')"
    line = "document.querySelector('#latency-cdf-read .mark-line path').getAttribute('stroke')"
    page = opened(browser, reports["one"])
    light = [page.value(what) for what in (back, text, line)]
    page.dark(True)
    page.wait(DRAWN, lambda drawn: drawn == "dark")
    dark = [page.value(what) for what in (back, text, line)]
    assert all(one != other for one, other in zip(light, dark, strict=True))
    assert [page.value(what) for what in (back, text, line)] == dark
    page.dark(False)
    page.wait(DRAWN, lambda drawn: drawn == "light")
    assert [page.value(what) for what in (back, text, line)] == light
    begun = opened(browser, reports["one"], dark=True)
    assert [begun.value(what) for what in (back, text, line)] == dark
    assert all(chart["drawings"] == 1 for chart in page.value(CHARTS))
    assert page.complaints() == []


def test_text_stands_out_in_light_and_dark(browser: Chromium, reports: dict[str, Path]) -> None:
    # WCAG 2 asks for a contrast of at least 4.5.
    contrast = """
    (() => {
      const light = name => {
        const tone = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        const parts = [1, 3, 5].map(at => parseInt(tone.slice(at, at + 2), 16) / 255)
          .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
      };
      return ['--text --back', '--faint --back', '--link --back', '--text --warn']
        .map(pair => pair.split(' ').map(light).sort((a, b) => b - a))
        .map(([high, low]) => (high + 0.05) / (low + 0.05));
    })()
    """
    for dark in (False, True):
        page = opened(browser, reports["one"], dark=dark)
        assert min(page.value(contrast)) >= 4.5


def test_the_keyboard_reaches_everything(browser: Chromium, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["two"])
    page.value("document.querySelectorAll('details').forEach(each => { each.open = false })")
    seen = []
    for _ in range(80):
        page.press_tab()
        focused = page.value(FOCUSED)
        if focused[0] == "BODY":
            break
        seen.append(focused)
    assert seen[0][:2] == ["A", "Skip to the charts"]
    assert all(outline == "solid" for _, _, outline in seen), seen
    summaries = page.value("document.querySelectorAll('summary').length")
    assert sum(tag == "SUMMARY" for tag, _, _ in seen) == summaries > 4
    links = page.value("document.querySelectorAll('a').length")
    assert sum(tag == "A" for tag, _, _ in seen) == links


def test_the_contents_stay_in_sight_where_there_is_room(
    browser: Chromium, reports: dict[str, Path]
) -> None:
    for width, stays in ((1280, True), (360, False)):
        page = opened(browser, reports["two"], width=width)
        page.value("document.querySelector('#origin').scrollIntoView()")
        bottom = page.value("document.querySelector('nav').getBoundingClientRect().bottom")
        heading = page.value("document.querySelector('#origin').getBoundingClientRect().top")
        assert (0 < bottom <= heading) == stays


def test_the_data_of_a_figure_is_saved_as_csv(browser: Chromium, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["two"])
    saved = """
    (async () => {
      let saved = null;
      URL.createObjectURL = (blob) => { saved = blob; return "#saved"; };
      HTMLAnchorElement.prototype.click = function () { this.ownerDocument.title = this.download; };
      document.querySelector('button[data-figure="latency-cdf-read"]').click();
      return [document.title, await saved.text()];
    })()
    """
    name, text = page.value(saved)
    assert name == "latency-cdf-read.csv"
    heads, *rows = csv.reader(text.splitlines())
    assert heads == ["label", "queue", "us", "share"]
    assert {row[0] for row in rows} == {"scheduler=fifo", example_results.SHARP}
    assert float(rows[-1][3]) == 1
    assert page.complaints() == []


def test_a_label_is_shown_and_not_run(browser: Chromium, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["two"])
    assert "alert(" in page.value("document.querySelector('.legend').textContent")
    assert page.value("document.querySelectorAll('script').length") == 2


def test_without_scripts_the_tables_are_there(browser: Chromium, reports: dict[str, Path]) -> None:
    page = browser.page()
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.open(reports["one"])
    rows = "document.querySelectorAll('tbody tr').length"
    # The page is long: its rows come one after the other.
    assert page.wait(f"{rows} > 20")
    assert "does not run" in page.value("document.querySelector('noscript').textContent")


def test_the_page_is_drawn_within_seconds(browser: Chromium, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["two"])
    timing = json.loads(page.value("JSON.stringify(performance.getEntriesByType('navigation')[0])"))
    assert timing["loadEventEnd"] < 30_000
