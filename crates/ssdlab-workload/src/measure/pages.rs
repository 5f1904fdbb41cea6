//! Which pages are asked for, and how often each is read.

use super::table::Numbers;

/// Pages that share an entry of the table: most requests lie within one run of so many.
const RUN: u64 = 64;
/// The bit of a page that says that it was written; the others count its reads.
const WRITTEN: u32 = 1 << 31;
const READS: u32 = WRITTEN - 1;

/// Reads of every page that was asked for, exactly.
pub(super) struct Pages {
    runs: Numbers,
    pages: Vec<[u32; RUN as usize]>,
    touched: u64,
}

/// What pages amount to.
pub(super) struct Sets {
    pub(super) all: u64,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) read_hot: u64,
    /// Reads by the number of times that a page was read, ascending: times, pages.
    pub(super) by_reads: Vec<(u64, u64)>,
}

impl Pages {
    pub(super) fn new() -> Pages {
        Pages { runs: Numbers::new(), pages: Vec::new(), touched: 0 }
    }

    /// Pages `first` to `last`.
    #[inline]
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

    /// Pages that were asked for.
    pub(super) fn touched(&self) -> u64 {
        self.touched
    }

    /// Bytes that are reserved for them.
    pub(super) fn reserved(&self) -> u64 {
        (self.pages.capacity() * size_of::<[u32; RUN as usize]>()) as u64
    }

    /// All of it, with pages read `hot` times or more as read-hot.
    pub(super) fn sets(&self, hot: u64) -> Sets {
        let mut reads: Vec<u32> = Vec::new();
        let mut written = 0;
        for count in self.pages.iter().flatten().filter(|count| **count != 0) {
            written += u64::from(count & WRITTEN != 0);
            if count & READS != 0 {
                reads.push(count & READS);
            }
        }
        reads.sort_unstable();
        let mut by_reads: Vec<(u64, u64)> = Vec::new();
        for times in reads.iter().map(|times| u64::from(*times)) {
            match by_reads.last_mut() {
                Some((last, pages)) if *last == times => *pages += 1,
                _ => by_reads.push((times, 1)),
            }
        }
        let read_hot = by_reads.iter().filter(|(times, _)| *times >= hot);
        let read_hot = read_hot.map(|(_, pages)| pages).sum();
        Sets { all: self.touched, read: reads.len() as u64, written, read_hot, by_reads }
    }
}

/// Reads of a page up to which pages are summed up. Source: PV-read, Fig. 5 (seven ranges).
const TIMES: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];

impl Sets {
    /// For some numbers of reads, the share of the pages read that were read no more often, and the
    /// share of all reads that went to these.
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

    /// The share of all reads that goes to the most read `share` of the pages read.
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
