//! Writes of the same page: in order, or superseding each other.

use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::stats::Behind;
use ssdlab_nand::{Lpn, Ppn};

use crate::support::{BUS, PROGRAM, READ, Rig, SPP};

const SUPERSEDING: &str = "host.same_page = \"superseding\"";

/// Returns the end of each request, in units of a transfer and a program of one page.
fn programs_until(rig: &Rig, tags: &[u64]) -> Vec<u64> {
    let end = |&tag| rig.end_of(tag).expect("it has ended");
    tags.iter().map(|tag| end(tag) / (BUS + PROGRAM)).collect()
}

#[test]
fn a_write_takes_the_place_of_one_that_waits_and_is_programmed_beside_one_that_runs() {
    for (set, ends, programs) in
        [("host.same_page = \"ordered\"", [1, 2, 3, 4, 5], 5), (SUPERSEDING, [1, 2, 2, 2, 3], 3)]
    {
        let mut rig = Rig::new(&[set]);
        let tags = [0, 0, 0, 0, 1].map(|page| rig.write(page));
        rig.finish();
        assert_eq!(programs_until(&rig, &tags), ends, "{set}");
        assert_eq!(rig.ops(OpKind::Program, Cause::Host), programs, "{set}");
        assert_eq!(rig.drive.stats().superseded, 5 - programs, "{set}");
        assert_eq!(rig.drive.write_amplification(), Some(1.0), "{set}");
    }
}

#[test]
fn no_write_passes_a_read_or_a_trim() {
    for op in [Op::Read, Op::Trim] {
        let mut rig = Rig::new(&[SUPERSEDING]);
        let first = rig.write(0);
        let between = rig.pages(op, 0, 1);
        let later = [rig.write(0), rig.write(0)];
        rig.finish();
        let [first, between] = [first, between].map(|tag| rig.end_of(tag).unwrap());
        assert_eq!(first, BUS + PROGRAM);
        assert_eq!(between - first, if op == Op::Read { READ + BUS } else { 0 });
        // The two that wait behind it become one.
        let end = between + BUS + PROGRAM;
        assert_eq!(later.map(|tag| rig.end_of(tag).unwrap()), [end, end], "{op:?}");
        assert_eq!(rig.drive.stats().superseded, 1);
    }
}

#[test]
fn a_write_that_joins_another_waits_for_it_as_for_its_page() {
    let mut rig = Rig::new(&[SUPERSEDING]);
    rig.drive.keep_log();
    rig.write(1);
    let first = rig.write(0);
    let joined = rig.write(0);
    rig.finish();
    let mut rows = Vec::new();
    rig.drive.take_log(&mut rows);
    let row = rows.iter().find(|row| row.request.tag == joined).unwrap();
    let mut blame = [0; Part::COUNT];
    blame[Part::Page as usize] = 2 * (BUS + PROGRAM);
    assert_eq!(row.blame, blame);
    // The earlier write waits for the other page, then is programmed.
    blame[Part::Page as usize] = 0;
    blame[Part::DieHost as usize] = BUS + PROGRAM;
    blame[Part::Transfer as usize] = BUS;
    blame[Part::Program as usize] = PROGRAM;
    assert_eq!(row.behind, Some(Behind { request: Some((Op::Write, first)), blame }));
}

#[test]
fn writes_of_parts_of_a_page_become_one_program_that_reads_the_rest_once() {
    let mut rig = Rig::new(&[SUPERSEDING]);
    rig.write(0);
    rig.finish();
    let began = rig.now();
    let parts = [0, 2, 5].map(|sector| rig.offer(Op::Write, sector, 2, 0).unwrap());
    rig.finish();
    let end = began + READ + BUS + BUS + PROGRAM;
    assert_eq!(parts.map(|tag| rig.end_of(tag).unwrap()), [end; 3]);
    assert_eq!(rig.ops(OpKind::Read, Cause::Rmw), 1);
    assert_eq!((rig.ops(OpKind::Program, Cause::Host), rig.drive.stats().superseded), (2, 2));
}

#[test]
fn a_write_of_a_part_waits_for_the_program_that_holds_the_rest() {
    let mut rig = Rig::new(&[SUPERSEDING]);
    rig.write(0);
    let part = rig.offer(Op::Write, 1, 1, 0).unwrap();
    // The whole page goes with the part, which comes before it.
    let whole = rig.write(0);
    rig.finish();
    let end = (BUS + PROGRAM) + (BUS + PROGRAM);
    assert_eq!([part, whole].map(|tag| rig.end_of(tag).unwrap()), [end, end]);
    assert_eq!(rig.ops(OpKind::Read, Cause::Rmw), 0);
}

/// Returns the physical page of the first logical page.
fn place(rig: &Rig) -> Ppn {
    rig.drive.ftl().map.get(Lpn(0)).expect("a page that was written")
}

#[test]
fn the_map_keeps_the_newest_page_whatever_the_order_in_which_programs_end() {
    let sets = [
        SUPERSEDING,
        "geometry.channels = 2",
        "ftl.allocation = \"dynamic\"",
        "timing.program = [\"200us\", \"2ms\"]",
    ];
    let mut rig = Rig::new(&sets);
    // The next page of the first plane is slow, that of the other one fast.
    let fills = (0..20).map(|page| {
        let at = rig.write(page + 10);
        rig.finish();
        (at, rig.end_of(at).unwrap())
    });
    drop(fills.collect::<Vec<_>>());
    let mut passed = 0;
    for _ in 0..20 {
        let [first, second] = [rig.write(0), rig.write(0)];
        rig.wait_below(2).unwrap();
        let ended = rig.done.last().unwrap().tag;
        let newest = place(&rig);
        rig.finish();
        if ended == second {
            passed += 1;
            assert_eq!(place(&rig), newest, "the write {first} before it ends later");
        }
        rig.read(0);
        rig.write(30);
        rig.finish();
    }
    assert!(passed > 0, "some later write ends first");
    assert_eq!(rig.drive.stats().superseded, 0);
}

#[test]
fn a_page_that_leaves_the_buffer_again_supersedes_its_program_that_waits() {
    let mut rig = Rig::new(&[SUPERSEDING, "buffer.size = \"64KiB\""]);
    for page in [1, 0] {
        rig.write(page);
        rig.finish();
    }
    let began = rig.now();
    let flush = |rig: &mut Rig| rig.offer(Op::Flush, 0, 0, 0).unwrap();
    let first = flush(&mut rig);
    rig.write(0);
    // The page has moved into the buffer by then.
    rig.until(began + 2_000);
    let second = flush(&mut rig);
    rig.finish();
    let end = began + 2 * (BUS + PROGRAM);
    assert_eq!([first, second].map(|tag| rig.end_of(tag).unwrap()), [end, end]);
    assert_eq!((rig.ops(OpKind::Program, Cause::Host), rig.drive.stats().superseded), (2, 1));
}

/// Drives with all that may come between the writes of a page.
const DRIVES: [&[&str]; 5] = [
    &["ftl.partial_writes = \"read_modify_write\""],
    &["ftl.partial_writes = \"sector_bitmap\"", "flash.transfer = \"sectors\""],
    &["ftl.partial_writes = \"pad\"", "geometry.channels = 2", "ftl.allocation = \"dynamic\""],
    &["buffer = { size = \"16KiB\", keep_free = 0.3 }", "geometry.channels = 2"],
    &[
        "geometry = { blocks = 40, pages = 12 }",
        "ftl = { overprovisioning = 0.5, map_cache = { entry = \"256B\", size = \"4KiB\" } }",
        "start.fill = 0.9",
    ],
];

#[test]
fn reads_see_the_newest_data_while_writes_supersede_each_other_and_blocks_are_collected() {
    for (sets, seed) in DRIVES.iter().flat_map(|sets| (0..3).map(move |seed| (sets, seed))) {
        let sets: Vec<&str> = [&[SUPERSEDING], *sets].concat();
        let mut rig = Rig::seeded(&sets, seed).unwrap();
        let draw = |kind, n, below| ssdlab_base::rng::hash(seed, kind, n) % below;
        for n in 0..1500 {
            rig.wait_below(24).unwrap();
            let page = if draw(1, n, 3) == 0 { draw(2, n, 60) } else { draw(2, n, 4) };
            let first = draw(3, n, 2) * draw(4, n, SPP);
            let op = match draw(5, n, 12) {
                0 => Op::Read,
                1 => Op::Trim,
                _ => Op::Write,
            };
            rig.offer(op, page * SPP + first, SPP - first, 0).unwrap();
        }
        rig.finish();
        let (superseded, gc) = (rig.drive.stats().superseded, rig.drive.stats().gc.0);
        assert!(superseded > 3 && gc > 2, "{sets:?}: {superseded} superseded, {gc} jobs");
    }
}

#[test]
fn a_trimmed_page_stays_trimmed() {
    let mut rig = Rig::new(&[SUPERSEDING]);
    rig.write(0);
    rig.write(0);
    rig.pages(Op::Trim, 0, 1);
    rig.finish();
    assert_eq!(rig.drive.ftl().map.get(Lpn(0)), None);
    rig.offer(Op::Write, 0, SPP, 0).unwrap();
    rig.finish();
    assert!(rig.drive.ftl().map.get(Lpn(0)).is_some());
}

/// A drive that pads a part of a page loses the rest, also what an outdated program still writes.
#[test]
fn a_padded_write_may_end_before_an_earlier_one_of_another_part_of_its_new_page() {
    let mut rig = Rig::new(&[
        SUPERSEDING,
        "ftl = { partial_writes = \"pad\", allocation = \"dynamic\" }",
        "geometry.channels = 2",
        "timing.program = [\"200us\", \"2ms\"]",
    ]);
    let mut passed = 0;
    for page in 0..40 {
        let [first, second] = [0, 1].map(|part| rig.offer(Op::Write, page * SPP + part, 1, 0));
        rig.finish();
        let [first, second] = [first, second].map(|tag| rig.end_of(tag.unwrap()).unwrap());
        passed += u32::from(second < first);
        rig.write(100 + page % 3);
        rig.finish();
    }
    assert!(passed > 0, "some later write ends first");
}
