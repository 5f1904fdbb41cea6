//! Planes of a die that share an array unit: joint operations, and their end for each plane.

use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind, Part};

use crate::support::{BUS, PROGRAM, READ, Rig, written};

const US: u64 = 1000;
/// Page n lies on plane n % 2 at offset n / 2.
const DIE: &str = "geometry.planes = 2\nflash.array = \"die\"";

#[test]
fn pages_programmed_together_are_interrupted_once_both_have_come() {
    let (mut rig, zero) = written(&[DIE, "suspend = { program_erase = {} }"], 2);
    let write = rig.pages(Op::Write, 2, 2);
    let read = rig.until(zero + 1).read(0);
    rig.finish();
    let gone = 2 * BUS + 5 * US + READ + BUS;
    let ends = [read, write].map(|tag| rig.end_of(tag).unwrap() - zero);
    assert_eq!(ends, [gone, gone + 5 * US + PROGRAM]);
}

#[test]
fn the_cache_register_opens_when_the_pages_of_all_planes_have_gone() {
    // Transfers take 100 us, twice as long as sensing.
    let slow = "flash = { bus_rate = \"40.96MB/s\", cache_read = true }";
    let (mut rig, zero) = written(&[DIE, slow], 6);
    let tags = [0, 2, 4].map(|page| rig.pages(Op::Read, page, 2));
    rig.finish();
    let ends = tags.map(|tag| rig.end_of(tag).unwrap() - zero);
    assert_eq!(ends, [2, 4, 6].map(|pages| READ + pages * 100 * US));
    // The second pair waits for the sensing of the first, the third for the transfer of the first.
    let waited = rig.drive.stats().latencies[0][Op::Read as usize].blame_ns[Part::DieHost as usize];
    assert_eq!(waited, u128::from(READ + READ + 200 * US));
}

#[test]
fn of_pages_read_together_only_those_that_failed_are_sensed_again() {
    // A strong page on plane 0, with more errors, and a normal page on plane 1, at equal offsets.
    let sets = [
        DIE,
        "physics = { levels = {} }",
        "timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", base_factor = 30.0 }]",
        "metadata.block_class = \"factory\"",
        "placement = [{ small_to_strong = { pages = 1 } }]",
        "program_mode = [\"per_class\"]",
    ];
    let mut rig = Rig::new(&sets);
    rig.write(0);
    rig.finish();
    rig.pages(Op::Write, 1, 2);
    rig.finish();
    let taken = |rig: &mut Rig, first, count| {
        let (zero, before) = (rig.now(), rig.drive.flash().error_counts().0);
        let tag = rig.pages(Op::Read, first, count);
        rig.finish();
        (rig.end_of(tag).unwrap() - zero, rig.drive.flash().error_counts().0 - before)
    };
    let (alone, retries) = taken(&mut rig, 0, 1);
    assert!(retries > 0);
    assert_eq!(taken(&mut rig, 1, 1).1, 0);
    // In addition, the other page is transferred once.
    assert_eq!(taken(&mut rig, 0, 2), (alone + BUS, retries));
    let reads: u64 = rig.drive.flash().counts.ops()[OpKind::Read as usize].iter().sum();
    assert_eq!(reads, 4);
}

#[test]
fn a_page_that_was_moved_while_its_read_waited_is_read_together_with_those_at_its_new_offset() {
    let gc = "background.gc = { mode = \"foreground\", victim = \"fifo\" }";
    let (mut rig, _) = written(&[DIE, gc], 16);
    // Pages 6 and 7 lie at offset 3 of the first blocks. Page 1, on the plane of page 7, is
    // overwritten until the first block there is collected before the reads start.
    let moved = |rig: &Rig| rig.ops(OpKind::Erase, Cause::Gc) > 0;
    while !moved(&rig) {
        rig.write(1);
        let reads = rig.until(rig.now() + BUS).read(6);
        let reads = [reads, rig.read(7)];
        rig.finish();
        let [first, second] = reads.map(|tag| rig.end_of(tag).unwrap());
        assert_eq!(second - first, if moved(&rig) { READ + BUS } else { BUS });
    }
}
