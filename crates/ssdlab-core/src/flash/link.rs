//! A server of one transaction at a time: a channel's bus or an ECC engine. Urgent transactions go
//! first, the others in the order of their requests.

use ssdlab_base::{Nanos, SimTime};

use super::fifo::Fifo;
use super::txn::{TxnId, Txns};

/// A part of a page that moves over a channel.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The bytes that move: the whole page, or the requested sectors.
    pub bytes: u64,
    /// The transfer time at the bus rate.
    pub time: Nanos,
}

/// The state of a link: the transaction in service, and the transactions that wait.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    holder: TxnId,
    urgent: Fifo,
    waiting: Fifo,
    since: SimTime,
    busy: u64,
}

impl Default for Link {
    fn default() -> Link {
        Link {
            holder: TxnId::NONE,
            urgent: Fifo::EMPTY,
            waiting: Fifo::EMPTY,
            since: SimTime::START,
            busy: 0,
        }
    }
}

impl Link {
    /// Requests the link. Returns true if it was free and now serves `id`, false if `id` waits.
    #[inline]
    pub(crate) fn request(
        &mut self,
        txns: &mut Txns,
        id: TxnId,
        urgent: bool,
        now: SimTime,
    ) -> bool {
        if self.holder.is_some() {
            let queue = if urgent { &mut self.urgent } else { &mut self.waiting };
            queue.push(txns, id);
            return false;
        }
        self.holder = id;
        self.since = now;
        true
    }

    /// Requests the link as [`Link::request`] does, for a transaction whose service ends at its
    /// `since`. The transaction with the earliest end goes first.
    #[inline(always)]
    pub(crate) fn request_until(&mut self, txns: &mut Txns, id: TxnId) -> bool {
        let first = !self.holder.is_some() || txns[id].since < txns[self.holder].since;
        let later = if first { std::mem::replace(&mut self.holder, id) } else { id };
        if later.is_some() {
            self.waiting.insert_by(txns, later, |txn| txn.since);
        }
        first
    }

    /// Ends the service of the holder; returns the holder, and the next one.
    #[inline]
    pub(crate) fn release(&mut self, txns: &Txns, now: SimTime) -> (TxnId, Option<TxnId>) {
        let ended = std::mem::replace(&mut self.holder, TxnId::NONE);
        debug_assert!(ended.is_some(), "a link ends a service that it never began");
        // After [`Link::request_until`], `since` is not set;
        // [`Reservation`](super::lookahead::Reservation) then counts the busy time.
        self.busy = self.busy.wrapping_add(now.as_ns().wrapping_sub(self.since.as_ns()));
        let next = self.urgent.pop(txns).or_else(|| self.waiting.pop(txns));
        if let Some(next) = next {
            self.holder = next;
            self.since = now;
        }
        (ended, next)
    }

    /// Returns the transaction in service.
    pub(crate) fn holder(&self) -> Option<TxnId> {
        self.holder.is_some().then_some(self.holder)
    }

    /// Returns the transactions that wait, in their order.
    pub(crate) fn waiting<'a>(&self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        self.urgent.ids(txns).chain(self.waiting.ids(txns))
    }

    /// Returns the nanoseconds in service until `now`.
    pub(crate) fn busy(&self, now: SimTime) -> u64 {
        self.busy + if self.holder.is_some() { (now - self.since).as_ns() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_nand::Lpn;

    use super::super::txn::NewTxn;
    use super::*;

    #[test]
    fn a_link_serves_one_at_a_time_the_urgent_first_then_as_they_came() {
        let at_ns = SimTime::from_ns;
        let (mut txns, mut link) = (Txns::default(), Link::default());
        let ids: Vec<TxnId> =
            (0..5).map(|_| txns.begin(NewTxn::read(Lpn(0)), SimTime::START)).collect();
        let urgent = [false, false, true, false, true];
        let free: Vec<bool> =
            (0..5).map(|at| link.request(&mut txns, ids[at], urgent[at], at_ns(10))).collect();
        assert_eq!(free, [true, false, false, false, false]);
        assert_eq!(link.holder(), Some(ids[0]));
        assert_eq!(link.waiting(&txns).collect::<Vec<_>>(), [ids[2], ids[4], ids[1], ids[3]]);
        assert_eq!(link.busy(at_ns(25)), 15);
        let mut served = Vec::new();
        let mut now = at_ns(30);
        while link.holder().is_some() {
            let (ended, next) = link.release(&txns, now);
            assert_eq!(next, link.holder());
            served.push(ended);
            now += Nanos::from_ns(10);
        }
        assert_eq!(served, [ids[0], ids[2], ids[4], ids[1], ids[3]]);
        assert_eq!(link.busy(at_ns(1000)), 60, "from 10 to 70");
        assert!(link.request(&mut txns, ids[1], false, at_ns(100)));
        assert_eq!(link.busy(at_ns(130)), 90);
    }
}
