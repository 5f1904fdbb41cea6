//! What every array unit, bus and ECC engine does, moment by moment, for a while.

use super::unit::State;
use super::{Flash, TxnId, UnitId};
use crate::account::{Cause, OpKind};

/// What a part of the back end does. What an array unit does has no gaps but where it is free, so
/// that its spans sum to the time in which it counts as busy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// An array unit waits for the command to read or to erase, or takes it in.
    Commanded,
    /// An array unit senses.
    Sense,
    /// An array unit holds what it sensed until its cache register is free.
    Held,
    /// An array unit gives out what it sensed: until that has been carried away and, if it is held
    /// for so long, decoded.
    GiveOut,
    /// An array unit takes in what it will program: waits for the bus and is filled.
    TakeIn,
    /// An array unit programs.
    Program,
    /// An array unit erases.
    Erase,
    /// An array unit sets a program or an erase aside.
    Suspend,
    /// An array unit gives up what it sensed ahead.
    Reset,
    /// A bus carries a command.
    Command,
    /// A bus carries a page that was read.
    DataOut,
    /// A bus carries a page to be programmed.
    DataIn,
    /// An ECC engine decodes.
    Decode,
}

impl Act {
    /// What an array unit in this state does; `None` if it is free.
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

    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Act::Commanded => "commanded",
            Act::Sense => "sense",
            Act::Held => "held",
            Act::GiveOut => "giving out",
            Act::TakeIn => "taking in",
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

/// One thing done by one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The part: array units first, then buses, then engines.
    pub part: u32,
    /// What it does.
    pub act: Act,
    /// What that is for.
    pub cause: Cause,
    /// The logical page of the first operation served; of an erase, none.
    pub lpn: Option<u32>,
    /// When it begins and ends, in nanoseconds.
    pub start: u64,
    /// See `start`.
    pub end: u64,
}

/// Spans that begin before a moment, in the order in which they end.
#[derive(Clone, Debug)]
pub struct Timeline {
    until: u64,
    /// What each part does now, if it began in time.
    open: Vec<Option<Span>>,
    spans: Vec<Span>,
}

impl Timeline {
    /// Nothing seen yet of so many parts; what begins at `until` or later is left out.
    pub fn new(parts: usize, until: u64) -> Timeline {
        Timeline { until, open: vec![None; parts], spans: Vec::with_capacity(parts) }
    }

    /// A part begins something.
    pub fn begin(&mut self, part: usize, act: Act, cause: Cause, lpn: Option<u32>, start: u64) {
        if start < self.until {
            let span = Span { part: part as u32, act, cause, lpn, start, end: start };
            self.open[part] = Some(span);
        }
    }

    /// A part ends what it does.
    #[cold]
    pub fn end(&mut self, part: usize, end: u64) {
        if let Some(span) = self.open[part].take() {
            self.spans.push(Span { end, ..span });
        }
    }

    /// Everything seen; what has not ended ends `now`.
    fn spans(&self, now: u64) -> impl Iterator<Item = Span> + '_ {
        let open = self.open.iter().flatten().map(move |span| Span { end: now, ..*span });
        self.spans.iter().copied().chain(open)
    }
}

impl Flash {
    /// Records from `now` on what every part does, as long as it begins before `until`; what is
    /// under way counts from `now`.
    pub fn record(&mut self, now: u64, until: u64) {
        let (units, buses) = (self.units.len(), self.buses.len());
        let parts = units + buses + self.engines.len();
        self.timeline = Some(Box::new(Timeline::new(parts, until)));
        for at in 0..units {
            self.note_state(at, self.units[at].state, now);
        }
        for at in 0..buses {
            if let Some(id) = self.buses[at].holder() {
                self.begins(units + at, self.carries(id), id, now);
            }
        }
        for at in 0..self.engines.len() {
            if let Some(id) = self.engines[at].holder() {
                self.begins(units + buses + at, Act::Decode, id, now);
            }
        }
    }

    /// What was recorded until `now`.
    pub fn timeline(&self, now: u64) -> impl Iterator<Item = Span> + '_ {
        self.timeline.iter().flat_map(move |timeline| timeline.spans(now))
    }

    /// Spans that a timeline holds, and those for which memory is reserved: none if nothing is
    /// recorded.
    pub fn spans(&self) -> (usize, usize) {
        let spans = self.timeline.as_ref().map(|timeline| &timeline.spans);
        spans.map_or((0, 0), |spans| (spans.len(), spans.capacity()))
    }

    /// What a bus does for a transaction.
    #[inline]
    pub(super) fn carries(&self, id: TxnId) -> Act {
        let txn = &self.txns[id];
        match txn.kind {
            _ if txn.commanded => Act::Command,
            OpKind::Read => Act::DataOut,
            _ => Act::DataIn,
        }
    }

    /// Sets what a unit does from now on.
    #[inline]
    pub(super) fn set_state(&mut self, id: UnitId, state: State, now: u64) {
        self.units[id.0 as usize].state = state;
        if self.timeline.is_some() {
            self.note_state(id.0 as usize, state, now);
        }
    }

    #[cold]
    fn note_state(&mut self, unit: usize, state: State, now: u64) {
        self.ends(unit, now);
        let (head, cause) = (self.units[unit].head, self.units[unit].cause);
        match Act::of(state) {
            Some(act) if head.is_some() => self.begins(unit, act, head, now),
            Some(act) => {
                let timeline = self.timeline.as_mut();
                timeline.into_iter().for_each(|all| all.begin(unit, act, cause, None, now));
            }
            None => {}
        }
    }

    /// Records that a part begins something for a transaction.
    #[inline]
    pub(super) fn begins(&mut self, part: usize, act: Act, id: TxnId, now: u64) {
        if self.timeline.is_some() {
            self.note(part, act, id, now);
        }
    }

    #[cold]
    fn note(&mut self, part: usize, act: Act, id: TxnId, now: u64) {
        if let Some(timeline) = self.timeline.as_mut() {
            let txn = &self.txns[id];
            let lpn = (txn.kind != OpKind::Erase).then_some(txn.lpn.0);
            timeline.begin(part, act, txn.cause, lpn, now);
        }
    }

    /// Records that a part ends what it does.
    #[inline]
    pub(super) fn ends(&mut self, part: usize, now: u64) {
        if let Some(timeline) = self.timeline.as_mut() {
            timeline.end(part, now);
        }
    }
}
