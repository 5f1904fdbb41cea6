"""Run the same requests on the same drive through MQSim and ssdlab, and print the ratios.

    .venv/bin/python benches/against_mqsim.py MQSIM [--requests N] [--runs N] [--save DIR]

MQSIM is a binary that you have built (https://github.com/CMU-SAFARI/MQSim). Both simulators read
one trace file and take turns. The script times whole commands. Of each simulator, the run with the
least processor time counts. MQSim's configuration is derived from that of the ssdlab run.
docs/project/performance.md has a result.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import side_by_side
from side_by_side import Case, Request, Run, Simulator

AS_MQSIM = side_by_side.VALIDATION / "as-mqsim.toml"
"""The config that makes the device work as MQSim does (docs/project/validation.md)."""
SECTOR = 512
SPARE_BYTES = 448
"""The spare bytes of a page. MQSim requires the value, but does not transfer these bytes."""


def lines_of(requests: Iterable[Request]) -> Iterator[str]:
    """Yield the lines of a trace of MQSim."""
    for ns, read, offset, size in requests:
        yield f"{ns} 0 {offset // SECTOR} {size // SECTOR} {int(read)}\n"


CASES = {
    "mixed": Case(
        "4 to 64 KiB, half of them reads, over 16 GiB, 200 µs apart, a new drive of 512 GiB",
        (str(AS_MQSIM),),
        16 * side_by_side.GIB,
        tuple(size * side_by_side.KIB for size in (4, 8, 16, 32, 64)),
        0.5,
        200,
    ),
    "writes": Case(
        "writes of a page of 8 KiB over 1.5 of 2 GiB, 2.5 ms apart: garbage collection throughout",
        (str(AS_MQSIM), str(side_by_side.VALIDATION / "small.toml")),
        3 * side_by_side.GIB // 2,
        (8 * side_by_side.KIB,),
        0.0,
        2500,
    ),
}


def tree(name: str, parts: Mapping[str, Any]) -> ET.Element:
    """Return an XML element with these children; a mapping becomes a nested element."""
    element = ET.Element(name)
    for part, value in parts.items():
        if isinstance(value, Mapping):
            element.append(tree(part, value))
        else:
            ET.SubElement(element, part).text = str(value)
    return element


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
        **{f"Page_Read_Latency_{page}": side_by_side.nanoseconds(timing["read"]) for page in pages},
        **{
            f"Page_Program_Latency_{page}": side_by_side.nanoseconds(timing["program"])
            for page in pages
        },
        "Block_Erase_Latency": side_by_side.nanoseconds(timing["erase"]),
        "Block_PE_Cycles_Limit": 10_000,
        "Suspend_Erase_Time": 700_000,
        "Suspend_Program_Time": 100_000,
        "Die_No_Per_Chip": geometry["dies"],
        "Plane_No_Per_Die": geometry["planes"],
        "Block_No_Per_Plane": geometry["blocks"],
        "Page_No_Per_Block": geometry["pages"],
        "Page_Capacity": side_by_side.page_bytes(config),
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
    took = side_by_side.timed([str(binary), "-i", "drive.xml", "-w", "workload.xml"], folder)
    if not result.exists():
        side_by_side.wrong(f"{binary}: it wrote no {result.name}: expected MQSim")
    mean = ET.parse(result).getroot().findtext(".//Device_Response_Time")
    return Run(*took, float(mean or "nan"))


def configure(config: Mapping[str, Any], folder: Path) -> None:
    """Write MQSim's files for a config into a folder."""
    ET.ElementTree(drive_of(config)).write(folder / "drive.xml")
    ET.ElementTree(flow_of(config, "trace")).write(folder / "workload.xml")


MQSIM = Simulator("mqsim", "MQSim", "mqsim", lines_of, configure, through_mqsim, CASES)

if __name__ == "__main__":
    side_by_side.command(MQSIM, __doc__)()
