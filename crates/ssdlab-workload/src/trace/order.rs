//! Puts requests that are a little out of order where they belong.

use std::collections::VecDeque;

use crate::record::Record;

/// A request on its way out. `record.at` still counts from whatever the file counts from.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) record: Record,
    pub(crate) line: u64,
    /// The number of its device, if devices are remembered.
    pub(crate) device: u32,
}

/// Holds back as many requests as one may be out of place, sorted.
pub(crate) struct Order {
    window: usize,
    /// Sorted by time; equal times in the order of the file. Traces are nearly sorted, so that
    /// nearly every request goes to the end: cheaper than a heap.
    held: VecDeque<Waiting>,
    /// The time of the request released last.
    released: u64,
    /// How many requests were moved.
    pub(crate) moved: u64,
}

impl Order {
    pub(crate) fn new(window: usize) -> Order {
        Order { window, held: VecDeque::new(), released: 0, moved: 0 }
    }

    /// Takes the next request of the file; if its place has been passed already, by how much.
    pub(crate) fn push(&mut self, next: Waiting) -> Result<(), u64> {
        let time = next.record.at;
        match self.held.back() {
            Some(last) if last.record.at > time => {
                let place = self.held.partition_point(|held| held.record.at <= time);
                if place == 0 && time.as_ns() < self.released {
                    return Err(self.released - time.as_ns());
                }
                self.held.insert(place, next);
                self.moved += 1;
            }
            None if time.as_ns() < self.released => return Err(self.released - time.as_ns()),
            _ => self.held.push_back(next),
        }
        Ok(())
    }

    /// The next request in order, once nothing that may still come can be due before it.
    pub(crate) fn pop(&mut self, ended: bool) -> Option<Waiting> {
        if self.held.len() <= self.window && !ended {
            return None;
        }
        let next = self.held.pop_front()?;
        self.released = next.record.at.as_ns();
        Some(next)
    }
}
