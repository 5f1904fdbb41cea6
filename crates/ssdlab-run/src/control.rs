//! Progress and stop flag of runs in other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ssdlab_base::Stop;

/// The progress of a plan, readable from other threads.
#[derive(Debug, Default)]
pub struct Progress {
    /// Parts per million of the requests; during the preparation, with the top bit set; or
    /// [`UNKNOWN`].
    share: AtomicU64,
    requests: AtomicU64,
    finished: AtomicBool,
}

const PREPARING: u64 = 1 << 63;
const UNKNOWN: u64 = PREPARING - 1;

impl Progress {
    /// Records the progress of the replay.
    pub fn note(&self, share: Option<f64>, requests: u64) {
        let share = share.map_or(UNKNOWN, |share| (share * 1e6) as u64);
        self.share.store(share, Ordering::Relaxed);
        self.requests.store(requests, Ordering::Relaxed);
    }

    /// Records the progress of the writes before the run, as a share of one capacity.
    pub(crate) fn preparing(&self, share: f64) {
        self.share.store((share * 1e6) as u64 | PREPARING, Ordering::Relaxed);
    }

    /// Records that the plan has ended or was stopped.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
    }

    /// Returns `(share done, if known; requests done; still preparing; finished)`.
    pub fn read(&self) -> (Option<f64>, u64, bool, bool) {
        let share = self.share.load(Ordering::Relaxed);
        let requests = self.requests.load(Ordering::Relaxed);
        let finished = self.finished.load(Ordering::Relaxed);
        let done = (share != UNKNOWN).then_some((share & !PREPARING) as f64 / 1e6);
        (done, requests, share & PREPARING != 0, finished)
    }
}

/// Controls runs in other threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop. A stopped run returns its measurements so far, marked partial.
    pub stop: Arc<AtomicBool>,
    /// Whether ending the process now would lose something.
    keeps: AtomicBool,
    /// The progress of each plan.
    pub progress: Vec<Progress>,
}

impl Control {
    /// Records that from now on there is something to lose: results, or a file that is being
    /// written.
    pub fn keep(&self) {
        self.keeps.store(true, Ordering::Relaxed);
    }

    /// Returns whether ending the process now would lose something. If not, the user need not wait
    /// for the work to end.
    pub fn keeps(&self) -> bool {
        self.keeps.load(Ordering::Relaxed)
    }

    /// Returns a stop flag for readers of input.
    pub fn stop(&self) -> Stop {
        Stop::of(&self.stop)
    }

    /// Creates a control for this many plans.
    pub fn new(plans: usize) -> Control {
        let progress = (0..plans).map(|_| Progress::default()).collect();
        Control { progress, ..Control::default() }
    }
}
