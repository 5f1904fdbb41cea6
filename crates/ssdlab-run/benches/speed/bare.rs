//! The bare loop: what no drive simulator with a page map and timers can do without.
//!
//! One operation is one update of a page map in both directions at a random page, and three steps
//! of a tournament tree of timers (a page operation has about three moments: the array, the bus,
//! and what frees them). Other work on the machine slows it down as it slows the simulator down, so
//! a figure in bare operations can be compared where one in seconds cannot. It shares no code with
//! the drive: its cost must not change when the drive's does.

use std::hint::black_box;

/// Logical pages: those of 16 GiB in pages of 8 KiB.
const PAGES: usize = 1 << 21;
/// Timers: the array units, buses and engines of `generic-mlc-512g`.
const TIMERS: usize = 80;
const LEAVES: usize = TIMERS.next_power_of_two();

/// A map and a tree of timers.
pub struct Bare {
    forward: Vec<u32>,
    reverse: Vec<u32>,
    /// (moment, timer); the earliest at index 1.
    tree: Vec<(u64, u32)>,
    random: u64,
    written: usize,
}

impl Bare {
    pub fn new() -> Bare {
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
        // The memory is there before the clock runs.
        bare.run(PAGES as u64);
        bare
    }

    /// Performs so many operations.
    pub fn run(&mut self, operations: u64) {
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
