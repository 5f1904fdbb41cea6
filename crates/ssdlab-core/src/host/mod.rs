//! The host's side: requests under way, and the order among those that share a page.

mod hazards;

pub use hazards::Hazards;

use ssdlab_base::SimTime;
use ssdlab_nand::PageType;

pub use crate::account::Op;
use crate::policy::PlacementHint;

/// A request as the host submits it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The host's own number for it, given back with its completion.
    pub tag: u64,
    /// When it arrived; latency counts from here. Not later than its submission.
    pub arrival: SimTime,
    /// What is asked.
    pub op: Op,
    /// The first sector.
    pub lba: u64,
    /// Sectors; of a flush 0.
    pub sectors: u32,
    /// The submission queue, 0 the one with the highest priority.
    pub queue: u8,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The host's own number for it.
    pub tag: u64,
    /// When it arrived.
    pub arrival: SimTime,
    /// When it ended.
    pub end: SimTime,
    /// Its submission queue.
    pub queue: u8,
    /// What was asked.
    pub op: Op,
}

/// Why a request is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Its queue holds as many unfinished requests as it may: offer it again when one has ended.
    Full,
    /// It reaches beyond the drive's last sector, or has no sectors, or names no queue.
    OutOfRange,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    /// As submitted.
    pub request: Request,
    /// Page operations that have not ended.
    pub remaining: u32,
    /// Pages it covers.
    pub pages: u32,
    /// Whether it counts in the statistics.
    pub counted: bool,
    /// When it was taken in, in nanoseconds.
    pub transferred_in: u64,
    /// The place of its first page in the order of coming.
    pub arrival_seq: u64,
    /// Whether an order that holds requests back has let a part of it go.
    pub dispatched: bool,
    /// What the pages of a write should be like.
    pub hint: PlacementHint,
    /// The highest type of the pages that it was given.
    pub page_type: Option<PageType>,
}

/// Requests under way.
#[derive(Clone, Debug)]
pub struct Host {
    slots: Vec<Active>,
    free: Vec<u32>,
    depth: u32,
    /// Unfinished requests of each queue.
    unfinished: Box<[u32]>,
    /// The order among operations on the same page.
    pub hazards: Hazards,
    /// Requests that have ended and were not handed over.
    pub completions: Vec<Completion>,
}

impl Host {
    /// No requests, and `queues` queues of `depth` unfinished requests at most.
    pub fn new(queues: u8, depth: u32) -> Host {
        Host {
            slots: Vec::new(),
            free: Vec::new(),
            depth,
            unfinished: vec![0; queues as usize].into_boxed_slice(),
            hazards: Hazards::default(),
            completions: Vec::new(),
        }
    }

    /// Submission queues.
    pub fn queues(&self) -> usize {
        self.unfinished.len()
    }

    /// Whether a queue takes one more request.
    #[inline]
    pub fn has_room(&self, queue: u8) -> bool {
        self.unfinished[queue as usize] < self.depth
    }

    /// Unfinished requests of all queues.
    pub fn unfinished(&self) -> u32 {
        self.unfinished.iter().sum()
    }

    /// The requests under way, each with its slot.
    pub fn under_way(&self) -> impl Iterator<Item = (u32, &Active)> {
        let mut live = vec![true; self.slots.len()];
        self.free.iter().for_each(|&slot| live[slot as usize] = false);
        (0..).zip(&self.slots).filter(move |(slot, _)| live[*slot as usize])
    }

    /// Takes a request in; its slot.
    #[inline]
    pub fn insert(&mut self, active: Active) -> u32 {
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

    /// Leaves the requests under way out of the statistics.
    pub fn forget_counted(&mut self) {
        self.slots.iter_mut().for_each(|active| active.counted = false);
    }

    /// Ends a request's page operation, or its coming; true if it was the last.
    #[inline]
    pub fn part_ended(&mut self, slot: u32) -> bool {
        let remaining = &mut self.slots[slot as usize].remaining;
        *remaining -= 1;
        *remaining == 0
    }

    /// Ends a request.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        self.unfinished[self.slots[slot as usize].request.queue as usize] -= 1;
        self.free.push(slot);
    }
}

impl std::ops::Index<u32> for Host {
    type Output = Active;
    #[inline]
    fn index(&self, slot: u32) -> &Active {
        &self.slots[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Host {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Active {
        &mut self.slots[slot as usize]
    }
}
