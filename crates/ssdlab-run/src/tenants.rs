//! Finds the tenants of a drive whose start depends on them: their pages, and how often they write
//! and read in the history of the start.

use std::sync::atomic::Ordering;

use ssdlab_base::{Bytes, Fault, Nanos};
use ssdlab_core::config::Rate;
use ssdlab_core::{Resolved, Tenant};
use ssdlab_workload::{Op, Reach};

use crate::control::Control;
use crate::prepare::Prepared;
use crate::source::Requests;

/// Number of requests that measure the rates of tenants.
const RATED: u64 = 1_000_000;

/// Returns whether the start of a drive depends on the tenants of its workload.
pub(crate) fn matter(resolved: &Resolved) -> bool {
    let listed = resolved.history().is_some_and(|history| !history.tenants.is_empty());
    !listed && (resolved.classes.by_priority || resolved.history().is_some())
}

/// Returns whether the start of a drive depends on the rates of its workload.
pub(crate) fn rates_matter(resolved: &Resolved) -> bool {
    resolved.history().is_some_and(|history| history.tenants.is_empty())
}

/// Returns the fault of a history without tenants for a plan whose requests have no rates.
pub(crate) fn without_rates(prepared: &Prepared) -> Fault {
    let expected = "start.history.tenants, or a workload whose requests have arrival times";
    prepared.effective.fault_at("start.history").expected(expected)
}

/// Returns the pages and the rates of each submission queue; empty if the start does not depend on
/// them, or if stopped.
///
/// # Errors
/// When the workload cannot be read, or has no rates although the start depends on them.
pub(crate) fn of(prepared: &Prepared, control: &Control) -> Result<Vec<Tenant>, Fault> {
    let resolved = &prepared.resolved;
    if !matter(resolved) {
        return Ok(Vec::new());
    }
    let reaches = match known(prepared) {
        Some(reaches) => reaches,
        None => read(prepared, control)?,
    };
    let rates = if rates_matter(resolved) { rates(prepared, control)? } else { Vec::new() };
    let (per_page, all) = (u64::from(resolved.geometry().sectors_per_page()), resolved.sectors());
    let tenants = reaches.into_iter().filter(|(_, reach)| reach.end > reach.first);
    let tenants = tenants.map(|(queue, reach)| {
        let (first, end) = (reach.first.min(all) / per_page, reach.end.min(all).div_ceil(per_page));
        let end = end.min(resolved.logical_pages.into());
        let rate = rates.get(usize::from(queue)).copied().unwrap_or_default();
        let pages = end.saturating_sub(first) as u32;
        Tenant { first: first as u32, pages, queue, rate, ..Tenant::default() }
    });
    let tenants: Vec<Tenant> = tenants.collect();
    if rates_matter(resolved) {
        check_rates(prepared, &tenants)?;
    }
    Ok(tenants)
}

/// Refuses tenants that write or read more in a day than the flash can.
fn check_rates(prepared: &Prepared, tenants: &[Tenant]) -> Result<(), Fault> {
    let resolved = &prepared.resolved;
    let most = resolved.max_rate(tenants.iter().map(|tenant| u64::from(tenant.pages)).sum());
    let sum = |rate: fn(&Rate) -> f64| tenants.iter().map(|tenant| rate(&tenant.rate)).sum::<f64>();
    let of_day =
        |pages: f64| Bytes::new((pages * resolved.geometry().page_size.get() as f64).ceil() as u64);
    for (all, most, verb) in [
        (sum(|rate| rate.writes), most.writes, "writes"),
        (sum(|rate| rate.reads), most.reads, "reads"),
    ] {
        if all > most {
            let fault = prepared.effective.fault_at("start.history");
            let got =
                format!("a workload that {verb} {} in a day of the cells' clock", of_day(all));
            let most = of_day(most);
            let expected =
                format!("a workload that {verb} at most {most}, or start.history.tenants");
            return Err(fault.got(got).expected(expected));
        }
    }
    Ok(())
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

/// Returns how often each queue writes and reads, measured from the first requests.
fn rates(prepared: &Prepared, control: &Control) -> Result<Vec<Rate>, Fault> {
    if prepared.plan.closed.is_some() {
        return Err(without_rates(prepared));
    }
    let geometry = prepared.resolved.geometry();
    let mut counts = vec![Rate::default(); prepared.resolved.config.host.queues.into()];
    let (mut last, mut rated) = (Nanos::ZERO, 0);
    let mut requests = Requests::open(prepared, &mut Vec::new())?;
    let mut batch = Vec::new();
    while rated < RATED {
        requests.read(&mut batch)?;
        if batch.is_empty() || control.stop.load(Ordering::Relaxed) {
            break;
        }
        for record in &batch {
            let touched = geometry.pages_touched(record.lba, record.sectors);
            let pages = (touched.end - touched.start) as f64;
            let counts = &mut counts[usize::from(record.queue)];
            match record.op {
                Op::Write => counts.writes += pages,
                Op::Read => counts.reads += pages,
                _ => {}
            }
            last = record.at;
        }
        rated += batch.len() as u64;
    }
    let days = last.as_days() * f64::from(prepared.resolved.config.flash.time_scale);
    if days <= 0.0 && !control.stop.load(Ordering::Relaxed) {
        return Err(without_rates(prepared));
    }
    let a_day = |all: Rate| Rate { writes: all.writes / days, reads: all.reads / days };
    Ok(counts.into_iter().map(a_day).collect())
}
