//! A trace that several plans read, by itself or in a mix: it is parsed once, however long it is,
//! and what was parsed is kept for the others ([`keep`]). Nobody waits for another, and who comes
//! later finds all of it.

mod keep;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use ssdlab_base::{Fault, reason};
use ssdlab_workload::{Record, Source, Trace, TraceOptions};

pub(crate) use self::keep::Keep;
use self::keep::Kept;
use crate::open::open_trace;

/// Records read at a time.
pub(crate) const BATCH: usize = 4096;

/// A trace, as far as it has been parsed.
pub struct Shared {
    spec: String,
    options: TraceOptions,
    name: String,
    format: Option<&'static str>,
    /// What the user should know of how it is read.
    remarks: Vec<String>,
    /// Where its parts are kept.
    keep: Arc<Keep>,
    sha256: OnceLock<Result<Option<String>, Fault>>,
    inside: Mutex<Inside>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}

struct Inside {
    trace: Trace,
    parts: Vec<Arc<Part>>,
    /// Whether there was no room for the next part: who has those before it goes on alone.
    full: bool,
    ended: bool,
}

/// What one call of [`Source::fill`] gave.
struct Part {
    records: Kept,
    count: usize,
    progress: Option<f64>,
}

impl Shared {
    pub(crate) fn open(
        spec: &str,
        options: &TraceOptions,
        keep: Arc<Keep>,
    ) -> Result<Shared, Fault> {
        let trace = open_trace(spec, options)?;
        Ok(Shared {
            spec: spec.into(),
            options: options.clone(),
            name: trace.name().into(),
            format: trace.trace_format(),
            remarks: trace.remarks(),
            keep,
            sha256: OnceLock::new(),
            inside: Mutex::new(Inside { trace, parts: Vec::new(), full: false, ended: false }),
        })
    }

    /// The trace from its first request on, for one plan.
    pub fn view(self: &Arc<Shared>) -> View {
        View { shared: self.clone(), next: 0, progress: None, alone: None }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("no thread panics while it parses")
    }

    /// Appends a part to a batch, parsed now if nobody has, and says how many requests it has and
    /// how much of the trace was read; `None` if there was no room for it.
    fn part(
        &self,
        at: usize,
        most: usize,
        batch: &mut Vec<Record>,
    ) -> Result<Option<(usize, Option<f64>)>, Fault> {
        let mut inside = self.inside();
        if let Some(part) = inside.parts.get(at).cloned() {
            drop(inside);
            let got = self.keep.get(&part.records, batch);
            got.map_err(|error| {
                Fault::new(&*self.name, "what was read of it cannot be read again")
                    .got(reason(error))
            })?;
            return Ok(Some((part.count, part.progress)));
        }
        if inside.full {
            return Ok(None);
        }
        let count = inside.trace.fill(batch, most)?;
        let progress = inside.trace.progress();
        inside.ended = count == 0;
        match self.keep.put(&batch[batch.len() - count..]) {
            Some(records) => inside.parts.push(Arc::new(Part { records, count, progress })),
            None => inside.full = true,
        }
        Ok(Some((count, progress)))
    }

    /// The hash of the file, found once: as it was read if it was read to its end; others are not
    /// to wait while it is read for that alone.
    fn sha256(&self) -> Result<Option<String>, Fault> {
        let found = || match self.inside() {
            inside if inside.ended => Source::sha256(&inside.trace),
            inside => {
                drop(inside);
                Source::sha256(&open_trace(&self.spec, &self.options)?)
            }
        };
        self.sha256.get_or_init(found).clone()
    }

    /// The trace after so many parts, for who goes on alone.
    fn after(&self, parts: usize) -> Result<Trace, Fault> {
        let mut trace = open_trace(&self.spec, &self.options)?;
        let mut passed = Vec::with_capacity(BATCH);
        for _ in 0..parts {
            passed.clear();
            trace.fill(&mut passed, BATCH)?;
        }
        Ok(trace)
    }
}

/// What one plan sees of a trace that it shares. All who share one must ask for parts of the same
/// sizes.
pub struct View {
    shared: Arc<Shared>,
    next: usize,
    progress: Option<f64>,
    /// Its own reader, where there is no room to keep more of the trace.
    alone: Option<Box<Trace>>,
}

impl View {
    /// What the user should know of how it is read.
    pub fn remarks(&self) -> &[String] {
        &self.shared.remarks
    }

    /// Asks the trace that it reads.
    fn with_trace<T>(&self, what: impl FnOnce(&Trace) -> T) -> T {
        match &self.alone {
            Some(trace) => what(trace),
            None => what(&self.shared.inside().trace),
        }
    }
}

impl Source for View {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        if self.alone.is_none() {
            if let Some((count, progress)) = self.shared.part(self.next, most, batch)? {
                (self.next, self.progress) = (self.next + 1, progress);
                return Ok(count);
            }
            self.alone = Some(Box::new(self.shared.after(self.next)?));
        }
        self.alone.as_mut().expect("just opened").fill(batch, most)
    }

    fn expected(&self) -> Option<u64> {
        None
    }

    fn progress(&self) -> Option<f64> {
        self.alone.as_ref().map_or(self.progress, |trace| trace.progress())
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn sha256(&self) -> Result<Option<String>, Fault> {
        match &self.alone {
            Some(trace) => Source::sha256(&**trace),
            None => self.shared.sha256(),
        }
    }

    fn trace_format(&self) -> Option<&'static str> {
        self.shared.format
    }

    fn line(&self, index: usize) -> Option<u64> {
        if let Some(trace) = &self.alone {
            return trace.line(index);
        }
        // Others may have read on: what is asked for one message is parsed for it again.
        let mut trace = self.shared.after(self.next.checked_sub(1)?).ok()?;
        trace.fill(&mut Vec::new(), BATCH).ok()?;
        trace.line(index)
    }

    fn twins(&self) -> Vec<String> {
        self.with_trace(Source::twins)
    }

    fn warnings(&self) -> Vec<String> {
        self.with_trace(Source::warnings)
    }
}
