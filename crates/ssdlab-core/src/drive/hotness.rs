//! What pages are mostly used for: how it is learned as they leave the buffer, and how the data that is on
//! the drive at the start was programmed.

use ssdlab_nand::Lpn;

use super::Drive;
use crate::account::{Cause, Uses};
use crate::buffer::{Buffer, Slot, Vacancy};
use crate::config::{StartConfig, StartProgramMode, UnwrittenReads};
use crate::host::Op;
use crate::metadata::page_hotness::{Hotness, InitialHotness};
use crate::policy::Learner;
use crate::policy::event::{Actions, Event};
use ssdlab_schemes::AnyEviction;

/// A first pass of a workload through a drive's buffer, in which no time passes.
#[derive(Debug)]
pub struct Rehearsal {
    buffer: Buffer,
    eviction: AnyEviction,
}

impl Rehearsal {
    /// Tells the eviction policy of an event. What it wants done has no place where no time passes.
    fn publish(&mut self, event: &Event) {
        self.eviction.on_event(event, &mut Actions::default());
    }
}

impl Drive {
    /// Learns from its uses in a first pass what a page is mostly used for.
    fn learn_hotness(&mut self, page: &Slot) {
        if let Some(hot) = &mut self.policies.metadata.page_hotness {
            hot.leaves(page.lpn, page.uses);
        }
    }

    /// A first pass of the workload, if what pages are used for is to be known from the start.
    pub fn rehearsal(&self) -> Option<Rehearsal> {
        let buffer = Buffer::new(&self.resolved)?;
        (self.wants_rehearsal() && !self.knows_pages()).then(|| Rehearsal {
            buffer,
            eviction: AnyEviction::build(
                &self.resolved.config.eviction,
                &self.resolved.policy_context(),
            ),
        })
    }

    /// Whether what pages are used for is to be known from the start.
    fn wants_rehearsal(&self) -> bool {
        let hotness = self.resolved.config.metadata.page_hotness.get();
        hotness.is_some_and(|hotness| hotness.initial == InitialHotness::Classified)
    }

    /// Whether it has learned of its pages already, from what was done with them.
    fn knows_pages(&self) -> bool {
        self.policies.metadata.page_hotness.as_ref().is_some_and(|hot| !hot.is_blank())
    }

    /// Whether there is no first pass although it is asked for: the drive was written before.
    pub fn goes_unrehearsed(&self) -> bool {
        self.wants_rehearsal() && self.knows_pages()
    }

    /// The next request of the first pass: an operation on these sectors.
    pub fn rehearse(&mut self, rehearsal: &mut Rehearsal, op: Op, lba: u64, sectors: u32) {
        match op {
            Op::Read | Op::Write => {
                for page in self.geometry.pages_touched(lba, sectors) {
                    self.rehearse_use(rehearsal, Lpn(page as u32), op == Op::Write);
                }
            }
            Op::Trim => {
                for page in self.geometry.pages_covered(lba, sectors) {
                    self.rehearse_trim(rehearsal, Lpn(page as u32));
                }
            }
            // What pages are by then is found anew when they leave.
            Op::Flush => rehearsal.publish(&Event::BufferFlushed),
        }
    }

    fn rehearse_trim(&mut self, rehearsal: &mut Rehearsal, lpn: Lpn) {
        if let Some(slot) = rehearsal.buffer.find(lpn) {
            rehearsal.buffer.remove(slot);
            rehearsal.publish(&Event::PageUnbuffered { lpn, slot });
        }
        if let Some(hot) = &mut self.policies.metadata.page_hotness {
            hot.forget(lpn);
        }
    }

    fn rehearse_use(&mut self, rehearsal: &mut Rehearsal, lpn: Lpn, written: bool) {
        if let Some(slot) = rehearsal.buffer.find(lpn) {
            rehearsal.buffer.page(slot).uses.count(written);
            return rehearsal.publish(&Event::BufferHit { lpn, slot, written });
        }
        if !written && !rehearsal.buffer.keeps_reads() {
            return;
        }
        if rehearsal.buffer.room() != Vacancy::Now {
            let slot = rehearsal.eviction.victim().expect("a full buffer has a page to give");
            let left = rehearsal.buffer.remove(slot);
            rehearsal.publish(&Event::PageUnbuffered { lpn: left.lpn, slot });
            self.learn_hotness(&left);
        }
        let mut uses = Uses::default();
        uses.count(written);
        let slot = rehearsal.buffer.insert(Slot { uses, ..Slot::read(lpn, 0) });
        rehearsal.publish(&Event::PageBuffered { lpn, slot, written });
    }

    /// Ends the first pass: all pages leave.
    pub fn rehearsed(&mut self, rehearsal: Rehearsal) {
        rehearsal.buffer.pages().for_each(|(_, page)| self.learn_hotness(page));
        if let Some(hot) = &mut self.policies.metadata.page_hotness {
            hot.reset_counts();
        }
    }

    /// Programs the data that is on the drive as it would be if it were written now; before the run.
    pub fn program_start(&mut self) {
        let StartConfig { program_mode, unwritten_reads, .. } = self.resolved.config.start;
        if program_mode == StartProgramMode::Policy {
            // Of pages that hold nothing any more nobody knows what they were used for.
            self.flash.cells.forget_voltages();
            if let Some(hot) = self
                .policies
                .metadata
                .page_hotness
                .as_mut()
                .filter(|_| unwritten_reads == UnwrittenReads::Lazy)
            {
                hot.begin();
            }
            for page in (0..self.resolved.mapped_pages()).map(Lpn) {
                self.program_laid(page);
            }
        }
    }

    /// The same for one page.
    pub(super) fn program_laid(&mut self, lpn: Lpn) {
        if self.resolved.config.start.program_mode == StartProgramMode::Policy
            && let Some(ppn) = self.ftl.map.get(lpn)
        {
            let program_mode = self.program_mode_for(self.hotness_of(lpn), ppn, Cause::Host);
            self.flash.cells.set_program_mode(ppn, program_mode);
        }
    }

    /// Pages that left the buffer, by what they were mostly used for, and all logical pages by that.
    pub fn hotness(&self) -> Option<([u64; Hotness::COUNT], [u64; Hotness::COUNT])> {
        self.policies.metadata.page_hotness.as_ref().map(|hot| (hot.found(), hot.pages()))
    }
}
