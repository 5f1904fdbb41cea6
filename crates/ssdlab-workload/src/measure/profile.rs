//! A user's profile of a trace: the statistics of [`Measure`], and the distributions of sizes, load
//! and reuse.

use std::collections::BTreeMap;

use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;

use super::gaps::{bucket, curve, middle};
use super::load::{Counting, Load};
use super::sizes::{SizeFigures, Sizes};
use super::{Burstiness, Measure, Measured, PAGE, Pages, Reuse};
use crate::record::{Op, Record};

/// The profile of a trace. All values except the counts of trims and flushes cover reads and writes
/// only. Pages have 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Reads and writes.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Share of the requests that are reads, from 0 to 1.
    pub read_ratio: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sizes of reads; `None` without reads.
    pub read_size: Option<SizeFigures>,
    /// Sizes of writes; `None` without writes.
    pub write_size: Option<SizeFigures>,
    /// Time from the first request to the last, in seconds.
    pub span_s: f64,
    /// Distinct pages touched.
    pub footprint_pages: u64,
    /// Distinct pages read.
    pub read_pages: u64,
    /// Distinct pages written.
    pub written_pages: u64,
    /// The lowest address, in bytes.
    pub first_byte: u64,
    /// One more than the highest address, in bytes.
    pub end_byte: u64,
    /// Requests per second over the span; `None` if the span is zero.
    pub rate_per_s: Option<f64>,
    /// Mean time between requests, in microseconds.
    pub gap_mean_us: f64,
    /// Median of the times between requests, in microseconds, to 1.6 %.
    pub gap_median_us: f64,
    /// The two middle gaps whose mean is the median, in microseconds. With a single middle gap both
    /// are equal except for rounding.
    pub gap_middle_us: [f64; 2],
    /// 99th percentile of the times between requests, in microseconds, to 1.6 %.
    pub gap_p99_us: f64,
    /// Distribution of the times between requests: `[microseconds, share of the gaps that are not
    /// longer]`, rising. At most about 160 points, with values to 1.6 %.
    pub gap_points: Vec<[f64; 2]>,
    /// Coefficient of variation (standard deviation over mean) of the times between requests: 1 for
    /// independent arrivals.
    pub gap_variation: f64,
    /// How requests cluster in time, and in reads and writes.
    pub burstiness: Burstiness,
    /// Requests over time.
    pub load: Load,
    /// Share of the page reads that go to the most frequently read 20 % of the read pages.
    pub hottest_20: f64,
    /// The same for 1 %.
    pub hottest_1: f64,
    /// Rows of `[reads, share of the read pages, share of the page reads]`, rising. Both shares
    /// cover the pages that are read at most `reads` times. Empty if nothing is read.
    pub read_counts: Vec<[f64; 3]>,
    /// Share of the requests that begin where the last request of their kind ended.
    pub sequential: f64,
    /// Reuse distances of pages; `None` if not requested.
    pub reuse: Option<ReuseFigures>,
    /// Reads and writes of each device, largest count first; empty if devices are not known.
    pub devices: Vec<DeviceCount>,
}

/// Reuse distances: the number of distinct other pages used between two uses of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReuseFigures {
    /// Median over all uses except the first of each page, in pages, to 1.6 %; `None` without any.
    pub median_pages: Option<f64>,
    /// 90th percentile, in pages, to 1.6 %.
    pub p90_pages: Option<f64>,
    /// Distribution over the same uses: `[pages, share of the uses with a distance not larger]`,
    /// rising. At most about 160 points, with values to 1.6 %.
    pub points: Vec<[f64; 2]>,
    /// Share of the page uses that are the first use of their page.
    pub first_uses: f64,
    /// The sample: one page in this many was followed.
    pub one_page_in: u64,
}

/// The request count of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceCount {
    /// Its name.
    pub name: String,
    /// Reads and writes.
    pub requests: u64,
}

/// A profile in progress.
pub struct Profiler {
    measure: Measure,
    trims: u64,
    flushes: u64,
    first_sector: u64,
    sizes: [Sizes; 2],
    load: Counting,
    again: Option<Again>,
    devices: BTreeMap<String, u64>,
}

impl Profiler {
    /// Returns an empty profile, with or without reuse distances.
    pub fn new(reuse: bool) -> Profiler {
        Profiler {
            measure: Measure::default(),
            trims: 0,
            flushes: 0,
            first_sector: u64::MAX,
            sizes: Default::default(),
            load: Counting::new(),
            again: reuse.then(Again::new),
            devices: BTreeMap::new(),
        }
    }

    /// Adds requests in the order of their times; `device` returns the device of the request with a
    /// given index.
    pub fn take<'a>(&mut self, records: &[Record], device: impl Fn(usize) -> Option<&'a str>) {
        for (index, record) in records.iter().enumerate() {
            let kind = match record.op {
                Op::Read => 0,
                Op::Write => 1,
                Op::Trim => {
                    self.trims += 1;
                    continue;
                }
                Op::Flush => {
                    self.flushes += 1;
                    continue;
                }
            };
            self.measure.one(record);
            self.sizes[kind].take(record.sectors);
            self.first_sector = self.first_sector.min(record.lba);
            let touched = self.measure.pages.touched();
            self.load.take(record.at.as_ns(), record.op == Op::Read, touched);
            if let Some(again) = &mut self.again {
                again.take(record);
            }
            let Some(name) = device(index) else { continue };
            match self.devices.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(self.devices.insert(name.to_owned(), 1)),
            }
        }
    }

    /// Returns the runs of pages touched so far.
    pub fn runs(&self) -> u64 {
        self.measure.pages.runs()
    }

    /// Returns the number of pages whose uses are followed now.
    pub fn followed(&self) -> u64 {
        self.again.as_ref().map_or(0, |again| again.reuse.pages() as u64)
    }

    /// Returns the most runs of pages, and the most pages, that these requests can touch.
    pub fn touched(records: &[Record]) -> [u64; 2] {
        let mut touched = [0, 0];
        for record in records {
            if matches!(record.op, Op::Read | Op::Write) && record.sectors > 0 {
                let last = (record.lba + u64::from(record.sectors) - 1) / PAGE;
                let first = record.lba / PAGE;
                touched[0] += Pages::runs_of(first, last);
                touched[1] += last - first + 1;
            }
        }
        touched
    }

    /// Returns the bytes that further runs, and pages in them, take: touched bytes and reserved
    /// bytes.
    pub fn growth(&self, [runs, pages]: [u64; 2]) -> (u64, u64) {
        let (resident, reserved) = self.measure.pages.growth(runs);
        let followed = self.again.as_ref().map_or(0, |again| again.growth(pages));
        (resident + followed, reserved + followed)
    }

    /// Returns the profile.
    pub fn finish(self) -> Profile {
        self.finish_both().0
    }

    /// Returns the profile, and the statistics of the same requests that have targets.
    pub fn finish_both(self) -> (Profile, Measured) {
        let [reads, writes] = self.sizes;
        // The median is the mean of the two middle gaps, if there are two.
        let gaps = (self.measure.out.reads + self.measure.out.writes).saturating_sub(1).max(1);
        let median = |share| self.measure.gaps.quantile(share);
        let upper = ((gaps / 2) as f64 + 0.75) / gaps as f64;
        let middle = [median(0.5) / 1e3, median(upper) / 1e3];
        let gap_points = self.measure.gaps.curve();
        let found = self.measure.finish();
        let devices = self.devices.into_iter();
        let mut devices: Vec<DeviceCount> =
            devices.map(|(name, requests)| DeviceCount { name, requests }).collect();
        devices.sort_by_key(|device| std::cmp::Reverse(device.requests));
        let requests = found.requests;
        let profile = Profile {
            requests,
            reads: found.reads,
            writes: found.writes,
            trims: self.trims,
            flushes: self.flushes,
            read_ratio: found.read_ratio,
            read_bytes: found.read_bytes,
            write_bytes: found.write_bytes,
            read_size: reads.finish(),
            write_size: writes.finish(),
            span_s: found.span_s,
            footprint_pages: found.footprint_pages,
            read_pages: found.read_pages,
            written_pages: found.write_pages,
            first_byte: if requests == 0 { 0 } else { self.first_sector * SECTOR_BYTES },
            end_byte: found.end_sector * SECTOR_BYTES,
            rate_per_s: (found.span_s > 0.0).then(|| requests as f64 / found.span_s),
            gap_mean_us: found.gap_mean_us,
            gap_median_us: 0.5 * (middle[0] + middle[1]),
            gap_middle_us: middle,
            gap_p99_us: found.gap_p99_us,
            gap_points,
            gap_variation: found.gap_variation,
            burstiness: found.burstiness.clone(),
            load: self.load.finish(),
            hottest_20: found.hottest_20,
            hottest_1: found.hottest_1,
            read_counts: found.read_counts.clone(),
            sequential: found.sequential,
            reuse: self.again.map(Again::finish),
            devices,
        };
        (profile, found)
    }
}

/// Reuse distances of a sample of pages. The sample shrinks as more pages are used.
struct Again {
    reuse: Reuse,
    /// Uses by distance. Each use has as much weight as the number of pages that its page
    /// represents.
    buckets: Vec<u64>,
    uses: u64,
    first_uses: u64,
}

/// The most pages that are followed.
const MAX_FOLLOWED: usize = 1 << 20;

impl Again {
    fn new() -> Again {
        Again { reuse: Reuse::new(0), buckets: Vec::new(), uses: 0, first_uses: 0 }
    }

    fn take(&mut self, record: &Record) {
        let end = record.lba + u64::from(record.sectors);
        if end == record.lba {
            return;
        }
        for page in record.lba / PAGE..=(end - 1) / PAGE {
            if !self.reuse.samples(page) {
                continue;
            }
            let weight = 1 << self.reuse.sample();
            let Some(distance) = self.reuse.take(page) else {
                self.first_uses += weight;
                if self.reuse.pages() > MAX_FOLLOWED {
                    self.reuse.thin();
                }
                continue;
            };
            let place = bucket(distance);
            if place >= self.buckets.len() {
                self.buckets.resize(place + 1, 0);
            }
            self.buckets[place] += weight;
            self.uses += weight;
        }
    }

    /// Returns the bytes that at most `pages` further pages take. Only a sample of them is
    /// followed.
    fn growth(&self, pages: u64) -> u64 {
        let left = (MAX_FOLLOWED + 1).saturating_sub(self.reuse.pages());
        self.reuse.growth((pages >> self.reuse.sample()).min(left as u64))
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.uses as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let place = self.buckets.iter().position(|count| {
            below += count;
            below >= wanted
        });
        place.map(middle)
    }

    fn finish(self) -> ReuseFigures {
        let all = self.uses + self.first_uses;
        ReuseFigures {
            median_pages: self.quantile(0.5),
            p90_pages: self.quantile(0.9),
            points: curve(&self.buckets, 1.0),
            first_uses: if all == 0 { 0.0 } else { self.first_uses as f64 / all as f64 },
            one_page_in: 1 << self.reuse.sample(),
        }
    }
}
