//! What traces are like.

use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault};
use ssdlab_workload::measure::{Profile, Profiler};
use ssdlab_workload::{By, Recognition, Record, Source};

use super::{Certainty, Controlled, Reading, file_of, nothing_left};
use crate::control::Control;
use crate::memory;

/// What a trace is like, and how it was understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// As it was named.
    pub trace: String,
    /// The format that it was read in.
    pub format: &'static str,
    /// How sure that is.
    pub certainty: Certainty,
    /// The formats that its first lines fit as well.
    pub ambiguous_with: Vec<&'static str>,
    /// What it is compressed with: `gzip`, `zstd` or `xz`; none if it is plain.
    pub compression: Option<&'static str>,
    /// What a user should know of how it was read.
    pub remarks: Vec<String>,
    /// Requests left out since another device was asked for.
    pub other_devices: u64,
    /// Requests moved to an earlier place since their time stamps went back.
    pub reordered: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// One page of 4 KiB in so many is in the sample of the addresses; 1 if all are.
    pub sample_one_page_in: u64,
    /// What it is like.
    #[serde(flatten)]
    pub profile: Profile,
}

/// How sure a format is.
pub(super) fn certainty(recognised: &Recognition) -> Certainty {
    match recognised.by {
        By::Named => Certainty::Named,
        By::Content if recognised.ambiguous_with.is_empty() => Certainty::Recognised,
        By::Content => Certainty::Ambiguous,
    }
}

/// Reads traces, with reuse distances or without, and says what they are like; `None` if it was
/// stopped. `control` must have been made for as many plans as there are traces.
///
/// # Errors
/// When a trace cannot be read, is wrong, or nothing of it is left.
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

/// Sectors of the largest request that is followed page by page: 64 GiB.
const MOST_SECTORS: u32 = 1 << 27;

/// Sectors of the requests that are followed at a time, if they are several: 1 GiB.
const CHECK_SECTORS: u64 = 1 << 21;
/// Runs of pages for which it looks at a time whether there is memory, at least: of 2 MiB.
const CHECK_RUNS: u64 = 1 << 13;

/// The first of these requests, as many as have no more sectors in all than are followed at a time;
/// one at least.
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
    // Runs of pages, and pages that are followed, up to which there is memory.
    let [mut upto, mut followed_upto] = [CHECK_RUNS; 2];
    while source.fill(&mut batch, BATCH)? > 0 {
        if let Some(index) = batch.iter().position(|record| record.sectors > MOST_SECTORS) {
            let got = Bytes::new(u64::from(batch[index].sectors) * SECTOR_BYTES);
            let fault = source.fault(index, "a request too large to measure").got(got);
            let most = Bytes::new(u64::from(MOST_SECTORS) * SECTOR_BYTES);
            return Err(fault.expected(format!("at most {most}")));
        }
        let mut rest = &batch[..];
        while !rest.is_empty() {
            let first = batch.len() - rest.len();
            let (some, others) = rest.split_at(at_a_time(rest));
            let [more, pages] = Profiler::touched(some);
            if profiler.runs() + more > upto || profiler.followed() + pages > followed_upto {
                // As many requests like these as touch so many runs.
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
    let (recognised, counts) = (trace.recognised(), trace.counts());
    Ok(Some(TraceInfo {
        trace: spec.into(),
        format: recognised.format.name(),
        certainty: certainty(recognised),
        ambiguous_with: recognised.ambiguous_with.iter().map(|other| other.name()).collect(),
        compression: trace.compression(),
        remarks: trace.remarks(),
        other_devices: counts.other_devices,
        reordered: counts.reordered,
        widened: counts.widened,
        sample_one_page_in: reading.one_page_in.unwrap_or(1),
        profile: profiler.finish(),
    }))
}
