//! An array unit: what performs one array operation at a time. A plane where planes are
//! independent, a die where planes share a command decoder.

use ssdlab_nand::PlaneId;

use super::txn::TxnId;
use crate::account::{Cause, OpKind};

/// What a unit does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing.
    Idle,
    /// Waiting for the command to read or to erase, or taking it in.
    Commanded,
    /// Sensing pages into its registers.
    Sensing,
    /// Holding sensed pages until they are transferred and, if so configured, decoded.
    Out,
    /// Holding sensed pages until the cache register is free.
    Sensed,
    /// Taking in the pages that it will program.
    In,
    /// Programming.
    Programming,
    /// Erasing.
    Erasing,
    /// Setting a program or an erase aside.
    Suspending,
    /// Giving up what it sensed ahead.
    Resetting,
}

/// What a unit senses while it gives out the attempt before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ahead {
    /// Nothing.
    Nothing,
    /// The next attempt.
    Sensing,
    /// The next attempt was sensed and waits.
    Sensed,
}

/// A program or an erase that was interrupted.
#[derive(Clone, Copy, Debug)]
pub struct Aside {
    pub head: TxnId,
    pub kind: OpKind,
    pub cause: Cause,
    /// Nanoseconds of array time it still needs.
    pub remaining: u64,
}

/// The array time of the program or erase that is in service or set aside; only where those may be
/// interrupted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Nanoseconds that it takes if nothing of it is dropped.
    pub total: u64,
    /// When the array last began to work for it, or will once it has been resumed.
    pub since: u64,
    /// Nanoseconds that the array worked for it before.
    pub worked: u64,
    /// Nanoseconds of those that were dropped.
    pub dropped: u64,
    /// The loop that was dropped last, from 0, and how often.
    pub looped: u8,
    pub aborts: u8,
    /// Nanoseconds that are left when its loop ends, if it is to be set aside then; else 0.
    pub beyond: u64,
}

impl Work {
    /// Where a loop begins, in nanoseconds of array time.
    fn start_of(&self, turn: u8, loops: u8) -> u64 {
        self.total * u64::from(turn) / u64::from(loops)
    }

    /// The loop that is under way when so much is left.
    pub fn turn(&self, left: u64, loops: u8) -> u8 {
        let done = self.total - left;
        let turn = ((done + 1) * u64::from(loops) - 1) / self.total.max(1);
        turn.min(u64::from(loops) - 1) as u8
    }

    /// Nanoseconds that are left when a loop begins.
    pub fn left_at(&self, turn: u8, loops: u8) -> u64 {
        self.total - self.start_of(turn, loops)
    }

    /// How often a loop has been dropped.
    pub fn aborts_of(&self, turn: u8) -> u8 {
        if self.looped == turn { self.aborts } else { 0 }
    }
}

/// One array unit.
#[derive(Clone, Debug)]
pub struct Unit {
    pub state: State,
    /// The first of the transactions in service, linked by `sibling`.
    pub head: TxnId,
    /// Transactions in service that have still to be transferred or decoded.
    pub pending: u8,
    /// Pages in the cache register that have still to be transferred.
    pub cached: u8,
    /// How often the operation in service has been suspended.
    pub suspended: u8,
    /// Nanoseconds of array time that it still needed when it was last suspended; resuming it
    /// takes time but does not add to these.
    pub left: u64,
    pub ahead: Ahead,
    /// When the attempt before the one that it senses will fail, where that is foreseen.
    pub fails_at: u64,
    pub aside: Option<Aside>,
    pub work: Work,
    /// The reads that were set aside last; below them, by `next`, those set aside before, which
    /// others of a higher rank overtook.
    pub reads_aside: TxnId,
    /// How many they are in all, those that the planes do together counted as one.
    pub reads_waiting: u8,
    /// Operations of the host that began past others of a lower rank since one of those had a turn.
    pub passes: u16,
    /// Its first plane, and how many it has.
    pub first_plane: PlaneId,
    pub planes: u32,
    pub channel: u16,
    /// Transactions in the queues of its planes.
    pub waiting: u32,
    /// Whether it is listed as waiting to be served.
    pub listed: bool,
    /// What the operation in service is for, and since when it is counted.
    pub cause: Cause,
    pub since: u64,
    /// Nanoseconds given to each cause, up to `since`.
    pub busy: [u64; Cause::COUNT],
}

impl Unit {
    pub fn new(first_plane: PlaneId, planes: u32, channel: u16) -> Unit {
        Unit {
            state: State::Idle,
            head: TxnId::NONE,
            pending: 0,
            cached: 0,
            suspended: 0,
            left: u64::MAX,
            ahead: Ahead::Nothing,
            fails_at: 0,
            aside: None,
            work: Work::default(),
            reads_aside: TxnId::NONE,
            reads_waiting: 0,
            passes: 0,
            first_plane,
            planes,
            channel,
            waiting: 0,
            listed: false,
            cause: Cause::Host,
            since: 0,
            busy: [0; Cause::COUNT],
        }
    }

    /// Whether anything waits for it or was set aside.
    #[inline]
    pub fn has_to_do(&self) -> bool {
        self.waiting > 0 || self.aside.is_some() || self.reads_aside.is_some()
    }

    /// Counts the time of the operation in service up to `now`.
    #[inline]
    pub fn settle(&mut self, now: u64) {
        if self.state != State::Idle {
            self.busy[self.cause as usize] += now - self.since;
        }
        self.since = now;
    }

    /// Nanoseconds in service until `now`.
    pub fn busy(&self, now: u64) -> u64 {
        let current = if self.state == State::Idle { 0 } else { now - self.since };
        self.busy.iter().sum::<u64>() + current
    }
}
