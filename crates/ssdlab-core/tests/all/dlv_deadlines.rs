//! No request waits longer than its deadline plus the work ahead of it. Source: DLV.

use proptest::prelude::*;
use ssdlab_core::Op;

use crate::dlv::{SHAPE, sets};
use crate::support::{BUS, PROGRAM, READ, Rig, Step, play};

const PLANES: u64 = 4;
const MAX_PAGES: u64 = 16;
const DEPTH: u32 = 16;

/// Returns requests with these sizes in pages, one in `writes` a write, as fast as the drive
/// accepts them.
fn flood(sizes: [u64; 2], writes: u64, draws: &[(u64, bool)]) -> Vec<Step> {
    let step = |(at, &(place, small)): (usize, &(u64, bool))| {
        let op = if at as u64 % writes == writes - 1 { Op::Write } else { Op::Read };
        let sectors = 8 * sizes[usize::from(!small)];
        Step { gap: 0, op, place, sectors, whole: true, queue: 0 }
    };
    draws.iter().enumerate().map(step).collect()
}

/// Returns the longest wait of a request.
fn longest(order: &str, steps: &[Step]) -> u64 {
    let mut rig = Rig::new(&sets(&[&[SHAPE, LAZY, order]]));
    play(&mut rig, steps, DEPTH).unwrap_or_else(|error| panic!("{order}: {error}"));
    rig.done.iter().map(|done| (done.end - done.arrival).as_ns()).max().unwrap()
}

/// Returns the work that may be ahead of a request at its deadline: the other requests' pages on
/// its planes.
fn work_ahead(op: u64) -> u64 {
    u64::from(DEPTH) * MAX_PAGES.div_ceil(PLANES) * (op + BUS)
}

const LAZY: &str = "start.unwritten_reads = \"lazy\"";
const ORDERS: [&str; 3] = ["", "writes = \"fifo\"", "reads = \"fifo\""];

proptest! {
    #![proptest_config(ProptestConfig {
        // A long stream shows no more than its beginning.
        cases: 16, max_shrink_iters: 4, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn however_long_a_stream_of_requests_goes_on(
        order in prop::sample::select(ORDERS.to_vec()),
        sizes in prop::sample::select(vec![[1, MAX_PAGES], [1, 5], [4, 7]]),
        writes in prop::sample::select(vec![u64::MAX, 50, 7, 2]),
        draws in prop::collection::vec((0..1u64 << 16, any::<bool>()), 1500),
    ) {
        let deadline = 10_000_000;
        let order = format!(
            "scheduler = {{ dlv = {{ write_deadline = \"10ms\", read_deadline = \"10ms\", {order} }} }}"
        );
        let op = if writes == u64::MAX { READ } else { PROGRAM };
        let longest = longest(order.trim(), &flood(sizes, writes, &draws));
        // Garbage collection takes its share of a drive with writes.
        prop_assert!(longest <= deadline + 4 * work_ahead(op), "{longest}");
    }
}

#[test]
fn writes_behind_reads_of_several_planes_go_after_their_deadline() {
    // Five pages from plane 0 on: each read needs that plane twice, and any free plane can start
    // it.
    let draws: Vec<_> = (0..1500).map(|at| (at % 50 * PLANES * 8, true)).collect();
    let mut steps = flood([5, 5], u64::MAX, &draws);
    for (at, place) in [(70, 60), (71, 61)] {
        steps[at] =
            Step { op: Op::Write, sectors: 8, place: place * PLANES * 8, ..steps[at].clone() };
    }
    let of = |deadline: &str, writes: &str| {
        let order = format!(
            "scheduler = {{ dlv = {{ write_deadline = \"{deadline}\", writes = \"{writes}\" }} }}"
        );
        longest(&order, &steps)
    };
    for writes in ["shortest", "fifo"] {
        let (soon, late) = (of("5ms", writes), of("10s", writes));
        assert!(soon < 5_000_000 + 2 * work_ahead(READ), "{writes}: {soon}");
        assert!(late > 4 * soon, "{writes}: reads go first until then: {late}");
    }
}
