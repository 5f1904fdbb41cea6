//! The sizes of requests.

use std::collections::BTreeMap;

use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;

/// Sizes of the requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SizeFigures {
    /// Mean, in bytes.
    pub mean_bytes: f64,
    /// Median, in bytes: half of the requests are not larger.
    pub median_bytes: u64,
    /// The largest size, in bytes.
    pub max_bytes: u64,
    /// Requests by size class, smallest first. A class covers sizes above half of `up_to_bytes`, up
    /// to it.
    pub histogram: Vec<SizeCount>,
}

/// The requests in one size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// The largest size of the class in bytes, a power of two.
    pub up_to_bytes: u64,
    /// The number of requests.
    pub requests: u64,
}

/// Counts requests by their exact size.
#[derive(Default)]
pub(super) struct Sizes {
    /// Counts of small sizes by their number of sectors; nearly all sizes are small.
    small: Vec<u64>,
    large: BTreeMap<u32, u64>,
}

/// The sectors below which a size is small: half a mebibyte.
const SMALL: usize = 1024;

impl Sizes {
    pub(super) fn take(&mut self, sectors: u32) {
        if self.small.is_empty() {
            self.small.resize(SMALL, 0);
        }
        match self.small.get_mut(sectors as usize) {
            Some(count) => *count += 1,
            None => *self.large.entry(sectors).or_default() += 1,
        }
    }

    /// Returns the statistics of the sizes, or `None` if nothing was counted.
    pub(super) fn finish(&self) -> Option<SizeFigures> {
        let small = self.small.iter().enumerate().map(|(sectors, count)| (sectors as u64, *count));
        let large = self.large.iter().map(|(sectors, count)| (u64::from(*sectors), *count));
        let counts: Vec<(u64, u64)> = small.filter(|(_, count)| *count > 0).chain(large).collect();
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let (max, _) = *counts.last()?;
        let mut below = 0;
        let median = counts.iter().find(|(_, count)| {
            below += count;
            below * 2 >= total
        });
        let bytes: f64 = counts.iter().map(|(sectors, count)| (sectors * count) as f64).sum();
        let mut histogram: Vec<SizeCount> = Vec::new();
        for (sectors, requests) in &counts {
            let up_to_bytes = (sectors * SECTOR_BYTES).max(1).next_power_of_two();
            match histogram.last_mut() {
                Some(last) if last.up_to_bytes == up_to_bytes => last.requests += requests,
                _ => histogram.push(SizeCount { up_to_bytes, requests: *requests }),
            }
        }
        Some(SizeFigures {
            mean_bytes: bytes * SECTOR_BYTES as f64 / total as f64,
            median_bytes: median.map_or(0, |(sectors, _)| sectors * SECTOR_BYTES),
            max_bytes: max * SECTOR_BYTES,
            histogram,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{SizeCount, Sizes};

    #[test]
    fn sizes_are_exact() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.finish(), None);
        [8, 8, 9, 16, 2048, 1].into_iter().for_each(|sectors| sizes.take(sectors));
        let found = sizes.finish().unwrap();
        assert_eq!((found.median_bytes, found.max_bytes), (4096, 1 << 20));
        assert!((found.mean_bytes - 2090.0 * 512.0 / 6.0).abs() < 1e-6);
        let count = |up_to_bytes, requests| SizeCount { up_to_bytes, requests };
        let want = [count(512, 1), count(4096, 2), count(8192, 2), count(1 << 20, 1)];
        assert_eq!(found.histogram, want);
    }
}
