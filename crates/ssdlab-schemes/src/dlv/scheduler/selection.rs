//! Decides which waiting groups may be dispatched, and which are late.

use ssdlab_base::SimTime;
use ssdlab_nand::PlaneId;

use super::{Dlv, Selection};
use ssdlab_policy::account::OpKind;
use ssdlab_policy::queue::{Group, GroupId};

use ssdlab_policy::scheduler::{Decision, DispatchMode, Planes, QueueView, SchedulerPolicy};

impl Dlv {
    /// Returns the group of a kind to dispatch next, if a group that needs this plane may be
    /// dispatched.
    pub(super) fn shortest_for(
        &mut self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
        kind: OpKind,
    ) -> Option<Decision> {
        let mut all = view.queue.of_plane(plane, kind).iter().map(|&id| view.queue.group(id));
        let needed = all.any(|group| !self.is_blocked(view, group));
        let group = needed.then(|| self.shortest(view, kind)).flatten()?;
        // If reads keep their places, a write takes the place of another write.
        let keeps = kind != OpKind::Read && self.config.reads == Selection::Fifo;
        Some(Decision {
            group,
            mode: if keeps { DispatchMode::InFirstPlace } else { DispatchMode::Behind },
        })
    }

    /// Returns the first group of a kind, in order of arrival, that needs `plane` and may be
    /// dispatched there.
    pub(super) fn first_of(
        &self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
        kind: OpKind,
    ) -> Option<GroupId> {
        let mut all = view.queue.of_plane(plane, kind).iter().copied();
        all.find(|&id| {
            let group = view.queue.group(id);
            !self.is_outside(view, group) && !self.is_blocked_on(view, group, plane)
        })
    }

    /// Returns the group of either kind with the first place, among those that need `plane` and may
    /// be dispatched there.
    pub(super) fn first(&self, view: &QueueView<impl Planes>, plane: PlaneId) -> Option<GroupId> {
        let first = |kind| self.first_of(view, plane, kind);
        match (first(OpKind::Read), first(OpKind::Program)) {
            (Some(read), Some(write)) => {
                let reads = view.queue.place(read) < view.queue.place(write);
                Some(if reads { read } else { write })
            }
            (read, write) => read.or(write),
        }
    }

    pub(super) fn next_write(
        &mut self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
    ) -> Option<Decision> {
        match self.config.writes {
            Selection::Shortest => self.shortest_for(view, plane, OpKind::Program),
            Selection::Fifo => {
                let first = self.first_of(view, plane, OpKind::Program);
                first.filter(|&id| self.arrived_first(view, plane, id)).map(part)
            }
        }
    }

    /// Returns the group to dispatch next to a plane.
    pub(super) fn next_of_plane(
        &mut self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
    ) -> Option<Decision> {
        let needs = |kind| !view.queue.of_plane(plane, kind).is_empty();
        if !(needs(OpKind::Read) || needs(OpKind::Program)) || !view.planes.is_free(plane) {
            return None;
        }
        let (reads, writes) = view.planes.host_waits(plane);
        let late = self.is_late(view);
        if late || self.config.reads == Selection::Fifo {
            let first =
                self.first(view, plane).filter(|&id| self.arrived_first(view, plane, id))?;
            let keeps_position = late || view.queue.group(first).kind == OpKind::Read;
            if (reads || writes) && !keeps_position && self.config.writes == Selection::Shortest {
                return None;
            }
            return if keeps_position { Some(part(first)) } else { self.next_write(view, plane) };
        }
        if reads || self.is_overdue(view.now, plane) {
            return None;
        }
        let read = self.shortest_for(view, plane, OpKind::Read);
        if read.is_some() || (writes && self.config.writes == Selection::Shortest) {
            return read;
        }
        self.next_write(view, plane)
    }

    /// Returns whether a group that has just arrived is dispatched at once.
    pub(super) fn goes_at_once(&self, view: &QueueView<impl Planes>, id: GroupId) -> bool {
        let group = view.queue.group(id);
        self.config.dispatch_if_idle
            && group.kind != OpKind::Read
            && !group.waited
            && self.config.writes == Selection::Shortest
            && !self.is_blocked(view, group)
            && group.plane_shares.iter().all(|plane_share| view.planes.is_idle(plane_share.plane))
    }

    /// Returns the deadline of a request with this arrival time.
    pub(super) fn due(&self, kind: OpKind, arrival: SimTime) -> SimTime {
        let span = match kind {
            OpKind::Read => self.config.read_deadline,
            _ => self.config.write_deadline,
        };
        arrival + span
    }

    /// Removes the deadline of a page that no longer waits for its program on a plane, and returns
    /// it. `arrival` is the arrival time of its request.
    pub(super) fn is_met(&mut self, plane: PlaneId, arrival: SimTime) -> Option<SimTime> {
        let due = self.due(OpKind::Program, arrival);
        let plane = &mut self.planes[plane.index()];
        let at = plane.due.iter().position(|&other| other == due)?;
        plane.due.swap_remove(at);
        if plane.first_due == due {
            plane.first_due = plane.due.iter().min().copied().unwrap_or(SimTime::NEVER);
        }
        Some(due)
    }

    /// Returns whether a group arrived before all dispatched operations that wait for a plane.
    pub(super) fn arrived_first(
        &self,
        view: &QueueView<impl Planes>,
        plane: PlaneId,
        id: GroupId,
    ) -> bool {
        let waits = view.planes.first_to_wait(plane);
        waits.is_none_or(|place| view.queue.place(id) <= place)
    }

    /// Returns whether requests of a kind may be overtaken.
    fn is_overtaken(&self, kind: OpKind) -> bool {
        let by_reads = kind == OpKind::Program && self.config.reads == Selection::Shortest;
        by_reads || self.selection(kind) == Selection::Shortest
    }

    pub(super) fn selection(&self, kind: OpKind) -> Selection {
        if kind == OpKind::Read { self.config.reads } else { self.config.writes }
    }

    /// Returns whether a group is outside the window of its kind.
    pub(super) fn is_outside(&self, view: &QueueView<impl Planes>, group: &Group) -> bool {
        let last = view.queue.at(group.kind, self.config.window as usize - 1);
        last.is_some_and(|last| group.seq > view.queue.group(last).seq)
    }

    /// Returns whether a group cannot be dispatched as a whole now: it is outside the window, or
    /// garbage collection blocks one of its planes.
    pub(super) fn is_blocked(&self, view: &QueueView<impl Planes>, group: &Group) -> bool {
        self.is_outside(view, group) || self.is_collected(view, group)
    }

    pub(super) fn is_collected(&self, view: &QueueView<impl Planes>, group: &Group) -> bool {
        group
            .plane_shares
            .iter()
            .any(|plane_share| self.is_blocked_on(view, group, plane_share.plane))
    }

    /// Returns whether a group's share of this plane must wait for garbage collection.
    pub(super) fn is_blocked_on(
        &self,
        view: &QueueView<impl Planes>,
        group: &Group,
        plane: PlaneId,
    ) -> bool {
        let reordered = group.kind != OpKind::Read && self.config.writes == Selection::Shortest;
        let waits = self.config.avoid_gc && reordered;
        waits && view.planes.is_collected(plane)
    }

    /// Returns whether the first request of a kind that may be overtaken has passed its deadline.
    pub(super) fn is_late(&self, view: &QueueView<impl Planes>) -> bool {
        [OpKind::Read, OpKind::Program].into_iter().any(|kind| {
            if !self.is_overtaken(kind) {
                return false;
            }
            let mut arrived = view.queue.arrived(kind).map(|id| view.queue.group(id));
            let head = arrived.find(|group| !self.is_collected(view, group));
            head.is_some_and(|group| self.due(kind, group.arrival) < view.now)
        })
    }
}

/// Dispatches a group's share of the plane in question. On each plane the group keeps its place.
fn part(group: GroupId) -> Decision {
    Decision { group, mode: DispatchMode::InPlace }
}
