"""What MQSim printed for each case, and what ssdlab measures for the same one.

``make validation`` writes the tables of docs/project/validation.md from both.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ssdlab

HERE = Path(__file__).parent
DEVICE = "generic-mlc-512g"


@dataclass(frozen=True)
class Printed:
    """MQSim's own figures, cut to whole microseconds by it: not ours."""

    response_us: int
    """Mean over all requests, the host's link included."""
    read_us: int
    """Mean turnaround of a page read in the drive; 0 if there was none."""
    write_us: int
    """Mean turnaround of a page write in the drive; 0 if there was none."""
    reads: int
    """Pages read."""
    programs: int
    """Pages programmed, for the host and by collection."""
    erases: int = 0
    """Blocks erased."""


# MQSim as of 2022. A multi-plane command counts as two pages.
MQSIM = {
    "r-unloaded": Printed(102, 99, 0, 20_000, 0),
    "r-moderate": Printed(116, 114, 0, 100_000, 0),
    "r-large": Printed(223, 200, 0, 800_000, 0),
    "w-light": Printed(901, 0, 898, 0, 100_000),
    "w-moderate": Printed(1370, 0, 1368, 0, 100_000),
    "mix-5050": Printed(600, 196, 898, 188_232, 186_636),
    "tpcc-small": Printed(3310, 478, 6350, 8_379, 5_152),
    "wsrch-small": Printed(104, 101, 774, 46_664, 4),
    "gc-small": Printed(5965, 0, 5962, 274_687, 874_628, 2448),
}

# The host's link, which ssdlab leaves out, from MQSim's isolated requests. Those of 8 KiB take
# 102.434 and 777.493 us, 2.56 us more than commands, transfer and the array. Those of 4 KiB take
# 88.898 and 763.957 us, 1.31 us more.
LINK_US = 0.07
LINK_US_A_4KIB = 1.248


@dataclass(frozen=True)
class Ours:
    """The same case on ssdlab."""

    result: ssdlab.Result

    @property
    def requests(self) -> int:
        return self.result.requests

    @property
    def device_us(self) -> float:
        """Mean over all requests, without the host's link."""
        kinds = (self.result.read, self.result.write)
        return sum(kind.requests * kind.latency_us.mean for kind in kinds) / self.requests

    @property
    def response_us(self) -> float:
        """Mean over all requests, with the host's link."""
        size = (self.result.read.bytes + self.result.write.bytes) / self.requests
        return self.device_us + LINK_US + LINK_US_A_4KIB * size / 4096

    def operations(self, kind: str) -> int:
        return sum(self.result.ops[kind].values())


def replay(name: str, trace: Path, *, as_mqsim: bool) -> Ours:
    """Run a case on the preset as it is, or with its back end as MQSim has it."""
    files = [HERE / "small.toml"] if name == "gc-small" else []
    if as_mqsim:
        files.append(HERE / "as-mqsim.toml")
    return Ours(ssdlab.run(device=DEVICE, config=files, trace=f"{trace}:mqsim"))
