//! Pages that a policy moves one by one, on drives of every kind.

use proptest::prelude::*;
use ssdlab_core::account::Cause;
use ssdlab_core::policy::allocation::BlockClass;
use ssdlab_core::policy::background::Job;
use ssdlab_core::policy::event::Action;
use ssdlab_core::{BlockState, StreamId, Writer};
use ssdlab_nand::{BlockId, Lpn};

use crate::support::{Rig, Step, play_step, step};

const CLASSES: [&str; 2] =
    ["physics = { levels = {} }", "metadata.block_class = { factory = { shares = [0.5] } }"];
const MEASURED: [&str; 4] = [
    "geometry.blocks = 60",
    "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }",
    "metadata.block_class = { measured = { read_hot_share = 0.3 } }",
    "background.read_hot_migration = true",
];
const PRIORITIES: [&str; 6] = [
    "geometry.blocks = 60",
    "physics = { retries = {} }",
    "metadata = { block_class.predicted = {}, retry_estimate = \"last_seen\" }",
    "placement = [\"priority\"]",
    "ftl.free_block_policy = \"fewest_retries\"",
    "host.queues = 3\nscheduler = \"strict_priority\"",
];

/// Drives on which pages move in different ways.
const DRIVES: &[&[&str]] = &[
    &[],
    &["ftl.allocation = \"dynamic\""],
    &["ftl.gc_stream = \"shared\""],
    &["ftl.page_order = \"relaxed\"", "placement = [\"us\"]"],
    &["ftl.page_order = \"relaxed\"", "placement = [\"ubs\"]", "ftl.allocation = \"dynamic\""],
    &["ftl.partial_writes = \"sector_bitmap\"", "buffer.size = \"32KiB\""],
    &["geometry = { blocks = 96, pages = 16 }", "placement = [\"sepbit\"]"],
    &["ftl.map_cache = { share = 0.3 }", "geometry.blocks = 24"],
    &["flash.array = \"die\"", "scheduler = { dlv = {} }", CLASSES[0], CLASSES[1]],
    &CLASSES,
    &[CLASSES[0], CLASSES[1], "ftl.allocation = \"dynamic\"", "ftl.page_order = \"relaxed\""],
    &MEASURED,
    &PRIORITIES,
];

/// A request of a policy. Addresses are in 2^-16 of the drive.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Move { place: u32, class: u8, stream: Option<u8> },
    Empty { place: u32 },
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let place = || 0..0x1_0000u32;
    let to = (place(), 0..5u8, prop::option::of(0..8u8));
    let ask = prop_oneof![
        9 => to.prop_map(|(place, class, stream)| Ask::Move { place, class, stream }),
        1 => place().prop_map(|place| Ask::Empty { place }),
    ];
    prop::collection::vec(ask, 0..9)
}

/// Plays a stream of requests, and asks for something before each.
fn play_and_ask(rig: &mut Rig, steps: &[(Step, Vec<Ask>)], depth: u32) -> Result<(), String> {
    let pages = u64::from(rig.drive.resolved().logical_pages);
    let blocks = u64::from(rig.drive.resolved().geometry().block_count());
    let mut at = rig.now();
    for (step, asks) in steps {
        for ask in asks {
            match *ask {
                Ask::Move { place, class, stream } => {
                    let lpn = Lpn(((u64::from(place) * pages) >> 16) as u32);
                    let (class, stream) = (BlockClass(class), stream.map(StreamId));
                    rig.drive.ask(Action::MigratePage { lpn, class, stream });
                }
                Ask::Empty { place } => {
                    let block = BlockId(((u64::from(place) * blocks) >> 16) as u32);
                    if rig.drive.ftl().blocks.state(block) == BlockState::Closed {
                        let job = Job::new(block, Cause::Wl, Writer::Gc);
                        rig.drive.ask(Action::Relocate(job));
                    }
                }
            }
        }
        at = play_step(rig, step, at, depth)?;
    }
    rig.try_finish()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn wherever_pages_move_the_tables_agree_and_the_drive_continues(
        at in 0..DRIVES.len(),
        steps in prop::collection::vec((step(), asks()), 1..120),
        full in any::<bool>(),
        seed in 0..1000u64,
    ) {
        let start = if full { "start.fill = 1" } else { "start.fill = 0.6" };
        let sets = [&["geometry.channels = 2", start], DRIVES[at]].concat();
        let mut rig = Rig::seeded(&sets, seed).expect("a valid drive");
        let played = play_and_ask(&mut rig, &steps, 8);
        prop_assert_eq!(played, Ok(()), "{:?}", sets);
    }
}
