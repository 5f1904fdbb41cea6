//! The bare loop: the work that every drive simulator with a page map and timers must do.
//!
//! One operation updates a page map in both directions at a random page. It also takes three steps
//! in a tournament tree of timers, because a page operation has about three events: array, bus and
//! release. Other work on the machine slows the bare loop and the simulator alike. Figures in bare
//! operations are therefore comparable where figures in seconds are not. The bare loop shares no
//! code with the drive, so that its cost does not change with the drive's.

use std::hint::black_box;

/// Logical pages: those of 16 GiB in pages of 8 KiB.
const PAGES: usize = 1 << 21;
/// Timers: the array units, buses and engines of `generic-mlc-512g`.
const TIMERS: usize = 80;
const LEAVES: usize = TIMERS.next_power_of_two();

/// A page map and a tree of timers.
pub(crate) struct Bare {
    forward: Vec<u32>,
    reverse: Vec<u32>,
    /// Pairs of time and timer. The earliest is at index 1.
    tree: Vec<(u64, u32)>,
    random: u64,
    written: usize,
}

impl Bare {
    pub(crate) fn new() -> Bare {
        let mut bare = Bare {
            forward: vec![0; PAGES],
            reverse: vec![0; PAGES],
            tree: vec![(u64::MAX, 0); 2 * LEAVES],
            random: 1,
            written: 0,
        };
        for timer in 0..TIMERS {
            bare.set(timer, timer as u64);
        }
        // Touch all memory before the clock starts.
        bare.run(PAGES as u64);
        bare
    }

    /// Performs this many operations.
    pub(crate) fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            // xorshift64 (Marsaglia).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let page = self.random as usize % PAGES;
            self.written = (self.written + 1) % PAGES;
            self.forward[page] = self.written as u32;
            self.reverse[self.written] = page as u32;
            for step in 0..3 {
                let (moment, timer) = self.tree[1];
                self.set(timer as usize, moment + 1 + (self.random >> (20 * step)) % (1 << 20));
            }
        }
        black_box(&self.forward);
    }

    fn set(&mut self, timer: usize, moment: u64) {
        let mut node = LEAVES + timer;
        self.tree[node] = (moment, timer as u32);
        while node > 1 {
            node /= 2;
            let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
            self.tree[node] = if right.0 < left.0 { right } else { left };
        }
    }
}
