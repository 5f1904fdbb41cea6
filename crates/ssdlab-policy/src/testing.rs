//! What unit tests of policies need: a small plane, and calls that a drive would make.

use ssdlab_base::Bytes;
use ssdlab_nand::{Cell, Geometry, Level};

use crate::Policy;
use crate::account::Cause;
use crate::columns::metadata_bits;
use crate::event::{Action, Actions, Event, ReadOutcome};
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

/// Tells a policy of something, and returns what it asks for.
pub fn publish(policy: &mut impl Policy, event: &Event) -> Vec<Action> {
    assert!(policy.events().has(event.kind()), "it does not want {event:?}");
    let mut actions = Actions::default();
    policy.on_event(event, &mut actions);
    actions.drain().collect()
}

/// Tells a policy that a page was read for the host and decoded at this level, counted from 0, at
/// the first try or not.
pub fn read_at(policy: &mut impl Policy, view: &ReadStartView, level: u8, first_try: bool) {
    let read = outcome(view, level, first_try);
    publish(policy, &Event::PageRead(&read));
}

/// A page that was read for the host, lies in a block and decoded at this level, counted from 0.
pub fn outcome(view: &ReadStartView, level: u8, first_try: bool) -> ReadOutcome {
    let ReadStartView { lpn, block, page, class, pe_cycles, age, .. } = *view;
    let (level, cause) = (Level(level), Cause::Host);
    let (errors, mapped) = (0, true);
    ReadOutcome { lpn, block, page, class, level, first_try, errors, mapped, cause, pe_cycles, age }
}

/// Bits that a controller needs for what a policy keeps, by structure, where no block is set apart.
pub fn bits(policy: &mut impl Policy) -> Vec<(&'static str, u64)> {
    let mut bits = metadata_bits(policy.columns(), 0);
    bits.retain(|(_, bits)| *bits > 0);
    bits
}
