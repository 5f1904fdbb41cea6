//! Selects a part of a source: a time span, a sample of its addresses, a number of requests.

use ssdlab_base::{Fault, Nanos, rng, units::SECTOR_BYTES};

use crate::record::{Described, Op, Record, Source};

/// The requests of a source to take.
///
/// The selection applies the time span first, then the address sample, then the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The earliest time, counted from the source's first request.
    pub from: Nanos,
    /// The end of the time span; requests at or after it are left out.
    pub to: Nanos,
    /// Takes requests whose first page of 4 KiB is in a sample of one page in `one_page_in`; 1
    /// takes all. The sample contains all requests that begin in a page, or none. A larger sample
    /// contains the smaller ones. Source: Waldspurger et al., "Efficient MRC construction with
    /// SHARDS", FAST '15.
    pub one_page_in: u64,
    /// The seed of the sample.
    pub seed: u64,
    /// The most requests to take.
    pub limit: u64,
}

impl Selection {
    /// Selects all requests.
    pub const ALL: Selection = Selection {
        from: Nanos::ZERO,
        to: Nanos::from_ns(u64::MAX),
        one_page_in: 1,
        seed: 1,
        limit: u64::MAX,
    };

    /// Returns whether this page, or the flush with this number, is in the sample.
    fn samples(&self, purpose: u64, number: u64) -> bool {
        self.one_page_in <= 1 || rng::hash(self.seed, purpose, number) < u64::MAX / self.one_page_in
    }
}

const PAGES: u64 = 0x7061_6765;
const FLUSHES: u64 = 0x666c_7573;
const PAGE_SECTORS: u64 = 4096 / SECTOR_BYTES;

/// A part of a source. Times count from the first selected request.
pub struct Select<S> {
    inner: S,
    selection: Selection,
    left: u64,
    /// Whether the end of the time span has been reached.
    past: bool,
    first: Option<Nanos>,
    flushes: u64,
    /// The index of each record of the last batch in the batch of the source.
    origins: Vec<usize>,
}

impl<S: Source> Select<S> {
    /// Returns the selected part of `inner`.
    pub fn new(inner: S, selection: Selection) -> Select<S> {
        let left = selection.limit;
        Select { inner, selection, left, past: false, first: None, flushes: 0, origins: Vec::new() }
    }

    /// Returns the source of this part.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn takes(&mut self, record: &Record) -> bool {
        let selection = &self.selection;
        if record.op == Op::Flush {
            self.flushes += 1;
        }
        record.at >= selection.from
            && match record.op {
                Op::Flush => selection.samples(FLUSHES, self.flushes),
                _ => selection.samples(PAGES, record.lba / PAGE_SECTORS),
            }
    }
}

impl<S: Source> Described for Select<S> {
    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl<S: Source> Source for Select<S> {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        self.origins.clear();
        let start = batch.len();
        while self.left > 0 && !self.past && most > 0 {
            let most = usize::try_from(self.left).map_or(most, |left| left.min(most));
            let count = self.inner.fill(batch, most)?;
            if count == 0 {
                break;
            }
            for index in 0..count {
                let record = batch[start + index];
                self.past = record.at >= self.selection.to;
                if self.past {
                    break;
                }
                if self.takes(&record) {
                    let at = record.at - *self.first.get_or_insert(record.at);
                    batch[start + self.origins.len()] = Record { at, ..record };
                    self.origins.push(index);
                }
            }
            batch.truncate(start + self.origins.len());
            if !self.origins.is_empty() {
                self.left -= self.origins.len() as u64;
                break;
            }
        }
        Ok(self.origins.len())
    }

    fn expected(&self) -> Option<u64> {
        None
    }

    fn progress(&self) -> Option<f64> {
        let of_limit = match self.selection.limit {
            u64::MAX => 0.0,
            limit => 1.0 - self.left as f64 / limit.max(1) as f64,
        };
        self.inner.progress().map(|share| share.max(of_limit))
    }

    fn line(&self, index: usize) -> Option<u64> {
        self.inner.line(*self.origins.get(index)?)
    }

    fn device(&self, index: usize) -> Option<&str> {
        self.inner.device(*self.origins.get(index)?)
    }
}
