//! A first pass of a workload: components learn the hotness of pages before the run.

use ssdlab_nand::Lpn;

use super::Drive;
use super::machine::Machine;
use crate::account::Uses;
use crate::buffer::{Buffer, Slot, Vacancy};
use crate::config::{StartConfig, StartProgramMode, UnwrittenReads};
use crate::host::Op;
use crate::policy::Learner;
use crate::policy::component::FirstPass;
use crate::policy::event::{Actions, Event, EventContext};
use crate::policy::eviction::EvictionView;
use ssdlab_schemes::AnyEviction;

/// A first pass of a workload through a drive's buffer, in which no time passes. The metadata
/// components and the eviction policy learn by events. The drive drops their actions.
#[derive(Debug)]
pub struct FirstPassRun {
    buffer: Buffer,
    eviction: AnyEviction,
}

impl FirstPassRun {
    fn publish(&mut self, event: &Event) {
        let mut actions = Actions::default();
        self.eviction.on_event(event, &mut EventContext::before_run(&mut actions));
    }

    /// Evicts a page from the buffer.
    fn evict(machine: &mut Machine, page: &Slot) {
        let (lpn, uses) = (page.lpn, page.uses);
        machine.policies.publish_to_components(machine.now, &Event::PageEvicted { lpn, uses });
    }

    fn trim(&mut self, machine: &mut Machine, lpn: Lpn) {
        if let Some(slot) = self.buffer.find(lpn) {
            self.buffer.remove(slot);
            self.publish(&Event::PageUnbuffered { lpn, slot });
        }
        machine.policies.publish_to_components(machine.now, &Event::PageTrimmed(lpn));
    }

    fn use_page(&mut self, machine: &mut Machine, lpn: Lpn, written: bool) {
        if let Some(slot) = self.buffer.find(lpn) {
            self.buffer.page(slot).uses.count(written);
            return self.publish(&Event::BufferHit { lpn, slot, written });
        }
        if !written && !self.buffer.keeps_reads() {
            return;
        }
        if self.buffer.room() != Vacancy::Now {
            let slot = self
                .eviction
                .victim(&EvictionView::BEFORE_RUN)
                .expect("a full buffer has a page to give");
            let left = self.buffer.remove(slot);
            self.publish(&Event::PageUnbuffered { lpn: left.lpn, slot });
            FirstPassRun::evict(machine, &left);
        }
        let mut uses = Uses::default();
        uses.count(written);
        let slot = self.buffer.insert(Slot { uses, ..Slot::read(lpn, 0) });
        self.publish(&Event::PageBuffered { lpn, slot, written });
    }
}

impl Drive {
    /// Returns a first pass of the workload, if a component needs one.
    pub fn first_pass_run(&self) -> Option<FirstPassRun> {
        let resolved = &self.machine.resolved;
        let buffer = Buffer::new(resolved)?;
        (self.first_pass() == FirstPass::Needed).then(|| FirstPassRun {
            buffer,
            eviction: AnyEviction::build(&resolved.config.eviction, &resolved.policy_context()),
        })
    }

    fn first_pass(&self) -> FirstPass {
        self.machine.policies.metadata.first_pass()
    }

    /// Returns whether there is no first pass although a component would need one: the drive was
    /// written before.
    pub fn lacks_first_pass(&self) -> bool {
        self.first_pass() == FirstPass::Learned
    }

    /// Processes the next request of the first pass, an operation on these sectors.
    pub fn first_pass_request(&mut self, pass: &mut FirstPassRun, op: Op, lba: u64, sectors: u32) {
        let machine = &mut self.machine;
        match op {
            Op::Read | Op::Write => {
                for page in machine.geometry.pages_touched(lba, sectors) {
                    pass.use_page(machine, Lpn(page as u32), op == Op::Write);
                }
            }
            Op::Trim => {
                for page in machine.geometry.pages_covered(lba, sectors) {
                    pass.trim(machine, Lpn(page as u32));
                }
            }
            // The hotness of the pages is determined again when they leave.
            Op::Flush => pass.publish(&Event::BufferFlushed),
        }
    }

    /// Ends the first pass: all pages leave the buffer.
    pub fn end_first_pass(&mut self, pass: FirstPassRun) {
        pass.buffer.pages().for_each(|(_, page)| FirstPassRun::evict(&mut self.machine, page));
        self.machine.policies.publish_to_components(self.machine.now, &Event::CountsReset);
    }

    /// Sets the program modes of the drive's data as if it were written now. Call it before the
    /// run.
    pub fn program_start(&mut self) {
        let machine = &mut self.machine;
        let StartConfig { program_mode, unwritten_reads, .. } = machine.resolved.config.start;
        if program_mode == StartProgramMode::Policy {
            // The hotness of pages without data is not known.
            machine.flash.cells.forget_voltages();
            if unwritten_reads == UnwrittenReads::Lazy {
                machine.policies.metadata.start_programmed();
            }
            for page in (0..machine.resolved.mapped_pages()).map(Lpn) {
                machine.program_prefilled(page);
            }
        }
    }
}
