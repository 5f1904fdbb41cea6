"""What is written about the project is true: generated pages, examples, the shipped trace."""

import doctest
import importlib
import lzma
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from command import OFFICE, ROOT, load_module

from ssdlab import _native
from ssdlab.confidence import Interval
from ssdlab.render.formatting import NONE
from ssdlab_reproduction import ledger, ledger_text, registry
from ssdlab_reproduction.claim import SYSTEMS, Verdict, claims
from ssdlab_reproduction.ledger import Ledger, Row

EXPLAINED = ("api", "calibration.fitting", "drive", "physics")
"""The modules whose docstrings have examples."""
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["config.md", "results.md", "results.schema.json"])
def test_a_generated_page_is_up_to_date(name: str) -> None:
    generator = load_module(ROOT / "docs" / "generators" / "generate.py")
    written = (generator.REFERENCE / name).read_text(encoding="utf-8")
    assert written == generator.pages()[name], "run `make docs`"


def test_the_package_names_pages_by_their_titles() -> None:
    """A wheel has no folder of pages, so no help text may point into one."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "python").rglob("*.py")]
    texts.append(_native.keys_markdown())
    assert not [text[at - 60 : at + 40] for text in texts if (at := text.find("docs/")) >= 0]
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    titles = {page.partition("\n# ")[2].partition("\n")[0] for page in ["\n" + p for p in pages]}
    plain = " ".join(" ".join(texts).replace("\\", "").split())
    named = set(re.findall(r"documentation(?:'s page|:) \"([^\"]+)\"", plain))
    assert {"Traces", "Twins", "Results", "Fit the retry predictor"} <= named
    assert named <= titles


def test_no_link_ends_at_a_page_that_only_names_a_file_of_the_root() -> None:
    """On GitHub such a page is nearly empty; ``docs/conf.py`` turns a link to the file around."""
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    stubs = re.findall(r'^    "([\w/-]+)": "(\w+\.md)",$', conf, re.MULTILINE)
    names = {(ROOT / "docs" / f"{stub}.md") for stub, _ in stubs}
    assert len(names) == 3
    linked = []
    for page in (ROOT / "docs").rglob("*.md"):
        targets = re.findall(r"\]\((?!https?:)([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
        linked += [(page.parent / target).resolve() for target in targets]
    assert ROOT / "CONTRIBUTING.md" in linked
    assert not names & set(linked)


def test_each_system_is_named_with_its_device() -> None:
    rows = re.findall(
        r"^\| [^|]+ \| [^|]+ \| `([\w-]+)` \| \[([\w-]+)\]\(docs/systems/", README, re.MULTILINE
    )
    assert {system for _, system in rows} == set(SYSTEMS)
    for device, system in rows:
        page = (ROOT / "docs" / "systems" / f"{system}.md").read_text(encoding="utf-8")
        assert f"--device {device}" in page, system


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_page_and_the_makefile_agree_on_how_long_it_takes(system: str) -> None:
    page = (ROOT / "docs" / "systems" / f"{system}.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"`make {system}` takes (?:about )?([\w ]+?) on two cores", page)
    listed = re.search(rf'"make {system} +the tables of .*?\(([\w ]+)', makefile)
    assert listed
    assert found is None or found[1] == listed[1]


def test_pages_name_the_python_that_make_looks_for() -> None:
    install = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
    assert "PYTHON ?= python3.11\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "`make PYTHON=python3.12 " in README
    assert "`make PYTHON=python3.12 " in install


def test_the_shipped_trace_is_what_its_program_makes() -> None:
    lines = load_module(ROOT / "examples" / "make_office.py").lines()
    assert lzma.decompress(OFFICE.read_bytes()).decode() == "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["ssdlab", *(f"ssdlab.{name}" for name in EXPLAINED)])
def test_the_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_relative_link_of_the_pages_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


OPTIONS = re.compile(r"^:[\w-]+:.* :[\w-]+:", re.MULTILINE)
"""Options of a directive that share a line, so that all but the first are lost."""


def test_each_option_of_a_directive_has_its_own_line() -> None:
    for page in ROOT.glob("docs/**/*.md"):
        assert not OPTIONS.findall(page.read_text(encoding="utf-8")), page.name
    assert OPTIONS.search(":link: ledger :link-type: doc The claims.")


SYSTEM_PAGES = sorted((ROOT / "docs" / "systems").glob("*.md"))


@pytest.mark.parametrize("page", SYSTEM_PAGES, ids=lambda page: page.stem)
def test_the_page_of_a_system_has_a_drawing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    described = re.findall(r"^!\[\w[^]]+\.\]\(images/(.*)\)$", text, re.MULTILINE)
    assert described[0] == f"{page.stem}.svg"
    # Other pictures are of measured figures.
    assert all(name.startswith(f"{page.stem}-front-") for name in described[1:])
    for name in described:
        assert len((page.parent / "images" / name).read_bytes()) < 20_000
    drawing = (page.parent / "images" / described[0]).read_bytes()
    title = ET.fromstring(drawing).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text


REPRODUCTION = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
MARK = load_module(ROOT / "docs" / "generators" / "reproduction.py").MARK
BEHIND = re.compile(r"^- \*\*(\S+)'s part is behind the code\*\*", re.MULTILINE)
Cells = list[list[str]]


SWEEP = re.compile(r"^([A-Z]\d+), (.*):\n\n\| settings .*\n\|[-|]*\n((?:\|.*\n)+)", re.MULTILINE)
"""A sweep on the page: of which claim, of what, and its rows."""


def claimed(system: str) -> Cells:
    """Return the claim, of what, and the paper's figure, as a ledger of today has them."""
    return [
        cells
        for claim in claims([system])
        for cells in (
            [f"**{claim.id}**", claim.what, ""],
            *(["", figure.of, figure.bound()] for figure in claim.figures),
        )
    ]


def written(page: str, title: str) -> Cells:
    """Return the same of a page: of the first table below a system's heading."""
    _, _, part = page.partition(f"# {title}\n")
    _, _, table = part.partition("|---|---|---|---|---|---|\n")
    rows = table.partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in row.split("|")[1:4]] for row in rows]


def current() -> list[str]:
    """Return the systems whose part of the page is not behind the code."""
    behind = set(BEHIND.findall(REPRODUCTION.partition(MARK)[0]))
    assert behind <= set(SYSTEMS.values())
    return [system for system, title in SYSTEMS.items() if title not in behind]


def test_the_claims_on_the_page_are_those_of_today() -> None:
    below = REPRODUCTION.partition(MARK)[2]
    for system in current():
        title = SYSTEMS[system]
        assert written(below, title) == claimed(system), f"{title}: run `make reproduce`"


def test_the_ledger_has_todays_text_of_each_claim() -> None:
    _, _, below = REPRODUCTION.partition(MARK)
    of_claims = 0
    for claim in claims(current()):
        read = re.search(rf"^\*{claim.id}, as read\*: (.*)$", below, re.MULTILINE)
        assert (read[1] if read else "").startswith(claim.ruled), claim.id
        paragraph = re.search(rf"^\*\*{claim.id}\*\*: (.*)$", below, re.MULTILINE)
        if paragraph is not None:
            settle = f"*What would settle it*: {claim.settle}" if claim.settle else ""
            today = " ".join(part for part in (claim.tried, settle) if part)
            # Before it stands what never happened, as the runs tell it.
            assert paragraph[1].endswith(today), claim.id
            of_claims += 1
    assert of_claims > 2 * len(current())


def test_the_page_has_the_sweeps_of_today() -> None:
    _, _, below = REPRODUCTION.partition(MARK)
    found = {
        (claim, about): [row.split(" | ")[0].strip("| ") for row in rows.splitlines()][1:]
        for claim, about, rows in SWEEP.findall(below)
    }
    own_claims = claims(current())
    for claim in own_claims:
        row = re.search(rf"^\| \*\*{claim.id}\*\* \|.*\*\*([^|]*)\*\* \|", below, re.MULTILINE)
        assert row is not None
        for sweep in claim.sweeps:
            is_there = sweep.always or not row[1].startswith(str(Verdict.REPRODUCED))
            settings = [variant.split() for variant in sweep.variants] if is_there else []
            about = sweep.about + (f", with `{claim.short}`" if claim.short else "")
            rows = found.pop((claim.id, about), [])
            own = [one.removesuffix(" (saturated)").replace("`", "").split() for one in rows]
            assert own == settings, (claim.id, sweep.about)
    assert not {claim for claim, _ in found} & {claim.id for claim in own_claims}


def test_a_verdict_by_construction_is_marked_on_the_page() -> None:
    _, _, below = REPRODUCTION.partition(MARK)
    marked = []
    new = {claim.id for claim in claims()} - {claim.id for claim in claims(current())}
    for claim in claims():
        row = rf"^\| \*\*{claim.id}\*\* \|.*\*\*([^|]*)\*\* \| (.*) \|$"
        found = re.search(row, below, re.MULTILINE)
        if found is None and claim.id in new:
            continue
        assert found is not None, claim.id
        verdict, _, mark = found[1].partition(", ")
        is_today = claim.id not in new and mark not in (ledger_text.NEVER, ledger_text.NOT_ALWAYS)
        if is_today:
            assert found[1] == ledger_text.outcome(Row(claim, Verdict(verdict), loads=found[2]))
            marked += [claim.id] * bool(mark)
    assert {"D12", "V14", "H4"} <= set(marked)


def test_a_page_that_is_behind_is_noticed() -> None:
    def ledger_of(names: Mapping[str, str]) -> str:
        rows = []
        for claim in claims():
            figures = [
                replace(one, of=names.get(one.of, one.of)) if claim.id == "D3" else one
                for one in claim.figures
            ]
            ours = [Interval(figure.paper, None) for figure in figures]
            verdicts = [Verdict.REPRODUCED] * len(figures)
            changed = replace(claim, figures=figures, ways=())
            rows.append(Row(changed, Verdict.REPRODUCED, ours, verdicts, [1], "twins"))
        return ledger_text.ledger_markdown(Ledger(rows, quick=False, seeds=[1], runs=1, digest=""))

    now, other = ledger_of({}), ledger_of({"at their times": "later"})
    for system, title in SYSTEMS.items():
        assert written(now, title) == claimed(system)
        assert (written(other, title) == claimed(system)) == (system != "dlv")


COUNTED = "<!-- counts: written by `make reproduce` -->\n\n<!-- end of counts -->\n"


def test_a_ledger_of_one_paper_takes_the_place_of_its_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = load_module(ROOT / "docs" / "generators" / "reproduction.py")
    page = tmp_path / "page.md"
    page.write_text(f"{COUNTED}{writer.MARK}\nold")
    monkeypatch.setattr(writer, "PAGE", page)

    def page_of(*ledgers: str) -> str:
        files = [tmp_path / f"{at}.md" for at in range(len(ledgers))]
        for file, text in zip(files, ledgers, strict=True):
            file.write_text(text)
        monkeypatch.setattr("sys.argv", ["reproduction.py", *map(str, files)])
        writer.main()
        above, _, below = page.read_text().partition(writer.MARK)
        assert above.startswith("<!-- counts: ")
        assert above.endswith("<!-- end of counts -->\n")
        return below.strip()

    def whole(system: str) -> str:
        own = "\n".join(f"| **{one.id}** | |" for one in claims([system]))
        return f"| claim |\n|---|\n{own}"

    dlv, hire, pa_ssd = whole("dlv"), whole("hire"), whole("pa-ssd")
    every = f"2 claims\n\n## DLV\n\n{dlv}\n\n## HIRE\n\n{hire}\n"
    assert page_of(every) == f"2 claims\n\n### DLV\n\n{dlv}\n\n### HIRE\n\n{hire}"
    other = dlv.replace("**D1** | |", "**D1** | other |")
    after = f"2 claims\n\n### DLV\n\n1 claim\n\n{other}\n\n### HIRE\n\n{hire}"
    for _ in range(2):
        assert page_of(f"1 claim\n\n## DLV\n\n{other}\n") == after
    assert page_of(f"1 claim\n\n## PA-SSD\n\n{pa_ssd}\n").endswith(
        f"{hire}\n\n### PA-SSD\n\n1 claim\n\n{pa_ssd}"
    )


def test_the_commit_stands_beside_the_build_that_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = load_module(ROOT / "docs" / "generators" / "reproduction.py")
    monkeypatch.setattr(writer, "library_hash", lambda: "0123456789abcdef")
    monkeypatch.setattr(writer, "commit", lambda *_: "c0ffee1")
    own, other = "2 runs (build 0123456789ab); x", "2 runs (build fedcba987654); x"
    assert writer._committed(own) == "2 runs (build 0123456789ab, commit c0ffee1); x"
    assert writer._committed(other) == other


def test_a_ledger_of_single_claims_takes_the_place_of_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = load_module(ROOT / "docs" / "generators" / "reproduction.py")
    page, ledger_of = tmp_path / "page.md", tmp_path / "ledger.md"
    monkeypatch.setattr(writer, "PAGE", page)
    monkeypatch.setattr("sys.argv", ["reproduction.py", str(ledger_of)])

    def rows(name: str, verdict: str) -> str:
        return f"| **{name}** | so | | | **{verdict}** | twins |\n|  | one | 1 | 2 | {verdict} |  |"

    heads = "| claim | of what |\n|---|---|"
    made = rows("H3", "reproduced, by construction")
    old = [heads, rows("H1", "not reproduced"), rows("H2", "direction only"), made]
    paragraphs = "*H1, as read*: so.\n\n**H1**: why.\n\nH1, size:\n\n| s |\n\n**H2**: too."
    readings = "\n\nReadings of HIRE, with their sources:\n\n| r |"
    last = paragraphs + readings
    found = "3 claims: 1 direction only; 9 runs, seed 1, build a; digest of them `b`."
    page.write_text(
        f"{COUNTED}{writer.MARK}\n### HIRE\n\n{found}\n\n" + "\n".join(old) + f"\n\n{last}\n"
    )
    new = f"{heads}\n{rows('H1', 'reproduced')}\n\n*H1, as read*: now.{readings}\n"
    ledger_of.write_text(f"1 claim: 1 reproduced; 2 runs; digest `c`.\n\n## HIRE\n\n{new}")
    writer.main()
    counts = "3 claims: 2 reproduced (1 of them by construction), 1 direction only"
    first = f"{counts}; 9 runs, seed 1, build a; digest of them `b`."
    after = [heads, rows("H1", "reproduced"), rows("H2", "direction only"), made]
    paragraphs = "\n\n*H1, as read*: now.\n\n**H2**: too."
    own = (
        "### HIRE\n\n"
        + first
        + " Later H1: 2 runs; digest `c`.\n\n"
        + "\n".join(after)
        + paragraphs
        + readings
    )
    above, _, below = page.read_text().partition(writer.MARK)
    assert below.strip() == own
    assert "| HIRE | 3 | 2 | 1 | 0 | 1 | 0 | 0 |" in above
    # Of two papers, one of which is new on the page; and of one that was measured later before.
    dlv = f"{heads}\n{rows('D1', 'reproduced')}"
    both = f"2 claims: 2 reproduced; 5 runs; digest `d`.\n\n## DLV\n\n{dlv}\n\n## HIRE\n\n{new}"
    ledger_of.write_text(both)
    writer.main()
    found = "2 claims: 2 reproduced; 5 runs; digest `d`."
    assert page.read_text().partition(writer.MARK)[2].strip() == (
        own.replace("2 runs; digest `c`", "5 runs; digest `d`") + f"\n\n### DLV\n\n{found}\n\n{dlv}"
    )


def test_the_page_counts_its_claims() -> None:
    writer = load_module(ROOT / "docs" / "generators" / "reproduction.py")
    _, _, results = REPRODUCTION.partition(writer.MARK)
    came = writer.came_out(results)
    assert list(came) == list(SYSTEMS.values())
    counts = REPRODUCTION.partition("<!-- counts: ")[2].partition("<!-- end of counts -->")[0]
    rows = [line.strip("| ").split(" | ") for line in counts.splitlines()[4:] if line]
    assert rows == list(ledger_text.counted(came))[1:]
    assert int(rows[-1][1]) == sum(map(len, came.values())) >= 74


FIGURES = {"DLV": 18, "PA-SSD": 13, "PV-read": 13, "ReadGuard": 21, "HIRE": 5}
"""How many figures each paper has."""


def test_each_figure_of_a_paper_is_drawn_or_has_a_reason_why_not() -> None:
    for system in SYSTEMS:
        ledger.load(system)
    _, _, part = REPRODUCTION.partition("## Figures that are not drawn\n")
    rows = re.findall(
        r"^\| (\S+) \| ([\d, ]+) \|", part.partition("\nThese figures differ")[0], re.MULTILINE
    )
    for system, title in SYSTEMS.items():
        # A figure that no paper has has no number.
        numbers = {one.place[1] for one in registry.PICTURES if one.system == system}
        drawn = numbers - {0}
        left = [int(at) for name, numbers in rows if name == title for at in numbers.split(",")]
        assert sorted([*drawn, *left]) == list(range(1, FIGURES[title] + 1)), title


def test_sweeps_that_come_clearly_nearer_say_why_they_are_not_followed() -> None:
    _, _, rest = REPRODUCTION.partition("## When a ruling follows a claim\n")
    rule, _, measured = rest.partition("\n## Real traces")
    firsts = re.findall(r"^\| ([A-Z]\d[^|]*) \|", rule, re.MULTILINE)
    named = {name for first in firsts for name in first.split(", ")}
    order = [str(one) for one in Verdict]
    found = set()
    for claim, _, lines in SWEEP.findall(measured):
        rows = [line.strip("| ").split(" | ")[-2:] for line in lines.splitlines()]
        # A setting under which nothing happens is far off.
        reasons = [
            (float(off.split()[0].replace(NONE, "inf")), order.index(verdict.split(" (")[0]))
            for off, verdict in rows
        ]
        off, verdict = reasons[0]
        if any(off - other >= 0.5 or better < verdict for other, better in reasons[1:]):
            found.add(claim)
    assert found == named
    assert len(found) > 10


def test_no_picture_names_a_folder_of_the_machine_that_drew_it() -> None:
    pictures = sorted((ROOT / "docs").rglob("*.svg"))
    assert len(pictures) > 10
    described = re.compile(r"<(?:title|desc)>[^<]*\s/\w+/")
    assert not [path for path in pictures if described.search(path.read_text(encoding="utf-8"))]
