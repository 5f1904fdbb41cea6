//! The order of operations on the same logical page. If one of them is a write, they run in the
//! order of arrival. A drive may let a later write [supersede](Hazards::acquire_to_write) an
//! earlier one.
//!
//! A small hash table holds the pages with operations in progress. Each page has any number of
//! readers or one writer, and a queue of operations that wait. Where writes supersede others,
//! several may be programmed at a time. The table holds no more pages than
//! there are operations, so it stays in the processor's cache.

use ssdlab_nand::Lpn;

use super::writes::{Acquired, Programmed, SUPERSEDES, Write, Writes, joins};
use crate::account::OpKind;
use crate::flash::{Fifo, TxnId, Txns};

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: u32,
    readers: u32,
    writers: u32,
    /// Where writes supersede others: the newest write in progress; none if it is a trim.
    newest: TxnId,
    waiting: Fifo,
}

const EMPTY: u32 = u32::MAX;

const VACANT: Entry =
    Entry { lpn: EMPTY, readers: 0, writers: 0, newest: TxnId::NONE, waiting: Fifo::EMPTY };

/// The pages with operations in progress.
#[derive(Clone, Debug)]
pub(crate) struct Hazards {
    /// Open addressing with linear probing; a power of two, at most half full.
    table: Box<[Entry]>,
    used: usize,
    /// Operations that may continue; the loop that ends an operation continues them.
    ready: Vec<TxnId>,
    /// The writes in progress, where later ones supersede earlier ones.
    writes: Option<Writes>,
}

impl Default for Hazards {
    fn default() -> Hazards {
        Hazards {
            table: vec![VACANT; 1024].into_boxed_slice(),
            used: 0,
            ready: Vec::new(),
            writes: None,
        }
    }
}

impl Hazards {
    /// Returns a table without operations. `supersedes` tells whether later writes of a page
    /// supersede earlier ones.
    pub(crate) fn new(supersedes: bool) -> Hazards {
        Hazards { writes: supersedes.then(Writes::default), ..Hazards::default() }
    }

    /// Returns whether later writes of a page supersede earlier ones.
    pub(crate) fn supersedes(&self) -> bool {
        self.writes.is_some()
    }

    /// Returns the number of pages with operations in progress.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Returns whether no page has an operation in progress.
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Returns each page with operations in progress, and the numbers of those that read it and of
    /// those that change it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Lpn, u32, u32)> + '_ {
        let taken = self.table.iter().filter(|entry| entry.lpn != EMPTY);
        taken.map(|entry| (Lpn(entry.lpn), entry.readers, entry.writers))
    }

    /// Returns the writes that end with another write of their page, if `first` are the
    /// transactions in progress.
    pub(crate) fn joined<'a>(
        &'a self,
        txns: &'a Txns,
        first: impl Iterator<Item = TxnId> + 'a,
    ) -> impl Iterator<Item = TxnId> + 'a {
        let writes = self.writes.as_ref();
        let joined = move |id| writes.map_or(Fifo::EMPTY, |writes| writes.joined(id));
        first.flat_map(move |id| joined(id).ids(txns).collect::<Vec<_>>())
    }

    /// Returns the operations that wait for another one on their page.
    pub(crate) fn waiting<'a>(&'a self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        self.table.iter().flat_map(|entry| entry.waiting.ids(txns))
    }

    /// Returns whether an operation waits for another one on this page.
    pub(crate) fn is_awaited(&self, lpn: Lpn) -> bool {
        !self.table[self.find(lpn)].waiting.is_empty()
    }

    /// Starts an operation on its page. Returns true if it may continue; if false, it waits until
    /// [`Hazards::release`] makes it ready.
    #[inline(always)]
    pub(crate) fn acquire(&mut self, txns: &mut Txns, id: TxnId, write: bool) -> bool {
        let lpn = txns[id].lpn;
        let at = self.find(lpn);
        if self.table[at].lpn == EMPTY {
            self.table[at] = Entry {
                lpn: lpn.0,
                readers: u32::from(!write),
                writers: u32::from(write),
                ..VACANT
            };
            self.entry_added();
            return true;
        }
        let entry = &mut self.table[at];
        if entry.writers > 0 || !entry.waiting.is_empty() || (write && entry.readers > 0) {
            entry.waiting.push(txns, id);
            return false;
        }
        entry.readers += 1;
        true
    }

    /// Starts a write or a trim on its page, where later writes supersede earlier ones. A write may
    /// start beside others that are being programmed, or join one that is not.
    pub(crate) fn acquire_to_write(
        &mut self,
        txns: &mut Txns,
        id: TxnId,
        write: Write,
    ) -> Acquired {
        let at = self.find(txns[id].lpn);
        let writes = self.writes.as_mut().expect(SUPERSEDES);
        writes.begins(id);
        let newest = if txns[id].kind == OpKind::Program { id } else { TxnId::NONE };
        let entry = &mut self.table[at];
        if entry.lpn == EMPTY {
            *entry = Entry { lpn: txns[id].lpn.0, writers: 1, newest, ..VACANT };
            self.entry_added();
            return Acquired::Now;
        }
        // The last write that has not started; no operation came after it.
        let last = if entry.waiting.is_empty() { entry.newest } else { entry.waiting.tail() };
        if last.is_some() && !writes.has_started(last) {
            if write.is_here && joins(txns, last, id) {
                writes.join(txns, last, id);
                return Acquired::With(last);
            }
        } else if entry.waiting.is_empty() && last.is_some() && newest.is_some() && write.whole {
            writes.follow(id, last);
            entry.newest = id;
            entry.writers += 1;
            return Acquired::Now;
        }
        entry.waiting.push(txns, id);
        Acquired::Later
    }

    /// Records that the program of a write starts: from now on no write can join it.
    #[inline(never)]
    pub(crate) fn write_starts(&mut self, id: TxnId) {
        self.writes.as_mut().expect(SUPERSEDES).starts(id);
    }

    /// Records that a write has been programmed. The writes of its page that came before it and are
    /// still in progress are outdated. Returns whether it is outdated itself, and the writes that
    /// end with it. [`Hazards::release`] must follow.
    #[inline(never)]
    pub(crate) fn write_ends(&mut self, lpn: Lpn, id: TxnId) -> Programmed {
        let at = self.find(lpn);
        let writes = self.writes.as_mut().expect(SUPERSEDES);
        writes.ends(id, &mut self.table[at].newest)
    }

    /// Ends an operation on a page, and makes the operations that may continue now
    /// [ready](Hazards::ready). Returns true if there may be some and none was ready before: then
    /// the caller must continue them.
    #[inline]
    pub(crate) fn release(&mut self, txns: &mut Txns, lpn: Lpn, write: bool) -> bool {
        let at = self.find(lpn);
        let entry = &mut self.table[at];
        debug_assert_eq!(entry.lpn, lpn.0, "an operation ends that never began");
        if write {
            entry.writers -= 1;
            if entry.writers > 0 {
                return false;
            }
        } else {
            entry.readers -= 1;
        }
        if !entry.waiting.is_empty() {
            return self.release_waiting(txns, at);
        }
        if entry.readers == 0 {
            self.remove(at);
        }
        false
    }

    /// Returns the ready operation at this index.
    pub(crate) fn ready(&self, at: usize) -> Option<TxnId> {
        self.ready.get(at).copied()
    }

    /// Returns the number of ready operations.
    pub(crate) fn ready_count(&self) -> usize {
        self.ready.len()
    }

    /// Clears the ready operations, after all have continued.
    pub(crate) fn none_ready(&mut self) {
        self.ready.clear();
    }

    /// Makes the operations ready that wait for the page in this slot and may continue. Returns
    /// whether none was ready before.
    #[inline(never)]
    fn release_waiting(&mut self, txns: &mut Txns, at: usize) -> bool {
        let were_none = self.ready.is_empty();
        let entry = &mut self.table[at];
        while entry.waiting.head().is_some() {
            let writes = txns[entry.waiting.head()].changes_page();
            if writes && entry.readers > 0 {
                return were_none;
            }
            let id = entry.waiting.head();
            self.ready.extend(entry.waiting.pop(txns));
            if writes {
                entry.writers = 1;
                let trims = txns[id].kind == OpKind::Erase;
                entry.newest = if trims { TxnId::NONE } else { id };
                return were_none;
            }
            entry.readers += 1;
        }
        were_none
    }

    #[inline(always)]
    fn entry_added(&mut self) {
        self.used += 1;
        if self.used * 2 > self.table.len() {
            self.grow();
        }
    }

    #[inline]
    fn home(&self, lpn: u32) -> usize {
        // Fibonacci hashing: neighboring pages, the most frequent case, get distant slots.
        let spread = u64::from(lpn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.table.len() - 1)
    }

    /// Returns the slot of a page, or the vacant slot where it would be.
    #[inline]
    fn find(&self, lpn: Lpn) -> usize {
        let mut at = self.home(lpn.0);
        while self.table[at].lpn != lpn.0 && self.table[at].lpn != EMPTY {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    /// Empties a slot and closes the gap, so that no search stops early.
    #[inline]
    fn remove(&mut self, mut gap: usize) {
        let mask = self.table.len() - 1;
        self.used -= 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            if self.table[at].lpn == EMPTY {
                break;
            }
            let home = self.home(self.table[at].lpn);
            // An entry may move back if its home is not between the gap and its slot.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.table[gap] = self.table[at];
                gap = at;
            }
        }
        self.table[gap] = VACANT;
    }

    fn grow(&mut self) {
        let larger = vec![VACANT; self.table.len() * 2].into_boxed_slice();
        let old = std::mem::replace(&mut self.table, larger);
        for entry in old.iter().filter(|entry| entry.lpn != EMPTY) {
            let at = self.find(Lpn(entry.lpn));
            self.table[at] = *entry;
        }
    }
}

impl crate::flash::Txn {
    /// Returns whether this transaction as a whole changes the content of its logical page.
    pub(crate) fn changes_page(&self) -> bool {
        self.kind != OpKind::Read || self.read_first
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;
    use ssdlab_base::SimTime;

    use super::*;
    use crate::flash::NewTxn;

    /// The same rules with a queue for each page.
    #[derive(Default)]
    struct Naive {
        readers: u32,
        writing: bool,
        waiting: VecDeque<(TxnId, bool)>,
    }

    impl Naive {
        fn may_start(&self, write: bool) -> bool {
            !self.writing && (!write || self.readers == 0)
        }

        fn begin(&mut self, write: bool) {
            if write { self.writing = true } else { self.readers += 1 }
        }

        fn release(&mut self, write: bool) -> Vec<TxnId> {
            if write {
                self.writing = false;
            } else {
                self.readers -= 1;
            }
            let mut ready = Vec::new();
            while let Some(&(id, write)) = self.waiting.front()
                && self.may_start(write)
            {
                self.waiting.pop_front();
                self.begin(write);
                ready.push(id);
            }
            ready
        }
    }

    proptest! {
        #[test]
        fn pages_are_handed_on_as_by_a_queue_for_each(
            // More pages than half the table holds at first, so that it grows.
            acts in prop::collection::vec((0u32..1500, any::<bool>(), 0u8..5), 1..4000),
            few in any::<bool>(),
        ) {
            let (mut txns, mut hazards) = (Txns::default(), Hazards::default());
            let mut naive: BTreeMap<u32, Naive> = BTreeMap::new();
            let mut running: Vec<(TxnId, u32, bool)> = Vec::new();
            let mut kinds: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
            for (number, (lpn, write, act)) in acts.into_iter().enumerate() {
                let lpn = if few { lpn % 5 } else { lpn };
                if act > 0 || running.is_empty() {
                    let kind = if write { OpKind::Program } else { OpKind::Read };
                    let new = NewTxn { kind, ..NewTxn::read(Lpn(lpn)) };
                    let id = txns.begin(new, SimTime::START);
                    kinds.insert(id.0, (lpn, write));
                    let page = naive.entry(lpn).or_default();
                    let free = page.waiting.is_empty() && page.may_start(write);
                    prop_assert_eq!(hazards.acquire(&mut txns, id, write), free);
                    if free {
                        page.begin(write);
                        running.push((id, lpn, write));
                    } else { page.waiting.push_back((id, write)) }
                } else {
                    let (id, lpn, write) = running.swap_remove(number % running.len());
                    txns.remove(id);
                    hazards.release(&mut txns, Lpn(lpn), write);
                    let page = naive.get_mut(&lpn).unwrap();
                    let ready = std::mem::take(&mut hazards.ready);
                    prop_assert_eq!(&ready, &page.release(write));
                    if page.readers == 0 && !page.writing {
                        naive.remove(&lpn);
                    }
                    running.extend(ready.iter().map(|id| (*id, kinds[&id.0].0, kinds[&id.0].1)));
                }
                prop_assert_eq!(hazards.len(), naive.len());
                prop_assert_eq!(hazards.is_empty(), naive.is_empty());
                let waits = naive.get(&lpn).is_some_and(|page| !page.waiting.is_empty());
                prop_assert_eq!(hazards.is_awaited(Lpn(lpn)), waits);
            }
        }
    }
}
