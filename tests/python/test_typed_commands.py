"""The commands outside of blocks that ``test_pages.py`` runs: each is accepted, and runs shortened.

A page shows runs that take minutes, and ledgers that take hours. Here they have few requests.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest
from command import ROOT, Ssdlab, load_module

from ssdlab import _native
from ssdlab.cli import main, options
from ssdlab.cli import run as runs
from ssdlab.errors import InputError
from ssdlab.plan import to_json
from ssdlab_reproduction.claim import SYSTEMS, claims

RUN_BY_A_TEST = re.compile(r"^```(?:console|sh|python)\n.*?^```$", re.MULTILINE | re.DOTALL)
"""What ``test_pages.py`` runs."""
FENCED = re.compile(r"^```(?:text|bash)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
TYPED = re.compile(r"^ *(?:\$ )?(?:\.venv/bin/)?ssdlab (.*)$", re.MULTILINE)
TARGET = re.compile(r"^ *(?:\w+=\S+ )*make (?:\w+=\S+ )*([\w-]+)", re.MULTILINE)
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("crates/*/src/**/README.md")),
]


def blocks(page: str) -> list[str]:
    """Return the blocks of a page that ``test_pages.py`` does not run, each command on a line."""
    left = RUN_BY_A_TEST.sub("", page)
    found = [block[1] for block in FENCED.finditer(left)]
    found += INDENTED.findall(FENCED.sub("", left))
    return [re.sub(r"\\\n\s*", "", block) for block in found]


def typed(page: str) -> Iterator[str]:
    """Yield the arguments of each command in such a block."""
    for block in blocks(page):
        yield from TYPED.findall(block)


def check(arguments: list[str]) -> None:
    """Parse a command as click does before it runs it, and look up what it names."""
    context = click.Context(main.ssdlab, info_name="ssdlab")
    command: click.Command | None = main.ssdlab
    while isinstance(command, click.Group):
        if arguments[0].startswith("-"):
            # Such an option prints and ends the command.
            with suppress(click.exceptions.Exit):
                command.make_context("ssdlab", arguments)
            return
        name, command, arguments = command.resolve_command(context, arguments)
        assert command is not None
        if not isinstance(command, click.Group):
            context = command.make_context(name, arguments, parent=context)
    parameters = context.params
    if command in {runs.run, runs.compare}:
        for plan in runs._plans(parameters):
            _native.effective(to_json(plan))
        # A file of the reader's own has an ending.
        apps = options._mix(parameters["mix"], parameters["app"])
        check_known([app.file for app in apps if "." not in app.file], TWINS)
    if command is main.ssdlab.commands["reproduce"]:
        check_known(parameters["names"], {*SYSTEMS, *(one.id for one in claims())})


TWINS = {one["name"] for one in json.loads(_native.twins())}


def check_known(names: Iterable[str], known: set[str]) -> None:
    if unknown := set(names) - known:
        raise InputError(f"unknown: {unknown}")


COMMANDS = [
    pytest.param(command, id=f"{page.relative_to(ROOT)}: {command[:40]}")
    for page in PAGES
    for command in typed(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_a_page_is_one_that_ssdlab_accepts(command: str) -> None:
    check(shlex.split(command, comments=True))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


SHORTER = {"--limit": "400", "--warmup": "100", "--seeds": "2", "--seconds": "1"}
"""Values that make a command short."""
LEFT_OUT = {
    "--precondition": "overwrites the drive several times: minutes",
    "--until-worn": "repeats the load for hours",
    "--out": "would repeat the same runs for another folder",
}
"""Options that a short command does not have, and why."""
SMALLER = {"readguard-tlc-2t": "readguard-tlc-500g"}
"""Devices that take long to fill, and their like."""
CLAIM = {"dlv": "D12", "pa-ssd": "P17", "pv-read": "V13", "readguard": "R14", "hire": "H4"}
"""A claim for each ledger that takes minutes or hours."""
FILES = {"FILE": "examples/office.csv.xz", "DIR": "traces"}
"""What the reader has, and what stands for it."""
OF_READER = re.compile(r"(?<==)(?:kv|web|backup)\.csv\.gz")
COMMANDS_OF_PAGES = load_module(ROOT / "docs" / "generators" / "commands.py")


def shortened(command: str) -> list[str]:
    """Return the arguments of a command that does the same in short."""
    words = iter(shlex.split(command, comments=True))
    name, found = next(words), list[str]()
    for word in words:
        if word in LEFT_OUT:
            next(words)
        elif word in SHORTER:
            found += [word, SHORTER[word]]
            next(words)
        else:
            file = OF_READER.sub(FILES["FILE"], FILES.get(word, word))
            found.append(SMALLER.get(file, file))
    if name in {"run", "compare"} and "--limit" not in found:
        found += ["--limit", SHORTER["--limit"]]
    if name == "reproduce":
        names = [CLAIM.get(word, word) for word in found]
        if not names or names[0].startswith("-"):
            names = [CLAIM["dlv"], *names]
        found = [word for word in names if word != "--quick"] + ["--quick"]
        if "--seeds" not in found:
            found += ["--seeds", "1"]
    return [name, *found]


SHORT = sorted({shlex.join(shortened(text)) for page in PAGES for text in typed(text_of(page))})


@pytest.mark.parametrize("command", SHORT, ids=lambda text: text[:100])
def test_a_command_of_a_page_runs(command: str, ssdlab: Ssdlab, tmp_path: Path) -> None:
    COMMANDS_OF_PAGES.prepare(tmp_path)
    done = ssdlab(*shlex.split(command))
    assert done.code == 0, done.err
    assert done.out


def test_a_short_command_keeps_all_but_its_length() -> None:
    assert shortened("run --trace FILE --wrap  # a") == [
        *("run", "--trace", FILES["FILE"], "--wrap", "--limit", "400")
    ]
    assert shortened(
        "compare --limit 9 --precondition steady --seeds 5 --app a=kv.csv.gz@queue=1"
    ) == [*("compare", "--limit", "400", "--seeds", "2", "--app", f"a={FILES['FILE']}@queue=1")]
    one = ["--quick", "--seeds", "1"]
    assert shortened("reproduce") == ["reproduce", "D12", *one]
    assert shortened("reproduce hire --out hire") == ["reproduce", "H4", *one]
    assert shortened("reproduce R14 P1") == ["reproduce", "R14", "P1", *one]
    assert shortened("doctor") == ["doctor"]


def test_a_make_command_of_a_page_names_a_target() -> None:
    targets = set(re.findall(r"^([\w-]+):(?!=)", text_of(ROOT / "Makefile"), re.MULTILINE))
    found = [
        (page.name, target)
        for page in PAGES
        for block in blocks(text_of(page))
        for target in TARGET.findall(block)
    ]
    assert len(found) > 20
    assert not [one for one in found if one[1] not in targets]


def test_commands_of_blocks_are_found_and_sentences_are_not() -> None:
    assert len(COMMANDS) > 30
    page = (
        "ssdlab simulates.\n\n```sh\nssdlab doctor\n```\n\n```text\nssdlab run \\\n    --seed 1\n"
        "```\n\n    ssdlab ldpc\n    make\n    .venv/bin/ssdlab doctor\n\n- It is\n  ssdlab runs.\n"
    )
    assert list(typed(page)) == ["run --seed 1", "ldpc", "doctor"]


@pytest.mark.parametrize(
    "command",
    [
        "rum",
        "run --divice dlv-mlc-128g",
        "run --device dlv-mlc-128",
        "run --workload nope",
        "run --limit 0",
        "compare --scheme baseline,dlw --device dlv-mlc-128g",
        "compare --workload zipf --vary scheduler=fifo,fofo",
        "run --set scheduler.x=1",
        "run --device readguard-tlc-2t --app high=dlv/nope,low=dlv/hm0",
        "reproduce dlw",
        "state sav",
        "--versions",
    ],
)
def test_a_command_with_a_wrong_name_is_found(command: str) -> None:
    with pytest.raises((click.UsageError, InputError)):
        check(shlex.split(command))


def test_the_pages_that_are_read_are_there() -> None:
    assert ROOT / "docs/systems/hire.md" in PAGES
    assert ROOT / "crates/ssdlab-schemes/src/hire/README.md" in PAGES
