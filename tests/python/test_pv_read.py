"""PV-read's placement, as a user meets it."""

from __future__ import annotations

import pytest

import ssdlab
from ssdlab.render.text.run import run_text
from ssdlab.result import flat_figures

SMALL = {
    "geometry.channels": 1,
    "geometry.chips": 1,
    "geometry.blocks": 128,
    "workload.kind": "zipf",
    "workload.footprint": "16MiB",
    "workload.read_share": "90%",
    "workload.sizes": "4KiB",
}


def run(scheme: str, **more: object) -> ssdlab.Result:
    """Run a small drive of the preset."""
    settings = {**SMALL, **{key.replace("__", "."): value for key, value in more.items()}}
    device = "pv-read-mlc-128g"
    return ssdlab.run(ssdlab.Plan(device=device, scheme=scheme, set=settings, limit=20_000))


def test_what_is_read_often_moves_and_is_read_faster() -> None:
    plain, placed = run("pv-unaware"), run("groups-2")
    assert plain.migration is None
    assert placed.migration is not None
    assert placed.migration.hot > 500
    assert sum(plain.levels.values()) == sum(placed.levels.values()) > 17_000
    assert placed.levels["1"] > 3 * plain.levels["1"]
    assert placed.ops["program"]["migration"] >= placed.migration.hot
    assert f"{placed.migration.hot:,} hot pages" in run_text(placed)
    assert "hot pages" not in run_text(plain)


def test_levels_are_counted_by_their_numbers() -> None:
    found = run("pv-read")
    assert list(found.levels) == [str(level) for level in range(1, 8)]
    assert found.decoded_at == list(found.levels.values())
    assert found.retry_steps == ()
    assert flat_figures(found.raw)["levels.1"] == found.levels["1"]


def test_the_papers_baseline_is_the_conventional_drive() -> None:
    plain, unaware = run("conventional"), run("pv-unaware")
    assert unaware.provenance.config_hash == plain.provenance.config_hash
    assert (unaware.read, unaware.levels) == (plain.read, plain.levels)


def test_a_drive_too_small_to_set_blocks_apart_says_so() -> None:
    found = run("groups-7", geometry__blocks=64)
    assert found.migration is not None
    assert found.migration.hot == 0
    assert any(remark.startswith("no block is set apart") for remark in found.remarks)
    assert not any("set apart" in remark for remark in run("pv-read").remarks)


def test_the_metadata_of_the_paper_is_counted() -> None:
    found = run("pv-read").metadata_bytes
    blocks = 128 * 2 * 4
    # Two bits a block, two a cached entry; eleven for each block that is set apart.
    assert found["block_groups"] == blocks * 2 / 8
    assert found["read_counts"] == found["map_cache"] / 4 * 2 / 8
    assert 0 < found["clock"] <= blocks * 0.1 * 11 / 8


def test_the_ideal_reads_almost_everything_at_the_first_level() -> None:
    # Less than the used blocks of the first class hold; a few of these need the second level.
    few: dict[str, object] = {"workload__footprint": "4MiB"}
    plain, ideal, wear = (run(name, **few) for name in ["pv-unaware", "pv-ideal", "ideal-wear"])

    def at_first(result: ssdlab.Result) -> float:
        return sum(result.decoded_at[:2]) / sum(result.decoded_at)

    assert at_first(plain) < 0.3 < at_first(wear) < at_first(ideal)
    assert at_first(ideal) > 0.99
    assert ideal.read.latency_us.mean < 0.5 * plain.read.latency_us.mean


def test_measured_wear_leveling_writes_to_the_better_blocks() -> None:
    plain = run("pv-unaware")
    for name in ["pv-wear-leveling", "health-binning"]:
        leveled = run(name)
        assert leveled.migration is None
        assert leveled.metadata_bytes["block_errors"] > 0
        assert leveled.levels["1"] > 2 * plain.levels["1"]


def test_what_is_beyond_bch_cannot_be_read() -> None:
    bch = {"physics__levels__code": "bch", "timing__decode": "6us"}
    ldpc, hard = run("pv-unaware"), run("pv-unaware", **bch)
    assert (ldpc.uncorrectable, hard.levels) == (0, {})
    # Nine blocks of a hundred need one level, and BCH decodes a little less.
    assert 0.85 < hard.uncorrectable / sum(ldpc.decoded_at) < 0.97
    assert hard.read.latency_us.mean < ldpc.read.latency_us.mean


WORN = {
    "geometry.channels": 1,
    "geometry.chips": 1,
    "geometry.dies": 1,
    "geometry.planes": 2,
    "geometry.blocks": 64,
    "flash.cycles_per_erase": 100,
    "start.used": 0,
    "workload.read_share": "20%",
    "workload.footprint": "16MiB",
}


def test_wear_runs_forward_until_blocks_are_worn_out() -> None:
    device = "pv-read-mlc-128g"
    plan = ssdlab.Plan(device=device, set=WORN, limit=5_000, until_worn="5%")
    found = ssdlab.run(plan)
    life = found.life
    assert life is not None
    assert len(found.replays) > 1
    assert life.worn_out - life.worn_at_start >= 0.05 * 128
    assert life.marks[0].worn_out == 1 / 128
    assert [mark.worn_out for mark in life.marks][-1] >= 0.05
    text = run_text(found)
    assert f"worn out   {life.worn_out} blocks (0 at the start)" in text
    assert "of blocks at" in text
    assert run("pv-unaware").life is None
    assert life.first_bytes == life.marks[0].host_bytes


def test_lives_stand_side_by_side() -> None:
    plans = [
        ssdlab.Plan(
            device="pv-read-mlc-128g", scheme=scheme, set=WORN, limit=5_000, until_worn="5%"
        )
        for scheme in ("pv-unaware", "pv-wear-leveling")
    ]
    found = ssdlab.compare(plans)
    lives = [one.life for one in found]
    assert all(life is not None and life.five_percent_bytes for life in lives)
    text = str(found)
    assert "5 % worn out" in text
    assert "first worn out" in text
    least, most = sorted(len(one.replays) for one in found)
    assert (f"the last of {least} to {most} replays" if least < most else f"of {most}") in text


def test_until_worn_without_wear_is_refused_or_ends() -> None:
    with pytest.raises(ssdlab.InputError, match="whose blocks never wear out"):
        ssdlab.run(until_worn="5%", set={"flash.cycles_per_erase": 9}, limit=10)
    with pytest.raises(ssdlab.InputError, match="a drive without accelerated wear"):
        ssdlab.run(device="pv-read-mlc-128g", until_worn="5%", limit=10)
    reads = {**WORN, "workload.read_share": "100%"}
    plan = ssdlab.Plan(device="pv-read-mlc-128g", set=reads, limit=500, until_worn="5%")
    found = ssdlab.run(plan)
    assert "--until-worn was given up after replay 1: a replay programmed nothing" in found.remarks
    old = {**WORN, "start.pe_cycles": 100_000}
    plan = ssdlab.Plan(device="pv-read-mlc-128g", set=old, limit=500, until_worn="5%")
    why = "fewer blocks than that were not worn out at the start"
    assert f"--until-worn was given up after replay 1: {why}" in ssdlab.run(plan).remarks
