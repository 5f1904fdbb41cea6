//! Named, reproducible random numbers.
//!
//! There are two kinds:
//! - A *stream* is a separate generator for each user of random numbers. An additional draw in one
//!   stream does not change the other streams.
//! - A *hash* is a draw that depends only on a seed, a purpose and an address. The order in which a
//!   run visits addresses does not matter.

use std::convert::Infallible;

use rand::TryRng;

/// The generator behind every stream. Source: D. Blackman and S. Vigna, "xoshiro256++ 1.0".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    words: [u64; 4],
}

/// Returns the stream called `name` of the run with this seed.
pub fn stream(seed: u64, name: &str) -> Stream {
    let mut state = name.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte)));
    let words = [(); 4].map(|()| {
        let word = mix(state);
        state = state.wrapping_add(GOLDEN);
        word
    });
    Stream { words }
}

impl Stream {
    /// Returns the state of the generator, for a state file. Any words are a state; from four
    /// zeros,
    /// every draw is 0.
    pub fn words(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // The lowest bits depend on each other linearly.
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let [a, b, c, d] = &mut self.words;
        let drawn = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        Ok(drawn)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let Ok(word) = self.try_next_u64();
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// The step between two states of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes one word into a 64-bit value with SplitMix64's finalizer.
pub const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns a draw that depends only on a seed, a purpose and an address.
pub const fn hash(seed: u64, purpose: u64, address: u64) -> u64 {
    mix(mix(seed ^ mix(purpose)) ^ address)
}

/// Returns a number in [0, 1) from the upper 53 bits of `word`.
pub fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Returns a whole number in [0, bound) from all bits of `word`; `bound` must not be 0.
pub const fn below(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn a_stream_draws_as_the_published_generator_and_continues_from_its_words() {
        for (seed, name) in [(1, "gc.victim"), (u64::MAX, ""), (7, "start.draw")] {
            let mut own = stream(seed, name);
            let named = name.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte)));
            let mut published = Xoshiro256PlusPlus::seed_from_u64(named);
            for _ in 0..100 {
                assert_eq!(own.next_u64(), published.next_u64());
            }
            assert_eq!(own.next_u32(), published.next_u32());
            let [mut bytes, mut expected] = [[0; 13]; 2];
            own.fill_bytes(&mut bytes);
            published.fill_bytes(&mut expected);
            assert_eq!(bytes, expected);
            let mut other = stream(0, "another");
            other.words().copy_from_slice(own.words());
            assert_eq!([(); 9].map(|()| other.next_u64()), [(); 9].map(|()| own.next_u64()));
        }
    }
}
