//! Counts the distinct pages of a workload, and the reads of each page.

use std::collections::BTreeMap;

use super::table::Numbers;

/// Pages that share an entry of the table; most requests lie within one such run.
const RUN: u64 = 64;
/// The bit of a page that marks it as written; the other bits count its reads.
const WRITTEN: u32 = 1 << 31;
const READS: u32 = WRITTEN - 1;

/// The exact number of reads of every page touched.
pub(super) struct Pages {
    runs: Numbers,
    pages: Vec<[u32; RUN as usize]>,
    touched: u64,
}

/// The totals over all pages.
pub(super) struct Sets {
    pub(super) all: u64,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) read_hot: u64,
    /// Numbers of pages by how often they were read, ascending: `(reads, pages)`.
    pub(super) by_reads: Vec<(u64, u64)>,
}

impl Pages {
    pub(super) fn new() -> Pages {
        Pages { runs: Numbers::new(), pages: Vec::new(), touched: 0 }
    }

    /// Adds a request that covers pages `first` to `last`.
    pub(super) fn take(&mut self, first: u64, last: u64, read: bool) {
        let mut page = first;
        while page <= last {
            let (run, new) = self.runs.of(page / RUN);
            if new {
                self.pages.push([0; RUN as usize]);
            }
            let upto = last.min(page | (RUN - 1));
            let counts = &mut self.pages[run as usize];
            for count in &mut counts[(page % RUN) as usize..=(upto % RUN) as usize] {
                self.touched += u64::from(*count == 0);
                if !read {
                    *count |= WRITTEN;
                } else if *count & READS < READS {
                    *count += 1;
                }
            }
            page = upto + 1;
        }
    }

    /// Returns the number of distinct pages touched.
    pub(super) fn touched(&self) -> u64 {
        self.touched
    }

    /// Returns the number of runs that contain pages `first` to `last`.
    pub(super) fn runs_of(first: u64, last: u64) -> u64 {
        last / RUN - first / RUN + 1
    }

    /// Returns the number of runs counted.
    pub(super) fn runs(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Returns the bytes that `more` runs take: touched bytes and reserved bytes.
    pub(super) fn growth(&self, more: u64) -> (u64, u64) {
        let run = size_of::<[u32; RUN as usize]>() as u64;
        let (length, capacity) = (self.runs(), self.pages.capacity() as u64);
        let table = self.runs.growth(more);
        // The list doubles when it is full, starting from four runs.
        let doubled = std::iter::successors(Some(capacity.max(4)), |wide| Some(2 * wide));
        let wider = doubled.take(60).find(|wide| *wide >= length + more).unwrap_or(length + more);
        let reserved = if length + more > capacity { wider - capacity } else { 0 };
        (more * run + table, reserved * run + table)
    }

    /// Returns the totals, with pages read at least `hot` times as read-hot. It needs little
    /// memory: it counts pages by their number of reads, and few such numbers occur.
    pub(super) fn sets(&self, hot: u64) -> Sets {
        let mut few = vec![0_u64; FEW];
        let mut many: BTreeMap<u32, u64> = BTreeMap::new();
        let mut written = 0;
        for count in self.pages.iter().flatten().filter(|count| **count != 0) {
            written += u64::from(count & WRITTEN != 0);
            let reads = count & READS;
            match few.get_mut(reads as usize) {
                Some(pages) => *pages += 1,
                None => *many.entry(reads).or_default() += 1,
            }
        }
        // These pages were only written.
        few[0] = 0;
        let few = (0..).zip(few).filter(|(_, pages)| *pages > 0);
        let by_reads: Vec<(u64, u64)> =
            few.chain(many.into_iter().map(|(reads, pages)| (reads.into(), pages))).collect();
        let read = by_reads.iter().map(|(_, pages)| pages).sum();
        let read_hot = by_reads.iter().filter(|(times, _)| *times >= hot);
        let read_hot = read_hot.map(|(_, pages)| pages).sum();
        Sets { all: self.touched, read, written, read_hot, by_reads }
    }
}

/// Numbers of reads below this limit are counted in a list.
const FEW: usize = 1 << 10;

/// Limits of reads per page for `read_counts`. Source: PV-read, Fig. 5 (seven ranges).
const TIMES: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];

impl Sets {
    /// Returns rows of `[reads, share of the read pages, share of all reads]`, one per limit in
    /// [`TIMES`]. Both shares cover the pages that were read at most `reads` times.
    pub(super) fn read_counts(&self) -> Vec<[f64; 3]> {
        let sums = |upto: u64| {
            let some = self.by_reads.iter().filter(|(times, _)| *times <= upto);
            some.fold((0, 0), |(pages, reads), (times, more)| (pages + more, reads + times * more))
        };
        let (pages, reads) = sums(u64::MAX);
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let row = |upto: u64| {
            let (some, of_them) = sums(upto);
            [upto as f64, share(some, pages), share(of_them, reads)]
        };
        if pages == 0 { Vec::new() } else { TIMES.into_iter().map(row).collect() }
    }

    /// Returns the share of all reads that goes to the most frequently read `share` of the read
    /// pages.
    pub(super) fn hottest(&self, share: f64) -> f64 {
        let whole: u64 = self.by_reads.iter().map(|(times, pages)| times * pages).sum();
        let mut pages_left = share * self.read as f64;
        let mut reads = 0.0;
        for (times, pages) in self.by_reads.iter().rev() {
            let taken = pages_left.min(*pages as f64);
            reads += taken * *times as f64;
            pages_left -= taken;
        }
        if whole == 0 { 0.0 } else { reads / whole as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_summed_up_by_their_reads_few_or_many() {
        let mut pages = Pages::new();
        let often = FEW as u64 + 7;
        for _ in 0..often {
            pages.take(1000, 1001, true);
        }
        pages.take(5, 70, true);
        pages.take(70, 80, false);
        let sets = pages.sets(often);
        assert_eq!(sets.by_reads, [(1, 66), (often, 2)]);
        assert_eq!((sets.all, sets.read, sets.written, sets.read_hot), (78, 68, 11, 2));
    }

    #[test]
    fn runs_take_their_expected_time() {
        let mut pages = Pages::new();
        let taken = |pages: &Pages| pages.pages.capacity() as u64 * RUN * 4 + pages.runs.bytes();
        for _ in 0..40 {
            let (before, more) = (taken(&pages), 1 + pages.runs() / 3);
            let (resident, reserved) = pages.growth(more);
            let first = pages.runs() * RUN;
            assert_eq!(Pages::runs_of(first, first + more * RUN - 1), more);
            pages.take(first, first + more * RUN - 1, true);
            assert!(taken(&pages) <= before + reserved && resident >= more * RUN * 4);
        }
    }
}
