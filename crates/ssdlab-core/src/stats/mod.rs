//! The measurements of a run: latencies with their parts, and operations by cause.

mod behind;
mod streams;

pub use behind::Behind;
pub(crate) use behind::last_parts;
pub use streams::{StreamCounts, StreamStats};

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::{Nanos, SimTime};

use crate::account::{Blame, OpKind, Part};
use crate::ftl::BlockClass;
use ssdlab_nand::{Level, PageType};

use crate::host::{Op, Request};

/// Latencies of one kind of request.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Latencies in nanoseconds, to three significant digits.
    pub histogram: Histogram<u64>,
    /// Sum of the latencies in nanoseconds.
    pub sum_ns: u128,
    /// Sum of each part of the latencies in nanoseconds.
    pub blame_ns: [u128; Part::COUNT],
    /// The largest latency in nanoseconds.
    pub max_ns: u64,
    /// Sectors moved.
    pub sectors: u64,
}

/// Significant digits of a histogram.
const DIGITS: u8 = 3;

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            histogram: Histogram::new(DIGITS).expect("a valid number of digits"),
            sum_ns: 0,
            blame_ns: [0; Part::COUNT],
            max_ns: 0,
            sectors: 0,
        }
    }
}

impl Latencies {
    /// Counts one request.
    #[inline]
    pub fn record(&mut self, latency: Nanos, sectors: u32, blame: &Blame) {
        let latency = latency.as_ns();
        self.sectors += u64::from(sectors);
        self.histogram.record(latency).expect("a histogram that grows as needed");
        self.sum_ns += u128::from(latency);
        self.max_ns = self.max_ns.max(latency);
        for (sum, part) in self.blame_ns.iter_mut().zip(blame) {
            *sum += u128::from(*part);
        }
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }
}

/// Page types of the host's writes, each count by type.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageTypes {
    /// Writes whose slowest page is of this type.
    pub slowest_page_type: [u64; PageType::MAX_COUNT],
    /// Pages programmed for the host that requested this type.
    pub requested: [u64; PageType::MAX_COUNT],
    /// Those among them that got this type.
    pub granted: [u64; PageType::MAX_COUNT],
}

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The request.
    pub request: Request,
    /// When it ended.
    pub end: SimTime,
    /// The parts of its latency, in nanoseconds.
    pub blame: Blame,
    /// The cause of its wait for its page; `None` if its last page operation did not wait there.
    pub behind: Option<Behind>,
}

/// Lookups of the host's pages in the buffer, and evictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BufferCounts {
    /// Pages read whose requested sectors were all in the buffer.
    pub read_hits: u64,
    /// Pages read with some or all requested sectors not in the buffer.
    pub read_misses: u64,
    /// Pages written that were in the buffer.
    pub write_hits: u64,
    /// Pages written that were not in the buffer.
    pub write_misses: u64,
    /// Pages evicted without written sectors to program.
    pub evicted_clean: u64,
    /// Pages evicted with written sectors to program.
    pub evicted_dirty: u64,
}

impl BufferCounts {
    /// Returns the share of hits among all lookups; `None` without lookups.
    pub fn hit_ratio(&self) -> Option<f64> {
        let hits = self.read_hits + self.write_hits;
        let all = hits + self.read_misses + self.write_misses;
        (all > 0).then(|| hits as f64 / all as f64)
    }
}

/// Lookups in the part of the page map that the controller holds, and their cost. Serialized in
/// results.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct MapCounts {
    /// Entries that the controller held.
    pub hits: u64,
    /// Entries that an operation had to wait for.
    pub misses: u64,
    /// Changed translation pages that were written back when they left.
    pub written_back: u64,
    /// Translation pages that were read, changed and written on the flash. Garbage collection moved
    /// pages whose entries the controller did not hold.
    pub changed_on_flash: u64,
}

impl MapCounts {
    /// Returns the share of hits among all lookups; `None` without lookups.
    pub fn hit_ratio(&self) -> Option<f64> {
        let all = self.hits + self.misses;
        (all > 0).then(|| self.hits as f64 / all as f64)
    }
}

/// Pages moved by how often they are read. Serialized in results.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct MigrationCounts {
    /// Often-read pages that were moved to better blocks.
    pub hot: u64,
    /// Pages that were moved out of better blocks to make room.
    pub cold: u64,
    /// Blocks that were emptied for that.
    pub emptied: u64,
    /// Moves that were dropped: no page was free when they started, or their page was outdated.
    pub dropped: u64,
    /// Moves whose page was written before the move ended.
    pub outdated: u64,
}

impl MigrationCounts {
    /// Returns whether a single page was to move.
    pub(crate) fn has_moves(&self) -> bool {
        self.hot + self.dropped + self.outdated > 0
    }
}

/// The measurements of the host's requests.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Latencies by queue, then by kind of request.
    pub latencies: Vec<[Latencies; Op::COUNT]>,
    /// Work of a scheduler that holds requests back: expected ends that it evaluated.
    pub scheduling_steps: u64,
    /// Pages read that no table records and that count as written before the start.
    pub unwritten_reads: u64,
    /// Writes of pages that ended with an earlier write of their page, whose program they
    /// superseded.
    pub superseded: u64,
    /// Pages read that were never written; the drive answered them without the flash.
    pub unmapped_reads: u64,
    /// Pages read that no level could decode.
    pub uncorrectable: u64,
    /// Garbage collection jobs that ended, and the pages that they moved.
    pub gc: (u64, u64),
    /// Jobs among them that ran for a subpool short of blocks.
    pub gc_for_subpools: u64,
    /// Page types of the host's writes.
    pub page_types: PageTypes,
    /// Pages of erased blocks that were never programmed.
    pub unprogrammed: u64,
    /// Jobs of static wear leveling that ended.
    pub wear_leveled: u64,
    /// Pages written for the host, by the class of their block.
    pub per_class: [u64; BlockClass::MAX_COUNT],
    /// Pages written for the host in a block of another class than requested.
    pub missed: u64,
    /// Requests dispatched by a scheduler that holds requests back: reads, then writes. Each pair
    /// counts all of them, and those that overtook another of their kind.
    pub dispatched: [(u64, u64); 2],
    /// Counts of the page buffer.
    pub buffer: BufferCounts,
    /// Counts of the page map.
    pub map: MapCounts,
    /// Pages read from the flash for the host, by the level of their last attempt.
    pub read_at: Vec<u64>,
    /// The same pages by queue, then by the number of failed attempts.
    pub read_retries: Vec<Vec<u64>>,
    /// Clean pages that were programmed once more as they left the buffer.
    pub rewritten: u64,
    /// Counts of pages moved by how often they are read.
    pub migration: MigrationCounts,
    /// Every request that has ended since the log was last emptied; only if a caller asks for it.
    pub log: Option<Vec<Ended>>,
    /// A hash of all completions so far.
    pub digest: u64,
    /// The time at which the statistics began.
    pub since: SimTime,
}

impl Stats {
    /// Creates empty statistics that begin at `since`.
    pub fn new(queues: usize, since: SimTime) -> Stats {
        Stats {
            latencies: (0..queues).map(|_| Default::default()).collect(),
            scheduling_steps: 0,
            unwritten_reads: 0,
            superseded: 0,
            unmapped_reads: 0,
            uncorrectable: 0,
            gc: (0, 0),
            gc_for_subpools: 0,
            page_types: PageTypes::default(),
            unprogrammed: 0,
            wear_leveled: 0,
            per_class: [0; BlockClass::MAX_COUNT],
            missed: 0,
            dispatched: [(0, 0); 2],
            buffer: BufferCounts::default(),
            map: MapCounts::default(),
            read_at: Vec::new(),
            read_retries: vec![Vec::new(); queues],
            rewritten: 0,
            migration: MigrationCounts::default(),
            log: None,
            digest: 0,
            since,
        }
    }

    /// Counts the end of a request. `behind` is the cause of its wait for its page.
    #[inline]
    pub fn record(
        &mut self,
        request: &Request,
        end: SimTime,
        blame: &Blame,
        behind: Option<Behind>,
    ) {
        let latency = end - request.arrival;
        let latencies = &mut self.latencies[request.queue as usize][request.op as usize];
        latencies.record(latency, request.sectors, blame);
        if let Some(log) = &mut self.log {
            log.push(Ended { request: *request, end, blame: *blame, behind });
        }
    }

    /// Counts a host page that is written in a block of this class.
    #[inline]
    pub fn granted(&mut self, hint: Option<BlockClass>, class: BlockClass) {
        self.per_class[class.index()] += 1;
        self.missed += u64::from(hint.is_some_and(|hint| hint != class));
    }

    /// Counts a host page that is written in a page of this type.
    #[inline]
    pub fn typed(&mut self, hint: Option<PageType>, page_type: PageType) {
        if let Some(hint) = hint {
            self.page_types.requested[hint.index()] += 1;
            self.page_types.granted[hint.index()] += u64::from(hint == page_type);
        }
    }

    /// Counts a page read from the flash for a queue, by its last level and its failed attempts.
    #[inline(always)]
    pub(crate) fn page_read(&mut self, queue: u8, level: Level, failed: u8) {
        let by_level = (&mut self.read_at, level.0);
        let by_failed = (&mut self.read_retries[usize::from(queue)], failed);
        for (counts, at) in [by_level, by_failed] {
            let at = usize::from(at);
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            counts[at] += 1;
        }
    }

    /// Counts a request that a scheduler dispatches.
    pub fn dispatched(&mut self, kind: OpKind, overtakes: bool) {
        let counts = &mut self.dispatched[usize::from(kind != OpKind::Read)];
        counts.0 += 1;
        counts.1 += u64::from(overtakes);
    }

    /// Adds a completion to the hash of all of them.
    #[inline]
    pub fn digest(&mut self, tag: u64, end: SimTime) {
        // One multiplication and rotation per word: each completion changes every later digest.
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (self.digest ^ tag).wrapping_mul(ODD).rotate_left(29);
        self.digest = (mixed ^ end.as_ns()).wrapping_mul(ODD).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::rng;

    use super::*;

    fn digest(completions: &[(u64, u64)]) -> u64 {
        let mut stats = Stats::new(1, SimTime::START);
        completions.iter().for_each(|&(tag, end)| stats.digest(tag, SimTime::from_ns(end)));
        stats.digest
    }

    #[test]
    fn a_digest_tells_any_bit_of_any_completion_and_their_order() {
        for seed in 0..50 {
            let draw = |n| (rng::hash(seed, 1, n), rng::hash(seed, 2, n));
            let history: Vec<(u64, u64)> = (0..4).map(draw).collect();
            let plain = digest(&history);
            for (at, bit) in (0..4).flat_map(|at| (0..64).map(move |bit| (at, bit))) {
                let mut other = history.clone();
                other[at].0 ^= 1 << bit;
                assert_ne!(digest(&other), plain, "tag {at}, bit {bit}");
                other[at] = (history[at].0, history[at].1 ^ 1 << bit);
                assert_ne!(digest(&other), plain, "end {at}, bit {bit}");
            }
            let swapped = [history[1], history[0], history[2], history[3]];
            assert_ne!(digest(&swapped), plain);
            assert_ne!(digest(&history[..3]), plain);
        }
    }

    #[test]
    fn latencies_are_summed_up_with_their_parts() {
        let mut latencies = Latencies::default();
        let mut blame = [0; Part::COUNT];
        blame[Part::Sense as usize] = 30;
        blame[Part::Transfer as usize] = 12;
        latencies.record(Nanos::from_ns(42), 8, &blame);
        latencies.record(Nanos::from_ns(42), 5, &blame);
        latencies.record(Nanos::from_ns(7), 1, &[1; Part::COUNT]);
        assert_eq!((latencies.count(), latencies.sum_ns, latencies.max_ns), (3, 91, 42));
        assert_eq!(latencies.sectors, 14);
        let sense = latencies.blame_ns[Part::Sense as usize];
        assert_eq!((sense, latencies.blame_ns[Part::Transfer as usize]), (61, 25));
        assert_eq!(latencies.histogram.value_at_quantile(0.5), 42);
    }
}
