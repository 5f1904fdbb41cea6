//! Sources of requests: a trace, a twin or a generator, fitted to the drive.

use std::sync::atomic::Ordering;

use ssdlab_base::{Fault, Nanos};
use ssdlab_workload::{Draw, Generator, Op, Record, Source};

use crate::control::Control;
use crate::need::Tables;
use crate::open::open_trace;
use crate::prepare::Prepared;
use crate::shared::BATCH;
use crate::twin;

/// The latest arrival time. As much time again remains for the request to end.
pub(crate) const LATEST: Nanos = Nanos::from_ns(1 << 61);

/// The requests of a plan, in batches. Each lies on the drive and carries its final arrival time.
pub(crate) struct Requests {
    source: Box<dyn Source>,
    /// The number of requests that may still be read.
    left: u64,
    /// The factor on arrival times; `None` in a closed loop, which ignores them.
    scale: Option<f64>,
    sectors: u64,
    sectors_per_page: u32,
    queues: u8,
    wrap: bool,
    /// The fault of the request after the last one read.
    wrong: Option<Fault>,
    /// Observations on the requests read so far.
    pub seen: Seen,
}

/// Observations on requests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    /// Whether any request carried a latency hint.
    pub hinted: bool,
    /// Requests whose address was folded into the drive.
    pub folded: u64,
    /// Requests that extended beyond the drive's end and were moved to end there.
    pub clamped: u64,
}

impl Requests {
    /// Opens the requests of a plan, from the first on. Adds remarks for the user on how they are
    /// read to `remarks`.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(crate) fn open(prepared: &Prepared, remarks: &mut Vec<String>) -> Result<Requests, Fault> {
        Requests::open_draw(prepared, 0, remarks)
    }

    /// Opens a draw of a plan's requests as [`Requests::open`] opens draw 0. A trace has one draw.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(crate) fn open_draw(
        prepared: &Prepared,
        number: u32,
        remarks: &mut Vec<String>,
    ) -> Result<Requests, Fault> {
        Ok(Requests {
            source: source_of(prepared, number, remarks)?,
            left: prepared.plan.limit.unwrap_or(u64::MAX),
            scale: prepared.plan.closed.is_none().then_some(prepared.time_scale),
            sectors: prepared.resolved.sectors(),
            sectors_per_page: prepared.resolved.geometry().sectors_per_page(),
            queues: prepared.resolved.config.host.queues,
            wrap: prepared.plan.wrap,
            wrong: None,
            seen: Seen::default(),
        })
    }

    /// Replaces the contents of `batch` with the next requests. The batch is empty at the end.
    ///
    /// # Errors
    /// When the trace is invalid. Also when a request arrives too late, names a missing queue, or
    /// lies beyond the drive and must not be folded. All requests before the wrong one are returned
    /// first.
    pub(crate) fn read(&mut self, batch: &mut Vec<Record>) -> Result<(), Fault> {
        batch.clear();
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let most = BATCH.min(usize::try_from(self.left).unwrap_or(BATCH));
        if most == 0 || self.source.fill(batch, most)? == 0 {
            return Ok(());
        }
        for index in 0..batch.len() {
            if let Err(wrong) = self.bring_onto_drive(index, &mut batch[index]) {
                batch.truncate(index);
                if index == 0 {
                    return Err(wrong);
                }
                self.wrong = Some(wrong);
                break;
            }
        }
        self.seen.hinted = self.seen.hinted || batch.iter().any(|record| record.hint != 0);
        self.left -= batch.len() as u64;
        Ok(())
    }

    /// Calls `act` with every request. Returns true at the end, and false if stopped earlier.
    ///
    /// # Errors
    /// When a request is invalid, or when `act` refuses it.
    pub(crate) fn each(
        mut self,
        control: &Control,
        mut act: impl FnMut(&Record) -> Result<(), &'static str>,
    ) -> Result<bool, Fault> {
        let mut batch = Vec::with_capacity(BATCH);
        let mut tables = Tables::default();
        while !control.stop.load(Ordering::Relaxed) {
            self.read(&mut batch)?;
            if batch.is_empty() {
                return Ok(!control.stop.load(Ordering::Relaxed));
            }
            for (index, record) in batch.iter().enumerate() {
                tables.touch(1 + u64::from(record.sectors / self.sectors_per_page))?;
                act(record).map_err(|what| self.source.fault(index, what))?;
            }
        }
        Ok(false)
    }

    /// Converts a record of the source to a request to this drive.
    fn bring_onto_drive(&mut self, index: usize, record: &mut Record) -> Result<(), Fault> {
        let end = record.lba.saturating_add(u64::from(record.sectors));
        if end > self.sectors && record.op != Op::Flush {
            self.fold(index, record)?;
        }
        if record.queue >= self.queues {
            let fault = self.source.fault(index, "a submission queue that the drive lacks");
            let expected = format!("a queue below host.queues, {}", self.queues);
            return Err(fault.got(record.queue).expected(expected));
        }
        let Some(scale) = self.scale else { return Ok(()) };
        if scale != 1.0 {
            record.at = Nanos::from_ns((record.at.as_ns() as f64 * scale).round() as u64);
        }
        if record.at > LATEST {
            let fault = self.source.fault(index, "an arrival too late to simulate");
            return Err(fault.got(record.at).expected(format!("at most {LATEST} after the first")));
        }
        Ok(())
    }

    /// Moves a request that extends beyond the drive onto it.
    fn fold(&mut self, index: usize, record: &mut Record) -> Result<(), Fault> {
        let length = u64::from(record.sectors);
        if !self.wrap || length > self.sectors {
            let fault = self.source.fault(index, "a request beyond the drive's end");
            let got = format!("sectors {} to {}", record.lba, record.lba.saturating_add(length));
            let hint = "--wrap folds such addresses into the drive";
            let fault = fault.got(got).expected(format!("below {}", self.sectors));
            return Err(if length > self.sectors { fault } else { fault.hint(hint) });
        }
        if record.lba >= self.sectors {
            record.lba %= self.sectors;
            self.seen.folded += 1;
        }
        if record.lba + length > self.sectors {
            record.lba = self.sectors - length;
            self.seen.clamped += 1;
        }
        Ok(())
    }

    /// Returns the source of the requests.
    pub(crate) fn source(&self) -> &dyn Source {
        &*self.source
    }
}

/// Opens the source of a draw of a plan's requests. Adds remarks for the user on how they are read
/// to `remarks`.
fn source_of(
    prepared: &Prepared,
    number: u32,
    remarks: &mut Vec<String>,
) -> Result<Box<dyn Source>, Fault> {
    let draw = Draw { seed: prepared.plan.seed, number };
    Ok(match (&prepared.mix, &prepared.plan.trace, &prepared.twin) {
        (Some(mix), ..) => {
            let (options, shared) = (&prepared.workload.trace, &prepared.shared.members);
            Box::new(mix.open(&prepared.plan, options, shared, remarks)?)
        }
        (None, None, Some(twin)) => {
            Box::new(twin.source(draw)?.with_hints(&prepared.workload.hints, draw)?)
        }
        (None, None, None) => Box::new(Generator::new(&prepared.workload, draw)?),
        (None, Some(spec), _) => match &prepared.shared.trace {
            Some(shared) => {
                let view = shared.view();
                remarks.extend_from_slice(view.remarks());
                Box::new(view)
            }
            None => {
                let trace = open_trace(spec, &prepared.workload.trace);
                let trace = trace.map_err(|fault| twin::missed(spec, &prepared.plan, fault))?;
                remarks.extend(trace.remarks());
                Box::new(trace)
            }
        },
    })
}

/// Converts an operation of a record to one of the drive.
pub(crate) fn op(op: Op) -> ssdlab_core::Op {
    match op {
        Op::Read => ssdlab_core::Op::Read,
        Op::Write => ssdlab_core::Op::Write,
        Op::Trim => ssdlab_core::Op::Trim,
        Op::Flush => ssdlab_core::Op::Flush,
    }
}
