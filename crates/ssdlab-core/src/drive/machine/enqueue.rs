//! Enqueues page operations at their planes, and asks the suspend policy about the operations
//! there.

use ssdlab_base::Nanos;
use ssdlab_nand::PlaneId;

use super::Machine;
use crate::account::{Cause, OpKind};
use crate::flash::{Owner, Rank, Room, TxnId, UnitId};
use crate::policy::component::Components;
use crate::policy::event::Event;
use crate::policy::eviction::EvictionView;
use crate::policy::scheduler::SchedulerView;
use crate::policy::suspend::{InService, SuspendView, Verdict};

impl Machine {
    /// Puts a host operation into the queue of a plane.
    #[inline]
    pub(in crate::drive) fn enqueue_host(&mut self, id: TxnId, plane: PlaneId) {
        self.flash.txns.set_plane(id, plane);
        let txn = &self.flash.txns[id];
        let (kind, owner, lpn, arrival) = (txn.kind, txn.owner, txn.lpn, txn.began());
        let ppn = (kind == OpKind::Read).then_some(txn.ppn);
        let request = self.attrs(owner);
        let components = Components::new(&self.policies.metadata);
        let view =
            SchedulerView { kind, request, lpn, ppn, plane, arrival, now: self.now, components };
        let rank = self.policies.scheduler.rank(&view);
        self.flash.enqueue(id, Rank::host(rank), self.now);
        if kind == OpKind::Read {
            self.ask_to_suspend(id);
        }
    }

    /// Moves a write, the first of its queue, off a plane that has filled up since it was chosen.
    /// Only dynamic allocation allows this. Returns false if no other plane has room.
    #[inline(never)]
    pub(in crate::drive) fn on_plane_changed(&mut self, id: TxnId) -> bool {
        if !self.planes.is_dynamic() {
            return false;
        }
        let other = self.plane_for_write(id);
        if self.ftl.is_full(other, self.flash.txns[id].hint.request().class) {
            return false;
        }
        let txn = &self.flash.txns[id];
        if !matches!(txn.owner, Owner::Map { .. }) {
            let (from, to, arrival) = (txn.plane, other, txn.began());
            self.policies.publish(self.now, &Event::PlaneChanged { from, to, arrival });
        }
        self.flash.pop(txn.plane, txn.plane_queue);
        self.flash.wait_ends(id, self.now);
        self.enqueue_host(id, other);
        true
    }

    /// Asks the suspend policy whether a host read interrupts the operation of its unit.
    #[inline]
    pub(in crate::drive) fn ask_to_suspend(&mut self, read: TxnId) {
        if self.flash.setup().may_suspend {
            self.ask_suspend_policy(read);
        }
    }

    #[inline(never)]
    fn ask_suspend_policy(&mut self, read: TxnId) {
        let unit = self.flash.units.id_of(self.flash.txns[read].plane);
        let running = self.flash.in_service(unit, self.now);
        if running.has_suspended || !matches!(running.kind, Some(OpKind::Program | OpKind::Erase)) {
            return;
        }
        let head = self.flash.held(unit).next().expect("an operation in service");
        let own = self.attrs(self.flash.txns[head].owner).priority;
        let works_for_higher = own.is_above(self.attrs(self.flash.txns[read].owner).priority);
        match self.verdict(read, running, works_for_higher, 0) {
            Verdict::Wait => {}
            Verdict::Suspend => self.flash.suspend(unit, self.now),
            Verdict::DropLoop => self.flash.drop_loop(unit, self.now),
            Verdict::AfterLoop => self.flash.stop_after_loop(unit, self.now),
        }
    }

    /// Returns whether reads that failed to decode are suspended for a host read of a higher
    /// priority.
    pub(in crate::drive) fn may_preempt_read(&mut self, unit: UnitId) -> bool {
        let Some((read, suspended_reads)) = self.flash.overtaken(unit) else { return false };
        let running = InService {
            kind: Some(OpKind::Read),
            cause: Cause::Host,
            remaining: Nanos::ZERO,
            suspended: 0,
            has_suspended: suspended_reads > 0,
            aborts: 0,
        };
        self.verdict(read, running, false, suspended_reads) != Verdict::Wait
    }

    /// Returns the suspend policy's verdict on the operation of a unit for which a host read waits.
    fn verdict(
        &mut self,
        read: TxnId,
        running: InService,
        works_for_higher: bool,
        suspended_reads: u8,
    ) -> Verdict {
        let txn = &self.flash.txns[read];
        let view = SuspendView {
            now: self.now,
            running,
            plane: txn.plane,
            lpn: txn.lpn,
            ppn: txn.ppn,
            arrival: txn.began(),
            priority: self.attrs(txn.owner).priority,
            works_for_higher,
            suspended_reads,
            components: Components::new(&self.policies.metadata),
        };
        self.policies.suspend.verdict(&view)
    }

    /// Returns the slot of the buffered page that leaves to make room; `None` if there is none.
    pub(in crate::drive) fn page_to_evict(&mut self, room: Room) -> Option<u32> {
        let waiting = match room {
            Room::For(write) => Some(self.flash.txns[write].lpn),
            Room::None | Room::Early => None,
        };
        let components = Components::new(&self.policies.metadata);
        let view = EvictionView { now: self.now, waiting, components };
        self.policies.eviction.victim(&view)
    }
}
