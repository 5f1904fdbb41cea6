"""The commands that pages show and no test runs are ones that ssdlab accepts, names included."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress

import click
import pytest
from command import ROOT

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
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("crates/*/src/**/README.md")),
]


def typed(page: str) -> Iterator[str]:
    """Yield the arguments of each command of a page that no test runs."""
    left = RUN_BY_A_TEST.sub("", page)
    blocks = [block[1] for block in FENCED.finditer(left)]
    for block in [*blocks, *INDENTED.findall(FENCED.sub("", left))]:
        yield from TYPED.findall(re.sub(r"\\\n\s*", "", block))


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
