//! The load of a trace, and whether any drive can serve it.

use ssdlab_base::{Nanos, units::SECTOR_BYTES};

use crate::record::{Op, Record};

/// The load of the requests so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Demand {
    /// The unit of the time stamps, if the format has one.
    tick: Option<Nanos>,
    requests: u64,
    /// Sectors read and written.
    sectors: u64,
    /// The time of the last request, since the first.
    last: Nanos,
}

/// The highest plausible rate in bytes per second. A drive's link carries no more: at best PCIe 5.0
/// with four lanes.
const MAX_RATE: f64 = 16e9;
/// The least number of requests for a warning. A burst may exceed any link, since its requests
/// wait.
const ENOUGH: u64 = 1000;

impl Demand {
    /// Returns the load without requests, with time stamps in this unit.
    pub(super) fn in_ticks_of(tick: Nanos) -> Demand {
        Demand { tick: Some(tick), ..Demand::default() }
    }

    /// Adds one request.
    pub(super) fn count(&mut self, record: &Record) {
        self.requests += 1;
        if matches!(record.op, Op::Read | Op::Write) {
            self.sectors += u64::from(record.sectors);
        }
        self.last = record.at;
    }

    /// Returns a question about the time unit, if the requests exceed any drive.
    pub(super) fn warning(&self) -> Option<String> {
        let rate = (self.sectors * SECTOR_BYTES) as f64 / (self.last.as_ns() as f64 / 1e9);
        let doubtful = self.requests >= ENOUGH && self.last > Nanos::ZERO && rate > MAX_RATE;
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
