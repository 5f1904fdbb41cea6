//! Sorts requests that are slightly out of order.

use std::collections::VecDeque;

use crate::record::Record;

/// A request that waits for delivery. `record.at` still has the time origin of the file.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) record: Record,
    pub(crate) line: u64,
    /// The number of its device, if the trace keeps devices.
    pub(crate) device: u32,
}

/// A sorted buffer, as long as the farthest that a request may be out of place.
pub(crate) struct Order {
    window: usize,
    /// The requests, sorted by time; equal times keep the order of the file. Traces are nearly
    /// sorted, so nearly every request goes to the end. This costs less than a heap.
    held: VecDeque<Waiting>,
    /// The time of the last released request, in nanoseconds.
    released: u64,
    /// The number of requests moved to an earlier place.
    pub(crate) moved: u64,
}

impl Order {
    pub(crate) fn new(window: usize) -> Order {
        Order { window, held: VecDeque::new(), released: 0, moved: 0 }
    }

    /// Inserts the next request of the file. If its place has already been released, returns how
    /// late it is, in nanoseconds.
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

    /// Returns the next request in order, once no later line may precede it.
    pub(crate) fn pop(&mut self, ended: bool) -> Option<Waiting> {
        if self.held.len() <= self.window && !ended {
            return None;
        }
        let next = self.held.pop_front()?;
        self.released = next.record.at.as_ns();
        Some(next)
    }
}
