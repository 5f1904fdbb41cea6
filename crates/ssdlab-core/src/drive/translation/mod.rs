//! Address translation: sends a page operation to the plane of its page, or to the plane on which
//! its page is written.

mod mapping;

use super::dispatch::Dispatcher;
use super::machine::Machine;
use mapping::Mapping;

/// The next step of a page operation that has its turn on its page, its map entry and its slot in
/// the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Step {
    /// The operation waits, or is on its way to the flash.
    InProgress,
    /// The operation reads a page that was never written, and ends.
    Unmapped,
    /// The operation unmaps its page, and ends.
    Trims,
}

/// The page map: its cached part, and the dispatcher below it.
#[derive(Clone, Debug)]
pub(super) struct Translation {
    /// The cached part of the map; `None` if the drive holds the whole map.
    mapping: Option<Box<Mapping>>,
    pub(super) dispatch: Dispatcher,
}

impl Translation {
    /// Returns the translation of a drive before its first request.
    pub(super) fn new(machine: &mut Machine) -> Translation {
        let planes = machine.geometry.plane_count();
        let shape = machine.resolved.map_cache;
        Translation {
            mapping: shape.map(|shape| Box::new(Mapping::new(shape, planes))),
            dispatch: Dispatcher::new(machine),
        }
    }
}
