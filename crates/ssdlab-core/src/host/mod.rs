//! Requests in progress, and the order of operations on the same page.

mod hazards;
mod writes;

pub(crate) use hazards::Hazards;
pub(crate) use writes::{Acquired, Programmed, Write};

use ssdlab_base::SimTime;
use ssdlab_nand::PageType;

pub use crate::account::Op;
use crate::policy::PlacementHint;

/// A request as the host submits it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The host's own number for the request, returned with its completion.
    pub tag: u64,
    /// Arrival time, the start of the latency; not later than the submission.
    pub arrival: SimTime,
    /// The operation.
    pub op: Op,
    /// The first sector.
    pub lba: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u32,
    /// The submission queue; 0 has the highest priority.
    pub queue: u8,
    /// Latency hint of the host: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The host's own number for the request.
    pub tag: u64,
    /// When the request arrived.
    pub arrival: SimTime,
    /// When the request ended.
    pub end: SimTime,
    /// The submission queue.
    pub queue: u8,
    /// The operation.
    pub op: Op,
}

/// Why the drive refuses a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Its queue is full; submit the request again after one of the queue's requests has ended.
    Full,
    /// The request reaches beyond the last sector, has no sectors, or names no queue.
    OutOfRange,
}

/// A request in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    /// The request as submitted.
    pub request: Request,
    /// Page operations that have not ended, plus one while the drive still accepts the request.
    pub remaining: u32,
    /// Pages it covers.
    pub pages: u32,
    /// Whether the statistics count the request.
    pub counted: bool,
    /// When the drive accepted the request.
    pub transferred_in: SimTime,
    /// Position of its first page in the order of arrival.
    pub arrival_seq: u64,
    /// Whether a scheduler that holds requests back has dispatched a part of it.
    pub dispatched: bool,
    /// The placement hint for the pages of a write.
    pub hint: PlacementHint,
    /// The highest type among the pages that it was given.
    pub page_type: Option<PageType>,
}

/// The requests in progress.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    slots: Vec<Active>,
    free: Vec<u32>,
    depth: u32,
    /// Unfinished requests of each queue.
    unfinished: Box<[u32]>,
    /// The order of operations on the same page.
    pub hazards: Hazards,
    /// Completions that the caller has not taken yet.
    pub completions: Vec<Completion>,
}

impl Host {
    /// Creates `queues` queues, each for at most `depth` unfinished requests. `supersedes` tells
    /// whether later writes of a page supersede earlier ones.
    pub(crate) fn new(queues: u8, depth: u32, supersedes: bool) -> Host {
        Host {
            slots: Vec::new(),
            free: Vec::new(),
            depth,
            unfinished: vec![0; queues as usize].into_boxed_slice(),
            hazards: Hazards::new(supersedes),
            completions: Vec::new(),
        }
    }

    /// Returns the number of submission queues.
    pub(crate) fn queues(&self) -> usize {
        self.unfinished.len()
    }

    /// Returns whether a queue accepts one more request.
    pub(crate) fn has_room(&self, queue: u8) -> bool {
        self.unfinished[queue as usize] < self.depth
    }

    /// Returns the number of unfinished requests of all queues.
    pub(crate) fn unfinished(&self) -> u32 {
        self.unfinished.iter().sum()
    }

    /// Returns the requests in progress, each with its slot.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = (u32, &Active)> {
        let mut live = vec![true; self.slots.len()];
        self.free.iter().for_each(|&slot| live[slot as usize] = false);
        (0..).zip(&self.slots).filter(move |(slot, _)| live[*slot as usize])
    }

    /// Accepts a request; returns its slot.
    #[inline]
    pub(crate) fn insert(&mut self, active: Active) -> u32 {
        self.unfinished[active.request.queue as usize] += 1;
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = active;
                slot
            }
            None => {
                self.slots.push(active);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Excludes the requests in progress from the statistics.
    pub(crate) fn forget_counted(&mut self) {
        self.slots.iter_mut().for_each(|active| active.counted = false);
    }

    /// Ends a page operation of a request, or its acceptance; returns true if it was the last part.
    #[inline]
    pub(crate) fn end_part(&mut self, slot: u32) -> bool {
        let remaining = &mut self.slots[slot as usize].remaining;
        *remaining -= 1;
        *remaining == 0
    }

    /// Removes a request that has ended.
    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        self.unfinished[self.slots[slot as usize].request.queue as usize] -= 1;
        self.free.push(slot);
    }
}

impl std::ops::Index<u32> for Host {
    type Output = Active;
    fn index(&self, slot: u32) -> &Active {
        &self.slots[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Host {
    fn index_mut(&mut self, slot: u32) -> &mut Active {
        &mut self.slots[slot as usize]
    }
}
