"""The drives of docs/systems/all-five.md: subsets of the parts of all five systems, and the mixes.

All of them build on the same drive (``five-tlc-512g``), which has queues by priority and reads that
interrupt programs and erases, as many drives had before the five papers. They begin in the steady
state of uniform overwriting: requests of a history have one page each, so that placement by size
would see only small writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import ssdlab
from ssdlab.traces import App
from ssdlab_reproduction.tables.common import load

DEVICE, SCHEME = "five-tlc-512g", "all-five"
ORDER, OVER, TYPES, BLOCK_CLASSES, HOT, VOLTAGES, STREAMS = PARTS = (
    "DLV's order",
    "reads over reads",
    "page types",
    "subpools",
    "read-hot placement",
    "voltages",
    "streams",
)
GONE: Mapping[str, Sequence[str]] = {
    ORDER: ["scheduler=strict_priority"],
    TYPES: ["ftl.page_order=strict", "timing.wordline_buffer=true"],
    BLOCK_CLASSES: [
        "metadata.block_class=none",
        "metadata.retry_estimate=none",
        "ftl.free_block_policy=least_erased",
        "background.subpool_gc=false",
        "background.inversion_repair=false",
        "background.dual_pool=false",
    ],
    HOT: ["background.read_hot_migration=false"],
    VOLTAGES: [
        "metadata.page_hotness=none",
        'program_mode=["normal"]',
        "start.program_mode=normal",
    ],
}
"""The settings that remove a part from the scheme, which has one of two orders of reads."""
ADDED: Mapping[str, Sequence[str]] = {OVER: ["suspend.esra.reads=true"]}
"""The settings that add a part that the scheme does not have."""

MIXES: Mapping[str, Sequence[str]] = {
    "oltp": ["dlv/fin2", "hire/fin1", "pv-read/stg0"],
    "office": ["dlv/web0", "pv-read/hm0", "pa-ssd/msfs"],
    "build": ["hire/usr0", "readguard/ali121", "pa-ssd/bs"],
    "archive": ["pv-read/wdev0", "dlv/src12", "readguard/ali284"],
}
"""The twins of high, mid and low priority, each of another paper. No choice rests on these."""
TUNED_ON: Mapping[str, Sequence[str]] = {
    "search": ["hire/websearch", "pa-ssd/exch", "dlv/proj0"],
    "store": ["readguard/ycsb-b", "pa-ssd/dap", "hire/prn0"],
}
"""The mixes that decide which subset is the best."""
PER_SECOND = 2000.0
"""The mean number of requests per second of each application, over its twin."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A drive in the comparison: parts of the scheme, or another scheme."""

    parts: frozenset[str] = frozenset()
    scheme: str = SCHEME


BASE = Kind()
WHOLE = Kind(frozenset({ORDER, TYPES, BLOCK_CLASSES, HOT, VOLTAGES}))
SYSTEMS = ("dlv/dlv", "pa-ssd/qds+ubs", "readguard/rgftl", "hire/hire")
BY_ITSELF: Mapping[str, Kind] = {name: Kind(scheme=name) for name in SYSTEMS}
"""The systems alone on this drive, except PV-read, which collects its groups for hours."""
READS_OVER_READS = "readguard/rgftl"
"""The system whose reads interrupt reads, which the drive forbids by itself."""


def subsets() -> Iterator[Kind]:
    """Yield the drives with every subset of the parts of the five systems that fit together."""
    for order, types, blocks, voltages in product(
        ((), (ORDER,), (OVER,)),
        ((), (TYPES,)),
        ((), (BLOCK_CLASSES,), (BLOCK_CLASSES, HOT)),
        ((), (VOLTAGES,)),
    ):
        yield Kind(frozenset((*order, *types, *blocks, *voltages)))


def without(kind: Kind, part: str) -> Kind:
    """Return a drive without a part, and without the part that needs it."""
    return Kind(kind.parts - {part} - ({HOT} if part == BLOCK_CLASSES else set()))


_EXCLUDES = {ORDER: {OVER}, OVER: {ORDER}, TYPES: {STREAMS}, STREAMS: {TYPES}}
"""The part that cannot be on a drive with another: two orders of reads, or of pages."""


def added(kind: Kind, part: str) -> Kind:
    """Return a drive with one more part and what it needs, without a part that excludes it."""
    needed = {BLOCK_CLASSES} if part == HOT else set()
    return Kind((kind.parts - _EXCLUDES.get(part, set())) | {part} | needed)


def settings(kind: Kind) -> Sequence[str]:
    """Return the settings that make a drive of its scheme."""
    if kind.scheme != SCHEME:
        return ADDED[OVER] if kind.scheme == READS_OVER_READS else []
    gone = [line for part, lines in GONE.items() if part not in kind.parts for line in lines]
    more = [line for part, lines in ADDED.items() if part in kind.parts for line in lines]
    links = ["{priority={}}"] if BLOCK_CLASSES in kind.parts else []
    links += ['"sbs"', '"ubs"'] if TYPES in kind.parts else []
    links += ['"sepbit"'] if STREAMS in kind.parts else []
    place = ",".join(links or ['"next_page"'])
    return [*gone, *more, f"placement=[{place}]"]


def twins_of(mix: str) -> Sequence[str]:
    """Return the twins of a mix, the highest priority first."""
    return {**MIXES, **TUNED_ON}[mix]


def apps(mix: str) -> list[App]:
    """Return the applications of a mix, all at the same rate."""
    return [
        App(twin, name, queue=at, scale=load(twin)[0] / PER_SECOND)
        for at, (name, twin) in enumerate(zip(("high", "mid", "low"), twins_of(mix), strict=True))
    ]


def plan(kind: Kind, mix: str, seed: int, settling: int, limit: int) -> ssdlab.Plan:
    """Return a run that counts the requests from ``settling`` to ``limit``."""
    return ssdlab.Plan(
        device=DEVICE,
        scheme=kind.scheme,
        mix=apps(mix),
        seed=seed,
        limit=limit,
        warmup=settling,
        set=settings(kind),
    )
