"""ReadGuard's drives and schemes are those of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command import Ssdlab

FAMILY = "readguard"
# The parts of each scheme: suspension, reads over reads, estimate of retries, pools, repairs, reuse
# of voltages. Where a scheme leaves reads over reads to the default, they are on.
SCHEMES = {
    "baseline": ("esra", "false", "none", False, False, False),
    "rgftl": ("esra", None, "predicted", True, True, False),
    "rgftl-": ("esra", "false", "predicted", True, True, False),
    "rgftl++": ("esra", None, "last_seen", True, True, False),
    "baseline+": ("esra", "false", "none", False, False, True),
    "rgftl+": ("esra", None, "predicted", True, True, True),
    "nopftl": ("esra", "false", "oracle", True, False, False),
    "rorftl": ("esra", None, "oracle", True, False, False),
}


def effective(ssdlab: Ssdlab, device: str, scheme: str) -> dict[str, str]:
    """Return every setting as it is written down."""
    done = ssdlab("config", "validate", "--show", "--device", device, "--scheme", scheme)
    assert done.code == 0, done.err
    lines = [line.partition("  #")[0] for line in done.out.splitlines() if " = " in line]
    return {key: value.strip('"') for key, _, value in (line.partition(" = ") for line in lines)}


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_has_its_parts_and_no_other(ssdlab: Ssdlab, name: str) -> None:
    of = effective(ssdlab, "readguard-tlc-2t", f"{FAMILY}/{name}")
    suspend, reads, estimate, pools, repairs, reuse = SCHEMES[name]
    assert of["scheduler"] == "strict_priority"
    assert of["suspend"] == suspend
    assert of.get("suspend.esra.reads") == reads
    assert of["metadata.retry_estimate"] == estimate
    pooled = (
        of["metadata.block_class"],
        of["ftl.free_block_policy"],
        of.get("placement[0]", "").split(".")[0],
    )
    found = pooled == ("predicted", "fewest_retries", "priority")
    assert found == pools, pooled
    assert ("background.subpool_gc" in of and of["background.subpool_gc"] != "false") == pools
    assert ("background.inversion_repair.interval" in of) == repairs
    assert of["background.dual_pool.cross_priority_threshold"] == "70"
    assert (of["read_start"] == "last_vref") == reuse
    assert (of["flash.retries"] == "pipelined") == reuse


@pytest.mark.parametrize(
    ("size", "blocks"), [("500g", 472), ("1t", 944), ("2t", 1888), ("4t", 3776)]
)
@pytest.mark.parametrize(("stage", "cycles"), [("-young", 500), ("", 1000), ("-old", 3000)])
def test_a_drive_is_that_of_table_2(
    ssdlab: Ssdlab, size: str, blocks: int, stage: str, cycles: int
) -> None:
    of = effective(ssdlab, f"readguard-tlc-{size}{stage}", f"{FAMILY}/rgftl")
    shape = [of[f"geometry.{key}"] for key in ("channels", "chips", "dies", "planes", "pages")]
    assert shape == ["8", "4", "1", "4", "576"]
    assert (of["geometry.blocks"], of["geometry.page_size"]) == (str(blocks), "16KiB")
    times = [of[f"timing.{key}"] for key in ("read", "program", "erase", "decode")]
    assert times == ["45us", "400us", "3500us", "10us"]
    assert of["flash.bus_rate"] == "1600MB/s"
    assert (of["host.queues"], of["flash.time_scale"]) == ("3", "10")
    assert (of["start.pe_cycles"], of["start.pe_spread"]) == (str(cycles), "15")
    assert (of["start.fill"], of["start.steady_state"], of["start.age_max"]) == (
        "1.0",
        "true",
        "90d",
    )
    # Sections 5.2, 5.3, 5.5 and 6.5.
    assert of["background.inversion_repair.interval"] == "7d"
    assert of["background.inversion_repair.monitor.max_write_share"] == "0.1"
    assert (
        of["background.dual_pool.threshold"],
        of["background.dual_pool.cross_priority_threshold"],
    ) == ("30", "70")
    # Collection begins at as many free blocks of a plane, whatever its size.
    assert float(of["background.gc.threshold"]) * blocks == pytest.approx(3.776)
