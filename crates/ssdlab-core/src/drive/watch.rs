//! Paranoid mode: the drive under the eyes of an [`Auditor`].

use ssdlab_nand::{BlockId, PlaneId};

use super::Drive;
use crate::audit::{Auditor, Rooms, everything};

/// Tells the auditor, if there is one.
macro_rules! watch {
    ($drive:ident, $($call:tt)*) => {
        if let Some(auditor) = $drive.auditor.as_mut() {
            auditor.$($call)*;
        }
    };
}
pub(super) use watch;

/// Physical pages that are recounted for each event, on average, if nothing else is asked for.
const PAGES_AN_EVENT: u64 = 4096;

impl Drive {
    /// Checks from now on, after every event, that the drive's books agree with one another and
    /// that every read returns what was written last; false if something is under way, so that
    /// it is too late. What takes a time proportional to the drive is recounted every `every`
    /// events; `None` for as often as keeps that cheap: at every event of a small drive.
    pub fn watch(&mut self, every: Option<u64>) -> bool {
        let buffered = self.buffer.as_ref().is_some_and(|buffer| buffer.pages().next().is_some());
        if !self.is_idle() || buffered || self.unfinished() > 0 {
            return false;
        }
        let affordable = u64::from(self.geometry.page_count()) / PAGES_AN_EVENT;
        let every = every.unwrap_or(affordable).max(1);
        let jobs = self.jobs_of_planes();
        self.auditor = Some(Box::new(Auditor::new(&self.resolved, &self.rooms(&jobs), every)));
        true
    }

    /// What was found to be wrong since the drive is watched.
    pub fn violation(&self) -> Option<&str> {
        self.auditor.as_ref()?.violation()
    }

    /// Checks every book of the drive now.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn audit(&self) -> Result<(), String> {
        everything(&self.rooms(&self.jobs_of_planes()), true)
    }

    /// Everything at one moment has happened.
    #[inline]
    pub(super) fn look(&mut self) {
        if let Some(mut auditor) = self.auditor.take() {
            auditor.look(&self.rooms(&self.jobs_of_planes()));
            self.auditor = Some(auditor);
        }
    }

    fn jobs_of_planes(&self) -> Vec<Option<BlockId>> {
        (0..self.geometry.plane_count()).map(|plane| self.jobs.block(PlaneId(plane))).collect()
    }

    fn rooms<'a>(&'a self, jobs: &'a [Option<BlockId>]) -> Rooms<'a> {
        Rooms {
            now: self.now,
            host: &self.host,
            hazards: &self.hazards,
            buffer: self.buffer.as_ref(),
            ftl: &self.ftl,
            flash: &self.flash,
            jobs,
            geometry: &self.geometry,
        }
    }
}
