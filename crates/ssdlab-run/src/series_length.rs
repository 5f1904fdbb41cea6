//! Estimates the length of a file of intervals from the arrivals, before the run.

use std::sync::atomic::Ordering;

use ssdlab_base::Fault;

use crate::control::Control;
use crate::observe::{is_too_long, too_many};
use crate::prepare::{Prepared, Warmup};
use crate::source::Requests;

/// Requests whose arrivals it checks before a run. Reading them takes some tenths of a second.
const SAMPLED: usize = 1 << 20;

/// Refuses a run whose file of intervals would be too long. The first million arrivals decide.
///
/// # Errors
/// When the file would have too many rows. An invalid request is left for the run to report.
pub(crate) fn check(prepared: &Prepared, control: &Control) -> Result<(), Fault> {
    let plan = &prepared.plan;
    let (Some(interval), Some(_), None) = (prepared.output.interval, &plan.series, plan.closed)
    else {
        return Ok(());
    };
    let Ok(mut requests) = Requests::open(prepared, &mut Vec::new()) else { return Ok(()) };
    let (mut batch, mut before, mut began) = (Vec::new(), 0, None);
    while before < SAMPLED && !control.stop.load(Ordering::Relaxed) {
        if requests.read(&mut batch).is_err() || batch.is_empty() {
            break;
        }
        for (index, record) in batch.iter().enumerate() {
            let is_warm = match prepared.warmup {
                Warmup::Requests(requests) => (before + index) as u64 >= requests,
                Warmup::Time(span) => record.at >= span,
            };
            if !is_warm {
                continue;
            }
            let began = *began.get_or_insert(record.at);
            if is_too_long(interval, record.at.max(began) - began) {
                return Err(too_many(interval));
            }
        }
        before += batch.len();
    }
    Ok(())
}
