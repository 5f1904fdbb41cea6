//! Pages that count as written before the start, though no table holds them.

use ssdlab_base::Nanos;
use ssdlab_nand::{Lpn, PlaneId, Ppn, ProgramMode};

use super::Drive;
use crate::account::Cause;
use crate::config::{StartProgramMode, UnwrittenReads};
use crate::media;

impl Drive {
    /// Where a page lies that was written before the start and that no table holds, and its age.
    #[inline]
    pub(super) fn preloaded_at(&self, lpn: Lpn) -> (Ppn, Nanos, PlaneId) {
        let plane = self.planes.home(lpn);
        let (ppn, age) = media::unwritten_reads(&self.resolved, lpn, plane);
        (ppn, age, plane)
    }

    /// Whether a page that is not mapped was written before the start.
    #[inline]
    pub(super) fn counts_as_preloaded(&self, lpn: Lpn) -> bool {
        // The map was on the flash from the start.
        self.is_translation(lpn)
            || self.resolved.config.start.unwritten_reads == UnwrittenReads::Lazy
                && !self.ftl.map.was_trimmed(lpn)
    }

    /// Whether a logical page is a translation page's.
    #[inline]
    pub(super) fn is_translation(&self, lpn: Lpn) -> bool {
        self.mapping.as_ref().is_some_and(|mapping| mapping.is_translation(lpn))
    }

    /// Counts a page that was written before the start, once.
    pub(super) fn note_preloaded(&mut self, lpn: Lpn) {
        let first = self.history.is_first_read(lpn, self.resolved.logical_pages);
        self.stats.unwritten_reads += u64::from(first);
    }

    /// The voltages with which a page was programmed that counts as written before the start.
    #[inline]
    pub(super) fn program_mode_of_unwritten(&mut self, lpn: Lpn, ppn: Ppn) -> ProgramMode {
        match self.resolved.config.start.program_mode {
            StartProgramMode::Normal => ProgramMode::NORMAL,
            StartProgramMode::Policy => {
                let then =
                    self.policies.metadata.page_hotness.as_ref().map(|hot| hot.at_start(lpn));
                self.program_mode_for(then, ppn, Cause::Host)
            }
        }
    }
}
