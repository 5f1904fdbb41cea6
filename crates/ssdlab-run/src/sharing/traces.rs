//! Shares traces among plans that read them, alone or in mixes.

use std::sync::Arc;

use ssdlab_base::Fault;

use super::groups;
use crate::control::Control;
use crate::mix::Layout;
use crate::prepare::Prepared;
use crate::shared::{Shared, TraceCache};
use crate::traces::AppOrder;

/// Lets plans share a trace if they read the same requests of it.
pub(crate) fn share(prepared: &mut [Prepared]) {
    share_in(&Arc::new(TraceCache::default()), prepared);
}

pub(crate) fn share_in(cache: &Arc<TraceCache>, prepared: &mut [Prepared]) {
    let requests = |at: usize| {
        let plan = &prepared[at];
        (&plan.plan.trace, &plan.workload.trace, plan.plan.limit)
    };
    let reads = |at: usize| prepared[at].plan.trace.is_some();
    let all = groups(prepared.len(), reads, |one, other| requests(one) == requests(other));
    for readers in &all {
        // A trace that cannot be read fails when its plan opens it.
        let first = &prepared[readers[0]];
        let spec = first.plan.trace.as_deref().expect("a plan that reads a trace");
        if let Ok(one) = Shared::open(spec, &first.workload.trace, cache.clone()) {
            let one = Arc::new(one);
            readers.iter().for_each(|&at| prepared[at].shared.trace = Some(one.clone()));
        }
    }
    share_members(cache, prepared);
}

/// Lets plans share the members of equal mixes.
fn share_members(cache: &Arc<TraceCache>, prepared: &mut [Prepared]) {
    let reads = |at: usize| prepared[at].mix.is_some();
    let same =
        |one: usize, other: usize| members_read(&prepared[one]) == members_read(&prepared[other]);
    for readers in groups(prepared.len(), reads, same) {
        let first = &prepared[readers[0]];
        let layout = first.mix.as_ref().expect("a plan with a mix");
        let open = |(nth, app): (usize, &AppOrder)| {
            let new = || Shared::open(&app.trace, &first.workload.trace, cache.clone()).ok();
            layout.twins()[nth].is_none().then(new).flatten().map(Arc::new)
        };
        let members: Vec<_> = first.plan.mix.iter().enumerate().map(open).collect();
        readers.iter().for_each(|&at| prepared[at].shared.members.clone_from(&members));
    }
}

/// Returns everything that decides how far the members of a mix are read. Twins count, too: their
/// requests decide how much of a trace is read, and so which remarks it gets.
fn members_read(plan: &Prepared) -> impl PartialEq {
    let twins = plan.mix.as_ref().map_or(&[][..], Layout::twins);
    let seed = twins.iter().any(Option::is_some).then_some(plan.plan.seed);
    (&plan.plan.mix, &plan.workload.trace, plan.plan.limit, twins, seed)
}

/// Lays out the addresses of every plan's mix; false if stopped. For this, it may have to read
/// traces to their end, but only once for plans with the same mix.
///
/// # Errors
/// When a trace cannot be read or is invalid.
pub(crate) fn lay_out(all: &[Prepared], control: &Control) -> Result<bool, Fault> {
    for (index, prepared) in all.iter().enumerate() {
        let Some(layout) = &prepared.mix else { continue };
        let alike = |other: &&Prepared| {
            other.plan.mix == prepared.plan.mix
                && other.workload.trace == prepared.workload.trace
                && other.mix.as_ref().is_some_and(|other| other.twins() == layout.twins())
        };
        let known = all[..index].iter().find(alike).and_then(|other| other.mix.as_ref());
        let options = &prepared.workload.trace;
        if !layout.lay_out(known, &prepared.plan, options, control, index)? {
            return Ok(false);
        }
    }
    Ok(true)
}
