//! Bringing a drive into a steady state by writing it, before the run begins.

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Fault, rng};
use ssdlab_core::{Completion, Drive, Op, Request};

use crate::control::{Control, Progress};
use crate::deadlock::{self, Watch, stalled};

/// Capacities written at most: a drive that has not settled by then is used as it is.
const CAPACITIES_MOST: u32 = 20;
/// The change of write amplification from one capacity to the next that counts as settled.
const SETTLED: f64 = 0.02;
/// Writes kept outstanding for each plane.
const OUTSTANDING_A_PLANE: u32 = 2;
/// Writes between two looks at whether to stop.
const CHECK_EVERY: u64 = 1 << 14;

/// How the drive was brought into a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PreconditionResult")]
pub struct Settled {
    /// Capacities written, the first sequential one included.
    pub capacities: u32,
    /// Write amplification of the last.
    pub waf: f64,
    /// Whether it differed by less than 2 % from the one before.
    pub settled: bool,
}

/// Writes every page once in order, then pages at random, until the write amplification of
/// successive capacities differs by less than 2 %, at the earliest when the flash has been written
/// once and another capacity besides; `None` if it was stopped.
///
/// # Errors
/// When the drive comes to a stand, or gains no space.
pub fn steady(
    drive: &mut Drive,
    seed: u64,
    control: &Control,
    progress: &Progress,
) -> Result<Option<Settled>, Fault> {
    let mut random = rng::stream(seed, "precondition");
    let pages = u64::from(drive.resolved().logical_pages);
    let physical = f64::from(drive.resolved().geometry().page_count());
    let mut before = f64::INFINITY;
    if !write(drive, pages, |n| n, control, progress)? {
        return Ok(None);
    }
    for capacity in 2..=CAPACITIES_MOST {
        drive.reset_stats();
        if !write(drive, pages, |_| random.random_range(0..pages), control, progress)? {
            return Ok(None);
        }
        let waf = drive.write_amplification().unwrap_or(1.0);
        // Nothing is collected before every page of the flash has been written once.
        let begun = f64::from(capacity - 1) * pages as f64 > physical;
        if begun && (waf / before - 1.0).abs() < SETTLED {
            return Ok(Some(Settled { capacities: capacity, waf, settled: true }));
        }
        before = waf;
    }
    Ok(Some(Settled { capacities: CAPACITIES_MOST, waf: before, settled: false }))
}

/// Programs what the buffer alone holds, as before the power goes.
///
/// # Errors
/// When the drive comes to a stand, or gains no space.
pub(crate) fn flush(drive: &mut Drive) -> Result<(), Fault> {
    let now = drive.now();
    let request =
        Request { tag: 0, arrival: now, op: Op::Flush, lba: 0, sectors: 0, queue: 0, hint: 0 };
    drive.submit(now, request).expect("an idle drive has room");
    finish(drive, &mut Vec::new())
}

/// Writes `count` whole pages, several at a time; false if it was stopped.
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
        let mut watch = Watch::default();
        while drive.unfinished() >= outstanding {
            let next = drive.next_event().ok_or_else(|| stalled(drive.unfinished().into()))?;
            drive.advance_once(next, &mut done);
            if watch.event() {
                watch.check(drive)?;
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
                // The drive is dropped: what is under way need not end.
                return Ok(false);
            }
        }
    }
    // Nothing of this may still be under way when the run begins.
    finish(drive, &mut done)?;
    Ok(true)
}

/// Lets the drive do all that is under way, requests among it.
fn finish(drive: &mut Drive, done: &mut Vec<Completion>) -> Result<(), Fault> {
    deadlock::finish(drive, done)?;
    match drive.unfinished() {
        0 => Ok(()),
        left => Err(stalled(left.into())),
    }
}
