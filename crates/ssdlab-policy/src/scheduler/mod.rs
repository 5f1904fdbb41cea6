//! `scheduler`: which request goes to the flash next?

mod fifo;
mod ranked;

pub use fifo::{Fifo, FifoConfig};
pub use ranked::{
    ReadFirst, ReadFirstConfig, StrictPriority, StrictPriorityConfig, WriteFirst, WriteFirstConfig,
};

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::PlaneId;

use crate::account::{OpKind, Priority};
use crate::allocation::BlockClass;
use crate::queue::{GroupId, PlaneShare, Queue};

/// What a scheduler may look at.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerView {
    /// Read or program.
    pub kind: OpKind,
    /// The submission queue's priority.
    pub priority: Priority,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

/// What a scheduler that lets requests wait may look at.
#[derive(Debug)]
pub struct QueueView<'a, P> {
    /// The present moment.
    pub now: SimTime,
    /// Who waits.
    pub queue: &'a Queue,
    /// What the planes do and have before them.
    pub planes: &'a P,
    /// Time in which a page is moved to a block of each class and programmed there, by the
    /// data sheet.
    pub programming: &'a [Nanos],
}

/// What the planes do and have before them, as a scheduler may know it.
pub trait Planes {
    /// Whether a plane does nothing and has nothing before it.
    fn is_idle(&self, plane: PlaneId) -> bool;

    /// Whether the array unit of a plane does nothing.
    fn is_free(&self, plane: PlaneId) -> bool;

    /// Whether reads of the host, and writes, that were let go wait for a plane.
    fn host_waits(&self, plane: PlaneId) -> (bool, bool);

    /// The place in the order of arrival of the first of the host that was let go and waits for a
    /// plane.
    fn first_to_wait(&self, plane: PlaneId) -> Option<u64>;

    /// Pages of a class that the host can still write on a plane before blocks are erased.
    fn free_pages(&self, plane: PlaneId, class: BlockClass) -> u32;

    /// Whether a block of a plane is being emptied.
    fn is_collected(&self, plane: PlaneId) -> bool;
}

/// What a scheduler is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    /// A group has just arrived: does it go at once?
    Arrival(GroupId),
    /// Something has changed on this plane: what goes to it next?
    Plane(PlaneId),
}

/// What a scheduler lets go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The group.
    pub group: GroupId,
    /// How much of it, and to which place.
    pub mode: DispatchMode,
}

/// How a group is let go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DispatchMode {
    /// What needs the plane in question goes, to its place in the order of arrival.
    InPlace,
    /// All of it goes, behind all that was let go before.
    Behind,
    /// All of it goes, to the place of the first of its kind in the order of arrival; each that it
    /// overtakes takes the place of the next.
    InFirstPlace,
}

/// What a scheduler returns beside its decision.
#[derive(Clone, Debug, Default)]
pub struct DecisionDetails {
    /// The class of block for each page to be programmed, plane by plane. Missing entries leave it
    /// open.
    pub classes: Vec<Option<BlockClass>>,
    /// The work of the choice: how many expected ends of waiting requests the scheduler compared.
    /// Results hold the sum.
    pub steps: u64,
}

/// A scheduler.
///
/// What it ranks goes on to the queues of its planes at once. One with a *window* holds requests in
/// the [`Queue`], and is asked for the next one whenever an array unit has nothing to do that the
/// scheduler would not put second.
pub trait SchedulerPolicy {
    /// The rank of a page operation in the queues of its plane: the lower goes first, the earlier
    /// among equals.
    fn rank(&mut self, view: &SchedulerView) -> u8;

    /// How many groups of a kind it chooses among, the first to arrive: requests wait until it lets
    /// them go. `None` if requests do not wait for it.
    fn window(&self) -> Option<usize> {
        None
    }

    /// Time that a plane is expected to need for its part of a group, which has just arrived or
    /// grown.
    fn estimate(&mut self, _: &QueueView<impl Planes>, _: OpKind, _: &PlaneShare) -> Nanos {
        Nanos::ZERO
    }

    /// What goes now. Of a group that has just arrived, `None` lets it wait; on a plane, `None`
    /// says that what was let go before, or nothing, is to be served there. The drive carries each
    /// decision out.
    fn next(
        &mut self,
        _: &QueueView<impl Planes>,
        _: Occasion,
        _details: &mut DecisionDetails,
    ) -> Option<Decision> {
        None
    }

    /// Whether a program that was let go has waited on this plane for too long: the first there
    /// then joins those that go before it by their rank.
    fn is_overdue(&self, _now: SimTime, _: PlaneId) -> bool {
        false
    }
}
