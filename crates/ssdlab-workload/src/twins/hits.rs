//! Published hit ratios of LRU caches over whole traces, and those of their twins.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;
use ssdlab_base::math::log2;
use ssdlab_base::rng::mix;

use super::{Twin, find};
use crate::measure::{PAGE, PageCaches, PlaceCaches, Writes};
use crate::record::{Record, Source};

const TABLE: &str = include_str!("hits.toml");
const PAGE_BYTES: f64 = 4096.0;

/// The published hit ratios of one trace.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The trace.
    pub of: String,
    /// The names of its twins.
    pub twins: Vec<String>,
    /// Caches that reads and writes look up: pages, and the hit ratios of reads and of writes.
    #[serde(default)]
    pub cached: Vec<(u64, f64, f64)>,
    /// Caches that drop the pages of a write: pages, and the hit ratio of reads.
    #[serde(default)]
    pub dropped: Vec<(u64, f64)>,
    /// The distinct sectors where requests begin.
    pub sectors: Option<u64>,
    /// Caches of data that begins at one sector: bytes, and the hit ratio of reads.
    #[serde(default)]
    pub bytes: Vec<(u64, f64)>,
}

/// A hit ratio, published and achieved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HitRatio {
    /// The kind of hits and cache: "reads", "writes", "reads, writes drop" or "reads of places".
    pub what: &'static str,
    /// The size of the cache, in pages, or in bytes for places.
    pub size: u64,
    /// The published ratio.
    pub published: f64,
    /// The measured ratio.
    pub achieved: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    trace: Vec<Published>,
}

/// Returns all published hit ratios.
pub fn published() -> &'static [Published] {
    static TRACES: OnceLock<Vec<Published>> = OnceLock::new();
    TRACES.get_or_init(|| {
        let table: Table =
            toml::from_str(TABLE).unwrap_or_else(|error| panic!("hits.toml: {error}"));
        table.trace
    })
}

impl Twin {
    /// Returns the published hit ratios of its trace, if there are any.
    pub fn published_hits(&self) -> Option<&'static Published> {
        published().iter().find(|trace| trace.twins.contains(&self.name))
    }

    /// Measures the hit ratios that are published of its trace: see [`Twin::hit_meter`].
    ///
    /// # Errors
    /// Fails if the twin cannot generate its requests.
    pub fn hit_ratios(&self, seed: u64, most: u64) -> Result<Vec<HitRatio>, Fault> {
        let Some(meter) = self.hit_meter(most) else { return Ok(Vec::new()) };
        meter.measure(&mut self.source(seed)?)
    }

    /// Returns a measurement of the hit ratios that are published of its trace, if there are any.
    /// Caches of a scaled twin have the same part of the footprint. If the footprint has more than
    /// `most` pages, a sample of at least half as many stands for all.
    pub fn hit_meter(&self, most: u64) -> Option<HitMeter> {
        let published = self.published_hits()?;
        let whole = find(&self.name, None).ok()?;
        let part = self.figures().footprint / whole.figures().footprint;
        Some(HitMeter::new(published, part, self.sample(most)))
    }

    /// Returns which sample has at most `most` of the pages: one page in this power of two.
    pub fn sample(&self, most: u64) -> u32 {
        let pages = self.figures().footprint / PAGE_BYTES;
        log2(pages / most as f64).ceil().max(0.0) as u32
    }
}

/// A measurement of the published hit ratios of a trace in progress.
pub struct HitMeter {
    published: &'static Published,
    part: f64,
    sample: u32,
    cached: PageCaches,
    dropped: PageCaches,
    places: PlaceCaches,
}

/// Returns the size of a cache of `part` of a size.
fn part_of(size: u64, part: f64) -> u64 {
    ((size as f64 * part).round() as u64).max(1)
}

impl HitMeter {
    /// Returns a measurement in caches of `part` of the published sizes. One in 2^`sample` pages
    /// stands for all. Places are not sampled: reads of the hottest one may be many.
    pub fn new(published: &'static Published, part: f64, sample: u32) -> HitMeter {
        let of_all = |size: u64| part_of(size, part);
        let sized = |size: u64| (of_all(size) >> sample).max(1);
        let cached: Vec<u64> = published.cached.iter().map(|(pages, ..)| sized(*pages)).collect();
        let dropped: Vec<u64> = published.dropped.iter().map(|(pages, _)| sized(*pages)).collect();
        let bytes: Vec<u64> = published.bytes.iter().map(|(bytes, _)| of_all(*bytes)).collect();
        HitMeter {
            published,
            part,
            sample,
            cached: PageCaches::new(&cached, Writes::Cached),
            dropped: PageCaches::new(&dropped, Writes::Dropped),
            places: PlaceCaches::new(&bytes),
        }
    }

    /// Adds requests, in their order.
    pub fn take(&mut self, records: &[Record]) {
        let Published { cached, dropped, bytes, .. } = self.published;
        let sampled;
        let of_pages = if self.sample > 0 && !(cached.is_empty() && dropped.is_empty()) {
            sampled = sampled_pages(records, self.sample);
            &sampled
        } else {
            records
        };
        if !cached.is_empty() {
            self.cached.take(of_pages);
        }
        if !dropped.is_empty() {
            self.dropped.take(of_pages);
        }
        if !bytes.is_empty() {
            self.places.take(records);
        }
    }

    /// Adds all requests of a source. Returns the hit ratios.
    ///
    /// # Errors
    /// Returns the first fault of the source.
    pub fn measure(mut self, source: &mut dyn Source) -> Result<Vec<HitRatio>, Fault> {
        let mut batch = Vec::with_capacity(4096);
        while source.fill(&mut batch, 4096)? > 0 {
            self.take(&batch);
            batch.clear();
        }
        Ok(self.finish())
    }

    /// Returns the hit ratios.
    pub fn finish(&self) -> Vec<HitRatio> {
        let HitMeter { published, part, .. } = self;
        let mut found = Vec::new();
        let mut add = |what, size: u64, published: f64, achieved: Option<f64>| {
            let achieved = achieved.unwrap_or(0.0);
            found.push(HitRatio { what, size: part_of(size, *part), published, achieved });
        };
        for ((size, read, write), achieved) in published.cached.iter().zip(self.cached.ratios()) {
            add("reads", *size, *read, achieved[0]);
            add("writes", *size, *write, achieved[1]);
        }
        for ((size, read), achieved) in published.dropped.iter().zip(self.dropped.ratios()) {
            add("reads, writes drop", *size, *read, achieved[0]);
        }
        for ((size, read), achieved) in published.bytes.iter().zip(self.places.ratios()) {
            add("reads of places", *size, *read, achieved);
        }
        found
    }
}

/// Returns whether a sample of one in 2^`sample` has this page.
fn samples(page: u64, sample: u32) -> bool {
    mix(page) & ((1 << sample) - 1) == 0
}

/// Returns the pages of a sample that requests use, each as a request of its own.
fn sampled_pages(records: &[Record], sample: u32) -> Vec<Record> {
    let pages = |record: &Record| {
        let (first, end) = (record.lba / PAGE, record.lba + u64::from(record.sectors));
        let record = *record;
        let page = move |page: u64| Record { lba: page * PAGE, sectors: PAGE as u32, ..record };
        (first..end.div_ceil(PAGE)).filter(move |page| samples(*page, sample)).map(page)
    };
    records.iter().flat_map(pages).collect()
}
