//! `scheduler`: which request goes to the flash next?

mod fifo;
mod ranked;

pub use fifo::{Fifo, FifoConfig};
pub use ranked::{
    ReadFirst, ReadFirstConfig, StrictPriority, StrictPriorityConfig, WriteFirst, WriteFirstConfig,
};

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{Lpn, PlaneId, Ppn};

use crate::Policy;
use crate::account::{OpKind, RequestAttrs};
use crate::allocation::BlockClass;
use crate::component::Components;
use crate::queue::{GroupId, PlaneShare, Queue};

/// The view of a scheduler that ranks a page operation.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerView<'a> {
    /// Read or program.
    pub kind: OpKind,
    /// The request that the operation works for. A page that leaves the buffer has the attributes
    /// of the write that waits for its slot.
    pub request: RequestAttrs,
    /// The logical page.
    pub lpn: Lpn,
    /// The page on the flash that a read reads. A program has none yet.
    pub ppn: Option<Ppn>,
    /// The plane.
    pub plane: PlaneId,
    /// When the request arrived, or when the page left the buffer.
    pub arrival: SimTime,
    /// The current time.
    pub now: SimTime,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl SchedulerView<'_> {
    /// Returns the view of an operation for a request of one page that has just arrived.
    pub fn plain(kind: OpKind) -> SchedulerView<'static> {
        let (request, now) = (RequestAttrs::PLAIN, SimTime::START);
        let (lpn, ppn, plane) = (Lpn(0), None, PlaneId(0));
        let components = Components::NONE;
        SchedulerView { kind, request, lpn, ppn, plane, arrival: now, now, components }
    }
}

/// The needs of a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SchedulerNeeds {
    /// Whether ranks are the priorities of the submission queues. The drive then needs several
    /// queues, and a suspend policy may let reads pass reads of lower priorities.
    pub by_priority: bool,
    /// Number of operations that a unit may begin past others of later ranks, or past a suspended
    /// one, before one of these has a turn. 0: no limit.
    pub max_passes: u16,
}

/// The view of a scheduler with a window.
#[derive(Debug)]
pub struct QueueView<'a, P> {
    /// The current time.
    pub now: SimTime,
    /// The requests that wait.
    pub queue: &'a Queue,
    /// The planes and their load.
    pub planes: &'a P,
    /// By class of blocks, the time to transfer a page and program it there, by the data sheet.
    pub programming: &'a [Nanos],
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// The rank of a page operation of the host in the queues of its plane; 0 goes first. The drive has
/// five ranks, and later ones count as the last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HostRank(pub u8);

impl HostRank {
    /// The most urgent rank.
    pub const FIRST: HostRank = HostRank(0);
}

/// The state of the planes, as far as a scheduler may know it.
pub trait Planes {
    /// Returns whether a plane is idle and no operation waits for it.
    fn is_idle(&self, plane: PlaneId) -> bool;

    /// Returns whether the array unit of a plane is idle.
    fn is_free(&self, plane: PlaneId) -> bool;

    /// Returns whether dispatched host reads, and dispatched host writes, wait for a plane.
    fn host_waits(&self, plane: PlaneId) -> (bool, bool);

    /// Returns the arrival number of the first dispatched host operation that waits for a plane.
    fn first_to_wait(&self, plane: PlaneId) -> Option<u64>;

    /// Returns the number of pages of a class that the host can still write on a plane without an
    /// erase.
    fn free_pages(&self, plane: PlaneId, class: BlockClass) -> u32;

    /// Returns whether a job empties a block of a plane.
    fn is_collected(&self, plane: PlaneId) -> bool;
}

/// The question that the drive asks a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    /// This group has just arrived, or is offered again: is it dispatched at once?
    Arrival(GroupId),
    /// The state of this plane has changed: which group is dispatched to it next?
    Plane(PlaneId),
}

/// The group that a scheduler dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The group.
    pub group: GroupId,
    /// The operations to dispatch, and their positions.
    pub mode: DispatchMode,
}

/// How a group is dispatched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DispatchMode {
    /// Only the operations on the plane in question are dispatched. They keep their place in the
    /// order of arrival.
    InPlace,
    /// All operations are dispatched, behind all that were dispatched before.
    Behind,
    /// All operations are dispatched, at the place of the first group of the same kind in the order
    /// of arrival. Each group that they overtake moves to the next place.
    InFirstPlace,
}

/// The information that a scheduler returns beside its decision.
#[derive(Clone, Debug, Default)]
pub struct DecisionDetails {
    /// The class of block for each page to be programmed, plane by plane. A missing entry leaves
    /// the class open.
    pub classes: Vec<Option<BlockClass>>,
    /// The work of the decision: how many expected finish times of waiting requests the scheduler
    /// compared. Results hold the sum.
    pub steps: u64,
}

/// A scheduler.
///
/// A scheduler ranks page operations in the queues of their planes
/// ([`rank`](SchedulerPolicy::rank)). Without a window an operation enters these queues at once. A
/// scheduler with a *window* holds requests in the [`Queue`]. Whenever an array unit is free, the
/// drive asks it for the next group ([`next`](SchedulerPolicy::next)) before it serves the
/// operations that already wait there.
pub trait SchedulerPolicy: Policy {
    /// Returns the needs of a scheduler with these settings.
    fn needs(_: &Self::Config) -> SchedulerNeeds {
        SchedulerNeeds::default()
    }

    /// Returns the rank of a page operation in the queues of its plane. The lower rank goes first;
    /// at equal rank, the earlier operation goes first.
    fn rank(&mut self, view: &SchedulerView) -> HostRank;

    /// Returns the window: how many groups of a kind, the first to arrive, the scheduler chooses
    /// among. Requests then wait until it dispatches them. `None` if requests do not wait for the
    /// scheduler.
    fn window(&self) -> Option<usize> {
        None
    }

    /// Returns the time that a plane is expected to need for its share of a group. The drive asks
    /// when the group has just arrived or grown.
    fn estimate(&mut self, _: &QueueView<impl Planes>, _: OpKind, _: &PlaneShare) -> Nanos {
        Nanos::ZERO
    }

    /// Returns the group to dispatch now. On arrival, `None` lets the group wait. On a plane,
    /// `None` lets the unit serve the operations dispatched before, if any. The drive carries out
    /// each decision.
    fn next(
        &mut self,
        _: &QueueView<impl Planes>,
        _: Occasion,
        _details: &mut DecisionDetails,
    ) -> Option<Decision> {
        None
    }

    /// Returns whether dispatched programs have waited on this plane for too long. The drive then
    /// raises the first program of a later rank there to the first rank of programs. It asks only a
    /// scheduler with a window.
    fn is_overdue(&self, _now: SimTime, _: PlaneId) -> bool {
        false
    }
}
