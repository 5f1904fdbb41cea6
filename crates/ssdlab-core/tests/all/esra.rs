//! Reads that drop the current loop of a program or an erase.

use proptest::prelude::*;
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::{Completion, Op};

use crate::support::{BUS, ERASE, PROGRAM, READ, Rig, Step, play, step, written};

const US: u64 = 1000;
const ESRA: &str = "suspend = \"esra\"";
/// Time to suspend, and to resume.
const SWITCH: u64 = 5 * US;
/// Time between suspension and resumption for one read: suspend, sense and transfer.
const VISIT: u64 = SWITCH + READ + BUS;

/// Returns suspended programs, suspended erases and dropped nanoseconds.
fn dropped(rig: &Rig) -> (u64, u64, u64) {
    let counts = rig.drive.flash().counts.suspends();
    (counts.programs, counts.erases, counts.dropped_ns)
}

#[test]
fn a_program_goes_on_at_the_beginning_of_the_loop_that_a_read_dropped() {
    for (loops, set) in [(5, ""), (4, "flash.program_loops = 4")] {
        let one = PROGRAM / loops;
        // Loops begin after the transfer of the page; a read that arrives before drops nothing.
        for (done, loop_at) in
            [(0, 0), (1, 0), (one - 1, 0), (one, 1), (one + 1, 1), (3 * one - 1, 2), (3 * one, 3)]
        {
            let (mut rig, zero) = written(&[ESRA, set], 2);
            let write = rig.write(1);
            let read = rig.until(zero + BUS + done).read(0);
            rig.finish();
            let back = done + VISIT;
            assert_eq!(rig.end_of(read).unwrap() - zero, BUS + back, "{loops}, {done}");
            let left = PROGRAM - loop_at * one;
            assert_eq!(rig.end_of(write).unwrap() - zero, BUS + back + SWITCH + left, "{done}");
            assert_eq!(dropped(&rig), (1, 0, done - loop_at * one), "{loops}, {done}");
            let blame = |part: Part| {
                rig.drive.stats().latencies[0][Op::Write as usize].blame_ns[part as usize]
            };
            // The dropped time counts as program time, too.
            let programming = done + SWITCH + SWITCH + left;
            assert_eq!(blame(Part::Program), u128::from(programming), "{done}");
            assert_eq!(blame(Part::DieHost), u128::from(READ + BUS), "{done}");
        }
    }
}

#[test]
fn an_erase_goes_on_at_the_beginning_of_the_loop_that_a_read_dropped() {
    let one = ERASE / 5;
    for (done, loop_at) in [(0, 0), (one - 1, 0), (one, 1), (5 * one - 1, 4)] {
        let mut rig = Rig::new(&[ESRA]);
        let begun = until_an_erase(&mut rig);
        rig.until(begun + done);
        let read = rig.read(0);
        rig.finish();
        let back = begun + done + VISIT;
        assert_eq!(rig.end_of(read), Some(back));
        assert_eq!(rig.now(), back + SWITCH + ERASE - loop_at * one, "after {done}");
        assert_eq!(dropped(&rig), (0, 1, done - loop_at * one));
    }
}

/// Overwrites until an erase begins; returns its start.
fn until_an_erase(rig: &mut Rig) -> u64 {
    for n in 0.. {
        rig.write(n % 80);
        while let Some(next) = rig.drive.next_event() {
            if (next - rig.drive.now()).as_ns() == ERASE {
                return rig.now();
            }
            rig.drive.advance_once(next, &mut rig.done);
        }
    }
    unreachable!("in the end something is erased")
}

#[test]
fn what_is_not_allowed_is_not_dropped() {
    let (mut rig, zero) = written(&["suspend = { esra = { program = false } }"], 2);
    let write = rig.write(1);
    rig.until(zero + BUS + 1).read(0);
    rig.finish();
    assert_eq!(rig.end_of(write).unwrap() - zero, BUS + PROGRAM);
    assert_eq!(dropped(&rig), (0, 0, 0));
    let mut rig = Rig::new(&["suspend = { esra = { program = false, erase = false } }"]);
    let begun = until_an_erase(&mut rig);
    let read = rig.read(0);
    rig.finish();
    assert_eq!(rig.end_of(read), Some(begun + ERASE + READ + BUS));
}

/// Starts a program, then reads one after another, each `after` nanoseconds after the program
/// resumed. Returns the ends of the reads and of the program.
fn visits(most: u8, after: &[u64]) -> (Rig, Vec<u64>, u64) {
    let set = format!("suspend = {{ esra = {{ max_aborts = {most} }} }}");
    let (mut rig, zero) = written(&[&set], 2);
    let write = rig.write(1);
    rig.until(zero + BUS);
    let ends = after.iter().map(|after| {
        let at = rig.now() + after;
        let read = rig.until(at).read(0);
        while rig.end_of(read).is_none() {
            let next = rig.drive.next_event().expect("a read under way");
            rig.drive.advance_once(next, &mut rig.done);
        }
        rig.end_of(read).unwrap() - zero
    });
    let ends = ends.collect();
    rig.finish();
    let end = rig.end_of(write).unwrap() - zero;
    (rig, ends, end)
}

#[test]
fn a_loop_that_was_dropped_so_often_runs_to_its_end_and_the_next_is_counted_anew() {
    let one = PROGRAM / 5;
    let again = SWITCH + US;
    let (rig, ends, write) = visits(2, &[US, again, again, again, again, again]);
    let mut expected = vec![BUS + US + VISIT];
    expected.push(expected[0] + again + VISIT);
    // The third read waits until the first loop ends, which restarted after the second read.
    expected.push(expected[1] + SWITCH + one + VISIT);
    // Two more reads interrupt at once, and the next waits for the second loop.
    expected.push(expected[2] + again + VISIT);
    expected.push(expected[3] + again + VISIT);
    expected.push(expected[4] + SWITCH + one + VISIT);
    assert_eq!(ends, expected);
    assert_eq!(write, expected[5] + SWITCH + 3 * one);
    assert_eq!(dropped(&rig), (6, 0, 4 * US));
}

#[test]
fn in_the_last_loop_a_read_waits_for_the_whole() {
    let one = PROGRAM / 5;
    let (rig, ends, write) = visits(1, &[4 * one, SWITCH + US]);
    let first = BUS + 4 * one + VISIT;
    assert_eq!(write, first + SWITCH + one);
    assert_eq!(ends, [first, write + READ + BUS]);
    assert_eq!(dropped(&rig), (1, 0, 0));
}

#[test]
fn an_operation_that_is_interrupted_while_it_resumes_loses_nothing_and_that_counts() {
    let (rig, ends, write) = visits(3, &[US, 0, SWITCH - 1, SWITCH]);
    let first = BUS + US + VISIT;
    let third = first + 2 * VISIT + SWITCH - 1;
    // Three reads dropped the loop: the fourth finds it at its start and waits.
    let fourth = third + SWITCH + PROGRAM / 5 + VISIT;
    assert_eq!(ends, [first, first + VISIT, third, fourth]);
    assert_eq!(write, fourth + SWITCH + 4 * PROGRAM / 5);
    assert_eq!(dropped(&rig), (4, 0, US));
}

#[test]
fn reads_that_interrupt_as_before_drop_nothing() {
    let interrupt = "suspend = { program_erase = { min_remaining = \"1us\" } }";
    let (mut rig, zero) = written(&[interrupt], 2);
    let write = rig.write(1);
    rig.until(zero + BUS + 70 * US).read(0);
    rig.finish();
    assert_eq!(rig.end_of(write).unwrap() - zero, BUS + PROGRAM + VISIT + SWITCH);
    assert_eq!(dropped(&rig), (1, 0, 0));
}

const SHAPE: &str = "geometry = { channels = 2, planes = 2, blocks = 24 }";

fn mixed(count: u64) -> Vec<Step> {
    let all = (0..128).map(|n| (Op::Write, n << 9));
    let places = (0..count).map(|n| ssdlab_base::rng::hash(5, 1, n));
    let drawn = places.map(|hash| {
        let op = if hash & 1 == 0 { Op::Read } else { Op::Write };
        (op, (hash >> 8) & 0xffff)
    });
    let step = |(op, place)| Step { gap: 30_000, op, place, sectors: 8, whole: true, queue: 0 };
    all.chain(drawn).map(step).collect()
}

fn run(preempt: &str) -> Rig {
    let mut rig = Rig::unwatched(&[SHAPE, preempt], 1).unwrap();
    play(&mut rig, &mixed(3000), 64).unwrap();
    rig
}

#[test]
fn dropping_loops_helps_reads_and_costs_the_time_that_is_dropped() {
    let [never, esra] = ["suspend = \"none\"", ESRA].map(run);
    assert!(esra.mean(Op::Read) < 0.8 * never.mean(Op::Read));
    let (programs, erases, ns) = dropped(&esra);
    assert!(programs > 100 && erases > 10, "{programs} {erases}");
    // At most one loop each time, and about half of one on average.
    let share = ns as f64 / (programs * PROGRAM / 5 + erases * ERASE / 5) as f64;
    assert!((0.3..0.6).contains(&share), "{share}");
    assert_eq!(dropped(&never), (0, 0, 0));
}

#[test]
fn esra_without_suspension_is_the_same_as_none() {
    let none = "suspend = { esra = { program = false, erase = false } }";
    let ends = |rig: Rig| -> Vec<Completion> { rig.done };
    assert_eq!(ends(run("suspend = \"none\"")), ends(run(none)));
    assert_ne!(ends(run("suspend = \"none\"")), ends(run(ESRA)));
}

#[test]
fn shorter_loops_lose_less() {
    let lost = |loops: u8| {
        let set = format!("{ESRA}\nflash = {{ program_loops = {loops}, erase_loops = {loops} }}");
        dropped(&run(&set)).2
    };
    let lost = [1, 5, 25, 250].map(lost);
    assert!(lost.is_sorted_by(|more, less| more > &(2 * less)), "{lost:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// After every event the auditor checks that the array time of programs and erases adds up, and
    /// that the parts of every latency do.
    #[test]
    fn no_time_is_lost_or_counted_twice(
        array in prop::sample::select(vec!["plane", "die", "chip"]),
        (program, erase) in (1..9u8, 1..256u16),
        most in prop::sample::select(vec![1, 2, 255u8]),
        times in (0..30u32, 0..30u32),
        depth in prop::sample::select(vec![1u32, 3, 16]),
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let sets = [
            "geometry = { dies = 2, planes = 2, blocks = 10 }".into(),
            format!("flash = {{ array = \"{array}\", program_loops = {program}, erase_loops = {erase} }}"),
            format!("flash = {{ suspend_time = \"{}us\", resume_time = \"{}us\" }}", times.0, times.1),
            format!("suspend = {{ esra = {{ max_aborts = {most} }} }}\nftl.overprovisioning = 0.5"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut rig = Rig::seeded(&sets, 1).unwrap();
        play(&mut rig, &steps, depth).map_err(TestCaseError::fail)?;
        let programs: u64 = rig.drive.flash().counts.ops()[OpKind::Program as usize].iter().sum();
        let erases = rig.ops(OpKind::Erase, Cause::Gc);
        let (array_time, _) = rig.drive.flash().busy(rig.drive.now());
        prop_assert!(array_time.iter().sum::<u64>() * 4 >= programs * PROGRAM + erases * ERASE);
    }
}
