//! Statistics of a workload, measured on its requests: of a trace, a generator or a twin.
//!
//! The measurement takes one pass. Its memory grows with the number of distinct pages (4 bytes per
//! page, plus a little), not with the number of requests.

mod burstiness;
mod gaps;
mod hurst;
mod ks;
mod load;
mod lru;
mod pages;
mod profile;
mod reuse;
mod runs;
mod sizes;
mod table;

use serde::Serialize;
use ssdlab_base::{Fault, units::SECTOR_BYTES};

use crate::record::{Record, Source};
use burstiness::Bursts;
pub(crate) use burstiness::MIN_WINDOWS;
pub use burstiness::{Burstiness, LeftOut, Phases, WhyLeftOut, Window};
use gaps::Gaps;
pub use hurst::Hurst;
pub use ks::kolmogorov_smirnov;
pub use load::Load;
pub use lru::{PageCaches, PlaceCaches, Writes};
use pages::Pages;
pub use profile::{DeviceCount, Profile, Profiler, ReuseFigures};
pub use reuse::Reuse;
pub use runs::RunLengths;
pub use sizes::{SizeCount, SizeFigures};

/// Sectors in a page of 4 KiB, the page of all statistics.
pub(crate) const PAGE: u64 = 4096 / SECTOR_BYTES;
/// The number of reads from which a page is read-hot: threshold T of PV-aware read data placement.
pub const READ_HOT: u64 = 3;
/// Bytes in a page of PA-SSD's drive. A larger write is a large write.
pub(crate) const LARGE: u64 = 8192;

/// The statistics of a workload. Pages have 4 KiB.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// Requests of all kinds.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Share of reads in the reads and writes.
    pub read_ratio: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Pages that reads cover. Each read counts each of its pages.
    pub page_reads: u64,
    /// Pages that writes cover. Each write counts each of its pages.
    pub page_writes: u64,
    /// Mean size of reads, in bytes.
    pub mean_read: f64,
    /// Mean size of writes, in bytes.
    pub mean_write: f64,
    /// Share of the writes that are larger than a page of 8 KiB.
    pub large_writes: f64,
    /// Share of the writes that cover more than one page of 8 KiB, counted from sector 0.
    pub split_writes: f64,
    /// Distinct pages read or written.
    pub footprint_pages: u64,
    /// Distinct pages read.
    pub read_pages: u64,
    /// Distinct pages written.
    pub write_pages: u64,
    /// One more than the last sector that is read or written.
    pub end_sector: u64,
    /// Pages read at least three times, divided by the footprint.
    pub read_hot: f64,
    /// Share of the page reads that go to the most frequently read 1 % of the read pages.
    pub hottest_1: f64,
    /// The same for 10 %.
    pub hottest_10: f64,
    /// The same for 20 %.
    pub hottest_20: f64,
    /// Rows of `[reads, share of the read pages, share of the page reads]`, rising. Both shares
    /// cover the pages that are read at most `reads` times. Empty if nothing is read.
    pub read_counts: Vec<[f64; 3]>,
    /// Share of the reads and writes that begin where the last request of their kind ended.
    pub sequential: f64,
    /// Time from the first request to the last, in seconds.
    pub span_s: f64,
    /// Mean time between requests, in microseconds.
    pub gap_mean_us: f64,
    /// Median of the times between requests, in microseconds.
    pub gap_p50_us: f64,
    /// 99th percentile of the times between requests, in microseconds.
    pub gap_p99_us: f64,
    /// Standard deviation of the times between requests, divided by their mean.
    pub gap_variation: f64,
    /// Variance of the requests in each second, divided by their mean.
    pub dispersion: f64,
    /// How requests cluster in time, and in reads and writes.
    pub burstiness: Burstiness,
    /// Page uses by reuse distance, in pages of 4 KiB: distance 0, 1, 2 to 3, 4 to 7 and so on.
    /// Empty if not requested.
    pub reuse: Vec<u64>,
    /// Page uses that are the first use of their page, among the uses counted for `reuse`.
    pub first_uses: u64,
}

/// A measurement in progress.
pub struct Measure {
    out: Measured,
    pages: Pages,
    gaps: Gaps,
    bursts: Bursts,
    reuse: Option<Reuse>,
    /// The sectors where the last write and the last read ended.
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
            bursts: Bursts::new(),
            reuse: None,
            ends: [u64::MAX; 2],
            in_order: 0,
            large: 0,
            split: 0,
        }
    }
}

impl Measure {
    /// Returns a measurement with reuse distances for one page in 2^`sample`; 0 follows all pages.
    pub fn with_reuse(sample: u32) -> Measure {
        Measure { reuse: Some(Reuse::new(sample)), ..Measure::default() }
    }

    /// Adds requests, in the order of their times.
    pub fn take(&mut self, records: &[Record]) {
        records.iter().for_each(|record| self.one(record));
    }

    fn one(&mut self, record: &Record) {
        let out = &mut self.out;
        out.requests += 1;
        self.gaps.take(record.at.as_ns());
        let Some(read) = record.op.reads() else { return };
        self.bursts.take(record.at, read);
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
        let covered = if read { &mut out.page_reads } else { &mut out.page_writes };
        *covered += last - first + 1;
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

    /// Returns the statistics.
    pub fn finish(self) -> Measured {
        let Measure { mut out, pages, gaps, bursts, .. } = self;
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
        out.burstiness = bursts.finish();
        out
    }
}

/// Measures a source to its end, or `limit` requests of it. Adds reuse distances of one page in
/// 2^`reuse` if `reuse` is given.
///
/// # Errors
/// Returns the first fault of the source.
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
