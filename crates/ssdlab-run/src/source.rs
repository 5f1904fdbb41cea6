//! Where requests come from: a trace, a twin or a generator, fitted to the drive.

use std::sync::atomic::Ordering;

use ssdlab_base::{Fault, Nanos};
use ssdlab_workload::{Generator, Op, Record, Source};

use crate::control::Control;
use crate::need::Tables;
use crate::open::open_trace;
use crate::prepare::Prepared;
use crate::shared::BATCH;
use crate::twin;

/// The latest arrival: as much time again is left for what it waits for.
pub(crate) const LATEST: Nanos = Nanos::from_ns(1 << 61);

/// The requests of a plan in batches, each of them on the drive and at the time when it is to
/// arrive.
pub struct Requests {
    source: Box<dyn Source>,
    /// Requests that may still be read.
    left: u64,
    /// What times are multiplied by; `None` where they do not count.
    scale: Option<f64>,
    sectors: u64,
    sectors_per_page: u32,
    queues: u8,
    wrap: bool,
    /// What is wrong with the request after the last one that was read.
    wrong: Option<Fault>,
    /// What was seen in those that were read.
    pub seen: Seen,
}

/// What was seen in requests.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// Whether any carried a latency hint.
    pub hinted: bool,
    /// Those whose address was folded into the drive.
    pub folded: u64,
    /// Those that reached over the drive's end and were moved to end there.
    pub clamped: u64,
}

impl Requests {
    /// The requests of a plan, from the first; what the user should know of how they are read is
    /// added to `remarks`.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn open(prepared: &Prepared, remarks: &mut Vec<String>) -> Result<Requests, Fault> {
        Ok(Requests {
            source: source_of(prepared, remarks)?,
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

    /// The next requests in place of what `batch` holds; none at the end.
    ///
    /// # Errors
    /// When the trace is wrong, or a request comes too late, or does not lie on the drive and is
    /// not to be folded. All requests before it are given first.
    pub fn read(&mut self, batch: &mut Vec<Record>) -> Result<(), Fault> {
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

    /// Does this with every request; whether it came to the last one without being stopped.
    ///
    /// # Errors
    /// When a request is wrong, or `act` says what is wrong with it.
    pub fn each(
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

    /// Makes of a record of the source a request to this drive.
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

    /// Brings a request that reaches beyond the drive onto it.
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

    /// What they are read from.
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }
}

/// Where the requests of a plan come from; what the user should know of how they are read is added
/// to `remarks`.
fn source_of(prepared: &Prepared, remarks: &mut Vec<String>) -> Result<Box<dyn Source>, Fault> {
    Ok(match (&prepared.mix, &prepared.plan.trace, &prepared.twin) {
        (Some(mix), ..) => {
            let (options, shared) = (&prepared.workload.trace, &prepared.shared.members);
            Box::new(mix.open(&prepared.plan, options, shared, remarks)?)
        }
        (None, None, Some(twin)) => {
            let seed = prepared.plan.seed;
            Box::new(twin.source(seed)?.with_hints(&prepared.workload.hints, seed)?)
        }
        (None, None, None) => Box::new(Generator::new(&prepared.workload, prepared.plan.seed)?),
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

/// What a record asks, as the drive calls it.
pub fn op(op: Op) -> ssdlab_core::Op {
    match op {
        Op::Read => ssdlab_core::Op::Read,
        Op::Write => ssdlab_core::Op::Write,
        Op::Trim => ssdlab_core::Op::Trim,
        Op::Flush => ssdlab_core::Op::Flush,
    }
}
