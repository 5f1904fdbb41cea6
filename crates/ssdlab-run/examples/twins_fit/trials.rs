//! Tries settings that an excerpt does not determine directly, against its first half alone.

use std::collections::BTreeMap;

use ssdlab_workload::Record;
use ssdlab_workload::measure::{Reuse, kolmogorov_smirnov};
use ssdlab_workload::twins::Twin;
use ssdlab_workload::twins::fit::{Trial, fit};
use ssdlab_workload::twins::shape::Shape;

use super::cases::Case;
use super::drain;

/// The outcome of a trial.
pub(crate) struct Tried {
    pub trial: Trial,
    pub twin: Twin,
    pub shape: Shape,
    /// Distance of its twins from the fitted half: see [`tried`].
    off: f64,
}

/// Returns the setting of the trials that count every return as a recent one.
pub(crate) fn all_recent() -> Option<u64> {
    Trial::all().iter().map(|trial| trial.near).max()
}

/// Fits the wanted trials on a half and leaves out those that cannot run. The distance of each
/// trial sums three differences: in reuse distances, in how often accessed pages are used, and in
/// the share of first uses.
pub(crate) fn tried(
    case: &Case,
    half: &[Record],
    is_selected: impl Fn(&Trial) -> bool,
) -> Vec<Tried> {
    let source = "fitted on the first half of an excerpt";
    let (mut real, first) = distances(half);
    let mut real_uses = uses(half);
    let mut list = Vec::new();
    for trial in Trial::all().into_iter().filter(is_selected) {
        let (targets, shape) = fit(half, source, trial);
        let twin = match Twin::new(case.name, targets, shape.clone()) {
            Ok(twin) => twin,
            Err(fault) => {
                eprintln!("{}: {fault}", case.name);
                continue;
            }
        };
        // Use several seeds for few requests, so that no trial wins by chance.
        let seeds = if half.len() > 20_000 { 1 } else { 6 };
        let off: f64 = (0..seeds)
            .map(|seed| {
                let records = run(&twin, seed);
                let (mut made, new) = distances(&records);
                let uses = kolmogorov_smirnov(&mut uses(&records), &mut real_uses).0;
                kolmogorov_smirnov(&mut made, &mut real).0 + (new - first).abs() + uses
            })
            .sum();
        list.push(Tried { trial, twin, shape, off });
    }
    list
}

/// Returns the trial whose twins are nearest; the first of equals.
pub(crate) fn best(tried: &[Tried]) -> &Tried {
    let least = tried.iter().min_by(|one, other| one.off.total_cmp(&other.off));
    least.expect("a trial that can be run")
}

/// Returns the requests of a twin.
pub(crate) fn run(twin: &Twin, seed: u64) -> Vec<Record> {
    drain(&mut twin.source(seed).expect("a twin"), u64::MAX)
}

/// Returns the pages of 4 KiB that a request accesses.
fn pages(record: &Record) -> std::ops::RangeInclusive<u64> {
    let end = record.lba + u64::from(record.sectors).max(1) - 1;
    record.lba / 8..=end / 8
}

/// Returns the reuse distances in pages, and the share of first uses.
pub(crate) fn distances(records: &[Record]) -> (Vec<f64>, f64) {
    let mut reuse = Reuse::new(0);
    let (mut list, mut new) = (Vec::new(), 0);
    for page in records.iter().flat_map(pages) {
        match reuse.take(page) {
            Some(distance) => list.push(distance as f64),
            None => new += 1,
        }
    }
    let share = f64::from(new) / (list.len() as f64 + f64::from(new));
    (list, share)
}

/// Returns, for each use of a page, the total number of uses of that page.
pub(crate) fn uses(records: &[Record]) -> Vec<f64> {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    records.iter().flat_map(pages).for_each(|page| *counts.entry(page).or_default() += 1);
    let each = |count: &u32| std::iter::repeat_n(f64::from(*count), *count as usize);
    counts.values().flat_map(each).collect()
}

/// Returns the times between requests.
pub(crate) fn gaps(records: &[Record]) -> Vec<f64> {
    records.windows(2).map(|pair| (pair[1].at - pair[0].at).as_ns() as f64).collect()
}
