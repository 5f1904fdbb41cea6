//! `placement.priority`: a page lies in blocks of its submission queue's priority. Source:
//! ReadGuard, section 5.2 (the block allocator).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::account::{Cause, Priority};
use ssdlab_policy::placement::{PlacementPolicy, PlacementView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `priority` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityPlacementConfig {}

/// Asks for a block of the queue's priority.
#[derive(Clone, Debug)]
pub struct PriorityPlacement {
    last: Priority,
}

impl Policy for PriorityPlacement {
    type Config = PriorityPlacementConfig;

    fn check(_: &PriorityPlacementConfig, context: &PolicyContext) -> Result<(), Refusal> {
        if context.classes.priorities > 1 {
            return Ok(());
        }
        let expected =
            "blocks that are kept apart by priority (metadata.block_class = \"predicted\")";
        Err(Refusal::new("placement", "priority", expected))
    }

    fn build(_: &PriorityPlacementConfig, context: &PolicyContext) -> PriorityPlacement {
        PriorityPlacement { last: Priority(context.classes.priorities - 1) }
    }
}

impl PlacementPolicy for PriorityPlacement {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        // A page that moves keeps its priority.
        if view.cause == Cause::Host || view.cause == Cause::Rmw {
            hint.priority = hint.priority.or(Some(view.priority.min(self.last)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_pages_go_to_blocks_of_their_queue_and_the_last_is_shared() {
        let hint = |cause, priority| {
            let mut hint = PlacementHint::default();
            let view =
                PlacementView { cause, priority: Priority(priority), ..PlacementView::plain() };
            PriorityPlacement { last: Priority(2) }.fill(&view, &mut hint);
            hint.priority.map(|priority| priority.0)
        };
        let host = [0, 1, 2, 3].map(|queue| hint(Cause::Host, queue));
        assert_eq!(host, [Some(0), Some(1), Some(2), Some(2)]);
        assert_eq!(hint(Cause::Gc, 1), None);
    }
}
