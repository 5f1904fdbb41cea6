"""Texts read well, as far as that can be measured: short sentences and lines, no figure typed."""

import json
import re
from pathlib import Path

import pytest
from command import ROOT
from prose import (
    COLUMNS_MOST,
    GENERATED,
    OWNED,
    PHRASES,
    RESULT,
    RIDDLES,
    SETTINGS,
    TYPED,
    WORDS_MOST,
    as_markdown,
    begin_html,
    functions,
    is_typed,
    long_lines,
    long_sentences,
    pages,
    paragraphs,
    python_strings,
    rust_strings,
    sentences,
    sources,
    texts_of,
    toml_files,
    words_by_hand,
    written_by_hand,
)

SOURCES = [*sources(".rs", ".py"), *toml_files(), "Makefile"]
FOLDERS = sorted({"/".join(name.split("/")[:2]) for name in SOURCES})
SHOWN = [name for name in SOURCES if re.match(r"(?:crates/[^/]+/src/|python/).*\.(?:rs|py)$", name)]
"""Sources whose strings a user may read: errors, help texts and reports."""


def read(name: str) -> str:
    return as_markdown(name, (ROOT / name).read_text(encoding="utf-8"))


def in_folder(folder: str) -> list[str]:
    return [name for name in SOURCES if name == folder or name.startswith(f"{folder}/")]


@pytest.mark.parametrize("name", pages())
def test_sentences_are_short(name: str) -> None:
    assert not long_sentences(read(name))


def test_a_long_sentence_is_found_whatever_it_has_but_a_full_stop() -> None:
    many = "some words and more of them, " * 3
    assert long_sentences(f"It has {many}and a colon: {many}; then it ends.\nA short one.")
    assert not long_sentences(f"It has {many}.\n\n- {many}\n- {many}\n")


@pytest.mark.parametrize("name", pages())
def test_lines_of_prose_are_short(name: str) -> None:
    text = written_by_hand(read(name))
    prose = [line for line in text.splitlines() if not re.match(r"\||    |\[[^]]*\]: |!\[", line)]
    assert not [line for line in prose if len(line) > COLUMNS_MOST and " " in line.strip()]


@pytest.mark.parametrize("name", [*pages(), *GENERATED])
def test_no_line_begins_with_a_comment_in_the_midst_of_a_paragraph(name: str) -> None:
    assert not begin_html(read(name))


def test_a_figure_that_begins_a_line_is_found() -> None:
    figure = "<!-- figure: claims -->71<!-- / --> claims."
    assert begin_html(f"It has\n{figure}\n") == [figure]
    assert begin_html(f"1. {figure}\n") == [f"1. {figure}"]
    assert begin_html(f"- It has\n  {figure}\n") == [f"  {figure}"]
    assert not begin_html(f"It has {figure}\n\n<!-- measured: written by `make x` -->\n")
    assert not begin_html(f"```md\n{figure}\n```\n")


@pytest.mark.parametrize("folder", FOLDERS)
def test_sentences_of_comments_are_short(folder: str) -> None:
    assert not {
        name: found
        for name in in_folder(folder)
        if (found := [one for text in texts_of(name, read(name)) for one in long_sentences(text)])
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_lines_of_comments_are_short(folder: str) -> None:
    names = in_folder(folder)
    assert not {name: found for name in names if (found := long_lines(name, read(name)))}


LONG = "word " * 31
WIDE = "w" * COLUMNS_MOST


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", f"/// Returns {LONG[:80]}\n/// {LONG[80:]}\nfn f() {{}}"),
        ("a.rs", f'//! A crate.\n\nfn f() {{\n    let a = "// b"; // {LONG}\n}}'),
        ("a.py", f'def f():\n    """Return a.\n\n    {LONG[:80]}\n    {LONG[80:]}\n    """'),
        ("a.py", f"# {LONG[:80]}\n# {LONG[80:]}\na = 1  # noqa: E501"),
        ("a.toml", f'a = """\n# {LONG}"""\n# {LONG[:80]}\n# {LONG[80:]}\nb = "# {LONG}"'),
        ("a.toml", f'a = ["b"] # {LONG}\n'),
        ("Makefile", f"# {LONG[:80]}\n# {LONG[80:]}\nall:\n\tcargo build"),
    ],
)
def test_a_long_sentence_of_a_comment_is_found(name: str, text: str) -> None:
    found = [long for one in texts_of(name, text) for long in long_sentences(one)]
    assert len(found) == 1


def test_code_strings_and_lists_are_no_sentences() -> None:
    rust = f'let a = "{LONG}"; // b\n/// ```\n/// {LONG}\n/// ```\n/// - {LONG[:50]}\n/// - {LONG}'
    assert len([one for text in texts_of("a.rs", rust) for one in long_sentences(text)]) == 1
    click = f'def f():\n    """Print a.\n\n    \\b\n    {LONG}\n    """\na = "{LONG}"'
    assert not [one for text in texts_of("a.py", click) for one in long_sentences(text)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", f"    // {WIDE}"),
        ("a.py", f'"""Return.\n\n{WIDE} a\n"""\n'),
        ("a.py", f"# {WIDE}\n"),
        ("a.toml", f'a = "{WIDE}"\n# {WIDE}\n'),
        ("Makefile", f'help:\n\t@echo "{WIDE}"'),
    ],
)
def test_a_long_line_of_a_comment_is_found(name: str, text: str) -> None:
    assert len(long_lines(name, text)) == 1


def test_long_code_is_for_the_formatter() -> None:
    assert not long_lines("a.py", f"a = '{WIDE}'\nimport a  # noqa: E501  {WIDE}")
    assert not long_lines("a.rs", f'let a = "{WIDE}";')


@pytest.mark.parametrize("name", [*pages(), *GENERATED])
def test_no_figure_of_a_run_is_typed_into_prose(name: str) -> None:
    assert not [one for one in sentences(read(name)) if is_typed(one)]


@pytest.mark.parametrize(
    "sentence",
    [
        "It runs 4.6 million page operations a second.",
        "It is 7.5 times faster.",
        "Reads are 1.3× slower.",
        "The mean falls by 34 %.",
        "The 99th percentile drops from 812 µs to 512 µs.",
        "One core serves 880,000 requests a second.",
        "A drive of 2 TB takes 41 MB.",
        "Today 24 of 71 claims are reproduced.",
        "The p99 of reads is 812 µs.",
        "p99.9 rises to 5.4 ms.",
        "It has a mean latency of 1.02 ms.",
        "WAF is 2.8 under FIFO.",
        "The write amplification of the drive under FIFO stays at 1.2.",
        "Peak memory is 912 MB.",
        "A comparison needs 41 MB of memory.",
        "The run needs 1.22 s of processor time.",
        "The command takes 166 s.",
        "Reads take 1.2 ms on average.",
        "IOPS are 602.",
        "Bandwidth reaches 18.4 MB/s.",
        "The hit ratio is 0.41.",
        "Wear falls to 0.9×.",
        "34 % of the reads wait.",
        "It costs 3 % of the time.",
        "It simulates 4.6 million page operations.",
        "Of 1,903 tests 1,900 passed.",
        "Hits and misses agree in 17 of 18 cases.",
        "Four of the ten have no figure.",
        "The third takes about fourteen hours of one core.",
        "A full run takes four to five hours on two cores.",
        "They are done after 20 minutes.",
        "It takes three quarters of an hour.",
        "The build takes about three times as long.",
        "Reads wait 611 µs here.",
        "It needs a sixth of the time.",
        "The mean falls by 12 % in the paper and by 4.7 % under ours.",
    ],
)
def test_a_typed_figure_is_found(sentence: str) -> None:
    assert is_typed(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The drive has 7 % spare pages.",
        "In the paper fin2's wear falls by 2 %.",
        "Collection begins when 1 % of the blocks are free.",
        "The buffer has 50 MB, and a read takes 38 µs.",
        "A command with its address takes 290 ns.",
        "A twin has at most 60 million requests.",
        "The median of 40,000 requests has three digits.",
        "In a chart p99.9 stands at 0.1 %.",
        "Each application makes a request every 0.5 ms on average.",
        "Lifetime runs use a drive of 2 GiB.",
        "**Figure 7**: the mean is 4.67 under HWS.",
        "The model is overwritten five times.",
        "A disk has requests every four hours.",
        "It is one of three ways.",
        "A buffer of 1 or 16 MiB is as of 26 November 2026.",
    ],
)
def test_a_parameter_is_no_typed_figure(sentence: str) -> None:
    assert not is_typed(sentence)


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_exception_for_a_setting_is_needed(setting: str) -> None:
    found = [one for name in pages() for one in sentences(read(name)) if re.search(setting, one)]
    assert found
    assert all(RESULT.search(one) or TYPED.search(one) for one in found)


@pytest.mark.parametrize("name", [*pages(), *GENERATED])
def test_no_phrase_stands_that_a_reader_would_stop_at(name: str) -> None:
    lines = read(name).splitlines()
    found = [*lines, *sentences(read(name))]
    assert not [one for one in found if PHRASES.search(one)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_such_phrase_stands_in_a_comment(folder: str) -> None:
    for name in in_folder(folder):
        comments = [" ".join(one.split()) for one in texts_of(name, read(name))]
        assert not [one for one in comments if PHRASES.search(one)], name


def test_prose_and_comments_of_a_notebook_are_read() -> None:
    assert "docs/start/tutorial.ipynb" in pages()
    cells = [
        {"cell_type": "markdown", "source": ["It waits\n", "for ever. WAF is 2.8 under FIFO."]},
        {"cell_type": "code", "source": ["a = 'for ever'  # The write that was let go.\n"]},
    ]
    found = list(sentences(as_markdown("a.ipynb", json.dumps({"cells": cells}))))
    assert found == ["It waits for ever.", "WAF is 2.8 under FIFO.", "The write that was let go."]


def strings_of(name: str, text: str) -> list[str]:
    return list((rust_strings if name.endswith(".rs") else python_strings)(text))


@pytest.mark.parametrize("name", SHOWN)
def test_no_such_phrase_is_shown_to_a_user(name: str) -> None:
    assert not [one for one in strings_of(name, read(name)) if PHRASES.search(one)]


def test_a_phrase_is_found_wherever_it_stands() -> None:
    for phrase in ("Whom a page makes room for", "comes to a stand", "the write that was let go"):
        assert PHRASES.search(phrase)
    rust = 'f("arrivals are \\\n    moot"); // a\n/// as the\n/// machine is\nstruct A;'
    assert [one for one in strings_of("a.rs", rust) if PHRASES.search(one)]
    comments = [" ".join(one.split()) for one in texts_of("a.rs", rust)]
    assert [one for one in comments if PHRASES.search(one)] == ["as the machine is"]
    python = 'def f():\n    """Return who waits."""\n    return f"{1} is told in one line"'
    assert [one for one in strings_of("a.py", python) if PHRASES.search(one)]
    assert [one for one in texts_of("a.py", python) if PHRASES.search(one)]


def test_presets_bundles_and_settings_of_tools_are_read() -> None:
    for name in ("Cargo.toml", ".cargo/mutants.toml", "deny.toml"):
        assert name in SOURCES
    for kind in ("presets", "bundles", "twins"):
        assert [name for name in SOURCES if name.endswith(".toml") and f"/{kind}/" in name], kind


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_name_of_a_function_is_no_riddle(folder: str) -> None:
    for name in in_folder(folder):
        assert not [one for one in functions(read(name)) if RIDDLES.search(one)], name


def test_a_riddle_is_found() -> None:
    rust = "#[test]\nfn who_drops_nothing_is_nobody() {}\n    pub(crate) const fn whole() {}"
    assert functions(rust) == ["who_drops_nothing_is_nobody", "whole"]
    assert [one for one in functions(rust) if RIDDLES.search(one)] == [functions(rust)[0]]
    python = "class A:\n    def test_a_write_that_was_let_go(self): ..."
    assert [one for one in functions(python) if RIDDLES.search(one)]


def test_tables_and_generated_parts_are_no_prose() -> None:
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
    assert is_typed(found[1])
    assert PHRASES.search(found[1])


BRITISH = re.compile(
    r"colour|behaviour|neighbour|favour|(?<![a-z])grey|labelled(?!by)|modelled|levelled|cancelled"
    r"|judgement|catalogue|centre|licence|fibre|"
    r"(?:character|critic|initial|maxim|minim|normal|optim|organ|priorit|quant|random|recogn|serial|summar"
    r"|synchron|util)is(?:e[drs]?|ing|ations?)(?![a-z])",
    re.IGNORECASE,
)
"""Words that Americans spell otherwise."""
OWN = Path(__file__).relative_to(ROOT).as_posix()


FORMS = [str(path.relative_to(ROOT)) for path in ROOT.glob(".github/**/*") if path.is_file()]


@pytest.mark.parametrize(
    "name",
    [*pages(), *FORMS, *(one for one in SOURCES if one.endswith((".py", "Makefile")))],
)
def test_words_are_spelled_as_americans_do(name: str) -> None:
    # Old names stay as they were.
    assert name == OWN or name.endswith("renamed.py") or not BRITISH.findall(read(name))
    assert not BRITISH.search(name)


def test_names_in_rust_are_spelled_as_americans_do() -> None:
    # Old names of a config, and titles of papers, stay as they were. The key `pages.centre` is part
    # of the hashes of configs.
    for name in [*sources(".rs"), *toml_files()]:
        text = re.sub(r"Source: .*", "", read(name))
        found = set(BRITISH.findall(text)) - {"centre"}
        assert name.endswith("renamed.rs") or not found, name
        assert not BRITISH.search(name)


def test_a_british_spelling_is_found() -> None:
    for word in ("colour", "Neighbours", "grey", "normalised", "licence", "labelled"):
        assert BRITISH.search(word)
    for name in ("the_catalogue", "POOLS_LEVELLED", "is_recognised_by", "pages.centre"):
        assert BRITISH.search(name)
    for word in ("color", "aria-labelledby", "normalize", "serial", "analysis", "utilization"):
        assert not BRITISH.search(word)


def test_an_entry_of_the_changelog_has_one_line() -> None:
    entries = read("CHANGELOG.md").partition("\n### ")[2].splitlines()[1:]
    assert len(entries) > 20
    assert not [line for line in entries if line and not line.startswith(("- ", "## ", "### "))]


PAGES_WORDS_ONCE = 115_000
"""The words of the pages before the site, those of generated tables and lists included.

About 47,000 of them were written by hand. The site says more in fewer.
"""
PAGES_WORDS_MOST = 45_000
"""The most words of README, CONTRIBUTING and the docs that people wrote.

They have few less, so that a new page makes room by cutting another.
"""


def test_the_pages_stay_short() -> None:
    words = {
        name: words_by_hand(read(name))
        for name in [*pages(), *GENERATED]
        if name.startswith("docs/") or name in {"README.md", "CONTRIBUTING.md"}
    }
    assert len(words) > 40
    assert 0.9 * PAGES_WORDS_MOST < sum(words.values()) <= PAGES_WORDS_MOST
    assert PAGES_WORDS_MOST <= PAGES_WORDS_ONCE / 2
    # CONTRIBUTING states the limit.
    assert f"at most {PAGES_WORDS_MOST:,} words" in read("CONTRIBUTING.md")
    # A person wrote the introduction of the ledger, and nothing on the page of keys.
    assert words["docs/ledger.md"]
    assert not words["docs/reference/config.md"]


def test_words_of_tables_and_commands_count_and_generated_ones_do_not() -> None:
    page = """# Two words

| a | b |
|---|---|

    ssdlab run

<!-- one: written by `make x` -->
Not counted.
<!-- end of one -->
It has <!-- figure: claims -->71<!-- / --> claims.
"""
    assert words_by_hand(page) == 2 + 2 + 2 + 4
    assert words_by_hand(f"<!-- Generated by `make docs`. -->\n\n{page}") == 0


TOUR = [
    path
    for folder in ("start", "guides", "systems", "reference")
    for path in (ROOT / "docs" / folder).glob("*.md")
]


@pytest.mark.parametrize("path", TOUR, ids=lambda path: path.stem)
def test_a_page_opens_with_its_purpose_and_a_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first, *_ = paragraphs(text)
    assert len(first.split()) <= 2 * WORDS_MOST
    opening = "\n".join(text.splitlines()[:15])
    assert re.search(r"^(?:```|    (?:ssdlab|make|pip|git)|    \.venv)", opening, re.MULTILINE)


SYSTEMS = sorted((ROOT / "docs" / "systems").glob("*.md"))


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.stem)
def test_the_page_of_a_system_names_its_limits(path: Path) -> None:
    text = OWNED.sub("", path.read_text(encoding="utf-8"))
    _, heading, below = text.partition("\n## Limits\n")
    assert heading
    limits = re.findall(r"^- \S", below.partition("\n## ")[0], re.MULTILINE)
    assert len(limits) >= 3
