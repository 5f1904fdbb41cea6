"""Pages read well, as far as that can be measured: short sentences and lines, no figure typed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import ROOT

WORDS_MOST = 30
COLUMNS_MOST = 100
GENERATED = ("docs/reference/config.md", "docs/reference/results.md")
OWNED = re.compile(r"<!-- (\w+):? written by.*?(?:<!-- end of \1 -->|\Z)|<!-- Below.*", re.DOTALL)
"""What a generator owns of a page: up to a mark or the end."""
FIGURE = re.compile(r"<!-- figure: .*?<!-- / -->", re.DOTALL)
CODE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(
    r"\d[\d.,]*\s?"
    r"(?:million (?:\w+ ){1,3}(?:a|per) second|(?:times|%) (?:faster|slower|less|more)\b)",
    re.IGNORECASE,
)
"""A speed or a ratio, which a run has produced and another would change."""
PHRASES = re.compile(
    r"\b(?:by and by|as it were|comes? to a stand|lets? go of|for ever|who waits|is told of)\b",
    re.IGNORECASE,
)


def pages() -> list[str]:
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("crates/**/README.md")]
    names = [str(path.relative_to(ROOT)) for path in found if "target" not in path.parts]
    return sorted(set(names) - set(GENERATED))


def written_by_hand(text: str) -> str:
    """Return a page without commands, generated parts and generated figures."""
    return FIGURE.sub("FIGURE", OWNED.sub("", CODE.sub("", text)))


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs and list items of a page, without tables, headings and code."""
    lines: list[str] = []
    for line in [*written_by_hand(text).splitlines(), ""]:
        starts_item = re.match(r" *(?:[-*]|\d+\.) ", line)
        is_prose = line.strip() and not line.startswith(("|", "#", "<!--"))
        is_code = line.startswith("    ") and not lines
        if lines and (starts_item or not is_prose):
            yield " ".join(lines)
            lines = []
        if is_prose and not is_code:
            lines.append(line[starts_item.end() :] if starts_item else line.strip())


def sentences(text: str) -> Iterator[str]:
    """Return the sentences of a page; a name in backticks and a link count as their words."""
    for paragraph in paragraphs(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "NAME", paragraph))
        yield from re.split(r"(?<=[.!?:;])\s+", plain)


@pytest.mark.parametrize("name", pages())
def test_sentences_are_short(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not [one for one in sentences(text) if len(one.split()) > WORDS_MOST]


@pytest.mark.parametrize("name", pages())
def test_lines_of_prose_are_short(name: str) -> None:
    text = written_by_hand((ROOT / name).read_text(encoding="utf-8"))
    prose = [line for line in text.splitlines() if not re.match(r"\||    |\[[^]]*\]: |!\[", line)]
    assert not [line for line in prose if len(line) > COLUMNS_MOST and " " in line.strip()]


@pytest.mark.parametrize("name", pages())
def test_no_figure_of_a_run_is_typed_into_prose(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not [one for one in sentences(text) if TYPED.search(one)]


@pytest.mark.parametrize("name", pages())
def test_no_phrase_stands_that_a_reader_would_stop_at(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not [one for one in sentences(text) if PHRASES.search(one)]


def test_what_is_wrong_with_a_page_is_found() -> None:
    page = f"""# Heading

A line of {"very " * 30}many words, and `code that is not {"counted " * 40}`.
It is 7.5 times faster, and waits for ever.

| a table | {"x " * 90} |

<!-- measured: written by `make x` -->
It is 9 times faster.
"""
    found = list(sentences(page))
    assert len(found) == 2
    assert len(found[0].split()) > WORDS_MOST
    assert TYPED.search(found[1])
    assert PHRASES.search(found[1])


TOUR = [
    path
    for folder in ("start", "guides", "systems")
    for path in (ROOT / "docs" / folder).glob("*.md")
]


@pytest.mark.parametrize("path", TOUR, ids=lambda path: path.stem)
def test_a_page_opens_with_its_purpose_and_a_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first, *_ = paragraphs(text)
    assert len(first.split()) <= 2 * WORDS_MOST
    opening = "\n".join(text.splitlines()[:15])
    assert re.search(r"^(?:```|    (?:ssdlab|make|pip|git)|    \.venv)", opening, re.MULTILINE)
