//! The state that a drive shows to observers, and the state that a caller can set.

use std::collections::BTreeSet;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::stats::Ended;
use ssdlab_core::{At, ChipInspector, NewTxn, Owner};
use ssdlab_nand::{BlockId, Level, Lpn, PlaneId, ProgramMode};

use crate::support::{BUS, PROGRAM, READ, Rig, SPP, written};

#[test]
fn an_order_that_holds_requests_back_says_so() {
    let holds = |order: &str| Rig::new(&[order]).drive.holds_back();
    assert!(holds("scheduler = \"dlv\""));
    assert!(holds("scheduler = { fifo = { head_of_line = true } }"));
    assert!(!holds("scheduler = \"fifo\""));
}

#[test]
fn array_units_have_their_planes_and_their_channels() {
    let units = |array: &str| -> Vec<(u32, u32, u16)> {
        let array = format!("flash.array = \"{array}\"");
        let rig = Rig::new(&["geometry = { channels = 2, dies = 2, planes = 2 }", &array]);
        let units = rig.drive.flash().units.layout();
        units.map(|(first, planes, channel)| (first.0, planes, channel)).collect()
    };
    assert_eq!(units("chip"), [(0, 4, 0), (4, 4, 1)]);
    assert_eq!(units("die"), [(0, 2, 0), (2, 2, 0), (4, 2, 1), (6, 2, 1)]);
    let planes = (0..8).map(|plane| (plane, 1, u16::from(plane >= 4)));
    assert_eq!(units("plane"), planes.collect::<Vec<_>>());
}

#[test]
fn every_kind_of_request_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = Op::ALL.into_iter().map(Op::name).collect();
    assert_eq!(names.len(), Op::ALL.len());
    assert!(names.contains("read") && names.contains("write"));
}

#[test]
fn what_a_unit_does_is_seen_with_the_time_that_is_left() {
    let (mut rig, zero) = written(&[], 1);
    let seen = |rig: &Rig| {
        let unit = rig.drive.flash().units.id_of(PlaneId(0));
        let running = rig.drive.flash().in_service(unit, rig.drive.now());
        (running.kind, running.remaining.as_ns())
    };
    rig.read(0);
    rig.until(zero + 10_000);
    assert_eq!(seen(&rig), (Some(OpKind::Read), READ - 10_000));
    rig.until(zero + READ);
    assert_eq!(seen(&rig).0, None, "its page is on the bus");
    rig.finish();
    rig.write(0);
    rig.until(zero + READ + 2 * BUS + 30_000);
    assert_eq!(seen(&rig), (Some(OpKind::Program), PROGRAM - 30_000));
}

#[test]
fn what_is_expected_of_a_read_is_what_it_takes_alone() {
    let sets = ["flash.command_time = \"1us\"", "timing.decode = \"10us\""];
    let (mut rig, zero) = written(&sets, 1);
    let mut flash = rig.drive.flash().clone();
    let (owner, mask) = (Owner::Request(0), (1 << SPP) - 1);
    let new = NewTxn {
        lpn: Lpn(0),
        owner,
        kind: OpKind::Read,
        cause: Cause::Host,
        mask,
        sectors: SPP as u32,
    };
    let id = flash.txns.begin(new, SimTime::START);
    flash.txns.set_page(id, rig.drive.ftl().map.get(Lpn(0)).unwrap());
    let expected = flash.nominal_read(id, Level::FIRST).as_ns();
    assert_eq!(expected, 1000 + READ + BUS + 10_000);
    let read = rig.read(0);
    rig.finish();
    assert_eq!(rig.end_of(read), Some(zero + expected));
}

#[test]
fn an_erase_wears_a_block_and_ends_the_age_of_what_it_held() {
    let mut rig = Rig::new(&["physics = { retries = {} }", "ftl.overprovisioning = 0.5"]);
    while rig.ops(OpKind::Erase, Cause::Gc) == 0 {
        rig.write(0);
        rig.finish();
    }
    let later = SimTime::from_ns(rig.now() + 90 * 86_400_000_000_000);
    let blocks_of =
        |block| [rig.drive.now(), later].map(|now| rig.drive.block(0, block, now).unwrap());
    let (mut erased, mut written) = (0, 0);
    for block in 0..16 {
        let [now, then] = blocks_of(block);
        let ages = then.rber > now.rber;
        assert_eq!(ages, rig.drive.ftl().blocks.written(BlockId(block)) > 0, "block {block}");
        erased += now.erases;
        written += u32::from(ages);
    }
    assert!(erased == 1 && written > 10, "{erased} and {written}");
}

#[test]
fn an_inspector_returns_error_rates_and_program_times_of_chips() {
    let times = "timing.program = [\"100us\", \"300us\"]";
    let inspect_with = |physics: &str, look: &dyn Fn(ChipInspector) -> f64| {
        let resolved = Rig::new(&[physics, times]).drive.resolved().clone();
        look(ChipInspector::new(&resolved.chip, &resolved.page_order, &resolved.flash))
    };
    let day = Nanos::from_ms(86_400_000);
    let normal = ProgramMode::NORMAL;
    let fresh = At {
        program_mode: normal,
        pe_cycles: 1000.0,
        age: Nanos::ZERO,
        dwell: Nanos::ZERO,
        reads: 0,
    };
    let retries = "physics = { retries = {} }";
    let rate = |at| inspect_with(retries, &|inspector| inspector.read(0, at).rber);
    let old = At { age: day * 90, ..fresh };
    assert!(rate(old) > rate(fresh));
    assert!(rate(At { dwell: day, ..old }) < rate(old), "slower wear is less wear");
    let levels = "physics = { levels = {} }";
    let bases = [0, 1].map(|block| inspect_with(levels, &|inspector| inspector.base(block)));
    assert!(bases[0] > 0.0 && bases[1] > 0.0 && bases[0] != bases[1], "{bases:?}");
    let program = inspect_with(levels, &|inspector| inspector.program(normal, 2).as_ns() as f64);
    assert_eq!(program, 200_000.0);
    let strong = "physics = { levels = {} }\nmetadata.block_class = \"factory\"\nprogram_mode = [\"per_class\"]\n\
        timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", base_factor = 30.0 }]";
    let by = |program_mode| {
        inspect_with(strong, &|inspector| inspector.read(0, At { program_mode, ..fresh }).rber)
    };
    assert!(by(ProgramMode(1)) > 10.0 * by(normal));
}

#[test]
fn a_log_goes_on_when_statistics_begin_anew_and_without_what_came_before() {
    let mut rig = Rig::new(&[]);
    let take = |rig: &mut Rig| -> Vec<u64> {
        let mut rows: Vec<Ended> = Vec::new();
        rig.drive.take_log(&mut rows);
        rows.iter().map(|row| row.request.tag).collect()
    };
    rig.write(0);
    rig.finish();
    rig.drive.keep_log();
    rig.write(1);
    rig.finish();
    assert_eq!(take(&mut rig), [1]);
    rig.write(2);
    rig.finish();
    rig.drive.reset_stats();
    rig.write(3);
    rig.finish();
    assert_eq!(take(&mut rig), [3]);
    assert!(take(&mut rig).is_empty());
}

#[test]
fn a_prefilled_page_is_there_once_and_is_read_as_any() {
    let mut rig = Rig::new(&["geometry.channels = 2"]);
    let mut prefill = rig.drive.prefill();
    for page in [3, 5, 3] {
        assert!(rig.drive.prefill_page(&mut prefill, page));
    }
    assert_eq!(rig.drive.stats().unwritten_reads, 2);
    let lies = |page| rig.drive.ftl().map.get(Lpn(page)).map(|ppn| ppn.0);
    let plane = rig.drive.resolved().geometry().page_count() / 2;
    assert_eq!([3, 5, 4].map(lies), [Some(plane), Some(plane + 1), None]);
    let read = rig.read(5);
    rig.finish();
    assert_eq!(rig.end_of(read), Some(READ + BUS));
    assert_eq!(rig.drive.stats().unmapped_reads, 0);
}

#[test]
fn a_page_is_not_prefilled_where_there_is_no_room() {
    // Overwritten host pages fill the plane, and no collection runs.
    let mut rig = Rig::new(&["background.gc = false"]);
    for n in 0..14 * 8 {
        rig.write(n % 8);
        rig.finish();
    }
    let room = 16 * 8 - 14 * 8 - 8;
    let mut prefill = rig.drive.prefill();
    let pages = 8..8 + room + 2;
    let filled: Vec<bool> = pages.map(|page| rig.drive.prefill_page(&mut prefill, page)).collect();
    let (there, beyond) = filled.split_at(room as usize);
    assert!(there.iter().all(|&filled| filled), "but for a block that is kept: {filled:?}");
    assert!(!beyond.iter().any(|&filled| filled));
}

#[test]
fn a_drive_that_takes_over_what_another_held_sorts_the_blocks_by_its_own_estimates() {
    let levels = ["physics = { levels = {} }", "metadata.block_class = \"factory\""];
    let media = Rig::new(&levels[..1]).drive.clone().media().unwrap();
    let estimates = Rig::new(&levels);
    let resolved = std::sync::Arc::new(estimates.drive.resolved().clone());
    let taken = ssdlab_core::Drive::with_media(resolved, media).unwrap();
    let classes = |drive: &ssdlab_core::Drive| -> Vec<u8> {
        (0..16).map(|block| drive.ftl().blocks.class(BlockId(block)).0).collect()
    };
    assert_eq!(classes(&taken), classes(&estimates.drive));
    assert!(classes(&taken).contains(&0) && classes(&taken).contains(&1));
    let free = |drive: &ssdlab_core::Drive| drive.ftl().alloc.free_blocks(PlaneId(0));
    assert_eq!(free(&taken), free(&estimates.drive));
}
