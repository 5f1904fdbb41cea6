"""What a new user asks is answered within two clicks from the front page."""

import re
from pathlib import Path

import pytest
from command import ROOT

DOCS = ROOT / "docs"
QUESTIONS = [
    ("How do I install it?", "start/install", "Install", "make install"),
    (
        "My trace has seconds and 512-byte sectors",
        "start/own-trace",
        "A table of your own",
        "workload.trace.columns=time:seconds:s",
    ),
    ("How do I age a drive?", "guides/age", "Age a drive", "--precondition steady"),
    ("What does WAF 1.8 mean here?", "start/first-run", "A first run", "pages programmed"),
    ("How do I compare two schedulers?", "start/first-run", "Change one thing", "--vary"),
    ("Why are my reads slow?", "start/first-run", "See why", "a breakdown of the latency"),
    ("How do I make a workload bursty?", "guides/workload", "Bursts", "workload.kind.bursty"),
    ("Was my run long enough?", "guides/compare", "Long enough", "--until-settled"),
    (
        "How do I give applications NVMe queues and priorities?",
        "guides/queues",
        "Queues and priorities",
        "strict_priority",
    ),
    ("How do I describe my own drive?", "start/own-drive", "Your own drive", "--config"),
    ("How do I write a policy?", "start/own-scheme", "Write a policy", "one Rust file"),
    ("How do I add a victim policy?", "start/own-scheme", "Add a victim rule", "Victim::choose"),
    ("How sure are the figures?", "guides/compare", "Several seeds", "interval"),
    ("How do I reproduce a paper?", "guides/reproduce", "Reproduce a paper", "ssdlab reproduce"),
    ("Are results the same elsewhere?", "concepts/determinism", "Determinism", "digest"),
    ("What does this word mean?", "concepts/glossary", "Glossary", "WAF"),
    ("Which operating systems does it run on?", "start/install", "Systems", "Linux"),
    ("How do I cite it?", "guides/reproduce", "Cite ssdlab", "CITATION.cff"),
    ("What does ssdlab not model?", "concepts/drive", "Not modeled", "**An SLC cache**"),
    ("Can it hold a part of its map?", "start/own-drive", "Cells and the page map", "map_cache"),
    (
        "Can I simulate SLC or QLC?",
        "start/own-drive",
        "Cells and the page map",
        "geometry.cell=qlc",
    ),
    (
        "How long do 100 million requests take?",
        "project/performance",
        "As drives, runs and footprints grow",
        "100 million requests took <!-- figure: scale.long_s -->",
    ),
    (
        "How do I get a row for each request?",
        "guides/report",
        "What else a run can write",
        "A row per request",
    ),
    ("How do I get a table in pandas?", "guides/compare", "In Python", "to_pandas()"),
    (
        "What happens to trims?",
        "project/rulings",
        "Requests",
        "**Read of a trimmed page.** The drive answers without the flash",
    ),
]
"""The question, the page that answers it, the heading, and a part of the answer."""
LISTED = DOCS / "start" / "questions.md"


def links(page: Path) -> set[Path]:
    """Return the pages that a page links."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"\]\((?!https?:|#)([^)#\s]+\.md)", text)
    return {(page.parent / name).resolve() for name in found}


@pytest.mark.parametrize(
    "front", [ROOT / "README.md", DOCS / "index.md"], ids=lambda path: path.stem
)
@pytest.mark.parametrize("page", sorted({page for _, page, _, _ in QUESTIONS}))
def test_an_answer_is_two_links_away(front: Path, page: str) -> None:
    first = links(front)
    second = {two for one in first for two in links(one)}
    assert DOCS / f"{page}.md" in first | second


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as the site and GitHub make it."""
    return re.sub(r"[^\w\s-]", "", heading).lower().replace(" ", "-")


@pytest.mark.parametrize(("question", "page", "heading", "answer"), QUESTIONS)
def test_the_list_of_questions_leads_to_the_answer(
    question: str, page: str, heading: str, answer: str
) -> None:
    assert answer, question
    text = LISTED.read_text(encoding="utf-8")
    targets = re.findall(r"^\| .* \| \[.*\]\((\S*)\) \|$", text, re.MULTILINE)
    places = {
        (str((LISTED.parent / file).resolve().relative_to(DOCS).with_suffix("")), place)
        for file, _, place in (target.partition("#") for target in targets)
    }
    title = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0]
    assert (page, "" if title == f"# {heading}" else anchor(heading)) in places, question


def below(heading: str, text: str) -> str:
    """Return what stands below a heading, up to the next one of its rank or above."""
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found, f"no heading {heading}"
    rest = text[found.end() :]
    return re.split(rf"^#{{1,{len(found[1])}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize(("question", "page", "heading", "answer"), QUESTIONS)
def test_a_question_is_answered_two_clicks_away(
    question: str, page: str, heading: str, answer: str
) -> None:
    # The front page lists every page of the site; a page lists its headings.
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"^{page}$", front, re.MULTILINE), question
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert answer in below(heading, text), question


def test_the_front_page_of_the_repository_is_short() -> None:
    # Little more than two screens of 900 pixels, as GitHub draws it.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^.*\S.*$", readme, re.MULTILINE)) <= 70
    assert len(re.sub(r"<!--.*?-->", "", readme).split()) <= 560
