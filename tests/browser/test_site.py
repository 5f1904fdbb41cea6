"""The built site in a real browser without network, on a desk and on a phone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, Page

SITE = Path(os.environ.get("SSDLAB_SITE", "build/site")).resolve()
WIDTHS = (390, 1280)
PAGES = (
    "index",
    "start/first-run",
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

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file(), reason="no site: make docs-site builds it"
)


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
    assert page.value("document.documentElement.scrollWidth") <= width
    elsewhere = [url for url in page.requested() if not url.startswith(("file:", "data:"))]
    assert not elsewhere
    assert not page.complaints()


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
