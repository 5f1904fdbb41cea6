//! Brings a drive into a steady state before the run: it writes until write amplification settles.

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Fault, rng};
use ssdlab_core::{Completion, Drive, Op, Request};

use crate::control::{Control, Progress};
use crate::deadlock::{self, DeadlockDetector, stalled};

/// The most capacities written. A drive that has not settled by then is used nevertheless.
const MAX_CAPACITIES: u32 = 20;
/// The relative change of write amplification between two capacities that counts as settled.
const STEADY_CHANGE: f64 = 0.02;
/// Writes kept outstanding for each plane.
const OUTSTANDING_A_PLANE: u32 = 2;
/// Writes between two checks of the stop flag.
const CHECK_EVERY: u64 = 1 << 14;

/// How preconditioning brought the drive into a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreconditionResult {
    /// Capacities written, including the first sequential one.
    pub capacities: u32,
    /// Write amplification of the last capacity.
    pub waf: f64,
    /// Whether it differed by less than 2 % from the capacity before.
    pub settled: bool,
}

/// Writes every page once in order, and then pages at random. It ends when the write amplification
/// of two successive capacities differs by less than 2 %. Before that, every page of the flash must
/// have been written once, and one capacity more. Returns `None` if stopped.
///
/// # Errors
/// When the drive is deadlocked, or gains no free space.
pub(crate) fn steady(
    drive: &mut Drive,
    seed: u64,
    control: &Control,
    progress: &Progress,
) -> Result<Option<PreconditionResult>, Fault> {
    let mut random = rng::stream(seed, "precondition");
    let pages = u64::from(drive.resolved().logical_pages);
    let physical = f64::from(drive.resolved().geometry().page_count());
    let mut before = f64::INFINITY;
    if !write(drive, pages, |n| n, control, progress)? {
        return Ok(None);
    }
    for capacity in 2..=MAX_CAPACITIES {
        drive.reset_stats();
        if !write(drive, pages, |_| random.random_range(0..pages), control, progress)? {
            return Ok(None);
        }
        let waf = drive.write_amplification().unwrap_or(1.0);
        // Garbage collection does not start before every page of the flash has been written once.
        let begun = f64::from(capacity - 1) * pages as f64 > physical;
        if begun && (waf / before - 1.0).abs() < STEADY_CHANGE {
            return Ok(Some(PreconditionResult { capacities: capacity, waf, settled: true }));
        }
        before = waf;
    }
    Ok(Some(PreconditionResult { capacities: MAX_CAPACITIES, waf: before, settled: false }))
}

/// Programs the pages that only the buffer holds, as a drive does at power-off.
///
/// # Errors
/// When the drive is deadlocked, or gains no free space.
pub(crate) fn flush(drive: &mut Drive) -> Result<(), Fault> {
    let now = drive.now();
    let request =
        Request { tag: 0, arrival: now, op: Op::Flush, lba: 0, sectors: 0, queue: 0, hint: 0 };
    drive.submit(now, request).expect("an idle drive has room");
    finish(drive, &mut Vec::new())
}

/// Writes `count` whole pages, several at a time; false if stopped.
fn write(
    drive: &mut Drive,
    count: u64,
    mut page: impl FnMut(u64) -> u64,
    control: &Control,
    progress: &Progress,
) -> Result<bool, Fault> {
    let geometry = drive.resolved().geometry();
    let sectors = geometry.sectors_per_page();
    let outstanding = (geometry.plane_count() * OUTSTANDING_A_PLANE)
        .min(drive.resolved().config.host.queue_depth);
    let mut done = Vec::new();
    for n in 0..count {
        let mut detector = DeadlockDetector::default();
        while drive.unfinished() >= outstanding {
            let next = drive.next_event().ok_or_else(|| stalled(drive.unfinished().into()))?;
            drive.advance_once(next, &mut done);
            if detector.event() {
                detector.check(drive)?;
            }
        }
        done.clear();
        let now = drive.now();
        let lba = page(n) * u64::from(sectors);
        let request =
            Request { tag: n, arrival: now, op: Op::Write, lba, sectors, queue: 0, hint: 0 };
        drive.submit(now, request).expect("a queue with room");
        if n.is_multiple_of(CHECK_EVERY) {
            progress.preparing(n as f64 / count as f64);
            if control.stop.load(std::sync::atomic::Ordering::Relaxed) {
                // The caller drops the drive, so its unfinished requests do not matter.
                return Ok(false);
            }
        }
    }
    // No write of the preconditioning may be unfinished when the run begins.
    finish(drive, &mut done)?;
    Ok(true)
}

/// Lets the drive finish all operations and all requests.
fn finish(drive: &mut Drive, done: &mut Vec<Completion>) -> Result<(), Fault> {
    deadlock::finish(drive, done)?;
    match drive.unfinished() {
        0 => Ok(()),
        left => Err(stalled(left.into())),
    }
}
