//! The writes in progress on a drive where a later write of a page supersedes an earlier one.
//!
//! Of the writes of a page that have their turn, only the newest may wait for its program to start.
//! A later write joins it: one program then writes the data of both. The others are being
//! programmed. If a newer one of them ends first, the older ones are outdated.

use crate::account::{Cause, OpKind};
use crate::flash::{Fifo, Owner, TxnId, Txns};

/// The panic text of code that only runs where writes supersede others.
pub(super) const SUPERSEDES: &str = "a drive whose writes supersede others";

/// The properties of a write that decide its progress before earlier writes of its page end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// Whether its data is in the drive, so that an earlier write can take it along.
    pub is_here: bool,
    /// Whether it needs nothing of the page that it replaces.
    pub whole: bool,
}

/// How a write acquires its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acquired {
    /// It may continue.
    Now,
    /// It waits until [`Hazards::release`](super::Hazards::release) makes it ready.
    Later,
    /// It supersedes this earlier write, whose program writes the data of both and ends both.
    With(TxnId),
}

/// The end of a program of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Programmed {
    /// Whether a newer write of the page has been programmed already.
    pub outdated: bool,
    /// The writes that end with it, in order of arrival.
    pub joined: Fifo,
}

/// A write in progress.
#[derive(Clone, Copy, Debug)]
struct InProgress {
    /// The write of its page before it, which is being programmed too.
    earlier: TxnId,
    /// The later writes whose data its program writes.
    joined: Fifo,
    /// Whether its program has started.
    started: bool,
    /// Whether a newer write of its page has been programmed.
    outdated: bool,
}

const BEGUN: InProgress =
    InProgress { earlier: TxnId::NONE, joined: Fifo::EMPTY, started: false, outdated: false };

/// The writes in progress, by transaction.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// The entries of transactions that write no page of the host are not in use.
    all: Vec<InProgress>,
}

impl Writes {
    /// Adds a write that comes to its page.
    pub(super) fn begins(&mut self, id: TxnId) {
        let at = id.0 as usize;
        if self.all.len() <= at {
            self.all.resize(at + 1, BEGUN);
        }
        self.all[at] = BEGUN;
    }

    /// Returns whether the program of a write has started; false for other operations.
    pub(super) fn has_started(&self, id: TxnId) -> bool {
        self.all.get(id.0 as usize).is_some_and(|write| write.started)
    }

    /// Records that the program of a write starts. Of pages of the map there is no entry.
    pub(super) fn starts(&mut self, id: TxnId) {
        if let Some(write) = self.all.get_mut(id.0 as usize) {
            write.started = true;
        }
    }

    /// Makes `later` end with `first`.
    pub(super) fn join(&mut self, txns: &mut Txns, first: TxnId, later: TxnId) {
        self.all[first.0 as usize].joined.push(txns, later);
    }

    /// Records the write that is being programmed while `id` begins.
    pub(super) fn follow(&mut self, id: TxnId, earlier: TxnId) {
        self.all[id.0 as usize].earlier = earlier;
    }

    /// Returns the writes that end with a write.
    pub(super) fn joined(&self, id: TxnId) -> Fifo {
        self.all.get(id.0 as usize).map_or(Fifo::EMPTY, |write| write.joined)
    }

    /// Ends a write of a page; `newest` is the page's newest write in progress.
    pub(super) fn ends(&mut self, id: TxnId, newest: &mut TxnId) -> Programmed {
        let InProgress { earlier, joined, outdated, .. } = self.of(id);
        if *newest == id {
            *newest = earlier;
        } else {
            let mut later = *newest;
            while self.of(later).earlier != id {
                later = self.of(later).earlier;
            }
            self.all[later.0 as usize].earlier = earlier;
        }
        let mut older = earlier;
        while older.is_some() {
            self.all[older.0 as usize].outdated = true;
            older = self.of(older).earlier;
        }
        self.all[id.0 as usize] = BEGUN;
        Programmed { outdated, joined }
    }

    fn of(&self, id: TxnId) -> InProgress {
        self.all[id.0 as usize]
    }
}

/// Returns whether the program of `first` can also write the data of `later`. It cannot if `first`
/// trims its page, or if one of them is no write of the host.
pub(super) fn joins(txns: &Txns, first: TxnId, later: TxnId) -> bool {
    let [first, later] = [first, later].map(|id| &txns[id]);
    let alike = matches!(
        (first.owner, later.owner),
        (Owner::Request(_), Owner::Request(_)) | (Owner::Buffer { .. }, Owner::Buffer { .. })
    );
    let of_host = matches!(first.cause, Cause::Host | Cause::Rmw) && later.cause == Cause::Host;
    // A write that reads the rest of its page first is a read until then.
    let writes = first.kind == OpKind::Program || first.read_first;
    alike && of_host && writes && later.kind == OpKind::Program
}
