"""Values of the papers' figures that their texts give in digits, drawn beside ours."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from ssdlab_reproduction.registry import Picture, Rows


@cache
def digits() -> dict[tuple[str, str], Rows]:
    """Return the points that a paper's text gives, by system and figure, as a picture has them."""
    text = (files("ssdlab_reproduction") / "digits.toml").read_text(encoding="utf-8")
    return {
        (one["system"], one["figure"]): [(at, series, value) for at, series, value in one["points"]]
        for one in tomllib.loads(text)["digits"]
    }


def beside(frame: Picture, rows: Rows) -> Rows:
    """Return the paper's points of a picture whose places and series are drawn."""
    drawn = {(at, series) for at, series, _ in rows}
    points = digits().get((frame.system, frame.figure), ())
    return [point for point in points if point[:2] in drawn]
