//! Pages that leave the buffer or that a flush programs: their programs, and the flushes that wait.

use std::collections::BTreeMap;

use ssdlab_nand::Lpn;

use crate::flash::TxnId;

/// A page whose program has not ended.
#[derive(Clone, Copy, Debug)]
struct Departure {
    lpn: Lpn,
    /// The transaction that programs the page.
    program: TxnId,
    /// Whether a write of the page has not yet moved into the buffer.
    is_coming: bool,
    /// Whether that write is the only thing that the program still waits for.
    is_ready: bool,
}

/// A flush that waits for pages that were leaving when it arrived.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    request: u32,
    /// The flush waits for departures with numbers below this.
    before: u64,
    left: u32,
}

/// The departures in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures {
    count: u64,
    leaving: BTreeMap<u64, Departure>,
    /// Departures that wait until a write has moved into the buffer, by that write.
    awaiting: BTreeMap<u32, Vec<u64>>,
    barriers: Vec<Barrier>,
}

impl Departures {
    /// Returns the number that the next departure gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.count + 1
    }

    /// Starts the departure of a page by `program` and returns its number. The program waits until
    /// the write `arriving` has moved into the buffer.
    pub(crate) fn begin(&mut self, lpn: Lpn, program: TxnId, arriving: Option<TxnId>) -> u64 {
        self.count += 1;
        let is_coming = arriving.is_some();
        let departure = Departure { lpn, program, is_coming, is_ready: false };
        self.leaving.insert(self.count, departure);
        if let Some(write) = arriving {
            self.awaiting.entry(write.0).or_default().push(self.count);
        }
        self.count
    }

    /// Returns the transaction that programs a page.
    pub(crate) fn program(&self, number: u64) -> TxnId {
        self.leaving[&number].program
    }

    /// Returns whether a program whose turn has come on its page may continue. If not,
    /// [`Departures::has_come`] returns it later.
    pub(crate) fn may_continue(&mut self, number: u64) -> bool {
        let departure = self.leaving.get_mut(&number).expect("a page that leaves");
        departure.is_ready = true;
        !departure.is_coming
    }

    /// Records that a write has moved in; returns the programs that waited only for it.
    pub(crate) fn has_come(&mut self, write: TxnId) -> Vec<TxnId> {
        let numbers = self.awaiting.remove(&write.0).unwrap_or_default();
        let mut ready = Vec::new();
        for number in numbers {
            let departure = self.leaving.get_mut(&number).expect("a page that leaves");
            departure.is_coming = false;
            ready.extend(departure.is_ready.then_some(departure.program));
        }
        ready
    }

    /// Returns the programs that wait only for their pages to move into the buffer.
    pub(crate) fn held_up(&self) -> impl Iterator<Item = TxnId> + '_ {
        let held =
            self.leaving.values().filter(|departure| departure.is_coming && departure.is_ready);
        held.map(|departure| departure.program)
    }

    /// Ends a departure; returns its page and the flushes that wait for no other departure.
    pub(crate) fn end(&mut self, number: u64) -> (Lpn, Vec<u32>) {
        let departure = self.leaving.remove(&number).expect("a page that leaves");
        for barrier in self.barriers.iter_mut().filter(|barrier| number < barrier.before) {
            barrier.left -= 1;
        }
        let over = self.barriers.iter().filter(|barrier| barrier.left == 0);
        let over = over.map(|barrier| barrier.request).collect();
        self.barriers.retain(|barrier| barrier.left > 0);
        (departure.lpn, over)
    }

    /// Makes a flush wait for all departures in progress; returns false if there are none.
    pub(crate) fn wait_for_all(&mut self, request: u32) -> bool {
        let left = self.leaving.len() as u32;
        if left > 0 {
            self.barriers.push(Barrier { request, before: self.count + 1, left });
        }
        left > 0
    }

    /// Returns the flushes that wait for departures.
    pub(crate) fn flushes(&self) -> impl Iterator<Item = u32> + '_ {
        self.barriers.iter().map(|barrier| barrier.request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts the departure of a page that is in the buffer; returns its number.
    fn begin(departures: &mut Departures) -> u64 {
        departures.begin(Lpn(7), TxnId(9), None)
    }

    #[test]
    fn a_flush_waits_for_what_was_leaving_when_it_came_and_for_no_more() {
        let mut all = Departures::default();
        assert!(!all.wait_for_all(50), "nothing leaves");
        let early = [begin(&mut all), begin(&mut all)];
        assert!(all.wait_for_all(51));
        let late = begin(&mut all);
        assert!(all.wait_for_all(52));
        assert_eq!(all.flushes().collect::<Vec<_>>(), [51, 52]);
        assert_eq!(all.end(early[1]), (Lpn(7), vec![]));
        assert_eq!(all.end(late), (Lpn(7), vec![]));
        assert_eq!(all.end(early[0]), (Lpn(7), vec![51, 52]));
        assert_eq!(all.flushes().count(), 0);
        let alone = begin(&mut all);
        assert!(all.wait_for_all(53));
        assert_eq!(all.end(alone), (Lpn(7), vec![53]));
    }

    #[test]
    fn a_program_continues_once_it_is_ready_and_its_page_is_in_the_buffer() {
        let mut all = Departures::default();
        let there = all.begin(Lpn(1), TxnId(10), None);
        assert!(all.may_continue(there));
        let [first, second] =
            [11, 12].map(|program| all.begin(Lpn(2), TxnId(program), Some(TxnId(5))));
        assert_eq!([first, second].map(|number| all.program(number)), [TxnId(11), TxnId(12)]);
        assert!(!all.may_continue(first));
        assert_eq!(all.held_up().collect::<Vec<_>>(), [TxnId(11)]);
        assert_eq!(all.has_come(TxnId(5)), [TxnId(11)]);
        assert_eq!(all.held_up().count(), 0);
        assert!(all.may_continue(second));
        assert_eq!(all.has_come(TxnId(5)), []);
    }
}
