//! Helpers for the tests of policies.

use ssdlab_base::Bytes;
use ssdlab_nand::{Cell, Geometry, Level};

use crate::Policy;
use crate::account::Cause;
use crate::columns::metadata_bits;
use crate::event::{Action, Actions, Event, EventContext, ReadOutcome};
use crate::read_start::ReadStartView;

/// A plane of a few blocks.
pub const SMALL: Geometry = Geometry {
    channels: 1,
    chips: 1,
    dies: 1,
    planes: 1,
    blocks: 4,
    pages: 4,
    page_size: Bytes::from_kib(4),
    cell: Cell::Slc,
};

/// Passes an event to a policy and returns the actions that the policy requests.
pub fn publish(policy: &mut impl Policy, event: &Event) -> Vec<Action> {
    assert!(policy.events().has(event.kind()), "it does not want {event:?}");
    let mut actions = Actions::default();
    policy.on_event(event, &mut EventContext::before_run(&mut actions));
    actions.drain().collect()
}

/// Passes a policy the host read of a page that decoded at this level, after `failed` attempts.
pub fn read_at(policy: &mut impl Policy, view: &ReadStartView, level: Level, failed: u8) {
    let read = outcome(view, level, failed);
    publish(policy, &Event::PageRead(&read));
}

/// Returns the outcome of a host read of a page that decoded at this level, after `failed`
/// attempts.
pub fn outcome(view: &ReadStartView, level: Level, failed: u8) -> ReadOutcome {
    let ReadStartView { lpn, block, page, class, pe_cycles, age, .. } = *view;
    let (cause, errors, mapped) = (Cause::Host, 0, true);
    ReadOutcome { lpn, block, page, class, level, failed, errors, mapped, cause, pe_cycles, age }
}

/// Returns the bits that a controller needs for a policy's state, by structure, if no block is
/// reserved.
pub fn bits(policy: &mut impl Policy) -> Vec<(&'static str, u64)> {
    let mut bits = metadata_bits(policy.columns(), 0);
    bits.retain(|(_, bits)| *bits > 0);
    bits
}
