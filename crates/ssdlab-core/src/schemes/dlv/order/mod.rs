//! `order = dlv`: HWS and RRS, which let the request go next that is expected to end first, and
//! decide which page writes are worth a strong block. Source: DLV, sections III-B and III-C.
//!
//! The order keeps for each plane the moment at which it expects it to be idle (the paper's IdleT)
//! and how many pages of each class it has promised (with the free ones, the paper's PCnt). What a
//! leg of a request takes is estimated once, when it comes.

mod config;
mod estimate;

pub use config::{DlvConfig, Pick, Strong};
use ssdlab_nand::PlaneId;

use crate::account::OpKind;
use crate::belief::grade::CLASSES_MAX;
use crate::policy::order::{Going, HoldView, Next, OrderPolicy, OrderView};
use crate::policy::{Answer, Setup};
use crate::queue::{Group, GroupId, Leg};

/// The order.
#[derive(Clone, Debug)]
pub struct Dlv {
    config: DlvConfig,
    planes: Box<[Plane]>,
    classes: usize,
    /// Whether what goes now goes after its deadline, so that its reads overtake nothing.
    late: bool,
}

/// What the order keeps of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    /// When it is expected to be idle, in nanoseconds.
    idle_at: u64,
    /// The deadline of the first write that was let go and has not begun.
    write_due: u64,
    /// Pages of each class that were promised and not yet given out.
    promised: [u32; CLASSES_MAX],
}

impl Answer for Dlv {
    type Config = DlvConfig;

    fn build(config: &DlvConfig, setup: &Setup) -> Dlv {
        Dlv {
            config: config.clone(),
            planes: vec![Plane::default(); setup.geometry.plane_count() as usize].into(),
            classes: usize::from(setup.classes),
            late: false,
        }
    }
}

impl Dlv {
    fn deadline(&self, group: &Group) -> u64 {
        let span = match group.kind {
            OpKind::Read => self.config.read_deadline,
            _ => self.config.write_deadline,
        };
        group.arrival + span.as_ns()
    }

    fn pick(&self, kind: OpKind) -> Pick {
        if kind == OpKind::Read { self.config.reads } else { self.config.writes }
    }

    /// Whether a group that goes as a whole must wait for garbage collection.
    #[inline]
    fn is_blocked(&self, view: &HoldView, group: &Group) -> bool {
        group.legs.iter().any(|leg| self.is_blocked_on(view, group, leg.plane))
    }

    /// Whether what a group needs of this plane must wait for garbage collection.
    #[inline]
    fn is_blocked_on(&self, view: &HoldView, group: &Group, plane: PlaneId) -> bool {
        let waits = self.config.avoid_collection && group.kind != OpKind::Read;
        waits && view.collecting[plane.index()]
    }

    /// Whether the first of a kind that may be overtaken has passed its deadline.
    fn is_late(&self, view: &HoldView) -> bool {
        [OpKind::Read, OpKind::Program].into_iter().any(|kind| {
            if self.pick(kind) == Pick::Fifo {
                return false;
            }
            let mut arrived = view.queue.arrived(kind).map(|id| view.queue.group(id));
            let head = arrived.find(|group| !self.is_blocked(view, group));
            head.is_some_and(|group| self.deadline(group) < view.now)
        })
    }

    /// Of the groups that need `plane`, the one of these kinds that is expected to end first; among
    /// equals the one that came first (equation 3).
    fn shortest(&self, view: &HoldView, plane: PlaneId, kind: OpKind) -> Option<GroupId> {
        let all = view.queue.of_plane(plane).iter().map(|&id| (id, view.queue.group(id)));
        let fit = all.filter(|(_, group)| group.kind == kind && !self.is_blocked(view, group));
        fit.min_by_key(|(_, group)| self.finish(view, group)).map(|(id, _)| id)
    }

    /// Of the groups that need `plane`, the first to come that may go there.
    fn first(
        &self,
        view: &HoldView,
        plane: PlaneId,
        fits: impl Fn(&Group) -> bool,
    ) -> Option<GroupId> {
        let mut all = view.queue.of_plane(plane).iter().copied();
        all.find(|&id| {
            let group = view.queue.group(id);
            fits(group) && !self.is_blocked_on(view, group, plane)
        })
    }

    fn next_write(&self, view: &HoldView, plane: PlaneId) -> Option<Next> {
        match self.config.writes {
            Pick::Shortest => self.shortest(view, plane, OpKind::Program).map(all),
            Pick::Fifo => self.first(view, plane, |group| group.kind != OpKind::Read).map(part),
        }
    }
}

/// All of a group goes.
fn all(group: GroupId) -> Next {
    Next { group, whole: true }
}

/// What a group needs of the plane in question goes: on each plane it keeps its place.
fn part(group: GroupId) -> Next {
    Next { group, whole: false }
}

impl OrderPolicy for Dlv {
    #[inline]
    fn rank(&mut self, view: &OrderView) -> u8 {
        let reads_first = self.config.reads == Pick::Shortest && !self.late;
        u8::from(!(reads_first && view.kind == OpKind::Read))
    }

    fn holds(&self) -> bool {
        true
    }

    fn estimate(&mut self, view: &HoldView, kind: OpKind, leg: &Leg) -> u64 {
        if kind == OpKind::Read {
            return leg.reading;
        }
        leg.reading + self.fastest(view, leg.plane, leg.programs, None)
    }

    fn goes_at_once(&mut self, view: &HoldView, id: GroupId) -> bool {
        let group = view.queue.group(id);
        self.config.idle_at_once
            && group.kind != OpKind::Read
            && !group.waited
            && self.config.writes == Pick::Shortest
            && !self.is_blocked(view, group)
            && group.legs.iter().all(|leg| view.is_idle(leg.plane))
    }

    fn next(&mut self, view: &HoldView, plane: PlaneId) -> Option<Next> {
        if view.queue.of_plane(plane).is_empty() || !view.flash.is_free(plane) {
            return None;
        }
        let (reads, writes) = view.flash.host_waits(plane);
        let write_due = self.planes[plane.index()].write_due;
        let late = self.is_late(view);
        if late || self.config.reads == Pick::Fifo {
            let first = self.first(view, plane, |_| true)?;
            let group = view.queue.group(first);
            // What was held up elsewhere goes before what came later and was let go.
            if view.flash.first_to_wait(plane).is_some_and(|waits| waits < group.seq) {
                return None;
            }
            let keeps_its_place = late || group.kind == OpKind::Read;
            if (reads || writes) && !keeps_its_place && self.config.writes == Pick::Shortest {
                return None;
            }
            return if keeps_its_place { Some(part(first)) } else { self.next_write(view, plane) };
        }
        if reads || (writes && write_due < view.now) {
            return None;
        }
        let read = self.shortest(view, plane, OpKind::Read).map(all);
        if read.is_some() || writes {
            return read;
        }
        self.next_write(view, plane)
    }

    fn leaves(&mut self, view: &HoldView, going: &Going, classes: &mut Vec<Option<u8>>) {
        self.late = self.is_late(view);
        if going.group.kind == OpKind::Read {
            for leg in going.legs {
                let idle_at = self.idle_at(view, leg.plane) + leg.estimate;
                self.planes[leg.plane.index()].idle_at = idle_at;
            }
            return;
        }
        let end = match self.config.strong {
            Strong::Needed => Some(self.finish(view, going.group)),
            // As early as can be: the fastest there is.
            Strong::Prioritised => going.overtakes.then_some(0),
        };
        // Where writes keep their order no page is worth a strong block.
        let end = end.filter(|_| !going.at_once && self.config.writes == Pick::Shortest);
        let due = self.deadline(going.group);
        for leg in going.legs {
            if !view.flash.host_waits(leg.plane).1 {
                self.planes[leg.plane.index()].write_due = due;
            }
            self.promise(view, leg, end, classes);
        }
    }

    #[inline]
    fn given(&mut self, plane: PlaneId, class: u8) {
        let promised = &mut self.planes[plane.index()].promised[class as usize];
        *promised = promised.saturating_sub(1);
    }

    fn metadata_bits(&self) -> Vec<(&'static str, u64)> {
        // Three bytes for each strong class and for the time at which the plane is idle (DLV,
        // section III-D).
        let counters = self.classes as u64;
        vec![("plane_counters", self.planes.len() as u64 * counters * 24)]
    }
}

#[cfg(test)]
mod tests;
