//! The limits of what a host may request.

use ssdlab_base::SimTime;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Op, Refused};

use crate::support::{BUS, PROGRAM, Rig, config};

const VICTIMS: [&str; 5] = ["greedy", "random", "d_choices", "cost_benefit", "fifo"];

/// Fills a drive, overwrites it twice, in order and scattered, and waits until it is idle.
fn fill_and_overwrite(rig: &mut Rig, depth: u32) -> Result<(), String> {
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for n in 0..pages * 3 {
        rig.wait_below(depth)?;
        // In order, then scattered: 7919 is a prime larger than any of these drives.
        rig.write(if n < pages { n } else { n * 7919 % pages });
    }
    rig.try_finish()?;
    match rig.drive.next_event() {
        None => Ok(()),
        Some(at) => Err(format!("an idle drive has an event at {}", at.as_ns())),
    }
}

#[test]
fn a_full_drive_overwritten_twice_comes_to_rest() {
    let shapes = [
        "geometry = { blocks = 5, pages = 2 }",
        "geometry = { blocks = 8, pages = 8, channels = 2, planes = 2 }",
        "geometry = { blocks = 32, pages = 12, dies = 2 }",
    ];
    for shape in shapes {
        for victim in VICTIMS {
            for (allocation, array) in
                [("static", "plane"), ("dynamic", "plane"), ("dynamic", "die")]
            {
                for (threshold, wear) in [(0.05, false), (0.9, true)] {
                    let blocks = config(&[shape]).geometry.blocks;
                    // The smallest accepted over-provisioning, far below the threshold.
                    let share = (3.0 + f64::from(u8::from(wear))) / f64::from(blocks) + 1e-9;
                    // The target is all spare blocks, so collection does not end by itself.
                    let gc = format!(
                        "background.gc = {{ victim = \"{victim}\", threshold = {threshold}, target = 1 }}"
                    );
                    let ftl = format!(
                        "ftl = {{ allocation = \"{allocation}\", overprovisioning = {share} }}"
                    );
                    let array = format!("flash.array = \"{array}\"");
                    let mut sets = vec![shape, &gc, &ftl, &array];
                    if wear {
                        sets.push("background.static_wear_leveling = { threshold = 2 }");
                    }
                    let mut rig = Rig::seeded(&sets, 1).expect("a drive that is accepted");
                    let outcome = fill_and_overwrite(&mut rig, if wear { 1 } else { 9 });
                    assert_eq!(outcome, Ok(()), "{sets:?}");
                    assert!(rig.drive.stats().gc.0 > 0, "{sets:?}");
                }
            }
        }
    }
}

#[test]
fn every_cell_type_and_page_size_works() {
    for (cell, pages) in [("slc", 5), ("mlc", 6), ("tlc", 6), ("qlc", 8)] {
        for page in ["512B", "1KiB", "16KiB", "32KiB"] {
            let shape = format!(
                "geometry = {{ cell = \"{cell}\", pages = {pages}, page_size = \"{page}\" }}"
            );
            let mut rig = Rig::new(&[&shape]);
            assert_eq!(fill_and_overwrite(&mut rig, 4), Ok(()), "{shape}");
        }
    }
}

#[test]
fn an_idle_drive_has_no_next_event() {
    let mut rig = Rig::new(&[]);
    assert_eq!(rig.drive.next_event(), None);
    rig.write(0);
    assert_eq!(rig.drive.next_event(), Some(SimTime::from_ns(BUS)));
    rig.finish();
    assert_eq!(rig.drive.next_event(), None);
    assert!(rig.drive.is_idle());
    // Time may pass without events.
    rig.until(1 << 40);
    assert_eq!((rig.now(), rig.drive.next_event()), (1 << 40, None));
}

#[test]
fn a_drive_that_is_trimmed_whole_maps_nothing_and_can_be_filled_again() {
    for buffer in ["0B", "64KiB"] {
        let set = format!("buffer.size = \"{buffer}\"");
        let mut rig = Rig::new(&[&set]);
        assert_eq!(fill_and_overwrite(&mut rig, 4), Ok(()));
        let pages = u64::from(rig.drive.resolved().logical_pages);
        rig.pages(Op::Trim, 0, pages);
        rig.finish();
        assert_eq!(rig.drive.ftl().map.mapped(), 0);
        let before = rig.drive.stats().unmapped_reads;
        rig.pages(Op::Read, 0, pages);
        rig.finish();
        assert_eq!(rig.drive.stats().unmapped_reads - before, pages);
        assert_eq!(fill_and_overwrite(&mut rig, 4), Ok(()));
    }
}

#[test]
fn what_does_not_lie_on_the_drive_is_refused() {
    let mut rig = Rig::new(&["host.queues = 2", "physics = { levels = {} }"]);
    let sectors = rig.drive.resolved().sectors();
    // An expected range need not lie on the drive.
    for (lba, count) in [(0, 1), (0, 0), (sectors - 1, 2), (sectors, 1), (1 << 40, 1 << 20)] {
        rig.drive.prefetch(lba, count);
        rig.drive.prefetch_read(lba, count);
    }
    for op in [Op::Read, Op::Write, Op::Trim] {
        assert_eq!(rig.offer(op, 0, 0, 0), Err(Refused::OutOfRange), "no sectors");
        assert_eq!(rig.offer(op, sectors, 1, 0), Err(Refused::OutOfRange));
        assert_eq!(rig.offer(op, sectors - 1, 2, 0), Err(Refused::OutOfRange));
        assert_eq!(rig.offer(op, u64::MAX, 2, 0), Err(Refused::OutOfRange), "overflow");
        assert_eq!(rig.offer(op, 0, 1, 2), Err(Refused::OutOfRange), "no such queue");
        assert!(rig.offer(op, sectors - 1, 1, 1).is_ok());
        assert!(rig.offer(op, 0, sectors, 0).is_ok());
    }
    assert!(rig.offer(Op::Flush, 0, 0, 0).is_ok());
    rig.finish();
    assert_eq!(rig.done.len(), 7);
}

#[test]
fn a_full_queue_refuses_until_a_request_has_ended() {
    let mut rig = Rig::new(&["host = { queues = 2, queue_depth = 2 }"]);
    for page in 0..2 {
        rig.write(page);
    }
    assert_eq!(rig.offer(Op::Write, 0, 8, 0), Err(Refused::Full));
    assert!(!rig.drive.has_room(0) && rig.drive.has_room(1), "each queue has a depth of its own");
    assert!(rig.offer(Op::Write, 16, 8, 1).is_ok());
    rig.until(BUS + PROGRAM - 1);
    assert_eq!(rig.offer(Op::Write, 0, 8, 0), Err(Refused::Full));
    rig.until(BUS + PROGRAM);
    assert!(rig.drive.has_room(0));
    assert!(rig.offer(Op::Write, 0, 8, 0).is_ok());
    rig.finish();
    assert_eq!(rig.done.len(), 4);
}

#[test]
fn a_request_may_be_larger_than_the_buffer() {
    let mut rig = Rig::new(&["buffer.size = \"8KiB\""]);
    let pages = u64::from(rig.drive.resolved().logical_pages);
    rig.pages(Op::Write, 0, pages);
    rig.pages(Op::Read, 0, pages);
    rig.offer(Op::Flush, 0, 0, 0).unwrap();
    rig.finish();
    assert_eq!(u64::from(rig.drive.ftl().map.mapped()), pages);
}

#[test]
fn bad_blocks_are_never_written() {
    let mut rig =
        Rig::new(&["geometry.blocks = 64", "ftl = { bad_blocks = 0.2, overprovisioning = 0.5 }"]);
    let bad = |rig: &Rig| {
        let blocks = &rig.drive.ftl().blocks;
        let all = (0..rig.drive.resolved().geometry().block_count()).map(ssdlab_nand::BlockId);
        all.filter(|&block| blocks.state(block) == ssdlab_core::BlockState::Bad)
            .inspect(|&block| assert_eq!((blocks.written(block), blocks.erases(block)), (0, 0)))
            .count()
    };
    let before = bad(&rig);
    assert!(before > 0, "some are bad");
    assert_eq!(fill_and_overwrite(&mut rig, 4), Ok(()));
    assert_eq!(bad(&rig), before);
}

#[test]
fn too_little_over_provisioning_is_refused_with_the_least_that_works() {
    let refused = Rig::seeded(&["ftl.overprovisioning = 0.1"], 1).err().unwrap();
    let least: String = refused.split("at least ").nth(1).unwrap().chars().take(6).collect();
    let set = format!("ftl.overprovisioning = {least}");
    let mut rig = Rig::new(&[&set]);
    assert_eq!(fill_and_overwrite(&mut rig, 1), Ok(()));
}

#[test]
fn without_a_collector_a_full_drive_takes_no_more() {
    let mut rig = Rig::new(&["background.gc = false"]);
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for n in 0..pages * 2 {
        rig.write(n % pages);
    }
    assert!(rig.try_finish().is_err_and(|what| what.contains("stuck")));
    assert_eq!(rig.ops(OpKind::Erase, Cause::Gc), 0);
}
