//! Named, reproducible random numbers.
//!
//! There are two kinds:
//! - A *stream* is a separate generator for each user of random numbers. An additional draw in one
//!   stream does not change the other streams.
//! - A *hash* is a draw that depends only on a seed, a purpose and an address. The order in which a
//!   run visits addresses does not matter.

use rand_xoshiro::rand_core::SeedableRng;

/// The generator behind every stream.
pub type Stream = rand_xoshiro::Xoshiro256PlusPlus;

/// Returns the stream called `name` of the run with this seed.
pub fn stream(seed: u64, name: &str) -> Stream {
    let named = name.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte)));
    Stream::seed_from_u64(named)
}

/// Mixes one word into a 64-bit value with SplitMix64's finalizer.
pub const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
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
