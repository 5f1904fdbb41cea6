//! Measures traces.

use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault};
use ssdlab_workload::measure::{Profile, Profiler};
use ssdlab_workload::{By, Described, Recognition, Record, Source};

use super::{Certainty, Controlled, Reading, file_of, nothing_left};
use crate::control::Control;
use crate::memory;

/// Measurements of a trace, and how the reader interpreted it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The trace, as the user named it.
    pub trace: String,
    /// The format that it was read in.
    pub format: &'static str,
    /// How certain the format is.
    pub certainty: Certainty,
    /// Other formats that its first lines match as well.
    pub ambiguous_with: Vec<&'static str>,
    /// Its compression: `gzip`, `zstd` or `xz`; none for a plain file.
    pub compression: Option<&'static str>,
    /// Remarks for the user on how the trace was read.
    pub remarks: Vec<String>,
    /// Requests left out because they belong to another device than the selected one.
    pub other_devices: u64,
    /// Requests moved to an earlier place because their timestamps went back.
    pub reordered: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// The sample of the addresses holds one page of 4 KiB in this many; 1 if it holds all pages.
    pub sample_one_page_in: u64,
    /// The measurements.
    #[serde(flatten)]
    pub profile: Profile,
}

/// Returns how certain a format is.
pub(super) fn certainty(recognized: &Recognition) -> Certainty {
    match recognized.by {
        By::Named => Certainty::Named,
        By::Content if recognized.ambiguous_with.is_empty() => Certainty::Recognized,
        By::Content => Certainty::Ambiguous,
    }
}

/// Reads traces and measures them, with or without reuse distances; `None` if stopped. `control`
/// must have one progress for each trace.
///
/// # Errors
/// When a trace cannot be read or is invalid, or when no request is left.
pub fn info(
    traces: &[String],
    reading: &Reading,
    reuse: bool,
    control: &Control,
) -> Result<Option<Vec<TraceInfo>>, Fault> {
    let reading = &reading.heeding(control);
    reading.selection()?;
    reading.options()?;
    for spec in traces {
        file_of(spec)?;
    }
    let mut found = Vec::new();
    for (index, spec) in traces.iter().enumerate() {
        match one(spec, reading, reuse, control, index)? {
            None => return Ok(None),
            Some(info) => found.push(info),
        }
        control.progress[index].finish();
    }
    Ok(Some(found))
}

/// Sectors of the largest request that the profiler follows page by page: 64 GiB.
const MAX_SECTORS: u32 = 1 << 27;

/// Sectors of several requests that the profiler follows in one step: 1 GiB.
const CHECK_SECTORS: u64 = 1 << 21;
/// The least number of page runs for which one memory check makes room. They take 2 MiB of memory.
const CHECK_RUNS: u64 = 1 << 13;

/// Returns how many of the first requests the profiler follows in one step: as many as have at most
/// [`CHECK_SECTORS`] in all, and at least one.
fn at_a_time(records: &[Record]) -> usize {
    let mut sectors = 0;
    let fits = |record: &&Record| {
        sectors += u64::from(record.sectors);
        sectors <= CHECK_SECTORS
    };
    records.iter().take_while(fits).count().max(1)
}

fn one(
    spec: &str,
    reading: &Reading,
    reuse: bool,
    control: &Control,
    index: usize,
) -> Result<Option<TraceInfo>, Fault> {
    const BATCH: usize = 4096;
    let mut source = Controlled::new(reading.open_part(spec)?, control, index);
    let mut profiler = Profiler::new(reuse);
    let mut batch = Vec::with_capacity(BATCH);
    // Numbers of page runs and of followed pages for which memory was checked.
    let [mut upto, mut followed_upto] = [CHECK_RUNS; 2];
    while source.fill(&mut batch, BATCH)? > 0 {
        if let Some(index) = batch.iter().position(|record| record.sectors > MAX_SECTORS) {
            let got = Bytes::new(u64::from(batch[index].sectors) * SECTOR_BYTES);
            let fault = source.fault(index, "a request too large to measure").got(got);
            let most = Bytes::new(u64::from(MAX_SECTORS) * SECTOR_BYTES);
            return Err(fault.expected(format!("at most {most}")));
        }
        let mut rest = &batch[..];
        while !rest.is_empty() {
            let first = batch.len() - rest.len();
            let (some, others) = rest.split_at(at_a_time(rest));
            let [more, pages] = Profiler::touched(some);
            if profiler.runs() + more > upto || profiler.followed() + pages > followed_upto {
                // Repeat requests like these until they touch [`CHECK_RUNS`] runs.
                let times = CHECK_RUNS.div_ceil(more.max(1));
                memory::check_pages(profiler.growth([more, pages].map(|each| each * times)))
                    .map_err(|expected| {
                        let what = "more pages are touched than fit into memory";
                        source.fault(first, what).expected(expected)
                    })?;
                upto = profiler.runs() + more * times;
                followed_upto = profiler.followed() + pages * times;
            }
            profiler.take(some, |index| source.device(first + index));
            rest = others;
        }
        batch.clear();
    }
    if source.is_stopped() {
        return Ok(None);
    }
    if source.handed_out == 0 {
        return Err(nothing_left(source.name()));
    }
    let trace = source.inner.inner();
    let (recognized, counts) = (trace.recognized(), trace.counts());
    Ok(Some(TraceInfo {
        trace: spec.into(),
        format: recognized.format.name(),
        certainty: certainty(recognized),
        ambiguous_with: recognized.ambiguous_with.iter().map(|other| other.name()).collect(),
        compression: trace.compression(),
        remarks: trace.remarks(),
        other_devices: counts.other_devices,
        reordered: counts.reordered,
        widened: counts.widened,
        sample_one_page_in: reading.one_page_in.unwrap_or(1),
        profile: profiler.finish(),
    }))
}
