//! Paranoid mode: an [`Auditor`] checks the drive.

use ssdlab_nand::{BlockId, PlaneId};

use super::Drive;
use crate::audit::{Auditor, Long, Pace, Rooms, everything};
use crate::flash::TxnId;

impl Drive {
    /// Starts to audit the drive. The auditor checks that every read returns the data written last,
    /// and that time advances and is accounted for. At this pace it also checks that the drive's
    /// tables agree with one another. Returns false if it is too late: an operation is under way,
    /// or the drive computes events in advance.
    pub fn start_audit(&mut self, pace: Pace) -> bool {
        let buffered =
            self.buffer.pages.as_ref().is_some_and(|buffer| buffer.pages().next().is_some());
        if !self.is_idle()
            || buffered
            || self.unfinished() > 0
            || self.machine.flash.lookahead.is_on()
        {
            return false;
        }
        let (jobs, waiting, held) = (
            self.jobs_of_planes(),
            self.translation.waiting_for_entries(&self.machine),
            self.waiting_for_scheduler(),
        );
        let rooms = self.rooms(&jobs, (&waiting, &held));
        let mut auditor = Auditor::new(&self.machine.resolved, &rooms, pace);
        auditor.check(self.check_columns());
        self.machine.auditor = Some(Box::new(auditor));
        true
    }

    /// Checks the lengths of the columns of all policies and components.
    ///
    /// # Errors
    /// The first column that does not fit the drive.
    pub fn check_columns(&mut self) -> Result<(), String> {
        let context = self.machine.resolved.policy_context();
        self.machine.policies.check_columns(&context, self.machine.resolved.logical_pages)
    }

    /// Returns the first violation since the audit began.
    pub fn violation(&self) -> Option<&str> {
        self.machine.auditor.as_ref()?.violation()
    }

    /// Checks every table of the drive now.
    ///
    /// # Errors
    /// The first inconsistency.
    pub fn audit(&self) -> Result<(), String> {
        let waiting = (
            &self.translation.waiting_for_entries(&self.machine)[..],
            &self.waiting_for_scheduler()[..],
        );
        everything(&self.rooms(&self.jobs_of_planes(), waiting), Long::ALL)
    }

    /// Audits the drive after all events of one moment.
    #[inline]
    pub(super) fn check_invariants(&mut self) {
        if self.machine.auditor.is_some() {
            self.look_closely();
        }
    }

    #[cold]
    fn look_closely(&mut self) {
        if let Some(mut auditor) = self.machine.auditor.take() {
            let waiting = (
                &self.translation.waiting_for_entries(&self.machine)[..],
                &self.waiting_for_scheduler()[..],
            );
            auditor.check_all(&self.rooms(&self.jobs_of_planes(), waiting));
            self.machine.auditor = Some(auditor);
        }
    }

    /// Returns the operations that wait until the scheduler dispatches them.
    fn waiting_for_scheduler(&self) -> Vec<TxnId> {
        self.translation.dispatch.waiting(&self.machine.flash.txns)
    }

    fn jobs_of_planes(&self) -> Vec<Option<BlockId>> {
        (0..self.machine.geometry.plane_count())
            .map(|plane| self.background.jobs.block(PlaneId(plane)))
            .collect()
    }

    fn rooms<'a>(
        &'a self,
        jobs: &'a [Option<BlockId>],
        (mapping, held): (&'a [TxnId], &'a [TxnId]),
    ) -> Rooms<'a> {
        Rooms {
            now: self.machine.now,
            host: &self.machine.host,
            hazards: &self.machine.host.hazards,
            held,
            buffer: self.buffer.pages.as_ref(),
            ftl: &self.machine.ftl,
            flash: &self.machine.flash,
            mapping,
            jobs,
            foreign: self.background.moves.as_ref().map_or(&[], |moves| moves.foreign()),
            homes: self.machine.planes.order(),
            geometry: &self.machine.geometry,
        }
    }
}
