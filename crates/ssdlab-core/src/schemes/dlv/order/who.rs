//! Which of those that wait may go, and which have waited too long.

use ssdlab_nand::PlaneId;

use super::{Dlv, Pick};
use crate::account::OpKind;
use crate::policy::order::{HoldView, OrderPolicy};
use crate::queue::Group;

impl Dlv {
    pub(super) fn deadline(&self, group: &Group) -> u64 {
        let span = match group.kind {
            OpKind::Read => self.config.read_deadline,
            _ => self.config.write_deadline,
        };
        group.arrival + span.as_ns()
    }

    pub(super) fn pick(&self, kind: OpKind) -> Pick {
        if kind == OpKind::Read { self.config.reads } else { self.config.writes }
    }

    /// Whether too many of its kind have come before a group.
    #[inline]
    pub(super) fn is_outside(&self, view: &HoldView, group: &Group) -> bool {
        let last = view.queue.at(group.kind, self.window() - 1);
        last.is_some_and(|last| group.seq > view.queue.group(last).seq)
    }

    /// Whether a group that goes as a whole must wait for others to go, or for garbage collection.
    #[inline]
    pub(super) fn is_blocked(&self, view: &HoldView, group: &Group) -> bool {
        self.is_outside(view, group) || self.is_collected(view, group)
    }

    pub(super) fn is_collected(&self, view: &HoldView, group: &Group) -> bool {
        group.legs.iter().any(|leg| self.is_blocked_on(view, group, leg.plane))
    }

    /// Whether what a group needs of this plane must wait for garbage collection.
    #[inline]
    pub(super) fn is_blocked_on(&self, view: &HoldView, group: &Group, plane: PlaneId) -> bool {
        let waits = self.config.avoid_collection && group.kind != OpKind::Read;
        waits && view.collecting[plane.index()]
    }

    /// Whether the first of a kind that may be overtaken has passed its deadline.
    pub(super) fn is_late(&self, view: &HoldView) -> bool {
        [OpKind::Read, OpKind::Program].into_iter().any(|kind| {
            if self.pick(kind) == Pick::Fifo {
                return false;
            }
            let mut arrived = view.queue.arrived(kind).map(|id| view.queue.group(id));
            let head = arrived.find(|group| !self.is_collected(view, group));
            head.is_some_and(|group| self.deadline(group) < view.now)
        })
    }
}
