//! What every array unit, bus and ECC engine does, moment by moment, for a while.

use super::{Flash, TxnId};
use crate::account::{Cause, OpKind};

/// What a part of the back end does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// An array unit senses.
    Sense,
    /// An array unit programs.
    Program,
    /// An array unit erases.
    Erase,
    /// An array unit sets a program or an erase aside.
    Suspend,
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
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Act::Sense => "sense",
            Act::Program => "program",
            Act::Erase => "erase",
            Act::Suspend => "suspend",
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
        Timeline { until, open: vec![None; parts], spans: Vec::new() }
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

    /// Everything seen that has ended.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}

impl Flash {
    /// Records from now on what every part does, as long as it begins before `until`.
    pub fn record(&mut self, until: u64) {
        let parts = self.units.len() + self.buses.len() + self.engines.len();
        self.timeline = Some(Box::new(Timeline::new(parts, until)));
    }

    /// What was recorded.
    pub fn timeline(&self) -> &[Span] {
        self.timeline.as_ref().map_or(&[], |timeline| timeline.spans())
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
