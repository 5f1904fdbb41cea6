//! Four planes that are busy until given times, and requests that wait for them: what the tests of
//! the order stand on.

#![cfg(test)]

use ssdlab_nand::{Cell, Geometry, PlaneId};

use super::{Dlv, DlvConfig};
use crate::SMALL;
use crate::account::OpKind;
use crate::config::Resolved;
use crate::drive::Drive;
use crate::flash::{Flash, Owner, Rank, Txns};
use crate::ftl::Ftl;
use crate::policy::Policy;
use crate::policy::scheduler::{Dispatch, QueueView, SchedulerPolicy};
use crate::queue::{GroupId, Queue};

/// Page programs take one unit of time on strong blocks and two on normal ones.
const UNITS: [u64; 2] = [1, 2];

/// A plane that is not busy at all.
pub(super) const IDLE: u64 = u64::MAX;

/// Four planes that are busy until given times, and requests that wait for them.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) order: Dlv,
    pub(super) queue: Queue,
    flash: Flash,
    ftl: Ftl,
    txns: Txns,
    pub(super) now: u64,
    pub(super) collecting: [bool; 4],
    work: std::cell::Cell<u64>,
}

impl Bench {
    pub(super) fn new(busy_until: [u64; 4], config: DlvConfig) -> Bench {
        let geometry = Geometry { channels: 4, blocks: 32, pages: 8, cell: Cell::Mlc, ..SMALL };
        let text = "geometry = { channels = 4, chips = 1, dies = 1, planes = 1, blocks = 32, \
            pages = 8, page_size = \"4KiB\", cell = \"mlc\" }\n\
            timing = { read = \"50us\", program = \"200us\", erase = \"1ms\" }\n\
            physics = { levels = {} }\nmetadata.block_class = \"factory\"\n\
            ftl.overprovisioning = 0.3\n";
        let resolved = Resolved::new(&toml::from_str(text).unwrap(), 1).unwrap();
        let setup = resolved.policy_context();
        let drive = Drive::new(resolved.into());
        let (mut flash, ftl) = (drive.flash().clone(), drive.ftl().clone());
        let mut order = Dlv::build(&config, &setup);
        assert_eq!(geometry.plane_count(), 4);
        let busy = (0..4).map(PlaneId).zip(busy_until).filter(|(_, until)| *until != IDLE);
        for (plane, until) in busy {
            // Something waits there, so that the plane is not idle.
            let id = flash.txns.insert(0);
            flash.txns[id].plane = plane;
            flash.txns[id].kind = OpKind::Program;
            flash.enqueue(id, Rank::host(0), 0);
            order.planes[plane.index()].idle_at = until;
        }
        let (queue, txns) = (Queue::new(4), Txns::default());
        Bench {
            order,
            queue,
            flash,
            ftl,
            txns,
            now: 0,
            collecting: [false; 4],
            work: std::cell::Cell::new(0),
        }
    }

    /// A write of a page on each of these planes.
    pub(super) fn write(&mut self, slot: u32, planes: &[u32]) -> GroupId {
        self.request(slot, OpKind::Program, planes, 0)
    }

    /// A request for a page on each of these planes, each of which is read for so long.
    pub(super) fn request(
        &mut self,
        slot: u32,
        kind: OpKind,
        planes: &[u32],
        reading: u64,
    ) -> GroupId {
        let group = self.queue.insert(Owner::Request(slot), kind, self.now, slot.into());
        for &plane in planes {
            let id = self.txns.insert(0);
            self.txns[id].plane = PlaneId(plane);
            self.txns[id].kind = kind;
            let plane_share = self.queue.add(&mut self.txns, group, id, reading).clone();
            let (order, view) = self.parts();
            let estimate = order.estimate(&view, kind, &plane_share);
            self.queue.plane_share_mut(group, PlaneId(plane)).estimate = estimate;
        }
        group
    }

    pub(super) fn parts(&mut self) -> (&mut Dlv, QueueView<'_>) {
        let Bench { order, queue, flash, ftl, collecting, now, work, .. } = self;
        let programming = &UNITS;
        (order, QueueView { now: *now, queue, flash, ftl, collecting, programming, work })
    }

    /// Leaves so many strong pages on each plane.
    pub(super) fn keep_strong(&mut self, pages: u32) {
        for plane in (0..4).map(PlaneId) {
            let free = self.ftl.alloc.pages_of(plane, 0);
            self.order.planes[plane.index()].promised[0] = free - pages;
        }
    }

    pub(super) fn expected(&mut self, group: GroupId) -> u64 {
        let (order, view) = self.parts();
        order.finish(&view, view.queue.group(group))
    }

    /// The request goes: when it ends, and the class that each page gets.
    pub(super) fn goes(&mut self, group: GroupId) -> (u64, Vec<Option<u8>>) {
        let mut classes = Vec::new();
        let (order, view) = self.parts();
        let group_ref = view.queue.group(group);
        let plane_shares = &group_ref.plane_shares;
        let dispatch =
            Dispatch { group: group_ref, plane_shares, at_once: false, overtakes: false };
        order.on_dispatch(&view, &dispatch, &mut classes);
        let ends =
            plane_shares.iter().map(|plane_share| order.planes[plane_share.plane.index()].idle_at);
        let end = ends.max().unwrap();
        while !self.queue.group(group).plane_shares.is_empty() {
            while self.queue.take(&self.txns, group, 0).is_some() {}
            if self.queue.remove_plane_share(group, 0) {
                break;
            }
        }
        (end, classes)
    }

    /// Lets all that waits go, the one that ends first next; who went, and when each ends.
    pub(super) fn all(&mut self) -> Vec<(u32, u64)> {
        let mut gone = Vec::new();
        while let Some(next) = {
            let (order, view) = self.parts();
            order.shortest(&view, OpKind::Program)
        } {
            let Owner::Request(slot) = self.queue.group(next).owner else { unreachable!() };
            gone.push((slot, self.goes(next).0));
        }
        gone
    }
}

/// Plane 2 is idle at T6, plane 1 at T8, planes 3 and 4 at T5. (Planes count from 1 in the paper.)
pub(super) const FIG4: [u64; 4] = [8, 6, 5, 5];
