//! What policies may ask for, and what the drive makes of it.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_core::Op;
use ssdlab_core::account::Cause;
use ssdlab_core::policy::allocation::BlockClass;
use ssdlab_core::policy::background::Job;
use ssdlab_core::policy::event::Action;
use ssdlab_core::{BlockState, StreamId, Writer};
use ssdlab_nand::BlockId;

use crate::support::{Rig, SPP};

const STREAMS: [&str; 3] = [
    "geometry = { blocks = 96, pages = 16 }",
    "ftl.overprovisioning = 0.3",
    "placement = [\"sepbit\"]",
];
const MS: u64 = 1_000_000;

fn until(rig: &mut Rig, ms: u64) -> usize {
    let mut done = Vec::new();
    rig.drive.advance(SimTime::from_ns(ms * MS), &mut done);
    rig.drive.take_events().len()
}

#[test]
fn a_timer_comes_due_once_and_the_last_that_was_set_counts() {
    let mut rig = Rig::new(&[]);
    for ms in [1, 3] {
        rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(ms) });
    }
    assert_eq!([2, 3, 9].map(|ms| until(&mut rig, ms)), [0, 1, 0]);
    rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(1) });
    assert_eq!([9, 10, 20].map(|ms| until(&mut rig, ms)), [0, 1, 0]);
    rig.drive.ask(Action::SetTimer { after: Nanos::ZERO });
    assert_eq!(until(&mut rig, 21), 1, "a timer without a span comes due, and time goes on");
}

#[test]
fn a_timer_is_set_in_the_time_of_the_cells() {
    let mut rig = Rig::new(&["flash.time_scale = 10"]);
    rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(50) });
    assert_eq!([4, 5].map(|ms| until(&mut rig, ms)), [0, 1]);
}

/// A full block, after writes; and how many of its pages are valid.
fn full(rig: &mut Rig) -> (BlockId, u64) {
    let blocks = &rig.drive.ftl().blocks;
    let mut all = (0..rig.drive.resolved().geometry().block_count()).map(BlockId);
    let block = all.rfind(|&block| blocks.state(block) == BlockState::Closed);
    let block = block.expect("a full block");
    (block, blocks.valid(block).into())
}

#[test]
fn a_block_is_emptied_into_the_stream_that_the_job_names() {
    let mut rig = Rig::new(&STREAMS);
    for page in 0..200 {
        rig.wait_below(4).expect("a drive that goes on");
        rig.pages(Op::Write, page, 1);
    }
    rig.finish();
    for stream in [2, 5] {
        let moved = |rig: &Rig| rig.drive.streams().expect("several streams")[stream].moved_pages;
        let (block, valid) = full(&mut rig);
        let before = moved(&rig);
        let job = Job::new(block, Cause::Migration, Writer::Gc);
        let stream = Some(StreamId(stream as u8));
        rig.drive.ask(Action::Relocate(Job { stream, ..job }));
        rig.finish();
        assert_eq!(moved(&rig), before + valid, "{stream:?}");
        assert_eq!(rig.drive.ftl().blocks.state(block), BlockState::Free);
    }
}

#[test]
fn what_only_answers_an_event_does_nothing_without_one() {
    let mut rig = Rig::new(&[]);
    rig.offer(Op::Write, 0, SPP, 0).expect("room");
    let (class, block) = (BlockClass(0), BlockId(1));
    rig.drive.ask(Action::MigratePage { class });
    rig.drive.ask(Action::SetClass { block, class });
    rig.drive.ask(Action::SetTurn { block, turn: 7 });
    let wanted = (rig.finish().now(), rig.drive.stats().digest);
    let mut plain = Rig::new(&[]);
    plain.offer(Op::Write, 0, SPP, 0).expect("room");
    assert_eq!(wanted, (plain.finish().now(), plain.drive.stats().digest));
}
