"""Tables that generators fill say what their recorded files say."""

import json

from command import ROOT, load_module

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
