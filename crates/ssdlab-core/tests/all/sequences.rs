//! Given requests cause exactly these flash operations at these times.

use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind};

use crate::support::{BUS, ERASE, PROGRAM, READ, Rig, SPP};

/// Flash operations that ended: nanoseconds after the start, kind and cause.
type Log = Vec<(u64, OpKind, Cause)>;

const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Program, OpKind::Erase];
const CAUSES: [Cause; 7] = [
    Cause::Host,
    Cause::Gc,
    Cause::Wl,
    Cause::Migration,
    Cause::Mapping,
    Cause::Rmw,
    Cause::Refresh,
];

/// Runs the drive to its end and logs every operation that ends.
fn log(rig: &mut Rig) -> Log {
    let (zero, mut log) = (rig.now(), Log::new());
    let mut before = *rig.drive.flash().counts.ops();
    while let Some(next) = rig.drive.next_event() {
        rig.drive.advance_once(next, &mut rig.done);
        assert_eq!(rig.drive.violation(), None);
        let after = *rig.drive.flash().counts.ops();
        for kind in KINDS {
            for cause in CAUSES {
                let more =
                    after[kind as usize][cause as usize] - before[kind as usize][cause as usize];
                log.extend((0..more).map(|_| (rig.now() - zero, kind, cause)));
            }
        }
        before = after;
    }
    log
}

const ONE: u64 = BUS + PROGRAM;
const LOOK: u64 = READ + BUS;

use Cause::{Gc, Host, Rmw};
use OpKind::{Erase, Program, Read};

#[test]
fn a_write_is_transferred_and_programmed_a_read_is_sensed_and_transferred() {
    let mut rig = Rig::new(&[]);
    rig.write(0);
    rig.read(0);
    assert_eq!(log(&mut rig), [(ONE, Program, Host), (ONE + LOOK, Read, Host)]);
}

#[test]
fn a_page_that_was_never_written_costs_nothing_to_read() {
    let mut rig = Rig::new(&[]);
    let tag = rig.read(3);
    assert_eq!(log(&mut rig), []);
    assert_eq!(rig.end_of(tag), Some(0));
    assert_eq!(rig.drive.stats().unmapped_reads, 1);
}

#[test]
fn a_page_that_counts_as_written_before_is_read_from_its_plane() {
    let mut rig = Rig::new(&["start.unwritten_reads = \"lazy\""]);
    rig.read(3);
    rig.read(3);
    assert_eq!(log(&mut rig), [(LOOK, Read, Host), (2 * LOOK, Read, Host)]);
    assert_eq!((rig.drive.stats().unwritten_reads, rig.drive.stats().unmapped_reads), (1, 0));
}

#[test]
fn dies_on_one_channel_program_side_by_side() {
    let mut rig = Rig::new(&["geometry.dies = 4"]);
    rig.pages(Op::Write, 0, 4);
    let ends: Vec<u64> = log(&mut rig).iter().map(|(end, ..)| *end).collect();
    assert_eq!(ends, [ONE, ONE + BUS, ONE + 2 * BUS, ONE + 3 * BUS]);
}

#[test]
fn a_write_in_part_reads_the_page_first_and_moves_what_it_must() {
    let moved = |sectors: u64| sectors * BUS / SPP;
    for (transfer, read, program) in [("page", BUS, BUS), ("sectors", moved(5), BUS)] {
        let set = format!("flash.transfer = \"{transfer}\"");
        let mut rig = Rig::new(&[&set]);
        rig.write(0);
        rig.finish();
        rig.offer(Op::Write, 2, 3, 0).unwrap();
        let first = READ + read;
        let expected = [(first, Read, Rmw), (first + program + PROGRAM, Program, Host)];
        assert_eq!(log(&mut rig), expected, "{transfer}");
    }
}

#[test]
fn a_sector_bitmap_reads_only_written_sectors_that_are_not_overwritten() {
    let sets = ["ftl.partial_writes = \"sector_bitmap\"", "flash.transfer = \"sectors\""];
    let moved = |sectors: u64| sectors * BUS / SPP;
    let mut rig = Rig::new(&sets);
    let write = |rig: &mut Rig, first, sectors| {
        rig.offer(Op::Write, first, sectors, 0).unwrap();
        log(rig)
    };
    let alone = |sectors| vec![(moved(sectors) + PROGRAM, Program, Host)];
    let after_read = |read, sectors| {
        let first = READ + moved(read);
        vec![(first, Read, Rmw), (first + moved(sectors) + PROGRAM, Program, Host)]
    };
    // Sectors 0 to 2, then 2 to 3: the drive reads sectors 0 and 1, and programs 0 to 3.
    assert_eq!(write(&mut rig, 0, 3), alone(3));
    assert_eq!(write(&mut rig, 2, 2), after_read(2, 4));
    // All written sectors are overwritten.
    assert_eq!(write(&mut rig, 0, 4), alone(4));
    assert_eq!(write(&mut rig, 0, 5), alone(5));
    // After the trim the page has no sectors.
    rig.pages(Op::Trim, 0, 1);
    rig.finish();
    assert_eq!(write(&mut rig, 7, 1), alone(1));
}

#[test]
fn a_padded_write_reads_nothing() {
    let mut rig = Rig::new(&["ftl.partial_writes = \"pad\"", "flash.transfer = \"sectors\""]);
    rig.write(0);
    rig.finish();
    rig.offer(Op::Write, 2, 4, 0).unwrap();
    assert_eq!(log(&mut rig), [(BUS / 2 + PROGRAM, Program, Host)]);
}

#[test]
fn a_collection_moves_what_is_valid_and_erases() {
    // Eight blocks of four pages, collected when fewer than two are free.
    let sets = [
        "geometry = { blocks = 8, pages = 4 }",
        "ftl.overprovisioning = 0.5",
        "background.gc = { threshold = 0.01, mode = \"foreground\" }",
    ];
    let mut rig = Rig::new(&sets);
    // Blocks 0 to 3 hold every page once, blocks 4 and 5 six pages again. All four pages of block 0
    // and two of block 1 are outdated. Block 6 is opened last: one free block is left.
    for page in (0..16).chain(0..8) {
        rig.write(page);
    }
    assert_eq!(log(&mut rig).len(), 24, "two free blocks are enough");
    rig.write(9);
    let first = vec![(ONE, Program, Host)];
    // Blocks 0 and 1 are fully outdated; the erase of the first gives the second free block.
    assert_eq!(log(&mut rig), [first.clone(), vec![(ONE + ERASE, Erase, Gc)]].concat());
    // Block 6 is filled, block 0 opened, and block 1 erased.
    for page in 0..3 {
        rig.write(page);
    }
    rig.finish();
    rig.write(3);
    assert_eq!(log(&mut rig), [first.clone(), vec![(ONE + ERASE, Erase, Gc)]].concat());
    // Block 2 has lost only its second page, and block 4 all four. Block 4 is collected first, then
    // block 2, whose three valid pages move.
    for page in 4..7 {
        rig.write(page);
    }
    rig.finish();
    rig.write(7);
    assert_eq!(log(&mut rig), [first.clone(), vec![(ONE + ERASE, Erase, Gc)]].concat());
    for page in 12..15 {
        rig.write(page);
    }
    rig.finish();
    rig.write(8);
    let log = log(&mut rig);
    let mut expected = first;
    let mut at = ONE;
    if log.len() > 2 {
        for _ in 0..log.iter().filter(|(_, kind, cause)| (*kind, *cause) == (Read, Gc)).count() {
            expected.push((at + LOOK, Read, Gc));
            expected.push((at + LOOK + ONE, Program, Gc));
            at += LOOK + ONE;
        }
    }
    expected.push((at + ERASE, Erase, Gc));
    assert_eq!(log, expected);
}

#[test]
fn a_trim_and_a_flush_without_a_buffer_cost_nothing() {
    let mut rig = Rig::new(&[]);
    rig.write(0);
    rig.finish();
    let (trim, flush) = (rig.pages(Op::Trim, 0, 1), rig.offer(Op::Flush, 0, 0, 0).unwrap());
    let now = rig.now();
    assert_eq!(log(&mut rig), []);
    assert_eq!((rig.end_of(trim), rig.end_of(flush)), (Some(now), Some(now)));
    assert_eq!(rig.drive.ftl().map.mapped(), 0);
}

#[test]
fn a_trim_spares_pages_that_it_covers_in_part() {
    let mut rig = Rig::new(&[]);
    rig.pages(Op::Write, 0, 4);
    rig.finish();
    rig.offer(Op::Trim, SPP - 1, 2 * SPP + 2, 0).unwrap();
    rig.finish();
    assert_eq!(rig.drive.ftl().map.mapped(), 2);
}

#[test]
fn a_flush_programs_what_the_buffer_holds() {
    let mut rig = Rig::new(&["buffer.size = \"64KiB\""]);
    rig.pages(Op::Write, 0, 2);
    assert_eq!(log(&mut rig), []);
    let zero = rig.now();
    let flush = rig.offer(Op::Flush, 0, 0, 0).unwrap();
    assert_eq!(log(&mut rig), [(ONE, Program, Host), (2 * ONE, Program, Host)]);
    assert_eq!(rig.end_of(flush), Some(zero + 2 * ONE));
}

#[test]
fn what_the_buffer_holds_is_read_from_it() {
    let mut rig = Rig::new(&["buffer = { size = \"64KiB\", latency = \"3us\" }"]);
    rig.write(0);
    rig.finish();
    let zero = rig.now();
    let tag = rig.read(0);
    assert_eq!(log(&mut rig), []);
    assert_eq!(rig.end_of(tag), Some(zero + 3000));
}

#[test]
fn pages_that_were_read_stay_in_a_buffer_that_keeps_them() {
    for (keeps, again) in [(true, 1000), (false, LOOK)] {
        let set = format!("buffer = {{ size = \"8KiB\", reads = {keeps} }}");
        let mut rig = Rig::new(&[&set]);
        // Four pages pass a buffer of two: the first two have left it.
        for page in 0..4 {
            rig.write(page);
        }
        rig.finish();
        rig.read(0);
        rig.finish();
        let zero = rig.now();
        let tag = rig.read(0);
        rig.finish();
        assert_eq!(rig.end_of(tag), Some(zero + again), "keeps: {keeps}");
    }
}
