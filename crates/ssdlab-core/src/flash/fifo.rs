//! Lists of transactions, linked through the transactions themselves.

use ssdlab_base::SimTime;

use super::{Txn, TxnId, Txns};

/// A list of transactions in order of arrival, linked through [`Txn::next`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: TxnId,
    tail: TxnId,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo::EMPTY
    }
}

impl Fifo {
    /// An empty list.
    pub(crate) const EMPTY: Fifo = Fifo { head: TxnId::NONE, tail: TxnId::NONE };

    /// Returns the first transaction, or [`TxnId::NONE`].
    #[inline]
    pub(crate) fn head(&self) -> TxnId {
        self.head
    }

    /// Returns whether the list is empty.
    pub(crate) fn is_empty(&self) -> bool {
        !self.head.is_some()
    }

    /// Returns the last transaction, or [`TxnId::NONE`].
    pub(crate) fn tail(&self) -> TxnId {
        self.tail
    }

    /// Returns the transactions in the order of the list.
    pub(crate) fn ids<'a>(&self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        let first = self.head.is_some().then_some(self.head);
        let next = |&id: &TxnId| txns[id].next.is_some().then_some(txns[id].next);
        // The limit ends a list with a cycle, so that an audit can report it.
        std::iter::successors(first, next).take(txns.slots() + 1)
    }

    /// Adds `id` at the end.
    #[inline]
    pub(crate) fn push(&mut self, txns: &mut Txns, id: TxnId) {
        txns.get_mut(id).next = TxnId::NONE;
        if self.tail.is_some() {
            txns.get_mut(self.tail).next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    /// Adds `id` at the front.
    pub(super) fn push_front(&mut self, txns: &mut Txns, id: TxnId) {
        txns.get_mut(id).next = self.head;
        if !self.head.is_some() {
            self.tail = id;
        }
        self.head = id;
    }

    /// Inserts `id` in the order of `by`, usually at the end.
    pub(super) fn insert_by(&mut self, txns: &mut Txns, id: TxnId, by: impl Fn(&Txn) -> SimTime) {
        if self.tail.is_some() && by(&txns[self.tail]) > by(&txns[id]) {
            self.insert_before(txns, id, by);
        } else {
            self.push(txns, id);
        }
    }

    /// Inserts `id` before the first transaction whose key is not smaller.
    fn insert_before(&mut self, txns: &mut Txns, id: TxnId, by: impl Fn(&Txn) -> SimTime) {
        let (mut before, mut after) = (TxnId::NONE, self.head);
        while after.is_some() && by(&txns[after]) < by(&txns[id]) {
            (before, after) = (after, txns[after].next);
        }
        txns.get_mut(id).next = after;
        if before.is_some() {
            txns.get_mut(before).next = id;
        } else {
            self.head = id;
        }
        if !after.is_some() {
            self.tail = id;
        }
    }

    /// Takes the first transaction.
    #[inline]
    pub(crate) fn pop(&mut self, txns: &Txns) -> Option<TxnId> {
        let id = self.head;
        if !id.is_some() {
            return None;
        }
        self.head = txns[id].next;
        if !self.head.is_some() {
            self.tail = TxnId::NONE;
        }
        Some(id)
    }
}
