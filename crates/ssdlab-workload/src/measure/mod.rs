//! What a workload is like, measured on its requests: of a trace, a generator or a twin alike.
//!
//! One pass, in memory for the pages that are asked for (4 bytes a page and a little) and not for
//! the requests.

mod gaps;
mod ks;
mod load;
mod pages;
mod profile;
mod reuse;
mod sizes;
mod table;

use serde::Serialize;
use ssdlab_base::{Fault, units::SECTOR_BYTES};

use crate::record::{Op, Record, Source};
use gaps::Gaps;
pub use ks::kolmogorov_smirnov;
pub use load::Load;
use pages::Pages;
pub use profile::{DeviceCount, Profile, Profiler, ReuseFigures};
pub use reuse::Reuse;
pub use sizes::{SizeCount, SizeFigures};

/// Sectors of a page in all figures: 4 KiB.
const PAGE: u64 = 4096 / SECTOR_BYTES;
/// Reads of a page from which on it is read-hot: threshold T of PV-aware read data placement.
pub const READ_HOT: u64 = 3;
/// Bytes of a page of PA-SSD's drive: a write of more than one is large.
pub(crate) const LARGE: u64 = 8192;

/// What a workload is like. Pages are of 4 KiB.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// Requests of all kinds.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Share of reads and writes that are reads.
    pub read_ratio: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Mean size of reads, bytes.
    pub mean_read: f64,
    /// Mean size of writes, bytes.
    pub mean_write: f64,
    /// Share of the writes that are larger than a page of 8 KiB.
    pub large_writes: f64,
    /// Share of the writes that cover more than one page of 8 KiB, counted from sector 0.
    pub split_writes: f64,
    /// Pages asked for by reads and writes.
    pub footprint_pages: u64,
    /// Pages read.
    pub read_pages: u64,
    /// Pages written.
    pub write_pages: u64,
    /// One more than the last sector that is asked for.
    pub end_sector: u64,
    /// Pages read three times or more, over the footprint.
    pub read_hot: f64,
    /// Share of the page reads that go to the most read 1 % of the pages read.
    pub hottest_1: f64,
    /// The same for 10 %.
    pub hottest_10: f64,
    /// The same for 20 %.
    pub hottest_20: f64,
    /// `[reads, share of the pages read that are read no more often, share of the page reads that
    /// go to these]`, rising; empty if nothing is read.
    pub read_counts: Vec<[f64; 3]>,
    /// Share of the reads and writes that begin where the one before of their kind ended.
    pub sequential: f64,
    /// From the first request to the last, seconds.
    pub span_s: f64,
    /// Mean time between requests, microseconds.
    pub gap_mean_us: f64,
    /// Median of the times between requests, microseconds.
    pub gap_p50_us: f64,
    /// 99th percentile of the times between requests, microseconds.
    pub gap_p99_us: f64,
    /// Standard deviation over mean of the times between requests.
    pub gap_variation: f64,
    /// Variance over mean of the requests in each second.
    pub dispersion: f64,
    /// Page uses by reuse distance, in pages of 4 KiB: of distance 0, of 1, of 2 to 3, of 4 to 7
    /// and so on. Empty if not asked for.
    pub reuse: Vec<u64>,
    /// Page uses that were the first of their page, among those counted for `reuse`.
    pub first_uses: u64,
}

/// A measurement under way.
pub struct Measure {
    out: Measured,
    pages: Pages,
    gaps: Gaps,
    reuse: Option<Reuse>,
    /// Where the last read and the last write ended.
    ends: [u64; 2],
    in_order: u64,
    large: u64,
    split: u64,
}

impl Default for Measure {
    fn default() -> Measure {
        Measure {
            out: Measured::default(),
            pages: Pages::new(),
            gaps: Gaps::default(),
            reuse: None,
            ends: [u64::MAX; 2],
            in_order: 0,
            large: 0,
            split: 0,
        }
    }
}

impl Measure {
    /// With reuse distances, too: of one page in 2^`sample`, of all for 0.
    pub fn with_reuse(sample: u32) -> Measure {
        Measure { reuse: Some(Reuse::new(sample)), ..Measure::default() }
    }

    /// Takes requests, in the order of their times.
    pub fn take(&mut self, records: &[Record]) {
        records.iter().for_each(|record| self.one(record));
    }

    #[inline]
    fn one(&mut self, record: &Record) {
        let out = &mut self.out;
        out.requests += 1;
        self.gaps.take(record.at.as_ns());
        let read = match record.op {
            Op::Read => true,
            Op::Write => false,
            Op::Trim | Op::Flush => return,
        };
        let (bytes, end) =
            (u64::from(record.sectors) * SECTOR_BYTES, record.lba + u64::from(record.sectors));
        if read {
            out.reads += 1;
            out.read_bytes += bytes;
        } else {
            out.writes += 1;
            out.write_bytes += bytes;
            let page = |sector: u64| sector * SECTOR_BYTES / LARGE;
            self.large += u64::from(bytes > LARGE);
            self.split += u64::from(bytes > 0 && page(record.lba) != page(end - 1));
        }
        self.in_order += u64::from(self.ends[usize::from(read)] == record.lba);
        self.ends[usize::from(read)] = end;
        out.end_sector = out.end_sector.max(end);
        if bytes == 0 {
            return;
        }
        let (first, last) = (record.lba / PAGE, (end - 1) / PAGE);
        self.pages.take(first, last, read);
        let Some(reuse) = &mut self.reuse else { return };
        for page in first..=last {
            if !reuse.samples(page) {
                continue;
            }
            match reuse.take(page) {
                None => out.first_uses += 1,
                Some(distance) => {
                    let bucket = distance.checked_ilog2().map_or(0, |octave| octave as usize + 1);
                    if bucket >= out.reuse.len() {
                        out.reuse.resize(bucket + 1, 0);
                    }
                    out.reuse[bucket] += 1;
                }
            }
        }
    }

    /// What was measured.
    pub fn finish(self) -> Measured {
        let Measure { mut out, pages, gaps, .. } = self;
        let of = |part: f64, whole: u64| if whole == 0 { 0.0 } else { part / whole as f64 };
        let sets = pages.sets(READ_HOT);
        out.read_ratio = of(out.reads as f64, out.reads + out.writes);
        out.mean_read = of(out.read_bytes as f64, out.reads);
        out.mean_write = of(out.write_bytes as f64, out.writes);
        out.large_writes = of(self.large as f64, out.writes);
        out.split_writes = of(self.split as f64, out.writes);
        out.sequential = of(self.in_order as f64, out.reads + out.writes);
        (out.footprint_pages, out.read_pages, out.write_pages) =
            (sets.all, sets.read, sets.written);
        out.read_hot = of(sets.read_hot as f64, sets.all);
        [out.hottest_1, out.hottest_10, out.hottest_20] =
            [0.01, 0.1, 0.2].map(|share| sets.hottest(share));
        out.read_counts = sets.read_counts();
        out.span_s = gaps.span() as f64 / 1e9;
        out.gap_mean_us = gaps.mean() / 1e3;
        [out.gap_p50_us, out.gap_p99_us] = [0.5, 0.99].map(|share| gaps.quantile(share) / 1e3);
        out.gap_variation = gaps.variation();
        out.dispersion = gaps.dispersion();
        out
    }
}

/// Measures a source to its end, or `limit` requests of it; with reuse distances of one page in
/// 2^`reuse`, if asked for.
///
/// # Errors
/// The first fault of the source.
pub fn measure(source: &mut dyn Source, limit: u64, reuse: Option<u32>) -> Result<Measured, Fault> {
    const BATCH: usize = 4096;
    let mut measure = reuse.map_or_else(Measure::default, Measure::with_reuse);
    let mut batch = Vec::with_capacity(BATCH);
    let mut left = limit;
    while left > 0 {
        batch.clear();
        let most = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        let count = source.fill(&mut batch, most)?;
        if count == 0 {
            break;
        }
        measure.take(&batch);
        left -= count as u64;
    }
    Ok(measure.finish())
}
