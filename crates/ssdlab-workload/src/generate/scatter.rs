//! Shuffles 0..n without a table.

use ssdlab_base::rng::hash;

/// A seeded bijection of `0..count` onto itself.
///
/// Applies rounds of invertible steps on the smallest power of two that holds `count`. Repeats them
/// until the result is below `count`, fewer than two times on average.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    mask: u64,
    shift: u32,
    /// An odd factor and an addend for each round.
    rounds: [(u64, u64); 4],
}

impl Scatter {
    pub(crate) fn new(count: u64, seed: u64) -> Scatter {
        assert!(count > 0, "a shuffle of nothing");
        let bits = u64::BITS - (count - 1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) };
        let round = |index: u64| (hash(seed, 2 * index, 0) | 1, hash(seed, 2 * index + 1, 0));
        // Half the bits, rounded up: a second x ^ (x >> shift) then undoes the first.
        let shift = bits.div_ceil(2).max(1);
        Scatter { count, mask, shift, rounds: [0, 1, 2, 3].map(round) }
    }

    /// Returns the shuffled position of `index`.
    pub(crate) fn place(&self, index: u64) -> u64 {
        debug_assert!(index < self.count, "{index} is not below {}", self.count);
        let mut word = index;
        loop {
            for (factor, addend) in self.rounds {
                word = word.wrapping_mul(factor).wrapping_add(addend) & self.mask;
                word ^= word >> self.shift;
            }
            if word < self.count {
                return word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scatter;

    #[test]
    fn every_place_is_taken_once() {
        for count in [1, 2, 3, 5, 64, 1000, 4096, 4097] {
            for seed in 0..8 {
                let scatter = Scatter::new(count, seed);
                let mut places: Vec<u64> = (0..count).map(|index| scatter.place(index)).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..count), "count {count}, seed {seed}");
            }
        }
    }

    #[test]
    fn neighbors_are_scattered_over_the_whole() {
        // The mean distance of two independent uniform places is a third of the range. With 1000
        // pairs, its standard error is sqrt(1/18 / 1000) = 0.0075.
        let count = 1 << 20;
        let scatter = Scatter::new(count, 7);
        let distance = |i| scatter.place(i).abs_diff(scatter.place(i + 1)) as f64 / count as f64;
        let mean = (0..1000).map(|i| distance(2 * i)).sum::<f64>() / 1000.0;
        assert!((mean - 1.0 / 3.0).abs() < 5.0 * 0.0075, "{mean}");
    }
}
