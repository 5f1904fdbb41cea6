//! A trace that several plans read, by itself or in a mix. The trace is parsed only once, whatever
//! its length. [`trace_cache`] stores the parsed requests for the other plans. No plan waits for
//! another, and a plan that starts later still finds every request.

#[cfg(test)]
mod tests;
mod trace_cache;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use ssdlab_base::{Fault, reason};
use ssdlab_workload::{Described, Record, Source, Trace, TraceOptions};

use self::trace_cache::CachedRecords;
pub(crate) use self::trace_cache::TraceCache;
use crate::open::open_trace;

/// Records read at a time.
pub(crate) const BATCH: usize = 4096;

/// A trace and the requests parsed so far.
pub(crate) struct Shared {
    spec: String,
    options: TraceOptions,
    name: String,
    format: Option<&'static str>,
    /// Remarks for the user on how the trace is read.
    remarks: Vec<String>,
    /// Storage for the parts.
    cache: Arc<TraceCache>,
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
    /// Whether the storage had no room for the next part. A plan then reads the rest by itself.
    full: bool,
    ended: bool,
}

/// The requests that one call of [`Source::fill`] returned.
struct Part {
    records: CachedRecords,
    count: usize,
    progress: Option<f64>,
}

impl Shared {
    pub(crate) fn open(
        spec: &str,
        options: &TraceOptions,
        cache: Arc<TraceCache>,
    ) -> Result<Shared, Fault> {
        let trace = open_trace(spec, options)?;
        Ok(Shared {
            spec: spec.into(),
            options: options.clone(),
            name: trace.name().into(),
            format: trace.trace_format(),
            remarks: trace.remarks(),
            cache,
            sha256: OnceLock::new(),
            inside: Mutex::new(Inside { trace, parts: Vec::new(), full: false, ended: false }),
        })
    }

    /// Returns a view of the trace for one plan, from the first request on.
    pub(crate) fn view(self: &Arc<Shared>) -> View {
        View { shared: self.clone(), next: 0, progress: None, alone: None }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("no thread panics while it parses")
    }

    /// Appends part `at` to a batch and parses it first if no plan has done so. Returns its number
    /// of requests and the share of the trace read so far; `None` if there was no room for the
    /// part.
    fn part(
        &self,
        at: usize,
        most: usize,
        batch: &mut Vec<Record>,
    ) -> Result<Option<(usize, Option<f64>)>, Fault> {
        let mut inside = self.inside();
        if let Some(part) = inside.parts.get(at).cloned() {
            drop(inside);
            let got = self.cache.get(&part.records, batch);
            got.map_err(|error| {
                Fault::new(&*self.name, "cannot read its requests back from a temporary file")
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
        match self.cache.put(&batch[batch.len() - count..]) {
            Some(records) => inside.parts.push(Arc::new(Part { records, count, progress })),
            None => inside.full = true,
        }
        Ok(Some((count, progress)))
    }

    /// Returns the hash of the file, computed only once. If the trace was read to its end, the
    /// reader has the hash already. Otherwise another reader computes it, so that other plans need
    /// not wait.
    fn sha256(&self) -> Result<Option<String>, Fault> {
        let found = || match self.inside() {
            inside if inside.ended => Described::sha256(&inside.trace),
            inside => {
                drop(inside);
                Described::sha256(&open_trace(&self.spec, &self.options)?)
            }
        };
        self.sha256.get_or_init(found).clone()
    }

    /// Opens the trace again and skips this many parts, for a plan that reads on by itself.
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

/// One plan's view of a shared trace. All views of a trace must ask for parts of the same sizes.
pub(crate) struct View {
    shared: Arc<Shared>,
    next: usize,
    progress: Option<f64>,
    /// The view's own reader, once there is no room to store more of the trace.
    alone: Option<Box<Trace>>,
}

impl View {
    /// Returns the remarks for the user on how the trace is read.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.shared.remarks
    }

    /// Calls `what` with the trace that this view reads.
    fn with_trace<T>(&self, what: impl FnOnce(&Trace) -> T) -> T {
        match &self.alone {
            Some(trace) => what(trace),
            None => what(&self.shared.inside().trace),
        }
    }
}

impl Described for View {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn sha256(&self) -> Result<Option<String>, Fault> {
        match &self.alone {
            Some(trace) => Described::sha256(&**trace),
            None => self.shared.sha256(),
        }
    }

    fn trace_format(&self) -> Option<&'static str> {
        self.shared.format
    }

    fn twins(&self) -> Vec<String> {
        self.with_trace(Described::twins)
    }

    fn warnings(&self) -> Vec<String> {
        self.with_trace(Described::warnings)
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

    fn line(&self, index: usize) -> Option<u64> {
        if let Some(trace) = &self.alone {
            return trace.line(index);
        }
        // Another plan may have read further, so this parses the part again for the line number.
        let mut trace = self.shared.after(self.next.checked_sub(1)?).ok()?;
        trace.fill(&mut Vec::new(), BATCH).ok()?;
        trace.line(index)
    }
}
