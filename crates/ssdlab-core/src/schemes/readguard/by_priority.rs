//! `place.by_priority`: a page lies in blocks of its submission queue's priority. Source: ReadGuard,
//! section 5.2 (the block allocator).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::account::Cause;
use crate::policy::place::{PlacePolicy, PlaceView};
use crate::policy::{Answer, Setup, Wish};

/// `by_priority` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByPriorityConfig {}

/// Wishes for a block of the queue's priority.
#[derive(Clone, Debug)]
pub struct ByPriority {
    last: u8,
}

impl Answer for ByPriority {
    type Config = ByPriorityConfig;

    fn check(_: &ByPriorityConfig, setup: &Setup) -> Result<(), Refusal> {
        if setup.priorities > 1 {
            return Ok(());
        }
        let expected = "blocks that are kept apart by priority (belief.grade = \"subpools\")";
        Err(Refusal::new("place", "by_priority", expected))
    }

    fn build(_: &ByPriorityConfig, setup: &Setup) -> ByPriority {
        ByPriority { last: setup.priorities - 1 }
    }
}

impl PlacePolicy for ByPriority {
    #[inline]
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        // What is moved stays whose it was.
        if view.cause == Cause::Host || view.cause == Cause::Rmw {
            wish.priority = wish.priority.or(Some(view.priority.min(self.last)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_pages_go_to_blocks_of_their_queue_and_the_last_is_shared() {
        let wish = |cause, priority| {
            let mut wish = Wish::default();
            let view = PlaceView { cause, priority, ..PlaceView::plain() };
            ByPriority { last: 2 }.wish(&view, &mut wish);
            wish.priority
        };
        let host = [0, 1, 2, 3].map(|queue| wish(Cause::Host, queue));
        assert_eq!(host, [Some(0), Some(1), Some(2), Some(2)]);
        assert_eq!(wish(Cause::Gc, 1), None);
    }
}
