//! The activities of every array unit, bus and ECC engine during a period, with their times.

use ssdlab_base::SimTime;

use super::channels::Channel;
use super::unit::State;
use super::{Flash, TxnId, UnitId};
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
pub struct Timeline {
    until: SimTime,
    /// The current activity of each part, if it began in time.
    open: Vec<Option<Span>>,
    spans: Vec<Span>,
}

impl Timeline {
    /// Creates an empty timeline of `parts` parts; it omits activities that begin at `until` or
    /// later.
    pub fn new(parts: usize, until: SimTime) -> Timeline {
        Timeline { until, open: vec![None; parts], spans: Vec::with_capacity(parts) }
    }

    /// Begins an activity of a part.
    pub fn begin(&mut self, part: usize, act: Act, cause: Cause, lpn: Option<u32>, start: SimTime) {
        if start < self.until {
            let span = Span { part: part as u32, act, cause, lpn, start, end: start };
            self.open[part] = Some(span);
        }
    }

    /// Ends the activity of a part.
    #[cold]
    pub fn end(&mut self, part: usize, end: SimTime) {
        if let Some(span) = self.open[part].take() {
            self.spans.push(Span { end, ..span });
        }
    }

    /// Returns all activities; one that has not ended ends at `now`.
    fn spans(&self, now: SimTime) -> impl Iterator<Item = Span> + '_ {
        let open = self.open.iter().flatten().map(move |span| Span { end: now, ..*span });
        self.spans.iter().copied().chain(open)
    }
}

impl Flash {
    /// Records the activities of every part that begin before `until`. Those in progress count from
    /// `now`.
    pub fn record(&mut self, now: SimTime, until: SimTime) {
        self.timeline = Some(Box::new(Timeline::new(self.channels.slots(), until)));
        for id in (0..self.units.count() as u32).map(UnitId) {
            self.note_state(id, self.units[id].state, now);
        }
        for channel in 0..self.channels.count() {
            let Channel { bus, engine } = &self.channels[channel];
            let (carried, decoded) = (bus.holder(), engine.holder());
            if let Some(id) = carried {
                self.begins(self.channels.bus_slot(channel), self.carries(id), id, now);
            }
            if let Some(id) = decoded {
                self.begins(self.channels.engine_slot(channel), Act::Decode, id, now);
            }
        }
    }

    /// Returns the activities recorded until `now`.
    pub fn timeline(&self, now: SimTime) -> impl Iterator<Item = Span> + '_ {
        self.timeline.iter().flat_map(move |timeline| timeline.spans(now))
    }

    /// Returns the number of recorded activities, and the number with reserved memory; 0 without a
    /// recording.
    pub fn spans(&self) -> (usize, usize) {
        let spans = self.timeline.as_ref().map(|timeline| &timeline.spans);
        spans.map_or((0, 0), |spans| (spans.len(), spans.capacity()))
    }

    /// Returns the activity of a bus for a transaction.
    #[inline]
    pub(super) fn carries(&self, id: TxnId) -> Act {
        let txn = &self.txns[id];
        match txn.kind {
            _ if txn.commanded => Act::Command,
            OpKind::Read => Act::DataOut,
            _ => Act::DataIn,
        }
    }

    /// Sets the state of a unit from now on.
    #[inline]
    pub(super) fn set_state(&mut self, id: UnitId, state: State, now: SimTime) {
        self.units[id].state = state;
        if self.timeline.is_some() {
            self.note_state(id, state, now);
        }
    }

    #[cold]
    fn note_state(&mut self, id: UnitId, state: State, now: SimTime) {
        let unit = id.index();
        self.ends(unit, now);
        let (head, cause) = (self.units[id].head, self.units[id].cause);
        match Act::of(state) {
            Some(act) if head.is_some() => self.begins(unit, act, head, now),
            Some(act) => {
                let timeline = self.timeline.as_mut();
                timeline.into_iter().for_each(|all| all.begin(unit, act, cause, None, now));
            }
            None => {}
        }
    }

    /// Records that a part begins an activity for a transaction.
    #[inline]
    pub(super) fn begins(&mut self, part: usize, act: Act, id: TxnId, now: SimTime) {
        if self.timeline.is_some() {
            self.note(part, act, id, now);
        }
    }

    #[cold]
    fn note(&mut self, part: usize, act: Act, id: TxnId, now: SimTime) {
        if let Some(timeline) = self.timeline.as_mut() {
            let txn = &self.txns[id];
            let lpn = (txn.kind != OpKind::Erase).then_some(txn.lpn.0);
            timeline.begin(part, act, txn.cause, lpn, now);
        }
    }

    /// Records that a part ends its activity.
    #[inline]
    pub(super) fn ends(&mut self, part: usize, now: SimTime) {
        if let Some(timeline) = self.timeline.as_mut() {
            timeline.end(part, now);
        }
    }
}
