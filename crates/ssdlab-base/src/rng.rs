//! Chance, named and reproducible.
//!
//! Two kinds: a *stream* (a generator of its own for each user of chance, so that one more draw
//! here changes nothing there) and a *hash* (a draw that depends on a seed and an address alone,
//! so that the order in which addresses are visited does not matter).

use rand_xoshiro::rand_core::SeedableRng;

/// The generator behind every stream.
pub type Stream = rand_xoshiro::Xoshiro256PlusPlus;

/// The stream called `name` of the run with this seed.
pub fn stream(seed: u64, name: &str) -> Stream {
    let named = name.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte)));
    Stream::seed_from_u64(named)
}

/// A well-mixed 64-bit function of one word (SplitMix64's finaliser).
pub const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A draw that depends on a seed, a purpose and an address alone.
pub const fn hash(seed: u64, purpose: u64, address: u64) -> u64 {
    mix(mix(seed ^ mix(purpose)) ^ address)
}

/// A number in [0, 1) from the upper bits of `word`.
pub fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A whole number in [0, bound) from all bits of `word`; `bound` must not be 0.
pub const fn below(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}
