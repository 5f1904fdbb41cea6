//! A page keeps its buffer slot until its program has ended, and no page is programmed before it
//! has moved in.

use ssdlab_core::Op;

use crate::support::{BUS, PROGRAM, Rig};

const ONE: u64 = BUS + PROGRAM;
/// Time to move a page into the buffer.
const IN: u64 = 1_000;

/// Returns the ends of writes 2 µs apart, each to its own page and each followed by `then`.
fn ends_of_writes(sets: &[&str], count: u64, then: impl Fn(&mut Rig, u64)) -> Vec<u64> {
    let mut rig = Rig::new(sets);
    let tags: Vec<u64> = (0..count)
        .map(|page| {
            rig.until(page * 2_000);
            let tag = rig.write(page);
            then(&mut rig, page);
            tag
        })
        .collect();
    rig.finish();
    tags.iter().map(|&tag| rig.end_of(tag).unwrap()).collect()
}

fn flush(rig: &mut Rig, _: u64) {
    rig.offer(Op::Flush, 0, 0, 0).unwrap();
}

#[test]
fn a_flushed_page_keeps_its_slot_until_it_is_programmed() {
    for evict in ["lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru"] {
        let evict = format!("eviction = \"{evict}\"");
        let sets = ["buffer.size = \"4KiB\"", &*evict];
        let ends = ends_of_writes(&sets, 6, flush);
        // Each write but the first moves in when the one before it has moved in and been
        // programmed.
        let expected: Vec<u64> = (0..6).map(|write| IN + write * (ONE + IN)).collect();
        assert_eq!(ends, expected, "{evict}");
    }
}

#[test]
fn no_slots_stay_free_while_flushed_pages_are_programmed() {
    let sets = ["buffer = { size = \"16KiB\", keep_free = 0.5 }"];
    let ends = ends_of_writes(&sets, 8, flush);
    assert_eq!(ends[..4], [0, 1, 2, 3].map(|write| write * 2_000 + IN));
    // The first page was programmed at 206 µs; a slot becomes free with each further program.
    assert_eq!(ends[4..], [1, 2, 3, 4].map(|pages| IN + pages * ONE + IN));
}

#[test]
fn neither_a_trim_nor_a_read_frees_the_slot_of_a_page_that_a_flush_programs() {
    let second = |between: &dyn Fn(&mut Rig)| {
        let mut rig = Rig::new(&[
            "buffer.size = \"4KiB\"\nftl.allocation_order = \"PCWD\"",
            "geometry.planes = 2",
        ]);
        rig.write(1);
        rig.finish();
        rig.offer(Op::Flush, 0, 0, 0).unwrap();
        rig.finish();
        rig.write(0);
        rig.finish();
        let zero = rig.now();
        rig.offer(Op::Flush, 0, 0, 0).unwrap();
        between(&mut rig);
        rig.until(zero + 100_000);
        let tag = rig.write(2);
        rig.finish();
        rig.end_of(tag).unwrap() - zero
    };
    let waits = ONE + IN;
    assert_eq!(second(&|_| {}), waits);
    assert_eq!(second(&|rig| assert!(rig.pages(Op::Trim, 0, 1) > 0)), waits);
    // The page that is read, on the other plane, arrives before the program has ended.
    assert_eq!(second(&|rig| assert!(rig.read(1) > 0)), waits);
}

#[test]
fn a_page_is_programmed_once_it_is_in_the_buffer() {
    const SLOW: u64 = 10_000_000;
    let slow = "buffer = { size = \"8KiB\", latency = \"10ms\" }";
    let mut rig = Rig::new(&[slow]);
    let write = rig.write(0);
    let flush = rig.offer(Op::Flush, 0, 0, 0).unwrap();
    rig.finish();
    assert_eq!([write, flush].map(|tag| rig.end_of(tag).unwrap()), [SLOW, SLOW + ONE]);
    // The same holds for a page that leaves for another.
    let mut rig = Rig::new(&[slow]);
    let writes = [0, 1, 2].map(|page| rig.write(page));
    rig.finish();
    assert_eq!(writes.map(|tag| rig.end_of(tag).unwrap()), [SLOW, SLOW, 2 * SLOW + ONE]);
    // Two writes of a page: the flush waits for the later one as well.
    let mut rig = Rig::new(&[slow]);
    rig.write(0);
    rig.until(SLOW / 2);
    rig.write(0);
    let flush = rig.offer(Op::Flush, 0, 0, 0).unwrap();
    rig.finish();
    assert_eq!(rig.end_of(flush), Some(SLOW + SLOW / 2 + ONE));
}

#[test]
fn the_buffers_size_limits_what_many_planes_program_at_a_time() {
    let sets = ["buffer.size = \"4KiB\"", "geometry.planes = 4\nftl.allocation_order = \"PCWD\""];
    let ends = ends_of_writes(&sets, 4, |_, _| {});
    // The first page leaves when the second arrives, at 2 µs; each later one when it has moved in.
    assert_eq!(ends[1..], [1, 2, 3].map(|write| IN + write * (ONE + IN) + 1_000));
}
