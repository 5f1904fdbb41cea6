//! Where requests come from: a trace, a twin or a generator, fitted to the drive.

use ssdlab_base::Fault;
use ssdlab_workload::{Format, Generator, Op, Record, Source, Trace, open_with, parse_spec};

use crate::plan::Prepared;
use crate::twin;

/// Requests in batches, each of them on the drive.
pub struct Feed {
    source: Box<dyn Source>,
    batch: Vec<Record>,
    next: usize,
    given: u64,
    /// Requests given before this replay, and how many replays there were and will be.
    before: u64,
    replay: u32,
    replays: u32,
    limit: u64,
    sectors: u64,
    queues: u8,
    fit: bool,
    /// Whether any request carried a latency hint.
    hinted: bool,
    /// Requests whose address was folded into the drive.
    pub folded: u64,
    /// Requests that reached over the drive's end and were moved to end there.
    pub clamped: u64,
}

/// Records read at a time.
const BATCH: usize = 4096;

impl Feed {
    /// The requests of a plan, from the first; what the user should know of how they are read is
    /// added to `remarks`.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn open(prepared: &Prepared, remarks: &mut Vec<String>) -> Result<Feed, Fault> {
        Ok(Feed {
            source: source_of(prepared, remarks)?,
            batch: Vec::with_capacity(BATCH),
            next: 0,
            given: 0,
            before: 0,
            replay: 0,
            replays: prepared.replays,
            limit: prepared.plan.limit.unwrap_or(u64::MAX),
            sectors: prepared.resolved.sectors(),
            queues: prepared.resolved.config.host.queues,
            fit: prepared.plan.fit,
            hinted: false,
            folded: 0,
            clamped: 0,
        })
    }

    /// Begins the next replay, with the first request again; false if there was the last one.
    ///
    /// # Errors
    /// When the trace can no longer be read.
    pub fn again(&mut self, prepared: &Prepared) -> Result<bool, Fault> {
        if self.replay + 1 == self.replays {
            return Ok(false);
        }
        self.source = source_of(prepared, &mut Vec::new())?;
        self.batch.clear();
        (self.next, self.before) = (0, self.given);
        (self.folded, self.clamped) = (0, 0);
        self.replay += 1;
        Ok(true)
    }

    /// The next request; `None` at the end of a replay.
    ///
    /// # Errors
    /// When the trace is wrong, or a request does not lie on the drive and is not to be folded.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>, Fault> {
        if self.given - self.before == self.limit {
            return Ok(None);
        }
        if self.next == self.batch.len() {
            self.batch.clear();
            self.next = 0;
            if self.source.fill(&mut self.batch, BATCH)? == 0 {
                return Ok(None);
            }
            self.hinted = self.hinted || self.batch.iter().any(|record| record.hint != 0);
        }
        let mut record = self.batch[self.next];
        let end = record.lba.saturating_add(u64::from(record.sectors));
        if end > self.sectors && record.op != Op::Flush {
            self.fold(&mut record)?;
        }
        if record.queue >= self.queues {
            let fault = self.source.fault(self.next, "a submission queue that the drive lacks");
            let expected = format!("a queue below host.queues, {}", self.queues);
            return Err(fault.got(record.queue).expected(expected));
        }
        self.next += 1;
        self.given += 1;
        Ok(Some(record))
    }

    /// The request after the next one, if it has been read, as it was read: perhaps not on the drive.
    #[inline]
    pub fn soon(&self) -> Option<&Record> {
        self.batch.get(self.next + 1)
    }

    /// Brings a request that reaches beyond the drive onto it.
    fn fold(&mut self, record: &mut Record) -> Result<(), Fault> {
        let length = u64::from(record.sectors);
        if !self.fit || length > self.sectors {
            let fault = self.source.fault(self.next, "a request beyond the drive's end");
            let got = format!("sectors {} to {}", record.lba, record.lba.saturating_add(length));
            let hint = "--fit folds such addresses into the drive";
            let fault = fault.got(got).expected(format!("below {}", self.sectors));
            return Err(if length > self.sectors { fault } else { fault.hint(hint) });
        }
        if record.lba >= self.sectors {
            record.lba %= self.sectors;
            self.folded += 1;
        }
        if record.lba + length > self.sectors {
            record.lba = self.sectors - length;
            self.clamped += 1;
        }
        Ok(())
    }

    /// A fault about the last request given.
    pub fn fault(&self, what: &str) -> Fault {
        self.source.fault(self.next.saturating_sub(1), what)
    }

    /// Requests given so far, those of earlier replays included.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// The hash of the trace that is read, if it is one.
    ///
    /// # Errors
    /// When its rest cannot be read.
    pub fn sha256(&self) -> Result<Option<String>, Fault> {
        self.source.sha256()
    }

    /// The format that the trace is read in, if it is one.
    pub fn trace_format(&self) -> Option<&'static str> {
        self.source.trace_format()
    }

    /// The devices of the trace that is read that are twins, so far.
    pub fn twins(&self) -> Vec<String> {
        self.source.twins()
    }

    /// What it is merged of, if it is a mix.
    pub fn members(&self) -> Vec<&dyn Source> {
        self.source.members()
    }

    /// Whether any request so far carried a latency hint.
    pub fn is_hinted(&self) -> bool {
        self.hinted
    }

    /// What has turned out to be doubtful about the requests read so far.
    pub fn doubts(&self) -> Vec<String> {
        self.source.doubts()
    }

    /// The share of the requests that was given, if that is known.
    pub fn progress(&self) -> Option<f64> {
        let given = (self.given - self.before) as f64;
        let of_source = match self.source.expected() {
            Some(total) if total > 0 => Some(given / total as f64),
            _ => self.source.progress(),
        };
        let of_replay = of_source?.max(given / self.limit as f64);
        Some((f64::from(self.replay) + of_replay) / f64::from(self.replays))
    }
}

/// Where the requests of a plan come from; what the user should know of how they are read is added
/// to `remarks`.
fn source_of(prepared: &Prepared, remarks: &mut Vec<String>) -> Result<Box<dyn Source>, Fault> {
    Ok(match (&prepared.mix, &prepared.plan.trace, &prepared.twin) {
        (Some(mix), ..) => Box::new(mix.open(prepared, remarks)?),
        (None, None, Some(twin)) => {
            let seed = prepared.plan.seed;
            Box::new(twin.source(seed)?.with_hints(&prepared.workload.hints, seed)?)
        }
        (None, None, None) => Box::new(Generator::new(&prepared.workload, prepared.plan.seed)?),
        (None, Some(spec), _) => {
            let (path, format) = parse_spec(spec)?;
            let trace = open_with(&path, format, &prepared.workload.trace);
            let trace = trace.map_err(|fault| twin::missed(spec, &prepared.plan, fault))?;
            remarks.extend(trace.remarks());
            Box::new(with_twins(trace))
        }
    })
}

/// A trace that tells which of its requests are of twins, where its format has their names.
pub fn with_twins(trace: Trace) -> Trace {
    match trace.recognised().format {
        Format::Ssdlab | Format::Parquet => trace.with_devices(),
        _ => trace,
    }
}

/// What a record asks, as the drive calls it.
#[inline]
pub fn op(op: Op) -> ssdlab_core::Op {
    match op {
        Op::Read => ssdlab_core::Op::Read,
        Op::Write => ssdlab_core::Op::Write,
        Op::Trim => ssdlab_core::Op::Trim,
        Op::Flush => ssdlab_core::Op::Flush,
    }
}
