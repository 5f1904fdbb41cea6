//! What a trace asks of a drive, and whether any drive could do that.

use ssdlab_base::{Nanos, units::SECTOR_BYTES};

use crate::record::{Op, Record};

/// The requests of a trace so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Demand {
    /// The unit of the stamps, where the format has one.
    tick: Option<Nanos>,
    requests: u64,
    /// Sectors read and written.
    sectors: u64,
    /// The stamp of the last request, since the first.
    last: Nanos,
}

/// Bytes a second beyond which nothing is asked of a drive: its link, at best PCIe 5.0 with four
/// lanes, carries no more.
const MOST: f64 = 16e9;
/// A burst may be faster than any link, since requests wait; so many requests are no burst.
const ENOUGH: u64 = 1000;

impl Demand {
    /// Nothing yet, with stamps in this unit.
    pub(super) fn in_ticks_of(tick: Nanos) -> Demand {
        Demand { tick: Some(tick), ..Demand::default() }
    }

    /// One request more.
    pub(super) fn count(&mut self, record: &Record) {
        self.requests += 1;
        if matches!(record.op, Op::Read | Op::Write) {
            self.sectors += u64::from(record.sectors);
        }
        self.last = record.at;
    }

    /// A question about the unit of time, if the requests ask for more than is possible.
    pub(super) fn warning(&self) -> Option<String> {
        let rate = (self.sectors * SECTOR_BYTES) as f64 / (self.last.as_ns() as f64 / 1e9);
        let doubtful = self.requests >= ENOUGH && self.last > Nanos::ZERO && rate > MOST;
        let unit = self.tick.map_or_else(|| "right".into(), |tick| tick.to_string());
        doubtful.then(|| {
            format!(
                "{:.0} GB/s over {} requests: is the time unit {unit}? \
                 (workload.trace.tick says another)",
                rate / 1e9,
                self.requests
            )
        })
    }
}
