"""What pages show as output is what a command prints, numbers aside."""

import re
from pathlib import Path

import pytest
from command import ROOT, load_module

COMMANDS = load_module(ROOT / "docs" / "generators" / "commands.py")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(*found.groups(), id=f"{page.stem}-{found[2]}")
    for page in PAGES
    for found in COMMANDS.SHOWN.finditer(page.read_text(encoding="utf-8"))
]
# What a command begins with, a line of source, an option, a tree of folders, or a formula.
NO_OUTPUT = re.compile(
    r"(?:\.venv/bin/)?(?:ssdlab|make|cargo|git|docker|eval|apt-get|mkdir) |--|crates/|sepbit =>|///"
    r"|\w+ += "
)


def differences(extent: str, shown: str, printed: str) -> list[str]:
    """Return the shapes of lines that one has alone, or that stand in another order."""
    of_page, of_command = COMMANDS.shapes(shown), COMMANDS.shapes(printed)
    if extent == "in the output of":
        of_command = [line for line in of_command if line in of_page]
    alone = [
        line for line in [*of_page, *of_command] if line not in of_page or line not in of_command
    ]
    return alone or [line for line, other in zip(of_page, of_command, strict=True) if line != other]


@pytest.mark.parametrize(("extent", "command", "shown"), BLOCKS)
def test_an_output_on_a_page_has_the_shape_of_what_is_printed(
    extent: str, command: str, shown: str, tmp_path: Path
) -> None:
    COMMANDS.prepare(tmp_path)
    assert differences(extent, shown, COMMANDS.output_of(command, tmp_path)) == []


def test_every_output_on_a_page_names_its_command() -> None:
    assert len(BLOCKS) == 3
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in FENCED.finditer(COMMANDS.SHOWN.sub("", text)):
            if found[1] in {"", "text"}:
                assert NO_OUTPUT.match(found[2]), f"{page.name}: {found[2]}"
        # An indented command has no output below it: that of a console block is compared.
        assert not re.search(r"^    \$ .*\n(?!    \$ )    \S", text, re.MULTILINE), page.name


def test_a_change_of_shape_is_found() -> None:
    page = "read  1.5 µs\nreads 20\n\nwrite 3\n"
    whole, part = "printed by", "in the output of"
    assert not differences(whole, page, "read  12 µs\nreads 1\nreads 2\nwrite  –\n")
    assert differences(whole, page, "read  12 ms\nreads 1\nwrite 3\n") == ["read # µs", "read # ms"]
    assert differences(whole, page, f"{page}more\n") == ["more"]
    assert not differences(part, page, f"more\n{page}")
    assert differences(part, page, "reads 1\nwrite 1\n") == ["read # µs"]
    assert differences(whole, page, "write 3\nread 1 µs\nreads 2\n")
