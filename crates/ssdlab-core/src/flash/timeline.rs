//! The activities of every array unit, bus and ECC engine during a period, with their times.

use ssdlab_base::SimTime;

use super::txn::{Txn, Txns};
use super::unit::{State, Unit};
use crate::account::{Cause, OpKind};

/// An activity of a part of the back end. An array unit's activities have gaps only where the unit
/// is free, so they add up to its busy time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// An array unit waits for a read or erase command, or receives it.
    Commanded,
    /// An array unit senses.
    Sense,
    /// An array unit holds a sensed page until its cache register is free.
    Held,
    /// An array unit outputs sensed pages, until these are transferred and, if it holds them so
    /// long, decoded.
    GiveOut,
    /// An array unit receives pages to program: it waits for the bus, then for the transfer.
    TakeIn,
    /// An array unit programs.
    Program,
    /// An array unit erases.
    Erase,
    /// An array unit suspends a program or an erase.
    Suspend,
    /// An array unit aborts a sensing ahead.
    Reset,
    /// A bus transfers a command.
    Command,
    /// A bus transfers a page that was read.
    DataOut,
    /// A bus transfers a page to program.
    DataIn,
    /// An ECC engine decodes.
    Decode,
}

impl Act {
    /// Returns the activity of an array unit in this state; `None` if the unit is free.
    pub(super) const fn of(state: State) -> Option<Act> {
        Some(match state {
            State::Idle => return None,
            State::Commanded => Act::Commanded,
            State::Sensing => Act::Sense,
            State::Out => Act::GiveOut,
            State::Sensed => Act::Held,
            State::In => Act::TakeIn,
            State::Programming => Act::Program,
            State::Erasing => Act::Erase,
            State::Suspending => Act::Suspend,
            State::Resetting => Act::Reset,
        })
    }

    /// Returns the activity of a bus that serves a transaction.
    #[inline]
    pub(super) fn of_bus(txn: &Txn) -> Act {
        match txn.kind {
            _ if txn.commanded => Act::Command,
            OpKind::Read => Act::DataOut,
            _ => Act::DataIn,
        }
    }

    /// Returns the name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Act::Commanded => "commanded",
            Act::Sense => "sense",
            Act::Held => "held",
            Act::GiveOut => "register out",
            Act::TakeIn => "register in",
            Act::Program => "program",
            Act::Erase => "erase",
            Act::Suspend => "suspend",
            Act::Reset => "reset",
            Act::Command => "command",
            Act::DataOut => "data out",
            Act::DataIn => "data in",
            Act::Decode => "decode",
        }
    }
}

/// One activity of one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The part: array units first, then buses, then engines.
    pub part: u32,
    /// The activity.
    pub act: Act,
    /// The cause of the activity.
    pub cause: Cause,
    /// The logical page of the first operation served; `None` for an erase.
    pub lpn: Option<u32>,
    /// When the activity begins.
    pub start: SimTime,
    /// When the activity ends.
    pub end: SimTime,
}

/// Activities that begin before a given time, in the order of their ends.
#[derive(Clone, Debug)]
struct Record {
    until: SimTime,
    /// The current activity of each part, if it began in time.
    open: Vec<Option<Span>>,
    spans: Vec<Span>,
}

/// The recorded activities, if recording is on.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    record: Option<Box<Record>>,
}

impl Timeline {
    /// Records from now on the activities of `parts` parts that begin before `until`.
    pub(super) fn start(&mut self, parts: usize, until: SimTime) {
        let (open, spans) = (vec![None; parts], Vec::with_capacity(parts));
        self.record = Some(Box::new(Record { until, open, spans }));
    }

    /// Returns whether recording is on.
    pub(super) fn is_on(&self) -> bool {
        self.record.is_some()
    }

    /// Returns the recorded activities; one that has not ended ends at `now`.
    pub fn spans(&self, now: SimTime) -> impl Iterator<Item = Span> + '_ {
        self.record.iter().flat_map(move |record| {
            let open = record.open.iter().flatten().map(move |span| Span { end: now, ..*span });
            record.spans.iter().copied().chain(open)
        })
    }

    /// Returns the number of recorded activities, and the number with reserved memory; 0 without a
    /// recording.
    pub fn lengths(&self) -> (usize, usize) {
        let spans = self.record.as_ref().map(|record| &record.spans);
        spans.map_or((0, 0), |spans| (spans.len(), spans.capacity()))
    }

    /// Records that a part begins an activity for a transaction.
    pub(super) fn begins(&mut self, part: usize, act: Act, txn: &Txn, now: SimTime) {
        if self.is_on() {
            self.note(part, act, txn, now);
        }
    }

    #[cold]
    fn note(&mut self, part: usize, act: Act, txn: &Txn, now: SimTime) {
        let lpn = (txn.kind != OpKind::Erase).then_some(txn.lpn.0);
        self.begin(part, act, txn.cause, lpn, now);
    }

    /// Records that a unit, whose number is `part`, begins its current state.
    pub(super) fn unit_begins(&mut self, part: usize, unit: &Unit, txns: &Txns, now: SimTime) {
        self.ends(part, now);
        match Act::of(unit.state) {
            Some(act) if unit.head.is_some() => self.note(part, act, &txns[unit.head], now),
            Some(act) => self.begin(part, act, unit.cause, None, now),
            None => {}
        }
    }

    fn begin(&mut self, part: usize, act: Act, cause: Cause, lpn: Option<u32>, start: SimTime) {
        if let Some(record) = self.record.as_mut().filter(|record| start < record.until) {
            let span = Span { part: part as u32, act, cause, lpn, start, end: start };
            record.open[part] = Some(span);
        }
    }

    /// Records that a part ends its activity.
    pub(super) fn ends(&mut self, part: usize, now: SimTime) {
        if self.is_on() {
            self.end(part, now);
        }
    }

    #[cold]
    fn end(&mut self, part: usize, end: SimTime) {
        if let Some(record) = self.record.as_mut()
            && let Some(span) = record.open[part].take()
        {
            record.spans.push(Span { end, ..span });
        }
    }
}
