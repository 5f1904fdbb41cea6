//! `scheduler`: which request goes to the flash next?

mod fifo;
mod ranked;

pub use fifo::{Fifo, FifoConfig};
pub use ranked::{
    ReadFirst, ReadFirstConfig, StrictPriority, StrictPriorityConfig, WriteFirst, WriteFirstConfig,
};

use ssdlab_nand::PlaneId;

use crate::account::OpKind;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::queue::{Group, GroupId, PlaneShare, Queue};

/// What an order may look at.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerView {
    /// Read or program.
    pub kind: OpKind,
    /// The submission queue's priority, 0 the highest.
    pub priority: u8,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

/// What an order that holds requests back may look at.
#[derive(Clone, Copy)]
pub struct QueueView<'a> {
    /// The present moment, in nanoseconds.
    pub now: u64,
    /// Who waits.
    pub queue: &'a Queue,
    /// What the planes do and have before them.
    pub flash: &'a Flash,
    /// Free pages.
    pub ftl: &'a Ftl,
    /// For each plane, whether a block of it is being emptied.
    pub collecting: &'a [bool],
    /// Nanoseconds in which a page is moved to a block of each class and programmed there, by the
    /// data sheet.
    pub programming: &'a [u64],
}

impl QueueView<'_> {
    /// Whether a plane does nothing and has nothing before it.
    #[inline]
    pub fn is_idle(&self, plane: PlaneId) -> bool {
        self.flash.load(plane) == 0
    }
}

/// What an order lets go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The group.
    pub group: GroupId,
    /// How much of it, and to which place.
    pub way: DispatchMode,
}

/// How a group is let go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DispatchMode {
    /// What needs the plane in question goes, to its place in the order of coming.
    InPlace,
    /// All of it goes, behind all that was let go before.
    Behind,
    /// All of it goes, to the place of the first of its kind in the order of coming; each that it
    /// overtakes takes the place of the next.
    InFirstPlace,
}

/// What goes.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// The group.
    pub group: &'a Group,
    /// Those of its legs that go.
    pub plane_shares: &'a [PlaneShare],
    /// Whether it has just come and found its planes idle.
    pub at_once: bool,
    /// Whether one of its kind that came before it stays behind.
    pub overtakes: bool,
}

/// An order of service.
///
/// What an order ranks goes on to the queues of its planes at once. One that *holds* keeps requests
/// in the [`Queue`], and is asked for the next one whenever an array unit has nothing to do that the
/// order would not put second.
pub trait SchedulerPolicy {
    /// The rank of a page operation in the queues of its plane: the lower goes first, the earlier
    /// among equals.
    fn rank(&mut self, view: &SchedulerView) -> u8;

    /// Whether requests wait until the order lets them go.
    fn holds_requests(&self) -> bool {
        false
    }

    /// Groups of a kind of which one may go, the first to come.
    fn window(&self) -> usize {
        usize::MAX
    }

    /// Nanoseconds that a plane is expected to need for a leg, which has just come or grown.
    fn estimate(&mut self, _: &QueueView, _: OpKind, _: &PlaneShare) -> u64 {
        0
    }

    /// Whether a group that has just come goes at once.
    fn goes_at_once(&mut self, _: &QueueView, _: GroupId) -> bool {
        false
    }

    /// What goes next, now that something has changed on this plane; `None` if what was let go
    /// before, or nothing, is to be served there.
    fn next(&mut self, _: &QueueView, _: PlaneId) -> Option<Decision> {
        None
    }

    /// What was chosen goes. For each page that it programs, leg by leg, the class of block that the
    /// page shall have is added to `classes`.
    fn on_dispatch(&mut self, _: &QueueView, _: &Dispatch, _classes: &mut Vec<Option<u8>>) {}

    /// A page that was let go was given a place on this plane, having been promised this class; when
    /// its request arrived.
    fn on_page_allocated(&mut self, _: PlaneId, _: u8, _arrival: u64) {}

    /// A page that was let go found no room on a plane and goes to another; when its request arrived.
    fn on_plane_changed(&mut self, _from: PlaneId, _to: PlaneId, _arrival: u64) {}

    /// Whether a program that was let go has waited on this plane for too long: the first there then
    /// joins those that go before it by their rank.
    fn is_overdue(&mut self, _: &QueueView, _: PlaneId) -> bool {
        false
    }

    /// The work of choosing since this was asked for the last time: expected ends of a waiting request
    /// on a plane that were looked at.
    fn steps(&mut self) -> u64 {
        0
    }

    /// Bits that a controller needs for what the order keeps, by structure.
    fn metadata_bits(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
