//! Shares start states among plans whose drives begin alike, as far as memory allows.

use std::cell::OnceCell;

use ssdlab_base::memory::{Limit, left};
use ssdlab_core::drive::StartModel;

use crate::begin::{Begins, Common};
use crate::memory;
use crate::need::{self, BESIDES, PAGE};
use crate::plan::Plan;
use crate::prepare::Prepared;
use crate::sharing::groups;
use crate::tenants;

/// Start states of up to this many pages are shared however little memory is free: 1.6 GB.
const MIN_COPIED_PAGES: u32 = 3 << 26;
/// If fewer than one page in this many holds data, copying the mapping table takes longer than
/// drawing a new start state.
const SPARSE: f64 = 16.0;

/// Lets plans whose drives begin alike share a start state. Returns the order in which to run the
/// plans, `jobs` at a time, so that few start states are kept at once. Memory decides only which
/// plans share a start state, never its contents.
pub(crate) fn share(prepared: &mut [Prepared], jobs: usize) -> Vec<usize> {
    let drives = jobs.clamp(1, prepared.len().max(1)) + 1;
    share_up_to(max_copied_pages(memory::available().map(|limit| limit.bytes), drives), prepared)
}

/// Returns the most pages of a drive whose start state is kept. This many drives of that size,
/// including the kept one, fit into memory.
fn max_copied_pages(available: Option<u64>, drives: usize) -> u32 {
    let fit = usable(available.unwrap_or(0)) / (PAGE * drives as u64);
    u32::try_from(fit).unwrap_or(u32::MAX).max(MIN_COPIED_PAGES)
}

fn share_up_to(most: u32, prepared: &mut [Prepared]) -> Vec<usize> {
    let mut groups_at: Vec<usize> = (0..prepared.len()).collect();
    let models: Vec<OnceCell<StartModel>> = prepared.iter().map(|_| OnceCell::new()).collect();
    let model = |at: usize| models[at].get_or_init(|| prepared[at].resolved.start_model());
    let alike = |one: usize, other: usize| {
        begin_alike(&prepared[one], &prepared[other], || model(one) == model(other))
    };
    for plans in groups(prepared.len(), |at| is_worth_it(&prepared[at]), alike) {
        let first = &prepared[plans[0]];
        let pages = first.resolved.geometry().page_count();
        if pages > most {
            let takes = u64::from(pages) * PAGE / 1_000_000;
            let why = format!(
                "the start state was made again instead of copied: a copy takes {takes} MB, and memory is short"
            );
            plans[1..].iter().for_each(|&at| prepared[at].shared.begins_alone = Some(why.clone()));
            continue;
        }
        let begins = match (&first.plan.state, first.steady) {
            (Some(_), _) => Begins::Saved(Common::new(plans.len())),
            (None, true) => Begins::Steady(Common::new(plans.len())),
            (None, false) => Begins::Drawn(Common::new(plans.len())),
        };
        for &at in &plans {
            (groups_at[at], prepared[at].shared.begins) = (plans[0], Some(begins.clone()));
        }
    }
    let mut order: Vec<usize> = (0..prepared.len()).collect();
    order.sort_by_key(|&at| groups_at[at]);
    order
}

/// Returns whether copying a start state takes less time than making it again.
fn is_worth_it(prepared: &Prepared) -> bool {
    let pages = prepared.resolved.geometry().page_count();
    is_made(prepared) || drawn(prepared) > f64::from(pages) / SPARSE
}

/// Returns whether a drive begins from a state file or from preconditioning.
fn is_made(prepared: &Prepared) -> bool {
    prepared.plan.state.is_some() || prepared.steady
}

/// Returns the pages that hold data when a drive begins with drawn contents.
fn drawn(prepared: &Prepared) -> f64 {
    prepared.resolved.config.start.fill.get() * f64::from(prepared.resolved.logical_pages)
}

/// Returns how many of these drives can exist at a time, assuming the largest. There is one for
/// each core, as far as memory holds them and a copy of a start state.
pub(crate) fn at_a_time(prepared: &[Prepared]) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let left = left();
    let resident = fitting(bytes(left.resident), prepared.iter().map(takes).collect());
    let reserves = |plan: &Prepared| BESIDES + need::of(plan).reserved;
    let reserved = fitting(bytes(left.reserved), prepared.iter().map(reserves).collect());
    cores.min(resident).min(reserved)
}

fn bytes(limit: Option<Limit>) -> Option<u64> {
    limit.map(|limit| limit.bytes)
}

/// Returns the bytes of a plan once its run begins. For a copied start state, this is the most that
/// the copy may take.
fn takes(prepared: &Prepared) -> u64 {
    let copied = if is_worth_it(prepared) {
        f64::from(prepared.resolved.geometry().page_count()) - drawn(prepared)
    } else {
        0.0
    };
    BESIDES + need::of(prepared).resident + copied as u64 * PAGE
}

/// Returns the bytes that drives may take of the available memory.
fn usable(available: u64) -> u64 {
    available / 4 * 3
}

/// Returns how many drives of these sizes fit, the largest of them, with one copy of the largest.
fn fitting(available: Option<u64>, mut bytes: Vec<u64>) -> usize {
    let Some(mut left) = available.map(usable) else { return usize::MAX };
    bytes.sort_unstable_by(|one, other| other.cmp(one));
    left = left.saturating_sub(bytes.first().copied().unwrap_or(0));
    let fits = |takes: &&u64| {
        let rest = left.checked_sub(**takes);
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    match bytes.iter().take_while(fits).count() {
        all if all == bytes.len() => usize::MAX,
        some => some.max(1),
    }
}

/// Returns whether two plans' drives begin alike. `outlined_alike` returns whether their outlines
/// are equal.
fn begin_alike(one: &Prepared, other: &Prepared, outlined_alike: impl FnOnce() -> bool) -> bool {
    let beginnings = |prepared: &Prepared| (prepared.plan.state.clone(), prepared.steady);
    if beginnings(one) != beginnings(other) {
        return false;
    }
    if one.plan.state.is_some() {
        return true;
    }
    let of_tenants = tenants::matter(&one.resolved);
    if of_tenants && !ask_alike(one, other) {
        return false;
    }
    if one.steady {
        let all = |prepared: &Prepared| (prepared.plan.seed, prepared.plan.paranoid);
        all(one) == all(other) && one.resolved.config == other.resolved.config
    } else {
        one.resolved.begins_as(&other.resolved, outlined_alike)
    }
}

/// Returns whether two plans have the same requests, as far as this is known before reading them.
/// The device matters, because it decides which twin a bare name selects.
fn ask_alike(one: &Prepared, other: &Prepared) -> bool {
    let requests = |Plan { device, trace, workload, mix, seed, limit, wrap, .. }: &Plan| {
        (device.clone(), trace.clone(), workload.clone(), mix.clone(), (*seed, *limit, *wrap))
    };
    requests(&one.plan) == requests(&other.plan) && one.workload == other.workload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_run_at_a_time_as_fit_into_memory() {
        // Three quarters of 16 are 12, and a copy of the largest takes 4 of them.
        assert_eq!(fitting(Some(16), vec![1, 4, 3, 2]), 2);
        assert_eq!(fitting(Some(16), vec![2, 2, 2, 2, 2]), usize::MAX);
        assert_eq!(fitting(Some(16), vec![9, 9]), 1, "one runs however little there is");
        assert_eq!(fitting(None, vec![1 << 60; 3]), usize::MAX);
        let plan = |set: &str| Plan {
            device: "readguard-tlc-4t".into(),
            set: vec![set.into()],
            ..Plan::default()
        };
        let all = |set: &str| vec![takes(&plan(set).prepare().unwrap()); 8];
        // Each takes 2.5 GB, and so does a copy of its start state. Empty drives take little.
        assert_eq!(fitting(Some(18_000_000_000), all("start.fill=1")), 4);
        assert_eq!(fitting(Some(2_000_000_000), all("start.fill=0")), usize::MAX);
        // With so many runs, memory still suffices to keep the start state.
        let pages = plan("start.fill=1").prepare().unwrap().resolved.geometry().page_count();
        assert!(max_copied_pages(Some(18_000_000_000), 4 + 1) >= pages);
    }

    fn prepared(device: &str, seed: u64, order: &str) -> Prepared {
        let set = ["start.fill=0.5", &format!("scheduler={order}")].map(str::to_owned).to_vec();
        let workload = Some("hm0".into());
        let plan = Plan { device: device.into(), workload, seed, set, ..Plan::default() };
        plan.prepare().expect("a plan")
    }

    #[test]
    fn runs_with_the_same_start_are_scheduled_together() {
        let order = |seed, order| prepared("dlv-mlc-128g", seed, order);
        let mut plans =
            [order(1, "fifo"), order(2, "fifo"), order(1, "read_first"), order(2, "read_first")];
        assert_eq!(share(&mut plans, 1), [0, 2, 1, 3]);
        assert!(plans.iter().all(|plan| plan.shared.begins.is_some()));
    }

    #[test]
    fn where_memory_is_short_each_makes_its_own_and_says_so() {
        assert_eq!(
            [max_copied_pages(None, 2), max_copied_pages(Some(1 << 30), 2)],
            [MIN_COPIED_PAGES; 2]
        );
        assert_eq!(max_copied_pages(Some(32 << 30), 3), 1 << 30);
        let mut plans = ["fifo", "read_first"].map(|order| prepared("dlv-mlc-128g", 1, order));
        assert_eq!(share_up_to(1000, &mut plans), [0, 1]);
        assert!(plans.iter().all(|plan| plan.shared.begins.is_none()));
        let why = plans.each_ref().map(|plan| plan.shared.begins_alone.as_deref());
        assert!(why[0].is_none() && why[1].is_some_and(|why| why.contains("memory is short")));
    }

    #[test]
    fn a_twin_is_another_on_another_device() {
        let [one, mut other] = ["fifo", "read_first"].map(|by| prepared("dlv-mlc-128g", 1, by));
        assert!(ask_alike(&one, &other));
        other.plan.device = "pv-read-mlc-128g".into();
        assert!(!ask_alike(&one, &other));
    }
}
