//! `placement = by_queue`: a stream for each submission queue, so that tenants share no block.
//!
//! The drive writes the pages of a stream to one open block of each plane for the host, and to
//! another for what collection moves. Source: A. Tavakkol, J. Gómez-Luna, M. Sadrosadati, S. Ghose
//! and O. Mutlu, "MQSim", FAST 2018, whose planes have these two for each I/O stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::account::Cause;
use ssdlab_policy::allocation::{StreamId, Streams};
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::placement::{PageView, PlacementNeeds, PlacementPolicy, PlacementView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

const KEY: &str = "placement[].by_queue.queues";

/// Settings of `by_queue`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ByQueueConfig {
    /// Number of queues with a stream of their own; further queues share the last one. Default: 3.
    /// Assumed.
    #[schemars(range(min = 1, max = 16))]
    pub queues: u8,
}

impl Default for ByQueueConfig {
    fn default() -> ByQueueConfig {
        ByQueueConfig { queues: 3 }
    }
}

/// Chooses the stream of the queue whose request wrote a page.
#[derive(Clone, Debug)]
pub struct ByQueue {
    queues: u8,
    /// The queue that wrote each page last.
    writer: Vec<u8>,
}

impl Policy for ByQueue {
    type Config = ByQueueConfig;

    fn check(config: &ByQueueConfig, _: &PolicyContext) -> Result<(), Refusal> {
        match config.queues {
            1..=Streams::MAX_COUNT => Ok(()),
            found => {
                Err(Refusal::new(KEY, found, format!("a number from 1 to {}", Streams::MAX_COUNT)))
            }
        }
    }

    fn build(config: &ByQueueConfig, context: &PolicyContext) -> ByQueue {
        ByQueue { queues: config.queues, writer: vec![0; context.logical_pages as usize] }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let last = u64::from(self.queues) - 1;
        vec![Column::new("page_writers", Per::Page, &mut self.writer).up_to(last)]
    }
}

impl PlacementPolicy for ByQueue {
    fn streams(config: &ByQueueConfig) -> Streams {
        Streams { count: config.queues, default: StreamId(0) }
    }

    fn needs(_: &ByQueueConfig) -> PlacementNeeds {
        PlacementNeeds { pages: true, ..PlacementNeeds::default() }
    }

    fn fill(&mut self, _: &PlacementView, _: &mut PlacementHint) {}

    fn fill_page(&mut self, page: &PageView, hint: &mut PlacementHint) {
        let writer = &mut self.writer[page.lpn.index()];
        if matches!(page.cause, Cause::Host | Cause::Rmw | Cause::Mapping) {
            *writer = page.priority.0.min(self.queues - 1);
        }
        hint.stream.get_or_insert(StreamId(*writer));
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::Bytes;
    use ssdlab_nand::Lpn;

    use super::*;
    use ssdlab_policy::account::Priority;
    use ssdlab_policy::testing::SMALL;

    fn stream_of(policy: &mut ByQueue, page: &PageView) -> Option<StreamId> {
        let mut hint = PlacementHint::default();
        policy.fill_page(page, &mut hint);
        hint.stream
    }

    #[test]
    fn a_page_goes_to_the_stream_of_its_queue_and_stays_there_when_it_moves() {
        let context = PolicyContext::plain(SMALL, 1);
        let mut policy = ByQueue::build(&ByQueueConfig::default(), &context);
        let write = PlacementView::of_a_page(Cause::Host, Bytes::from_kib(4));
        let page = PageView::of_write(Lpn(0), &write);
        for (queue, stream) in [(0, 0), (1, 1), (2, 2), (7, 2)] {
            let of_queue = PageView { priority: Priority(queue), ..page };
            let moved = PageView { cause: Cause::Gc, priority: Priority(0), ..page };
            assert_eq!(stream_of(&mut policy, &of_queue), Some(StreamId(stream)));
            assert_eq!(stream_of(&mut policy, &moved), Some(StreamId(stream)));
        }
    }

    #[test]
    fn a_number_of_queues_without_streams_is_refused() {
        let context = PolicyContext::plain(SMALL, 1);
        for queues in [0, Streams::MAX_COUNT + 1] {
            let refused = ByQueue::check(&ByQueueConfig { queues }, &context).unwrap_err();
            assert_eq!(refused.key, KEY);
        }
    }
}
