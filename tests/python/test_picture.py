"""README's picture can be read whatever fonts a reader has."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from command import ROOT, load_module

PICTURE = load_module(ROOT / "docs" / "generators" / "picture.py")
SVG = "{http://www.w3.org/2000/svg}"
EM = 0.62
"""The mean width of a character in DejaVu Sans, which is wider than most: a share of its height."""


def labels(part: ET.Element, left: float = 0) -> Iterator[tuple[float, str]]:
    """Yield the right end and the text of each line that ends at a fixed place."""
    if move := re.match(r"translate\(([-\d.]+)", part.get("transform", "")):
        left += float(move[1])
    if part.tag == f"{SVG}text" and part.get("text-anchor") == "end":
        lines = [one.text or "" for one in part.iter() if one.text]
        size = float((part.get("font-size") or "").removesuffix("px"))
        yield from ((left - EM * size * len(line), line) for line in lines)
    for child in part:
        yield from labels(child, left)


def cut(svg: str) -> list[str]:
    """Return the labels that begin left of their chart, in a wide font."""
    return [
        text
        for chart in ET.fromstring(svg).findall(f"{SVG}svg")
        for left, text in labels(chart)
        if left < float((chart.get("viewBox") or "").split()[0])
    ]


DRAWN = PICTURE.PICTURE.read_text(encoding="utf-8")


def test_labels_fit_in_a_wide_font() -> None:
    assert len(list(labels(ET.fromstring(DRAWN)))) > 8
    assert cut(DRAWN) == []
    narrow = DRAWN.replace(f'viewBox="-{PICTURE.MARGIN} ', 'viewBox="0 ')
    assert "program_erase" in cut(narrow)


def test_the_picture_shows_charts_of_the_report_as_wide_as_a_readme() -> None:
    picture = ET.fromstring(DRAWN)
    assert picture.get("width") == str(PICTURE.WIDTH)
    charts = picture.findall(f"{SVG}svg")
    assert len(charts) == len(PICTURE.CHARTS)
    assert f"({PICTURE.PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
    # Smaller type than this is hard to read.
    scale = PICTURE.WIDTH / float((picture.get("viewBox") or "").split()[2])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', DRAWN)]
    assert min(sizes) * scale >= 11


def shown(svg: str) -> tuple[list[str], list[str]]:
    """Return the labels of a picture, and its curves without the style of their strokes."""
    parts = list(ET.fromstring(svg).iter())
    texts = [part.text or "" for part in parts if part.tag in {f"{SVG}text", f"{SVG}tspan"}]
    return texts, [part.get("d") or "" for part in parts if part.tag == f"{SVG}path"]


def test_the_picture_shows_what_ssdlab_draws_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    texts, curves = shown(DRAWN)
    assert len(texts) > 8
    assert len(curves) > 4
    assert shown(PICTURE.draw()) == (texts, curves)


def test_charts_side_by_side_keep_their_own_clips() -> None:
    chart = '<svg width="1in" viewBox="0 0 20 10"><g id="a"/><g clip-path="url(#a)"/></svg>'
    both = PICTURE.side_by_side([chart, chart])
    assert re.findall(r'id="(.*?)"', both) == ["c0-a", "c1-a"]
    assert re.findall(r"#(.*?)\)", both) == ["c0-a", "c1-a"]
    assert re.findall(r'<svg x="(.*?)"', both) == ["0", "20"]
    with pytest.raises(ValueError, match="no size and view"):
        PICTURE.side_by_side(["<svg></svg>"])


def test_a_figure_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="no size"):
        PICTURE.with_margin("<svg></svg>")
