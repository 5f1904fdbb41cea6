//! Starts with a history: a scaled drive runs through it, and the drive is drawn after its blocks.

mod records;
mod workload;

use ssdlab_nand::PlaneId;

use super::start::{HistorySample, by_rank};
use super::{Start, Tenant};
use crate::config::{HistoryConfig, Rate, Resolved, SampleSize};
use crate::drive::Drive;
use workload::HistoryWorkload;

impl Start {
    /// Draws a start. If the drive separates blocks by priority, the data lies in blocks of these
    /// tenants. In the history of the start, if there is one, they write and read.
    pub fn draw(resolved: &Resolved, tenants: &[Tenant]) -> Start {
        Start::draw_after(resolved, tenants, SampleSize::default())
    }

    /// Draws a start as [`Start::draw`] does, after a sample of at most this size.
    pub fn draw_after(resolved: &Resolved, tenants: &[Tenant], most: SampleSize) -> Start {
        let Some(history) = resolved.history() else { return Start::drawn(resolved, tenants) };
        let tenants = tenants_of(resolved, history, tenants);
        let aged = run_history(resolved, history, &tenants, most);
        Start::after(resolved, &tenants, &aged)
    }
}

/// Returns the tenants of the history: those of the config, else the others.
fn tenants_of(resolved: &Resolved, history: &HistoryConfig, others: &[Tenant]) -> Vec<Tenant> {
    if history.tenants.is_empty() {
        return others.to_vec();
    }
    let page = resolved.geometry().page_size.get();
    let mut first = 0;
    let tenants = history.tenants.iter().map(|tenant| {
        let pages = tenant.footprint.get().div_ceil(page) as u32;
        let in_pages = |bytes: u64| bytes as f64 / page as f64;
        let rate = Rate {
            writes: in_pages(tenant.writes_per_day.get()),
            reads: in_pages(tenant.reads_per_day.get()),
        };
        let write_pages = tenant.write_size.map_or(1, |size| size.get().div_ceil(page) as u32);
        let own = Tenant { first, pages, queue: tenant.queue, rate, write_pages };
        first += pages;
        own
    });
    tenants.collect()
}

/// Returns the blocks of a sample that has run through the history of a drive.
fn run_history(
    resolved: &Resolved,
    history: &HistoryConfig,
    tenants: &[Tenant],
    most: SampleSize,
) -> HistorySample {
    let sample = resolved.sample(most).expect("checked with the config");
    let part = f64::from(sample.logical_pages) / f64::from(resolved.logical_pages);
    let scaled = |pages: u32| (f64::from(pages) * part).round() as u32;
    let tenants: Vec<Tenant> = tenants
        .iter()
        .map(|tenant| {
            let first = scaled(tenant.first);
            let pages = scaled(tenant.first.saturating_add(tenant.pages)) - first;
            let Rate { writes, reads } = tenant.rate;
            let rate = Rate { writes: writes * part, reads: reads * part };
            Tenant { first, pages, rate, ..*tenant }
        })
        .collect();
    let mut drive = Drive::for_tenants(sample.into(), &tenants);
    let planes = 0..drive.resolved().geometry().plane_count();
    let ranked = planes.map(|plane| by_rank(drive.resolved(), &drive.ftl().blocks, PlaneId(plane)));
    let ranked: Vec<_> = ranked.collect();
    let began = records::began(&drive);
    let workload = HistoryWorkload::of(&tenants, history.span, most);
    let halfway = workload.run(&mut drive);
    records::of(&drive, &tenants, (&ranked, &began, &halfway), &workload)
}

#[cfg(test)]
mod tests;
