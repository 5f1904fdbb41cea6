//! Remarks on a run that a result carries: settings without effect.

use ssdlab_base::Fault;
use ssdlab_core::Drive;

use crate::catalog::{self, RunConfig};
use crate::prepare::Prepared;
use crate::state::START_KEY_OF_RUN;

/// Returns a remark if a state file starts the drive otherwise than its device or scheme does.
///
/// # Errors
/// When layers cannot be merged.
pub(crate) fn of_start(prepared: &Prepared) -> Result<Option<String>, Fault> {
    let Some(state) = &prepared.plan.state else { return Ok(None) };
    let named = catalog::device_and_scheme(&prepared.plan.device, prepared.plan.scheme_name())?
        .resolve::<RunConfig>()?
        .1;
    let is = prepared.effective.leaves();
    let other = named.leaves().into_iter().filter_map(|leaf| {
        let path = leaf.path.strip_prefix("start.")?;
        let now = is.iter().find(|now| now.path == leaf.path)?;
        let differs =
            path != START_KEY_OF_RUN && !named.is_default(&leaf.path) && now.value != leaf.value;
        differs
            .then(|| format!("{} = {}, not {} ({})", leaf.path, now.value, leaf.value, leaf.origin))
    });
    let other: Vec<String> = other.collect();
    let line = format!("the drive begins as in {}: {}", state.display(), other.join("; "));
    Ok((!other.is_empty()).then_some(line))
}

/// Returns a remark if cells age faster or slower than when the requests were recorded.
/// `flash.time_scale` and the time scale of the requests then do not cancel out.
pub(crate) fn of_clock(prepared: &Prepared) -> Option<String> {
    let cells = f64::from(prepared.resolved.config.flash.time_scale);
    let recorded = prepared.plan.trace.is_some() || prepared.twin.is_some();
    let own = recorded.then_some(1.0).into_iter();
    let scales = own.chain(prepared.mix.iter().flat_map(|mix| mix.scales()));
    let ages = scales.map(|scale| cells * scale * prepared.time_scale);
    let other = ages.filter(|age| (age - 1.0).abs() > 1e-3).max_by(f64::total_cmp)?;
    let set = "flash.time_scale and the time scale of the requests do not cancel out";
    (cells != 1.0 && prepared.plan.closed.is_none()).then(|| {
        format!("cells age {} times as fast as requests were recorded: {set}", rounded(other))
    })
}

/// Rounds a factor to three decimal places.
fn rounded(factor: f64) -> f64 {
    (factor * 1e3).round() / 1e3
}

/// Returns a remark if requests carry hints that no policy of this drive uses. Returns one also if
/// policies use hints and no request carries any.
pub(crate) fn of_hints(prepared: &Prepared, hinted: bool) -> Option<String> {
    let configured = prepared.workload.hints.iter().any(|hint| *hint != 0);
    match (Drive::heeds_hints(&prepared.resolved), configured, hinted) {
        (false, true, _) => Some("no policy of this drive uses the hints of workload.hints".into()),
        (true, _, false) => {
            Some("this scheme uses latency hints, but no request carries one".into())
        }
        _ => None,
    }
}

/// Returns a remark if pages are not classified by a first pass of the workload.
pub(crate) fn of_first_pass(drive: &Drive) -> Option<String> {
    drive.lacks_first_pass().then(|| {
        let what = "metadata.page_hotness.buffer.initial = \"classified\": there was no first pass of the workload";
        let why = "earlier writes already classified and programmed the pages";
        format!("{what}: {why}")
    })
}
