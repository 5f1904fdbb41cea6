"""What the papers' texts say of their figures in digits, to be drawn beside ours."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from ssdlab_reproduction.registry import Rows


@cache
def digits() -> dict[tuple[str, str], Rows]:
    """Return the points that a paper's text gives, by system and figure, as a picture has them."""
    text = (files("ssdlab_reproduction") / "digits.toml").read_text(encoding="utf-8")
    return {
        (one["system"], one["figure"]): [(at, series, value) for at, series, value in one["points"]]
        for one in tomllib.loads(text)["digits"]
    }


def beside(system: str, figure: str, rows: Rows) -> Rows:
    """Return the paper's points of a figure whose places and series are drawn."""
    drawn = {(at, series) for at, series, _ in rows}
    return [
        (at, series, value)
        for at, series, value in digits().get((system, figure), ())
        if (at, series) in drawn
    ]
