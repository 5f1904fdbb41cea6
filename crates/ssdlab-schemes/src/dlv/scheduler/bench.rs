//! A test bench for the scheduler: four planes that are busy until given times, and requests that
//! wait for them.

#![cfg(test)]

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{Cell, Geometry, PlaneId};

use super::{Dlv, DlvConfig, Goes};
use ssdlab_policy::account::OpKind;
use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::component::Components;
use ssdlab_policy::queue::{Arrival, GroupId, Queue};
use ssdlab_policy::scheduler::{Planes, QueueView, SchedulerPolicy};
use ssdlab_policy::testing::SMALL;
use ssdlab_policy::{ClassFacts, Policy, PolicyContext};

/// Page programs take one unit of time on strong blocks and two on normal ones.
const UNITS: [Nanos; 2] = [Nanos::from_ns(1), Nanos::from_ns(2)];

/// A plane that is not busy at all.
pub(super) const IDLE: u64 = u64::MAX;

/// The state of four planes. A busy plane has a dispatched host write that waits.
#[derive(Clone)]
pub(super) struct FourPlanes {
    busy: [bool; 4],
    pub(super) collecting: [bool; 4],
}

/// Free pages of each class on a plane.
const FREE: [u32; 2] = [80, 168];

impl Planes for FourPlanes {
    fn is_idle(&self, plane: PlaneId) -> bool {
        !self.busy[plane.index()]
    }

    fn is_free(&self, _: PlaneId) -> bool {
        true
    }

    fn host_waits(&self, plane: PlaneId) -> (bool, bool) {
        (false, self.busy[plane.index()])
    }

    fn first_to_wait(&self, plane: PlaneId) -> Option<u64> {
        self.busy[plane.index()].then_some(0)
    }

    fn free_pages(&self, _: PlaneId, class: BlockClass) -> u32 {
        FREE[class.index()]
    }

    fn is_collected(&self, plane: PlaneId) -> bool {
        self.collecting[plane.index()]
    }
}

/// Four planes that are busy until given times, and requests that wait for them.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) order: Dlv,
    pub(super) queue: Queue,
    pub(super) planes: FourPlanes,
    /// The test's number of each group.
    slots: Vec<u32>,
    pub(super) now: SimTime,
}

impl Bench {
    pub(super) fn new(busy_until: [u64; 4], config: DlvConfig) -> Bench {
        let geometry = Geometry { channels: 4, blocks: 32, pages: 8, cell: Cell::Mlc, ..SMALL };
        let classes = ClassFacts { count: 2, ..ClassFacts::default() };
        let context = PolicyContext { classes, ..PolicyContext::plain(geometry, 1) };
        let mut order = Dlv::build(&config, &context);
        let busy = busy_until.map(|until| until != IDLE);
        for (plane, until) in order.planes.iter_mut().zip(busy_until) {
            plane.idle_at = SimTime::from_ns(if until == IDLE { 0 } else { until });
        }
        Bench {
            order,
            queue: Queue::new(4),
            planes: FourPlanes { busy, collecting: [false; 4] },
            slots: Vec::new(),
            now: SimTime::START,
        }
    }

    /// Adds a write of a page on each of these planes.
    pub(super) fn write(&mut self, slot: u32, planes: &[u32]) -> GroupId {
        self.request(slot, OpKind::Program, planes, 0)
    }

    /// Adds a request for a page on each of these planes; each page takes `reading` to read.
    pub(super) fn request(
        &mut self,
        slot: u32,
        kind: OpKind,
        planes: &[u32],
        reading: u64,
    ) -> GroupId {
        let group = self.queue.insert(Arrival::plain(kind, self.now, slot.into()));
        self.slots.resize(self.slots.len().max(group.0 as usize + 1), 0);
        self.slots[group.0 as usize] = slot;
        for &plane in planes {
            let at = self.queue.add(group, PlaneId(plane), (kind, Nanos::from_ns(reading)));
            let plane_share = self.queue.group(group).plane_shares[at].clone();
            let (order, view) = self.parts();
            let estimate = order.estimate(&view, kind, &plane_share);
            self.queue.plane_share_mut(group, at).estimate = estimate;
        }
        group
    }

    pub(super) fn parts(&mut self) -> (&mut Dlv, QueueView<'_, FourPlanes>) {
        let Bench { order, queue, planes, now, .. } = self;
        let (now, components) = (*now, Components::NONE);
        (order, QueueView { now, queue, planes, programming: &UNITS, components })
    }

    /// Leaves `pages` strong pages on each plane.
    pub(super) fn keep_strong(&mut self, pages: u32) {
        for plane in (0..4).map(PlaneId) {
            self.order.planes[plane.index()].promised[0] = FREE[0] - pages;
        }
    }

    pub(super) fn expected(&mut self, group: GroupId) -> u64 {
        let (order, view) = self.parts();
        order.finish(&view, view.queue.group(group)).as_ns()
    }

    /// Dispatches a request. Returns when it ends, and the number of the class of each page.
    pub(super) fn goes(&mut self, group: GroupId) -> (u64, Vec<Option<u8>>) {
        let mut classes = Vec::new();
        let (order, view) = self.parts();
        let group_ref = view.queue.group(group);
        let plane_shares = &group_ref.plane_shares;
        let goes = Goes { group: group_ref, plane_shares, at_once: false };
        order.goes(&view, &goes, &mut classes);
        let ends =
            plane_shares.iter().map(|plane_share| order.planes[plane_share.plane.index()].idle_at);
        let end = ends.max().unwrap().as_ns();
        self.gone(group);
        (
            end,
            classes
                .into_iter()
                .map(|class: Option<BlockClass>| class.map(|class| class.0))
                .collect(),
        )
    }

    /// Removes a request that was dispatched.
    pub(super) fn gone(&mut self, group: GroupId) {
        while !self.queue.remove_plane_share(group, 0) {}
    }

    /// Dispatches all waiting requests, always the one that ends first. Returns them with their
    /// ends.
    pub(super) fn all(&mut self) -> Vec<(u32, u64)> {
        let mut gone = Vec::new();
        while let Some(next) = {
            let (order, view) = self.parts();
            order.shortest(&view, OpKind::Program)
        } {
            let slot = self.slots[next.0 as usize];
            gone.push((slot, self.goes(next).0));
        }
        gone
    }
}

/// Plane 2 is idle at T6, plane 1 at T8, planes 3 and 4 at T5. (Planes count from 1 in the paper.)
pub(super) const FIG4: [u64; 4] = [8, 6, 5, 5];
