//! Past defects, each as a test of the correct behavior.

use ssdlab_core::Pace;
use ssdlab_core::account::{Blame, Part};
use ssdlab_core::stats::Behind;
use ssdlab_core::{Op, Request};

use crate::support::{BUS, PROGRAM, READ, Rig, Step, play};

const TINY: [&str; 5] = [
    "geometry = { chips = 2, blocks = 10, cell = \"slc\", pages = 2, page_size = \"512B\" }",
    "ftl = { overprovisioning = 0.3, allocation = \"dynamic\", free_block_policy = \"longest_free\" }",
    "ftl.allocation_order = \"CWDP\"",
    "background.gc = { victim = \"d_choices\", threshold = 0.3 }",
    "physics = { retries = {} }",
];

#[test]
fn a_write_leaves_a_plane_that_has_filled_up_since_it_was_chosen() {
    let mut rig = Rig::seeded(&TINY, 0).unwrap();
    let write =
        |gap, place, sectors| Step { gap, op: Op::Write, place, sectors, whole: false, queue: 0 };
    let steps = [
        write(0, 12137, 15),
        write(0, 4855, 8),
        write(0, 46118, 7),
        write(0, 2428, 5),
        write(1_448_327, 0, 8),
    ];
    assert_eq!(play(&mut rig, &steps, 1), Ok(()));
}

#[test]
fn a_write_on_a_full_plane_goes_where_room_appears() {
    for seed in 0..400 {
        let mut rig = Rig::unwatched(&TINY, seed).unwrap();
        let pages = u64::from(rig.drive.resolved().logical_pages);
        for n in 0..pages * 12 {
            rig.wait_below(1 + (seed % 5) as u32).unwrap_or_else(|what| panic!("{seed}: {what}"));
            rig.write(ssdlab_base::rng::hash(seed, 1, n) % pages);
        }
        rig.finish();
    }
}

#[test]
fn operations_that_end_at_once_do_not_pile_up_on_the_stack() {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(|| {
        let mut rig = Rig::unwatched(&[], 1).unwrap();
        rig.write(0);
        for _ in 0..20_000 {
            rig.pages(Op::Trim, 0, 1);
            rig.pages(Op::Read, 0, 1);
        }
        rig.finish();
        rig.done.len()
    });
    assert_eq!(thread.unwrap().join().unwrap(), 40_001);
}

#[test]
fn a_flush_waits_for_what_an_earlier_one_is_still_writing() {
    let mut rig = Rig::new(&["buffer.size = \"64KiB\""]);
    rig.pages(Op::Write, 0, 3);
    rig.finish();
    let zero = rig.now();
    let flushes = [rig.offer(Op::Flush, 0, 0, 0).unwrap(), rig.offer(Op::Flush, 0, 0, 0).unwrap()];
    rig.finish();
    let end = zero + 3 * (BUS + PROGRAM);
    assert_eq!(flushes.map(|tag| rig.end_of(tag).unwrap()), [end, end]);
}

#[test]
fn a_flush_in_the_host_queue_does_not_wait_for_the_buffer() {
    let mut rig = Rig::new(&["buffer.size = \"64KiB\""]);
    rig.pages(Op::Write, 0, 3);
    rig.finish();
    let arrival = rig.drive.now();
    let transferred_in = rig.now() + 5_000;
    rig.until(transferred_in);
    let flush = Request { tag: 99, arrival, op: Op::Flush, lba: 0, sectors: 0, queue: 0, hint: 0 };
    rig.drive.submit(rig.drive.now(), flush).unwrap();
    rig.finish();
    let blame = rig.drive.stats().latencies[0][Op::Flush as usize].blame_ns;
    assert_eq!(blame[Part::HostQueue as usize], 5_000);
    assert_eq!(blame[Part::Buffer as usize], u128::from(3 * (BUS + PROGRAM)));
}

#[test]
fn wear_leveling_has_a_page_to_write_when_the_host_takes_all_it_may() {
    let sets = [
        "geometry = { blocks = 12, pages = 8 }",
        "ftl.overprovisioning = 0.4",
        "background.static_wear_leveling = { threshold = 1 }",
        "background.gc.threshold = 0.5",
    ];
    let mut rig = Rig::new(&sets);
    rig.drive.start_audit(Pace::Every(16));
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for n in 0..pages * 40 {
        // Most pages are written once; few of them are hot.
        rig.wait_below(12).unwrap();
        rig.write(if n < pages { n } else { n * 7 % (pages / 4) });
    }
    rig.finish();
    assert!(rig.drive.stats().wear_leveled > 0);
}

#[test]
fn reads_that_fail_go_back_in_the_order_in_which_they_came() {
    // Every read fails at first, and a cache register lets the unit sense the next read meanwhile.
    let sets = [
        "geometry.cell = \"slc\"",
        "physics = { retries = { fresh_errors = 300.0 } }",
        "flash.cache_read = true",
        "timing.decode = \"200us\"",
    ];
    let mut rig = Rig::new(&sets);
    rig.pages(Op::Write, 0, 8);
    rig.finish();
    for _ in 0..20 {
        for page in 0..8 {
            rig.read(page);
        }
        rig.finish();
    }
    assert!(rig.drive.flash().error_counts().0 > 0, "reads are tried again");
}

/// Returns the ends of requests, in the order of their tags.
fn ends(rig: &Rig, tags: &[u64]) -> Vec<u64> {
    tags.iter().map(|&tag| rig.end_of(tag).expect("it has ended")).collect()
}

#[test]
fn a_write_that_waited_for_its_page_keeps_its_place_among_those_that_came_later() {
    let mut rig = Rig::new(&[]);
    let tags: Vec<u64> = [0, 0, 1, 2, 3].map(|page| rig.write(page)).into();
    rig.finish();
    let expected: Vec<u64> = (1..=5).map(|nth| nth * (BUS + PROGRAM)).collect();
    assert_eq!(ends(&rig, &tags), expected);
}

#[test]
fn a_write_that_must_read_first_is_not_overtaken_by_those_that_came_later() {
    let mut rig = Rig::new(&[]);
    (0..8).for_each(|page| {
        rig.write(page);
    });
    rig.finish();
    let began = rig.now();
    let part = rig.offer(Op::Write, 0, 1, 0).unwrap();
    let others: Vec<u64> = (1..6).map(|page| rig.write(page)).collect();
    rig.finish();
    // The page of the partial write is read, then programmed, before the others begin.
    assert_eq!(rig.end_of(part), Some(began + READ + BUS + BUS + PROGRAM));
    assert!(ends(&rig, &others).is_sorted());
}

#[test]
fn the_wait_for_an_earlier_request_to_the_same_page_is_a_part_of_its_own() {
    let mut rig = Rig::new(&[]);
    rig.drive.keep_log();
    rig.write(0);
    let read = rig.read(0);
    rig.finish();
    let mut rows = Vec::new();
    rig.drive.take_log(&mut rows);
    let row = rows.iter().find(|row| row.request.tag == read).unwrap();
    let mut blame = [0; Part::COUNT];
    blame[Part::Page as usize] = BUS + PROGRAM;
    blame[Part::Sense as usize] = READ;
    blame[Part::Transfer as usize] = BUS;
    assert_eq!(row.blame, blame);
}

/// Returns a blame with these parts.
fn blame(parts: &[(Part, u64)]) -> Blame {
    let mut blame = [0; Part::COUNT];
    parts.iter().for_each(|&(part, ns)| blame[part as usize] = ns);
    blame
}

#[test]
fn the_wait_for_an_earlier_request_is_divided_by_what_that_request_did() {
    let mut rig = Rig::new(&[]);
    rig.write(0);
    rig.finish();
    rig.drive.keep_log();
    let busy = rig.write(1);
    let part = rig.offer(Op::Write, 0, 1, 0).unwrap();
    // It comes while the other page is programmed.
    rig.until(rig.now() + BUS + 50_000);
    let read = rig.read(0);
    let trim = rig.pages(Op::Trim, 0, 1);
    let unmapped = rig.read(0);
    rig.finish();
    let mut rows = Vec::new();
    rig.drive.take_log(&mut rows);
    let behind = |tag| rows.iter().find(|row| row.request.tag == tag).unwrap().behind;
    assert_eq!((behind(busy), behind(part)), (None, None));
    let of = |op, tag, parts: &[_]| Some(Behind { request: Some((op, tag)), blame: blame(parts) });
    let rmw = [
        (Part::DieHost, PROGRAM - 50_000),
        (Part::Sense, READ),
        (Part::Transfer, 2 * BUS),
        (Part::Program, PROGRAM),
    ];
    assert_eq!(behind(read), of(Op::Write, part, &rmw));
    let waited = rmw.iter().map(|(_, ns)| ns).sum();
    let its = [(Part::Page, waited), (Part::Sense, READ), (Part::Transfer, BUS)];
    assert_eq!(behind(trim), of(Op::Read, read, &its));
    // The trim only waited.
    let its = [(Part::Page, waited + READ + BUS)];
    assert_eq!(behind(unmapped), of(Op::Trim, trim, &its));
}

#[test]
fn the_read_of_a_partial_write_comes_before_its_program() {
    let mut rig = Rig::new(&["timing.decode = \"10us\""]);
    rig.write(0);
    rig.finish();
    rig.drive.keep_log();
    let part = rig.offer(Op::Write, 0, 1, 0).unwrap();
    // The page that the write changes is being decoded.
    rig.until(rig.now() + READ + BUS + 4_000);
    let read = rig.read(0);
    rig.finish();
    let mut rows = Vec::new();
    rig.drive.take_log(&mut rows);
    let row = rows.iter().find(|row| row.request.tag == read).unwrap();
    let its = blame(&[(Part::Decode, 6_000), (Part::Transfer, BUS), (Part::Program, PROGRAM)]);
    assert_eq!(row.behind, Some(Behind { request: Some((Op::Write, part)), blame: its }));
}

#[test]
fn a_request_behind_a_page_of_the_buffer_waits_for_no_request() {
    let mut rig = Rig::new(&["buffer = { size = \"4KiB\", reads = false }"]);
    rig.write(0);
    rig.finish();
    rig.drive.keep_log();
    // The second page takes the place of the first, which is read while it is programmed.
    rig.write(1);
    let read = rig.read(0);
    rig.finish();
    let mut rows = Vec::new();
    rig.drive.take_log(&mut rows);
    let row = rows.iter().find(|row| row.request.tag == read).unwrap();
    let its = blame(&[(Part::Transfer, BUS), (Part::Program, PROGRAM)]);
    assert_eq!(row.behind, Some(Behind { request: None, blame: its }));
}

#[test]
fn a_block_that_a_job_has_erased_is_not_reserved_while_the_spare_one_is_in_use() {
    let sets = [
        "geometry = { blocks = 24, pages = 4 }",
        "ftl.overprovisioning = 0.501",
        "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }",
        "metadata.block_class = { measured = { boundaries = { levels = [2, 4] }, read_hot_share = 0.6, interval = 1 } }",
        "background.read_hot_migration.threshold = 1",
        // At the start so few blocks are free that more must be set apart later.
        "start = { fill = 1.0, invalid = 0.02 }",
    ];
    for seed in 0..8 {
        let mut rig = Rig::seeded(&sets, seed).unwrap();
        let pages = u64::from(rig.drive.resolved().logical_pages);
        for n in 0..400 {
            rig.wait_below(12).unwrap_or_else(|what| panic!("{seed}: {what}"));
            let page = ssdlab_base::rng::hash(seed, 1, n) % pages;
            if n % 2 == 0 {
                rig.write(page)
            } else {
                rig.read(page)
            };
        }
        rig.finish();
    }
}

/// Gap, operation, place, sectors, whether aligned to pages, queue.
const FOUND_BY_CHANCE: [(u64, Op, u64, u64, bool, u8); 49] = [
    (0, Op::Read, 0xd7cb, 32, false, 0),
    (0, Op::Write, 0x7944, 1, false, 0),
    (0, Op::Write, 0x6bd, 1, false, 0),
    (0, Op::Write, 0xbca2, 1, false, 0),
    (0, Op::Read, 0x86bd, 1, false, 0),
    (0, Op::Write, 0x0, 1, false, 1),
    (0, Op::Write, 0xb5e6, 1, false, 1),
    (0, Op::Write, 0x9436, 1, false, 1),
    (0, Op::Write, 0xa1b0, 1, false, 1),
    (0, Op::Write, 0x0, 1, false, 0),
    (0, Op::Write, 0x3ca2, 1, false, 1),
    (0, Op::Read, 0xc544, 24, false, 0),
    (0, Op::Flush, 0x0, 1, false, 0),
    (2_292_061, Op::Write, 0xe87, 28, false, 0),
    (46_939, Op::Read, 0xd7a, 1, false, 0),
    (0, Op::Write, 0x8000, 1, false, 1),
    (0, Op::Write, 0x21b0, 1, false, 1),
    (0, Op::Write, 0xbca2, 1, false, 1),
    (0, Op::Write, 0x286c, 1, false, 0),
    (0, Op::Write, 0x2f29, 1, false, 0),
    (0, Op::Write, 0x0, 1, false, 1),
    (0, Op::Flush, 0x0, 1, false, 0),
    (0, Op::Write, 0x6bd, 33, false, 0),
    (0, Op::Read, 0x6bd, 1, false, 0),
    (0, Op::Write, 0x0, 1, false, 0),
    (0, Op::Write, 0x6bd, 33, false, 1),
    (1_410_000, Op::Read, 0x1af3, 1, false, 0),
    (0, Op::Write, 0x0, 1, false, 1),
    (0, Op::Write, 0xc35f, 1, false, 0),
    (0, Op::Write, 0x21b0, 1, false, 0),
    (0, Op::Read, 0x86bd, 33, true, 0),
    (0, Op::Write, 0x3ca2, 1, false, 1),
    (0, Op::Write, 0x21b0, 1, false, 0),
    (0, Op::Write, 0x286c, 1, false, 0),
    (0, Op::Read, 0xd7a, 1, false, 0),
    (0, Op::Read, 0x1436, 33, false, 0),
    (0, Op::Write, 0x0, 1, false, 1),
    (0, Op::Write, 0x2de6, 7, false, 0),
    (0, Op::Write, 0x3ca2, 1, false, 0),
    (0, Op::Write, 0x0, 33, false, 0),
    (0, Op::Write, 0x0, 1, false, 0),
    (69_000, Op::Read, 0x9af3, 1, false, 0),
    (0, Op::Trim, 0x0, 1, false, 0),
    (177_731, Op::Read, 0xd0d8, 1, true, 0),
    (121_269, Op::Read, 0x1af3, 1, false, 0),
    (0, Op::Read, 0x32f3, 15, false, 0),
    (0, Op::Read, 0x0, 1, false, 0),
    (0, Op::Write, 0x0, 1, false, 0),
    (0, Op::Write, 0x0, 1, false, 0),
];

#[test]
fn a_page_that_moves_to_another_priority_leaves_a_job_the_spare_block() {
    let sets = [
        "geometry = { channels = 1, chips = 1, dies = 1, planes = 1, blocks = 26, cell = \"slc\" }",
        "geometry = { pages = 3, page_size = \"16KiB\" }",
        "ftl = { overprovisioning = 0.500001, bad_blocks = 0.1, partial_writes = \"pad\" }",
        "flash.cache_read = true\ntiming.decode = \"10us\"\nhost = { queues = 2, queue_depth = 8 }",
        "suspend = { program_erase = { min_remaining = \"1us\" } }\nflash.time_scale = 1000",
        "buffer = { size = \"32KiB\", reads = false }",
        "background.gc = { victim = \"random\", threshold = 0.3, mode = \"foreground\" }",
        "background = { subpool_gc = true, static_wear_leveling = false, read_hot_migration = { threshold = 1 } }",
        "background.dual_pool = { threshold = 1, cross_priority_threshold = 3 }",
        "physics.retries = { disturb = { scale = 50.0 } }",
        "start = { unwritten_reads = \"none\", fill = 1.0, pe_cycles = 2000, pe_spread = 5 }",
        "start.age_max = \"90d\"\nmetadata.block_class.predicted.priorities = 2",
        "metadata.retry_estimate.predicted = { age = [0.1, 1e-4, 1e-5, 1e-3, 1e-3], initial = [20.0, 30.0] }",
        "metadata.retry_estimate.predicted = { growth = [40.0, 0.3, 1e-3], thresholds = [72.0, 84.0, 96.0, 120.0] }",
        "ftl.free_block_policy = \"fewest_retries\"\nplacement = [{ priority = {} }]",
    ];
    let step =
        |(gap, op, place, sectors, whole, queue)| Step { gap, op, place, sectors, whole, queue };
    let mut rig = Rig::seeded(&sets, 110).unwrap();
    assert_eq!(play(&mut rig, &FOUND_BY_CHANCE.map(step), 3), Ok(()));
}
