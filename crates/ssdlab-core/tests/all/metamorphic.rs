//! Results that must, or must not, change with a known change of the drive.

use proptest::prelude::*;
use rand::RngExt;
use ssdlab_base::rng;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Completion, Op};

use crate::support::{Rig, Step, config, play};

/// Returns pages drawn evenly from the drive after a fill; `reads` of a hundred are reads.
fn steps(seed: u64, count: usize, reads: u32, gap: u64) -> Vec<Step> {
    let mut random = rng::stream(seed, "test");
    let step = |op, place| Step { gap, op, place, sectors: 8, whole: true, queue: 0 };
    let mut steps: Vec<Step> = (0..128).map(|n| step(Op::Write, n << 9)).collect();
    for _ in 0..count {
        let read = random.random_range(0..100) < reads;
        let op = if read { Op::Read } else { Op::Write };
        steps.push(step(op, random.random_range(0..1 << 16)));
    }
    steps
}

fn run(sets: &[&str], steps: &[Step], depth: u32) -> Rig {
    let mut rig = Rig::unwatched(sets, 1).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    play(&mut rig, steps, depth).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    rig
}

fn same(left: &[&str], right: &[&str], steps: &[Step], depth: u32) -> bool {
    run(left, steps, depth).done == run(right, steps, depth).done
}

const SHAPE: &str = "geometry = { channels = 2, planes = 2, blocks = 24 }";

/// Returns mixed requests, close enough in time to overlap.
fn mixed() -> Vec<Step> {
    steps(3, 3000, 50, 30_000)
}

// Activity: each policy acts on a workload that needs it, and has no effect when it is off.

#[test]
fn collection_acts_on_overwriting() {
    let rig = run(&[SHAPE], &steps(1, 3000, 0, 50_000), 8);
    assert!(rig.drive.stats().gc.0 > 50, "{:?}", rig.drive.stats().gc);
    assert_eq!(rig.ops(OpKind::Erase, Cause::Gc), rig.drive.stats().gc.0);
    assert_eq!(rig.ops(OpKind::Program, Cause::Gc), rig.drive.stats().gc.1);
    assert!(rig.drive.write_amplification().unwrap() > 1.0);
}

/// Returns requests that write an eighth of the drive repeatedly and the rest once.
fn hot_and_cold() -> Vec<Step> {
    let mut steps = steps(1, 20_000, 0, 50_000);
    steps[128..].iter_mut().for_each(|step| step.place /= 8);
    steps
}

#[test]
fn static_wear_leveling_moves_cold_data_and_narrows_the_spread() {
    let spread = |sets: &[&str]| {
        let rig = run(sets, &hot_and_cold(), 8);
        let blocks = 0..rig.drive.resolved().geometry().block_count();
        let erases = blocks.map(|block| rig.drive.ftl().blocks.erases(ssdlab_nand::BlockId(block)));
        let erases: Vec<u32> = erases.collect();
        let spread = erases.iter().max().unwrap() - erases.iter().min().unwrap();
        assert_eq!(rig.ops(OpKind::Erase, Cause::Wl), rig.drive.stats().wear_leveled);
        assert_eq!(rig.ops(OpKind::Program, Cause::Gc), rig.drive.stats().gc.1);
        (spread, rig.drive.stats().wear_leveled)
    };
    let (without, none) = spread(&[SHAPE]);
    let (with, some) = spread(&[SHAPE, "background.static_wear_leveling = { threshold = 3 }"]);
    assert_eq!(none, 0);
    assert!(some > 0 && with * 2 < without, "{with} {without}");
}

#[test]
fn dynamic_wear_leveling_writes_the_least_worn_free_block() {
    let least_worn_in_use = |level: &str| {
        let set = format!("ftl.free_block_policy = \"{level}\"");
        // Hot pages wear some blocks; then a write of all pages frees the others.
        let mut steps = hot_and_cold();
        steps.extend(self::steps(9, 600, 0, 50_000));
        steps.extend(hot_and_cold());
        let rig = run(&[SHAPE, &set], &steps, 8);
        let blocks = 0..rig.drive.resolved().geometry().block_count();
        let erases = blocks.map(|block| rig.drive.ftl().blocks.erases(ssdlab_nand::BlockId(block)));
        let (sum, squares) = erases.fold((0, 0), |(sum, squares), e| (sum + e, squares + e * e));
        let count = f64::from(rig.drive.resolved().geometry().block_count());
        f64::from(squares) / count - (f64::from(sum) / count).powi(2)
    };
    let (leveled, not) = (least_worn_in_use("least_erased"), least_worn_in_use("longest_free"));
    assert!(leveled < 0.9 * not, "{leveled} {not}");
}

/// With suspension, reads wait for no program.
const INTERRUPT: &str = "suspend = { program_erase = { min_remaining = \"5us\" } }";

#[test]
fn suspension_helps_reads_at_the_cost_of_writes() {
    let mean = |rig: &Rig, op: Op| {
        let latencies = &rig.drive.stats().latencies[0][op as usize];
        latencies.sum_ns as f64 / latencies.count() as f64
    };
    let (off, on) = (run(&[SHAPE], &mixed(), 64), run(&[SHAPE, INTERRUPT], &mixed(), 64));
    assert_eq!(off.drive.flash().error_counts().2, 0);
    assert!(on.drive.flash().error_counts().2 > 100);
    assert!(mean(&on, Op::Read) < 0.9 * mean(&off, Op::Read));
}

/// Returns whether two operations of a kind ever ended in one event.
fn pairs(sets: &[&str], kind: OpKind) -> bool {
    let mut rig = Rig::new(sets);
    let count = |rig: &Rig| rig.drive.flash().counts.ops()[kind as usize].iter().sum::<u64>();
    for round in 0..40u64 {
        for page in 0..8 {
            rig.pages(
                if kind == OpKind::Read { Op::Read } else { Op::Write },
                (page + round) % 64,
                1,
            );
        }
        let mut before = count(&rig);
        while let Some(next) = rig.drive.next_event() {
            rig.drive.advance_once(next, &mut rig.done);
            let after = count(&rig);
            if after - before > 1 {
                return true;
            }
            before = after;
        }
    }
    false
}

#[test]
fn planes_of_a_die_are_paired_where_they_share_a_unit() {
    let two = "geometry = { planes = 2, blocks = 24 }";
    assert!(pairs(&[two, "flash.array = \"die\""], OpKind::Program));
    assert!(!pairs(&[two], OpKind::Program), "planes on their own");
    assert!(!pairs(&["flash.array = \"die\""], OpKind::Program), "a plane alone");
}

#[test]
fn reads_are_paired_too() {
    // A paired read shortens the whole: one sensing, two transfers.
    let two = ["geometry = { planes = 2, blocks = 24 }", "flash.array = \"die\""];
    let mut rig = Rig::new(&two);
    rig.pages(Op::Write, 0, 6);
    rig.finish();
    let zero = rig.now();
    // The first read begins alone; the next two wait for it and proceed together.
    rig.read(0);
    let (a, b) = (rig.read(2), rig.read(3));
    rig.finish();
    assert_eq!([a, b].map(|tag| rig.end_of(tag).unwrap() - zero), [110_000, 115_000]);
}

#[test]
fn a_cache_register_lets_reads_overlap() {
    let reads = steps(5, 1000, 100, 0);
    let (off, on) = (run(&[], &reads, 16), run(&["flash.cache_read = true"], &reads, 16));
    // Reads from one plane: sensing and transfer alternate, or only sensing adds time.
    let span = |rig: &Rig| rig.done.last().unwrap().end.as_ns() as f64;
    let writes = run(&[], &reads[..128], 16);
    let ratio = (span(&on) - span(&writes)) / (span(&off) - span(&writes));
    assert!((ratio - 50.0 / 55.0).abs() < 0.01, "{ratio}");
}

#[test]
fn writes_in_part_read_first_unless_they_are_padded() {
    let mut part = steps(1, 500, 0, 50_000);
    part[128..].iter_mut().for_each(|step| (step.sectors, step.whole) = (1, false));
    let rmw = |mode: &str| {
        let set = format!("ftl.partial_writes = \"{mode}\"");
        run(&[&set], &part, 4).ops(OpKind::Read, Cause::Rmw)
    };
    assert_eq!((rmw("read_modify_write"), rmw("pad"), rmw("sector_bitmap")), (500, 0, 500));
}

#[test]
fn dynamic_allocation_spreads_what_static_allocation_piles_up() {
    let span = |allocation: &str| {
        let set = format!("ftl.allocation = \"{allocation}\"");
        let mut rig = Rig::new(&[SHAPE, &set]);
        // Every fourth page: all of them on one of four planes.
        for n in 0..20 {
            rig.write(4 * n);
        }
        rig.finish();
        rig.now()
    };
    assert_eq!((span("static"), span("dynamic")), (20 * 205_000, 5 * 205_000 + 5_000));
}

const BUFFER: &str = "buffer.size = \"64KiB\"";

#[test]
fn buffers_made_for_flash_let_fewer_dirty_pages_go() {
    // Half of the requests use an eighth of the pages.
    let mut steps = mixed();
    steps[128..].iter_mut().step_by(2).for_each(|step| step.place /= 8);
    let dirty = |name: &str| {
        let rig = run(&[SHAPE, BUFFER, &format!("eviction = \"{name}\"")], &steps, 1);
        rig.drive.stats().buffer.evicted_dirty
    };
    let lru = dirty("lru");
    for name in ["cflru", "lru_wsr", "ccf_lru", "pt_lru"] {
        assert!(dirty(name) < lru, "{name}: {} against {lru}", dirty(name));
    }
}

#[test]
fn a_page_that_was_flushed_leaves_as_a_clean_one() {
    let mut rig = Rig::new(&["buffer.size = \"8KiB\"", "eviction = { cflru = { window = 1.0 } }"]);
    rig.pages(Op::Write, 0, 2);
    rig.offer(Op::Flush, 0, 0, 0).unwrap();
    rig.finish();
    // Page 1 was used last, and is clean.
    rig.write(0);
    rig.read(1);
    rig.write(2);
    rig.finish();
    let buffer = rig.drive.stats().buffer;
    assert_eq!((buffer.evicted_clean, buffer.evicted_dirty), (1, 0));
}

// Null tests: without its advantage, a policy equals its baseline.

#[test]
fn a_policy_without_its_advantage_is_its_baseline() {
    let never = "suspend = { program_erase = { min_remaining = \"10s\" } }";
    assert!(same(&[SHAPE], &[SHAPE, never], &mixed(), 64));
    let no_times = "suspend = { program_erase = { max_suspends = 0 } }";
    assert!(same(&[SHAPE], &[SHAPE, no_times], &mixed(), 64));
    let neither = "suspend = { program_erase = { program = false, erase = false } }";
    assert!(same(&[SHAPE], &[SHAPE, neither], &mixed(), 64));
    let one_queue = "scheduler = \"strict_priority\"\nhost.queues = 2";
    assert!(same(&[SHAPE], &[SHAPE, one_queue], &mixed(), 64));
    let far = "background.static_wear_leveling = { threshold = 1000000 }";
    assert!(same(&[SHAPE], &[SHAPE, far], &mixed(), 64));
    assert!(same(&[SHAPE], &[SHAPE, "ftl.partial_writes = \"pad\""], &mixed(), 64));
    let one = "geometry = { channels = 2, planes = 1, blocks = 24 }";
    assert!(same(&[one], &[one, "flash.array = \"die\""], &mixed(), 64));
    assert!(same(&[], &["ftl.allocation = \"dynamic\""], &mixed(), 64));
    let no_window = "eviction = { cflru = { window = 0.0 } }";
    assert!(same(&[SHAPE, BUFFER], &[SHAPE, BUFFER, no_window], &mixed(), 64));
}

#[test]
fn read_first_is_fifo_if_all_is_read() {
    let filled = steps(7, 0, 0, 1_000_000);
    let reads = |sets: &[&str]| {
        let mut rig = run(sets, &filled, 1);
        rig.done.clear();
        play(&mut rig, &steps(7, 2000, 100, 10_000)[128..], 64).unwrap();
        rig.done
    };
    assert_eq!(reads(&[SHAPE]), reads(&[SHAPE, "scheduler = \"read_first\""]));
    assert!(!same(&[SHAPE], &[SHAPE, "scheduler = \"read_first\""], &mixed(), 64));
}

#[test]
fn writes_that_go_first_wait_less_and_reads_wait_longer() {
    let [first, last] = ["write_first", "read_first"]
        .map(|order| run(&[SHAPE, &format!("scheduler = \"{order}\"")], &mixed(), 64));
    assert!(first.mean(Op::Write) < 0.9 * last.mean(Op::Write));
    assert!(first.mean(Op::Read) > 1.1 * last.mean(Op::Read));
}

#[test]
fn choosing_among_all_blocks_is_greedy() {
    let waf = |gc: &str| {
        let rig = run(&[SHAPE, gc], &steps(1, 20_000, 0, 0), 16);
        rig.drive.write_amplification().unwrap()
    };
    let greedy = waf("background.gc = { victim = \"greedy\", threshold = 0.01 }");
    let all = waf("background.gc = { victim = \"d_choices\", d = 500, threshold = 0.01 }");
    let one = waf("background.gc = { victim = \"d_choices\", d = 1, threshold = 0.01 }");
    let random = waf("background.gc = { victim = \"random\", threshold = 0.01 }");
    assert!((all / greedy - 1.0).abs() < 0.02, "{all} {greedy}");
    assert!((one / random - 1.0).abs() < 0.02, "{one} {random}");
    assert!(random > greedy * 1.03, "{random} {greedy}");
}

// Tests of scaling and symmetry.

/// Returns settings with every time multiplied by `times`.
fn slower(times: u64) -> Vec<String> {
    let us = |span: u64| format!("{}us", span * times);
    vec![
        SHAPE.into(),
        format!("timing = {{ read = \"{}\", program = \"{}\" }}", us(50), us(200)),
        format!("timing = {{ erase = \"{}\", decode = \"{}\" }}", us(1000), us(7)),
        format!("flash.bus_rate = \"{}KB/s\"", 819_200 / times),
        format!("flash = {{ suspend_time = \"{}\", resume_time = \"{}\" }}", us(3), us(4)),
        format!("suspend = {{ program_erase = {{ min_remaining = \"{}\" }} }}", us(5)),
        format!("buffer = {{ size = \"64KiB\", latency = \"{}\" }}", us(1)),
        "physics = { levels = {} }".into(),
        "background.static_wear_leveling = { threshold = 5 }".into(),
    ]
}

#[test]
fn doubling_every_latency_doubles_every_time() {
    let run = |times: u64| {
        let sets = slower(times);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        run(&sets, &steps(3, 2000, 50, 40_000 * times), 64)
    };
    let (once, twice) = (run(1), run(2));
    assert!(once.drive.flash().error_counts().2 > 0 && once.drive.stats().gc.0 > 0);
    let doubled = |c: &Completion| (c.tag, 2 * c.arrival.as_ns(), 2 * c.end.as_ns());
    let as_is = |c: &Completion| (c.tag, c.arrival.as_ns(), c.end.as_ns());
    let left: Vec<_> = once.done.iter().map(doubled).collect();
    let right: Vec<_> = twice.done.iter().map(as_is).collect();
    assert_eq!(left, right);
}

#[test]
fn channels_can_be_numbered_as_one_likes() {
    let shape = "geometry = { channels = 4, blocks = 24 }";
    let turned = |by: u64| {
        let mut rig = Rig::unwatched(&[shape], 1).unwrap();
        let mut random = rng::stream(11, "test");
        for n in 0..3000 {
            let (page, read) = (random.random_range(0..240u64), random.random::<bool>());
            // The same row of the stripe, on another channel.
            let page = page / 4 * 4 + (page + by) % 4;
            rig.until(n * 70_001);
            rig.pages(if read { Op::Read } else { Op::Write }, page, 1);
        }
        rig.finish();
        assert!(rig.drive.stats().gc.0 > 0);
        let mut ends: Vec<_> = rig.done.iter().map(|c| (c.tag, c.end)).collect();
        ends.sort_unstable();
        ends
    };
    let as_it_is = turned(0);
    assert!(turned(1) == as_it_is && turned(3) == as_it_is);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_order_of_planes_decides_where_a_page_lies(order in "CWDP|PDWC|DPCW|WCPD|CDWP") {
        let set = format!("ftl.allocation_order = \"{order}\"");
        let shape = "geometry = { channels = 2, chips = 3, dies = 2, planes = 2 }";
        let mut rig = Rig::new(&[shape, &set]);
        rig.pages(Op::Write, 0, 24);
        rig.finish();
        let geometry = config(&[shape]).geometry;
        for page in 0..24u32 {
            let (mut rest, mut at) = (page, [0u32; 4]);
            for letter in order.chars() {
                let (digit, count) = match letter {
                    'C' => (0, 2),
                    'W' => (1, 3),
                    'D' => (2, 2),
                    _ => (3, 2),
                };
                at[digit] = rest % count;
                rest /= count;
            }
            let plane = geometry.plane_at(at[0], at[1], at[2], at[3]);
            let ppn = rig.drive.ftl().map.get(ssdlab_nand::Lpn(page)).unwrap();
            prop_assert_eq!(geometry.plane_of_page(ppn), plane, "page {} under {}", page, order);
        }
    }
}
