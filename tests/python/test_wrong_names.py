"""An error names what the user typed, and the name that the user most likely meant."""

import pytest
from command import Ssdlab

import ssdlab as lab

DEVICES = ", ".join(lab.presets())
SCHEMES = ", ".join(lab.schemes())
WORKLOADS = "random, sequential, zipf, hotcold, bursty, or a twin such as dlv/hm0"
TABLES = (
    "background, buffer, eviction, flash, ftl, geometry, host, metadata, physics, placement, "
    "program_mode, read_start, scheduler, start, suspend, timing, workload"
)

# The typed arguments, the error, and the suggested name.
MEANT = [
    ("--device dlv", f'not a device: got "dlv", expected {DEVICES}', "dlv-mlc-128g"),
    (
        "--device readguard",
        f'not a device: got "readguard", expected {DEVICES}',
        "readguard-tlc-2t",
    ),
    ("--device MLC", f'not a device: got "MLC", expected {DEVICES}', "generic-mlc-512g"),
    ("--scheme rgf", f'not a scheme: got "rgf", expected {SCHEMES}', "readguard/rgftl"),
    ("--scheme wooo", f'not a scheme: got "wooo", expected {SCHEMES}', "dlv/woo"),
    ("--workload seq", f'unknown workload: got "seq", expected {WORKLOADS}', "sequential"),
    ("--workload hm_0", f'unknown workload: got "hm_0", expected {WORKLOADS}', "dlv/hm0"),
]

# Options of `run`, and the line.
LINES = [
    (
        "--scheme readguard/rgftl --device dlv-mlc-128g --set start.fill=10%",
        (
            "--scheme: does not work on this device: got readguard/rgftl on dlv-mlc-128g, "
            "expected --device readguard-tlc-2t "
            '(host.queues: got 1, expected 2 to 5 with scheduler = "strict_priority")'
        ),
    ),
    (
        "--set scheduler=strict_priority",
        (
            "built-in default: host.queues: got 1, "
            'expected 2 to 5 with scheduler = "strict_priority" (--set host.queues changes it)'
        ),
    ),
    (
        "--set start.history=true",
        (
            "--set start.history=true: start.history: got a history, "
            "expected no such setting without start.fill"
        ),
    ),
    ("--set op=7%", f"--set op=7%: op: unknown key: expected one of {TABLES}"),
    (
        "--set seed=3",
        (
            f"--set seed=3: seed: unknown key: expected one of {TABLES} "
            "(--seed is an option, not a setting)"
        ),
    ),
    (
        "--set victim=greedy",
        '--set victim=greedy: victim: unknown key (did you mean "background.gc.victim"?)',
    ),
    (
        '--set start.history.tenants=[{footprint="1GiB",writes="2GiB"}]',
        (
            '--set start.history.tenants=[{footprint="1GiB",writes="2GiB"}]: '
            "start.history.tenants[0].writes: unknown key "
            '(did you mean "writes_per_day" or "scheduler.dlv.writes"?)'
        ),
    ),
    (
        "--set background=gc",
        (
            '--set background=gc: background: got "gc", expected a table of dual_pool, gc, '
            "inversion_repair, read_hot_migration, static_wear_leveling, subpool_gc "
            '(did you mean "background.gc"?)'
        ),
    ),
    (
        "--set background.gc=off",
        (
            '--set background.gc=off: background.gc: got "off", '
            'expected true, false or a table (did you mean "false"?)'
        ),
    ),
    (
        "--set suspend=on",
        '--set suspend=on: suspend: got "on", expected one of none, program_erase, esra',
    ),
    (
        "--set geometry.page_size=64KiB",
        (
            '--set geometry.page_size=64KiB: geometry.page_size: got "64KiB", '
            'expected a size in multiples of 512B up to 32KiB, such as "16KiB"'
        ),
    ),
    ("--fill 90%", "ssdlab run: no such option --fill"),
    ("--settle 3", 'ssdlab run: no such option --settle (did you mean "--until-settled"?)'),
    ("--work random", 'ssdlab run: no such option --work (did you mean "--workload"?)'),
]


@pytest.mark.parametrize(("typed", "line", "meant"), MEANT, ids=[case[0] for case in MEANT])
def test_a_part_of_a_name_suggests_the_name(
    ssdlab: Ssdlab, typed: str, line: str, meant: str
) -> None:
    done = ssdlab("run", *typed.split(" "))
    option = typed.partition(" ")[0]
    assert (done.err, done.code) == (f'{option}: {line} (did you mean "{meant}"?)\n', 2)


@pytest.mark.parametrize(("typed", "line"), LINES, ids=[case[0] for case in LINES])
def test_the_line_says_what_was_typed(ssdlab: Ssdlab, typed: str, line: str) -> None:
    done = ssdlab("run", *typed.split(" "))
    assert (done.err, done.out, done.code) == (line + "\n", "", 2)


ARGUMENTS = [
    ("physics --device dlv-mlc-128g", "--device", "ssdlab physics DEVICE"),
    ("preset show --name dlv-mlc-128g", "--name", "ssdlab preset show NAME"),
]


@pytest.mark.parametrize(("typed", "option", "usage"), ARGUMENTS)
def test_an_argument_typed_as_an_option_shows_where_it_belongs(
    ssdlab: Ssdlab, typed: str, option: str, usage: str
) -> None:
    done = ssdlab(*typed.split(" "))
    command = usage.rpartition(" ")[0]
    line = f"{command}: no such option {option}, expected an argument: {usage}\n"
    assert (done.err, done.out, done.code) == (line, "", 2)


def test_an_argument_is_not_suggested_as_an_option(ssdlab: Ssdlab) -> None:
    done = ssdlab("physics", "--devise", "dlv-mlc-128g")
    assert done.err == "ssdlab physics: no such option --devise\n"
