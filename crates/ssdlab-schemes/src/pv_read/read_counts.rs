//! Counts the reads of pages whose map entries the controller holds.

use ssdlab_nand::Lpn;
use ssdlab_policy::columns::{Column, Per};

/// A counter for each logical page; zero for pages whose entries are not held. Source: PV-read,
/// section IV.B.
#[derive(Clone, Debug)]
pub(crate) struct ReadCounts {
    counts: Vec<u8>,
    /// The largest value of a counter.
    most: u8,
}

impl ReadCounts {
    /// Returns zero counters for `pages` pages.
    pub(crate) fn new(pages: u32, most: u8) -> ReadCounts {
        ReadCounts { counts: vec![0; pages as usize], most }
    }

    /// Counts reads of a page. Returns the reads since its counter began.
    pub(crate) fn read(&mut self, lpn: Lpn, reads: u32) -> u8 {
        let count = &mut self.counts[lpn.index()];
        *count = count.saturating_add(reads.min(u8::MAX.into()) as u8).min(self.most);
        *count
    }

    /// Resets the counter of a page.
    pub(crate) fn forget(&mut self, lpn: Lpn) {
        // A page of the map itself has no counter.
        if let Some(count) = self.counts.get_mut(lpn.index()) {
            *count = 0;
        }
    }

    /// Resets the counters of these pages, whose entries were just loaded.
    pub(crate) fn come(&mut self, first: Lpn, entries: u32) {
        let end = self.counts.len().min(first.index() + entries as usize);
        self.counts[first.index().min(end)..end].fill(0);
    }

    /// Returns the column of the counters.
    pub(crate) fn column(&mut self, name: &'static str) -> Column<'_> {
        Column::new(name, Per::Page, &mut self.counts).up_to(self.most.into())
    }

    /// Returns the bits of a counter.
    pub(crate) fn bits(&self) -> u64 {
        u64::from(u8::BITS - self.most.leading_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_stops_and_begins_anew_with_its_entry() {
        let mut counts = ReadCounts::new(10, 3);
        assert_eq!([0; 4].map(|_| counts.read(Lpn(7), 1)), [1, 2, 3, 3]);
        counts.forget(Lpn(7));
        assert_eq!((counts.read(Lpn(7), 1), counts.read(Lpn(5), 1), counts.bits()), (1, 1, 2));
        counts.come(Lpn(6), 6);
        assert_eq!((counts.read(Lpn(7), 1), counts.read(Lpn(5), 1)), (1, 2));
        assert_eq!([2, 300].map(|reads| counts.read(Lpn(1), reads)), [2, 3]);
        let mut counts = ReadCounts::new(1, u8::MAX);
        assert_eq!((0..300).map(|_| counts.read(Lpn(0), 1)).max(), Some(u8::MAX));
    }
}
