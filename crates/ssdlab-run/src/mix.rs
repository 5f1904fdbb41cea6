//! A mix of traces and twins as a plan's workload: each member in a submission queue and, unless it
//! says otherwise, in a range of addresses of its own.

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

/// Where and when the requests of a plan's members are put.
#[derive(Debug)]
pub(crate) struct Layout {
    /// All of it but what their addresses are moved by.
    placings: Vec<Placing>,
    /// The twins among them.
    twins: Vec<Option<&'static Twin>>,
    /// Sectors that the addresses of each are moved by, once the traces have been read for that.
    shifts: OnceLock<Vec<i64>>,
}

/// What a plan's mix is to be, as far as that is known before its traces are read; none if the plan
/// has no mix.
///
/// # Errors
/// When a member is wrong, or the drive has too few submission queues.
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

/// The trace of a member, read by itself.
fn open_alone(plan: &Plan, options: &TraceOptions, nth: usize) -> Result<Member, Fault> {
    open_trace(&plan.mix[nth].trace, options).map(Member::trace)
}

impl Layout {
    /// The twin that each member is; none of a trace.
    pub(crate) fn twins(&self) -> &[Option<&'static Twin>] {
        &self.twins
    }

    /// The members merged, from the first request on; what the user should know of how they are
    /// read is added to `remarks`.
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

    /// Lays out its addresses as another of the same mix did, or for the first time, for which
    /// traces may have to be read to their end: work of plan `index`; false if it was stopped.
    ///
    /// # Errors
    /// When a trace cannot be read or is wrong.
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

    /// What results call the mix.
    pub(crate) fn name(&self, plan: &Plan) -> String {
        let members = plan.mix.iter().zip(&self.twins);
        let named = members
            .map(|(app, twin)| member_label(&app.name, twin.map(|twin| twin.title.as_str())));
        format!("mix of {}", named.collect::<Vec<_>>().join(" + "))
    }

    /// Factors on the times between the requests of each member.
    pub(crate) fn scales(&self) -> impl Iterator<Item = f64> {
        self.placings.iter().map(|placing| placing.scale)
    }

    /// The addresses of each member in its queue, if all of them are twins.
    pub(crate) fn reaches(&self) -> Option<Vec<(u8, Reach)>> {
        let placed = self.twins.iter().zip(self.placed()).map(|(twin, placing)| {
            let moved = |sector: u64| sector.saturating_add_signed(placing.shift);
            let reach = Reach { first: moved(0), end: moved((*twin)?.sectors()) };
            Some((placing.queue?, reach))
        });
        placed.collect()
    }

    /// Where and when the requests of each member are put, once that is laid out.
    pub(crate) fn placed(&self) -> impl Iterator<Item = Placing> {
        let shifts = self.shifts.get().expect("laid out before it is read");
        self.placings
            .iter()
            .zip(shifts)
            .map(|(placing, shift)| Placing { shift: *shift, ..*placing })
    }
}
