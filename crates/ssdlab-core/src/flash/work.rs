//! The array time of a program or an erase, which may be interrupted and drop loops.

use ssdlab_base::{Nanos, SimTime};

/// The array time of the program or erase in service or suspended; recorded only where these may be
/// interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Array time without repeated loops.
    pub total: Nanos,
    /// When the array last started to work for it, or will after the resume.
    pub since: SimTime,
    /// Array time before `since`.
    pub worked: Nanos,
    /// The part of that time that was dropped.
    pub dropped: Nanos,
    /// The loop that was dropped last, counted from 0, and how often.
    pub looped: u8,
    pub aborts: u8,
    /// Time left at the end of the current loop, if a suspension is due then; else zero.
    pub beyond: Nanos,
}

impl Work {
    /// Returns the array time at which a loop begins.
    fn start_of(&self, current_loop: u8, loops: u8) -> Nanos {
        self.total * u64::from(current_loop) / u64::from(loops)
    }

    /// Returns the current loop when this much time is left.
    pub(crate) fn current_loop(&self, left: Nanos, loops: u8) -> u8 {
        let done = (self.total - left).as_ns();
        let current_loop = ((done + 1) * u64::from(loops) - 1) / self.total.as_ns().max(1);
        current_loop.min(u64::from(loops) - 1) as u8
    }

    /// Returns the time that is left when a loop begins.
    pub(crate) fn left_at(&self, current_loop: u8, loops: u8) -> Nanos {
        self.total - self.start_of(current_loop, loops)
    }

    /// Drops the current loop when this much time is left. Returns the time that is left when the
    /// loop begins again.
    pub(crate) fn drop_loop(&mut self, left: Nanos, loops: u8) -> Nanos {
        let current_loop = self.current_loop(left, loops);
        let whole = self.left_at(current_loop, loops);
        self.aborts = self.aborts_of(current_loop).saturating_add(1);
        self.looped = current_loop;
        self.dropped += whole - left;
        whole
    }

    /// Returns how often a loop was dropped.
    pub(crate) fn aborts_of(&self, current_loop: u8) -> u8 {
        if self.looped == current_loop { self.aborts } else { 0 }
    }
}
