"""Results to be drawn, made once for all tests of a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from command import OFFICE

import ssdlab
from ssdlab import traces
from ssdlab.render.html.comparison import comparison_page
from ssdlab.render.html.traces import trace_page
from ssdlab.result import Comparison, Result

BUSY = {
    "start.fill": "90%",
    "start.invalid": "20%",
    "start.pe_cycles": 5000,
    "start.age_max": "365d",
    "host.queues": 2,
    "physics": "retries",
}
SMALL = {"geometry.channels": 2, "geometry.chips": 1, "geometry.dies": 2, "geometry.blocks": 64}
TYPED = {"channels": 1, "blocks": 24, "pages": 24}
SHARP = '</script><script>alert("1")</script>'
"""A label that would leave the place where it belongs, were it not escaped."""


@cache
def one() -> Result:
    """A run on a small trace."""
    return ssdlab.run(trace=OFFICE, limit=3000, detail=True)


@cache
def busy() -> Result:
    """A small drive that collects garbage, has bit errors, and two queues."""
    settings = {**BUSY, **SMALL, "workload.footprint": "200MiB", "ftl.overprovisioning": "20%"}
    return ssdlab.run(workload="random", limit=20_000, detail=True, set=settings, label="busy")


@cache
def typed() -> Result:
    """A run of a scheme that asks for pages by their type."""
    settings = {"workload.footprint": "24MiB", "workload.interarrival": "20ms"}
    settings |= {f"geometry.{key}": str(n) for key, n in TYPED.items()}
    plan = ssdlab.Plan(device="pa-ssd-tlc-288g", scheme="qds+ubs", set=settings, limit=3000)
    return ssdlab.run(plan, detail=True)


@cache
def queued() -> Result:
    """A run whose requests come in two queues, the first of them before the other."""
    rows = [
        f"{at * 20},a,{'RW'[at // 2 % 2]},{at * 7919 % 1000 * 4096},4096,{at % 2}"
        for at in range(3000)
    ]
    with TemporaryDirectory() as folder:
        trace = Path(folder, "queued.csv")
        trace.write_text("\n".join(["time_us,dev,op,offset_bytes,size_bytes,queue", *rows, ""]))
        settings = {**SMALL, "host.queues": 2}
        return ssdlab.run(trace=str(trace), detail=True, set=settings)


@cache
def prioritized() -> Comparison:
    """Three applications on a small drive, three times over: all queues alike, and by priority."""
    settings = {
        "geometry.channels": 1,
        "geometry.chips": 2,
        "geometry.planes": 2,
        "geometry.blocks": 64,
        "geometry.pages": 24,
        "ftl.overprovisioning": 0.3,
        "background.gc.threshold": 0.1,
        "flash.time_scale": 1,
    }
    mix = []
    with TemporaryDirectory() as folder:
        for at, name in enumerate(("high", "mid", "low")):
            rows = [
                f"{n * 900 + at * 60},a,{'RWR'[n % 3]},{n * 7919 % 700 * 16384},16384"
                for n in range(600)
            ]
            trace = Path(folder, f"{name}.csv")
            trace.write_text("\n".join(["time_us,dev,op,offset_bytes,size_bytes", *rows, ""]))
            mix.append(f"{name}={trace}")
        plan = ssdlab.Plan(device="readguard-tlc-2t-old", mix=mix, set=settings, replays=3)
        plans = ssdlab.sweep(plan, schemes=["baseline", "rgftl+"])
        return ssdlab.compare([replace(one, detail=True) for one in plans])


@cache
def two() -> Comparison:
    """Two runs side by side, one with a label that means mischief."""
    plans = ssdlab.sweep(
        ssdlab.Plan(trace=OFFICE, limit=3000, detail=True),
        vary={"scheduler": ["fifo", "read_first"]},
    )
    fifo, other = ssdlab.compare(plans)
    plain = {**other.to_dict(), "label": SHARP, "vary": {}}
    return Comparison([fifo, Result.from_dict(plain)])


HOSTILE = (
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
    "line\u2028separator, of two lines",
    "\x1b[31mred\x00\x7f\uffff\ud800",
    "\u202eturned around",
    SHARP + "<!-- `${1}` \\ \n",
    "same",
    " same\u200b",
    "",
    "null",
    "1e3",
    "a.b[0]",
    "\u05e9\u05dc\u05d5\u05dd e\u0301 \U0001f468\u200d\U0001f469",
    "x" * 5000 + "1",
    "x" * 5000 + "2",
)
"""Labels each of which has ended the renderer, left charts without marks, or hidden another."""


def called(result: Result, labels: Sequence[str]) -> Comparison:
    """A result side by side with itself, once under each label."""
    raw = result.to_dict()
    return Comparison([Result.from_dict({**raw, "label": label, "vary": {}}) for label in labels])


def partial() -> Result:
    """A run that says that it was stopped."""
    return Result.from_dict({**one().to_dict(), "partial": True})


@cache
def page_of_two() -> str:
    return comparison_page(two())


FEW = """time_us,dev,op,offset_bytes,size_bytes
0,a,R,4096,4096
1000000,a,R,8192,4096
1000000,b,W,0,4096
2000000,b,W,4096,12288
4000000,b,R,2048,4096
"""


@cache
def two_traces() -> list[dict[str, Any]]:
    """What two traces are like, one of five requests with a name that means mischief."""
    with TemporaryDirectory() as folder:
        few = Path(folder, "few.csv")
        few.write_text(FEW)
        office, other = traces.info([OFFICE, few])
    return [dict(office), {**other, "trace": f"few {SHARP.replace('/', ':')}"}]


@cache
def page_of_two_traces() -> str:
    return trace_page(two_traces())


def write(folder: Path, name: str, results: Result | Comparison) -> Path:
    """A report in a file."""
    path = folder / name
    ssdlab.report_html(results, path)
    return path
