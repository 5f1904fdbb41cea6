//! A mix of traces and twins as a plan's workload. Each member has a submission queue. Each also
//! has its own range of addresses, unless the plan sets an offset.

use std::sync::{Arc, OnceLock};

use ssdlab_base::Fault;
use ssdlab_config::Effective;
use ssdlab_workload::twins::Twin;
use ssdlab_workload::{Merge, Placing, Reach, TraceOptions};

use crate::control::Control;
use crate::open::{check_rereadable, open_trace};
use crate::plan::Plan;
use crate::shared::Shared;
use crate::traces::{Member, Members, member_label, merged, shifts, twin_of};
use crate::twin::family;

/// The placement of the members' requests in queues, time and address space.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The placements without the address offsets.
    placings: Vec<Placing>,
    /// The twin that each member is; none for a trace.
    twins: Vec<Option<&'static Twin>>,
    /// Address offset of each member in sectors, set after the traces have been read for it.
    shifts: OnceLock<Vec<i64>>,
}

/// Returns the layout of a plan's mix, as far as it is known before its traces are read; `None` if
/// the plan has no mix.
///
/// # Errors
/// When a member is invalid, or the drive has too few submission queues.
pub(crate) fn of(plan: &Plan, effective: &Effective, queues: u8) -> Result<Option<Layout>, Fault> {
    if plan.mix.is_empty() {
        return Ok(None);
    }
    let named: Vec<u8> = plan.mix.iter().filter_map(|app| app.queue).collect();
    let mut free =
        (0..=u16::from(u8::MAX)).filter(|queue| !named.iter().any(|n| queue == &u16::from(*n)));
    let mut placings = Vec::new();
    let mut twins = Vec::new();
    let mut needed = 0;
    for app in &plan.mix {
        let twin = twin_of(&app.trace, family(&plan.device));
        let twin =
            twin.map_err(|fault| Fault { source: format!("application {}", app.name), ..fault })?;
        if twin.is_none() {
            check_rereadable(&app.trace)?;
        }
        twins.push(twin);
        app.offset(false)?;
        let queue = app.queue.map(u16::from).or_else(|| free.next()).unwrap_or(u16::MAX);
        needed = needed.max(queue.saturating_add(1));
        placings.push(Placing { queue: u8::try_from(queue).ok(), ..app.placing()? });
    }
    if needed > u16::from(queues) {
        let expected = format!("at least {needed}, for the submission queues of its applications");
        let hint = format!("--set host.queues={needed}, or @queue=0 puts a member in the first");
        return Err(effective.fault_at("host.queues").expected(expected).hint(hint));
    }
    Ok(Some(Layout { placings, twins, shifts: OnceLock::new() }))
}

/// Opens the trace of a member for this plan alone.
fn open_alone(plan: &Plan, options: &TraceOptions, nth: usize) -> Result<Member, Fault> {
    open_trace(&plan.mix[nth].trace, options).map(Member::trace)
}

impl Layout {
    /// Returns the twin that each member is; none for a trace.
    pub(crate) fn twins(&self) -> &[Option<&'static Twin>] {
        &self.twins
    }

    /// Opens the members and merges them, from the first request on. Adds remarks for the user on
    /// how they are read to `remarks`.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub(crate) fn open(
        &self,
        plan: &Plan,
        options: &TraceOptions,
        shared: &[Option<Arc<Shared>>],
        remarks: &mut Vec<String>,
    ) -> Result<Merge, Fault> {
        let open = |nth: usize| match shared.get(nth) {
            Some(Some(shared)) => Ok(Member::Shared(shared.view())),
            _ => open_alone(plan, options, nth),
        };
        let members = self.members(plan, &open).open_all()?;
        remarks.extend(members.iter().flat_map(Member::remarks));
        let placed = self.placed().collect::<Vec<_>>();
        Ok(merged(&plan.mix, members, placed))
    }

    /// Sets the address offsets; false if stopped. It copies them from another layout of the same
    /// mix, if there is one. Otherwise it may have to read traces to their end, as part of the work
    /// of plan `index`.
    ///
    /// # Errors
    /// When a trace cannot be read or is invalid.
    pub(crate) fn lay_out(
        &self,
        as_other: Option<&Layout>,
        plan: &Plan,
        options: &TraceOptions,
        control: &Control,
        index: usize,
    ) -> Result<bool, Fault> {
        let found = match as_other.and_then(|other| other.shifts.get()) {
            Some(known) => known.clone(),
            None => {
                let open = |nth: usize| open_alone(plan, options, nth);
                // The run counts its own progress from 0.
                match shifts(&self.members(plan, &open), false, control, index, 0.0)? {
                    Some(found) => found,
                    None => return Ok(false),
                }
            }
        };
        self.shifts.set(found).expect("laid out once");
        Ok(true)
    }

    fn members<'a>(
        &'a self,
        plan: &'a Plan,
        open: &'a dyn Fn(usize) -> Result<Member, Fault>,
    ) -> Members<'a> {
        Members { apps: &plan.mix, twins: &self.twins, seed: plan.seed, open }
    }

    /// Returns the name of the mix in results.
    pub(crate) fn name(&self, plan: &Plan) -> String {
        let members = plan.mix.iter().zip(&self.twins);
        let named = members
            .map(|(app, twin)| member_label(&app.name, twin.map(|twin| twin.title.as_str())));
        format!("mix of {}", named.collect::<Vec<_>>().join(" + "))
    }

    /// Returns the factor on the times between requests of each member.
    pub(crate) fn scales(&self) -> impl Iterator<Item = f64> {
        self.placings.iter().map(|placing| placing.scale)
    }

    /// Returns the queue and the addresses of each member, if all members are twins.
    pub(crate) fn reaches(&self) -> Option<Vec<(u8, Reach)>> {
        let placed = self.twins.iter().zip(self.placed()).map(|(twin, placing)| {
            let moved = |sector: u64| sector.saturating_add_signed(placing.shift);
            let reach = Reach { first: moved(0), end: moved((*twin)?.sectors()) };
            Some((placing.queue?, reach))
        });
        placed.collect()
    }

    /// Returns the placement of each member, once the offsets are set.
    pub(crate) fn placed(&self) -> impl Iterator<Item = Placing> {
        let shifts = self.shifts.get().expect("laid out before it is read");
        self.placings
            .iter()
            .zip(shifts)
            .map(|(placing, shift)| Placing { shift: *shift, ..*placing })
    }
}
