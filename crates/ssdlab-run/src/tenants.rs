//! Finds the tenant of each logical page, for drives that keep blocks apart by priority.

use ssdlab_base::Fault;
use ssdlab_core::Tenant;
use ssdlab_workload::{Op, Reach};

use crate::control::Control;
use crate::prepare::Prepared;
use crate::source::Requests;

/// Returns the pages that each submission queue accesses; empty if the drive does not keep blocks
/// apart by priority, or if stopped.
///
/// # Errors
/// When the workload cannot be read.
pub(crate) fn of(prepared: &Prepared, control: &Control) -> Result<Vec<Tenant>, Fault> {
    let resolved = &prepared.resolved;
    if !resolved.classes.by_priority {
        return Ok(Vec::new());
    }
    let reaches = match known(prepared) {
        Some(reaches) => reaches,
        None => read(prepared, control)?,
    };
    let (per_page, all) = (u64::from(resolved.geometry().sectors_per_page()), resolved.sectors());
    let tenants = reaches.into_iter().filter(|(_, reach)| reach.end > reach.first);
    let tenants = tenants.map(|(queue, reach)| {
        let (first, end) = (reach.first.min(all) / per_page, reach.end.min(all).div_ceil(per_page));
        let end = end.min(resolved.logical_pages.into());
        Tenant { first: first as u32, pages: end.saturating_sub(first) as u32, queue }
    });
    Ok(tenants.collect())
}

/// Returns the addresses of each queue, if they are known without reading any request.
fn known(prepared: &Prepared) -> Option<Vec<(u8, Reach)>> {
    if let Some(mix) = &prepared.mix {
        return mix.reaches();
    }
    let mut first = 0;
    let members = prepared.twin.as_ref()?.members();
    let placed = (0..).zip(members).map(|(queue, member)| {
        let reach = Reach { first, end: first + member.sectors() };
        first = reach.end;
        (queue, reach)
    });
    (!members.is_empty()).then(|| placed.collect())
}

/// Returns the addresses of each queue, from all requests.
fn read(prepared: &Prepared, control: &Control) -> Result<Vec<(u8, Reach)>, Fault> {
    let queues = prepared.resolved.config.host.queues;
    let mut reaches: Vec<(u8, Reach)> =
        (0..queues).map(|queue| (queue, Reach::default())).collect();
    let all = Requests::open(prepared, &mut Vec::new())?.each(control, |record| {
        if record.op != Op::Flush {
            reaches[usize::from(record.queue)].1.take(&[*record]);
        }
        Ok(())
    })?;
    Ok(if all { reaches } else { Vec::new() })
}
