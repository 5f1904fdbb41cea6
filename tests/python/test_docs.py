"""What is written about the project is true: generated pages, examples, the shipped trace."""

import doctest
import importlib.util
import lzma
import re
from pathlib import Path
from types import ModuleType

import pytest
from calling import OFFICE, ROOT

import ssdlab
from ssdlab import api


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["config.md", "results.md", "results.schema.json"])
def test_a_generated_page_is_up_to_date(name: str) -> None:
    expected = load(ROOT / "docs" / "generate.py").pages()[name]
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == expected, "run `make docs`"


def test_the_shipped_trace_is_what_its_program_makes() -> None:
    lines = load(ROOT / "examples" / "make_office.py").lines()
    assert lzma.decompress(OFFICE.read_bytes()).decode() == "\n".join(lines) + "\n"


@pytest.mark.parametrize("module", [ssdlab, api])
def test_the_examples_in_docstrings(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_every_relative_link_of_the_pages_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
