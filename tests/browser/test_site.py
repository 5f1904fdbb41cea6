"""The built site in a real browser without network, on a desk and on a phone."""

import os
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from chromium import Chromium, Page

from ssdlab.cli.options import RUN_GROUPS

SITE = Path(os.environ.get("SSDLAB_SITE", "build/site")).resolve()
WIDTHS = (390, 1280)
PAGES = (
    "index",
    "start/first-run",
    "start/tutorial",
    "guides/compare",
    "concepts/physics",
    "systems/dlv",
    "reference/config",
    "reference/cli",
    "ledger",
)
READY = "document.readyState === 'complete'"
# Text that sticks out of the window and of every box that scrolls.
OUTSIDE = """
[...document.querySelectorAll('article p, article li, article h1, article h2')]
  .filter(each => !each.closest('table, pre, .table-wrapper'))
  .filter(each => each.getBoundingClientRect().right > innerWidth + 0.5)
  .map(each => each.textContent.slice(0, 60))
"""

# How far the article is wider than its column, in which the theme lets it scroll.
BEYOND_COLUMN = """
(column => column.scrollWidth - column.clientWidth)(document.querySelector('.content'))
"""
# The tables of a page that are wider than their boxes.
WIDE_TABLES = """
[...document.querySelectorAll('article .table-wrapper')]
  .filter(each => each.scrollWidth > each.clientWidth).length
"""
# The widths of the cells that hold more than a few words.
WIDTHS_OF_TEXT = """
[...document.querySelectorAll('article td')]
  .filter(each => each.textContent.length > 60).map(each => each.clientWidth)
"""
WIDTHS_OF_MEANING = """
[...document.querySelectorAll('article td:nth-child(2)')].map(each => each.clientWidth)
"""
# The heading of each column, and what stands before its cells.
LABELS = """
(table => [...table.querySelectorAll('th')].map((each, at) => [
  each.textContent,
  getComputedStyle(table.querySelectorAll('td')[at], '::before').content,
]))(document.querySelector('article table'))
"""
# The colors of the lines of tables, and the one of the theme.
LINES = """
(probe => {
  document.body.append(probe);
  probe.style.color = 'var(--color-table-border)';
  const lines = [...document.querySelectorAll('article td')]
    .map(each => getComputedStyle(each).borderBottomColor);
  return [[...new Set(lines)], [getComputedStyle(probe).color]];
})(document.createElement('i'))
"""
# Copy every block of commands by its button; return what was copied.
COPY_ALL = """
(copied => {
  document.addEventListener('copy', () => copied.push(document.activeElement.value));
  document.querySelectorAll('button.copybtn').forEach(each => each.click());
  return copied;
})([])
"""

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file(), reason="no site: make docs-site builds it"
)


class Links(HTMLParser):
    """The links in the article of a page, and the anchors of the whole page."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.depth += tag == "article"
        self.anchors |= {one for name in ("id", "name") if (one := found.get(name))}
        if tag == "a" and self.depth and (target := found.get("href")):
            self.targets.append(target)

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "article"


@cache
def links_of(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead to no file of the site or to no anchor of a page."""
    found = []
    for link in links_of(page).targets:
        parts = urlsplit(link)
        if parts.scheme in {"http", "https", "mailto"}:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        is_file = not parts.scheme and target.is_file()
        anchor = unquote(parts.fragment)
        if not is_file or (anchor and anchor not in links_of(target).anchors):
            found.append(link)
    return found


# Rustdoc checks the links of its own pages.
BUILT = sorted(page for page in SITE.rglob("*.html") if SITE / "rust" not in page.parents)


@pytest.mark.parametrize("page", BUILT, ids=lambda page: page.stem)
def test_every_link_leads_to_a_place_of_the_site(page: Path) -> None:
    assert broken(page) == []


def test_the_cards_of_the_front_page_are_links() -> None:
    targets = links_of(SITE / "index.html").targets
    assert {"concepts/drive.html", "ledger.html"} <= {one.partition("#")[0] for one in targets}


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<article><h1 id="c">c</h1></article>')
    links = ("b.html#c", "b.html", "#e", "https://example.org", "b.html#d", "f.html", "b:type:doc")
    text = "".join(f'<a href="{link}"></a>' for link in links)
    page = tmp_path / "a.html"
    page.write_text(f'<nav><a href="g.html"></a></nav><article id="e">{text}</article>')
    assert broken(page) == ["b.html#d", "f.html", "b:type:doc"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as chromium:
        yield chromium


def opened(browser: Chromium, name: str, width: int) -> Page:
    page = browser.page(width)
    page.open(SITE / f"{name}.html")
    page.wait(f"{READY} && document.querySelector('article h1') !== null")
    return page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_asks_no_other_site(browser: Chromium, name: str, width: int) -> None:
    page = opened(browser, name, width)
    assert page.value(OUTSIDE) == []
    # The theme cuts off what leaves the window, and lets the column scroll.
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value(BEYOND_COLUMN) <= 0
    elsewhere = [url for url in page.requested() if not url.startswith(("file:", "data:"))]
    assert not elsewhere
    assert not page.complaints()


@pytest.mark.parametrize("width", WIDTHS)
def test_config_keys_are_read_without_scrolling_sideways(browser: Chromium, width: int) -> None:
    page = opened(browser, "reference/config", width)
    assert page.value(WIDE_TABLES) == 0
    widths = page.value(WIDTHS_OF_MEANING)
    assert len(widths) > 100
    assert min(widths) >= 200


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["ledger", "systems/hire", "systems/readguard", "guides/report"])
def test_no_column_of_text_is_narrow(browser: Chromium, name: str, width: int) -> None:
    page = opened(browser, name, width)
    assert min(page.value(WIDTHS_OF_TEXT)) >= 150


def test_keys_on_a_phone_are_labeled_by_their_columns(browser: Chromium) -> None:
    labels = opened(browser, "reference/config", WIDTHS[0]).value(LABELS)
    names = ["key", "what", "value", "default", "source"]
    assert [heading for heading, _ in labels] == names
    assert [label for _, label in labels] == ["none", "none", *(f'"{one}: "' for one in names[2:])]


@pytest.mark.parametrize("command", ["run", "compare"])
def test_options_of_a_run_stand_below_the_headings_of_its_help(
    browser: Chromium, command: str
) -> None:
    page = opened(browser, "reference/cli", WIDTHS[1])
    path = f"#ssdlab-{command} > p.rubric"
    headings = page.value(f"[...document.querySelectorAll({path!r})].map(p => p.textContent)")
    assert headings == ["Usage", "Options", *RUN_GROUPS]
    path = f"#ssdlab-{command} .sig-name"
    options = page.value(f"[...document.querySelectorAll({path!r})].map(p => p.textContent)")
    assert {"--device", "--limit", "--state", "--vary", "--jobs", "--timeline"} <= {*options}


@pytest.mark.parametrize("dark", [False, True])
def test_the_outputs_of_the_tutorial_have_the_lines_of_the_theme(
    browser: Chromium, dark: bool
) -> None:
    page = browser.page(dark=dark)
    page.open(SITE / "start/tutorial.html")
    page.wait(READY)
    lines, of_theme = page.value(LINES)
    assert lines == of_theme


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (
            "start/first-run",
            (
                "ssdlab compare --trace examples/office.csv.xz --limit 10000 \\\n"
                "    --vary scheduler=fifo,read_first --vary suspend=none,program_erase"
            ),
        ),
        (
            "start/own-trace",
            (
                "ssdlab trace info --no-reuse mine.csv:csv \\\n    --set workload.trace.columns="
                "time:seconds:s,op:op,offset:block:sectors,size:blocks:sectors \\\n"
                "    | sed -n 1,8p"
            ),
        ),
    ],
)
def test_a_copied_command_is_whole(browser: Chromium, name: str, command: str) -> None:
    page = opened(browser, name, WIDTHS[1])
    page.wait("document.querySelector('button.copybtn') !== null")
    answer = page.call(
        "Runtime.evaluate", expression=COPY_ALL, returnByValue=True, userGesture=True
    )
    assert command in answer["result"]["value"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hot_pages", ""),
        ("write amplification", "concepts/drive.html"),
        ("max_suspends", "reference/config.html"),
    ],
)
def test_search_works_without_network(browser: Chromium, words: str, expected: str) -> None:
    page = browser.page()
    page.visit((SITE / "search.html").as_uri() + "?q=" + words.replace(" ", "+"))
    summary = page.wait(
        "document.querySelector('#search-results .search-summary')?.textContent ?? ''",
        lambda text: "finished" in text or "did not match" in text,
    )
    links = page.value("[...document.querySelectorAll('#search-results li a')].map(a => a.href)")
    if not expected:
        assert "did not match" in summary or not links
    else:
        assert any(expected in link for link in links), (summary, links)
    assert not [url for url in page.requested() if not url.startswith(("file:", "data:"))]


def test_the_reference_of_rust_is_part_of_the_site(browser: Chromium) -> None:
    page = opened(browser, "reference/rust", WIDTHS[1])
    links = page.value("[...document.querySelectorAll('article td a')].map(a => a.href)")
    assert len(links) >= 9
    for link in links:
        page.visit(link)
        page.wait(f"{READY} && document.querySelector('main h1') !== null")
