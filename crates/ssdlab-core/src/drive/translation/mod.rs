//! Where a page operation goes: to the plane of its page, or to the one on which its page is to be
//! written.

mod mapping;

use super::dispatch::Dispatcher;
use super::machine::Machine;
use mapping::Mapping;

/// What becomes of a page operation that has its turn, its entry and its place in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Step {
    /// It waits, or is on its way to the flash.
    UnderWay,
    /// It reads a page that was never written, and ends.
    Unmapped,
    /// It unmaps its page, and ends.
    Trims,
}

/// The page map: which part of it is held, and what lies below.
#[derive(Clone, Debug)]
pub(super) struct Translation {
    /// Which part of the map is held, if not all of it.
    pub(super) mapping: Option<Box<Mapping>>,
    pub(super) dispatch: Dispatcher,
}

impl Translation {
    /// Nothing is looked up, and nothing waits.
    pub(super) fn new(machine: &mut Machine) -> Translation {
        let planes = machine.geometry.plane_count();
        let shape = machine.resolved.map_cache;
        Translation {
            mapping: shape.map(|shape| Box::new(Mapping::new(shape, planes))),
            dispatch: Dispatcher::new(machine),
        }
    }
}
