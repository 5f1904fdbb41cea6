"""Run the same requests on the same drive through SimpleSSD and ssdlab, and print the ratios.

    .venv/bin/python benches/against_simplessd.py SIMPLESSD [--requests N] [--runs N] [--save DIR]

SIMPLESSD is the binary of SimpleSSD-Standalone that you have built
(https://github.com/SimpleSSD/SimpleSSD-Standalone). Both simulators read one trace file and take
turns. The script times whole commands. Of each simulator, the run with the least processor time
counts. SimpleSSD's configuration is derived from that of the ssdlab run.
docs/project/performance.md has a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import side_by_side
from side_by_side import Case, Operations, Request, Run, Simulator

AS_SIMPLESSD = str(Path(__file__).with_name("as-simplessd.toml"))
CASES = {
    "mixed": Case(
        "8 to 64 KiB, half of them reads, over 16 GiB, 200 µs apart, a new drive of 512 GiB",
        (AS_SIMPLESSD,),
        16 * side_by_side.GIB,
        tuple(size * side_by_side.KIB for size in (8, 16, 32, 64)),
        0.5,
        200,
    ),
    "pages": Case(
        "pages of 8 KiB, 70 % of them reads, over 512 MiB, 20 µs apart, a new drive of 512 GiB",
        (AS_SIMPLESSD,),
        512 * side_by_side.MIB,
        (8 * side_by_side.KIB,),
        0.7,
        20,
    ),
}
"""Whole pages, since SimpleSSD reads and writes nothing less; without garbage collection.

With its caches off, SimpleSSD reserves the flash for a collection far ahead of the clock. The small
drive of the comparison with MQSim then falls ever further behind the arrivals.
"""


def lines_of(requests: Iterable[Request]) -> Iterator[str]:
    """Yield the lines of a trace of ssdlab, with three digits after the microseconds.

    The first request is a write: SimpleSSD never completes a request that ends at time 0, as a read
    of an unwritten page does.
    """
    for index, (ns, read, offset, size) in enumerate(requests):
        op = "R" if read and index else "W"
        yield f"{ns // 1000}.{ns % 1000:03},0,{op},{offset},{size}\n"


PICOSECONDS = 1000
"""In a nanosecond."""
MEGATRANSFER = 1 << 20
"""Transfers a second in SimpleSSD's unit of a bus rate; each moves a byte."""

SIMULATION = {
    "global": {
        "Mode": 1,
        "LogPeriod": 0,
        "LogFile": "statistics",
        "DebugLogFile": "",
        "ProgressPeriod": 0,
        "Interface": 0,
        "Scheduler": 0,
        "SubmissionLatency": 0,
        "CompletionLatency": 0,
    },
    "trace": {
        "File": "trace",
        # Requests arrive when the trace says, however many are outstanding.
        "TimingMode": 2,
        "IOLimit": 0,
        "Regex": r'"(\d+)\.(\d+),0,(\w),(\d+),(\d+)"',
        "Microsecond": 1,
        "Nanosecond": 2,
        "Operation": 3,
        "ByteOffset": 4,
        "ByteLength": 5,
        "UseHexadecimal": 0,
    },
}
"""SimpleSSD's configuration of a run: the trace goes straight to the drive, without an interface.

The group of each field is its place in the regular expression.
"""


def drive_of(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return SimpleSSD's configuration of the drive that an ssdlab config describes."""
    geometry, timing, ftl = config["geometry"], config["timing"], config["ftl"]
    times = {
        f"{page}{operation}": side_by_side.nanoseconds(timing[key]) * PICOSECONDS
        for page in ("LSB", "MSB")
        for operation, key in (("Read", "read"), ("Write", "program"))
    }
    rate = float(config["flash"]["bus_rate"].removesuffix("MB/s")) * 1e6
    return {
        # A function without a core takes no time.
        "cpu": {"HILCoreCount": 0, "ICLCoreCount": 0, "FTLCoreCount": 0},
        "pal": {
            "Channel": geometry["channels"],
            "Package": geometry["chips"],
            "Die": geometry["dies"],
            "Plane": geometry["planes"],
            "Block": geometry["blocks"],
            "Page": geometry["pages"],
            "PageSize": side_by_side.page_bytes(config),
            "EnableMultiPlaneOperation": 0,
            "NANDType": ("slc", "mlc", "tlc").index(geometry["cell"]),
            **times,
            "Erase": side_by_side.nanoseconds(timing["erase"]) * PICOSECONDS,
            "DMASpeed": round(rate / MEGATRANSFER),
            "DMAWidth": 8,
            "SuperblockSize": "",
            "PageAllocation": ftl["allocation_order"],
        },
        "ftl": {
            "MappingMode": 0,
            "OverProvisioningRatio": ftl["overprovisioning"],
            "FillRatio": 0,
            "InvalidPageRatio": 0,
            "GCThreshold": config["background"]["gc"]["threshold"],
            "EvictPolicy": 0,
        },
        "icl": {"EnableReadCache": 0, "EnableReadPrefetch": 0, "EnableWriteCache": 0},
        # Each access passes through a memory that cannot be turned off. This one is nearly instant.
        "dram": {"Model": 0, "BusWidth": 1 << 20, "tRP": 1, "tRAS": 1},
    }


def ini(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a configuration file."""
    lines = []
    for name, values in sections.items():
        lines += [f"[{name}]", *(f"{key} = {value}" for key, value in values.items()), ""]
    return "\n".join(lines)


def configure(config: Mapping[str, Any], folder: Path) -> None:
    """Write SimpleSSD's files for a config into a folder."""
    (folder / "simulation.cfg").write_text(ini(SIMULATION), "utf-8")
    (folder / "drive.cfg").write_text(ini(drive_of(config)), "utf-8")


def mean_us(printed: str) -> float | None:
    """Return the mean latency that SimpleSSD printed, in microseconds; None if there is none."""
    microseconds = {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "ms": 1e3}
    found = re.search(r"Latency \((ps|ns|us|ms)\):.* avg=([\d.]+)", printed)
    return float(found[2]) * microseconds[found[1]] if found else None


def operations(statistics: str) -> Operations:
    """Return the page operations in SimpleSSD's statistics."""
    counts = dict(re.findall(r"^pal\.(read|program)\.count\s+(\d+)", statistics, re.MULTILINE))
    return Operations(int(counts["read"]), int(counts["program"]))


def through_simplessd(binary: Path, folder: Path) -> Run:
    """Run SimpleSSD on the files in a folder."""
    statistics = folder / "statistics"
    statistics.unlink(missing_ok=True)
    took = side_by_side.timed([str(binary), "simulation.cfg", "drive.cfg", "."], folder)
    mean = mean_us((folder / "log").read_text(encoding="utf-8", errors="replace"))
    if mean is None or not statistics.exists():
        side_by_side.wrong(f"{binary}: it printed no latency: expected SimpleSSD-Standalone")
    return Run(*took, mean, operations(statistics.read_text(encoding="utf-8")))


SIMPLESSD = Simulator(
    "simplessd", "SimpleSSD", "ssdlab", lines_of, configure, through_simplessd, CASES
)

if __name__ == "__main__":
    side_by_side.command(SIMPLESSD, __doc__)()
