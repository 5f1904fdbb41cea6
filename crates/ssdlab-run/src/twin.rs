//! A twin as a plan's workload.

use ssdlab_base::{Bytes, Fault};
use ssdlab_config::Effective;
use ssdlab_workload::Kind;
use ssdlab_workload::twins::{Twin, catalogue, find};

use crate::plan::Plan;

/// The twin that a plan names, if its workload is one: `dlv/hm0`, or `hm0` on a drive of DLV.
///
/// # Errors
/// When its workload is no closed form and no twin, or several twins'.
pub(crate) fn of(plan: &Plan) -> Result<Option<&'static Twin>, Fault> {
    let Some(name) = plan.workload.as_deref().filter(|_| plan.trace.is_none()) else {
        return Ok(None);
    };
    if Kind::NAMES.contains(&name) {
        return Ok(None);
    }
    find(name, family(&plan.device)).map(Some).map_err(|fault| {
        let fault = Fault { source: "--workload".to_owned(), ..fault };
        if fault.expected.is_some() {
            return fault;
        }
        let twins = catalogue().iter().map(|twin| twin.name.as_str());
        Fault::new("--workload", "unknown workload")
            .got(format!("{name:?}"))
            .expected(format!("{}, or a twin such as dlv/hm0", Kind::NAMES.join(", ")))
            .suggest(name, Kind::NAMES.iter().copied().chain(twins))
    })
}

/// The family of twins that a device is of, if it is of one.
pub(crate) fn family(device: &str) -> Option<&'static str> {
    let mut families = catalogue().iter().map(|twin| twin.family.as_str());
    families.find(|family| device.starts_with(&format!("{family}-")))
}

/// Refuses a mix on a drive with fewer queues than it has members.
pub(crate) fn check_queues(twin: &Twin, effective: &Effective, queues: u8) -> Result<(), Fault> {
    let members = twin.members().len();
    match members <= usize::from(queues) {
        true => Ok(()),
        false => Err(effective
            .fault_at("host.queues")
            .expected(format!("at least {members}, one for each workload of {}", twin.name))),
    }
}

/// Refuses a twin that reaches beyond the `most` that a drive holds, unless it is folded.
pub(crate) fn check_footprint(twin: &Twin, most: Bytes, fit: bool) -> Result<(), Fault> {
    if fit || twin.bytes() <= most.get() {
        return Ok(());
    }
    Err(Fault::new(format!("--workload {}", twin.name), "a footprint beyond the drive's end")
        .got(Bytes::new(twin.bytes()))
        .expected(format!("at most what the host can address, {most}"))
        .hint("--fit folds such addresses into the drive"))
}
