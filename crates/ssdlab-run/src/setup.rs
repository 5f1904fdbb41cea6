//! Sets up the drive of a plan, as it is when the run begins.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use ssdlab_base::{Fault, threads};
use ssdlab_core::Pace;
use ssdlab_core::config::UnwrittenReads;
use ssdlab_core::drive::Start;
use ssdlab_core::policy::event::PageUses;
use ssdlab_core::{Drive, Resolved, Tenant};
use ssdlab_workload::Op;

use crate::begin::Begins;
use crate::control::{Control, Progress};
use crate::files::NewFile;
use crate::need;
use crate::plan::Plan;
use crate::precondition::{self, PreconditionResult};
use crate::prepare::Prepared;
use crate::restore;
use crate::sharing::traces;
use crate::source::{Requests, op};
use crate::state::Header;
use crate::tenants;

/// Creates the drive of a plan in its start state, preconditioned if the plan asks for it, and
/// saves it to a file. The file appears only when it is complete; `None` if stopped. `control` must
/// have been made for one plan.
///
/// # Errors
/// When the plan is invalid or the file cannot be written.
pub fn save_state(plan: &Plan, path: &Path, control: &Control) -> Result<Option<Header>, Fault> {
    let mut prepared = plan.prepare()?;
    prepared.workload.trace.stop = control.stop();
    check_workload(&prepared)?;
    need::check(std::slice::from_ref(&prepared), None)?;
    if control.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    control.keep();
    let file = NewFile::new("", path)?;
    if !traces::lay_out(std::slice::from_ref(&prepared), control)? {
        return Ok(None);
    }
    match set_up(&prepared, control, &control.progress[0])? {
        None => Ok(None),
        Some(Begun { mut drive, settled, .. }) => {
            precondition::flush(&mut drive)?;
            restore::save(&prepared, drive, settled, file).map(Some)
        }
    }
}

/// Checks that the plan of a saved drive has no workload. One exception is a drive that keeps
/// blocks apart by priority: its workload assigns pages to priorities. The other is a history
/// without tenants, which uses those of the workload.
fn check_workload(prepared: &Prepared) -> Result<(), Fault> {
    let plan = &prepared.plan;
    let has_workload = plan.workload.is_some() || !plan.mix.is_empty();
    match (tenants::matter(&prepared.resolved), has_workload) {
        (true, false) if tenants::rates_matter(&prepared.resolved) => {
            Err(tenants::without_rates(prepared))
        }
        (true, false) => Err(prepared
            .effective
            .fault_at("metadata.block_class")
            .expected("the workload with which the drive will run, since blocks are kept apart by priority")
            .hint("--workload, --mix or --app assigns pages to priorities")),
        (false, true) => Err(Fault::new("--workload", "a workload of a drive that is saved")
            .expected("none: only blocks that are kept apart by priority, and a history without tenants, need a workload")),
        _ => Ok(()),
    }
}

/// The drive of a plan when the run begins, before the pages of its workload are laid down.
pub(crate) struct Begun {
    pub drive: Drive,
    /// How preconditioning made it steady; none without preconditioning.
    pub settled: Option<PreconditionResult>,
    /// Whether its start state is a copy of another plan's.
    pub copied: bool,
}

/// Sets up the drive of a plan; `None` if stopped. Drives of one comparison may share a steady
/// state.
pub(crate) fn set_up(
    prepared: &Prepared,
    control: &Control,
    progress: &Progress,
) -> Result<Option<Begun>, Fault> {
    let Some(Begins::Steady(common)) = &prepared.shared.begins else {
        return set_up_for(|| tenants::of(prepared, control), prepared, control, progress);
    };
    let steady = common.get(|| {
        let tenants = || tenants::of(prepared, control);
        let begun = set_up_for(tenants, prepared, control, progress)?;
        Ok(begun.map(|begun| (begun.drive, begun.settled.expect("it was overwritten"))))
    })?;
    let begun = |((drive, settled), copied)| Begun { drive, settled: Some(settled), copied };
    Ok(steady.map(begun))
}

/// Sets up the drive of a plan as [`set_up`] does, with these tenants instead of the workload's.
pub(crate) fn set_up_for(
    tenants: impl FnOnce() -> Result<Vec<Tenant>, Fault>,
    prepared: &Prepared,
    control: &Control,
    progress: &Progress,
) -> Result<Option<Begun>, Fault> {
    let begun = match &prepared.plan.state {
        Some(path) => restore::drive_from(prepared, path, control)?,
        None => drawn(tenants, prepared, control)?,
    };
    let Some((mut drive, copied)) = begun else { return Ok(None) };
    if prepared.plan.paranoid {
        drive.start_audit(Pace::Affordable);
    }
    let seed = prepared.plan.seed;
    let mut settled = None;
    if prepared.steady {
        settled = precondition::steady(&mut drive, seed, control, progress)?;
        drive.reset_stats();
    }
    let stopped = control.stop.load(Ordering::Relaxed);
    Ok((!stopped).then_some(Begun { drive, settled, copied }))
}

/// The longest time before a stop takes effect while a drive is drawn.
const UNHEARD: Duration = Duration::from_millis(20);

/// Draws the start state of a plan's drive; `None` if stopped. Also returns whether another plan
/// drew it.
fn drawn(
    tenants: impl FnOnce() -> Result<Vec<Tenant>, Fault>,
    prepared: &Prepared,
    control: &Control,
) -> Result<Option<(Drive, bool)>, Fault> {
    let resolved = &prepared.resolved;
    let draw = || {
        let tenants = tenants()?;
        let stopped = control.stop.load(Ordering::Relaxed);
        if tenants.is_empty() && tenants::rates_matter(resolved) && !stopped {
            return Err(tenants::without_rates(prepared));
        }
        drawn_in_thread(resolved.clone(), tenants, control)
    };
    let start = match &prepared.shared.begins {
        Some(Begins::Drawn(common)) => common.get(draw)?,
        _ => draw()?.map(|start| (start, false)),
    };
    Ok(start.map(|(start, copied)| (Drive::begin(resolved.clone(), start), copied)))
}

/// Draws a start state in a thread of its own; `None` if stopped. A large drive takes seconds, and
/// drawing cannot be stopped. After a stop, the thread goes on to the end, and its state is
/// dropped.
fn drawn_in_thread(
    resolved: Arc<Resolved>,
    tenants: Vec<Tenant>,
    control: &Control,
) -> Result<Option<Start>, Fault> {
    let (sender, receiver) = mpsc::channel();
    let drawing = threads::begin(move || sender.send(Start::draw(&resolved, &tenants)).is_ok())?;
    loop {
        match receiver.recv_timeout(UNHEARD) {
            Ok(start) => return Ok(Some(start)),
            Err(RecvTimeoutError::Timeout) if control.stop.load(Ordering::Relaxed) => {
                return Ok(None);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let panic = drawing.join().expect_err("it ended without what it draws");
    std::panic::resume_unwind(panic)
}

/// Counts how often the workload reads and writes each page, if a policy of the drive needs these
/// counts.
///
/// # Errors
/// When the workload cannot be read.
pub(crate) fn publish_uses(
    prepared: &Prepared,
    drive: &mut Drive,
    control: &Control,
) -> Result<(), Fault> {
    if !drive.needs_page_uses() {
        return Ok(());
    }
    let geometry = prepared.resolved.geometry();
    let pages = drive.resolved().logical_pages as usize;
    let mut uses = PageUses { reads: vec![0; pages], writes: vec![0; pages] };
    let all = Requests::open(prepared, &mut Vec::new())?.each(control, |record| {
        let counts = match record.op {
            Op::Read => &mut uses.reads,
            Op::Write => &mut uses.writes,
            _ => return Ok(()),
        };
        let touched = geometry.pages_touched(record.lba, record.sectors);
        let counts = &mut counts[touched.start as usize..touched.end as usize];
        counts.iter_mut().for_each(|count| *count = count.saturating_add(1));
        Ok(())
    })?;
    if all {
        drive.publish_uses(&uses);
    }
    Ok(())
}

/// Passes the workload through the drive's buffer once, without time, if a policy classifies pages
/// before the run. Then programs the start contents as [`program_start`] does.
///
/// # Errors
/// When the workload cannot be read.
pub(crate) fn run_first_pass(
    prepared: &Prepared,
    drive: &mut Drive,
    control: &Control,
) -> Result<(), Fault> {
    if let Some(mut pass) = drive.first_pass_run() {
        let all = Requests::open(prepared, &mut Vec::new())?.each(control, |record| {
            drive.first_pass_request(&mut pass, op(record.op), record.lba, record.sectors);
            Ok(())
        })?;
        if !all {
            return Ok(());
        }
        drive.end_first_pass(pass);
    }
    program_start(prepared, drive);
    Ok(())
}

/// Programs the start contents in the modes that writes at this moment would use, if the config
/// asks for it.
pub(crate) fn program_start(prepared: &Prepared, drive: &mut Drive) {
    // A saved or preconditioned drive already has the modes of its writes.
    if prepared.plan.state.is_none() && !prepared.steady {
        drive.program_start();
    }
}

/// Lays down every page that the workload reads, if the config asks for it.
///
/// # Errors
/// When the workload cannot be read, or when the drive cannot hold these pages.
pub(crate) fn prefill_footprint(
    prepared: &Prepared,
    drive: &mut Drive,
    control: &Control,
) -> Result<(), Fault> {
    if prepared.resolved.config.start.unwritten_reads != UnwrittenReads::Footprint {
        return Ok(());
    }
    let geometry = prepared.resolved.geometry();
    let pages = drive.resolved().logical_pages as usize;
    let mut seen = vec![0u64; pages.div_ceil(64)];
    let mut prefill = drive.prefill();
    Requests::open(prepared, &mut Vec::new())?.each(control, |record| {
        if record.op != Op::Read {
            return Ok(());
        }
        for page in geometry.pages_touched(record.lba, record.sectors) {
            let (word, bit) = (page as usize / 64, 1 << (page % 64));
            if seen[word] & bit != 0 {
                continue;
            }
            seen[word] |= bit;
            if !drive.prefill_page(&mut prefill, page as u32) {
                return Err("a footprint that the drive cannot hold");
            }
        }
        Ok(())
    })?;
    Ok(())
}
