//! Numbers in an order that looks random.

use ssdlab_base::rng;

/// The numbers below `count`, each once, in an order that looks random: a four-round Feistel
/// network over the next power of four. It is applied again until the result lies below `count`.
pub(crate) struct Shuffled {
    next: u32,
    count: u32,
    half: u32,
    /// The round function: the output for each half, round by round.
    rounds: Vec<u16>,
    /// Places in a list whose number is not below `count` yet.
    outside: Vec<u16>,
}

impl Shuffled {
    const ROUNDS: u64 = 4;

    pub(crate) fn new(count: u32, key: u64) -> Shuffled {
        let bits = 32 - count.max(2).leading_zeros();
        let half = bits.div_ceil(2);
        let halves = 0..1u64 << half;
        let mask = halves.end - 1;
        let rounds = (0..Shuffled::ROUNDS).flat_map(|round| {
            halves.clone().map(move |right| (rng::mix(key ^ (right << 8) ^ round) & mask) as u16)
        });
        Shuffled { next: 0, count, half, rounds: rounds.collect(), outside: Vec::new() }
    }

    fn scramble(&self, number: u32) -> u32 {
        let mask = (1u32 << self.half) - 1;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for round in 0..Shuffled::ROUNDS as u32 {
            let word = self.rounds[(round << self.half | right) as usize];
            (left, right) = (right, left ^ u32::from(word));
        }
        left << self.half | right
    }

    /// Returns the next numbers, at most 65,536. All of them are computed together: a single one
    /// would wait for each of its steps.
    pub(crate) fn next(&mut self, numbers: &mut [u32]) {
        debug_assert!(self.next + numbers.len() as u32 <= self.count, "no more than there are");
        self.outside.resize(numbers.len().max(self.outside.len()), 0);
        let mut outside = 0;
        for (at, number) in (0..).zip(&mut *numbers) {
            *number = self.scramble(self.next + u32::from(at));
            self.outside[outside] = at;
            outside += usize::from(*number >= self.count);
        }
        self.next += numbers.len() as u32;
        while outside > 0 {
            let walking = std::mem::take(&mut outside);
            for walker in 0..walking {
                let at = self.outside[walker];
                let number = &mut numbers[usize::from(at)];
                *number = self.scramble(*number);
                self.outside[outside] = at;
                outside += usize::from(*number >= self.count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_gives_every_number_once() {
        for count in [1, 2, 3, 100, 4096, 5000] {
            let mut shuffled = Shuffled::new(count, 7);
            let mut numbers = vec![0; count as usize];
            numbers.chunks_mut(60).for_each(|chunk| shuffled.next(chunk));
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count), "{count}");
        }
    }
}
