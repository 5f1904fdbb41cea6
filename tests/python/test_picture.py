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
    """Return the labels that begin left of a picture, in a wide font."""
    picture = ET.fromstring(svg)
    edge = float((picture.get("viewBox") or "").split()[0])
    return [text for left, text in labels(picture) if left < edge]


def test_labels_fit_in_a_wide_font() -> None:
    svg = PICTURE.PICTURE.read_text(encoding="utf-8")
    assert len(list(labels(ET.fromstring(svg)))) == 8
    assert cut(svg) == []
    narrow = svg.replace(f'viewBox="-{PICTURE.MARGIN} ', 'viewBox="0 ')
    assert cut(narrow) == ["program_erase"] * 2


def test_a_figure_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="no size"):
        PICTURE.with_margin("<svg></svg>")
