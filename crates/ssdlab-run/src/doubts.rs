//! What a result should say of its run beside the figures: settings that came to nothing.

use ssdlab_base::Fault;
use ssdlab_core::Drive;

use crate::plan::{Prepared, RunConfig};

/// Where a state file has the drive begin otherwise than its device or scheme would.
///
/// # Errors
/// Layers that cannot be merged.
pub fn of_start(prepared: &Prepared) -> Result<Option<String>, Fault> {
    let Some(state) = &prepared.plan.state else { return Ok(None) };
    let named = prepared.plan.named()?.resolve::<RunConfig>()?.1;
    let is = prepared.effective.leaves();
    let other = named.leaves().into_iter().filter_map(|leaf| {
        let path = leaf.path.strip_prefix("start.")?;
        let now = is.iter().find(|now| now.path == leaf.path)?;
        let differs = path != "preload" && !named.is_default(&leaf.path) && now.value != leaf.value;
        differs
            .then(|| format!("{} = {}, not {} ({})", leaf.path, now.value, leaf.value, leaf.origin))
    });
    let other: Vec<String> = other.collect();
    let said = format!("the drive begins as in {}: {}", state.display(), other.join("; "));
    Ok((!other.is_empty()).then_some(said))
}

/// If requests carry hints of which this drive's policies make nothing, or none where these wait for some.
pub fn of_hints(prepared: &Prepared, hinted: bool) -> Option<String> {
    let asked = prepared.workload.hints.iter().any(|hint| *hint != 0);
    match (Drive::heeds_hints(&prepared.resolved), asked, hinted) {
        (false, true, _) => Some("nothing in this drive heeds the hints of workload.hints".into()),
        (true, _, false) => {
            Some("no request carries a latency hint, which this scheme heeds".into())
        }
        _ => None,
    }
}
