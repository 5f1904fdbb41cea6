//! A twin as a plan's workload.

use std::path::Path;

use ssdlab_base::{Bytes, Fault};
use ssdlab_config::Effective;
use ssdlab_workload::twins::{Twin, catalog, find};
use ssdlab_workload::{Kind, WorkloadConfig, parse_spec};

use crate::plan::Plan;
use crate::traces::twin_of;

/// Returns the twin that a plan's workload names: `dlv/hm0`, or `hm0` on a device of DLV.
///
/// # Errors When the workload is neither a distribution nor a twin, or when several twins have the
/// name.
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
        if parse_spec(name).is_ok_and(|(path, _)| path.is_file()) {
            let fault = Fault::new("--workload", "a file, not a workload").got(format!("{name:?}"));
            return fault.hint(format!("--trace {name}"));
        }
        let twins = catalog().iter().map(|twin| twin.name.as_str());
        Fault::new("--workload", "unknown workload")
            .got(format!("{name:?}"))
            .expected(format!("{}, or a twin such as dlv/hm0", Kind::NAMES.join(", ")))
            .suggest(name, Kind::NAMES.iter().copied().chain(twins))
    })
}

/// Returns the twin as the keys of the workload change it.
///
/// # Errors
/// A value out of range.
pub(crate) fn changed(twin: &Twin, workload: &WorkloadConfig) -> Result<Twin, Fault> {
    let mut changed = twin.clone();
    if let Some(overlap) = workload.overlap {
        changed = changed.overlapping(overlap);
    }
    if let Some(theta) = workload.read_theta {
        changed = changed.reading_by(theta)?;
    }
    if let Some(factor) = workload.burstiness {
        changed = changed.bursting(factor)?;
    }
    if let Some(within) = workload.small_in_page {
        changed = changed.small_in_page(within);
    }
    Ok(changed)
}

/// Returns the fault of a trace that cannot be opened. If no such file exists and a workload has
/// the name, it adds a hint on how to run that workload.
pub(crate) fn missed(spec: &str, plan: &Plan, fault: Fault) -> Fault {
    let is_closed = Kind::NAMES.contains(&spec) && !Path::new(spec).exists();
    match twin_of(spec, family(&plan.device)) {
        Ok(None) if !is_closed => fault,
        Ok(_) => fault.hint(format!("a workload has this name: --workload {spec}")),
        Err(several) => {
            let names = several.expected.unwrap_or_default();
            fault.hint(format!("several workloads have this name: --workload with {names}"))
        }
    }
}

/// Returns the family of twins that a device belongs to, if any.
pub(crate) fn family(device: &str) -> Option<&'static str> {
    let mut families = catalog().iter().map(|twin| twin.family.as_str());
    families.find(|family| device.starts_with(&format!("{family}-")))
}

/// Refuses a mix of twins on a drive with fewer queues than members.
pub(crate) fn check_queues(twin: &Twin, effective: &Effective, queues: u8) -> Result<(), Fault> {
    let members = twin.members().len();
    if members <= usize::from(queues) {
        Ok(())
    } else {
        Err(effective
            .fault_at("host.queues")
            .expected(format!("at least {members}, one for each workload of {}", twin.name)))
    }
}

/// Refuses a twin with a footprint above `most`, the capacity of the drive, unless addresses are
/// folded.
pub(crate) fn check_footprint(twin: &Twin, most: Bytes, wrap: bool) -> Result<(), Fault> {
    if wrap || twin.bytes() <= most.get() {
        return Ok(());
    }
    Err(Fault::new(format!("--workload {}", twin.name), "a footprint beyond the drive's end")
        .got(Bytes::new(twin.bytes()))
        .expected(format!("at most what the host can address, {most}"))
        .hint("--wrap folds such addresses into the drive"))
}
