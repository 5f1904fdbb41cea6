"""DLV from the command line: its schemes by name, and what results say of them."""

import json
from pathlib import Path

import pytest
from claim_cases import made
from command import Ssdlab

from ssdlab_reproduction.tables import dlv

SMALL = (
    *("--device", "dlv-mlc-128g", "--set", "geometry.blocks=64"),
    *("--set", "workload.footprint=1GiB"),
    *("--set", "ftl.overprovisioning=20%", "--limit", 4000, "--closed", 64),
)
SCHEMES = ["baseline", "woo", "roo", "dlv", "pv-reorder", "pv-allocation", "lv-ldpc", "laldpc"]


def test_the_page_has_means_over_all_workloads() -> None:
    results = {(name, "baseline"): made(read=10, write=100) for name in dlv.WORKLOADS}
    half = len(dlv.WORKLOADS) // 2
    for at, name in enumerate(dlv.WORKLOADS):
        results[name, "woo"] = made(read=10, write=50 if at < half else 100)
    assert [dlv.over_all(results, "woo", kind) for kind in ("read", "write")] == ["+0.0", "-25.0"]


def test_its_schemes_side_by_side(ssdlab: Ssdlab, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    done = ssdlab("compare", *SMALL, "--scheme", ",".join(SCHEMES), "--json", str(path))
    assert (done.code, done.err) == (0, "")
    assert "strong pages" in done.out
    assert "writes overtaking" in done.out
    results = {result["scheme"]: result for result in json.loads(path.read_text())["results"]}
    assert list(results) == SCHEMES
    for scheme, result in results.items():
        holds = scheme in {"woo", "roo", "dlv", "pv-reorder"}
        assert ("prioritized" in result) == holds, scheme
        assert (result.get("scheduling_steps", 0) > 0) == holds, scheme
        assert ("strong_share" in result) == (scheme not in {"baseline", "laldpc"}), scheme
    read = {scheme: result["read"]["latency_us"]["mean"] for scheme, result in results.items()}
    write = {scheme: result["write"]["latency_us"]["mean"] for scheme, result in results.items()}
    assert read["roo"] < 0.7 * read["baseline"]
    assert read["dlv"] < 0.7 * read["baseline"]
    assert write["woo"] < 0.95 * write["baseline"]
    assert write["pv-allocation"] < 0.95 * write["baseline"]
    assert results["dlv"]["strong_share"] > 0.1
    # A bitmap of 8192 blocks, 20 bits a block, and two bytes and a half a table entry.
    metadata = results["dlv"]["metadata_bytes"]
    assert metadata["block_classes"] == 1024
    assert metadata["block_time_stamps"] == 8192 * 20 // 8
    assert metadata["sensing_level_tables"] == 18
    assert metadata["plane_counters"] < 4096


def test_a_bare_name_is_of_the_devices_own_family(ssdlab: Ssdlab) -> None:
    own = ssdlab("run", *SMALL, "--scheme", "woo")
    full = ssdlab("run", *SMALL, "--scheme", "dlv/woo")
    assert own.code == full.code == 0
    other = ssdlab("run", "--scheme", "woo")
    assert other.code == 2
    assert 'did you mean "dlv/woo"?' in other.err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "program_mode=per_class",
            "program_mode: got per_class, expected classes of blocks to tell apart",
        ),
        (
            "placement=small_to_strong",
            "expected classes of blocks to tell apart (metadata.block_class)",
        ),
        ("read_start=sl_table", "expected several sensing levels (physics.levels)"),
        ("metadata.block_class=factory", "expected no such setting under flat physics"),
    ],
)
def test_a_policy_names_what_the_drive_lacks_for_it(
    ssdlab: Ssdlab, setting: str, message: str
) -> None:
    done = ssdlab("run", "--set", setting, "--limit", 10)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
