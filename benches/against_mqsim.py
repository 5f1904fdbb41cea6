"""Run the same requests on the same drive through MQSim and ssdlab, and print the ratios.

    .venv/bin/python benches/against_mqsim.py MQSIM [--requests N] [--runs N] [--save DIR]

MQSIM is a binary that you have built (https://github.com/CMU-SAFARI/MQSim). Both simulators read
one trace file and take turns. The script times whole commands. Of each simulator, the run with the
least processor time counts. MQSim's configuration is derived from that of the ssdlab run.
docs/project/performance.md has a result.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import click
from machine import commit, processor

import ssdlab
from ssdlab import Plan

DEVICE = "generic-mlc-512g"
VALIDATION = Path(__file__).parents[1] / "tests/validation"
AS_MQSIM = VALIDATION / "as-mqsim.toml"
"""The config that makes the device work as MQSim does (docs/project/validation.md)."""
SECTOR = 512
SPARE_BYTES = 448
"""The spare bytes of a page. MQSim requires the value, but does not transfer these bytes."""


@dataclass(frozen=True)
class Case:
    """A workload, and the config files that adapt the device to it."""

    about: str
    config: tuple[str, ...]
    footprint: int
    sizes: tuple[int, ...]
    read_share: float
    gap_us: float

    def lines(self, requests: int) -> Iterator[str]:
        """Yield random requests as lines of a trace of MQSim, aligned to the smallest size."""
        draw = random.Random(1)
        now = 0.0
        for _ in range(requests):
            now += draw.expovariate(1 / self.gap_us)
            size = draw.choice(self.sizes)
            step = min(self.sizes)
            at = draw.randrange((self.footprint - size) // step + 1) * step
            read = int(draw.random() < self.read_share)
            yield f"{round(now * 1000)} 0 {at // SECTOR} {size // SECTOR} {read}\n"


KIB, GIB = 1 << 10, 1 << 30
CASES = {
    "mixed": Case(
        "4 to 64 KiB, half of them reads, over 16 GiB, 200 µs apart, a new drive of 512 GiB",
        (str(AS_MQSIM),),
        16 * GIB,
        tuple(size * KIB for size in (4, 8, 16, 32, 64)),
        0.5,
        200,
    ),
    "writes": Case(
        "writes of a page of 8 KiB over 1.5 of 2 GiB, 2.5 ms apart: garbage collection throughout",
        (str(AS_MQSIM), str(VALIDATION / "small.toml")),
        3 * GIB // 2,
        (8 * KIB,),
        0.0,
        2500,
    ),
}


@dataclass
class Run:
    """The cost of a command, and the mean response time that it reports, in microseconds."""

    processor_s: float
    wall_s: float
    peak_mb: float
    mean_us: float


def wrong(line: str) -> NoReturn:
    """Print an error and end with exit code 2."""
    print(line, file=sys.stderr)
    raise SystemExit(2)


WATCH = """
import json, os, resource, sys, time
begin = time.monotonic()
code = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
took = used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024 / 1e6
with open(sys.argv[1], "w") as file:
    json.dump(took, file)
sys.exit(code if code in (0, 127) else 1)
"""
"""A program that runs a command and records its cost.

The system reports a process as at least as large as its parent, so a small process has to start the
command.
"""


NO_PROGRAM = 127
"""The exit code of a shell, and of the program above, if the command cannot be run."""


def timed(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Run a command; return processor and wall time in seconds, and peak memory in MB."""
    watch = [sys.executable, "-S", "-E", "-c", WATCH, "took"]
    with (folder / "log").open("wb") as log:
        done = subprocess.run(
            [*watch, *command], cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode == NO_PROGRAM:
        wrong(f"{command[0]}: it cannot be run: expected a program")
    if done.returncode != 0:
        text = " ".join((folder / "log").read_text(errors="replace")[-300:].split())
        wrong(f"{command[0]}: it failed{f': {text}' if text else ', and log nothing'}")
    processor, wall, peak = json.loads((folder / "took").read_text(encoding="utf-8"))
    return processor, wall, peak


def tree(name: str, parts: Mapping[str, Any]) -> ET.Element:
    """Return an XML element with these children; a mapping becomes a nested element."""
    element = ET.Element(name)
    for part, value in parts.items():
        if isinstance(value, Mapping):
            element.append(tree(part, value))
        else:
            ET.SubElement(element, part).text = str(value)
    return element


def nanoseconds(time_: str) -> int:
    """Return a time of a config, such as "75us", in nanoseconds."""
    units = {"ns": 1, "us": 1000, "ms": 1_000_000}
    number, unit = time_[:-2], time_[-2:]
    return round(float(number) * units[unit])


HOST = {
    "PCIe_Lane_Bandwidth": 1.0,
    "PCIe_Lane_Count": 4,
    "SATA_Processing_Delay": 400_000,
    "Enable_ResponseTime_Logging": "false",
    "ResponseTime_Logging_Period_Length": 1_000_000,
}
"""MQSim's host parameters, which have no counterpart in ssdlab."""


def _flash_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return MQSim's flash parameters."""
    geometry, timing = config["geometry"], config["timing"]
    pages = ("LSB", "CSB", "MSB")
    return {
        "Flash_Technology": geometry["cell"].upper(),
        "CMD_Suspension_Support": "NONE",
        **{f"Page_Read_Latency_{page}": nanoseconds(timing["read"]) for page in pages},
        **{f"Page_Program_Latency_{page}": nanoseconds(timing["program"]) for page in pages},
        "Block_Erase_Latency": nanoseconds(timing["erase"]),
        "Block_PE_Cycles_Limit": 10_000,
        "Suspend_Erase_Time": 700_000,
        "Suspend_Program_Time": 100_000,
        "Die_No_Per_Chip": geometry["dies"],
        "Plane_No_Per_Die": geometry["planes"],
        "Block_No_Per_Plane": geometry["blocks"],
        "Page_No_Per_Block": geometry["pages"],
        "Page_Capacity": int(geometry["page_size"].removesuffix("KiB")) * KIB,
        "Page_Metadat_Capacity": SPARE_BYTES,
    }


def drive_of(config: Mapping[str, Any]) -> ET.Element:
    """Return MQSim's configuration of the drive that an ssdlab config describes."""
    geometry, ftl, gc = config["geometry"], config["ftl"], config["background"]["gc"]
    device = {
        "Seed": 321,
        "Enabled_Preconditioning": "false",
        "Memory_Type": "FLASH",
        "HostInterface_Type": "NVME",
        "IO_Queue_Depth": 65535,
        "Queue_Fetch_Size": 512,
        # The flow below disables the cache, but MQSim does not start without this key.
        "Caching_Mechanism": "ADVANCED",
        "Data_Cache_Sharing_Mode": "SHARED",
        "Data_Cache_Capacity": 1 << 28,
        "Data_Cache_DRAM_Row_Size": 8192,
        "Data_Cache_DRAM_Data_Rate": 100,
        "Data_Cache_DRAM_Data_Busrt_Size": 1,
        "Data_Cache_DRAM_tRCD": 13,
        "Data_Cache_DRAM_tCL": 13,
        "Data_Cache_DRAM_tRP": 13,
        "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": "true",
        "CMT_Capacity": 1 << 21,
        "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": ftl["allocation_order"],
        "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
        "Overprovisioning_Ratio": ftl["overprovisioning"],
        "GC_Exec_Threshold": gc["threshold"],
        "GC_Block_Selection_Policy": gc["victim"].upper(),
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": "false",
        "GC_Hard_Threshold": gc["hard_threshold"],
        "Dynamic_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": 100,
        "Preferred_suspend_erase_time_for_read": 700_000,
        "Preferred_suspend_erase_time_for_write": 700_000,
        "Preferred_suspend_write_time_for_read": 100_000,
        "Flash_Channel_Count": geometry["channels"],
        "Flash_Channel_Width": 1,
        "Channel_Transfer_Rate": config["flash"]["bus_rate"].removesuffix("MB/s"),
        "Chip_No_Per_Channel": geometry["chips"],
        "Flash_Comm_Protocol": "NVDDR2",
        "Flash_Parameter_Set": _flash_of(config),
    }
    sets = {"Host_Parameter_Set": HOST, "Device_Parameter_Set": device}
    return tree("Execution_Parameter_Set", sets)


def flow_of(config: Mapping[str, Any], trace: str) -> ET.Element:
    """Return MQSim's definition of a workload: one trace over the whole drive."""
    geometry = config["geometry"]
    flow = {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "TURNED_OFF",
        **{
            f"{name}_IDs": ",".join(str(one) for one in range(geometry[key]))
            for name, key in (
                ("Channel", "channels"),
                ("Chip", "chips"),
                ("Die", "dies"),
                ("Plane", "planes"),
            )
        },
        "Initial_Occupancy_Percentage": 0,
        "File_Path": trace,
        "Percentage_To_Be_Executed": 100,
        "Relay_Count": 1,
        "Time_Unit": "NANOSECOND",
    }
    scenario = {"IO_Flow_Parameter_Set_Trace_Based": flow}
    return tree("MQSim_IO_Scenarios", {"IO_Scenario": scenario})


def through_mqsim(binary: Path, folder: Path) -> Run:
    """Run MQSim on the files in a folder."""
    result = folder / "workload_scenario_1.xml"
    result.unlink(missing_ok=True)
    took = timed([str(binary), "-i", "drive.xml", "-w", "workload.xml"], folder)
    if not result.exists():
        wrong(f"{binary}: it wrote no {result.name}: expected MQSim")
    mean = ET.parse(result).getroot().findtext(".//Device_Response_Time")
    return Run(*took, float(mean or "nan"))


def through_ssdlab(case: Case, folder: Path) -> Run:
    """Run ssdlab on the trace in a folder."""
    config = [word for file in case.config for word in ("--config", file)]
    ours = Path(sys.executable).with_name("ssdlab")
    command = [str(ours), "run", "--device", DEVICE, *config]
    took = timed([*command, "--trace", "trace:mqsim", "--json", "ours.json"], folder)
    result = json.loads((folder / "ours.json").read_text(encoding="utf-8"))["results"][0]
    return Run(*took, result["all"]["latency_us"]["mean"])


@click.command(help=__doc__)
@click.argument(
    "mqsim", type=click.Path(exists=True, dir_okay=False, executable=True, path_type=Path)
)
@click.option("--requests", type=click.IntRange(min=1), default=1_000_000, show_default=True)
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for the figures of all runs.",
)
def main(mqsim: Path, requests: int, runs: int, save: Path | None) -> None:
    """Compare the simulators case by case."""
    raw: dict[str, Any] = {"version": ssdlab.__version__, "requests": requests}
    raw |= {"day": f"{datetime.now(UTC):%F}", "commit": commit(), "processor": processor()}
    if save is not None:
        # Report an unwritable folder before the first run, not after the last.
        try:
            save.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            wrong(f"--save: cannot write {save}: {error.strerror}")
    for name, case in CASES.items():
        print(f"{name}: {requests:,} requests of {case.about}")
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            with (folder / "trace").open("w", encoding="ascii") as trace:
                trace.writelines(case.lines(requests))
            read = str(folder / "trace:mqsim")
            first = Plan(device=DEVICE, config=case.config, trace=read, limit=1)
            config = ssdlab.run(first).provenance.config
            ET.ElementTree(drive_of(config)).write(folder / "drive.xml")
            ET.ElementTree(flow_of(config, "trace")).write(folder / "workload.xml")
            theirs, ours = [], []
            for _ in range(runs):
                theirs.append(through_mqsim(mqsim.resolve(), folder))
                ours.append(through_ssdlab(case, folder))
        raw[name] = {"mqsim": [*map(asdict, theirs)], "ssdlab": [*map(asdict, ours)]}
        best = [min(some, key=lambda run: run.processor_s) for some in (theirs, ours)]
        for simulator, run in zip(("MQSim", "ssdlab"), best, strict=True):
            print(
                f"  {simulator:<7} {run.processor_s:7.2f} s of processor, {run.wall_s:7.2f} s,"
                f" {run.peak_mb:7,.0f} MB, mean response {run.mean_us:,.0f} µs"
            )
        less, more = best[1], best[0]
        print(
            f"  ratio   {more.processor_s / less.processor_s:7.1f} × processor,"
            f" {more.wall_s / less.wall_s:6.1f} × wall, {more.peak_mb / less.peak_mb:5.1f} × memory"
        )
    if save is not None:
        (save / "against_mqsim.json").write_text(json.dumps(raw, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
