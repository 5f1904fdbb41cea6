"""The commands of README and of the docs run, and print what the pages show."""

import re
from pathlib import Path

import pytest
from command import ROOT, load_module

from ssdlab import _native
from ssdlab_reproduction.tables.common import pages_with

COMMANDS = load_module(ROOT / "docs" / "generators" / "commands.py")
FIGURES = load_module(ROOT / "docs" / "generators" / "figures.py")
BENCH = load_module(ROOT / "docs" / "generators" / "bench_table.py")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", pages_with(COMMANDS.BLOCK), ids=name)
def test_the_commands_of_a_page(page: Path, tmp_path: Path) -> None:
    COMMANDS.prepare(tmp_path)
    text = page.read_text(encoding="utf-8")
    now = COMMANDS.filled(text, tmp_path)
    expected, found = (COMMANDS.without_wall_clock(one) for one in (now, text))
    assert found == expected, "run `make docs`"


def test_each_run_of_the_guide_to_aging_collects_garbage(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "guides" / "age.md").read_text(encoding="utf-8")
    (_, opening), *others = COMMANDS.BLOCK.findall(text)
    (new,), (aged,) = (
        re.findall(rf"^{start} +[\d.]+(?: ×[\d.]+)? +(\d+)$", opening, re.MULTILINE)
        for start in ("false", "true")
    )
    assert int(new) == 0
    assert int(aged) > 0
    runs = [script for _, script in others if "ssdlab run" in script]
    assert len(runs) == 3
    for script in runs:
        found = re.findall(
            r"^GC +([\d,]+) blocks", COMMANDS.output_of(script, tmp_path), re.MULTILINE
        )
        assert len(found) == 1, script
        assert int(found[0].replace(",", "")) > 0, script


@pytest.mark.parametrize("page", pages_with(FIGURES.FIGURE), ids=name)
def test_the_figures_that_a_page_cites(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert FIGURES.filled(text) == text, "run `make docs`"


def test_the_tables_of_speed_are_those_of_the_newest_run() -> None:
    text: str = BENCH.PAGE.read_text(encoding="utf-8")
    assert BENCH.filled(text) == text, "run `make docs`"
    assert BENCH.filled(text.replace("ready in 0.", "ready in 9.")) == text


def test_each_point_of_the_readme_has_a_figure_that_a_make_target_makes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):(?!=)", makefile, re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    points = re.findall(r"^- \*\*\w.*?(?=^- |^$)", readme, re.MULTILINE | re.DOTALL)
    assert len(points) == 5
    for point in points:
        assert FIGURES.FIGURE.search(point), point
        named = set(re.findall(r"`make ([\w-]+)`", point))
        assert named, point
        assert named <= targets, point


def test_no_measured_figure_of_an_aim_is_typed() -> None:
    page = (ROOT / "docs" / "project" / "performance.md").read_text(encoding="utf-8")
    _, _, below = page.partition("\n| aim | measured | met |\n|---|---|---|\n")
    rows = [line.split(" | ") for line in below.partition("\n\n")[0].splitlines()]
    assert len(rows) > 10
    for aim, measured, _ in rows:
        typed = re.sub(r"\[[^]]*\]\([^)]*\)|`[^`]*`", "", FIGURES.FIGURE.sub("", measured))
        assert not [word for word in re.findall(r"\d[\d.,]*", typed) if word not in aim], typed


def test_the_parts_of_every_request_sum_to_its_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    assert FIGURES._unexplained_ns() == 0
    without = [part for part in FIGURES._parts() if part != "sense_ns"]
    monkeypatch.setattr(FIGURES, "_parts", lambda: without)
    assert FIGURES._unexplained_ns() > 0


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(FIGURES.UnknownFigureError, match="page_operation: unknown figure"):
        FIGURES.filled("<!-- figure: page_operation -->5<!-- / -->")


def test_an_older_figure_is_replaced() -> None:
    page = "It reads <!-- figure: formats -->3<!-- / --> formats."
    count = len(_native.formats())
    assert FIGURES.filled(page) == f"It reads <!-- figure: formats -->{count}<!-- / --> formats."


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    page = "```sh\nssdlab run --limit 0\n```\n"
    with pytest.raises(COMMANDS.CommandError, match="exit code 2: --limit: got '0'"):
        COMMANDS.filled(page, tmp_path)


def test_what_a_command_prints_takes_the_place_of_what_it_printed(tmp_path: Path) -> None:
    page = "```console\n$ echo a \\\n    b\nold\n$ true\n$ echo c\n```\n"
    expected = "```console\n$ echo a \\\n    b\na b\n\n$ true\n$ echo c\nc\n```\n"
    assert COMMANDS.filled(page, tmp_path) == expected


def test_a_command_that_sets_up_is_one_of_the_projects() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    found = 0
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                words = line.partition("#")[0].split()
                assert words[0] in {"make", "pip", "source", "python3"}, line
                assert words[0] != "make" or words[1] in targets, line
                found += 1
    assert found
