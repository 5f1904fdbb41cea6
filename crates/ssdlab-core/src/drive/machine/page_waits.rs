//! The parts of a request's wait for its page, while requests are logged.

use super::Machine;
use crate::account::{Blame, Part};
use crate::flash::{Owner, TxnId};
use crate::stats::{Behind, last_parts};

/// The waits for a page of the operations in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct PageWaits {
    /// The operation that ends now, if others wait for it.
    ending: Option<Ending>,
    /// By transaction, its wait, if it waited. An entry may be that of an earlier transaction.
    waits: Vec<Option<Behind>>,
    /// By transaction, its time until it had read its page, if it writes a part of it.
    reads: Vec<Option<Blame>>,
}

/// An operation that ends while others wait for it.
#[derive(Clone, Copy, Debug)]
struct Ending {
    behind: Behind,
    read: Option<Blame>,
}

/// Sets the entry of a transaction.
fn set<T: Copy>(table: &mut Vec<Option<T>>, id: TxnId, entry: T) {
    let at = id.0 as usize;
    if table.len() <= at {
        table.resize(at + 1, None);
    }
    table[at] = Some(entry);
}

impl Machine {
    /// Begins to record waits for a page.
    pub(in crate::drive) fn record_page_waits(&mut self) {
        self.lifetime.page_waits = Some(Box::default());
    }

    /// Records that a partial write has read its page.
    pub(in crate::drive) fn note_page_read(&mut self, id: TxnId) {
        if let Some(waits) = &mut self.lifetime.page_waits {
            set(&mut waits.reads, id, self.flash.txns[id].blame);
        }
    }

    /// Records an operation that ends. [`Machine::note_page_waits`] follows for those that wait for
    /// it.
    pub(in crate::drive) fn note_page_end(&mut self, id: TxnId) {
        if self.lifetime.page_waits.is_some() {
            self.record_page_end(id);
        }
    }

    #[inline(never)]
    fn record_page_end(&mut self, id: TxnId) {
        let Some(waits) = &mut self.lifetime.page_waits else { return };
        let txn = &self.flash.txns[id];
        let read = waits.reads.get_mut(id.0 as usize).and_then(Option::take);
        let request = match txn.owner {
            Owner::Request(slot) => {
                let request = &self.host[slot].request;
                Some((request.op, request.tag))
            }
            _ => None,
        };
        waits.ending = Some(Ending { behind: Behind { request, blame: txn.blame }, read });
    }

    /// Records the wait of an operation for the one that ends now.
    pub(in crate::drive) fn note_page_wait(&mut self, id: TxnId) {
        if self.lifetime.page_waits.is_some() {
            self.record_page_wait(id);
        }
    }

    #[inline(never)]
    fn record_page_wait(&mut self, id: TxnId) {
        let Some(waits) = &mut self.lifetime.page_waits else { return };
        let Some(Ending { behind, read }) = &waits.ending else { return };
        let span = (self.now - self.flash.txns[id].since).as_ns();
        let blame = last_parts(&behind.blame, read.as_ref(), span);
        let request = behind.request;
        set(&mut waits.waits, id, Behind { request, blame });
    }

    /// Records the waits of the ready operations from this index on.
    pub(in crate::drive) fn note_page_waits(&mut self, from: usize) {
        if self.lifetime.page_waits.is_some() {
            let mut at = from;
            while let Some(id) = self.host.hazards.ready(at) {
                self.record_page_wait(id);
                at += 1;
            }
        }
    }

    /// Returns the cause of the last operation's wait for its page, if it waited there.
    pub(in crate::drive) fn page_wait(&self, id: TxnId) -> Option<Behind> {
        let waited = self.flash.txns[id].blame[Part::Page as usize];
        let behind = *self.lifetime.page_waits.as_ref()?.waits.get(id.0 as usize)?;
        behind.filter(|behind| waited > 0 && behind.blame.iter().sum::<u64>() == waited)
    }
}
