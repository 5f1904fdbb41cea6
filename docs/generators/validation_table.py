"""Write the tables of docs/project/validation.md: theory, and MQSim.

``theory.json`` and ``mqsim.json`` beside this script hold the figures.

- ``validation_table.py theory FILE`` records what the tests of theory print (``make theory``).
- ``validation_table.py mqsim`` records our figures for MQSim's cases (``make validation``). With
  ``MQSIM_TRACES=DIR`` it runs two cases more: DIR has ``tpcc-small.trace`` and
  ``wsrch-small.trace``, which come with MQSim. Without it their last figures stay.

Both write the page. MQSim's own figures are typed: those that it printed, in
tests/validation/mqsim.py and below.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mqsim
import traces
from scipy.special import lambertw

import ssdlab
from ssdlab_reproduction.tables.common import DOCS, fill, grid

PAGE = DOCS / "project" / "validation.md"
THEORY, MQSIM = (Path(__file__).with_name(f"{name}.json") for name in ("theory", "mqsim"))
PRINTED = re.compile(
    r"^(?:test .* \.\.\. )?(.*): measured ([\d.]+), theory ([\d.]+), ", re.MULTILINE
)
"""A line of the tests of theory: what, measured, expected."""
SHIPPED = ("tpcc-small", "wsrch-small")
"""The cases whose traces come with MQSim."""
STEPS = {
    "the preset": [],
    "+ one die at a time": ["flash.array=chip"],
    "+ commands on the bus, first come first served": ["flash.command_time=290ns"],
    "+ pages read out go first": ["flash.bus_order=data_out_first"],
}
"""What turns the preset into MQSim's back end, step by step (tests/validation/as-mqsim.toml)."""
STEPPED = ("r-moderate", "r-large", "w-moderate")
MQSIM_MIX = {"die": 96, "read": 231.9, "write": 951.1}
"""MQSim's means for mix-5050, us: the wait of a page for a die, then reads and writes."""
MQSIM_LONGEST_MS = 1
"""MQSim's longest read of tpcc-small."""
Recorded = dict[str, Any]
Sections = dict[str, list[str]]

# --- Theory ---

KINDS = {
    "M/D/1": "M/D/1, reads of 75 + 20 µs",
    "M/G/1": "M/G/1, reads of three page types, 40, 75, 160 + 20 µs",
    "M/D/1 with cache read": "M/D/1, reads with cache read, 75 µs",
    "M/D/1 of writes": "M/D/1, writes of 20 + 750 µs",
}
LOADS = {"M/D/1 with cache read": "0.7", "M/D/1 of writes": "0.5"}
"""The loads of the tests that print none."""
SPARE = (7, 10, 15, 20, 28, 40, 50)
VICTIMS = {
    "FIFO": "Fifo",
    "random": "Random",
    "random, large blocks": "PureRandom",
    "best of 2": "Choices(2)",
    "best of 4": "Choices(4)",
    "best of 10": "Choices(10)",
    "greedy": "Greedy",
}
FEW_BLOCKS, FEW_PAGES, FEW_SPARE = 4096, 16, 0.07
"""The drive on which the drive's rule matters most."""


def record_theory(printed: str) -> Recorded:
    """Return the figures that the tests print."""
    found = PRINTED.findall(printed)
    lines = [[what, float(own), float(formula)] for what, own, formula in found]
    return {"version": ssdlab.__version__, "lines": lines, "fifo_few_pages": _fifo_of_few_pages()}


def _fifo_of_few_pages() -> list[float]:
    """Return the write amplification of FIFO with few pages in a block, and its formula's."""
    user = int(FEW_BLOCKS * FEW_PAGES * (1 - FEW_SPARE))
    settings = [
        *(f"geometry.{part}=1" for part in ("channels", "chips", "dies", "planes")),
        *(f"timing.{part}=1us" for part in ("read", "program", "erase")),
        *("geometry.page_size=4KiB", "geometry.cell=slc", f"geometry.blocks={FEW_BLOCKS}"),
        *(f"geometry.pages={FEW_PAGES}", f"ftl.overprovisioning={FEW_SPARE}", "start.fill=1"),
        *("flash.array=plane", "flash.bus_rate=8GB/s", "background.gc.victim=fifo"),
        *("background.gc.threshold=0", "background.gc.hard_threshold=0"),
        *("workload.read_share=0", 'workload.sizes=["4KiB"]', f"workload.footprint={user * 4}KiB"),
        f"workload.requests={8 * user}",
    ]
    plan = ssdlab.Plan(
        device=mqsim.DEVICE, workload="random", set=settings, closed=1, warmup=str(5 * user)
    )
    found = [result.waf for result in ssdlab.compare(ssdlab.sweep(plan, seeds=3))]
    alpha = (FEW_BLOCKS - 3) * FEW_PAGES / user
    formula = alpha / (alpha + float(lambertw(-alpha * math.exp(-alpha)).real))
    return [sum(one or 0 for one in found) / len(found), formula]


def _by_name(recorded: Recorded) -> dict[str, tuple[float, float]]:
    """Return what was measured and the formula's figure, by what it is."""
    return {what: (own, formula) for what, own, formula in recorded["lines"]}


def _off(measured: float, theory: float) -> str:
    return f"{100 * (measured / theory - 1):+.1f} %".replace("-", "−")


def queues(recorded: Recorded) -> list[str]:
    """Return the table of waits, in microseconds."""
    rows = []
    for kind, about in KINDS.items():
        for what, own, formula in recorded["lines"]:
            name, _, load = what.partition(" at ")
            if name == kind:
                shown = "" if rows and about in {row[0] for row in rows} else about
                figures = [f"{own:.2f}", f"{formula:.2f}", _off(own, formula)]
                rows.append([shown, load or LOADS[kind], *figures])
    return grid(["queue", "load", "measured", "theory", "off"], rows)


def amplification(recorded: Recorded) -> list[str]:
    """Return the table of write amplification: measured, and how far off theory."""
    lines, rows = _by_name(recorded), []
    for spare in SPARE:
        cells = []
        for name in VICTIMS.values():
            pages = {"PureRandom": 1024 if spare < 15 else 256}.get(name, 64)
            own, formula = lines[f"{name}, {spare} % spare, {pages} pages in a block"]
            cells.append(f"{own:.3f} ({_off(own, formula)})")
        rows.append([f"{spare} %", *cells])
    return grid(["spare", *VICTIMS], rows)


def few_pages(recorded: Recorded) -> list[str]:
    """Return the table of small blocks and little spare."""
    own, formula = _by_name(recorded)["Random, 7 % spare, 16 pages in a block"]
    user = int(FEW_BLOCKS * FEW_PAGES * (1 - FEW_SPARE))
    alpha = (FEW_BLOCKS - 3) * FEW_PAGES / user
    fifo, fifo_formula = recorded["fifo_few_pages"]
    rows = [
        ["`random`", f"{alpha / (alpha - 1):.1f}", f"{formula:.1f}", f"{own:.1f}"],
        ["`fifo`", f"{fifo_formula:.1f}", "–", f"{fifo:.1f}"],
    ]
    return grid(["victim policy", "formula for any block", "without full blocks", "drive"], rows)


# --- MQSim ---


def record_mqsim(folder: str | None, before: Recorded) -> Recorded:
    """Run the cases; those of MQSim's own traces stay as they were without a folder of them."""
    cases, steps = {}, {}
    with tempfile.TemporaryDirectory() as made:
        for name in (*traces.CASES, *SHIPPED, "gc-small"):
            if name in SHIPPED and folder is None:
                cases[name] = before["cases"][name]
                continue
            shipped = name in SHIPPED
            trace = (
                Path(folder or "") / f"{name}.trace" if shipped else traces.write(Path(made), name)
            )
            print(name, file=sys.stderr, flush=True)
            cases[name] = {
                about: _figures(mqsim.replay(name, trace, as_mqsim=about == "as_mqsim"))
                for about in ("as_mqsim", "preset")
            }
            if name in STEPPED:
                steps[name] = list(_in_steps(trace))
    return {"version": ssdlab.__version__, "cases": cases, "steps": steps}


def _figures(ours: mqsim.Ours) -> Recorded:
    result = ours.result
    return {
        "response_us": ours.response_us,
        "device_us": ours.device_us,
        "operations": [ours.operations(kind) for kind in ("read", "program", "erase")],
        "read_us": result.read.latency_us.mean,
        "write_us": result.write.latency_us.mean,
        "longest_read_us": result.read.latency_us.max,
        "read_die_us": result.read.blame_us["die_host"],
    }


def _in_steps(trace: Path) -> Iterable[float]:
    """Yield the mean time of a request in the drive, after each step."""
    settings: list[str] = []
    for more in STEPS.values():
        settings += more
        result = ssdlab.run(device=mqsim.DEVICE, trace=f"{trace}:mqsim", set=list(settings))
        yield mqsim.Ours(result).device_us


def compared(cases: Recorded) -> list[str]:
    """Return the table of all cases."""
    rows = []
    for name, own in cases.items():
        printed, alike, plain = mqsim.MQSIM[name], own["as_mqsim"], own["preset"]
        theirs = [printed.reads, printed.programs, printed.erases]
        rows.append(
            [
                *(name, str(printed.response_us), f"{alike['response_us']:.1f}"),
                f"{alike['response_us'] / printed.response_us:.3f}",
                *(" / ".join(map(str, counts)) for counts in (theirs, alike["operations"])),
                f"{plain['response_us']:.1f}",
                f"{plain['response_us'] / printed.response_us:.3f}",
            ]
        )
    heads = ["case", "MQSim", "as MQSim", "ratio", "operations of MQSim", "as MQSim", "the preset"]
    return grid([*heads, "ratio"], rows)


def stepwise(steps: Recorded) -> list[str]:
    """Return the table of the steps from the preset to MQSim's back end."""
    rows = [
        [about, *(f"{steps[name][at]:.1f}" for name in STEPPED)] for at, about in enumerate(STEPS)
    ]
    least = []
    for name in STEPPED:
        kib = traces.CASES[name].sizes_kib[0]
        without = mqsim.MQSIM[name].response_us - mqsim.LINK_US - mqsim.LINK_US_A_4KIB * kib / 4
        least.append(f"{without:.1f} to {without + 1:.1f}")
    return grid(["", *STEPPED], [*rows, ["MQSim", *least]])


def means(own: Recorded) -> list[str]:
    """Return the table of means over requests and over pages."""
    die, read, write = (f"{own[key]:.1f}" for key in ("read_die_us", "read_us", "write_us"))
    rows = [
        ["wait of a read for a die", f"{die}, over requests", f"{MQSIM_MIX['die']}, over pages"],
        ["time of a read in the drive, over requests", read, f"{MQSIM_MIX['read']}"],
        ["time of a write in the drive, over requests", write, f"{MQSIM_MIX['write']}"],
    ]
    return grid(["what", "ssdlab", "MQSim"], rows)


def longest(own: Recorded) -> list[str]:
    """Return the table of the longest reads."""
    ours = f"{own['longest_read_us'] / 1000:.0f} ms"
    return grid(
        ["`tpcc-small`", "ssdlab", "MQSim"], [["longest read", ours, f"{MQSIM_LONGEST_MS} ms"]]
    )


# --- The page ---


def summary(theory: Recorded, cases: Recorded) -> list[str]:
    """Return the first table: how far off theory and MQSim figures are at most."""

    def most(pattern: str) -> str:
        lines = theory["lines"]
        found = [abs(own / of - 1) for what, own, of in lines if re.match(pattern, what)]
        return f"{100 * max(found):.1f} %"

    ratios = {
        name: own["as_mqsim"]["response_us"] / mqsim.MQSIM[name].response_us
        for name, own in cases.items()
    }
    apart = abs(ratios.pop("gc-small") - 1)
    near = max(abs(ratio - 1) for ratio in ratios.values())
    printed, ours = mqsim.MQSIM["gc-small"], cases["gc-small"]["as_mqsim"]["operations"]
    counts = zip((printed.reads, printed.programs, printed.erases), ours, strict=True)
    operations = max(abs(own / of - 1) for of, own in counts)
    spare = "write amplification, four victim policies, 7 to 50 % spare"
    large = "against the plain formula"
    amplified = f"{most('.* 64 pages')} against the formula with the drive's rule, "
    amplified += f"{most('PureRandom')} {large}"
    collected = f"operations {100 * operations:.2f} %, response time {100 * apart:.0f} %: explained"
    rows = [
        ["unloaded reads and writes", "exact, to the nanosecond", "[unloaded](#unloaded)"],
        ["peak throughput, bus-bound and die-bound", most("peak"), "[peaks](#peaks)"],
        ["waiting on one plane: M/D/1, M/G/1", most("M/"), "[queues](#queues)"],
        ["Little's law", "exact", "[Little's law](#littles-law)"],
        ["saturation", f"{most('throughput')} in throughput", "[saturation](#saturation)"],
        [spare, amplified, "[write amplification](#write-amplification)"],
        ["MQSim, six synthetic cases and two traces", f"{100 * near:.1f} %", "[MQSim](#mqsim)"],
        [
            "MQSim under garbage collection",
            collected,
            "[collection](#collection-foreground-and-when-it-starts)",
        ],
    ]
    return grid(["what", "how far off", "where"], rows)


def page_writes(own: Recorded) -> list[str]:
    """Return the table of page writes under collection; MQSim's rows are of a log of it."""
    ours = own["device_us"]
    rows = [
        ["MQSim, that fill a block", "2342", "107.4 ms; they add 398 µs to the mean of all"],
        ["MQSim, all others", "", f"5566 µs: {100 * (5566 / ours - 1):.1f} % above ssdlab"],
        ["ssdlab, all", "", f"{ours:.0f} µs"],
    ]
    return grid(["page writes", "number", "mean"], rows)


def tables(theory: Recorded, ours: Recorded) -> Sections:
    """Return the lines of each table by its name on the page."""
    cases = ours["cases"]
    return {
        "summary": summary(theory, cases),
        "queues": queues(theory),
        "amplification": amplification(theory),
        "few_pages": few_pages(theory),
        "mqsim": compared(cases),
        "steps": stepwise(ours["steps"]),
        "longest": longest(cases["tpcc-small"]["as_mqsim"]),
        "means": means(cases["mix-5050"]["as_mqsim"]),
        "page_writes": page_writes(cases["gc-small"]["as_mqsim"]),
    }


def load(path: Path) -> Recorded:
    """Return the recorded figures of a file; none if it does not exist."""
    found: Recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def main() -> None:
    """Record what is named, and write the page."""
    match sys.argv[1:]:
        case ["theory", file]:
            kept, recorded = THEORY, record_theory(Path(file).read_text(encoding="utf-8"))
        case ["mqsim"]:
            kept = MQSIM
            recorded = record_mqsim(os.environ.get("MQSIM_TRACES"), load(MQSIM))
        case _:
            raise SystemExit("expected theory FILE, or mqsim")
    kept.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in tables(load(THEORY), load(MQSIM)).items():
        page = fill(page, name, lines)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
