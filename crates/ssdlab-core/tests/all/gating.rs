//! Each gate is exact: closed one nanosecond before its time, open at its time.

use ssdlab_base::SimTime;
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::{Cells, Flash, NewTxn, Owner, Rank};
use ssdlab_core::{Op, Resolved};
use ssdlab_nand::{BlockId, Lpn, PageInBlock, PlaneId};

use crate::support::{BUS, ERASE, PROGRAM, READ, Rig, config, written};

const US: u64 = 1000;

/// Returns the nanoseconds that requests of a kind spent in a part.
fn blame(rig: &Rig, op: Op, part: Part) -> u128 {
    rig.drive.stats().latencies[0][op as usize].blame_ns[part as usize]
}

/// Returns when a read ends that arrives `after` another one, and how long it waited for `part`.
fn second_read(sets: &[&str], after: u64, part: Part) -> (u64, u128) {
    let (mut rig, zero) = written(sets, 2);
    rig.read(0);
    let tag = rig.until(zero + after).read(1);
    rig.finish();
    (rig.end_of(tag).unwrap() - zero, blame(&rig, Op::Read, part))
}

#[test]
fn a_plane_takes_its_next_read_when_the_last_page_has_left_it() {
    let gate = READ + BUS;
    for (after, waited) in [(gate - 1, 1), (gate, 0), (gate + 1, 0), (0, gate)] {
        let (end, blamed) = second_read(&[], after, Part::DieHost);
        assert_eq!(end, after + waited + READ + BUS, "after {after}");
        assert_eq!(blamed, u128::from(waited), "after {after}");
    }
}

#[test]
fn a_bus_takes_its_next_page_when_the_last_has_gone() {
    let two = ["geometry.planes = 2"];
    for (after, waited) in [(BUS - 1, 1), (BUS, 0), (BUS + 1, 0), (0, BUS)] {
        let (end, blamed) = second_read(&two, after, Part::Bus);
        assert_eq!(end, after + READ + waited + BUS, "after {after}");
        assert_eq!(blamed, u128::from(waited), "after {after}");
    }
}

#[test]
fn two_channels_have_a_bus_each() {
    let (end, _) = second_read(&["geometry.channels = 2"], 0, Part::Bus);
    assert_eq!(end, READ + BUS);
}

#[test]
fn an_ecc_engine_decodes_one_page_at_a_time() {
    let decode = 10 * US;
    let two = ["geometry.planes = 2", "timing.decode = \"10us\""];
    // The engine decodes the first page from READ + BUS to READ + BUS + decode.
    let gate = decode;
    for (after, waited) in [(gate - 1, 1), (gate, 0), (gate + 1, 0)] {
        let (end, blamed) = second_read(&two, after, Part::Decode);
        assert_eq!(end, after + READ + BUS + waited + decode, "after {after}");
        assert_eq!(blamed, u128::from(2 * decode + waited), "after {after}");
    }
    let separate = ["geometry.channels = 2", "timing.decode = \"10us\""];
    assert_eq!(second_read(&separate, 0, Part::Decode).0, READ + BUS + decode);
}

/// Transfers take 100 us, twice as long as sensing.
const SLOW_BUS: &str = "flash = { bus_rate = \"40.96MB/s\", cache_read = true }";
const SLOW: u64 = 100 * US;

#[test]
fn a_sensed_page_waits_for_the_cache_register() {
    let (mut rig, zero) = written(&[SLOW_BUS], 3);
    let tags: Vec<u64> = (0..3).map(|page| rig.read(page)).collect();
    rig.finish();
    let ends: Vec<u64> = tags.iter().map(|&tag| rig.end_of(tag).unwrap() - zero).collect();
    // The unit senses the second page during the first transfer. The third waits until the second
    // has moved to the cache register.
    assert_eq!(ends, [READ + SLOW, READ + 2 * SLOW, READ + 3 * SLOW]);
    assert_eq!(blame(&rig, Op::Read, Part::DieHost), u128::from(READ + READ + SLOW));
}

#[test]
fn the_cache_register_opens_when_its_page_has_gone() {
    for (after, end) in [(SLOW - 1, READ + 2 * SLOW), (SLOW, READ + 2 * SLOW), (SLOW + 1, 0)] {
        let (mut rig, zero) = written(&[SLOW_BUS], 2);
        rig.read(0);
        let tag = rig.until(zero + after).read(1);
        rig.finish();
        let end = if end == 0 { after + READ + SLOW } else { end };
        assert_eq!(rig.end_of(tag).unwrap() - zero, end, "after {after}");
    }
}

#[test]
fn a_program_waits_for_the_page_in_the_cache_register() {
    let gate = READ + SLOW;
    for after in [READ, gate - 1, gate, gate + 1] {
        let (mut rig, zero) = written(&[SLOW_BUS], 2);
        rig.read(0);
        let tag = rig.until(zero + after).write(1);
        rig.finish();
        let begin = after.max(gate);
        assert_eq!(rig.end_of(tag).unwrap() - zero, begin + SLOW + PROGRAM, "after {after}");
    }
}

#[test]
fn a_read_passes_a_program_that_waits_for_the_cache_register() {
    let (mut rig, zero) = written(&[SLOW_BUS], 3);
    rig.read(0);
    let write = rig.until(zero + READ).write(1);
    let read = rig.until(zero + READ + 10 * US).read(2);
    rig.finish();
    let gone = READ + 2 * SLOW;
    let ends = [read, write].map(|tag| rig.end_of(tag).unwrap() - zero);
    assert_eq!(ends, [gone, gone + SLOW + PROGRAM]);
}

const INTERRUPT: &str =
    "suspend = { program_erase = { min_remaining = \"50us\", max_suspends = 2 } }";

#[test]
fn a_read_interrupts_a_program_until_too_little_of_it_is_left() {
    // The program receives its page from 0 to BUS and runs until BUS + PROGRAM. A read that arrives
    // before BUS interrupts the program as soon as it begins.
    let gate = BUS + PROGRAM - 50 * US;
    for (after, suspends) in
        [(1, true), (BUS - 1, true), (BUS, true), (gate - 1, true), (gate, false)]
    {
        let (mut rig, zero) = written(&[INTERRUPT], 2);
        let write = rig.write(1);
        let read = rig.until(zero + after).read(0);
        rig.finish();
        let (_, _, suspensions) = rig.drive.flash().error_counts();
        assert_eq!(suspensions > 0, suspends, "after {after}");
        let read = rig.end_of(read).unwrap() - zero;
        let write = rig.end_of(write).unwrap() - zero;
        if suspends {
            // Suspend and resume take 5 us each; the read uses the unit until its page has left.
            let begun = after.max(BUS);
            let left = BUS + PROGRAM - begun;
            assert_eq!(read, begun + 5 * US + READ + BUS, "after {after}");
            assert_eq!(write, read + 5 * US + left, "after {after}");
        } else {
            assert_eq!((write, read), (BUS + PROGRAM, BUS + PROGRAM + READ + BUS), "{after}");
        }
    }
}

#[test]
fn an_interrupted_program_waits_only_while_its_unit_serves_another() {
    let (mut rig, zero) = written(&[INTERRUPT], 2);
    rig.write(1);
    rig.until(zero + BUS + 20 * US).read(0);
    rig.finish();
    // Suspend and resume take 5 us each.
    assert_eq!(blame(&rig, Op::Write, Part::Program), u128::from(PROGRAM + 10 * US));
    assert_eq!(blame(&rig, Op::Write, Part::DieHost), u128::from(READ + BUS));
}

#[test]
fn collection_goes_before_the_host_only_below_its_hard_limit() {
    // Collection begins with two of sixteen blocks free, or with one; the hard limit is two.
    for (threshold, waited) in [(0.18, 0), (0.0, ERASE)] {
        let threshold = format!("background.gc.threshold = {threshold}");
        let mut rig = Rig::new(&["ftl.overprovisioning = 0.5", &threshold]);
        rig.write(1);
        rig.finish();
        let erased = |rig: &Rig| rig.ops(OpKind::Erase, Cause::Gc) > 0;
        while !erased(&rig) {
            let write = rig.write(0);
            let read = rig.until(rig.now() + BUS).read(1);
            rig.finish();
            let waits = rig.end_of(read).unwrap() - rig.end_of(write).unwrap() - READ - BUS;
            assert_eq!(waits, if erased(&rig) { waited } else { 0 }, "{threshold}");
        }
    }
}

#[test]
fn what_was_interrupted_goes_on_when_the_cache_register_is_free() {
    let (mut rig, zero) = written(&[INTERRUPT, SLOW_BUS], 2);
    let write = rig.write(1);
    let read = rig.until(zero + SLOW + 20 * US).read(0);
    rig.finish();
    let gone = SLOW + 20 * US + 5 * US + READ + SLOW;
    let ends = [read, write].map(|tag| rig.end_of(tag).unwrap() - zero);
    assert_eq!(ends, [gone, gone + 5 * US + PROGRAM - 20 * US]);
}

#[test]
fn an_operation_is_interrupted_no_more_than_so_often() {
    let (mut rig, zero) = written(&[INTERRUPT], 2);
    let write = rig.write(1);
    rig.until(zero + BUS);
    let mut ends = Vec::new();
    for _ in 0..3 {
        let tag = rig.read(0);
        while rig.end_of(tag).is_none() {
            let next = rig.drive.next_event().unwrap();
            rig.drive.advance_once(next, &mut rig.done);
        }
        ends.push(rig.end_of(tag).unwrap() - zero);
        // The next read finds the program resumed.
        let now = rig.now();
        rig.until(now + 6 * US);
    }
    rig.finish();
    assert_eq!(rig.drive.flash().error_counts().2, 2);
    assert!(rig.end_of(write).unwrap() - zero < ends[2]);
}

#[test]
fn an_operation_interrupted_while_it_resumes_has_no_more_left_than_before() {
    let often = "suspend = { program_erase = { min_remaining = \"1us\", max_suspends = 9 } }";
    let (mut rig, zero) = written(&[often], 2);
    let write = rig.write(1);
    rig.until(zero + BUS);
    for round in 0..3u64 {
        let read = rig.read(0);
        let end = BUS + (round + 1) * (5 * US + READ + BUS);
        rig.until(zero + end);
        assert_eq!(rig.end_of(read).map(|end| end - zero), Some(end), "round {round}");
    }
    rig.finish();
    // The program made no progress between the reads.
    let resumed = BUS + 3 * (5 * US + READ + BUS);
    assert_eq!(rig.end_of(write).unwrap() - zero, resumed + 5 * US + PROGRAM);
}

#[test]
fn programs_and_erases_are_suspended_only_if_configured() {
    let erase_only = "suspend = { program_erase = { program = false } }";
    let (mut rig, zero) = written(&[erase_only], 2);
    rig.write(1);
    rig.until(zero + BUS).read(0);
    rig.finish();
    assert_eq!(rig.drive.flash().error_counts().2, 0);
    for (erase, expected) in [("true", true), ("false", false)] {
        let set = format!("suspend = {{ program_erase = {{ program = false, erase = {erase} }} }}");
        let mut rig = Rig::new(&[&set]);
        let interrupted = read_into_an_erase(&mut rig);
        assert_eq!(interrupted, expected, "erase = {erase}");
    }
}

/// Overwrites until an erase begins, then reads; returns whether the read interrupted the erase.
fn read_into_an_erase(rig: &mut Rig) -> bool {
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for n in 0..pages * 4 {
        rig.write(n % pages);
        while rig.drive.unfinished() > 0 {
            let next = rig.drive.next_event().unwrap();
            // No other operation takes as long as an erase.
            let wait = (next - rig.drive.now()).as_ns();
            if wait == ERASE {
                rig.read((n + 1) % pages);
                let suspended = rig.drive.flash().error_counts().2 > 0;
                rig.finish();
                return suspended;
            }
            rig.drive.advance_once(next, &mut rig.done);
        }
    }
    panic!("nothing was erased");
}

#[test]
fn an_erase_that_begins_while_a_read_waits_is_suspended_at_once() {
    let sets = [
        "geometry = { blocks = 8, pages = 4 }",
        "ftl.overprovisioning = 0.5",
        "background.gc.mode = \"foreground\"",
        "suspend = { program_erase = { program = false } }",
    ];
    let mut rig = Rig::new(&sets);
    loop {
        let write = rig.write(0);
        let begun = rig.now() + BUS;
        // The read waits for the program; the erase that follows goes first.
        let read = rig.until(begun).read(0);
        rig.finish();
        if rig.drive.flash().error_counts().2 > 0 {
            let (read, write) = (rig.end_of(read).unwrap(), rig.end_of(write).unwrap());
            return assert_eq!(read - write, 5 * US + READ + BUS);
        }
        assert_eq!(rig.ops(OpKind::Erase, Cause::Gc), 0);
    }
}

#[test]
fn a_write_waits_for_room_until_the_page_that_leaves_is_programmed() {
    let sets = ["buffer = { size = \"8KiB\", latency = \"1us\" }"];
    let mut rig = Rig::new(&sets);
    let tags: Vec<u64> = (0..4).map(|page| rig.write(page)).collect();
    rig.finish();
    let ends: Vec<u64> = tags.iter().map(|&tag| rig.end_of(tag).unwrap()).collect();
    // The first two writes find a slot. Each other one waits for a program on the one plane. The
    // first program begins when its page has moved in.
    let one = BUS + PROGRAM;
    assert_eq!(ends, [US, US, US + one + US, US + 2 * one + US]);
}

#[test]
fn a_write_finds_room_that_was_made_ahead_of_it_and_waits_if_it_outruns_that() {
    let one = BUS + PROGRAM;
    // A buffer of four pages that keeps two free.
    let sets = ["buffer = { size = \"16KiB\", latency = \"1us\", keep_free = 0.5 }"];
    let mut rig = Rig::new(&sets);
    let tags: Vec<u64> = (0..7).map(|page| rig.write(page)).collect();
    rig.finish();
    let ends: Vec<u64> = tags.iter().map(|&tag| rig.end_of(tag).unwrap()).collect();
    // Two pages stay, and the next write evicts the oldest. The fifth write is the first without a
    // free slot. It waits for the first program on the one plane, which begins when its page has
    // moved in.
    assert_eq!(ends, [[US; 4].as_slice(), &[1, 2, 3].map(|pages| US + pages * one + US)].concat());
    let now = rig.now();
    let tag = rig.write(7);
    rig.finish();
    assert_eq!(rig.end_of(tag), Some(now + US), "there is room again");
}

#[test]
fn planes_of_a_die_work_together_only_at_equal_offsets() {
    for level in [true, false] {
        let (mut rig, _) = written(&["geometry.planes = 2", "flash.array = \"die\""], 0);
        for page in if level { vec![0, 1] } else { vec![0, 1, 4] } {
            rig.write(page);
            rig.finish();
        }
        let zero = rig.now();
        // A read occupies the die until both writes wait for it.
        rig.read(0);
        let tags = [rig.write(2), rig.write(3)];
        rig.finish();
        let ends = tags.map(|tag| rig.end_of(tag).unwrap() - zero - (READ + BUS));
        let one = BUS + PROGRAM;
        assert_eq!(ends, if level { [one + BUS; 2] } else { [one, 2 * one] }, "level: {level}");
    }
}

#[test]
fn pages_of_a_block_are_written_in_order() {
    let mut rig = Rig::new(&[]);
    for page in [5, 3, 9, 1] {
        rig.write(page);
    }
    rig.finish();
    let geometry = rig.drive.resolved().geometry().clone();
    let places = [5, 3, 9, 1].map(|page| {
        let ppn = rig.drive.ftl().map.get(ssdlab_nand::Lpn(page)).unwrap();
        (geometry.block_of(ppn).0, geometry.page_in_block(ppn).0)
    });
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (0, 3)]);
}

#[test]
fn planes_erased_together_take_as_long_as_the_slowest() {
    let sets = ["geometry.planes = 2", "flash.array = \"die\"", "physics = { retries = {} }"];
    let resolved = Resolved::new(&config(&sets), 1).unwrap();
    let (geometry, chip) = (resolved.geometry(), &resolved.chip);
    for (first, second) in (0..16).flat_map(|first| (16..32).map(move |second| (first, second))) {
        let blocks = [BlockId(first), BlockId(second)];
        let cells = Cells::new(chip.clone(), resolved.page_order.clone(), geometry, 1);
        let mut flash = Flash::new(geometry, resolved.flash.clone(), cells);
        for block in blocks {
            let (owner, kind) = (Owner::Job(geometry.plane_of(block)), OpKind::Erase);
            let new = NewTxn { lpn: Lpn(0), owner, kind, cause: Cause::Gc, mask: 0, sectors: 0 };
            let id = flash.txns.begin(new, SimTime::START);
            flash.txns.set_page(id, geometry.page(block, PageInBlock(0)));
            flash.txns.set_plane(id, geometry.plane_of(block));
            flash.enqueue(id, Rank::URGENT, SimTime::START);
        }
        let unit = flash.units.take_idle().unwrap();
        let queue = Rank::URGENT.queue(OpKind::Erase);
        let [head, other] = [0, 1].map(|plane| flash.pop(PlaneId(plane), queue));
        flash.txns.join(head, other);
        flash.start(unit, head, SimTime::START);
        let times = blocks.map(|block| chip.erase_time(block, 0.0).as_ns());
        assert_ne!(times[0], times[1]);
        assert_eq!(flash.next_event().as_ns(), times[0].max(times[1]));
    }
}
