//! Detects drives without progress: requests wait while no event is pending, or while the drive
//! only moves pages.

use ssdlab_base::Fault;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Completion, Drive};

/// Events between two checks.
const CHECK_EVERY: u64 = 1 << 12;
/// The most erases, in multiples of all blocks, while the drive serves no host page. Collecting
/// everything that can be collected takes one erase of each block.
const TIMES: u64 = 4;

/// Watches the progress of a drive while the caller waits for it.
#[derive(Default)]
pub(crate) struct DeadlockDetector {
    events: u64,
    /// Pages read and programmed for the host, and blocks erased, when the former last changed.
    last: Option<(u64, u64)>,
}

impl DeadlockDetector {
    /// Counts an event. Returns whether a check is due.
    pub(crate) fn event(&mut self) -> bool {
        self.events += 1;
        self.events.is_multiple_of(CHECK_EVERY)
    }

    /// Checks that the drive makes progress.
    ///
    /// # Errors
    /// When the drive gains no free space.
    #[cold]
    pub(crate) fn check(&mut self, drive: &Drive) -> Result<(), Fault> {
        let ops = drive.flash().counts.ops();
        let for_host = |kind: OpKind| ops[kind as usize][Cause::Host as usize];
        let erased = ops[OpKind::Erase as usize].iter().sum();
        let blocks = u64::from(drive.resolved().geometry().block_count());
        self.judge(for_host(OpKind::Read) + for_host(OpKind::Program), erased, blocks)
    }

    fn judge(&mut self, served: u64, erased: u64, blocks: u64) -> Result<(), Fault> {
        let (before, since) = *self.last.get_or_insert((served, erased));
        if served != before {
            self.last = Some((served, erased));
        } else if erased - since > TIMES * blocks {
            return Err(Fault::new(
                "drive",
                "it moves pages but frees no space and serves no request",
            )
            .got(format!("{} erases of its {blocks} blocks meanwhile", erased - since))
            .expected(
                "more over-provisioning, or policies that do not collect fully valid blocks",
            ));
        }
        Ok(())
    }
}

/// Returns the fault for a drive without pending events while requests wait.
pub(crate) fn stalled(unfinished: u64) -> Fault {
    Fault::new(
        "drive",
        "deadlock: a plane has no free block, and garbage collection is off or has no victim",
    )
    .got(format!("{unfinished} unfinished requests"))
    .expected("garbage collection, or more over-provisioning")
}

/// Lets the drive finish all operations under way.
///
/// # Errors
/// When the drive gains no free space.
pub(crate) fn finish(drive: &mut Drive, done: &mut Vec<Completion>) -> Result<(), Fault> {
    let mut detector = DeadlockDetector::default();
    while let Some(next) = drive.next_event() {
        drive.advance(next, done);
        done.clear();
        if detector.event() {
            detector.check(drive)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_erases_all_over_and_serves_nothing_gains_no_space() {
        let mut detector = DeadlockDetector::default();
        assert_eq!(detector.judge(7, 100, 10), Ok(()));
        assert_eq!(detector.judge(7, 140, 10), Ok(()));
        let line = detector.judge(7, 141, 10).expect_err("enough").to_string();
        assert!(line.starts_with("drive: it moves pages but frees no space"), "{line}");
        assert!(line.contains("41 erases of its 10 blocks"), "{line}");
    }

    #[test]
    fn a_drive_that_serves_a_page_now_and_then_goes_on() {
        let mut detector = DeadlockDetector::default();
        for at in 0..9 {
            assert_eq!(detector.judge(7 + at, 100 + 50 * at, 10), Ok(()));
        }
        // The statistics are reset.
        assert_eq!(detector.judge(0, 0, 10), Ok(()));
        assert_eq!(detector.judge(0, 40, 10), Ok(()));
        assert!(detector.judge(0, 41, 10).is_err());
    }
}
