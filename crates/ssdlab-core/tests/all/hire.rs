//! Page hotness learned by the buffer, and its effect on blocks and program modes. Source: HIRE.

use std::collections::BTreeSet;
use std::sync::Arc;

use ssdlab_base::rng;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::metadata::page_hotness::{HotPages, Hotness};
use ssdlab_core::policy::allocation::BlockClass;
use ssdlab_core::policy::event::Action;
use ssdlab_core::{Drive, Op, Resolved};
use ssdlab_nand::{BlockId, Lpn, ProgramMode};

use crate::support::{BUS, PROGRAM, READ, Rig, SPP, config};

/// Reads take 30, 90 and 210 us in the cells, and 40, 80 and 100 us on the bus.
const VOLTAGES: &str = r#"
    [timing]
    read = "90us"
    [[timing.program_modes]]
    name = "normal"
    volts = [1.17, 2.37, 2.96, 3.54]
    transfer = "80us"
    [[timing.program_modes]]
    name = "boosted"
    volts = [1.40, 2.85, 3.55, 4.25]
    sense = "30us"
    transfer = "40us"
    [[timing.program_modes]]
    name = "reduced"
    volts = [0.93, 1.90, 2.37, 2.83]
    sense = "210us"
    transfer = "100us"
"#;

/// Returns two counts by hotness: pages that left the buffer, and all logical pages.
fn hotness(drive: &Drive) -> ([u64; Hotness::COUNT], [u64; Hotness::COUNT]) {
    let hot = drive.components().get::<HotPages>().expect("it is learned");
    (hot.found(), hot.pages())
}

const BUFFER: &str = "buffer = { size = \"16KiB\", latency = \"1us\" }";
const LEARNS: &str = "metadata.page_hotness.buffer = { initial = \"none\" }";
const HOTNESS: &str = "placement = [\"hotness\"]";
const BY_HOTNESS: &str = "program_mode = [\"per_hotness\"]";
const TOGETHER: &str = "ftl.gc_stream = \"shared\"";
/// Room for an open block of each of three kinds of pages.
const ROOM: &str = "ftl.overprovisioning = 0.35";
const HIRE: [&str; 7] = [VOLTAGES, BUFFER, LEARNS, HOTNESS, BY_HOTNESS, TOGETHER, ROOM];
const NORMAL: ProgramMode = ProgramMode::NORMAL;
const BOOSTED: ProgramMode = ProgramMode(1);
const REDUCED: ProgramMode = ProgramMode(2);

/// Uses a page, and waits for the end.
fn uses(rig: &mut Rig, op: Op, page: u64) {
    rig.pages(op, page, 1);
    rig.finish();
}

/// Evicts all pages from the buffer by reads of pages that no request has written.
fn drive_out(rig: &mut Rig) {
    let last = u64::from(rig.drive.resolved().logical_pages);
    for page in last - 4..last {
        uses(rig, Op::Read, page);
    }
}

fn block_of(drive: &Drive, page: u32) -> BlockId {
    let ppn = drive.ftl().map.get(Lpn(page)).expect("a page that was written");
    drive.resolved().geometry().block_of(ppn)
}

fn program_mode_of(drive: &Drive, page: u32) -> ProgramMode {
    drive
        .flash()
        .cells
        .program_mode(drive.ftl().map.get(Lpn(page)).expect("a page that was written"))
}

/// Evicts pages 0 to 2 after uses that make each of another kind.
fn three_kinds(sets: &[&str]) -> Rig {
    let mut rig = Rig::new(&[&HIRE, sets].concat());
    for (page, writes, reads) in [(0, 1, 20), (1, 1, 1), (2, 1, 0)] {
        (0..writes).for_each(|_| uses(&mut rig, Op::Write, page));
        (0..reads).for_each(|_| uses(&mut rig, Op::Read, page));
    }
    drive_out(&mut rig);
    rig
}

#[test]
fn what_is_read_is_boosted_and_what_is_written_reduced_each_in_blocks_of_its_own() {
    let rig = three_kinds(&[]);
    assert_eq!([0, 1, 2].map(|page| program_mode_of(&rig.drive, page)), [BOOSTED, NORMAL, REDUCED]);
    let blocks: BTreeSet<u32> = (0..3).map(|page| block_of(&rig.drive, page).0).collect();
    assert_eq!(blocks.len(), 3);
    assert_eq!(hotness(&rig.drive).0, [1, 1, 1]);
}

#[test]
fn a_page_that_moves_keeps_the_mode_of_its_hotness() {
    let mut rig = three_kinds(&["placement = [\"next_page\"]"]);
    let was = [0, 1, 2].map(|page| rig.drive.ftl().map.get(Lpn(page)));
    for lpn in [0, 1, 2].map(Lpn) {
        rig.drive.ask(Action::MigratePage { lpn, class: BlockClass(0), stream: None });
    }
    rig.finish();
    let is = [0, 1, 2].map(|page| rig.drive.ftl().map.get(Lpn(page)));
    assert!(is.iter().zip(was).all(|(is, was)| *is != was), "each lies elsewhere");
    assert_eq!([0, 1, 2].map(|page| program_mode_of(&rig.drive, page)), [BOOSTED, NORMAL, REDUCED]);
}

#[test]
fn voltages_and_blocks_of_their_own_are_had_one_without_the_other() {
    let rig = three_kinds(&["placement = [\"next_page\"]"]);
    assert_eq!([0, 1, 2].map(|page| program_mode_of(&rig.drive, page)), [BOOSTED, NORMAL, REDUCED]);
    let blocks: BTreeSet<u32> = (0..3).map(|page| block_of(&rig.drive, page).0).collect();
    assert_eq!(blocks.len(), 1);
    let rig = three_kinds(&["program_mode = [{ fixed = { mode = \"normal\" } }]"]);
    assert_eq!([0, 1, 2].map(|page| program_mode_of(&rig.drive, page)), [NORMAL; 3]);
    let blocks: BTreeSet<u32> = (0..3).map(|page| block_of(&rig.drive, page).0).collect();
    assert_eq!(blocks.len(), 3);
}

#[test]
fn a_read_takes_what_the_voltages_of_its_page_say_and_a_program_what_it_always_does() {
    for (program_modes, sense, transfer) in
        [("normal", 90, 80), ("boosted", 30, 40), ("reduced", 210, 100)]
    {
        let program = format!("program_mode = [{{ fixed = {{ mode = \"{program_modes}\" }} }}]");
        let mut rig = Rig::new(&[VOLTAGES, &program]);
        let write = rig.write(3);
        rig.finish();
        assert_eq!(rig.end_of(write), Some(BUS + PROGRAM), "{program_modes}");
        let zero = rig.now();
        let read = rig.read(3);
        rig.finish();
        let took = rig.end_of(read).unwrap() - zero;
        assert_eq!(took, (sense + transfer) * 1000, "{program_modes}");
    }
    assert_ne!(READ, 90_000, "the support's own times are others");
}

#[test]
fn a_page_keeps_its_kind_when_it_is_moved() {
    // Page 0 is mostly read and lies among pages that are often overwritten.
    let mut rig = Rig::new(&[&HIRE[..], &["placement = [\"next_page\"]"]].concat());
    uses(&mut rig, Op::Write, 0);
    (0..20).for_each(|_| uses(&mut rig, Op::Read, 0));
    drive_out(&mut rig);
    let first = block_of(&rig.drive, 0);
    for number in 0..600 {
        uses(&mut rig, Op::Write, 1 + rng::below(rng::hash(3, number, 0), 60));
    }
    drive_out(&mut rig);
    assert!(rig.ops(OpKind::Program, Cause::Gc) > 0);
    assert_ne!(block_of(&rig.drive, 0), first, "it was moved");
    assert_eq!(program_mode_of(&rig.drive, 0), BOOSTED);
    let moved = (1..61).filter(|&page| program_mode_of(&rig.drive, page) == REDUCED).count();
    assert_eq!(moved, 60);
}

#[test]
fn what_is_moved_goes_to_the_open_block_of_its_kind() {
    let mut rig = Rig::new(&HIRE);
    // Twenty-four pages that are mostly read. All but one are overwritten, so that their blocks are
    // collected.
    for page in 0..24 {
        uses(&mut rig, Op::Write, page);
        (0..20).for_each(|_| uses(&mut rig, Op::Read, page));
    }
    drive_out(&mut rig);
    let before = block_of(&rig.drive, 20);
    for number in 0..1200 {
        let page = rng::below(rng::hash(5, number, 0), 60);
        uses(&mut rig, Op::Write, page + u64::from(page == 20));
    }
    drive_out(&mut rig);
    assert!(rig.drive.ftl().blocks.erases(before) > 0, "page 20 was moved");
    assert_eq!(program_mode_of(&rig.drive, 20), BOOSTED);
    let mapped = (0..64).filter(|&page| rig.drive.ftl().map.get(Lpn(page)).is_some());
    let kinds: BTreeSet<_> = mapped
        .map(|page| (block_of(&rig.drive, page), program_mode_of(&rig.drive, page)))
        .collect();
    let lie_in: BTreeSet<_> = kinds.iter().map(|(block, _)| block).collect();
    assert_eq!(kinds.len(), lie_in.len(), "one kind a block: {kinds:?}");
}

#[test]
fn reads_that_come_while_their_page_is_fetched_count() {
    for (reads, found) in [(20, [1, 0, 0]), (18, [0, 1, 0])] {
        let mut rig = Rig::new(&[&HIRE[..], &["start.fill = 0.5"]].concat());
        for _ in 0..reads {
            rig.pages(Op::Read, 7, 1);
        }
        rig.finish();
        uses(&mut rig, Op::Write, 7);
        drive_out(&mut rig);
        assert_eq!(hotness(&rig.drive).0, found, "{reads} reads at once");
    }
}

#[test]
fn page_hotness_and_the_blocks_of_each_kind_are_saved_with_the_contents() {
    let before = three_kinds(&[]);
    let media = before.drive.clone().media().expect("nothing under way");
    let resolved = Arc::new(Resolved::new(&config(&HIRE), 1).unwrap());
    let drive = Drive::with_media(resolved, media).expect("the same drive");
    let mut after = Rig { drive, done: Vec::new(), tag: 0 };
    assert_eq!(hotness(&after.drive).1, hotness(&before.drive).1);
    let first_pass = "metadata.page_hotness.buffer = { initial = \"classified\" }";
    let asks = Resolved::new(&config(&[&HIRE[..], &[first_pass]].concat()), 1).unwrap();
    let known = Drive::with_media(Arc::new(asks), before.drive.clone().media().unwrap()).unwrap();
    assert!(known.first_pass_run().is_none(), "it is known what was done with them");
    // Each kind continues in its open block: the new write lies with page 2.
    uses(&mut after, Op::Write, 5);
    drive_out(&mut after);
    assert_eq!(block_of(&after.drive, 5), block_of(&after.drive, 2));
}

#[test]
fn what_is_trimmed_is_no_longer_hot() {
    let mut rig = three_kinds(&[]);
    uses(&mut rig, Op::Trim, 2);
    let mixed = hotness(&rig.drive).1[1];
    // The four pages read last are still in the buffer, so their kind is unknown.
    assert_eq!(mixed, u64::from(rig.drive.resolved().logical_pages) - 1);
}

#[test]
fn what_is_only_read_is_programmed_once_more_if_it_was_not_boosted() {
    let rewrite = "metadata.page_hotness.buffer = { initial = \"rewrite\" }";
    for (set, times, program_mode) in [(rewrite, 1, BOOSTED), (LEARNS, 0, NORMAL)] {
        let mut rig = Rig::new(&[&HIRE[..], &[set, "start.fill = 0.5"]].concat());
        for _ in 0..3 {
            uses(&mut rig, Op::Read, 7);
            drive_out(&mut rig);
        }
        assert_eq!(rig.drive.stats().rewritten, times, "{set}");
        assert_eq!(rig.ops(OpKind::Program, Cause::Migration), times, "{set}");
        assert_eq!(rig.ops(OpKind::Program, Cause::Host), 0);
        assert_eq!(program_mode_of(&rig.drive, 7), program_mode, "{set}");
    }
}

/// Returns a stream of uses of forty pages, some mostly read and some mostly written.
fn stream() -> Vec<(u64, bool)> {
    let of = |number: u64| rng::hash(11, number, 0);
    (0..2000).map(|number| (of(number) % 40, of(number + 5000) % 40 < of(number) % 40)).collect()
}

#[test]
fn a_first_pass_finds_what_the_run_finds() {
    for evict in ["lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru"] {
        let evict = format!("eviction = \"{evict}\"");
        let sets =
            [&HIRE[..], &[&evict, "metadata.page_hotness.buffer = { initial = \"classified\" }"]]
                .concat();
        let mut after_first_pass = Rig::new(&sets);
        let mut pass = after_first_pass.drive.first_pass_run().expect("it is asked for");
        for (page, write) in stream() {
            let op = if write { Op::Write } else { Op::Read };
            after_first_pass.drive.first_pass_request(&mut pass, op, page * SPP, SPP as u32);
        }
        after_first_pass.drive.end_first_pass(pass);
        let mut run = Rig::new(&[&HIRE[..], &[&evict]].concat());
        assert!(run.drive.first_pass_run().is_none());
        for (page, write) in stream() {
            uses(&mut run, if write { Op::Write } else { Op::Read }, page);
        }
        let (left, _) = hotness(&run.drive);
        assert!(left.iter().all(|&pages| pages > 0), "{left:?}");
        let (none, _) = hotness(&after_first_pass.drive);
        assert_eq!(none, [0; 3], "what a first pass counts is not the run's");
        // The four pages in the buffer have left only in the first pass.
        let differs = |page: &u32| {
            run.drive.hotness_of(Lpn(*page)) != after_first_pass.drive.hotness_of(Lpn(*page))
        };
        let differ: Vec<u32> = (0..40).filter(differs).collect();
        assert!(differ.len() <= 4, "{evict}: {differ:?}");
    }
}

#[test]
fn a_first_pass_heeds_trims_and_takes_flushes() {
    let classified = "metadata.page_hotness.buffer = { initial = \"classified\" }";
    let found = |requests: &[(Op, u64)]| {
        let mut rig = Rig::new(&[&HIRE[..], &[classified]].concat());
        let mut pass = rig.drive.first_pass_run().expect("it is asked for");
        for &(op, page) in requests {
            rig.drive.first_pass_request(&mut pass, op, page * SPP, SPP as u32);
        }
        rig.drive.end_first_pass(pass);
        hotness(&rig.drive).1
    };
    let all = found(&[]).iter().sum::<u64>();
    assert_eq!(found(&[(Op::Read, 7), (Op::Write, 8)]), [1, all - 2, 1]);
    // A page trimmed in the buffer, and a page trimmed after it had left.
    assert_eq!(found(&[(Op::Read, 7), (Op::Trim, 7), (Op::Write, 8)]), [0, all - 1, 1]);
    let drives_out = [0, 1, 2, 3].map(|page| (Op::Write, page));
    let gone = [&[(Op::Read, 7)], &drives_out[..], &[(Op::Trim, 7)]].concat();
    assert_eq!(found(&gone), [0, all - 4, 4]);
    // A flush does not end a page's stay: the page has both uses before it leaves.
    assert_eq!(found(&[(Op::Write, 7), (Op::Flush, 0), (Op::Read, 7)]), [0, all, 0]);
}

#[test]
fn data_that_is_there_at_the_start_was_programmed_as_it_would_be() {
    let sets = |start: &'static str| {
        let classified = "metadata.page_hotness.buffer = { initial = \"classified\" }";
        let mut rig = Rig::new(&[&HIRE[..], &[classified, "start.fill = 0.5", start]].concat());
        let mut pass = rig.drive.first_pass_run().unwrap();
        for (page, op) in [(5, Op::Read), (6, Op::Write), (7, Op::Write), (7, Op::Read)] {
            rig.drive.first_pass_request(&mut pass, op, page * SPP, SPP as u32);
        }
        rig.drive.end_first_pass(pass);
        rig.drive.program_start();
        [5, 6, 7, 8].map(|page| program_mode_of(&rig.drive, page))
    };
    assert_eq!(sets("start.program_mode = \"policy\""), [BOOSTED, REDUCED, NORMAL, NORMAL]);
    assert_eq!(sets("start.program_mode = \"normal\""), [NORMAL; 4]);
}

#[test]
fn pages_of_the_start_were_programmed_in_the_mode_of_the_policy() {
    let hvc =
        "program_mode = [{ fixed = { mode = \"boosted\" } }]\nstart.program_mode = \"policy\"";
    let mut filled = Rig::new(&[VOLTAGES, hvc, "start.unwritten_reads = \"footprint\""]);
    let mut prefill = filled.drive.prefill();
    assert!(filled.drive.prefill_page(&mut prefill, 9));
    let mut lazy = Rig::new(&[VOLTAGES, hvc, "start.unwritten_reads = \"lazy\""]);
    for rig in [&mut filled, &mut lazy] {
        let read = rig.read(9);
        rig.finish();
        assert_eq!(rig.end_of(read), Some(70_000));
    }
}

#[test]
fn unwritten_pages_keep_the_voltages_of_the_start() {
    let start = "start = { unwritten_reads = \"lazy\", program_mode = \"policy\" }";
    let read_twice = |initial: &str, before: &[(u64, Op)]| {
        let known = format!("metadata.page_hotness.buffer = {{ initial = \"{initial}\" }}");
        let mut rig = Rig::new(&[&HIRE[..], &[start, &known]].concat());
        if let Some(mut pass) = rig.drive.first_pass_run() {
            for &(page, op) in before {
                rig.drive.first_pass_request(&mut pass, op, page * SPP, SPP as u32);
            }
            rig.drive.end_first_pass(pass);
        }
        rig.drive.program_start();
        let mut reads = Vec::new();
        for _ in 0..2 {
            uses(&mut rig, Op::Read, 7);
            reads.push(rig.drive.flash().cells.wearing().1.to_vec());
            drive_out(&mut rig);
        }
        let at = |program_mode: ProgramMode| {
            [reads[0][program_mode.index()], reads[1][program_mode.index()] - 4]
        };
        (at(NORMAL), rig.ops(OpKind::Program, Cause::Migration), reads)
    };
    // Page 7 is found to be read-hot; the other four of each round, too, are read in the normal
    // mode.
    let (normal, programs, _) = read_twice("none", &[]);
    assert_eq!((normal, programs), ([1, 2], 0));
    let (_, programs, reads) = read_twice("rewrite", &[]);
    assert_eq!(programs, 5, "each page that was only read, once");
    assert_eq!(reads[1][BOOSTED.index()], 1, "page 7 was programmed by then");
    // The kind found before the run determines the program mode.
    let (_, programs, reads) = read_twice("classified", &[(7, Op::Read)]);
    assert_eq!((reads[0][BOOSTED.index()], reads[1][BOOSTED.index()], programs), (1, 2, 0));
}

#[test]
fn a_page_is_programmed_as_what_it_was_when_it_left() {
    let mut rig = Rig::new(&HIRE);
    // A flush finds four mostly written pages. Reads then use them and evict them while they wait.
    rig.pages(Op::Write, 0, 4);
    rig.until(100_000);
    rig.offer(Op::Flush, 0, 0, 0).unwrap();
    for page in 0..4 {
        rig.pages(Op::Read, page, 1);
    }
    for page in 0..4 {
        rig.pages(Op::Write, 20 + page, 1);
    }
    rig.finish();
    assert_eq!([0, 1, 2, 3].map(|page| program_mode_of(&rig.drive, page)), [REDUCED; 4]);
    assert_eq!(hotness(&rig.drive).0, [0, 4, 4]);
}

#[test]
fn pages_of_the_start_that_hold_nothing_any_more_wear_like_the_others() {
    for (program_modes, weight) in [("boosted", 1.2), ("reduced", 0.8)] {
        let program = format!("program_mode = [{{ fixed = {{ mode = \"{program_modes}\" }} }}]");
        let start = "start = { program_mode = \"policy\", fill = 0.9, invalid = 0.05 }";
        let wears = "physics = { levels = { wear = {} } }";
        let mut rig = Rig::new(&[VOLTAGES, wears, &program, start]);
        rig.drive.program_start();
        for number in 0..600 {
            rig.write(rng::hash(7, number, 0) % 40);
            rig.finish();
        }
        let (_, _, worn) = rig.drive.flash().cells.wearing();
        let mean = worn / rig.ops(OpKind::Erase, Cause::Gc) as f64;
        assert!((mean - weight).abs() < 0.001, "{program_modes}: {mean}");
    }
}

#[test]
fn an_erase_wears_by_the_mean_over_the_pages_that_were_programmed() {
    // Pages of all kinds lie in the same blocks.
    let wears = "physics = { levels = { wear = {} } }";
    let rig = &mut three_kinds(&["placement = [\"next_page\"]", wears]);
    let block = block_of(&rig.drive, 0);
    assert_eq!([1, 2].map(|page| block_of(&rig.drive, page)), [block; 2]);
    // Until that block is collected, all further programs are of write-hot pages.
    let before = rig.drive.ftl().blocks.written(block);
    assert_eq!(before, 3);
    // The three pages are overwritten, too, so that the block holds no valid page.
    for number in 0..2000 {
        if rig.drive.ftl().blocks.erases(block) == 0 {
            uses(rig, Op::Write, number % 40);
        }
    }
    let (programs, _, worn) = rig.drive.flash().cells.wearing();
    let erases = rig.ops(OpKind::Erase, Cause::Gc) as f64;
    // That block has one boosted, one normal and otherwise reduced pages; other blocks have only
    // reduced ones.
    let [normal, boosted, reduced] = [1.0, 1.1998, 0.7992];
    let pages = f64::from(rig.drive.resolved().geometry().pages);
    let own = (normal + boosted + (pages - 2.0) * reduced) / pages;
    assert!((worn - (own + (erases - 1.0) * reduced)).abs() < 0.01, "{worn} {programs:?} {erases}");
}

#[test]
fn what_is_read_to_be_written_anew_leaves_the_write_its_own_voltages() {
    // The kind of page 9 is unknown, so it was programmed normally; from now on it is mostly
    // written.
    let start = ["start.program_mode = \"policy\"", "start.unwritten_reads = \"lazy\""];
    let mut rig = Rig::new(&[&HIRE[..], &start].concat());
    for _ in 0..2 {
        rig.offer(Op::Write, 9 * SPP, 1, 0).unwrap();
        rig.finish();
    }
    drive_out(&mut rig);
    assert_eq!(rig.ops(OpKind::Read, Cause::Rmw), 1);
    assert_eq!(program_mode_of(&rig.drive, 9), REDUCED);
}

/// Erases all blocks about equally often with this mode. Returns the mean weight of a program and
/// of an erase, and the mean error rate that the wear of the blocks causes.
fn worn_with(program_modes: &str) -> (f64, f64, f64) {
    let program = format!("program_mode = [{{ fixed = {{ mode = \"{program_modes}\" }} }}]");
    let physics =
        "physics.levels = { wear = {} }\nstart.pe_cycles = 3000\nflash.cycles_per_erase = 100";
    let mut rig = Rig::unwatched(&[VOLTAGES, &program, physics], 1).expect("a drive");
    for number in 0..3000 {
        rig.offer(Op::Write, number % 70 * SPP, SPP, 0).unwrap();
        rig.wait_below(4).unwrap();
    }
    rig.finish();
    let drive = &rig.drive;
    let (programs, _, weight) = drive.flash().cells.wearing();
    let chip = &drive.resolved().chip;
    let weighed: f64 = chip
        .program_modes()
        .zip(programs)
        .map(|(program_mode, &count)| chip.wear_weight(program_mode) * count as f64)
        .sum();
    let erases: u64 = drive.flash().counts.ops()[OpKind::Erase as usize].iter().sum();
    let rates = (0..16).filter_map(|block| drive.block(0, block, drive.now())?.rber);
    let rates: Vec<f64> = rates.collect();
    (
        weighed / programs.iter().sum::<u64>() as f64,
        weight / (100 * erases) as f64,
        rates.iter().sum::<f64>() / rates.len() as f64,
    )
}

#[test]
fn lower_voltages_wear_less_and_the_errors_of_the_cells_show_it() {
    let [reduced, normal, boosted] = ["reduced", "normal", "boosted"].map(worn_with);
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-3;
    for ((programs, erases, _), expected) in [(reduced, 0.7992), (normal, 1.0), (boosted, 1.1998)] {
        assert!(close(programs, expected) && close(erases, expected), "{programs} {erases}");
    }
    assert!(reduced.2 < normal.2 && normal.2 < boosted.2, "{reduced:?} {normal:?} {boosted:?}");
}
